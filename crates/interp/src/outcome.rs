//! Results of a run: accesses and events that happened, how it ended, contents of memory.

use crate::launch::Thread;
use crate::value::Value;
use base::Span;
use kir::{ArrayId, Type, VarId};
use std::collections::BTreeMap;

/// The kind of an access.
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
    /// The thread.
    pub thread: Thread,
    /// The place in the source.
    pub span: Span,
    /// Its kind.
    pub kind: AccessKind,
    /// The stored value, if an integer.
    pub value: Option<i128>,
}

/// An event that must not happen.
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
    /// A read of an uninitialised element whose value affects the result.
    Unwritten {
        array: ArrayId,
        index: Vec<i128>,
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
    /// A claim at a barrier fails for a thread, or for a pair, with these values of the claim's variables: the
    /// element, its actual and its expected value.
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
    /// A claim about the end of the launch fails for these values of its variables: the element, its actual and its
    /// expected value.
    Postcondition {
        span: Span,
        at: Vec<(VarId, i128)>,
        element: Option<(ArrayId, Vec<i128>)>,
        got: Option<Value>,
        want: Option<Value>,
    },
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// All threads ended.
    Complete,
    /// An event ended it.
    Event,
    /// It could not be continued: why.
    Stopped(&'static str),
}

/// The reason of a run that ended because an `assume` of the source did not hold.
pub const ASSUMPTION_FAILS: &str = "an assumption does not hold";

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The events, races first.
    pub events: Vec<Event>,
    /// The end of the run.
    pub end: End,
    /// Number of executed instructions.
    pub steps: u64,
    /// Set if an element was drawn that has requirements in the contract.
    pub drew_constrained: bool,
}

/// Contents of global arrays with one known size; other arrays have no entry.
pub type Contents = BTreeMap<ArrayId, Vec<Value>>;
