//! Floating-point arithmetic and comparison (PTX manual §9.7.3–9.7.7).
//!
//! Correctly rounded in all directions. Rounding to nearest uses the host's IEEE 754 arithmetic where
//! possible, and 128-bit integers otherwise. Approximate functions are in `approximate`.
//!
//! Left open by the manual and chosen here: the resulting NaN (see [`nan`](super::nan)); `.sat` and `.relu`
//! turn −0 into +0; `abs` and `neg` of a NaN change its sign in double precision and give the canonical NaN
//! otherwise.

use super::format::{
    Finite, Number, decode, encode, flushed, from_f64, infinity, is_infinite, is_nan, is_negative,
    is_subnormal, one, sign_bit, single_or_nan, to_f64, with_sign,
};
use super::{approximate, exact, nan};
use ir::{
    Accuracy, FloatBinary, FloatMode, FloatProperty, FloatRelation, FloatUnary, Format, Relation,
    Rounding,
};

/// Computes an operation with one operand.
#[inline(always)]
#[must_use]
pub fn float_unary(op: FloatUnary, format: Format, mode: FloatMode, a: u64) -> u64 {
    let a = flushed(format, mode.flush, a);
    match op {
        FloatUnary::Negate => with_new_sign(format, a, a ^ sign_bit(format)),
        FloatUnary::Abs => with_new_sign(format, a, a & !sign_bit(format)),
        FloatUnary::Sqrt => finish(format, mode, square_root(format, mode.rounding, a)),
        FloatUnary::Reciprocal if format == Format::F64 && mode.accuracy != Accuracy::Exact => {
            approximate::unary(op, format, mode, a)
        }
        FloatUnary::Reciprocal => {
            finish(format, mode, divide(format, mode.rounding, one(format), a))
        }
        FloatUnary::RoundToIntegral => {
            finish(format, mode, round_to_integral(format, mode.rounding, a))
        }
        FloatUnary::ReciprocalSqrt
        | FloatUnary::Exp2
        | FloatUnary::Log2
        | FloatUnary::Sin
        | FloatUnary::Cos
        | FloatUnary::Tanh => approximate::unary(op, format, mode, a),
    }
}

/// Computes an operation with two operands.
#[inline(always)]
#[must_use]
pub fn float_binary(op: FloatBinary, format: Format, mode: FloatMode, a: u64, b: u64) -> u64 {
    if op == FloatBinary::CopySign {
        let sign = sign_bit(format);
        return (a & sign) | (b & !sign);
    }
    let (a, b) = (flushed(format, mode.flush, a), flushed(format, mode.flush, b));
    let result = match op {
        FloatBinary::Add => sum(format, mode.rounding, a, b),
        FloatBinary::Sub => sum(format, mode.rounding, a, b ^ sign_bit(format)),
        FloatBinary::Mul => product(format, mode.rounding, a, b),
        FloatBinary::Div if mode.accuracy == Accuracy::Approximate => {
            approximate::divide(format, a, b)
        }
        FloatBinary::Div => divide(format, mode.rounding, a, b),
        FloatBinary::Min { propagate_nan, xor_sign_abs } => {
            extremum(format, Extremum { max: false, propagate_nan, xor_sign_abs }, a, b)
        }
        FloatBinary::Max { propagate_nan, xor_sign_abs } => {
            extremum(format, Extremum { max: true, propagate_nan, xor_sign_abs }, a, b)
        }
        FloatBinary::CopySign => b,
    };
    finish(format, mode, result)
}

/// Computes `a·b + c`, rounded once.
#[inline(always)]
#[must_use]
pub fn fma(format: Format, mode: FloatMode, a: u64, b: u64, c: u64) -> u64 {
    let (a, b) = (flushed(format, mode.flush, a), flushed(format, mode.flush, b));
    let c = flushed(format, mode.flush, c);
    finish(format, mode, fused(format, mode.rounding, a, b, c))
}

/// Compares `a` with `b`. Zeros of both signs are equal.
#[inline(always)]
#[must_use]
pub fn float_compare(relation: FloatRelation, format: Format, flush: bool, a: u64, b: u64) -> bool {
    let a = to_f64(format, flushed(format, flush, a));
    let b = to_f64(format, flushed(format, flush, b));
    Outcomes::of(relation).contain(a, b)
}

