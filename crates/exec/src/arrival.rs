//! What lanes bring to a barrier of their block. [`crate::barrier`] registers it with [`sync::Order`].

use crate::finding::{BarrierFault, Place};
use sync::Site;

/// What lanes do at a barrier of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// Which barrier.
    pub(crate) id: u8,
    /// How many threads it counts; all of the block if absent.
    pub(crate) count: Option<u32>,
    /// Whether the lanes wait.
    pub(crate) waits: bool,
    /// Whether all lanes of the warp must come to the same instruction.
    pub(crate) aligned: bool,
    /// Lanes whose predicate is true, for a reduction.
    pub(crate) votes: Option<Votes>,
}

/// What lanes do at the barrier of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClusterArrival {
    /// Whether the lanes wait; if not, they arrive.
    pub(crate) waits: bool,
    /// Whether an arrival passes on what they did.
    pub(crate) releases: bool,
    /// Whether all lanes of the warp must come to the same instruction.
    pub(crate) aligned: bool,
}

/// Predicates that lanes bring to a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Votes {
    /// How many are true, and how many there are.
    pub(crate) yes: u32,
    pub(crate) all: u32,
    /// Whether some are not known.
    pub(crate) unknown: bool,
    /// Set if some are not determined by the launch and its inputs.
    pub(crate) fickle: bool,
}

/// Generations of barriers without a waiting thread. They are reported when the block has ended: a barrier that
/// is used again too early is an error, of which the note would be a part.
#[derive(Debug, Default)]
pub(crate) struct Unawaited {
    /// The first arrival of each: the barrier, the warp and the fault; one for each instruction.
    pub(crate) arrivals: Vec<(Site, usize, BarrierFault)>,
    /// Barriers of some block that are used again too early, one bit each.
    pub(crate) reused: u16,
}

impl Votes {
    pub(crate) fn add(&mut self, other: Self) {
        self.yes += other.yes;
        self.all += other.all;
        self.unknown |= other.unknown;
        self.fickle |= other.fickle;
    }
}

/// A use of a barrier of the block: the warps that came, and nobody twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierUse {
    /// Which barrier.
    pub id: u8,
    /// How many threads it counts; all that run if absent.
    pub count: Option<u32>,
    /// The arrivals, in their order.
    pub arrivals: Vec<BarrierArrival>,
    /// Set if everybody came whom it waited for.
    pub complete: bool,
}

/// A warp that comes to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierArrival {
    /// The warp.
    pub warp: usize,
    /// The instruction.
    pub place: Place,
    /// Set if it waits for the others.
    pub waits: bool,
    /// When, in the warp's own count of what it does at barriers.
    pub time: u32,
}
