//! Units: descriptions of four bytes that are not a number.
//!
//! A unit is described by a 32-bit word. Below 2^31 it is the handle of a domain value that fills the unit as a
//! single (or tf32). From 2^31 on it is a position in a table ([`Unit`]), or one value of another sort in the low
//! bytes, with zeros above ([`ShortValues`]). 0 is a unit about which nothing is known, so a missing record is
//! never mistaken for a value.
//!
//! Every unit can be split into bytes ([`Byte`]) and reassembled; a value results only from all of its bytes
//! in order. So every way of moving bytes keeps a value or loses it, and never makes a wrong one. The price:
//! bits within a byte are not tracked.

use super::nibbles::Nibble;
use super::reason;
use super::short_values::ShortValues;
use crate::finding::Place;
use crate::handle::{Handle, Value};
use crate::lanes::Narrow;
use ir::{Format, Scalar, Width};
use rustc_hash::FxHashMap;

/// The encoding of a value in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sort {
    F64,
    /// Also tf32, whose numbers are singles.
    F32,
    F16,
    Bf16,
    E4m3,
    E5m2,
    I8,
    I16,
    I32,
    I64,
    /// A data-dependent address: a number of [`super::address::Addresses`], not a domain value.
    Address,
    /// Not a value, but a unit that cannot be split.
    Unit,
}

impl Sort {
    /// The number of sorts.
    pub(crate) const COUNT: usize = Self::Unit as usize + 1;

    pub(crate) fn of(scalar: Scalar) -> Option<Self> {
        Some(match scalar {
            Scalar::Float(format) => Self::float(format),
            Scalar::Integer { width: Width::B8, .. } => Self::I8,
            Scalar::Integer { width: Width::B16, .. } => Self::I16,
            Scalar::Integer { width: Width::B32, .. } => Self::I32,
            Scalar::Integer { width: Width::B64, .. } => Self::I64,
            Scalar::Integer { .. } => return None,
        })
    }

    /// Integers of this many bytes.
    pub(crate) fn integer(bytes: usize) -> Option<Self> {
        Some(match bytes {
            1 => Self::I8,
            2 => Self::I16,
            4 => Self::I32,
            8 => Self::I64,
            _ => return None,
        })
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    pub(crate) fn float(format: Format) -> Self {
        match format {
            Format::F64 => Self::F64,
            Format::F32 | Format::Tf32 => Self::F32,
            Format::F16 => Self::F16,
            Format::Bf16 => Self::Bf16,
            Format::E4m3 => Self::E4m3,
            Format::E5m2 => Self::E5m2,
        }
    }

    /// The float format, if any.
    pub(crate) fn format(self) -> Option<Format> {
        Some(match self {
            Self::F64 => Format::F64,
            Self::F32 => Format::F32,
            Self::F16 => Format::F16,
            Self::Bf16 => Format::Bf16,
            Self::E4m3 => Format::E4m3,
            Self::E5m2 => Format::E5m2,
            _ => return None,
        })
    }

    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::F64 | Self::I64 | Self::Address => 8,
            Self::F32 | Self::I32 | Self::Unit => 4,
            Self::F16 | Self::Bf16 | Self::I16 => 2,
            Self::E4m3 | Self::E5m2 | Self::I8 => 1,
        }
    }
}

/// A byte of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Byte {
    /// Known bits.
    Known(u8),
    /// Never written.
    Undefined,
    /// An untracked byte: the word of an opaque unit.
    Opaque(u32),
    /// Byte `index` of a value (or unit).
    Of { value: u32, sort: Sort, index: u8 },
    /// Two halves of integers, the lower first, that are not a whole byte.
    Nibbles([Nibble; 2]),
}

/// A unit other than a plain single.
#[derive(Clone, Debug)]
pub(crate) enum Unit {
    /// Known bits, beside an unknown half of a 64-bit word or as a side of a choice.
    Bits(u32),
    /// Two values of two bytes, the first in the low bytes.
    Halves { values: [Value; 2], sorts: [Sort; 2] },
    /// Four of the eight bytes of a value, from `first` on.
    Part { value: Value, sort: Sort, first: u8 },
    /// One unit or another, by a condition of the domain.
    Choice { condition: Value, if_true: u32, if_false: u32 },
    /// Untracked: a position in the table of reasons.
    Opaque(u32),
    /// Any other mixture.
    Bytes(Box<[Byte; 4]>),
}

