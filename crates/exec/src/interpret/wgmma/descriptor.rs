//! Matrix descriptors (manual §9.7.15.5.1.2.2).
//!
//! | bits | field |
//! |---|---|
//! | 0–13 | start address, in units of 16 bytes |
//! | 16–29 | leading dimension byte offset (LBO), likewise |
//! | 32–45 | stride dimension byte offset (SBO), likewise |
//! | 49–51 | base offset |
//! | 62–63 | swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32 |
//!
//! If other bits are set, that is a gap: their meaning is unspecified. A swizzle depends on the address in the
//! window of shared memory. If a variable declares less alignment than the pattern has, the place of an element is
//! unknown, a gap as well. Dynamic shared memory is assumed to be aligned to the pattern, and the report
//! lists that.

use crate::context::Context;
use crate::encoded::Encoded;
use crate::finding::Gap;
use crate::interpret::encoded::{MAX_ALIGN_BITS, assume_alignment, placement_of};
use crate::tile::Tile;

/// Bits of a descriptor that belong to a field.
const FIELDS: u64 = 0x3fff | 0x3fff << 16 | 0x3fff << 32 | 7 << 49 | 3 << 62;

/// Decodes a descriptor to its matrix.
pub(super) fn decode(
    context: &mut Context<'_, '_>,
    encoded: Encoded,
    transposed: bool,
) -> Result<Tile, Gap> {
    let variable = encoded.variable;
    let decoded = placement_of(context, variable)
        .and_then(|placement| Some((encoded.as_descriptor(placement)?, placement.first)));
    let placed = context.machine.is_placed(variable);
    let usable =
        |align_bits: Option<u32>| align_bits.is_none_or(|one| placed && one <= MAX_ALIGN_BITS);
    let Some(((start, rest, align_bits), lead)) =
        decoded.filter(|((.., needed), _)| usable(*needed))
    else {
        return Err(context.gap(
            "a matrix descriptor does not have a shared address, a multiple of 16, in its lowest 14 bits",
        ));
    };
    assume_alignment(context, align_bits.map_or(0, |bits| 1 << bits));
    if rest & !FIELDS != 0 {
        return Err(context.gap("a matrix descriptor has bits set outside its fields"));
    }
    let tile = Tile {
        variable,
        lead,
        start: start - lead,
        leading: (rest >> 16 & 0x3fff) << 4,
        stride: (rest >> 32 & 0x3fff) << 4,
        base_offset: rest >> 49 & 7,
        row: [16, 128, 64, 32][(rest >> 62) as usize],
        transposed,
    };
    if tile.row > 16 {
        align(context, &tile)?;
    }
    Ok(tile)
}

/// Checks that the variable is aligned to the swizzle pattern.
fn align(context: &mut Context<'_, '_>, tile: &Tile) -> Result<(), Gap> {
    let pattern = 8 * tile.row;
    let Some(memory) = context.shared.get(tile.variable) else { return Ok(()) };
    let align = memory.align;
    if align >= pattern {
        return Ok(());
    }
    if context.machine.is_placed(tile.variable) && pattern <= 1 << MAX_ALIGN_BITS {
        assume_alignment(context, pattern as u32);
        return Ok(());
    }
    let name = memory.name.clone();
    Err(context.gap(format!(
        "the layout of a swizzled matrix depends on the address of `{name}`, which is aligned to {align} \
        bytes, not to {pattern}"
    )))
}
