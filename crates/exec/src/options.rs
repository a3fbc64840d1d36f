//! Options of a run: limits, which code executes instructions, and what is checked.
//!
//! Nothing here depends on the engine, so every file may import it.

use crate::watch::Watch;
use std::time::{Duration, Instant};

/// How much a run may do.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions, counted for each lane.
    pub lane_instructions: u64,
    /// Time. What a run comes to then depends on the machine.
    pub time: Option<Duration>,
    /// When it ends, for all runs that share these limits; see [`Limits::started`].
    pub until: Option<Instant>,
    /// Blocks that [`crate::check`] runs at the same time. What a run finds does not depend on it.
    pub jobs: usize,
    /// A watcher, which may ask the run to end.
    pub watch: Option<&'static Watch>,
    /// Which code executes instructions. What a run finds does not depend on it.
    pub paths: Paths,
}

impl Limits {
    /// The same, with a time that begins now and is shared by all runs from here on.
    #[must_use]
    pub fn started(self) -> Self {
        Self { until: self.deadline(), ..self }
    }

    /// When a run ends that starts now.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.until.or_else(|| self.time.and_then(|time| Instant::now().checked_add(time)))
    }
}

/// Which code executes instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paths {
    /// Common cases by code of their own, which promises the answer of [`Paths::General`].
    #[default]
    Fast,
    /// Everything by the code for all cases. Slow; tests compare the two.
    General,
}

impl Default for Limits {
    fn default() -> Self {
        let (lane_instructions, paths) = (20_000_000_000, Paths::Fast);
        Self { lane_instructions, time: None, until: None, jobs: 1, watch: None, paths }
    }
}

/// How a kernel is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Lanes that run together stay together: every instruction orders what they did before it with
    /// what they do after it. No GPU since sm_70 promises that.
    pub lock_step: bool,
    /// Keep the uses of barriers in the first block.
    pub barrier_uses: bool,
}
