//! Inserts join blocks: where the paths of nested branches join in one block, those of the inner branch first
//! join in a new one.
//!
//! `x > 20 ? x : log1pf(expf(x))` joins three edges in one block: one of the comparison and two of `log1pf`. No place
//! in the code holds the value of `log1pf` alone, so there is none to put the function. An empty block makes such a
//! place. It changes nothing but the number of jumps.

use crate::flow::Flow;
use ir::{Block, BlockId, Function, Terminator};

/// Limit on inserted blocks; the rest of a larger kernel stays as it is.
const MAX_INSERTED_BLOCKS: usize = 512;

/// Inserts join blocks; returns `true` if it added one.
pub(crate) fn add_join_blocks(function: &mut Function) -> bool {
    let mut added = 0;
    while added < MAX_INSERTED_BLOCKS {
        let flow = Flow::new(function);
        let groups: Vec<(BlockId, Vec<BlockId>)> = flow
            .order
            .iter()
            .filter_map(|&block| Some((block, inner_group(function, &flow, block)?)))
            .collect();
        if groups.is_empty() {
            break;
        }
        added += groups.len();
        for (block, group) in groups {
            insert_join_block(function, block, &group);
        }
    }
    added > 0
}

/// Returns the smallest group of predecessors, at least two and not all, with a dominating branch of their own.
fn inner_group(function: &Function, flow: &Flow, block: BlockId) -> Option<Vec<BlockId>> {
    let before = &flow.predecessors[block];
    let plain = |block: &BlockId| {
        let terminator = &function.blocks[*block].terminator;
        matches!(terminator, Terminator::Jump(_) | Terminator::Branch { .. })
    };
    // Loop headers stay as they are.
    let is_loop = before.iter().any(|one| flow.dominates(block, *one));
    if before.len() < 3 || is_loop || !before.iter().all(plain) {
        return None;
    }
    let top = flow.dominator[block]?;
    let mut best: Option<Vec<BlockId>> = None;
    for &first in before {
        let mut at = Some(first);
        while let Some(root) = at.filter(|root| *root != top) {
            let dominated: Vec<BlockId> =
                before.iter().copied().filter(|one| flow.dominates(root, *one)).collect();
            let fewer = best.as_ref().is_none_or(|best| dominated.len() < best.len());
            if dominated.len() > 1 && dominated.len() < before.len() && fewer {
                best = Some(dominated);
            }
            at = flow.dominator[root];
        }
    }
    best
}

/// Redirects edges into a block through a new one.
fn insert_join_block(function: &mut Function, block: BlockId, group: &[BlockId]) {
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
