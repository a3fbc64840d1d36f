//! Exact arithmetic on finite numbers, as far as rounding can distinguish (IEEE 754 §5.4).
//!
//! Results have more bits than any format, plus a lowest bit for everything below it ("sticky"), so
//! [`encode`](super::format::encode) rounds them as if they were exact.

use super::format::{Finite, scale, shift_right_sticky};
use ir::Rounding;

/// The leading bit of summands: it leaves two bits for carries.
const ADDED: u32 = 125;

/// Computes `x + y`. A zero sum of different signs is positive, unless rounding is down. The operands are
/// exact and have at most 106 bits.
pub(super) fn add(x: Finite, y: Finite, rounding: Rounding) -> Finite {
    let opposite = rounding == Rounding::Down;
    if x.is_zero() && y.is_zero() {
        return Finite::zero(if x.negative == y.negative { x.negative } else { opposite });
    }
    if x.is_zero() || y.is_zero() {
        return if x.is_zero() { y } else { x };
    }
    let (x, y) = (leading_at(x, ADDED), leading_at(y, ADDED));
    let (x, y) =
        if (x.exponent, x.significand) < (y.exponent, y.significand) { (y, x) } else { (x, y) };
    // Bits are lost only if the numbers are 20 binary orders apart, and then the result keeps enough bits
    // above the sticky one.
    let smaller = shift_right_sticky(y.significand, x.exponent - y.exponent);
    let significand = match x.negative == y.negative {
        true => x.significand + smaller,
        false => x.significand - smaller,
    };
    match significand {
        0 => Finite::zero(opposite),
        _ => Finite { significand, ..x },
    }
}

/// Computes `x · y`, for operands of at most 64 bits.
pub(super) fn multiply(x: Finite, y: Finite) -> Finite {
    Finite {
        negative: x.negative != y.negative,
        significand: x.significand * y.significand,
        exponent: x.exponent + y.exponent,
    }
}

/// Computes `x / y`, for operands of at most 64 bits; `y` is not zero.
pub(super) fn divide(x: Finite, y: Finite) -> Finite {
    let negative = x.negative != y.negative;
    if x.is_zero() {
        return Finite::zero(negative);
    }
    let (x, y) = (leading_at(x, 127), leading_at(y, 63));
    let quotient = x.significand / y.significand;
    let inexact = quotient * y.significand != x.significand;
    let significand = quotient | u128::from(inexact);
    Finite { negative, significand, exponent: x.exponent - y.exponent }
}

/// Computes the square root of a non-negative number or of −0.
pub(super) fn square_root(x: Finite) -> Finite {
    if x.is_zero() {
        return x;
    }
    let x = leading_at(x, 127);
    let odd = x.exponent & 1;
    let significand = x.significand >> odd;
    let root = significand.isqrt();
    let inexact = root * root != significand;
    Finite {
        negative: false,
        significand: root | u128::from(inexact),
        exponent: (x.exponent + odd) / 2,
    }
}

/// Rounds `x` to an integer; a zero keeps the sign of `x`.
pub(super) fn round_to_integral(x: Finite, rounding: Rounding) -> Finite {
    if x.exponent >= 0 {
        return x;
    }
    let significand = scale(x.significand, -x.exponent, rounding, x.negative);
    Finite { significand, exponent: 0, ..x }
}

/// Moves the leading bit to `position` without changing the number. No bit may be lost: the significand has
/// at most `position + 1` bits.
fn leading_at(x: Finite, position: u32) -> Finite {
    let shift = position - x.significand.ilog2();
    Finite { significand: x.significand << shift, exponent: x.exponent - shift as i32, ..x }
}
