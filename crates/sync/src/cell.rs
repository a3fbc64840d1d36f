//! Access history of a few bytes within a block: the last write, and the reads and updates since the current
//! epoch began, as sets of lanes with their times.
//!
//! Replacing the last write by a new one loses no race. If the new write is ordered after the old one, any
//! access unordered with the old write is unordered with the new one or ordered after both. If it is not
//! ordered after it, the two writes are a race already. For the same reason a lane's later read replaces its
//! earlier one. Reads before a write stay, however, as long as they are of the same epoch: an access
//! unordered with the write may be excused because it writes the same value, and that does not excuse it from
//! the reads. Nor does it excuse it from the writes that this write hid; the last of those stay too
//! ([`aside`]).
//!
//! Everything of an earlier epoch ([`Clocks::epoch`]) is ordered before everything now, without a look at the
//! clocks; exits and asynchronous copies are the exceptions. Most accesses are ordered after all earlier
//! ones: [`Cell::quick`] recognises and records them. All others are compared one by one.
//!
//! Long: every kind of access meets every other here, and the cases are read together.

use crate::clocks::{Clocks, LaneId};
use crate::copies::{AgentId, AsyncAgents};
use crate::entry::{Commutes, Entry, Hides, Lists, side};
use crate::lanes::Mask;
use crate::proxy::ProxySpace;
use crate::shadow::{
    Access, Conflict, Conflicts, Kind, Question, SameValue, Side, Site, UpdateGroup,
};

mod aside;
mod visible;

/// The access history of a few bytes within a block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    write: Entry,
    write_epoch: u32,
    /// The first of the reads and updates of this epoch; further ones are in a list.
    first: Entry,
    epoch: u32,
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
    marks: u16,
}

/// Marks: kinds of access that occurred so far.
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
    /// The reads and updates include a copy.
    pub(super) const COPIES: u16 = 256;
    /// The kept accesses include a write that the last one did not hide.
    pub(super) const KEPT: u16 = 512;
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

/// The relations that order accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order<'o> {
    pub(crate) clocks: &'o Clocks,
    pub(crate) copies: &'o AsyncAgents,
    /// The memory that the bytes belong to.
    pub(crate) space: ProxySpace,
}

