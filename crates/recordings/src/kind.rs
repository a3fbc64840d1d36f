//! The meaning of a case's input, which decides the numbers worth trying.

use crate::layout::Layout;

/// The meaning of an input for the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Bits or an integer, in the low bits of the register. Bits above it are random.
    Integer {
        /// The number of bits.
        bits: u32,
    },
    /// A divisor: an integer other than zero, because dividing by zero is unspecified.
    NonZero {
        /// The number of bits.
        bits: u32,
    },
    /// Two 16-bit integers.
    IntegerPair,
    /// A floating-point number.
    Float(Layout),
    /// Two floating-point numbers.
    FloatPair(Layout),
    /// A register full of floating-point numbers, for a matrix: small integers, or numbers of a
    /// similar size.
    Pack(Layout),
    /// A register full of integers, for a matrix: any bits.
    Bits,
    /// Metadata of a sparse matrix: four bits that select one of two elements, or two of four.
    Metadata {
        /// The number of selected elements.
        chosen: u32,
    },
    /// A predicate.
    Predicate,
    /// A distance, position or length in bits.
    Amount,
    /// A lane, below 32.
    Lane,
    /// Member mask of a warp instruction: two complementary masks in a warp, each lane in its own.
    Mask,
    /// Operand `b` of a shuffle.
    ShuffleLane,
    /// Operand `c` of a shuffle: clamp and segment mask.
    ShuffleControl,
    /// A predicate that a warp often agrees on.
    WarpPredicate,
    /// An integer that is often equal in many lanes.
    WarpValue {
        /// The number of bits.
        bits: u32,
    },
}

impl InputKind {
    /// Parses a word of a signature.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "u8" | "s8" | "b8" => Self::Integer { bits: 8 },
            "u16" | "s16" | "b16" => Self::Integer { bits: 16 },
            "u32" | "s32" | "b32" => Self::Integer { bits: 32 },
            "u64" | "s64" | "b64" => Self::Integer { bits: 64 },
            "u16x2" | "s16x2" => Self::IntegerPair,
            "nonzero16" => Self::NonZero { bits: 16 },
            "nonzero32" => Self::NonZero { bits: 32 },
            "nonzero64" => Self::NonZero { bits: 64 },
            "f16" => Self::Float(Layout::F16),
            "bf16" => Self::Float(Layout::BF16),
            "f32" => Self::Float(Layout::F32),
            "f64" => Self::Float(Layout::F64),
            "f16x2" => Self::FloatPair(Layout::F16),
            "bf16x2" => Self::FloatPair(Layout::BF16),
            "e4m3x2" => Self::FloatPair(Layout::E4M3),
            "e5m2x2" => Self::FloatPair(Layout::E5M2),
            "pack_f64" => Self::Pack(Layout::F64),
            // A product ignores the low bits of a tf32, so any single-precision number serves as one.
            "pack_f32" | "pack_tf32" => Self::Pack(Layout::F32),
            "pack_f16" => Self::Pack(Layout::F16),
            "pack_bf16" => Self::Pack(Layout::BF16),
            "pack_e4m3" => Self::Pack(Layout::E4M3),
            "pack_e5m2" => Self::Pack(Layout::E5M2),
            "bits32" => Self::Bits,
            "metadata1" => Self::Metadata { chosen: 1 },
            "metadata2" => Self::Metadata { chosen: 2 },
            "pred" => Self::Predicate,
            "amount" => Self::Amount,
            "lane" => Self::Lane,
            "mask" => Self::Mask,
            "shuffle_lane" => Self::ShuffleLane,
            "shuffle_control" => Self::ShuffleControl,
            "warp_pred" => Self::WarpPredicate,
            "warp_b32" => Self::WarpValue { bits: 32 },
            "warp_b64" => Self::WarpValue { bits: 64 },
            _ => return None,
        })
    }

    /// The number of significant bits of the register.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Predicate | Self::WarpPredicate => 1,
            Self::Integer { bits } | Self::NonZero { bits } | Self::WarpValue { bits } => bits,
            Self::Float(layout) => layout.bits(),
            Self::FloatPair(layout) => 2 * layout.bits(),
            Self::Pack(layout) => layout.bits().max(32),
            Self::IntegerPair
            | Self::Bits
            | Self::Metadata { .. }
            | Self::Amount
            | Self::Lane
            | Self::Mask
            | Self::ShuffleLane
            | Self::ShuffleControl => 32,
        }
    }

    /// Returns `true` for a register of a matrix instruction, drawn by `sample::matrix`.
    pub(crate) fn is_of_matrix(self) -> bool {
        matches!(self, Self::Pack(_) | Self::Bits | Self::Metadata { .. })
    }

    /// Returns `true` if the values of a warp's lanes depend on each other; `warp.rs` draws them together.
    pub(crate) fn is_of_warp(self) -> bool {
        matches!(
            self,
            Self::Mask
                | Self::ShuffleLane
                | Self::ShuffleControl
                | Self::WarpPredicate
                | Self::WarpValue { .. }
        )
    }
}
