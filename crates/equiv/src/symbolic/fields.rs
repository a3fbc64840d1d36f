//! Bit fields of an integer as numbers: `⌊x / 2^a⌋ − 2^b · ⌊x / 2^(a+b)⌋` for `b` bits from bit `a` on.

use super::Symbolic;
use crate::ranges::{self, Range};
use exec::domain::{Domain, Value};
use ir::Width;
use rustc_hash::FxHashMap;
use term::{Function, Input, Node, NodeId, Number, Term};

/// Known bit fields of integers.
#[derive(Debug, Default)]
pub(super) struct Bits {
    /// Fields by integer, first bit and number of bits.
    pub(super) fields: FxHashMap<(Term, u32, u32), Value>,
    /// For each node that is the lowest bits of an integer: the integer, the part above them, and their
    /// number.
    pub(super) low: FxHashMap<NodeId, (Term, Term, u32)>,
    /// For each node that is a bit field: the field.
    of_node: FxHashMap<NodeId, Field>,
    /// For each number that is an unsigned reading of an integer: the integer and its width.
    pub(super) unsigned: FxHashMap<Term, (Value, Width)>,
    /// For each complement `−1 − a`, the value `a`.
    pub(super) complements: FxHashMap<Term, Value>,
}

/// Some bits of the number in the lowest `width` bits of an integer.
#[derive(Clone, Copy, Debug)]
struct Field {
    integer: Value,
    width: Width,
    first: u32,
    bits: u32,
}

impl Field {
    /// The range of its type.
    fn range(self) -> Range {
        ranges::of_type(self.bits, false)
    }
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
        if let Some(outer) = self.terms.node_of(term).and_then(|node| self.bits.of_node.get(&node))
        {
            // Bits of a field are bits of the same integer: one term for both.
            let Field { integer, width, first: before, bits: count } = *outer;
            let bits = bits.min(count.saturating_sub(first));
            return match bits {
                0 => Some(self.integer(0)),
                _ => self.bit_field(integer, width, before + first, bits),
            };
        }
        if let Some(&(integer, own_width)) = self.bits.unsigned.get(&term)
            && (own_width <= width || first + bits <= width.bits())
        {
            // A zero-extended integer has its bits, and zeros above.
            return match bits.min(own_width.bits().saturating_sub(first)) {
                0 => Some(self.integer(0)),
                bits => self.bit_field(integer, own_width, first, bits),
            };
        }
        if let Some(&complemented) = self.bits.complements.get(&term) {
            let field = self.bit_field(complemented, width, first, bits)?;
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
        let field = Field { integer: value, width, first, bits };
        // Congruent integers have the same lowest bits.
        let is_inside = first + bits <= width.bits();
        if is_inside && let Some(&known) = self.bits.fields.get(&(term, first, bits)) {
            return Some(known);
        }
        let number = self.in_range(value, width, false).map(|number| self.term(number));
        let found = match number.and_then(|number| Some((number, self.range(number)?))) {
            Some((number, range)) => self.bits_of(number, Some(range), field)?,
            None if is_inside => self.bits_of(term, None, field)?,
            None => return None,
        };
        if is_inside {
            self.bits.fields.insert((term, first, bits), found);
        }
        Some(found)
    }

    /// Builds a field from an integer: with a range, the number that the field is part of; without, one
    /// congruent to it.
    fn bits_of(&mut self, x: Term, range: Option<Range>, field: Field) -> Option<Value> {
        let Field { width, first, bits, .. } = field;
        if let Some(&known) = self.bits.fields.get(&(x, first, bits)) {
            return Some(known);
        }
        let lower = self.shifted_down(x, first)?;
        let end = first.checked_add(bits)?;
        let keeps_value = range.is_some_and(|(least, most)| {
            end >= width.bits() || (least >= 0 && most < 1i128 << end.min(126))
        });
        let term = match keeps_value {
            true => lower,
            false => {
                let upper = self.shifted_down(x, end)?;
                let scale = self.constant_term(1i128.checked_shl(bits)?);
                let above = self.terms.multiply(upper, scale);
                self.terms.subtract(lower, above)
            }
        };
        // A node of its own, so that adding to it keeps its known range.
        let node = self.terms.seal(term);
        if !keeps_value && first == 0 {
            let upper = self.shifted_down(x, end)?;
            self.bits.low.insert(node, (x, upper, bits));
        }
        // The whole number has no node of its own, and its range may be an input's.
        if !keeps_value || first > 0 {
            let most = range.map_or(i128::MAX, |(_, most)| most >> first);
            self.ranges.declare(node, (0, field.range().1.min(most)));
            self.bits.of_node.insert(node, field);
        }
        let value = self.handles.handle(node.into());
        self.bits.fields.insert((x, first, bits), value);
        Some(value)
    }

