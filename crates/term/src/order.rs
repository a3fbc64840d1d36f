//! The nodes below some terms, children first: every pass over a DAG is a loop over this list.
//!
//! No recursion anywhere: a chain of a million additions is as good as a balanced tree, and a
//! shared node is visited once.

use crate::{Node, NodeId, NodeTable, Term, Terms};

/// The nodes below some roots in evaluation order, with the number of uses of each.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Children before parents, each once.
    pub nodes: Vec<NodeId>,
    /// For each entry of `nodes`, the number of its uses among the nodes and roots.
    pub uses: Vec<u32>,
}

/// Returns the nodes below `roots` for which `wanted` holds; see [`Walker::order`].
pub fn evaluation_order(
    terms: &Terms,
    roots: impl IntoIterator<Item = Term>,
    wanted: impl FnMut(NodeId) -> bool,
) -> Order {
    Walker::default().order(terms, roots, wanted)
}

/// Scratch space for walks over one store: the cost of a walk is proportional to the nodes it visits, not to the
/// store.
#[derive(Clone, Debug, Default)]
pub struct Walker {
    /// By node: 0 for unseen, else its position in `nodes` plus one. All zero between walks.
    slots: NodeTable<u32>,
    nodes: Vec<NodeId>,
    uses: Vec<u32>,
    stack: Vec<NodeId>,
    /// Nodes with smaller numbers are not visited.
    first: u32,
}

impl Walker {
    /// Returns the nodes below `roots` for which `wanted` holds. Nothing below an unwanted node is visited.
    /// Uses of a visited node are counted over the roots and all visited parents.
    pub fn order(
        &mut self,
        terms: &Terms,
        roots: impl IntoIterator<Item = Term>,
        wanted: impl FnMut(NodeId) -> bool,
    ) -> Order {
        self.first = 0;
        self.walk(terms, roots, wanted)
    }

    /// Like [`Walker::order`], without the inputs, which are most operands of a sum of products.
    pub fn operations(
        &mut self,
        terms: &Terms,
        roots: impl IntoIterator<Item = Term>,
        wanted: impl FnMut(NodeId) -> bool,
    ) -> Order {
        self.first = terms.inputs().len() as u32;
        self.walk(terms, roots, wanted)
    }

    fn walk(
        &mut self,
        terms: &Terms,
        roots: impl IntoIterator<Item = Term>,
        mut wanted: impl FnMut(NodeId) -> bool,
    ) -> Order {
        for root in roots {
            if root.sum_length == 0 {
                self.visit(NodeId(root.id), &mut wanted);
            } else {
                // An unsealed sum has no node of its own: its factors are visited directly.
                self.visit_operands(terms, terms.node(root), &mut wanted);
            }
            while let Some(node) = self.stack.pop() {
                self.visit_operands(terms, terms.at(node), &mut wanted);
            }
        }
        for node in &self.nodes {
            self.slots[*node] = 0;
        }
        // Ascending node numbers are an evaluation order.
        let mut pairs: Vec<_> = self.nodes.drain(..).zip(self.uses.drain(..)).collect();
        pairs.sort_unstable();
        let (nodes, uses) = pairs.into_iter().unzip();
        Order { nodes, uses }
    }

    fn visit_operands(
        &mut self,
        terms: &Terms,
        node: Node,
        wanted: &mut impl FnMut(NodeId) -> bool,
    ) {
        if let Node::Sum(sum) = node {
            for factors in terms.products(sum).flatten() {
                self.visit(factors.left(), wanted);
                self.visit(factors.right(), wanted);
            }
        } else {
            for child in node.children() {
                self.visit(child, wanted);
            }
        }
    }

    #[inline]
    fn visit(&mut self, node: NodeId, wanted: &mut impl FnMut(NodeId) -> bool) {
        if node.0 < self.first {
            return;
        }
        let slot = self.slots[node];
        if slot != 0 {
            self.uses[slot as usize - 1] += 1;
        } else if wanted(node) {
            self.nodes.push(node);
            self.uses.push(1);
            self.slots[node] = self.nodes.len() as u32;
            self.stack.push(node);
        }
    }
}
