//! Options of a run: limits, execution paths, and checks.
//!
//! Nothing here depends on the engine, so every file may import it.

use crate::watch::Watch;
use std::time::{Duration, Instant};

/// Limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions, counted for each lane.
    pub lane_instructions: u64,
    /// Wall-clock time. With such a limit, the point at which a run ends depends on the machine.
    pub time: Option<Duration>,
    /// The common deadline of all runs that share these limits; see [`Limits::started`].
    pub until: Option<Instant>,
    /// Blocks that [`crate::check`] runs in parallel. Findings do not depend on it.
    pub jobs: usize,
    /// A watcher, which may ask the run to end.
    pub watch: Option<&'static Watch>,
    /// The execution paths. Findings do not depend on them.
    pub paths: Paths,
}

impl Limits {
    /// Starts the time now, for all runs with the returned limits.
    #[must_use]
    pub fn started(self) -> Self {
        Self { until: self.deadline(), ..self }
    }

    /// The end of a run that starts now.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.until.or_else(|| self.time.and_then(|time| Instant::now().checked_add(time)))
    }
}

/// The code that executes instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// Fast paths for common cases, with the same results as [`Paths::General`].
    #[default]
    Fast,
    /// General code for everything. Slow; tests compare the two.
    General,
}

impl Default for Limits {
    fn default() -> Self {
        let (lane_instructions, paths) = (20_000_000_000, Paths::Fast);
        Self { lane_instructions, time: None, until: None, jobs: 1, watch: None, paths }
    }
}

/// The checks to make on a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Assume that lanes run in lock step: every instruction orders their earlier actions before their later
    /// ones. No GPU since sm_70 guarantees that.
    pub lock_step: bool,
    /// Record the uses of barriers in the first block.
    pub barrier_uses: bool,
}
