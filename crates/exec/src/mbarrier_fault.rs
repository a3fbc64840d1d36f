//! Faults of mbarriers (manual §9.7.13.15), for reports.

use crate::finding::{Place, Target, Thread};

/// A misused mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierFault {
    /// The mbarrier.
    pub target: Target,
    /// The fault.
    pub kind: MbarrierFaultKind,
}

/// A fault in the use of an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MbarrierFaultKind {
    /// No mbarrier at the place: never initialised, or invalidated.
    NotLive,
    /// An mbarrier is initialised where one is live.
    Initialised {
        /// Its first initialisation.
        other: Place,
    },
    /// Its bytes are accessed as ordinary memory.
    PlainAccess {
        /// Its initialisation.
        other: Place,
    },
    /// An arrival count outside 1 to 2²⁰−1.
    Count {
        /// The count.
        count: u32,
    },
    /// More arrivals than pending.
    TooMany {
        /// Pending arrivals.
        pending: u32,
        /// New arrivals.
        count: u32,
    },
    /// More than 2²⁰−1 bytes or arrivals are in flight.
    Range,
    /// More bytes were delivered than announced, and no arrival is pending.
    NotAnnounced {
        /// Bytes in excess.
        bytes: u64,
    },
    /// Bytes are announced, or an arrival is added, possibly after the phase is over.
    Late(Other),
    /// An arrival with `noComplete` may be the last of its phase.
    Completes(Other),
    /// The state belongs to another mbarrier.
    OtherState,
    /// The state names an old phase.
    OldState {
        /// The named phase.
        named: u64,
        /// The phase of the barrier.
        current: u64,
    },
    /// The block ends with more bytes announced than delivered, or the other way round.
    Unbalanced {
        /// Announced and delivered bytes.
        bytes: [u64; 2],
    },
    /// On another schedule this contribution counts for the previous phase.
    EarlyContribution {
        /// The phase.
        phase: u64,
        /// The earlier contribution, unordered with this one.
        other: Other,
    },
    /// On another schedule this wait returns for an earlier phase.
    EarlyWait {
        /// The phase.
        phase: u64,
        /// The earlier contribution, unordered with this wait.
        other: Other,
    },
    /// On another schedule the next phase is over before the wait starts, and the wait is for a later one.
    Overtaken {
        /// The awaited phase; `None` for the one before the first.
        phase: Option<u64>,
        /// The wait.
        other: Other,
    },
    /// No thread has waited for the previous phase, as the manual requires.
    Unobserved {
        /// The phase.
        phase: u64,
    },
}

/// A phase with waiting threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierWait {
    /// The mbarrier.
    pub target: Target,
    /// The awaited phase.
    pub phase: u64,
    /// The current phase; `None` if the mbarrier is not live.
    pub current: Option<u64>,
    /// The expected arrivals of a phase.
    pub expected: u32,
    /// The pending arrivals.
    pub pending: u32,
    /// Announced and delivered bytes.
    pub bytes: [u64; 2],
    /// Contributors to the phase, by instruction.
    pub contributed: Vec<Contributor>,
    /// Contributors to the previous phase that have not contributed to this one.
    pub missing: Vec<Contributor>,
}

/// Threads that contribute to a phase at one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// One of them.
    pub first: Thread,
    /// Their number.
    pub threads: u32,
    /// The instruction.
    pub place: Place,
    /// Set if their copies contribute.
    pub copy: bool,
}

/// A bulk copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkTransfer {
    /// The number of copied bytes.
    pub bytes: u32,
    /// The way to observe its completion.
    pub completion: CopyCompletion,
}

/// The way to observe the completion of a bulk copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyCompletion {
    /// The end of a phase of an mbarrier.
    Phase {
        /// The mbarrier.
        target: Target,
        /// The phase.
        phase: u64,
    },
    /// A wait of its thread for a bulk group.
    Group {
        /// The number of groups committed by the thread after this one; `None` if the copy is in no committed
        /// group.
        newer: Option<u32>,
    },
}

/// An operation of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// The thread.
    pub thread: Thread,
    /// Its place.
    pub place: Place,
}

impl MbarrierFaultKind {
    /// Returns `true` for a note: worth reporting, but no error, because current hardware behaves
    /// predictably.
    #[must_use]
    pub fn is_note(&self) -> bool {
        matches!(self, Self::Unobserved { .. })
    }

    /// Returns `true` if the phase of an operation depends on the schedule.
    #[must_use]
    pub fn is_reuse(&self) -> bool {
        matches!(
            self,
            Self::EarlyContribution { .. } | Self::EarlyWait { .. } | Self::Overtaken { .. }
        )
    }
}
