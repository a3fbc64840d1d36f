//! Operations on mbarriers, their answers and errors: the vocabulary between the engine and [`super`].

use super::phases::{Lanes, Overtaken};
use crate::copies::AgentId;
use crate::lanes::Mask;
use crate::shadow::Site;

/// An mbarrier of a block, by the order in which places were first used.
pub type MbarrierId = u16;

/// The place of an mbarrier: the number that the engine gave the allocation, and an offset.
pub type MbarrierPlace = (u32, i64);

/// A misuse of an mbarrier. The run has no defined state after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierMisuse {
    /// No mbarrier is live at this place.
    NotLive,
    /// An mbarrier is live, and it is initialised again or its bytes are accessed.
    Live(Site),
    /// An arrival count outside 1 to 2²⁰−1.
    Count(u32),
    /// More arrivals than pending.
    TooMany {
        /// Arrivals that are pending.
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
    Late(Lanes),
    /// An arrival with `noComplete` may be the last and end the phase.
    Completes(Lanes),
    /// The state came from an arrival at another mbarrier or in an earlier life.
    OtherState,
    /// The state names a phase other than the current and the previous one.
    OldState {
        /// The named phase.
        named: u64,
        /// The current phase.
        current: u64,
    },
}

/// A contribution or wait with another phase on another schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierReuse {
    /// A contribution to this phase that is not after a contribution to the previous one.
    Contribution {
        /// The phase.
        phase: u64,
        /// The earlier contributions, unordered with it.
        earlier: Lanes,
    },
    /// A wait for this phase that is not after a contribution to the previous one.
    Early {
        /// The phase.
        phase: u64,
        /// The earlier contributions, unordered with it.
        earlier: Lanes,
    },
    /// A wait for this phase (`None`: the one before the first) that is not before any contribution to the
    /// next one.
    Overtaken {
        /// The phase.
        phase: Option<u64>,
        /// The wait.
        wait: Overtaken,
    },
}

impl MbarrierReuse {
    /// Returns the phase of the contribution or wait in this run; `None` for the one before the first.
    #[must_use]
    pub fn phase(&self) -> Option<u64> {
        match self {
            Self::Contribution { phase, .. } | Self::Early { phase, .. } => Some(*phase),
            Self::Overtaken { phase, .. } => *phase,
        }
    }
}

/// A finding about an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierFinding {
    /// A phase mismatch on another schedule; the run continues.
    Reuse(MbarrierReuse),
    /// The manual requires a wait between phases (§9.7.13.15.4); no observable result depends on it.
    Unobserved(u64),
}

/// The reason why the run cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierStop {
    /// An error of the kernel.
    Misuse(MbarrierMisuse),
    /// Undecided: the phase may be over before its bytes are announced.
    Undecided(Lanes),
    /// A wait for a phase of a barrier with an expected count of zero.
    NoneExpected,
}

/// The outcome of an operation.
pub type Outcome<T> = Result<T, MbarrierStop>;

/// The name of a phase in a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedPhase {
    /// By parity.
    Parity(bool),
    /// By the state that an arrival returned.
    State(MbarrierState),
}

/// A phase of one life of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierState {
    /// The mbarrier.
    pub id: MbarrierId,
    /// The number of its life.
    pub life: u32,
    /// The phase, counted from zero; `u64::MAX` for the one before the first.
    pub phase: u64,
}

/// Outcome of a wait: the lanes continue, or block until the phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The phase is over; the lanes continue.
    Over(MbarrierState),
    /// The lanes wait for this phase.
    Blocked(MbarrierState),
}

/// Parameters of an arrival.
#[derive(Clone, Copy, Debug)]
pub struct ArrivalTerms {
    /// Arrivals that each lane counts for.
    pub count: u32,
    /// Bytes that each lane announces in the same step.
    pub expects: Option<u32>,
    /// Set if later phases no longer expect these arrivals.
    pub drops: bool,
    /// Set if the arrival must not end the phase.
    pub no_complete: bool,
    /// Set if the arrival passes on the actions of its lanes.
    pub releases: bool,
    /// The scope of the release.
    pub scope: MbarrierScope,
}

/// The scope within which an mbarrier operation orders memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MbarrierScope {
    /// The threads of the block.
    Block,
    /// The threads of the cluster.
    Cluster,
    /// No scope is written. The cluster is assumed if the arrival and the wait are in different blocks.
    #[default]
    Assumed,
}

/// The state of an mbarrier with waiting threads, for a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierStatus {
    /// The current phase; `None` if it is not live.
    pub phase: Option<u64>,
    /// Arrivals expected for each phase.
    pub expected: u32,
    /// Arrivals still pending.
    pub pending: u32,
    /// Bytes announced and delivered in this phase.
    pub bytes: [u64; 2],
    /// Contributors to this phase and to the previous one, with `true` for those by a copy.
    pub contributors: [Vec<(Lanes, bool)>; 2],
}

/// An operation of lanes on an mbarrier.
#[derive(Clone, Copy, Debug)]
pub enum MbarrierEvent {
    /// `init` with this count.
    Init(u32),
    /// `inval`
    Inval,
    /// An arrival of each lane.
    Arrive(ArrivalTerms),
    /// `expect_tx`: bytes of each lane.
    Expect(u32),
    /// `complete_tx`: bytes of each lane.
    Deliver(u32),
    /// `cp.async.mbarrier.arrive` of each lane.
    CopiesArrive {
        /// Set without `.noinc`: a pending arrival is added first.
        increments: bool,
    },
    /// A bulk copy of a lane delivers bytes.
    BulkDeliver {
        /// The copy.
        copy: AgentId,
        /// Bytes.
        bytes: u32,
    },
    /// Lanes wait for a phase.
    Wait(NamedPhase, WaitTerms),
    /// Lanes test once for the end of a phase.
    Test(NamedPhase),
}

/// Parameters of a wait.
#[derive(Clone, Copy, Debug)]
pub struct WaitTerms {
    /// Set if the wait acquires the times passed on by arrivals.
    pub acquires: bool,
    /// The scope of the acquire.
    pub scope: MbarrierScope,
}

/// The answer to an operation.
#[derive(Clone, Debug)]
pub enum MbarrierAnswer {
    /// No answer is needed.
    Done,
    /// The phase that each lane's arrival counts for.
    Arrived(Vec<(Mask, MbarrierState)>),
    /// The outcome of a wait.
    Waiting(Waiting),
    /// The phase that a test refers to; and a contribution to the phase before that, if one is unordered with the
    /// test. On some schedule the test then refers to an earlier phase.
    Tested(MbarrierState, Option<Lanes>),
}
