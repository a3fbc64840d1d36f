//! More operations of intervals, for code that computes with intervals instead of terms.

use super::elementary;
use super::interval::{Binary, Interval};
use dashu_int::IBig;
use std::cmp::Ordering;
use term::Number;

impl Interval {
    /// Returns the interval that contains exactly one finite double.
    ///
    /// # Panics
    /// If the value is infinite or not a number.
    #[must_use]
    pub fn of_f64(value: f64) -> Self {
        let number = Number::from_f64(value).expect("a finite number");
        Self::of_number(&number)
    }

    /// Returns the interval that contains exactly one integer.
    #[must_use]
    pub fn of_integer(value: i128) -> Self {
        Self::point(Binary::new(IBig::from(value), 0))
    }

    /// `e^self`; `None` for arguments too large to enclose.
    #[must_use]
    pub fn exp(&self) -> Option<Self> {
        elementary::exp(self)
    }

    /// `log self`; `None` unless every value is positive.
    #[must_use]
    pub fn log(&self) -> Option<Self> {
        elementary::log(self)
    }

    /// Computes the error function.
    #[must_use]
    pub fn error_function(&self) -> Option<Self> {
        if self.is_point() && self.low.signum() == 0 {
            return Some(self.clone());
        }
        elementary::erf(self)
    }

    /// Computes the arc tangent.
    #[must_use]
    pub fn arctangent(&self) -> Option<Self> {
        if self.is_point() && self.low.signum() == 0 {
            return Some(self.clone());
        }
        elementary::arctangent(self)
    }

    /// `2^self`; `None` for arguments too large to enclose. Exact at integers.
    #[must_use]
    pub fn exp2(&self) -> Option<Self> {
        if let Some(power) = self.to_integer().filter(|power| power.abs() < 1 << 16) {
            return Some(Self::point(Binary::new(IBig::ONE, i64::try_from(power).ok()?)));
        }
        elementary::exp(&self.times(&elementary::log(&Self::of_integer(2))?))
    }

    /// `log₂ self`; `None` unless every value is positive. Exact at powers of two.
    #[must_use]
    pub fn log2(&self) -> Option<Self> {
        let two = Self::of_integer(2);
        if self.is_point() && self.low.signum() > 0 {
            let power = self.low.magnitude() - 1;
            if Binary::new(IBig::ONE, power) == self.low {
                return Some(Self::of_integer(i128::from(power)));
            }
        }
        elementary::log(self)?.divided_by(&elementary::log(&two)?)
    }

    /// Computes the sine; `None` for arguments too large to enclose.
    #[must_use]
    pub fn sine(&self) -> Option<Self> {
        if self.is_point() && self.low.signum() == 0 {
            return Some(self.clone());
        }
        elementary::sine(self, false)
    }

    /// Computes the cosine; `None` for arguments too large to enclose.
    #[must_use]
    pub fn cosine(&self) -> Option<Self> {
        elementary::sine(self, true)
    }

    /// Computes the hyperbolic tangent, as `1 − 2 / (e^(2x) + 1)`. Beyond ±200 it differs from ±1 by less than
    /// 2^−500.
    #[must_use]
    pub fn hyperbolic_tangent(&self) -> Option<Self> {
        if self.is_point() && self.low.signum() == 0 {
            return Some(self.clone());
        }
        let limit = Self::of_integer(200);
        let clamped = self.maximum(&limit.negated()).negated().maximum(&limit.negated()).negated();
        let one = Self::of_integer(1);
        let denominator = elementary::exp(&clamped.plus(&clamped)?)?.plus(&one)?;
        let inside = one.minus(&Self::of_integer(2).divided_by(&denominator)?)?;
        if clamped == *self {
            return Some(inside);
        }
        Some(inside.widened(&Binary::new(IBig::ONE, -500)))
    }

    /// Rounds down to integers: the interval from the floor of the lower bound to the floor of the upper bound.
    /// `None` for very large numbers.
    #[must_use]
    pub fn floor(&self) -> Option<Self> {
        let small = |end: &Binary| end.magnitude() < 1 << 12;
        if !small(&self.low) || !small(&self.high) {
            return None;
        }
        let floor = |end: &Binary| Binary::new(elementary::floor(end), 0);
        Some(Self::new(floor(&self.low), floor(&self.high)))
    }

    /// Returns the integer this is, if it is one exact integer of 127 bits.
    #[must_use]
    pub fn to_integer(&self) -> Option<i128> {
        if !self.is_point() || self.low.magnitude() > 126 {
            return None;
        }
        let floor = elementary::floor(&self.low);
        let exact = Binary::new(floor.clone(), 0) == self.low;
        if exact { i128::try_from(&floor).ok() } else { None }
    }

    /// Returns the order of the exact values, if the intervals determine it.
    #[must_use]
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        if self.high < other.low {
            return Some(Ordering::Less);
        }
        if self.low > other.high {
            return Some(Ordering::Greater);
        }
        (self.is_point() && other.is_point()).then_some(Ordering::Equal)
    }

    /// Returns `true` if no value is above any of the other.
    #[must_use]
    pub fn at_most(&self, other: &Self) -> bool {
        self.high <= other.low
    }

    /// Returns the nearest doubles below and above all values; an infinity where there is no such double.
    #[must_use]
    pub fn to_f64_bounds(&self) -> (f64, f64) {
        (below(&self.low), -below(&self.high.negated()))
    }
}

/// Returns the largest double that is not above the value, −∞ if there is none.
fn below(value: &Binary) -> f64 {
    let approximate = Interval::point(value.clone()).to_f64_lossy();
    let mut bound = approximate.clamp(f64::MIN, f64::MAX);
    let exceeds = |bound: f64| match Number::from_f64(bound) {
        Some(number) => Interval::of_number(&number).low > *value,
        None => bound > 0.0,
    };
    while exceeds(bound) {
        bound = bound.next_down();
    }
    while !exceeds(bound.next_up()) {
        bound = bound.next_up();
    }
    bound
}
