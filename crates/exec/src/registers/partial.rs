//! Register lanes of which some bytes are undefined and others are not: a pack with one unwritten half.
//!
//! Such a lane is poison to all other code. Only `Registers::set_tags` makes a lane poison, and it removes the
//! lane's entry, so an entry of a poison lane belongs to the latest write. Entries of other lanes are
//! meaningless.

use super::Registers;
use crate::lanes::{Mask, WARP};
use crate::value::bytes::{Bytes, ZERO};
use base::Index;
use ir::Reg;
use rustc_hash::FxHashMap;

/// The bytes of lanes that are partly undefined, by the position of their register.
#[derive(Clone, Debug, Default)]
pub(super) struct PartialLanes {
    registers: FxHashMap<usize, Box<Entry>>,
}

/// The partly undefined lanes of a register, with their bytes.
#[derive(Clone, Debug)]
struct Entry {
    lanes: Mask,
    bytes: [Bytes; WARP],
}

impl PartialLanes {
    /// Removes entries of written lanes.
    #[inline(always)]
    pub(super) fn forget(&mut self, position: usize, lanes: Mask) {
        if !self.registers.is_empty() {
            self.forget_of(position, lanes);
        }
    }

    #[cold]
    fn forget_of(&mut self, position: usize, lanes: Mask) {
        let Some(entry) = self.registers.get_mut(&position) else { return };
        entry.lanes = entry.lanes.without(lanes);
        if entry.lanes.is_empty() {
            self.registers.remove(&position);
        }
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.registers.clear();
    }
}

impl Registers {
    /// Returns `true` if any lane of any register may be partly undefined.
    #[inline]
    pub(crate) fn has_partial(&self) -> bool {
        !self.partial.registers.is_empty()
    }

    /// Returns `true` if a lane of a register may be partly undefined.
    pub(crate) fn may_be_partial(&self, register: Reg) -> bool {
        self.has_partial() && self.partial.registers.contains_key(&register.position())
    }

    /// The bytes of a poison lane that is defined in part.
    pub(crate) fn partial_in(&self, register: Reg, lane: usize) -> Option<Bytes> {
        let position = register.position();
        let entry = self.partial.registers.get(&position)?;
        let is_partial = entry.lanes.and(self.masks[position].poison).has(lane);
        is_partial.then(|| entry.bytes[lane])
    }

    /// Records the bytes of a poison lane.
    pub(crate) fn set_partial(&mut self, register: Reg, lane: usize, bytes: Bytes) {
        let new = || Box::new(Entry { lanes: Mask::NONE, bytes: [ZERO; WARP] });
        let entry = self.partial.registers.entry(register.position()).or_insert_with(new);
        entry.lanes = entry.lanes.or(Mask::one(lane));
        entry.bytes[lane] = bytes;
    }
}
