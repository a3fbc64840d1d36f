//! Copies and asynchronous stores to the blocks of the cluster: their start, and their delivery at an mbarrier.

use super::{COPIED, Events, State, Stopped, event, init, stored_value};
use crate::clusters::access::accesses;
use crate::clusters::{BLOCKS, CELLS, ClusterOp, ClusterProgram, block_of};

impl State {
    /// Starts a copy or an asynchronous store to the blocks of a mask.
    pub(super) fn start_copy(&mut self, thread: usize, number: usize, mask: u8, race: &mut bool) {
        for block in (0..BLOCKS).filter(|block| mask >> block & 1 == 1) {
            self.in_flight |= event(number, block);
            *race |= self.known[thread] & init(block, true) == 0;
        }
        self.known_at_start[number] = self.known[thread];
    }

    /// Performs the copy or asynchronous store of a step in a block.
    pub(super) fn copy(
        &mut self,
        program: &ClusterProgram,
        step: usize,
        block: usize,
        race: &mut bool,
    ) -> Result<(), Stopped> {
        let Some((thread, op)) = program.op(step) else { return Ok(()) };
        let own_block = block_of(thread);
        let (cell, mbarrier, bytes, value) = match op {
            ClusterOp::Async(_, cell, mbarrier) => {
                (usize::from(cell), mbarrier, 1, Some(stored_value(step)))
            }
            ClusterOp::AsyncAdd(_, cell, mbarrier) => (usize::from(cell), mbarrier, 1, None),
            ClusterOp::Multicast(_, mbarrier) => (CELLS - 1, mbarrier, 4, Some(COPIED)),
            _ => return Ok(()),
        };
        self.check_lifetime(program, own_block, block)?;
        self.in_flight &= !event(step, block);
        let before = self.known_at_start[step];
        self.access_by(program, (event(step, block), block, cell, true), before, race);
        self.cells[block][cell] = value.unwrap_or(self.cells[block][cell] + 1);
        let passed_on_events = match value {
            Some(_) => self.passed_on(program, (step, block, cell), before),
            // An update overwrites nothing.
            None => event(step, block),
        };
        let counts = &mut self.mbarriers[block][usize::from(mbarrier)];
        self.phase[block][step] = counts.phase + 1;
        counts.copied[own_block] |= passed_on_events;
        counts.bytes -= bytes;
        counts.count(0)
    }

    /// Returns the events that a wait for a copy acquires: the copy, and earlier events of the same cell,
    /// which it overwrote.
    fn passed_on(
        &self,
        program: &ClusterProgram,
        (step, block, cell): (usize, usize, usize),
        before: Events,
    ) -> Events {
        let same = accesses(program).filter(|access| (access.block, access.cell) == (block, cell));
        let overwritten = same.fold(init(block, false), |all, one| all | one.event);
        event(step, block) | before & overwritten
    }
}
