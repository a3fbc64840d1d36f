//! Shape of a function's control flow: successors, reconvergence points and loops.
//!
//! The reconvergence point of a block is its immediate post-dominator: the first block on every path from there to
//! the end of the thread. It is found with the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast
//! Dominance Algorithm") on the reversed graph, whose root is a virtual exit. Blocks that cannot reach the end
//! (endless loops) have none. Engines use it to let lanes run together again; a wrong point would cost time, never an
//! answer.

use crate::{BlockId, Function, Terminator};
use base::{Index, IndexVec};

impl Terminator {
    /// The targets of control, in order and possibly repeated; none if the thread or call ends.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + '_ {
        let (first, second, table): (_, _, &[BlockId]) = match self {
            Self::Jump(target) => (Some(*target), None, &[]),
            Self::Branch { then, otherwise, .. } => (Some(*then), Some(*otherwise), &[]),
            Self::Table { targets, .. } => (None, None, targets),
            Self::Return | Self::Exit | Self::Trap => (None, None, &[]),
        };
        first.into_iter().chain(second).chain(table.iter().copied())
    }
}

/// The immediate post-dominator of every block; `None` if lanes meet again only at the end, or never.
#[must_use]
pub fn reconvergence(function: &Function) -> IndexVec<BlockId, Option<BlockId>> {
    let graph = Reversed::new(function);
    let order = graph.postorder();
    let mut position = vec![usize::MAX; graph.node_count()];
    for (rank, &node) in order.iter().enumerate() {
        position[node] = rank;
    }
    let exit = graph.exit();
    let mut dominator: Vec<Option<usize>> = vec![None; graph.node_count()];
    dominator[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != exit) {
            let processed =
                graph.successors[node].iter().copied().filter(|&next| dominator[next].is_some());
            let meet = processed.reduce(|a, b| intersect(a, b, &dominator, &position));
            if meet.is_some() && dominator[node] != meet {
                dominator[node] = meet;
                changed = true;
            }
        }
    }
    let to_block = |node: Option<usize>| node.filter(|&n| n != exit).map(BlockId::from_position);
    function.blocks.indices().map(|block| to_block(dominator[block.position()])).collect()
}

/// Climbs both chains of dominators until they meet.
fn intersect(mut a: usize, mut b: usize, dominator: &[Option<usize>], position: &[usize]) -> usize {
    while a != b {
        let lower = if position[a] < position[b] { &mut a } else { &mut b };
        match dominator[*lower] {
            Some(parent) => *lower = parent,
            None => return if position[a] < position[b] { b } else { a },
        }
    }
    a
}

/// The first block of the innermost loop around a block. A loop is a set of blocks that can all reach each other. Its
/// first block is the first in the text; its inner loops are the loops that remain without that block. For reports: in
/// loops nested deeper than 64, an outer loop is named.
#[must_use]
pub fn innermost_loop(function: &Function, block: BlockId) -> Option<BlockId> {
    let innermost = loops_around(function, block).pop()?;
    innermost.iter().position(|&inside| inside).map(BlockId::from_position)
}

/// The loops around a block, as in [`innermost_loop`], outermost first. Each loop has one entry for each block of the
/// function, and one for a virtual exit after them: `true` if the block is inside.
#[must_use]
pub fn loops_around(function: &Function, block: BlockId) -> Vec<Vec<bool>> {
    const MAX_DEPTH: usize = 64;
    let graph = Reversed::new(function);
    let at = block.position();
    let mut allowed = vec![true; graph.node_count()];
    let mut loops = Vec::new();
    for _ in 0..MAX_DEPTH {
        let after = reached(at, &graph.successors, &allowed);
        let before = reached(at, &graph.predecessors, &allowed);
        let body: Vec<bool> = after.iter().zip(before).map(|(&a, b)| a && b).collect();
        let Some(first) = body.iter().position(|&inside| inside) else { break };
        loops.push(body.clone());
        if first == at {
            break;
        }
        allowed = body;
        allowed[first] = false;
    }
    loops
}

/// The nodes that can be reached by one edge or more.
fn reached(from: usize, edges: &[Vec<usize>], allowed: &[bool]) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut work = vec![from];
    while let Some(node) = work.pop() {
        for &next in edges[node].iter().filter(|&&next| allowed[next]) {
            if !std::mem::replace(&mut seen[next], true) {
                work.push(next);
            }
        }
    }
    seen
}

/// The graph with every edge reversed and a virtual exit as its root.
struct Reversed {
    /// The successors of each node, the exit included.
    successors: Vec<Vec<usize>>,
    /// The predecessors of each node.
    predecessors: Vec<Vec<usize>>,
}

impl Reversed {
    fn new(function: &Function) -> Self {
        let exit = function.blocks.len();
        let mut successors = vec![Vec::new(); exit + 1];
        let mut predecessors = vec![Vec::new(); exit + 1];
        for (block, data) in function.blocks.enumerate() {
            let from = block.position();
            let mut targets: Vec<usize> =
                data.terminator.successors().map(|target| target.position()).collect();
            if targets.is_empty() {
                targets.push(exit);
            }
            targets.dedup();
            targets.iter().for_each(|&to| predecessors[to].push(from));
            successors[from] = targets;
        }
        Self { successors, predecessors }
    }

    fn exit(&self) -> usize {
        self.successors.len() - 1
    }

    fn node_count(&self) -> usize {
        self.successors.len()
    }

    /// Nodes that can reach the exit, children of the reversed graph before parents. Uses an explicit stack:
    /// functions may have a hundred thousand blocks in a row.
    fn postorder(&self) -> Vec<usize> {
        let mut seen = vec![false; self.node_count()];
        let mut order = Vec::with_capacity(self.node_count());
        let mut stack = vec![(self.exit(), 0)];
        seen[self.exit()] = true;
        while let Some((node, next)) = stack.last_mut() {
            match self.predecessors[*node].get(*next) {
                Some(&child) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[child], true) {
                        stack.push((child, 0));
                    }
                }
                None => {
                    order.push(*node);
                    stack.pop();
                }
            }
        }
        order
    }
}
