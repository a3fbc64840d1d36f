//! Byte-wise access to memory with domain values.
//!
//! Accesses to whole units do not need this. Other accesses split the units they touch, and reassemble them.

use super::address::Elements;
use super::unit::{Byte, Sort, Unit, known};
use super::{Store, Valued, reason};
use crate::domain::{InputSource, Inputs};
use crate::launch::{Buffer, Contents};
use crate::legal::alias::Aliases;
use crate::memory::{Allocation, Word, state};
use ir::Scalar;
use std::ops::Range;

impl Store {
    /// Returns a byte of memory.
    pub(crate) fn byte(&mut self, memory: &Allocation, at: usize) -> Byte {
        match memory.states[at] {
            state::DEFINED => Byte::Known(memory.bytes[at]),
            state::OPAQUE => self.units.bytes(memory.unit(at & !3))[at & 3],
            state::ADDRESS | state::HALF => Byte::Opaque(self.units.opaque(None, reason::ADDRESS)),
            state::SCHEDULE_DEPENDENT => Byte::Opaque(self.units.opaque(None, reason::SCHEDULE)),
            _ => Byte::Undefined,
        }
    }

    /// Like [`Allocation::load`], for partial or mixed units.
    pub(crate) fn load(&mut self, memory: &Allocation, start: usize, bytes: usize) -> (u64, Word) {
        let (value, word) = memory.load(start, bytes);
        let states = &memory.states[start..start + bytes];
        let whole = start.is_multiple_of(4)
            && bytes.is_multiple_of(4)
            && states.iter().all(|&state| state == state::OPAQUE);
        if !matches!(word, Word::Unknown | Word::ScheduleDependent) || whole {
            return (value, word);
        }
        if bytes == 2
            && start.is_multiple_of(2)
            && states.iter().all(|&state| state == state::OPAQUE)
            && let Some(word) = self.units.half_alone(memory.unit(start & !3), start / 2 % 2)
        {
            let zero = self.units.bits(0);
            return (u64::from(word) | u64::from(zero) << 32, Word::Unknown);
        }
        let mut found = [Byte::Known(0); 8];
        (0..bytes).for_each(|at| found[at] = self.byte(memory, start + at));
        match (self.word(&found), word) {
            ((value, Word::Unknown), Word::ScheduleDependent) => (value, Word::ScheduleDependent),
            (found, _) => found,
        }
    }

    /// Assembles bytes to a word of a register.
    pub(crate) fn word(&mut self, bytes: &[Byte; 8]) -> (u64, Word) {
        if let Some(number) = known(bytes) {
            return (number, Word::Number);
        }
        let [a, b, c, d, e, f, g, h] = *bytes;
        let (low, high) = (self.units.unit([a, b, c, d]), self.units.unit([e, f, g, h]));
        let is_schedule_dependent = bytes.iter().any(|byte| self.is_schedule_dependent(*byte));
        let word = if is_schedule_dependent { Word::ScheduleDependent } else { Word::Unknown };
        (u64::from(low) | u64::from(high) << 32, word)
    }

    /// Returns `true` if a byte is not determined by the launch and its inputs, or may be undefined.
    fn is_schedule_dependent(&self, byte: Byte) -> bool {
        let Byte::Opaque(word) = byte else { return false };
        let reason = self.units.lost(word).map(|lost| lost.reason);
        matches!(reason, Some(reason::SCHEDULE | reason::ADDRESS | reason::MAYBE_UNDEFINED))
    }

    /// Converts a word of a register to words of units, for use beside unknown ones.
    pub(crate) fn units(&mut self, value: u64, word: Word) -> u64 {
        let bytes = match word {
            Word::Unknown => return value,
            word => self.bytes(value, word),
        };
        let [a, b, c, d, e, f, g, h] = bytes;
        let (low, high) = (self.units.unit([a, b, c, d]), self.units.unit([e, f, g, h]));
        u64::from(low) | u64::from(high) << 32
    }

    /// Splits a word of a register into bytes.
    pub(crate) fn bytes(&mut self, value: u64, word: Word) -> [Byte; 8] {
        match word {
            Word::Number => value.to_le_bytes().map(Byte::Known),
            Word::Poison => [Byte::Undefined; 8],
            Word::Pointer => [Byte::Opaque(self.units.opaque(None, reason::ADDRESS)); 8],
            Word::ScheduleDependent => [Byte::Opaque(self.units.opaque(None, reason::SCHEDULE)); 8],
            Word::Unknown => {
                let [a, b, c, d] = self.units.bytes(value as u32);
                let [e, f, g, h] = self.units.bytes((value >> 32) as u32);
                [a, b, c, d, e, f, g, h]
            }
        }
    }

