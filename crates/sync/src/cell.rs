//! Access history of a few bytes within a block: the last write, and the reads and updates since the current
//! epoch began, as sets of lanes with their times.
//!
//! Replacing the last write by a new one loses no race. If the new write is ordered after the old one, an access
//! unordered with the old write is unordered with the new one too. Otherwise the two writes are a race already. For
//! the same reason a lane's later read replaces its earlier one. Reads of the same epoch stay, however, when a write
//! follows them. An access unordered with that write may be excused because it writes the same value, but the excuse
//! does not cover the reads. Nor does it cover the writes that this write hid: the last of those stay too
//! ([`aside`]).
//!
//! Everything of an earlier epoch ([`Clocks::epoch`]) is ordered before everything now, without a look at the
//! clocks; exits and asynchronous copies are the exceptions. Most accesses are ordered after all earlier
//! ones ([`ordered`]). All others are compared one by one ([`compare`]).

use crate::clocks::LaneId;
use crate::entry::{Commutes, Entry, HiddenValue, List, Lists};
use crate::lanes::Mask;
use crate::shadow::{
    Access, Conflicts, MemoryEffect, RequiredCertainty, SameValue, Site, UpdateGroup,
};

mod aside;
mod compare;
mod order;
mod ordered;
mod visible;

pub(crate) use order::{AccessOrder, Reader};

/// The access history of a few bytes within a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// The last write, and its epoch.
    write: Entry,
    write_epoch: u32,
    /// The first entry of the *history*: the reads and updates of one epoch, and writes that the last one did not
    /// hide. Further entries are in a list.
    first: Entry,
    history_epoch: u32,
    /// The number of that list plus one; zero for none.
    list: u32,
    /// The list of writes that the last one hid and of changes of earlier epochs ([`aside`]): its number plus
    /// one, zero for none.
    aside: u32,
    /// One bit for each warp that may occur in `list`.
    warps: u32,
    /// The last read.
    read: (Site, LaneId),
    /// The last update that commutes with the first, and the last that does not.
    update: (Site, LaneId),
    other_update: (Site, LaneId),
    /// The group of the first update.
    group: UpdateGroup,
    /// A set of [`mark`]s.
    marks: u16,
}

/// Marks: kinds of access that occurred so far, one bit each.
pub(crate) mod mark {
    pub(crate) const READ: u16 = 1;
    pub(crate) const WRITTEN: u16 = 2;
    pub(crate) const UPDATED: u16 = 4;
    pub(crate) const NON_COHERENT: u16 = 8;
    /// A write changed the bytes, or may have.
    pub(crate) const CHANGED: u16 = 16;
    pub(crate) const MAY_HAVE_CHANGED: u16 = 32;
    /// Updates that do not commute.
    pub(crate) const UPDATED_OTHERWISE: u16 = 64;
    /// Writes of different widths or at different addresses.
    pub(crate) const EXTENTS: u16 = 128;
    /// The history includes a copy.
    pub(super) const COPIES: u16 = 256;
    /// The history includes writes that are unordered with the last one, which does not hide them.
    pub(super) const UNORDERED_WRITES: u16 = 512;
    /// A write replaced an earlier one of the same block by another value, or may have.
    pub(crate) const REPLACED: u16 = 1024;
    pub(crate) const MAY_HAVE_REPLACED: u16 = 2048;
}

/// The accesses of a block to some bytes in short, for comparison with other blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) marks: u16,
    pub(crate) read: (Site, LaneId),
    pub(crate) write: (Site, LaneId),
    /// Size of the value of the last write, and the low bits of its address.
    pub(crate) extent: u8,
    pub(crate) update: (Site, LaneId),
    pub(crate) other_update: (Site, LaneId),
}

impl Cell {
    /// Returns `true` if some of the cell's accesses are in a list.
    pub(crate) fn has_list(&self) -> bool {
        self.list != 0 || self.aside != 0
    }

    /// Returns `true` if the cell was accessed at all.
    pub(crate) fn is_touched(&self) -> bool {
        self.marks != 0
    }

    pub(crate) fn summary(&self) -> Summary {
        let Self { marks, read, update, other_update, ref write, .. } = *self;
        let (extent, write) = (write.extent, (write.site, write.who()));
        Summary { marks, read, write, extent, update, other_update }
    }

    /// Copies the cell, together with its lists.
    pub(crate) fn copy(&self, lists: &mut Lists) -> Self {
        let mut copy = *self;
        if copy.list != 0 {
            copy.list = lists.copy(copy.list);
        }
        if copy.aside != 0 {
            copy.aside = lists.copy(copy.aside);
        }
        copy
    }

