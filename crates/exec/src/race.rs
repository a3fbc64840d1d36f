//! Races as reported: two accesses, the barriers each thread had passed, and mitigating facts.

use crate::finding::{AccessKind, Place, Target, Thread};
use crate::mbarrier_fault::BulkTransfer;

/// Two unordered accesses to the same bytes, at least one of them a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The access executed first, and the other one. Another schedule may exchange them.
    pub sides: [RaceSide; 2],
    /// The bytes.
    pub target: Target,
    /// Bytes of an accessed element, if the array is declared as bytes.
    pub element_bytes: Option<u32>,
    /// Set if both accesses write the same value, at the same address with the same width.
    pub same_value: bool,
    /// Set if one of the accesses happens under a condition on data, and so perhaps never together with the other.
    pub conditional: bool,
    /// Set if one access reads, and nothing depends on the value.
    pub unused: bool,
    /// Set if one access reads through the read-only cache: no barrier orders such a read with a write.
    pub non_coherent: bool,
    /// Set if the accesses are ordered, but the later one, by a bulk copy, may not see the earlier one: no proxy
    /// fence separates them.
    pub unseen: bool,
    /// Like `unseen`, for a tensor map that the copy reads.
    pub unseen_map: bool,
    /// Set if both accesses are volatile or stronger, and of one width: the manual defines the outcome, but the
    /// schedule decides it.
    pub strong: bool,
    /// Set if the scope of one access excludes the block of the other: they are not mutually atomic.
    pub outside_scope: bool,
    /// Set if the two threads are in different blocks and not in one cluster.
    pub in_different_units: bool,
    /// Inputs for which the two threads access the same bytes, if that depends on inputs: `idx[0] is 3 and
    /// idx[1] is 3`.
    pub when: Option<String>,
}

impl Race {
    /// Returns `true` if the race makes no difference on any schedule: both accesses write the same, or nothing
    /// depends on the value read.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        self.same_value || self.unused
    }

    /// Returns `true` if a bulk copy overwrites bytes that threads read before, ordered but without a proxy
    /// fence. The manual requires one (§9.7.9.25.2); on no known hardware does it make a difference visible
    /// to a kernel.
    #[must_use]
    pub fn lacks_fence_after_read(&self) -> bool {
        self.unseen && self.sides[0].kind == AccessKind::Read
    }

    /// Returns `true` if the source of an asynchronous copy changes while the copy is in flight.
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
    /// The kind of access.
    pub kind: AccessKind,
    /// The last barrier that the thread reached before, if any.
    pub passed: Option<PassedBarrier>,
    /// Set for an asynchronous copy that its thread has not waited for.
    pub in_flight: bool,
    /// Set if a bulk copy makes the access.
    pub bulk: bool,
    /// Set for a product of a warp group, with the number of groups that its warp committed after the
    /// product's own, if the product is in a group.
    pub product: Option<Option<u32>>,
    /// The bulk copy, if known.
    pub transfer: Option<Box<BulkTransfer>>,
    /// Set if the thread had ended before the other access.
    pub ended: bool,
}

/// A barrier reached by a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedBarrier {
    /// The instruction.
    pub place: Place,
    /// Set if the thread only counted there and did not wait.
    pub only_arrived: bool,
    /// Set if the barrier is an mbarrier.
    pub mbarrier: bool,
    /// Set for `.relaxed` operations of mbarriers, which do not order memory.
    pub relaxed: bool,
}
