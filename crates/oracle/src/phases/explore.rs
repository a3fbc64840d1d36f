//! Explores all runs of a program with mbarriers.
//!
//! An mbarrier has a phase, expected and pending arrivals, and a balance of announced minus delivered bytes.
//! A phase ends when no arrival is pending and the balance is zero. A wait for a parity proceeds when the
//! current phase has the other one. *Misuse* is an arrival in excess of the pending ones, an arrival with
//! `noComplete` that ends the phase, or a negative balance with nothing pending; that schedule is not
//! continued. A copy happens at any time after its start, and arrives at an mbarrier at any time after that.
//! A bulk load delivers its bytes in two halves.
//!
//! Happens-before is kept as sets: for each thread, the events that it knows of. An arrival adds the set of its
//! thread to that of the phase. A wait adds the set of the ended phase to that of its thread. Relaxed arrivals and
//! waits do so only together with fences. A second set holds the writes that a `fence.proxy.async` has covered: a
//! bulk copy that knows of a write but not of such a fence races with it. Two stores of the same value do not race,
//! nor do two updates.
//!
//! A program is *clean* if every schedule ends with all threads exited, balanced bytes, no misuse and no race,
//! if each step counts for the same phase on all schedules, and if the values read are the same.

use super::step::{Misused, Move, State};
use super::{PhaseOp, PhaseProgram};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// The result of all runs of a program.
#[derive(Clone, Debug, Default)]
pub struct PhaseVerdict {
    /// Some schedule ends with waiting threads.
    pub deadlocks: bool,
    /// Some schedule misuses an mbarrier.
    pub misuses: bool,
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

impl PhaseVerdict {
    /// Returns `true` if no schedule shows a fault.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        !self.deadlocks
            && !self.misuses
            && !self.unbalanced
            && !self.phases_differ
            && !self.races
            && self.outcomes.len() == 1
    }
}

/// Explores all runs of a program; `None` if there are too many states.
#[must_use]
pub fn explore_phases(program: &PhaseProgram) -> Option<PhaseVerdict> {
    const MAX_STATES: usize = 400_000;
    let mut verdict = PhaseVerdict::default();
    let mut seen: FxHashSet<State> = FxHashSet::default();
    let mut unexplored = vec![State::start(program)];
    let mut phases: BTreeSet<Vec<Option<u8>>> = BTreeSet::new();
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
                Err(Misused) => verdict.misuses = true,
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

impl State {
    /// Returns the possible next moves: a step of a thread, the answer *true* to a thread's test of a phase, the
    /// transfer of a copy in flight, or the arrival of copies that are complete.
    fn moves(&self, program: &PhaseProgram) -> Vec<Move> {
        let threads = (0..program.threads.len()).filter(|&thread| self.can_step(program, thread));
        let steps = threads.map(Move::Step);
        let true_answers =
            (0..program.threads.len()).filter(|&thread| match self.op(program, thread) {
                Some(PhaseOp::Peek(mbarrier, parity)) => self.has_passed(mbarrier, parity),
                _ => false,
            });
        let in_flight = (0..program.len()).filter(|&step| self.in_flight >> step & 1 != 0);
        let copies = in_flight.map(Move::Copy);
        let due = (0..program.len()).filter(|&step| self.is_due(step));
        steps
            .chain(true_answers.map(Move::TestTrue))
            .chain(copies)
            .chain(due.map(Move::CopyArrival))
            .collect()
    }

    fn can_step(&self, program: &PhaseProgram, thread: usize) -> bool {
        match self.op(program, thread) {
            None => false,
            Some(PhaseOp::Wait(mbarrier, parity, _)) => self.has_passed(mbarrier, parity),
            Some(PhaseOp::WaitUnless(mbarrier, parity)) => {
                self.was_answered_true(thread) || self.has_passed(mbarrier, parity)
            }
            Some(PhaseOp::StoreWait(_)) => self.stores_are_done(program, thread),
            Some(PhaseOp::Block) => self.all_at_block(program, thread),
            Some(PhaseOp::Warp(orders)) => self.both_at_warp(program, thread, orders),
            Some(_) => true,
        }
    }

    /// Returns `true` if the phase of this parity counts as over.
    fn has_passed(&self, mbarrier: u8, parity: bool) -> bool {
        let phase = self.mbarriers[usize::from(mbarrier)].phase;
        (phase % 2 == 1) != parity
    }

    fn is_over(&self, program: &PhaseProgram) -> bool {
        (0..program.threads.len()).all(|thread| self.op(program, thread).is_none())
    }
}
