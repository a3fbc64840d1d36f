//! Tracks values that may never have been computed.
//!
//! After a conditional write, memory holds its previous contents where the condition fails: nothing, if it
//! was never written. Terms have an undefined leaf for that. A comparison ignores inputs at which the
//! reference is undefined. So a reference with such a leaf would be compared only where its author wrote
//! every element, and silently not elsewhere. Such an element is reported as open instead.

use rustc_hash::FxHashSet;
use term::{Node, NodeId, Term, Terms};

/// Visited nodes without an undefined leaf below them.
#[derive(Debug, Default)]
pub(crate) struct FullyDefined {
    nodes: FxHashSet<NodeId>,
}

impl FullyDefined {
    /// Returns `true` if a term contains an undefined leaf.
    pub(crate) fn reaches_undefined(&mut self, terms: &Terms, root: Term) -> bool {
        let mut seen = Vec::new();
        let mut work = vec![(terms.node(root), terms.is_partial(root))];
        while let Some((node, partial)) = work.pop() {
            // An undefined leaf makes everything above it partial.
            if !partial {
                continue;
            }
            if node == Node::Undefined {
                seen.iter().for_each(|node| _ = self.nodes.remove(node));
                return true;
            }
            for child in children(terms, node) {
                if self.nodes.insert(child) {
                    seen.push(child);
                    work.push((terms.at(child), terms.is_partial(child.into())));
                }
            }
        }
        false
    }
}

/// Returns the operands of a node.
fn children(terms: &Terms, node: Node) -> Vec<NodeId> {
    match node {
        Node::Sum(sum) => {
            let factors = terms.products(sum).flatten();
            factors.flat_map(|factors| [factors.left(), factors.right()]).collect()
        }
        other => other.children().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::{Inputs, Relation};

    #[test]
    fn undefined_leaves_are_found_by_every_query() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let (x, zero) = (terms.input(x), terms.zero());
        let condition = terms.compare(Relation::Less, x, zero);
        let undefined = terms.undefined();
        let forgotten = terms.select(condition, x, undefined);
        let sum = terms.add(forgotten, x);
        let quotient = terms.divide(x, x);
        let both = terms.add(quotient, sum);
        let mut settled = FullyDefined::default();
        let asked = [quotient, both, sum, both, forgotten, quotient, x];
        let answers = asked.map(|term| settled.reaches_undefined(&terms, term));
        assert_eq!(answers, [false, true, true, true, true, false, false]);
    }
}
