//! Finds the racing reads of a block: records every access to the words where the first run saw a conflict
//! ([`ConflictWords`]), and compares each read with each write that no barrier separates from it.
//!
//! Anything that cannot be compared (copies, other sizes, too many accesses) sets `gave_up`; then the caller makes no
//! claim.

use super::conflict_words::{Block, ConflictWords, Counts, Extent, Racing, ReadId, Word, words};
use crate::address::Area;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use sync::{Access, Clocks, LaneId, MemoryEffect, Time};

/// The largest number of accesses to one word, between two barriers of the block, that are compared.
const MAX_SEEN: usize = 1 << 12;

/// The number of accesses to a word at which those that all threads know of are dropped for the first time.
const MIN_SEEN: usize = 64;

/// The accesses to a word.
#[derive(Debug, Default)]
struct Seen {
    /// Writes and updates.
    writes: Vec<LaneAccess>,
    reads: Vec<LaneAccess>,
    /// The epoch of the last access.
    epoch: u32,
    /// The number of accesses at which those that all threads know of are dropped next.
    prune_at: usize,
}

impl Seen {
    fn len(&self) -> usize {
        self.writes.len() + self.reads.len()
    }

    fn retain(&mut self, mut keep: impl FnMut(&LaneAccess) -> bool) {
        self.writes.retain(&mut keep);
        self.reads.retain(keep);
    }
}

/// An access of one lane.
#[derive(Clone, Copy, Debug)]
struct LaneAccess {
    who: LaneId,
    time: Time,
    epoch: u32,
    kind: MemoryEffect,
    /// The accessed bytes of the word, one bit each.
    bytes: u8,
    extent: Extent,
    read: Option<ReadId>,
    /// Set for a read that is known to race.
    is_racing: bool,
}

/// All accesses of a block to the suspect words.
#[derive(Debug, Default)]
pub(crate) struct History {
    conflict_words: Arc<ConflictWords>,
    seen: FxHashMap<Word, Seen>,
    counts: Counts,
    block: Block,
    pub(crate) racing: Racing,
}

/// Returns the bytes of a word that an access covers, one bit each.
fn covered_bytes(word: i64, offset: i64, bytes: u32) -> u8 {
    let has = |byte: &i64| (offset..offset + i64::from(bytes)).contains(&(word * 4 + byte));
    (0..4).filter(has).fold(0, |all, byte| all | 1 << byte)
}

impl History {
    pub(crate) fn new(conflict_words: &Arc<ConflictWords>) -> Self {
        Self { conflict_words: Arc::clone(conflict_words), ..Self::default() }
    }

    /// Starts a block; findings stay until they are taken.
    pub(crate) fn restart(&mut self, block: Block) {
        self.block = block;
        self.seen.clear();
        self.counts.clear();
    }

    /// Records an access of the block.
    pub(crate) fn access(
        &mut self,
        clocks: &Clocks,
        access: &Access,
        (area, offset, bytes): (Area, i64, u32),
    ) {
        let conflict_words = Arc::clone(&self.conflict_words);
        for word in words(area, offset, bytes) {
            let between =
                !conflict_words.between.is_empty() && conflict_words.between.contains(&word);
            if between || conflict_words.words.contains(&word) {
                self.racing.gave_up |= access.copy.is_some() || access.non_coherent;
                let extent = (access.element, offset as u32 & (access.element.max(1) - 1));
                if between {
                    self.racing.add_extent(word, extent);
                    match access.kind {
                        MemoryEffect::Read => {
                            self.racing.sites.insert(access.site);
                        }
                        MemoryEffect::Write | MemoryEffect::Update => {
                            self.racing.add_writer(word, Some(self.block));
                        }
                    }
                }
                let now = LaneAccess {
                    who: LaneId { warp: access.warp as u8, lane: 0 },
                    time: clocks.now(access.warp),
                    epoch: clocks.epoch(),
                    kind: access.kind,
                    bytes: covered_bytes(word.1, offset, bytes),
                    extent,
                    read: None,
                    is_racing: false,
                };
                self.compare(clocks, access, word, now);
            }
        }
    }

    /// Compares an access with the earlier ones to a word, lane by lane, and records it.
    fn compare(&mut self, clocks: &Clocks, access: &Access, word: Word, now: LaneAccess) {
        let Self { seen, counts, racing, .. } = self;
        let seen = seen.entry(word).or_default();
        if seen.epoch != now.epoch && !clocks.any_exited() {
            seen.retain(|earlier| earlier.epoch == now.epoch);
            seen.epoch = now.epoch;
        }
        // Nothing that any thread does from now on is unordered with these.
        let is_full = seen.len() >= seen.prune_at.max(MIN_SEEN);
        if is_full || now.kind != MemoryEffect::Read {
            seen.retain(|earlier| !clocks.known_to_all(earlier.who.warp, earlier.time));
        }
        if is_full {
            seen.retain(|earlier| !clocks.all_threads_know(earlier.who, earlier.time));
            seen.prune_at = 2 * seen.len();
        }
        for lane in access.lanes.iter() {
            let who = LaneId { lane: lane as u8, ..now.who };
            let thread = (access.warp * crate::lanes::WARP + lane) as u16;
            let read =
                (now.kind == MemoryEffect::Read).then(|| counts.next(access.site, word, thread));
            let now = LaneAccess { who, read, ..now };
            let others = if read.is_some() { &mut seen.writes } else { &mut seen.reads };
            let mut is_racing = false;
            for earlier in others {
                let is_apart = earlier.bytes & now.bytes == 0;
                if is_apart || clocks.ordered(earlier.who, earlier.time, who) {
                    continue;
                }
                racing.gave_up |= earlier.extent != now.extent;
                let (read, is_known) = match read {
                    Some(read) => (Some(read), &mut is_racing),
                    None => (earlier.read, &mut earlier.is_racing),
                };
                if let (Some(read), false) = (read, std::mem::replace(is_known, true)) {
                    racing.sites.insert(read.0);
                    racing.reads.insert(read);
                }
            }
            let now = LaneAccess { is_racing, ..now };
            if seen.len() == MAX_SEEN {
                racing.gave_up = true;
                return;
            }
            let alike = if read.is_some() { &mut seen.reads } else { &mut seen.writes };
            alike.push(now);
        }
    }
}
