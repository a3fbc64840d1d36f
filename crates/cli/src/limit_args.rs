//! The flags for the budget of a run.

use driver::{Limits, Watch};
use std::num::{IntErrorKind, NonZeroUsize};
use std::thread::available_parallelism;
use std::time::Duration;

/// Limits of a run.
#[derive(Clone, Copy, Debug, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// Stop after this many instructions, counted per thread: 1000000 or 20G.
    #[arg(long, value_name = "N", value_parser = driver::duration::count)]
    max_instructions: Option<u64>,

    /// Stop after this many seconds, with what is known then: 20, 0.5, 2m.
    #[arg(long, value_name = "SECONDS", value_parser = driver::duration::seconds)]
    timeout: Option<Duration>,

    /// Run this many blocks at once; the answer does not depend on it. [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = parsed_jobs)]
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

    /// The time limit, if given.
    pub(crate) fn time(self) -> Option<Duration> {
        self.timeout
    }

    pub(crate) fn jobs(self) -> usize {
        jobs(self.jobs)
    }
}

/// The default time limit of a comparison for every size: that of `prove`.
pub(crate) const PROOF_TIME: Duration = Duration::from_secs(600);

/// The most threads that are started, even if the user requests more: each takes memory.
const MAX_JOBS: usize = 256;

/// Parses the value of `-j`.
pub(crate) fn parsed_jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number = match text.parse::<usize>() {
        // `MAX_JOBS` limits every large number alike.
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => usize::MAX,
        number => number.unwrap_or(0),
    };
    NonZeroUsize::new(number).ok_or_else(|| "expected a number from 1 up".to_owned())
}

/// Returns the number of jobs that run at once: as requested, or one for each processor.
pub(crate) fn jobs(given: Option<NonZeroUsize>) -> usize {
    let wanted = given.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    wanted.min(MAX_JOBS)
}
