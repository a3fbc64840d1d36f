//! A race, as it is reported: two accesses, what each thread had passed, and what excuses it.

use crate::finding::{AccessKind, Place, Target, Thread};
use crate::mbarrier_fault::BulkTransfer;

/// Two accesses to the same bytes that nothing orders, one of which writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The one that was executed first, and the other. On another schedule it is the other way
    /// round.
    pub sides: [RaceSide; 2],
    /// The bytes.
    pub target: Target,
    /// Bytes of an element as the accesses go, where the array is declared as bytes.
    pub element_bytes: Option<u32>,
    /// Both write the same value, at the same address with the same width.
    pub same_value: bool,
    /// One reads, and nothing depends on what it reads.
    pub unused: bool,
    /// One reads through the read-only cache: no barrier orders that with a write.
    pub non_coherent: bool,
    /// They are ordered, and the later one, by a bulk copy, need not see the earlier: no proxy fence is between.
    pub unseen: bool,
    /// The same of a tensor map that the copy reads.
    pub unseen_map: bool,
    /// Both are volatile or stronger, and of one width: the manual defines the outcome, but the
    /// schedule decides it.
    pub strong: bool,
    /// The scope of one leaves out the block of the other: they are not atomic towards each other.
    pub outside_scope: bool,
    /// The blocks of the two are different, and not of one cluster.
    pub strangers: bool,
    /// The inputs for which both access the same bytes, if that depends on inputs: `idx[0] is 3 and idx[1] is 3`.
    pub when: Option<String>,
}

impl Race {
    /// Tells whether it makes no difference on any schedule: both write the same, or nothing depends on what is read.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        self.same_value || self.unused
    }

    /// Tells whether a bulk copy overwrites what threads read before, ordered but without a proxy fence. The manual asks for
    /// one (§9.7.9.25.2); no hardware is known on which it makes a difference that a kernel could see here.
    #[must_use]
    pub fn lacks_fence_after_read(&self) -> bool {
        self.unseen && self.sides[0].kind == AccessKind::Read
    }

    /// Tells whether the source of an asynchronous copy is changed while it is on its way.
    #[must_use]
    pub fn changes_source(&self) -> bool {
        let changes = |side: &RaceSide| side.in_flight && side.kind == AccessKind::Read;
        self.sides.iter().any(|side| changes(side) && side.product.is_none())
    }
}

/// One of the accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// The thread.
    pub thread: Thread,
    /// The instruction.
    pub place: Place,
    /// What it does.
    pub kind: AccessKind,
    /// The last barrier the thread came to before, if any.
    pub passed: Option<Passed>,
    /// An asynchronous copy that its thread has not waited for.
    pub in_flight: bool,
    /// Set if it is a bulk copy.
    pub bulk: bool,
    /// Set if it is a product of a warp group; with the groups that its warp committed after its own, if it is in one.
    pub product: Option<Option<u32>>,
    /// The bulk copy, where it is known.
    pub transfer: Option<Box<BulkTransfer>>,
    /// The thread had ended when the other access came.
    pub ended: bool,
}

/// A barrier that a thread came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The instruction.
    pub place: Place,
    /// It only counted there and did not wait.
    pub only_arrived: bool,
    /// Set if it is an mbarrier.
    pub mbarrier: bool,
    /// Set for `.relaxed` operations of mbarriers, which do not order memory.
    pub relaxed: bool,
}
