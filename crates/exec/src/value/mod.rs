//! Domain values in registers and memory.
//!
//! In a run with a domain ([`crate::domain`]) these invariants hold:
//! - an unknown lane of a register has the word of a *unit* ([`unit`]) in each 32 bits (in a narrower
//!   register, of a unit with zeros above);
//! - an unknown lane of a predicate has a word in the table beside it;
//! - four aligned bytes of memory with at least one opaque byte hold the word of a unit, and each of them is
//!   opaque or undefined.
//!
//! Copies, accesses of whole units, shuffles and calls move such words without special code. Every
//! computation on bits writes [opaque](unit::Units::opaque) words for unknown results, unless it supports
//! values: an unforeseen case loses a value, but never makes it wrong.

pub(crate) mod address;
pub(crate) mod bit_runs;
pub(crate) mod bits;
pub(crate) mod bytes;
pub(crate) mod data_writes;
pub(crate) mod integer;
pub(crate) mod memory;
pub(crate) mod nibbles;
mod short_values;
pub(crate) mod unit;

use crate::domain::{Binary, Domain};
use crate::finding::Place;
use crate::handle::{Handle, Value};
use crate::lanes::{Mask, WARP};
use crate::legal::alias::Aliases;
use crate::tags::Source;
use crate::tickets::Tickets;
use address::{Addresses, DataAddress, Elements};
use bytes::Bytes;
use data_writes::Scatter;
use integer::Sign;
use ir::{Format, Width};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use unit::{Byte, Content, Sort, Unit, Units, content};

/// A domain with the places of its values.
pub(crate) struct Valued<'v> {
    pub(crate) domain: &'v mut dyn Domain,
    pub(crate) store: &'v mut Store,
    /// Enclosures of some values.
    pub(crate) aliases: &'v mut Aliases,
}

/// The engine's tables of values.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) units: Units,
    addresses: Addresses,
    /// Buffers with inputs as elements, by number.
    pub(crate) elements: FxHashMap<usize, Elements>,
    /// Writes at data-dependent addresses, by the number of the buffer.
    pub(crate) scatters: BTreeMap<usize, Scatter<Bytes>>,
    pub(crate) tickets: Tickets,
    /// Floats selected by choices between units, by unit and format: nested choices share their parts.
    chosen_floats: FxHashMap<(u32, Format), Result<Value, u32>>,
    /// Integers selected by choices, by unit, length and sign.
    chosen_integers: FxHashMap<(u32, usize, Sign), Option<Value>>,
    /// For each buffer, the last block or cluster that loaded from all possible places of a data-dependent address.
    pub(crate) expanded_loads: FxHashMap<usize, u64>,
    /// The number of possible places of data-dependent accesses so far.
    pub(crate) places: u64,
    constants: FxHashMap<(Format, u64), Value>,
}

impl Store {
    /// Forgets cached choices after a change of their parts.
    pub(crate) fn forget_choices(&mut self) {
        self.chosen_floats.clear();
        self.chosen_integers.clear();
    }

    /// The words of a data-dependent address, in a 64-bit register.
    pub(crate) fn address_words(&mut self, address: DataAddress) -> u64 {
        let value = self.addresses.number(address);
        let byte = |index: u8| Byte::Of { value, sort: Sort::Address, index };
        let low = self.units.unit([0, 1, 2, 3].map(byte));
        let high = self.units.unit([4, 5, 6, 7].map(byte));
        u64::from(low) | u64::from(high) << 32
    }

    /// Returns the address in the words of an unknown lane, if there is one.
    pub(crate) fn data_address(&self, words: u64, width: Width) -> Option<DataAddress> {
        let half = |word: u32, wanted: u8| match *self.units.get(word)? {
            Unit::Part { value, sort: Sort::Address, first } if first == wanted => Some(value),
            _ => None,
        };
        let low = half(words as u32, 0)?;
        let address = self.addresses.get(low)?;
        let is_whole = match width {
            Width::B32 => address.in_window,
            _ => half((words >> 32) as u32, 4) == Some(low),
        };
        is_whole.then_some(address)
    }
}