/// The place and reason of a lost value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lost {
    /// The instruction, if any.
    pub place: Option<Place>,
    /// The reason; continues "a value".
    pub reason: &'static str,
}

/// All units of a run.
#[derive(Debug, Default)]
pub(crate) struct Units {
    table: Vec<Unit>,
    lost: Vec<Lost>,
    lost_known: FxHashMap<Lost, u32>,
    bits_known: FxHashMap<u32, u32>,
    short_values: ShortValues,
    /// For each unit, the words of its single halves, 0 where not yet requested.
    halves_known: Vec<[u32; 2]>,
}

impl Units {
    /// Returns the unit of a word, if it is in the table.
    pub(crate) fn get(&self, word: u32) -> Option<&Unit> {
        self.table.get(Handle(word).unit()?)
    }

    /// Adds a unit and returns its word; 0 if the table is full.
    pub(crate) fn push(&mut self, unit: Unit) -> u32 {
        let Some(Handle(word)) = Handle::of_unit(self.table.len() as u32) else { return 0 };
        self.table.push(unit);
        word
    }

    /// The word of a number.
    pub(crate) fn bits(&mut self, bits: u32) -> u32 {
        if let Some(&word) = self.bits_known.get(&bits) {
            return word;
        }
        let word = self.push(Unit::Bits(bits));
        self.bits_known.insert(bits, word);
        word
    }

    /// The word of a value of at most four bytes, with zeros above.
    #[inline]
    pub(crate) fn short_value(&mut self, value: Value, sort: Sort) -> u32 {
        self.short_values.word(value, sort)
    }

    /// The word of one of two halves alone, with zeros above; `None` for other units.
    #[inline]
    pub(crate) fn half_alone(&mut self, word: u32, half: usize) -> Option<u32> {
        let position = Handle(word).unit()?;
        match self.halves_known.get(position) {
            Some(known) if known[half] != 0 => Some(known[half]),
            _ => self.find_half(position, half),
        }
    }

    /// Finds the words of one half alone, in all lanes. Returns `false` unless all of them were requested before.
    pub(crate) fn find_known_halves(&self, words: &Narrow, half: usize, out: &mut Narrow) -> bool {
        let mut all = u32::MAX;
        for (&word, out) in words.iter().zip(out) {
            *out = match self.halves_known.get(Handle(word).unit_or_beyond()) {
                Some(known) => known[half],
                None => 0,
            };
            all &= *out;
        }
        // Words of units have the highest bit, and 0 has not.
        Handle(all).is_unit()
    }

    /// Finds the values of halves alone, of this sort, in all lanes. Returns `false` if one is something else.
    pub(crate) fn find_values_alone(&self, words: &Narrow, sort: Sort, out: &mut Narrow) -> bool {
        self.short_values.find_all(words, sort, out)
    }

    /// Returns the word of two values of two bytes, the first in the low bytes; `None` unless each unit has one value
    /// alone.
    pub(crate) fn pair(&mut self, low: u32, high: u32) -> Option<u32> {
        let alone = |word: u32| self.short_values.find(word).filter(|(_, sort)| sort.bytes() == 2);
        let found = [alone(low)?, alone(high)?];
        let word = self
            .push(Unit::Halves { values: found.map(|one| one.0), sorts: found.map(|one| one.1) });
        if let Some(position) = Handle(word).unit() {
            self.set_halves(position, |known| *known = [low, high]);
        }
        Some(word)
    }

    #[cold]
    fn find_half(&mut self, position: usize, half: usize) -> Option<u32> {
        let &Unit::Halves { values, sorts } = self.table.get(position)? else { return None };
        let alone = self.short_value(values[half], sorts[half]);
        self.set_halves(position, |known| known[half] = alone);
        Some(alone)
    }

    fn set_halves(&mut self, position: usize, set: impl FnOnce(&mut [u32; 2])) {
        if self.halves_known.len() <= position {
            self.halves_known.resize(self.table.len(), [0; 2]);
        }
        set(&mut self.halves_known[position]);
    }

    /// Returns value number `part` of two bytes each, if the unit has one of this sort there.
    pub(crate) fn half(&self, word: u32, part: usize, sort: Sort) -> Option<Value> {
        if let Some((value, found)) = self.short_values.find(word) {
            return (part == 0 && found == sort).then_some(value);
        }
        match *self.get(word)? {
            Unit::Halves { values, sorts } if sorts[part] == sort => Some(values[part]),
            _ => None,
        }
    }