/// The outcomes that make a comparison true. Exactly one of the four occurs.
#[derive(Clone, Copy)]
pub(super) struct Outcomes {
    less: bool,
    equal: bool,
    greater: bool,
    unordered: bool,
}

impl Outcomes {
    #[inline(always)]
    pub(super) const fn of(relation: FloatRelation) -> Self {
        let (less, equal, greater, unordered) = match relation {
            FloatRelation::BothNumbers => (true, true, true, false),
            FloatRelation::EitherNan => (false, false, false, true),
            FloatRelation::Order { relation, or_unordered } => match relation {
                Relation::Eq => (false, true, false, or_unordered),
                Relation::Ne => (true, false, true, or_unordered),
                Relation::Lt => (true, false, false, or_unordered),
                Relation::Le => (true, true, false, or_unordered),
                Relation::Gt => (false, false, true, or_unordered),
                Relation::Ge => (false, true, true, or_unordered),
            },
        };
        Self { less, equal, greater, unordered }
    }

    /// Returns `true` if the outcome of comparing `a` with `b` is one of them.
    #[inline(always)]
    pub(super) fn contain<T: PartialOrd>(self, a: T, b: T) -> bool {
        let (less, equal, greater) = (a < b, a == b, a > b);
        (less & self.less)
            | (equal & self.equal)
            | (greater & self.greater)
            | (!(less | equal | greater) & self.unordered)
    }
}

/// Returns `true` if `a` has a property. Zeros count as normal.
#[must_use]
pub fn float_test(property: FloatProperty, format: Format, a: u64) -> bool {
    let special = is_nan(format, a) || is_infinite(format, a);
    match property {
        FloatProperty::Finite => !special,
        FloatProperty::Infinite => is_infinite(format, a),
        FloatProperty::Number => !is_nan(format, a),
        FloatProperty::NotANumber => is_nan(format, a),
        FloatProperty::Normal => !special && !is_subnormal(format, a),
        FloatProperty::Subnormal => is_subnormal(format, a),
    }
}

/// Flushes and clamps a result according to the mode.
#[inline(always)]
pub(super) fn finish(format: Format, mode: FloatMode, bits: u64) -> u64 {
    let bits = flushed(format, mode.flush, bits);
    let bits = if mode.saturate { saturated(format, bits) } else { bits };
    if mode.relu { rectified(format, bits) } else { bits }
}

/// Clamps to [0, 1]; NaN becomes 0.
#[inline(always)]
pub(super) fn saturated(format: Format, bits: u64) -> u64 {
    if is_nan(format, bits) || is_negative(format, bits) {
        return 0;
    }
    bits.min(one(format))
}

/// Replaces negative numbers by 0 and NaNs by the canonical one.
#[inline(always)]
pub(super) fn rectified(format: Format, bits: u64) -> u64 {
    if is_nan(format, bits) {
        return nan::canonical(format);
    }
    if is_negative(format, bits) { 0 } else { bits }
}

#[inline(always)]
fn with_new_sign(format: Format, a: u64, changed: u64) -> u64 {
    if format != Format::F64 && is_nan(format, a) { nan::canonical(format) } else { changed }
}

/// Returns `bits`, or the NaN that results from `operands` if the result is a NaN.
#[inline(always)]
fn or_nan<const N: usize>(format: Format, bits: u64, operands: [u64; N]) -> u64 {
    if is_nan(format, bits) { nan::result(format, operands) } else { bits }
}

#[inline(always)]
fn sum(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    let bits = match (format, rounding) {
        (Format::F32, Rounding::NearestEven) => return single_or_nan(single(a) + single(b)),
        (Format::F64, Rounding::NearestEven) => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        (Format::F16 | Format::Bf16, Rounding::NearestEven) => {
            return from_f64(format, sum_to_odd(to_f64(format, a), to_f64(format, b)));
        }
        _ => return sum_exactly(format, rounding, a, b),
    };
    or_nan(format, bits, [a, b])
}

