//! Functions with an error bound but without fixed bits in the manual (PTX manual §9.7.3.8, §9.7.3.13–22,
//! §9.7.4.9–10).
//!
//! They are computed in double precision and rounded to nearest. That is within the manual's bounds, with the
//! special values of its tables. **Not bit-exact**: hardware may differ in the last bits. `sin` and `cos`
//! stay accurate for large arguments, for which the manual promises nothing.
//!
//! `rcp.approx`, `sqrt.approx` and `div.full` of single precision are not here: they are the correctly
//! rounded operations.

use super::float::finish;
use super::format::{from_f64, is_infinite, is_nan, to_f64, with_sign};
use super::nan;
use ir::{Accuracy, FloatMode, FloatUnary, Format, RealFunction};

/// Computes a function of one operand, already flushed.
pub(super) fn unary(op: FloatUnary, format: Format, mode: FloatMode, a: u64) -> u64 {
    let x = to_f64(format, a);
    let value = match op {
        FloatUnary::ReciprocalSqrt => 1.0 / x.sqrt(),
        FloatUnary::Reciprocal => 1.0 / x,
        FloatUnary::Exp2 => libm::exp2(x),
        FloatUnary::Log2 => libm::log2(x),
        FloatUnary::Sin => libm::sin(x),
        FloatUnary::Cos => libm::cos(x),
        FloatUnary::Tanh => libm::tanh(x),
        FloatUnary::Negate | FloatUnary::Abs | FloatUnary::Sqrt | FloatUnary::RoundToIntegral => {
            unreachable!("{op:?} is computed exactly")
        }
    };
    // `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64` have a NaN of their own.
    let gross = format == Format::F64 && mode.flush && mode.accuracy == Accuracy::Approximate;
    if value.is_nan() && gross {
        return nan::GROSS;
    }
    finish(format, mode, nearest(format, value, a))
}

/// Computes `div.approx`: the reciprocal of a divisor beyond 2^126 counts as zero.
pub(super) fn divide(format: Format, a: u64, b: u64) -> u64 {
    let (x, y) = (to_f64(format, a), to_f64(format, b));
    let vanishes = y.abs() > 2f64.powi(126) && y.abs() < 2f64.powi(128);
    if format == Format::F32 && vanishes && !is_nan(format, a) {
        let negative = x.is_sign_negative() != y.is_sign_negative();
        let invalid = is_infinite(format, a);
        return if invalid { nan::canonical(format) } else { with_sign(format, negative, 0) };
    }
    nearest(format, x / y, a)
}

/// Computes a math function of doubles for which PTX has no instruction, within a few units in the last place.
/// Returns `None` if it is unsupported.
pub(crate) fn real_function(function: RealFunction, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let value = match function {
        RealFunction::Exp => libm::exp(x),
        RealFunction::Exp2 => libm::exp2(x),
        RealFunction::Exp10 => libm::exp10(x),
        RealFunction::Expm1 => libm::expm1(x),
        RealFunction::Log => libm::log(x),
        RealFunction::Log2 => libm::log2(x),
        RealFunction::Log10 => libm::log10(x),
        RealFunction::Log1p => libm::log1p(x),
        RealFunction::Tanh => libm::tanh(x),
        RealFunction::Sinh => libm::sinh(x),
        RealFunction::Cosh => libm::cosh(x),
        RealFunction::Erf => libm::erf(x),
        RealFunction::Erfc => libm::erfc(x),
        RealFunction::Sin => libm::sin(x),
        RealFunction::Cos => libm::cos(x),
        RealFunction::Tan => libm::tan(x),
        RealFunction::Cbrt => libm::cbrt(x),
        RealFunction::Pow => libm::pow(x, y),
        RealFunction::Hypot => libm::hypot(x, y),
        RealFunction::Fmod => libm::fmod(x, y),
        RealFunction::RoundAway => libm::round(x),
        RealFunction::Asin => libm::asin(x),
        RealFunction::Acos => libm::acos(x),
        RealFunction::Atan => libm::atan(x),
        RealFunction::Atan2 => libm::atan2(x, y),
        RealFunction::Asinh => libm::asinh(x),
        RealFunction::Acosh => libm::acosh(x),
        RealFunction::Atanh => libm::atanh(x),
        RealFunction::NormCdf => libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2) / 2.0,
        RealFunction::Lgamma => libm::lgamma(x),
        RealFunction::TimesPi => x * std::f64::consts::PI,
        RealFunction::ErfInv | RealFunction::Named(..) => return None,
    };
    Some(nearest(Format::F64, value, a))
}

/// Rounds `value` to `format`; a NaN comes from `operand` or is new.
fn nearest(format: Format, value: f64, operand: u64) -> u64 {
    match (format, value.is_nan()) {
        (Format::F64, false) => value.to_bits(),
        (Format::F64, true) => nan::result(format, [operand]),
        _ => from_f64(format, value),
    }
}
