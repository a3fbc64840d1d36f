//! Runs random programs with mbarriers under all schedules, compares the engine's verdicts with them, and
//! counts.
//!
//! `phases PROGRAMS SEED THREADS`
#![allow(clippy::print_stdout, reason = "a program for people")]

#[path = "../tests/common/mod.rs"]
mod common;

use oracle::phases::generate_phases;
use std::collections::BTreeMap;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |position: usize, otherwise: u64| {
        arguments.get(position).map_or(otherwise, |text| text.parse().expect("a number"))
    };
    let (programs, seed, threads) = (number(0, 100_000), number(1, 1), number(2, 1).max(1));
    let work = move |worker: u64| {
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        for position in (worker..programs).step_by(threads as usize) {
            let seed = seed.wrapping_mul(1 << 40).wrapping_add(position);
            match common::phases::compare(&generate_phases(seed)) {
                Ok(agreed) => *counts.entry(agreed).or_default() += 1,
                Err(why) => {
                    println!("seed {seed}: {why}");
                    *counts.entry("disagreements").or_default() += 1;
                }
            }
        }
        counts
    };
    let workers: Vec<_> = (0..threads).map(|one| std::thread::spawn(move || work(one))).collect();
    let mut total: BTreeMap<&'static str, u64> = BTreeMap::new();
    for worker in workers {
        for (name, count) in worker.join().expect("no panic") {
            *total.entry(name).or_default() += count;
        }
    }
    total.iter().for_each(|(name, count)| println!("{count:>9} {name}"));
}
