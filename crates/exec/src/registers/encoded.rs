//! Register lanes with encoded addresses ([`crate::encoded`]).
//!
//! Such a lane is unknown to all other code. Every write to a lane removes its entry, so an entry of an
//! unknown lane belongs to the latest write. Entries of lanes that are not unknown are meaningless.

use super::Registers;
use crate::encoded::Encoded;
use crate::lanes::{Lanes, Mask, Narrow, WARP};
use crate::layout::Layout;
use base::Index;
use ir::{Reg, Width};
use multiversion::multiversion;
use rustc_hash::FxHashMap;

/// The encoded addresses of a register.
#[derive(Clone, Debug)]
enum RegisterAddresses {
    /// The same address in these lanes.
    Same(Encoded, Mask),
    /// Lane by lane.
    Each(Box<[Option<Encoded>; WARP]>),
}

/// Encoded addresses by the position of their register.
#[derive(Clone, Debug, Default)]
pub(super) struct EncodedLanes {
    registers: FxHashMap<usize, RegisterAddresses>,
}

impl EncodedLanes {
    /// Removes entries of written lanes.
    #[inline(always)]
    pub(super) fn forget(&mut self, position: usize, lanes: Mask) {
        if !self.registers.is_empty() {
            self.forget_of(position, lanes);
        }
    }

    #[cold]
    fn forget_of(&mut self, position: usize, lanes: Mask) {
        let empty = match self.registers.get_mut(&position) {
            None => return,
            Some(RegisterAddresses::Same(_, known)) => {
                *known = known.without(lanes);
                known.is_empty()
            }
            Some(RegisterAddresses::Each(each)) => {
                lanes.iter().for_each(|lane| each[lane] = None);
                each.iter().all(Option::is_none)
            }
        };
        if empty {
            self.registers.remove(&position);
        }
    }

    /// Records the same address in all lanes of a register.
    pub(super) fn set_all(&mut self, position: usize, encoded: Encoded) {
        self.registers.insert(position, RegisterAddresses::Same(encoded, Mask::ALL));
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.registers.clear();
    }
}

impl Registers {
    /// Returns `true` if any lane of any register has an encoded address.
    #[inline]
    pub(crate) fn has_encoded(&self) -> bool {
        !self.encoded.registers.is_empty()
    }

    /// Returns `true` if a lane of a register may have an encoded address.
    pub(crate) fn may_be_encoded(&self, register: Reg) -> bool {
        self.has_encoded() && self.encoded.registers.contains_key(&register.position())
    }

    /// The encoded address in an unknown lane of a register.
    pub(crate) fn encoded_in(&self, register: Reg, lane: usize) -> Option<Encoded> {
        let position = register.position();
        let unknown = self.masks[position].unknown.has(lane);
        match self.encoded.registers.get(&position)? {
            RegisterAddresses::Same(encoded, lanes) => {
                (unknown && lanes.has(lane)).then_some(*encoded)
            }
            RegisterAddresses::Each(each) => each[lane].filter(|_| unknown),
        }
    }

    /// Returns the common encoded address of these lanes, if it is recorded as such. Does not compare addresses
    /// that are recorded lane by lane.
    pub(crate) fn encoded_in_all(&self, register: Reg, lanes: Mask) -> Option<Encoded> {
        let position = register.position();
        let unknown = self.masks[position].unknown;
        match self.encoded.registers.get(&position)? {
            RegisterAddresses::Same(encoded, known)
                if lanes.without(known.and(unknown)).is_empty() =>
            {
                Some(*encoded)
            }
            RegisterAddresses::Same(..) | RegisterAddresses::Each(_) => None,
        }
    }

    /// Returns `true` if the bits of a register are the same in every lane, for up to 64 bits and no
    /// predicate.
    pub(crate) fn is_uniform(&self, layout: &Layout, register: Reg) -> bool {
        let slot = layout.slots[register];
        if slot.is_narrow() {
            are_equal(self.narrow.get(slot.word))
        } else if slot.is_wide() && slot.width <= Width::B64 {
            are_equal_wide(self.wide.get(slot.word))
        } else {
            false
        }
    }

    /// Records an encoded address for unknown lanes of a register.
    pub(crate) fn set_encoded(&mut self, register: Reg, lanes: Mask, encoded: Encoded) {
        let kept = self.encoded.registers.entry(register.position());
        let kept = kept.or_insert(RegisterAddresses::Same(encoded, Mask::NONE));
        match kept {
            RegisterAddresses::Same(same, known) if *same == encoded => *known = known.or(lanes),
            RegisterAddresses::Same(same, known) => {
                let mut each = Box::new([None; WARP]);
                known.iter().for_each(|lane| each[lane] = Some(*same));
                lanes.iter().for_each(|lane| each[lane] = Some(encoded));
                *kept = RegisterAddresses::Each(each);
            }
            RegisterAddresses::Each(each) => {
                lanes.iter().for_each(|lane| each[lane] = Some(encoded))
            }
        }
    }
}

/// Returns `true` if all lanes have the same bits. Without an early exit, this can use vector instructions.
#[multiversion(targets("x86_64+avx2"))]
fn are_equal(values: &Narrow) -> bool {
    values.iter().fold(0, |different, value| different | (value ^ values[0])) == 0
}

/// Like [`are_equal`], of 64 bits.
#[multiversion(targets("x86_64+avx2"))]
fn are_equal_wide(values: &Lanes) -> bool {
    values.iter().fold(0, |different, value| different | (value ^ values[0])) == 0
}
