//! What a proof may cost: when it must end, at a time or when its user says so, and how many launches are run at once.
//!
//! Kept for the thread that proves, because almost every question may be the last one. Where it is over nothing more is
//! shown, and no more launches are run: what is open then stays open. So a limit errs towards `unknown`; what was proved or
//! refuted before stays so.
//!
//! Work that does not come to such a place soon after is given up as a whole: what all of it is made of (polynomials, formulas,
//! statements) calls `tick`, which unwinds to [`within`].

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

/// What unwinds from work that is given up.
struct GivenUp;

/// How long work goes on at most after it is over.
const GRACE: Duration = Duration::from_millis(400);
/// Ticks between two looks at the clock.
const TICKS: u32 = 1 << 10;

thread_local! {
    static TICKED: Cell<u32> = const { Cell::new(0) };
    /// Since when it is over.
    static SINCE: Cell<Option<Instant>> = const { Cell::new(None) };
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    static OVER: Cell<bool> = const { Cell::new(false) };
}

/// What came of work within a limit.
pub struct Done<T> {
    /// Its result; nothing if it was given up.
    pub result: Option<T>,
    /// Whether the limit cut it short.
    pub is_cut: bool,
}

/// Does some work of this thread within a limit.
pub fn within<T>(limit: Limit, work: impl FnOnce() -> T) -> Done<T> {
    let until = limit.time.and_then(|time| Instant::now().checked_add(time));
    let running = Running { until, interrupted: limit.interrupted, jobs: limit.jobs };
    let before = RUNNING.with_borrow_mut(|one| one.replace(running));
    OVER.set(false);
    SINCE.set(None);
    // Work that is given up leaves nothing behind but what it owns.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let is_cut = OVER.replace(false);
    RUNNING.with_borrow_mut(|one| *one = before);
    match result {
        Ok(result) => Done { result: Some(result), is_cut },
        Err(panic) if panic.is::<GivenUp>() => Done { result: None, is_cut: true },
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// A small part of some work is done: gives the work up if it should have ended some time ago.
#[inline]
pub(crate) fn tick() {
    let ticked = TICKED.get().wrapping_add(1);
    TICKED.set(ticked);
    if ticked.is_multiple_of(TICKS) && is_over() {
        give_up();
    }
}

#[cold]
fn give_up() {
    let since = SINCE.get().unwrap_or_else(Instant::now);
    SINCE.set(Some(since));
    if since.elapsed() > GRACE {
        // No panic: nobody is told of it but `within`.
        std::panic::resume_unwind(Box::new(GivenUp));
    }
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
