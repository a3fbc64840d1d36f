//! Places of matrix elements under a `wgmma` descriptor (PTX manual §9.7.15.5.1.2).
//!
//! Let w be the bytes of a swizzled row (16 if there is none) and b those of an element. Sixteen bytes at a
//! time, before swizzling:
//!
//! | | none | swizzled |
//! |---|---|---|
//! | neighbours along K: row r, chunk c | (r%8)·16 + (r/8)·SBO + c·LBO | (r%8)·w + (r/8)·SBO + 16c%w + (16c/w)·LBO |
//! | neighbours along M or N: eight rows from 8g on, column k | g·SBO + (k%8)·16 + (k/8)·LBO | (8g·b)%w + (8g·b/w)·LBO + (k%8)·w + (k/8)·SBO |
//!
//! A swizzle then changes the address a to a XOR ((((a>>7) − base offset) mod w/16) << 4). Recorded on an
//! H200 for both orders, all swizzles, odd strides and base offsets, and rows along K longer than w (B of a
//! sparse product).

use rustc_hash::FxHashMap;
use std::sync::Arc;
use sync::ReadUnits;

/// Bytes that are contiguous in every layout.
pub(crate) const CHUNK: u32 = 16;

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tile {
    /// The number of the shared variable.
    pub(crate) variable: usize,
    /// Its start after a multiple of 1024 bytes, or of its alignment.
    pub(crate) lead: u64,
    /// The start of the matrix, as an offset in the variable.
    pub(crate) start: u64,
    /// The leading dimension byte offset (LBO).
    pub(crate) leading: u64,
    /// The stride dimension byte offset (SBO).
    pub(crate) stride: u64,
    /// The base offset of the swizzle.
    pub(crate) base_offset: u64,
    /// Bytes of a swizzled row; 16 for none.
    pub(crate) row: u64,
    /// Set if neighbours in memory are neighbours along M or N.
    pub(crate) transposed: bool,
}

/// A range of rows of a matrix, with the number of bytes along K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TileRows {
    pub(crate) tile: Tile,
    pub(crate) first: u64,
    pub(crate) rows: u64,
    pub(crate) k_bytes: u64,
}

/// The byte offsets of a range of rows.
#[derive(Debug)]
pub(crate) struct Places {
    /// The chunks: by rows and then along K, or by groups of eight rows and then along K.
    pub(crate) chunks: Vec<u64>,
    /// Merged byte ranges, ascending.
    pub(crate) ranges: Vec<(i64, u32)>,
    /// The smallest byte range around all chunks.
    pub(crate) span: (i64, u32),
    /// The ranges as a set.
    pub(crate) units: ReadUnits,
}

impl Tile {
    fn swizzled(&self, at: u64) -> u64 {
        let at = at + self.lead;
        let swizzle = (at >> 7).wrapping_sub(self.base_offset) & (self.row / 16 - 1);
        (at ^ swizzle << 4) - self.lead
    }

    /// The offset in the variable of 16 bytes of row `row`: chunk `chunk` along K.
    fn along_k(&self, row: u64, chunk: u64) -> u64 {
        let inner = 16 * chunk;
        let along = inner % self.row + inner / self.row * self.leading;
        let at = row % 8 * self.row + row / 8 * self.stride + along;
        self.swizzled(self.start + at)
    }

    /// The offset of eight two-byte elements in column `k`: rows from 8·`group` on.
    fn across_k(&self, group: u64, k: u64) -> u64 {
        let at = match self.row {
            16 => group * self.stride + k % 8 * 16 + k / 8 * self.leading,
            row => {
                let bytes = 16 * group;
                bytes % row + bytes / row * self.leading + k % 8 * row + k / 8 * self.stride
            }
        };
        self.swizzled(self.start + at)
    }
}

