//! Lanes of registers that are encoded addresses ([`crate::encoded`]).
//!
//! Such a lane is unknown to everything else. Whatever writes a lane takes it out here, so that an entry of an unknown
//! lane is of what was written last; entries of lanes that are not unknown mean nothing.

use super::Registers;
use crate::encoded::Encoded;
use crate::lanes::{Mask, WARP};
use base::Index;
use ir::Reg;
use rustc_hash::FxHashMap;

/// The encoded addresses of a register, lane by lane.
type EachLane = [Option<Encoded>; WARP];

/// Encoded addresses by the position of their register.
#[derive(Clone, Debug, Default)]
pub(super) struct EncodedLanes {
    each: FxHashMap<usize, Box<EachLane>>,
}

impl EncodedLanes {
    /// Takes out lanes that are written.
    #[inline(always)]
    pub(super) fn forget(&mut self, position: usize, lanes: Mask) {
        if !self.each.is_empty() {
            self.forget_of(position, lanes);
        }
    }

    #[cold]
    fn forget_of(&mut self, position: usize, lanes: Mask) {
        if let Some(old) = self.each.get_mut(&position) {
            lanes.iter().for_each(|lane| old[lane] = None);
            if old.iter().all(Option::is_none) {
                self.each.remove(&position);
            }
        }
    }

    /// Takes out everything.
    pub(super) fn clear(&mut self) {
        self.each.clear();
    }
}

impl Registers {
    /// Tells whether any lane of any register is an encoded address.
    #[inline]
    pub(crate) fn has_encoded(&self) -> bool {
        !self.encoded.each.is_empty()
    }

    /// The encoded addresses in the lanes of a register.
    pub(crate) fn encoded(&self, register: Reg) -> Option<&EachLane> {
        let position = register.position();
        let lanes = if self.has_encoded() { self.encoded.each.get(&position) } else { None };
        lanes.map(|lanes| &**lanes)
    }

    /// The encoded address in an unknown lane of a register.
    pub(crate) fn encoded_in(&self, register: Reg, lane: usize) -> Option<Encoded> {
        let unknown = self.masks[register.position()].unknown.has(lane);
        self.encoded(register).and_then(|lanes| lanes[lane]).filter(|_| unknown)
    }

    /// Says of an unknown lane of a register that it is an encoded address.
    pub(crate) fn set_encoded(&mut self, register: Reg, lane: usize, encoded: Encoded) {
        let new = || Box::new([None; WARP]);
        self.encoded.each.entry(register.position()).or_insert_with(new)[lane] = Some(encoded);
    }
}
