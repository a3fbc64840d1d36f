//! All runs of a cluster of two blocks.
//!
//! Threads step in any order; a copy or asynchronous store happens at any time after it was started. Without a barrier of the cluster at the
//! start, blocks start at any time. A block is there from its start to the end of its last thread: who reaches for its memory or
//! mbarriers before or after *fails*. The barrier of the cluster is complete when every thread has arrived or ended; to
//! arrive twice or to wait without having arrived is *misuse*, as it is at mbarriers to arrive more often than is expected. A program is
//! *clean* if every schedule ends with all threads gone, every step in the same phase, bytes balanced, no misuse, no failure, no race, and
//! the same values.

use super::ClusterProgram;
use super::step::{State, Stopped};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The outcome of all runs of a program.
#[derive(Clone, Debug, Default)]
pub struct ClusterVerdict {
    /// Some schedule ends with threads that wait.
    pub deadlocks: bool,
    /// Some schedule misuses a barrier.
    pub misuses: bool,
    /// Some schedule accesses a block that is not there.
    pub fails: bool,
    /// Some schedule ends with bytes that do not balance.
    pub unbalanced: bool,
    /// A step counts for one phase on one schedule and for another on another.
    pub phases_differ: bool,
    /// Conflicting accesses that nothing orders, on some schedule.
    pub races: bool,
    /// Values that reads saw, on schedules that end.
    pub outcomes: BTreeSet<Vec<u32>>,
    /// States seen.
    pub states: usize,
}

impl ClusterVerdict {
    /// Tells whether nothing is wrong on any schedule.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let wrong = [
            self.deadlocks,
            self.misuses,
            self.fails,
            self.unbalanced,
            self.phases_differ,
            self.races,
        ];
        !wrong.contains(&true) && self.outcomes.len() == 1
    }
}

/// Explores all runs of a program; none if there are too many states.
#[must_use]
pub fn explore_clusters(program: &ClusterProgram) -> Option<ClusterVerdict> {
    const MOST_STATES: usize = 100_000;
    let mut verdict = ClusterVerdict::default();
    let mut seen: FxHashSet<State> = FxHashSet::default();
    let mut waiting = vec![State::start(program)];
    let mut phases: BTreeSet<Vec<u8>> = BTreeSet::new();
    while let Some(state) = waiting.pop() {
        let moves = state.moves(program);
        if moves.is_empty() {
            verdict.deadlocks |= !state.is_over(program);
            verdict.unbalanced |= state.is_unbalanced();
            phases.insert(state.phases());
            verdict.outcomes.insert(state.results(program));
        }
        for next in moves {
            let mut after = state.clone();
            match after.take(program, next, &mut verdict.races) {
                Ok(()) => {
                    if seen.insert(after.clone()) {
                        waiting.push(after);
                    }
                }
                Err(Stopped::Misused) => verdict.misuses = true,
                Err(Stopped::NotThere) => verdict.fails = true,
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    verdict.phases_differ = phases.len() > 1;
    verdict.states = seen.len();
    Some(verdict)
}
