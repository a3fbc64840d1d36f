//! The limit on the memory of terms, which ends a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use term::Terms;

/// The most bytes of the terms of one side: with those of both sides and the rest, a comparison fits into 16 GB. A
/// product of two inputs takes eight. The limit is fixed, so that an answer does not depend on the machine.
const MAX_TERM_BYTES: usize = 4 << 30;

/// Tells the engine when the terms take too much memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermMemory(Arc<AtomicBool>);

impl TermMemory {
    /// Ends the run soon if the terms take too much memory.
    #[inline]
    pub(crate) fn watch(&self, terms: &Terms) {
        if terms.bytes() > MAX_TERM_BYTES {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// The flag that ends the run.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}
