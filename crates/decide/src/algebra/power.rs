//! Small rational powers of atoms.

use super::{Obstacle, Outcome};
use term::Number;

/// A power in lowest terms, the denominator positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Power {
    numerator: i32,
    denominator: i32,
}

impl Power {
    pub(crate) const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub(crate) const ONE: Self = Self { numerator: 1, denominator: 1 };

    pub(crate) const fn integer(value: i32) -> Self {
        Self { numerator: value, denominator: 1 }
    }

    pub(crate) fn from_number(value: &Number) -> Outcome<Self> {
        let (numerator, denominator) = value.to_small_ratio().ok_or(Obstacle::TooLarge)?;
        Self::reduced(numerator, denominator)
    }

    pub(crate) fn to_number(self) -> Number {
        // The denominator is positive, so the quotient exists.
        Number::ratio(self.numerator.into(), self.denominator.into()).unwrap_or(Number::ZERO)
    }

    pub(crate) fn to_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    pub(crate) fn as_integer(self) -> Option<i32> {
        (self.denominator == 1).then_some(self.numerator)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.numerator == 0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub(crate) fn is_even_integer(self) -> bool {
        self.denominator == 1 && self.numerator % 2 == 0
    }

    /// Returns the largest integer that is not above the power.
    pub(crate) fn floor(self) -> i32 {
        self.numerator.div_euclid(self.denominator)
    }

    pub(crate) fn plus(self, other: Self) -> Outcome<Self> {
        let numerator = i64::from(self.numerator) * i64::from(other.denominator)
            + i64::from(other.numerator) * i64::from(self.denominator);
        Self::reduced(numerator, i64::from(self.denominator) * i64::from(other.denominator))
    }

    pub(crate) fn times(self, other: Self) -> Outcome<Self> {
        Self::reduced(
            i64::from(self.numerator) * i64::from(other.numerator),
            i64::from(self.denominator) * i64::from(other.denominator),
        )
    }

    pub(crate) fn negated(self) -> Outcome<Self> {
        Ok(Self {
            numerator: self.numerator.checked_neg().ok_or(Obstacle::TooLarge)?,
            denominator: self.denominator,
        })
    }

    /// Returns the smaller power, by value.
    pub(crate) fn smaller(self, other: Self) -> Self {
        let left = i64::from(self.numerator) * i64::from(other.denominator);
        let right = i64::from(other.numerator) * i64::from(self.denominator);
        if left <= right { self } else { other }
    }

    fn reduced(numerator: i64, denominator: i64) -> Outcome<Self> {
        let (mut a, mut b) = (numerator.unsigned_abs(), denominator.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i64::try_from(a.max(1)).map_err(|_| Obstacle::TooLarge)?;
        let sign = if denominator < 0 { -1 } else { 1 };
        match (
            i32::try_from(sign * numerator / divisor),
            i32::try_from(sign * denominator / divisor),
        ) {
            (Ok(numerator), Ok(denominator)) => Ok(Self { numerator, denominator }),
            _ => Err(Obstacle::TooLarge),
        }
    }
}
