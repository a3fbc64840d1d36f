//! `tensormap.replace` (manual §9.7.9.28): the bits of each field in a map's 128 bytes, as an H200 writes them. They
//! were recorded field by field (`crates/driver/tests/hopper`); a value beyond the recordings is refused.

use crate::Width;

/// A field of a tensor map that a kernel replaces. Dimensions are numbered from the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum MapField {
    GlobalAddress,
    Rank,
    BoxDim(u8),
    GlobalDim(u8),
    /// Number 0 is the stride of dimension 1; dimension 0 is contiguous.
    GlobalStride(u8),
    ElementStride(u8),
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    FillMode,
}

/// A change of some bits in one of the map's sixteen 64-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapEdit {
    /// The 64-bit word.
    pub word: usize,
    /// The bits that change.
    pub mask: u64,
    /// Their new values.
    pub bits: u64,
}

/// Sets `count` bits, from bit `low` on, of one of the map's 32-bit words.
fn edit(word: usize, low: u32, count: u32, value: u64) -> MapEdit {
    let shift = low + if word.is_multiple_of(2) { 0 } else { 32 };
    let ones = (1_u64 << count) - 1;
    MapEdit { word: word / 2, mask: ones << shift, bits: (value & ones) << shift }
}

impl MapField {
    /// Returns the width of a value.
    #[must_use]
    pub const fn width(self) -> Width {
        match self {
            Self::GlobalAddress | Self::GlobalStride(_) => Width::B64,
            _ => Width::B32,
        }
    }

    /// Returns the bits that change if the field is set to `value`; `None` for a value that was not recorded.
    #[must_use]
    pub fn edits(self, value: u64) -> Option<Vec<MapEdit>> {
        let one_less = |most: u64| (1..=most).contains(&value).then(|| value.wrapping_sub(1));
        let up_to = |most: u64| (value <= most).then_some(value);
        Some(match self {
            Self::GlobalAddress => vec![MapEdit { word: 0, mask: u64::MAX, bits: value }],
            // The operand is the rank minus 1 already; sizes and steps come as they are and are stored minus 1.
            Self::Rank => vec![edit(2, 4, 3, up_to(4)?)],
            Self::BoxDim(0) => vec![edit(13, 24, 8, one_less(256)?)],
            Self::BoxDim(at) => vec![edit(14, 8 * (u32::from(at) - 1), 8, one_less(256)?)],
            Self::GlobalDim(at) => {
                vec![edit(8 + usize::from(at), 0, 32, one_less(u32::MAX.into())?)]
            }
            Self::GlobalStride(at) => {
                // Stored in units of 16 bytes: 32 bits in a word of its own, and the 4 upper bits in word 7.
                let stride = up_to((1 << 40) - 1)? >> 4;
                let upper = edit(7, 4 * u32::from(at), 4, stride >> 32);
                vec![edit(3 + usize::from(at), 0, 32, stride), upper]
            }
            Self::ElementStride(at) => vec![edit(13, 3 * u32::from(at), 3, one_less(8)?)],
            Self::ElementType => {
                // tf32 and tf32.ftz (11, 12) are stored as f32 and f32.ftz (7, 8) with bit 16 set. The other types
                // leave that bit as it is.
                let value = up_to(12)?;
                match value {
                    0..11 => vec![edit(2, 7, 4, value)],
                    _ => vec![edit(2, 7, 4, value - 4), edit(2, 16, 1, 1)],
                }
            }
            Self::InterleaveLayout => vec![edit(2, 11, 2, up_to(2)?)],
            // Every swizzle mode clears bit 22 as well.
            Self::SwizzleMode => vec![edit(2, 13, 2, up_to(3)?), edit(2, 22, 1, 0)],
            Self::FillMode => vec![edit(2, 15, 1, up_to(1)?)],
        })
    }
}
