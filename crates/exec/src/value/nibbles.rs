//! Half bytes, for kernels that pack four-bit integers.
//!
//! `(w >> 4) & 0x000f000f` extracts every other nibble of a word, and `| 0x64006400` turns them into halves:
//! 0x6400 is 1024 in half precision, with 1 as its last place, so the bits of a small integer in it add that
//! integer ([`magic`]). Nibbles of domain integers are tracked as they are moved. The domain gives the number
//! represented by some of them ([`Domain::field`](crate::domain::Domain::field)).

use super::Valued;
use super::bytes::{Bytes, ZERO};
use super::unit::{Byte, Sort, known};
use crate::domain::{Binary, Truths, Value};
use crate::lanes::{Mask, WARP};
use ir::{Format, Relation, Width};

/// Four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nibble {
    /// Known bits.
    Known(u8),
    /// Nibble `position` of an integer of the domain.
    Of { value: Value, sort: Sort, position: u8 },
}

/// Splits a byte into halves, the lower first; `None` if it is not a byte of integers.
pub(super) fn split(byte: Byte) -> Option<[Nibble; 2]> {
    match byte {
        Byte::Known(bits) => Some([Nibble::Known(bits & 15), Nibble::Known(bits >> 4)]),
        Byte::Of { value, sort, index } if sort.is_integer() => {
            Some([0, 1].map(|half| Nibble::Of { value, sort, position: 2 * index + half }))
        }
        Byte::Nibbles(both) => Some(both),
        Byte::Of { .. } | Byte::Opaque(_) | Byte::Undefined => None,
    }
}

fn join(both: [Nibble; 2]) -> Byte {
    match both {
        [Nibble::Known(low), Nibble::Known(high)] => Byte::Known(low | high << 4),
        [Nibble::Of { value, sort, position }, high]
            if position.is_multiple_of(2)
                && high == Nibble::Of { value, sort, position: position + 1 } =>
        {
            Byte::Of { value, sort, index: position / 2 }
        }
        _ => Byte::Nibbles(both),
    }
}

/// Splits some bytes into halves, the lowest first.
pub(super) fn split_all(bytes: &[Byte]) -> Option<Vec<Nibble>> {
    let halves = bytes.iter().map(|byte| split(*byte)).collect::<Option<Vec<_>>>()?;
    Some(halves.concat())
}

fn pack_nibbles(nibbles: &[Nibble]) -> Bytes {
    let mut out = ZERO;
    for (byte, both) in out.iter_mut().zip(nibbles.chunks_exact(2)) {
        *byte = join([both[0], both[1]]);
    }
    out
}

/// Applies a boolean function to bytes, in each half: all but one operand must be known, and the function
/// must keep the other one or ignore it.
pub(crate) fn bitwise(operands: &[Byte], function: &dyn Fn(&[u8]) -> u8) -> Option<Byte> {
    let operands = operands.iter().map(|byte| split(*byte)).collect::<Option<Vec<_>>>()?;
    let result_half = |which: usize| {
        let unknown =
            operands.iter().map(|both| both[which]).find(|one| !matches!(one, Nibble::Known(_)));
        let result_for = |ones: bool| {
            let bits: Option<Vec<u8>> = operands
                .iter()
                .map(|both| match both[which] {
                    Nibble::Known(bits) => Some(bits),
                    other if Some(other) == unknown => Some(if ones { 15 } else { 0 }),
                    Nibble::Of { .. } => None,
                })
                .collect();
            Some(function(&bits?) & 15)
        };
        match (result_for(false)?, result_for(true)?) {
            (zeros, ones) if zeros == ones => Some(Nibble::Known(zeros)),
            (0, 15) => unknown,
            _ => None,
        }
    };
    Some(join([result_half(0)?, result_half(1)?]))
}

/// Shifts left by `bits`, a multiple of 4, keeping `size` bytes.
pub(crate) fn shift_left(a: &Bytes, bits: u64, size: usize) -> Option<Bytes> {
    let (by, nibbles) = (nibble_count(bits)?, split_all(&a[..size])?);
    let nibble_at = |at: usize| at.checked_sub(by).map_or(Nibble::Known(0), |from| nibbles[from]);
    Some(pack_nibbles(&(0..2 * size).map(nibble_at).collect::<Vec<_>>()))
}

