//! Places to meet: where ways that parted at different branches meet in one block, those that parted last
//! meet in a block of their own first.
//!
//! `x > 20 ? x : log1pf(expf(x))` is one block behind three ways: one of the comparison and two of `log1pf`.
//! No place in it holds the value of `log1pf` alone, and so nothing could be put there. An empty block
//! between is such a place. It changes nothing but through how many jumps control goes.

use crate::flow::Flow;
use ir::{Block, BlockId, Function, Terminator};

/// Places that are made at most: a kernel that needs more is left as it is from there on.
const MOST: usize = 512;

/// Adds blocks to meet in; tells whether there is one now that was not there.
pub(crate) fn add(function: &mut Function) -> bool {
    let mut added = 0;
    while added < MOST {
        let flow = Flow::new(function);
        let groups: Vec<(BlockId, Vec<BlockId>)> = flow
            .order
            .iter()
            .filter_map(|&block| Some((block, group(function, &flow, block)?)))
            .collect();
        if groups.is_empty() {
            break;
        }
        added += groups.len();
        for (block, group) in groups {
            meet(function, block, &group);
        }
    }
    added > 0
}

/// The fewest ways to a block, two at least and not all, that have a branch to themselves.
fn group(function: &Function, flow: &Flow, block: BlockId) -> Option<Vec<BlockId>> {
    let before = &flow.predecessors[block];
    let plain = |one: &BlockId| {
        let terminator = &function.blocks[*one].terminator;
        matches!(terminator, Terminator::Jump(_) | Terminator::Branch { .. })
    };
    // First blocks of loops stay as they are.
    let is_loop = before.iter().any(|one| flow.dominates(block, *one));
    if before.len() < 3 || is_loop || !before.iter().all(plain) {
        return None;
    }
    let top = flow.dominator[block]?;
    let mut best: Option<Vec<BlockId>> = None;
    for &first in before {
        let mut at = Some(first);
        while let Some(root) = at.filter(|root| *root != top) {
            let own: Vec<BlockId> =
                before.iter().copied().filter(|one| flow.dominates(root, *one)).collect();
            let fewer = best.as_ref().is_none_or(|best| own.len() < best.len());
            if own.len() > 1 && own.len() < before.len() && fewer {
                best = Some(own);
            }
            at = flow.dominator[root];
        }
    }
    best
}

/// Lets ways to a block go through a new one.
fn meet(function: &mut Function, block: BlockId, group: &[BlockId]) {
    let (span, location) = (function.blocks[block].span, function.blocks[block].location);
    let terminator = Terminator::Jump(block);
    let new = function.blocks.push(Block { instructions: Vec::new(), terminator, span, location });
    for &from in group {
        match &mut function.blocks[from].terminator {
            Terminator::Jump(to) if *to == block => *to = new,
            Terminator::Branch { then, otherwise, .. } => {
                for to in [then, otherwise] {
                    if *to == block {
                        *to = new;
                    }
                }
            }
            _ => {}
        }
    }
}