    /// Returns how certainly an engine must know if a write at `site` changes the value, given the conflicts found
    /// so far.
    ///
    /// Writes of earlier epochs are not compared. So within this block it does not matter if the new write repeats
    /// the value of one of them. Between blocks it does: see [`Summary::marks`].
    pub(crate) fn required_certainty(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        site: Site,
        conflicts: &Conflicts,
    ) -> RequiredCertainty {
        let write_is_past = self.write.lanes == Mask::NONE
            || !self.write.is_copy && order.is_past_of(self.write_epoch, self.write.warp);
        let write = (!write_is_past).then_some(self.write);
        let past = self.history_is_past(order);
        let kept = self.marks & mark::UNORDERED_WRITES != 0 && !past;
        let (first, others) =
            (kept.then_some(self.first), if kept { lists.get(self.list) } else { &[] });
        let mut writes = write.into_iter().chain(first).chain(others.iter().copied());
        let mut required_certainty = RequiredCertainty::None;
        while let Some(write) =
            writes.find(|one| one.kind == MemoryEffect::Write && one.lanes != Mask::NONE)
        {
            match conflicts.knows_different(write.site, site) {
                true => required_certainty = RequiredCertainty::Likely,
                false => return RequiredCertainty::Proof,
            }
        }
        required_certainty
    }

