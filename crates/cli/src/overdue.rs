//! Ends the program where a phase does not look at the clock.
//!
//! Runs, comparisons, proofs and searches look at the deadline themselves, and report everything known by then. Some
//! phases do not, because a step of theirs cannot be cut short: to read and lift a huge file, to lay out huge tensors,
//! to free gigabytes. If the program is still at work some time after its deadline or after Ctrl-C, this guard writes
//! the answer `unknown` and ends the process. It errs in one direction: findings of a phase that ended late are lost.
//!
//! A call in another program has no guard: its process is not ours to end.

use crate::console::Console;
use crate::output_files::with_files;
use crate::proof_args::OutputArgs;
use driver::arguments::KernelPath;
use driver::{Exit, Launches, Limits, Watch};
use nix::sys::resource::{UsageWho, getrusage};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time after the deadline in which a phase may still end on its own.
const GRACE: Duration = Duration::from_millis(800);
/// The time that phases have, counted in processor time: on a busy machine little is done within [`GRACE`].
const PROCESSOR_GRACE: Duration = Duration::from_millis(600);
/// The guard waits no longer than this, however little the program worked: it may wait for a file or a compiler. On a
/// busy machine a phase that does look at the clock needs as long to report.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// The interval between looks at the clock.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The subject of the guard's answer, and its destination.
#[derive(Debug)]
pub(crate) struct Subject {
    /// The command.
    pub(crate) command: &'static str,
    /// The launches that it is about.
    pub(crate) launches: Launches,
    /// The kernel.
    pub(crate) kernel: KernelPath,
    /// Files and formats, of commands that have them.
    pub(crate) output: Option<OutputArgs>,
}

/// Watches over a command until it is dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Guard {
    /// Like [`Guard::start`], for a proof for every size.
    pub(crate) fn of_proof(console: &Console, time: Option<Duration>, subject: Subject) -> Self {
        let limits = Limits { time, watch: Some(console.watch()), ..Limits::default() };
        Self::start(console, &limits.started(), subject)
    }

    /// Starts to watch a command with these limits, if it is a program of its own.
    pub(crate) fn start(console: &Console, limits: &Limits, subject: Subject) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let time = limits.time;
        let thread = console.prints().then(|| {
            let (done, end) = (Arc::clone(&done), End::of(limits));
            let console = console.for_guard();
            thread::spawn(move || {
                if end.passes_before(&done) && console.output_lock().take_for_guard() {
                    let exit = answer(&subject, time, &console);
                    std::process::exit(exit as i32);
                }
            })
        });
        Self { done, thread }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

/// Writes the answer that nothing is known.
fn answer(subject: &Subject, time: Option<Duration>, console: &Console) -> Exit {
    let interrupted = console.watch().is_stopped();
    let cause = match time.filter(|_| !interrupted) {
        Some(time) => format!("stopped {} s after the start (--timeout)", time.as_secs_f64()),
        None => "interrupted".to_owned(),
    };
    let reason = format!("{cause}, in a step that cannot report partial results");
    let Subject { command, launches, kernel, output } = subject;
    let kernel = (&kernel.file, kernel.kernel.as_deref());
    let mut outcome = driver::unfinished((command, *launches), kernel.0, kernel.1, &reason);
    if let Some(output) = output {
        outcome = with_files(outcome, command, output, console).rendered(output.format.into());
    }
    console.write_err(&outcome.messages);
    console.write_out(&outcome.output);
    outcome.exit
}

/// The condition for ending a command from outside.
struct End {
    /// The deadline, if there is one.
    at: Option<Instant>,
    watch: Option<&'static Watch>,
    /// The time at which the deadline was found to have passed, and the processor time then.
    passed: Option<(Instant, Duration)>,
}

impl End {
    fn of(limits: &Limits) -> Self {
        Self { at: limits.deadline(), watch: limits.watch, passed: None }
    }

    /// Waits; returns `false` if the command ended before.
    fn passes_before(mut self, done: &AtomicBool) -> bool {
        loop {
            if done.load(Ordering::Acquire) {
                return false;
            }
            if self.is_over(Instant::now(), processor_time()) {
                return true;
            }
            thread::park_timeout(POLL_INTERVAL);
        }
    }

    /// Returns `true` if the grace period after the deadline or Ctrl-C is over, too.
    fn is_over(&mut self, now: Instant, worked: Duration) -> bool {
        let is_late = self.at.is_some_and(|at| now >= at);
        if !is_late && !self.watch.is_some_and(Watch::is_stopped) {
            return false;
        }
        let (since, before) = *self.passed.get_or_insert((now, worked));
        let (waited, worked) = (now - since, worked.saturating_sub(before));
        waited >= MAX_WAIT || (waited >= GRACE && worked >= PROCESSOR_GRACE)
    }
}

/// The processor time of this process so far.
fn processor_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Duration::MAX };
    let times = [usage.user_time(), usage.system_time()];
    let micros = times.iter().map(|time| time.tv_sec() * 1_000_000 + time.tv_usec()).sum::<i64>();
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_after_the_deadline_is_measured_in_work() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let worked = Duration::from_millis;
        let new = || End { at: Some(at(100)), watch: None, passed: None };
        let mut busy = new();
        assert!(!busy.is_over(at(0), worked(0)));
        assert!(!busy.is_over(at(99), worked(99)));
        assert!(!busy.is_over(at(100), worked(100)));
        assert!(!busy.is_over(at(850), worked(850)));
        assert!(busy.is_over(at(950), worked(950)));
        let mut starved = new();
        assert!(!starved.is_over(at(100), worked(0)));
        assert!(!starved.is_over(at(10_000), worked(500)));
        assert!(starved.is_over(at(10_100), worked(500)));
    }

    #[test]
    fn the_answer_proves_nothing() {
        let (one, all) = (Launches::One, Launches::All);
        for (command, launches, count) in
            [("check", one, 11), ("equiv", one, 12), ("prove", all, 5), ("equiv", all, 1)]
        {
            let asked = (command, launches);
            let outcome = driver::unfinished(asked, "k.ptx", Some("k"), "too late");
            assert_eq!(outcome.exit, Exit::Unknown);
            assert_eq!(outcome.output, "unknown: too late\n");
            let json = outcome.rendered(driver::Format::Json).output;
            let report: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(
                (&report["command"], &report["verdict"]),
                (&command.into(), &"unknown".into())
            );
            let properties = report["properties"].as_array().unwrap();
            assert_eq!(properties.len(), count, "{json}");
            for property in properties {
                assert_eq!(property["verdict"], "unknown", "{json}");
                assert_eq!(property["reasons"][0], "too late", "{json}");
            }
        }
    }

    #[test]
    fn a_stopped_watch_is_a_deadline() {
        static WATCH: Watch = Watch::new();
        let mut end = End { at: None, watch: Some(&WATCH), passed: None };
        let now = Instant::now();
        assert!(!end.is_over(now + MAX_WAIT, Duration::ZERO));
        WATCH.stop();
        assert!(!end.is_over(now, Duration::ZERO));
        assert!(end.is_over(now + GRACE, PROCESSOR_GRACE));
    }
}