impl Order<'_> {
    /// Returns `true` if an access of `epoch` is ordered before everything now, without a look at the clocks.
    #[inline]
    fn is_past(&self, epoch: u32) -> bool {
        epoch != self.clocks.epoch() && !self.clocks.any_exited()
    }

    /// Like [`is_past`](Self::is_past), for accesses of one warp.
    #[inline]
    fn is_past_of(&self, epoch: u32, warp: u8) -> bool {
        epoch != self.clocks.epoch() && !self.clocks.any_exited_of(warp)
    }

    /// Returns `true` if all threads know that a copy has completed its write.
    #[cold]
    fn is_past_copy(&self, write: &Entry) -> bool {
        write.lanes.iter().all(|lane| {
            let who = LaneId { warp: write.warp, lane: lane as u8 };
            let waited = self.copies.waited(write.time, lane);
            let mut arrivals = self.copies.arrivals(write.time, lane).iter();
            waited.is_some_and(|time| self.clocks.all_know(who, time))
                || arrivals.any(|&(party, time)| self.clocks.all_know_party(party, time))
        })
    }

    /// Returns `true` if all threads know of a write.
    fn is_past_write(&self, write: &Entry) -> bool {
        let who = |lane: usize| LaneId { warp: write.warp, lane: lane as u8 };
        match write.is_copy {
            true => self.is_past_copy(write),
            false => write.lanes.iter().all(|lane| self.clocks.all_know(who(lane), write.time)),
        }
    }

    /// Returns `true` if an entry, not a copy, is ordered before the next action of `later`.
    #[inline]
    fn is_ordered(&self, entry: &Entry, later: LaneId) -> bool {
        self.clocks.all_ordered((entry.warp, entry.lanes), entry.time, later)
    }

    /// Returns `true` if a copy arrived at an mbarrier in a phase whose end `later` knows of.
    #[cold]
    fn has_arrived(&self, copy: AgentId, lane: usize, later: LaneId) -> bool {
        let mut arrivals = self.copies.arrivals(copy, lane).iter();
        arrivals.any(|&(party, time)| self.clocks.knows(later, party, time))
    }

    /// Returns `true` if two entries are copies known to write the same values.
    fn same_contents(&self, a: &Entry, b: &Entry) -> bool {
        self.copies.same_contents(a.time, b.time)
    }

    /// Finds a lane of an entry that is not ordered before the next action of `later`.
    #[inline(always)]
    pub(crate) fn unordered(&self, entry: &Entry, later: LaneId) -> Option<Side> {
        for lane in entry.lanes.iter() {
            let who = LaneId { warp: entry.warp, lane: lane as u8 };
            let time = match (entry.is_copy, entry.kind) {
                (false, _) => Some(entry.time),
                (true, Kind::Read) => self.copies.read(entry.time, lane),
                (true, Kind::Write | Kind::Update) => self.copies.waited(entry.time, lane),
            };
            let ordered = time.is_some_and(|time| self.clocks.ordered(who, time, later))
                || entry.is_copy && self.has_arrived(entry.time, lane, later);
            if !ordered {
                let copy = entry.copy();
                return Some(Side { who, site: entry.site, kind: entry.kind, time, copy });
            }
        }
        None
    }
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

    /// Returns how much must be known about the value of a write at `site`, given the conflicts met so far.
    ///
    /// A past write is neither compared with nor kept nor hidden, so it does not matter within this block if
    /// the same value is written again. Between blocks it does: see [`Summary::marks`].
    pub(crate) fn question(
        &self,
        lists: &Lists,
        order: Order<'_>,
        site: Site,
        met: &Conflicts,
    ) -> Question {
        let write_is_past = self.write.lanes == Mask::NONE
            || !self.write.is_copy && order.is_past_of(self.write_epoch, self.write.warp);
        let write = (!write_is_past).then_some(self.write);
        let past = order.is_past(self.epoch) && self.marks & mark::COPIES == 0;
        let kept = self.marks & mark::KEPT != 0 && !past;
        let (first, others) =
            (kept.then_some(self.first), if kept { lists.get(self.list) } else { &[] });
        let mut writes = write.into_iter().chain(first).chain(others.iter().copied());
        let mut question = Question::None;
        while let Some(write) =
            writes.find(|one| one.kind == Kind::Write && one.lanes != Mask::NONE)
        {
            match met.knows_different(write.site, site) {
                true => question = Question::Likely,
                false => return Question::Proof,
            }
        }
        question
    }

    /// Records an access to the cell at `offset` and adds its conflicts with earlier accesses to `met`.
    #[inline(always)]
    pub(crate) fn access(
        &mut self,
        lists: &mut Lists,
        order: Order<'_>,
        access: &Access,
        (entry, offset): (&Entry, i64),
        met: &mut Conflicts,
    ) {
        if !self.quick(lists, order, access, entry) {
            self.compare_and_record(lists, order, access, (entry, offset), met);
        }
    }

    #[inline(never)]
    fn compare_and_record(
        &mut self,
        lists: &mut Lists,
        order: Order<'_>,
        access: &Access,
        (entry, offset): (&Entry, i64),
        met: &mut Conflicts,
    ) {
        let equal = Access { same_value: SameValue::Equal, ..*access };
        let access = if self.is_repeated(order, entry) { &equal } else { access };
        self.compare_non_coherent(access, entry, offset, met);
        // Compare lane by lane: lanes that were reported together meet their conflicts one at a time.
        let lanes = if self.is_harmed(lists, order, entry) { access.lanes } else { Mask::NONE };
        for lane in lanes.iter() {
            self.compare(lists, order, access, (entry, lane, offset), met);
        }
        if access.is_async {
            let lanes = access.lanes.iter();
            lanes.for_each(|lane| {
                self.compare_proxy(lists, order, (entry, lane, offset), met);
            });
        }
        self.record(lists, order, access, *entry);
    }

    /// Records an ordinary access ordered after all earlier ones. Returns `false` if the access is not of
    /// this kind.
    #[inline]
    fn quick(
        &mut self,
        lists: &mut Lists,
        order: Order<'_>,
        access: &Access,
        entry: &Entry,
    ) -> bool {
        let special = mark::UPDATED | mark::COPIES | mark::KEPT;
        if self.marks & special != 0
            || self.write.is_copy
            || entry.is_copy
            || access.non_coherent
            || !self.follows_write(order, entry)
        {
            return false;
        }
        match access.kind {
            Kind::Read => self.quick_read(lists, order, entry),
            Kind::Write => self.quick_write(lists, order, access, entry),
            Kind::Update => false,
        }
    }

    /// Returns `true` if the last write is ordered before an access.
    #[inline]
    fn follows_write(&self, order: Order<'_>, entry: &Entry) -> bool {
        if self.write.lanes == Mask::NONE || order.is_past_of(self.write_epoch, self.write.warp) {
            return true;
        }
        let who = |lane: usize| LaneId { warp: entry.warp, lane: lane as u8 };
        entry.lanes.iter().all(|lane| order.is_ordered(&self.write, who(lane)))
    }

    /// Returns `true` if all reads are of past epochs.
    #[inline]
    fn reads_are_past(&self, order: Order<'_>) -> bool {
        match self.list {
            0 => order.is_past_of(self.epoch, self.first.warp) || self.first.lanes == Mask::NONE,
            _ => order.is_past(self.epoch),
        }
    }

    #[inline]
    fn quick_read(&mut self, lists: &mut Lists, order: Order<'_>, entry: &Entry) -> bool {
        self.note_read(entry);
        if self.reads_are_past(order) {
            lists.free(std::mem::take(&mut self.list));
            self.first = *entry;
            self.warps = bit(entry.warp);
        } else {
            self.add_read(lists, *entry);
        }
        self.epoch = order.clocks.epoch();
        true
    }

    /// Returns `true` if the cell holds more than the last write and the reads after it.
    #[inline]
    pub(crate) fn is_unusual(&self) -> bool {
        self.marks & (mark::UPDATED | mark::COPIES | mark::KEPT) != 0 || self.write.is_copy
    }

    /// Returns `true` if the cell holds nothing for a read to conflict with but a write of an earlier epoch.
    #[inline(always)]
    pub(crate) fn was_written_before(&self, epoch: u32) -> bool {
        let written_now = self.write_epoch == epoch && self.write.lanes != Mask::NONE;
        !self.is_unusual() && !written_now
    }

    /// Records an ordinary read, while no thread has exited, of a cell that [was last
    /// written](Self::was_written_before) in an earlier epoch, if at all. Has the same effect as
    /// [`quick`](Self::quick) there.
    #[inline(always)]
    pub(crate) fn read(&mut self, lists: &mut Lists, entry: &Entry, epoch: u32) {
        if self.epoch == epoch && (self.first.lanes != Mask::NONE || self.list != 0) {
            self.note_read(entry);
            return self.add_read(lists, *entry);
        }
        self.note_read(entry);
        lists.free(std::mem::take(&mut self.list));
        self.first = *entry;
        self.warps = bit(entry.warp);
        self.epoch = epoch;
    }

    /// Records the last reader. Of the lanes of a warp that read at one instruction this is the lowest,
    /// however they are reported: together or one by one.
    #[inline]
    fn note_read(&mut self, entry: &Entry) {
        let ((site, last), who) = (self.read, entry.who());
        let lower = (site, last.warp) == (entry.site, entry.warp) && last.lane <= who.lane;
        if self.marks & mark::READ == 0 || !lower {
            self.read = (entry.site, who);
        }
        self.marks |= mark::READ;
    }

    /// Adds a read to the list. It replaces earlier reads by the same lanes.
    fn add_read(&mut self, lists: &mut Lists, entry: Entry) {
        let known = self.warps & bit(entry.warp) != 0;
        self.warps |= bit(entry.warp);
        if !known && self.first.lanes != Mask::NONE {
            match lists.get_mut(self.list) {
                Some(others) => others.push(entry),
                None => self.list = lists.add(entry),
            }
            return;
        }
        let merge = |other: &mut Entry| {
            if other.warp != entry.warp {
                return false;
            }
            if other.time == entry.time {
                return other.absorb_read(&entry);
            }
            other.lanes = other.lanes.without(entry.lanes);
            false
        };
        if merge(&mut self.first) {
            return;
        }
        match lists.get_mut(self.list) {
            Some(others) => {
                if others.iter_mut().any(merge) {
                    return;
                }
                if self.first.lanes == Mask::NONE {
                    self.first = entry;
                    return;
                }
                let mut replaced = (0..others.len()).filter(|at| others[*at].lanes == Mask::NONE);
                match (replaced.next(), replaced.next()) {
                    // A warp that reads again: the list keeps its length.
                    (Some(at), None) => {
                        others[at..].rotate_left(1);
                        let last = others.len() - 1;
                        others[last] = entry;
                    }
                    _ => {
                        others.retain(|other| other.lanes != Mask::NONE);
                        others.push(entry);
                    }
                }
            }
            None if self.first.lanes == Mask::NONE => self.first = entry,
            None => self.list = lists.add(entry),
        }
    }

    #[inline]
    fn quick_write(
        &mut self,
        lists: &mut Lists,
        order: Order<'_>,
        access: &Access,
        entry: &Entry,
    ) -> bool {
        if self.marks & mark::NON_COHERENT != 0 {
            return false;
        }
        if !self.reads_are_past(order) {
            let who = entry.who();
            let one = entry.lanes == Mask::one(usize::from(who.lane));
            let mut others = std::iter::once(&self.first).chain(lists.get(self.list));
            if !one || !others.all(|other| order.is_ordered(other, who)) {
                return false;
            }
        }
        self.replace(lists, order, access, *entry);
        true
    }

    /// Makes this write the last one and forgets the accesses before it.
    fn replace(&mut self, lists: &mut Lists, order: Order<'_>, access: &Access, entry: Entry) {
        if self.marks & mark::WRITTEN != 0 && self.write.extent != entry.extent {
            self.marks |= mark::EXTENTS;
        }
        self.marks |= mark::WRITTEN;
        self.marks |= match access.same_value {
            SameValue::Equal => 0,
            SameValue::Different => mark::CHANGED,
            SameValue::Undecided => mark::MAY_HAVE_CHANGED,
        };
        let past = match self.write.is_copy {
            false => order.is_past_of(self.write_epoch, self.write.warp),
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
    fn forget_writes(&mut self, lists: &mut Lists, order: Order<'_>) {
        let past = order.is_past(self.epoch) && self.marks & mark::COPIES == 0;
        if past || self.first.kind == Kind::Write {
            self.first = Entry::default();
        }
        self.first.hidden = true;
        if past {
            lists.free(std::mem::take(&mut self.list));
            self.warps = 0;
        } else if let Some(others) = lists.get_mut(self.list) {
            if self.marks & mark::KEPT != 0 {
                others.retain(|other| other.kind != Kind::Write);
            }
            others.iter_mut().for_each(|other| other.hidden = true);
        }
        debug_assert!(lists.get(self.list).iter().all(|other| other.kind != Kind::Write));
        self.marks &= !mark::KEPT;
        let holds_copy =
            || self.first.is_copy || lists.get(self.list).iter().any(|one| one.is_copy);
        if self.marks & mark::COPIES != 0 && !holds_copy() {
            self.marks &= !mark::COPIES;
        }
    }

    /// Returns `true` if a bulk copy writes the value that another one left here.
    fn is_repeated(&self, order: Order<'_>, entry: &Entry) -> bool {
        let both_write = (entry.kind, self.write.kind) == (Kind::Write, Kind::Write);
        let both_copy = entry.is_copy && self.write.is_copy;
        let updated = self.marks & (mark::UPDATED | mark::UPDATED_OTHERWISE) != 0;
        both_write && both_copy && !updated && order.same_contents(entry, &self.write)
    }

    /// Returns `true` if the cell holds anything to compare an access with, whichever its lane.
    fn is_harmed(&self, lists: &Lists, order: Order<'_>, entry: &Entry) -> bool {
        let write_is_past = order.is_past(self.write_epoch) && !self.write.is_copy;
        let past = order.is_past(self.epoch) && self.marks & mark::COPIES == 0;
        self.write.lanes != Mask::NONE && !write_is_past && !order.is_past_write(&self.write)
            || !past && self.first.lanes != Mask::NONE && !harmless(&self.first, entry)
            || !past && lists.get(self.list).iter().any(|other| !harmless(other, entry))
    }

    /// Adds the conflicts of one lane's access to `met`.
    fn compare(
        &self,
        lists: &Lists,
        order: Order<'_>,
        access: &Access,
        (entry, lane, offset): (&Entry, usize, i64),
        met: &mut Conflicts,
    ) {
        let one = (entry, lane);
        let write_is_past = order.is_past(self.write_epoch) && !self.write.is_copy;
        let mut excused = false;
        if self.write.lanes != Mask::NONE && !write_is_past {
            excused |= compare_with(order, access, one, &self.write, offset, met);
        }
        let past = order.is_past(self.epoch) && self.marks & mark::COPIES == 0;
        let since = || std::iter::once(&self.first).chain(lists.get(self.list)).filter(|_| !past);
        for other in since().filter(|other| !other.hidden) {
            excused |= compare_with(order, access, one, other, offset, met);
        }
        if excused {
            let aside = lists.get(self.aside);
            for other in since().chain(aside).filter(|other| other.hidden) {
                compare_with(order, access, one, other, offset, met);
            }
        }
    }

    /// Adds conflicts of reads through the read-only cache: no write is ordered with them.
    fn compare_non_coherent(
        &self,
        access: &Access,
        entry: &Entry,
        offset: i64,
        met: &mut Conflicts,
    ) {
        let changed = mark::WRITTEN | mark::UPDATED;
        let bypassed = match access.kind {
            Kind::Read => access.non_coherent && self.marks & changed != 0,
            Kind::Write | Kind::Update => self.marks & mark::NON_COHERENT != 0,
        };
        if !bypassed {
            return;
        }
        let write = (self.write.site, self.write.who());
        let ((site, who), kind) = match access.kind {
            Kind::Read if self.marks & mark::WRITTEN != 0 => (write, Kind::Write),
            Kind::Read => (self.update, Kind::Update),
            Kind::Write | Kind::Update => (self.read, Kind::Read),
        };
        let earlier = Side { who, site, kind, time: None, copy: None };
        let later = side(entry, access.lanes.lowest().unwrap_or(0));
        let (same_value, blocks) = (None, None);
        let conflict = Conflict {
            earlier,
            later,
            offset,
            same_value,
            blocks,
            non_coherent: true,
            unseen: None,
        };
        met.add_times(conflict, access.lanes.count().into());
    }

    /// Remembers an access.
    fn record(&mut self, lists: &mut Lists, order: Order<'_>, access: &Access, entry: Entry) {
        match access.kind {
            Kind::Write => {
                let kept = self.unordered_writes(lists, order, access, entry.who());
                self.replace(lists, order, access, entry);
                if !kept.is_empty() {
                    self.marks |= mark::KEPT;
                }
                let undecided = access.same_value == SameValue::Undecided;
                for mut write in kept {
                    if undecided && write.hides == Hides::Nothing {
                        write.hides = Hides::Something;
                    }
                    self.remember(lists, order, write);
                }
            }
            Kind::Read => {
                self.note_read(&entry);
                if access.non_coherent {
                    self.marks |= mark::NON_COHERENT;
                }
                self.remember(lists, order, entry);
            }
            Kind::Update => {
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
    fn forget_deliveries(&self, lists: &mut Lists, order: Order<'_>, entry: &Entry) {
        if entry.commutes != Commutes::Mbarrier || !entry.is_copy {
            return;
        }
        let Some(others) = lists.get_mut(self.list) else { return };
        let delivers = |other: &Entry| {
            other.is_copy
                && !other.hidden
                && (other.kind, other.commutes) == (Kind::Update, Commutes::Mbarrier)
        };
        others.retain(|other| !delivers(other) || order.unordered(other, entry.who()).is_some());
    }

    /// Collects the writes that this one is not ordered with. A write of the same value does not hide them: a
    /// later access may conflict with one of them alone.
    fn unordered_writes(
        &self,
        lists: &Lists,
        order: Order<'_>,
        access: &Access,
        later: LaneId,
    ) -> Vec<Entry> {
        if access.same_value == SameValue::Different {
            return Vec::new();
        }
        let write_is_past = order.is_past(self.write_epoch) && !self.write.is_copy;
        let past = order.is_past(self.epoch) && self.marks & mark::COPIES == 0;
        let write = (!write_is_past).then_some(self.write);
        let first = (!past).then_some(self.first);
        let others = if past { &[][..] } else { lists.get(self.list) };
        let all = write.into_iter().chain(first).chain(others.iter().copied());
        all.filter(|one| one.kind == Kind::Write && order.unordered(one, later).is_some()).collect()
    }

    /// Adds an access to the history since the last write.
    fn remember(&mut self, lists: &mut Lists, order: Order<'_>, entry: Entry) {
        let past = order.is_past(self.epoch) && self.marks & mark::COPIES == 0;
        if past {
            self.retire(lists);
        }
        self.epoch = order.clocks.epoch();
        self.warps |= bit(entry.warp);
        if entry.is_copy {
            self.marks |= mark::COPIES;
        }
        if self.first.lanes == Mask::NONE && self.list == 0 {
            self.first = entry;
            return;
        }
        let mut joined = self.first.absorb(&entry);
        if let Some(others) = lists.get_mut(self.list) {
            others.iter_mut().for_each(|other| joined |= !joined && other.absorb(&entry));
            others.retain(|other| other.lanes != Mask::NONE);
            if !joined {
                others.push(entry);
            }
        } else if self.first.lanes == Mask::NONE {
            self.first = entry;
        } else if !joined {
            self.list = lists.add(entry);
        }
    }
}

/// The bit of a warp in a set.
#[inline]
fn bit(warp: u8) -> u32 {
    1 << (warp % 32)
}

/// Returns `true` if two accesses do not conflict even if unordered.
fn harmless(earlier: &Entry, later: &Entry) -> bool {
    match (earlier.kind, later.kind) {
        (Kind::Read, Kind::Read) => true,
        (Kind::Update, Kind::Update) => {
            earlier.commutes == later.commutes
                && match later.commutes {
                    Commutes::Nothing => false,
                    Commutes::OwnSite => earlier.site == later.site,
                    Commutes::Mbarrier => true,
                }
        }
        _ => false,
    }
}

/// Adds the conflict of a lane's access with an earlier one, if they conflict. Returns `true` if equal values
/// may excuse it.
fn compare_with(
    order: Order<'_>,
    access: &Access,
    (entry, lane): (&Entry, usize),
    other: &Entry,
    offset: i64,
    met: &mut Conflicts,
) -> bool {
    if harmless(other, entry) {
        return false;
    }
    let later = LaneId { warp: entry.warp, lane: lane as u8 };
    let Some(earlier) = order.unordered(other, later) else { return false };
    let same_kind = other.kind == entry.kind && entry.kind != Kind::Read;
    // The time at which a copy in flight writes is unknown. Two kinds of copies still write the same: those
    // of lanes of a warp at one instruction, and those from one source that is never written.
    let done = earlier.time.is_some() && !entry.is_copy;
    let both_copy = entry.is_copy && other.is_copy;
    let same_contents = both_copy && order.same_contents(entry, other);
    let at_once = both_copy && (entry.site, entry.warp) == (other.site, other.warp);
    let twins = same_contents || at_once && access.same_value == SameValue::Equal;
    let same_place = same_kind && (done || twins) && other.extent == entry.extent;
    let same = if same_contents { SameValue::Equal } else { access.same_value };
    let same_value = same_place.then_some(match (same, other.hides) {
        (SameValue::Equal, Hides::Something) => SameValue::Undecided,
        (_, Hides::OwnValue) => SameValue::Different,
        (same, _) => same,
    });
    let (later, blocks) = (side(entry, lane), None);
    let non_coherent = false;
    met.add(Conflict { earlier, later, offset, same_value, blocks, non_coherent, unseen: None });
    matches!(same_value, Some(SameValue::Equal | SameValue::Undecided))
}

#[cfg(test)]
#[path = "cell_tests.rs"]
mod tests;
