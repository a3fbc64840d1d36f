//! Single precision rounded to nearest, the arithmetic most kernels live on: the same results as
//! the scalar functions, in arrays of `f32` so that vector units are used to the full.

use super::super::float::fused_single;
use super::super::nan;
use super::{LANES, Lanes};
use ir::{FloatBinary, Format};

type Singles = [f32; LANES];

/// `add`, `sub`, `mul` or `div`; false for other operations, which are left to others.
#[inline(always)]
pub(super) fn binary(op: FloatBinary, flush: bool, out: &mut Lanes, a: &Lanes, b: &Lanes) -> bool {
    match op {
        FloatBinary::Add => map(flush, out, a, b, |x, y| x + y),
        FloatBinary::Sub => map(flush, out, a, b, |x, y| x - y),
        FloatBinary::Mul => map(flush, out, a, b, |x, y| x * y),
        FloatBinary::Div => map(flush, out, a, b, |x, y| x / y),
        FloatBinary::Min { .. } | FloatBinary::Max { .. } | FloatBinary::CopySign => return false,
    }
    true
}

#[inline(always)]
fn map(flush: bool, out: &mut Lanes, a: &Lanes, b: &Lanes, f: impl Fn(f32, f32) -> f32) {
    if !flush {
        // One pass is fastest where nothing else happens.
        for lane in 0..LANES {
            let (x, y) = (f32::from_bits(a[lane] as u32), f32::from_bits(b[lane] as u32));
            out[lane] = bits(f(x, y));
        }
        return;
    }
    let (x, y) = (load(flush, a), load(flush, b));
    let mut result = [0.0; LANES];
    for lane in 0..LANES {
        result[lane] = f(x[lane], y[lane]);
    }
    store(flush, out, result);
}

/// `a·b + c`, rounded once.
#[inline(always)]
pub(super) fn fma(flush: bool, out: &mut Lanes, a: &Lanes, b: &Lanes, c: &Lanes) {
    let (x, y, z) = (load(flush, a), load(flush, b), load(flush, c));
    let mut result = [0.0; LANES];
    for lane in 0..LANES {
        result[lane] = fused_single(x[lane], y[lane], z[lane]);
    }
    store(flush, out, result);
}

#[inline(always)]
fn load(flush: bool, values: &Lanes) -> Singles {
    let mut singles = [0.0; LANES];
    for lane in 0..LANES {
        singles[lane] = f32::from_bits(values[lane] as u32);
    }
    if flush {
        flush_all(&mut singles);
    }
    singles
}

#[inline(always)]
fn store(flush: bool, out: &mut Lanes, mut result: Singles) {
    if flush {
        flush_all(&mut result);
    }
    for lane in 0..LANES {
        out[lane] = bits(result[lane]);
    }
}

/// A result; if it is NaN, the canonical one.
#[inline(always)]
fn bits(result: f32) -> u64 {
    let canonical = f32::from_bits(nan::canonical(Format::F32) as u32);
    let result = if result.is_nan() { canonical } else { result };
    u64::from(result.to_bits())
}

/// Subnormal numbers become zeros of the same sign.
#[inline(always)]
fn flush_all(singles: &mut Singles) {
    for single in singles {
        let zero = f32::from_bits(single.to_bits() & 0x8000_0000);
        *single = if single.abs() < f32::MIN_POSITIVE { zero } else { *single };
    }
}
