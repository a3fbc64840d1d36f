//! The possible accesses to cells of a program of two blocks, and the pairs of them that may be concurrent.
//!
//! Two stores of the same value may be concurrent, and two updates with scopes that include each other's threads (PTX
//! manual §8.7); `red.async` has cluster scope (§9.7.13.7).

use super::step::{Events, event};
use super::{BLOCKS, CELLS, ClusterOp, ClusterProgram, block_of};

/// A possible access of a program.
pub(super) struct CellAccess {
    pub(super) event: Events,
    pub(super) block: usize,
    pub(super) cell: usize,
    pub(super) writes: bool,
    pub(super) change: Change,
}

/// The effect of an access, as far as it matters for concurrency.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Other,
    WriteCommon(u8),
    /// An update by a thread of this block; `true` for cluster scope.
    Add(usize, bool),
}

impl Change {
    /// Returns `true` if two concurrent changes of these kinds give the same result in either order.
    pub(super) fn commutes(self, other: Self) -> bool {
        match (self, other) {
            (Self::WriteCommon(one), Self::WriteCommon(other)) => one == other,
            (Self::Add(one, wide), Self::Add(other, other_wide)) => {
                one == other || wide && other_wide
            }
            _ => false,
        }
    }
}

/// Iterates over the accesses that the steps of a program may perform.
pub(super) fn accesses(program: &ClusterProgram) -> impl Iterator<Item = CellAccess> {
    let threads = program.threads.iter().enumerate();
    let ops = threads.flat_map(|(thread, ops)| ops.iter().map(move |op| (thread, op)));
    ops.enumerate().flat_map(|(step, (thread, op))| {
        let own_block = block_of(thread);
        let change = match *op {
            ClusterOp::WriteCommon(_, _, which) => Change::WriteCommon(which),
            ClusterOp::Add(_, _, wide) => Change::Add(own_block, wide),
            ClusterOp::AsyncAdd(..) => Change::Add(own_block, true),
            _ => Change::Other,
        };
        let single = |event, block: u8, cell: usize, writes| {
            vec![CellAccess { event, block: block.into(), cell, writes, change }]
        };
        match *op {
            ClusterOp::Write(block, cell)
            | ClusterOp::WriteCommon(block, cell, _)
            | ClusterOp::Add(block, cell, _) => single(event(step, 0), block, cell.into(), true),
            ClusterOp::Read(block, cell) => single(event(step, 0), block, cell.into(), false),
            ClusterOp::Async(block, cell, _) | ClusterOp::AsyncAdd(block, cell, _) => {
                single(event(step, block.into()), block, cell.into(), true)
            }
            ClusterOp::Multicast(mask, _) => (0..BLOCKS as u8)
                .filter(|block| mask >> block & 1 == 1)
                .flat_map(|block| single(event(step, block.into()), block, CELLS - 1, true))
                .collect(),
            _ => Vec::new(),
        }
    })
}
