//! Floats: the scalar functions of [`super::super::float`], 32 at a time.

use super::super as scalar;
use super::super::convert::Conversion;
use super::{Lanes, map1, map2, map3, mask2};
use ir::{FloatBinary, FloatMode, FloatRelation, FloatUnary, Format};

/// Plain rounding to nearest with subnormal numbers flushed.
const FLUSHING: FloatMode = FloatMode { flush: true, ..FloatMode::NEAREST };

/// As [`scalar::float_unary`].
pub fn float_unary(op: FloatUnary, format: Format, mode: FloatMode, out: &mut Lanes, a: &Lanes) {
    match (op, format, mode) {
        (FloatUnary::Negate, Format::F32, FloatMode::NEAREST) => {
            map1(out, a, |a| {
                scalar::float_unary(FloatUnary::Negate, Format::F32, FloatMode::NEAREST, a)
            });
        }
        _ => map1(out, a, |a| scalar::float_unary(op, format, mode, a)),
    }
}

/// As [`scalar::float_binary`].
pub fn float_binary(
    op: FloatBinary,
    format: Format,
    mode: FloatMode,
    out: &mut Lanes,
    a: &Lanes,
    b: &Lanes,
) {
    match (format, mode) {
        (Format::F32, FloatMode::NEAREST) => binary(op, Format::F32, FloatMode::NEAREST, out, a, b),
        (Format::F32, FLUSHING) => binary(op, Format::F32, FLUSHING, out, a, b),
        (Format::F64, FloatMode::NEAREST) => binary(op, Format::F64, FloatMode::NEAREST, out, a, b),
        _ => map2(out, a, b, |a, b| scalar::float_binary(op, format, mode, a, b)),
    }
}

#[inline(always)]
fn binary(op: FloatBinary, format: Format, mode: FloatMode, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    macro_rules! run {
        ($op:expr) => {
            map2(out, a, b, |a, b| scalar::float_binary($op, format, mode, a, b))
        };
    }
    const MIN: FloatBinary = FloatBinary::Min { propagate_nan: false, xor_sign_abs: false };
    const MAX: FloatBinary = FloatBinary::Max { propagate_nan: false, xor_sign_abs: false };
    match op {
        FloatBinary::Add => run!(FloatBinary::Add),
        FloatBinary::Sub => run!(FloatBinary::Sub),
        FloatBinary::Mul => run!(FloatBinary::Mul),
        FloatBinary::Div => run!(FloatBinary::Div),
        MIN => run!(MIN),
        MAX => run!(MAX),
        FloatBinary::Min { .. } | FloatBinary::Max { .. } | FloatBinary::CopySign => run!(op),
    }
}

/// As [`scalar::fma`].
pub fn fma(format: Format, mode: FloatMode, out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    match (format, mode) {
        (Format::F32, FloatMode::NEAREST) => {
            map3(out, a, b, c, |a, b, c| scalar::fma(Format::F32, FloatMode::NEAREST, a, b, c));
        }
        (Format::F32, FLUSHING) => {
            map3(out, a, b, c, |a, b, c| scalar::fma(Format::F32, FLUSHING, a, b, c));
        }
        _ => map3(out, a, b, c, |a, b, c| scalar::fma(format, mode, a, b, c)),
    }
}

/// The lanes in which `a` stands in `relation` to `b`; as [`scalar::float_compare`].
#[must_use]
pub fn float_compare(
    relation: FloatRelation,
    format: Format,
    flush: bool,
    a: &Lanes,
    b: &Lanes,
) -> u32 {
    mask2(a, b, |a, b| scalar::float_compare(relation, format, flush, a, b))
}

/// As [`scalar::convert`].
pub fn convert(conversion: Conversion, out: &mut Lanes, a: &Lanes) {
    map1(out, a, |a| scalar::convert(conversion, a));
}
