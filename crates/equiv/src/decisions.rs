//! Records decisions on numbers without inputs, so that two runs can be compared.

use decide::{Value, evaluate};
use exec::Place;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use term::{Node, NodeId, Number, Term, Terms};

/// Outcomes of decisions on numbers without inputs, by place, in the order of a run.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// A hash of all outcomes at a place.
    places: BTreeMap<Option<Place>, u64>,
    known: FxHashMap<Term, u64>,
}

/// The outcome of a decision that depends on inputs. Outcomes 0 and 1 are false and true.
const DEPENDS_ON_INPUTS: u64 = 2;

/// The outcome of a decision on numbers that evaluation did not settle.
const UNDECIDED: u64 = 3;

impl Decisions {
    /// Records the value of a condition or of a rounded number.
    pub(crate) fn note(&mut self, terms: &Terms, place: Option<Place>, term: Term) {
        let outcome = match self.known.get(&term) {
            Some(outcome) => *outcome,
            None => {
                let outcome = outcome(terms, term);
                self.known.insert(term, outcome);
                outcome
            }
        };
        let hash = self.places.entry(place).or_default();
        let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
        (*hash, outcome).hash(&mut hasher);
        *hash = std::hash::Hasher::finish(&hasher);
    }

    /// Returns the first place with a different outcome in another run.
    pub(crate) fn first_difference(&self, other: &Self) -> Option<Option<Place>> {
        let places = self.places.keys().chain(other.places.keys());
        places.copied().find(|place| self.places.get(place) != other.places.get(place))
    }
}

/// Returns the outcome of a decision as a number.
fn outcome(terms: &Terms, term: Term) -> u64 {
    if let Node::Truth(holds) = terms.node(term) {
        return holds.into();
    }
    if has_inputs(terms, term) {
        return DEPENDS_ON_INPUTS;
    }
    match evaluate(terms, &[term], &|_| Number::ZERO).pop() {
        Some(Value::Truth(holds)) => holds.into(),
        Some(Value::Real(value)) if value.is_point() => {
            value.to_f64_lossy().to_bits() ^ DEPENDS_ON_INPUTS
        }
        _ => UNDECIDED,
    }
}

/// Returns `true` if a term depends on inputs.
pub(crate) fn has_inputs(terms: &Terms, root: Term) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![terms.node(root)];
    while let Some(node) = work.pop() {
        let mut is_input = |child: NodeId| {
            let node = terms.at(child);
            if seen.insert(child) {
                work.push(node);
            }
            matches!(node, Node::Input(_))
        };
        // Sums are long, and most have an input in their first product.
        let found = match node {
            Node::Input(_) => true,
            Node::Sum(sum) => {
                let factors = terms.products(sum).flatten();
                let mut nodes = factors.flat_map(|factors| [factors.left(), factors.right()]);
                nodes.any(&mut is_input)
            }
            other => other.children().any(&mut is_input),
        };
        if found {
            return true;
        }
    }
    false
}
