//! Tiny programs of two blocks of a cluster, run under every schedule.
//!
//! A language of its own beside [`crate::phases`]: two blocks of up to two threads, each alone in its warp; in each block two
//! mbarriers and three cells of shared memory, which every thread of the cluster may reach; the barrier of the cluster and one for each
//! block; stores that complete at an mbarrier, and copies from global memory to both blocks. What is taken to be the
//! meaning of these (PTX manual §9.7.13.3, §9.7.13.15, §9.7.9.12) stands in `explore.rs` and `step.rs`; they know counts, phases and sets of
//! events, and neither clocks nor rules for single runs.

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
/// Threads of a block at most.
pub const BLOCK_THREADS: usize = 2;
/// Threads of a program.
pub const THREADS: usize = BLOCKS * BLOCK_THREADS;
/// Steps of a program at most.
pub const MOST_STEPS: usize = 20;
/// Mbarriers of a block.
pub const MBARRIERS: usize = 2;
/// Cells of a block; copies go to the last, and nobody else writes there.
pub const CELLS: usize = 3;

/// How a program starts: every block initialises its mbarriers and cells with its first thread, and then all threads meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the barrier of the cluster.
    Released,
    /// There, with relaxed arrivals behind `fence.mbarrier_init`.
    FencedInits,
    /// There, with relaxed arrivals.
    Relaxed,
    /// At the barrier of their block alone.
    Apart,
}

/// The threads among which an operation orders memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// `.cta`
    Block,
    /// `.cluster`
    Cluster,
    /// None is written.
    Unwritten,
}

impl Scope {
    /// Tells whether it has the threads of other blocks.
    fn is_wide(self) -> bool {
        self != Self::Block
    }
}

/// A cluster of two blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterProgram {
    /// Arrivals that each mbarrier of each block expects.
    pub counts: [[u8; MBARRIERS]; BLOCKS],
    /// How it starts.
    pub start: Start,
    /// The steps of each thread before it exits, those of the first block first.
    pub threads: [Vec<ClusterOp>; THREADS],
}

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterOp {
    /// A store of a value of its own to a cell of a block.
    Write(u8, u8),
    /// A store to a cell of a block of one of a few values, which other threads may store as well.
    Same(u8, u8, u8),
    /// `red.add` of one to a cell of a block; whether at the scope of the cluster, else of the own block.
    Add(u8, u8, bool),
    /// A load from a cell of a block.
    Read(u8, u8),
    /// `mbarrier.arrive` at an mbarrier of a block.
    Arrive {
        /// Which block.
        block: u8,
        /// Which mbarrier.
        mbarrier: u8,
        /// Bytes announced in the same step, in units of 4.
        expects: Option<u8>,
        /// `.relaxed`, else `.release`.
        relaxed: bool,
        /// Among whom.
        scope: Scope,
    },
    /// A loop around `try_wait.parity` for an mbarrier of the own block.
    Wait {
        /// Which mbarrier.
        mbarrier: u8,
        /// Which parity.
        parity: bool,
        /// `.relaxed`, else `.acquire`.
        relaxed: bool,
        /// Among whom.
        scope: Scope,
    },
    /// `barrier.cluster.arrive`; whether relaxed.
    ClusterArrive(bool),
    /// `barrier.cluster.wait`
    ClusterWait,
    /// `fence.acq_rel`; whether at the scope of the cluster.
    Fence(bool),
    /// `barrier.sync` of the own block.
    Block,
    /// `st.async` to a cell of a block, which delivers 4 bytes at an mbarrier there.
    Async(u8, u8, u8),
    /// `red.async.add` of one to a cell of the other block, which delivers 4 bytes at an mbarrier there.
    AsyncAdd(u8, u8, u8),
    /// A bulk copy of 16 bytes to the last cell of the blocks of a mask, which delivers them at an mbarrier there.
    Multicast(u8, u8),
}

impl ClusterProgram {
    /// Number of steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.threads.iter().map(Vec::len).sum()
    }

    /// Tells whether nobody does anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of the first step of a thread.
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
