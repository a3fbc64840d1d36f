//! `corpus/users`: kernels in users' style, each with the right answer in its first line.
//!
//! `proved` for a kernel with a bug, and `refuted` for one without, fail the test. Unknown and unsupported kernels
//! are only counted in the table.

use snapbox::cmd::{Command, cargo_bin};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The first line of a file.
struct Expected {
    verdict: String,
    /// Properties; one of them is refuted.
    properties: Vec<String>,
    /// Lines; a finding names one of them.
    lines: Vec<usize>,
}

fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/users")
}

fn files() -> Vec<String> {
    let names = testing::corpus::names_in("corpus/users", "cu").into_iter();
    names.map(|name| format!("{name}.cu")).collect()
}

fn expected(text: &str) -> Option<Expected> {
    let mut words = text.lines().next()?.strip_prefix("// expect: ")?.split(' ');
    let verdict = words.next()?.to_owned();
    let (properties, lines) = match verdict.as_str() {
        "refuted" => {
            let properties = words.next()?.split(',').map(str::to_owned).collect();
            let lines = (words.next()? == "line").then(|| words.next())??.split(',');
            (properties, lines.map(|line| line.parse().ok()).collect::<Option<Vec<usize>>>()?)
        }
        "proved" | "proved-or-unknown" | "proved-or-unsupported" => (Vec::new(), Vec::new()),
        _ => return None,
    };
    words.next().is_none().then_some(Expected { verdict, properties, lines })
}

/// Exit status and standard output of a proof of all kernels, which needs only the file.
fn prove(file: &str) -> (i32, String) {
    let program = Command::new(cargo_bin!("warpproof")).current_dir(folder());
    let output = program.args(["prove", file, "--format", "json"]).output().expect("a run");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.code().expect("a status"), text)
}

/// Returns `true` if a finding of the report is about one of the properties and one of the lines.
fn names_the_bug(report: &str, expected: &Expected) -> bool {
    let findings = report.split("\"code\":").skip(1);
    let about = |finding: &str| {
        let property = |name: &String| finding.contains(&format!("\"property\": \"{name}\""));
        let line = |line: &usize| finding.contains(&format!("\"line\": {line},"));
        expected.properties.iter().any(property) && expected.lines.iter().any(line)
    };
    findings.into_iter().any(about)
}

/// The error in an answer, if there is one.
fn wrong(code: i32, report: &str, expected: &Expected) -> Option<&'static str> {
    match (expected.verdict.as_str(), code) {
        ("refuted", 0) => Some("proved, and has a bug"),
        ("refuted", 1) if !names_the_bug(report, expected) => Some("refuted for another reason"),
        ("refuted", 0..=3) => None,
        (_, 1) => Some("refuted, and is correct"),
        (_, 0 | 2 | 3) => None,
        _ => Some("an internal error"),
    }
}

#[test]
fn every_file_says_what_is_right() {
    let names = files();
    assert!(names.len() >= 80, "{} files", names.len());
    let mut bugs = 0;
    for name in &names {
        let text = std::fs::read_to_string(folder().join(name)).expect("a file");
        let expected = expected(&text);
        let expected =
            expected.unwrap_or_else(|| panic!("{name}: the first line is not an answer"));
        bugs += usize::from(expected.verdict == "refuted");
        let lines = text.lines().count();
        let inside = expected.lines.iter().all(|line| (1..=lines).contains(line));
        assert!(inside && lines <= 80, "{name}: {lines} lines");
    }
    assert!(bugs * 4 >= names.len(), "{bugs} of {} have a bug", names.len());
}

#[test]
#[allow(clippy::print_stdout, reason = "the table is the point of running it by hand")]
fn answers_are_right() {
    let (mut table, mut failures) = (BTreeMap::<String, usize>::new(), Vec::new());
    for name in files() {
        let text = std::fs::read_to_string(folder().join(&name)).expect("a file");
        let expected = expected(&text).expect("an answer");
        let (code, report) = prove(&name);
        let answer = match code {
            0 => "proved",
            1 => "refuted",
            2 => "not read",
            _ if report.contains("\"properties\": [\n    {") => "unknown",
            _ => "unsupported",
        };
        *table.entry(format!("{:22} {answer}", expected.verdict)).or_default() += 1;
        if let Some(why) = wrong(code, &report, &expected) {
            failures.push(format!("{name}: {why}"));
        }
    }
    for (row, count) in &table {
        println!("{count:4}  {row}");
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
