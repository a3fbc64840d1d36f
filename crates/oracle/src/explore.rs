//! All runs of a program: every state that some schedule reaches, once.
//!
//! Two searches. The first keeps what orders memory and no contents: it finds races, deadlocks,
//! misuse, and whether registrations match differently. Nothing a thread does depends on contents,
//! so none of this can be missed. If it finds nothing wrong, the second keeps contents and collects
//! every final state; there should be one, which is checked and not assumed.
//!
//! What a verdict says:
//! - *race*: in some schedule, two conflicting events with neither ordered before the other.
//! - *deadlock*: some schedule ends with threads that wait for ever.
//! - *misuse*: some schedule uses a barrier as it must not be used. That schedule is followed no
//!   further.
//! - *schedule-dependent*: registrations are matched to generations in one way in one schedule and
//!   differently in another, or some schedule ends in one of completion, deadlock, misuse and some
//!   other schedule in another of them.
//! - *undefined*: some schedule writes down a value shuffled from a lane that is gone.

use crate::findings::{Findings, Misuse};
use crate::machine::{Machine, Tracked};
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
    /// Number of the thread in the block of the emitted kernel.
    pub thread: u32,
    /// Position of the step in the thread.
    pub step: usize,
    /// The bytes moving, instead of the step that starts it.
    pub copy: bool,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.copy { "the copy of step" } else { "step" };
        write!(f, "{what} {} of {}.{}", self.step, self.thread / 32, self.thread % 32)
    }
}

/// What a run leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// Shared memory.
    pub shared: [u8; MEMORY_BYTES],
    /// Global memory.
    pub global: [u8; MEMORY_BYTES],
    /// What each step has learned, thread by thread; zero for steps that learn nothing.
    pub results: Vec<u64>,
}

/// What all runs of a program show.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Races that matter, the smaller event first.
    pub races: BTreeSet<(Event, Event)>,
    /// Races of a read for nothing with a write of the same size: they make no difference.
    pub idle_races: BTreeSet<(Event, Event)>,
    /// There are asynchronous copies.
    pub copies: bool,
    /// Unordered stores of equal values to the same bytes, which are no races.
    pub equal_stores: BTreeSet<(Event, Event)>,
    /// Some schedule ends with all threads gone.
    pub completes: bool,
    /// Some schedule ends with threads that wait.
    pub deadlocks: bool,
    /// In such an end, a lane is at an aligned barrier and another lane of its warp elsewhere. That
    /// may be called a deadlock or a divergent barrier.
    pub stuck_apart: bool,
    /// What some schedules do wrong at barriers.
    pub misuses: BTreeSet<Misuse>,
    /// A registration belongs to one generation in one schedule and to another in another.
    pub matchings_differ: bool,
    /// An undefined value is written down.
    pub undefined: bool,
    /// What the runs leave behind; `None` if it was not looked at because something is wrong.
    pub outcomes: Option<BTreeSet<Outcome>>,
    /// States seen.
    pub states: usize,
}

impl Verdict {
    /// Whether how a run ends, or who meets whom at a barrier, depends on the schedule.
    #[must_use]
    pub fn schedule_dependent(&self) -> bool {
        let ends = [self.completes, self.deadlocks, !self.misuses.is_empty()];
        self.matchings_differ || ends.into_iter().filter(|&end| end).count() > 1
    }

    /// Whether nothing is wrong in any schedule.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.races.is_empty()
            && !self.deadlocks
            && self.misuses.is_empty()
            && !self.matchings_differ
            && !self.undefined
    }
}

/// Follows all runs of programs; keeps its memory from one to the next.
#[derive(Debug, Default)]
pub struct Explorer {
    seen: FxHashSet<State>,
    waiting: Vec<State>,
}

impl Explorer {
    /// What all runs of a program show.
    ///
    /// # Panics
    /// If the program is not valid.
    pub fn explore(&mut self, program: &Program) -> Verdict {
        debug_assert_eq!(program.validate(), Ok(()));
        let table = Table::new(program);
        let machine = Machine {
            table: &table,
            tracked: Tracked { memory: true, history: false, values: false },
        };
        let mut findings = Findings::default();
        let states = self.search(&machine, &mut findings, |_| {});
        let mut verdict = verdict(program, &table, findings, states);
        if verdict.is_clean() {
            verdict.outcomes = Some(self.outcomes_of(&table));
        }
        verdict
    }

    /// What the runs that complete leave behind, even if something is wrong.
    pub fn outcomes(&mut self, program: &Program) -> BTreeSet<Outcome> {
        self.outcomes_of(&Table::new(program))
    }

    fn outcomes_of(&mut self, table: &Table) -> BTreeSet<Outcome> {
        let tracked = Tracked { memory: false, history: false, values: true };
        let mut outcomes = BTreeSet::new();
        self.search(&Machine { table, tracked }, &mut Findings::default(), |values| {
            outcomes.insert(outcome(table, values));
        });
        outcomes
    }

    /// Visits every reachable state; how many there are.
    fn search(
        &mut self,
        machine: &Machine<'_>,
        findings: &mut Findings,
        mut at_end: impl FnMut(&Values),
    ) -> usize {
        self.seen.clear();
        self.waiting.clear();
        self.waiting.push(machine.start());
        while let Some(state) = self.waiting.pop() {
            let mut stuck = true;
            for next in machine.moves(&state) {
                stuck = false;
                let mut after = state.clone();
                match machine.take(&mut after, next, findings) {
                    Ok(()) if self.seen.contains(&after) => {}
                    Ok(()) => {
                        self.seen.insert(after.clone());
                        self.waiting.push(after);
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

/// Notes how a run ends; whether it completes.
pub(crate) fn judge_end(machine: &Machine<'_>, state: &State, findings: &mut Findings) -> bool {
    state.generations.iter().for_each(|generation| findings.generation(generation.members));
    let completes = state.status.iter().all(|&status| status == Status::Exited);
    findings.ends.completes |= completes;
    findings.ends.deadlocks |= !completes;
    findings.ends.stuck_apart |= (0..machine.table.threads.len()).any(|lane| {
        let aligned = matches!(machine.op(state, lane), Some(Op::Barrier(b)) if b.aligned);
        state.status[lane] == Status::Arrived && aligned
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
    let (idle, races) = findings.race_pairs().into_iter().partition(|&(a, b)| table.is_idle(a, b));
    Verdict {
        races: describe(races),
        idle_races: describe(idle),
        copies: !table.copies.is_empty(),
        equal_stores: describe(findings.equal_pairs()),
        completes: findings.ends.completes,
        deadlocks: findings.ends.deadlocks,
        stuck_apart: findings.ends.stuck_apart,
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
