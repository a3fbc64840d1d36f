//! Events of lanes that need no answer, as an engine tells them ([`crate::Order::apply`]).

use crate::proxy::ProxySpace;

/// An event of lanes of one warp that needs no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncEvent {
    /// A fence, or an access that acts as one.
    Fence,
    /// A fence also makes relaxed operations on mbarriers release and acquire.
    FenceAtMbarriers {
        /// Set if what comes before it is passed on by a relaxed arrival behind it.
        releases: bool,
        /// Set if what a relaxed wait before it saw is ordered before what comes behind it.
        acquires: bool,
        /// Set if its scope is wider than a block.
        wide: bool,
    },
    /// `fence.mbarrier_init`
    FenceInits,
    /// A read of something that another thread may have written for the lanes to see.
    Observe,
    /// A collective, which orders fences but no memory.
    Collective,
    /// Lanes have waited for each other, or for lanes that exited, which orders no memory.
    Wait,
    /// `bar.warp.sync`, which orders the memory accesses of the lanes.
    WarpBarrier,
    /// `cp.async.commit_group`
    CommitCopies,
    /// `cp.async.wait_group` for all but this many groups; without a number, for all copies.
    WaitForCopies(Option<u64>),
    /// `cp.async.bulk.commit_group`
    CommitBulk,
    /// `cp.async.bulk.wait_group` for all but this many groups; or only until they have read their sources.
    WaitForBulk {
        /// Groups that may be under way.
        pending: u64,
        /// `.read`
        read: bool,
    },
    /// `fence.proxy.async`, which makes what threads wrote visible to bulk copies; of one kind of memory, or of all.
    ProxyFence(Option<ProxySpace>),
    /// `wgmma.commit_group`
    CommitProducts,
    /// `wgmma.wait_group` for all but this many groups.
    WaitForProducts(u64),
    /// `fence.proxy.tensormap::generic.release`: what the lanes know of may be acquired as a tensor map.
    ReleaseMaps,
    /// The lanes exit.
    Exit {
        /// Whether other lanes of the warp still run.
        others_go_on: bool,
    },
}
