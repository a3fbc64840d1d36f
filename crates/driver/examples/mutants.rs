//! Mutants of the kernels of `corpus/equiv`: the optimised kernel of each small pair that is proved is changed in one
//! instruction and compared again. A mutant that is still proved is a *survivor*: the change makes no difference over
//! the reals in this launch, or we miss one.
//!
//! ```sh
//! cargo run --release -p driver --example mutants -- 7 1 [FOLDER]    # how many of each pair, seed
//! ```
//!
//! Survivors are listed with their line, and written to FOLDER as pairs, so that `corpus/equiv/verify.py` can run
//! them on numbers. Some survivors are explained by a second change of the line: the line is never reached, it
//! computes the same, or its value is unused. `bench/mutants-report.md` explains the others.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool")]

#[path = "support/mutate.rs"]
mod mutate;
#[path = "support/pairs.rs"]
mod pairs;
#[path = "support/probe.rs"]
mod probe;

use driver::{Exit, Format, Input, Outcome};
use mutate::{Change, body, changed, drawn};
use pairs::Pair;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Pairs that take seconds, or minutes if a mutant is neither proved nor refuted.
const SLOW: [&str; 11] = [
    "norm/layer_block",
    "norm/layer_chan",
    "norm/layer_welford_chan",
    "softmax/block_online",
    "softmax/log_warp",
    "softmax/tree_warp",
    "softmax/warp",
    "tensor/flash1",
    "tensor/flash2",
    "tensor/triton_flash",
    "tensor/triton_flash_causal",
];

/// Budget of a mutant, as a multiple of the pair's instructions; a mutated loop may be endless.
const FACTOR: u64 = 8;

/// The results so far.
#[derive(Default)]
struct Tally {
    total: usize,
    pairs: usize,
    families: BTreeSet<String>,
    counts: BTreeMap<(&'static str, String), usize>,
    /// Rows of a table.
    survivors: Vec<String>,
    /// Reasons why mutants are unknown, with their counts.
    reasons: BTreeMap<String, usize>,
    slowest: (Duration, String),
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number =
        |default: u64| words.next().and_then(|word| word.parse().ok()).unwrap_or(default);
    let (share, seed) = (number(7) as usize, number(1));
    let folder = words.next().map(PathBuf::from);
    let mut pairs = pairs::pairs();
    let is_slow = |pair: &Pair| pair.is_large || SLOW.contains(&pair.name.as_str());
    pairs.retain(|pair| pair.expected == "proved" && !is_slow(pair));
    let mut tally = Tally::default();
    for pair in &pairs {
        eprint!("\r{} mutants, {:40}", tally.total, pair.name);
        tally.take(pair, share, &mut mutate::random(seed, &pair.name), folder.as_deref());
    }
    eprintln!();
    tally.report(share, seed);
}

impl Tally {
    /// Tries mutants of a pair.
    fn take(
        &mut self,
        pair: &Pair,
        share: usize,
        random: &mut testing::Random,
        folder: Option<&Path>,
    ) {
        let (reference, text) =
            match (Input::read(&pair.path(0)), std::fs::read_to_string(pair.path(1))) {
                (Ok(reference), Ok(text)) => (reference, text),
                _ => panic!("{}: cannot be read", pair.name),
            };
        let mut subject = Subject { pair, reference: &reference, text: &text, limit: u64::MAX };
        let original = subject.ask(&text);
        if answer(&original).0 != Exit::Success {
            return;
        }
        let executed = original.map_or(0, |outcome| outcome.thread_instructions);
        subject.limit = FACTOR * executed + 100_000;
        let Some(body) = body(&text, pair.kernel()) else { panic!("{}: no body", pair.name) };
        self.pairs += 1;
        self.families.insert(pair.name.split('/').next().unwrap_or_default().to_owned());
        for change in drawn(&text, body, random).into_iter().take(share) {
            self.count(&subject, &change, folder);
        }
    }

    fn count(&mut self, subject: &Subject<'_>, change: &Change, folder: Option<&Path>) {
        let Subject { pair, text, .. } = *subject;
        let start = Instant::now();
        let mutant = changed(text, change);
        let (exit, mut what) = answer(&subject.ask(&mutant));
        let old = text.lines().nth(change.line).unwrap_or_default().trim();
        let (line, kind, new) = (change.line + 1, change.kind, change.new.trim());
        let shown =
            format!("`{}` | {line} | {kind} | `{}` | `{}`", pair.name, tidy(old), tidy(new));
        let took = start.elapsed();
        if took > self.slowest.0 {
            self.slowest = (took, shown.clone());
        }
        if exit == Exit::Unknown {
            *self.reasons.entry(std::mem::replace(&mut what, "unknown".to_owned())).or_default() +=
                1;
        }
        self.total += 1;
        if matches!(exit, Exit::Success | Exit::Bug) {
            let survives = |probe: &probe::Probe| {
                let spoilt = changed(text, &Change { new: probe.line.clone(), ..change.clone() });
                answer(&subject.ask(&spoilt)).0 == Exit::Success
            };
            let old = text.lines().nth(change.line).unwrap_or_default();
            let shown_by = probe::probes(old, change).into_iter().find(survives);
            let number = self.survivors.len() + 1;
            let why = shown_by.map_or("", |probe| probe.shows);
            self.survivors.push(format!("| {number} | {shown} | {what} | {why} |"));
            if let Some(folder) = folder {
                keep(folder, number, pair, &mutant);
            }
            if !why.is_empty() {
                what = format!("survived: {why}");
            }
        }
        *self.counts.entry((kind, what)).or_default() += 1;
    }

