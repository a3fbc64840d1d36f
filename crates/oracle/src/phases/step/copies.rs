//! Copies: their start, their transfer, and the arrivals that wait for them.

use super::{Knowledge, Misused, State, Steps, copied_value, op_of};
use crate::phases::{PhaseOp, PhaseProgram};

impl State {
    /// Transfers a copy's bytes. A bulk load delivers them in two halves, the second one once all bytes are
    /// there.
    pub(super) fn copy(
        &mut self,
        program: &PhaseProgram,
        step: usize,
        race: &mut bool,
    ) -> Result<(), Misused> {
        let before = self.known_at_start[step];
        match op_of(program, step) {
            PhaseOp::Copy(cell) => {
                self.in_flight &= !(1 << step);
                self.access(program, (step, usize::from(cell), true), before, race);
                self.cells[usize::from(cell)] = copied_value(cell);
            }
            PhaseOp::Store(cell) => {
                self.in_flight &= !(1 << step);
                self.access(program, (step, usize::from(cell), false), before, race);
                self.results[step] = self.cells[usize::from(cell)];
            }
            PhaseOp::Load(cell, mbarrier) => {
                // The phases in which both halves arrive are recorded.
                self.phase[step] = self.phase[step] * 8 + self.current(mbarrier) + 1;
                if self.half_delivered >> step & 1 == 0 {
                    self.half_delivered |= 1 << step;
                } else {
                    self.in_flight &= !(1 << step);
                    self.access(program, (step, usize::from(cell), true), before, race);
                    self.cells[usize::from(cell)] = copied_value(cell);
                    // Other bulk copies no longer need to see the overwritten writes.
                    let passed_on_events = self.passed_on(program, step);
                    self.mbarriers[usize::from(mbarrier)]
                        .released
                        .add(Knowledge { known: passed_on_events, seen: passed_on_events });
                }
                self.mbarriers[usize::from(mbarrier)].bytes -= 1;
                return self.count(mbarrier, 0, false);
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the events that a wait for a copy acquires: the copy, and earlier events of the same cell,
    /// which it overwrote. Other events of its thread are not passed on.
    pub(super) fn passed_on(&self, program: &PhaseProgram, copy: usize) -> Steps {
        let cell = |step: usize| match op_of(program, step) {
            PhaseOp::Write(at)
            | PhaseOp::WriteCommon(at, _)
            | PhaseOp::Update(at)
            | PhaseOp::Read(at)
            | PhaseOp::Copy(at)
            | PhaseOp::Load(at, _)
            | PhaseOp::Store(at) => Some(at),
            _ => None,
        };
        let same = (0..program.len()).filter(|&step| cell(step) == cell(copy));
        let before = self.known_at_start[copy];
        same.fold(1 << copy, |all, step| all | before & 1 << step)
    }

    /// Returns `true` if none of a thread's bulk stores is in flight.
    pub(in crate::phases) fn stores_are_done(&self, program: &PhaseProgram, thread: usize) -> bool {
        self.own_stores(program, thread) & self.in_flight == 0
    }

    pub(super) fn own_stores(&self, program: &PhaseProgram, thread: usize) -> Steps {
        let first = program.first(thread);
        let before = first..first + usize::from(self.next[thread]);
        let stores = before.filter(|&step| matches!(op_of(program, step), PhaseOp::Store(_)));
        stores.fold(0, |all, step| all | 1 << step)
    }

    /// Issues a bulk copy. It races if a write ordered before it is not visible to it.
    pub(super) fn start_bulk_copy(
        &mut self,
        program: &PhaseProgram,
        (number, cell): (usize, u8),
        before: Knowledge,
        race: &mut bool,
    ) {
        for other in
            (0..program.len()).filter(|&other| before.known & self.happened & 1 << other != 0)
        {
            let writes = match op_of(program, other) {
                PhaseOp::Write(at)
                | PhaseOp::WriteCommon(at, _)
                | PhaseOp::Update(at)
                | PhaseOp::Copy(at) => at == cell,
                _ => false,
            };
            *race |= writes && before.seen & 1 << other == 0;
        }
        self.in_flight |= 1 << number;
        self.known_at_start[number] = before.known;
    }

    /// Starts an arrival that happens once the earlier copies of the thread are complete.
    pub(super) fn start_copy_arrival(
        &mut self,
        program: &PhaseProgram,
        (thread, number): (usize, usize),
        mbarrier: u8,
        increments: bool,
    ) {
        self.phase[number] = self.current(mbarrier) + 1;
        let copies = (program.first(thread)..number)
            .filter(|&step| matches!(op_of(program, step), PhaseOp::Copy(_)));
        self.awaited_copies[number] = copies.fold(0, |all, step| all | 1 << step);
        self.pending_arrivals |= 1 << number;
        if increments {
            self.mbarriers[usize::from(mbarrier)].pending += 1;
        }
    }
}
