//! Integer operations on domain values.
//!
//! Sums, differences and products of integers are those of the domain: they are exact, and congruent to
//! hardware results. An operation that depends on wrap-around (widening, comparison, conversion to a float)
//! first asks for the number that the bits represent ([`crate::value::integer`]).

use crate::domain::{Binary, Unary, Value};
use crate::lanes::{Mask, WARP};
use crate::value::Valued;
use crate::value::bytes::Bytes;
pub(super) use crate::value::integer::{all_bytes, congruent, is_integer, number};
use crate::value::unit::{Byte, known};
use ir::{IntBinary, IntTernary, IntUnary, Op, Rounding, Width};

/// Computes an operation on integers in one lane, some of them the domain's.
pub(super) fn compute(
    valued: &mut Valued<'_>,
    op: &Op,
    operands: &[Bytes],
    to: usize,
) -> Option<Bytes> {
    let value = match op {
        Op::Resize { from, signed, .. } => {
            let from = from.bytes() as usize;
            match from < to {
                true => number(valued, &operands[0][..from], *signed),
                false => congruent(valued, &operands[0][..to]),
            }
        }
        Op::IntUnary { op, width, .. } => unary(valued, *op, &operands[0], *width),
        Op::IntBinary { op, width, .. } => {
            binary(valued, *op, [&operands[0], &operands[1]], *width)
        }
        Op::IntTernary { op, width, .. } => ternary(valued, *op, operands, *width),
        _ => None,
    }?;
    all_bytes(value, to)
}

fn unary(valued: &mut Valued<'_>, op: IntUnary, a: &Bytes, width: Width) -> Option<Value> {
    let a = &a[..width.bytes() as usize];
    match op {
        IntUnary::Negate => {
            let (zero, a) = (valued.domain.integer(0), congruent(valued, a)?);
            Some(valued.binary(Binary::Sub, zero, a))
        }
        IntUnary::Abs => {
            let a = number(valued, a, true)?;
            let mut out = [0; WARP];
            valued.domain.unary(Unary::Abs, &[a; WARP], Mask(1), &mut out);
            Some(out[0])
        }
        IntUnary::Not => {
            let a = congruent(valued, a)?;
            Some(valued.domain.complement(a))
        }
        _ => None,
    }
}

fn binary(
    valued: &mut Valued<'_>,
    op: IntBinary,
    operands: [&Bytes; 2],
    width: Width,
) -> Option<Value> {
    let size = width.bytes() as usize;
    let [a, b] = operands.map(|operand| &operand[..size]);
    let ring = match op {
        IntBinary::Add => Some(Binary::Add),
        IntBinary::Sub => Some(Binary::Sub),
        IntBinary::Mul => Some(Binary::Mul),
        _ => None,
    };
    if let Some(op) = ring {
        let (a, b) = (congruent(valued, a)?, congruent(valued, b)?);
        return Some(valued.binary(op, a, b));
    }
    match op {
        IntBinary::MulWide { signed } => {
            let (a, b) = (number(valued, a, signed)?, number(valued, b, signed)?);
            Some(valued.binary(Binary::Mul, a, b))
        }
        IntBinary::Min { signed } | IntBinary::Max { signed } => {
            let (a, b) = (number(valued, a, signed)?, number(valued, b, signed)?);
            let least = matches!(op, IntBinary::Min { .. });
            // A clamp without effect on the possible numbers.
            if let (Some(x), Some(y)) = (valued.domain.bounds(a), valued.domain.bounds(b)) {
                match (x.high <= y.low, y.high <= x.low) {
                    (true, _) => return Some(if least { a } else { b }),
                    (_, true) => return Some(if least { b } else { a }),
                    _ => {}
                }
            }
            Some(valued.binary(if least { Binary::Min } else { Binary::Max }, a, b))
        }
        IntBinary::Shl => {
            let by = known(&operands[1][..4])?;
            let factor = if by < u64::from(width.bits()) { 1i128 << by } else { 0 };
            let (a, factor) = (congruent(valued, a)?, valued.domain.integer(factor));
            Some(valued.binary(Binary::Mul, a, factor))
        }
        // A shift by whole bytes keeps the upper bytes.
        IntBinary::Shr { signed } => {
            let by = known(&operands[1][..4])? as usize;
            let rest = a.get(by / 8..).filter(|rest| by.is_multiple_of(8) && !rest.is_empty())?;
            number(valued, rest, signed)
        }
        _ => None,
    }
}

fn ternary(
    valued: &mut Valued<'_>,
    op: IntTernary,
    operands: &[Bytes],
    width: Width,
) -> Option<Value> {
    let [a, b, c] = operands else { return None };
    let size = width.bytes() as usize;
    match op {
        IntTernary::Dot4 { a_signed, b_signed } => {
            let factors = (0..4).map(|at| (&a[at..=at], &b[at..=at]));
            dot(valued, factors, (a_signed, b_signed), &c[..4])
        }
        IntTernary::Dot2 { a_signed, b_signed, high } => {
            let first = if high { 2 } else { 0 };
            let factors = (0..2).map(|at| (&a[2 * at..2 * at + 2], &b[first + at..=first + at]));
            dot(valued, factors, (a_signed, b_signed), &c[..4])
        }
        IntTernary::ExtractBits { signed } => {
            let (at, length) = (known(&b[..4])? as usize & 0xff, known(&c[..4])? as usize & 0xff);
            let aligned = at.is_multiple_of(8) && length.is_multiple_of(8) && length > 0;
            let part = a[..size].get(at / 8..(at + length) / 8).filter(|_| aligned)?;
            number(valued, part, signed)
        }
        // A byte and three copies of its sign.
        IntTernary::Permute => {
            let selector = known(&c[..4])? & 0xffff;
            let first = selector & 0xf;
            let sign = first | 8;
            let extends = selector >> 4 == sign | sign << 4 | sign << 8;
            let from = if first < 4 { a } else { b };
            let at = (first & 3) as usize;
            number(valued, &from[at..=at], true).filter(|_| extends && first < 8)
        }
        _ => None,
    }
}

/// Adds products to `c`.
fn dot<'b>(
    valued: &mut Valued<'_>,
    factors: impl Iterator<Item = (&'b [Byte], &'b [Byte])>,
    (a_signed, b_signed): (bool, bool),
    c: &[Byte],
) -> Option<Value> {
    let mut sum = congruent(valued, c)?;
    for (a, b) in factors {
        let (a, b) = (number(valued, a, a_signed)?, number(valued, b, b_signed)?);
        let mut out = [0; WARP];
        let operands = [&[a; WARP], &[b; WARP], &[sum; WARP]];
        valued.domain.fma(operands, Rounding::NearestEven, Mask(1), &mut out);
        sum = out[0];
    }
    Some(sum)
}
