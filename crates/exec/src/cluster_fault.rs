//! What can be wrong where blocks of a cluster have to do with each other (PTX manual §9.7.13.3, §9.7.9.12, §9.7.9.25.4.1, §9.7.13.7).

use crate::finding::{AccessKind, Place, Target};

/// A fault of blocks of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterFault {
    /// A warp arrives at the barrier of the cluster again and has not waited.
    Twice {
        /// Where it arrived.
        other: Place,
    },
    /// A warp waits at the barrier of the cluster and has not arrived.
    NotArrived,
    /// Lanes of a warp come to different instructions, one of them `.aligned`.
    Divergent {
        /// The other instruction.
        other: Place,
    },
    /// Lanes of a warp of which some arrive and some wait.
    ArriveAndWait {
        /// The other instruction.
        other: Place,
    },
    /// An access to shared memory of a block that may not be there.
    Lifetime {
        /// The allocation.
        target: Target,
        /// The rank of its block.
        rank: u32,
        /// What the access does.
        kind: AccessKind,
        /// The block may have ended; if not set, it may not have started.
        ended: bool,
        /// It is the access of a copy or of an asynchronous store.
        copy: bool,
    },
    /// An access to shared memory of a rank that the cluster has not.
    NoSuchRank {
        /// What the access does.
        kind: AccessKind,
        /// Blocks of the cluster.
        blocks: u32,
    },
    /// A copy to several blocks of which one is not in the cluster, or to none.
    Mask {
        /// The mask.
        mask: u16,
        /// Blocks of the cluster.
        blocks: u32,
    },
    /// A copy between blocks, or an asynchronous update, whose destination is the executing block.
    OwnBlock,
    /// An asynchronous store in a cluster of one block.
    Alone,
    /// The mbarrier is in another block than the destination.
    OtherBlock {
        /// The rank of the destination.
        destination: u32,
        /// The rank of the mbarrier.
        mbarrier: u32,
    },
}
