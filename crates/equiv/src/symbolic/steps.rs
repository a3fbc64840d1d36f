//! Steps of `expf` as compilers write it, known by their constants ([`crate::expf`]).

use super::Symbolic;
use exec::domain::Value;
use ir::Rounding;
use term::{Function, Term};

impl Symbolic {
    /// `⌊a·b⌋ + c`
    fn rounded_down(&mut self, a: Term, b: Term, c: Term) -> Value {
        let product = self.terms.multiply(a, b);
        let floor = self.terms.apply(Function::Floor, product);
        let sum = self.terms.add(floor, c);
        let value = self.handles.handle(sum);
        self.expf.note_exponent(value);
        value
    }

    /// A step of `expf`, if `a·b + c` is one.
    pub(super) fn expf_step(&mut self, [a, b, c]: [Value; 3], rounding: Rounding) -> Option<Value> {
        if self.expf.is_rest([a, b, c]) {
            // A handle of its own, for the rest is left out once: `c` is a product that lacks it.
            let product = self.term(c);
            return Some(self.handles.handle(product));
        }
        let [x, y, z] = [a, b, c].map(|operand| self.term(operand));
        let rounds = self.expf.rounds_down(&self.terms, a, [y, z], rounding);
        rounds.then(|| self.rounded_down(x, y, z))
    }
}
