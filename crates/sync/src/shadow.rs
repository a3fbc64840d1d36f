//! Who accessed which byte: each access is compared with those before it that it conflicts with.
//!
//! A cell stands for a few bytes, as few as the narrowest access needs. It remembers the last write
//! and the reads and updates since, as sets of lanes with their time. Forgetting what came before a
//! write loses no race: if the write is ordered after it, then what is unordered with the forgotten
//! access is unordered with the write or ordered after both; if it is not, that is a race already.
//! For the same reason a lane's later read replaces its earlier one.
//!
//! What happened in an earlier epoch ([`Clocks::epoch`]) is ordered before everything now, which
//! needs no look at clocks; exits and asynchronous copies are the exceptions.

use crate::clocks::{Clocks, Time, Who};
use crate::copies::{Copies, CopyId};
use crate::lanes::Mask;
use crate::pages::Pages;
use rustc_hash::FxHashMap;

/// An instruction, by a number its executor gave it.
pub type Site = u32;

/// What an access does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    #[default]
    Read,
    Write,
    /// A read-modify-write in one step.
    Update,
}

/// An access of some lanes of a warp, all at the same address.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The warp.
    pub warp: usize,
    /// The lanes: one, unless it reads.
    pub lanes: Mask,
    /// What it does.
    pub kind: Kind,
    /// The instruction.
    pub site: Site,
    /// The asynchronous copy that does it, if one does.
    pub copy: Option<CopyId>,
    /// Whether it goes through the read-only cache, outside the memory model.
    pub non_coherent: bool,
    /// Whether an update commutes with others of the same instruction.
    pub commutes: bool,
    /// Whether a write or an update leaves in place what was there.
    pub same_value: SameValue,
}

/// Whether a write leaves in place what was there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SameValue {
    /// It does.
    Equal,
    /// It does not.
    Different,
    /// The values are not known.
    Undecided,
}

/// One of two accesses that conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The thread.
    pub who: Who,
    /// The instruction.
    pub site: Site,
    /// What it does.
    pub kind: Kind,
    /// Its time, if it is not an asynchronous copy on its way.
    pub time: Option<Time>,
}

/// Two accesses to the same bytes that nothing orders, one of them not a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The access that was executed first.
    pub earlier: Side,
    /// The other.
    pub later: Side,
    /// The first byte they have in common.
    pub offset: i64,
    /// Two writes, or two updates, of the same width at the same address: whether the later left
    /// in place what was there.
    pub same_value: Option<SameValue>,
    /// The blocks of the two threads, if they are different ones.
    pub blocks: Option<[u64; 2]>,
    /// Whether one went through the read-only cache: no barrier can order them.
    pub non_coherent: bool,
}

/// Conflicts met, one of each kind between two instructions, with how often it was met.
#[derive(Clone, Debug, Default)]
pub struct Previous {
    known: FxHashMap<(Site, Site, Option<SameValue>, bool, bool), usize>,
    /// The conflicts in the order in which they were met, and their counts.
    pub met: Vec<(Conflict, u64)>,
}

impl Previous {
    /// Adds a conflict.
    pub fn add(&mut self, conflict: Conflict) {
        let Conflict { earlier, later, same_value, blocks, non_coherent, .. } = conflict;
        let key = (earlier.site, later.site, same_value, blocks.is_some(), non_coherent);
        let position = *self.known.entry(key).or_insert(self.met.len());
        match self.met.get_mut(position) {
            Some((_, count)) => *count += 1,
            None => self.met.push((conflict, 1)),
        }
    }
}

/// Accesses of one kind by lanes of one warp at one time.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// The time, or the number of a copy.
    time: u32,
    site: Site,
    lanes: Mask,
    warp: u8,
    kind: Kind,
    is_copy: bool,
    commutes: bool,
    /// Bytes accessed and the position of the cell in them: equal for accesses to the same place.
    extent: u8,
    hides: Hides,
}

