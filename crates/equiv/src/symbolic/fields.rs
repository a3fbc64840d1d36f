//! Bit fields of an integer as numbers: `⌊x / 2^a⌋ − 2^b · ⌊x / 2^(a+b)⌋` for `b` bits from bit `a` on.

use super::Symbolic;
use exec::domain::{Domain, Value};
use ir::Width;
use rustc_hash::FxHashMap;
use term::{Function, Node, NodeId, Number, Term};

/// Known bit fields of integers.
#[derive(Debug, Default)]
pub(super) struct Bits {
    /// Fields by integer, first bit and number of bits.
    pub(super) fields: FxHashMap<(Term, u32, u32), Value>,
    /// For each node that is the lowest bits of an integer: the integer, the part above them, and their
    /// number.
    pub(super) low: FxHashMap<NodeId, (Term, Term, u32)>,
    /// For each `−1 − a`, the `a`.
    pub(super) complements: FxHashMap<Term, Value>,
}

impl Symbolic {
    /// Extracts some bits of the number in the lowest `width` bits of a value.
    pub(super) fn bit_field(
        &mut self,
        value: Value,
        width: Width,
        first: u32,
        bits: u32,
    ) -> Option<Value> {
        let term = self.term(value);
        if let Some(&turned) = self.bits.complements.get(&term) {
            let field = self.bit_field(turned, width, first, bits)?;
            return Some(self.complement_field(field, bits));
        }
        if let Some((value, by)) = self.multiple_of_two(value) {
            // The bits of `2^by · x` are those of `x`, moved up.
            return match first.checked_sub(by) {
                Some(first) if first + bits <= width.bits() => {
                    self.bit_field(value, width, first, bits)
                }
                None if first + bits <= by => Some(self.integer(0)),
                _ => None,
            };
        }
        let number = self.in_range(value, width, false)?;
        self.bits_of(number, width, first, bits)
    }

    /// Extracts some bits of a non-negative number that fits the width.
    fn bits_of(&mut self, number: Value, width: Width, first: u32, bits: u32) -> Option<Value> {
        let x = self.term(number);
        if let Some(&known) = self.bits.fields.get(&(x, first, bits)) {
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
        // A node of its own, so that adding to it keeps its known range.
        let node = self.terms.seal(field);
        if !whole && first == 0 {
            let upper = self.shifted_down(x, end)?;
            self.bits.low.insert(node, (x, upper, bits));
        }
        // The whole number has no node of its own, and its range may be an input's.
        if !whole || first > 0 {
            self.ranges.declare(node, (0, (1i128.checked_shl(bits)? - 1).min(most >> first)));
        }
        let value = self.handles.handle(node.into());
        self.bits.fields.insert((x, first, bits), value);
        Some(value)
    }

    /// Builds the number with these bits.
    pub(super) fn number_from_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let mut total = self.terms.zero();
        let mut most = 0;
        for (at, bit) in bits.iter().enumerate() {
            let scale = self.terms.integer(1i64.checked_shl(u32::try_from(at).ok()?)?);
            let bit = self.term(*bit);
            let high = self.range(bit).map_or(1, |(_, high)| high.clamp(0, 1));
            most += high << at;
            total = self.terms.fused_multiply_add(scale, bit, total);
        }
        let node = self.terms.seal(total);
        self.ranges.declare(node, (0, most));
        let term = node.into();
        for (at, bit) in (0..).zip(bits) {
            self.bits.fields.insert((term, at, 1), *bit);
        }
        Some(self.handles.handle(term))
    }

    /// Returns the `x` and `n` of a value `2^n · x`.
    pub(super) fn multiple_of_two(&mut self, value: Value) -> Option<(Value, u32)> {
        let term = self.term(value);
        let Node::Product(a, b) = self.terms.node(term) else { return None };
        let power = |factor: NodeId| match self.terms.as_number(factor.into())?.to_small_ratio()? {
            (number, 1) if number > 1 => {
                let number = number.unsigned_abs();
                number.is_power_of_two().then(|| number.trailing_zeros())
            }
            _ => None,
        };
        let (by, other) = match (power(a), power(b)) {
            (Some(by), _) => (by, b),
            (None, by) => (by?, a),
        };
        Some((self.handles.handle(other.into()), by))
    }

    /// Builds `−1 − a` and records it as the complement of `a`.
    pub(super) fn complement_of(&mut self, a: Value) -> Value {
        let (minus_one, term) = (self.terms.integer(-1), self.term(a));
        let turned = self.terms.subtract(minus_one, term);
        let turned = self.terms.seal(turned).into();
        self.bits.complements.insert(turned, a);
        self.handles.handle(turned)
    }

    /// Builds `2^bits − 1 − field`.
    pub(super) fn complement_field(&mut self, field: Value, bits: u32) -> Value {
        let most = (1i128 << bits) - 1;
        let (ones, term) = (self.constant_term(most), self.term(field));
        let rest = self.terms.subtract(ones, term);
        let node = self.terms.seal(rest);
        self.ranges.declare(node, (0, most));
        self.handles.handle(node.into())
    }

    /// Shifts an integer to the right, with sign.
    pub(super) fn shifted_right(&mut self, value: Value, by: u32) -> Option<Value> {
        let term = self.term(value);
        let quotient = self.shifted_down(term, by)?;
        Some(self.handles.handle(quotient))
    }

    /// Builds `⌊x / 2^by⌋`.
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
    use exec::domain::{Binary, InputSource, Inputs as Given};
    use ir::Scalar;
    use rustc_hash::FxHashMap;
    use std::sync::Arc;
    use term::{Inputs, Numbers};

