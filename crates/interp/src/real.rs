//! The floats of a run: a double, and an interval that holds both the real number and the machine's float.
//!
//! Proofs take floats for real numbers, a kernel computes with `float` or narrower types, a run with doubles. A run
//! may only refute what is wrong for the real numbers, and it must not go where the machine does not go. So every float
//! carries an [`Interval`] around the real number and around every float that compiled code may have in its place
//! (`rounding.rs` has the errors). A comparison is decided if all numbers of the intervals give the same answer.
//!
//! An interval has three special forms. One number: the double is exact. NaN: the operation has no value, neither in
//! the reals nor on the machine. Everything: nothing is known, it may even have no value.

use crate::enclosure::Interval;
use kir::Compare;

/// A float of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Real {
    /// The double.
    value: f64,
    bounds: Interval,
}

impl Real {
    /// A number that the double and the machine have exactly.
    #[must_use]
    pub fn exact(value: f64) -> Self {
        Self { value, bounds: [value; 2] }
    }

    /// A number of which nothing is known but what the doubles gave.
    pub(crate) fn unknown(value: f64) -> Self {
        Self { value, bounds: [f64::NEG_INFINITY, f64::INFINITY] }
    }

    /// A number between bounds. Bounds that are not numbers tell nothing.
    pub(crate) fn within(value: f64, bounds: Interval) -> Self {
        if bounds[0].is_nan() || bounds[1].is_nan() {
            Self::unknown(value)
        } else {
            Self { value, bounds }
        }
    }

    /// The double.
    #[must_use]
    pub fn value(self) -> f64 {
        self.value
    }

    pub(crate) fn bounds(self) -> Interval {
        self.bounds
    }

    /// Returns `true` if the double is exact.
    pub(crate) fn is_exact(self) -> bool {
        self.bounds[0] == self.bounds[1]
    }

    /// Returns `true` if this is certainly not a number.
    pub(crate) fn is_nan(self) -> bool {
        self.bounds[0].is_nan()
    }

    /// Returns `true` if nothing is known.
    pub(crate) fn is_unknown(self) -> bool {
        self.bounds == [f64::NEG_INFINITY, f64::INFINITY]
    }

    /// Returns `true` if this is certainly a number, and not infinite.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.bounds.iter().all(|one| one.is_finite())
    }

    /// The same number as another computation has it, whose double differs.
    pub(crate) fn moved_to(self, value: f64) -> Self {
        let [low, high] = self.bounds;
        Self {
            value,
            bounds: if self.is_nan() { self.bounds } else { [low.min(value), high.max(value)] },
        }
    }

    /// The truth of a comparison, if it is the same for all numbers of the intervals.
    pub(crate) fn compare(self, operator: Compare, other: Self) -> Option<bool> {
        if self.is_nan() || other.is_nan() {
            return Some(operator == Compare::Ne);
        }
        if self.is_unknown() || other.is_unknown() {
            return None;
        }
        let ([a, b], [c, d]) = (self.bounds, other.bounds);
        let is_same = self.is_exact() && other.is_exact() && a == c;
        let (holds, fails) = match operator {
            Compare::Eq => (is_same, b < c || d < a),
            Compare::Ne => (b < c || d < a, is_same),
            Compare::Lt => (b < c, a >= d),
            Compare::Le => (b <= c, a > d),
            Compare::Gt => (a > d, b <= c),
            Compare::Ge => (a >= d, b < c),
        };
        if holds { Some(true) } else { fails.then_some(false) }
    }

    /// Returns `true` if two numbers certainly differ, by more than the rounding of a constant.
    #[must_use]
    pub fn differs(self, other: Self) -> bool {
        match (self.is_nan(), other.is_nan()) {
            (true, true) => false,
            (true, false) => !other.is_unknown(),
            (false, true) => !self.is_unknown(),
            (false, false) => {
                self.compare(Compare::Ne, other) == Some(true) && !self.is_close(other)
            }
        }
    }

    /// Returns `true` if constants with six digits in place of more may explain that two numbers differ.
    pub(crate) fn is_close(self, other: Self) -> bool {
        let (x, y) = (self.value, other.value);
        let distance = (x - y).abs();
        !(self.is_exact() && other.is_exact())
            && distance.is_finite()
            && distance <= CLOSE * x.abs().max(y.abs())
    }
}

/// Relative errors of constants.
const CLOSE: f64 = 1e-5;
