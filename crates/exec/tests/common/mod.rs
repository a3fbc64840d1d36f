//! Reference arithmetic from LLVM's software floats, and operands that are likely to find mistakes.

#![allow(dead_code, reason = "each test uses some of it")]

use ir::{Format, Rounding};
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

pub(crate) const ROUNDINGS: [Rounding; 4] =
    [Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up];
pub(crate) const ARITHMETIC: [Format; 4] = [Format::F64, Format::F32, Format::F16, Format::Bf16];

pub(crate) fn round(rounding: Rounding) -> Round {
    match rounding {
        Rounding::NearestEven => Round::NearestTiesToEven,
        Rounding::NearestAway => Round::NearestTiesToAway,
        Rounding::Zero => Round::TowardZero,
        Rounding::Down => Round::TowardNegative,
        Rounding::Up => Round::TowardPositive,
    }
}

/// Runs `$body` with `$F` the reference type of a format.
#[macro_export]
macro_rules! with_reference {
    ($format:expr, $F:ident => $body:expr) => {
        match $format {
            ir::Format::F64 => {
                type $F = rustc_apfloat::ieee::Double;
                $body
            }
            ir::Format::F32 => {
                type $F = rustc_apfloat::ieee::Single;
                $body
            }
            ir::Format::F16 => {
                type $F = rustc_apfloat::ieee::Half;
                $body
            }
            ir::Format::Bf16 => {
                type $F = rustc_apfloat::ieee::BFloat;
                $body
            }
            ir::Format::E4m3 => {
                type $F = rustc_apfloat::ieee::Float8E4M3FN;
                $body
            }
            ir::Format::E5m2 => {
                type $F = rustc_apfloat::ieee::Float8E5M2;
                $body
            }
            ir::Format::Tf32 => unreachable!("the reference has no tf32"),
        }
    };
}

/// A result of the reference: its bits, or `None` for a NaN.
pub(crate) fn result<F: Float>(value: F) -> Option<u64> {
    (!value.is_nan()).then(|| value.to_bits() as u64)
}

/// Converts `bits` to another format by the reference.
pub(crate) fn converted(from: Format, to: Format, rounding: Rounding, bits: u64) -> Option<u64> {
    with_reference!(from, From => to_format(From::from_bits(u128::from(bits)), to, round(rounding)))
}

fn to_format<F>(value: F, to: Format, round: Round) -> Option<u64>
where
    F: FloatConvert<Double>
        + FloatConvert<Single>
        + FloatConvert<Half>
        + FloatConvert<BFloat>
        + FloatConvert<Float8E4M3FN>
        + FloatConvert<Float8E5M2>,
{
    with_reference!(to, To => {
        let converted: rustc_apfloat::StatusAnd<To> = value.convert_r(round, &mut false);
        result(converted.value)
    })
}

/// Patterns around every boundary of a format: zeros, subnormal numbers, powers of two, ones with their
/// neighbours, infinities, NaNs.
pub(crate) fn edges(format: Format) -> Vec<u64> {
    let (exponent_bits, fraction_bits) = match format {
        Format::F64 => (11, 52_u32),
        Format::F32 | Format::Tf32 => (8, 23),
        Format::F16 => (5, 10),
        Format::Bf16 => (8, 7),
        Format::E4m3 => (4, 3),
        Format::E5m2 => (5, 2),
    };
    let highest = (1_u64 << exponent_bits) - 1;
    let bias = highest / 2;
    let step = u64::from(fraction_bits);
    let fields =
        [0, 1, 2, bias - step.min(bias - 1), bias - 1, bias, bias + 1, highest - 1, highest];
    let ones = (1_u64 << fraction_bits) - 1;
    let fractions = [0, 1, 2, ones / 2, ones / 2 + 1, ones - 1, ones, 0x5555_5555_5555_5555 & ones];
    let mut all = Vec::new();
    for field in fields {
        for fraction in fractions {
            let magnitude = (field << fraction_bits) | fraction;
            all.push(magnitude);
            all.push(magnitude | 1 << (format.width().bits() - 1));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}
