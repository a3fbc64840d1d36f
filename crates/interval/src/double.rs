//! Intervals of doubles.
//!
//! Sums, products, quotients and roots are rounded outward by at most one unit in the last place, and not at all
//! where they are exact: the sign of the rounding error is computed without error (two-sum for sums, a fused
//! multiply-add for the others). Near the subnormal numbers that does not work, and bounds are always moved.
//!
//! `exp`, `exp2`, `log`, `log2`, `erf`, `sin`, `cos`, `atan` and `tanh` come from the `libm` crate. Its sources (ports
//! of FreeBSD's) state errors below 1 ulp, and below 2 for `tanh`. Results are widened by 2^−50 of themselves, 4 to 8
//! ulp. A test compares all but `atan` with 256 bits on thousands of points and accepts no more than half of that. This
//! is evidence, not proof. For certainty, repeat with [`Precise`](crate::Precise), whose series have proved bounds.

use crate::Enclosure;
use ir::Rounding;
use std::cmp::Ordering;

/// `[low, high]`, both finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double {
    low: f64,
    high: f64,
}

/// Below this, error terms may be subnormal and are not trusted.
const SMALL: f64 = 1e-270;
/// Assumed bound on the relative error of a library function.
const MARGIN: f64 = 1.0 / (1u64 << 50) as f64;

/// The low bits of a double. If they are zero in both factors, the product has at most 53 bits.
const LOW_HALF: u64 = (1 << 27) - 1;

/// Rounds down if the exact result is below `value`.
fn down(value: f64, error: f64) -> f64 {
    if error < 0.0 { value.next_down() } else { value }
}

/// Rounds up if the exact result is above `value`.
fn up(value: f64, error: f64) -> f64 {
    if error > 0.0 { value.next_up() } else { value }
}

/// Returns the rounded sum and its rounding error, exactly (two-sum).
fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let rest = sum - a;
    (sum, (a - (sum - rest)) + (b - rest))
}

/// Returns a product and the sign of its rounding error; `None` if the sign is unknown.
fn product(a: f64, b: f64) -> (f64, Option<f64>) {
    let product = a * b;
    if a == 0.0 || b == 0.0 {
        return (0.0, Some(0.0));
    }
    // Singles have 24 bits: products of two are exact, and need no fused multiplication, which may be a call.
    if (a.to_bits() | b.to_bits()) & LOW_HALF == 0 && product.is_normal() {
        return (product, Some(0.0));
    }
    (product, (product.abs() > SMALL).then(|| a.mul_add(b, -product)))
}

fn quotient(a: f64, b: f64) -> (f64, Option<f64>) {
    let quotient = a / b;
    if a == 0.0 {
        return (0.0, Some(0.0));
    }
    let trusted = quotient.abs() > SMALL && a.abs() > SMALL && b.abs() < 1.0 / SMALL;
    (quotient, trusted.then(|| (-quotient).mul_add(b, a) * b.signum()))
}

impl Double {
    fn new(low: f64, high: f64) -> Option<Self> {
        (low.is_finite() && high.is_finite()).then_some(Self { low, high })
    }

    /// Returns the hull of the results at four corners.
    fn corners(results: [(f64, Option<f64>); 4]) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (value, error) in results {
            if value.is_nan() {
                return None;
            }
            low = low.min(down(value, error.unwrap_or(-1.0)));
            high = high.max(up(value, error.unwrap_or(1.0)));
        }
        Self::new(low, high)
    }

    /// Applies an increasing library function to both ends.
    fn apply_increasing(&self, function: fn(f64) -> f64) -> Option<Self> {
        let (low, high) = (function(self.low), function(self.high));
        Self::new(low - margin(low), high + margin(high))
    }

    /// Applies a library function of slope at most 1 to the middle, and widens by the radius.
    fn apply_with_bounded_slope(&self, function: fn(f64) -> f64) -> Option<Self> {
        let middle = self.low / 2.0 + self.high / 2.0;
        let reach = (self.high - middle).max(middle - self.low).next_up();
        let reach = if self.low == self.high { 0.0 } else { reach };
        let value = function(middle);
        let (low, high) = (value - margin(value), value + margin(value));
        let (low, high) = ((low - reach).next_down(), (high + reach).next_up());
        Self::new(low.max(-1.0), high.min(1.0))
    }
}

/// Returns the assumed absolute error of a library result.
fn margin(value: f64) -> f64 {
    (value.abs() * MARGIN).max(1e-300)
}

