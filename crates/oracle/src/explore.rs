//! Explores all runs of a program: visits every reachable state once.
//!
//! There are two searches. The first tracks memory order but no contents. It finds races, deadlocks, misuse,
//! and registrations that match differently. It misses none of these, because no thread's actions depend on
//! contents. If it finds no fault, the second tracks contents and collects every final state. There should be
//! exactly one, which is checked rather than assumed.
//!
//! Meaning of a verdict:
//! - *race*: in some schedule, two conflicting events are unordered.
//! - *deadlock*: some schedule ends with threads that wait forever.
//! - *misuse*: some schedule misuses a barrier. That schedule is not continued.
//! - *schedule-dependent*: different schedules match registrations to generations differently, or end
//!   differently: completion, deadlock or misuse.
//! - *undefined*: some schedule stores a value shuffled from an exited lane.

use crate::findings::{Findings, Misuse};
use crate::machine::{Machine, TrackedState};
use crate::program::{MEMORY_BYTES, Op, Program};
use crate::state::{State, Status};
use crate::table::Table;
use crate::values::Values;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::fmt;

/// A step of a thread, or the copy it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// The number of the thread in the block of the emitted kernel.
    pub thread: u32,
    /// The position of the step in the thread.
    pub step: usize,
    /// Set for the transfer of a copy, rather than the step that starts it.
    pub copy: bool,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.copy { "the copy of step" } else { "step" };
        write!(f, "{what} {} of {}.{}", self.step, self.thread / 32, self.thread % 32)
    }
}

/// The final state of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// Shared memory.
    pub shared: [u8; MEMORY_BYTES],
    /// Global memory.
    pub global: [u8; MEMORY_BYTES],
    /// The result of each step, thread by thread; zero for steps without one.
    pub results: Vec<u64>,
}

/// The result of all runs of a program.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Races that matter, the smaller event first.
    pub races: BTreeSet<(Event, Event)>,
    /// Races of an unused read with a write of the same size. They are harmless.
    pub harmless_races: BTreeSet<(Event, Event)>,
    /// The program has asynchronous copies.
    pub copies: bool,
    /// Unordered stores of equal values to the same bytes; these are not races.
    pub equal_stores: BTreeSet<(Event, Event)>,
    /// Some schedule ends with all threads exited.
    pub completes: bool,
    /// Some schedule ends with waiting threads.
    pub deadlocks: bool,
    /// When such a schedule ends, a lane is at an aligned barrier and another lane of its warp elsewhere. A checker
    /// may call that a deadlock or a divergent barrier.
    pub stuck_at_aligned_barrier: bool,
    /// Misuses of barriers in some schedules.
    pub misuses: BTreeSet<Misuse>,
    /// A registration belongs to different generations in different schedules.
    pub matchings_differ: bool,
    /// Some schedule stores an undefined value.
    pub undefined: bool,
    /// The final states; `None` if not computed because of a fault.
    pub outcomes: Option<BTreeSet<Outcome>>,
    /// The number of visited states.
    pub states: usize,
}

impl Verdict {
    /// Returns `true` if the end of a run, or the matching at barriers, depends on the schedule.
    #[must_use]
    pub fn schedule_dependent(&self) -> bool {
        let ends = [self.completes, self.deadlocks, !self.misuses.is_empty()];
        self.matchings_differ || ends.into_iter().filter(|&end| end).count() > 1
    }

    /// Returns `true` if no schedule has a fault.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.races.is_empty()
            && !self.deadlocks
            && self.misuses.is_empty()
            && !self.matchings_differ
            && !self.undefined
    }
}

/// Explores programs; reuses its memory from one to the next.
#[derive(Debug, Default)]
pub struct Explorer {
    seen: FxHashSet<State>,
    unexplored: Vec<State>,
}

impl Explorer {
    /// Explores all runs of a program.
    ///
    /// # Panics
    /// If the program is not valid.
    pub fn explore(&mut self, program: &Program) -> Verdict {
        debug_assert_eq!(program.validate(), Ok(()));
        let table = Table::new(program);
        let machine = Machine {
            table: &table,
            tracked: TrackedState { memory: true, history: false, values: false },
        };
        let mut findings = Findings::default();
        let states = self.search(&machine, &mut findings, |_| {});
        let mut verdict = verdict(program, &table, findings, states);
        if verdict.is_clean() {
            verdict.outcomes = Some(self.outcomes_of(&table));
        }
        verdict
    }

