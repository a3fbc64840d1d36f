//! Adjacent bits of one integer, anywhere in a word: `(x >> 4) & 15`, also shifted up to an address.
//!
//! A mask and shifts by numbers keep such a run, and it is a number with a range of its own: the field
//! ([`Domain::field`](crate::domain::Domain::field)). So an index made of it needs no range of `x`. The result
//! fills as few bytes as possible, the others are known zeros: kernels that unpack small integers put other
//! bytes beside it.

use super::Valued;
use super::bytes::{Bytes, ZERO};
use super::nibbles::{Nibble, split_all};
use super::unit::{Byte, Sort, known};
use crate::domain::{Binary, Value};
use ir::{IntBinary, IntTernary, Op, Width};

/// `length` bits of an integer from bit `first` on, moved to bit `at` of a word; all other bits are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    value: Value,
    /// The width of the integer.
    width: Width,
    first: u32,
    length: u32,
    at: u32,
}

/// Computes a mask or a shift of a run in one lane.
pub(crate) fn compute(
    valued: &mut Valued<'_>,
    op: &Op,
    operands: &[Bytes],
    to: usize,
) -> Option<Bytes> {
    let amount = |at: usize| u32::try_from(known(&operands[at][..4])?).ok();
    let run = match *op {
        Op::IntBinary { op: IntBinary::And, width, .. } => {
            let size = width.bytes() as usize;
            let (operand, mask) = match [0, 1].map(|at: usize| known(&operands[at][..size])) {
                [None, Some(mask)] => (&operands[0], mask),
                [Some(mask), None] => (&operands[1], mask),
                _ => return None,
            };
            Run::read(operand, size)?.mask(mask)?
        }
        Op::IntBinary { op: IntBinary::Shl, width, .. } => {
            Run::read(&operands[0], width.bytes() as usize)?.up(amount(1)?, width)
        }
        Op::IntBinary { op: IntBinary::Shr { signed: false }, width, .. } => {
            Run::read(&operands[0], width.bytes() as usize)?.down(amount(1)?)
        }
        Op::IntTernary { op: IntTernary::ExtractBits { signed: false }, width, .. } => {
            let (first, length) = (amount(1)? & 0xff, amount(2)? & 0xff);
            let down = Run::read(&operands[0], width.bytes() as usize)?.down(first);
            down.mask(1u64.checked_shl(length).map_or(u64::MAX, |over| over - 1))?
        }
        _ => return None,
    };
    run.write(valued, to)
}

impl Run {
    /// Reads the run in a word of `size` bytes. `None` if the word is not a single run.
    fn read(word: &Bytes, size: usize) -> Option<Self> {
        let nibbles = split_all(&word[..size])?;
        let start = nibbles.iter().position(|nibble| *nibble != Nibble::Known(0))?;
        let Nibble::Of { value, sort, position } = nibbles[start] else { return None };
        let follows = |(count, other): (u8, &Nibble)| {
            *other == Nibble::Of { value, sort, position: position + count }
        };
        let length = (0..).zip(&nibbles[start..]).take_while(|one| follows(*one)).count();
        let rest = &nibbles[start + length..];
        rest.iter().all(|nibble| *nibble == Nibble::Known(0)).then_some(())?;
        Some(Self {
            value,
            width: Width::from_bits(8 * sort.bytes() as u32)?,
            first: 4 * u32::from(position),
            length: 4 * length as u32,
            at: 4 * start as u32,
        })
    }

    /// Masks the run. `None` if the remaining bits are not adjacent.
    fn mask(self, mask: u64) -> Option<Self> {
        let kept = mask.checked_shr(self.at).unwrap_or(0);
        let kept = kept & 1u64.checked_shl(self.length).map_or(u64::MAX, |over| over - 1);
        let (below, length) = (kept.trailing_zeros(), kept.count_ones());
        if length == 0 {
            return Some(Self { length, ..self });
        }
        let is_adjacent = kept >> below == u64::MAX >> (64 - length);
        let (first, at) = (self.first + below, self.at + below);
        is_adjacent.then_some(Self { first, length, at, ..self })
    }

    /// Shifts the run to the left in a word of this width.
    fn up(self, by: u32, width: Width) -> Self {
        let at = self.at.saturating_add(by).min(width.bits());
        Self { at, length: self.length.min(width.bits() - at), ..self }
    }

    /// Shifts the run to the right, with zeros above.
    fn down(self, by: u32) -> Self {
        let dropped = by.saturating_sub(self.at).min(self.length);
        let at = self.at.saturating_sub(by);
        Self { first: self.first + dropped, length: self.length - dropped, at, ..self }
    }

    /// Writes the run to a word of `size` bytes.
    fn write(self, valued: &mut Valued<'_>, size: usize) -> Option<Bytes> {
        let mut out = ZERO;
        if self.length == 0 {
            return Some(out);
        }
        let over = (self.at + self.length).div_ceil(8) as usize;
        let low = self.at as usize / 8;
        let bytes = (over - low).next_power_of_two();
        // Three bytes are written as four.
        let low = low.min(size.checked_sub(bytes)?);
        let sort = Sort::integer(bytes)?;
        let field = valued.domain.field(self.value, self.width, self.first, self.length)?;
        let scale = valued.domain.integer(1 << (self.at as usize - 8 * low));
        let value = valued.binary(Binary::Mul, field, scale);
        for (index, byte) in out[low..low + bytes].iter_mut().enumerate() {
            *byte = Byte::Of { value, sort, index: index as u8 };
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(value: Value) -> Bytes {
        let mut out = ZERO;
        (0..4).for_each(|at| out[at] = Byte::Of { value, sort: Sort::I32, index: at as u8 });
        out
    }

    #[test]
    fn masks_and_shifts_keep_a_run() {
        let run = Run::read(&word(7), 4).unwrap();
        assert_eq!((run.first, run.length, run.at), (0, 32, 0));
        let parts = |run: Run| (run.first, run.length, run.at);
        assert_eq!(parts(run.mask(7).unwrap()), (0, 3, 0));
        assert_eq!(parts(run.down(2).mask(60).unwrap()), (4, 4, 2));
        assert_eq!(parts(run.mask(7).unwrap().up(2, Width::B32)), (0, 3, 2));
        assert_eq!(parts(run.up(30, Width::B32)), (0, 2, 30));
        assert_eq!(run.up(32, Width::B32).length, 0);
        assert_eq!(parts(run.up(8, Width::B32).down(12)), (4, 20, 0));
        assert_eq!(run.down(32).length, 0);
        assert_eq!(run.mask(0).map(|run| run.length), Some(0));
        assert_eq!(run.mask(5), None);
    }

    #[test]
    fn a_run_is_of_one_integer() {
        let mut mixed = word(7);
        mixed[2] = word(8)[2];
        assert_eq!(Run::read(&mixed, 4), None);
        let mut upper = ZERO;
        upper[1] = word(7)[2];
        let run = Run::read(&upper, 4).unwrap();
        assert_eq!((run.first, run.length, run.at), (16, 8, 8));
        assert_eq!(Run::read(&ZERO, 4), None);
    }
}
