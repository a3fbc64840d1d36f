//! Reads a factor of a product from shared memory, sixteen bytes at a time, as words of pretended registers.

use super::descriptor::Tile;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Gap};
use crate::interpret::access::{locate, mark, read_element};
use crate::interpret::matrix::factors::Sources;
use crate::interpret::matrix::fragment::{Spread, across_k, along_k};
use crate::lanes::{Mask, WARP};
use crate::memory::{Allocation, state};
use crate::tags::{Source, Tags};
use ir::Element;

/// Bytes of a chunk.
const CHUNK: u32 = 16;

/// A factor in shared memory.
pub(super) struct SharedFactor {
    tile: Tile,
    /// Where its chunks are.
    chunks: Vec<u64>,
    rows: u64,
    /// Bytes of a row along K.
    k_bytes: u64,
}

impl SharedFactor {
    /// Some rows of a matrix, or columns of B; K takes so many bytes.
    pub(super) fn new(tile: Tile, first: u64, rows: u64, k_bytes: u64) -> Self {
        Self { tile, chunks: tile.chunks(first, rows, k_bytes), rows, k_bytes }
    }

    /// Where it is.
    pub(super) fn area(&self) -> Area {
        Area::Shared(self.tile.variable)
    }

    /// Ranges of bytes that it covers, ascending, neighbours made one.
    pub(super) fn ranges(&self) -> Vec<(i64, u32)> {
        let mut sorted = self.chunks.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let mut merged: Vec<(i64, u32)> = Vec::new();
        for start in sorted.into_iter().map(u64::cast_signed) {
            match merged.last_mut() {
                Some(last) if last.0 + i64::from(last.1) == start => last.1 += CHUNK,
                _ => merged.push((start, CHUNK)),
            }
        }
        merged
    }

    /// Checks that all of it is in its variable.
    pub(super) fn check(
        &self,
        context: &mut Context<'_, '_>,
        ranges: &[(i64, u32)],
    ) -> Result<(), Gap> {
        for &(offset, bytes) in ranges {
            let pointer = Pointer { area: self.area(), offset };
            if locate(context, pointer, 0, (bytes, 1), AccessKind::Read).is_none() {
                return Err(context.gap("what a product outside its memory reads is not defined"));
            }
        }
        Ok(())
    }

    /// Which element is in which word.
    pub(super) fn spread(&self, element: Element) -> Spread {
        match self.tile.is_transposed() {
            false => along_k(self.k_bytes as usize / 4, self.rows as usize, element),
            true => across_k(self.k_bytes as usize / 2, self.rows as usize),
        }
    }

    /// How many pretended registers its words are.
    pub(super) fn registers(&self) -> usize {
        (self.rows * self.k_bytes) as usize / (4 * WARP)
    }

    /// Tells whether all of it is data of which nothing but the value is unknown, at least in part.
    pub(super) fn is_opaque(&self, context: &Context<'_, '_>, ranges: &[(i64, u32)]) -> bool {
        let Some(memory) = context.shared.get(self.tile.variable) else { return false };
        let mut opaque = false;
        for &(start, bytes) in ranges {
            let states = &memory.states[start as usize..start as usize + bytes as usize];
            let mut worst = 0;
            let mut any = false;
            for &state in states {
                worst = worst.max(state);
                any |= state == state::OPAQUE;
            }
            if worst > state::DEFINED {
                return false;
            }
            opaque |= any;
        }
        opaque
    }

    /// Tells whether all of it is numbers.
    pub(super) fn is_defined(&self, context: &Context<'_, '_>, ranges: &[(i64, u32)]) -> bool {
        let Some(memory) = context.shared.get(self.tile.variable) else { return false };
        ranges.iter().all(|&(start, bytes)| {
            let states = &memory.states[start as usize..start as usize + bytes as usize];
            states.iter().all(|&state| state == state::DEFINED)
        })
    }

    /// The memory that it is in.
    pub(super) fn memory<'c>(
        &self,
        context: &'c mut Context<'_, '_>,
    ) -> Option<&'c mut Allocation> {
        context.shared.get_mut(self.tile.variable)
    }

    /// Its words, register by pretended register.
    pub(super) fn read(&self, context: &mut Context<'_, '_>) -> Sources {
        (0..self.registers())
            .map(|register| {
                let mut values = [0; WARP];
                let mut tags = Tags::NUMBER;
                for lane in 0..WARP {
                    let (mut low, mut unused) = ([0; WARP], [0; WARP]);
                    let at = Some(Some(self.place(register * WARP + lane) as usize));
                    let word =
                        read_element(context, self.area(), lane, at, 4, [&mut low, &mut unused]);
                    values[lane] = low[lane];
                    mark(&mut tags, lane, word, context.place, false);
                }
                (values, tags)
            })
            .collect()
    }

    /// Where a word is.
    fn place(&self, word: usize) -> u64 {
        match self.tile.is_transposed() {
            false => self.chunks[word / 4] + 4 * (word % 4) as u64,
            true => {
                // Words go along K first, and chunks have eight rows: four words that lie one row of words apart.
                let k = self.k_bytes as usize / 2;
                let (pair, column) = (word / k, word % k);
                self.chunks[pair / 4 * k + column] + 4 * (pair % 4) as u64
            }
        }
    }
}

/// Stands for a factor of which nothing is known.
pub(super) fn unknown() -> Sources {
    vec![([0; WARP], Tags::unknown(Mask::ALL, Source::Data))]
}
