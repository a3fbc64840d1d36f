//! Bit operations on integers with a declared range: indices.
//!
//! A compiler writes `4*i + j` as `i << 2 | j` if it knows that `j` has two bits, `i % 8` as `i & 7`, and `i
//! / 2` with shifts that correct for the sign. For integers with known bounds these are sums, bit fields, and
//! often nothing at all:
//! - `a | b`, `a ^ b` and a field of `b` bits inserted into `a` are `a + b` if `a` is a multiple of a power
//!   of two above `b`;
//! - a mask or a shift of a non-negative number is a field of its bits
//!   ([`Domain::field`](crate::domain::Domain::field)), and so is an arithmetic shift;
//! - for a signed number they are a quotient ([`Domain::quotient`](crate::domain::Domain::quotient)) or a
//!   remainder, and its sign bit is a choice.
//!
//! The results are integers of the domain, so places made of them keep their bounds. Integers of which only
//! the type is known are left to the code that moves their bytes ([`super::bits`]), which unpacks packed
//! numbers.

use crate::domain::{Binary, Truths, Value};
use crate::lanes::{Mask, WARP};
use crate::value::Valued;
use crate::value::bytes::Bytes;
use crate::value::integer::{all_bytes, congruent, is_integer, number};
use crate::value::unit::known;
use ir::{IntBinary, IntTernary, Op, Relation, Width};

/// Returns the result of an operation in one lane, if ranges determine it.
pub(super) fn compute(
    valued: &mut Valued<'_>,
    op: &Op,
    operands: &[Bytes],
    to: usize,
) -> Option<Bytes> {
    let width = match op {
        Op::IntBinary { op: IntBinary::And | IntBinary::Or | IntBinary::Xor, width, .. }
        | Op::IntBinary { op: IntBinary::Shl, width, .. }
        | Op::IntBinary { op: IntBinary::Shr { .. }, width, .. }
        | Op::IntTernary { op: IntTernary::ExtractBits { .. }, width, .. }
        | Op::InsertBits { width, .. } => *width,
        _ => return None,
    };
    // A zero-extended integer is one of a smaller width.
    let widths = [Width::B16, Width::B32, Width::B64].into_iter().filter(|one| *one <= width);
    if !widths.into_iter().any(|one| operands.iter().any(|operand| is_integer(operand, one))) {
        return None;
    }
    let value = match op {
        Op::IntBinary { op: IntBinary::And, .. } => {
            mask_unsigned(valued, operands, width).or_else(|| mask_signed(valued, operands, width))
        }
        Op::IntBinary { op: IntBinary::Or | IntBinary::Xor, .. } => {
            let is_xor = matches!(op, Op::IntBinary { op: IntBinary::Xor, .. });
            let [a, b] = [operands[0], operands[1]];
            or_disjoint(valued, [&a, &b], width)
                .or_else(|| or_disjoint(valued, [&b, &a], width))
                .or_else(|| xor_with_run(valued, [&a, &b], width).filter(|_| is_xor))
        }
        Op::IntBinary { op: IntBinary::Shl, .. } => {
            let by = u32::try_from(known(&operands[1][..4])?).ok()?;
            let value = congruent(valued, &operands[0][..width.bytes() as usize])?;
            valued.domain.bounds(value).filter(|bounds| bounds.are_declared)?;
            let scale = if by < width.bits() { 1i128 << by } else { 0 };
            let scale = valued.domain.integer(scale);
            Some(valued.binary(Binary::Mul, value, scale))
        }
        Op::IntBinary { op, .. } => {
            let by = u32::try_from(known(&operands[1][..4])?).ok()?.min(width.bits());
            let signed = matches!(op, IntBinary::Shr { signed: true });
            field(valued, &operands[0], width, (by, width.bits() - by))
                .or_else(|| shift_right_signed(valued, &operands[0], width, (by, signed)))
        }
        Op::IntTernary { op: IntTernary::ExtractBits { signed }, .. } => {
            extract_field(valued, operands, width, *signed)
        }
        _ => insert_field(valued, operands, width),
    }?;
    all_bytes(value, to)
}

/// Returns an unsigned number with a declared range, and its largest value.
fn ranged(valued: &mut Valued<'_>, operand: &Bytes, width: Width) -> Option<(Value, i128)> {
    let value = number(valued, &operand[..width.bytes() as usize], false)?;
    let bounds = valued.domain.bounds(value)?;
    (bounds.are_declared && bounds.low >= 0).then_some((value, bounds.high))
}

/// Like [`ranged`], if the highest bit is never set: then the signed number is the same.
fn unsigned(valued: &mut Valued<'_>, operand: &Bytes, width: Width) -> Option<(Value, i128)> {
    ranged(valued, operand, width).filter(|(_, high)| high >> (width.bits() - 1) == 0)
}

/// Returns a signed number with a declared range, and its smallest and largest value.
fn signed(valued: &mut Valued<'_>, operand: &Bytes, width: Width) -> Option<(Value, (i128, i128))> {
    let value = number(valued, &operand[..width.bytes() as usize], true)?;
    let bounds = valued.domain.bounds(value)?;
    bounds.are_declared.then_some((value, (bounds.low, bounds.high)))
}

/// Shifts a signed number to the right.
fn shift_right_signed(
    valued: &mut Valued<'_>,
    operand: &Bytes,
    width: Width,
    (by, keeps_sign): (u32, bool),
) -> Option<Value> {
    let (value, (low, high)) = signed(valued, operand, width)?;
    let last = width.bits() - 1;
    match keeps_sign {
        true if by >= last => if_negative(valued, value, -1),
        true => valued.domain.quotient(value, by),
        false if by == last => if_negative(valued, value, 1),
        // 0, or all ones.
        false if low >= -1 && high <= 0 && by <= last => {
            let ones = valued.domain.integer(1 - (1 << (width.bits() - by)));
            Some(valued.binary(Binary::Mul, value, ones))
        }
        false => None,
    }
}

