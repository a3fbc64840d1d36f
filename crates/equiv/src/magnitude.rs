//! Bounds on the magnitudes of a side's values, which show that a run in floats cannot overflow.
//!
//! A bound is a base-2 logarithm. Sums, products, choices and their like are bounded by their operands; quotients,
//! powers and functions have no bound here. Formats with a short exponent overflow at ordinary numbers, so a program
//! that computes in one is not bounded either. Rounding adds at most a factor of (1 + 2⁻⁸) for each operation, which
//! the distance between [`MAX_BOUND`] and the largest float covers. Errs upwards: where there is no bound, the run is
//! made.

use crate::side::{InputKind, Side};
use ir::{Element, Format, Op, Scalar};
use term::{Function, Node, NodeId, Sum, Term, Terms};

/// Values below 2 to this power are finite in f32, bf16 and tf32, whose largest numbers are just below 2¹²⁸.
const MAX_BOUND: f64 = 100.0;

/// Sums with at most this many products are bounded product by product; longer ones by their largest factor.
const MAX_VISITED: u32 = 64;

/// The largest number of nodes that are bounded. A store with more nearly always has operations without a bound.
const MAX_NODES: usize = 1 << 20;

/// The values of a side, if its outputs are known and no format is narrow.
pub(crate) struct Magnitudes<'t>(Option<(&'t Terms, Vec<Term>)>);

impl<'t> Magnitudes<'t> {
    /// Takes the values of the outputs that a side computes; `None` if the value of an output was lost.
    pub(crate) fn of(side: &Side<'_>, outputs: Option<Vec<Term>>, terms: &'t Terms) -> Self {
        let is_plain = side.launches().all(computes_in_wide_formats)
            && side.own_inputs().all(|input| !matches!(input.kind, InputKind::Related(_)));
        Self(outputs.filter(|_| is_plain).map(|outputs| (terms, outputs)))
    }

    /// Returns `true` if no value can overflow where no input is larger than `largest`.
    pub(crate) fn are_finite(&self, largest: f64) -> bool {
        let Some((terms, outputs)) = &self.0 else { return false };
        let Some(bounds) = Bounds::of(terms, largest.max(1.0).log2()) else { return false };
        let outputs = outputs.iter().map(|output| bounds.of_term(terms, *output));
        // Constructors fold constants, so a constant may be on the way to an output and not in its term.
        outputs.fold(bounds.largest, f64::max) <= MAX_BOUND
    }
}

/// Returns `true` if no float of a launch is computed in a format with less than eight bits of exponent.
fn computes_in_wide_formats(side: &Side<'_>) -> bool {
    let functions = side.unlifted.functions.iter();
    functions.flat_map(ir::Function::instructions).all(|instruction| is_wide(&instruction.op))
}

/// Returns `true` unless the result of an operation is a float of a narrow format.
fn is_wide(op: &Op) -> bool {
    match op {
        Op::FloatUnary { format, .. }
        | Op::FloatBinary { format, .. }
        | Op::Fma { format, .. }
        | Op::Real { format, .. } => has_wide_exponent(*format),
        Op::Convert { to, .. } => is_wide_scalar(*to),
        Op::Atomic(atomic) => is_wide_scalar(atomic.scalar),
        Op::Mma(product) => is_wide_element(product.d_element),
        Op::WmmaMma(product) => is_wide_element(product.d_element),
        Op::Wgmma(product) => is_wide_element(product.d_element),
        // These may add in a narrow format.
        Op::BulkCopy(_) | Op::TensorCopy(_) | Op::RemoteStore(_) => false,
        Op::Call { .. } | Op::Unsupported { .. } => false,
        _ => true,
    }
}

fn is_wide_scalar(scalar: Scalar) -> bool {
    match scalar {
        Scalar::Integer { .. } => true,
        Scalar::Float(format) => has_wide_exponent(format),
    }
}

fn has_wide_exponent(format: Format) -> bool {
    match format {
        Format::F64 | Format::F32 | Format::Tf32 | Format::Bf16 => true,
        Format::F16 | Format::E4m3 | Format::E5m2 => false,
    }
}

fn is_wide_element(element: Element) -> bool {
    !matches!(element, Element::F16 | Element::E4m3 | Element::E5m2)
}

/// Bounds of all nodes of a store.
struct Bounds {
    /// The bound of every input.
    inputs: f64,
    /// The number of inputs, which come before all nodes.
    input_count: usize,
    /// By node; infinite for the constants ±∞ and undefined.
    nodes: Vec<f64>,
    /// The largest bound of an input or a node, apart from those constants.
    largest: f64,
}

impl Bounds {
    /// Bounds all nodes; `None` if one has an operation without a bound.
    fn of(terms: &Terms, inputs: f64) -> Option<Self> {
        let all = terms.nodes();
        if all.len() > MAX_NODES {
            return None;
        }
        let input_count = terms.inputs().len();
        let nodes = Vec::with_capacity(all.len());
        let mut bounds = Self { inputs, input_count, nodes, largest: inputs };
        for node in all {
            let bound = bounds.of_node(terms, *node)?;
            bounds.nodes.push(bound);
            if !matches!(node, Node::Infinity { .. } | Node::Undefined) {
                bounds.largest = bounds.largest.max(bound);
            }
        }
        Some(bounds)
    }

