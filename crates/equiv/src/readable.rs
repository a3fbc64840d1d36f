//! Rewrites terms as a person would write them: `e^x` for a compiler's expansion of it.
//!
//! `expf` expands to 2^(x·log2 e − n) · 2^n with a rounded n, and `ex2` is kept as e^(… · ln 2). Here a
//! product of exponentials becomes one, and exponents are added up as linear forms, in which n and ln 2
//! cancel. This is presentation only; no verdict relies on it.

use crate::term_hashes::TermHashes;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use term::{Function, Node, NodeId, Number, Sum, Term, Terms, evaluation_order};

/// Larger terms are left unchanged, as unreadable in any form.
const MAX_SIZE: usize = 100_000;

/// Nested sums are flattened up to this many summands.
const MAX_SUMMANDS: u32 = 512;

/// Depth to which exponents are expanded.
const MAX_DEPTH: u32 = 24;

/// Rewrites a term into a store of its own; `None` if it is too large.
pub(crate) fn readable(terms: &Terms, root: Term) -> Option<(Terms, Term)> {
    let nodes = evaluation_order(terms, [root], |_| true).nodes;
    let size = nodes.iter().map(|node| match terms.at(*node) {
        Node::Sum(sum) => sum.length as usize,
        _ => 1,
    });
    if size.sum::<usize>() > MAX_SIZE {
        return None;
    }
    let hashes = TermHashes::new(terms, root);
    let mut own = Terms::new(Arc::clone(terms.inputs()));
    for name in terms.named_functions() {
        own.function(name)?;
    }
    let (mut rewritten, mut shared) = (FxHashMap::default(), FxHashMap::default());
    for node in nodes {
        // Terms of equal structure are shared, so that they cancel.
        let term = match shared.get(&hashes.at(node)) {
            Some(term) => *term,
            None => rebuild(terms, terms.at(node), &rewritten, &mut own),
        };
        let term = Term::from(own.seal(term));
        shared.insert(hashes.at(node), term);
        rewritten.insert(node, term);
    }
    let term = match terms.node_of(root).and_then(|node| rewritten.get(&node)) {
        Some(term) => *term,
        None => rebuild(terms, terms.node(root), &rewritten, &mut own),
    };
    Some((own, term))
}

/// The rewritten term of each node.
type Rewritten = FxHashMap<NodeId, Term>;

/// Rebuilds a node from its rewritten operands.
fn rebuild(terms: &Terms, node: Node, rewritten: &Rewritten, own: &mut Terms) -> Term {
    let at = |id: NodeId| rewritten.get(&id).copied();
    let operands: Option<Vec<Term>> = node.children().map(at).collect();
    let Some(operands) = operands else { return own.undefined() };
    match (node, operands.as_slice()) {
        (Node::Input(input), _) => own.input(input),
        (Node::Constant(constant), _) => own.constant(terms.number(constant).clone()),
        (Node::Pi, _) => own.pi(),
        (Node::Infinity { negative }, _) => own.infinity(negative),
        (Node::Truth(value), _) => own.truth(value),
        (Node::Sum(sum), _) => rebuild_sum(terms, sum, rewritten, own),
        (Node::Product(..), &[a, b]) => product(own, a, b),
        (Node::Negation(_), &[a]) => own.negate(a),
        (Node::Quotient(..), &[a, b]) => own.divide(a, b),
        (Node::Power(_, exponent), &[a]) => own.power(a, terms.number(exponent)),
        (Node::Exp(_), &[a]) => exponential(own, &[a]),
        (Node::Log(_), &[a]) => own.log(a),
        (Node::Maximum(..), &[a, b]) => own.maximum(a, b),
        (Node::Minimum(..), &[a, b]) => own.minimum(a, b),
        (Node::Absolute(_), &[a]) => own.absolute(a),
        (Node::Select(..), &[condition, a, b]) => own.select(condition, a, b),
        (Node::Apply(Function::Rounded, _), &[a]) => a,
        (Node::Apply(function, _), &[a]) => own.apply(function, a),
        (Node::Compare(relation, ..), &[a, b]) => own.compare(relation, a, b),
        (Node::Not(_), &[a]) => own.not(a),
        (Node::And(..), &[a, b]) => own.and(a, b),
        (Node::Or(..), &[a, b]) => own.or(a, b),
        _ => own.undefined(),
    }
}

