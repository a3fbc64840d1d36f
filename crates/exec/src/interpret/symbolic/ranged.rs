//! Operations on the bits of integers whose range the user stated: indices.
//!
//! A compiler writes `4*i + j` as `i << 2 | j` where it knows that `j` has two bits, `i % 8` as `i & 7`, and `i / 2` with shifts that make up for
//! the sign. Of integers between numbers that are known these are sums, fields of bits, and often nothing at all:
//! - `a | b`, `a ^ b` and a field of `b` bits put into `a` are `a + b` if `a` is a multiple of a power of two above `b`;
//! - a mask or a shift of a number without a sign is a field of its bits ([`Domain::field`](crate::domain::Domain::field)), and so is an arithmetic shift.
//!
//! The results are integers of the domain, so that places made of them keep their bounds. Integers of which only the type is known are left to what
//! moves their bytes ([`super::bits`]): packed numbers are taken apart there.

use crate::domain::{Binary, Value};
use crate::value::Valued;
use crate::value::bytes::Bytes;
use crate::value::integer::{congruent, is_integer, number, whole};
use crate::value::unit::known;
use ir::{IntBinary, IntTernary, Op, Width};

/// The result of an operation in one lane, if ranges say what it is.
pub(super) fn compute(
    valued: &mut Valued<'_>,
    op: &Op,
    operands: &[Bytes],
    to: usize,
) -> Option<Bytes> {
    let width = match op {
        Op::IntBinary { op: IntBinary::And | IntBinary::Or | IntBinary::Xor, width, .. }
        | Op::IntBinary { op: IntBinary::Shr { .. }, width, .. }
        | Op::IntTernary { op: IntTernary::ExtractBits { .. }, width, .. }
        | Op::InsertBits { width, .. } => *width,
        _ => return None,
    };
    if !operands.iter().any(|operand| is_integer(operand, width)) {
        return None;
    }
    let value = match op {
        Op::IntBinary { op: IntBinary::And, .. } => masked(valued, operands, width),
        Op::IntBinary { op: IntBinary::Or | IntBinary::Xor, .. } => {
            let [a, b] = [operands[0], operands[1]];
            beside(valued, [&a, &b], width).or_else(|| beside(valued, [&b, &a], width))
        }
        Op::IntBinary { .. } => {
            let by = u32::try_from(known(&operands[1][..4])?).ok()?.min(width.bits());
            field(valued, &operands[0], width, (by, width.bits() - by))
        }
        Op::IntTernary { op: IntTernary::ExtractBits { signed }, .. } => {
            extracted(valued, operands, width, *signed)
        }
        _ => inserted(valued, operands, width),
    }?;
    whole(value, to)
}

/// A number without a sign of which a range is stated, and the largest that it can be.
fn ranged(valued: &mut Valued<'_>, operand: &Bytes, width: Width) -> Option<(Value, i128)> {
    let value = number(valued, &operand[..width.bytes() as usize], false)?;
    let bounds = valued.domain.bounds(value)?;
    (bounds.are_told && bounds.low >= 0).then_some((value, bounds.high))
}

/// The same of one whose highest bit is never set: it has no sign either way.
fn unsigned(valued: &mut Valued<'_>, operand: &Bytes, width: Width) -> Option<(Value, i128)> {
    ranged(valued, operand, width).filter(|(_, high)| high >> (width.bits() - 1) == 0)
}

/// Some bits of a number, from one on.
fn field(
    valued: &mut Valued<'_>,
    operand: &Bytes,
    width: Width,
    (first, length): (u32, u32),
) -> Option<Value> {
    let (value, high) = unsigned(valued, operand, width)?;
    match (first, length) {
        (_, 0) => Some(valued.domain.integer(0)),
        _ if high >> first == 0 => Some(valued.domain.integer(0)),
        (0, length) if high >> length == 0 => Some(value),
        _ => valued.domain.field(value, width, first, length.min(width.bits() - first)),
    }
}

/// `a & m`, where the ones of the mask are next to each other.
fn masked(valued: &mut Valued<'_>, operands: &[Bytes], width: Width) -> Option<Value> {
    let size = width.bytes() as usize;
    let (operand, mask) = match [&operands[0], &operands[1]].map(|one| known(&one[..size])) {
        [None, Some(mask)] => (&operands[0], mask),
        [Some(mask), None] => (&operands[1], mask),
        _ => return None,
    };
    let (_, high) = unsigned(valued, operand, width)?;
    // Ones above the number keep nothing.
    let used = 128 - high.leading_zeros();
    let mask = mask & 1u64.checked_shl(used).map_or(u64::MAX, |over| over - 1);
    let (first, length) = (mask.trailing_zeros().min(64), mask.count_ones());
    if mask != 0 && mask >> first != u64::MAX >> (64 - length) {
        return None;
    }
    let field = field(valued, operand, width, (first.min(width.bits() - 1), length))?;
    let scale = valued.domain.integer(1 << first.min(63));
    Some(if length == 0 { field } else { valued.binary(Binary::Mul, field, scale) })
}

/// `a | b`, if `a` has no ones where `b` may have some.
fn beside(valued: &mut Valued<'_>, [a, b]: [&Bytes; 2], width: Width) -> Option<Value> {
    let (low, high) = ranged(valued, b, width)?;
    let above = congruent(valued, &a[..width.bytes() as usize])?;
    let bits = 128 - high.leading_zeros();
    let is_above = bits < 32 && valued.domain.is_multiple((above, 0), 1 << bits);
    is_above.then(|| valued.binary(Binary::Add, above, low))
}

/// `bfe a, first, length`
fn extracted(
    valued: &mut Valued<'_>,
    operands: &[Bytes],
    width: Width,
    signed: bool,
) -> Option<Value> {
    let amount = |operand: &Bytes| known(&operand[..4]).map(|amount| amount as u32 & 0xff);
    let (first, length) = (amount(&operands[1])?, amount(&operands[2])?);
    let (_, high) = unsigned(valued, &operands[0], width)?;
    // With a sign only if the highest bit of the field is never set.
    let has_sign = signed && length < 64 && high >> first >> length.saturating_sub(1) != 0;
    if has_sign || first >= width.bits() {
        return None;
    }
    field(valued, &operands[0], width, (first, length.min(width.bits() - first)))
}

/// `bfi a, b, first, length`, where there are zeros in `b`.
fn inserted(valued: &mut Valued<'_>, operands: &[Bytes], width: Width) -> Option<Value> {
    let amount = |operand: &Bytes| known(&operand[..4]).map(|amount| amount as u32 & 0xff);
    let (first, length) = (amount(&operands[2])?, amount(&operands[3])?);
    let end = first + length;
    if length == 0 || end > 32 {
        return None;
    }
    let (insert, high) = ranged(valued, &operands[0], width)?;
    let base = congruent(valued, &operands[1][..width.bytes() as usize])?;
    let is_below = valued
        .domain
        .bounds(base)
        .is_some_and(|bounds| bounds.are_told && bounds.low >= 0 && bounds.high >> first == 0);
    let is_free = is_below || valued.domain.is_multiple((base, 0), 1u32.checked_shl(end)?);
    if high >> length != 0 || !is_free {
        return None;
    }
    let scale = valued.domain.integer(1 << first);
    let placed = valued.binary(Binary::Mul, insert, scale);
    Some(valued.binary(Binary::Add, base, placed))
}
