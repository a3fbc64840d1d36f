//! Reads and writes of one lane, for pre-decoded instructions of a group of one lane
//! ([`crate::fast::run_single`]).

use super::Registers;
use crate::handle::Value;
use crate::lanes::Mask;
use crate::layout::{SingleSource, SingleTarget, Word};
use crate::tags::{Source, TagMasks};

impl Registers {
    /// The bits of an operand in a lane, if that is a number.
    #[inline(always)]
    pub(crate) fn number(&self, source: SingleSource, lane: usize) -> Option<u64> {
        match self.number_or_pointer(source, lane) {
            (value, Some(false)) => Some(value),
            _ => None,
        }
    }

    /// The bits of an operand in a lane, and whether that is a pointer; `None` if it is unknown or undefined.
    #[inline(always)]
    pub(crate) fn number_or_pointer(
        &self,
        source: SingleSource,
        lane: usize,
    ) -> (u64, Option<bool>) {
        let (value, tags) = match source {
            SingleSource::Constant(bits) => return (bits, Some(false)),
            SingleSource::Narrow(Word { word, tags }, mask) => {
                (u64::from(self.narrow.get(word)[lane]) & mask, tags)
            }
            SingleSource::Wide(Word { word, tags }, mask) => {
                (self.wide.get(word)[lane] & mask, tags)
            }
        };
        let TagMasks { pointer, unknown, poison, .. } = self.masks[tags as usize];
        let is_known = !unknown.or(poison).has(lane);
        (value, is_known.then_some(pointer.has(lane)))
    }

    /// The word of a 32-bit register in a lane, if it is data: unknown, but a function of the inputs alone, not of the
    /// schedule.
    #[inline(always)]
    pub(crate) fn data_word(&self, source: Word, lane: usize) -> Option<Value> {
        let TagMasks { unknown, schedule_dependent, .. } = self.masks[source.tags as usize];
        let is_data = unknown.without(schedule_dependent).has(lane);
        is_data.then(|| self.narrow.get(source.word)[lane])
    }

    /// Writes a number or a pointer to the only lane of `lanes`.
    #[inline(always)]
    pub(crate) fn write_single(
        &mut self,
        dst: SingleTarget,
        value: u64,
        is_pointer: bool,
        (lane, lanes): (usize, Mask),
    ) {
        self.set_single(dst, value, lane);
        let pointer = if is_pointer { Mask::ALL } else { Mask::NONE };
        self.tag_single(dst.word.tags, TagMasks { pointer, ..TagMasks::NUMBER }, lanes);
    }

    /// Writes words of data (see [`data_word`](Self::data_word)) to the only lane of `lanes`.
    #[inline(always)]
    pub(crate) fn write_single_data(
        &mut self,
        dst: SingleTarget,
        words: u64,
        (lane, lanes): (usize, Mask),
    ) {
        self.set_single(dst, words, lane);
        self.tag_single(dst.word.tags, TagMasks { unknown: Mask::ALL, ..TagMasks::NUMBER }, lanes);
        self.origins[dst.word.tags as usize] = Some(Source::Data);
    }

    #[inline(always)]
    fn set_single(&mut self, dst: SingleTarget, value: u64, lane: usize) {
        match dst.is_narrow {
            true => self.narrow.get_mut(dst.word.word)[lane] = value as u32,
            false => self.wide.get_mut(dst.word.word)[lane] = value,
        }
    }

    /// Writes a predicate, given its position, in the only lane of `lanes`.
    #[inline(always)]
    pub(crate) fn write_single_truth(&mut self, dst: u32, truth: bool, lanes: Mask) {
        let old = &mut self.predicates[dst as usize];
        *old = if truth { old.or(lanes) } else { old.without(lanes) };
        self.tag_single(dst, TagMasks::NUMBER, lanes);
    }

    /// Sets the tags of a lane, and of the lanes without a thread.
    #[inline(always)]
    fn tag_single(&mut self, position: u32, new: TagMasks, lanes: Mask) {
        let position = position as usize;
        self.encoded.forget(position, lanes);
        self.partial.forget(position, lanes);
        let (lanes, old) = (lanes.or(self.absent), &mut self.masks[position]);
        if lanes == Mask::ALL {
            return *old = new;
        }
        let pick = |new: Mask, old: Mask| new.and(lanes).or(old.without(lanes));
        old.pointer = pick(new.pointer, old.pointer);
        old.unknown = pick(new.unknown, old.unknown);
        old.poison = pick(new.poison, old.poison);
        old.schedule_dependent = pick(new.schedule_dependent, old.schedule_dependent);
    }
}
