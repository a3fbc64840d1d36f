//! Computes dominators, and the blocks between a block and its dominator.
//!
//! Dominators are found with the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
//! Algorithm").

use base::{Index, IndexVec};
use ir::{BlockId, Function};

/// The shape of a function's control flow.
#[derive(Debug)]
pub(crate) struct Flow {
    /// Reachable blocks, each before its successors as far as loops allow.
    pub(crate) order: Vec<BlockId>,
    pub(crate) predecessors: IndexVec<BlockId, Vec<BlockId>>,
    /// The immediate dominator; `None` for the first block and unreachable ones.
    pub(crate) dominator: IndexVec<BlockId, Option<BlockId>>,
    /// Position in `order`; `usize::MAX` for unreachable blocks.
    rank: Vec<usize>,
}

impl Flow {
    pub(crate) fn new(function: &Function) -> Self {
        let count = function.blocks.len();
        let order = reverse_postorder(function);
        let mut rank = vec![usize::MAX; count];
        order.iter().enumerate().for_each(|(at, block)| rank[block.position()] = at);
        let mut predecessors: IndexVec<BlockId, Vec<BlockId>> =
            function.blocks.iter().map(|_| Vec::new()).collect();
        for &block in &order {
            let mut targets: Vec<BlockId> =
                function.blocks[block].terminator.successors().collect();
            targets.sort_unstable();
            targets.dedup();
            targets.into_iter().for_each(|target| predecessors[target].push(block));
        }
        let mut flow = Self { order, predecessors, dominator: IndexVec::new(), rank };
        flow.dominator = flow.dominators(count);
        flow
    }

    /// Computes the immediate dominators.
    fn dominators(&self, count: usize) -> IndexVec<BlockId, Option<BlockId>> {
        let mut found: Vec<Option<usize>> = vec![None; self.order.len()];
        if let Some(first) = found.first_mut() {
            *first = Some(0);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (at, &block) in self.order.iter().enumerate().skip(1) {
                let known = self.predecessors[block].iter().map(|p| self.rank[p.position()]);
                let known = known.filter(|&p| found[p].is_some());
                let meet = known.reduce(|mut a, mut b| {
                    while a != b {
                        let higher = if a > b { &mut a } else { &mut b };
                        *higher = found[*higher].unwrap_or(0);
                    }
                    a
                });
                if meet.is_some() && found[at] != meet {
                    found[at] = meet;
                    changed = true;
                }
            }
        }
        let dominator_of = |block: usize| {
            let at = self.rank[block];
            let dominator = found.get(at).copied().flatten()?;
            (at > 0).then(|| self.order[dominator])
        };
        (0..count).map(dominator_of).collect()
    }

    /// Returns `true` if `a` comes before `b` in `order`. Every loop has an edge on which this does not hold.
    pub(crate) fn is_before(&self, a: BlockId, b: BlockId) -> bool {
        self.rank[a.position()] < self.rank[b.position()]
    }

    /// Returns `true` if `a` dominates `b`: every path to `b` goes through `a`.
    pub(crate) fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let mut at = Some(b);
        while let Some(block) = at {
            if block == a {
                return true;
            }
            at = self.dominator[block];
        }
        false
    }

    /// Returns the blocks on paths from a block's immediate dominator to it, without the dominator. The block itself
    /// is among them if it is in a loop.
    pub(crate) fn between(&self, block: BlockId) -> Vec<BlockId> {
        let Some(dominator) = self.dominator[block] else { return Vec::new() };
        let mut found: Vec<BlockId> = Vec::new();
        let mut work = self.predecessors[block].clone();
        while let Some(next) = work.pop() {
            if next == dominator || found.contains(&next) {
                continue;
            }
            found.push(next);
            work.extend(&self.predecessors[next]);
        }
        found
    }
}

fn reverse_postorder(function: &Function) -> Vec<BlockId> {
    let mut order = Vec::new();
    let Some(first) = function.blocks.indices().next() else { return order };
    let targets = |block: BlockId| -> Vec<BlockId> {
        function.blocks[block].terminator.successors().collect()
    };
    let mut seen = vec![false; function.blocks.len()];
    seen[first.position()] = true;
    let mut stack = vec![(first, targets(first))];
    while let Some((block, open)) = stack.last_mut() {
        match open.pop() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next.position()], true) {
                    stack.push((next, targets(next)));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