#[inline(always)]
fn product(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    let bits = match (format, rounding) {
        (Format::F32, Rounding::NearestEven) => return single_or_nan(single(a) * single(b)),
        (Format::F64, Rounding::NearestEven) => (f64::from_bits(a) * f64::from_bits(b)).to_bits(),
        (Format::F16 | Format::Bf16, Rounding::NearestEven) => {
            return from_f64(format, to_f64(format, a) * to_f64(format, b));
        }
        _ => return product_exactly(format, rounding, a, b),
    };
    or_nan(format, bits, [a, b])
}

#[inline(always)]
fn divide(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    let bits = match (format, rounding) {
        (Format::F32, Rounding::NearestEven) => return single_or_nan(single(a) / single(b)),
        (Format::F64, Rounding::NearestEven) => (f64::from_bits(a) / f64::from_bits(b)).to_bits(),
        _ => return divide_exactly(format, rounding, a, b),
    };
    or_nan(format, bits, [a, b])
}

#[inline(always)]
fn square_root(format: Format, rounding: Rounding, a: u64) -> u64 {
    let bits = match (format, rounding) {
        (Format::F32, Rounding::NearestEven) => return single_or_nan(single(a).sqrt()),
        (Format::F64, Rounding::NearestEven) => f64::from_bits(a).sqrt().to_bits(),
        _ => return square_root_exactly(format, rounding, a),
    };
    or_nan(format, bits, [a])
}

#[inline(always)]
fn fused(format: Format, rounding: Rounding, a: u64, b: u64, c: u64) -> u64 {
    let bits = match (format, rounding) {
        (Format::F32, Rounding::NearestEven) => {
            return single_or_nan(fused_single(single(a), single(b), single(c)));
        }
        (Format::F64, Rounding::NearestEven) => {
            f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits()
        }
        (Format::F16 | Format::Bf16, Rounding::NearestEven) => {
            let product = to_f64(format, a) * to_f64(format, b);
            return from_f64(format, sum_to_odd(product, to_f64(format, c)));
        }
        _ => return fused_exactly(format, rounding, a, b, c),
    };
    or_nan(format, bits, [a, b, c])
}

#[inline(always)]
const fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// Computes `a·b + c` in single precision, correctly rounded without a fused instruction.
///
/// The product is exact in double precision. The sum is rounded to odd: if it is inexact, to the neighbour
/// with the odd significand. Rounding that to single precision gives the same as rounding once, since double
/// precision has more than two bits to spare (Boldo and Melquiond, "Emulation of FMA and correctly rounded
/// sums: proved algorithms using rounding to odd", 2008).
#[inline(always)]
pub(super) fn fused_single(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_feature = "fma") {
        return a.mul_add(b, c);
    }
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    sum_to_odd(product, c) as f32
}

/// Computes `x + y` rounded to odd, unless it overflows.
#[inline(always)]
fn sum_to_odd(x: f64, y: f64) -> f64 {
    let sum = x + y;
    // The exact rounding error (Knuth's two-sum); NaN with infinities.
    let part = sum - x;
    let error = (x - (sum - part)) + (y - part);
    let bits = sum.to_bits();
    // If the last bit is even, move one step away from zero or towards it. Masks instead of branches suit
    // vector units.
    let step = 1_u64.wrapping_sub(((bits ^ error.to_bits()) >> 63) << 1);
    let if_even = (bits & 1).wrapping_sub(1);
    let adjustment = if error.abs() > 0.0 { step & if_even } else { 0 };
    f64::from_bits(bits.wrapping_add(adjustment))
}

fn sum_exactly(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    use Number::{Infinite, Nan};
    match (decode(format, a), decode(format, b)) {
        (Number::Finite(x), Number::Finite(y)) => {
            encode(format, rounding, exact::add(x, y, rounding))
        }
        (Nan, _) | (_, Nan) => nan::result(format, [a, b]),
        (Infinite { negative: x }, Infinite { negative: y }) if x != y => nan::result(format, []),
        (Infinite { negative }, _) | (_, Infinite { negative }) => infinity(format, negative),
    }
}

fn product_exactly(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    match multiplied(decode(format, a), decode(format, b)) {
        Number::Finite(product) => encode(format, rounding, product),
        Number::Infinite { negative } => infinity(format, negative),
        Number::Nan => nan::result(format, [a, b]),
    }
}

