//! What a comparison may cost, from its start to its end: both sides, deciding and the runs that show a
//! difference share one deadline.

use decide::Deadline;
use exec::Limits;
use std::time::Instant;

/// Limits that began to count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    limits: Limits,
    deadline: Option<Instant>,
}

impl Clock {
    pub(crate) fn start(limits: Limits) -> Self {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self { limits, deadline }
    }

    /// Limits of a run that starts now.
    pub(crate) fn limits(&self) -> Limits {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        Limits { time: self.deadline.map(left).or(self.limits.time), ..self.limits }
    }

    /// When the search for an answer stops.
    pub(crate) fn deadline(&self) -> Deadline {
        let stop = self.limits.watch.map(exec::Watch::stop_flag);
        Deadline { at: self.deadline, stop }
    }
}
