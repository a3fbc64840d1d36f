//! Some bits of an integer as a number: `⌊x / 2^a⌋ − 2^b · ⌊x / 2^(a+b)⌋` for `b` bits from bit `a` on.

use super::Symbolic;
use exec::domain::Value;
use ir::Width;
use term::{Function, Number, Term};

impl Symbolic {
    /// Some bits of a number that has no sign and fits the width.
    pub(super) fn bits_of(
        &mut self,
        number: Value,
        width: Width,
        first: u32,
        bits: u32,
    ) -> Option<Value> {
        let x = self.term(number);
        if let Some(&known) = self.fields.get(&(x, first, bits)) {
            return Some(known);
        }
        let (least, most) = self.range(x)?;
        let lower = self.shifted_down(x, first)?;
        let end = first.checked_add(bits)?;
        let whole = end >= width.bits() || (least >= 0 && most < 1i128.checked_shl(end)?);
        let field = match whole {
            true => lower,
            false => {
                let upper = self.shifted_down(x, end)?;
                let scale = self.terms.integer(1i64.checked_shl(bits)?);
                let above = self.terms.multiply(upper, scale);
                self.terms.subtract(lower, above)
            }
        };
        // A node of its own: what is added to it does not change what is known of it.
        let node = self.terms.seal(field);
        self.ranges.know(node, (0, (1i128.checked_shl(bits)? - 1).min(most >> first)));
        let value = self.handles.handle(node.into());
        self.fields.insert((x, first, bits), value);
        Some(value)
    }

    /// `⌊x / 2^by⌋`
    fn shifted_down(&mut self, x: Term, by: u32) -> Option<Term> {
        if by == 0 {
            return Some(x);
        }
        let scale = self.terms.constant(Number::dyadic(1, -i32::try_from(by).ok()?));
        let scaled = self.terms.multiply(x, scale);
        Some(self.terms.apply(Function::Floor, scaled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exec::domain::{Domain, InputSource, Inputs as Given};
    use ir::Scalar;
    use rustc_hash::FxHashMap;
    use std::sync::Arc;
    use term::{Inputs, Numbers};

    /// Fields of a number have the values that shifts and masks have, at every byte.
    #[test]
    fn fields_are_those_of_shifts_and_masks() {
        let mut inputs = Inputs::new();
        inputs.tensor("x", 1).unwrap();
        inputs.describe(&[1], Numbers::Integers(0, 255));
        let source = InputSource::Buffer(0);
        let sources = FxHashMap::from_iter([(source, 0)]);
        let mut domain = Symbolic::new(Arc::new(inputs), sources, true);
        let scalar = Scalar::Integer { width: Width::B8, signed: false };
        let value = domain.inputs(&Given { source, scalar, count: 1 }).unwrap();
        for (first, bits) in [(0, 4), (4, 4), (3, 1), (7, 1), (0, 8), (2, 5)] {
            let field = domain.field(value, Width::B8, first, bits).unwrap();
            assert_eq!(domain.range(domain.term(field)), Some((0, (1 << bits) - 1)));
            for number in 0..256_i64 {
                let terms = [domain.term(field)];
                let found = decide::evaluate(&domain.terms, &terms, &|_| Number::from(number));
                let expected = number >> first & ((1 << bits) - 1);
                let decide::Value::Real(found) = &found[0] else { panic!("{found:?}") };
                assert_eq!(found.to_f64_lossy(), expected as f64, "{first} {bits} {number}");
            }
        }
    }
}
