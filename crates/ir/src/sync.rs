//! Operations for synchronisation and communication of threads (PTX manual §9.7.9.5–6, §9.7.9.25 and §9.7.13,
//! transaction barriers §9.7.13.15).

use crate::{Address, Operand, Ordering, Reg, Scope, Space, WgmmaSync, Width};

/// A synchronising or communicating operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncOp {
    /// `bar` and `barrier`: the sixteen barriers of a block.
    Barrier {
        /// The role of the thread.
        kind: BarrierKind,
        /// The number of the barrier.
        id: Operand,
        /// The number of participating threads; all of the block if absent.
        count: Option<Operand>,
        /// All threads of the warp must execute this very instruction.
        aligned: bool,
    },
    /// `bar.warp.sync`
    WarpBarrier {
        /// The lanes that wait for each other.
        mask: Operand,
    },
    /// `shfl.sync`
    Shuffle {
        /// The way the source lane is computed.
        mode: ShuffleMode,
        /// Result.
        dst: Reg,
        /// Set if the source lane was in range.
        in_range: Option<Reg>,
        /// The value offered to others.
        value: Operand,
        /// Lane, delta or mask, by mode.
        lane: Operand,
        /// Clamp and segment mask.
        clamp: Operand,
        /// The participating lanes.
        mask: Operand,
    },
    /// `vote.sync`
    Vote {
        /// The vote.
        mode: VoteMode,
        /// The result: a predicate, or 32 bits for a ballot.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
        /// The participating lanes.
        mask: Operand,
    },
    /// `match.sync`
    Match {
        /// The kind of match.
        mode: MatchMode,
        /// Lanes with the same value.
        dst: Reg,
        /// Set if all lanes have the same value (`all` only).
        all_equal: Option<Reg>,
        /// The value compared.
        value: Operand,
        /// Its width.
        width: Width,
        /// The participating lanes.
        mask: Operand,
    },
    /// `redux.sync`
    Redux {
        /// Operation.
        op: ReduxOp,
        /// Result.
        dst: Reg,
        /// The thread's own value.
        value: Operand,
        /// The participating lanes.
        mask: Operand,
    },
    /// `activemask`: the lanes that happen to run together.
    ActiveMask {
        /// Result.
        dst: Reg,
    },
    /// `elect.sync`
    Elect {
        /// The leader's lane.
        leader: Option<Reg>,
        /// Set if this lane is the leader.
        is_leader: Reg,
        /// The participating lanes.
        mask: Operand,
    },
    /// `membar` and `fence`
    Fence {
        /// The ordered accesses: `acq_rel`, `acquire` or `release`; `None` is sequentially consistent.
        ordering: Option<Ordering>,
        /// The threads among which it orders.
        scope: Scope,
    },
    /// `cp.async.commit_group`
    CommitGroup,
    /// `cp.async.wait_group N`: all but the last N groups are complete. `None` is `wait_all`,
    /// which also covers uncommitted copies.
    WaitGroup(Option<u64>),
    /// A transaction barrier in shared memory.
    Mbarrier(Box<Mbarrier>),
    /// `cp.async.bulk.commit_group`
    BulkCommit,
    /// `cp.async.bulk.wait_group`: all but the last `pending` groups of bulk copies are complete; with `read`, they
    /// have read their sources.
    BulkWait {
        /// Groups that may be under way.
        pending: u64,
        /// `.read`
        read: bool,
    },
    /// `fence.proxy.async`: earlier writes become visible to bulk copies, in one state space or in all.
    ProxyFence(Option<Space>),
    /// `fence.proxy.tensormap::generic`: releases earlier writes, or acquires the tensor map at an address.
    MapFence(Option<Address>),
    /// `setmaxnreg`: a warp group returns registers or waits for more.
    RegisterPool(RegisterPool),
    /// `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group`
    Wgmma(WgmmaSync),
    /// `griddepcontrol.wait`: waits until the launches that this one depends on have ended and their memory is
    /// visible.
    GridWait,
    /// `barrier.cluster`: the barrier of all threads of the cluster.
    ClusterBarrier {
        /// `.wait`, else `.arrive`.
        waits: bool,
        /// Set for an arrival, unless it is `.relaxed`.
        releases: bool,
        /// All threads of the warp must execute this very instruction.
        aligned: bool,
    },
    /// `fence.mbarrier_init`: the thread's next arrival at the cluster barrier publishes its initialisations of
    /// mbarriers.
    FenceMbarrierInit,
}

