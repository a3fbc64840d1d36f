//! Progress of a run, and a way to stop it from outside.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared by a run and its watchers. Runs read and update it from time to time rather than at every step.
///
/// It shows the progress of the latest stage. If stages overlap (two sides that run in parallel) the numbers
/// cover both: they are for display only.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    instructions: AtomicU64,
    runs: AtomicU64,
    is_comparing: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

/// Progress of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Blocks of a launch are executed.
    Running {
        /// The number of the run, from 1.
        run: u64,
        /// Completed blocks.
        done: u64,
        /// Blocks of the launch.
        total: u64,
    },
    /// Outputs are compared.
    Comparing {
        /// Compared outputs.
        done: u64,
        /// All outputs.
        total: u64,
    },
}

impl Watch {
    /// A watch without progress.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            stop: AtomicBool::new(false),
            instructions: AtomicU64::new(0),
            runs: AtomicU64::new(0),
            is_comparing: AtomicBool::new(false),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// Asks all runs to end soon, with their results so far.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Resets everything for another run.
    pub fn reset(&self) {
        let flags = [&self.stop, &self.is_comparing];
        flags.into_iter().for_each(|flag| flag.store(false, Ordering::Relaxed));
        let counts = [&self.instructions, &self.runs, &self.done, &self.total];
        counts.into_iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// The flag that asks runs to end.
    #[must_use]
    pub const fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Returns `true` if runs are asked to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Executed instructions, counted for each lane, of all runs.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    /// The progress of the latest stage.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let [done, total, run] =
            [&self.done, &self.total, &self.runs].map(|count| count.load(Ordering::Relaxed));
        match self.is_comparing.load(Ordering::Relaxed) {
            true => Stage::Comparing { done, total },
            false => Stage::Running { run, done, total },
        }
    }

    /// Begins a run of this many blocks.
    pub(crate) fn begin_run(&self, blocks: u64) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.begin(false, blocks);
    }

    /// Begins the comparison of this many outputs.
    pub fn begin_comparison(&self, outputs: u64) {
        self.begin(true, outputs);
    }

    fn begin(&self, is_comparing: bool, total: u64) {
        self.is_comparing.store(is_comparing, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Adds completed steps.
    pub fn advance(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn add_instructions(&self, count: u64) {
        self.instructions.fetch_add(count, Ordering::Relaxed);
    }
}
