//! Finds conflicts between blocks: keeps the accesses of all blocks so far, and compares each new block with them.

use super::commute;
use crate::address::Area;
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::tickets::{Counter, TicketWatch};
use crate::tracker::Shadows;
use sync::{BlockAccesses, Conflicts, Grid, Site};

/// Accesses of blocks to each allocation.
#[derive(Debug, Default)]
pub(crate) struct Between {
    grids: Vec<Option<Grid>>,
    /// Accesses of blocks that are not ordered before the last block's ticket, if blocks take tickets.
    unreleased: Vec<Option<Grid>>,
    pub(crate) conflicts: Vec<(Area, Conflicts)>,
}

impl Between {
    pub(crate) fn new(global: &[Allocation], shadows: &Shadows) -> Self {
        let grids = global.iter().zip(&shadows.global);
        let grid = |(memory, shadow): (&Allocation, &Option<sync::Shadow>)| {
            shadow.as_ref().map(|_| Grid::new(memory.bytes.len() as u64))
        };
        let conflicts =
            (0..global.len()).map(|number| (Area::Global(number), Conflicts::default()));
        let grids: Vec<Option<Grid>> = grids.map(grid).collect();
        Self { unreleased: grids.clone(), grids, conflicts: conflicts.collect() }
    }

    /// Adds the accesses of a block that may have taken a ticket. Released accesses precede those of the last block.
    pub(crate) fn add_ticketed(
        &mut self,
        machine: &Machine<'_>,
        block: u64,
        shadows: &Shadows,
        watch: &TicketWatch,
    ) {
        let commute = |a: Site, b: Site| commute(machine, a, b);
        let is_last = machine.tickets.last() == Some(block) && watch.has_ticket();
        match is_last {
            true => self.add_finished_block(machine, block, &watch.before),
            false => self.add(machine, block, shadows),
        }
        if !is_last && watch.has_ticket() && watch.is_released {
            return;
        }
        for ((grid, shadow), (_, conflicts)) in
            self.unreleased.iter_mut().zip(&shadows.global).zip(&mut self.conflicts)
        {
            let (Some(grid), Some(shadow)) = (grid, shadow) else { continue };
            match is_last {
                true => grid.add(block, shadow, &commute, conflicts),
                // Already reported.
                false => grid.add(block, shadow, &commute, &mut Conflicts::default()),
            }
        }
    }

    /// Returns `true` if a block accessed bytes that other blocks accessed, too, and one of them changed, apart from the
    /// counter of tickets. Then their order matters.
    pub(crate) fn needs_order(&self, shadows: &Shadows, counter: Option<&Counter>) -> bool {
        let mut all = self.grids.iter().zip(&shadows.global).enumerate();
        all.any(|(number, (grid, shadow))| {
            let (Some(grid), Some(shadow)) = (grid, shadow) else { return false };
            let counter_here = counter.filter(|counter| counter.number == number);
            let except =
                counter_here.map_or(0..0, |one| one.offset..one.offset + i64::from(one.bytes));
            grid.needs_order(&BlockAccesses::new(shadow), &except)
        })
    }

    /// Adds the accesses of a block.
    pub(crate) fn add(&mut self, machine: &Machine<'_>, block: u64, shadows: &Shadows) {
        let commute = |a: Site, b: Site| commute(machine, a, b);
        for ((grid, shadow), (_, conflicts)) in
            self.grids.iter_mut().zip(&shadows.global).zip(&mut self.conflicts)
        {
            if let (Some(grid), Some(shadow)) = (grid, shadow) {
                grid.add(block, shadow, &commute, conflicts);
            }
        }
    }

    /// Adds the accesses of a block that is over.
    pub(crate) fn add_finished_block(
        &mut self,
        machine: &Machine<'_>,
        block: u64,
        touched: &[Option<BlockAccesses>],
    ) {
        let commute = |a: Site, b: Site| commute(machine, a, b);
        for ((grid, touched), (_, conflicts)) in
            self.grids.iter_mut().zip(touched).zip(&mut self.conflicts)
        {
            if let (Some(grid), Some(touched)) = (grid, touched) {
                grid.add_finished_block(block, touched, &commute, conflicts);
            }
        }
    }

    /// Returns an instruction that accessed a global allocation, if any did.
    pub(crate) fn any_access(&self, number: usize) -> Option<Site> {
        let grids = [&self.grids, &self.unreleased];
        grids.into_iter().find_map(|grids| grids.get(number)?.as_ref()?.any_access())
    }

    /// Returns `true` if a block touched bytes that were last changed by a block for which `is_other` holds.
    pub(crate) fn touches_changes(
        &self,
        touched: &[Option<BlockAccesses>],
        is_other: &dyn Fn(u64) -> bool,
    ) -> bool {
        let both = self.grids.iter().zip(touched).filter_map(|(g, t)| g.as_ref().zip(t.as_ref()));
        both.into_iter().any(|(grid, touched)| grid.touches_changes(touched, is_other))
    }
}
