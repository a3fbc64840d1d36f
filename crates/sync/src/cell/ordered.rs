//! Records accesses that are ordered after all earlier ones of a cell, as most are. No conflict is possible then, so
//! they are not compared. In any doubt an access is compared instead (`Cell::compare_and_record`).

use super::order::Reader;
use super::{AccessOrder, Cell, bit, mark};
use crate::clocks::{Clocks, LaneId};
use crate::entry::{Entry, List, Lists};
use crate::lanes::Mask;
use crate::shadow::{Access, MemoryEffect};

impl Cell {
    /// Records an ordinary access ordered after all earlier ones. Returns `false` if the access is not of
    /// this kind.
    #[inline]
    pub(super) fn record_if_ordered(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        access: &Access,
        entry: &Entry,
    ) -> bool {
        let special = mark::UPDATED | mark::COPIES | mark::UNORDERED_WRITES;
        if self.marks & special != 0
            || self.write.is_copy
            || entry.is_copy
            || access.non_coherent
            || !self.follows_write(order, entry)
        {
            return false;
        }
        match access.kind {
            MemoryEffect::Read => self.record_ordered_read(lists, order, entry),
            MemoryEffect::Write => self.record_write_if_ordered(lists, order, access, entry),
            MemoryEffect::Update => false,
        }
    }

    /// Returns `true` if the last write is ordered before an access.
    #[inline]
    fn follows_write(&self, order: AccessOrder<'_>, entry: &Entry) -> bool {
        if self.write.lanes == Mask::NONE || order.is_past_of(self.write_epoch, self.write.warp) {
            return true;
        }
        let who = |lane: usize| LaneId { warp: entry.warp, lane: lane as u8 };
        entry.lanes.iter().all(|lane| order.is_ordered(&self.write, who(lane)))
    }

    /// Returns `true` if all reads are of past epochs.
    #[inline]
    pub(super) fn reads_are_past(&self, order: AccessOrder<'_>) -> bool {
        match self.list {
            0 => {
                order.is_past_of(self.history_epoch, self.first.warp)
                    || self.first.lanes == Mask::NONE
            }
            _ => order.is_past(self.history_epoch),
        }
    }

    #[inline]
    fn record_ordered_read(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        entry: &Entry,
    ) -> bool {
        self.note_read(entry);
        if self.reads_are_past(order) {
            lists.free(std::mem::take(&mut self.list));
            self.first = *entry;
            self.warps = bit(entry.warp);
        } else {
            self.add_read(lists, order.clocks, *entry);
        }
        self.history_epoch = order.clocks.epoch();
        true
    }

    /// Returns `true` if the cell holds more than the last write and the reads after it.
    #[inline]
    pub(crate) fn is_unusual(&self) -> bool {
        self.marks & (mark::UPDATED | mark::COPIES | mark::UNORDERED_WRITES) != 0
            || self.write.is_copy
    }

    /// Returns `true` if the cell holds nothing for a read to conflict with but a write of an earlier epoch.
    #[inline(always)]
    pub(crate) fn was_written_before(&self, epoch: u32) -> bool {
        let written_now = self.write_epoch == epoch && self.write.lanes != Mask::NONE;
        !self.is_unusual() && !written_now
    }

    /// Returns `true` if an ordinary read conflicts with nothing in the cell, because the last write is of an earlier
    /// epoch, or known to all lanes of the reading warp. Errs towards `false`.
    #[inline(always)]
    pub(crate) fn is_quiet_for(&self, reader: &mut Reader<'_>) -> bool {
        if self.marks & (mark::UPDATED | mark::COPIES | mark::UNORDERED_WRITES) != 0 {
            return false;
        }
        let write = &self.write;
        if write.is_copy {
            return reader.knows_copy(write);
        }
        self.write_epoch != reader.epoch || write.lanes == Mask::NONE || reader.knows(write)
    }

    /// Records an ordinary read, while no thread has exited, of a cell in which it [conflicts with
    /// nothing](Self::is_quiet_for). Has the same effect as [`record_if_ordered`](Self::record_if_ordered) there.
    #[inline(always)]
    pub(crate) fn read(&mut self, lists: &mut Lists, clocks: &Clocks, entry: &Entry, epoch: u32) {
        if self.history_epoch == epoch && (self.first.lanes != Mask::NONE || self.list != 0) {
            self.note_read(entry);
            return self.add_read(lists, clocks, *entry);
        }
        self.note_read(entry);
        lists.free(std::mem::take(&mut self.list));
        self.first = *entry;
        self.warps = bit(entry.warp);
        self.history_epoch = epoch;
    }

    /// Records the last reader. Of the lanes of a warp that read at one instruction this is the lowest,
    /// however they are reported: together or one by one.
    #[inline]
    pub(super) fn note_read(&mut self, entry: &Entry) {
        let ((site, last), who) = (self.read, entry.who());
        let lower = (site, last.warp) == (entry.site, entry.warp) && last.lane <= who.lane;
        if self.marks & mark::READ == 0 || !lower {
            self.read = (entry.site, who);
        }
        self.marks |= mark::READ;
    }

