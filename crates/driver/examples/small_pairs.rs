//! Measures a thousand comparisons of small pairs in one process: the cost of a comparison besides the kernels.
//!
//! ```sh
//! cargo run --release -p driver --example small_pairs -- [COUNT [PREFIX]]
//! ```
//!
//! Compares pairs of `corpus/equiv` in turn, each starting from its files, until there are COUNT (1000) comparisons.
//! Only pairs whose two kernels together execute at most 20 000 thread instructions are taken, with names that begin
//! with PREFIX. Processor time is that of the thread, independent of other processes (`/proc/self/schedstat`, Linux).
//! The aim is 60 s for all, and 3 s for reductions (`volta/red`), whose answers cost hardly more than reading them.

#![allow(clippy::print_stdout, reason = "a tool")]

#[path = "support/pairs.rs"]
mod pairs;

use driver::{Exit, Input};
use pairs::Pair;
use std::time::{Duration, Instant};

/// Thread instructions of both kernels of a small pair.
const SMALL: u64 = 20_000;

fn main() {
    let count = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1000);
    let prefix = std::env::args().nth(2).unwrap_or_default();
    let mut small: Vec<Pair> = pairs::pairs();
    small.retain(|pair| pair.name.starts_with(&prefix));
    small.retain(|pair| {
        let (exit, instructions) = compare(pair);
        // A run that is cut off has executed few instructions, too. There are few other open pairs.
        exit != Exit::Unknown && (1..=SMALL).contains(&instructions)
    });
    assert!(!small.is_empty(), "no small pair has a name that begins with `{prefix}`");
    let mut spent = vec![Duration::ZERO; small.len()];
    let mut answers = [0; 5];
    let mut instructions = 0;
    let (clock, processor) = (Instant::now(), processor_time());
    for number in 0..count {
        let start = processor_time();
        let (exit, executed) = compare(&small[number % small.len()]);
        spent[number % small.len()] += processor_time() - start;
        answers[exit as usize] += 1;
        instructions += executed;
    }
    let (clock, processor) = (clock.elapsed(), processor_time() - processor);
    let kinds = small.len();
    println!("{count} comparisons of {kinds} small pairs, {instructions} thread instructions");
    let [proved, refuted, _, unknown, _] = answers;
    println!("{proved} proved, {refuted} refuted, {unknown} unknown");
    let rate = count as f64 / processor.as_secs_f64();
    println!("{clock:.2?} by the clock, {processor:.2?} of a processor: {rate:.0} a second");
    let mut order: Vec<usize> = (0..kinds).collect();
    order.sort_by_key(|&pair| std::cmp::Reverse(spent[pair]));
    println!("the slowest, processor time each:");
    for &pair in order.iter().take(10) {
        let times = (count / kinds + usize::from(pair < count % kinds)).max(1) as u32;
        println!("  {:>9.2?}  {}", spent[pair] / times, small[pair].name);
    }
}

/// Compares a pair, starting from its files; returns the answer, and the thread instructions executed.
fn compare(pair: &Pair) -> (Exit, u64) {
    let read = |side| Input::read(&pair.path(side)).unwrap_or_else(|_| panic!("{}", pair.name));
    let outcome = pair.ask([&read(0), &read(1)], SMALL);
    (outcome.exit, outcome.thread_instructions)
}

/// Processor time of this thread; wall-clock time if the system does not report it.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
    nanoseconds.map_or_else(clock, Duration::from_nanos)
}

fn clock() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}
