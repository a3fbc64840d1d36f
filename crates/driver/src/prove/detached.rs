//! Work in a thread of its own, abandoned when its time is over.
//!
//! A compiler in a library neither checks our clock nor can be stopped. Its thread runs until it is done or the program
//! ends, and a late result is dropped. A verdict never depends on it; only the report's note on the comparison does.

use super::options::Options;
use crate::Watch;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::Result as Ended;
use std::time::{Duration, Instant};

/// Bytes of the thread's stack: expressions are followed recursively.
const STACK: usize = 64 << 20;
/// The interval between checks for cancellation.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The minimum waiting time for work that began late.
const GRACE: Duration = Duration::from_millis(200);

/// The time limit for waiting.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline {
    until: Option<Instant>,
    watch: Option<&'static Watch>,
}

impl Deadline {
    /// The deadline of a command that began at `started`.
    pub(super) fn of(options: &Options<'_>, started: Instant) -> Self {
        let until = options.time.and_then(|time| started.checked_add(time));
        Self { until, watch: options.watch }
    }

    fn is_over(self, asked: Instant) -> bool {
        let now = Instant::now();
        let late = self.until.is_some_and(|until| now >= until.max(asked + GRACE));
        late || self.watch.is_some_and(Watch::is_stopped)
    }
}

/// Work in another thread.
#[derive(Debug)]
pub(super) struct Detached<T>(Receiver<Ended<T>>);

impl<T: Send + 'static> Detached<T> {
    /// Starts some work; `None` if no thread could be started.
    pub(super) fn start(work: impl FnOnce() -> T + Send + 'static) -> Option<Self> {
        let (sender, receiver) = mpsc::channel();
        let work = move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // The receiver may have ended.
            let _ = sender.send(ended);
        };
        std::thread::Builder::new().stack_size(STACK).spawn(work).ok()?;
        Some(Self(receiver))
    }

    /// Waits for the result; `None` if that takes too long.
    pub(super) fn result(self, deadline: Deadline) -> Option<T> {
        let asked = Instant::now();
        loop {
            match self.0.recv_timeout(CHECK_INTERVAL) {
                Ok(Ok(result)) => return Some(result),
                // Pass on a panic, a bug of ours, to the handler that reports it.
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) if deadline.is_over(asked) => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(milliseconds: u64) -> Deadline {
        let until = Instant::now() + Duration::from_millis(milliseconds);
        Deadline { until: Some(until), watch: None }
    }

    #[test]
    fn endless_work_is_abandoned() {
        let (_kept, never) = mpsc::channel::<()>();
        let work = Detached::start(move || never.recv().is_ok()).unwrap();
        assert_eq!(work.result(deadline(30)), None);
    }

    #[test]
    fn work_is_waited_for() {
        let work = Detached::start(|| 7).unwrap();
        assert_eq!(work.result(Deadline { until: None, watch: None }), Some(7));
    }

    #[test]
    fn a_user_who_wants_an_end_gets_it() {
        static WATCH: Watch = Watch::new();
        let (_kept, never) = mpsc::channel::<()>();
        let work = Detached::start(move || never.recv().is_ok()).unwrap();
        WATCH.stop();
        assert_eq!(work.result(Deadline { until: None, watch: Some(&WATCH) }), None);
    }
}
