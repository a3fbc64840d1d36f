//! Integer arithmetic, comparison and extension (PTX manual §9.7.1, §9.7.2, §9.7.6, §9.7.8).
//!
//! Exact. The manual leaves division by zero open; see [`int_binary`].

use super::bits;
use ir::{IntBinary, IntTernary, IntUnary, Relation, Width};

/// Interprets the low `width` bits of `a` as a two's complement number.
#[inline(always)]
pub(super) const fn sign_extend(width: Width, a: u64) -> i64 {
    match width {
        Width::B1 => -((a & 1) as i64),
        Width::B8 => a as i8 as i64,
        Width::B16 => a as i16 as i64,
        Width::B32 => a as i32 as i64,
        Width::B64 | Width::B128 => a as i64,
    }
}

/// Computes an operation with one operand. Counts and positions are 32 bits wide for every width.
#[inline(always)]
#[must_use]
pub fn int_unary(op: IntUnary, width: Width, a: u64) -> u64 {
    match op {
        IntUnary::Not => !a & width.mask(),
        IntUnary::Negate => a.wrapping_neg() & width.mask(),
        IntUnary::Abs => sign_extend(width, a).unsigned_abs() & width.mask(),
        IntUnary::PopulationCount => u64::from(a.count_ones()),
        IntUnary::CountLeadingZeros => u64::from(a.leading_zeros() - (64 - bits_of(width))),
        IntUnary::Reverse => a.reverse_bits() >> (64 - bits_of(width)),
        IntUnary::FindHighest { signed, shift_amount } => {
            bits::find_highest(width, signed, shift_amount, a)
        }
    }
}

/// Computes an operation with two operands. The product of `MulWide` is twice as wide as the operands; a
/// shift amount is 32 bits wide.
///
/// A quotient by zero is all ones and the remainder is the dividend. The manual leaves both open, and no recording
/// checks this choice. The quotient of the most negative number by −1 is that number.
#[inline(always)]
#[must_use]
pub fn int_binary(op: IntBinary, width: Width, a: u64, b: u64) -> u64 {
    let mask = width.mask();
    match op {
        IntBinary::Add => a.wrapping_add(b) & mask,
        IntBinary::Sub => a.wrapping_sub(b) & mask,
        IntBinary::Mul => multiply(width, a, b),
        IntBinary::MulHigh { signed } => multiply_high(width, signed, a, b),
        IntBinary::MulWide { signed } => multiply_wide(width, signed, a, b),
        IntBinary::Div { signed } => divide(width, signed, a, b),
        IntBinary::Rem { signed } => remainder(width, signed, a, b),
        IntBinary::Min { signed } => select_if(less(width, signed, a, b), a, b),
        IntBinary::Max { signed } => select_if(less(width, signed, a, b), b, a),
        IntBinary::AddSaturating => {
            let (a, b) = (sign_extend(width, a), sign_extend(width, b));
            clamp(width, i128::from(a) + i128::from(b))
        }
        IntBinary::SubSaturating => {
            let (a, b) = (sign_extend(width, a), sign_extend(width, b));
            clamp(width, i128::from(a) - i128::from(b))
        }
        IntBinary::And => a & b,
        IntBinary::Or => a | b,
        IntBinary::Xor => a ^ b,
        IntBinary::Shl => shift_left(width, a, b),
        IntBinary::Shr { signed } => shift_right(width, signed, a, b),
        IntBinary::BitMask(range) => bits::bit_mask(range, a, b),
        IntBinary::ExtendFrom { signed, range } => bits::extend_from(signed, range, a, b),
    }
}

/// Computes an operation with three operands.
#[inline(always)]
#[must_use]
pub fn int_ternary(op: IntTernary, width: Width, a: u64, b: u64, c: u64) -> u64 {
    match op {
        IntTernary::ExtractBits { signed } => bits::extract(width, signed, a, b, c),
        IntTernary::Logic { table } => bits::logic(table, a, b, c) & width.mask(),
        IntTernary::FunnelShift { left, range } => bits::funnel_shift(left, range, a, b, c),
        IntTernary::Permute => bits::permute(a, b, c),
        IntTernary::PermuteForward4Extract => bits::permute_mode(&bits::FORWARD_4, a, b, c),
        IntTernary::PermuteBackward4Extract => bits::permute_mode(&bits::BACKWARD_4, a, b, c),
        IntTernary::PermuteReplicate8 => bits::permute_mode(&bits::REPLICATE_8, a, b, c),
        IntTernary::PermuteEdgeClampLeft => bits::permute_mode(&bits::EDGE_LEFT, a, b, c),
        IntTernary::PermuteEdgeClampRight => bits::permute_mode(&bits::EDGE_RIGHT, a, b, c),
        IntTernary::PermuteReplicate16 => bits::permute_mode(&bits::REPLICATE_16, a, b, c),
        IntTernary::Dot4 { a_signed, b_signed } => bits::dot4(a_signed, b_signed, a, b, c),
        IntTernary::Dot2 { a_signed, b_signed, high } => {
            bits::dot2(a_signed, b_signed, high, a, b, c)
        }
        IntTernary::FindNth => bits::find_nth(a, b, c),
    }
}

