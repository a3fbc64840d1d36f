//! Judges a program by one run and the rules for single runs: the simplest form of a checker.
//!
//! It uses the interpreter's own steps along a random schedule, so it says nothing about any engine. It tests
//! the claim behind engines that run one schedule: the races, deadlocks, misuses and reuses of one run, found with
//! its waits-for relation, are those of all runs.

use crate::compare::CheckerVerdict;
use crate::emit::expected_buffers;
use crate::explore::{judge_end, outcome};
use crate::findings::Findings;
use crate::machine::{Machine, Move, TrackedState};
use crate::program::Program;
use crate::table::Table;
use testing::Random;

/// Judges the run selected by the seed.
#[must_use]
pub fn observe(program: &Program, seed: u64) -> CheckerVerdict {
    let table = Table::new(program);
    let tracked = TrackedState { memory: true, history: true, values: true };
    let machine = Machine { table: &table, tracked };
    let mut findings = Findings::default();
    let mut state = machine.start();
    let mut random = Random::new(seed);
    let mut completes = false;
    loop {
        let moves: Vec<Move> = machine.moves(&state).collect();
        if moves.is_empty() {
            completes = judge_end(&machine, &state, &mut findings);
            break;
        }
        if let Err(misuse) = machine.perform_move(&mut state, random.pick(&moves), &mut findings) {
            findings.misuses.insert(misuse);
            break;
        }
    }
    let number = |event| program.threads[table.thread_of(event)].number();
    let mut races = findings.race_pairs();
    races.retain(|&(a, b)| !table.is_harmless(a, b));
    let pairs = races.iter().map(|&(a, b)| (number(a), number(b)));
    let pairs = pairs.map(|(a, b)| (a.min(b), a.max(b))).collect();
    let buffers = state.values.as_deref().filter(|_| completes);
    CheckerVerdict {
        race: !races.is_empty(),
        race_pairs: Some(pairs),
        deadlock: findings.ends.deadlocks,
        misuse: !findings.misuses.is_empty(),
        reuse: findings.reuse,
        undefined: findings.undefined,
        buffers: buffers.map(|values| expected_buffers(&outcome(&table, values))),
        unknown: None,
    }
}
