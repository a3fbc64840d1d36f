//! Tiny programs with mbarriers, run under every schedule.
//!
//! The language is separate from [`crate::program`]. It has two or three threads, four mbarriers initialised
//! before any thread starts, a few cells of shared memory, `cp.async`, bulk copies, and one barrier of the
//! whole block. A thread is alone in its warp, or shares it with the previous one. `explore.rs` defines the
//! assumed meaning of mbarriers (PTX manual §9.7.13.15). It uses counts, phases and sets of events; there are
//! no clocks and no rules for single runs.

mod emit;
mod explore;
mod generate;
mod step;

pub use emit::emit_phases;
pub use explore::{PhaseVerdict, explore_phases};
pub use generate::generate_phases;

use std::fmt;

/// The largest number of threads of a program.
pub const MAX_THREADS: usize = 3;
/// The largest number of steps of a program.
pub const MAX_STEPS: usize = 24;
/// Mbarriers of a program.
pub const MBARRIERS: usize = 4;
/// Cells of shared memory, of 16 bytes each; threads access the first four bytes of a cell.
pub const CELLS: usize = 3;

/// A block of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseProgram {
    /// The arrivals that each mbarrier expects.
    pub counts: [u8; MBARRIERS],
    /// The steps of each thread before it exits.
    pub threads: Vec<Vec<PhaseOp>>,
    /// Set if the first two threads are lanes of one warp.
    pub share_warp: bool,
}

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseOp {
    /// `mbarrier.arrive` and its variants.
    Arrive(PhaseArrival),
    /// `mbarrier.expect_tx` of this many times 16 bytes.
    Expect(u8, u8),
    /// `mbarrier.complete_tx`, likewise.
    Deliver(u8, u8),
    /// A loop around `try_wait.parity`: the mbarrier, the parity, and `true` for relaxed.
    Wait(u8, bool, bool),
    /// A single `try_wait.parity`, which may return false at any time. Its answer is kept for the next
    /// `WaitUnless`.
    Peek(u8, bool),
    /// A wait, skipped if the last answer was true.
    WaitUnless(u8, bool),
    /// `cp.async` to a cell.
    Copy(u8),
    /// `cp.async.mbarrier.arrive`: the mbarrier, and `true` without `.noinc`.
    CopyArrive(u8, bool),
    /// A bulk load of 16 bytes to a cell. It delivers them at an mbarrier.
    Load(u8, u8),
    /// A bulk store of a cell, in a group of its own.
    Store(u8),
    /// `cp.async.bulk.wait_group 0`; `true` for `.read`.
    StoreWait(bool),
    /// `fence.proxy.async`.
    ProxyFence,
    /// A store of a unique value to a cell.
    Write(u8),
    /// A store to a cell of one of a few values that other threads may store as well.
    WriteCommon(u8, u8),
    /// `red.add` of one to a cell.
    Update(u8),
    /// A load from a cell.
    Read(u8),
    /// `fence.acq_rel.cta`.
    Fence,
    /// `barrier.sync` of all warps.
    Block,
    /// `bar.warp.sync` of the two lanes of the first warp; `false` for a vote, which orders no memory.
    Warp(bool),
}

/// Parameters of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhaseArrival {
    /// The mbarrier.
    pub mbarrier: u8,
    /// The number of arrivals it counts for.
    pub count: u8,
    /// Bytes announced in the same step, in units of 16.
    pub expects: Option<u8>,
    /// `arrive_drop`.
    pub drops: bool,
    /// `.noComplete`.
    pub no_complete: bool,
    /// `.relaxed`.
    pub relaxed: bool,
}

impl PhaseArrival {
    /// The number of arrivals it counts for; 1 if it announces bytes.
    #[must_use]
    pub(crate) fn arrivals(self) -> u8 {
        if self.expects.is_some() { 1 } else { self.count }
    }

    /// A single plain arrival.
    #[must_use]
    pub fn at(mbarrier: u8) -> Self {
        let (count, expects) = (1, None);
        Self { mbarrier, count, expects, drops: false, no_complete: false, relaxed: false }
    }
}

impl PhaseProgram {
    /// The warp and the lane of a thread.
    #[must_use]
    pub fn place(&self, thread: usize) -> (usize, usize) {
        match (self.share_warp, thread) {
            (true, 0 | 1) => (0, thread),
            (true, _) => (thread - 1, 0),
            (false, _) => (thread, 0),
        }
    }

    /// Warps of the block.
    #[must_use]
    pub fn warps(&self) -> usize {
        self.threads.len() - usize::from(self.share_warp && self.threads.len() > 1)
    }

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
    #[must_use]
    pub(crate) fn first(&self, thread: usize) -> usize {
        self.threads[..thread].iter().map(Vec::len).sum()
    }
}

impl fmt::Display for PhaseProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "counts {:?}, the first two share a warp: {}", self.counts, self.share_warp)?;
        for (number, steps) in self.threads.iter().enumerate() {
            writeln!(f, "thread {number}: {steps:?}")?;
        }
        Ok(())
    }
}
