//! Reads random kernels as `prove` does and as NVRTC does, and compares their results.

mod features;
mod generator;
mod generator_declarations;
mod generator_expressions;
mod generator_idioms;
mod generator_items;
mod generator_macros;
mod generator_statements;
mod generator_values;
mod harness;
mod tree;
mod types;

use generator::{Program, generate};
pub(crate) use harness::has_compiler;
use harness::{Outcome, Scratch, compare};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Programs that are compiled together.
const BATCH: usize = 16;
/// Every eighth batch is compiled even if the front end refuses its programs.
const WHOLE: usize = 8;
/// Differences that are shrunk, and tries for each.
const SHOWN: usize = 12;
const TRIES: usize = 1500;

/// The number of programs for each outcome.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) same: usize,
    pub(crate) overflow: usize,
    /// By message.
    pub(crate) refused: BTreeMap<String, usize>,
    /// Differences by seed. Includes programs that NVRTC rejects.
    pub(crate) different: BTreeMap<usize, String>,
    /// The first of them, shrunk.
    pub(crate) shown: String,
}

impl Report {
    fn note(&mut self, number: usize, outcome: Outcome) {
        match outcome {
            Outcome::Same => self.same += 1,
            Outcome::Overflow => self.overflow += 1,
            Outcome::Refused(message) => {
                *self.refused.entry(without_names(&message)).or_default() += 1
            }
            Outcome::Different(what) => drop(self.different.insert(number, what)),
            Outcome::Invalid(why) => {
                let errors: Vec<&str> = why.lines().filter(|line| line.contains("error")).collect();
                self.different.insert(number, format!("invalid: {}", errors.join("; ")));
            }
        }
    }

    /// Formats it as a table.
    pub(crate) fn table(&self) -> String {
        let refused: usize = self.refused.values().sum();
        let (same, overflow, different) = (self.same, self.overflow, self.different.len());
        let mut text =
            format!("same {same}, overflow {overflow}, refused {refused}, different {different}\n");
        let mut messages: Vec<(&String, &usize)> = self.refused.iter().collect();
        messages.sort_by_key(|(message, count)| (std::cmp::Reverse(**count), *message));
        for (message, count) in messages {
            let _ = writeln!(text, "refused {count:6}  {message}");
        }
        for (number, what) in &self.different {
            let _ = writeln!(text, "different, program {number}: {what}");
        }
        text
    }
}

/// Strips names and numbers of one program from a message: `` `…` `` for those that have digits.
fn without_names(message: &str) -> String {
    let mut text = String::new();
    for (at, part) in message.split('`').enumerate() {
        match (at % 2 == 1, part.contains(|c: char| c.is_ascii_digit())) {
            (true, true) => text.push_str("`…`"),
            (true, false) => text.push_str(&format!("`{part}`")),
            (false, _) => text.push_str(part),
        }
    }
    text
}

/// Compares `count` programs, numbered from `seed` on, with `jobs` threads.
pub(crate) fn run(count: usize, seed: usize, jobs: usize) -> Report {
    let next = AtomicUsize::new(0);
    let report = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        for job in 0..jobs.max(1) {
            let (next, report) = (&next, &report);
            scope.spawn(move || {
                let scratch = Scratch::new(&job.to_string());
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    if first >= count {
                        break;
                    }
                    let numbers = seed + first..seed + count.min(first + BATCH);
                    let programs: Vec<Program> = numbers.clone().map(program).collect();
                    let whole = first % (WHOLE * BATCH) == 0;
                    let outcomes = compare(&scratch, &programs, whole);
                    let mut report = report.lock().expect("no thread has panicked");
                    numbers
                        .zip(outcomes)
                        .for_each(|(number, outcome)| report.note(number, outcome));
                }
            });
        }
    });
    let mut report = report.into_inner().expect("no thread has panicked");
    report.shown = shown(&report);
    report
}

/// The texts of programs.
pub(crate) fn texts(count: usize, seed: usize) -> Vec<String> {
    (seed..seed + count).map(|number| program(number).text.render()).collect()
}

fn program(number: usize) -> Program {
    generate(number as u64, number)
}

/// The first programs that differ, shrunk.
fn shown(report: &Report) -> String {
    let scratch = Scratch::new("small");
    let mut text = String::new();
    for (number, what) in report.different.iter().take(SHOWN) {
        let mut small = program(*number);
        let mut why = what.clone();
        if !what.starts_with("invalid") {
            (small, why) = shrunk(&scratch, small, what);
        }
        let _ = writeln!(text, "// program {number}: {why}\n{}", small.text.render());
    }
    text
}

/// Shrinks a program: removes parts that are not needed for the difference.
fn shrunk(scratch: &Scratch, program: Program, what: &str) -> (Program, String) {
    let (mut best, mut why, mut tries) = (program, what.to_owned(), 0);
    let class = |what: &str| what.split([' ', '[']).next().map(str::to_owned);
    loop {
        let mut number = best.text.count();
        let before = best.text.render().len();
        // From the end, because declarations come before uses.
        while number > 0 && tries < TRIES {
            number -= 1;
            for text in best.text.smaller(number) {
                let candidate = Program { text, ..best.clone() };
                tries += 1;
                let reported = matches!(class(&why).as_deref(), Some("reported:" | "stopped:"));
                match compare(scratch, std::slice::from_ref(&candidate), false).remove(0) {
                    // A differing value must not turn into an event: that could be another difference.
                    Outcome::Different(new) if !reported || class(&new) == class(&why) => {
                        (best, why) = (candidate, new);
                        break;
                    }
                    _ => {}
                }
            }
        }
        if best.text.render().len() >= before || tries >= TRIES {
            return (best, why);
        }
    }
}
