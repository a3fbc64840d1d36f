//! Numbers of normal forms, and the reasons why an operation on them may have no result.

/// A normal form in the table: sorted summands, no zero coefficient, no common scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FormId(pub(crate) u32);

impl FormId {
    /// The empty sum.
    pub(crate) const ZERO: Self = Self(0);
}

/// The reason why an operation has no result. Each of them leads to `Unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// A denominator that is zero everywhere.
    ZeroDenominator,
    /// An infinity that no constructor could eliminate.
    Infinite,
    /// An operation defined nowhere, such as the logarithm of a negative constant.
    Undefined,
    /// The budget of steps is spent.
    Budget,
    /// The deadline passed.
    Time,
    /// A number outgrew its representation.
    TooLarge,
}

/// Result of an operation.
pub(crate) type Outcome<T> = Result<T, Obstacle>;
