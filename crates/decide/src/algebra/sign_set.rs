//! Sets of possible signs, and arithmetic on them.

use super::Power;

/// A set of possible signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SignSet(u8);

impl SignSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const NEGATIVE: Self = Self(1);
    pub(crate) const ZERO: Self = Self(2);
    pub(crate) const POSITIVE: Self = Self(4);
    pub(crate) const NOT_NEGATIVE: Self = Self(6);
    pub(crate) const NOT_POSITIVE: Self = Self(3);
    pub(crate) const NOT_ZERO: Self = Self(5);
    pub(crate) const ANY: Self = Self(7);

    /// Returns `true` if every possible sign is one of `other`.
    pub(crate) const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn of(value: i32) -> Self {
        match value {
            0 => Self::ZERO,
            1.. => Self::POSITIVE,
            _ => Self::NEGATIVE,
        }
    }

    pub(crate) const fn negated(self) -> Self {
        Self((self.0 & 2) | (self.0 & 1) << 2 | (self.0 & 4) >> 2)
    }

    /// Returns the possible signs of a sum of two values with these signs.
    pub(super) const fn plus(self, other: Self) -> Self {
        if self.0 == 0 || other.0 == 0 {
            return Self::NONE;
        }
        let (a, b) = (self.0 | other.0, self.0 & other.0);
        match (a & 1 != 0, a & 4 != 0) {
            // Zero survives only if both can be zero.
            (false, true) => Self(4 | (b & 2)),
            (true, false) => Self(1 | (b & 2)),
            (false, false) => Self::ZERO,
            (true, true) => Self::ANY,
        }
    }

    /// Returns the possible signs of a product.
    pub(crate) const fn times(self, other: Self) -> Self {
        let mut result = (self.0 | other.0) & 2;
        if self.0 & 4 != 0 {
            result |= other.0 & 5;
        }
        if self.0 & 1 != 0 {
            result |= other.negated().0 & 5;
        }
        Self(result)
    }

    /// Returns the possible signs of a power, given that it is defined.
    pub(crate) fn to_power(self, power: Power) -> Self {
        if power.is_zero() {
            return Self::POSITIVE;
        }
        let base = if power.is_negative() { self.and(Self::NOT_ZERO) } else { self };
        match power.as_integer() {
            Some(integer) if integer % 2 == 0 => {
                let mut result = base.and(Self::ZERO);
                if !base.and(Self::NOT_ZERO).within(Self::NONE) {
                    result = result.or(Self::POSITIVE);
                }
                result
            }
            Some(_) => base,
            // A root has an argument that is not negative.
            None => base.and(Self::NOT_NEGATIVE),
        }
    }
}

/// Returns the possible signs of the larger of two values.
pub(super) fn largest(a: SignSet, b: SignSet) -> SignSet {
    if a.within(SignSet::POSITIVE) || b.within(SignSet::POSITIVE) {
        return SignSet::POSITIVE;
    }
    let mut result = a.or(b);
    if a.within(SignSet::NOT_NEGATIVE) || b.within(SignSet::NOT_NEGATIVE) {
        result = result.and(SignSet::NOT_NEGATIVE);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs() -> impl Iterator<Item = (SignSet, Vec<i32>)> {
        (0..8_u8).map(|bits| {
            let members = [-1, 0, 1].into_iter().filter(|v| bits & SignSet::of(*v).0 != 0);
            (SignSet(bits), members.collect())
        })
    }

    #[test]
    fn arithmetic_on_sign_sets_covers_arithmetic_on_values() {
        for (a, left) in signs() {
            for (b, right) in signs() {
                for x in left.iter().flat_map(|x| [*x, 3 * x]) {
                    for y in right.iter().flat_map(|y| [*y, 3 * y]) {
                        assert!(SignSet::of((x + y).signum()).within(a.plus(b)));
                        assert!(SignSet::of((x * y).signum()).within(a.times(b)));
                        assert!(SignSet::of(x.max(y).signum()).within(largest(a, b)));
                    }
                }
            }
            for x in &left {
                assert!(SignSet::of(-x).within(a.negated()));
                for power in [-3, -2, 0, 1, 2, 3] {
                    if power >= 0 || *x != 0 {
                        let value = f64::from(*x).powi(power) as i32;
                        assert!(SignSet::of(value).within(a.to_power(Power::integer(power))));
                    }
                }
            }
        }
    }
}
