//! The budget of a whole comparison: both sides, deciding, and the runs that demonstrate a difference share
//! one deadline.

use decide::Deadline;
use exec::Limits;

/// Limits whose time has started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    limits: Limits,
}

impl Clock {
    pub(crate) fn start(limits: Limits) -> Self {
        Self { limits: limits.started() }
    }

    /// Returns the limits for a run that starts now.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns the deadline of the search for an answer.
    pub(crate) fn deadline(&self) -> Deadline {
        let stop = self.limits.watch.map(exec::Watch::stop_flag);
        Deadline { at: self.limits.until, stop }
    }
}
