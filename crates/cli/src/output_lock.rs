//! A lock for the answer of the program: either the command writes it or its guard ([`crate::overdue`]), not both.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

/// Free, or owned by the command or the guard. Once taken, it is never released.
#[derive(Debug, Default)]
pub(crate) struct OutputLock(AtomicU8);

impl OutputLock {
    const FREE: u8 = 0;
    const COMMAND: u8 = 1;
    const GUARD: u8 = 2;

    /// Takes the lock for the command. If the guard has it, the process ends soon, and this does not return.
    pub(crate) fn take(&self) {
        while self.owner_after(Self::COMMAND) == Self::GUARD {
            thread::park();
        }
    }

    /// Takes the lock for the guard. Returns `false` if the command has it.
    pub(crate) fn take_for_guard(&self) -> bool {
        self.owner_after(Self::GUARD) == Self::GUARD
    }

    /// Takes the lock if it is free; returns its owner.
    fn owner_after(&self, new: u8) -> u8 {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        self.0
            .compare_exchange(Self::FREE, new, success, failure)
            .map_or_else(|owner| owner, |_| new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_of_them_writes() {
        let (lock, guarded) = (OutputLock::default(), OutputLock::default());
        lock.take();
        lock.take();
        assert!(!lock.take_for_guard());
        assert!(guarded.take_for_guard());
        assert_eq!(guarded.owner_after(OutputLock::COMMAND), OutputLock::GUARD);
    }
}