/// Reasons for losing a value.
pub(crate) mod reason {
    pub(crate) const BITS: &str = "whose bits are used in arithmetic here";
    pub(crate) const FOREIGN: &str = "that is read here in a different format";
    pub(crate) const SCHEDULE: &str = "that depends on the schedule";
    pub(crate) const ADDRESS: &str = "that is part of an address";
    pub(crate) const UNTYPED: &str = "of a buffer or argument whose type is not given";
    pub(crate) const NOT_FIXED: &str =
        "whose last bits are not fixed: hardware may decide otherwise";
    pub(crate) const INTEGER: &str = "that is rounded to an integer here";
    pub(crate) const COPIES: &str = "of a fragment that holds several copies of an element, and they differ: \
                                     hardware may use any of them";
    pub(crate) const CONDITION: &str = "chosen here by a condition that is not tracked";
    pub(crate) const MAYBE_UNDEFINED: &str = "that is written only under a condition";
    pub(crate) const NOT_RECORDED: &str = "that was not recorded";
}

impl Valued<'_> {
    /// Returns `true` if a word of a register consists of floats that are the same in every order of the
    /// additions that made them.
    pub(crate) fn is_exact(&self, words: u64) -> bool {
        let exact = |byte: &Byte| match *byte {
            Byte::Known(_) => true,
            Byte::Of { value, .. } => {
                self.aliases.enclosure(value).is_some_and(|enclosure| enclosure.cause.is_none())
            }
            _ => false,
        };
        [words as u32, (words >> 32) as u32]
            .iter()
            .filter(|&&word| word != 0)
            .all(|&word| self.store.units.bytes(word).iter().all(exact))
    }

    /// Reborrows for a shorter time.
    pub(crate) fn reborrow(&mut self) -> Valued<'_> {
        Valued { domain: self.domain, store: self.store, aliases: self.aliases }
    }

    /// Returns the word of an unknown value of which the domain has lost track.
    pub(crate) fn lost(&mut self, origin: Option<Source>, place: Place) -> u32 {
        let reason = match origin {
            Some(Source::Schedule(_) | Source::Stored) => reason::SCHEDULE,
            Some(Source::Address) => reason::ADDRESS,
            Some(Source::Copies) => reason::COPIES,
            _ => reason::BITS,
        };
        self.store.units.opaque(Some(place), reason)
    }

    /// Applies an operation to two values, in one lane.
    pub(crate) fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        let mut out = [0; WARP];
        self.domain.binary(op, [&[a; WARP], &[b; WARP]], Mask(1), &mut out);
        out[0]
    }

    /// The domain's value of a float.
    pub(crate) fn constant(&mut self, format: Format, bits: u64) -> Value {
        let format = if format == Format::Tf32 { Format::F32 } else { format };
        if let Some(&value) = self.store.constants.get(&(format, bits)) {
            return value;
        }
        let value = self.domain.constant(format, bits);
        self.store.constants.insert((format, bits), value);
        value
    }

    /// Returns bytes as a float, or the word of an opaque unit.
    pub(crate) fn real(
        &mut self,
        bytes: &[Byte],
        format: Format,
        place: Option<Place>,
    ) -> Result<Value, u32> {
        match content(bytes, Sort::float(format)) {
            Content::Value(value) => Ok(value),
            Content::Bits(bits) => Ok(self.constant(format, bits)),
            Content::Opaque(word) => Err(word),
            Content::Foreign => nibbles::magic(self, bytes, format)
                .ok_or_else(|| self.store.units.opaque(place, reason::FOREIGN)),
            Content::Unit(word) => self.chosen(word, format, place),
        }
    }

    /// Like [`real`](Self::real), for a side of a choice: unwritten bytes are an undefined value.
    pub(crate) fn real_or_undefined(
        &mut self,
        bytes: &[Byte],
        format: Format,
        place: Option<Place>,
    ) -> Result<Value, u32> {
        if bytes.iter().all(|byte| *byte == Byte::Undefined) {
            // The engine's encoding of an undefined value: a NaN has no real value.
            return Ok(self.constant(Format::F64, f64::NAN.to_bits()));
        }
        self.real(bytes, format, place)
    }

    /// Returns a unit as a float, or the word of an opaque unit.
    pub(crate) fn single(
        &mut self,
        word: u32,
        format: Format,
        place: Option<Place>,
    ) -> Result<Value, u32> {
        if Handle(word).is_value() {
            return Ok(word);
        }
        let bytes = self.store.units.bytes(word);
        self.real(&bytes, format, place)
    }

    /// Returns the float selected by a choice.
    fn chosen(&mut self, word: u32, format: Format, place: Option<Place>) -> Result<Value, u32> {
        let Some(&Unit::Choice { condition, if_true, if_false }) = self.store.units.get(word)
        else {
            return Err(word);
        };
        if let Some(&known) = self.store.chosen_floats.get(&(word, format)) {
            return known;
        }
        let size = Sort::float(format).bytes();
        if size > 4 {
            return Err(self.store.units.opaque(place, reason::FOREIGN));
        }
        let [a, b] = [if_true, if_false].map(|word| {
            let bytes = self.store.units.bytes(word);
            self.real_or_undefined(&bytes[..size], format, place)
        });
        let chosen = match (a, b) {
            (Ok(a), Ok(b)) => Ok(self.select(condition, a, b)),
            (Err(lost), _) | (_, Err(lost)) => Err(lost),
        };
        self.store.chosen_floats.insert((word, format), chosen);
        chosen
    }

    /// Makes a choice of the domain in one lane.
    pub(crate) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let mut out = [0; WARP];
        let lanes = Mask(1);
        self.domain.select(&[condition; WARP], [&[a; WARP], &[b; WARP]], lanes, &mut out);
        out[0]
    }

    /// Explains why a word cannot decide, for a gap.
    pub(crate) fn explain(&self, word: u32) -> String {
        match self.store.units.lost(word) {
            Some(lost) => format!("a value {}", lost.reason),
            None if !Handle(word).is_unit() => self.domain.explain(word),
            None => "a value that is not a number".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Area;

    #[test]
    fn an_address_comes_back_from_both_of_its_halves_alone() {
        let mut store = Store::default();
        let address = |offset, in_window| {
            let area = if in_window { Area::Shared(3) } else { Area::Global(3) };
            DataAddress { area, offset, in_window }
        };
        let words = [(5, false), (6, false), (5, false), (5, true)];
        let [a, b, again, near] =
            words.map(|(offset, in_window)| store.address_words(address(offset, in_window)));
        assert_eq!(store.data_address(a, Width::B64), Some(address(5, false)));
        assert_eq!(store.data_address(again, Width::B64), Some(address(5, false)));
        assert_eq!(store.data_address(b, Width::B64), Some(address(6, false)));
        let (low, high) = (a & 0xffff_ffff, b >> 32 << 32);
        assert_eq!(store.data_address(low | high, Width::B64), None);
        assert_eq!(store.data_address(a.rotate_left(32), Width::B64), None);
        let word = u64::from(store.units.bits(7));
        assert_eq!(store.data_address(word | word << 32, Width::B64), None);
        // Only window addresses have 32 bits, in their lower halves.
        assert_eq!(store.data_address(near, Width::B64), Some(address(5, true)));
        assert_eq!(store.data_address(near & 0xffff_ffff, Width::B32), Some(address(5, true)));
        assert_eq!(store.data_address(near >> 32, Width::B32), None);
        assert_eq!(store.data_address(low, Width::B32), None);
    }
}
