//! What a run shows: accesses and events that happened, how it ended, what memory held.

use super::launch::Thread;
use super::value::Value;
use crate::kir::{ArrayId, Type, VarId};
use base::Span;
use std::collections::BTreeMap;

/// What is done to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic operation.
    Atomic,
}

/// An access that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// By whom.
    pub thread: Thread,
    /// Where in the source.
    pub span: Span,
    /// What.
    pub kind: AccessKind,
    /// The value that was stored, if an integer.
    pub value: Option<i128>,
}

/// Something that happened and should not have.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the module's header and the names say it")]
pub enum Event {
    Race {
        array: ArrayId,
        index: Vec<i128>,
        first: Access,
        second: Access,
    },
    OutOfBounds {
        array: ArrayId,
        index: Vec<i128>,
        sizes: Vec<Option<i128>>,
        access: Access,
    },
    /// An access that the contract does not allow.
    Footprint {
        array: ArrayId,
        index: Vec<i128>,
        writes: bool,
        access: Access,
    },
    Overflow {
        span: Span,
        ty: Type,
        exact: Option<i128>,
        thread: Thread,
    },
    DivisionByZero {
        span: Span,
        thread: Thread,
    },
    /// A thread waits at `at`; another is at another barrier, in another iteration, or has ended.
    Divergence {
        at: Span,
        thread: Thread,
        other: Thread,
        elsewhere: Option<Span>,
    },
    Assertion {
        span: Span,
        thread: Thread,
    },
    /// What is claimed at a barrier does not hold for a thread, or for it and another one, and these values of the claim's
    /// variables: the element that it is about, what it holds and what it should.
    Barrier {
        span: Span,
        thread: Thread,
        other: Option<Thread>,
        at: Vec<(VarId, i128)>,
        element: Option<(ArrayId, Vec<i128>)>,
        got: Option<Value>,
        want: Option<Value>,
    },
    /// An operation of a postcondition has no value, for these values of the claim's variables.
    NoValue {
        span: Span,
        at: Vec<(VarId, i128)>,
        divides: bool,
    },
    /// What the contract claims of the end does not hold for these values of its variables: the element that it is
    /// about, what it holds and what it should.
    Postcondition {
        span: Span,
        at: Vec<(VarId, i128)>,
        element: Option<(ArrayId, Vec<i128>)>,
        got: Option<Value>,
        want: Option<Value>,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// All threads ended.
    Complete,
    /// An event ended it.
    Event,
    /// It could not be followed: why.
    Stopped(&'static str),
}

/// Why a run ends that contradicts an `assume`.
pub(crate) const UNMET: &str = "an assumption does not hold";

/// What a run showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What happened, races first.
    pub events: Vec<Event>,
    /// How it ended.
    pub end: End,
    /// How many instructions were executed.
    pub steps: u64,
    /// Whether an element of which the contract demands something was found.
    pub demanded: bool,
}

/// What global arrays with one known size hold, array by array; other arrays have no entry.
pub type Contents = BTreeMap<ArrayId, Vec<Value>>;