    /// Adds a read to the list. It replaces earlier reads by the same lanes.
    fn add_read(&mut self, lists: &mut Lists, clocks: &Clocks, entry: Entry) {
        let known = self.warps & bit(entry.warp) != 0;
        self.warps |= bit(entry.warp);
        let Some(List { entries: others, lanes }) = lists.list_mut(self.list) else {
            return self.add_second_read(lists, entry, known);
        };
        if others.first().is_some_and(|oldest| clocks.known_to_all(oldest.warp, oldest.time)) {
            forget_known(&mut self.first, others, clocks);
            *lanes =
                std::iter::once(&self.first).chain(&*others).fold(0, |all, one| all | bits(one));
        }
        let own = bits(&entry);
        let is_new = *lanes & own == 0;
        *lanes |= own;
        if (is_new || !known) && self.first.lanes != Mask::NONE {
            // None of these lanes has an entry. Lanes that are reported one by one share the last.
            let shares = |last: &&mut Entry| (last.warp, last.time) == (entry.warp, entry.time);
            let last = others.last_mut().filter(shares);
            if !last.is_some_and(|last| last.absorb_read(&entry)) {
                others.push(entry);
            }
            return;
        }
        if !merge(&mut self.first, &entry) {
            self.add_to_others(others, entry);
        }
    }

    /// Adds a read to at most one other.
    fn add_second_read(&mut self, lists: &mut Lists, entry: Entry, known: bool) {
        if known && merge(&mut self.first, &entry) {
            return;
        }
        if self.first.lanes == Mask::NONE {
            self.first = entry;
            return;
        }
        self.list = lists.add(entry);
        if let Some(list) = lists.list_mut(self.list) {
            list.lanes = bits(&self.first) | bits(&entry);
        }
    }

    /// Adds a read to a list that may have reads by the same lanes.
    fn add_to_others(&mut self, others: &mut Vec<Entry>, entry: Entry) {
        let (mut replaced, mut last_replaced) = (0, 0);
        for (at, other) in others.iter_mut().enumerate() {
            if merge(other, &entry) {
                return;
            }
            if other.lanes == Mask::NONE {
                (replaced, last_replaced) = (replaced + 1, at);
            }
        }
        if self.first.lanes == Mask::NONE {
            self.first = entry;
            return;
        }
        match replaced {
            0 => others.push(entry),
            // A warp that reads again: the list keeps its length.
            1 => {
                others.copy_within(last_replaced + 1.., last_replaced);
                let last = others.len() - 1;
                others[last] = entry;
            }
            _ => {
                others.retain(|other| other.lanes != Mask::NONE);
                others.push(entry);
            }
        }
    }

    /// Records a write after reads of past epochs, or a write of one lane that is ordered after the whole history.
    /// Returns `false` for any other write.
    #[inline]
    fn record_write_if_ordered(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        access: &Access,
        entry: &Entry,
    ) -> bool {
        if self.marks & mark::NON_COHERENT != 0 {
            return false;
        }
        if !self.reads_are_past(order) {
            let who = entry.who();
            let is_one_lane = entry.lanes == Mask::one(usize::from(who.lane));
            if !is_one_lane || !are_ordered(self.history(lists), order, who) {
                return false;
            }
        }
        self.replace(lists, order, access, *entry);
        true
    }
}

/// Returns `true` if accesses are ordered before the next action of a thread. Neighbours often are of one warp.
fn are_ordered<'e>(
    mut entries: impl Iterator<Item = &'e Entry>,
    order: AccessOrder<'_>,
    who: LaneId,
) -> bool {
    let mut known = (0, 0);
    entries.all(|entry| {
        if entry.warp == known.0 && entry.time < known.1 {
            return true;
        }
        if order.clocks.is_warp_known(entry.warp, entry.time, who) {
            known = (entry.warp, entry.time + 1);
            return true;
        }
        order.is_ordered(entry, who)
    })
}

/// Merges a read into an entry, if possible; otherwise the entry loses the lanes of the read. Returns `true` if it was
/// merged.
fn merge(other: &mut Entry, entry: &Entry) -> bool {
    if other.warp != entry.warp {
        return false;
    }
    if other.time == entry.time {
        return other.absorb_read(entry);
    }
    other.lanes = other.lanes.without(entry.lanes);
    false
}

/// Forgets reads that all threads know of.
#[inline(never)]
fn forget_known(first: &mut Entry, others: &mut Vec<Entry>, clocks: &Clocks) {
    let is_known = |one: &Entry| {
        one.kind == MemoryEffect::Read && !one.is_copy && clocks.known_to_all(one.warp, one.time)
    };
    others.retain(|other| !is_known(other));
    if is_known(first) {
        *first = others.pop().unwrap_or_default();
    }
}

/// Hashes of the threads of an entry.
#[inline]
fn bits(entry: &Entry) -> u64 {
    u64::from(entry.lanes.0).rotate_left(11 * u32::from(entry.warp))
}
