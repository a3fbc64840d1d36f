//! Explores all runs of a cluster of two blocks.
//!
//! Threads step in any order. A copy or asynchronous store happens at any time after its start. Without a
//! cluster barrier at the start, blocks start at any time. A block exists from its start to the end of its
//! last thread: an access to its memory or mbarriers before or after that *fails*. The cluster barrier is
//! complete when every thread has arrived or ended. It is *misuse* to arrive twice, to wait without having
//! arrived, or to arrive at an mbarrier more often than it expects. A program is *clean* if every schedule
//! ends with all threads exited, every step in the same phase, balanced bytes, no misuse, no failure, no
//! race, and the same values.

use super::ClusterProgram;
use super::step::{State, Stopped};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The result of all runs of a program.
#[derive(Clone, Debug, Default)]
pub struct ClusterVerdict {
    /// Some schedule ends with waiting threads.
    pub deadlocks: bool,
    /// Some schedule misuses a barrier.
    pub misuses: bool,
    /// Some schedule accesses a block outside its lifetime.
    pub fails: bool,
    /// Some schedule ends with unbalanced bytes.
    pub unbalanced: bool,
    /// A step counts for different phases on different schedules.
    pub phases_differ: bool,
    /// Some schedule has conflicting unordered accesses.
    pub races: bool,
    /// The values of all reads, on schedules that complete.
    pub outcomes: BTreeSet<Vec<u32>>,
    /// The number of visited states.
    pub states: usize,
}

impl ClusterVerdict {
    /// Returns `true` if no schedule shows a fault.
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

/// Explores all runs of a program; `None` if there are too many states.
#[must_use]
pub fn explore_clusters(program: &ClusterProgram) -> Option<ClusterVerdict> {
    const MAX_STATES: usize = 100_000;
    let mut verdict = ClusterVerdict::default();
    let mut seen: FxHashSet<State> = FxHashSet::default();
    let mut unexplored = vec![State::start(program)];
    let mut phases: BTreeSet<Vec<u8>> = BTreeSet::new();
    while let Some(state) = unexplored.pop() {
        let moves = state.moves(program);
        if moves.is_empty() {
            verdict.deadlocks |= !state.is_over(program);
            verdict.unbalanced |= state.is_unbalanced();
            phases.insert(state.phases());
            verdict.outcomes.insert(state.results(program));
        }
        for next in moves {
            let mut after = state.clone();
            match after.perform_move(program, next, &mut verdict.races) {
                Ok(()) => {
                    if seen.insert(after.clone()) {
                        unexplored.push(after);
                    }
                }
                Err(Stopped::Misused) => verdict.misuses = true,
                Err(Stopped::OutsideLifetime) => verdict.fails = true,
            }
        }
        if seen.len() > MAX_STATES {
            return None;
        }
    }
    verdict.phases_differ = phases.len() > 1;
    verdict.states = seen.len();
    Some(verdict)
}