    fn report(&self, share: usize, seed: u64) {
        let Self { total, pairs, counts, .. } = self;
        let families = self.families.len();
        println!(
            "{total} mutants of {pairs} pairs of {families} families, {share} of each, seed {seed}.\n"
        );
        let words: BTreeSet<&str> = counts.keys().map(|(_, word)| word.as_str()).collect();
        let kinds: BTreeSet<&str> = counts.keys().map(|(kind, _)| *kind).collect();
        let head: Vec<&str> = words.iter().copied().collect();
        println!("| change | all | {} |\n|---|{}", head.join(" | "), "---|".repeat(head.len() + 1));
        let row = |name: &str, chosen: &dyn Fn(&str) -> bool| {
            let count = |word: &str| -> usize {
                let those = counts.iter().filter(|((kind, one), _)| chosen(kind) && one == word);
                those.map(|(_, count)| count).sum()
            };
            let cells: Vec<usize> = head.iter().map(|word| count(word)).collect();
            let cells_text: Vec<String> = cells.iter().map(ToString::to_string).collect();
            println!("| {name} | {} | {} |", cells.iter().sum::<usize>(), cells_text.join(" | "));
        };
        kinds.iter().for_each(|kind| row(kind, &|one| one == *kind));
        row("all", &|_| true);
        println!("\nWhy unknown:\n");
        let mut reasons: Vec<(&String, &usize)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        reasons.iter().for_each(|(reason, count)| println!("- {count}: {reason}"));
        println!("\n| | pair | line | change | was | is | | |\n|---|---|---|---|---|---|---|---|");
        self.survivors.iter().for_each(|line| println!("{line}"));
        println!("\nslowest: {:.1?}, {}", self.slowest.0, self.slowest.1);
    }
}

/// Text for a cell of a table.
fn tidy(code: &str) -> String {
    let words: Vec<&str> = code.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// A pair with a changed optimised kernel.
struct Subject<'s> {
    pair: &'s Pair,
    reference: &'s Input,
    /// The optimised kernel's file.
    text: &'s str,
    /// Budget of a mutant in thread instructions.
    limit: u64,
}

impl Subject<'_> {
    /// The answer with another optimised kernel; `None` if that panics.
    fn ask(&self, optimised: &str) -> Option<Outcome> {
        let optimised = Input::from_bytes("mutant.ptx", optimised.as_bytes().to_vec()).ok()?;
        let ask = || self.pair.ask([self.reference, &optimised], self.limit);
        catch_unwind(AssertUnwindSafe(ask)).ok()
    }
}

/// The answer with a label: the kind of the first finding if it is refuted, the reason if it is unknown.
fn answer(outcome: &Option<Outcome>) -> (Exit, String) {
    let Some(outcome) = outcome else { return (Exit::Bug, "crashed".to_owned()) };
    let what = match outcome.exit {
        Exit::Success => "survived".to_owned(),
        Exit::BadInput => "bad input".to_owned(),
        Exit::Bug => "crashed".to_owned(),
        Exit::Refuted => json(outcome, |one| {
            let errors = one["findings"].as_array()?;
            let first = errors.iter().find(|finding| finding["severity"] == "error")?;
            Some(first["kind"].as_str()?.to_owned())
        }),
        Exit::Unknown => json(outcome, |one| {
            if let Some(message) = one["stopped"]["message"].as_str() {
                return Some(format!("stopped: {message}"));
            }
            let open =
                one["properties"].as_array()?.iter().find(|one| one["verdict"] == "unknown")?;
            let reason = open["reasons"][0].as_str().unwrap_or_default();
            // Keeps the reason of ``3 of 51 elements, `y[0,16]` first: …``
            let reason = reason.split_once(" first: ").map_or(reason, |(_, reason)| reason);
            Some(format!("{}: {reason}", open["name"].as_str()?))
        }),
    };
    (outcome.exit, what)
}

/// Extracts a part of the report.
fn json(outcome: &Outcome, find: impl Fn(&serde_json::Value) -> Option<String>) -> String {
    let report = outcome.report.as_ref().and_then(|report| report.render(Format::Json));
    let value = report.and_then(|text| serde_json::from_str(&text).ok());
    value.and_then(|value| find(&value)).unwrap_or_else(|| "other".to_owned())
}

/// Writes a survivor as a pair.
fn keep(folder: &Path, number: usize, pair: &Pair, mutant: &str) {
    let name = format!("{number:03}_{}", pair.name.replace('/', "_"));
    let mut lines = Vec::new();
    for line in pair.text.lines() {
        lines.push(match line.split_once(": ") {
            Some(("ref", kernel)) => {
                let file = pair.path(0).canonicalize().unwrap_or_default();
                let kernel = kernel.split_once("::").map_or("", |(_, kernel)| kernel);
                format!("ref: {}::{kernel}", file.display())
            }
            Some(("opt", kernel)) => {
                let kernel = kernel.split_once("::").map_or("", |(_, kernel)| kernel);
                format!("opt: {name}.ptx::{kernel}")
            }
            _ => line.to_owned(),
        });
    }
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join(format!("{name}.ptx")), mutant).expect("a file");
    std::fs::write(folder.join(format!("{name}.pair")), lines.join("\n") + "\n").expect("a file");
}
