//! Registers of a warp: one array of lanes for each, predicates as sets of lanes.
//!
//! A warp has one file for each function: recursion is refused, so a lane is in a function at most
//! once, and lanes in different calls of it are different lanes.

use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::{Source, Tags};
use base::{Index, IndexVec};
use ir::{Function, Operand, Reg, Width};

/// Where each register of a function lives.
#[derive(Debug)]
pub(crate) struct Layout {
    slots: IndexVec<Reg, Slot>,
    words: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    width: Width,
    /// Position among the words; predicates are in the tags' table by their own number.
    word: u32,
}

impl Slot {
    /// Whether the register as it stands is its own low `width` bits.
    #[inline]
    fn holds(self, width: Width) -> bool {
        self.width <= width && self.width != Width::B1
    }
}

impl Layout {
    pub(crate) fn new(function: &Function) -> Self {
        let mut words = 0;
        let slots = function.registers.iter().map(|register| {
            let word = words;
            // 128 bits take two words, the lower half first.
            words += match register.width {
                Width::B1 => 0,
                Width::B128 => 2,
                _ => 1,
            };
            Slot { width: register.width, word }
        });
        let slots = slots.collect();
        Self { slots, words: words as usize }
    }

    pub(crate) fn width(&self, register: Reg) -> Width {
        self.slots[register].width
    }
}

/// The registers of one function in one warp.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registers {
    /// Values of words, and room for one more: a result is computed into the spare room, which
    /// then changes places with the old value. So results are never copied, and an operation may
    /// overwrite its own operand.
    words: Vec<Lanes>,
    /// Where each word of the layout currently is.
    places: Vec<u32>,
    /// Where there is room.
    spare: u32,
    predicates: Vec<Mask>,
    /// Which lanes are not numbers.
    masks: Vec<TagMasks>,
    /// Why; meaningful only where a mask is not empty.
    origins: Vec<Option<Source>>,
}

/// [`Tags`] without their origin: what every instruction looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TagMasks {
    pointer: Mask,
    unknown: Mask,
    poison: Mask,
}

impl TagMasks {
    const NUMBER: Self = Self { pointer: Mask::NONE, unknown: Mask::NONE, poison: Mask::NONE };
}

impl Registers {
    pub(crate) fn new(layout: &Layout) -> Self {
        let count = layout.slots.len();
        Self {
            words: vec![[0; WARP]; layout.words + 1],
            places: (0..layout.words as u32).collect(),
            spare: layout.words as u32,
            predicates: vec![Mask::NONE; count],
            masks: vec![TagMasks { poison: Mask::ALL, ..TagMasks::NUMBER }; count],
            origins: vec![Tags::UNWRITTEN.origin; count],
        }
    }

    /// Forgets everything in `lanes`: a call starts afresh.
    pub(crate) fn forget(&mut self, lanes: Mask) {
        for position in 0..self.masks.len() {
            self.set_tags(position, Tags::UNWRITTEN, lanes);
        }
    }

    pub(crate) fn tags(&self, register: Reg) -> Tags {
        let position = register.position();
        let TagMasks { pointer, unknown, poison } = self.masks[position];
        Tags { pointer, unknown, poison, origin: self.origins[position] }
    }

    pub(crate) fn operand_tags(&self, operand: Operand) -> Tags {
        match operand {
            Operand::Register(register) => self.tags(register),
            Operand::Constant(_) => Tags::NUMBER,
        }
    }

    /// Whether an operand is a number in every lane.
    #[inline]
    pub(crate) fn is_number(&self, operand: Operand) -> bool {
        match operand {
            Operand::Register(register) => self.masks[register.position()] == TagMasks::NUMBER,
            Operand::Constant(_) => true,
        }
    }

    /// The lanes in which an operand is a pointer, if it is a number in all others.
    #[inline]
    pub(crate) fn pointers(&self, operand: Operand) -> Option<Mask> {
        let Operand::Register(register) = operand else { return Some(Mask::NONE) };
        let TagMasks { pointer, unknown, poison } = self.masks[register.position()];
        (unknown.is_empty() && poison.is_empty()).then_some(pointer)
    }

    /// Where a word of the layout is.
    #[inline]
    fn place(&self, word: u32) -> usize {
        self.places[word as usize] as usize
    }

    /// A predicate as the set of lanes in which it is true.
    #[inline]
    pub(crate) fn predicate(&self, operand: Operand) -> Mask {
        match operand {
            Operand::Register(register) => self.predicates[register.position()],
            Operand::Constant(0) => Mask::NONE,
            Operand::Constant(_) => Mask::ALL,
        }
    }

