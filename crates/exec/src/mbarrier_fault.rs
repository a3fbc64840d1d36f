//! What can be wrong with an mbarrier (manual §9.7.13.15), for reports.

use crate::finding::{Place, Target, Thread};

/// An mbarrier that is used as it must not be.
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
    /// There is no mbarrier at the place: not initialised, or invalidated.
    NotLive,
    /// One is initialised where one is.
    Initialised {
        /// Where it was initialised first.
        other: Place,
    },
    /// Its bytes are accessed as ordinary memory.
    PlainAccess {
        /// Where it was initialised.
        other: Place,
    },
    /// A count of arrivals that is not between 1 and 2²⁰−1.
    Count {
        /// The count.
        count: u32,
    },
    /// More arrivals than are pending.
    TooMany {
        /// Arrivals that are pending.
        pending: u32,
        /// Arrivals that come.
        count: u32,
    },
    /// More than 2²⁰−1 bytes or arrivals are under way.
    Range,
    /// More bytes were delivered than announced, and no arrival is pending.
    NotAnnounced {
        /// Bytes too many.
        bytes: u64,
    },
    /// Bytes are announced, or an arrival is added, where the phase may be over already.
    Late(Other),
    /// An arrival that must not end the phase may be its last.
    Completes(Other),
    /// The state belongs to another mbarrier.
    OtherState,
    /// The state names a phase that is long over.
    OldState {
        /// The phase that it names.
        named: u64,
        /// The phase of the barrier.
        current: u64,
    },
    /// The block ends with bytes announced and not delivered, or the other way round.
    Unbalanced {
        /// Bytes announced, and delivered.
        bytes: [u64; 2],
    },
    /// On another schedule this counts for the phase before.
    EarlyContribution {
        /// The phase.
        phase: u64,
        /// The earlier one that nothing orders before it.
        other: Other,
    },
    /// On another schedule this wait returns for an earlier phase.
    EarlyWait {
        /// The phase.
        phase: u64,
        /// The earlier one that nothing orders before it.
        other: Other,
    },
    /// On another schedule the next phase is over before a wait looks, which then waits for another one.
    Overtaken {
        /// The phase that is waited for; none for the one before the first.
        phase: Option<u64>,
        /// The wait.
        other: Other,
    },
    /// Nobody has waited for the phase before, as the manual demands.
    Unobserved {
        /// The phase.
        phase: u64,
    },
}

/// A phase that threads wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierWait {
    /// The mbarrier.
    pub target: Target,
    /// The phase that is waited for.
    pub phase: u64,
    /// The phase the barrier is in; none if it is not live.
    pub current: Option<u64>,
    /// Arrivals that a phase expects.
    pub expected: u32,
    /// Arrivals that have not come.
    pub pending: u32,
    /// Bytes announced, and delivered.
    pub bytes: [u64; 2],
    /// Threads that have contributed to the phase, by instruction.
    pub came: Vec<Contributor>,
    /// Threads that contributed to the phase before and not to this one.
    pub missing: Vec<Contributor>,
}

/// Threads that contribute to a phase at one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// One of them.
    pub first: Thread,
    /// How many there are.
    pub threads: u32,
    /// The instruction.
    pub place: Place,
    /// Set if copies of theirs contribute.
    pub copy: bool,
}

/// A bulk copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkTransfer {
    /// Bytes that it copies.
    pub bytes: u32,
    /// How its completion shows.
    pub completion: CopyCompletion,
}

/// How the completion of a bulk copy shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopyCompletion {
    /// By the end of a phase of an mbarrier.
    Phase {
        /// The mbarrier.
        target: Target,
        /// The phase.
        phase: u64,
    },
    /// By a wait of its thread for a bulk group.
    Group {
        /// Groups that the thread committed after this one; none if the copy is in no committed group.
        newer: Option<u32>,
    },
}

/// An operation of another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Other {
    /// The thread.
    pub thread: Thread,
    /// Where.
    pub place: Place,
}

impl MbarrierFaultKind {
    /// Tells whether it is worth telling but no error: what happens is clear, on today's hardware.
    #[must_use]
    pub fn is_note(&self) -> bool {
        matches!(self, Self::Unobserved { .. })
    }

    /// Tells whether the phase of something depends on the schedule.
    #[must_use]
    pub fn is_reuse(&self) -> bool {
        matches!(
            self,
            Self::EarlyContribution { .. } | Self::EarlyWait { .. } | Self::Overtaken { .. }
        )
    }
}
