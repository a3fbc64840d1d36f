//! Single bits of integers of the domain.
//!
//! If an operation on bits moves neither whole bytes nor half bytes, every bit of its operands becomes a
//! number of its own, 0 or 1, from the domain ([`Domain::field`](crate::domain::Domain::field)). A boolean
//! function of such numbers is the one polynomial that is linear in each of them and agrees with the function
//! on 0 and 1: `x·y` for `and`, `x + y − 2·x·y` for `xor`. Bits of the result become the bytes of new
//! integers, and the domain remembers their bits
//! ([`Domain::number_of_bits`](crate::domain::Domain::number_of_bits)), so that counting the ones of `a & b`
//! adds up products.

use super::Valued;
use super::bytes::{Bytes, ZERO};
use super::integer::all_bytes;
use super::nibbles::{Nibble, split};
use super::unit::{Byte, Sort, known};
use crate::domain::{Binary, Value};
use ir::{IntBinary, IntTernary, IntUnary, Op, Width};

/// A bit of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bit {
    Known(bool),
    /// A value of the domain that is 0 or 1.
    Of(Value),
}

/// Computes a bitwise operation in one lane, on operands of which some bits are numbers of the domain.
/// `to` is the size of the result in bytes.
pub(crate) fn compute(
    valued: &mut Valued<'_>,
    op: &Op,
    operands: &[Bytes],
    to: usize,
) -> Option<Bytes> {
    let amount = |at: usize| known(&operands[at][..4]).map(|amount| amount as usize);
    match *op {
        Op::IntUnary { op: IntUnary::PopulationCount, width, .. } => {
            let bits = bits(valued, &operands[0], width)?;
            let count = count(valued, &bits);
            all_bytes(count, to)
        }
        Op::IntUnary { op: IntUnary::Not, width, .. } => {
            apply_bitwise(valued, &operands[..1], width, 0b01)
        }
        Op::IntBinary { op, width, .. } => match op {
            IntBinary::And => apply_bitwise(valued, operands, width, 0b1000),
            IntBinary::Or => apply_bitwise(valued, operands, width, 0b1110),
            IntBinary::Xor => apply_bitwise(valued, operands, width, 0b0110),
            IntBinary::Shl => {
                let (by, from) = (amount(1)?, bits(valued, &operands[0], width)?);
                let bit_at =
                    |at: usize| at.checked_sub(by).map_or(Bit::Known(false), |at| from[at]);
                pack_bits(valued, &(0..from.len()).map(bit_at).collect::<Vec<_>>())
            }
            IntBinary::Shr { signed } => {
                let (by, from) = (amount(1)?, bits(valued, &operands[0], width)?);
                let top = if signed { *from.last()? } else { Bit::Known(false) };
                let bit_at = |at: usize| from.get(at.saturating_add(by)).copied().unwrap_or(top);
                pack_bits(valued, &(0..from.len()).map(bit_at).collect::<Vec<_>>())
            }
            _ => None,
        },
        Op::IntTernary { op: IntTernary::Logic { table }, width, .. } => {
            // The first operand is the highest bit of the table's index.
            let reversed = [operands[2], operands[1], operands[0]];
            apply_bitwise(valued, &reversed, width, table)
        }
        Op::IntTernary { op: IntTernary::ExtractBits { signed: false }, width, .. } => {
            let (first, length) = (amount(1)? & 0xff, amount(2)? & 0xff);
            let from = bits(valued, &operands[0], width)?;
            let bit_at = |at: usize| match at < length {
                true => from.get(first + at).copied().unwrap_or(Bit::Known(false)),
                false => Bit::Known(false),
            };
            pack_bits(valued, &(0..from.len()).map(bit_at).collect::<Vec<_>>())
        }
        _ => None,
    }
}

/// Returns the bits of an integer, the lowest first.
fn bits(valued: &mut Valued<'_>, word: &Bytes, width: Width) -> Option<Vec<Bit>> {
    (0..width.bits() as usize).map(|at| bit(valued, word, at)).collect()
}

/// Returns a bit of a word of integers.
pub(crate) fn bit(valued: &mut Valued<'_>, word: &Bytes, at: usize) -> Option<Bit> {
    match split(word[at / 8])?[at / 4 % 2] {
        Nibble::Known(bits) => Some(Bit::Known(bits >> (at % 4) & 1 == 1)),
        Nibble::Of { value, sort, position } => {
            let width = Width::from_bits(8 * sort.bytes() as u32)?;
            let first = 4 * u32::from(position) + at as u32 % 4;
            Some(Bit::Of(valued.domain.field(value, width, first, 1)?))
        }
    }
}

