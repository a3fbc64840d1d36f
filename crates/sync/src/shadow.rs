//! Shadow memory: compares each access with the earlier ones that it conflicts with.
//!
//! A [cell](Cell) stands for a few bytes, as few as the narrowest access needs.

mod bulk;
mod deferred_reads;

use crate::cell::{AccessOrder, Cell, Reader, Summary};
use crate::clocks::{Clocks, LaneId, Time};
use crate::copies::{AgentId, AsyncAgents};
use crate::entry::{Commutes, Entry, HiddenValue, Lists};
use crate::lanes::Mask;
use crate::pages::Pages;
use crate::products::ProductReads;
use crate::proxy::{ProxySpace, Visibility};
use deferred_reads::DeferredReads;
pub use deferred_reads::each_place;
use rustc_hash::{FxHashMap, FxHashSet};
use std::num::NonZeroU16;

/// An instruction, by the number that its executor gave it.
pub type Site = u32;

/// The effect of an access on memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MemoryEffect {
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
    /// The lanes: a single one, unless the access reads or updates an mbarrier.
    pub lanes: Mask,
    /// The kind of access.
    pub kind: MemoryEffect,
    /// The instruction.
    pub site: Site,
    /// Bytes of one value, a power of two: a vector access counts as several (manual §8.2.2).
    pub element: u32,
    /// The asynchronous copy that performs it, if any.
    pub copy: Option<AgentId>,
    /// Set if the access goes through the async proxy.
    pub is_async: bool,
    /// Set if the access goes through the read-only cache, outside the memory model.
    pub non_coherent: bool,
    /// For an update, the group that it commutes with.
    pub group: UpdateGroup,
    /// For a write or update, whether it leaves the present value in place.
    pub same_value: SameValue,
    /// Set for a write whose address determines its value: whenever threads of the block execute the instruction at one
    /// address, they write the same.
    pub is_determined: bool,
}

/// The access of some lanes of a warp at one address, one of several at the same instruction.
#[derive(Clone, Copy, Debug)]
pub struct AccessPart {
    /// The lanes: a single one, unless they read.
    pub lanes: Mask,
    /// The offset of the access.
    pub offset: i64,
    /// For a write, whether it leaves the present value in place.
    pub same_value: SameValue,
}

/// Similar updates: within a block all updates of a group commute, and between blocks all or none do. Updates
/// without a group commute with nothing.
pub type UpdateGroup = Option<NonZeroU16>;

/// Operations on mbarriers: updates of this group commute with each other across instructions.
pub const MBARRIER_UPDATES: UpdateGroup = NonZeroU16::new(u16::MAX);

/// Whether a write leaves the present value in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SameValue {
    /// Yes: the values are equal.
    Equal,
    /// No: the values differ.
    Different,
    /// The values are not known.
    Undecided,
}

/// How sure an engine must be that a write leaves the present value in place, or that it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequiredCertainty {
    /// It need not find out.
    None,
    /// A guess is enough: a difference between these instructions was found before, and another is only counted.
    Likely,
    /// It needs a proof of either answer.
    Proof,
}

/// A side of a conflict: one of the two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConflictSide {
    /// The thread.
    pub who: LaneId,
    /// The instruction.
    pub site: Site,
    /// The kind of access.
    pub kind: MemoryEffect,
    /// Its time, unless it is an asynchronous copy in flight.
    pub time: Option<Time>,
    /// The asynchronous copy that it belongs to.
    pub copy: Option<AgentId>,
}

/// Two unordered accesses to the same bytes, at least one of them not a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The access executed first.
    pub earlier: ConflictSide,
    /// The access executed second.
    pub later: ConflictSide,
    /// The first byte they have in common.
    pub offset: i64,
    /// For two writes or two updates of the same width at the same address: whether the later one left the
    /// present value in place.
    pub same_value: Option<SameValue>,
    /// The blocks of the two threads, if they differ.
    pub blocks: Option<[u64; 2]>,
    /// Set if one access went through the read-only cache: no barrier can order them.
    pub non_coherent: bool,
    /// Set if the accesses are ordered, but the later one, by a bulk copy, may not see the earlier one because a
    /// proxy fence is missing.
    pub unseen: Option<Visibility>,
}

