//! Registers with 32-bit pointers in all lanes, for decoded instructions.

use super::Registers;
use crate::lanes::{Mask, Narrow};
use crate::layout::Word;
use crate::tags::TagMasks;

impl Registers {
    /// Returns `true` if all lanes of a register are pointers.
    #[inline(always)]
    pub(crate) fn are_pointers(&self, source: Word) -> bool {
        let TagMasks { pointer, unknown, poison, .. } = self.masks[source.tags as usize];
        pointer == Mask::ALL && unknown.or(poison).is_empty()
    }

    /// The bits of a register.
    #[inline(always)]
    pub(crate) fn narrow_word(&self, source: Word) -> &Narrow {
        self.narrow.get(source.word)
    }

    /// Tags the result of a computation as pointers in `lanes`.
    #[inline(always)]
    pub(crate) fn tag_pointers(&mut self, dst: Word, lanes: Mask) {
        let lanes = lanes.or(self.absent);
        let masks = &mut self.masks[dst.tags as usize];
        masks.pointer = masks.pointer.or(lanes);
        masks.unknown = masks.unknown.without(lanes);
        masks.poison = masks.poison.without(lanes);
    }
}
