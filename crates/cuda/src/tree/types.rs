//! Types (ISO C++17 \[basic.types\]), with the widths of CUDA's 64-bit Linux targets.

use super::{EnumId, Expr, RecordId};
use std::sync::Arc;

/// A type without `const` at its top.
#[derive(Clone, Debug)]
pub enum Type {
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// Integer types. `char`, `long` and `long long` are distinct types although others have the same width.
    Int(IntKind),
    /// Floating types.
    Float(FloatKind),
    /// An enumeration.
    Enum(EnumId),
    /// A pointer.
    Pointer(Arc<Qualified>),
    /// An array.
    Array(Arc<Type>, Extent),
    /// A struct or built-in vector.
    Record(RecordId),
    /// A function: its result type and parameter types.
    Function(Arc<(Type, Vec<Type>)>),
    /// Integers without bounds, in clauses.
    Whole,
    /// Real numbers, in clauses.
    Real,
}

/// The target of a pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Qualified {
    /// Its type.
    pub ty: Type,
    /// Set if it must not be written through this pointer.
    pub is_const: bool,
    /// Accesses are `volatile`.
    pub is_volatile: bool,
}

/// The number of elements of an array.
#[derive(Clone, Debug)]
pub enum Extent {
    /// A constant.
    Known(u64),
    /// Made of symbols.
    Symbolic(Arc<Expr>),
    /// `[]`.
    Unknown,
}

/// Integer types other than `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum IntKind {
    Char,
    SignedChar,
    UnsignedChar,
    Short,
    UnsignedShort,
    Int,
    UnsignedInt,
    Long,
    UnsignedLong,
    LongLong,
    UnsignedLongLong,
}

/// Floating types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum FloatKind {
    Half,
    Bfloat16,
    Float,
    Double,
}

impl IntKind {
    /// Width.
    #[must_use]
    pub fn bits(self) -> u8 {
        match self {
            Self::Char | Self::SignedChar | Self::UnsignedChar => 8,
            Self::Short | Self::UnsignedShort => 16,
            Self::Int | Self::UnsignedInt => 32,
            Self::Long | Self::UnsignedLong | Self::LongLong | Self::UnsignedLongLong => 64,
        }
    }

    /// Returns `true` if it has negative values, as `char` has.
    #[must_use]
    pub fn is_signed(self) -> bool {
        match self {
            Self::Char
            | Self::SignedChar
            | Self::Short
            | Self::Int
            | Self::Long
            | Self::LongLong => true,
            Self::UnsignedChar
            | Self::UnsignedShort
            | Self::UnsignedInt
            | Self::UnsignedLong
            | Self::UnsignedLongLong => false,
        }
    }

    /// Least and greatest value.
    #[must_use]
    pub fn range(self) -> (i128, i128) {
        let bits = u32::from(self.bits());
        if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        }
    }

    /// The value modulo 2^bits, in range.
    #[must_use]
    pub fn wrap(self, value: i128) -> i128 {
        let modulus = 1_i128 << self.bits();
        let residue = value.rem_euclid(modulus);
        if residue > self.range().1 { residue - modulus } else { residue }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Void, Self::Void)
            | (Self::Bool, Self::Bool)
            | (Self::Whole, Self::Whole)
            | (Self::Real, Self::Real) => true,
            (Self::Int(one), Self::Int(other)) => one == other,
            (Self::Float(one), Self::Float(other)) => one == other,
            (Self::Enum(one), Self::Enum(other)) => one == other,
            (Self::Pointer(one), Self::Pointer(other)) => one == other,
            (Self::Array(one, size), Self::Array(other, length)) => one == other && size == length,
            (Self::Record(one), Self::Record(other)) => one == other,
            (Self::Function(one), Self::Function(other)) => one == other,
            _ => false,
        }
    }
}

impl PartialEq for Extent {
    /// Symbolic extents are equal only if they are the same expression. Two with the same meaning may compare
    /// unequal, which leads to a refusal.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => one == other,
            (Self::Symbolic(one), Self::Symbolic(other)) => Arc::ptr_eq(one, other),
            (Self::Unknown, Self::Unknown) => true,
            _ => false,
        }
    }
}