    /// The low `width` bits of an operand; `buffer` holds them where the register does not.
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
            if slot.holds(width) {
                return &self.words[self.place(slot.word)];
            }
        }
        self.materialize(layout, operand, width, buffer);
        buffer
    }

    /// Fills `buffer` with a constant, a predicate or the low bits of a wider register.
    fn materialize(&self, layout: &Layout, operand: Operand, width: Width, buffer: &mut Lanes) {
        match operand {
            Operand::Constant(bits) => *buffer = [bits; WARP],
            Operand::Register(register) => {
                let slot = layout.slots[register];
                if slot.width == Width::B1 {
                    let mask = self.predicates[register.position()];
                    *buffer = std::array::from_fn(|lane| u64::from(mask.has(lane)));
                    return;
                }
                let mask = width.mask();
                *buffer = self.words[self.place(slot.word)].map(|bits| bits & mask);
            }
        }
    }

    /// The upper half of a 128-bit register.
    pub(crate) fn upper(&self, layout: &Layout, register: Reg) -> &Lanes {
        &self.words[self.place(layout.slots[register].word + 1)]
    }

    /// Computes a register from the low bits of some operands, in `lanes`. `action` is given room
    /// for all lanes, with no particular contents, and must leave no bits above the register's
    /// width; `buffers` hold operands that are not registers as they stand.
    #[inline(always)]
    pub(crate) fn compute<const N: usize>(
        &mut self,
        layout: &Layout,
        (operands, widths): ([Operand; N], [Width; N]),
        buffers: &mut [Lanes; 3],
        (dst, tags, lanes): (Reg, &Tags, Mask),
        action: impl FnOnce(&mut Lanes, [&Lanes; N]),
    ) {
        // Plain loops and arrays of plain values: anything else goes through memory here.
        let mut places = [None; N];
        for position in 0..N {
            let (operand, width) = (operands[position], widths[position]);
            match operand {
                Operand::Register(register) if layout.slots[register].holds(width) => {
                    places[position] = Some(self.place(layout.slots[register].word));
                }
                _ => self.materialize(layout, operand, width, &mut buffers[position]),
            }
        }
        let spare = self.spare as usize;
        let (below, rest) = self.words.split_at_mut(spare);
        let Some((result, above)) = rest.split_first_mut() else { return };
        let mut sources = buffers.each_ref();
        for position in 0..N {
            match places[position] {
                Some(place) if place < spare => sources[position] = &below[place],
                Some(place) => sources[position] = &above[place - spare - 1],
                None => {}
            }
        }
        let Some(sources) = sources.first_chunk() else { return };
        action(result, *sources);
        self.adopt(layout, dst, tags, lanes);
    }

    /// Makes what is in the spare room the value of a register in `lanes`.
    #[inline]
    fn adopt(&mut self, layout: &Layout, register: Reg, tags: &Tags, lanes: Mask) {
        let slot = layout.slots[register];
        if slot.width == Width::B1 || lanes != Mask::ALL {
            let values = self.words[self.spare as usize];
            return self.write(layout, register, &values, *tags, lanes);
        }
        std::mem::swap(&mut self.places[slot.word as usize], &mut self.spare);
        let position = register.position();
        let Tags { pointer, unknown, poison, .. } = *tags;
        self.masks[position] = TagMasks { pointer, unknown, poison };
        if tags.origin.is_some() {
            self.origins[position] = tags.origin;
        }
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
        if slot.width == Width::B1 {
            let truth = values.iter().rev().fold(0, |mask, &bits| mask << 1 | (bits as u32 & 1));
            return self.write_predicate(register, Mask(truth), tags, lanes);
        }
        let place = self.place(slot.word);
        blend(&mut self.words[place], values, lanes);
        self.set_tags(register.position(), tags, lanes);
    }

    /// Writes the upper half of a 128-bit register; the tags are those of the lower half.
    pub(crate) fn write_upper(
        &mut self,
        layout: &Layout,
        register: Reg,
        values: &Lanes,
        lanes: Mask,
    ) {
        let place = self.place(layout.slots[register].word + 1);
        blend(&mut self.words[place], values, lanes);
    }

    pub(crate) fn write_predicate(&mut self, register: Reg, truth: Mask, tags: Tags, lanes: Mask) {
        let position = register.position();
        let old = self.predicates[position];
        self.predicates[position] = truth.and(lanes).or(old.without(lanes));
        self.set_tags(position, tags, lanes);
    }

    fn set_tags(&mut self, position: usize, tags: Tags, lanes: Mask) {
        let old = &mut self.masks[position];
        let pick = |new: Mask, old: Mask| new.and(lanes).or(old.without(lanes));
        old.pointer = pick(tags.pointer, old.pointer);
        old.unknown = pick(tags.unknown, old.unknown);
        old.poison = pick(tags.poison, old.poison);
        if tags.origin.is_some() {
            self.origins[position] = tags.origin;
        }
    }
}

fn blend(old: &mut Lanes, new: &Lanes, lanes: Mask) {
    if lanes == Mask::ALL {
        *old = *new;
        return;
    }
    lanes.iter().for_each(|lane| old[lane] = new[lane]);
}