    fn of_node(&self, terms: &Terms, node: Node) -> Option<f64> {
        let at = |node: NodeId| self.at(node);
        Some(match node {
            Node::Input(_) => self.inputs,
            Node::Constant(number) => log2(terms.number(number).to_f64_lossy()),
            Node::Pi => 2.0,
            Node::Infinity { .. } | Node::Undefined => f64::INFINITY,
            Node::Truth(_) | Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => 0.0,
            Node::Sum(sum) => self.of_sum(terms, sum),
            Node::Product(a, b) => at(a) + at(b),
            Node::Negation(a) | Node::Absolute(a) | Node::Apply(Function::Rounded, a) => at(a),
            Node::Maximum(a, b) | Node::Minimum(a, b) | Node::Select(_, a, b) => at(a).max(at(b)),
            Node::Quotient(..)
            | Node::Power(..)
            | Node::Exp(_)
            | Node::Log(_)
            | Node::Apply(..) => return None,
        })
    }

    fn of_sum(&self, terms: &Terms, sum: Sum) -> f64 {
        let largest = if sum.length <= MAX_VISITED {
            let products = terms.products(sum).flatten();
            products
                .map(|product| self.at(product.left()) + self.at(product.right()))
                .fold(0.0, f64::max)
        } else {
            2.0 * self.largest
        };
        largest + f64::from(sum.length).log2()
    }

    fn of_term(&self, terms: &Terms, term: Term) -> f64 {
        match terms.node(term) {
            Node::Sum(sum) => self.of_sum(terms, sum),
            node => terms.node_of(term).map_or_else(
                || self.of_node(terms, node).unwrap_or(f64::INFINITY),
                |node| self.at(node),
            ),
        }
    }

    /// Returns the bound of an input or of a node that was bounded before.
    fn at(&self, node: NodeId) -> f64 {
        match node.position().checked_sub(self.input_count) {
            None => self.inputs,
            Some(index) => self.nodes.get(index).copied().unwrap_or(f64::INFINITY),
        }
    }
}

/// Returns a bound of a number: at least 0, so that a product is never bounded by less than its factors.
fn log2(number: f64) -> f64 {
    number.abs().max(1.0).log2()
}

/// Returns the largest magnitude among inputs.
pub(crate) fn largest<'n>(numbers: impl Iterator<Item = &'n f64>) -> f64 {
    numbers.fold(0.0, |largest: f64, one| largest.max(one.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::Inputs;
    use testing::Random;

    const INPUTS: usize = 3;

    /// Draws arithmetic in f32, and the same as terms: inputs and constants first, results after them.
    fn arithmetic(random: &mut Random, inputs: [f32; INPUTS]) -> (Terms, Vec<Term>, Vec<f32>) {
        let mut table = Inputs::new();
        let first = table.tensor("x", INPUTS as u32).unwrap();
        let mut terms = Terms::new(Arc::new(table));
        let input =
            |number: usize| terms.input(terms.inputs().at(first.position() + number).unwrap());
        let mut values: Vec<(Term, f32)> =
            (0..INPUTS).map(|number| (input(number), inputs[number])).collect();
        for _ in 0..2 {
            let constant = random.pick(&[1e-30_f32, 0.0, 0.5, -3.0, 1e9, 1e20, 3e38]);
            values.push((terms.float(f64::from(constant)), constant));
        }
        for _ in 0..random.below(12_u32) {
            let mut any = || random.pick(&values);
            let ((a, x), (b, y), (c, z)) = (any(), any(), any());
            values.push(match random.below(5_u32) {
                0 => (terms.multiply(a, b), x * y),
                1 => (terms.add(a, b), x + y),
                2 => (terms.fused_multiply_add(a, b, c), x.mul_add(y, z)),
                3 => (terms.maximum(a, b), x.max(y)),
                _ => (terms.negate(a), -x),
            });
        }
        let (results, floats) = values.into_iter().unzip();
        (terms, results, floats)
    }

    #[test]
    fn bounded_values_are_finite_floats() {
        let mut random = Random::new(7);
        let (mut bounded, mut overflows) = (0, 0);
        for _ in 0..20_000 {
            let largest = random.pick(&[1.0_f32, 100.1, 10_000.3]);
            let inputs = [largest, -largest, largest / 3.0];
            let (terms, results, floats) = arithmetic(&mut random, inputs);
            let is_finite = Magnitudes(Some((&terms, results))).are_finite(f64::from(largest));
            let overflow = floats.iter().any(|float| !float.is_finite());
            assert!(!(is_finite && overflow), "{floats:?}");
            bounded += usize::from(is_finite);
            overflows += usize::from(overflow);
        }
        assert!(bounded > 4000 && overflows > 1000, "{bounded} bounded, {overflows} overflow");
    }

    #[test]
    fn a_long_sum_of_products_is_bounded() {
        let mut table = Inputs::new();
        let first = table.tensor("x", 2).unwrap();
        let mut terms = Terms::new(Arc::new(table));
        let [x, y] =
            [0, 1].map(|at| terms.input(terms.inputs().at(first.position() + at).unwrap()));
        let mut sum = terms.integer(0);
        for _ in 0..10_000 {
            sum = terms.fused_multiply_add(x, y, sum);
        }
        let root = terms.exp(sum);
        let is_finite =
            |terms: &Terms, output| Magnitudes(Some((terms, vec![output]))).are_finite(100.1);
        assert!(!is_finite(&terms, root), "an exponential has no bound");
        let mut plain = Terms::new(Arc::clone(terms.inputs()));
        let mut sum = plain.integer(0);
        for _ in 0..10_000 {
            sum = plain.fused_multiply_add(x, y, sum);
        }
        assert!(is_finite(&plain, sum));
        assert!(!Magnitudes(Some((&plain, vec![sum]))).are_finite(1e18));
    }
}
