//! Widths of registers.

/// The width of a register or of an operation on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// A predicate.
    B1,
    /// A byte; PTX has no byte registers, but unpacking makes bytes.
    B8,
    /// 16 bits.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// 128 bits: moved and split, never computed with.
    B128,
}

impl Width {
    /// The number of bits.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u32 {
        match self {
            Self::B1 => 1,
            Self::B8 => 8,
            Self::B16 => 16,
            Self::B32 => 32,
            Self::B64 => 64,
            Self::B128 => 128,
        }
    }

    /// The number of bytes a value takes in memory.
    #[must_use]
    #[inline]
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// The width with this many bits, if there is one.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        Some(match bits {
            1 => Self::B1,
            8 => Self::B8,
            16 => Self::B16,
            32 => Self::B32,
            64 => Self::B64,
            128 => Self::B128,
            _ => return None,
        })
    }

    /// All ones in the low bits; for 128 bits, the 64 bits that a constant can have.
    #[must_use]
    #[inline]
    pub const fn mask(self) -> u64 {
        match self {
            Self::B64 | Self::B128 => u64::MAX,
            narrow => (1 << narrow.bits()) - 1,
        }
    }
}

impl std::fmt::Display for Width {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b{}", self.bits())
    }
}