    /// The word of an untracked value. Equal words do not mean equal values.
    pub(crate) fn opaque(&mut self, place: Option<Place>, reason: &'static str) -> u32 {
        let lost = Lost { place, reason };
        if let Some(&word) = self.lost_known.get(&lost) {
            return word;
        }
        let number = self.lost.len() as u32;
        self.lost.push(lost.clone());
        let word = self.push(Unit::Opaque(number));
        self.lost_known.insert(lost, word);
        word
    }

    /// Returns the reason why a unit is opaque, if it is.
    pub(crate) fn lost(&self, word: u32) -> Option<Lost> {
        match self.get(word) {
            Some(Unit::Opaque(number)) => self.lost.get(*number as usize).cloned(),
            None if !Handle(word).is_value() && self.short_values.find(word).is_none() => {
                Some(Lost { place: None, reason: reason::NOT_RECORDED })
            }
            _ => None,
        }
    }

    /// Replaces values by others.
    pub(crate) fn replace(&mut self, with: impl Fn(Value) -> Value) {
        for unit in &mut self.table {
            match unit {
                Unit::Bits(_) | Unit::Opaque(_) | Unit::Part { sort: Sort::Address, .. } => {}
                Unit::Part { value, .. } => *value = with(*value),
                Unit::Halves { values, .. } => *values = values.map(&with),
                Unit::Choice { if_true, if_false, .. } => {
                    (*if_true, *if_false) = (with(*if_true), with(*if_false));
                }
                Unit::Bytes(bytes) => {
                    for byte in bytes.iter_mut() {
                        if let Byte::Of { value, .. } = byte {
                            *value = with(*value);
                        }
                    }
                }
            }
        }
        self.short_values.replace(with);
    }

    /// Splits a unit into bytes.
    pub(crate) fn bytes(&self, word: u32) -> [Byte; 4] {
        let byte_of = |value: u32, sort: Sort| {
            move |index: usize| Byte::Of { value, sort, index: index as u8 }
        };
        if Handle(word).is_value() {
            return std::array::from_fn(byte_of(word, Sort::F32));
        }
        if let Some((value, sort)) = self.short_values.find(word) {
            return std::array::from_fn(|index| match index {
                index if index < sort.bytes() => byte_of(value, sort)(index),
                _ => Byte::Known(0),
            });
        }
        match self.get(word) {
            None | Some(Unit::Opaque(_)) => [Byte::Opaque(word); 4],
            Some(Unit::Bits(bits)) => bits.to_le_bytes().map(Byte::Known),
            Some(&Unit::Halves { values, sorts }) => {
                std::array::from_fn(|index| byte_of(values[index / 2], sorts[index / 2])(index % 2))
            }
            Some(&Unit::Part { value, sort, first }) => {
                std::array::from_fn(|index| byte_of(value, sort)(usize::from(first) + index))
            }
            Some(Unit::Choice { .. }) => std::array::from_fn(byte_of(word, Sort::Unit)),
            Some(Unit::Bytes(bytes)) => **bytes,
        }
    }

    /// Assembles bytes.
    pub(crate) fn unit(&mut self, bytes: [Byte; 4]) -> u32 {
        if let Some(bits) = known(&bytes) {
            return self.bits(bits as u32);
        }
        let unit = match bytes {
            [Byte::Opaque(word), ..] if bytes == [Byte::Opaque(word); 4] => return word,
            [Byte::Of { value, sort, index: first }, ..] => {
                let run = run(&bytes);
                let zeros = bytes[run..].iter().all(|&byte| byte == Byte::Known(0));
                match (run, sort.bytes()) {
                    (4, 4) if first == 0 && matches!(sort, Sort::F32 | Sort::Unit) => return value,
                    (4, 8) if first % 4 == 0 => Some(Unit::Part { value, sort, first }),
                    (run, size) if run == size && first == 0 && zeros => {
                        return self.short_value(value, sort);
                    }
                    _ => halves(&bytes),
                }
            }
            _ => None,
        };
        self.push(unit.unwrap_or_else(|| Unit::Bytes(Box::new(bytes))))
    }
}

/// Counts the consecutive bytes of one value from the first byte on.
pub(crate) fn run(bytes: &[Byte]) -> usize {
    let Some(&Byte::Of { value, sort, index }) = bytes.first() else { return 0 };
    let follows =
        |(at, byte): &(usize, &Byte)| **byte == Byte::Of { value, sort, index: index + *at as u8 };
    bytes.iter().enumerate().take_while(follows).count()
}