    /// Returns `true` if a node is a bit field without the highest bits: a mask bounds it for every integer.
    /// After a mere shift, most numbers of the integer are usually out of bounds, and the user knows which occur.
    pub(super) fn is_masked(&self, node: NodeId) -> bool {
        let field = self.bits.of_node.get(&node);
        field.is_some_and(|field| field.first + field.bits < field.width.bits())
    }

    /// Returns an input and a number for it that gives a field its largest or smallest value. The field must
    /// be part of an input that may be every number of its type.
    pub(super) fn input_for_field(&mut self, node: NodeId, largest: bool) -> Option<(Input, i128)> {
        let field = *self.bits.of_node.get(&node)?;
        let integer = self.term(field.integer);
        let Node::Input(input) = self.terms.node(integer) else { return None };
        let range = self.range(integer)?;
        let signed = range.0 < 0;
        let is_free = range == ranges::of_type(field.width.bits(), signed)
            && self.assumed_range_of(self.terms.node_of(integer)?).is_none();
        if !is_free || self.range(node.into())? != field.range() {
            return None;
        }
        let unsigned = if largest { field.range().1 << field.first } else { 0 };
        let number =
            if unsigned > range.1 { unsigned - (1 << field.width.bits()) } else { unsigned };
        Some((input, number))
    }

    /// Builds the number with these bits. Below its lowest ones it is a multiple of a power of two, so that an
    /// address made of it keeps its alignment.
    pub(super) fn number_from_bits(&mut self, bits: &[Value]) -> Option<Value> {
        let mut zeros = 0;
        while let Some(&bit) = bits.get(zeros) {
            let bit = self.term(bit);
            if self.integer_constant(bit) != Some(0) {
                break;
            }
            zeros += 1;
        }
        let number = self.number_without_zeros(&bits[zeros..])?;
        if zeros == 0 || zeros == bits.len() {
            return Some(number);
        }
        let scale = self.terms.integer(1i64.checked_shl(u32::try_from(zeros).ok()?)?);
        let number = self.term(number);
        let multiple = self.terms.multiply(scale, number);
        Some(self.handles.handle(multiple))
    }

