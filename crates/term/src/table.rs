//! A value for every node, in pages allocated on first use.
//!
//! A launch has millions of inputs, each with a node number, and most queries touch a few dozen nodes: a full table
//! would cost more than the answer.

use crate::NodeId;
use std::ops::{Index, IndexMut};

/// Nodes of a page. The nodes of a query are mostly close together.
const PAGE: usize = 1 << 10;

/// A value for every node; the same for all until it is set.
#[derive(Clone, Debug, Default)]
pub struct NodeTable<T> {
    /// Empty if nothing was set.
    pages: Vec<Box<[T]>>,
    unset: T,
}

impl<T: Clone> NodeTable<T> {
    /// Creates a table in which all nodes have the value `unset`.
    #[must_use]
    pub const fn new(unset: T) -> Self {
        Self { pages: Vec::new(), unset }
    }

    #[cold]
    fn touch(&mut self, page: usize) {
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, Box::default);
        }
        self.pages[page] = vec![self.unset.clone(); PAGE].into_boxed_slice();
    }
}

impl<T> Index<NodeId> for NodeTable<T> {
    type Output = T;

    #[inline]
    fn index(&self, node: NodeId) -> &T {
        let page = self.pages.get(node.position() / PAGE);
        page.and_then(|page| page.get(node.position() % PAGE)).unwrap_or(&self.unset)
    }
}

impl<T: Clone> IndexMut<NodeId> for NodeTable<T> {
    #[inline]
    fn index_mut(&mut self, node: NodeId) -> &mut T {
        let page = node.position() / PAGE;
        if self.pages.get(page).is_none_or(|page| page.is_empty()) {
            self.touch(page);
        }
        &mut self.pages[page][node.position() % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_others_are_unset() {
        let mut table = NodeTable::new(7);
        let nodes = [0, 1, PAGE - 1, PAGE, 5 * PAGE + 3, 1 << 24].map(|at| NodeId(at as u32));
        for (value, &node) in nodes.iter().enumerate() {
            assert_eq!(table[node], 7);
            table[node] = value;
        }
        for (value, &node) in nodes.iter().enumerate() {
            assert_eq!(table[node], value);
        }
        assert_eq!(
            [table[NodeId(2)], table[NodeId(2 * PAGE as u32)], table[NodeId(1 << 30)]],
            [7; 3]
        );
    }
}