/// A change of the number of registers of each thread in a warp group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterPool {
    /// `.inc`; otherwise `.dec`.
    pub increases: bool,
    /// Registers of a thread afterwards.
    pub count: u64,
}

/// The role of a thread at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Waits.
    Sync,
    /// Only arrives.
    Arrive,
    /// Waits, and receives the number of threads with a true predicate.
    Popc {
        /// Result, 32 bits.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
    },
    /// Waits, and receives the conjunction of all predicates.
    And {
        /// Result, a predicate.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
    },
    /// Waits, and receives the disjunction of all predicates.
    Or {
        /// Result, a predicate.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
    },
}

/// The way `shfl` computes the source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// The question of a `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// The question of a `match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum MatchMode {
    Any,
    All,
}

/// The reduction of `redux`, on 32-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum ReduxOp {
    Add,
    Min { signed: bool },
    Max { signed: bool },
    And,
    Or,
    Xor,
}

/// An operation on an mbarrier: eight bytes of shared memory with a phase, an expected and a pending count of
/// arrivals, and a count of transaction bytes. A phase is complete when no arrival is pending and the bytes are
/// balanced; then the next one begins. Scopes are kept as written; within one block every scope has all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mbarrier {
    /// The address of the barrier.
    pub address: Address,
    /// The state space of the address.
    pub space: Space,
    /// The operation.
    pub op: MbarrierOp,
}

/// An operation of a thread on an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MbarrierOp {
    /// `mbarrier.init`: starts phase 0 with this many expected arrivals.
    Init(Operand),
    /// `mbarrier.inval`: the bytes are ordinary memory again.
    Inval,
    /// `mbarrier.arrive` and `mbarrier.arrive_drop`
    Arrive(MbarrierArrive),
    /// `mbarrier.expect_tx`: the phase waits for this many more bytes.
    ExpectTx(Operand),
    /// `mbarrier.complete_tx`: this many bytes have come.
    CompleteTx(Operand),
    /// `cp.async.mbarrier.arrive`: an arrival once all earlier copies of the thread are done.
    CopyArrive {
        /// Without `.noinc`: one more arrival is pending from now on.
        increments: bool,
    },
    /// `mbarrier.test_wait` and `mbarrier.try_wait`: tests once if a phase is complete.
    Test(MbarrierTest),
    /// A test whose only effect is to skip a wait of the same group (made by [`crate::find_waits`]). So an engine may
    /// always answer `false`, if that wait is for the same phase.
    Peek(MbarrierTest),
    /// A loop that tests until the phase is complete (made by [`crate::find_waits`]): blocks, then sets `dst`.
    Wait(MbarrierTest),
}

/// An arrival of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierArrive {
    /// Receives the name of the phase that the arrival counts for.
    pub state: Option<Reg>,
    /// The number of arrivals it counts for.
    pub count: Operand,
    /// `.expect_tx`: bytes announced in the same step.
    pub expect: Option<Operand>,
    /// `arrive_drop`: later phases expect as many arrivals less.
    pub drop: bool,
    /// `.noComplete`: must not end the phase.
    pub no_complete: bool,
    /// `Release` or `Relaxed`.
    pub ordering: Ordering,
    /// Set if the instruction states ordering and scope; otherwise they are the defaults.
    pub written: bool,
}

/// A test for the completion of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierTest {
    /// The answer, a predicate.
    pub dst: Reg,
    /// The phase.
    pub phase: MbarrierPhase,
    /// `Acquire` or `Relaxed`.
    pub ordering: Ordering,
    /// Set if the instruction states ordering and scope; otherwise they are the defaults.
    pub written: bool,
    /// The number shared by a wait and the tests that skip it.
    pub group: Option<u32>,
}

/// The name of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MbarrierPhase {
    /// By the result of an arrival, 64 bits.
    State(Operand),
    /// By the parity of its number, 32 bits.
    Parity(Operand),
}

impl Mbarrier {
    /// The test, if it is one.
    #[must_use]
    pub fn test(&self) -> Option<&MbarrierTest> {
        match &self.op {
            MbarrierOp::Test(test) | MbarrierOp::Peek(test) | MbarrierOp::Wait(test) => Some(test),
            MbarrierOp::Init(_)
            | MbarrierOp::Inval
            | MbarrierOp::Arrive(_)
            | MbarrierOp::ExpectTx(_)
            | MbarrierOp::CompleteTx(_)
            | MbarrierOp::CopyArrive { .. } => None,
        }
    }
}
