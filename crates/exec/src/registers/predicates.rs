//! Predicates: sets of lanes, and domain words where they are unknown.

use super::Registers;
use crate::lanes::{Mask, Narrow, WARP};
use crate::tags::Tags;
use base::Index;
use ir::{Operand, Reg};

impl Registers {
    /// A predicate as the set of lanes in which it is true.
    #[inline]
    pub(crate) fn predicate(&self, operand: Operand) -> Mask {
        match operand {
            Operand::Register(register) => self.predicates[register.position()],
            Operand::Constant(0) => Mask::NONE,
            Operand::Constant(_) => Mask::ALL,
        }
    }

    /// The words of a predicate, meaningful where it is unknown.
    pub(crate) fn predicate_words(&self, operand: Operand) -> Narrow {
        let known = match operand {
            Operand::Register(register) => self.predicate_words.get(&register.position()),
            Operand::Constant(_) => None,
        };
        known.map_or([0; WARP], |words| **words)
    }

    /// Sets the words of a predicate in `lanes`.
    pub(crate) fn write_truths(&mut self, register: Reg, words: &Narrow, lanes: Mask) {
        let old =
            self.predicate_words.entry(register.position()).or_insert_with(|| Box::new([0; WARP]));
        lanes.iter().for_each(|lane| old[lane] = words[lane]);
    }

    /// Writes a predicate in `lanes`.
    pub(crate) fn write_predicate(&mut self, register: Reg, truth: Mask, tags: Tags, lanes: Mask) {
        let position = register.position();
        let old = self.predicates[position];
        self.predicates[position] = truth.and(lanes).or(old.without(lanes));
        self.set_tags(position, tags, lanes);
    }
}
