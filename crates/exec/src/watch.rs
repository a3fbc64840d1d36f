//! A window into a run for whoever waits for it: how far it is, and a wish that it end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared by a run and those who watch it. Runs look and tell now and then, not at every step.
#[derive(Debug, Default)]
pub struct Watch {
    stop: AtomicBool,
    instructions: AtomicU64,
    blocks: AtomicU64,
}

impl Watch {
    /// A watch that has seen nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            stop: AtomicBool::new(false),
            instructions: AtomicU64::new(0),
            blocks: AtomicU64::new(0),
        }
    }

    /// Lets all runs end soon, with what they know.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
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

    /// Blocks that ran to their end.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    pub(crate) fn add_instructions(&self, count: u64) {
        self.instructions.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn add_block(&self) {
        self.blocks.fetch_add(1, Ordering::Relaxed);
    }
}