/// Computes `a + b + carry_in`, or with `subtract` `a − (b + carry_in)`, and the carry or borrow out.
#[inline(always)]
#[must_use]
pub fn add_carry(width: Width, subtract: bool, a: u64, b: u64, carry_in: bool) -> (u64, bool) {
    let (a, b, carry) = (u128::from(a), u128::from(b), u128::from(carry_in));
    let wide = if subtract { a.wrapping_sub(b + carry) } else { a + b + carry };
    (wide as u64 & width.mask(), (wide >> bits_of(width)) & 1 == 1)
}

/// Compares `a` with `b`.
#[inline(always)]
#[must_use]
pub fn int_compare(relation: Relation, signed: bool, width: Width, a: u64, b: u64) -> bool {
    match relation {
        Relation::Eq => a == b,
        Relation::Ne => a != b,
        Relation::Lt => less(width, signed, a, b),
        Relation::Le => !less(width, signed, b, a),
        Relation::Gt => less(width, signed, b, a),
        Relation::Ge => !less(width, signed, a, b),
    }
}

/// Extends or truncates the low `from` bits of `a` to `to` bits.
#[inline(always)]
#[must_use]
pub fn resize(from: Width, signed: bool, to: Width, a: u64) -> u64 {
    let extended = if signed { sign_extend(from, a) as u64 } else { a & from.mask() };
    extended & to.mask()
}

/// Bits of a width that fits a `u64`; 128-bit registers take no part in arithmetic.
const fn bits_of(width: Width) -> u32 {
    match width {
        Width::B128 => 64,
        narrow => narrow.bits(),
    }
}

const fn select_if(condition: bool, a: u64, b: u64) -> u64 {
    if condition { a } else { b }
}

#[inline(always)]
fn less(width: Width, signed: bool, a: u64, b: u64) -> bool {
    if signed { sign_extend(width, a) < sign_extend(width, b) } else { a < b }
}

/// Written for 32 bits so that it compiles to one multiplication.
#[inline(always)]
fn multiply(width: Width, a: u64, b: u64) -> u64 {
    match width {
        Width::B32 => u64::from((a as u32).wrapping_mul(b as u32)),
        Width::B1 | Width::B8 | Width::B16 | Width::B64 | Width::B128 => {
            a.wrapping_mul(b) & width.mask()
        }
    }
}

#[inline(always)]
fn multiply_wide(width: Width, signed: bool, a: u64, b: u64) -> u64 {
    let mask = Width::from_bits(2 * bits_of(width)).map_or(u64::MAX, Width::mask);
    match signed {
        true => sign_extend(width, a).wrapping_mul(sign_extend(width, b)) as u64 & mask,
        // The operands have at most 32 bits; the masks let this compile to one multiplication.
        false => ((a & 0xffff_ffff) * (b & 0xffff_ffff)) & mask,
    }
}

#[inline(always)]
fn multiply_high(width: Width, signed: bool, a: u64, b: u64) -> u64 {
    let product = match signed {
        true => i128::from(sign_extend(width, a)) * i128::from(sign_extend(width, b)),
        false => (u128::from(a) * u128::from(b)) as i128,
    };
    (product >> bits_of(width)) as u64 & width.mask()
}

#[inline(always)]
fn divide(width: Width, signed: bool, a: u64, b: u64) -> u64 {
    if b == 0 {
        return width.mask();
    }
    match signed {
        true => sign_extend(width, a).wrapping_div(sign_extend(width, b)) as u64 & width.mask(),
        false => a / b,
    }
}

#[inline(always)]
fn remainder(width: Width, signed: bool, a: u64, b: u64) -> u64 {
    if b == 0 {
        return a;
    }
    match signed {
        true => sign_extend(width, a).wrapping_rem(sign_extend(width, b)) as u64 & width.mask(),
        false => a % b,
    }
}

/// Clamps `value` to the signed range of `width`.
#[inline(always)]
fn clamp(width: Width, value: i128) -> u64 {
    let limit = 1_i128 << (bits_of(width) - 1);
    value.clamp(-limit, limit - 1) as u64 & width.mask()
}

#[inline(always)]
fn shift_left(width: Width, a: u64, amount: u64) -> u64 {
    let amount = amount & 0xffff_ffff;
    if amount < u64::from(bits_of(width)) { (a << amount) & width.mask() } else { 0 }
}

#[inline(always)]
fn shift_right(width: Width, signed: bool, a: u64, amount: u64) -> u64 {
    let amount = (amount & 0xffff_ffff).min(u64::from(bits_of(width)));
    match signed {
        true => (sign_extend(width, a) >> amount.min(63)) as u64 & width.mask(),
        false => {
            if amount < 64 {
                a >> amount
            } else {
                0
            }
        }
    }
}