/// Conflicts with equal keys are reported as one: instructions, values, relation of the blocks, coherence,
/// visibility.
type ConflictKey = (Site, Site, Option<SameValue>, (Blocks, bool, Option<Visibility>));

/// The relation of the blocks of a conflict's threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Blocks {
    Same,
    /// Different blocks of one cluster.
    OfCluster,
    OtherCluster,
}

/// The conflicts so far: one of each kind between two instructions, with the number of occurrences.
#[derive(Clone, Debug, Default)]
pub struct Conflicts {
    known: FxHashMap<ConflictKey, usize>,
    /// The conflicts in the order of discovery, with their counts.
    pub found: Vec<(Conflict, u64)>,
    /// Locations of conflicts with reads: the number of the allocation, and that of the four-byte word.
    pub words: FxHashSet<(u32, i64)>,
    /// Set if there are more such words than are kept.
    pub more_words: bool,
    /// The number that the engine gave the accessed allocation.
    pub allocation: u32,
    /// Warps of a block, if several blocks run together.
    pub warps: Option<NonZeroU16>,
    /// The total of all counts.
    added: u64,
}

/// The largest number of words kept.
const MAX_WORDS: usize = 1 << 18;

impl Conflicts {
    /// Adds a conflict.
    pub fn add(&mut self, conflict: Conflict) {
        if [conflict.earlier.kind, conflict.later.kind].contains(&MemoryEffect::Read) {
            match self.words.len() < MAX_WORDS {
                true => self.words.insert((self.allocation, conflict.offset >> 2)),
                false => std::mem::replace(&mut self.more_words, true),
            };
        }
        self.add_times(conflict, 1);
    }

    /// Returns `true` if two writes of a block at these instructions are known to write different values.
    #[must_use]
    pub fn knows_different(&self, earlier: Site, later: Site) -> bool {
        let relation = (Blocks::Same, false, None);
        self.known.contains_key(&(earlier, later, Some(SameValue::Different), relation))
    }

    /// Adds a conflict that occurred `times` times. Returns `true` if it is the first of its kind.
    pub fn add_times(&mut self, conflict: Conflict, times: u64) -> bool {
        let Conflict { earlier, later, same_value, blocks, non_coherent, unseen, .. } = conflict;
        let block = |side: ConflictSide| self.warps.map(|warps| u16::from(side.who.warp) / warps);
        let blocks_relation = match blocks {
            Some(_) => Blocks::OtherCluster,
            None if block(earlier) != block(later) => Blocks::OfCluster,
            None => Blocks::Same,
        };
        self.added += times;
        let relation = (blocks_relation, non_coherent, unseen);
        let key = (earlier.site, later.site, same_value, relation);
        let next = self.found.len();
        let position = *self.known.entry(key).or_insert(next);
        match self.found.get_mut(position) {
            Some((_, count)) => *count += times,
            None => self.found.push((conflict, times)),
        }
        position == next
    }
}

/// Builds the entry that cells remember for an access.
#[inline]
fn entry(clocks: &Clocks, access: &Access, offset: i64) -> Entry {
    Entry {
        time: access.copy.unwrap_or_else(|| clocks.now(access.warp)),
        site: access.site,
        lanes: access.lanes,
        warp: access.warp as u8,
        kind: access.kind,
        is_copy: access.copy.is_some(),
        commutes: match access.group {
            None => Commutes::Nothing,
            MBARRIER_UPDATES => Commutes::Mbarrier,
            Some(_) => Commutes::OwnSite,
        },
        is_async: access.is_async,
        extent: extent(access.element, offset),
        hides: HiddenValue::Nothing,
        hidden: false,
    }
}

/// Encodes size and low address bits. Two accesses to a cell have equal codes exactly if they access the same
/// value.
#[inline]
fn extent(element: u32, offset: i64) -> u8 {
    let element = element.max(1);
    (element.ilog2() << 5 | offset as u32 & (element - 1)) as u8
}

/// Bytes of a tensor map.
const MAP_BYTES: i64 = 128;

/// The smallest number of cells of a bulk copy for which a common history is tried.
const MIN_ALIKE_CELLS: u32 = 8;

/// Bytes of a cell, as a power of two, before an access needs smaller ones.
const COARSEST_SHIFT: u32 = 2;

