//! Signals that end a batch: it stops reading, writes complete results, and reports the signal by its exit status.

use nix::sys::signal::{SigSet, Signal};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::thread;

/// The received signals.
#[derive(Debug, Default)]
pub(super) struct ReceivedSignals {
    last: AtomicI32,
    count: AtomicU32,
}

impl ReceivedSignals {
    /// Returns the signal that ends the batch, if one was received.
    pub(super) fn signal(&self) -> Option<i32> {
        Some(self.last.load(Ordering::SeqCst)).filter(|&signal| signal != 0)
    }

    /// Returns `true` if a second signal was received.
    pub(super) fn is_urgent(&self) -> bool {
        self.count.load(Ordering::SeqCst) > 1
    }
}

/// Catches signals from now on. Must be called before any thread starts, because an existing thread could take them.
pub(super) fn catch() -> Arc<ReceivedSignals> {
    let arrived = Arc::new(ReceivedSignals::default());
    let mut set = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        set.add(signal);
    }
    if set.thread_block().is_ok() {
        let seen = Arc::clone(&arrived);
        thread::spawn(move || {
            while let Ok(signal) = set.wait() {
                seen.last.store(signal as i32, Ordering::SeqCst);
                seen.count.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    arrived
}