    /// Like [`Allocation::store`], for partial units.
    pub(crate) fn store(
        &mut self,
        memory: &mut Allocation,
        start: usize,
        bytes: usize,
        value: u64,
        word: Word,
    ) {
        let states = &memory.states;
        let first = start & !3;
        let last = (start + bytes).next_multiple_of(4).min(states.len());
        let has_unit = |state: &u8| [state::OPAQUE, state::SCHEDULE_DEPENDENT].contains(state);
        let plain = !matches!(word, Word::Unknown | Word::ScheduleDependent)
            && !states[first..last].iter().any(has_unit);
        if plain || start.is_multiple_of(4) && bytes.is_multiple_of(4) {
            return memory.store(start, bytes, value, word);
        }
        let mut new = self.bytes(value, word);
        if word == Word::ScheduleDependent {
            let words = [value as u32, (value >> 32) as u32];
            let opaque = self.units.opaque(None, reason::MAYBE_UNDEFINED);
            let is_open = |at: &usize| self.may_be_unwritten(words[at / 4], at % 4);
            (0..bytes).filter(is_open).for_each(|at| new[at] = Byte::Opaque(opaque));
        }
        self.store_bytes(memory, start, &new[..bytes]);
    }

    /// Returns `true` if a schedule-dependent byte of a unit may not have been written, because it was written under
    /// conditions only.
    pub(crate) fn may_be_unwritten(&self, word: u32, byte: usize) -> bool {
        let is_open = |word: u32| {
            let reason = self.units.lost(word).map(|lost| lost.reason);
            matches!(reason, Some(reason::MAYBE_UNDEFINED | reason::NOT_RECORDED))
        };
        match self.units.get(word) {
            Some(Unit::Choice { .. }) => true,
            Some(Unit::Bytes(bytes)) => matches!(bytes[byte], Byte::Opaque(word) if is_open(word)),
            _ => is_open(word),
        }
    }

    /// Returns a byte that stays when others of its unit are written: unlike [`byte`](Self::byte), it remembers that it
    /// may be unwritten.
    fn kept_byte(&mut self, memory: &Allocation, at: usize) -> Byte {
        let is_open = memory.states[at] == state::SCHEDULE_DEPENDENT
            && self.may_be_unwritten(memory.unit(at & !3), at & 3);
        match is_open {
            true => Byte::Opaque(self.units.opaque(None, reason::MAYBE_UNDEFINED)),
            false => self.byte(memory, at),
        }
    }

    /// Writes bytes.
    pub(crate) fn store_bytes(&mut self, memory: &mut Allocation, start: usize, bytes: &[Byte]) {
        let end = start + bytes.len();
        for unit in (start & !3..end).step_by(4) {
            let room = memory.bytes.len().min(unit + 4);
            let mut unit_bytes = [Byte::Undefined; 4];
            for at in unit..room {
                unit_bytes[at - unit] = match (start..end).contains(&at) {
                    true => bytes[at - start],
                    false => self.kept_byte(memory, at),
                };
            }
            self.set_unit(memory, unit, &unit_bytes[..room - unit]);
        }
    }

    /// Stores zeros, whole units at once: structured tensors have many.
    fn clear(&mut self, memory: &mut Allocation, range: Range<usize>) {
        let units = range.start.next_multiple_of(4)..range.end & !3;
        if units.is_empty() {
            return self.store_bytes(memory, range.start, &vec![Byte::Known(0); range.len()]);
        }
        memory.bytes[units.clone()].fill(0);
        memory.states.fill(units.clone(), state::DEFINED);
        for rest in [range.start..units.start, units.end..range.end] {
            if !rest.is_empty() {
                self.store_bytes(memory, rest.start, &vec![Byte::Known(0); rest.len()]);
            }
        }
    }

    /// Replaces aliases by their values at the end of a run.
    pub(crate) fn forget_aliases(&mut self, aliases: &Aliases, buffers: &mut [Allocation]) {
        if aliases.is_empty() {
            return;
        }
        self.units.replace(|value| aliases.target(value));
        self.forget_choices();
        self.scatters.values_mut().for_each(|scatter| scatter.forget_aliases(aliases));
        for memory in buffers {
            for unit in (0..memory.bytes.len()).step_by(4) {
                let last = memory.bytes.len().min(unit + 4);
                if memory.states[unit..last].contains(&state::OPAQUE) {
                    memory.set_unit(unit, aliases.target(memory.unit(unit)));
                }
            }
        }
    }