    /// Returns the final states of the runs that complete, even if there are faults.
    pub fn outcomes(&mut self, program: &Program) -> BTreeSet<Outcome> {
        self.outcomes_of(&Table::new(program))
    }

    fn outcomes_of(&mut self, table: &Table) -> BTreeSet<Outcome> {
        let tracked = TrackedState { memory: false, history: false, values: true };
        let mut outcomes = BTreeSet::new();
        self.search(&Machine { table, tracked }, &mut Findings::default(), |values| {
            outcomes.insert(outcome(table, values));
        });
        outcomes
    }

    /// Visits every reachable state, and returns their number.
    fn search(
        &mut self,
        machine: &Machine<'_>,
        findings: &mut Findings,
        mut at_end: impl FnMut(&Values),
    ) -> usize {
        self.seen.clear();
        self.unexplored.clear();
        self.unexplored.push(machine.start());
        while let Some(state) = self.unexplored.pop() {
            let mut stuck = true;
            for next in machine.moves(&state) {
                stuck = false;
                let mut after = state.clone();
                match machine.perform_move(&mut after, next, findings) {
                    Ok(()) if self.seen.contains(&after) => {}
                    Ok(()) => {
                        self.seen.insert(after.clone());
                        self.unexplored.push(after);
                    }
                    Err(misuse) => {
                        findings.misuses.insert(misuse);
                    }
                }
            }
            if stuck && judge_end(machine, &state, findings) {
                state.values.as_deref().into_iter().for_each(&mut at_end);
            }
        }
        self.seen.len()
    }
}

/// Records the end of a run. Returns `true` if it completes.
pub(crate) fn judge_end(machine: &Machine<'_>, state: &State, findings: &mut Findings) -> bool {
    state.generations.iter().for_each(|generation| findings.generation(generation.members));
    let completes = state.status.iter().all(|&status| status == Status::Exited);
    findings.ends.completes |= completes;
    findings.ends.deadlocks |= !completes;
    findings.ends.stuck_at_aligned_barrier |= (0..machine.table.threads.len()).any(|lane| {
        let aligned = matches!(machine.op(state, lane), Some(Op::Barrier(b)) if b.aligned);
        state.status[lane] == Status::AtBarrier && aligned
    });
    completes
}

pub(crate) fn outcome(table: &Table, values: &Values) -> Outcome {
    Outcome {
        shared: *values.shared(),
        global: *values.global(),
        results: values.results[..table.steps()].to_vec(),
    }
}

fn verdict(program: &Program, table: &Table, findings: Findings, states: usize) -> Verdict {
    let describe = |pairs: BTreeSet<(usize, usize)>| {
        let event = |number| describe(program, table, number);
        pairs.into_iter().map(|(a, b)| (event(a).min(event(b)), event(a).max(event(b)))).collect()
    };
    let (harmless, races) =
        findings.race_pairs().into_iter().partition(|&(a, b)| table.is_harmless(a, b));
    Verdict {
        races: describe(races),
        harmless_races: describe(harmless),
        copies: !table.copies.is_empty(),
        equal_stores: describe(findings.equal_pairs()),
        completes: findings.ends.completes,
        deadlocks: findings.ends.deadlocks,
        stuck_at_aligned_barrier: findings.ends.stuck_at_aligned_barrier,
        misuses: findings.misuses,
        matchings_differ: findings.matchings_differ,
        undefined: findings.undefined,
        outcomes: None,
        states,
    }
}

pub(crate) fn describe(program: &Program, table: &Table, number: usize) -> Event {
    let thread = table.thread_of(number);
    let copy = table.copies.iter().find(|copy| copy.event == number);
    let step = copy.map_or(number, |copy| copy.issue) - table.threads[thread].first;
    Event { thread: program.threads[thread].number(), step, copy: copy.is_some() }
}