/// Shifts right by `bits`, a multiple of 4, with zeros above.
pub(crate) fn shift_right(a: &Bytes, bits: u64, size: usize) -> Option<Bytes> {
    let (by, nibbles) = (nibble_count(bits)?, split_all(&a[..size])?);
    let nibble_at = |at: usize| nibbles.get(at + by).copied().unwrap_or(Nibble::Known(0));
    Some(pack_nibbles(&(0..2 * size).map(nibble_at).collect::<Vec<_>>()))
}

/// Extracts `length` bits from `first` on, both multiples of 4, with zeros above.
pub(crate) fn extract(a: &Bytes, first: u64, length: u64, size: usize) -> Option<Bytes> {
    let length = nibble_count(length)?;
    let shifted = split_all(&shift_right(a, first, size)?[..size])?;
    let nibble_at = |at: usize| if at < length { shifted[at] } else { Nibble::Known(0) };
    Some(pack_nibbles(&(0..2 * size).map(nibble_at).collect::<Vec<_>>()))
}

/// Returns `length` bits from `first` on as an integer, with the highest bit as the sign.
pub(crate) fn signed(
    valued: &mut Valued<'_>,
    a: &Bytes,
    first: u64,
    length: u64,
    size: usize,
) -> Option<Value> {
    let nibbles = split_all(&a[..size])?;
    let (first, length) = (nibble_count(first)?, nibble_count(length)?);
    integer(valued, nibbles.get(first..first + length)?, true)
}

/// Returns a nibble of a word as an integer, signed or unsigned.
pub(crate) fn nibble(
    valued: &mut Valued<'_>,
    word: &Bytes,
    position: usize,
    signed: bool,
) -> Option<Value> {
    let both = split(word[position / 2])?;
    integer(valued, &both[position % 2..=position % 2], signed)
}

/// Converts a number of bits to a number of nibbles.
fn nibble_count(bits: u64) -> Option<usize> {
    bits.is_multiple_of(4).then(|| bits.min(1 << 10) as usize / 4)
}

/// Returns bytes as an integer, signed or unsigned.
pub(crate) fn number(valued: &mut Valued<'_>, bytes: &[Byte], signed: bool) -> Option<Value> {
    integer(valued, &split_all(bytes)?, signed)
}

fn integer(valued: &mut Valued<'_>, nibbles: &[Nibble], signed: bool) -> Option<Value> {
    let top = 4 * nibbles.len() as u32;
    let (mut total, minus_one) = (valued.domain.integer(0), valued.domain.integer(-1));
    let mut at = 0;
    while let Some(&first) = nibbles.get(at) {
        let (length, value) = match first {
            Nibble::Known(bits) => (1, valued.domain.integer(bits.into())),
            Nibble::Of { value, sort, position } => {
                let follows = |(count, other): &(usize, &Nibble)| {
                    let position = position + *count as u8;
                    **other == Nibble::Of { value, sort, position }
                };
                let length = nibbles[at..].iter().enumerate().take_while(follows).count();
                (length, field(valued, first, length)?)
            }
        };
        total = add(valued, total, value, 1 << (4 * at));
        at += length;
    }
    if !signed {
        return Some(total);
    }
    let less = add(valued, total, minus_one, 1 << top);
    match nibbles.last()? {
        Nibble::Known(bits) => Some(if bits >> 3 == 1 { less } else { total }),
        // The unsigned reading of a negative number is too large by 2^top.
        Nibble::Of { .. } => {
            let most = valued.domain.integer((1 << (top - 1)) - 1);
            let mut above = Truths::NONE;
            let operands = [&[total; WARP], &[most; WARP]];
            valued.domain.compare(Relation::Gt, operands, Mask(1), &mut above);
            Some(match (above.known.has(0), above.truth.has(0)) {
                (true, true) => less,
                (true, false) => total,
                (false, _) => valued.select(above.values[0], less, total),
            })
        }
    }
}

/// Returns `true` if some byte consists of nibbles and the sign of the whole is known.
pub(crate) fn has_sign(bytes: &[Byte]) -> bool {
    let halved = bytes.iter().any(|byte| matches!(byte, Byte::Nibbles(_)));
    let top = bytes.last().and_then(|byte| split(*byte));
    halved && matches!(top, Some([_, Nibble::Known(_)]))
}