/// The accesses of a block to one allocation.
#[derive(Clone, Debug)]
pub struct Shadow {
    /// Bytes of a cell, as a power of two.
    shift: u32,
    size: u64,
    cells: Pages<Cell>,
    lists: Lists,
    space: ProxySpace,
    /// Reads of products, which are not kept in cells.
    products: ProductReads,
    deferred: DeferredReads,
}

impl Shadow {
    /// Creates the record of an allocation of `size` bytes without accesses.
    #[must_use]
    pub fn new(size: u64, space: ProxySpace) -> Self {
        let cells = Pages::new(size >> COARSEST_SHIFT);
        let (lists, products) = (Lists::default(), ProductReads::default());
        let deferred = DeferredReads::default();
        Self { shift: COARSEST_SHIFT, size, cells, lists, space, products, deferred }
    }

    /// Forgets all accesses and resets the size of cells: the results of a block do not depend on earlier
    /// blocks.
    pub fn clear(&mut self) {
        self.cells.clear();
        self.shift = COARSEST_SHIFT;
        self.lists = Lists::default();
        self.products.clear();
        self.deferred.clear();
    }

    /// Returns the binary logarithm of the number of bytes of a cell.
    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }

    /// Returns summaries of the touched cells, by number.
    pub(crate) fn summaries(&self) -> impl Iterator<Item = (u64, Summary)> {
        let touched = self.cells.iter().filter(|(_, cell)| cell.is_touched());
        touched.map(|(index, cell)| (index, cell.summary()))
    }

    /// Records an access to `bytes` bytes at `offset`. Conflicts with earlier accesses go to `conflicts`.
    #[inline]
    pub fn access(
        &mut self,
        clocks: &Clocks,
        copies: &AsyncAgents,
        access: &Access,
        (offset, bytes): (i64, u32),
        conflicts: &mut Conflicts,
    ) {
        let order = AccessOrder { clocks, copies, space: self.space };
        self.record_deferred_reads(clocks);
        self.access_with_entry(
            order,
            access,
            &entry(clocks, access, offset),
            (offset, bytes),
            conflicts,
        );
    }

    /// Records accesses of a warp at one instruction to `bytes` bytes each, one after the other, like
    /// [`access`](Self::access). Each part has its own lanes, offset and value comparison.
    #[inline]
    pub fn access_each(
        &mut self,
        clocks: &Clocks,
        copies: &AsyncAgents,
        (access, bytes): (&Access, u32),
        each: &[AccessPart],
        conflicts: &mut Conflicts,
    ) {
        let order = AccessOrder { clocks, copies, space: self.space };
        self.record_deferred_reads(clocks);
        let (mut access, mut entry) = (*access, entry(clocks, access, 0));
        let is_plain_read = access.kind == MemoryEffect::Read
            && !entry.is_copy
            && !access.non_coherent
            && !clocks.any_exited();
        let mut reader = Reader::new(order, access.warp);
        for part in each {
            entry.lanes = part.lanes;
            entry.extent = extent(access.element, part.offset);
            let place = (part.offset, bytes);
            if is_plain_read && self.read(&entry, place, &mut reader) {
                continue;
            }
            (access.lanes, access.same_value) = (part.lanes, part.same_value);
            self.access_with_entry(order, &access, &entry, place, conflicts);
        }
    }

    /// Records an ordinary read, while no thread has exited, if it conflicts with nothing in any cell. Returns `true`
    /// on success.
    #[inline]
    fn read(
        &mut self,
        entry: &Entry,
        (offset, bytes): (i64, u32),
        reader: &mut Reader<'_>,
    ) -> bool {
        if (offset as u64 | u64::from(bytes)) & ((1 << self.shift) - 1) != 0 {
            return false;
        }
        let (first, count) = ((offset >> self.shift) as u64, bytes >> self.shift);
        let Some(cells) = self.cells.range(first, count as usize) else { return false };
        if !cells.iter().all(|cell| cell.is_quiet_for(reader)) {
            return false;
        }
        let clocks = reader.clocks();
        cells.iter_mut().for_each(|cell| cell.read(&mut self.lists, clocks, entry, reader.epoch));
        true
    }

    /// Records an access with one `entry` for all cells. `entry` is passed by reference for speed: a copy would
    /// have to wait for the writes of its fields just before.
    #[inline]
    fn access_with_entry(
        &mut self,
        order: AccessOrder<'_>,
        access: &Access,
        entry: &Entry,
        (offset, bytes): (i64, u32),
        conflicts: &mut Conflicts,
    ) {
        let parts = 1u64 << self.shift;
        if (offset as u64 | u64::from(bytes)) & (parts - 1) != 0 {
            self.refine(offset as u64 | u64::from(bytes));
        }
        let shift = self.shift;
        let (first, count) = ((offset >> shift) as u64, bytes >> shift);
        let changes = access.kind != MemoryEffect::Read || access.copy.is_some() || access.is_async;
        if changes {
            self.deferred.note_change(access, order.clocks.epoch());
        }
        if access.kind != MemoryEffect::Read && !self.products.is_empty() {
            self.products.forget_writes(first, count.into());
            self.products.compare(order, access, (entry, offset, bytes), conflicts);
        }
        if access.is_async && count >= MIN_ALIKE_CELLS {
            return self.access_many_cells(order, access, entry, (first, offset, count), conflicts);
        }
        let place = |part: usize| (entry, offset + ((part as i64) << shift));
        if let Some(cells) = self.cells.range(first, count as usize) {
            for (part, cell) in cells.iter_mut().enumerate() {
                cell.access(&mut self.lists, order, access, place(part), conflicts);
                self.deferred.note_unusual(changes && cell.is_unusual());
            }
            return;
        }
        for part in 0..count as usize {
            let cell = self.cells.get(first.wrapping_add(part as u64));
            cell.access(&mut self.lists, order, access, place(part), conflicts);
            self.deferred.note_unusual(changes && cell.is_unusual());
        }
    }

    /// Records a bulk copy's read of its tensor map of 128 bytes. It is an ordinary access of the copy,
    /// except that writes become visible to it by fences of their own: `visible` returns `true` for a visible
    /// write.
    pub fn read_map(
        &mut self,
        clocks: &Clocks,
        copies: &AsyncAgents,
        (access, offset): (&Access, i64),
        visible: &dyn Fn(LaneId, Time) -> bool,
        conflicts: &mut Conflicts,
    ) {
        let order = AccessOrder { clocks, copies, space: self.space };
        let entry = entry(clocks, access, offset);
        self.record_deferred_reads(clocks);
        let cells = (offset >> self.shift)..(offset + MAP_BYTES) >> self.shift;
        for index in cells {
            if let Some(cell) = self.cells.peek(index as u64) {
                cell.compare_map(
                    &self.lists,
                    order,
                    (&entry, index << self.shift),
                    visible,
                    conflicts,
                );
            }
        }
        let generic = Access { is_async: false, ..*access };
        self.access_with_entry(order, &generic, &entry, (offset, MAP_BYTES as u32), conflicts);
    }

    /// Returns how certainly an engine must know if a write at `site` changes these bytes, within this block.
    /// Errs towards a proof.
    #[must_use]
    pub fn required_certainty(
        &self,
        clocks: &Clocks,
        copies: &AsyncAgents,
        (offset, bytes): (i64, u32),
        (site, conflicts): (Site, &Conflicts),
    ) -> RequiredCertainty {
        let order = AccessOrder { clocks, copies, space: self.space };
        let last = (offset + i64::from(bytes) - 1) >> self.shift;
        (offset >> self.shift..=last)
            .filter_map(|index| self.cells.peek(index as u64))
            .map(|cell| cell.required_certainty(&self.lists, order, site, conflicts))
            .max()
            .unwrap_or(RequiredCertainty::None)
    }

    /// Makes cells small enough for an access with these low bits.
    #[cold]
    fn refine(&mut self, low_bits: u64) {
        let shift = low_bits.trailing_zeros().min(self.shift);
        let times = 1u64 << (self.shift - shift);
        if self.cells.is_untouched() {
            self.shift = shift;
            return self.cells.make_room(self.size >> shift);
        }
        let mut cells = Pages::new(self.size >> shift);
        for (index, cell) in self.cells.iter().filter(|(_, cell)| cell.is_touched()) {
            for part in 0..times {
                let copy = if part == 0 { *cell } else { cell.copy(&mut self.lists) };
                *cells.get(index.wrapping_mul(times).wrapping_add(part)) = copy;
            }
        }
        (self.cells, self.shift) = (cells, shift);
        self.products.forget_all_writes();
    }
}
