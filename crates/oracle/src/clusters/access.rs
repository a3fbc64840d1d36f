//! The accesses to cells that a program of two blocks may do, and which of them may happen at the same time.
//!
//! Two stores of the same value may, and two updates whose scopes have each other's threads (PTX manual §8.7); `red.async` is at the scope of
//! the cluster (§9.7.13.7).

use super::step::{Events, event};
use super::{BLOCKS, CELLS, ClusterOp, ClusterProgram, block_of};

/// An access that a program may do.
pub(super) struct CellAccess {
    pub(super) event: Events,
    pub(super) block: usize,
    pub(super) cell: usize,
    pub(super) writes: bool,
    pub(super) change: Change,
}

/// What an access does, as far as another may do the same at the same time.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Other,
    Same(u8),
    /// An update of a thread of this block; whether at the scope of the cluster.
    Add(usize, bool),
}

impl Change {
    pub(super) fn commutes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Same(one), Self::Same(other)) => one == other,
            (Self::Add(one, wide), Self::Add(other, other_wide)) => {
                one == other || wide && other_wide
            }
            _ => false,
        }
    }
}

pub(super) fn accesses(program: &ClusterProgram) -> impl Iterator<Item = CellAccess> {
    let threads = program.threads.iter().enumerate();
    let ops = threads.flat_map(|(thread, ops)| ops.iter().map(move |op| (thread, op)));
    ops.enumerate().flat_map(|(step, (thread, op))| {
        let own = block_of(thread);
        let change = match *op {
            ClusterOp::Same(_, _, which) => Change::Same(which),
            ClusterOp::Add(_, _, wide) => Change::Add(own, wide),
            ClusterOp::AsyncAdd(..) => Change::Add(own, true),
            _ => Change::Other,
        };
        let one = |event, block: u8, cell: usize, writes| {
            vec![CellAccess { event, block: block.into(), cell, writes, change }]
        };
        match *op {
            ClusterOp::Write(block, cell)
            | ClusterOp::Same(block, cell, _)
            | ClusterOp::Add(block, cell, _) => one(event(step, 0), block, cell.into(), true),
            ClusterOp::Read(block, cell) => one(event(step, 0), block, cell.into(), false),
            ClusterOp::Async(block, cell, _) | ClusterOp::AsyncAdd(block, cell, _) => {
                one(event(step, block.into()), block, cell.into(), true)
            }
            ClusterOp::Multicast(mask, _) => (0..BLOCKS as u8)
                .filter(|block| mask >> block & 1 == 1)
                .flat_map(|block| one(event(step, block.into()), block, CELLS - 1, true))
                .collect(),
            _ => Vec::new(),
        }
    })
}
