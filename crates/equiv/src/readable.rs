//! Rewrites terms as a person would write them: `e^x` for a compiler's expansion of it.
//!
//! `expf` expands to 2^(x·log2 e − n) · 2^n with a rounded n, and `ex2` is kept as e^(… · ln 2). Here a
//! product of exponentials becomes one, and exponents are added up as linear forms, in which n and ln 2
//! cancel. This is presentation only; no verdict relies on it.

use crate::term_hashes::TermHashes;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use term::{Function, Node, NodeId, Number, Sum, Term, Terms, evaluation_order};

/// The largest number of nodes of a rewritten term; larger ones are unreadable in any form.
const MAX_SIZE: usize = 100_000;

/// Nested sums are flattened up to this many summands.
const MAX_SUMMANDS: u32 = 512;

/// The largest depth to which exponents are expanded.
const MAX_DEPTH: u32 = 24;

/// Rewrites a term into a new store, which is returned with it; `None` if the term is too large.
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
    let mut store = Terms::new(Arc::clone(terms.inputs()));
    for name in terms.named_functions() {
        store.function(name)?;
    }
    let (mut rewritten, mut shared) = (FxHashMap::default(), FxHashMap::default());
    for node in nodes {
        // Terms of equal structure are shared, so that they cancel.
        let term = match shared.get(&hashes.at(node)) {
            Some(term) => *term,
            None => rebuild(terms, terms.at(node), &rewritten, &mut store),
        };
        let term = Term::from(store.seal(term));
        shared.insert(hashes.at(node), term);
        rewritten.insert(node, term);
    }
    let term = match terms.node_of(root).and_then(|node| rewritten.get(&node)) {
        Some(term) => *term,
        None => rebuild(terms, terms.node(root), &rewritten, &mut store),
    };
    Some((store, term))
}

/// The rewritten term of each node.
type Rewritten = FxHashMap<NodeId, Term>;

/// Rebuilds a node from its rewritten operands.
fn rebuild(terms: &Terms, node: Node, rewritten: &Rewritten, store: &mut Terms) -> Term {
    let at = |id: NodeId| rewritten.get(&id).copied();
    let operands: Option<Vec<Term>> = node.children().map(at).collect();
    let Some(operands) = operands else { return store.undefined() };
    match (node, operands.as_slice()) {
        (Node::Input(input), _) => store.input(input),
        (Node::Constant(constant), _) => store.constant(terms.number(constant).clone()),
        (Node::Pi, _) => store.pi(),
        (Node::Infinity { negative }, _) => store.infinity(negative),
        (Node::Truth(value), _) => store.truth(value),
        (Node::Sum(sum), _) => rebuild_sum(terms, sum, rewritten, store),
        (Node::Product(..), &[a, b]) => product(store, a, b),
        (Node::Negation(_), &[a]) => store.negate(a),
        (Node::Quotient(..), &[a, b]) => store.divide(a, b),
        (Node::Power(_, exponent), &[a]) => store.power(a, terms.number(exponent)),
        (Node::Exp(_), &[a]) => exponential(store, &[a]),
        (Node::Log(_), &[a]) => store.log(a),
        (Node::Maximum(..), &[a, b]) => store.maximum(a, b),
        (Node::Minimum(..), &[a, b]) => store.minimum(a, b),
        (Node::Absolute(_), &[a]) => store.absolute(a),
        (Node::Select(..), &[condition, a, b]) => store.select(condition, a, b),
        (Node::Apply(Function::Rounded, _), &[a]) => a,
        (Node::Apply(function, _), &[a]) => store.apply(function, a),
        (Node::Compare(relation, ..), &[a, b]) => store.compare(relation, a, b),
        (Node::Not(_), &[a]) => store.not(a),
        (Node::And(..), &[a, b]) => store.and(a, b),
        (Node::Or(..), &[a, b]) => store.or(a, b),
        _ => store.undefined(),
    }
}

/// Rebuilds a sum, with short inner sums flattened.
fn rebuild_sum(terms: &Terms, sum: Sum, rewritten: &Rewritten, store: &mut Terms) -> Term {
    let mut total = store.zero();
    for factors in terms.products(sum).flatten() {
        let at = |id: NodeId| rewritten.get(&id).copied();
        let (Some(a), Some(b)) = (at(factors.left()), at(factors.right())) else { continue };
        let product = product(store, a, b);
        // Flatten nested sums, unless frequent sharing would make the result too long.
        let parts = match store.node(product) {
            Node::Sum(inner) if total.products() + inner.length < MAX_SUMMANDS => {
                store.products(inner).flatten().copied().collect()
            }
            _ => Vec::new(),
        };
        for part in &parts {
            let product = store.multiply(part.left().into(), part.right().into());
            total = plus(store, total, product, factors.is_negative() != part.is_negative());
        }
        if parts.is_empty() {
            total = plus(store, total, product, factors.is_negative());
        }
    }
    total
}

