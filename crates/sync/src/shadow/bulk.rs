//! Accesses to many bytes at once: bulk copies and products of warp groups (PTX manual §9.7.9.25, §9.7.15).
//!
//! Cells filled together share a history, and an access affects them alike. A page of such cells is kept as
//! one cell ([`Pages`]). A conflict, or a cell that needs a list, falls back to cell by cell, with the same
//! answer.

use super::{Access, Conflicts, Shadow, entry};
use crate::cell::{AccessOrder, Cell};
use crate::clocks::Clocks;
use crate::copies::AsyncAgents;
use crate::entry::Entry;
use crate::lanes::Mask;
use crate::pages::Pages;
use crate::products::ReadUnits;
use std::ops::Range;

impl Shadow {
    /// Records a bulk copy's access to many cells. Most have the same history, so the result for one is
    /// reused for the next, unless there is a conflict or a list.
    pub(super) fn access_many_cells(
        &mut self,
        order: AccessOrder<'_>,
        access: &Access,
        entry: &Entry,
        (first, offset, count): (u64, i64, u32),
        conflicts: &mut Conflicts,
    ) {
        let mut part = 0;
        while part < u64::from(count) {
            let (index, rest) = (first.wrapping_add(part), u64::from(count) - part);
            let at = (entry, offset + (part << self.shift).cast_signed());
            let whole = Pages::<Cell>::whole_page(index, rest);
            let cells = whole.unwrap_or_else(|| rest.min(Pages::<Cell>::to_page_end(index)));
            part += cells;
            if whole.is_some() && self.access_page(order, access, at, index, conflicts) {
                continue;
            }
            let alike = self.access_cells(order, access, at, (index, cells), conflicts);
            if whole.is_some() && alike {
                self.cells.collapse(Pages::<Cell>::page(index));
            }
        }
    }

    /// Records the access to a page kept as one cell. Returns `false` if the page is not kept as one cell. A cell
    /// that stands for a page never has a list.
    fn access_page(
        &mut self,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, offset): (&Entry, i64),
        index: u64,
        conflicts: &mut Conflicts,
    ) -> bool {
        let Some(cell) = self.cells.shared_element(Pages::<Cell>::page(index)) else {
            return false;
        };
        let (mut updated, added) = (*cell, conflicts.added);
        updated.access(&mut self.lists, order, access, (entry, offset), conflicts);
        if !updated.has_list() && conflicts.added == added {
            *cell = updated;
            return true;
        }
        // The first cell is done; now compare the others one by one.
        *self.cells.get(index) = updated;
        let at = (entry, offset + (1 << self.shift));
        let others = Pages::<Cell>::to_page_end(index) - 1;
        self.access_cells(order, access, at, (index + 1, others), conflicts);
        true
    }

    /// Records the access to some cells of a page. Returns `true` if all of them end up equal.
    fn access_cells(
        &mut self,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, offset): (&Entry, i64),
        (first, count): (u64, u64),
        conflicts: &mut Conflicts,
    ) -> bool {
        let mut last: Option<(Cell, Cell)> = None;
        let mut different = 0;
        for part in 0..count {
            let cell = self.cells.get(first.wrapping_add(part));
            if let Some((_, after)) = last.filter(|(before, _)| before == cell) {
                *cell = after;
                continue;
            }
            let (before, added) = (*cell, conflicts.added);
            let place = (entry, offset + (part << self.shift).cast_signed());
            cell.access(&mut self.lists, order, access, place, conflicts);
            let repeats = !before.has_list() && !cell.has_list() && conflicts.added == added;
            last = repeats.then_some((before, *cell));
            different += 1;
        }
        different == 1 && last.is_some()
    }

    /// Records the reads of a warp's product: ranges of bytes, in multiples of 16, and the same as units.
    pub fn read_by_product(
        &mut self,
        clocks: &Clocks,
        copies: &AsyncAgents,
        access: &Access,
        (ranges, units): (&[(i64, u32)], &ReadUnits),
        conflicts: &mut Conflicts,
    ) {
        let order = AccessOrder { clocks, copies, space: self.space };
        let entry = entry(clocks, access, 0);
        self.record_deferred_reads(clocks);
        if !self.is_quickly_visible(order, &entry, units.bounds()) {
            self.compare_product(order, &entry, ranges, conflicts);
        }
        self.products.add(order, access, (ranges, units));
    }

    /// Returns `true` if all last writes to the pages around a product's reads are visible to it, as far as a
    /// quick test can tell.
    fn is_quickly_visible(
        &mut self,
        order: AccessOrder<'_>,
        entry: &Entry,
        bounds: &Range<i64>,
    ) -> bool {
        if bounds.is_empty() {
            return true;
        }
        let page = |offset: i64| Pages::<Cell>::page((offset >> self.shift).cast_unsigned());
        let pages = (page(bounds.start), page(bounds.end - 1));
        let Some(writes) = self.products.last_writes(pages, &self.cells) else { return false };
        writes.iter().all(|write| {
            write.lanes == Mask::NONE || order.unseen_by_product(write, entry.warp).is_none()
        })
    }

    /// Compares the reads of a product with earlier writes.
    fn compare_product(
        &mut self,
        order: AccessOrder<'_>,
        entry: &Entry,
        ranges: &[(i64, u32)],
        conflicts: &mut Conflicts,
    ) {
        let (mut known, mut visible_page): (Option<(Entry, _)>, _) = (None, None);
        for &(offset, bytes) in ranges {
            let (first, count) = ((offset >> self.shift) as u64, u64::from(bytes >> self.shift));
            let (page, last) = (Pages::<Cell>::page(first), Pages::<Cell>::page(first + count - 1));
            if visible_page == Some(page) && last == page {
                continue;
            }
            let one_write = self.products.one_write(page, &self.cells);
            if let (Some(write), true) = (one_write, last == page)
                && (write.lanes == Mask::NONE
                    || order.unseen_by_product(&write, entry.warp).is_none())
            {
                visible_page = Some(page);
                continue;
            }
            for part in 0..count {
                if let Some(cell) = self.cells.peek(first + part) {
                    let at = (entry, offset + ((part as i64) << self.shift));
                    cell.read_by_product(&self.lists, order, at, &mut known, conflicts);
                }
            }
        }
    }
}