/// What a write hides that happened since everybody waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hides {
    /// Nothing, or writes of the same value.
    #[default]
    Nothing,
    /// Another value, written by some thread at some time.
    Something,
    /// Another value, written by the same thread at the same time: whatever is unordered with the
    /// one is unordered with the other.
    OwnValue,
}

/// What happened to some bytes in a block.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Entry,
    write_epoch: u32,
    /// The first of the reads and updates since the write; more are in a list of their own.
    first: Entry,
    epoch: u32,
    /// Which list, one more; zero for none.
    list: u32,
    /// The last read and the last update.
    read: (Site, Who),
    update: (Site, Who),
    marks: u8,
}

/// What ever happened to bytes.
pub(crate) mod mark {
    pub(crate) const READ: u8 = 1;
    pub(crate) const WRITTEN: u8 = 2;
    pub(crate) const UPDATED: u8 = 4;
    pub(crate) const NON_COHERENT: u8 = 8;
    /// A write changed what was there before, or may have.
    pub(crate) const CHANGED: u8 = 16;
    pub(crate) const MAY_HAVE_CHANGED: u8 = 32;
    /// A copy is among the reads and updates since the write.
    pub(super) const COPIES: u8 = 64;
}

/// What a block did to some bytes, for comparison with other blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) marks: u8,
    pub(crate) read: (Site, Who),
    pub(crate) write: (Site, Who),
    pub(crate) update: (Site, Who),
}

/// The accesses of a block to one allocation.
#[derive(Clone, Debug)]
pub struct Shadow {
    /// Bytes of a cell, as a power of two.
    shift: u32,
    size: u64,
    cells: Pages<Cell>,
    lists: Vec<Vec<Entry>>,
    unused: Vec<u32>,
}

/// What orders accesses.
#[derive(Clone, Copy, Debug)]
struct Order<'o> {
    clocks: &'o Clocks,
    copies: &'o Copies,
}

impl Order<'_> {
    /// Whether something of this epoch is ordered before everything, without a closer look.
    #[inline]
    fn is_past(&self, epoch: u32) -> bool {
        epoch != self.clocks.epoch() && !self.clocks.any_exited()
    }

    /// A lane of an entry that is not ordered before what `later` does now.
    fn unordered(&self, entry: &Entry, later: Who) -> Option<Side> {
        for lane in entry.lanes.iter() {
            let who = Who { warp: entry.warp, lane: lane as u8 };
            let time = match entry.is_copy {
                false => Some(entry.time),
                true => self.copies.waited(entry.time, lane),
            };
            if !time.is_some_and(|time| self.clocks.ordered(who, time, later)) {
                return Some(Side { who, site: entry.site, kind: entry.kind, time });
            }
        }
        None
    }
}

impl Shadow {
    /// Nobody has accessed an allocation of `size` bytes.
    #[must_use]
    pub fn new(size: u64) -> Self {
        let shift = 2;
        let cells = Pages::new(size >> shift);
        Self { shift, size, cells, lists: Vec::new(), unused: Vec::new() }
    }

