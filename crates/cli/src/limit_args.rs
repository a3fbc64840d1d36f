//! The flags that say how much a run may cost.

use driver::{Limits, Watch};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::Duration;

/// Limits of a run.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Give up after this many instructions, counted for each thread: a number, or 20G.
    #[arg(long, value_name = "N", value_parser = driver::duration::count)]
    max_instructions: Option<u64>,

    /// Give up after this many seconds.
    #[arg(long, value_name = "SECONDS", value_parser = driver::duration::seconds)]
    timeout: Option<Duration>,

    /// Run this many blocks at the same time; the answer does not depend on it. [default: as many
    /// as there are processors]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

impl LimitArgs {
    pub(crate) fn limits(self, watch: &'static Watch) -> Limits {
        let usual = Limits::default();
        let lane_instructions = self.max_instructions.unwrap_or(usual.lane_instructions);
        let time = self.timeout.or(usual.time);
        let watch = Some(watch);
        Limits { lane_instructions, time, jobs: self.jobs(), watch, ..usual }.started()
    }

    /// How long it may take, if that was said.
    pub(crate) fn time(self) -> Option<Duration> {
        self.timeout
    }

    pub(crate) fn jobs(self) -> usize {
        jobs(self.jobs)
    }
}

/// As many as are asked for, or as there are processors.
pub(crate) fn jobs(given: Option<NonZeroUsize>) -> usize {
    given.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}
