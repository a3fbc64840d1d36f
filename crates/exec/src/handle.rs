//! Words for unknown values, and the meaning of each range of words.
//!
//! | words | meaning |
//! |---|---|
//! | 0 | nothing: no record was kept |
//! | 1 to [`LIMIT`] | values of the domain |
//! | from [`LIMIT`] to `UNITS` | aliases: values with an enclosure ([`crate::legal::alias`]) |
//! | from `UNITS` on | units of bytes in the engine's table ([`crate::value::unit`]) |
//! | from `SHORT_VALUES` on | units with one short value each ([`crate::value::short_values`]) |
//!
//! Registers and memory hold plain words, and the domain gets registers without a copy. So [`Value`] is a
//! word, and every query about its range goes through [`Handle`].

/// A handle of a domain value. It is nonzero and below [`LIMIT`]: other words belong to the engine.
pub type Value = u32;

/// Upper limit of a domain's handles.
pub const LIMIT: u32 = UNITS - (1 << 24);

/// The first unit.
const UNITS: u32 = 1 << 31;

/// The first unit that is a short value: one value in the low bytes, with zeros in any bytes above.
const SHORT_VALUES: u32 = 3 << 30;

/// A word for an unknown value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle(pub(crate) u32);

impl Handle {
    /// Returns `true` for a value, of the domain or an alias.
    #[inline(always)]
    pub(crate) fn is_value(self) -> bool {
        self.0 != 0 && self.0 < UNITS
    }

    /// Returns `true` for an alias.
    #[inline(always)]
    pub(crate) fn is_alias(self) -> bool {
        (LIMIT..UNITS).contains(&self.0)
    }

    /// Returns `true` for the range of units.
    #[inline(always)]
    pub(crate) fn is_unit(self) -> bool {
        self.0 >= UNITS
    }

    /// The position of an alias in its table.
    #[inline]
    pub(crate) fn alias(self) -> Option<usize> {
        self.is_alias().then(|| (self.0 - LIMIT) as usize)
    }

    /// The position of a unit in its table.
    #[inline]
    pub(crate) fn unit(self) -> Option<usize> {
        (UNITS..SHORT_VALUES).contains(&self.0).then(|| (self.0 - UNITS) as usize)
    }

    /// Like [`unit`](Self::unit), without a test: other words give positions beyond all units.
    #[inline(always)]
    pub(crate) fn unit_or_beyond(self) -> usize {
        self.0.wrapping_sub(UNITS) as usize
    }

    /// The position of a short value.
    #[inline]
    pub(crate) fn short_value(self) -> Option<u32> {
        self.0.checked_sub(SHORT_VALUES)
    }

    /// The alias at a position, if it is in range.
    #[inline]
    pub(crate) fn of_alias(position: u32) -> Option<Self> {
        let handle = Self(LIMIT + position);
        (handle.0 < UNITS).then_some(handle)
    }

    /// The unit at a position, if it is in range.
    #[inline]
    pub(crate) fn of_unit(position: u32) -> Option<Self> {
        (position < SHORT_VALUES - UNITS).then(|| Self(UNITS + position))
    }

    /// The short value at a position, if it is in range.
    #[inline]
    pub(crate) fn of_short_value(position: u32) -> Option<Self> {
        SHORT_VALUES.checked_add(position).map(Self)
    }
}

/// Returns `true` if all of these are values. A single pass without early exit or comparison can use vector
/// instructions. Values have the highest bit clear. So have their predecessors, but not the predecessor of 0.
#[inline(always)]
pub(crate) fn all_values(words: &[u32]) -> bool {
    words.iter().fold(0, |bits, &word| bits | word | word.wrapping_sub(1)) < UNITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_apart_and_positions_come_back() {
        for (word, value, alias, unit, short) in [
            (0, false, false, false, false),
            (1, true, false, false, false),
            (LIMIT - 1, true, false, false, false),
            (LIMIT, true, true, false, false),
            (UNITS - 1, true, true, false, false),
            (UNITS, false, false, true, false),
            (SHORT_VALUES - 1, false, false, true, false),
            (SHORT_VALUES, false, false, false, true),
            (u32::MAX, false, false, false, true),
        ] {
            let handle = Handle(word);
            let found = (handle.is_value(), handle.is_alias(), handle.is_unit());
            assert_eq!(found, (value, alias, unit || short), "{word}");
            assert_eq!(
                (handle.alias().is_some(), handle.unit().is_some(), handle.short_value().is_some()),
                (alias, unit, short),
                "{word}"
            );
            assert_eq!(all_values(&[1, word]), value, "{word}");
        }
        assert_eq!(Handle::of_alias(5).and_then(Handle::alias), Some(5));
        assert_eq!(Handle::of_alias(1 << 24), None);
        assert_eq!(Handle::of_unit(5).and_then(Handle::unit), Some(5));
        assert_eq!(Handle::of_unit(SHORT_VALUES - UNITS), None);
        assert_eq!(Handle::of_short_value(5).and_then(Handle::short_value), Some(5));
        assert_eq!(Handle::of_short_value(u32::MAX - SHORT_VALUES + 1), None);
    }
}
