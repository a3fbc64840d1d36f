//! Addresses that are data: an allocation, and an integer of the domain that says how many bytes behind
//! its start.
//!
//! `table + 4·idx[i]` is such an address. The integer is exact, and the address on a machine is the
//! start plus its lowest 64 bits; so wherever the integer is shown to lie in the allocation, the address
//! is that byte, whatever wrapped around on the way. What was computed in 32 bits and widened asked for
//! its range when it was ([`super::integer`]).
//!
//! Shared and local memory have addresses of their own, in a window of 32 bits, and generic ones beside them: which it is belongs to the address. In a
//! window the address is the start plus the lowest 32 bits of the integer.
//!
//! In a register it is the two halves of a value of the sort `Address`, a number of this table ([`super::Store`]); in one of 32 bits the lower half of an address in a window. Everything but
//! adding integers to it ([`crate::interpret`]'s `symbolic/address.rs`) and accessing memory loses it, as it
//! would any other bytes. Its bits are those of an address, so its lanes are fickle.

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
    /// Set if it is an address in the window of its state space, and no generic one.
    pub(crate) in_window: bool,
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
    /// The number of an address, from one on.
    pub(super) fn number(&mut self, address: DataAddress) -> u32 {
        let next = self.table.len() as u32 + 1;
        let number = *self.known.entry(address).or_insert(next);
        if number == next {
            self.table.push(address);
        }
        number
    }

    /// The address of this number.
    pub(super) fn get(&self, number: u32) -> Option<DataAddress> {
        self.table.get((number as usize).checked_sub(1)?).copied()
    }
}
