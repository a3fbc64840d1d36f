//! Faults in the interaction of a cluster's blocks (PTX manual §9.7.13.3, §9.7.9.12, §9.7.9.25.4.1,
//! §9.7.13.7).

use crate::finding::{AccessKind, Place, Target};

/// A fault between blocks of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterFault {
    /// A warp arrives at the cluster barrier again without waiting in between.
    Twice {
        /// Its previous arrival.
        other: Place,
    },
    /// A warp waits at the cluster barrier without having arrived.
    NotArrived,
    /// Lanes of a warp come to different instructions, one of them `.aligned`.
    Divergent {
        /// The other instruction.
        other: Place,
    },
    /// Some lanes of a warp arrive and others wait.
    ArriveAndWait {
        /// The other instruction.
        other: Place,
    },
    /// An access to shared memory of a block, possibly outside its lifetime.
    Lifetime {
        /// The allocation.
        target: Target,
        /// The rank of its block.
        rank: u32,
        /// The kind of access.
        kind: AccessKind,
        /// Set if the block may have ended; otherwise it may not have started.
        ended: bool,
        /// Set for an access by a copy or an asynchronous store.
        copy: bool,
    },
    /// An access to shared memory of a rank beyond the cluster.
    NoSuchRank {
        /// The kind of access.
        kind: AccessKind,
        /// Blocks of the cluster.
        blocks: u32,
    },
    /// A copy to no block, or to several blocks including one beyond the cluster.
    Mask {
        /// The mask.
        mask: u16,
        /// Blocks of the cluster.
        blocks: u32,
    },
    /// A copy between blocks, or an asynchronous update, with the executing block as destination.
    OwnBlock,
    /// An asynchronous store in a cluster of one block.
    Alone,
    /// The mbarrier and the destination are in different blocks.
    OtherBlock {
        /// The rank of the destination.
        destination: u32,
        /// The rank of the mbarrier.
        mbarrier: u32,
    },
}
