//! A side after the symbolic runs of its launches.

use crate::mismatch::Mismatch;
use crate::symbolic::Symbolic;
use exec::{Outcome, Results, StopReason};

/// A side after its runs.
pub(crate) struct SideRun {
    /// The outcome of each launch that ran.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) results: Vec<Results>,
    pub(crate) domain: Symbolic,
    /// The reason why the next launch was not run although the one before it completed.
    pub(crate) obstacle: Option<Mismatch>,
}

impl SideRun {
    /// Returns `true` if a launch was interrupted or ran out of time.
    pub(crate) fn was_interrupted(&self) -> bool {
        let stop = |outcome: &Outcome| outcome.gap.as_ref().map(|gap| gap.stop);
        let mut stops = self.outcomes.iter().filter_map(stop);
        stops.any(|stop| matches!(stop, StopReason::Time { .. } | StopReason::Interrupted))
    }

    /// Returns `true` if all launches completed.
    pub(crate) fn ended(&self) -> bool {
        self.obstacle.is_none() && self.outcomes.iter().all(|outcome| outcome.gap.is_none())
    }
}
