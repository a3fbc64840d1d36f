//! Error bounds of approximate functions (PTX manual §9.7.3.8, §9.7.3.13–22, §9.7.4.9–10).
//!
//! The bounds are the manual's (docs/approximate.md lists them, and the results of an H200), doubled, because
//! the manual gives some of them as observed. Cases without a bound have no enclosure: `sin` beyond 100π,
//! `div.approx` by very large or subnormal numbers, double precision.

use super::interval::{quotient, square_root};
use ir::{Accuracy, FloatUnary, Format};
use std::f64::consts::PI;

/// Bounds a function over an interval, before rounding to its format.
pub(super) fn unary(op: FloatUnary, format: Format, ends: [f64; 2]) -> Option<[f64; 2]> {
    if format == Format::F64 || ends.iter().any(|end| !end.is_finite()) {
        return None;
    }
    let [low, high] = exact(op, ends)?;
    let error = error(op, format, ends, low.abs().max(high.abs()))?;
    // The library's doubles are within 2^-50 of the function.
    let error = 2.0 * error + 2f64.powi(-50) * low.abs().max(high.abs()) + tiny(format);
    let (low, high) = (low - error, high + error);
    // The sign is guaranteed: powers of two and roots are not negative.
    let positive = matches!(op, FloatUnary::Exp2 | FloatUnary::Sqrt | FloatUnary::ReciprocalSqrt);
    Some([if positive { low.max(0.0) } else { low }, high])
}

/// An error for subnormal results, which may be flushed.
fn tiny(format: Format) -> f64 {
    match format {
        Format::F16 => 2f64.powi(-14),
        _ => 2f64.powi(-126),
    }
}

fn exact(op: FloatUnary, [low, high]: [f64; 2]) -> Option<[f64; 2]> {
    let monotone = |function: fn(f64) -> f64| Some([function(low), function(high)]);
    // Sine and cosine change no faster than their argument.
    let periodic = |function: fn(f64) -> f64| {
        let (middle, radius) = (low + (high - low) / 2.0, high - low);
        (low.abs().max(high.abs()) <= 100.0 * PI)
            .then(|| [function(middle) - radius, function(middle) + radius])
    };
    match op {
        FloatUnary::Sqrt if low >= 0.0 => Some([square_root(low, false), square_root(high, true)]),
        FloatUnary::ReciprocalSqrt if low > 0.0 => {
            let inverse_root = |end: f64, up: bool| quotient(1.0, square_root(end, !up), up);
            Some([inverse_root(high, false), inverse_root(low, true)])
        }
        FloatUnary::Reciprocal if low > 0.0 || high < 0.0 => {
            Some([quotient(1.0, high, false), quotient(1.0, low, true)])
        }
        FloatUnary::Exp2 => monotone(libm::exp2),
        FloatUnary::Log2 if low > 0.0 => monotone(libm::log2),
        FloatUnary::Sin => periodic(libm::sin),
        FloatUnary::Cos => periodic(libm::cos),
        FloatUnary::Tanh => monotone(libm::tanh),
        _ => None,
    }
}

/// The manual's bound on the absolute error for arguments in an interval and results of at most `most`.
fn error(op: FloatUnary, format: Format, [low, high]: [f64; 2], most: f64) -> Option<f64> {
    let single = format == Format::F32;
    Some(match op {
        FloatUnary::Sqrt | FloatUnary::ReciprocalSqrt if single => 2f64.powf(-22.9) * most,
        FloatUnary::Reciprocal if single => 2f64.powi(-23) * most,
        FloatUnary::Exp2 if single => 2f64.powi(-22) * most,
        FloatUnary::Log2 if single => 2f64.powi(-22) * most.max(1.0),
        FloatUnary::Sin | FloatUnary::Cos if single => {
            let near = low.abs().max(high.abs()) <= 2.0 * PI;
            if near { 2f64.powf(-20.5) } else { 2f64.powf(-14.7) }
        }
        FloatUnary::Tanh if single => 2f64.powi(-11) * most,
        FloatUnary::Tanh if format == Format::F16 => 2f64.powf(-10.987),
        FloatUnary::Tanh if format == Format::Bf16 => 2f64.powi(-8),
        FloatUnary::Exp2 if format == Format::F16 => 2f64.powf(-9.9) * most,
        FloatUnary::Exp2 if format == Format::Bf16 => 2f64.powi(-7) * most,
        _ => return None,
    })
}

/// Bounds a quotient, given the exact one and the divisor.
pub(super) fn divide(
    format: Format,
    accuracy: Accuracy,
    [low, high]: [f64; 2],
    divisor: [f64; 2],
) -> Option<[f64; 2]> {
    let size = divisor.map(f64::abs);
    let ordinary = |number: f64| (2f64.powi(-126)..=2f64.powi(126)).contains(&number);
    let promised = match accuracy {
        Accuracy::Approximate => size.iter().all(|&number| ordinary(number)),
        Accuracy::Full => size.iter().all(|number| number.is_finite()),
        Accuracy::Exact => false,
    };
    if format != Format::F32 || !promised || !low.is_finite() || !high.is_finite() {
        return None;
    }
    // Two units in the last place.
    let error = 2.0 * 2f64.powi(-22) * low.abs().max(high.abs()) + tiny(format);
    Some([low - error, high + error])
}
