//! Resource limits of a proof: a time limit, interruption by the user, and the number of parallel runs.
//!
//! The limits are thread-local, because code at every depth of a proof tests them ([`is_over`]). Once the limit is
//! reached, no more claims are proved and no more launches are run: open claims stay open. So a limit errs towards
//! `unknown`; earlier proofs and refutations stand.
//!
//! Work that goes on for a while without such a test is abandoned. The basic operations (on polynomials, formulas and
//! statements) call [`tick`], which then unwinds to [`within`] or [`until_deadline`].

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Limits of a proof.
#[derive(Default)]
pub struct Limit {
    /// Time limit.
    pub time: Option<Duration>,
    /// Returns `true` to interrupt the proof.
    pub interrupted: Option<Box<dyn Fn() -> bool>>,
    /// Number of launches run in parallel; the answer does not depend on it.
    pub jobs: usize,
}

struct Running {
    until: Option<Instant>,
    interrupted: Option<Box<dyn Fn() -> bool>>,
    jobs: usize,
}

/// Payload that unwinds from abandoned work.
struct DeadlinePassed;

/// Time from the limit until the work is abandoned.
const GRACE: Duration = Duration::from_millis(400);
/// Ticks between two readings of the clock.
const TICKS: u32 = 1 << 10;

thread_local! {
    /// Ticks so far.
    static TICKED: Cell<u32> = const { Cell::new(0) };
    /// Time at which the limit was reached.
    static REACHED_AT: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The limits of the running work.
    static RUNNING: RefCell<Option<Running>> = const { RefCell::new(None) };
    /// Set once the limit was reached.
    static OVER: Cell<bool> = const { Cell::new(false) };
}

/// The result of limited work.
pub struct LimitedResult<T> {
    /// The result; `None` if the work was abandoned.
    pub result: Option<T>,
    /// Set if the limit was reached before the work was done.
    pub is_cut: bool,
}

/// Runs work on this thread within a limit.
pub fn within<T>(limit: Limit, work: impl FnOnce() -> T) -> LimitedResult<T> {
    let until = limit.time.and_then(|time| Instant::now().checked_add(time));
    let running = Running { until, interrupted: limit.interrupted, jobs: limit.jobs };
    let before = RUNNING.with_borrow_mut(|one| one.replace(running));
    OVER.set(false);
    REACHED_AT.set(None);
    // Abandoned work only affects data that it owns.
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    let is_cut = OVER.replace(false);
    RUNNING.with_borrow_mut(|one| *one = before);
    match result {
        Ok(result) => LimitedResult { result: Some(result), is_cut },
        Err(panic) if panic.is::<DeadlinePassed>() => LimitedResult { result: None, is_cut: true },
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs a part of the work. Returns `None` if the part was abandoned because the deadline passed; no time is left for
/// the other parts either.
pub fn until_deadline<T>(work: impl FnOnce() -> T) -> Option<T> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(panic) if panic.is::<DeadlinePassed>() => None,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Counts a small step of work. Abandons the work if the limit was reached more than `GRACE` ago.
#[inline]
pub fn tick() {
    let ticked = TICKED.get().wrapping_add(1);
    TICKED.set(ticked);
    if ticked.is_multiple_of(TICKS) && is_over() {
        give_up();
    }
}

#[cold]
fn give_up() {
    let reached_at = REACHED_AT.get().unwrap_or_else(Instant::now);
    REACHED_AT.set(Some(reached_at));
    if reached_at.elapsed() > GRACE {
        // Unwinds without a message, unlike a panic: only `within` and `until_deadline` catch it.
        std::panic::resume_unwind(Box::new(DeadlinePassed));
    }
}

/// Returns `true` if the limit is reached.
pub fn is_over() -> bool {
    if !OVER.get() {
        let reached = RUNNING.with_borrow(|running| {
            running.as_ref().is_some_and(|one| {
                one.until.is_some_and(|until| Instant::now() >= until)
                    || one.interrupted.as_ref().is_some_and(|is_interrupted| is_interrupted())
            })
        });
        OVER.set(reached);
    }
    OVER.get()
}

/// Time left to wait, at most `most`.
pub fn left(most: Duration) -> Duration {
    let until = RUNNING.with_borrow(|running| running.as_ref().and_then(|one| one.until));
    until.map_or(most, |until| until.saturating_duration_since(Instant::now()).min(most))
}

/// Number of launches to run in parallel.
pub fn jobs() -> usize {
    RUNNING.with_borrow(|running| running.as_ref().map_or(1, |one| one.jobs.max(1)))
}