impl TileRows {
    fn chunks(&self) -> Vec<u64> {
        let Self { tile, first, rows, k_bytes } = *self;
        match tile.transposed {
            false => (first..first + rows)
                .flat_map(|row| (0..k_bytes / 16).map(move |chunk| tile.along_k(row, chunk)))
                .collect(),
            true => (first / 8..(first + rows) / 8)
                .flat_map(|group| (0..k_bytes / 2).map(move |k| tile.across_k(group, k)))
                .collect(),
        }
    }

    fn places(&self) -> Places {
        let chunks = self.chunks();
        let mut sorted = chunks.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let mut ranges: Vec<(i64, u32)> = Vec::new();
        for start in sorted.into_iter().map(u64::cast_signed) {
            match ranges.last_mut() {
                Some(last) if last.0 + i64::from(last.1) == start => last.1 += CHUNK,
                _ => ranges.push((start, CHUNK)),
            }
        }
        let (first, last) = (ranges.first().copied(), ranges.last().copied());
        let start = first.map_or(0, |range| range.0);
        let end = last.map_or(0, |range| range.0 + i64::from(range.1));
        let units = ReadUnits::new(&ranges);
        Places { chunks, ranges, span: (start, (end - start) as u32), units }
    }
}

/// The kind of bytes at the places of a factor, and the changes of its memory until then.
#[derive(Debug)]
pub(crate) struct KnownContents {
    pub(crate) changes: u64,
    pub(crate) places: Arc<Places>,
    pub(crate) kind: Contents,
}

/// Cached byte offsets of parts: warps and loop iterations use the same parts repeatedly.
#[derive(Debug, Default)]
pub(crate) struct TileCache {
    known: FxHashMap<TileRows, Arc<Places>>,
    /// The kinds of bytes in factors, by variable and span, each with the number of changes before.
    pub(crate) contents: FxHashMap<(usize, (i64, u32)), KnownContents>,
}

/// The kind of bytes in a factor, in a run that neither simulates nor has a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Numbers only.
    Numbers,
    /// Plain unknown data, possibly with numbers.
    Data,
    /// Anything else among them.
    Mixed,
}

impl TileCache {
    /// The largest number of cached parts.
    const MAX_PARTS: usize = 1 << 12;

    /// Returns the places of a part.
    pub(crate) fn places(&mut self, part: &TileRows) -> Arc<Places> {
        if let Some(known) = self.known.get(part) {
            return Arc::clone(known);
        }
        if self.known.len() >= Self::MAX_PARTS {
            self.known.clear();
        }
        let places = Arc::new(part.places());
        self.known.insert(*part, Arc::clone(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(row: u64, transposed: bool) -> TileRows {
        let tile = Tile {
            variable: 0,
            lead: 0,
            start: 0,
            leading: 2048,
            stride: 8 * row,
            base_offset: 0,
            row,
            transposed,
        };
        TileRows { tile, first: 0, rows: 64, k_bytes: 32 }
    }

    /// Chunks do not overlap under any swizzle.
    #[test]
    fn every_chunk_has_a_place_of_its_own() {
        for (row, transposed) in [(16, false), (32, false), (64, false), (128, false), (128, true)]
        {
            let places = part(row, transposed).places();
            let covered: u32 = places.ranges.iter().map(|range| range.1).sum();
            assert_eq!(covered as usize, 16 * places.chunks.len(), "{row} {transposed}");
            assert_eq!(places.chunks.len(), 128);
        }
    }

    /// Row 3 of a 128-byte swizzle: its chunks are exchanged by 3.
    #[test]
    fn a_swizzle_exchanges_chunks_of_a_row() {
        let places = part(128, false).places();
        assert_eq!(places.chunks[2 * 3], 3 * 128 + 3 * 16);
        assert_eq!(places.chunks[2 * 3 + 1], 3 * 128 + 2 * 16);
        let tile = Tile { base_offset: 1, ..part(128, false).tile };
        assert_eq!(tile.along_k(3, 0), 3 * 128 + 2 * 16);
    }
}