    /// Makes bytes part of an untracked address.
    pub(crate) fn lose(&mut self, memory: &mut Allocation, start: usize, bytes: usize) {
        let opaque = Byte::Opaque(self.units.opaque(None, reason::ADDRESS));
        self.store_bytes(memory, start, &vec![opaque; bytes]);
    }

    fn set_unit(&mut self, memory: &mut Allocation, unit: usize, bytes: &[Byte]) {
        if let Some(number) = known(bytes) {
            return memory.store(unit, bytes.len(), number, Word::Number);
        }
        let mut padded = [Byte::Undefined; 4];
        padded[..bytes.len()].copy_from_slice(bytes);
        let word = self.units.unit(padded);
        memory.set_unit(unit, word);
        let state = |byte: &Byte| match byte {
            Byte::Undefined => state::UNDEFINED,
            byte if self.is_schedule_dependent(*byte) => state::SCHEDULE_DEPENDENT,
            _ => state::OPAQUE,
        };
        let states: Vec<u8> = bytes.iter().map(state).collect();
        memory.states.copy(unit, &states);
    }
}

impl Valued<'_> {
    /// Makes the contents of a buffer inputs of the domain, except for known bytes.
    pub(crate) fn fill_buffer(&mut self, memory: &mut Allocation, number: usize, buffer: &Buffer) {
        let zeros = match &buffer.contents {
            Contents::Opaque(_) => &[][..],
            Contents::Sparse { zeros, .. } => zeros,
            Contents::Known(_)
            | Contents::Undefined(_)
            | Contents::Pointers(_)
            | Contents::Structures { .. }
            | Contents::Unbounded => return,
        };
        let (source, size) = (InputSource::Buffer(number), memory.bytes.len());
        self.fill(memory, (0, size), buffer.element, source);
        for range in zeros {
            // A read at a data-dependent place may hit one of these zeros, which are not inputs.
            self.store.elements.remove(&number);
            self.store.clear(memory, range.clone());
        }
    }

    /// Makes `bytes` bytes of memory inputs of the domain.
    pub(crate) fn fill(
        &mut self,
        memory: &mut Allocation,
        (start, bytes): (usize, usize),
        element: Option<Scalar>,
        source: InputSource,
    ) {
        let sort = element.and_then(|scalar| Some((scalar, Sort::of(scalar)?)));
        let found = sort.and_then(|(scalar, sort)| {
            let count = (bytes / sort.bytes()) as u64;
            Some((self.domain.inputs(&Inputs { source, scalar, count })?, sort))
        });
        let (first, sort) = match found {
            Some((first, sort)) if bytes.is_multiple_of(sort.bytes()) => (first, sort),
            _ => {
                let word = self.store.units.opaque(None, reason::UNTYPED);
                let opaque = vec![Byte::Opaque(word); bytes];
                return self.store.store_bytes(memory, start, &opaque);
            }
        };
        let count = bytes / sort.bytes();
        if let (InputSource::Buffer(number), Some(scalar), 0) = (source, element, start) {
            let elements = Elements { first, count: count as u64, scalar };
            self.store.elements.insert(number, elements);
        }
        match sort {
            Sort::F32 if start.is_multiple_of(4) => {
                memory.states.fill(start..start + bytes, state::OPAQUE);
                (0..count).for_each(|at| memory.set_unit(start + 4 * at, first + at as u32));
            }
            Sort::F16 | Sort::Bf16 if start.is_multiple_of(4) && count.is_multiple_of(2) => {
                memory.states.fill(start..start + bytes, state::OPAQUE);
                for pair in 0..count as u32 / 2 {
                    let values = [first + 2 * pair, first + 2 * pair + 1];
                    let word = self.store.units.push(Unit::Halves { values, sorts: [sort; 2] });
                    memory.set_unit(start + 4 * pair as usize, word);
                }
            }
            _ => {
                for at in 0..count {
                    let value = first + at as u32;
                    let element: Vec<Byte> = (0..sort.bytes() as u8)
                        .map(|index| Byte::Of { value, sort, index })
                        .collect();
                    self.store.store_bytes(memory, start + at * sort.bytes(), &element);
                }
            }
        }
    }
}
