//! Long work: shows how far it is, on a terminal, and ends cleanly at Ctrl-C.
//!
//! At the first Ctrl-C runs end with what they know, as if out of time; at the second the program
//! ends at once.

use crate::console::write_err;
use driver::{Stage, Watch};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

static WATCH: Watch = Watch::new();

/// Nothing is shown before.
const PATIENCE: Duration = Duration::from_secs(1);

/// What runs are watched with.
pub(crate) fn watch() -> &'static Watch {
    &WATCH
}

/// Ends runs at Ctrl-C. Where no handler can be set, the program ends as it always did.
pub(crate) fn catch_interrupts() {
    let _ = ctrlc::set_handler(|| {
        if WATCH.is_stopped() {
            // 128 and the number of the signal, as shells have it.
            std::process::exit(130);
        }
        WATCH.stop();
        write_err("\ninterrupted: ending with what is known; again to end at once\n");
    });
}

/// A line that says how far runs are, until it is dropped.
pub(crate) struct Display {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Display {
    /// Shows it if there is a terminal to show it on.
    pub(crate) fn start() -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let thread = std::io::stderr().is_terminal().then(|| {
            let done = Arc::clone(&done);
            thread::spawn(move || show(&done))
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

fn show(done: &AtomicBool) {
    let start = Instant::now();
    let mut shown = false;
    while !done.load(Ordering::Relaxed) {
        thread::park_timeout(Duration::from_millis(200));
        if start.elapsed() >= PATIENCE && !done.load(Ordering::Relaxed) {
            write_err(&format!(
                "\r\x1b[K{}",
                line(WATCH.stage(), WATCH.instructions(), start.elapsed())
            ));
            shown = true;
        }
    }
    if shown {
        write_err("\r\x1b[K");
    }
}

/// `12 of 64 blocks, 3.4 G instructions, 0.9 G/s, 4 s`
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
