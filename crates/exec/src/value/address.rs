//! Data-dependent addresses: an allocation, and an integer of the domain as the byte offset from its start.
//!
//! `table + 4·idx[i]` is such an address. The integer is exact, and the machine address is the start plus its
//! lowest 64 bits. So if the integer is proved to lie in the allocation, the address is that byte, even after
//! intermediate wrap-around. An integer computed in 32 bits and widened has had its range checked by the
//! widening ([`super::integer`]).
//!
//! Shared and local memory have addresses in a 32-bit window besides generic ones; the address records which
//! of the two it is. In a window the address is the start plus the lowest 32 bits of the integer.
//!
//! In a register it is the two halves of a value of sort `Address`, a number of this table
//! ([`super::Store`]); in a 32-bit register it is the lower half of a window address. Adding integers
//! ([`crate::interpret`]'s `symbolic/address.rs`) and accessing memory keep it; every other operation loses
//! it, like other bytes. Its bits are those of an address, so its lanes are schedule-dependent ([`crate::tags`]).

use crate::address::Area;
use crate::domain::Value;
use ir::Scalar;
use rustc_hash::FxHashMap;

/// A data-dependent address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DataAddress {
    /// The allocation.
    pub(crate) area: Area,
    /// Bytes from its start: an integer of the domain.
    pub(crate) offset: Value,
    /// Set for an address in the window of its state space, rather than a generic one.
    pub(crate) in_window: bool,
}

/// All such addresses of a run, by number.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    table: Vec<DataAddress>,
    known: FxHashMap<DataAddress, u32>,
}

/// A buffer with elements that are consecutive inputs of the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elements {
    /// The first.
    pub(crate) first: Value,
    /// Their number.
    pub(crate) count: u64,
    /// Their type.
    pub(crate) scalar: Scalar,
}

impl Addresses {
    /// The number of an address, from 1.
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
