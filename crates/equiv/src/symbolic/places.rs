//! Places in tensors that depend on integer data: `table[64·idx[i] + j]`.
//!
//! A place is an index, counted from the first element of a tensor. Its value is the function
//! [`Function::Element`] of that index: equal for equal indices, on both sides of a comparison, because
//! inputs are numbered once for both. Places are written as linear combinations with integer coefficients
//! (*linear* below). So they can be divided by the size of an element, and two kernels that compute one place
//! differently mostly get the same term.

use super::Symbolic;
use crate::ranges;
use exec::domain::{Bounds, Value};
use ir::Width;
use std::collections::BTreeMap;
use term::{Function, Node, NodeId, Term};

/// Largest nesting of sums that is flattened.
const MAX_DEPTH: usize = 16;

/// Largest coefficient; products of two stay in range.
const MAX_COEFFICIENT: i128 = 1 << 62;

/// Returns the greatest common divisor of two numbers that are not negative.
pub(super) fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// A linear combination `Σ cᵢ·xᵢ + c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) parts: BTreeMap<NodeId, i128>,
    pub(super) constant: i128,
}

impl Linear {
    /// Adds a number.
    pub(super) fn plus(mut self, number: i128) -> Self {
        self.constant += number;
        self
    }

    /// Divides by a number, if it divides all coefficients and the constant.
    pub(super) fn divided(self, by: i128) -> Option<Self> {
        let divides = |number: i128| by != 0 && number % by == 0;
        let divides_all =
            divides(self.constant) && self.parts.values().all(|&factor| divides(factor));
        let parts = self.parts.iter().map(|(&node, &factor)| (node, factor / by.max(1)));
        divides_all.then(|| Self { parts: parts.collect(), constant: self.constant / by })
    }

    /// Returns the nodes with their factors.
    pub(super) fn parts(&self) -> Vec<(NodeId, i128)> {
        self.parts.iter().map(|(&node, &factor)| (node, factor)).collect()
    }

    /// Returns node, factor and number, if the combination is `factor · node + number`.
    pub(super) fn single(&self) -> Option<(NodeId, i128, i128)> {
        let (&node, &factor) = self.parts.first_key_value()?;
        (self.parts.len() == 1).then_some((node, factor, self.constant))
    }

    /// Subtracts a multiple of another combination; `None` if the numbers become too large.
    pub(super) fn minus(&self, other: &Self, by: i128) -> Option<Self> {
        let mut rest = self.clone();
        for (&node, &factor) in &other.parts {
            rest.add(node, factor.checked_mul(-by)?)?;
        }
        rest.constant = rest.constant.checked_sub(other.constant.checked_mul(by)?)?;
        rest.parts.retain(|_, factor| *factor != 0);
        Some(rest)
    }

    fn add(&mut self, node: NodeId, factor: i128) -> Option<()> {
        let all = self.parts.entry(node).or_default();
        *all = Some(*all + factor).filter(|sum| sum.abs() <= MAX_COEFFICIENT)?;
        Some(())
    }
}

impl Symbolic {
    /// Builds the term of an integer.
    pub(super) fn constant_term(&mut self, number: i128) -> Term {
        // In two parts, each exact: the number may be beyond 2^63.
        let (high, low) = ((number >> 32) as i64, (number & 0xffff_ffff) as i64);
        let high = self.terms.integer(high);
        let scale = self.terms.integer(1 << 32);
        let low = self.terms.integer(low);
        self.terms.fused_multiply_add(high, scale, low)
    }

    /// Converts a value to a linear combination; `None` if its numbers are too large or it is nested too
    /// deeply.
    pub(super) fn linear(&mut self, value: Value) -> Option<Linear> {
        let term = self.term(value);
        self.linear_of(term)
    }

    /// Substitutes a term for a node.
    pub(super) fn substitute(
        &mut self,
        linear: &mut Linear,
        (node, factor): (NodeId, i128),
        term: Term,
    ) -> Option<()> {
        linear.parts.remove(&node);
        self.add_multiple(term, factor, linear, MAX_DEPTH)?;
        linear.parts.retain(|_, factor| *factor != 0);
        Some(())
    }

    /// Like [`linear`](Self::linear), for a term.
    pub(super) fn linear_of(&mut self, term: Term) -> Option<Linear> {
        let mut linear = Linear { parts: BTreeMap::new(), constant: 0 };
        self.add_multiple(term, 1, &mut linear, MAX_DEPTH)?;
        linear.parts.retain(|_, factor| *factor != 0);
        Some(linear)
    }

