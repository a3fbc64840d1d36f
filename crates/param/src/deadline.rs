//! What a proof may cost: when it must end, at a time or when its user says so, and how many launches are run at once.
//!
//! Kept for the thread that proves, because almost every question may be the last one. Where it is over nothing more is
//! shown, and no more launches are run: what is open then stays open. So a limit errs towards `unknown`; what was proved or
//! refuted before stays so.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// What ends a proof.
#[derive(Default)]
pub struct Limit {
    /// How long it may take.
    pub time: Option<Duration>,
    /// Whether somebody wants it to end.
    pub interrupted: Option<Box<dyn Fn() -> bool>>,
    /// Launches that are run at once; the answer does not depend on it.
    pub jobs: usize,
}

struct Running {
    until: Option<Instant>,
    interrupted: Option<Box<dyn Fn() -> bool>>,
    jobs: usize,
}

thread_local! {
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    static OVER: Cell<bool> = const { Cell::new(false) };
}

/// Does some work of this thread within a limit; whether the limit cut it short, too.
pub fn within<T>(limit: Limit, work: impl FnOnce() -> T) -> (T, bool) {
    let until = limit.time.and_then(|time| Instant::now().checked_add(time));
    let running = Running { until, interrupted: limit.interrupted, jobs: limit.jobs };
    let before = RUNNING.with_borrow_mut(|one| one.replace(running));
    OVER.set(false);
    let result = work();
    let over = OVER.replace(false);
    RUNNING.with_borrow_mut(|one| *one = before);
    (result, over)
}

/// Whether the limit is reached.
pub(crate) fn is_over() -> bool {
    if !OVER.get() {
        let reached = RUNNING.with_borrow(|running| {
            running.as_ref().is_some_and(|one| {
                one.until.is_some_and(|until| Instant::now() >= until)
                    || one.interrupted.as_ref().is_some_and(|asks| asks())
            })
        });
        OVER.set(reached);
    }
    OVER.get()
}

/// How long somebody may be waited for who gets `most` otherwise.
pub(crate) fn left(most: Duration) -> Duration {
    let until = RUNNING.with_borrow(|running| running.as_ref().and_then(|one| one.until));
    until.map_or(most, |until| until.saturating_duration_since(Instant::now()).min(most))
}

/// How many launches are run at once.
pub(crate) fn jobs() -> usize {
    RUNNING.with_borrow(|running| running.as_ref().map_or(1, |one| one.jobs.max(1)))
}