    /// Forgets all accesses.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.lists.clear();
        self.unused.clear();
    }

    /// Bytes of a cell, as a power of two.
    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }

    /// What happened to the cells that were touched, by number.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = (u64, Summary)> {
        let touched = self.cells.iter().filter(|(_, cell)| cell.marks != 0);
        touched.map(|(index, cell)| {
            let Cell { marks, read, update, ref write, .. } = *cell;
            (index, Summary { marks, read, write: (write.site, write.who()), update })
        })
    }

    /// An access to `bytes` bytes at `offset`. Conflicts with earlier ones go to `met`.
    #[inline]
    pub fn access(
        &mut self,
        clocks: &Clocks,
        copies: &Copies,
        access: &Access,
        (offset, bytes): (i64, u32),
        met: &mut Previous,
    ) {
        let parts = 1u64 << self.shift;
        if (offset as u64 | u64::from(bytes)) & (parts - 1) != 0 {
            self.refine(offset as u64 | u64::from(bytes));
        }
        let order = Order { clocks, copies };
        let count = bytes >> self.shift;
        for part in 0..count {
            let at = offset + (i64::from(part) << self.shift);
            let extent = (bytes.ilog2() << 5 | part.min(31)) as u8;
            self.access_cell(order, access, at, extent, met);
        }
    }

    /// Makes cells small enough for an access with these low bits.
    #[cold]
    fn refine(&mut self, low_bits: u64) {
        let shift = low_bits.trailing_zeros().min(self.shift);
        let times = 1u64 << (self.shift - shift);
        let mut cells = Pages::new(self.size >> shift);
        for (index, cell) in self.cells.iter() {
            if cell.marks == 0 {
                continue;
            }
            for part in 0..times {
                let mut copy = *cell;
                if copy.list != 0 && part > 0 {
                    self.lists.push(self.lists[cell.list as usize - 1].clone());
                    copy.list = self.lists.len() as u32;
                }
                *cells.get(index * times + part) = copy;
            }
        }
        (self.cells, self.shift) = (cells, shift);
    }

    #[inline]
    fn access_cell(
        &mut self,
        order: Order<'_>,
        access: &Access,
        offset: i64,
        extent: u8,
        met: &mut Previous,
    ) {
        let cell = self.cells.get((offset >> self.shift) as u64);
        let time = order.clocks.now(access.warp);
        let epoch = order.clocks.epoch();
        // The usual read: nothing was written since everybody waited, and this warp read before.
        if access.kind == Kind::Read
            && cell.write_epoch != epoch
            && cell.epoch == epoch
            && cell.list == 0
            && cell.first.time == time
            && cell.first.site == access.site
            && usize::from(cell.first.warp) == access.warp
            && cell.first.kind == Kind::Read
            && !(cell.write.is_copy || cell.first.is_copy || access.copy.is_some())
            && !(access.non_coherent || order.clocks.any_exited())
            && cell.marks & mark::NON_COHERENT == 0
        {
            cell.first.lanes = cell.first.lanes.or(access.lanes);
            return;
        }
        let entry = Entry {
            time: access.copy.unwrap_or(time),
            site: access.site,
            lanes: access.lanes,
            warp: access.warp as u8,
            kind: access.kind,
            is_copy: access.copy.is_some(),
            commutes: access.commutes,
            extent,
            hides: Hides::Nothing,
        };
        self.compare(order, access, &entry, offset, met);
        self.record(order, access, entry, offset);
    }

    /// Finds out what an access conflicts with.
    fn compare(
        &mut self,
        order: Order<'_>,
        access: &Access,
        entry: &Entry,
        offset: i64,
        met: &mut Previous,
    ) {
        let cell = *self.cells.get((offset >> self.shift) as u64);
        let changed = mark::WRITTEN | mark::UPDATED;
        let bypassed = match access.kind {
            Kind::Read => access.non_coherent && cell.marks & changed != 0,
            Kind::Write | Kind::Update => cell.marks & mark::NON_COHERENT != 0,
        };
        if bypassed {
            let write = (cell.write.site, cell.write.who());
            let ((site, who), kind) = match access.kind {
                Kind::Read if cell.marks & mark::WRITTEN != 0 => (write, Kind::Write),
                Kind::Read => (cell.update, Kind::Update),
                Kind::Write | Kind::Update => (cell.read, Kind::Read),
            };
            let earlier = Side { who, site, kind, time: None };
            let later = side(entry, access.lanes.lowest().unwrap_or(0));
            let same_value = None;
            let blocks = None;
            met.add(Conflict { earlier, later, offset, same_value, blocks, non_coherent: true });
        }
        let write_is_past = order.is_past(cell.write_epoch) && !cell.write.is_copy;
        if cell.write.lanes != Mask::NONE && !write_is_past {
            self.compare_with(order, access, entry, &cell.write, offset, met);
        }
        let past = order.is_past(cell.epoch) && cell.marks & mark::COPIES == 0;
        if past {
            return;
        }
        self.compare_with(order, access, entry, &cell.first, offset, met);
        if cell.list != 0 {
            for position in 0..self.lists[cell.list as usize - 1].len() {
                let other = self.lists[cell.list as usize - 1][position];
                self.compare_with(order, access, entry, &other, offset, met);
            }
        }
    }

    fn compare_with(
        &self,
        order: Order<'_>,
        access: &Access,
        entry: &Entry,
        other: &Entry,
        offset: i64,
        met: &mut Previous,
    ) {
        let harmless = match (other.kind, entry.kind) {
            (Kind::Read, Kind::Read) => true,
            (Kind::Update, Kind::Update) => {
                other.site == entry.site && other.commutes && entry.commutes
            }
            _ => false,
        };
        if harmless {
            return;
        }
        for lane in access.lanes.iter() {
            let later = Who { warp: entry.warp, lane: lane as u8 };
            let Some(earlier) = order.unordered(other, later) else { continue };
            let same_kind = other.kind == entry.kind && entry.kind != Kind::Read;
            // Of a copy on its way nobody knows when it will have written what.
            let done = earlier.time.is_some() && !entry.is_copy;
            let same_place = same_kind && done && other.extent == entry.extent;
            let same_value = same_place.then_some(match (access.same_value, other.hides) {
                (SameValue::Equal, Hides::Something) => SameValue::Undecided,
                (_, Hides::OwnValue) => SameValue::Different,
                (same, _) => same,
            });
            let later = side(entry, lane);
            let blocks = None;
            met.add(Conflict { earlier, later, offset, same_value, blocks, non_coherent: false });
        }
    }

    /// Remembers an access.
    fn record(&mut self, order: Order<'_>, access: &Access, entry: Entry, offset: i64) {
        let cell = self.cells.get((offset >> self.shift) as u64);
        let epoch = order.clocks.epoch();
        match access.kind {
            Kind::Write => {
                cell.marks |= mark::WRITTEN;
                cell.marks |= match access.same_value {
                    SameValue::Equal => 0,
                    SameValue::Different => mark::CHANGED,
                    SameValue::Undecided => mark::MAY_HAVE_CHANGED,
                };
                let kept = self.unordered_writes(order, access, entry.who(), offset);
                let cell = self.cells.get((offset >> self.shift) as u64);
                let past = order.is_past(cell.write_epoch) && !cell.write.is_copy;
                let before = Some(cell.write).filter(|write| write.lanes != Mask::NONE && !past);
                let hides = before.map_or(Hides::Nothing, |write| entry.hides(&write, access));
                let entry = Entry { hides, ..entry };
                (cell.write, cell.write_epoch) = (entry, epoch);
                let list = std::mem::take(&mut cell.list);
                cell.first = Entry::default();
                cell.marks &= !mark::COPIES;
                self.free(list);
                kept.into_iter().for_each(|write| self.remember(order, write, offset));
            }
            Kind::Read => {
                cell.marks |= mark::READ;
                if access.non_coherent {
                    cell.marks |= mark::NON_COHERENT;
                }
                cell.read = (entry.site, entry.who());
                self.remember(order, entry, offset);
            }
            Kind::Update => {
                cell.marks |= mark::UPDATED;
                cell.update = (entry.site, entry.who());
                self.remember(order, entry, offset);
            }
        }
    }

    /// A write of the same value does not hide those it is not ordered with: a later one may
    /// conflict with them alone.
    fn unordered_writes(
        &mut self,
        order: Order<'_>,
        access: &Access,
        later: Who,
        offset: i64,
    ) -> Vec<Entry> {
        if access.same_value == SameValue::Different {
            return Vec::new();
        }
        let cell = *self.cells.get((offset >> self.shift) as u64);
        let write_is_past = order.is_past(cell.write_epoch) && !cell.write.is_copy;
        let past = order.is_past(cell.epoch) && cell.marks & mark::COPIES == 0;
        let write = (!write_is_past).then_some(cell.write);
        let first = (!past).then_some(cell.first);
        let list = cell.list.checked_sub(1).filter(|_| !past);
        let others = list.map_or(&[][..], |list| &self.lists[list as usize]);
        let all = write.into_iter().chain(first).chain(others.iter().copied());
        all.filter(|one| one.kind == Kind::Write && order.unordered(one, later).is_some()).collect()
    }

    /// Adds to what happened since the last write.
    fn remember(&mut self, order: Order<'_>, entry: Entry, offset: i64) {
        let cell = self.cells.get((offset >> self.shift) as u64);
        let past = order.is_past(cell.epoch) && cell.marks & mark::COPIES == 0;
        let mut list = 0;
        if past {
            list = std::mem::take(&mut cell.list);
            cell.first = Entry::default();
        }
        cell.epoch = order.clocks.epoch();
        if entry.is_copy {
            cell.marks |= mark::COPIES;
        }
        let more = cell.list;
        if cell.first.lanes == Mask::NONE && more == 0 {
            cell.first = entry;
            return self.free(list);
        }
        let first = &mut cell.first;
        let joined = first.absorb(&entry);
        let others = more.checked_sub(1).map(|list| &mut self.lists[list as usize]);
        let mut joined = joined;
        if let Some(others) = others {
            others.iter_mut().for_each(|other| joined |= !joined && other.absorb(&entry));
            others.retain(|other| other.lanes != Mask::NONE);
            if !joined {
                others.push(entry);
            }
        } else if first.lanes == Mask::NONE {
            *first = entry;
        } else if !joined {
            let list = self.new_list(entry);
            self.cells.get((offset >> self.shift) as u64).list = list;
        }
        self.free(list);
    }

    fn new_list(&mut self, entry: Entry) -> u32 {
        if let Some(list) = self.unused.pop() {
            self.lists[list as usize - 1].push(entry);
            return list;
        }
        self.lists.push(vec![entry]);
        self.lists.len() as u32
    }

    fn free(&mut self, list: u32) {
        if list != 0 {
            self.lists[list as usize - 1].clear();
            self.unused.push(list);
        }
    }
}

