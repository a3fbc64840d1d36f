//! What is said of mbarriers between the engine and [`super`]: operations, answers, and what is wrong.

use super::phases::{Lanes, Overtaken};
use crate::copies::CopyId;
use crate::lanes::Mask;
use crate::shadow::Site;

/// An mbarrier of a block, by the order in which places were first used.
pub type MbarrierId = u16;

/// Where an mbarrier is: a mark of the allocation, and the byte.
pub type MbarrierPlace = (u32, i64);

/// A misuse of an mbarrier; nothing is known behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierMisuse {
    /// There is no mbarrier at the place.
    NotLive,
    /// There is one, and it is initialised again or its bytes are accessed.
    Live(Site),
    /// A count of arrivals that is not between 1 and 2²⁰−1.
    Count(u32),
    /// More arrivals than are pending.
    TooMany {
        /// Arrivals that are pending.
        pending: u32,
        /// Arrivals that come.
        count: u32,
    },
    /// More than 2²⁰−1 bytes, or arrivals, are under way.
    Range,
    /// More bytes were delivered than announced, and no arrival is pending.
    NotAnnounced {
        /// Bytes too many.
        bytes: u64,
    },
    /// Bytes are announced, or an arrival is added, where the phase may be over already.
    Late(Lanes),
    /// An arrival that must not end the phase may be the last of it.
    Completes(Lanes),
    /// A state that an arrival at another mbarrier gave, or in an earlier life.
    OtherState,
    /// A state of a phase that is neither the current nor the one before.
    OldState {
        /// The phase that the state names.
        named: u64,
        /// The phase that the barrier is in.
        current: u64,
    },
}

/// On another schedule a contribution or a wait belongs to another phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierReuse {
    /// A contribution of this phase that is not after one of the phase before.
    Contribution {
        /// The phase.
        phase: u64,
        /// The earlier ones that nothing orders before it.
        earlier: Lanes,
    },
    /// A wait for this phase that is not after a contribution of the phase before.
    Early {
        /// The phase.
        phase: u64,
        /// The earlier ones that nothing orders before it.
        earlier: Lanes,
    },
    /// A wait for this phase (none: the one before the first) that is not before any contribution of the next one.
    Overtaken {
        /// The phase.
        phase: Option<u64>,
        /// The wait.
        wait: Overtaken,
    },
}

impl MbarrierReuse {
    /// The phase that the contribution or wait belongs to in this run; none for the one before the first.
    #[must_use]
    pub fn phase(&self) -> Option<u64> {
        match self {
            Self::Contribution { phase, .. } | Self::Early { phase, .. } => Some(*phase),
            Self::Overtaken { phase, .. } => *phase,
        }
    }
}

/// Something about an mbarrier that ends the run or is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierFinding {
    /// The run goes on.
    Reuse(MbarrierReuse),
    /// The manual wants a wait between phases (§9.7.13.15.4); nothing that is observed depends on it.
    Unobserved(u64),
}

/// Why the run cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierStop {
    /// An error of the kernel.
    Misuse(MbarrierMisuse),
    /// The phase may be over before its bytes are announced, or not; that is not decided.
    Undecided(Lanes),
    /// A wait for a phase of a barrier that expects no arrivals any more.
    NoneExpected,
}

/// The outcome of an operation.
pub type Outcome<T> = Result<T, MbarrierStop>;

/// How a wait names its phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedPhase {
    /// By parity.
    Parity(bool),
    /// By the state that an arrival gave.
    State(MbarrierState),
}

/// Names a phase of a life of an mbarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MbarrierState {
    /// Which mbarrier.
    pub id: MbarrierId,
    /// Which of its lives.
    pub life: u32,
    /// The phase, counted from zero; the one before the first is the largest number.
    pub phase: u64,
}

/// Outcome of a wait: the lanes go on, or block until the phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The phase is over: they go on.
    Over(MbarrierState),
    /// They wait for this phase.
    Blocked(MbarrierState),
}

/// How lanes arrive.
#[derive(Clone, Copy, Debug)]
pub struct ArrivalTerms {
    /// How many arrivals each lane counts for.
    pub count: u32,
    /// Bytes that each lane announces in the same step.
    pub expects: Option<u32>,
    /// Set if later phases expect as many less.
    pub drops: bool,
    /// Set if it must not end the phase.
    pub no_complete: bool,
    /// Set if it passes on what the lanes did.
    pub releases: bool,
    /// Among whom.
    pub scope: MbarrierScope,
}

/// The threads among which an operation on an mbarrier orders memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MbarrierScope {
    /// Those of its block.
    Block,
    /// Those of its cluster.
    Cluster,
    /// None is written: those of its cluster, which is assumed where blocks meet.
    #[default]
    Assumed,
}

/// The state of an mbarrier that threads wait for, for a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierStatus {
    /// The phase it is in; none if it is not live.
    pub phase: Option<u64>,
    /// Arrivals that it expects, and that are pending.
    pub expected: u32,
    /// Arrivals that have not come.
    pub pending: u32,
    /// Bytes announced and delivered in this phase.
    pub bytes: [u64; 2],
    /// Threads that have contributed to this phase, and those that contributed to the one before; whether by a copy.
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
    /// `cp.async.mbarrier.arrive` of each lane; whether it adds a pending arrival first.
    CopiesArrive {
        /// Without `.noinc`.
        increments: bool,
    },
    /// A bulk copy of a lane delivers bytes.
    BulkDeliver {
        /// The copy.
        copy: CopyId,
        /// Bytes.
        bytes: u32,
    },
    /// Lanes wait for a phase.
    Wait(NamedPhase, WaitTerms),
    /// Lanes ask once whether a phase is over.
    Ask(NamedPhase),
}

/// How lanes wait.
#[derive(Clone, Copy, Debug)]
pub struct WaitTerms {
    /// Set if they learn what arrivals passed on.
    pub acquires: bool,
    /// Of whom.
    pub scope: MbarrierScope,
}

/// The outcome of an operation.
#[derive(Clone, Debug)]
pub enum MbarrierAnswer {
    /// Nothing is to be said.
    Done,
    /// The phase that the arrival of each lane counts for.
    Arrived(Vec<(Mask, MbarrierState)>),
    /// The outcome of a wait.
    Waiting(Waiting),
    /// The phase that a question is about; with a contribution of the phase before, if nothing orders that before the question, so
    /// that it is about an earlier phase on some schedule.
    About(MbarrierState, Option<Lanes>),
}
