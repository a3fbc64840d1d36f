//! Long work: shows how far it is, on a terminal, and ends cleanly at Ctrl-C.
//!
//! At the first Ctrl-C runs end with what they know, as if out of time; at the second the program
//! ends at once.

use crate::console::write_err;
use driver::Watch;
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
                line(WATCH.blocks(), WATCH.instructions(), start.elapsed())
            ));
            shown = true;
        }
    }
    if shown {
        write_err("\r\x1b[K");
    }
}

/// `12 blocks, 3.4 G instructions, 0.9 G/s, 4 s`
fn line(blocks: u64, instructions: u64, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let billions = instructions as f64 / 1e9;
    let speed = billions / seconds.max(0.001);
    format!("{blocks} blocks, {billions:.1} G instructions, {speed:.1} G/s, {seconds:.0} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is() {
        let line = line(12, 3_400_000_000, Duration::from_secs(4));
        assert_eq!(line, "12 blocks, 3.4 G instructions, 0.8 G/s, 4 s");
    }
}