/// Computes the exact product.
fn multiplied(a: Number, b: Number) -> Number {
    use Number::{Infinite, Nan};
    match (a, b) {
        (Number::Finite(x), Number::Finite(y)) => Number::Finite(exact::multiply(x, y)),
        (Nan, _) | (_, Nan) => Nan,
        (Infinite { negative: x }, Infinite { negative: y }) => Infinite { negative: x != y },
        (Infinite { negative }, Number::Finite(finite))
        | (Number::Finite(finite), Infinite { negative }) => match finite.is_zero() {
            true => Nan,
            false => Infinite { negative: negative != finite.negative },
        },
    }
}

fn divide_exactly(format: Format, rounding: Rounding, a: u64, b: u64) -> u64 {
    use Number::{Infinite, Nan};
    let negative = is_negative(format, a) != is_negative(format, b);
    match (decode(format, a), decode(format, b)) {
        (Nan, _) | (_, Nan) => nan::result(format, [a, b]),
        (Infinite { .. }, Infinite { .. }) => nan::result(format, []),
        (Infinite { .. }, Number::Finite(_)) => infinity(format, negative),
        (Number::Finite(_), Infinite { .. }) => with_sign(format, negative, 0),
        (Number::Finite(x), Number::Finite(y)) => match (x.is_zero(), y.is_zero()) {
            (true, true) => nan::result(format, []),
            (false, true) => infinity(format, negative),
            (_, false) => encode(format, rounding, exact::divide(x, y)),
        },
    }
}

fn square_root_exactly(format: Format, rounding: Rounding, a: u64) -> u64 {
    match decode(format, a) {
        Number::Finite(x) if x.is_zero() || !x.negative => {
            encode(format, rounding, exact::square_root(x))
        }
        Number::Infinite { negative: false } => a,
        Number::Finite(_) | Number::Infinite { .. } | Number::Nan => nan::result(format, [a]),
    }
}

fn fused_exactly(format: Format, rounding: Rounding, a: u64, b: u64, c: u64) -> u64 {
    use Number::{Infinite, Nan};
    match (multiplied(decode(format, a), decode(format, b)), decode(format, c)) {
        (Number::Finite(product), Number::Finite(c)) => {
            encode(format, rounding, exact::add(product, c, rounding))
        }
        (Nan, _) | (_, Nan) => nan::result(format, [a, b, c]),
        (Infinite { negative: x }, Infinite { negative: y }) if x != y => nan::result(format, []),
        (Infinite { negative }, _) | (_, Infinite { negative }) => infinity(format, negative),
    }
}

fn round_to_integral(format: Format, rounding: Rounding, a: u64) -> u64 {
    match decode(format, a) {
        Number::Finite(x) => {
            let Finite { negative, significand, exponent } = exact::round_to_integral(x, rounding);
            encode(format, Rounding::Zero, Finite { negative, significand, exponent })
        }
        Number::Infinite { .. } => a,
        Number::Nan => nan::result(format, [a]),
    }
}

/// The variant of a minimum or maximum.
#[derive(Clone, Copy)]
struct Extremum {
    max: bool,
    propagate_nan: bool,
    xor_sign_abs: bool,
}

#[inline(always)]
fn extremum(format: Format, kind: Extremum, a: u64, b: u64) -> u64 {
    let sign = sign_bit(format);
    let (x, y) = if kind.xor_sign_abs { (a & !sign, b & !sign) } else { (a, b) };
    let (x_nan, y_nan) = (is_nan(format, x), is_nan(format, y));
    if (x_nan && y_nan) || (kind.propagate_nan && (x_nan || y_nan)) {
        return nan::result(format, [b, a]);
    }
    let chosen = match (x_nan, y_nan) {
        (true, _) => y,
        (_, true) => x,
        _ if (order(format, x) < order(format, y)) == kind.max => y,
        _ => x,
    };
    if kind.xor_sign_abs { chosen | ((a ^ b) & sign) } else { chosen }
}

/// A sort key for numbers; −0 is below +0.
#[inline(always)]
fn order(format: Format, bits: u64) -> i64 {
    let magnitude = (bits & !sign_bit(format)) as i64;
    if is_negative(format, bits) { !magnitude } else { magnitude }
}
