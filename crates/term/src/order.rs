//! The nodes below some terms, children first: every pass over a DAG is a loop over this list.
//!
//! No recursion anywhere: a chain of a million additions is as good as a balanced tree, and a
//! shared node is visited once.

use crate::{Node, NodeId, Term, Terms};

/// The nodes below some roots in evaluation order, with how often each is used.
#[derive(Clone, Debug, Default)]
pub struct Order {
    /// Children before parents, each once.
    pub nodes: Vec<NodeId>,
    /// For each entry of `nodes`, how many uses it has among the nodes and roots.
    pub uses: Vec<u32>,
}

/// The nodes below `roots` for which `wanted` holds; below a node that is not wanted nothing is
/// visited. Uses of a node that is visited are counted over all parents visited.
pub fn evaluation_order(
    terms: &Terms,
    roots: impl IntoIterator<Item = Term>,
    mut wanted: impl FnMut(NodeId) -> bool,
) -> Order {
    let mut seen = Seen { slot: vec![0; terms.node_count()], nodes: Vec::new(), uses: Vec::new() };
    let mut stack = Vec::new();
    for root in roots {
        match terms.node(root) {
            // An unsealed sum has no node of its own: its factors are the roots.
            Node::Sum(sum) if root.prefix != 0 => {
                for factors in terms.products(sum).flatten() {
                    seen.visit(factors.left(), &mut wanted, &mut stack);
                    seen.visit(factors.right(), &mut wanted, &mut stack);
                }
            }
            _ => seen.visit(NodeId(root.id), &mut wanted, &mut stack),
        }
        while let Some(node) = stack.pop() {
            match terms.at(node) {
                Node::Sum(sum) => {
                    for factors in terms.products(sum).flatten() {
                        seen.visit(factors.left(), &mut wanted, &mut stack);
                        seen.visit(factors.right(), &mut wanted, &mut stack);
                    }
                }
                other => {
                    for child in other.children() {
                        seen.visit(child, &mut wanted, &mut stack);
                    }
                }
            }
        }
    }
    seen.finish()
}

struct Seen {
    /// By node: 0 for unseen, `u32::MAX` for unwanted, else its position in `nodes` plus one.
    slot: Vec<u32>,
    nodes: Vec<NodeId>,
    uses: Vec<u32>,
}

impl Seen {
    fn visit(
        &mut self,
        node: NodeId,
        wanted: &mut impl FnMut(NodeId) -> bool,
        stack: &mut Vec<NodeId>,
    ) {
        let slot = &mut self.slot[node.position()];
        match *slot {
            u32::MAX => {}
            0 if wanted(node) => {
                self.nodes.push(node);
                self.uses.push(1);
                *slot = self.nodes.len() as u32;
                stack.push(node);
            }
            0 => *slot = u32::MAX,
            position => self.uses[position as usize - 1] += 1,
        }
    }

    /// Ascending node numbers are an evaluation order.
    fn finish(self) -> Order {
        let mut pairs: Vec<_> = self.nodes.into_iter().zip(self.uses).collect();
        pairs.sort_unstable();
        let (nodes, uses) = pairs.into_iter().unzip();
        Order { nodes, uses }
    }
}
