//! A side after its launches ran on terms.

use crate::mismatch::Mismatch;
use crate::symbolic::Symbolic;
use exec::{Outcome, Results, Stop};

/// A side after its runs.
pub(crate) struct Ran {
    /// Of each launch, as far as they were run.
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) results: Vec<Results>,
    pub(crate) domain: Symbolic,
    /// Why a launch was not run, if the one before it came to its end.
    pub(crate) obstacle: Option<Mismatch>,
}

impl Ran {
    /// Whether a launch was interrupted or ran out of time.
    pub(crate) fn was_interrupted(&self) -> bool {
        let stop = |outcome: &Outcome| outcome.gap.as_ref().map(|gap| gap.stop);
        let mut stops = self.outcomes.iter().filter_map(stop);
        stops.any(|stop| matches!(stop, Stop::Time { .. } | Stop::Interrupted))
    }

    /// Whether all launches came to their end.
    pub(crate) fn ended(&self) -> bool {
        self.obstacle.is_none() && self.outcomes.iter().all(|outcome| outcome.gap.is_none())
    }
}
