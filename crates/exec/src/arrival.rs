//! Arrivals of lanes at a barrier of their block. [`crate::barrier`] registers them with [`sync::Order`].

use crate::finding::{BarrierFault, Place};
use sync::Site;

/// An arrival at a barrier of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// The number of the barrier.
    pub(crate) id: u8,
    /// The number of threads it counts; `None` for the whole block.
    pub(crate) count: Option<u32>,
    /// Set if the lanes wait.
    pub(crate) waits: bool,
    /// Set if all lanes of the warp must come to the same instruction.
    pub(crate) aligned: bool,
    /// The lanes' predicates, for a reduction.
    pub(crate) votes: Option<Votes>,
}

/// An arrival or wait at the cluster barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterArrival {
    /// Set if the lanes wait; otherwise they arrive.
    pub(crate) waits: bool,
    /// Set for a releasing arrival.
    pub(crate) releases: bool,
    /// Set if all lanes of the warp must come to the same instruction.
    pub(crate) aligned: bool,
}

/// Predicates of lanes at a reducing barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Votes {
    /// The number of true predicates, and the number of all.
    pub(crate) yes: u32,
    pub(crate) all: u32,
    /// Set if some predicates are unknown.
    pub(crate) unknown: bool,
    /// Set if some predicates are not determined by the launch and its inputs.
    pub(crate) schedule_dependent: bool,
}

/// Barrier generations without a waiting thread. They are reported at the end of the block. A premature reuse
/// of the barrier is an error that includes this note.
#[derive(Debug, Default)]
pub(crate) struct Unawaited {
    /// The first arrival of each such generation: instruction, warp and fault. At most one is kept for each
    /// instruction.
    pub(crate) arrivals: Vec<(Site, usize, BarrierFault)>,
    /// Barriers that are reused too early in some block, one bit each.
    pub(crate) reused: u16,
}

impl Votes {
    pub(crate) fn add(&mut self, other: Self) {
        self.yes += other.yes;
        self.all += other.all;
        self.unknown |= other.unknown;
        self.schedule_dependent |= other.schedule_dependent;
    }
}

/// One use of a barrier of the block, with each warp at most once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierUse {
    /// The number of the barrier.
    pub id: u8,
    /// The number of threads it counts; `None` for all that run.
    pub count: Option<u32>,
    /// The arrivals, in their order.
    pub arrivals: Vec<BarrierArrival>,
    /// Set if every awaited warp arrived.
    pub complete: bool,
}

/// The arrival of a warp at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierArrival {
    /// The warp.
    pub warp: usize,
    /// The instruction.
    pub place: Place,
    /// Set if the warp waits.
    pub waits: bool,
    /// The time on the warp's own clock of barrier events.
    pub time: u32,
}
