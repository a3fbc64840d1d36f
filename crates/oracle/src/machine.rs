//! Single steps of threads and copies: memory, asynchronous copies, exits.
//!
//! A running thread takes its next step. A copy in flight transfers its bytes at any time up to the wait that
//! covers it, or after everything else if none does. A barrier or collective is complete as soon as the last step
//! for it is taken, but the released threads may take any time to continue.
//!
//! Memory is sequentially consistent here, although the PTX memory model is weaker. This loses no finding: only a
//! racing read can tell the two apart, and races are found regardless of the values read.

use crate::findings::{Findings, Misuse};
use crate::program::{Access, MAX_THREADS, Op, Space};
use crate::state::{History, State, Status};
use crate::table::{CopyTable, Events, Table};
use crate::values::{Values, stored_value, summand};

/// A possible next move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// This thread takes its next step, or exits.
    Thread(usize),
    /// This copy transfers its bytes.
    Copy(usize),
}

/// State to track besides the positions of the threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrackedState {
    /// The order of memory accesses, without which no race is found.
    pub(crate) memory: bool,
    /// The waits-for order, and the last generations of barriers ([`History`]).
    pub(crate) history: bool,
    /// Contents of memory.
    pub(crate) values: bool,
}

/// The interpreter of a program.
pub(crate) struct Machine<'t> {
    pub(crate) table: &'t Table,
    pub(crate) tracked: TrackedState,
}

