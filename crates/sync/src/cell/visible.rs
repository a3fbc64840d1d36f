//! Whether operations of other proxies see what threads did to some bytes: bulk copies ([`crate::proxy`]), products
//! ([`crate::products`]) and tensor copies that read their map ([`crate::map_fences`]).
//!
//! All changes must be seen that no later write hides: the last write, the writes of the same value that are unordered with it, and
//! the updates since, of this epoch or of earlier ones ([`super::aside`]). A change that a write hides need not be: it is
//! ordered before that write, and what makes the write visible lies behind both. For each change the answer is that of its fences: one
//! that is certainly not seen is a finding, one of which it is not known is left open.
//!
//! Of changes that are not ordered before the operation nothing is said: they conflict anyway.

use super::{Cell, Order, mark};
use crate::clocks::{LaneId, Time};
use crate::entry::{Commutes, Entry, Lists, side};
use crate::lanes::Mask;
use crate::products::{self, Unseen};
use crate::proxy::Visibility;
use crate::shadow::{Conflict, Conflicts, Kind, Side};

/// Adds a conflict of an operation with an earlier access that it may not see.
fn tell(
    (entry, lane, offset): (&Entry, usize, i64),
    earlier: Side,
    unseen: Visibility,
    met: &mut Conflicts,
) {
    let (later, same_value, blocks) = (side(entry, lane), None, None);
    let (non_coherent, unseen) = (false, Some(unseen));
    met.add(Conflict { earlier, later, offset, same_value, blocks, non_coherent, unseen });
}

impl Cell {
    /// Updates, and writes that the last one did not hide.
    fn other_changes<'l>(&'l self, lists: &'l Lists) -> impl Iterator<Item = &'l Entry> {
        let since = std::iter::once(&self.first).chain(lists.get(self.list));
        let all = since.chain(lists.get(self.aside));
        all.filter(|one| one.kind != Kind::Read && !one.hidden && one.lanes != Mask::NONE)
    }

    /// All changes that no later write hides.
    fn changes<'l>(&'l self, lists: &'l Lists) -> impl Iterator<Item = &'l Entry> {
        let write = std::iter::once(&self.write).filter(|write| write.lanes != Mask::NONE);
        self.other_changes(lists).chain(write)
    }

    /// Finds out whether a bulk copy sees the changes of threads, and whether a fence comes between it and
    /// reads of what it overwrites; nothing is said of reads before the last barrier of the whole block, which are not kept.
    #[cold]
    pub(super) fn compare_proxy(
        &self,
        lists: &Lists,
        order: Order<'_>,
        (entry, lane, offset): (&Entry, usize, i64),
        met: &mut Conflicts,
    ) {
        let later = LaneId { warp: entry.warp, lane: lane as u8 };
        let fences = order.copies.fences();
        let since = std::iter::once(&self.first).chain(lists.get(self.list));
        let reads = since.filter(|one| one.kind == Kind::Read && !one.hidden);
        for read in reads.filter(|one| entry.kind == Kind::Write && !one.is_async && !one.is_copy) {
            let Some(earlier) = read.lanes.lowest() else { continue };
            let who = LaneId { warp: read.warp, lane: earlier as u8 };
            let visibility = fences.visibility(order.clocks, (who, read.time), later, order.space);
            if order.unordered(read, later).is_none() && visibility == Visibility::NeedsFence {
                let (site, kind, time) = (read.site, Kind::Read, Some(read.time));
                let earlier = Side { who, site, kind, time, copy: None };
                tell((entry, lane, offset), earlier, visibility, met);
            }
        }
        // An mbarrier is signalled through the proxy of threads.
        let is_signal =
            |one: &&Entry| one.kind == Kind::Update && entry.commutes == Commutes::Mbarrier;
        let changes = self.changes(lists).filter(|one| !one.is_async && !is_signal(one));
        for change in changes.filter(|one| order.unordered(one, later).is_none()) {
            for earlier in change.lanes.iter() {
                let who = LaneId { warp: change.warp, lane: earlier as u8 };
                let time = match change.is_copy {
                    false => Some(change.time),
                    true => order.copies.waited(change.time, earlier),
                };
                let arrivals = || order.copies.arrivals(change.time, earlier);
                let seen = match time {
                    Some(time) => fences.visibility(order.clocks, (who, time), later, order.space),
                    None => fences.arrival_visibility(order.clocks, arrivals(), later, order.space),
                };
                if seen != Visibility::Visible {
                    let (site, kind, copy) = (change.site, change.kind, change.copy());
                    let earlier = Side { who, site, kind, time, copy };
                    tell((entry, lane, offset), earlier, seen, met);
                }
            }
        }
    }

    /// Compares a read of a product with the last write, and with updates and writes that it did not hide. `known` is the last write of
    /// another cell, and what was found of it.
    #[inline]
    pub(crate) fn read_by_product(
        &self,
        lists: &Lists,
        order: Order<'_>,
        (entry, offset): (&Entry, i64),
        known: &mut Option<(Entry, Option<Unseen>)>,
        met: &mut Conflicts,
    ) {
        let write = &self.write;
        let others = self.marks & (mark::UPDATED | mark::KEPT) != 0;
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
            products::tell(entry, unseen, offset, met);
        }
        if others {
            for change in self.other_changes(lists) {
                if let Some(unseen) = order.unseen_by_product(change, entry.warp) {
                    products::tell(entry, unseen, offset, met);
                }
            }
        }
    }

    /// The last write, if all else that a read is compared with is older.
    pub(crate) fn only_write(&self) -> Option<&Entry> {
        (self.marks & (mark::UPDATED | mark::KEPT) == 0).then_some(&self.write)
    }

    /// Finds out whether a copy that reads its tensor map sees the changes of threads.
    #[cold]
    pub(crate) fn compare_map(
        &self,
        lists: &Lists,
        order: Order<'_>,
        (entry, offset): (&Entry, i64),
        visible: &dyn Fn(LaneId, Time) -> bool,
        met: &mut Conflicts,
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
                    // What a copy wrote is no map that a thread made.
                    true => (None, Visibility::Open),
                };
                let (site, kind, copy) = (change.site, change.kind, change.copy());
                tell((entry, lane, offset), Side { who, site, kind, time, copy }, unseen, met);
            }
        }
    }
}
