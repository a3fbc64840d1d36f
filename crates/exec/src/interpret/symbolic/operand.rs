//! Operands as bits and words of units, and updates of some lanes of a register.

use crate::context::Context;
use crate::interpret::access::word_of;
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tags::{Source, Tags};
use crate::value::bytes::Bytes;
use ir::{Operand, Reg, Width};

/// An operand in all lanes.
pub(super) type Operands = (Lanes, Tags);

/// All bits of an operand, words of units where it is unknown.
pub(super) fn raw(context: &mut Context<'_, '_>, operand: Operand) -> (Lanes, Tags) {
    context.read(operand, Width::B64)
}

/// Returns `true` if an operand is a number in all active lanes.
pub(super) fn is_number(context: &Context<'_, '_>, operand: Operand) -> bool {
    context.registers.operand_tags(operand).is_number_in(context.lanes)
}

/// The bytes of a lane of an operand.
pub(super) fn bytes(
    context: &mut Context<'_, '_>,
    (values, tags): &(Lanes, Tags),
    lane: usize,
) -> Bytes {
    let word = word_of(*tags, lane);
    match &mut context.valued {
        Some(valued) => valued.store.bytes(values[lane], word),
        None => crate::value::bytes::ZERO,
    }
}

/// The bytes of an operand in a lane.
pub(in crate::interpret) fn content(
    context: &mut Context<'_, '_>,
    operand: Operand,
    lane: usize,
) -> Bytes {
    let all = raw(context, operand);
    bytes(context, &all, lane)
}

/// New contents of some lanes of a register.
pub(super) struct Patch {
    pub(super) values: Lanes,
    pub(super) upper: Lanes,
    pub(super) unknown: Mask,
    pub(super) numbers: Mask,
    /// The unknown lanes that the launch and its inputs do not determine.
    pub(super) schedule_dependent: Mask,
}

impl Patch {
    pub(super) fn new() -> Self {
        let values = [0; WARP];
        let none = Mask::NONE;
        Self { values, upper: values, unknown: none, numbers: none, schedule_dependent: none }
    }

    pub(super) fn set(&mut self, lane: usize, (value, word): (u64, Word)) {
        self.values[lane] = value;
        let bit = Mask(1 << lane);
        match word {
            Word::Number => self.numbers = self.numbers.or(bit),
            Word::ScheduleDependent => {
                self.unknown = self.unknown.or(bit);
                self.schedule_dependent = self.schedule_dependent.or(bit);
            }
            _ => self.unknown = self.unknown.or(bit),
        }
    }

    /// Writes the set lanes over the same result as computed without the domain. Lanes that are schedule-dependent
    /// in that result stay so.
    pub(super) fn apply(&self, context: &mut Context<'_, '_>, dst: Reg) {
        let before = context.registers.tags(dst).undetermined();
        self.write(context, dst, before);
    }

    /// Writes the set lanes over unrelated contents.
    pub(super) fn replace(&self, context: &mut Context<'_, '_>, dst: Reg) {
        self.write(context, dst, Mask::NONE);
    }

    fn write(&self, context: &mut Context<'_, '_>, dst: Reg, schedule_dependent: Mask) {
        let lanes = self.unknown.or(self.numbers).and(context.lanes);
        if lanes.is_empty() {
            return;
        }
        let origin = context.registers.tags(dst).origin.or(Some(Source::Data));
        let schedule_dependent = self.schedule_dependent.or(schedule_dependent);
        let tags = Tags { unknown: self.unknown, schedule_dependent, origin, ..Tags::NUMBER };
        let layout = context.layout;
        context.registers.write(layout, dst, &self.values, tags, lanes);
        if layout.width(dst) == Width::B128 {
            context.registers.write_upper(layout, dst, &self.upper, lanes);
        }
    }
}
