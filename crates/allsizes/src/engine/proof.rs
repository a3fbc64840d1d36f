//! The properties that the engine proves ([`Property`]), and its result ([`Proof`]): the claims that stay open, and
//! data for a report.

use crate::prover::Stats;
use base::Span;
use interp::{Launch, Thread};
use kir::{ArrayId, Kernel};

/// A property that could not be proved at some place.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenClaim {
    /// The property.
    pub property: Property,
    /// The place.
    pub span: Span,
    /// The other place, for a claim about two.
    pub other: Option<Span>,
    /// The claim, as it follows "could not show" in a report.
    pub message: String,
}

impl OpenClaim {
    /// An open claim about the contents of arrays.
    pub(crate) fn of_values(span: Span, message: impl Into<String>) -> Self {
        Self { property: Property::Values, span, other: None, message: message.into() }
    }
}

/// A property to prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Property {
    /// No two threads access an element without order.
    Races,
    /// All threads of a block reach the same barriers.
    Barriers,
    /// Every access is inside its array.
    Bounds,
    /// Indices and conditions are computed without leaving their types.
    Overflow,
    /// No division by zero.
    Division,
    /// Elements of shared and local memory are stored before they are read.
    Initialised,
    /// Clauses have a value wherever they are evaluated.
    Clauses,
    /// Claims of annotations.
    Invariant,
    /// The contract's claims about the end of the launch.
    Postcondition,
    /// The final contents of arrays.
    Values,
}

/// Properties of every kernel. If they hold, the final memory is determined by the inputs.
pub(crate) const SAFETY: [Property; 5] =
    [Property::Races, Property::Barriers, Property::Bounds, Property::Overflow, Property::Division];

impl Property {
    /// The name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Races => "races",
            Self::Barriers => "barriers",
            Self::Bounds => "bounds",
            Self::Overflow => "overflow",
            Self::Division => "division",
            Self::Initialised => "initialised",
            Self::Clauses => "clauses",
            Self::Invariant => "an invariant",
            Self::Postcondition => "a postcondition",
            Self::Values => "a value",
        }
    }
}

/// The result of the engine.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The open claims; everything else is proved.
    pub open: Vec<OpenClaim>,
    /// Arrays whose size is not stated.
    pub unsized_arrays: Vec<ArrayId>,
    /// Set if reads of shared and local memory were examined.
    pub checks_initialised: bool,
    /// Set if there are claims of annotations.
    pub has_claims: bool,
    /// Set if the contract has claims about the end of the launch.
    pub has_postconditions: bool,
    /// Invariants of loops that were inferred and proved, each with the place of its loop.
    pub learnt: Vec<(Span, String)>,
    /// Statistics of the queries.
    pub stats: Stats,
    /// Set if questions were left open because there is no solver.
    pub missed_solver: bool,
    /// Set if the solver stopped answering.
    pub solver_died: bool,
    /// Axes with an assumed limit of 2^31 threads.
    pub limited: [bool; 3],
    /// Candidate launches on which an open claim may fail, each with the thread.
    pub candidate_launches: Vec<(Launch, Thread)>,
}

impl Proof {
    /// The result if the time limit ended the work: every property is open.
    pub(crate) fn given_up(kernel: &Kernel) -> Self {
        let has_postconditions = !kernel.ensures.is_empty() || !kernel.footprints.is_empty();
        let claimed = has_postconditions.then_some(Property::Postcondition);
        let open = SAFETY.into_iter().chain(claimed).map(|property| {
            // Reports put "could not show" in front.
            let message = "anything before the time limit".to_owned();
            OpenClaim { property, span: kernel.span, other: None, message }
        });
        Self {
            open: open.collect(),
            unsized_arrays: Vec::new(),
            checks_initialised: false,
            has_claims: false,
            has_postconditions,
            learnt: Vec::new(),
            stats: Stats::default(),
            missed_solver: false,
            solver_died: false,
            limited: [false; 3],
            candidate_launches: Vec::new(),
        }
    }
}
