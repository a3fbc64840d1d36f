//! Random pairs against high-precision evaluation:
//! `cargo run --release -p decide --example fuzz -- PAIRS [SEED] [THREADS]`.
//!
//! Stops at the first wrong answer. Otherwise prints, for each class of terms, how many pairs were proved, refuted
//! and left open.

#[path = "../tests/suite/check.rs"]
mod check;
#[path = "../tests/suite/generate.rs"]
mod generate;
#[path = "../tests/suite/mutate.rs"]
#[expect(dead_code, reason = "programs are mutated by the tests, expressions by both")]
mod mutate;

use generate::{CLASSES, Tally, trial};
use std::io::{self, Write};
use testing::Random;

fn main() -> io::Result<()> {
    let argument = |index: usize| std::env::args().nth(index).and_then(|text| text.parse().ok());
    let pairs: u64 = argument(1).unwrap_or(100_000);
    let seed: u64 = argument(2).unwrap_or(1);
    let threads: u64 = argument(3).unwrap_or(1);
    let workers: Vec<_> = (0..threads)
        .map(|worker| std::thread::spawn(move || work(pairs / threads, seed + worker)))
        .collect();
    let mut totals = [Tally::default(); CLASSES.len()];
    let mut wrong = Vec::new();
    for worker in workers {
        let (tallies, errors) = worker.join().expect("a worker does not panic");
        wrong.extend(errors);
        for (total, tally) in totals.iter_mut().zip(tallies) {
            add(&mut total.equal, &tally.equal);
            add(&mut total.changed, &tally.changed);
        }
    }
    let mut out = io::stdout().lock();
    for (class, tally) in CLASSES.iter().zip(&totals) {
        report(&mut out, &format!("{class:?}"), tally)?;
    }
    writeln!(out, "{} wrong answers", wrong.len())?;
    for what in &wrong {
        writeln!(out, "{what}")?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(io::Error::other("wrong answers")) }
}

fn work(pairs: u64, seed: u64) -> ([Tally; CLASSES.len()], Vec<String>) {
    let mut random = Random::new(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
    let mut tallies = [Tally::default(); CLASSES.len()];
    let mut wrong = Vec::new();
    for index in 0..pairs {
        let which = (index % CLASSES.len() as u64) as usize;
        if let Err(what) = trial(CLASSES[which], &mut random, &mut tallies[which]) {
            wrong.push(format!("{:?}: {what}", CLASSES[which]));
            if wrong.len() >= 10 {
                break;
            }
        }
    }
    (tallies, wrong)
}

fn add<const N: usize>(total: &mut [u64; N], more: &[u64; N]) {
    for (total, more) in total.iter_mut().zip(more) {
        *total += more;
    }
}

fn report(out: &mut impl Write, class: &str, tally: &Tally) -> io::Result<()> {
    let [proved, conditional, open, nowhere] = tally.equal;
    let pairs = (proved + conditional + open + nowhere).max(1);
    writeln!(
        out,
        "{class:12} equal by construction: {pairs} pairs, {:.2} % proved, {:.2} % with conditions, {:.2} % undecided, {:.2} % no domain",
        percent(proved, pairs),
        percent(conditional, pairs),
        percent(open, pairs),
        percent(nowhere, pairs),
    )?;
    let [harmless, conditional, different, open] = tally.changed;
    let pairs = (harmless + conditional + different + open).max(1);
    writeln!(
        out,
        "{class:12} with one change:       {pairs} pairs, {:.2} % different, {:.2} % still equal, {:.2} % equal with conditions, {:.2} % unknown",
        percent(different, pairs),
        percent(harmless, pairs),
        percent(conditional, pairs),
        percent(open, pairs),
    )
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}