/// Returns consecutive nibbles of an integer, from this one on.
fn field(valued: &mut Valued<'_>, first: Nibble, length: usize) -> Option<Value> {
    let Nibble::Of { value, sort, position } = first else { return None };
    let width = Width::from_bits(8 * sort.bytes() as u32)?;
    valued.domain.field(value, width, 4 * u32::from(position), 4 * length as u32)
}

/// Computes `total + scale · value`.
fn add(valued: &mut Valued<'_>, total: Value, value: Value, scale: i128) -> Value {
    let scale = valued.domain.integer(scale);
    let scaled = valued.binary(Binary::Mul, value, scale);
    valued.binary(Binary::Add, total, scaled)
}

/// Returns the float with the bits of a small integer in the last places of a power of two.
pub(crate) fn magic(valued: &mut Valued<'_>, bytes: &[Byte], format: Format) -> Option<Value> {
    if let (Format::F32, [Byte::Known(0), Byte::Known(0), upper @ ..]) = (format, bytes) {
        return magic(valued, upper, Format::Bf16);
    }
    let (&top, below) = bytes.split_last()?;
    let Byte::Known(top) = top else { return None };
    // The highest bit below may belong to the exponent.
    let is_small = |below: &[Byte]| {
        let high = below.last().and_then(|byte| split(*byte));
        matches!(high, Some([_, Nibble::Known(bits)]) if bits < 8)
    };
    let origin = match format {
        Format::F16 if top & 0xfc == 0x64 => 1024 + 256 * i128::from(top & 3),
        Format::Bf16 if top == 0x43 && is_small(below) => 128,
        Format::F32 if top == 0x4b && is_small(below) => 1 << 23,
        _ => return None,
    };
    if known(below).is_some() {
        return None;
    }
    let value = match *below {
        [byte] => super::integer::number(valued, &[byte], false)?,
        _ => number(valued, below, false)?,
    };
    let origin = valued.domain.integer(origin);
    Some(add(valued, origin, value, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word() -> Bytes {
        let mut out = ZERO;
        (0..4).for_each(|at| out[at] = Byte::Of { value: 7, sort: Sort::I32, index: at as u8 });
        out
    }

    #[test]
    fn nibbles_are_taken_apart_and_put_together() {
        let shifted = shift_right(&word(), 4, 4).unwrap();
        assert!(matches!(shifted[0], Byte::Nibbles(_)));
        assert_eq!(shift_left(&shifted, 4, 4).unwrap()[1..4], word()[1..4]);
        assert_eq!(shift_right(&word(), 8, 4).unwrap()[..3], word()[1..4]);
        assert_eq!(shift_right(&word(), 3, 4), None);
        let and = |bits: &[u8]| bits[0] & bits[1];
        let low = bitwise(&[word()[1], Byte::Known(0x0f)], &and).unwrap();
        let position = Nibble::Of { value: 7, sort: Sort::I32, position: 2 };
        assert_eq!(low, Byte::Nibbles([position, Nibble::Known(0)]));
        assert_eq!(bitwise(&[word()[1], Byte::Known(0x07)], &and), None);
        assert_eq!(bitwise(&[word()[1], word()[2]], &and), None);
        let merged = |bits: &[u8]| bits[0] & bits[1] | bits[2];
        let made = bitwise(&[word()[1], Byte::Known(0xf0), Byte::Known(5)], &merged).unwrap();
        let high = Nibble::Of { value: 7, sort: Sort::I32, position: 3 };
        assert_eq!(made, Byte::Nibbles([Nibble::Known(5), high]));
        let middle = extract(&word(), 12, 8, 4).unwrap();
        let expected = [high, Nibble::Of { value: 7, sort: Sort::I32, position: 4 }];
        assert_eq!(middle[0], Byte::Nibbles(expected));
        assert_eq!(middle[1], Byte::Known(0));
    }

    #[test]
    fn floats_have_no_nibbles() {
        let float = Byte::Of { value: 7, sort: Sort::F32, index: 0 };
        let and = |bits: &[u8]| bits[0] & bits[1];
        assert_eq!(bitwise(&[float, Byte::Known(0x0f)], &and), None);
        assert_eq!(shift_right(&[float; 8], 4, 4), None);
    }
}