    fn byte() -> (Symbolic, Value) {
        let mut inputs = Inputs::new();
        inputs.tensor("x", 1).unwrap();
        inputs.describe(&[1], Numbers::Integers(0, 255));
        let source = InputSource::Buffer(0);
        let sources = FxHashMap::from_iter([(source, 0)]);
        let mut domain = Symbolic::new(Arc::new(inputs), sources, true);
        let scalar = Scalar::Integer { width: Width::B8, signed: false };
        let value = domain.inputs(&Given { source, scalar, count: 1 }).unwrap();
        (domain, value)
    }

    /// Evaluates a value for a byte.
    fn at(domain: &mut Symbolic, value: Value, number: i64) -> f64 {
        let terms = [domain.term(value)];
        let found = decide::evaluate(&domain.terms, &terms, &|_| Number::from(number));
        let decide::Value::Real(found) = &found[0] else { panic!("{found:?}") };
        found.to_f64_lossy()
    }

    /// Bit fields equal shifts and masks, for every byte.
    #[test]
    fn fields_are_those_of_shifts_and_masks() {
        let (mut domain, value) = byte();
        for (first, bits) in [(0, 4), (4, 4), (3, 1), (7, 1), (0, 8), (2, 5)] {
            let field = domain.field(value, Width::B8, first, bits).unwrap();
            let term = domain.term(field);
            assert_eq!(domain.range(term), Some((0, (1 << bits) - 1)));
            for number in 0..256_i64 {
                let expected = number >> first & ((1 << bits) - 1);
                assert_eq!(
                    at(&mut domain, field, number),
                    expected as f64,
                    "{first} {bits} {number}"
                );
            }
        }
    }

    /// Likewise for `8·x`, with the upper bits cut off.
    #[test]
    fn fields_of_multiples() {
        let (mut domain, value) = byte();
        let eight = domain.integer(8);
        let mut out = [0; 32];
        let operands = [&[value; 32], &[eight; 32]];
        domain.binary(Binary::Mul, operands, exec::Mask(1), &mut out);
        for (first, bits) in [(3, 1), (7, 1), (0, 3), (1, 2), (3, 5), (4, 3)] {
            let field = domain.field(out[0], Width::B8, first, bits).unwrap();
            for number in 0..256_i64 {
                let expected = (8 * number % 256) >> first & ((1 << bits) - 1);
                assert_eq!(
                    at(&mut domain, field, number),
                    expected as f64,
                    "{first} {bits} {number}"
                );
            }
        }
    }

    /// Likewise for other multiples, and for bits on both sides of a multiple's lowest one: unsupported
    /// fields must not be guessed.
    #[test]
    fn fields_of_other_multiples() {
        for factor in [-8, -1, 1, 3, 8, 12, 24] {
            let (mut domain, value) = byte();
            let scale = domain.integer(factor);
            let mut out = [0; 32];
            let operands = [&[value; 32], &[scale; 32]];
            domain.binary(Binary::Mul, operands, exec::Mask(1), &mut out);
            for (first, bits) in [(0, 1), (0, 4), (1, 4), (2, 3), (3, 1), (3, 4), (5, 2), (6, 1)] {
                let Some(field) = domain.field(out[0], Width::B16, first, bits) else { continue };
                for number in 0..256_i64 {
                    let product = i128::from(number) * factor;
                    let expected = product.rem_euclid(1 << 16) >> first & ((1 << bits) - 1);
                    let found = at(&mut domain, field, number);
                    assert_eq!(found, expected as f64, "{factor} {first} {bits} {number}");
                }
            }
        }
    }

    /// A number that may be a power of two has one bit more than all smaller ones.
    #[test]
    fn fields_of_a_power_of_two() {
        let (mut domain, value) = byte();
        let one = domain.integer(1);
        let mut out = [0; 32];
        domain.binary(Binary::Add, [&[value; 32], &[one; 32]], exec::Mask(1), &mut out);
        for (first, bits) in [(0, 8), (4, 4), (8, 1), (0, 9)] {
            let field = domain.field(out[0], Width::B16, first, bits).unwrap();
            for number in 0..256_i64 {
                let expected = (number + 1) >> first & ((1 << bits) - 1);
                assert_eq!(
                    at(&mut domain, field, number),
                    expected as f64,
                    "{first} {bits} {number}"
                );
            }
        }
    }

    /// Likewise for `−1 − x`, and for its complement `x`.
    #[test]
    fn fields_of_complements() {
        let (mut domain, value) = byte();
        let turned = domain.complement(value);
        for number in 0..256_i64 {
            assert_eq!(at(&mut domain, turned, number), !number as f64);
        }
        for (first, bits) in [(0, 1), (7, 1), (2, 5), (0, 8)] {
            let field = domain.field(turned, Width::B8, first, bits).unwrap();
            for number in 0..256_i64 {
                let expected = !number >> first & ((1 << bits) - 1);
                assert_eq!(
                    at(&mut domain, field, number),
                    expected as f64,
                    "{first} {bits} {number}"
                );
            }
        }
    }

    /// A number built from the reversed bits of another has these bits itself.
    #[test]
    fn numbers_made_of_bits() {
        let (mut domain, value) = byte();
        let mut bits: Vec<Value> =
            (0..8).map(|at| domain.field(value, Width::B8, at, 1).unwrap()).collect();
        bits.reverse();
        let made = domain.number_of_bits(&bits).unwrap();
        for (first, bit) in (0..).zip(&bits) {
            assert_eq!(domain.field(made, Width::B8, first, 1), Some(*bit));
        }
        for number in 0..256_i64 {
            let expected = (number as u8).reverse_bits();
            assert_eq!(at(&mut domain, made, number), f64::from(expected), "{number}");
        }
    }
}
