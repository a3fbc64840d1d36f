//! Writes at data-dependent places, kept until the end of the launch: contents, places and threads.

use crate::domain::{Binary, DataPlace};
use ir::{Atomic, AtomicOp, Scalar, Scope};
use sync::{LaneId, Site};

/// The writes of a launch to one tensor ([`crate::scatter`]).
#[derive(Debug)]
pub(crate) struct Scatter<C> {
    pub(crate) writes: Vec<DataWrite<C>>,
    /// Set if writes may be applied in the order of their places: no two that may coincide leave different
    /// values.
    pub(crate) in_any_order: bool,
}

impl<C> Default for Scatter<C> {
    fn default() -> Self {
        Self { writes: Vec::new(), in_any_order: false }
    }
}

/// One element, written at a data-dependent place.
#[derive(Clone, Debug)]
pub(crate) struct DataWrite<C> {
    pub(crate) kind: WriteKind,
    pub(crate) place: DataPlace,
    pub(crate) size: u32,
    /// The written value or summand, in the first bytes.
    pub(crate) content: C,
    pub(crate) by: Writer,
}

/// The writing thread, and the time.
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
    pub(crate) fn is_same_thread(&self, other: &Self) -> bool {
        (self.unit, self.who) == (other.unit, other.who)
    }

    /// Returns `true` if nothing can have ordered two writes of different threads.
    pub(crate) fn is_unordered(&self, other: &Self) -> bool {
        let same_warp = self.who.warp == other.who.warp;
        self.unit != other.unit
            || self.events.0 == other.events.0 && (!same_warp || self.events.1 == other.events.1)
    }
}

/// The kind of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteKind {
    Store,
    /// An atomic update of this type.
    Update(Binary, Scalar, Scope),
}

impl WriteKind {
    /// Returns the kind of a commuting update of one element; `None` if unsupported.
    pub(crate) fn of(atomic: &Atomic) -> Option<Self> {
        let op = match (atomic.op, atomic.scalar) {
            (AtomicOp::Add, _) => Binary::Add,
            (AtomicOp::Min, Scalar::Float(_)) => Binary::Min,
            (AtomicOp::Max, Scalar::Float(_)) => Binary::Max,
            _ => return None,
        };
        Some(Self::Update(op, atomic.scalar, atomic.ordering.scope()?))
    }

    /// Returns `true` if the order of several affects the last bits.
    pub(crate) fn rounds(self) -> bool {
        matches!(self, Self::Update(Binary::Add, Scalar::Float(_), _))
    }
}
