//! The non-finite values that a value may have: infinities, or anything.

/// The non-finite values that a value may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// None: it is a real number.
    Finite,
    /// −∞.
    Low,
    /// +∞.
    High,
    /// Anything.
    Other,
}

impl Extent {
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Low => Self::High,
            Self::High => Self::Low,
            same => same,
        }
    }

    pub(super) fn if_all(finite: bool) -> Self {
        if finite { Self::Finite } else { Self::Other }
    }

    /// The extent of either of two values, and also of their sum: infinities of the same sign stay one.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (one, Self::Finite) => one,
            (Self::Finite, other) => other,
            (one, other) if one == other => one,
            _ => Self::Other,
        }
    }

    /// The extent of the maximum of some values.
    pub(super) fn greatest(all: &[Self]) -> Self {
        match () {
            () if all.contains(&Self::Other) => Self::Other,
            () if all.contains(&Self::High) => Self::High,
            () if all.contains(&Self::Finite) => Self::Finite,
            () => Self::Low,
        }
    }

    /// The extent of the maximum or minimum of some values.
    pub(super) fn extreme(name: &str, all: impl Iterator<Item = Self>) -> Self {
        match name {
            "max" => Self::greatest(&all.collect::<Vec<_>>()),
            _ => Self::greatest(&all.map(Self::negated).collect::<Vec<_>>()).negated(),
        }
    }
}
