//! Conversion between numbers, at least one of them a float (PTX manual §9.7.9.21).
//!
//! Exact. A NaN becomes the integer the manual names. Between floats the manual leaves open which
//! NaN comes out: the canonical one, except that conversions to double precision keep sign and
//! payload and those that only append zeros (`bf16` to single precision) or change nothing keep
//! the bits.

use super::float::{rectified, saturated};
use super::format::{Finite, Number, decode, encode, encode_finite, flushed, infinity, largest};
use super::integer::sign_extend;
use super::{exact, nan};
use ir::{Format, Rounding, Scalar, Width};

/// What to convert to what, and how: the modifiers of [`ir::Op::Convert`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// What the operand is.
    pub from: Scalar,
    /// What the result is.
    pub to: Scalar,
    /// For conversions to integers, how the fraction goes away.
    pub rounding: Rounding,
    /// `.ftz`: subnormal inputs and results in single precision count as zero.
    pub flush: bool,
    /// `.sat`: floats to [0, 1], NaN to 0. Integers are clamped with or without.
    pub saturate: bool,
    /// `.satfinite`: overflow and infinities give the largest finite number.
    pub finite: bool,
    /// `.relu`: negative results become 0, NaN the canonical one.
    pub relu: bool,
}

impl Conversion {
    /// To nearest even, without modifiers.
    #[must_use]
    pub const fn nearest(from: Scalar, to: Scalar) -> Self {
        let rounding = Rounding::NearestEven;
        Self { from, to, rounding, flush: false, saturate: false, finite: false, relu: false }
    }
}

/// Converts one number.
#[inline]
#[must_use]
pub fn convert(conversion: Conversion, a: u64) -> u64 {
    match (conversion.from, conversion.to) {
        (Scalar::Float(from), Scalar::Float(to)) => between_floats(conversion, from, to, a),
        (Scalar::Integer { width, signed }, Scalar::Float(to)) => {
            let number = from_integer(width, signed, a);
            modified(conversion, to, encode(to, conversion.rounding, number))
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

/// The number that an integer is.
fn from_integer(width: Width, signed: bool, a: u64) -> Finite {
    let value = sign_extend(width, a);
    let negative = signed && value < 0;
    let magnitude = if negative { value.unsigned_abs() } else { a };
    Finite { negative, significand: u128::from(magnitude), exponent: 0 }
}

/// Rounds, then clamps to the range of the integer.
fn to_integer(rounding: Rounding, from: Format, width: Width, signed: bool, a: u64) -> u64 {
    let sign = 1 << (width.bits() - 1);
    let (lowest, highest) = if signed { (sign, sign - 1) } else { (0, width.mask()) };
    let limit = |negative| if negative { lowest } else { highest };
    match decode(from, a) {
        Number::Nan if from == Format::F64 || width == Width::B64 => sign,
        Number::Nan => 0,
        Number::Infinite { negative } => limit(negative),
        Number::Finite(number) => {
            let number = exact::round_to_integral(number, rounding);
            let Finite { negative, significand, exponent } = number;
            // Beyond 2^64 every integer is at its limit.
            let beyond = significand != 0 && exponent + significand.ilog2() as i32 >= 64;
            let magnitude = if beyond { u128::MAX } else { significand << exponent };
            let largest = if negative && signed { sign } else { limit(negative) };
            match (magnitude > u128::from(largest), negative) {
                (true, negative) => limit(negative),
                (false, true) => (magnitude as u64).wrapping_neg() & width.mask(),
                (false, false) => magnitude as u64,
            }
        }
    }
}

fn between_floats(conversion: Conversion, from: Format, to: Format, a: u64) -> u64 {
    let Conversion { rounding, flush, finite, .. } = conversion;
    let a = flushed(from, flush && from == Format::F32, a);
    let bits = match decode(from, a) {
        Number::Finite(number) if finite => {
            encode_finite(to, rounding, number).unwrap_or(largest(to, number.negative))
        }
        Number::Finite(number) => encode(to, rounding, number),
        Number::Infinite { negative } if finite => largest(to, negative),
        Number::Infinite { negative } => infinity(to, negative),
        Number::Nan => converted_nan(conversion, from, to, a),
    };
    modified(conversion, to, bits)
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

/// Applies the modifiers that look at the result.
#[inline(always)]
fn modified(conversion: Conversion, to: Format, bits: u64) -> u64 {
    let Conversion { flush, saturate, relu, .. } = conversion;
    let bits = flushed(to, flush && to == Format::F32, bits);
    let bits = if saturate { saturated(to, bits) } else { bits };
    if relu { rectified(to, bits) } else { bits }
}