    /// Adds a multiple of a term.
    fn add_multiple(
        &mut self,
        term: Term,
        factor: i128,
        into: &mut Linear,
        depth: usize,
    ) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        if factor.abs() > MAX_COEFFICIENT {
            return None;
        }
        if let Some(node) = self.terms.node_of(term)
            && self.ranges.is_declared(node)
        {
            return into.add(node, factor);
        }
        match self.terms.node(term) {
            Node::Constant(_) => {
                let number = factor.checked_mul(self.integer_constant(term)?)?;
                into.constant = into.constant.checked_add(number)?;
            }
            Node::Negation(a) => self.add_multiple(a.into(), -factor, into, depth)?,
            Node::Product(a, b) => {
                match (self.integer_constant(a.into()), self.integer_constant(b.into())) {
                    (Some(number), _) => {
                        self.add_multiple(b.into(), factor.checked_mul(number)?, into, depth)?;
                    }
                    (None, Some(number)) => {
                        self.add_multiple(a.into(), factor.checked_mul(number)?, into, depth)?;
                    }
                    (None, None) => into.add(self.terms.node_of(term)?, factor)?,
                }
            }
            Node::Sum(sum) => {
                let factors: Vec<_> = self.terms.products(sum).flatten().copied().collect();
                for one in factors {
                    let sign = if one.is_negative() { -factor } else { factor };
                    let (left, right) = (Term::from(one.left()), Term::from(one.right()));
                    match (self.integer_constant(left), self.integer_constant(right)) {
                        (Some(number), _) => {
                            self.add_multiple(right, sign.checked_mul(number)?, into, depth)?;
                        }
                        (None, Some(number)) => {
                            self.add_multiple(left, sign.checked_mul(number)?, into, depth)?;
                        }
                        (None, None) => {
                            let product = self.terms.multiply(left, right);
                            let product = self.terms.seal(product);
                            into.add(product, sign)?;
                        }
                    }
                }
            }
            Node::Select(condition, x, y) => match self.common_factor([x, y], depth) {
                Some((by, [x, y])) => {
                    let chosen = self.terms.select(condition.into(), x, y);
                    let chosen = self.terms.seal(chosen);
                    into.add(chosen, factor.checked_mul(by)?)?;
                }
                None => into.add(self.terms.seal(term), factor)?,
            },
            _ => {
                let node = self.terms.seal(term);
                into.add(node, factor)?;
            }
        }
        Some(())
    }

    /// Returns the largest common factor above 1 of two sides of a choice, and the quotients.
    fn common_factor(&mut self, sides: [NodeId; 2], depth: usize) -> Option<(i128, [Term; 2])> {
        let mut linear = sides.map(|_| Linear { parts: BTreeMap::new(), constant: 0 });
        for (side, into) in sides.into_iter().zip(&mut linear) {
            self.range(side.into())?;
            self.add_multiple(side.into(), 1, into, depth)?;
            into.parts.retain(|_, factor| *factor != 0);
        }
        let numbers = linear.iter().flat_map(|one| one.parts.values().chain([&one.constant]));
        let by = numbers.fold(0, |by, number| greatest_common_divisor(by, number.abs()));
        let [x, y] = linear;
        let (x, y) = (x.divided(by).filter(|_| by > 1)?, y.divided(by)?);
        Some((by, [self.sum_of(&x)?, self.sum_of(&y)?]))
    }

    /// Returns the value of an integer constant.
    pub(super) fn integer_constant(&self, term: Term) -> Option<i128> {
        self.terms.as_number(term)?.to_i64().map(i128::from)
    }

    /// Returns the number in the lowest bits of an integer; `None` if it may wrap around more than once.
    pub(super) fn wrap_into_type(
        &mut self,
        value: Value,
        width: Width,
        signed: bool,
    ) -> Option<Value> {
        let term = self.term(value);
        let (least, most) = self.range(term)?;
        let (lowest, highest) = ranges::of_type(width.bits(), signed);
        if least >= lowest && most <= highest {
            return Some(value);
        }
        let modulus = 1i128 << width.bits();
        if least < lowest - modulus || most > highest + modulus {
            return None;
        }
        let mut wrapped = term;
        if most > highest {
            let (bound, other) = (self.constant_term(highest), self.constant_term(-modulus));
            let too_large = self.terms.compare(term::Relation::Less, bound, term);
            let other = self.terms.add(term, other);
            wrapped = self.terms.select(too_large, other, wrapped);
        }
        if least < lowest {
            let (bound, other) = (self.constant_term(lowest), self.constant_term(modulus));
            let too_small = self.terms.compare(term::Relation::Less, term, bound);
            let other = self.terms.add(term, other);
            wrapped = self.terms.select(too_small, other, wrapped);
        }
        if !signed {
            self.bits.unsigned.insert(wrapped, (value, width));
        }
        Some(self.handles.handle(wrapped))
    }

    /// Bounds an integer.
    pub(super) fn bounds_of(&mut self, value: Value) -> Option<Bounds> {
        let linear = self.linear(value)?;
        self.tight_bounds(&linear, &BTreeMap::new())
    }

    /// Bounds a linear combination term by term, given more knowledge about some nodes.
    pub(super) fn bounds_within(
        &mut self,
        linear: &Linear,
        known: &BTreeMap<NodeId, ranges::Range>,
    ) -> Option<Bounds> {
        let (mut low, mut high) = (linear.constant, linear.constant);
        let (mut are_attained, mut are_declared) = (true, true);
        for (&node, &factor) in &linear.parts {
            let narrowed = known.get(&node);
            let (least, most) = match narrowed {
                Some(range) => *range,
                None => self.range_within(node, known)?,
            };
            let ends = [factor.checked_mul(least)?, factor.checked_mul(most)?];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
            // Several elements of a tensor without repetitions cannot all be the largest.
            let alone = linear.parts.len() == 1;
            let range = self.assumed_range_of(node).cloned();
            let is_free_field =
                alone && known.is_empty() && self.input_for_field(node, true).is_some();
            are_attained &= narrowed.is_none()
                && (is_free_field
                    || range.is_some_and(|range| range.is_exact && (alone || !range.is_distinct)));
            are_declared &= !self.has_undeclared_range(node);
        }
        Some(Bounds { low, high, are_attained, are_declared })
    }

    /// Returns `true` if a node depends on an integer input without a declared range: only its type is known.
    /// A mask gives bits a range of their own.
    fn has_undeclared_range(&mut self, node: NodeId) -> bool {
        if self.is_masked(node) {
            return false;
        }
        if let Some(&known) = self.divided.undeclared.get(&node) {
            return known;
        }
        let undeclared = |position: usize| {
            !self
                .assumed_ranges
                .iter()
                .any(|assumed_range| assumed_range.positions.contains(&position))
        };
        // The common case, without a traversal.
        if let Node::Input(input) = self.terms.at(node) {
            return undeclared(input.position());
        }
        let below = decide::inputs_of(&self.terms, node.into());
        let read = decide::lookups(&self.terms, node.into());
        let found = below.iter().any(|input| undeclared(input.position()))
            || read.iter().any(|(first, _)| undeclared(first.position()));
        self.divided.undeclared.insert(node, found);
        found
    }

    /// Names inputs for which an integer takes its largest or smallest value: `idx[3] is 99`.
    pub(super) fn named_extreme(&mut self, value: Value, largest: bool) -> Option<String> {
        let linear = self.linear(value)?;
        let mut all = Vec::new();
        for (&node, &factor) in &linear.parts {
            let take_most = largest == (factor > 0);
            let (input, number) = match self.terms.at(node) {
                Node::Input(input) => {
                    let (least, most) = self.range(node.into())?;
                    (input, if take_most { most } else { least })
                }
                _ => self.input_for_field(node, take_most)?,
            };
            all.push(format!("{} is {number}", self.terms.inputs().name(input)));
        }
        (!all.is_empty()).then(|| all.join(" and "))
    }

    /// Returns the element at a place.
    pub(super) fn element_at(
        &mut self,
        (first, count): (Value, u64),
        (value, offset): (Value, i128),
        size: u32,
    ) -> Option<Value> {
        let index = self.linear(value)?.plus(offset).divided(size.into())?;
        // Handles of inputs are as consecutive as the inputs; given terms are not inputs.
        let last = first.checked_add(u32::try_from(count).ok()?.checked_sub(1)?)?;
        if !self.handles.is_input(first) || !self.handles.is_input(last) {
            return None;
        }
        let input = self.terms.inputs().at(first as usize - 1)?;
        if (self.terms.inputs().rest(input) as u64) < count {
            return None;
        }
        if index.parts.is_empty() {
            let places = u64::try_from(index.constant).ok().filter(|places| *places < count)?;
            return first.checked_add(u32::try_from(places).ok()?);
        }
        let index = self.sum_of(&index)?;
        if let Some(&known) = self.elements.get(&(input.position(), index)) {
            return Some(known);
        }
        let element = self.terms.apply(Function::Element(input), index);
        let value = self.handles.handle(element);
        self.elements.insert((input.position(), index), value);
        Some(value)
    }

    /// Returns the term of a linear combination, always the same for the same one.
    pub(super) fn sum_of(&mut self, linear: &Linear) -> Option<Term> {
        let key = (linear.parts.iter().map(|(&node, &by)| (node, by)).collect(), linear.constant);
        if let Some(&known) = self.places.get(&key) {
            return Some(known);
        }
        let mut sum = self.terms.integer(i64::try_from(linear.constant).ok()?);
        for (&node, &factor) in &linear.parts {
            let factor = self.terms.integer(i64::try_from(factor).ok()?);
            sum = self.terms.fused_multiply_add(factor, node.into(), sum);
        }
        let sum = self.terms.seal(sum).into();
        self.places.insert(key, sum);
        Some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assumed_ranges::AssumedRange;
    use exec::domain::{Binary, Domain, InputSource, Inputs as Given};
    use exec::{Mask, WARP};
    use ir::Scalar;
    use rustc_hash::FxHashMap;
    use std::sync::Arc;
    use term::Inputs;

    /// Creates a domain with a table of 40 elements and three indices, two of them declared to be from 0 to 9.
    fn domain() -> (Symbolic, Value, [Value; 3]) {
        let mut inputs = Inputs::new();
        inputs.tensor("table", 40).unwrap();
        inputs.tensor("idx", 2).unwrap();
        inputs.tensor("other", 1).unwrap();
        let sources = [(0, 0), (1, 40), (2, 42)];
        let sources = sources.map(|(buffer, first)| (InputSource::Buffer(buffer), first));
        let sources: FxHashMap<InputSource, usize> = sources.into_iter().collect();
        let mut domain = Symbolic::new(Arc::new(inputs), sources, false);
        domain.assumed_ranges = Arc::new(vec![AssumedRange {
            positions: 40..42,
            range: (0, 9),
            gaps: Vec::new(),
            is_exact: true,
            is_distinct: false,
        }]);
        let float = Scalar::Float(ir::Format::F32);
        let integer = Scalar::Integer { width: Width::B32, signed: true };
        let mut handle_of = |buffer, scalar, count| {
            let source = InputSource::Buffer(buffer);
            domain.inputs(&Given { source, scalar, count }).unwrap()
        };
        let table = handle_of(0, float, 40);
        let (idx, other) = (handle_of(1, integer, 2), handle_of(2, integer, 1));
        (domain, table, [idx, idx + 1, other])
    }

    fn make(domain: &mut Symbolic, op: Binary, a: Value, b: Value) -> Value {
        let mut out = [0; WARP];
        domain.binary(op, [&[a; WARP], &[b; WARP]], Mask(1), &mut out);
        out[0]
    }

    #[test]
    fn bounds_are_those_of_the_ranges() {
        let (mut domain, _, [a, b, other]) = domain();
        let sixteen = domain.integer(16);
        let row = make(&mut domain, Binary::Mul, a, sixteen);
        let place = make(&mut domain, Binary::Sub, row, b);
        let bounds = domain.bounds(place).unwrap();
        assert_eq!((bounds.low, bounds.high), (-9, 144));
        assert!(bounds.are_attained && bounds.are_declared);
        assert_eq!(domain.extreme(place, false).unwrap(), "idx[0] is 0 and idx[1] is 9");
        // Cancelled terms do not count.
        let back = make(&mut domain, Binary::Add, place, b);
        assert_eq!(domain.bounds(back).map(|bound| (bound.low, bound.high)), Some((0, 144)));
        let undeclared = make(&mut domain, Binary::Add, place, other);
        let bounds = domain.bounds(undeclared).unwrap();
        assert!(!bounds.are_attained && !bounds.are_declared && bounds.high > 1 << 31);
        // A product of two indices is an integer of its own; its bounds need not be attained.
        let product = make(&mut domain, Binary::Mul, a, b);
        let bounds = domain.bounds(product).unwrap();
        assert_eq!((bounds.low, bounds.high, bounds.are_attained), (0, 81, false));
    }

    #[test]
    fn one_place_is_one_element_and_only_multiples_are_elements() {
        let (mut domain, table, [a, b, _]) = domain();
        let (four, sixteen) = (domain.integer(4), domain.integer(16));
        let quarter = make(&mut domain, Binary::Mul, a, four);
        let row = make(&mut domain, Binary::Mul, quarter, four);
        let same = make(&mut domain, Binary::Mul, a, sixteen);
        let one = domain.element((table, 40), (row, 8), 4).unwrap();
        assert_eq!(domain.element((table, 40), (same, 8), 4), Some(one));
        assert_ne!(domain.element((table, 40), (same, 12), 4), Some(one));
        let other = make(&mut domain, Binary::Mul, b, sixteen);
        assert_ne!(domain.element((table, 40), (other, 8), 4), Some(one));
        assert_eq!(domain.element((table, 40), (same, 2), 4), None);
        assert_eq!(domain.element((table, 40), (a, 0), 4), None);
        assert!(domain.is_multiple((same, 32), 16) && !domain.is_multiple((same, 8), 16));
        // A constant place is the input itself.
        let none = domain.integer(0);
        assert_eq!(domain.element((table, 40), (none, 12), 4), Some(table + 3));
        assert_eq!(domain.element((table, 40), (none, 160), 4), None);
        // Values other than inputs are not a table.
        assert_eq!(domain.element((row, 40), (same, 8), 4), None);
        let text = domain.explain(one);
        assert_eq!(text, "table[[2 + 4*idx[0]]]");
    }
}