/// Returns `number` if `value` is negative, and 0 otherwise.
fn if_negative(valued: &mut Valued<'_>, value: Value, number: i128) -> Option<Value> {
    let [number, zero] = [number, 0].map(|number| valued.domain.integer(number));
    let mut out = Truths::NONE;
    let operands = [&[value; WARP], &[zero; WARP]];
    valued.domain.compare(Relation::Lt, operands, Mask(1), &mut out);
    Some(match (out.known.has(0), out.truth.has(0)) {
        (true, true) => number,
        (true, false) => zero,
        (false, _) => valued.select(out.values[0], number, zero),
    })
}

/// Computes `a & m` of a signed number, if the mask keeps the lowest bits, or all but those.
fn mask_signed(valued: &mut Valued<'_>, operands: &[Bytes], width: Width) -> Option<Value> {
    let size = width.bytes() as usize;
    let (operand, mask) = match [&operands[0], &operands[1]].map(|one| known(&one[..size])) {
        [None, Some(mask)] => (&operands[0], mask),
        [Some(mask), None] => (&operands[1], mask),
        _ => return None,
    };
    let (value, (low, high)) = signed(valued, operand, width)?;
    if low >= -1 && high <= 0 {
        let scale = valued.domain.integer(-i128::from(mask));
        return Some(valued.binary(Binary::Mul, value, scale));
    }
    let others = !mask & width.mask();
    let (bits, keeps_low) = match (mask.wrapping_add(1), others.wrapping_add(1)) {
        (over, _) if over.is_power_of_two() => (over.trailing_zeros(), true),
        (_, over) if over.is_power_of_two() => (over.trailing_zeros(), false),
        _ => return None,
    };
    let above = valued.domain.quotient(value, bits)?;
    let scale = valued.domain.integer(1 << bits);
    let above = valued.binary(Binary::Mul, above, scale);
    Some(if keeps_low { valued.binary(Binary::Sub, value, above) } else { above })
}

/// Computes `a ^ m` if the ones of the mask are contiguous and `a` has none below: the complement of those
/// bits, joined with those above.
fn xor_with_run(valued: &mut Valued<'_>, [a, b]: [&Bytes; 2], width: Width) -> Option<Value> {
    let size = width.bytes() as usize;
    let (operand, mask) = match [a, b].map(|one| known(&one[..size])) {
        [None, Some(mask)] => (a, mask),
        [Some(mask), None] => (b, mask),
        _ => return None,
    };
    let (value, high) = unsigned(valued, operand, width)?;
    let first = mask.trailing_zeros().min(31);
    let ones = mask >> first;
    let length = ones.count_ones();
    let is_run = ones != 0 && ones.wrapping_add(1).is_power_of_two() && first + length < 63;
    if !is_run || !valued.domain.is_multiple((value, 0), 1 << first) {
        return None;
    }
    let field = field(valued, operand, width, (first, length))?;
    let ones = valued.domain.integer(ones.into());
    let field = valued.binary(Binary::Sub, ones, field);
    let scale = valued.domain.integer(1 << first);
    let complement = valued.binary(Binary::Mul, field, scale);
    if high >> (first + length) == 0 {
        return Some(complement);
    }
    let above = valued.domain.quotient(value, first + length)?;
    let scale = valued.domain.integer(1 << (first + length));
    let above = valued.binary(Binary::Mul, above, scale);
    Some(valued.binary(Binary::Add, above, complement))
}

/// Extracts a bit field.
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

/// Computes `a & m` if the ones of the mask are contiguous.
fn mask_unsigned(valued: &mut Valued<'_>, operands: &[Bytes], width: Width) -> Option<Value> {
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

/// Computes `a | b`, if `a` has no ones where `b` may have some.
fn or_disjoint(valued: &mut Valued<'_>, [a, b]: [&Bytes; 2], width: Width) -> Option<Value> {
    let (low, high) = ranged(valued, b, width)?;
    let above = congruent(valued, &a[..width.bytes() as usize])?;
    let bits = 128 - high.leading_zeros();
    let is_above = bits < 32 && valued.domain.is_multiple((above, 0), 1 << bits);
    is_above.then(|| valued.binary(Binary::Add, above, low))
}

/// Computes `bfe a, first, length`.
fn extract_field(
    valued: &mut Valued<'_>,
    operands: &[Bytes],
    width: Width,
    signed: bool,
) -> Option<Value> {
    let amount = |operand: &Bytes| known(&operand[..4]).map(|amount| amount as u32 & 0xff);
    let (first, length) = (amount(&operands[1])?, amount(&operands[2])?);
    let (_, high) = unsigned(valued, &operands[0], width)?;
    // A signed field is supported only if its highest bit is never set.
    let has_sign = signed && length < 64 && high >> first >> length.saturating_sub(1) != 0;
    if has_sign || first >= width.bits() {
        return None;
    }
    field(valued, &operands[0], width, (first, length.min(width.bits() - first)))
}

/// Computes `bfi a, b, first, length`, if `b` has zeros there.
fn insert_field(valued: &mut Valued<'_>, operands: &[Bytes], width: Width) -> Option<Value> {
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
        .is_some_and(|bounds| bounds.are_declared && bounds.low >= 0 && bounds.high >> first == 0);
    let is_free = is_below || valued.domain.is_multiple((base, 0), 1u32.checked_shl(end)?);
    if high >> length != 0 || !is_free {
        return None;
    }
    let scale = valued.domain.integer(1 << first);
    let placed = valued.binary(Binary::Mul, insert, scale);
    Some(valued.binary(Binary::Add, base, placed))
}
