//! Floats: the scalar functions of [`super::super::float`], 32 at a time.

use super::super as scalar;
use super::super::convert::Conversion;
use super::super::float::Outcomes;
use super::{LANES, Lanes, each_lane, gather, narrow};
use ir::{FloatBinary, FloatMode, FloatRelation, FloatUnary, Format, Rounding, Scalar, Width};

/// Round to nearest with subnormal numbers flushed.
const FLUSHING: FloatMode = FloatMode { flush: true, ..FloatMode::NEAREST };

/// Runs `$body` with names bound to format and mode. For the usual ones they are constants, for which the compiler
/// specialises the body.
macro_rules! for_format {
    ($format:expr, $mode:expr, $constant:ident, $constant_mode:ident => $body:expr) => {
        for_format!(@ $format, $mode, $constant, $constant_mode => $body,
            [(F32, FloatMode::NEAREST), (F32, FLUSHING), (F64, FloatMode::NEAREST),
             (F16, FloatMode::NEAREST), (Bf16, FloatMode::NEAREST)])
    };
    (@ $format:expr, $mode:expr, $constant:ident, $constant_mode:ident => $body:expr,
     [$(($name:ident, $plain:path)),*]) => {
        match ($format, $mode) {
            $((Format::$name, $plain) => {
                const $constant: Format = Format::$name;
                const $constant_mode: FloatMode = $plain;
                $body
            })*
            #[expect(non_snake_case, reason = "constants in the other arms")]
            ($constant, $constant_mode) => $body,
        }
    };
}

/// Like [`scalar::float_unary`].
pub fn float_unary(op: FloatUnary, format: Format, mode: FloatMode, out: &mut Lanes, a: &Lanes) {
    match op {
        FloatUnary::Negate => unary(FloatUnary::Negate, format, mode, out, a),
        FloatUnary::Abs => unary(FloatUnary::Abs, format, mode, out, a),
        FloatUnary::Sqrt => unary(FloatUnary::Sqrt, format, mode, out, a),
        FloatUnary::Reciprocal => unary(FloatUnary::Reciprocal, format, mode, out, a),
        FloatUnary::RoundToIntegral
        | FloatUnary::ReciprocalSqrt
        | FloatUnary::Exp2
        | FloatUnary::Log2
        | FloatUnary::Sin
        | FloatUnary::Cos
        | FloatUnary::Tanh => {
            each_lane!(out = scalar::float_unary(op, format, mode, x); x in a);
        }
    }
}

#[inline(always)]
fn unary(op: FloatUnary, format: Format, mode: FloatMode, out: &mut Lanes, a: &Lanes) {
    for_format!(format, mode, FORMAT, MODE => {
        each_lane!(out = scalar::float_unary(op, FORMAT, MODE, x); x in a);
    });
}

/// Like [`scalar::float_binary`].
pub fn float_binary(
    op: FloatBinary,
    format: Format,
    mode: FloatMode,
    out: &mut Lanes,
    a: &Lanes,
    b: &Lanes,
) {
    if format == Format::F32 && matches!(mode, FloatMode::NEAREST | FLUSHING) {
        let mut singles = [0; LANES];
        narrow::float_binary(op, mode.flush, &mut singles, &low(a), &low(b));
        return *out = singles.map(u64::from);
    }
    const MIN: FloatBinary = FloatBinary::Min { propagate_nan: false, xor_sign_abs: false };
    const MAX: FloatBinary = FloatBinary::Max { propagate_nan: false, xor_sign_abs: false };
    match op {
        FloatBinary::Add => binary(FloatBinary::Add, format, mode, out, a, b),
        FloatBinary::Sub => binary(FloatBinary::Sub, format, mode, out, a, b),
        FloatBinary::Mul => binary(FloatBinary::Mul, format, mode, out, a, b),
        FloatBinary::Div => binary(FloatBinary::Div, format, mode, out, a, b),
        MIN => binary(MIN, format, mode, out, a, b),
        MAX => binary(MAX, format, mode, out, a, b),
        FloatBinary::Min { .. } | FloatBinary::Max { .. } | FloatBinary::CopySign => {
            each_lane!(out = scalar::float_binary(op, format, mode, x, y); x in a, y in b);
        }
    }
}

#[inline(always)]
fn binary(op: FloatBinary, format: Format, mode: FloatMode, out: &mut Lanes, a: &Lanes, b: &Lanes) {
    for_format!(format, mode, FORMAT, MODE => {
        each_lane!(out = scalar::float_binary(op, FORMAT, MODE, x, y); x in a, y in b);
    });
}

/// The low 32 bits of every lane.
#[inline(always)]
fn low(lanes: &Lanes) -> super::Narrow {
    lanes.map(|bits| bits as u32)
}

/// Like [`scalar::fma`].
pub fn fma(format: Format, mode: FloatMode, out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    if format == Format::F32 && matches!(mode, FloatMode::NEAREST | FLUSHING) {
        let mut singles = [0; LANES];
        narrow::fma(mode.flush, &mut singles, &low(a), &low(b), &low(c));
        return *out = singles.map(u64::from);
    }
    for_format!(format, mode, FORMAT, MODE => {
        each_lane!(out = scalar::fma(FORMAT, MODE, x, y, z); x in a, y in b, z in c);
    });
}

/// Returns the lanes for which the comparison holds; like [`scalar::float_compare`].
#[must_use]
pub fn float_compare(
    relation: FloatRelation,
    format: Format,
    flush: bool,
    a: &Lanes,
    b: &Lanes,
) -> u32 {
    let mut truths = [0; LANES];
    let outcomes = Outcomes::of(relation);
    match (format, flush) {
        (Format::F32, false) => {
            let single = |bits: u64| f32::from_bits(bits as u32);
            each_lane!(truths = outcomes.contain(single(x), single(y)).into(); x in a, y in b);
        }
        (Format::F64, false) => {
            let double = f64::from_bits;
            each_lane!(truths = outcomes.contain(double(x), double(y)).into(); x in a, y in b);
        }
        _ => each_lane!(
            truths = scalar::float_compare(relation, format, flush, x, y).into(); x in a, y in b
        ),
    }
    gather(&truths)
}

/// Like [`scalar::convert()`].
pub fn convert(conversion: Conversion, out: &mut Lanes, a: &Lanes) {
    const S32: Scalar = Scalar::Integer { width: Width::B32, signed: true };
    const U32: Scalar = Scalar::Integer { width: Width::B32, signed: false };
    const F32: Scalar = Scalar::Float(Format::F32);
    const F16: Scalar = Scalar::Float(Format::F16);
    const BF16: Scalar = Scalar::Float(Format::Bf16);
    const TRUNCATE: Conversion =
        Conversion { rounding: Rounding::Zero, saturate: true, ..Conversion::nearest(F32, S32) };
    const CASES: [Conversion; 7] = [
        Conversion::nearest(F32, F16),
        Conversion::nearest(F32, BF16),
        Conversion::nearest(F16, F32),
        Conversion::nearest(BF16, F32),
        Conversion::nearest(S32, F32),
        Conversion::nearest(U32, F32),
        TRUNCATE,
    ];
    macro_rules! run {
        ($($case:literal),*) => {
            $(if conversion == CASES[$case] {
                each_lane!(out = scalar::convert(CASES[$case], x); x in a);
                return;
            })*
        };
    }
    run!(0, 1, 2, 3, 4, 5, 6);
    each_lane!(out = scalar::convert(conversion, x); x in a);
}