fn rounded(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

impl Enclosure for Double {
    fn point(value: f64) -> Self {
        Self { low: value, high: value }
    }

    fn integer(value: i128) -> Option<Self> {
        let nearest = value as f64;
        match nearest as i128 == value && nearest.abs() < 1e30 {
            true => Some(Self::point(nearest)),
            false => Self::new(nearest.next_down(), nearest.next_up()),
        }
    }

    fn add(&self, other: &Self) -> Option<Self> {
        let ((low, below), (high, above)) = (sum(self.low, other.low), sum(self.high, other.high));
        Self::new(down(low, below), up(high, above))
    }

    fn mul(&self, other: &Self) -> Option<Self> {
        if self.low == self.high && other.low == other.high {
            let (value, error) = product(self.low, other.low);
            let (below, above) = (error.unwrap_or(-1.0), error.unwrap_or(1.0));
            return Self::new(down(value, below), up(value, above));
        }
        Self::corners([
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ])
    }

    fn div(&self, other: &Self) -> Option<Self> {
        if other.low <= 0.0 && other.high >= 0.0 {
            return None;
        }
        Self::corners([
            quotient(self.low, other.low),
            quotient(self.low, other.high),
            quotient(self.high, other.low),
            quotient(self.high, other.high),
        ])
    }

    fn neg(&self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn max(&self, other: &Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    fn hull(&self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn sqrt(&self) -> Option<Self> {
        if self.low < 0.0 {
            return None;
        }
        let root = |value: f64| {
            let root = value.sqrt();
            let trusted = value > SMALL;
            (root, trusted.then(|| (-root).mul_add(root, value)))
        };
        let ((low, below), (high, above)) = (root(self.low), root(self.high));
        let exact = |value: f64| if value == 0.0 { 0.0 } else { 1.0 };
        let low = down(low, below.unwrap_or(-exact(self.low)));
        Self::new(low.max(0.0), up(high, above.unwrap_or(exact(self.high))))
    }

    fn exp2(&self) -> Option<Self> {
        let is_small_integer = |value: f64| value.fract() == 0.0 && value.abs() < 1000.0;
        if self.low == self.high && is_small_integer(self.low) {
            return Some(Self::point(2f64.powi(self.low as i32)));
        }
        let result = self.apply_increasing(libm::exp2)?;
        Self::new(result.low.max(0.0), result.high)
    }

    fn log2(&self) -> Option<Self> {
        if self.low <= 0.0 {
            return None;
        }
        if self.low == self.high {
            let exponent = libm::log2(self.low).round();
            if exponent.abs() < 1000.0 && 2f64.powi(exponent as i32) == self.low {
                return Some(Self::point(exponent));
            }
        }
        self.apply_increasing(libm::log2)
    }

    fn exp(&self) -> Option<Self> {
        if self.low == 0.0 && self.high == 0.0 {
            return Some(Self::point(1.0));
        }
        let result = self.apply_increasing(libm::exp)?;
        Self::new(result.low.max(0.0), result.high)
    }

    fn log(&self) -> Option<Self> {
        if self.low <= 0.0 {
            return None;
        }
        if self.low == 1.0 && self.high == 1.0 {
            return Some(Self::point(0.0));
        }
        self.apply_increasing(libm::log)
    }

    fn erf(&self) -> Option<Self> {
        if self.low == 0.0 && self.high == 0.0 {
            return Some(*self);
        }
        let result = self.apply_increasing(libm::erf)?;
        Self::new(result.low.max(-1.0), result.high.min(1.0))
    }

    fn sin(&self) -> Option<Self> {
        if self.low == 0.0 && self.high == 0.0 {
            return Some(*self);
        }
        self.apply_with_bounded_slope(libm::sin)
    }

    fn cos(&self) -> Option<Self> {
        self.apply_with_bounded_slope(libm::cos)
    }

    fn atan(&self) -> Option<Self> {
        if self.low == 0.0 && self.high == 0.0 {
            return Some(*self);
        }
        self.apply_increasing(libm::atan)
    }

    fn tanh(&self) -> Option<Self> {
        if self.low == 0.0 && self.high == 0.0 {
            return Some(*self);
        }
        let result = self.apply_increasing(libm::tanh)?;
        Self::new(result.low.max(-1.0), result.high.min(1.0))
    }

    fn round(&self, rounding: Rounding) -> Option<Self> {
        Self::new(rounded(self.low, rounding), rounded(self.high, rounding))
    }

    fn to_integer(&self) -> Option<i128> {
        let is_integer = self.low == self.high && self.low.fract() == 0.0 && self.low.abs() < 1e30;
        is_integer.then_some(self.low as i128)
    }

    fn order(&self, other: &Self) -> Option<Ordering> {
        if self.high < other.low {
            return Some(Ordering::Less);
        }
        if self.low > other.high {
            return Some(Ordering::Greater);
        }
        let points = self.low == self.high && other.low == other.high;
        points.then_some(Ordering::Equal)
    }

    fn at_most(&self, other: &Self) -> bool {
        self.high <= other.low
    }

    fn bounds(&self) -> (f64, f64) {
        (self.low, self.high)
    }
}
