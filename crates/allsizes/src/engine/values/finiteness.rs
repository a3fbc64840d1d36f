//! The finiteness of a value: it is a real number, or may be an infinity of known sign.

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
    /// The finiteness of the negated value.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::OrMinusInfinity => Self::OrPlusInfinity,
            Self::OrPlusInfinity => Self::OrMinusInfinity,
            same => same,
        }
    }

    /// The finiteness of an operation that is finite for finite operands, and unknown for others.
    pub(super) fn if_all(finite: bool) -> Self {
        if finite { Self::Finite } else { Self::Unknown }
    }

    /// The finiteness of either of two values, and also of their sum: infinities of the same sign add up to one.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::Finite) => one,
            (Self::Finite, other) => other,
            (one, other) if one == other => one,
            _ => Self::Unknown,
        }
    }

    /// The finiteness of the maximum of some values: one finite value is enough to exclude −∞.
    pub(super) fn greatest(all: &[Self]) -> Self {
        match () {
            () if all.contains(&Self::Unknown) => Self::Unknown,
            () if all.contains(&Self::OrPlusInfinity) => Self::OrPlusInfinity,
            () if all.contains(&Self::Finite) => Self::Finite,
            () => Self::OrMinusInfinity,
        }
    }

    /// The finiteness of the maximum (`max`) or minimum (`min`) of some values.
    pub(super) fn extreme(name: &str, all: impl Iterator<Item = Self>) -> Self {
        match name {
            "max" => Self::greatest(&all.collect::<Vec<_>>()),
            _ => Self::greatest(&all.map(Self::negated).collect::<Vec<_>>()).negated(),
        }
    }
}
