//! Long work: shows its progress on a terminal, and ends cleanly at Ctrl-C.
//!
//! At the first Ctrl-C runs end with their results so far, as if out of time; at the second the program ends at once.
//! A call from another program has a watch of its own and no handler.

use crate::console::{Console, print_message};
use driver::{Stage, Watch};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

static WATCH: Watch = Watch::new();

/// No progress is shown before this time.
const PROGRESS_DELAY: Duration = Duration::from_secs(1);

/// Returns the watch for runs of the program.
pub(crate) fn of_program() -> &'static Watch {
    &WATCH
}

/// Watches that no call uses at the moment.
static IDLE: Mutex<Vec<&'static Watch>> = Mutex::new(Vec::new());

/// A watch for one call; no other call uses it until this is dropped.
///
/// Limits are copied freely and hold a `&'static Watch`. So a watch is never freed but reused by a later call, and
/// there are as many as calls ever ran at the same time. No thread of a call that uses the watch outlives the call.
#[derive(Debug)]
pub(crate) struct Lease(&'static Watch);

impl Lease {
    pub(crate) fn new() -> Self {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self(idle.unwrap_or_else(|| Box::leak(Box::default())))
    }

    pub(crate) fn watch(&self) -> &'static Watch {
        self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.reset();
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// Ends runs at Ctrl-C. If no handler can be set, the default handler ends the program.
pub(crate) fn catch_interrupts() {
    let _ = ctrlc::set_handler(|| {
        if WATCH.is_stopped() {
            // 128 plus the number of the signal, as in shells.
            std::process::exit(130);
        }
        WATCH.stop();
        print_message(
            "\ninterrupted: ending with everything known so far; press again to end at once\n",
        );
    });
}

/// A progress line, shown until it is dropped.
pub(crate) struct Display {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Shows it if there is a terminal.
    pub(crate) fn start(console: &Console) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let watch = console.watch();
        let is_shown = console.prints() && std::io::stderr().is_terminal();
        let thread = is_shown.then(|| {
            let done = Arc::clone(&done);
            thread::spawn(move || show(&done, watch))
        });
        Self { done, thread }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn show(done: &AtomicBool, watch: &Watch) {
    let start = Instant::now();
    let mut shown = false;
    while !done.load(Ordering::Relaxed) {
        thread::park_timeout(Duration::from_millis(200));
        if start.elapsed() >= PROGRESS_DELAY && !done.load(Ordering::Relaxed) {
            print_message(&format!(
                "\r\x1b[K{}",
                line(watch.stage(), watch.instructions(), start.elapsed())
            ));
            shown = true;
        }
    }
    if shown {
        print_message("\r\x1b[K");
    }
}

/// Formats progress: `12 of 64 blocks, 3.4 G instructions, 0.9 G/s, 4 s`
fn line(stage: Stage, instructions: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let billions = instructions as f64 / 1e9;
    let speed = billions / seconds.max(0.001);
    match stage {
        Stage::Comparing { done, total } => {
            format!("comparing: {done} of {total} outputs, {seconds:.0} s")
        }
        Stage::Running { total: 0, .. } => format!("{seconds:.0} s"),
        Stage::Running { run, done, total } => {
            let run = if run > 1 { format!("run {run}: ") } else { String::new() };
            format!(
                "{run}{done} of {total} blocks, {billions:.1} G instructions, {speed:.1} G/s, {seconds:.0} s"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is() {
        let at = |stage| line(stage, 3_400_000_000, Duration::from_secs(4));
        let running = |run| at(Stage::Running { run, done: 12, total: 64 });
        assert_eq!(running(1), "12 of 64 blocks, 3.4 G instructions, 0.8 G/s, 4 s");
        assert_eq!(running(3), "run 3: 12 of 64 blocks, 3.4 G instructions, 0.8 G/s, 4 s");
        let comparing = Stage::Comparing { done: 5, total: 9 };
        assert_eq!(at(comparing), "comparing: 5 of 9 outputs, 4 s");
        assert_eq!(at(Stage::Running { run: 0, done: 0, total: 0 }), "4 s");
    }
}
