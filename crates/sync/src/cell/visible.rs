//! Visibility of threads' changes to operations of other proxies: bulk copies ([`crate::proxy`]), products
//! ([`crate::products`]) and tensor copies that read their map ([`crate::map_fences`]).
//!
//! Every change must be visible unless a later write hides it: the last write, the unordered writes of the
//! same value, and the updates since, of this epoch or of earlier ones ([`super::aside`]). A hidden change
//! need not be visible: it is ordered before the write that hides it, and a fence for that write covers both.
//! The answer for each change comes from its fences: certainly invisible is a finding, undecided is left
//! open.
//!
//! Changes that are not ordered before the operation get no answer here: they conflict anyway.

use super::{AccessOrder, Cell, mark};
use crate::clocks::{LaneId, Time};
use crate::entry::{Commutes, Entry, Lists, conflict_side};
use crate::lanes::Mask;
use crate::products::{self, Unseen};
use crate::proxy::Visibility;
use crate::shadow::{Conflict, ConflictSide, Conflicts, MemoryEffect};

/// Adds a conflict of an operation with an earlier access that may be invisible to it.
fn add_unseen(
    (entry, lane, offset): (&Entry, usize, i64),
    earlier: ConflictSide,
    unseen: Visibility,
    conflicts: &mut Conflicts,
) {
    let (later, same_value, blocks) = (conflict_side(entry, lane), None, None);
    let (non_coherent, unseen) = (false, Some(unseen));
    conflicts.add(Conflict { earlier, later, offset, same_value, blocks, non_coherent, unseen });
}

impl Cell {
    /// Iterates over updates, and over writes that the last one does not hide.
    fn other_changes<'l>(&'l self, lists: &'l Lists) -> impl Iterator<Item = &'l Entry> {
        let since = self.history(lists);
        let all = since.chain(lists.get(self.aside));
        all.filter(|one| one.kind != MemoryEffect::Read && !one.hidden && one.lanes != Mask::NONE)
    }

    /// Iterates over all changes that no later write hides.
    fn changes<'l>(&'l self, lists: &'l Lists) -> impl Iterator<Item = &'l Entry> {
        let write = std::iter::once(&self.write).filter(|write| write.lanes != Mask::NONE);
        self.other_changes(lists).chain(write)
    }

    /// Adds conflicts of a bulk copy with changes of threads that are invisible to it, and with reads of its target
    /// without a fence before the copy. Reads before the last barrier of the whole block are not kept, so they give
    /// no finding.
    #[cold]
    pub(super) fn compare_proxy(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        (entry, lane, offset): (&Entry, usize, i64),
        conflicts: &mut Conflicts,
    ) {
        let later = LaneId { warp: entry.warp, lane: lane as u8 };
        let fences = order.copies.fences();
        let since = self.history(lists);
        let reads = since.filter(|one| one.kind == MemoryEffect::Read && !one.hidden);
        for read in
            reads.filter(|one| entry.kind == MemoryEffect::Write && !one.is_async && !one.is_copy)
        {
            let Some(earlier) = read.lanes.lowest() else { continue };
            let who = LaneId { warp: read.warp, lane: earlier as u8 };
            let visibility = fences.visibility(order.clocks, (who, read.time), later, order.space);
            if order.unordered(read, later).is_none() && visibility == Visibility::NeedsFence {
                let (site, kind, time) = (read.site, MemoryEffect::Read, Some(read.time));
                let earlier = ConflictSide { who, site, kind, time, copy: None };
                add_unseen((entry, lane, offset), earlier, visibility, conflicts);
            }
        }
        // An mbarrier is signalled through the generic proxy.
        let is_signal =
            |one: &&Entry| one.kind == MemoryEffect::Update && entry.commutes == Commutes::Mbarrier;
        let changes = self.changes(lists).filter(|one| !one.is_async && !is_signal(one));
        for change in changes.filter(|one| order.unordered(one, later).is_none()) {
            for earlier in change.lanes.iter() {
                let who = LaneId { warp: change.warp, lane: earlier as u8 };
                let time = match change.is_copy {
                    false => Some(change.time),
                    true => order.copies.waited_at(change.time, earlier),
                };
                let arrivals = || order.copies.arrivals(change.time, earlier);
                let seen = match time {
                    Some(time) => fences.visibility(order.clocks, (who, time), later, order.space),
                    None => fences.arrival_visibility(order.clocks, arrivals(), later, order.space),
                };
                if seen != Visibility::Visible {
                    let (site, kind, copy) = (change.site, change.kind, change.copy());
                    let earlier = ConflictSide { who, site, kind, time, copy };
                    add_unseen((entry, lane, offset), earlier, seen, conflicts);
                }
            }
        }
    }

    /// Compares a read of a product with the last write, and with updates and writes that the last one did
    /// not hide. `known` caches the last write of another cell and the result for it.
    #[inline]
    pub(crate) fn read_by_product(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        (entry, offset): (&Entry, i64),
        known: &mut Option<(Entry, Option<Unseen>)>,
        conflicts: &mut Conflicts,
    ) {
        let write = &self.write;
        let others = self.marks & (mark::UPDATED | mark::UNORDERED_WRITES) != 0;
        if !others && write.lanes == Mask::NONE {
            return;
        }
        let unseen = match known {
            Some((last, unseen)) if last.is_same_access(write) => *unseen,
            _ => {
                let unseen = order.unseen_by_product(write, entry.warp);
                *known = Some((*write, unseen));
                unseen
            }
        };
        if let Some(unseen) = unseen {
            products::add_unseen(entry, unseen, offset, conflicts);
        }
        if others {
            for change in self.other_changes(lists) {
                if let Some(unseen) = order.unseen_by_product(change, entry.warp) {
                    products::add_unseen(entry, unseen, offset, conflicts);
                }
            }
        }
    }

    /// Returns the last write if a read need not be compared with anything newer.
    pub(crate) fn only_write(&self) -> Option<&Entry> {
        (self.marks & (mark::UPDATED | mark::UNORDERED_WRITES) == 0).then_some(&self.write)
    }

    /// Adds conflicts of a copy that reads its tensor map with changes that may be invisible to it.
    #[cold]
    pub(crate) fn compare_map(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        (entry, offset): (&Entry, i64),
        visible: &dyn Fn(LaneId, Time) -> bool,
        conflicts: &mut Conflicts,
    ) {
        let lane = entry.lanes.lowest().unwrap_or(0);
        let later = LaneId { warp: entry.warp, lane: lane as u8 };
        let changes = self.changes(lists);
        for change in changes.filter(|one| order.unordered(one, later).is_none()) {
            for earlier in change.lanes.iter() {
                let who = LaneId { warp: change.warp, lane: earlier as u8 };
                let (time, unseen) = match change.is_copy || change.is_async {
                    false if visible(who, change.time) => continue,
                    false => (Some(change.time), Visibility::NeedsMapFence),
                    // The write of a copy is not a map made by a thread.
                    true => (None, Visibility::Open),
                };
                let (site, kind, copy) = (change.site, change.kind, change.copy());
                add_unseen(
                    (entry, lane, offset),
                    ConflictSide { who, site, kind, time, copy },
                    unseen,
                    conflicts,
                );
            }
        }
    }
}
