//! Scores a Warpproof binary on a folder of cases:
//! `cargo run -p metamorph --example score -- BINARY FOLDER JOBS [--limit SECONDS] [--page FILE --commit COMMIT]`.
//!
//! Prints a table by base kernel and group of transformations, wrong proofs and false alarms with their seeds, the
//! most frequent reasons for `unknown`, and times. With `--page` the same is written as a page of the manual.

#![allow(clippy::print_stdout, reason = "a table for people")]

mod limited;
mod page;

use limited::{Finished, run_limited};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Limit on the processor time of one question, in seconds, unless `--limit` says something else. The wall clock would
/// count other work on the machine.
const LIMIT: &str = "20";
/// The wall clock may count this many times as much.
const WALL_FACTOR: f64 = 10.0;
/// The exit status of an open question.
const UNKNOWN: i32 = 3;

/// Runs a command and writes the processor time of all its processes as the last line of stderr.
const TIMED: &str = r#""$@"; status=$?; times >&2; exit $status"#;

struct Case {
    seed: String,
    question: String,
    base: String,
    correct: bool,
    mutation: String,
    breaks: String,
    groups: BTreeSet<String>,
    applied: String,
    files: Vec<PathBuf>,
}

struct Answer {
    status: i32,
    /// Processor time, that of the solver included: other work on the machine does not count.
    seconds: f64,
    reasons: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [binary, folder, jobs, options @ ..] = arguments.as_slice() else {
        return Err(
            "arguments: BINARY FOLDER JOBS [--limit SECONDS] [--page FILE --commit COMMIT]".into(),
        );
    };
    let option = |name: &str| {
        let at = options.iter().position(|option| option == name)?;
        options.get(at + 1).map(String::as_str)
    };
    let limit = option("--limit").unwrap_or(LIMIT);
    let seconds: f64 = limit.parse()?;
    let cases = read(Path::new(folder))?;
    let next = Mutex::new(0);
    let answers = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.parse().unwrap_or(1) {
            scope.spawn(|| {
                while let Some(number) = take(&next, cases.len()) {
                    let answer = ask(binary, &cases[number], seconds);
                    if let Ok(mut answers) = answers.lock() {
                        answers.insert(number, answer);
                    }
                }
            });
        }
    });
    let answers = answers.into_inner()?;
    let asked: Vec<(&Case, &Answer)> =
        answers.iter().map(|(number, answer)| (&cases[*number], answer)).collect();
    for name in ["correct", "broken"] {
        table(&asked, name == "correct");
    }
    let wrong = unexpected(&asked);
    reasons(&asked);
    times(&asked);
    if let Some(file) = option("--page") {
        let commit = option("--commit").ok_or("--page needs --commit")?;
        std::fs::write(file, page::page(&asked, commit, limit))?;
    }
    match wrong {
        0 => Ok(()),
        _ => Err(format!("{wrong} cases have a wrong answer or none").into()),
    }
}

/// Takes the number of the next case; `None` at the end.
fn take(next: &Mutex<usize>, end: usize) -> Option<usize> {
    let mut next = next.lock().ok()?;
    let number = *next;
    *next += 1;
    (number < end).then_some(number)
}

fn read(folder: &Path) -> std::io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for line in std::fs::read_to_string(folder.join("cases.txt"))?.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [seed, question, base, label, mutation, breaks, applied, files] = fields[..] else {
            continue;
        };
        if label == "discarded" {
            continue;
        }
        let group = |name: &str| name.split(':').next().unwrap_or(name).to_string();
        cases.push(Case {
            seed: seed.to_string(),
            question: question.to_string(),
            base: base.to_string(),
            correct: label == "correct",
            mutation: mutation.to_string(),
            breaks: breaks.to_string(),
            groups: applied.split_whitespace().map(group).collect(),
            applied: applied.to_string(),
            files: files.split(' ').map(|file| folder.join(file)).collect(),
        });
    }
    Ok(cases)
}

fn ask(binary: &str, case: &Case, limit: f64) -> Answer {
    let mut command = Command::new("bash");
    command.args(["-c", TIMED, "timed", binary]);
    if case.question == "pair" {
        command.args(["equiv", "--for-all-sizes"]);
    } else {
        command.arg("prove");
    }
    let patience = (limit * WALL_FACTOR).ceil().to_string();
    command.args(["--timeout", &patience, "--no-cache", "--no-compare", "-j", "1"]);
    match run_limited(command.args(&case.files), limit) {
        Some(Finished::Done { status, output, errors }) => {
            let seconds = errors.lines().last().map_or(0.0, processor_time);
            let text = output + &errors;
            let open = |line: &&str| {
                ["unknown:", "error", "unsupported"].iter().any(|start| line.starts_with(start))
            };
            let reasons = text.lines().filter(open).map(shorten).collect();
            Answer { status, seconds, reasons }
        }
        Some(Finished::Stopped { seconds }) => {
            let reasons = vec!["unknown: more processor time than the limit".to_owned()];
            Answer { status: UNKNOWN, seconds, reasons }
        }
        None => Answer { status: -1, seconds: 0.0, reasons: Vec::new() },
    }
}

