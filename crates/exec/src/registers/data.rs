//! Registers with values that are unknown and determined by the inputs: most values of a run on terms.

use super::Registers;
use crate::lanes::{Mask, Narrow};
use crate::layout::Layout;
use crate::tags::{Source, TagMasks, Tags};
use base::Index;
use ir::{Operand, Reg, Width};

impl Registers {
    /// Returns `true` if registers are unknown in every lane, and determined by the inputs.
    pub(crate) fn are_data(&self, registers: &[Reg]) -> bool {
        let data = TagMasks { unknown: Mask::ALL, ..TagMasks::NUMBER };
        registers.iter().all(|register| self.masks[register.position()] == data)
    }

    /// Returns the words of an operand that is a register of this size, at most 32 bits, unknown in all of
    /// `lanes` and determined by the inputs.
    pub(crate) fn unknown_narrow(
        &self,
        layout: &Layout,
        operand: Operand,
        width: Width,
        lanes: Mask,
    ) -> Option<&Narrow> {
        let Operand::Register(register) = operand else { return None };
        let TagMasks { pointer, unknown, poison, schedule_dependent } =
            self.masks[register.position()];
        let others = pointer.or(poison).or(schedule_dependent).or(Mask(!unknown.0)).and(lanes);
        let slot = layout.slots[register];
        (others.is_empty() && slot.width == width).then(|| self.narrow.get(slot.word))
    }

    /// Like [`write_narrow`](Self::write_narrow), for values unknown in all lanes and determined by the inputs.
    pub(crate) fn write_data(
        &mut self,
        layout: &Layout,
        register: Reg,
        values: &Narrow,
        lanes: Mask,
    ) {
        self.narrow.blend(layout.slots[register].word, values, self.with_absent(lanes));
        match lanes {
            Mask::ALL => self.set_data(register.position(), lanes.without(self.absent)),
            _ => self.tag(register, Tags::unknown(Mask::ALL, Source::Data), lanes),
        }
    }

    /// Adds the lanes without a thread to the lanes to be written, so that whole registers are copied. A single
    /// lane is written alone: a copy of all lanes would wait for the result that was just stored.
    #[inline(always)]
    pub(super) fn with_absent(&self, lanes: Mask) -> Mask {
        if lanes.is_one() { lanes } else { lanes.or(self.absent) }
    }

    /// Marks a register as unknown in all lanes and determined by the inputs; `present` are the lanes with a thread.
    ///
    /// Does not copy [`Tags`]: they were just stored piece by piece, and a wide load of them would stall.
    #[inline(always)]
    pub(super) fn set_data(&mut self, position: usize, present: Mask) {
        self.encoded.forget(position, Mask::ALL);
        self.masks[position] = TagMasks { unknown: Mask::ALL, ..TagMasks::NUMBER };
        if !present.is_empty() {
            self.origins[position] = Some(Source::Data);
        }
    }
}
