//! Registers with the same value in all lanes of a full warp.

use super::Registers;
use crate::encoded::Encoded;
use crate::lanes::{Mask, WARP};
use crate::layout::Layout;
use crate::tags::{Source, TagMasks, Tags};
use base::Index;
use ir::{Operand, Reg, Width};

/// A value that is the same in all lanes, of up to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UniformValue {
    Number(u64),
    Pointer(u64),
    /// An unknown value made of the bits of an address ([`crate::encoded`]).
    Encoded(Encoded),
}

impl UniformValue {
    /// A hash; equal values have equal ones.
    pub(crate) fn digest(self) -> u64 {
        match self {
            Self::Number(bits) => bits,
            Self::Pointer(bits) => !bits,
            Self::Encoded(encoded) => encoded.digest(),
        }
    }
}

impl Registers {
    /// The value of an operand other than a predicate, if it is the same in all lanes of a full warp.
    pub(crate) fn uniform(&self, layout: &Layout, operand: Operand) -> Option<UniformValue> {
        let register = match operand {
            Operand::Constant(bits) => return Some(UniformValue::Number(bits)),
            Operand::Register(register) => register,
        };
        let position = register.position();
        let TagMasks { pointer, unknown, poison, schedule_dependent } = self.masks[position];
        if !self.absent.is_empty() || !poison.is_empty() {
            return None;
        }
        match (pointer, unknown) {
            (Mask::NONE, Mask::NONE) => {
                self.uniform_bits(layout, register).map(UniformValue::Number)
            }
            (Mask::ALL, Mask::NONE) => {
                self.uniform_bits(layout, register).map(UniformValue::Pointer)
            }
            (Mask::NONE, Mask::ALL) => {
                let address = schedule_dependent == Mask::ALL
                    && self.origins[position] == Some(Source::Address);
                let encoded = self.encoded_in_all(register, Mask::ALL).filter(|_| address);
                encoded.map(UniformValue::Encoded)
            }
            _ => None,
        }
    }

    fn uniform_bits(&self, layout: &Layout, register: Reg) -> Option<u64> {
        let width = layout.width(register).min(Width::B64);
        let uniform = self.is_uniform(layout, register);
        uniform.then(|| self.lane(layout, register.into(), width, 0))
    }

    /// Writes a value to all lanes of a register other than a predicate. The bits of an encoded address stay, since
    /// they are not read.
    pub(crate) fn set_uniform(&mut self, layout: &Layout, register: Reg, value: UniformValue) {
        let (slot, position) = (layout.slots[register], register.position());
        let bits = match value {
            UniformValue::Number(bits) => {
                self.tag(register, Tags::NUMBER, Mask::ALL);
                bits
            }
            UniformValue::Pointer(bits) => {
                self.tag(register, Tags::pointer(Mask::ALL), Mask::ALL);
                bits
            }
            UniformValue::Encoded(encoded) => {
                self.partial.forget(position, Mask::ALL);
                self.masks[position] = TagMasks {
                    unknown: Mask::ALL,
                    schedule_dependent: Mask::ALL,
                    ..TagMasks::NUMBER
                };
                self.origins[position] = Some(Source::Address);
                return self.encoded.set_all(position, encoded);
            }
        };
        if slot.is_narrow() {
            *self.narrow.get_mut(slot.word) = [bits as u32; WARP];
        } else {
            *self.wide.get_mut(slot.word) = [bits; WARP];
        }
    }
}
