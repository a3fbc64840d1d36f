//! What is known of a value: that it is a real number, or which infinity it may be instead.

/// The real numbers, with the infinities that a value may also be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Finiteness {
    /// It is a real number.
    Finite,
    /// It is a real number or −∞.
    OrMinusInfinity,
    /// It is a real number or +∞.
    OrPlusInfinity,
    /// It may be anything, NaN included.
    Unknown,
}

impl Finiteness {
    /// That of the negated value.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::OrMinusInfinity => Self::OrPlusInfinity,
            Self::OrPlusInfinity => Self::OrMinusInfinity,
            same => same,
        }
    }

    /// That of an operation with a finite result for finite operands, of which nothing is known for others.
    pub(super) fn if_all(finite: bool) -> Self {
        if finite { Self::Finite } else { Self::Unknown }
    }

    /// That of either of two values, and also of their sum: infinities of the same sign add up to one.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::Finite) => one,
            (Self::Finite, other) => other,
            (one, other) if one == other => one,
            _ => Self::Unknown,
        }
    }

    /// That of the maximum of some values: one finite value is enough to exclude −∞.
    pub(super) fn greatest(all: &[Self]) -> Self {
        match () {
            () if all.contains(&Self::Unknown) => Self::Unknown,
            () if all.contains(&Self::OrPlusInfinity) => Self::OrPlusInfinity,
            () if all.contains(&Self::Finite) => Self::Finite,
            () => Self::OrMinusInfinity,
        }
    }

    /// That of the maximum (`max`) or minimum (`min`) of some values.
    pub(super) fn extreme(name: &str, all: impl Iterator<Item = Self>) -> Self {
        match name {
            "max" => Self::greatest(&all.collect::<Vec<_>>()),
            _ => Self::greatest(&all.map(Self::negated).collect::<Vec<_>>()).negated(),
        }
    }
}
