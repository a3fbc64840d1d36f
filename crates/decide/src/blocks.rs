//! Blocks: sums of products of inputs common to both sides, treated as unknowns.
//!
//! The code after a long sum in a kernel (a bias, an activation, the softmax of scores) rarely takes the sum apart
//! again. If a sum below the reference and one below the optimised term have the same products, they are the same
//! function, and one opaque atom may stand for both. Forms that are equal in these atoms are equal. If they are
//! unequal nothing follows, and the ladder starts again with the sums themselves.
//!
//! Some forms are equal only by the definitions of the unknowns: a variance in one pass and in two. So if the first
//! attempt fails, a second one treats only the common sums as unknowns, and gives the algebra their definitions as
//! rules.
//!
//! Sums are compared exactly, as in the first rung; hashes only choose the pairs to compare.

use crate::algebra::{Algebra, Atom};
use crate::normalise::{Normaliser, Opaque};
use crate::problem::Problem;
use crate::products::Products;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Node, NodeId, Term, Terms, Walker};

/// Shorter sums are not worth an atom.
const MIN_PRODUCTS: usize = 4;

/// The blocks of both sides.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    pub(crate) reference: Opaque,
    pub(crate) optimised: Opaque,
    /// Set if the algebra gets their definitions.
    defined: bool,
}

impl Blocks {
    /// Finds the sums below the pairs; `None` if the sides have none in common.
    pub(crate) fn find(problem: &Problem<'_>, pairs: &[(Term, Term)]) -> Option<Self> {
        let mut search = Search::default();
        let left = pairs.iter().map(|pair| pair.0).chain(problem.assumptions.iter().copied());
        let reference = search.blocks_of_side(problem.reference, left, problem.reference);
        if reference.is_empty() {
            return None;
        }
        search.own.clear();
        let before = search.next;
        let right = pairs.iter().map(|pair| pair.1);
        let optimised = search.blocks_of_side(problem.optimised, right, problem.reference);
        let shared = optimised.values().any(|(number, _)| *number < before);
        shared.then_some(Self { reference, optimised, defined: false })
    }

    /// Keeps only the blocks that both sides have, and marks them for [`define`](Self::define).
    pub(crate) fn in_common(mut self) -> Self {
        let numbers = |side: &Opaque| side.values().map(|(number, _)| *number).collect();
        let (left, right): (FxHashSet<u32>, FxHashSet<u32>) =
            (numbers(&self.reference), numbers(&self.optimised));
        self.reference.retain(|_, (number, _)| right.contains(number));
        self.optimised.retain(|_, (number, _)| left.contains(number));
        self.defined = true;
        self
    }

    /// Gives the algebra the definitions of blocks that are marked for it. A block whose definition takes too many
    /// steps gets none.
    pub(crate) fn define(&self, algebra: &mut Algebra, reference: &Terms, steps: u64) {
        if !self.defined {
            return;
        }
        let mut nodes: Vec<_> = self.reference.iter().collect();
        nodes.sort_unstable();
        let roots = nodes.iter().map(|(node, _)| Term::from(**node));
        let mut normaliser = Normaliser::new(reference, roots);
        for (node, (number, squares)) in nodes {
            let atom = algebra.intern_atom(Atom::Opaque { number: *number, squares: *squares });
            algebra.steps = steps;
            if let Ok(sum) = normaliser.real(algebra, (*node).into()) {
                algebra.define(atom, sum);
            }
        }
    }
}

/// A search for blocks.
#[derive(Default)]
struct Search {
    products: Products,
    /// By hash: sums of the reference with their atoms.
    known: FxHashMap<u64, Vec<(NodeId, u32)>>,
    /// By hash: sums of the current side that the reference does not have.
    own: FxHashMap<u64, Vec<(NodeId, u32)>>,
    next: u32,
}

impl Search {
    /// Finds the blocks of one side. A block keeps its number if the reference, or this side before, has the same sum.
    fn blocks_of_side(
        &mut self,
        terms: &Terms,
        roots: impl Iterator<Item = Term>,
        reference: &Terms,
    ) -> Opaque {
        let mut found = Opaque::default();
        Walker::default().operations(terms, roots, |node| {
            let Node::Sum(sum) = terms.at(node) else { return true };
            let Some((hash, squares)) = self.products.hash(terms, sum, MIN_PRODUCTS) else {
                return true;
            };
            let number = self.number(terms, node, hash, reference);
            found.insert(node, (number, squares));
            // The walk need not go below a block.
            false
        });
        if std::ptr::eq(terms, reference) && self.known.is_empty() {
            self.known = std::mem::take(&mut self.own);
        }
        found
    }

    /// Returns the number of a sum: that of a known sum with the same products, or a new one.
    fn number(&mut self, terms: &Terms, node: NodeId, hash: u64, reference: &Terms) -> u32 {
        let products = &mut self.products;
        for (table, store) in [(&self.known, reference), (&self.own, terms)] {
            for (other, number) in table.get(&hash).into_iter().flatten() {
                let same = std::ptr::eq(store, terms) && *other == node;
                if same || products.equal((store, (*other).into()), (terms, node.into())) {
                    return *number;
                }
            }
        }
        let number = self.next;
        self.next += 1;
        self.own.entry(hash).or_default().push((node, number));
        number
    }
}
