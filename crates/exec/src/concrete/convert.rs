//! Conversion between numbers, at least one of them a float (PTX manual §9.7.9.21).
//!
//! Exact. A NaN becomes the integer that the manual specifies. Between floats the manual does not specify the
//! resulting NaN. Here it is the canonical one, with two exceptions: conversions to double precision keep
//! sign and payload, and conversions that only append zeros (`bf16` to single precision) or change nothing
//! keep the bits.

use super::float::{rectified, saturated};
use super::format::{
    Finite, Number, decode, encode, encode_finite, flushed, from_f64, infinity, is_nan, largest,
    to_f64,
};
use super::integer::sign_extend;
use super::nan;
use ir::{Format, Rounding, Scalar, Width};

/// Types and modifiers of a conversion ([`ir::Op::Convert`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The type of the operand.
    pub from: Scalar,
    /// The type of the result.
    pub to: Scalar,
    /// For conversions to integers, the rounding of the fraction.
    pub rounding: Rounding,
    /// `.ftz`: subnormal inputs and results in single precision count as zero.
    pub flush: bool,
    /// `.sat`: floats to [0, 1], NaN to 0. Integers are clamped with or without it.
    pub saturate: bool,
    /// `.satfinite`: overflow and infinities give the largest finite number.
    pub finite: bool,
    /// `.relu`: negative results become 0, NaN the canonical one.
    pub relu: bool,
}

impl Conversion {
    /// A conversion rounded to nearest even, without modifiers.
    #[must_use]
    pub const fn nearest(from: Scalar, to: Scalar) -> Self {
        let rounding = Rounding::NearestEven;
        Self { from, to, rounding, flush: false, saturate: false, finite: false, relu: false }
    }
}

/// Converts one number.
#[inline(always)]
#[must_use]
pub fn convert(conversion: Conversion, a: u64) -> u64 {
    match (conversion.from, conversion.to) {
        (Scalar::Float(from), Scalar::Float(to)) => between_floats(conversion, from, to, a),
        (Scalar::Integer { width, signed }, Scalar::Float(to)) => {
            modified(conversion, to, from_integer(conversion.rounding, width, signed, to, a))
        }
        (Scalar::Float(from), Scalar::Integer { width, signed }) => {
            let a = flushed(from, conversion.flush && from == Format::F32, a);
            to_integer(conversion.rounding, from, width, signed, a)
        }
        (Scalar::Integer { width, signed }, Scalar::Integer { width: to, .. }) => {
            super::resize(width, signed, to, a)
        }
    }
}

#[inline(always)]
fn from_integer(rounding: Rounding, width: Width, signed: bool, to: Format, a: u64) -> u64 {
    let value = sign_extend(width, a);
    match (to, rounding, signed) {
        (Format::F32, Rounding::NearestEven, true) => (value as f32).to_bits().into(),
        (Format::F32, Rounding::NearestEven, false) => (a as f32).to_bits().into(),
        _ => {
            let negative = signed && value < 0;
            let magnitude = if negative { value.unsigned_abs() } else { a };
            let number = Finite { negative, significand: u128::from(magnitude), exponent: 0 };
            encode(to, rounding, number)
        }
    }
}

/// Rounds, then clamps to the range of the integer. Double precision holds every operand, rounded or not.
#[inline(always)]
fn to_integer(rounding: Rounding, from: Format, width: Width, signed: bool, a: u64) -> u64 {
    let value = to_f64(from, a);
    let sign = 1 << (width.bits() - 1);
    if value.is_nan() {
        return if from == Format::F64 || width == Width::B64 { sign } else { 0 };
    }
    let value = match rounding {
        Rounding::NearestEven => value.round_ties_even(),
        Rounding::NearestAway => value.round(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    };
    match signed {
        true => {
            let highest = (sign - 1) as i64;
            (value as i64).clamp(!highest, highest) as u64 & width.mask()
        }
        false => (value as u64).min(width.mask()),
    }
}

#[inline(always)]
fn between_floats(conversion: Conversion, from: Format, to: Format, a: u64) -> u64 {
    let Conversion { rounding, finite, .. } = conversion;
    let a = flushed(from, conversion.flush && from == Format::F32, a);
    if is_nan(from, a) {
        return modified(conversion, to, converted_nan(conversion, from, to, a));
    }
    let bits = match (from == to, to, rounding) {
        (true, ..) if !finite => a,
        (_, Format::F64, _) => to_f64(from, a).to_bits(),
        (_, _, Rounding::NearestEven) if !finite => from_f64(to, to_f64(from, a)),
        _ => between_floats_exactly(rounding, finite, from, to, a),
    };
    modified(conversion, to, bits)
}

fn between_floats_exactly(
    rounding: Rounding,
    finite: bool,
    from: Format,
    to: Format,
    a: u64,
) -> u64 {
    match decode(from, a) {
        Number::Finite(number) if finite => {
            encode_finite(to, rounding, number).unwrap_or(largest(to, number.negative))
        }
        Number::Finite(number) => encode(to, rounding, number),
        Number::Infinite { negative } if finite => largest(to, negative),
        Number::Infinite { negative } => infinity(to, negative),
        Number::Nan => nan::canonical(to),
    }
}

fn converted_nan(conversion: Conversion, from: Format, to: Format, a: u64) -> u64 {
    let plain = !(conversion.flush || conversion.finite || conversion.relu);
    match (from, to) {
        (_, Format::F64) if from != to => nan::widened(from, a),
        (Format::Bf16, Format::F32) if plain => a << 16,
        _ if from == to && plain => a,
        _ => nan::canonical(to),
    }
}

/// Applies the modifiers of the result.
#[inline(always)]
fn modified(conversion: Conversion, to: Format, bits: u64) -> u64 {
    let Conversion { flush, saturate, relu, .. } = conversion;
    let bits = flushed(to, flush && to == Format::F32, bits);
    let bits = if saturate { saturated(to, bits) } else { bits };
    if relu { rectified(to, bits) } else { bits }
}