    /// Builds the number with these bits, of which the lowest is not 0.
    fn number_without_zeros(&mut self, bits: &[Value]) -> Option<Value> {
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
        let complement = self.terms.subtract(minus_one, term);
        let complement = self.terms.seal(complement).into();
        self.bits.complements.insert(complement, a);
        self.handles.handle(complement)
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

    /// Fields of `8·x`, with the upper bits cut off.
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

    /// Fields of other multiples, and bits on both sides of a multiple's lowest one: unsupported
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

    /// Fields of `−1 − x`, and of its complement `x`.
    #[test]
    fn fields_of_complements() {
        let (mut domain, value) = byte();
        let complement = domain.complement(value);
        for number in 0..256_i64 {
            assert_eq!(at(&mut domain, complement, number), !number as f64);
        }
        for (first, bits) in [(0, 1), (7, 1), (2, 5), (0, 8)] {
            let field = domain.field(complement, Width::B8, first, bits).unwrap();
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

    fn signed_word() -> (Symbolic, Value) {
        let mut inputs = Inputs::new();
        inputs.tensor("x", 1).unwrap();
        inputs.describe(&[1], Numbers::Integers(i32::MIN.into(), i32::MAX.into()));
        let source = InputSource::Buffer(0);
        let sources = FxHashMap::from_iter([(source, 0)]);
        let mut domain = Symbolic::new(Arc::new(inputs), sources, true);
        let scalar = Scalar::Integer { width: Width::B32, signed: true };
        let value = domain.inputs(&Given { source, scalar, count: 1 }).unwrap();
        (domain, value)
    }

    const WORDS: [i32; 8] = [0, 1, 255, -1, -256, 0x1234_5678, i32::MIN, i32::MAX];

    /// A product wraps around many times, and its fields are those of the machine's number.
    #[test]
    fn fields_of_products_that_wrap_around() {
        let (mut domain, value) = signed_word();
        let factor = domain.integer(2_654_435_761);
        let mut out = [0; 32];
        let operands = [&[value; 32], &[factor; 32]];
        domain.binary(Binary::Mul, operands, exec::Mask(1), &mut out);
        for (first, bits) in [(0, 4), (28, 4), (3, 9), (0, 32)] {
            let field = domain.field(out[0], Width::B32, first, bits).unwrap();
            let term = domain.term(field);
            let most = ((1_u64 << bits) - 1) as u32;
            assert_eq!(domain.range(term), Some((0, most.into())));
            for number in WORDS {
                let expected = number.cast_unsigned().wrapping_mul(2_654_435_761) >> first & most;
                let found = at(&mut domain, field, number.into());
                assert_eq!(found, f64::from(expected), "{first} {bits} {number}");
            }
        }
    }

    /// A field of a field is one of the integer, and an input is named that has it.
    #[test]
    fn fields_of_fields_and_their_inputs() {
        let (mut domain, value) = signed_word();
        let outer = domain.field(value, Width::B32, 4, 20).unwrap();
        let inner = domain.field(outer, Width::B32, 2, 5).unwrap();
        assert_eq!(Some(inner), domain.field(value, Width::B32, 6, 5));
        let cut = domain.field(outer, Width::B32, 18, 10).unwrap();
        assert_eq!(Some(cut), domain.field(value, Width::B32, 22, 2));
        let above = domain.field(outer, Width::B32, 20, 4).unwrap();
        let above = domain.term(above);
        assert_eq!(domain.integer_constant(above), Some(0));
        for (first, bits) in [(0, 3), (6, 5), (29, 3), (1, 31)] {
            let field = domain.field(value, Width::B32, first, bits).unwrap();
            let bounds = domain.bounds(field).unwrap();
            assert_eq!((bounds.low, bounds.high), (0, (1 << bits) - 1));
            assert!(bounds.are_attained, "{first} {bits}");
            assert_eq!(bounds.are_declared, first + bits < 32);
            let term = domain.term(field);
            let node = domain.terms.seal(term);
            for (largest, end) in [(false, bounds.low), (true, bounds.high)] {
                let (_, number) = domain.input_for_field(node, largest).unwrap();
                let number = i64::try_from(number).unwrap();
                assert!(i32::try_from(number).is_ok());
                assert_eq!(at(&mut domain, field, number), end as f64, "{first} {bits}");
            }
        }
    }

    /// Zeros below the lowest bit are a factor, so that an address made of bits is aligned.
    #[test]
    fn numbers_made_of_bits_are_multiples() {
        let (mut domain, value) = signed_word();
        let zero = domain.integer(0);
        let one = domain.field(value, Width::B32, 9, 1).unwrap();
        let made = domain.number_of_bits(&[zero, zero, one, zero]).unwrap();
        assert!(domain.is_multiple((made, 0), 4));
        assert_eq!(domain.bounds(made).map(|bounds| (bounds.low, bounds.high)), Some((0, 4)));
        for number in WORDS {
            let expected = (number >> 9 & 1) << 2;
            assert_eq!(at(&mut domain, made, number.into()), f64::from(expected));
        }
        let none = domain.number_of_bits(&[zero, zero]).unwrap();
        assert_eq!(at(&mut domain, none, 7), 0.0);
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
