//! What a comparison may cost, from its start to its end: both sides, deciding and the runs that show a
//! difference share one deadline.

use decide::Deadline;
use exec::Limits;

/// Limits that began to count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    limits: Limits,
}

impl Clock {
    pub(crate) fn start(limits: Limits) -> Self {
        Self { limits: limits.started() }
    }

    /// Limits of a run that starts now.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// When the search for an answer stops.
    pub(crate) fn deadline(&self) -> Deadline {
        let stop = self.limits.watch.map(exec::Watch::stop_flag);
        Deadline { at: self.limits.until, stop }
    }
}
