//! The register layout of a function, the same in every warp ([`crate::registers`]).

use crate::lanes::WARP;
use base::{Index, IndexVec};
use ir::{Access, Address, AddressBase, Function, Operand, Param, Reg, Terminator, Width};
use rustc_hash::FxHashMap;

/// The slot of each register of a function.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) slots: IndexVec<Reg, Slot>,
    /// The number of narrow and wide words.
    pub(crate) narrow: u32,
    pub(crate) wide: u32,
    /// Constants of decoded instructions, after the narrow registers.
    pub(crate) constants: Vec<u32>,
    /// The position of each constant.
    known: FxHashMap<u32, u32>,
    /// Registers that some instruction reads.
    read: Vec<bool>,
}

/// A narrow register or a constant, decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Position in the pool of narrow registers, with constants after them.
    pub(crate) word: u32,
    /// Position in the tables of tags; all constants share one.
    pub(crate) tags: u32,
}

/// An operand of an instruction decoded for one lane, with the mask of its bits that are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SingleSource {
    Constant(u64),
    Narrow(Word, u64),
    Wide(Word, u64),
}

/// The destination of an instruction decoded for one lane: a register of 8 to 64 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleTarget {
    pub(crate) word: Word,
    pub(crate) is_narrow: bool,
}

/// The place of a register in the pools of a warp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) width: Width,
    /// Position in the pool of its width; predicates are in the tags' table by their own number.
    pub(crate) word: u32,
}

impl Slot {
    /// Returns `true` if the register is in the pool of narrow registers.
    #[inline]
    pub(crate) fn is_narrow(self) -> bool {
        self.width <= Width::B32 && self.width != Width::B1
    }

    /// Returns `true` if the register is in the pool of wide registers.
    #[inline]
    pub(crate) fn is_wide(self) -> bool {
        self.width > Width::B32
    }
}

impl Layout {
    pub(crate) fn new(function: &Function) -> Self {
        let (mut narrow, mut wide) = (0, 0);
        let slots = function.registers.iter().map(|register| {
            let (pool, words) = match register.width {
                Width::B1 => (&mut narrow, 0),
                Width::B8 | Width::B16 | Width::B32 => (&mut narrow, 1),
                Width::B64 => (&mut wide, 1),
                // The lower half first.
                Width::B128 => (&mut wide, 2),
            };
            let word = *pool;
            *pool += words;
            Slot { width: register.width, word }
        });
        let slots = slots.collect();
        let (constants, known) = (Vec::new(), FxHashMap::default());
        Self { slots, narrow, wide, constants, known, read: read_registers(function) }
    }

    /// Returns `true` if any instruction of the function reads a register.
    pub(crate) fn is_read(&self, register: Reg) -> bool {
        self.read.get(register.position()).copied().unwrap_or(true)
    }

    /// Bytes of a warp's register file.
    pub(crate) fn bytes(&self) -> u64 {
        let words = u64::from(self.narrow) + self.constants.len() as u64 + 2 * u64::from(self.wide);
        words * (WARP as u64 * 4) + self.slots.len() as u64 * 64
    }

    pub(crate) fn width(&self, register: Reg) -> Width {
        self.slots[register].width
    }

    /// The slot of a 32-bit register written by a decoded instruction.
    pub(crate) fn target(&self, register: Reg) -> Option<Word> {
        let slot = self.slots[register];
        let word = Word { word: slot.word, tags: register.position() as u32 };
        (slot.width == Width::B32).then_some(word)
    }

    /// The slot of an operand's low 32 bits, read by a decoded instruction.
    pub(crate) fn source(&mut self, operand: Operand) -> Option<Word> {
        match operand {
            Operand::Register(register) => {
                let slot = self.slots[register];
                let word = Word { word: slot.word, tags: register.position() as u32 };
                slot.is_narrow().then_some(word)
            }
            Operand::Constant(bits) => {
                let constant = bits as u32;
                let next = self.narrow + self.constants.len() as u32;
                let word = *self.known.entry(constant).or_insert_with(|| {
                    self.constants.push(constant);
                    next
                });
                Some(Word { word, tags: self.slots.len() as u32 })
            }
        }
    }
}

/// The slots of instructions decoded for one lane. None of them is a predicate or has 128 bits.
impl Layout {
    fn word_of(&self, register: Reg) -> Word {
        Word { word: self.slots[register].word, tags: register.position() as u32 }
    }

    /// The slot of an operand of which the low `width` bits are read.
    pub(crate) fn single_source(&self, operand: Operand, width: Width) -> Option<SingleSource> {
        let register = match operand {
            Operand::Register(register) => register,
            Operand::Constant(bits) => return Some(SingleSource::Constant(bits)),
        };
        let (word, slot) = (self.word_of(register), self.slots[register]);
        match slot.width {
            Width::B1 | Width::B128 => None,
            Width::B64 => Some(SingleSource::Wide(word, width.mask())),
            Width::B8 | Width::B16 | Width::B32 => Some(SingleSource::Narrow(word, width.mask())),
        }
    }

    /// The slot of a register that is written.
    pub(crate) fn single_target(&self, register: Reg) -> Option<SingleTarget> {
        let slot = self.slots[register];
        let (word, is_narrow) = (self.word_of(register), slot.is_narrow());
        (is_narrow || slot.width == Width::B64).then_some(SingleTarget { word, is_narrow })
    }

    /// The slot of an operand that is a 32-bit register.
    pub(crate) fn single_word(&self, operand: Operand) -> Option<Word> {
        let Operand::Register(register) = operand else { return None };
        (self.slots[register].width == Width::B32).then(|| self.word_of(register))
    }

    /// The position of a predicate.
    pub(crate) fn predicate(&self, register: Reg) -> Option<u32> {
        (self.slots[register].width == Width::B1).then(|| register.position() as u32)
    }
}

/// Marks the registers of a function that any instruction reads.
fn read_registers(function: &Function) -> Vec<bool> {
    let mut read = vec![false; function.registers.len()];
    // A function without a body names registers for its results, but its table of registers is empty.
    if !function.is_defined() {
        return read;
    }
    let mut note = |register: Reg| read[register.position()] = true;
    for block in &function.blocks {
        for instruction in &block.instructions {
            instruction.guard.iter().for_each(|guard| note(guard.register));
            instruction.op.visit(&mut |access| match access {
                Access::Read(Operand::Register(register)) => note(register),
                Access::Address(Address { base: AddressBase::Register(register), .. }) => {
                    note(register);
                }
                _ => {}
            });
        }
        match &block.terminator {
            Terminator::Branch { guard, .. } => note(guard.register),
            Terminator::Table { index: Operand::Register(register), .. } => note(*register),
            _ => {}
        }
    }
    for result in &function.returns {
        if let Param::Register(register, _) = result {
            note(*register);
        }
    }
    read
}
