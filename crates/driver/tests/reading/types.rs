//! Arithmetic types of C++ as CUDA has them on Linux: sizes, ranks, promotions and the usual conversions.
//!
//! From [conv.prom], [expr.arith.conv] of the standard. Written for the generator, which must know the type and range
//! of everything it writes, and independent of the tested front end.

/// An arithmetic type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Type {
    Bool,
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    Unsigned,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
    Float,
    Double,
}

use Type::*;

impl Type {
    pub(crate) const INTEGERS: [Self; 11] = [
        Char,
        SignedChar,
        UnsignedChar,
        Short,
        UnsignedShort,
        Int,
        Unsigned,
        Long,
        UnsignedLong,
        LongLong,
        UnsignedLongLong,
    ];

    pub(crate) fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Its spellings.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self {
            Bool => &["bool"],
            Char => &["char"],
            SignedChar => &["signed char"],
            UnsignedChar => &["unsigned char"],
            Short => &["short", "short int", "signed short"],
            UnsignedShort => &["unsigned short", "unsigned short int"],
            Int => &["int", "signed", "signed int"],
            Unsigned => &["unsigned", "unsigned int"],
            Long => &["long", "long int"],
            UnsignedLong => &["unsigned long", "unsigned long int", "size_t"],
            LongLong => &["long long", "long long int"],
            UnsignedLongLong => &["unsigned long long", "unsigned long long int"],
            Float => &["float"],
            Double => &["double"],
        }
    }

    /// Its name as an element type of `simulate`.
    pub(crate) fn element(self) -> &'static str {
        match self {
            Bool | UnsignedChar => "u8",
            Char | SignedChar => "s8",
            Short => "s16",
            UnsignedShort => "u16",
            Int => "s32",
            Unsigned => "u32",
            Long | LongLong => "s64",
            UnsignedLong | UnsignedLongLong => "u64",
            Float => "f32",
            Double => "f64",
        }
    }

    pub(crate) fn bits(self) -> u32 {
        match self {
            Bool => 1,
            Char | SignedChar | UnsignedChar => 8,
            Short | UnsignedShort => 16,
            Int | Unsigned | Float => 32,
            Long | UnsignedLong | LongLong | UnsignedLongLong | Double => 64,
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Char | SignedChar | Short | Int | Long | LongLong | Float | Double)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Float | Double)
    }

    /// Least and greatest value of an integer type.
    pub(crate) fn range(self) -> (i128, i128) {
        match self {
            Bool => (0, 1),
            _ if self.is_signed() => (-(1 << (self.bits() - 1)), (1 << (self.bits() - 1)) - 1),
            _ => (0, (1 << self.bits()) - 1),
        }
    }

    pub(crate) fn holds(self, low: i128, high: i128) -> bool {
        let (least, most) = self.range();
        least <= low && high <= most
    }

    fn rank(self) -> u32 {
        match self {
            Bool => 0,
            Char | SignedChar | UnsignedChar => 1,
            Short | UnsignedShort => 2,
            Int | Unsigned => 3,
            Long | UnsignedLong => 4,
            LongLong | UnsignedLongLong => 5,
            Float => 6,
            Double => 7,
        }
    }

    /// The type after integral promotion.
    pub(crate) fn promoted(self) -> Self {
        if self.rank() < Int.rank() { Int } else { self }
    }

    fn unsigned(self) -> Self {
        match self {
            Int => Unsigned,
            Long => UnsignedLong,
            LongLong => UnsignedLongLong,
            other => other,
        }
    }

    /// The common type of two operands.
    pub(crate) fn common(self, other: Self) -> Self {
        let (one, other) = (self.promoted(), other.promoted());
        if one.is_float() || other.is_float() {
            return if one.rank() >= other.rank() { one } else { other };
        }
        if one.is_signed() == other.is_signed() {
            return if one.rank() >= other.rank() { one } else { other };
        }
        let (signed, unsigned) = if one.is_signed() { (one, other) } else { (other, one) };
        if unsigned.rank() >= signed.rank() {
            unsigned
        } else if signed.bits() > unsigned.bits() {
            signed
        } else {
            signed.unsigned()
        }
    }
}
