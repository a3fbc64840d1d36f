//! The register file of a warp: for each register the bits of its 32 lanes, and tags that say which lanes are numbers,
//! pointers, unknown or undefined ([`crate::tags`]). Predicates are sets of lanes.
//!
//! Registers of up to 32 bits are kept in arrays of `u32` ([`Narrow`]), because kernels mostly use those and a
//! vector register holds twice as many. Wider ones are kept in arrays of `u64` ([`Lanes`]). Operations without a
//! special case read both as `u64`.
//!
//! A warp has one register file for each function. Recursion is rejected, so a lane is in a function at most
//! once, and lanes in different calls of it are different lanes.

mod data;
mod encoded;
mod partial;
mod pointers;
mod predicates;
mod single;
mod uniform;
mod windows;

use crate::finding::Origin;
use crate::lanes::{Lanes, Mask, Narrow, WARP};
use crate::layout::{Layout, Word};
use crate::pool::Pool;
use crate::tags::{Source, TagMasks, Tags};
use base::Index;
use encoded::EncodedLanes;
use ir::{Operand, Reg, Width};
use partial::PartialLanes;
use rustc_hash::FxHashMap;
pub(crate) use uniform::UniformValue;
use windows::Windows;

/// The registers of one function in one warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    narrow: Pool<u32>,
    wide: Pool<u64>,
    predicates: Vec<Mask>,
    /// For each register, the lanes that are not numbers, by kind.
    masks: Vec<TagMasks>,
    /// For each register, the reason why lanes are unknown. Stale if none is.
    origins: Vec<Option<Source>>,
    /// In a run with a domain, words of unknown predicates ([`crate::value`]).
    predicate_words: FxHashMap<usize, Box<Narrow>>,
    /// For each register, the reason why lanes are undefined. Stale if none is.
    undefined: Vec<Option<Origin>>,
    /// Lanes that hold encoded shared addresses ([`crate::encoded`]).
    encoded: EncodedLanes,
    /// Lanes of which one half is undefined.
    partial: PartialLanes,
    /// Registers that a `wgmma` product in flight reads or writes, if there are any.
    product_registers: Option<Box<Windows>>,
    /// Lanes without a thread. They start as numbers, and every write covers them too. So a partial warp passes the
    /// tests for "all lanes", and is as fast as a full one.
    absent: Mask,
}

impl Registers {
    pub(crate) fn new(layout: &Layout, exists: Mask) -> Self {
        let count = layout.slots.len();
        let mut narrow = Pool::new(layout.narrow + layout.constants.len() as u32);
        for (word, &constant) in (layout.narrow..).zip(&layout.constants) {
            *narrow.get_mut(word) = [constant; WARP];
        }
        let mut masks = vec![TagMasks { poison: exists, ..TagMasks::NUMBER }; count];
        // The entry of all constants.
        masks.push(TagMasks::NUMBER);
        Self {
            narrow,
            wide: Pool::new(layout.wide),
            predicates: vec![Mask::NONE; count],
            masks,
            origins: vec![None; count],
            undefined: vec![Tags::UNWRITTEN.undefined; count],
            predicate_words: FxHashMap::default(),
            encoded: EncodedLanes::default(),
            partial: PartialLanes::default(),
            product_registers: None,
            absent: Mask::ALL.without(exists),
        }
    }

    /// Makes all registers unwritten for a new block. The bits stay, since they are not read.
    pub(crate) fn unset_all(&mut self) {
        let count = self.origins.len();
        let poison = Mask::ALL.without(self.absent);
        self.masks[..count].fill(TagMasks { poison, ..TagMasks::NUMBER });
        self.undefined.fill(Tags::UNWRITTEN.undefined);
        self.encoded.clear();
        self.partial.clear();
        self.forget_windows();
    }

    /// Bytes of the tags of all registers.
    pub(crate) fn tag_bytes(&self) -> usize {
        self.origins.len() * size_of::<(TagMasks, Option<Origin>)>()
    }

    /// Makes all registers unwritten in `lanes`, for a call.
    pub(crate) fn unset(&mut self, lanes: Mask) {
        let unwritten = Tags { poison: lanes, ..Tags::UNWRITTEN };
        for position in 0..self.origins.len() {
            self.set_tags(position, unwritten, lanes);
        }
    }

    pub(crate) fn tags(&self, register: Reg) -> Tags {
        let position = register.position();
        let TagMasks { pointer, unknown, poison, schedule_dependent } = self.masks[position];
        let (origin, undefined) = (self.origins[position], self.undefined[position]);
        Tags { pointer, unknown, poison, schedule_dependent, origin, undefined }
    }

    pub(crate) fn operand_tags(&self, operand: Operand) -> Tags {
        match operand {
            Operand::Register(register) => self.tags(register),
            Operand::Constant(_) => Tags::NUMBER,
        }
    }

