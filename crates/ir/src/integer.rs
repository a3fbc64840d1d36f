//! Operations on integers and bit patterns (PTX manual §9.7.1, §9.7.2 and §9.7.8).
//!
//! All arithmetic is modulo 2^w unless an operation says otherwise. "Signed" selects two's complement if it makes a
//! difference.

/// An operation with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntUnary {
    /// Bitwise complement; of a predicate, logical not.
    Not,
    /// Two's complement.
    Negate,
    /// Magnitude of a signed number; the most negative number is its own.
    Abs,
    /// Number of ones; the result is 32 bits wide.
    PopulationCount,
    /// Number of zeros above the highest one; the result is 32 bits wide.
    CountLeadingZeros,
    /// Bits in reverse order.
    Reverse,
    /// Position of the highest bit that differs from the sign (signed) or is one (unsigned), or all ones if there is
    /// none; the result is 32 bits wide. With `shift_amount`, the distance of the left shift that brings that bit to
    /// the top.
    FindHighest {
        /// Look for a bit that differs from the sign.
        signed: bool,
        /// Count from the top.
        shift_amount: bool,
    },
}

/// Two integers in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "`signed` selects two's complement throughout")]
pub enum IntBinary {
    Add,
    Sub,
    /// The low half of the product.
    Mul,
    /// The high half of the product.
    MulHigh {
        signed: bool,
    },
    /// The whole product; the result is twice as wide.
    MulWide {
        signed: bool,
    },
    /// Quotient rounded towards zero. Division by zero is reported by the engines.
    Div {
        signed: bool,
    },
    /// Remainder with the sign of the dividend.
    Rem {
        signed: bool,
    },
    Min {
        signed: bool,
    },
    Max {
        signed: bool,
    },
    /// Signed sum, clamped to the range.
    AddSaturating,
    /// Signed difference, clamped to the range.
    SubSaturating,
    And,
    Or,
    Xor,
    /// Shift left; the amount is 32 bits wide, unsigned, and clamped to the width.
    Shl,
    /// Shift right; the amount as for `Shl`.
    Shr {
        signed: bool,
    },
    /// `b` ones from position `a` on (`bmsk`).
    BitMask(BitRange),
    /// Low `b` bits of `a`, extended (`szext`).
    ExtendFrom {
        signed: bool,
        range: BitRange,
    },
}

/// The treatment of positions and shift amounts beyond 31 in `bmsk`, `szext` and `shf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitRange {
    /// As 32.
    Clamp,
    /// Modulo 32.
    Wrap,
}

/// Three integers in, one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "`signed` selects two's complement throughout")]
pub enum IntTernary {
    /// Bits of `a` from position `b`, `c` of them, extended; only the low byte of `b` and `c`
    /// counts.
    ExtractBits {
        signed: bool,
    },
    /// A Boolean function of three bits, bit by bit: the truth table is the immediate.
    Logic {
        table: u8,
    },
    /// `b:a` shifted by `c`, upper or lower half (`shf`).
    FunnelShift {
        left: bool,
        range: BitRange,
    },
    /// Bytes of `b:a` chosen by the nibbles of `c` (`prmt`, default mode).
    Permute,
    /// `prmt` with a mode; only the low two bits of `c` count.
    PermuteForward4Extract,
    PermuteBackward4Extract,
    PermuteReplicate8,
    PermuteEdgeClampLeft,
    PermuteEdgeClampRight,
    PermuteReplicate16,
    /// Four products of bytes, added to `c`.
    Dot4 {
        a_signed: bool,
        b_signed: bool,
    },
    /// Two products of a 16-bit and an 8-bit number, added to `c`; `high` takes the upper two
    /// bytes of `b`.
    Dot2 {
        a_signed: bool,
        b_signed: bool,
        high: bool,
    },
    /// Position of the `c`-th set bit of `a`, counting from `b` (`fns`).
    FindNth,
}

/// Order relations between integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the usual six")]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Relation {
    /// The relation of `b` to `a` that holds if this one holds of `a` to `b`.
    #[must_use]
    pub const fn swapped(self) -> Self {
        match self {
            Self::Eq | Self::Ne => self,
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
        }
    }

    /// The relation that holds if this one does not.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
        }
    }
}
