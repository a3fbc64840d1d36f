//! Matrix descriptors and where the elements they name lie in shared memory (manual §9.7.15.5.1.2).
//!
//! | bits | field |
//! |---|---|
//! | 0–13 | start address, in units of 16 bytes |
//! | 16–29 | leading dimension byte offset (LBO), likewise |
//! | 32–45 | stride dimension byte offset (SBO), likewise |
//! | 49–51 | base offset |
//! | 62–63 | swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32 |
//!
//! Let w be the bytes of a swizzled row (16 if there is none) and b those of an element. Sixteen bytes at a time, before swizzling:
//!
//! | | none | swizzled |
//! |---|---|---|
//! | neighbours along K: row r, chunk c | (r%8)·16 + (r/8)·SBO + c·LBO | (r%8)·w + (r/8)·SBO + 16c%w + (16c/w)·LBO |
//! | neighbours along M or N: eight rows from 8g on, column k | g·SBO + (k%8)·16 + (k/8)·LBO | (8g·b)%w + (8g·b/w)·LBO + (k%8)·w + (k/8)·SBO |
//!
//! A swizzle then changes the address a to a XOR ((((a>>7) − base offset) mod w/16) << 4). The address is that in the window of
//! shared memory: where a variable promises less alignment than the pattern has, the place of an element is not known, which is a gap;
//! dynamic shared memory is taken to be aligned to it, which the report lists. Recorded on an H200 for both orders, all swizzles,
//! odd strides and base offsets; rows along K that are longer than w (a sparse product's B) are the manual's. Bits of no field are taken for a gap: nobody says what they do.

use crate::context::Context;
use crate::encoded::Encoded;
use crate::finding::Gap;
use crate::interpret::encoded::{MOST_ALIGN_BITS, assume, home};

/// Bits of a descriptor that belong to a field.
const FIELDS: u64 = 0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 49 | 3 << 62;

/// A matrix in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tile {
    /// The number of the shared variable.
    pub(super) variable: usize,
    /// The start, as an offset in it.
    start: u64,
    leading: u64,
    stride: u64,
    base_offset: u64,
    /// Bytes of a swizzled row; 16 for none.
    row: u64,
    /// Neighbours in memory are neighbours along M or N.
    transposed: bool,
}

impl Tile {
    /// The matrix that a descriptor names.
    pub(super) fn decode(
        context: &mut Context<'_, '_>,
        encoded: Encoded,
        transposed: bool,
    ) -> Result<Self, Gap> {
        let variable = encoded.variable;
        let Some((start, rest)) =
            home(context, variable).and_then(|home| encoded.as_descriptor(home))
        else {
            return Err(context.gap(
                "a matrix descriptor does not have a shared address, a multiple of 16, in its lowest 14 bits",
            ));
        };
        if rest & !FIELDS != 0 {
            return Err(context.gap("a matrix descriptor has bits that belong to no field"));
        }
        let row = [16, 128, 64, 32][(rest >> 62) as usize];
        let tile = Self {
            variable,
            start,
            leading: (rest >> 16 & 0x3fff) << 4,
            stride: (rest >> 32 & 0x3fff) << 4,
            base_offset: rest >> 49 & 7,
            row,
            transposed,
        };
        if row > 16 {
            tile.align(context)?;
        }
        Ok(tile)
    }

    /// Checks that the pattern of the swizzle is where the offsets in the variable say.
    fn align(&self, context: &mut Context<'_, '_>) -> Result<(), Gap> {
        let pattern = 8 * self.row;
        let Some(memory) = context.shared.get(self.variable) else { return Ok(()) };
        let (align, name) = (memory.align, memory.name.clone());
        if align >= pattern {
            return Ok(());
        }
        if context.machine.is_only_dynamic(self.variable) && pattern <= 1 << MOST_ALIGN_BITS {
            assume(context, pattern as u32);
            return Ok(());
        }
        Err(context.gap(format!(
            "where a swizzled matrix lies depends on the address of `{name}`, which is aligned to {align} bytes and not to {pattern}"
        )))
    }

    fn swizzled(&self, at: u64) -> u64 {
        let turn = (at >> 7).wrapping_sub(self.base_offset) & (self.row / 16 - 1);
        at ^ turn << 4
    }

    /// Where 16 bytes of row `row` are, as an offset in the variable: chunk `chunk` along K.
    fn along_k(&self, row: u64, chunk: u64) -> u64 {
        let inner = 16 * chunk;
        let along = inner % self.row + inner / self.row * self.leading;
        let at = row % 8 * self.row + row / 8 * self.stride + along;
        self.swizzled(self.start + at)
    }

    /// Where eight elements of two bytes in column `k` are: rows from 8·`group` on.
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

    /// The places of all chunks of 16 bytes of some rows, a multiple of eight, of which K takes so many bytes: by rows and then
    /// along K, or by groups of eight rows and then along K.
    pub(super) fn chunks(&self, first: u64, rows: u64, k_bytes: u64) -> Vec<u64> {
        match self.transposed {
            false => (first..first + rows)
                .flat_map(|row| (0..k_bytes / 16).map(move |chunk| self.along_k(row, chunk)))
                .collect(),
            true => (first / 8..(first + rows) / 8)
                .flat_map(|group| (0..k_bytes / 2).map(move |k| self.across_k(group, k)))
                .collect(),
        }
    }

    /// Whether neighbours in memory are neighbours along M or N.
    pub(super) fn is_transposed(&self) -> bool {
        self.transposed
    }
}
