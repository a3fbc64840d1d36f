//! Doubts: the run continues, but a property covered by the report remains open at that place.

use crate::finding::{Place, Sink, Thread};
use crate::legal::Unfixed;
use std::fmt;

/// An open question that did not end the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The question.
    pub about: Doubtful,
    /// Its place.
    pub place: Place,
    /// The first affected thread, in execution order.
    pub thread: Thread,
    /// The number of times it occurred at this place.
    pub count: u64,
}

/// The kinds of open question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubtful {
    /// An integer division by an unknown value, possibly zero.
    Divisor(Reason),
    /// A value that is not determined by the launch and its inputs becomes visible to others.
    Undetermined {
        /// Its destination.
        reaches: Sink,
        /// The unknown that it depends on.
        reason: Reason,
    },
    /// The result of an atomic operation is used; it may be different on another schedule.
    AtomicResult,
    /// Results may depend on which blocks take which tickets from a counter, beginning with this element.
    Ticket(TicketResult),
    /// A matrix product takes a fragment of `wmma` with several copies of an element: hardware may use any of
    /// them.
    Copies {
        /// Set if a run with values did not show the copies to be equal, or they are known to differ.
        /// Otherwise the run does not have their values.
        differ: bool,
    },
    /// Like `Copies`, with some undefined copies.
    UndefinedCopy,
    /// Like `Copies`, in a run on numbers, which uses the same copy as an H200.
    FirstCopy,
    /// Threads add floats to one place in a schedule-dependent order, and the sum is rounded.
    FloatOrder,
    /// The schedule chooses among results that are equal as real numbers, and may differ by rounding or overflow.
    EqualAsReals,
}

/// An element of a buffer whose final value may depend on the order in which blocks take tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketResult {
    /// The number of the buffer in the launch.
    pub buffer: usize,
    /// The number of the element in it.
    pub element: usize,
}

/// The unknown that a value depends on. Displays as the text after "depends on".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Contents of a buffer that were not supplied.
    Data,
    /// A choice of the schedule.
    Schedule(&'static str),
    /// The placement of an allocation.
    Address,
    /// The schedule, or the placement of an allocation.
    Undetermined,
    /// An undefined value.
    Undefined,
    /// The copy of a fragment's element that hardware uses.
    Copies,
    /// A float without fixed bits in the manual.
    Unfixed(Unfixed),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data => f.write_str("tensor data that is not given"),
            Self::Schedule(name) => write!(f, "{name}, which is not determined by the launch"),
            Self::Address => f.write_str("the placement of allocations"),
            Self::Undetermined => f.write_str("the schedule or the placement of allocations"),
            Self::Undefined => f.write_str("an undefined value"),
            Self::Copies => f.write_str("a fragment element with several, different copies"),
            Self::Unfixed(cause) => write!(f, "a float whose last bits are not fixed ({cause})"),
        }
    }
}