/// Converts a bit to a number.
pub(crate) fn number(valued: &mut Valued<'_>, bit: Bit) -> Value {
    match bit {
        Bit::Known(one) => valued.domain.integer(one.into()),
        Bit::Of(value) => value,
    }
}

/// Counts the ones among these bits.
fn count(valued: &mut Valued<'_>, bits: &[Bit]) -> Value {
    let ones = bits.iter().filter(|bit| **bit == Bit::Known(true)).count();
    let mut total = valued.domain.integer(ones as i128);
    for bit in bits {
        if let Bit::Of(value) = bit {
            total = valued.binary(Binary::Add, total, *value);
        }
    }
    total
}

/// Applies a boolean function bit by bit. Bit `i` of the table is its value if the first operand is the
/// lowest bit of `i`.
fn apply_bitwise(
    valued: &mut Valued<'_>,
    operands: &[Bytes],
    width: Width,
    table: u8,
) -> Option<Bytes> {
    let columns: Option<Vec<Vec<Bit>>> =
        operands.iter().map(|operand| bits(valued, operand, width)).collect();
    let columns = columns?;
    let mut result = Vec::new();
    for at in 0..width.bits() as usize {
        let row: Vec<Bit> = columns.iter().map(|column| column[at]).collect();
        result.push(apply_to_bits(valued, &row, table));
    }
    pack_bits(valued, &result)
}

/// Applies a boolean function to a few bits.
fn apply_to_bits(valued: &mut Valued<'_>, operands: &[Bit], table: u8) -> Bit {
    // The distinct unknowns: a bit is its own square.
    let mut unknowns: Vec<Value> = Vec::new();
    for operand in operands {
        if let Bit::Of(value) = operand
            && !unknowns.contains(value)
        {
            unknowns.push(*value);
        }
    }
    let holds = |assignment: usize| {
        let bit = |operand: &Bit| match operand {
            Bit::Known(one) => *one,
            Bit::Of(value) => {
                let at = unknowns.iter().position(|known| known == value);
                at.is_some_and(|at| assignment >> at & 1 == 1)
            }
        };
        let index = operands.iter().rev().fold(0, |index, one| index << 1 | usize::from(bit(one)));
        table >> index & 1 == 1
    };
    let values: Vec<bool> = (0..1 << unknowns.len()).map(holds).collect();
    if values.iter().all(|value| *value == values[0]) {
        return Bit::Known(values[0]);
    }
    let single = |at: usize| (0..values.len()).all(|one| values[one] == (one >> at & 1 == 1));
    if let Some(at) = (0..unknowns.len()).find(|at| single(*at)) {
        return Bit::Of(unknowns[at]);
    }
    Bit::Of(polynomial(valued, &unknowns, &values))
}

/// Builds `Σ c(S) · Π x over S`, where `c(S)` is the sum of the values at subsets of `S` with alternating
/// signs (Möbius inversion).
fn polynomial(valued: &mut Valued<'_>, unknowns: &[Value], values: &[bool]) -> Value {
    let mut total = valued.domain.integer(0);
    for set in 0..values.len() {
        let below = (0..=set).filter(|below| below & !set == 0 && values[*below]);
        let sign = |below: usize| if (set ^ below).count_ones().is_multiple_of(2) { 1 } else { -1 };
        let coefficient: i128 = below.map(sign).sum();
        if coefficient == 0 {
            continue;
        }
        let mut product = valued.domain.integer(coefficient);
        for (at, unknown) in unknowns.iter().enumerate() {
            if set >> at & 1 == 1 {
                product = valued.binary(Binary::Mul, product, *unknown);
            }
        }
        total = valued.binary(Binary::Add, total, product);
    }
    total
}

/// Packs bits into bytes: known, or integers of the domain of one byte each.
fn pack_bits(valued: &mut Valued<'_>, bits: &[Bit]) -> Option<Bytes> {
    let mut out = ZERO;
    for (byte, bits) in out.iter_mut().zip(bits.chunks(8)) {
        let known = bits.iter().rev().try_fold(0, |byte, bit| match bit {
            Bit::Known(one) => Some(byte << 1 | u8::from(*one)),
            Bit::Of(_) => None,
        });
        *byte = match known {
            Some(bits) => Byte::Known(bits),
            None => {
                let numbers: Vec<Value> = bits.iter().map(|bit| number(valued, *bit)).collect();
                let value = valued.domain.number_of_bits(&numbers)?;
                Byte::Of { value, sort: Sort::integer(1)?, index: 0 }
            }
        };
    }
    Some(out)
}
