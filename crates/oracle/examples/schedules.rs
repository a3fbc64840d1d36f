//! Runs random programs under all schedules, compares a checker's verdicts with them, and counts.
//!
//! `schedules PROGRAMS SEED THREADS [none|rules|engine]`: `rules` (the default) compares with the rules for
//! single runs on a random schedule, `engine` with `exec`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

#[path = "../tests/common/mod.rs"]
mod common;

use oracle::program::{Op, Step};
use oracle::{
    Agreement, Disagreement, Explorer, Program, Verdict, agree, compare, generate, observe, shrink,
};
use std::collections::BTreeMap;
use std::time::Instant;

type Judgement = Result<&'static str, Box<Disagreement>>;
type Checker = fn(&mut Explorer, &Program, &Verdict, u64) -> Judgement;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |position: usize, otherwise: u64| {
        arguments.get(position).map_or(otherwise, |text| text.parse().expect("a number"))
    };
    let (programs, seed, threads) = (number(0, 100_000), number(1, 1), number(2, 1).max(1));
    let checker: Checker = match arguments.get(3).map(String::as_str) {
        Some("none") => |_, _, _, _| Ok("not compared"),
        Some("engine") => by_engine,
        _ => by_rules,
    };
    let started = Instant::now();
    let workers: Vec<_> = (0..threads)
        .map(|worker| {
            let seeds = (worker..programs).step_by(threads as usize);
            let seeds =
                seeds.map(move |position| seed.wrapping_mul(1 << 40).wrapping_add(position));
            std::thread::spawn(move || work(seeds, checker))
        })
        .collect();
    let mut total = Counts::default();
    workers.into_iter().for_each(|worker| total.add(worker.join().expect("no panic")));
    total.print();
    let seconds = started.elapsed().as_secs_f64();
    println!("{:.0} programs/s on each of {threads}", programs as f64 / seconds / threads as f64);
}

fn by_rules(_: &mut Explorer, program: &Program, oracle: &Verdict, seed: u64) -> Judgement {
    let checker = observe(program, seed);
    match agree(oracle, &checker) {
        Ok(agreement) => Ok(name(agreement)),
        Err(reasons) => {
            let (program, oracle) = (program.clone(), oracle.clone());
            Err(Box::new(Disagreement { program, reasons, checker, oracle }))
        }
    }
}

fn by_engine(explorer: &mut Explorer, program: &Program, _: &Verdict, _: u64) -> Judgement {
    compare(explorer, program, &common::engine).map(name)
}

fn name(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Clean => "agree: clean",
        Agreement::Wrong => "agree: wrong",
        Agreement::GaveUp => "checker gave up",
    }
}

fn work(seeds: impl Iterator<Item = u64>, checker: Checker) -> Counts {
    let mut explorer = Explorer::default();
    let mut counts = Counts::default();
    for seed in seeds {
        let program = generate(seed);
        let oracle = explorer.explore(&program);
        counts.count("programs");
        counts.states += oracle.states;
        counts.largest = counts.largest.max(oracle.states);
        classes(&oracle).into_iter().for_each(|class| counts.count(class));
        if oracle.is_clean() && registers_again(&program) {
            counts.count("clean, a warp registers twice in a row");
        }
        match checker(&mut explorer, &program, &oracle, seed) {
            Ok(agreement) => counts.count(agreement),
            Err(disagreement) => {
                counts.count("DISAGREE");
                let reason = disagreement.reasons[0];
                if !counts.shown.contains(&reason) {
                    counts.shown.push(reason);
                    let found = smallest(&mut explorer, &disagreement, checker, seed);
                    println!("seed {seed}: {found}");
                }
            }
        }
    }
    counts
}

fn smallest(
    explorer: &mut Explorer,
    disagreement: &Disagreement,
    checker: Checker,
    seed: u64,
) -> Disagreement {
    let mut found = disagreement.clone();
    shrink(&disagreement.program, |candidate| {
        let oracle = explorer.explore(candidate);
        let judgement = checker(explorer, candidate, &oracle, seed);
        let same = judgement.err().filter(|other| other.reasons[0] == disagreement.reasons[0]);
        let holds = same.is_some();
        same.into_iter().for_each(|other| found = *other);
        holds
    });
    found
}

/// Returns `true` if a thread arrives at a barrier and in its next step registers at it again.
fn registers_again(program: &Program) -> bool {
    let again = |pair: &[Step]| {
        matches!((pair[0].op, pair[1].op), (Op::Barrier(one), Op::Barrier(other))
            if !one.waits() && (one.id, one.count) == (other.id, other.count))
    };
    program.threads.iter().any(|thread| thread.steps.windows(2).any(again))
}

fn classes(oracle: &Verdict) -> Vec<&'static str> {
    let all = [
        (oracle.is_clean(), "clean"),
        (!oracle.races.is_empty(), "race"),
        (!oracle.harmless_races.is_empty(), "harmless race"),
        (!oracle.harmless_races.is_empty() && oracle.is_clean(), "only harmless races"),
        (oracle.deadlocks, "deadlock"),
        (!oracle.misuses.is_empty(), "misuse"),
        (oracle.schedule_dependent(), "schedule-dependent"),
        (oracle.undefined, "undefined"),
        (!oracle.equal_stores.is_empty(), "equal stores"),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, class)| class).collect()
}

#[derive(Default)]
struct Counts {
    classes: BTreeMap<&'static str, u64>,
    states: usize,
    largest: usize,
    shown: Vec<&'static str>,
}

impl Counts {
    fn count(&mut self, class: &'static str) {
        *self.classes.entry(class).or_default() += 1;
    }

    fn add(&mut self, other: Self) {
        for (class, count) in other.classes {
            *self.classes.entry(class).or_default() += count;
        }
        self.states += other.states;
        self.largest = self.largest.max(other.largest);
    }

    fn print(&self) {
        self.classes.iter().for_each(|(class, count)| println!("{class:20} {count:10}"));
        println!("{:20} {:10}", "states", self.states);
        println!("{:20} {:10}", "states, at most", self.largest);
    }
}
