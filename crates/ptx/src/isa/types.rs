//! Types used as modifiers of instructions (manual §5.2).

use ir::{Format, Scalar, Width};

/// A fundamental or packed type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// `.pred`
    Pred,
    /// `.b8` … `.b128`
    Bits(Width),
    /// `.u8` … `.u64`
    Unsigned(Width),
    /// `.s8` … `.s64`
    Signed(Width),
    /// `.f16`, `.bf16`, `.tf32`, `.f32`, `.f64`, `.e4m3`, `.e5m2`
    Float(Format),
    /// Two floats in one register: `.f16x2`, `.bf16x2`, `.f32x2`, `.e4m3x2`, `.e5m2x2`
    FloatPair(Format),
    /// Two 16-bit integers in one register: `.u16x2`, `.s16x2`
    IntPair {
        /// Set if they are in two's complement.
        signed: bool,
    },
}

/// The types of the manual under their own names.
impl Type {
    pub(crate) const B8: Self = Self::Bits(Width::B8);
    pub(crate) const B16: Self = Self::Bits(Width::B16);
    pub(crate) const B32: Self = Self::Bits(Width::B32);
    pub(crate) const B64: Self = Self::Bits(Width::B64);
    pub(crate) const B128: Self = Self::Bits(Width::B128);
    pub(crate) const U8: Self = Self::Unsigned(Width::B8);
    pub(crate) const U16: Self = Self::Unsigned(Width::B16);
    pub(crate) const U32: Self = Self::Unsigned(Width::B32);
    pub(crate) const U64: Self = Self::Unsigned(Width::B64);
    pub(crate) const S8: Self = Self::Signed(Width::B8);
    pub(crate) const S16: Self = Self::Signed(Width::B16);
    pub(crate) const S32: Self = Self::Signed(Width::B32);
    pub(crate) const S64: Self = Self::Signed(Width::B64);
    pub(crate) const F16: Self = Self::Float(Format::F16);
    pub(crate) const BF16: Self = Self::Float(Format::Bf16);
    pub(crate) const TF32: Self = Self::Float(Format::Tf32);
    pub(crate) const F32: Self = Self::Float(Format::F32);
    pub(crate) const F64: Self = Self::Float(Format::F64);
    pub(crate) const F16X2: Self = Self::FloatPair(Format::F16);
    pub(crate) const BF16X2: Self = Self::FloatPair(Format::Bf16);
    pub(crate) const F32X2: Self = Self::FloatPair(Format::F32);
    pub(crate) const U16X2: Self = Self::IntPair { signed: false };
    pub(crate) const S16X2: Self = Self::IntPair { signed: true };
}

impl Type {
    /// Returns the type named by a modifier or declaration, without its dot.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "pred" => Self::Pred,
            "b8" => Self::B8,
            "b16" => Self::B16,
            "b32" => Self::B32,
            "b64" => Self::B64,
            "b128" => Self::B128,
            "u8" => Self::U8,
            "u16" => Self::U16,
            "u32" => Self::U32,
            "u64" => Self::U64,
            "s8" => Self::S8,
            "s16" => Self::S16,
            "s32" => Self::S32,
            "s64" => Self::S64,
            "f16" => Self::F16,
            "bf16" => Self::BF16,
            "tf32" => Self::TF32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "e4m3" => Self::Float(Format::E4m3),
            "e5m2" => Self::Float(Format::E5m2),
            "f16x2" => Self::F16X2,
            "bf16x2" => Self::BF16X2,
            "f32x2" => Self::F32X2,
            "e4m3x2" => Self::FloatPair(Format::E4m3),
            "e5m2x2" => Self::FloatPair(Format::E5m2),
            "u16x2" => Self::U16X2,
            "s16x2" => Self::S16X2,
            _ => return None,
        })
    }

    /// Returns the register or memory a value of this type fills.
    pub(crate) fn width(self) -> Width {
        match self {
            Self::Pred => Width::B1,
            Self::Bits(width) | Self::Unsigned(width) | Self::Signed(width) => width,
            Self::Float(format) => format.width(),
            Self::FloatPair(Format::F64 | Format::F32 | Format::Tf32) => Width::B64,
            Self::FloatPair(Format::F16 | Format::Bf16) | Self::IntPair { .. } => Width::B32,
            Self::FloatPair(Format::E4m3 | Format::E5m2) => Width::B16,
        }
    }

    /// Returns `true` if the type is in two's complement.
    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::Signed(_) | Self::IntPair { signed: true })
    }

    /// Returns the type of one number; `None` for bits, predicates and pairs.
    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self {
            Self::Unsigned(width) => Some(Scalar::Integer { width, signed: false }),
            Self::Signed(width) => Some(Scalar::Integer { width, signed: true }),
            Self::Float(format) => Some(Scalar::Float(format)),
            Self::Pred | Self::Bits(_) | Self::FloatPair(_) | Self::IntPair { .. } => None,
        }
    }

    /// Format and number of lanes of a floating-point type.
    pub(crate) fn float(self) -> Option<(Format, u8)> {
        match self {
            Self::Float(format) => Some((format, 1)),
            Self::FloatPair(format) => Some((format, 2)),
            Self::Pred | Self::Bits(_) | Self::Unsigned(_) | Self::Signed(_) => None,
            Self::IntPair { .. } => None,
        }
    }
}
