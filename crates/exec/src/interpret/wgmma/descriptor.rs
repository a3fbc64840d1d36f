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
//! Other bits are a gap: their meaning is unspecified. A swizzle depends on the address in the window of
//! shared memory. If a variable declares less alignment than the pattern has, the place of an element is
//! unknown, a gap as well. Dynamic shared memory is assumed to be aligned to the pattern, and the report
//! lists that.

use crate::context::Context;
use crate::encoded::Encoded;
use crate::finding::Gap;
use crate::interpret::encoded::{MOST_ALIGN_BITS, assume, home};
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
    let made =
        home(context, variable).and_then(|home| Some((encoded.as_descriptor(home)?, home.first)));
    let Some(((start, rest), lead)) = made else {
        return Err(context.gap(
            "a matrix descriptor does not have a shared address, a multiple of 16, in its lowest 14 bits",
        ));
    };
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
    if context.machine.is_placed(tile.variable) && pattern <= 1 << MOST_ALIGN_BITS {
        assume(context, pattern as u32);
        return Ok(());
    }
    let name = memory.name.clone();
    Err(context.gap(format!(
        "the layout of a swizzled matrix depends on the address of `{name}`, which is aligned to {align} \
        bytes, not to {pattern}"
    )))
}
