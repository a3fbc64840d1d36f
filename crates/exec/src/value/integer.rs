//! Integers of a domain in bytes.
//!
//! A value of an integer sort is an integer; its bits are that integer modulo two to the number of bits. The
//! number represented by the bits themselves depends on the type they are read with, and on the range of the
//! integer: the domain decides ([`Domain::in_range`](crate::domain::Domain::in_range)).

use super::Valued;
use super::bytes::{Bytes, ZERO};
use super::nibbles;
use super::unit::{Byte, Sort, Unit, integer, known, run};
use crate::domain::Value;
use ir::Width;

/// Returns `true` if an operand is an integer of the domain from its first byte to its last.
pub(crate) fn is_integer(operand: &Bytes, width: Width) -> bool {
    integer(&operand[..width.bytes().min(8) as usize]).is_some()
}

/// Returns the bytes of an integer of `size` bytes; `None` if there is no such sort.
pub(crate) fn all_bytes(value: Value, size: usize) -> Option<Bytes> {
    let sort = Sort::integer(size)?;
    let mut out = ZERO;
    (0..size).for_each(|at| out[at] = Byte::Of { value, sort, index: at as u8 });
    Some(out)
}

/// Returns an integer with these lowest bytes.
pub(crate) fn congruent(valued: &mut Valued<'_>, bytes: &[Byte]) -> Option<Value> {
    match known(bytes) {
        Some(_) => number(valued, bytes, true),
        // Signed if the sign is known: of two congruent numbers this is the one nearer to zero.
        None => integer(bytes)
            .or_else(|| chosen(valued, bytes, Sign::Any, &congruent))
            .or_else(|| number(valued, bytes, nibbles::has_sign(bytes))),
    }
}

/// Returns the integer represented by bytes, signed or unsigned.
pub(crate) fn number(valued: &mut Valued<'_>, bytes: &[Byte], signed: bool) -> Option<Value> {
    let width = |size: usize| Width::from_bits(8 * size as u32);
    if let Some(bits) = known(bytes) {
        let unused = 64 - 8 * bytes.len() as u32;
        let number = match signed {
            true => i128::from((bits << unused).cast_signed() >> unused),
            false => i128::from(bits),
        };
        return Some(valued.domain.integer(number));
    }
    if let Some(value) = integer(bytes) {
        return valued.domain.in_range(value, width(bytes.len())?, signed);
    }
    let sign = if signed { Sign::Signed } else { Sign::Unsigned };
    if let Some(value) = chosen(valued, bytes, sign, &|valued, side| number(valued, side, signed)) {
        return Some(value);
    }
    // With zeros above, it is unsigned.
    let zeros = bytes.iter().rev().take_while(|byte| **byte == Byte::Known(0)).count();
    let below = &bytes[..bytes.len() - zeros];
    if let Some(value) = integer(below).filter(|_| zeros > 0) {
        return valued.domain.in_range(value, width(below.len())?, false);
    }
    // Parts of several integers.
    nibbles::number(valued, bytes, signed)
}

/// Returns an integer congruent to the number in some bytes.
pub(crate) fn integer_or_number(
    valued: &mut Valued<'_>,
    bytes: &[Byte],
    signed: bool,
) -> Option<Value> {
    integer(bytes).or_else(|| number(valued, bytes, signed))
}

/// The representative to return, of all integers with the same lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sign {
    Any,
    Signed,
    Unsigned,
}

/// A conversion of bytes to an integer.
type IntegerRead<'r> = &'r dyn Fn(&mut Valued<'_>, &[Byte]) -> Option<Value>;

/// Returns the integer selected by a choice between two units, if both sides are integers.
fn chosen(
    valued: &mut Valued<'_>,
    bytes: &[Byte],
    sign: Sign,
    read: IntegerRead<'_>,
) -> Option<Value> {
    let Some(&Byte::Of { value: word, sort: Sort::Unit, index: 0 }) = bytes.first() else {
        return None;
    };
    let Some(&Unit::Choice { condition, if_true, if_false }) = valued.store.units.get(word) else {
        return None;
    };
    if run(bytes) != bytes.len() {
        return None;
    }
    let key = (word, bytes.len(), sign);
    if let Some(&known) = valued.store.chosen_integers.get(&key) {
        return known;
    }
    let sides = [if_true, if_false].map(|side| valued.store.units.bytes(side));
    let [a, b] = sides.map(|side| read(valued, &side[..bytes.len()]));
    let chosen = a.zip(b).map(|(a, b)| valued.select(condition, a, b));
    valued.store.chosen_integers.insert(key, chosen);
    chosen
}