/// Rebuilds a sum, with short inner sums flattened.
fn rebuild_sum(terms: &Terms, sum: Sum, rewritten: &Rewritten, own: &mut Terms) -> Term {
    let mut total = own.zero();
    for factors in terms.products(sum).flatten() {
        let at = |id: NodeId| rewritten.get(&id).copied();
        let (Some(a), Some(b)) = (at(factors.left()), at(factors.right())) else { continue };
        let product = product(own, a, b);
        // Flatten nested sums, unless frequent sharing would make the result too long.
        let parts = match own.node(product) {
            Node::Sum(inner) if total.products() + inner.length < MAX_SUMMANDS => {
                own.products(inner).flatten().copied().collect()
            }
            _ => Vec::new(),
        };
        for part in &parts {
            let product = own.multiply(part.left().into(), part.right().into());
            total = plus(own, total, product, factors.is_negative() != part.is_negative());
        }
        if parts.is_empty() {
            total = plus(own, total, product, factors.is_negative());
        }
    }
    total
}

fn plus(own: &mut Terms, total: Term, product: Term, negative: bool) -> Term {
    match negative {
        false => own.add(total, product),
        true => own.subtract(total, product),
    }
}

/// Returns the exponent, if a term is a power of e.
fn exponent(own: &Terms, term: Term) -> Option<Term> {
    match own.node(term) {
        Node::Exp(exponent) => Some(exponent.into()),
        _ => None,
    }
}

/// Multiplies two terms; powers of e become one.
fn product(own: &mut Terms, a: Term, b: Term) -> Term {
    match (exponent(own, a), exponent(own, b)) {
        (Some(x), Some(y)) => exponential(own, &[x, y]),
        _ => own.multiply(a, b),
    }
}

/// Builds e to the power of a sum.
fn exponential(own: &mut Terms, exponents: &[Term]) -> Term {
    let mut form = Linear::default();
    for &exponent in exponents {
        form.add(own, exponent, &Scale { number: Number::ONE, logs: 0 }, 0);
    }
    let sum = form.term(own);
    own.exp(sum)
}

/// A scale of an atom: a rational times a power of ln 2.
#[derive(Clone)]
struct Scale {
    number: Number,
    /// The exponent of ln 2.
    logs: i32,
}

impl Scale {
    fn times(&self, other: &Self) -> Self {
        Self { number: &self.number * &other.number, logs: self.logs + other.logs }
    }
}

/// The scaled part of a summand: one, a node, or a product of two nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Atom {
    One,
    Node(NodeId),
    Pair(NodeId, NodeId),
}

/// A sum of scaled atoms, in order of first occurrence.
#[derive(Default)]
struct Linear {
    parts: Vec<(Atom, i32, Number)>,
    places: FxHashMap<(Atom, i32), usize>,
}

impl Linear {
    fn push(&mut self, atom: Atom, scale: &Scale) {
        let parts = &mut self.parts;
        let place = *self.places.entry((atom, scale.logs)).or_insert_with(|| {
            parts.push((atom, scale.logs, Number::ZERO));
            parts.len() - 1
        });
        parts[place].2 = &parts[place].2 + &scale.number;
    }

    /// Adds a scaled term. Opens negations, products with scales, and sums in which parts may cancel.
    fn add(&mut self, own: &mut Terms, term: Term, scale: &Scale, depth: u32) {
        if let Some(other) = own.node_of(term).and_then(|node| as_scale(own, node)) {
            return self.push(Atom::One, &scale.times(&other));
        }
        match own.node(term) {
            Node::Negation(a) if depth < MAX_DEPTH => {
                let scale = Scale { number: -&scale.number, ..scale.clone() };
                self.add(own, a.into(), &scale, depth + 1);
            }
            Node::Product(a, b) if depth < MAX_DEPTH => self.add_product(own, a, b, scale, depth),
            Node::Sum(sum) if depth < MAX_DEPTH && may_cancel(own, sum) => {
                let factors: Vec<_> = own.products(sum).flatten().copied().collect();
                for one in factors {
                    let sign =
                        if one.is_negative() { -&scale.number } else { scale.number.clone() };
                    let scale = Scale { number: sign, ..scale.clone() };
                    self.add_product(own, one.left(), one.right(), &scale, depth);
                }
            }
            _ => {
                let node = own.seal(term);
                self.push(Atom::Node(node), scale);
            }
        }
    }

