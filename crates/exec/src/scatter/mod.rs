//! Writes at addresses that are data: `out[idx[i]] = v`, `atomicAdd(&bins[x[i]], 1)`.
//!
//! Which element such a write hits depends on inputs, so it does not change memory but is kept ([`Scatter`]) until the launch is over.
//! Then an element of the tensor is a choice: what was written if the place is that element, what was there before elsewhere
//! ([`Scatter::element`]). That is what the kernel leaves if
//! - the launch accesses the tensor in no other way ([`close`]): no read can miss a write that waits here, and no other write can come
//!   between;
//! - the writes are all stores, or all updates of one kind that commute;
//! - stores of two threads that may hit the same bytes are ordered or leave the same. The domain says which places may be the same
//!   ([`Domain::difference`](crate::domain::Domain::difference)); if inputs are known for which they are, that is a race.
//!
//! Whether threads of a block are ordered is not followed here: two accesses are unordered for sure if nothing happened between them
//! that orders anything ([`sync::Order::events`]), and open otherwise.

mod close;
mod contents;

pub(crate) use close::{Launched, close};

use crate::domain::{Binary, DataPlace};
use crate::value::bytes::Bytes;
use ir::{Atomic, AtomicOp, Scalar, Scope};
use sync::{LaneId, Site};

/// The writes of a launch to one tensor.
#[derive(Debug, Default)]
pub(crate) struct Scatter {
    pub(crate) writes: Vec<DataWrite>,
    /// Set if writes may be taken in the order of their places: no two that may be the same leave different values.
    in_any_order: bool,
}

/// One element, written at a place that is data.
#[derive(Clone, Debug)]
pub(crate) struct DataWrite {
    pub(crate) kind: WriteKind,
    pub(crate) place: DataPlace,
    pub(crate) size: u32,
    /// What is written or added, in its first bytes.
    pub(crate) content: Bytes,
    pub(crate) by: Writer,
}

/// Who writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) site: Site,
    /// The block or cluster.
    pub(crate) unit: u64,
    pub(crate) who: LaneId,
    /// Events before the write ([`sync::Order::events`]).
    pub(crate) events: (u64, u64),
}

impl Writer {
    fn is_same_thread(&self, other: &Self) -> bool {
        (self.unit, self.who) == (other.unit, other.who)
    }

    /// Tells whether nothing can have ordered two writes of different threads.
    fn is_unordered(&self, other: &Self) -> bool {
        let same_warp = self.who.warp == other.who.warp;
        self.unit != other.unit
            || self.events.0 == other.events.0 && (!same_warp || self.events.1 == other.events.1)
    }
}

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteKind {
    Store,
    /// An atomic update of this type.
    Update(Binary, Scalar, Scope),
}

impl WriteKind {
    /// The kind of an update that commutes, of one element; none if it is not followed.
    pub(crate) fn of(atomic: &Atomic) -> Option<Self> {
        let op = match (atomic.op, atomic.scalar) {
            (AtomicOp::Add, _) => Binary::Add,
            (AtomicOp::Min, Scalar::Float(_)) => Binary::Min,
            (AtomicOp::Max, Scalar::Float(_)) => Binary::Max,
            _ => return None,
        };
        Some(Self::Update(op, atomic.scalar, atomic.ordering.scope()?))
    }

    /// Tells whether the order of several shows in the last bits.
    fn rounds(self) -> bool {
        matches!(self, Self::Update(Binary::Add, Scalar::Float(_), _))
    }
}