/// Reads the last line of the shell's `times`, the times of its children: `0m1.250s 0m0.125s`.
fn processor_time(line: &str) -> f64 {
    let part = |text: &str| -> Option<f64> {
        let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    line.split_whitespace().filter_map(part).sum()
}

/// Replaces the parts that differ from case to case: numbers, names of files, code.
fn shorten(line: &str) -> String {
    let mut short = String::new();
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 1 {
            short.push_str("`…`");
            continue;
        }
        for word in part.split_inclusive(' ') {
            if word.contains(".cu:") {
                short.push_str("FILE ");
            } else {
                let digits = word.trim_end().trim_end_matches(':');
                let number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
                short.push_str(if number { "N " } else { word });
            }
        }
    }
    short.chars().take(150).collect()
}

#[derive(Default)]
struct Counts {
    all: usize,
    by_status: BTreeMap<i32, usize>,
}

impl Counts {
    fn add(&mut self, status: i32) {
        self.all += 1;
        *self.by_status.entry(status).or_default() += 1;
    }

    fn of(&self, status: i32) -> usize {
        self.by_status.get(&status).copied().unwrap_or(0)
    }
}

/// Prints the share of right answers by base kernel and group of transformations.
fn table(asked: &[(&Case, &Answer)], correct: bool) {
    let mut cells: BTreeMap<(String, String), Counts> = BTreeMap::new();
    for (case, answer) in asked.iter().filter(|(case, _)| case.correct == correct) {
        let kind = case.base.split(':').next().unwrap_or("").to_string();
        let mut columns: Vec<String> = case.groups.iter().cloned().collect();
        columns.extend([format!("~{}", case.question), "~all".to_string()]);
        for column in columns {
            cells.entry((kind.clone(), column.clone())).or_default().add(answer.status);
            cells.entry(("~all".to_string(), column)).or_default().add(answer.status);
        }
    }
    let (name, wanted) = if correct { ("correct", "proved") } else { ("broken", "refuted") };
    println!("\n{name} cases: share {wanted}, with its 95 % interval");
    println!("base      group       cases  share  interval  proved refuted unknown");
    for ((kind, group), counts) in &cells {
        let good = counts.of(i32::from(!correct));
        let (low, high) = interval(good, counts.all);
        println!(
            "{kind:9} {group:11} {:5} {:5.0}%  {low:3.0}..{high:3.0}%  {:6} {:7} {:7}",
            counts.all,
            100.0 * good as f64 / counts.all as f64,
            counts.of(0),
            counts.of(1),
            counts.of(3),
        );
    }
}

/// Computes Wilson's 95 % interval of a share, in percent.
fn interval(good: usize, all: usize) -> (f64, f64) {
    let (n, z) = (all as f64, 1.96_f64);
    let share = good as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 100.0 / (1.0 + z * z / n);
    ((middle - spread) * scale, (middle + spread) * scale)
}

/// Prints wrong answers; returns their number.
fn unexpected(asked: &[(&Case, &Answer)]) -> usize {
    let mut wrong = 0;
    for (case, answer) in asked {
        let what = match (case.correct, answer.status) {
            (false, 0) => "WRONG PROOF",
            (true, 1) => "FALSE ALARM",
            (_, 0 | 1 | 3) => continue,
            _ => "NO ANSWER",
        };
        println!(
            "{what}: seed {} {} {} mutation {} breaks {} status {} [{}] {}",
            case.seed,
            case.question,
            case.base,
            case.mutation,
            case.breaks,
            answer.status,
            case.applied,
            answer.reasons.first().map_or("", String::as_str),
        );
        wrong += 1;
    }
    wrong
}

fn reasons(asked: &[(&Case, &Answer)]) {
    for correct in [true, false] {
        let mut counts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (case, answer) in asked.iter().filter(|(case, _)| case.correct == correct) {
            if answer.status == 3 {
                let reason = answer.reasons.first().map_or("(none)", String::as_str);
                counts.entry(reason).or_default().push(&case.seed);
            }
        }
        let mut sorted: Vec<_> = counts.into_iter().collect();
        sorted.sort_by_key(|(_, seeds)| std::cmp::Reverse(seeds.len()));
        println!("\nopen reasons of {} cases", if correct { "correct" } else { "broken" });
        for (reason, seeds) in sorted.iter().take(30) {
            let shown: Vec<&str> = seeds.iter().take(6).copied().collect();
            println!("{:4} {reason} (seeds {})", seeds.len(), shown.join(" "));
        }
    }
}

fn times(asked: &[(&Case, &Answer)]) {
    let mut seconds: Vec<(f64, &str)> =
        asked.iter().map(|(case, answer)| (answer.seconds, case.seed.as_str())).collect();
    seconds.sort_by(|one, other| one.0.total_cmp(&other.0));
    let at = |share: f64| seconds[((seconds.len() - 1) as f64 * share) as usize];
    if seconds.is_empty() {
        return;
    }
    let (median, late, last) = (at(0.5), at(0.95), at(1.0));
    println!(
        "\nprocessor time: median {:.2} s, p95 {:.2} s, max {:.2} s (seed {})",
        median.0, late.0, last.0, last.1
    );
}