    /// Returns `true` if an operand is a number in every lane.
    #[inline]
    pub(crate) fn is_number(&self, operand: Operand) -> bool {
        match operand {
            Operand::Register(register) => self.masks[register.position()].is_number(),
            Operand::Constant(_) => true,
        }
    }

    /// The lanes in which one of these operands is unknown, if all their lanes are numbers or unknown.
    #[inline(always)]
    pub(crate) fn unknown(&self, sources: &[Word]) -> Option<Mask> {
        let (mut unknown, mut others) = (0, 0);
        for source in sources {
            let masks = &self.masks[source.tags as usize];
            unknown |= masks.unknown.0;
            others |= masks.pointer.0 | masks.poison.0;
        }
        (others == 0).then_some(Mask(unknown))
    }

    /// Tags the result of a computation on operands with only numbers and unknown lanes: it is unknown where
    /// one of them is.
    #[inline(always)]
    pub(crate) fn tag_unknown(&mut self, sources: &[Word], dst: Word, lanes: Mask) {
        let (mut result, mut origin) = (TagMasks::NUMBER, None);
        for source in sources {
            let TagMasks { unknown, schedule_dependent, .. } = self.masks[source.tags as usize];
            if !unknown.is_empty() {
                result.unknown = result.unknown.or(unknown);
                result.schedule_dependent =
                    result.schedule_dependent.or(schedule_dependent.and(unknown));
                origin = origin.or(Some(source.tags));
            }
        }
        let named =
            if result.schedule_dependent.is_empty() { None } else { self.reported_source(sources) };
        self.encoded.forget(dst.tags as usize, lanes);
        let (present, lanes) = (lanes.without(self.absent), lanes.or(self.absent));
        let masks = &mut self.masks[dst.tags as usize];
        let pick = |new: Mask, old: Mask| new.and(lanes).or(old.without(lanes));
        masks.pointer = masks.pointer.without(lanes);
        masks.poison = masks.poison.without(lanes);
        masks.unknown = pick(result.unknown, masks.unknown);
        masks.schedule_dependent = pick(result.schedule_dependent, masks.schedule_dependent);
        if let (Some(origin), false) = (origin, result.unknown.and(present).is_empty()) {
            self.origins[dst.tags as usize] = named.or(self.origins[origin as usize]);
        }
    }

    /// The reason to report for a result of these operands, if one of them is schedule-dependent.
    #[cold]
    fn reported_source(&self, sources: &[Word]) -> Option<Source> {
        let unknown = |source: &&Word| !self.masks[source.tags as usize].unknown.is_empty();
        let origin = |source: &Word| self.origins[source.tags as usize];
        sources.iter().filter(unknown).filter_map(origin).reduce(Source::to_report)
    }

    /// Returns `true` if all lanes of these operands are numbers.
    #[inline(always)]
    pub(crate) fn are_numbers(&self, sources: &[Word]) -> bool {
        let any = sources.iter().fold(0, |any, source| {
            let TagMasks { pointer, unknown, poison, .. } = self.masks[source.tags as usize];
            any | pointer.0 | unknown.0 | poison.0
        });
        any == 0
    }

    /// The lanes in which an operand is a pointer, if it is a number in all others.
    #[inline]
    pub(crate) fn pointers(&self, operand: Operand) -> Option<Mask> {
        let Operand::Register(register) = operand else { return Some(Mask::NONE) };
        let TagMasks { pointer, unknown, poison, .. } = self.masks[register.position()];
        (unknown.is_empty() && poison.is_empty()).then_some(pointer)
    }

