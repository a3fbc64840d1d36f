//! The operations of an interval.

use ir::Rounding;
use std::cmp::Ordering;

/// A closed, bounded interval that contains one exact real number. Results contain the exact result of the operation
/// on any numbers in the operands. `None`: no such interval is representable, or the operation is undefined on part
/// of the operand.
pub trait Enclosure: Clone + std::fmt::Debug {
    /// The interval of one finite number.
    fn point(value: f64) -> Self;
    /// The interval of one integer.
    fn integer(value: i128) -> Option<Self>;
    /// `self + other`
    fn add(&self, other: &Self) -> Option<Self>;
    /// `self · other`
    fn mul(&self, other: &Self) -> Option<Self>;
    /// `self / other`; `None` where `other` contains 0.
    fn div(&self, other: &Self) -> Option<Self>;
    /// `−self`
    fn neg(&self) -> Self;
    /// The larger.
    fn max(&self, other: &Self) -> Self;
    /// The smallest interval around both.
    fn hull(&self, other: &Self) -> Self;
    /// `√self`; `None` if it contains negative numbers.
    fn sqrt(&self) -> Option<Self>;
    /// `2^self`
    fn exp2(&self) -> Option<Self>;
    /// `log₂ self`; `None` unless all numbers are positive.
    fn log2(&self) -> Option<Self>;
    /// `e^self`
    fn exp(&self) -> Option<Self>;
    /// `log self`; `None` unless all numbers are positive.
    fn log(&self) -> Option<Self>;
    /// The error function.
    fn erf(&self) -> Option<Self>;
    /// Sine.
    fn sin(&self) -> Option<Self>;
    /// Cosine.
    fn cos(&self) -> Option<Self>;
    /// Arc tangent.
    fn atan(&self) -> Option<Self>;
    /// Hyperbolic tangent.
    fn tanh(&self) -> Option<Self>;
    /// Rounded to integers.
    fn round(&self, rounding: Rounding) -> Option<Self>;
    /// The integer, if the interval is certainly one.
    fn to_integer(&self) -> Option<i128>;
    /// The order of the exact numbers, if it is settled.
    fn order(&self, other: &Self) -> Option<Ordering>;
    /// Returns `true` if no number in it is above any in `other`.
    fn at_most(&self, other: &Self) -> bool;
    /// Bounds as doubles, rounded outward.
    fn bounds(&self) -> (f64, f64);

    /// The sign, if all numbers have the same.
    fn sign(&self) -> Option<Ordering> {
        self.order(&Self::point(0.0))
    }

    /// Returns `true` if 0 is not in it.
    fn is_nonzero(&self) -> bool {
        matches!(self.sign(), Some(Ordering::Less | Ordering::Greater))
    }

    /// The smaller.
    fn min(&self, other: &Self) -> Self {
        self.neg().max(&other.neg()).neg()
    }

    /// The magnitude.
    fn abs(&self) -> Self {
        self.max(&self.neg()).max(&Self::point(0.0))
    }
}
