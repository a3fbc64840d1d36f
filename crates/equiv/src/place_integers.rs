//! Numbers the integers in the places of writes: a place is a linear combination of them (`symbolic/scattered.rs`).

use rustc_hash::FxHashMap;
use term::NodeId;

/// The integers in the places of writes, with a number for each.
#[derive(Debug, Default)]
pub(crate) struct PlaceIntegers {
    /// By number.
    nodes: Vec<NodeId>,
    numbers: FxHashMap<NodeId, u32>,
}

impl PlaceIntegers {
    /// Returns the number of a node, a new one if it has none; `None` if there are too many.
    pub(crate) fn number(&mut self, node: NodeId) -> Option<u32> {
        let next = u32::try_from(self.nodes.len()).ok()?;
        let number = *self.numbers.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        Some(number)
    }

    /// Returns the node with a number.
    pub(crate) fn node(&self, number: u32) -> NodeId {
        self.nodes[number as usize]
    }
}
