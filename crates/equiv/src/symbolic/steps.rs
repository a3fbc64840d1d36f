//! The steps of a compiler's `expf`, recognised by their constants ([`crate::expf`]).

use super::Symbolic;
use crate::expf::EXPONENT_ORIGIN;
use exec::domain::Value;
use ir::Rounding;
use term::{Function, Term};

impl Symbolic {
    /// Builds `⌊a·b⌋ + c`.
    fn floor_step(&mut self, a: Term, b: Term, c: Term) -> Value {
        let product = self.terms.multiply(a, b);
        let floor = self.terms.apply(Function::Floor, product);
        let sum = self.terms.add(floor, c);
        let value = self.handles.handle(sum);
        self.expf.note_exponent(value);
        value
    }

    /// Builds two to the power of a value's exponent bits.
    pub(super) fn power_with_exponent(&mut self, value: Value) -> Option<Value> {
        if !self.expf.is_exponent(value) {
            return None;
        }
        let term = self.term(value);
        let origin = self.terms.integer(EXPONENT_ORIGIN);
        let exponent = self.terms.subtract(term, origin);
        let power = self.terms.exp2(exponent);
        Some(self.handles.handle(power))
    }

    /// Builds a step of `expf`, if `a·b + c` is one.
    pub(super) fn expf_step(&mut self, [a, b, c]: [Value; 3], rounding: Rounding) -> Option<Value> {
        if self.expf.is_rest([a, b, c]) {
            // A handle of its own, because the rest is dropped only once: the product in `c` lacks it.
            let product = self.term(c);
            return Some(self.handles.handle(product));
        }
        let [x, y, z] = [a, b, c].map(|operand| self.term(operand));
        let rounds = self.expf.rounds_down(&self.terms, a, [y, z], rounding);
        rounds.then(|| self.floor_step(x, y, z))
    }
}
