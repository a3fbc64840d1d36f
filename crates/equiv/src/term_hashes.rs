//! Structural hashes of terms: equal for terms that differ only by the order of summands, factors and operands of
//! minima and maxima. They find similar terms to print side by side; no answer depends on them.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use term::{Factors, Node, NodeId, Term, Terms, evaluation_order};

/// Structural hashes of all subterms of a term.
pub(crate) struct TermHashes<'t> {
    pub(crate) terms: &'t Terms,
    pub(crate) hashes: FxHashMap<NodeId, u64>,
}

impl<'t> TermHashes<'t> {
    pub(crate) fn new(terms: &'t Terms, root: Term) -> Self {
        let mut this = Self { terms, hashes: FxHashMap::default() };
        for node in evaluation_order(terms, [root], |_| true).nodes {
            let hash = this.of_node(terms.at(node));
            this.hashes.insert(node, hash);
        }
        this
    }

    /// Returns the hash of a subterm; 0 for a node that is not one.
    pub(crate) fn at(&self, node: NodeId) -> u64 {
        self.hashes.get(&node).copied().unwrap_or(0)
    }

    pub(crate) fn of(&self, term: Term) -> u64 {
        self.of_node(self.terms.node(term))
    }

    /// Hashes a product; products commute.
    pub(crate) fn of_product(&self, factors: Factors) -> u64 {
        let (a, b) = (self.at(factors.left()), self.at(factors.right()));
        hash(&(a.min(b), a.max(b), factors.is_negative()))
    }

    /// Hashes a node from the hashes of its operands. The first component distinguishes the operations.
    pub(crate) fn of_node(&self, node: Node) -> u64 {
        let terms = self.terms;
        match node {
            Node::Input(input) => hash(&(1, input.position())),
            Node::Constant(id) => hash(&(2, terms.number(id).fingerprint())),
            Node::Sum(sum) => {
                let products = terms.products(sum).flatten();
                let total =
                    products.fold(0_u64, |sum, one| sum.wrapping_add(self.of_product(*one)));
                hash(&(3, total))
            }
            Node::Power(base, exponent) => {
                hash(&(4, self.at(base), terms.number(exponent).fingerprint()))
            }
            Node::Apply(function, a) => hash(&(5, terms.function_name(function), self.at(a))),
            Node::Product(a, b) | Node::Maximum(a, b) | Node::Minimum(a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                hash(&(operation_name(node), a.min(b), a.max(b)))
            }
            other => {
                let children: Vec<u64> = other.children().map(|child| self.at(child)).collect();
                hash(&(operation_name(other), children))
            }
        }
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    // Mixes the bits once more, so that sums of hashes (of a term's summands) rarely collide.
    hasher.finish().wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)
}

/// Returns the name of a node's operation, without its operands.
pub(crate) fn operation_name(node: Node) -> String {
    let mut text = match node {
        Node::Compare(relation, ..) => format!("{relation:?}"),
        other => format!("{other:?}"),
    };
    text.truncate(text.find('(').unwrap_or(text.len()));
    text
}