    /// Records an access to the cell, which lies at `offset`, and adds its conflicts with earlier accesses.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, offset): (&Entry, i64),
        conflicts: &mut Conflicts,
    ) {
        let repeated;
        let access = match self.is_written_again(access, entry) {
            true => {
                repeated = Access { same_value: SameValue::Equal, ..*access };
                &repeated
            }
            false => access,
        };
        if !self.record_if_ordered(lists, order, access, entry) {
            self.compare_and_record(lists, order, access, (entry, offset), conflicts);
        }
    }

    /// Compares an access with the earlier ones, then records it.
    #[inline(never)]
    fn compare_and_record(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, offset): (&Entry, i64),
        conflicts: &mut Conflicts,
    ) {
        let repeated = Access { same_value: SameValue::Equal, ..*access };
        let access = if self.is_repeated(order, entry) { &repeated } else { access };
        self.compare_non_coherent(access, entry, offset, conflicts);
        // Lane by lane, so that lanes reported together have the same conflicts as lanes reported one by one.
        let lanes =
            if self.has_candidates(lists, order, entry) { access.lanes } else { Mask::NONE };
        for lane in lanes.iter() {
            self.compare(lists, order, access, (entry, lane, offset), conflicts);
        }
        if access.is_async {
            let lanes = access.lanes.iter();
            lanes.for_each(|lane| {
                self.compare_proxy(lists, order, (entry, lane, offset), conflicts);
            });
        }
        self.record(lists, order, access, *entry);
    }

    /// Iterates over the history.
    #[inline]
    fn history<'l>(&'l self, lists: &'l Lists) -> impl Iterator<Item = &'l Entry> {
        std::iter::once(&self.first).chain(lists.get(self.list))
    }

    /// Returns `true` if the whole history is ordered before everything now.
    #[inline]
    fn history_is_past(&self, order: AccessOrder<'_>) -> bool {
        order.is_past(self.history_epoch) && self.marks & mark::COPIES == 0
    }

    /// Returns `true` if the last write is ordered before everything now. Errs towards `false`.
    #[inline]
    fn write_is_past(&self, order: AccessOrder<'_>) -> bool {
        order.is_past(self.write_epoch) && !self.write.is_copy
    }

    /// Makes this write the last one and forgets the accesses before it.
    fn replace(
        &mut self,
        lists: &mut Lists,
        order: AccessOrder<'_>,
        access: &Access,
        entry: Entry,
    ) {
        if self.marks & mark::WRITTEN != 0 && self.write.extent != entry.extent {
            self.marks |= mark::EXTENTS;
        }
        let is_first = self.marks & mark::WRITTEN == 0;
        self.marks |= mark::WRITTEN;
        self.marks |= match (access.same_value, is_first) {
            (SameValue::Equal, _) => 0,
            (SameValue::Different, true) => mark::CHANGED,
            (SameValue::Different, false) => mark::CHANGED | mark::REPLACED,
            (SameValue::Undecided, true) => mark::MAY_HAVE_CHANGED,
            (SameValue::Undecided, false) => mark::MAY_HAVE_CHANGED | mark::MAY_HAVE_REPLACED,
        };
        let past = match self.write.is_copy {
            false => {
                order.is_past_of(self.write_epoch, self.write.warp)
                    || order.clocks.known_to_all(self.write.warp, self.write.time)
            }
            true => order.is_past_copy(&self.write),
        };
        let before = Some(self.write).filter(|write| write.lanes != Mask::NONE && !past);
        let hides = self.hide(lists, order, access, (&entry, before));
        self.write = Entry { hides, ..entry };
        self.write_epoch = order.clocks.epoch();
        self.forget_writes(lists, order);
    }

    /// Forgets past accesses and writes that the new write hides. Reads and updates of this epoch stay: a
    /// later write that is unordered with this one is harmless if it writes the same value, and may still
    /// race with them.
    fn forget_writes(&mut self, lists: &mut Lists, order: AccessOrder<'_>) {
        let past = self.history_is_past(order);
        if past || self.first.kind == MemoryEffect::Write {
            self.first = Entry::default();
        }
        self.first.hidden = true;
        if past {
            lists.free(std::mem::take(&mut self.list));
            self.warps = 0;
        } else if let Some(List { entries: others, .. }) = lists.list_mut(self.list) {
            if self.marks & mark::UNORDERED_WRITES != 0 {
                others.retain(|other| other.kind != MemoryEffect::Write);
            }
            others.iter_mut().for_each(|other| other.hidden = true);
        }
        debug_assert!(lists.get(self.list).iter().all(|other| other.kind != MemoryEffect::Write));
        self.marks &= !mark::UNORDERED_WRITES;
        let holds_copy =
            || self.first.is_copy || lists.get(self.list).iter().any(|one| one.is_copy);
        if self.marks & mark::COPIES != 0 && !holds_copy() {
            self.marks &= !mark::COPIES;
        }
    }

    /// Adds an access to the cell, without comparing it.
    fn record(&mut self, lists: &mut Lists, order: AccessOrder<'_>, access: &Access, entry: Entry) {
        match access.kind {
            MemoryEffect::Write => {
                let kept = self.unordered_writes(lists, order, access, entry.who());
                self.replace(lists, order, access, entry);
                if !kept.is_empty() {
                    self.marks |= mark::UNORDERED_WRITES;
                }
                let undecided = access.same_value == SameValue::Undecided;
                for mut write in kept {
                    if undecided && write.hides == HiddenValue::Nothing {
                        write.hides = HiddenValue::MayDiffer;
                    }
                    self.remember(lists, order, write);
                }
            }
            MemoryEffect::Read => {
                self.note_read(&entry);
                if access.non_coherent {
                    self.marks |= mark::NON_COHERENT;
                }
                self.remember(lists, order, entry);
            }
            MemoryEffect::Update => {
                let update = (entry.site, entry.who());
                if self.marks & mark::UPDATED == 0 {
                    self.group = access.group;
                }
                if self.group == access.group {
                    self.marks |= mark::UPDATED;
                    self.update = update;
                } else {
                    self.marks |= mark::UPDATED_OTHERWISE;
                    self.other_update = update;
                }
                self.forget_deliveries(lists, order, &entry);
                self.remember(lists, order, entry);
            }
        }
    }

    /// Forgets earlier deliveries of copies to an mbarrier that are ordered before this one. An access
    /// unordered with one of them is unordered with this one too, which conflicts with the same accesses.
    fn forget_deliveries(&self, lists: &mut Lists, order: AccessOrder<'_>, entry: &Entry) {
        if entry.commutes != Commutes::Mbarrier || !entry.is_copy {
            return;
        }
        let Some(others) = lists.get_mut(self.list) else { return };
        let delivers = |other: &Entry| {
            other.is_copy
                && !other.hidden
                && (other.kind, other.commutes) == (MemoryEffect::Update, Commutes::Mbarrier)
        };
        others.retain(|other| !delivers(other) || order.unordered(other, entry.who()).is_some());
    }

    /// Collects the writes that this one is not ordered with. A write of the same value does not hide them: a
    /// later access may conflict with one of them alone.
    fn unordered_writes(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        access: &Access,
        later: LaneId,
    ) -> Vec<Entry> {
        if access.same_value == SameValue::Different {
            return Vec::new();
        }
        let write_is_past = self.write_is_past(order);
        let past = self.history_is_past(order);
        let write = (!write_is_past).then_some(self.write);
        let first = (!past).then_some(self.first);
        let others = if past { &[][..] } else { lists.get(self.list) };
        let all = write.into_iter().chain(first).chain(others.iter().copied());
        all.filter(|one| one.kind == MemoryEffect::Write && order.unordered(one, later).is_some())
            .collect()
    }

    /// Adds an access to the history.
    fn remember(&mut self, lists: &mut Lists, order: AccessOrder<'_>, entry: Entry) {
        let past = self.history_is_past(order);
        if past {
            self.retire(lists);
        }
        self.history_epoch = order.clocks.epoch();
        self.warps |= bit(entry.warp);
        if entry.is_copy {
            self.marks |= mark::COPIES;
        }
        if self.first.lanes == Mask::NONE && self.list == 0 {
            self.first = entry;
            return;
        }
        let mut absorbed = self.first.absorb(&entry);
        if let Some(others) = lists.get_mut(self.list) {
            others.iter_mut().for_each(|other| absorbed |= !absorbed && other.absorb(&entry));
            others.retain(|other| other.lanes != Mask::NONE);
            if !absorbed {
                others.push(entry);
            }
        } else if self.first.lanes == Mask::NONE {
            self.first = entry;
        } else if !absorbed {
            self.list = lists.add(entry);
        }
    }
}

/// Returns the bit of a warp in a set of warps.
#[inline]
fn bit(warp: u8) -> u32 {
    1 << (warp % 32)
}

#[cfg(test)]
#[path = "cell_tests.rs"]
mod tests;