impl Entry {
    /// One of its threads.
    fn who(&self) -> Who {
        Who { warp: self.warp, lane: self.lanes.lowest().unwrap_or(0) as u8 }
    }

    /// What this write hides if it comes after `write`.
    fn hides(&self, write: &Self, access: &Access) -> Hides {
        let same_time = (self.warp, self.lanes, self.time, self.is_copy)
            == (write.warp, write.lanes, write.time, write.is_copy);
        match access.same_value {
            SameValue::Equal if same_time || write.hides == Hides::Nothing => write.hides,
            SameValue::Equal | SameValue::Undecided => Hides::Something,
            SameValue::Different if same_time => Hides::OwnValue,
            SameValue::Different => Hides::Something,
        }
    }

    /// Takes a later access of the same warp in, or gives up the lanes that it replaces; whether it
    /// was taken in.
    fn absorb(&mut self, later: &Self) -> bool {
        let alike = self.warp == later.warp
            && self.kind == later.kind
            && !self.is_copy
            && !later.is_copy
            && self.lanes != Mask::NONE;
        if !alike {
            return false;
        }
        let same_site = self.site == later.site;
        if same_site && self.time == later.time && self.extent == later.extent {
            self.lanes = self.lanes.or(later.lanes);
            return true;
        }
        // A lane's later read replaces its earlier one; an update does so only if it commutes with
        // the same others.
        if self.kind == Kind::Read || self.kind == Kind::Update && same_site {
            self.lanes = self.lanes.without(later.lanes);
        }
        false
    }
}

fn side(entry: &Entry, lane: usize) -> Side {
    let who = Who { warp: entry.warp, lane: lane as u8 };
    let time = (!entry.is_copy).then_some(entry.time);
    Side { who, site: entry.site, kind: entry.kind, time }
}
