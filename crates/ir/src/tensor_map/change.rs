//! `tensormap.replace` (manual §9.7.9.28): the bits of each field in a map's 128 bytes, as an H200 writes them
//! (`crates/driver/tests/hopper`, recorded field by field). A value that was not recorded is refused.

use crate::Width;

/// A field of a tensor map that a kernel replaces. Dimensions are numbered from the innermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum MapField {
    GlobalAddress,
    Rank,
    BoxDim(u8),
    GlobalDim(u8),
    /// Counted from dimension 1.
    GlobalStride(u8),
    ElementStride(u8),
    ElementType,
    InterleaveLayout,
    SwizzleMode,
    FillMode,
}

/// A change of some bits of one of the sixteen words of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapEdit {
    /// Number of the word.
    pub word: usize,
    /// Bits that change.
    pub mask: u64,
    /// Their new values.
    pub bits: u64,
}

/// A change of some bits of a word of 32 bits.
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

    /// Returns the changes made by a value; `None` if the value is unknown for the field. The address of the tensor
    /// is word 0 as a whole.
    #[must_use]
    pub fn edits(self, value: u64) -> Option<Vec<MapEdit>> {
        let one_less = |most: u64| (1..=most).contains(&value).then(|| value.wrapping_sub(1));
        let up_to = |most: u64| (value <= most).then_some(value);
        Some(match self {
            Self::GlobalAddress => vec![MapEdit { word: 0, mask: u64::MAX, bits: value }],
            Self::Rank => vec![edit(2, 4, 3, up_to(4)?)],
            Self::BoxDim(0) => vec![edit(13, 24, 8, one_less(256)?)],
            Self::BoxDim(at) => vec![edit(14, 8 * (u32::from(at) - 1), 8, one_less(256)?)],
            Self::GlobalDim(at) => {
                vec![edit(8 + usize::from(at), 0, 32, one_less(u32::MAX.into())?)]
            }
            Self::GlobalStride(at) => {
                let stride = up_to((1 << 40) - 1)? >> 4;
                let upper = edit(7, 4 * u32::from(at), 4, stride >> 32);
                vec![edit(3 + usize::from(at), 0, 32, stride), upper]
            }
            Self::ElementStride(at) => vec![edit(13, 3 * u32::from(at), 3, one_less(8)?)],
            Self::ElementType => {
                // The last two are f32 with an additional bit, which the others leave as it is.
                let value = up_to(12)?;
                match value {
                    0..11 => vec![edit(2, 7, 4, value)],
                    _ => vec![edit(2, 7, 4, value - 4), edit(2, 16, 1, 1)],
                }
            }
            Self::InterleaveLayout => vec![edit(2, 11, 2, up_to(2)?)],
            Self::SwizzleMode => vec![edit(2, 13, 2, up_to(3)?), edit(2, 22, 1, 0)],
            Self::FillMode => vec![edit(2, 15, 1, up_to(1)?)],
        })
    }
}