fn halves(bytes: &[Byte; 4]) -> Option<Unit> {
    let value_of = |half: &[Byte]| match half[0] {
        Byte::Of { value, sort, index: 0 } if sort.bytes() == 2 && run(half) == 2 => {
            Some((value, sort))
        }
        _ => None,
    };
    let (low, high) = (value_of(&bytes[..2])?, value_of(&bytes[2..])?);
    Some(Unit::Halves { values: [low.0, high.0], sorts: [low.1, high.1] })
}

/// Returns the number in up to eight bytes, if all are known.
pub(crate) fn known(bytes: &[Byte]) -> Option<u64> {
    bytes.iter().rev().try_fold(0, |number, byte| match byte {
        Byte::Known(bits) => Some(number << 8 | u64::from(*bits)),
        _ => None,
    })
}

/// Returns the integer with these lowest bytes.
pub(crate) fn integer(bytes: &[Byte]) -> Option<Value> {
    match bytes.first()? {
        Byte::Of { value, sort, index: 0 } if sort.is_integer() && run(bytes) == bytes.len() => {
            Some(*value)
        }
        _ => None,
    }
}

/// The interpretation of bytes as one value of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A number.
    Bits(u64),
    /// All bytes of a value, in order.
    Value(Value),
    /// A unit that is a choice.
    Unit(u32),
    /// Untracked bytes; the word gives the reason.
    Opaque(u32),
    /// Bytes of another sort, without meaning in this one.
    Foreign,
}

/// Reads bytes, as many as the sort has, as one value.
pub(crate) fn content(bytes: &[Byte], sort: Sort) -> Content {
    if let Some(bits) = known(bytes) {
        return Content::Bits(bits);
    }
    let opaque = bytes.iter().find_map(|byte| match byte {
        Byte::Opaque(word) => Some(*word),
        _ => None,
    });
    if let Some(word) = opaque {
        return Content::Opaque(word);
    }
    match bytes[0] {
        Byte::Of { value, sort: found, index: 0 } if run(bytes) == bytes.len() => match found {
            Sort::Unit => Content::Unit(value),
            found if found == sort => Content::Value(value),
            _ => Content::Foreign,
        },
        // The upper half of a single is a bfloat: with zeros below, the same number.
        Byte::Known(0) if sort == Sort::F32 && bytes[1] == Byte::Known(0) => {
            match content(&bytes[2..], Sort::Bf16) {
                Content::Value(value) => Content::Value(value),
                _ => Content::Foreign,
            }
        }
        _ => Content::Foreign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_taken_apart_and_put_together_are_the_same() {
        let mut units = Units::default();
        let half = |value| (value, Sort::F16);
        let pack = Unit::Halves { values: [half(7).0, 9], sorts: [Sort::F16, Sort::Bf16] };
        let words = [
            5,
            units.push(pack),
            units.short_value(3, Sort::Bf16),
            units.push(Unit::Part { value: 3, sort: Sort::F64, first: 4 }),
            units.push(Unit::Choice { condition: 1, if_true: 2, if_false: 3 }),
            units.bits(77),
            units.opaque(None, "for a test"),
        ];
        for word in words {
            let bytes = units.bytes(word);
            let again = units.unit(bytes);
            assert_eq!(units.bytes(again), bytes);
        }
    }

    #[test]
    fn values_come_back_from_all_their_bytes_in_order_only() {
        let mut units = Units::default();
        let [a, b, c, d] = units.bytes(5);
        assert_eq!(content(&[a, b, c, d], Sort::F32), Content::Value(5));
        assert_eq!(content(&[b, a, c, d], Sort::F32), Content::Foreign);
        assert_eq!(content(&[c, d], Sort::Bf16), Content::Foreign);
        let word = units.short_value(6, Sort::Bf16);
        let [e, f, ..] = units.bytes(word);
        let zero = Byte::Known(0);
        assert_eq!(content(&[e, f], Sort::Bf16), Content::Value(6));
        assert_eq!(content(&[e, f], Sort::F16), Content::Foreign);
        assert_eq!(content(&[zero, zero, e, f], Sort::F32), Content::Value(6));
        let opaque = units.opaque(None, "for a test");
        assert_eq!(content(&[e, Byte::Opaque(opaque)], Sort::Bf16), Content::Opaque(opaque));
    }
}
