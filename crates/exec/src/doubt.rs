//! What a run goes past without knowing: the run goes on, but a property that the report speaks of
//! is open at that place.

use crate::finding::{Place, Sink, Thread};
use crate::legal::Unfixed;
use std::fmt;

/// Something the run went past without knowing whether it is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// What.
    pub about: Doubtful,
    /// Where.
    pub place: Place,
    /// The first thread, in the order of execution, to which it happened.
    pub thread: Thread,
    /// How often it happened at this place.
    pub count: u64,
}

/// What a run may go past without knowing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubtful {
    /// An integer division by a value that is not known, and may be zero.
    Divisor(Reason),
    /// A value that is not determined by the launch and its inputs goes where others see it.
    Undetermined {
        /// Where it goes.
        reaches: Sink,
        /// What it depends on.
        reason: Reason,
    },
    /// The result of an atomic operation is used: on another schedule it may be another one.
    AtomicResult,
    /// A product of matrices takes a fragment of `wmma` that holds several copies of an element: hardware may
    /// use any of them.
    Copies {
        /// Whether they are known to differ, or not shown to be the same by a run that looks at values. If
        /// not, the run does not look at them.
        differ: bool,
    },
    /// The same, and some of the copies are undefined.
    UndefinedCopy,
    /// The same in a run on numbers, which takes the copy that an H200 takes.
    FirstCopy,
    /// Threads add floats to one place in an order that the schedule chooses, and the sum is rounded.
    FloatOrder,
}

/// What a value depends on that a run does not know. Displays as what stands after "depends on".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Contents of a buffer that are not given.
    Data,
    /// Something the schedule decides.
    Schedule(&'static str),
    /// Where memory is allocated.
    Address,
    /// The schedule, or where memory is allocated.
    Undetermined,
    /// An undefined value.
    Undefined,
    /// Which copy of a fragment's element hardware uses.
    Copies,
    /// A float whose bits the manual does not fix.
    Unfixed(Unfixed),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data => f.write_str("the contents of a buffer that are not given"),
            Self::Schedule(name) => write!(f, "{name}, which is not determined by the launch"),
            Self::Address => f.write_str("where memory is allocated"),
            Self::Undetermined => f.write_str("the schedule or on where memory is allocated"),
            Self::Undefined => f.write_str("an undefined value"),
            Self::Copies => f.write_str(
                "an element of a fragment that holds several copies of it, and they differ",
            ),
            Self::Unfixed(cause) => write!(f, "a float whose last bits are not fixed ({cause})"),
        }
    }
}
