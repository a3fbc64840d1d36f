//! Tiny programs of two blocks of a cluster, run under every schedule.
//!
//! The language is separate from [`crate::phases`]. It has two blocks of up to two threads, each alone in its
//! warp. Each block has two mbarriers and three cells of shared memory, accessible to every thread of the
//! cluster. There are the cluster barrier and one barrier for each block, stores that complete at an
//! mbarrier, and copies from global memory to both blocks. `explore.rs` and `step.rs` define the assumed
//! meaning of these (PTX manual §9.7.13.3, §9.7.13.15, §9.7.9.12). They use counts, phases and sets of
//! events; there are no clocks and no rules for single runs.

mod access;
mod emit;
mod explore;
mod generate;
mod step;

pub use emit::emit_clusters;
pub use explore::{ClusterVerdict, explore_clusters};
pub use generate::generate_clusters;

use std::fmt;

/// Blocks of the cluster.
pub const BLOCKS: usize = 2;
/// The largest number of threads of a block.
pub const BLOCK_THREADS: usize = 2;
/// The number of threads of a program.
pub const THREADS: usize = BLOCKS * BLOCK_THREADS;
/// The largest number of steps of a program.
pub const MAX_STEPS: usize = 20;
/// Mbarriers of a block.
pub const MBARRIERS: usize = 2;
/// Cells of a block. Copies go to the last one, and only copies do.
pub const CELLS: usize = 3;

/// The start of a program: the first thread of every block initialises its mbarriers and cells, and then all
/// threads meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the cluster barrier.
    Released,
    /// At the cluster barrier, with relaxed arrivals after `fence.mbarrier_init`.
    FencedInits,
    /// At the cluster barrier, with relaxed arrivals.
    Relaxed,
    /// At the barrier of their block only.
    Apart,
}

/// The scope of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `.cta`.
    Block,
    /// `.cluster`.
    Cluster,
    /// No scope is written.
    Unwritten,
}

impl Scope {
    /// Returns `true` if the scope includes the threads of other blocks.
    fn is_wide(self) -> bool {
        self != Self::Block
    }
}

/// A cluster of two blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterProgram {
    /// The arrivals that each mbarrier of each block expects.
    pub counts: [[u8; MBARRIERS]; BLOCKS],
    /// Its start.
    pub start: Start,
    /// The steps of each thread before it exits, the first block's threads first.
    pub threads: [Vec<ClusterOp>; THREADS],
}

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterOp {
    /// A store of a unique value to a cell of a block.
    Write(u8, u8),
    /// A store to a cell of a block of one of a few values that other threads may store as well.
    WriteCommon(u8, u8, u8),
    /// `red.add` of one to a cell of a block; `true` for cluster scope, else that of the block.
    Add(u8, u8, bool),
    /// A load from a cell of a block.
    Read(u8, u8),
    /// `mbarrier.arrive` at an mbarrier of a block.
    Arrive {
        /// The block.
        block: u8,
        /// The mbarrier.
        mbarrier: u8,
        /// Bytes announced in the same step, in units of 4.
        expects: Option<u8>,
        /// `.relaxed`, else `.release`.
        relaxed: bool,
        /// The scope.
        scope: Scope,
    },
    /// A loop around `try_wait.parity` for an mbarrier of the thread's own block.
    Wait {
        /// The mbarrier.
        mbarrier: u8,
        /// The parity.
        parity: bool,
        /// `.relaxed`, else `.acquire`.
        relaxed: bool,
        /// The scope.
        scope: Scope,
    },
    /// `barrier.cluster.arrive`; `true` for relaxed.
    ClusterArrive(bool),
    /// `barrier.cluster.wait`.
    ClusterWait,
    /// `fence.acq_rel`; `true` for cluster scope.
    Fence(bool),
    /// `barrier.sync` of the thread's own block.
    Block,
    /// `st.async` to a cell of a block. It delivers 4 bytes at an mbarrier there.
    Async(u8, u8, u8),
    /// `red.async.add` of one to a cell of the other block. It delivers 4 bytes at an mbarrier there.
    AsyncAdd(u8, u8, u8),
    /// A bulk copy of 16 bytes to the last cell of the blocks in a mask. It delivers them at an mbarrier
    /// there.
    Multicast(u8, u8),
}

impl ClusterProgram {
    /// The number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Returns `true` if no thread has a step.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a thread's first step.
    pub(crate) fn first(&self, thread: usize) -> usize {
        self.threads[..thread].iter().map(Vec::len).sum()
    }

    /// The operation of a step, and its thread.
    pub(crate) fn op(&self, step: usize) -> Option<(usize, ClusterOp)> {
        let thread = (0..THREADS).rfind(|&thread| self.first(thread) <= step)?;
        let op = self.threads[thread].get(step - self.first(thread))?;
        Some((thread, *op))
    }
}

/// The block of a thread.
pub(crate) fn block_of(thread: usize) -> usize {
    thread / BLOCK_THREADS
}

impl fmt::Display for ClusterProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "counts {:?}, start {:?}", self.counts, self.start)?;
        for (number, steps) in self.threads.iter().enumerate() {
            writeln!(f, "block {} thread {}: {steps:?}", block_of(number), number % BLOCK_THREADS)?;
        }
        Ok(())
    }
}