    /// Returns the low `width` bits of an operand, using `buffer` if no register holds them.
    #[inline]
    pub(crate) fn word<'s>(
        &'s self,
        layout: &Layout,
        operand: Operand,
        width: Width,
        buffer: &'s mut Lanes,
    ) -> &'s Lanes {
        if let Operand::Register(register) = operand {
            let slot = layout.slots[register];
            if slot.is_wide() && slot.width <= width {
                return self.wide.get(slot.word);
            }
        }
        self.widen(layout, operand, width, buffer);
        buffer
    }

    /// The low `width` bits of an operand in one lane.
    #[inline(always)]
    pub(crate) fn lane(&self, layout: &Layout, operand: Operand, width: Width, lane: usize) -> u64 {
        let register = match operand {
            Operand::Register(register) => register,
            Operand::Constant(bits) => return bits,
        };
        let slot = layout.slots[register];
        let bits = if slot.is_narrow() {
            u64::from(self.narrow.get(slot.word)[lane])
        } else if slot.is_wide() {
            self.wide.get(slot.word)[lane]
        } else {
            u64::from(self.predicates[register.position()].has(lane))
        };
        bits & width.mask()
    }

    /// Fills `buffer` with the low `width` bits of an operand.
    fn widen(&self, layout: &Layout, operand: Operand, width: Width, buffer: &mut Lanes) {
        let register = match operand {
            Operand::Register(register) => register,
            Operand::Constant(bits) => return *buffer = [bits; WARP],
        };
        let slot = layout.slots[register];
        let mask = width.mask();
        if slot.is_narrow() {
            let values = self.narrow.get(slot.word);
            for lane in 0..WARP {
                buffer[lane] = u64::from(values[lane]) & mask;
            }
        } else if slot.is_wide() {
            let values = self.wide.get(slot.word);
            for lane in 0..WARP {
                buffer[lane] = values[lane] & mask;
            }
        } else {
            let truth = self.predicates[register.position()];
            *buffer = std::array::from_fn(|lane| u64::from(truth.has(lane)));
        }
    }

    /// Returns the low 32 bits of an operand, using `buffer` if no register holds them.
    #[inline]
    pub(crate) fn narrow<'s>(
        &'s self,
        layout: &Layout,
        operand: Operand,
        buffer: &'s mut Narrow,
    ) -> &'s Narrow {
        match self.narrow_source(layout, operand, buffer) {
            Some(word) => self.narrow.get(word),
            None => buffer,
        }
    }

    /// Returns the word with the low 32 bits of an operand, or else fills `buffer` with them.
    #[inline]
    fn narrow_source(&self, layout: &Layout, operand: Operand, buffer: &mut Narrow) -> Option<u32> {
        if let Operand::Register(register) = operand
            && layout.slots[register].is_narrow()
        {
            return Some(layout.slots[register].word);
        }
        match operand {
            Operand::Constant(bits) => *buffer = [bits as u32; WARP],
            Operand::Register(_) => {
                let mut wide = [0; WARP];
                self.widen(layout, operand, Width::B32, &mut wide);
                *buffer = wide.map(|bits| bits as u32);
            }
        }
        None
    }

    /// The upper half of a 128-bit register.
    pub(crate) fn upper(&self, layout: &Layout, register: Reg) -> &Lanes {
        self.wide.get(layout.slots[register].word + 1)
    }

    /// Computes a register from the low bits of some operands, in `lanes`. `action` gets a slot for all
    /// lanes, with arbitrary contents, and must leave no bits above the register's width. `buffers` hold
    /// operands that are not stored as plain registers.
    #[inline(always)]
    pub(crate) fn compute<const N: usize>(
        &mut self,
        layout: &Layout,
        (operands, widths): ([Operand; N], [Width; N]),
        buffers: &mut [Lanes; 3],
        (dst, tags, lanes): (Reg, &Tags, Mask),
        action: impl FnOnce(&mut Lanes, [&Lanes; N]),
    ) {
        let mut sources = [None; N];
        for position in 0..N {
            let (operand, width) = (operands[position], widths[position]);
            match operand {
                Operand::Register(register)
                    if layout.slots[register].is_wide()
                        && layout.slots[register].width <= width =>
                {
                    sources[position] = Some(layout.slots[register].word);
                }
                _ => self.widen(layout, operand, width, &mut buffers[position]),
            }
        }
        self.wide.compute(sources, buffers, action);
        let slot = layout.slots[dst];
        if slot.is_wide() {
            self.wide.adopt(slot.word, lanes.or(self.absent));
            self.set_tags(dst.position(), *tags, lanes);
        } else if let Some(&values) = self.wide.computed() {
            self.write(layout, dst, &values, *tags, lanes);
        }
    }

    /// Like [`compute`](Self::compute), of 32 bits from 32 bits. Returns `false` for a destination that is
    /// not a 32-bit register.
    #[inline(always)]
    pub(crate) fn compute_narrow<const N: usize>(
        &mut self,
        layout: &Layout,
        operands: [Operand; N],
        buffers: &mut [Narrow; 3],
        (dst, tags, lanes): (Reg, &Tags, Mask),
        action: impl FnOnce(&mut Narrow, [&Narrow; N]),
    ) -> bool {
        let slot = layout.slots[dst];
        if slot.width != Width::B32 {
            return false;
        }
        let mut sources = [None; N];
        for position in 0..N {
            sources[position] =
                self.narrow_source(layout, operands[position], &mut buffers[position]);
        }
        self.narrow.compute(sources, buffers, action);
        self.narrow.adopt(slot.word, lanes.or(self.absent));
        self.set_tags(dst.position(), *tags, lanes);
        true
    }

    /// Like [`compute_narrow`](Self::compute_narrow), for a decoded instruction and without tags:
    /// [`tag_numbers`](Self::tag_numbers) or [`tag_unknown`](Self::tag_unknown) sets them.
    #[inline(always)]
    pub(crate) fn compute_words<const N: usize>(
        &mut self,
        sources: &[Word; N],
        dst: Word,
        lanes: Mask,
        action: impl FnOnce(&mut Narrow, [&Narrow; N]),
    ) {
        self.narrow.compute_words(sources.map(|source| source.word), action);
        self.narrow.adopt(dst.word, lanes.or(self.absent));
    }

    /// Tags the result of a computation as numbers in `lanes`.
    #[inline(always)]
    pub(crate) fn tag_numbers(&mut self, dst: Word, lanes: Mask) {
        let lanes = lanes.or(self.absent);
        let masks = &mut self.masks[dst.tags as usize];
        masks.pointer = masks.pointer.without(lanes);
        masks.unknown = masks.unknown.without(lanes);
        masks.poison = masks.poison.without(lanes);
    }

    /// Sets the tags of a register and leaves its bits: none of the lanes is a number, so they are not read.
    pub(crate) fn tag(&mut self, register: Reg, tags: Tags, lanes: Mask) {
        self.set_tags(register.position(), tags, lanes);
    }

    /// Writes a register in `lanes`. The values have no bits above the register's width.
    pub(crate) fn write(
        &mut self,
        layout: &Layout,
        register: Reg,
        values: &Lanes,
        tags: Tags,
        lanes: Mask,
    ) {
        let slot = layout.slots[register];
        let lanes = lanes.or(self.absent);
        if slot.is_narrow() {
            let old = self.narrow.get_mut(slot.word);
            if lanes == Mask::ALL {
                for lane in 0..WARP {
                    old[lane] = values[lane] as u32;
                }
            } else {
                lanes.iter().for_each(|lane| old[lane] = values[lane] as u32);
            }
        } else if slot.is_wide() {
            self.wide.blend(slot.word, values, lanes);
        } else {
            let truth = values.iter().rev().fold(0, |mask, &bits| mask << 1 | (bits as u32 & 1));
            return self.write_predicate(register, Mask(truth), tags, lanes);
        }
        self.set_tags(register.position(), tags, lanes);
    }

    /// Writes a register other than a predicate, lane by lane. The values have no bits above its width.
    #[inline(always)]
    pub(crate) fn write_lanes(
        &mut self,
        layout: &Layout,
        register: Reg,
        tags: Tags,
        lanes: Mask,
        value: impl Fn(usize) -> u64,
    ) {
        let slot = layout.slots[register];
        if slot.is_narrow() {
            let old = self.narrow.get_mut(slot.word);
            lanes.iter().for_each(|lane| old[lane] = value(lane) as u32);
        } else {
            let old = self.wide.get_mut(slot.word);
            lanes.iter().for_each(|lane| old[lane] = value(lane));
        }
        self.set_tags(register.position(), tags, lanes);
    }

    /// Like [`write`](Self::write), for a 32-bit register.
    pub(crate) fn write_narrow(
        &mut self,
        layout: &Layout,
        register: Reg,
        values: &Narrow,
        tags: Tags,
        lanes: Mask,
    ) {
        self.narrow.blend(layout.slots[register].word, values, self.with_absent(lanes));
        self.set_tags(register.position(), tags, lanes);
    }

    /// Writes the upper half of a 128-bit register, which shares the tags of the lower half.
    pub(crate) fn write_upper(
        &mut self,
        layout: &Layout,
        register: Reg,
        values: &Lanes,
        lanes: Mask,
    ) {
        self.wide.blend(layout.slots[register].word + 1, values, lanes);
    }

    #[inline(always)]
    fn set_tags(&mut self, position: usize, tags: Tags, lanes: Mask) {
        self.encoded.forget(position, lanes);
        self.partial.forget(position, lanes);
        let (present, lanes) = (lanes.without(self.absent), lanes.or(self.absent));
        let old = &mut self.masks[position];
        if tags.is_number() && lanes == Mask::ALL {
            return *old = TagMasks::NUMBER;
        }
        if lanes == Mask::ALL && tags.is_data() {
            return self.set_data(position, present);
        }
        let pick = |new: Mask, old: Mask| new.and(lanes).or(old.without(lanes));
        old.pointer = pick(tags.pointer, old.pointer);
        old.unknown = pick(tags.unknown, old.unknown);
        old.poison = pick(tags.poison, old.poison);
        old.schedule_dependent = pick(tags.schedule_dependent, old.schedule_dependent);
        // Origins may be stale: one that concerns no thread is ignored.
        if tags.origin.is_some() && !tags.unknown.and(present).is_empty() {
            self.origins[position] = tags.origin;
        }
        if tags.undefined.is_some() && !tags.poison.and(present).is_empty() {
            self.undefined[position] = tags.undefined;
        }
    }
}
