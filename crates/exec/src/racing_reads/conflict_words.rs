//! Data of the search for racing reads: words with conflicts ([`ConflictWords`]), the reads that race there
//! ([`Racing`]), and the reads that the next run replaces by poison ([`PoisonedReads`]).

use crate::address::Area;
use ir::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use sync::Site;

/// Four bytes of an allocation.
pub(crate) type Word = (Area, i64);

/// A read: the instruction, the word, the thread in its block, and the number of earlier reads of the word by
/// that thread at that instruction.
pub(super) type ReadId = (Site, Word, u16, u32);

/// Words with conflicts of reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConflictWords {
    /// Within a block.
    pub(crate) words: FxHashSet<Word>,
    /// Between blocks.
    pub(crate) between: FxHashSet<Word>,
    /// Set if there are more.
    pub(crate) incomplete: bool,
}

impl ConflictWords {
    pub(crate) fn add(&mut self, block: Self) {
        self.words.extend(block.words);
        self.between.extend(block.between);
        self.incomplete |= block.incomplete;
    }
}

/// Racing reads, as found by the second run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Racing {
    pub(super) reads: FxHashSet<ReadId>,
    /// Instructions with reads that race, or may.
    pub(super) sites: FxHashSet<Site>,
    /// Words with conflicts between blocks: sizes of accesses, and the only writing block, if there is just
    /// one.
    pub(super) extents: FxHashMap<Word, Extent>,
    pub(super) writers: FxHashMap<Word, Option<Block>>,
    /// Set if something is unsupported.
    pub(super) gave_up: bool,
}

impl Racing {
    pub(crate) fn add(&mut self, block: Self) {
        self.reads.extend(block.reads);
        self.sites.extend(block.sites);
        // In any order: only a mismatch matters.
        block.extents.into_iter().for_each(|(word, extent)| self.add_extent(word, extent));
        block.writers.into_iter().for_each(|(word, writer)| self.add_writer(word, writer));
        self.gave_up |= block.gave_up;
    }

    pub(super) fn add_extent(&mut self, word: Word, extent: Extent) {
        self.gave_up |= *self.extents.entry(word).or_insert(extent) != extent;
    }

    pub(super) fn add_writer(&mut self, word: Word, writer: Option<Block>) {
        let known = self.writers.entry(word).or_insert(writer);
        *known = known.filter(|known| Some(*known) == writer);
    }

    /// Declines if anything but an ordinary load reads; `op` returns the operation at a site.
    pub(crate) fn check_sites<'p>(&mut self, op: impl Fn(Site) -> Option<&'p Op>) {
        let is_load = |&site: &Site| matches!(op(site), Some(Op::Load(load)) if !load.non_coherent);
        self.gave_up |= !self.sites.iter().all(is_load);
    }
}

/// Reads that return poison.
#[derive(Debug, Default)]
pub(crate) struct PoisonedReads {
    pub(super) reads: FxHashSet<ReadId>,
    pub(super) sites: FxHashSet<Site>,
    /// All reads of these words, except those of the only writing block.
    pub(super) between: FxHashMap<Word, Option<Block>>,
}

/// The position of a block.
pub(super) type Block = [u32; 3];

/// Size of a value, and its offset from a multiple of that.
pub(super) type Extent = (u32, u32);

/// The number of reads of each word by each thread at each instruction.
#[derive(Debug, Default)]
pub(crate) struct Counts(FxHashMap<(Site, Word, u16), u32>);

impl Counts {
    pub(super) fn next(&mut self, site: Site, word: Word, thread: u16) -> ReadId {
        let count = self.0.entry((site, word, thread)).or_default();
        *count += 1;
        (site, word, thread, *count - 1)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The words that contain some bytes.
pub(super) fn words(area: Area, offset: i64, bytes: u32) -> impl Iterator<Item = Word> {
    let last = offset + i64::from(bytes) - 1;
    ((offset >> 2)..=(last >> 2)).map(move |word| (area, word))
}
