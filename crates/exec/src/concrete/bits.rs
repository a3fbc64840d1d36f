//! Bit fields, byte permutations and small dot products (PTX manual §9.7.1.16–24, §9.7.8.6–7,
//! §9.7.9.7).
//!
//! Exact. `fns` with a base beyond 31, which the manual leaves undefined, finds nothing.

use super::integer::sign_extend;
use ir::{BitRange, Width};

/// The `not found` result: all ones in 32 bits.
const NOT_FOUND: u64 = 0xffff_ffff;

/// Replaces `length` bits of `base` from `position` on by the low bits of `insert` (`bfi`). Only the low
/// bytes of `position` and `length` count.
#[inline(always)]
#[must_use]
pub fn insert_bits(width: Width, insert: u64, base: u64, position: u64, length: u64) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let field = (ones(length) << position.min(63)) & width.mask();
    let field = if position < 64 { field } else { 0 };
    (base & !field) | ((insert << position.min(63)) & field)
}

/// Returns `count` ones, from bit 0 on.
const fn ones(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

#[inline(always)]
pub(super) fn find_highest(width: Width, signed: bool, shift_amount: bool, a: u64) -> u64 {
    let extended = sign_extend(width, a);
    let a = if signed && extended < 0 { !extended as u64 } else { a };
    if a == 0 {
        return NOT_FOUND;
    }
    let position = u64::from(63 - a.leading_zeros());
    if shift_amount { u64::from(width.bits()) - 1 - position } else { position }
}

#[inline(always)]
pub(super) fn bit_mask(range: BitRange, position: u64, length: u64) -> u64 {
    let (position, length) = match range {
        BitRange::Clamp => (position.min(32), length.min(32)),
        BitRange::Wrap => (position & 31, length & 31),
    };
    (ones(length) << position) & Width::B32.mask()
}

#[inline(always)]
pub(super) fn extend_from(signed: bool, range: BitRange, a: u64, length: u64) -> u64 {
    let length = match range {
        BitRange::Clamp => length.min(32),
        BitRange::Wrap => length & 31,
    };
    let low = a & ones(length);
    let negative = signed && length > 0 && (a >> (length - 1)) & 1 == 1;
    if negative { (low | !ones(length)) & Width::B32.mask() } else { low }
}

#[inline(always)]
pub(super) fn extract(width: Width, signed: bool, a: u64, position: u64, length: u64) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let top = u64::from(width.bits()) - 1;
    let field = if position > top { 0 } else { (a >> position) & ones(length) };
    if !signed || length == 0 {
        return field;
    }
    let sign = (a >> (position + length - 1).min(top)) & 1 == 1;
    // The bits of the field that `a` has; those above take the sign.
    let present = ones(length.min((top + 1).saturating_sub(position)));
    if sign { (field | !present) & width.mask() } else { field }
}

/// Ors the minterms of three bits for which the table has a one.
#[inline(always)]
pub(super) fn logic(table: u8, a: u64, b: u64, c: u64) -> u64 {
    let minterm = |index: u8, bits: u64| if table >> index & 1 == 1 { bits } else { 0 };
    minterm(0, !a & !b & !c)
        | minterm(1, !a & !b & c)
        | minterm(2, !a & b & !c)
        | minterm(3, !a & b & c)
        | minterm(4, a & !b & !c)
        | minterm(5, a & !b & c)
        | minterm(6, a & b & !c)
        | minterm(7, a & b & c)
}

#[inline(always)]
pub(super) fn funnel_shift(left: bool, range: BitRange, a: u64, b: u64, amount: u64) -> u64 {
    let amount = match range {
        BitRange::Clamp => amount.min(32),
        BitRange::Wrap => amount & 31,
    };
    let both = (b << 32) | a;
    if left { (both << amount) >> 32 } else { (both >> amount) & Width::B32.mask() }
}

#[inline(always)]
pub(super) fn permute(a: u64, b: u64, selectors: u64) -> u64 {
    let both = (b << 32) | a;
    let byte = |target: u64| {
        let selector = selectors >> (4 * target);
        let byte = (both >> (8 * (selector & 7))) as u8;
        let replicated = (byte as i8 >> 7) as u8;
        u64::from(if selector & 8 == 0 { byte } else { replicated }) << (8 * target)
    };
    byte(0) | byte(1) | byte(2) | byte(3)
}

/// The source byte for bytes 0 to 3 of the result, for each value of the selector.
pub(super) type PermuteTable = [[u8; 4]; 4];

pub(super) const FORWARD_4: PermuteTable = [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]];
pub(super) const BACKWARD_4: PermuteTable =
    [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]];
pub(super) const REPLICATE_8: PermuteTable =
    [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]];
pub(super) const EDGE_LEFT: PermuteTable = [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]];
pub(super) const EDGE_RIGHT: PermuteTable =
    [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]];
pub(super) const REPLICATE_16: PermuteTable =
    [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]];

#[inline(always)]
pub(super) fn permute_mode(table: &PermuteTable, a: u64, b: u64, selector: u64) -> u64 {
    let sources = table[(selector & 3) as usize];
    let selectors = sources.iter().rev().fold(0, |all, &source| (all << 4) | u64::from(source));
    permute(a, b, selectors)
}

/// Returns byte or half `index` of `a`, extended.
#[inline(always)]
fn part(width: Width, signed: bool, a: u64, index: u32) -> i64 {
    let part = (a >> (width.bits() * index)) & width.mask();
    if signed { sign_extend(width, part) } else { part as i64 }
}

#[inline(always)]
pub(super) fn dot4(a_signed: bool, b_signed: bool, a: u64, b: u64, c: u64) -> u64 {
    let product = |index| part(Width::B8, a_signed, a, index) * part(Width::B8, b_signed, b, index);
    let sum = product(0) + product(1) + product(2) + product(3);
    c.wrapping_add(sum as u64) & Width::B32.mask()
}

#[inline(always)]
pub(super) fn dot2(a_signed: bool, b_signed: bool, high: bool, a: u64, b: u64, c: u64) -> u64 {
    let first = if high { 2 } else { 0 };
    let product =
        |index| part(Width::B16, a_signed, a, index) * part(Width::B8, b_signed, b, first + index);
    c.wrapping_add((product(0) + product(1)) as u64) & Width::B32.mask()
}

/// Returns the position of the `offset`-th set bit of `mask` from `base` on, upwards, or downwards for a
/// negative `offset`. An offset of 0 tests the bit at `base`.
pub(super) fn find_nth(mask: u64, base: u64, offset: u64) -> u64 {
    if base > 31 {
        return NOT_FOUND;
    }
    let offset = offset as i32;
    let set = |position: &u64| (mask >> position) & 1 == 1;
    let skipped = offset.unsigned_abs().saturating_sub(1) as usize;
    let found = match offset {
        0 => Some(base).filter(set),
        1.. => (base..32).filter(set).nth(skipped),
        _ => (0..=base).rev().filter(set).nth(skipped),
    };
    found.unwrap_or(NOT_FOUND)
}
