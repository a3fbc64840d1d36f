//! Words at which reads race, the reads that do, and how they are counted.

use crate::address::Area;
use ir::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use sync::Site;

/// Four bytes of an allocation.
pub(crate) type Word = (Area, i64);

/// A read: the instruction, the word, the thread in its block, and how many times that thread has read the word there
/// before.
pub(super) type Read = (Site, Word, u16, u32);

/// Where reads conflict with writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suspects {
    /// In a block.
    pub(crate) words: FxHashSet<Word>,
    /// Between blocks.
    pub(crate) between: FxHashSet<Word>,
    /// There are more.
    pub(crate) incomplete: bool,
}

impl Suspects {
    pub(crate) fn add(&mut self, block: Self) {
        self.words.extend(block.words);
        self.between.extend(block.between);
        self.incomplete |= block.incomplete;
    }
}

/// Reads that race, as the second run finds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Racing {
    pub(super) reads: FxHashSet<Read>,
    /// Instructions whose reads race, or may.
    pub(super) sites: FxHashSet<Site>,
    /// Words that blocks conflict at: sizes of accesses, and the block that writes, if it is one alone.
    pub(super) extents: FxHashMap<Word, Extent>,
    pub(super) writers: FxHashMap<Word, Option<Block>>,
    /// Something cannot be followed.
    pub(super) refused: bool,
}

impl Racing {
    pub(crate) fn add(&mut self, block: Self) {
        self.reads.extend(block.reads);
        self.sites.extend(block.sites);
        // In any order: that two differ does not depend on which comes first.
        block.extents.into_iter().for_each(|(word, extent)| self.add_extent(word, extent));
        block.writers.into_iter().for_each(|(word, writer)| self.add_writer(word, writer));
        self.refused |= block.refused;
    }

    pub(super) fn add_extent(&mut self, word: Word, extent: Extent) {
        self.refused |= *self.extents.entry(word).or_insert(extent) != extent;
    }

    pub(super) fn add_writer(&mut self, word: Word, writer: Option<Block>) {
        let known = self.writers.entry(word).or_insert(writer);
        *known = known.filter(|known| Some(*known) == writer);
    }

    /// Refuses if anything but an ordinary load reads; `op` is the operation at a site.
    pub(crate) fn check_sites<'p>(&mut self, op: impl Fn(Site) -> Option<&'p Op>) {
        let is_load = |&site: &Site| matches!(op(site), Some(Op::Load(load)) if !load.non_coherent);
        self.refused |= !self.sites.iter().all(is_load);
    }
}

/// Reads that give poison.
#[derive(Debug, Default)]
pub(crate) struct Distrusted {
    pub(super) reads: FxHashSet<Read>,
    pub(super) sites: FxHashSet<Site>,
    /// All reads of these words, but for those of the block that alone writes there.
    pub(super) between: FxHashMap<Word, Option<Block>>,
}

/// The position of a block.
pub(super) type Block = [u32; 3];

/// Bytes of a value, and how far from a multiple of them.
pub(super) type Extent = (u32, u32);

/// How often each thread has read each word at each instruction.
#[derive(Debug, Default)]
pub(crate) struct Counts(FxHashMap<(Site, Word, u16), u32>);

impl Counts {
    pub(super) fn next(&mut self, site: Site, word: Word, thread: u16) -> Read {
        let count = self.0.entry((site, word, thread)).or_default();
        *count += 1;
        (site, word, thread, *count - 1)
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The words that bytes are in.
pub(super) fn words(area: Area, offset: i64, bytes: u32) -> impl Iterator<Item = Word> {
    let last = offset + i64::from(bytes) - 1;
    ((offset >> 2)..=(last >> 2)).map(move |word| (area, word))
}
