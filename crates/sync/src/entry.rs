//! Accesses as a cell remembers them: lanes of a warp with the same access at one time.

use crate::clocks::LaneId;
use crate::copies::AgentId;
use crate::lanes::Mask;
use crate::shadow::{ConflictSide, MemoryEffect, Site};

/// Accesses of one kind by lanes of one warp at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    /// The time, or the number of an asynchronous copy.
    pub(crate) time: u32,
    pub(crate) site: Site,
    pub(crate) lanes: Mask,
    pub(crate) warp: u8,
    pub(crate) kind: MemoryEffect,
    pub(crate) is_copy: bool,
    pub(crate) commutes: Commutes,
    /// Set for an access through the async proxy.
    pub(crate) is_async: bool,
    /// Size of the value and the low bits of its address: equal for accesses to the same value.
    pub(crate) extent: u8,
    pub(crate) hides: HiddenValue,
    /// Set for an access before the last write. An access unordered with it is unordered with that write too,
    /// so it need not be compared, unless the write excuses the later access.
    pub(crate) hidden: bool,
}

/// The updates that an update commutes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Commutes {
    #[default]
    Nothing,
    /// Updates at the same instruction.
    OwnSite,
    /// All mbarrier operations but `init` and `inval`.
    Mbarrier,
}

/// Relation of a write's value to the values that it hides. For a hidden write: relation of its value to the
/// value of the write that hides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum HiddenValue {
    /// It hides nothing, apart from writes [aside](crate::cell).
    #[default]
    Nothing,
    /// It hides a possibly different value, written by the same thread at the same time, or before a copy.
    /// For a hidden write: its value may differ.
    MayDiffer,
    /// It hides a different value, written by the same thread at the same time. For a hidden write: its value
    /// differs. A write unordered with both values differs from at least one of them.
    Differs,
}

/// Lists of reads and updates, for cells with more than one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    lists: Vec<List>,
    unused: Vec<u32>,
}

/// A list of entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) entries: Vec<Entry>,
    /// Hashes of the threads of the cell's entries, one bit each: of all, or of more than those.
    pub(crate) lanes: u64,
}

impl Lists {
    /// Copies a list and returns the number of the copy.
    pub(crate) fn copy(&mut self, list: u32) -> u32 {
        self.lists.push(List { entries: self.get(list).to_vec(), lanes: u64::MAX });
        self.lists.len() as u32
    }

    /// Returns the entries of a list; none if the number is zero.
    pub(crate) fn get(&self, list: u32) -> &[Entry] {
        list.checked_sub(1).map_or(&[], |position| &self.lists[position as usize].entries)
    }

    /// Like [`get`](Self::get), for changes; `None` if the number is zero.
    pub(crate) fn get_mut(&mut self, list: u32) -> Option<&mut Vec<Entry>> {
        let list = self.list_mut(list)?;
        list.lanes = u64::MAX;
        Some(&mut list.entries)
    }

    /// Like [`get_mut`](Self::get_mut), with the hashes of threads, which the caller keeps complete.
    pub(crate) fn list_mut(&mut self, list: u32) -> Option<&mut List> {
        list.checked_sub(1).map(|position| &mut self.lists[position as usize])
    }

    /// Creates a list of one entry and returns its number.
    pub(crate) fn add(&mut self, entry: Entry) -> u32 {
        let list = self.unused.pop().unwrap_or_else(|| {
            self.lists.push(List::default());
            self.lists.len() as u32
        });
        let new = &mut self.lists[list as usize - 1];
        new.entries.push(entry);
        new.lanes = u64::MAX;
        list
    }

    /// Frees a list for reuse; does nothing if the number is zero.
    pub(crate) fn free(&mut self, list: u32) {
        if list != 0 {
            self.lists[list as usize - 1].entries.clear();
            self.unused.push(list);
        }
    }
}

impl Entry {
    /// Returns the lowest thread of the entry.
    pub(crate) fn who(&self) -> LaneId {
        LaneId { warp: self.warp, lane: self.lanes.lowest().unwrap_or(0) as u8 }
    }

    /// Returns the asynchronous copy that performs the access, if any.
    pub(crate) fn copy(&self) -> Option<AgentId> {
        self.is_copy.then_some(self.time)
    }

    /// Returns `true` if both entries are of one access, to different bytes.
    #[inline]
    pub(crate) fn is_same_access(&self, other: &Self) -> bool {
        (self.time, self.site, self.lanes, self.warp, self.is_copy)
            == (other.time, other.site, other.lanes, other.warp, other.is_copy)
    }

    /// Returns `true` if both entries are of the same lanes at the same time: then every access is ordered with both
    /// or with neither.
    pub(crate) fn is_same_time(&self, other: &Self) -> bool {
        (self.warp, self.lanes, self.time, self.is_copy)
            == (other.warp, other.lanes, other.time, other.is_copy)
    }

    /// Merges a read of the same warp at the same time, if possible, and returns `true` on success. Lanes
    /// must not appear to have read at an instruction where they did not.
    #[inline]
    pub(crate) fn absorb_read(&mut self, later: &Self) -> bool {
        let known = later.lanes.without(self.lanes).is_empty();
        if !known && self.site != later.site {
            return false;
        }
        self.lanes = self.lanes.or(later.lanes);
        self.hidden &= later.hidden;
        true
    }

    /// Merges a later access of the same warp, or drops the lanes that it replaces. Returns `true` if it was
    /// merged.
    pub(crate) fn absorb(&mut self, later: &Self) -> bool {
        let alike = self.warp == later.warp
            && self.kind == later.kind
            && !self.is_copy
            && !later.is_copy
            && (self.kind == MemoryEffect::Read || self.site == later.site);
        if !alike || self.lanes == Mask::NONE {
            return false;
        }
        if self.kind == MemoryEffect::Read && self.time == later.time {
            return self.absorb_read(later);
        }
        if self.time == later.time && self.extent == later.extent {
            self.lanes = self.lanes.or(later.lanes);
            self.hidden &= later.hidden;
            return true;
        }
        if self.kind == MemoryEffect::Write {
            return false;
        }
        self.lanes = self.lanes.without(later.lanes);
        false
    }
}

/// Builds the side of a conflict that is the access of one lane of an entry.
pub(crate) fn conflict_side(entry: &Entry, lane: usize) -> ConflictSide {
    let who = LaneId { warp: entry.warp, lane: lane as u8 };
    let time = (!entry.is_copy).then_some(entry.time);
    ConflictSide { who, site: entry.site, kind: entry.kind, time, copy: entry.copy() }
}
