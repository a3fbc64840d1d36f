//! What is asked of a kernel, and what the engine found.

use crate::interp::{Launch, Thread};
use crate::kir::ArrayId;
use crate::logic::side::Stats;
use base::Span;

/// Something that could not be proved.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// Which property it belongs to.
    pub property: Property,
    /// Where.
    pub span: Span,
    /// The other place, if it is about two.
    pub other: Option<Span>,
    /// What could not be shown.
    pub message: String,
}

impl Open {
    /// About what is left in arrays.
    pub(crate) fn of_values(span: Span, message: impl Into<String>) -> Self {
        Self { property: Property::Values, span, other: None, message: message.into() }
    }
}

/// What is asked of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// No two threads access an element without order.
    Races,
    /// All threads of a block meet at the same barriers.
    Barriers,
    /// Every access is inside its array.
    Bounds,
    /// Indices and conditions are computed without leaving their types.
    Overflow,
    /// No division by zero.
    Division,
    /// Clauses have a value wherever they are evaluated.
    Clauses,
    /// Claims of annotations.
    Invariant,
    /// What the contract claims of the end of the launch.
    Postcondition,
    /// What is left in arrays.
    Values,
}

impl Property {
    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Races => "races",
            Self::Barriers => "barriers",
            Self::Bounds => "bounds",
            Self::Overflow => "overflow",
            Self::Division => "division",
            Self::Clauses => "clauses",
            Self::Invariant => "an invariant",
            Self::Postcondition => "a postcondition",
            Self::Values => "a value",
        }
    }
}

/// What the engine found.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What could not be proved; all else is.
    pub open: Vec<Open>,
    /// Arrays whose size nobody gave.
    pub unsized_arrays: Vec<ArrayId>,
    /// Whether claims of annotations were made.
    pub has_claims: bool,
    /// Whether the contract claims something of the end of the launch.
    pub has_postconditions: bool,
    /// Invariants of loops that were guessed and proved, each with the place of its loop.
    pub learnt: Vec<(Span, String)>,
    /// How the questions were answered.
    pub stats: Stats,
    /// Questions were left open because there is no solver.
    pub missed_solver: bool,
    /// The solver stopped answering.
    pub solver_died: bool,
    /// On which axes fewer than 2^31 threads are assumed.
    pub limited: [bool; 3],
    /// Launches on which something may fail that is open, and a thread that is concerned.
    pub suspects: Vec<(Launch, Thread)>,
}
