//! Events of lanes that need no answer, as an engine reports them ([`crate::Order::apply`]).

use crate::proxy::ProxySpace;

/// An event of lanes of one warp that needs no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncEvent {
    /// A fence, or an access that acts as one.
    Fence,
    /// A fence that also makes relaxed operations on mbarriers release and acquire.
    FenceAtMbarriers {
        /// Set if a relaxed arrival after it passes on the actions before it.
        releases: bool,
        /// Set if a relaxed wait before it orders the observed arrivals before the actions after it.
        acquires: bool,
        /// Set if its scope is wider than a block.
        wide: bool,
    },
    /// `fence.mbarrier_init`.
    FenceInits,
    /// A read of a value that another thread may have written for these lanes to see.
    Observe,
    /// A collective, which orders fences but no memory.
    Collective,
    /// Lanes have waited for each other, or for lanes that exited. This orders no memory.
    Wait,
    /// `bar.warp.sync`. It orders the memory accesses of the lanes.
    WarpBarrier,
    /// `cp.async.commit_group`
    CommitCopies,
    /// `cp.async.wait_group` for all but this many groups; without a number, for all copies.
    WaitForCopies(Option<u64>),
    /// `cp.async.bulk.commit_group`
    CommitBulk,
    /// `cp.async.bulk.wait_group` for all but this many groups, for completion or for the reads of their
    /// sources only.
    WaitForBulk {
        /// Groups that may be in flight.
        pending: u64,
        /// `.read`
        read: bool,
    },
    /// `fence.proxy.async` for one kind of memory or for all. It makes writes of threads visible to bulk
    /// copies.
    ProxyFence(Option<ProxySpace>),
    /// `wgmma.commit_group`
    CommitProducts,
    /// `wgmma.wait_group` for all but this many groups.
    WaitForProducts(u64),
    /// `fence.proxy.tensormap::generic.release`: other threads may acquire writes known to the lanes as a
    /// tensor map.
    ReleaseMaps,
    /// The lanes exit.
    Exit {
        /// Set if other lanes of the warp keep running.
        others_continue: bool,
    },
}