    fn add_product(&mut self, own: &mut Terms, a: NodeId, b: NodeId, scale: &Scale, depth: u32) {
        if let Some(other) = as_scale(own, a) {
            self.add(own, b.into(), &scale.times(&other), depth + 1);
        } else if let Some(other) = as_scale(own, b) {
            self.add(own, a.into(), &scale.times(&other), depth + 1);
        } else {
            self.push(Atom::Pair(a, b), scale);
        }
    }

    fn term(self, own: &mut Terms) -> Term {
        let mut sum = own.zero();
        for (atom, logs, number) in self.parts {
            if number.is_zero() {
                continue;
            }
            let value = match atom {
                Atom::One => own.one(),
                Atom::Node(node) => node.into(),
                Atom::Pair(a, b) => own.multiply(a.into(), b.into()),
            };
            let factor = own.constant(number.abs());
            let mut product = own.multiply(factor, value);
            if logs != 0 {
                let two = own.integer(2);
                let log = own.log(two);
                let power = own.power(log, &Number::from(i64::from(logs)));
                product = own.multiply(product, power);
            }
            sum = plus(own, sum, product, number.is_negative());
        }
        sum
    }
}

/// Returns `true` if a sum has scaled parts, which may cancel. Sums of other products are not opened.
fn may_cancel(own: &Terms, sum: Sum) -> bool {
    own.products(sum)
        .flatten()
        .any(|one| as_scale(own, one.left()).is_some() || as_scale(own, one.right()).is_some())
}

/// Returns the scale that a node is, if it is a rational, ln 2 or a power of it.
fn as_scale(own: &Terms, node: NodeId) -> Option<Scale> {
    let two = |id: NodeId| own.as_number(id.into()).and_then(Number::to_i64) == Some(2);
    let log = |id: NodeId| matches!(own.at(id), Node::Log(argument) if two(argument));
    match own.at(node) {
        Node::Constant(constant) => Some(Scale { number: own.number(constant).clone(), logs: 0 }),
        Node::Log(argument) if two(argument) => Some(Scale { number: Number::ONE, logs: 1 }),
        Node::Power(base, exponent) if log(base) => {
            let logs = i32::try_from(own.number(exponent).to_i64()?).ok()?;
            Some(Scale { number: Number::ONE, logs })
        }
        Node::Quotient(a, b) if log(b) => {
            let number = own.as_number(a.into())?.clone();
            Some(Scale { number, logs: -1 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::{Function, Inputs};

    /// e^x as `expf` computes it.
    #[test]
    fn an_expansion_of_expf_becomes_exp() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let x = terms.input(x);
        let (one, two, half) =
            (terms.one(), terms.integer(2), terms.constant(Number::dyadic(1, -1)));
        let ln2 = terms.log(two);
        let log2e = terms.divide(one, ln2);
        let scaled = terms.multiply(x, half);
        let floor = terms.apply(Function::Floor, scaled);
        let (origin, back) = (terms.integer(100), terms.integer(-100));
        let near = terms.add(floor, origin);
        let n = terms.add(near, back);
        let minus = terms.negate(n);
        let rest = terms.fused_multiply_add(x, log2e, minus);
        let (small, large) = (terms.exp2(rest), terms.exp2(n));
        let result = terms.multiply(small, large);
        let (own, term) = readable(&terms, result).unwrap();
        assert_eq!(own.print(term), "exp(x)");
        // Other products are unchanged.
        let other = terms.multiply(large, x);
        let (own, term) = readable(&terms, other).unwrap();
        assert_eq!(own.print(term), "exp(floor((1/2)*x)*log(2))*x");
    }
}
