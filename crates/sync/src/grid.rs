//! Finds conflicts between the accesses of different blocks, which nothing in a launch orders.
//!
//! For every few bytes only the last access of each kind is kept. So a conflict on some bytes is found for one pair
//! of accesses, and not for all.

use crate::cell::{Summary, mark};
use crate::clocks::LaneId;
use crate::pages::Pages;
use crate::shadow::{Conflict, ConflictSide, Conflicts, MemoryEffect, SameValue, Shadow, Site};
use std::ops::Range;

/// The last access of one kind to some bytes: its block, instruction and thread.
#[derive(Clone, Copy, Debug, Default)]
struct LastAccess {
    block: u64,
    site: Site,
    who: LaneId,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    marks: u16,
    /// Size and low address bits of the last write.
    extent: u8,
    read: LastAccess,
    write: LastAccess,
    update: LastAccess,
    other_update: LastAccess,
}

/// A summary of a block's accesses to one allocation. It outlives the block's [`Shadow`].
#[derive(Clone, Debug)]
pub struct BlockAccesses {
    shift: u32,
    cells: Vec<(u64, Summary)>,
}

impl BlockAccesses {
    /// Summarises a shadow.
    #[must_use]
    pub fn new(shadow: &Shadow) -> Self {
        Self { shift: shadow.shift(), cells: shadow.summaries().collect() }
    }

    /// Returns the ranges of bytes that were written or updated, as offset and length. They do not overlap.
    pub fn changed(&self) -> impl Iterator<Item = (i64, u64)> {
        let mut cells = self.cells.iter().filter(|(_, summary)| summary.marks & CHANGES != 0);
        let mut next = cells.next();
        std::iter::from_fn(move || {
            let &(first, _) = next?;
            let mut count = 1;
            next = cells.next();
            while next.is_some_and(|&(index, _)| index == first.wrapping_add(count)) {
                count += 1;
                next = cells.next();
            }
            Some(((first << self.shift).cast_signed(), count << self.shift))
        })
    }
}

/// Marks of bytes that a block wrote or updated.
const CHANGES: u16 = mark::WRITTEN | mark::UPDATED;

/// The accesses of all blocks so far to one allocation.
#[derive(Clone, Debug)]
pub struct Grid {
    shift: u32,
    size: u64,
    cells: Pages<Cell>,
}

impl Grid {
    /// Creates the record of an allocation of `size` bytes without accesses.
    #[must_use]
    pub fn new(size: u64) -> Self {
        let shift = 2;
        Self { shift, size, cells: Pages::new(size >> shift) }
    }

    /// Returns an instruction that accessed the allocation, if any did.
    #[must_use]
    pub fn any_access(&self) -> Option<Site> {
        let (_, cell) = self.cells.iter().find(|(_, cell)| cell.marks != 0)?;
        let lasts = [
            (mark::READ, cell.read),
            (mark::WRITTEN, cell.write),
            (mark::UPDATED, cell.update),
            (mark::UPDATED_OTHERWISE, cell.other_update),
        ];
        lasts.iter().find(|(mark, _)| cell.marks & mark != 0).map(|(_, last)| last.site)
    }

    /// Adds the accesses of a block and compares them with those of earlier blocks. `commute` returns `true`
    /// for two instructions with updates that commute, whichever threads execute them.
    pub fn add(
        &mut self,
        block: u64,
        shadow: &Shadow,
        commute: &dyn Fn(Site, Site) -> bool,
        conflicts: &mut Conflicts,
    ) {
        self.add_cells(block, shadow.shift(), shadow.summaries(), (commute, conflicts));
    }

    /// Like [`add`](Self::add), for a block that is over.
    pub fn add_finished_block(
        &mut self,
        block: u64,
        finished: &BlockAccesses,
        commute: &dyn Fn(Site, Site) -> bool,
        conflicts: &mut Conflicts,
    ) {
        self.add_cells(block, finished.shift, finished.cells.iter().copied(), (commute, conflicts));
    }

    /// Returns `true` if a block touched bytes that were last changed by a block for which `is_other` returns `true`.
    #[must_use]
    pub fn touches_changes(
        &self,
        finished: &BlockAccesses,
        is_other: &dyn Fn(u64) -> bool,
    ) -> bool {
        self.shared_cells(finished).any(|(_, cell, _)| {
            let lasts = [
                (mark::WRITTEN, cell.write),
                (mark::UPDATED, cell.update),
                (mark::UPDATED_OTHERWISE, cell.other_update),
            ];
            lasts.iter().any(|(mark, last)| cell.marks & mark != 0 && is_other(last.block))
        })
    }

    /// Returns `true` if a block and one of the recorded blocks accessed the same bytes, other than those of `except`,
    /// and one of the two changed them.
    #[must_use]
    pub fn needs_order(&self, finished: &BlockAccesses, except: &Range<i64>) -> bool {
        self.shared_cells(finished).any(|(index, cell, summary)| {
            let changes = CHANGES | mark::UPDATED_OTHERWISE;
            let offset = (index << self.shift).cast_signed();
            (cell.marks | summary.marks) & changes != 0 && !except.contains(&offset)
        })
    }

