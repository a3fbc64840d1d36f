//! A window into a run for whoever waits for it: how far it is, and a wish that it end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared by a run and those who watch it. Runs look and tell now and then, not at every step.
///
/// It tells how far the stage is that began last. Where stages overlap (two sides that run at the same time) the
/// numbers are of both: they are for people to look at.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    instructions: AtomicU64,
    runs: AtomicU64,
    is_comparing: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

/// How far work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Blocks of a launch are executed, for the so manieth time.
    Running {
        /// Which run it is, from 1.
        run: u64,
        /// Blocks that ran to their end.
        done: u64,
        /// Blocks of the launch.
        total: u64,
    },
    /// Outputs are compared.
    Comparing {
        /// Outputs that were.
        done: u64,
        /// All outputs.
        total: u64,
    },
}

impl Watch {
    /// A watch that has seen nothing.
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

    /// Lets all runs end soon, with what they know.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Forgets everything, for another run.
    pub fn reset(&self) {
        let flags = [&self.stop, &self.is_comparing];
        flags.into_iter().for_each(|flag| flag.store(false, Ordering::Relaxed));
        let counts = [&self.instructions, &self.runs, &self.done, &self.total];
        counts.into_iter().for_each(|count| count.store(0, Ordering::Relaxed));
    }

    /// What says whether runs are to end.
    #[must_use]
    pub const fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Whether runs are to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Instructions that were executed, counted for each lane, by all runs.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Ordering::Relaxed)
    }

    /// How far the latest stage is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        let [done, total, run] =
            [&self.done, &self.total, &self.runs].map(|count| count.load(Ordering::Relaxed));
        match self.is_comparing.load(Ordering::Relaxed) {
            true => Stage::Comparing { done, total },
            false => Stage::Running { run, done, total },
        }
    }

    /// Begins a run of so many blocks.
    pub(crate) fn begin_run(&self, blocks: u64) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.begin(false, blocks);
    }

    /// Begins the comparison of so many outputs.
    pub fn begin_comparison(&self, outputs: u64) {
        self.begin(true, outputs);
    }

    fn begin(&self, is_comparing: bool, total: u64) {
        self.is_comparing.store(is_comparing, Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// So many more are done.
    pub fn advance(&self, count: u64) {
        self.done.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn add_instructions(&self, count: u64) {
        self.instructions.fetch_add(count, Ordering::Relaxed);
    }
}