fn plus(store: &mut Terms, total: Term, product: Term, negative: bool) -> Term {
    match negative {
        false => store.add(total, product),
        true => store.subtract(total, product),
    }
}

/// Returns the exponent, if a term is a power of e.
fn exponent(store: &Terms, term: Term) -> Option<Term> {
    match store.node(term) {
        Node::Exp(exponent) => Some(exponent.into()),
        _ => None,
    }
}

/// Multiplies two terms; powers of e become one.
fn product(store: &mut Terms, a: Term, b: Term) -> Term {
    match (exponent(store, a), exponent(store, b)) {
        (Some(x), Some(y)) => exponential(store, &[x, y]),
        _ => store.multiply(a, b),
    }
}

/// Builds e to the power of a sum.
fn exponential(store: &mut Terms, exponents: &[Term]) -> Term {
    let mut form = Linear::default();
    for &exponent in exponents {
        form.add(store, exponent, &Scale { number: Number::ONE, logs: 0 }, 0);
    }
    let sum = form.term(store);
    store.exp(sum)
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
    fn add(&mut self, store: &mut Terms, term: Term, scale: &Scale, depth: u32) {
        if let Some(other) = store.node_of(term).and_then(|node| as_scale(store, node)) {
            return self.push(Atom::One, &scale.times(&other));
        }
        match store.node(term) {
            Node::Negation(a) if depth < MAX_DEPTH => {
                let scale = Scale { number: -&scale.number, ..scale.clone() };
                self.add(store, a.into(), &scale, depth + 1);
            }
            Node::Product(a, b) if depth < MAX_DEPTH => self.add_product(store, a, b, scale, depth),
            Node::Sum(sum) if depth < MAX_DEPTH && may_cancel(store, sum) => {
                let factors: Vec<_> = store.products(sum).flatten().copied().collect();
                for one in factors {
                    let sign =
                        if one.is_negative() { -&scale.number } else { scale.number.clone() };
                    let scale = Scale { number: sign, ..scale.clone() };
                    self.add_product(store, one.left(), one.right(), &scale, depth);
                }
            }
            _ => {
                let node = store.seal(term);
                self.push(Atom::Node(node), scale);
            }
        }
    }

    fn add_product(&mut self, store: &mut Terms, a: NodeId, b: NodeId, scale: &Scale, depth: u32) {
        if let Some(other) = as_scale(store, a) {
            self.add(store, b.into(), &scale.times(&other), depth + 1);
        } else if let Some(other) = as_scale(store, b) {
            self.add(store, a.into(), &scale.times(&other), depth + 1);
        } else {
            self.push(Atom::Pair(a, b), scale);
        }
    }

    fn term(self, store: &mut Terms) -> Term {
        let mut sum = store.zero();
        for (atom, logs, number) in self.parts {
            if number.is_zero() {
                continue;
            }
            let value = match atom {
                Atom::One => store.one(),
                Atom::Node(node) => node.into(),
                Atom::Pair(a, b) => store.multiply(a.into(), b.into()),
            };
            let factor = store.constant(number.abs());
            let mut product = store.multiply(factor, value);
            if logs != 0 {
                let two = store.integer(2);
                let log = store.log(two);
                let power = store.power(log, &Number::from(i64::from(logs)));
                product = store.multiply(product, power);
            }
            sum = plus(store, sum, product, number.is_negative());
        }
        sum
    }
}

/// Returns `true` if a sum has scaled parts, which may cancel. Sums of other products are not opened.
fn may_cancel(store: &Terms, sum: Sum) -> bool {
    store
        .products(sum)
        .flatten()
        .any(|one| as_scale(store, one.left()).is_some() || as_scale(store, one.right()).is_some())
}

/// Returns the scale that a node is, if it is a rational, ln 2 or a power of it.
fn as_scale(store: &Terms, node: NodeId) -> Option<Scale> {
    let two = |id: NodeId| store.as_number(id.into()).and_then(Number::to_i64) == Some(2);
    let log = |id: NodeId| matches!(store.at(id), Node::Log(argument) if two(argument));
    match store.at(node) {
        Node::Constant(constant) => Some(Scale { number: store.number(constant).clone(), logs: 0 }),
        Node::Log(argument) if two(argument) => Some(Scale { number: Number::ONE, logs: 1 }),
        Node::Power(base, exponent) if log(base) => {
            let logs = i32::try_from(store.number(exponent).to_i64()?).ok()?;
            Some(Scale { number: Number::ONE, logs })
        }
        Node::Quotient(a, b) if log(b) => {
            let number = store.as_number(a.into())?.clone();
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
        let (store, term) = readable(&terms, result).unwrap();
        assert_eq!(store.print(term), "exp(x)");
        // Other products are unchanged.
        let other = terms.multiply(large, x);
        let (store, term) = readable(&terms, other).unwrap();
        assert_eq!(store.print(term), "exp(floor((1/2)*x)*log(2))*x");
    }
}
