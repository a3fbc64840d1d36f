//! The order of a block's events: the one entry through which an engine tells what happened.
//!
//! An engine reports each event with the lanes that take part, in the order of one execution. [`Order::apply`]
//! takes the events that need no answer; barriers and copies have methods, because they answer. What an event
//! means is in the file of its primitive: [`Clocks`], [`Barriers`], [`Copies`]. Nothing here decides anything,
//! so it errs only as those do.

use crate::barriers::{Barriers, Generation, Misuse, Registration, Released, Reuse};
use crate::clocks::{Clocks, Time};
use crate::copies::{Copies, CopyId};
use crate::lanes::Mask;

/// An event of lanes of one warp that needs no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncEvent {
    /// A fence, or an access that acts as one.
    Fence,
    /// A read of something that another thread may have written for the lanes to see.
    Observe,
    /// A collective, which orders fences but no memory.
    Collective,
    /// `bar.warp.sync`, which orders the memory accesses of the lanes.
    WarpBarrier,
    /// `cp.async.commit_group`
    CommitCopies,
    /// `cp.async.wait_group` for all but this many groups; without a number, for all copies.
    WaitForCopies(Option<u64>),
    /// The lanes exit.
    Exit {
        /// Whether other lanes of the warp still run.
        others_go_on: bool,
    },
}

/// What is ordered in a block so far.
#[derive(Debug)]
pub struct Order {
    clocks: Clocks,
    barriers: Barriers,
    copies: Copies,
}

impl Order {
    /// For a block of this many warps.
    #[must_use]
    pub fn new(warps: usize) -> Self {
        Self {
            clocks: Clocks::new(warps),
            barriers: Barriers::new(warps),
            copies: Copies::new(warps),
        }
    }

    /// Starts another block of `warps` warps, as many as before.
    pub fn restart(&mut self, warps: usize) {
        self.clocks.restart();
        self.barriers = Barriers::new(warps);
        self.copies = Copies::new(warps);
    }

    /// Takes note of an event.
    #[inline]
    pub fn apply(&mut self, warp: usize, lanes: Mask, event: SyncEvent) {
        match event {
            SyncEvent::Fence => self.clocks.fence(warp, lanes),
            SyncEvent::Observe => self.clocks.observe(warp, lanes),
            SyncEvent::Collective => self.clocks.meet(warp),
            SyncEvent::WarpBarrier => self.clocks.warp_barrier(warp, lanes),
            SyncEvent::CommitCopies => self.copies.commit(warp, lanes),
            SyncEvent::WaitForCopies(pending) => {
                self.copies.wait(warp, lanes, pending, self.clocks.now(warp));
            }
            SyncEvent::Exit { others_go_on } => {
                self.barriers.exit(&mut self.clocks, warp, lanes, others_go_on);
            }
        }
    }

    /// Registers a warp at barrier `id`; returns the reuse that it makes too early, if any.
    ///
    /// # Errors
    /// What is wrong about that, if the manual does not allow it.
    pub fn arrive(&mut self, id: u8, registration: Registration) -> Result<Option<Reuse>, Misuse> {
        self.barriers.register(&mut self.clocks, id, registration)
    }

    /// Tells whether all threads have come that barrier `id` counts.
    #[must_use]
    pub fn is_complete(&self, id: u8) -> bool {
        self.barriers.is_complete(id)
    }

    /// Completes barrier `id`: orders those who came before those who waited, whom it returns.
    pub fn release(&mut self, id: u8) -> Released {
        self.barriers.release(&mut self.clocks, id)
    }

    /// The generation that barrier `id` collects.
    #[must_use]
    pub fn generation(&self, id: u8) -> &Generation {
        self.barriers.current(id)
    }

    /// Warps that have not come to barrier `id`.
    pub fn missing(&self, id: u8) -> impl Iterator<Item = usize> {
        self.barriers.missing(id)
    }

    /// Lanes start an asynchronous copy.
    pub fn start_copy(&mut self, warp: usize, lanes: Mask) -> CopyId {
        self.copies.start(warp, lanes)
    }

    /// Copies of a thread that are in groups it has not waited for, and copies in no group.
    #[must_use]
    pub fn copies_in_flight(&self, warp: usize, lane: usize) -> (usize, usize) {
        self.copies.in_flight(warp, lane)
    }

    /// The time of a warp.
    #[must_use]
    #[inline]
    pub fn now(&self, warp: usize) -> Time {
        self.clocks.now(warp)
    }

    /// What each thread knows of the others' accesses.
    #[must_use]
    #[inline]
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Which copies their threads have waited for.
    #[must_use]
    #[inline]
    pub fn copies(&self) -> &Copies {
        &self.copies
    }
}
