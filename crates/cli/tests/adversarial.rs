//! Kernels written to provoke wrong proofs (`corpus/adversarial`), and sound twins that must be proved.
//!
//! Each case is run by the real command line and judged by its JSON report. A property that a case forbids may be
//! refuted or unknown, never proved. A property promised by a twin must be proved, and nothing of a twin may be
//! refuted. `cargo test -p warpproof --test adversarial -- --nocapture` prints every answer; `WARPPROOF_CASES=races/`
//! runs those whose title contains the text.

#![allow(clippy::print_stdout, reason = "answers are for whoever reads the test's output")]

#[path = "adversarial/case.rs"]
mod case;

use case::Case;
use serde_json::Value;
use snapbox::cmd::{Command, cargo_bin};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The minimum number of attacks, so that none is lost unnoticed.
const ATTACKS: usize = 500;

/// Seconds after which `warpproof` gives up by itself, and after which it counts as hanging.
const TIMEOUT: (&str, Duration) = ("10", Duration::from_secs(60));

fn folder() -> PathBuf {
    testing::corpus::root().join("corpus/adversarial")
}

/// Splits words as a shell does; quotes are removed.
fn words(command: &str) -> Vec<String> {
    let quoted = command.split('\'').enumerate();
    let mut words = vec![String::new()];
    for (position, part) in quoted {
        for letter in part.chars() {
            match letter {
                letter if letter.is_whitespace() && position % 2 == 0 => words.push(String::new()),
                letter => words.last_mut().unwrap().push(letter),
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Files with cases, by class and name.
fn files() -> Vec<PathBuf> {
    let entries = |path: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let classes = entries(&folder()).into_iter().filter(|path| path.is_dir());
    let files = classes.flat_map(|class| entries(&class));
    // The cases of a project file's PTX are in the project file.
    let is_project = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    files.filter(|path| is_project(path) || !path.with_extension("toml").exists()).collect()
}

fn cases() -> Vec<Case> {
    let read: Vec<Result<Vec<Case>, String>> =
        files().iter().map(|path| case::of_file(path)).collect();
    let mistakes: Vec<&String> = read.iter().filter_map(|cases| cases.as_ref().err()).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
    read.into_iter().flat_map(Result::unwrap).collect()
}

/// Exit status and report; an error if it crashed, hung or wrote no JSON.
fn answer(case: &Case) -> Result<(i32, Value), String> {
    let command = Command::new(cargo_bin!("warpproof")).current_dir(case.file.parent().unwrap());
    let mut command = command.args(case.arguments()).args(["--format", "json"]);
    if case.run[0] != "run" {
        // The cases run in parallel already.
        command = command.args(["--timeout", TIMEOUT.0, "--jobs", "1"]);
    }
    let output = command.timeout(TIMEOUT.1).output().map_err(|error| error.to_string())?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let Some(exit) = output.status.code() else { return Err(format!("killed: {told}")) };
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("exit status {exit}, no report ({error}): {told}"))?;
    let mut reports = report["reports"].as_array().into_iter().flatten();
    match (reports.next(), reports.next()) {
        (Some(only), None) => Ok((exit, only.clone())),
        (None, _) => Ok((exit, report)),
        (Some(_), Some(_)) => Err("several reports".to_owned()),
    }
}

/// Verdicts of a property: of both sides, if it has two.
fn verdicts<'a>(report: &'a Value, name: &str) -> BTreeSet<&'a str> {
    let properties = report["properties"].as_array().into_iter().flatten();
    properties
        .filter(|property| property["name"] == name)
        .filter_map(|property| property["verdict"].as_str())
        .collect()
}

fn is_proved(report: &Value, name: &str) -> bool {
    verdicts(report, name) == BTreeSet::from(["proved"])
}

/// Returns `true` if the report lists an assumption with a text.
fn is_assumed(report: &Value, text: &str) -> bool {
    let mut assumptions = report["assumptions"].as_array().into_iter().flatten();
    assumptions.any(|one| one.as_str().is_some_and(|one| one.contains(text)))
}

/// Judges one answer; `Err` describes its error.
fn judge(case: &Case, exit: i32, report: &Value) -> Result<(), String> {
    if let Some(text) = &case.refused {
        let told = report.to_string();
        return match exit == 2 && told.contains(text.as_str()) {
            true => Ok(()),
            false => Err(format!("not refused, exit status {exit}: {told}")),
        };
    }
    if case.unless.as_ref().is_some_and(|text| is_assumed(report, text)) {
        return if exit == 1 { Err("refuted".to_owned()) } else { Ok(()) };
    }
    if !matches!(exit, 0 | 1 | 3) {
        return Err(format!("exit status {exit}: {report:#}"));
    }
    if case.is_attack() && exit == 0 {
        return Err("proved (exit status 0)".to_owned());
    }
    if let Some(name) = case.not.iter().find(|name| is_proved(report, name)) {
        return Err(format!("`{name}` is proved"));
    }
    if let Some(name) = case.proved.iter().find(|name| !is_proved(report, name)) {
        return Err(format!("`{name}` is not proved: {:?}", verdicts(report, name)));
    }
    if !case.is_attack() && exit == 1 {
        return Err(format!("refuted: {:#}", report["findings"]));
    }
    Ok(())
}

/// Runs a case. `Err` names the error to fix, in the engine or in the file.
fn run(case: &Case) -> (String, Result<(), String>) {
    let answer = answer(case);
    let verdict = match &answer {
        Ok((_, report)) => report["verdict"].as_str().unwrap_or("none").to_owned(),
        Err(_) => "crash".to_owned(),
    };
    let judged = answer.and_then(|(exit, report)| judge(case, exit, &report));
    let judged = match (&case.open, judged) {
        (None, judged) => judged,
        (Some(_), Err(_)) => Ok(()),
        (Some(_), Ok(())) => Err(format!("is right now ({verdict}): remove `open`")),
    };
    let judged = judged.and_then(|()| match &case.today {
        Some(today) if *today != verdict => Err(format!("was {today}, is {verdict}")),
        _ => Ok(()),
    });
    (verdict, judged)
}

#[test]
fn nothing_is_proved_that_is_wrong() {
    let only = std::env::var("WARPPROOF_CASES").unwrap_or_default();
    let cases: Vec<Case> =
        cases().into_iter().filter(|case| case.title().contains(&only)).collect();
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![None; cases.len()]);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..processors {
            scope.spawn(|| {
                while let Some((position, case)) = take(&cases, &next) {
                    let result = run(case);
                    results.lock().unwrap()[position] = Some(result);
                }
            });
        }
    });
    let mut wrong = Vec::new();
    for (case, result) in cases.iter().zip(results.into_inner().unwrap()) {
        let (verdict, judged) = result.unwrap();
        let mark = case.open.as_ref().map(|why| format!(" (open: {why})")).unwrap_or_default();
        println!("{verdict:8} {}{mark}", case.title());
        if let Err(what) = judged {
            wrong.push(format!("{}\n    {}\n    {what}", case.title(), case.why));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn take<'a>(cases: &'a [Case], next: &AtomicUsize) -> Option<(usize, &'a Case)> {
    let position = next.fetch_add(1, Ordering::Relaxed);
    cases.get(position).map(|case| (position, case))
}

/// Checks that there are enough attacks, each with its own reason and command, that every class has sound twins, and
/// that the class's row in the README promises no more cases than there are.
#[test]
fn there_are_enough_cases_of_each_class() {
    let cases = cases();
    let attacks = cases.iter().filter(|case| case.is_attack()).count();
    assert!(attacks >= ATTACKS, "only {attacks} attacks");
    let (mut reasons, mut commands) = (BTreeSet::new(), BTreeSet::new());
    for case in &cases {
        assert!(reasons.insert(&case.why), "{}: `why` is that of another case", case.title());
        assert!(commands.insert((&case.file, &case.run)), "{}: twice", case.title());
    }
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for case in &cases {
        let (attacks, twins) = counts.entry(case.class()).or_default();
        if case.is_attack() { *attacks += 1 } else { *twins += 1 }
    }
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for (class, (attacks, twins)) in counts {
        println!("| `{class}` | {attacks} | {twins} |");
        assert!(twins > 0, "{class} has no sound twin");
        let row = readme.lines().find_map(|line| line.strip_prefix(&format!("| `{class}` |")));
        let row = row.unwrap_or_else(|| panic!("{class} has no row in README.md"));
        let promised: Vec<usize> =
            row.split('|').take(2).map(|cell| cell.trim().parse().unwrap()).collect();
        let [promised_attacks, promised_twins] = promised[..] else { panic!("{class}: {row}") };
        assert!(attacks >= promised_attacks && twins >= promised_twins, "{class}: {row}");
    }
}