    /// Iterates over the recorded cells whose bytes a block accessed, with their indices.
    fn shared_cells<'a>(
        &'a self,
        finished: &'a BlockAccesses,
    ) -> impl Iterator<Item = (u64, &'a Cell, &'a Summary)> {
        // The first index, and the number of indices.
        let indices = |index: u64| {
            if finished.shift <= self.shift {
                let coarse = index.cast_signed() >> (self.shift - finished.shift);
                return (coarse.cast_unsigned(), 1);
            }
            let ratio = 1u64 << (finished.shift - self.shift);
            (index.wrapping_mul(ratio), ratio)
        };
        finished.cells.iter().flat_map(move |(index, summary)| {
            let (first, count) = indices(*index);
            (0..count).filter_map(move |part| {
                let index = first.wrapping_add(part);
                let cell = self.cells.peek(index).filter(|cell| cell.marks != 0)?;
                Some((index, cell, summary))
            })
        })
    }

    fn add_cells(
        &mut self,
        block: u64,
        shift: u32,
        cells: impl Iterator<Item = (u64, Summary)>,
        (commute, conflicts): (&dyn Fn(Site, Site) -> bool, &mut Conflicts),
    ) {
        if shift < self.shift {
            self.refine(shift);
        }
        let ratio = 1u64 << (shift - self.shift);
        for (index, summary) in cells {
            for part in 0..ratio {
                let index = index.wrapping_mul(ratio).wrapping_add(part);
                let cell = self.cells.get(index);
                let offset = (index << self.shift).cast_signed();
                compare(cell, block, &summary, offset, commute, conflicts);
                record(cell, block, &summary);
            }
        }
    }

    fn refine(&mut self, shift: u32) {
        let ratio = 1u64 << (self.shift - shift);
        let mut cells = Pages::new(self.size >> shift);
        for (index, cell) in self.cells.iter().filter(|(_, cell)| cell.marks != 0) {
            for part in 0..ratio {
                *cells.get(index.wrapping_mul(ratio).wrapping_add(part)) = *cell;
            }
        }
        (self.cells, self.shift) = (cells, shift);
    }
}

fn record(cell: &mut Cell, block: u64, summary: &Summary) {
    let written = cell.marks & summary.marks & mark::WRITTEN != 0;
    if written && cell.extent != summary.extent {
        cell.marks |= mark::EXTENTS;
    }
    if summary.marks & mark::WRITTEN != 0 {
        cell.extent = summary.extent;
    }
    cell.marks |= summary.marks;
    let sides = [
        (mark::READ, &mut cell.read, summary.read),
        (mark::WRITTEN, &mut cell.write, summary.write),
        (mark::UPDATED, &mut cell.update, summary.update),
        (mark::UPDATED_OTHERWISE, &mut cell.other_update, summary.other_update),
    ];
    for (mark, last, (site, who)) in sides {
        if summary.marks & mark != 0 {
            *last = LastAccess { block, site, who };
        }
    }
}

/// Compares a block's accesses to a cell with the last ones of earlier blocks, and adds each conflict.
fn compare(
    cell: &Cell,
    block: u64,
    summary: &Summary,
    offset: i64,
    commute: &dyn Fn(Site, Site) -> bool,
    conflicts: &mut Conflicts,
) {
    if cell.marks == 0 {
        return;
    }
    let before = [
        (mark::READ, MemoryEffect::Read, cell.read),
        (mark::WRITTEN, MemoryEffect::Write, cell.write),
        (mark::UPDATED, MemoryEffect::Update, cell.update),
        (mark::UPDATED_OTHERWISE, MemoryEffect::Update, cell.other_update),
    ];
    let now = [
        (mark::READ, MemoryEffect::Read, summary.read),
        (mark::WRITTEN, MemoryEffect::Write, summary.write),
        (mark::UPDATED, MemoryEffect::Update, summary.update),
        (mark::UPDATED_OTHERWISE, MemoryEffect::Update, summary.other_update),
    ];
    // Writes that overlap only in part have no guaranteed result, even with equal values (manual §8.7.2).
    let same_extent =
        cell.extent == summary.extent && (cell.marks | summary.marks) & mark::EXTENTS == 0;
    for (mark, kind, last) in before {
        for (other_mark, other_kind, (site, who)) in now {
            if cell.marks & mark == 0 || summary.marks & other_mark == 0 {
                continue;
            }
            let harmless = match (kind, other_kind) {
                (MemoryEffect::Read, MemoryEffect::Read) => true,
                (MemoryEffect::Update, MemoryEffect::Update) => commute(last.site, site),
                _ => false,
            };
            if harmless {
                continue;
            }
            let both_write =
                same_extent && (kind, other_kind) == (MemoryEffect::Write, MemoryEffect::Write);
            let read_only_cache = (cell.marks | summary.marks) & mark::NON_COHERENT != 0;
            conflicts.add(Conflict {
                earlier: ConflictSide {
                    who: last.who,
                    site: last.site,
                    kind,
                    time: None,
                    copy: None,
                },
                later: ConflictSide { who, site, kind: other_kind, time: None, copy: None },
                offset,
                same_value: both_write.then(|| same_value(cell.marks, summary.marks)),
                blocks: Some([last.block, block]),
                non_coherent: read_only_cache
                    && (kind == MemoryEffect::Read || other_kind == MemoryEffect::Read),
                unseen: None,
            });
        }
    }
}

/// Compares the writes of earlier blocks with those of a later one, from their marks: `Different` if the later
/// block changed the value, or an earlier one replaced a value of its own by another; `Equal` if certainly neither.
fn same_value(earlier: u16, later: u16) -> SameValue {
    if later & mark::CHANGED != 0 || earlier & mark::REPLACED != 0 {
        SameValue::Different
    } else if later & mark::MAY_HAVE_CHANGED != 0 || earlier & mark::MAY_HAVE_REPLACED != 0 {
        SameValue::Undecided
    } else {
        SameValue::Equal
    }
}