impl Machine<'_> {
    pub(crate) fn start(&self) -> State {
        let mut state = State::default();
        state.status[self.table.threads.len()..].fill(Status::Exited);
        state.history = self.tracked.history.then(Box::<History>::default);
        state.values = self.tracked.values.then(|| Box::new(Values::initial()));
        state
    }

    /// Returns all possible next moves.
    pub(crate) fn moves(&self, state: &State) -> impl Iterator<Item = Move> {
        let threads = (0..MAX_THREADS).filter(|&thread| self.can_step(state, thread));
        let copies = (0..self.table.copies.len())
            .filter(|&copy| !self.copy_event(copy).and(state.in_flight).is_empty());
        threads.map(Move::Thread).chain(copies.map(Move::Copy))
    }

    fn copy_event(&self, copy: usize) -> Events {
        Events::one(self.table.copies[copy].event)
    }

    fn can_step(&self, state: &State, thread: usize) -> bool {
        if state.status[thread] != Status::Running {
            return false;
        }
        match self.op(state, thread) {
            Some(Op::WaitGroup(_) | Op::WaitAll) => {
                self.table.covers[self.event(state, thread)].within(state.done)
            }
            _ => true,
        }
    }

    /// Performs a move.
    ///
    /// # Errors
    /// For a misuse; the state after it is meaningless.
    pub(crate) fn perform_move(
        &self,
        state: &mut State,
        next: Move,
        findings: &mut Findings,
    ) -> Result<(), Misuse> {
        match next {
            Move::Thread(thread) => self.step(state, thread, findings),
            Move::Copy(copy) => {
                self.transfer(state, copy, findings);
                Ok(())
            }
        }
    }

    fn step(
        &self,
        state: &mut State,
        thread: usize,
        findings: &mut Findings,
    ) -> Result<(), Misuse> {
        let Some(op) = self.op(state, thread) else {
            return self.exit(state, thread, findings);
        };
        match op {
            Op::Read(_) | Op::UnusedRead(_) | Op::Write(..) | Op::Add(..) => {
                self.access(state, thread, op, findings)
            }
            Op::Copy { .. } => self.start_copy(state, thread),
            Op::Commit => self.finish_step(state, thread),
            Op::WaitGroup(_) | Op::WaitAll => self.complete_wait(state, thread),
            Op::Barrier(_) => {
                state.status[thread] = Status::AtBarrier;
                return self.register(state, self.table.threads[thread].warp, findings);
            }
            Op::WarpSync(_) | Op::Shuffle { .. } | Op::Vote { .. } => {
                state.status[thread] = Status::AtCollective;
                self.complete_collectives(state, self.table.threads[thread].warp, findings);
            }
        }
        Ok(())
    }

    /// Exits a thread. Others of the warp or of the block may have waited for this.
    fn exit(
        &self,
        state: &mut State,
        thread: usize,
        findings: &mut Findings,
    ) -> Result<(), Misuse> {
        let warp = self.table.threads[thread].warp;
        state.status[thread] = Status::Exited;
        self.complete_collectives(state, warp, findings);
        self.register(state, warp, findings)?;
        self.complete_barriers_without_count(state, findings);
        Ok(())
    }

    fn access(&self, state: &mut State, thread: usize, op: Op, findings: &mut Findings) {
        let event = self.event(state, thread);
        self.look_for_races(state, event, state.memory.threads[thread], findings);
        if let Some(values) = &mut state.values {
            apply_to_values(values, event, op);
        }
        self.finish_step(state, thread);
    }

    /// Records conflicts with earlier events outside `ordered`, the events that are ordered before this one. These are
    /// races: in another schedule the earlier event could come second.
    fn look_for_races(
        &self,
        state: &State,
        event: usize,
        ordered: Events,
        findings: &mut Findings,
    ) {
        if self.tracked.memory {
            let unordered = state.done.without(ordered);
            findings.races[event].add(self.table.conflicts[event].and(unordered));
            findings.equal_stores[event].add(self.table.equal_stores[event].and(unordered));
        }
    }

    fn start_copy(&self, state: &mut State, thread: usize) {
        let issue = self.event(state, thread);
        self.finish_step(state, thread);
        for (number, copy) in self.table.copies.iter().enumerate() {
            if copy.issue == issue {
                state.in_flight.add(Events::one(copy.event));
                state.copies[number] = state.memory.threads[thread];
            }
        }
    }

    fn transfer(&self, state: &mut State, copy: usize, findings: &mut Findings) {
        let CopyTable { event, to, from, .. } = self.table.copies[copy];
        self.look_for_races(state, event, state.copies[copy], findings);
        // Forget the events ordered before the copy: a thread that waits for the copy is the one that issued it, so
        // it is ordered after them already.
        state.copies[copy] = Events::NONE;
        state.in_flight = state.in_flight.without(Events::one(event));
        state.done.add(Events::one(event));
        if let Some(values) = &mut state.values {
            let value = values.load(cell(Space::Global, from));
            values.store(cell(Space::Shared, to), value);
        }
    }

    /// Completes a wait when its copies are done.
    fn complete_wait(&self, state: &mut State, thread: usize) {
        let covered = self.table.covers[self.event(state, thread)];
        if self.tracked.memory {
            state.memory.threads[thread].add(covered);
        }
        if let Some(history) = &mut state.history {
            history.waits.threads[thread].add(covered);
        }
        self.finish_step(state, thread);
    }

    /// Completes the thread's step.
    pub(crate) fn finish_step(&self, state: &mut State, thread: usize) {
        let event = Events::one(self.event(state, thread));
        state.done.add(event);
        state.next[thread] += 1;
        state.status[thread] = Status::Running;
        if self.tracked.memory {
            state.memory.threads[thread].add(event);
        }
        if let Some(history) = &mut state.history {
            history.waits.threads[thread].add(event);
        }
    }

    /// The thread's next step, if it has one.
    pub(crate) fn op(&self, state: &State, thread: usize) -> Option<Op> {
        self.table.threads[thread].ops.get(usize::from(state.next[thread])).copied()
    }

    /// The event of the thread's next step.
    pub(crate) fn event(&self, state: &State, thread: usize) -> usize {
        self.table.threads[thread].first + usize::from(state.next[thread])
    }

    /// The program's threads in a warp, exited or not.
    pub(crate) fn lanes(&self, warp: usize) -> impl Iterator<Item = usize> + Clone {
        let threads = &self.table.threads;
        (0..threads.len()).filter(move |&thread| threads[thread].warp == warp)
    }
}

fn apply_to_values(values: &mut Values, event: usize, op: Op) {
    match op {
        Op::Read(access) => values.results[event] = values.load(access),
        Op::Write(access, value) => values.store(access, stored_value(event, value)),
        Op::Add(space, number) => {
            let cell = cell(space, number);
            let sum = values.load(cell) as u32;
            values.store(cell, u64::from(sum.wrapping_add(summand(event))));
        }
        _ => {}
    }
}

fn cell(space: Space, cell: u8) -> Access {
    Access { space, offset: cell * 4, width: 4 }
}
