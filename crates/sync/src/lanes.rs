//! The lanes of a warp, and sets of them.

/// The number of lanes in a warp.
pub const WARP: usize = 32;

/// The largest number of warps in a block.
pub const MAX_WARPS: usize = 32;

/// A set of lanes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mask(pub u32);

impl Mask {
    /// No lane.
    pub const NONE: Self = Self(0);
    /// All lanes.
    pub const ALL: Self = Self(u32::MAX);

    /// Returns the set of the first `count` lanes.
    #[must_use]
    #[inline]
    pub const fn first(count: u32) -> Self {
        if count >= 32 { Self::ALL } else { Self((1 << count) - 1) }
    }

    /// Returns `true` for the empty set.
    #[must_use]
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns `true` if the set contains the lane.
    #[must_use]
    #[inline]
    pub const fn has(self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }

    /// Returns the intersection.
    #[must_use]
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the union.
    #[must_use]
    #[inline]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the lanes of this set outside the other.
    #[must_use]
    #[inline]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the set of one lane.
    #[must_use]
    #[inline]
    pub const fn one(lane: usize) -> Self {
        Self(1 << lane)
    }

    /// Returns the number of lanes.
    #[must_use]
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns `true` for a single lane.
    #[must_use]
    #[inline]
    pub const fn is_one(self) -> bool {
        self.0.is_power_of_two()
    }

    /// Returns the lowest lane of the set.
    #[must_use]
    #[inline]
    pub fn lowest(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// Iterates over the lanes in ascending order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lane = Self(rest).lowest()?;
            // Clears the lowest bit that is set.
            rest &= rest - 1;
            Some(lane)
        })
    }
}
