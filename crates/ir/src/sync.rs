//! Operations by which threads wait for or talk to each other (PTX manual §9.7.9.5–6, §9.7.9.25
//! and §9.7.13).

use crate::{Operand, Ordering, Reg, Scope, Width};

/// A synchronising or communicating operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncOp {
    /// `bar` and `barrier`: the sixteen barriers of a block.
    Barrier {
        /// What the thread does there.
        kind: BarrierKind,
        /// Which barrier.
        id: Operand,
        /// How many threads take part; all of the block if absent.
        count: Option<Operand>,
        /// All threads of the warp must come to this very instruction.
        aligned: bool,
    },
    /// `bar.warp.sync`
    WarpBarrier {
        /// The lanes that wait for each other.
        mask: Operand,
    },
    /// `shfl.sync`
    Shuffle {
        /// How the source lane is found.
        mode: ShuffleMode,
        /// Result.
        dst: Reg,
        /// Whether the source lane was in range.
        in_range: Option<Reg>,
        /// The value offered to others.
        value: Operand,
        /// Lane, delta or mask, by mode.
        lane: Operand,
        /// Clamp and segment mask.
        clamp: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `vote.sync`
    Vote {
        /// Question.
        mode: VoteMode,
        /// Answer: a predicate, or 32 bits for a ballot.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `match.sync`
    Match {
        /// Question.
        mode: MatchMode,
        /// Lanes with the same value.
        dst: Reg,
        /// Whether all have the same value (`all` only).
        all_equal: Option<Reg>,
        /// The value compared.
        value: Operand,
        /// Its width.
        width: Width,
        /// The lanes that take part.
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
        /// The lanes that take part.
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
        /// Whether this lane is the leader.
        is_leader: Reg,
        /// The lanes that take part.
        mask: Operand,
    },
    /// `membar` and `fence`
    Fence {
        /// Which accesses it orders: `acq_rel`, `acquire` or `release`; `None` is sequentially
        /// consistent.
        ordering: Option<Ordering>,
        /// Among whom.
        scope: Scope,
    },
    /// `cp.async.commit_group`
    CommitGroup,
    /// `cp.async.wait_group N`: all but the last N groups are complete. `None` is `wait_all`,
    /// which also covers uncommitted copies.
    WaitGroup(Option<u64>),
}

/// What a thread does at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    /// Waits.
    Sync,
    /// Only counts.
    Arrive,
    /// Waits and learns how many threads had a true predicate.
    Popc {
        /// Result, 32 bits.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
    },
    /// Waits and learns whether all had a true predicate.
    And {
        /// Result, a predicate.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
    },
    /// Waits and learns whether any had a true predicate.
    Or {
        /// Result, a predicate.
        dst: Reg,
        /// The thread's own predicate.
        predicate: Operand,
    },
}

/// How `shfl` finds the source lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum ShuffleMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// What `vote` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// What `match` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum MatchMode {
    Any,
    All,
}

/// What `redux` computes, on 32-bit integers.
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
