//! Addresses that are data: an allocation, and an integer of the domain that says how many bytes behind
//! its start.
//!
//! `table + 4·idx[i]` is such an address. The integer is exact, and the address on a machine is the
//! start plus its lowest 64 bits; so wherever the integer is shown to lie in the allocation, the address
//! is that byte, whatever wrapped around on the way. What was computed in 32 bits and widened asked for
//! its range when it was ([`super::integer`]).
//!
//! In a register it is the two halves of a value of sort [`Sort::Address`], a position in this table. Everything but
//! adding integers to it ([`crate::interpret`]'s `symbolic/address.rs`) and accessing memory loses it, as it
//! would any other bytes. Its bits are those of an address, so its lanes are fickle.

use super::Store;
use super::unit::{Byte, Sort, Unit, Units};
use crate::address::Area;
use crate::domain::Value;
use ir::Scalar;
use rustc_hash::FxHashMap;

/// An address that is data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DataAddress {
    /// The allocation.
    pub(crate) area: Area,
    /// Bytes from its start: an integer of the domain.
    pub(crate) offset: Value,
}

/// All such addresses of a run, by number.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    table: Vec<DataAddress>,
    known: FxHashMap<DataAddress, u32>,
}

/// A buffer whose elements are inputs of the domain, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    /// The first.
    pub(crate) first: Value,
    /// How many there are.
    pub(crate) count: u64,
    /// What they are.
    pub(crate) scalar: Scalar,
}

impl Addresses {
    /// The words of an address in a register of 64 bits.
    pub(crate) fn words(&mut self, units: &mut Units, address: DataAddress) -> u64 {
        let next = self.table.len() as u32 + 1;
        let number = *self.known.entry(address).or_insert(next);
        if number == next {
            self.table.push(address);
        }
        let half = |units: &mut Units, first: u8| {
            let byte = |at: u8| Byte::Of { value: number, sort: Sort::Address, index: first + at };
            u64::from(units.unit([byte(0), byte(1), byte(2), byte(3)]))
        };
        half(units, 0) | half(units, 4) << 32
    }
}

impl Store {
    /// The address that the words of an unknown lane of 64 bits are, if they are one.
    pub(crate) fn data_address(&self, words: u64) -> Option<DataAddress> {
        let half = |word: u32, wanted: u8| match *self.units.get(word)? {
            Unit::Part { value, sort: Sort::Address, first } if first == wanted => Some(value),
            _ => None,
        };
        let (low, high) = (half(words as u32, 0)?, half((words >> 32) as u32, 4)?);
        let position = (low as usize).checked_sub(1)?;
        self.addresses.table.get(position).copied().filter(|_| low == high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_comes_back_from_both_of_its_halves_alone() {
        let mut store = Store::default();
        let address = |offset| DataAddress { area: Area::Global(3), offset };
        let Store { units, addresses, .. } = &mut store;
        let [a, b] = [5, 6].map(|offset| addresses.words(units, address(offset)));
        assert_eq!(addresses.words(units, address(5)), a);
        assert_eq!(store.data_address(a), Some(address(5)));
        assert_eq!(store.data_address(b), Some(address(6)));
        let (low, high) = (a & 0xffff_ffff, b >> 32 << 32);
        assert_eq!(store.data_address(low | high), None);
        assert_eq!(store.data_address(a.rotate_left(32)), None);
        let word = u64::from(store.units.bits(7));
        assert_eq!(store.data_address(word | word << 32), None);
    }
}
