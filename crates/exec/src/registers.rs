//! Registers of a warp: one array of lanes for each, predicates as sets of lanes.
//!
//! A warp has one file for each function: recursion is refused, so a lane is in a function at most
//! once, and lanes in different calls of it are different lanes.

use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::Tags;
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
#[derive(Clone, Debug)]
pub(crate) struct Registers {
    words: Vec<Lanes>,
    predicates: Vec<Mask>,
    tags: Vec<Tags>,
}

impl Registers {
    pub(crate) fn new(layout: &Layout) -> Self {
        let count = layout.slots.len();
        Self {
            words: vec![[0; WARP]; layout.words],
            predicates: vec![Mask::NONE; count],
            tags: vec![Tags::UNWRITTEN; count],
        }
    }

    /// Forgets everything in `lanes`: a call starts afresh.
    pub(crate) fn forget(&mut self, lanes: Mask) {
        self.tags.iter_mut().for_each(|tags| *tags = Tags::UNWRITTEN.within(lanes, *tags));
    }

    pub(crate) fn tags(&self, register: Reg) -> Tags {
        self.tags[register.position()]
    }

    pub(crate) fn operand_tags(&self, operand: Operand) -> Tags {
        match operand {
            Operand::Register(register) => self.tags(register),
            Operand::Constant(_) => Tags::NUMBER,
        }
    }

    /// A predicate as the set of lanes in which it is true.
    pub(crate) fn predicate(&self, operand: Operand) -> Mask {
        match operand {
            Operand::Register(register) => self.predicates[register.position()],
            Operand::Constant(0) => Mask::NONE,
            Operand::Constant(_) => Mask::ALL,
        }
    }

    /// The low `width` bits of an operand; `buffer` holds them where the register does not.
    pub(crate) fn word<'s>(
        &'s self,
        layout: &Layout,
        operand: Operand,
        width: Width,
        buffer: &'s mut Lanes,
    ) -> &'s Lanes {
        match operand {
            Operand::Constant(bits) => {
                *buffer = [bits; WARP];
                buffer
            }
            Operand::Register(register) => {
                let slot = layout.slots[register];
                if slot.width == Width::B1 {
                    let mask = self.predicates[register.position()];
                    *buffer = std::array::from_fn(|lane| u64::from(mask.has(lane)));
                    return buffer;
                }
                let word = &self.words[slot.word as usize];
                if slot.width <= width {
                    return word;
                }
                let mask = width.mask();
                *buffer = word.map(|bits| bits & mask);
                buffer
            }
        }
    }

    /// The upper half of a 128-bit register.
    pub(crate) fn upper(&self, layout: &Layout, register: Reg) -> &Lanes {
        &self.words[layout.slots[register].word as usize + 1]
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
        let position = register.position();
        if slot.width == Width::B1 {
            let truth = values.iter().rev().fold(0, |mask, &bits| mask << 1 | (bits as u32 & 1));
            return self.write_predicate(register, Mask(truth), tags, lanes);
        }
        blend(&mut self.words[slot.word as usize], values, lanes);
        self.tags[position] =
            if lanes == Mask::ALL { tags } else { tags.within(lanes, self.tags[position]) };
    }

    /// Writes the upper half of a 128-bit register; the tags are those of the lower half.
    pub(crate) fn write_upper(&mut self, layout: &Layout, register: Reg, values: &Lanes, lanes: Mask) {
        blend(&mut self.words[layout.slots[register].word as usize + 1], values, lanes);
    }

    pub(crate) fn write_predicate(&mut self, register: Reg, truth: Mask, tags: Tags, lanes: Mask) {
        let position = register.position();
        let old = self.predicates[position];
        self.predicates[position] = truth.and(lanes).or(old.without(lanes));
        self.tags[position] = tags.within(lanes, self.tags[position]);
    }
}

fn blend(old: &mut Lanes, new: &Lanes, lanes: Mask) {
    if lanes == Mask::ALL {
        *old = *new;
        return;
    }
    lanes.iter().for_each(|lane| old[lane] = new[lane]);
}
