//! 32-bit operations, the most frequent ones: the same results as the scalar functions, in arrays of `u32`
//! for full use of vector units.

use super::super as scalar;
use super::super::float::fused_single;
use super::super::nan;
use super::{LANES, Narrow, each_lane, gather};
use ir::{FloatBinary, FloatMode, Format, IntBinary, Relation, Width};
use multiversion::{multiversion, target::match_target};

type Singles = [f32; LANES];

/// Computes a single-precision operation, rounded to nearest.
#[inline(always)]
pub fn float_binary(op: FloatBinary, flush: bool, out: &mut Narrow, a: &Narrow, b: &Narrow) {
    match op {
        FloatBinary::Add => map(flush, out, a, b, |x, y| x + y),
        FloatBinary::Sub => map(flush, out, a, b, |x, y| x - y),
        FloatBinary::Mul => map(flush, out, a, b, |x, y| x * y),
        FloatBinary::Div => map(flush, out, a, b, |x, y| x / y),
        FloatBinary::Min { .. } | FloatBinary::Max { .. } | FloatBinary::CopySign => {
            let mode = FloatMode { flush, ..FloatMode::NEAREST };
            each_lane!(out =
                scalar::float_binary(op, Format::F32, mode, x.into(), y.into()) as u32;
                x in a, y in b);
        }
    }
}

#[inline(always)]
fn map(flush: bool, out: &mut Narrow, a: &Narrow, b: &Narrow, f: impl Fn(f32, f32) -> f32) {
    let (x, y) = (load(flush, a), load(flush, b));
    let mut result = [0.0; LANES];
    for lane in 0..LANES {
        result[lane] = f(x[lane], y[lane]);
    }
    store(flush, out, result);
}

/// Computes `a·b + c` in single precision, rounded once, to nearest.
///
/// Uses the processor's instruction where available.
#[multiversion(targets("x86_64+avx2+fma"))]
pub fn fma(flush: bool, out: &mut Narrow, a: &Narrow, b: &Narrow, c: &Narrow) {
    let fused = match_target! {
        "x86_64+avx2+fma" => f32::mul_add,
        _ => fused_single,
    };
    match flush {
        false => fma_by(fused, false, out, [a, b, c]),
        true => fma_by(fused, true, out, [a, b, c]),
    }
}

#[inline(always)]
fn fma_by(
    fused: impl Fn(f32, f32, f32) -> f32,
    flush: bool,
    out: &mut Narrow,
    [a, b, c]: [&Narrow; 3],
) {
    let (x, y, z) = (load(flush, a), load(flush, b), load(flush, c));
    let mut result = [0.0; LANES];
    for lane in 0..LANES {
        result[lane] = fused(x[lane], y[lane], z[lane]);
    }
    store(flush, out, result);
}

#[inline(always)]
fn load(flush: bool, values: &Narrow) -> Singles {
    // A loop rather than `map`, which is not inlined for arrays of this length.
    let mut singles = [0.0; LANES];
    for lane in 0..LANES {
        singles[lane] = f32::from_bits(values[lane]);
    }
    if flush {
        flush_all(&mut singles);
    }
    singles
}

#[inline(always)]
fn store(flush: bool, out: &mut Narrow, mut result: Singles) {
    if flush {
        flush_all(&mut result);
    }
    for lane in 0..LANES {
        out[lane] = bits(result[lane]);
    }
}

/// Encodes a result; a NaN becomes the canonical one.
#[inline(always)]
fn bits(result: f32) -> u32 {
    let canonical = f32::from_bits(nan::canonical(Format::F32) as u32);
    let result = if result.is_nan() { canonical } else { result };
    result.to_bits()
}

/// Replaces subnormal numbers by zeros of the same sign.
#[inline(always)]
fn flush_all(singles: &mut Singles) {
    for single in singles {
        let zero = f32::from_bits(single.to_bits() & 0x8000_0000);
        *single = if single.abs() < f32::MIN_POSITIVE { zero } else { *single };
    }
}

/// Computes an operation on 32-bit integers with a 32-bit result.
#[inline(always)]
pub fn int_binary(op: IntBinary, out: &mut Narrow, a: &Narrow, b: &Narrow) {
    macro_rules! cases {
        ($($name:ident $({ $($field:ident: $content:tt),* })?),*) => {
            match op {
                $(IntBinary::$name $({ $($field: $content),* })? => {
                    const OP: IntBinary = IntBinary::$name $({ $($field: $content),* })?;
                    each_lane!(out = scalar::int_binary(OP, Width::B32, x.into(), y.into()) as u32;
                        x in a, y in b);
                })*
                _ => each_lane!(out = scalar::int_binary(op, Width::B32, x.into(), y.into()) as u32;
                    x in a, y in b),
            }
        };
    }
    cases!(
        Add,
        Sub,
        Mul,
        And,
        Or,
        Xor,
        Shl,
        Min { signed: false },
        Min { signed: true },
        Max { signed: false },
        Max { signed: true },
        Shr { signed: false },
        Shr { signed: true }
    )
}

/// Returns the lanes for which the comparison holds.
#[inline(always)]
#[must_use]
pub fn int_compare(relation: Relation, signed: bool, a: &Narrow, b: &Narrow) -> u32 {
    macro_rules! cases {
        ($($name:ident),*) => {
            match (relation, signed) {
                $((Relation::$name, false) => compare(Relation::$name, false, a, b),
                (Relation::$name, true) => compare(Relation::$name, true, a, b),)*
            }
        };
    }
    cases!(Eq, Ne, Lt, Le, Gt, Ge)
}

#[inline(always)]
fn compare(relation: Relation, signed: bool, a: &Narrow, b: &Narrow) -> u32 {
    let mut truths = [0; LANES];
    each_lane!(truths =
        scalar::int_compare(relation, signed, Width::B32, x.into(), y.into()).into();
        x in a, y in b);
    gather(&truths)
}

/// Selects `a` in the lanes of `mask` and `b` in the others.
#[inline(always)]
pub fn select(mask: u32, out: &mut Narrow, a: &Narrow, b: &Narrow) {
    for lane in 0..LANES {
        let chosen = ((mask >> lane) & 1).wrapping_neg();
        out[lane] = (a[lane] & chosen) | (b[lane] & !chosen);
    }
}
