//! The lanes of a warp, and sets of them.

/// How many lanes a warp has.
pub const WARP: usize = 32;

/// How many warps a block has at most.
pub const MOST_WARPS: usize = 32;

/// A set of lanes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mask(pub u32);

impl Mask {
    /// No lane.
    pub const NONE: Self = Self(0);
    /// All lanes.
    pub const ALL: Self = Self(u32::MAX);

    /// The first `count` lanes.
    #[must_use]
    #[inline]
    pub const fn first(count: u32) -> Self {
        if count >= 32 { Self::ALL } else { Self((1 << count) - 1) }
    }

    /// Whether there is no lane in it.
    #[must_use]
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the lane is in it.
    #[must_use]
    #[inline]
    pub const fn has(self, lane: usize) -> bool {
        self.0 >> lane & 1 != 0
    }

    /// Lanes in both.
    #[must_use]
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Lanes in either.
    #[must_use]
    #[inline]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Lanes in this and not in the other.
    #[must_use]
    #[inline]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The set of one lane.
    #[must_use]
    #[inline]
    pub const fn one(lane: usize) -> Self {
        Self(1 << lane)
    }

    /// Number of lanes.
    #[must_use]
    #[inline]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it is a single lane.
    #[must_use]
    #[inline]
    pub const fn is_one(self) -> bool {
        self.0.is_power_of_two()
    }

    /// The lowest lane in it.
    #[must_use]
    #[inline]
    pub fn lowest(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// The lanes in ascending order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let lane = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(lane)
        })
    }
}
