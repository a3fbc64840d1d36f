//! The right to write the answer, which the command and its guard ([`crate::overdue`]) compete for.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

/// The owner of the answer: nobody so far, the command or the guard.
#[derive(Debug, Default)]
pub(crate) struct Pen(AtomicU8);

impl Pen {
    const FREE: u8 = 0;
    const COMMAND: u8 = 1;
    const GUARD: u8 = 2;

    /// Takes the pen for the command. If the guard has it, the process ends soon, and this does not return.
    pub(crate) fn take(&self) {
        while self.owner_after(Self::COMMAND) == Self::GUARD {
            thread::park();
        }
    }

    /// Takes the pen for the guard, unless the command has it.
    pub(crate) fn take_for_guard(&self) -> bool {
        self.owner_after(Self::GUARD) == Self::GUARD
    }

    /// Takes the pen if it is free; returns its owner.
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
        let (pen, guarded) = (Pen::default(), Pen::default());
        pen.take();
        pen.take();
        assert!(!pen.take_for_guard());
        assert!(guarded.take_for_guard());
        assert_eq!(guarded.owner_after(Pen::COMMAND), Pen::GUARD);
    }
}
