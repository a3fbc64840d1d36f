//! Elements of outputs ([`Position`]), and the reasons why equality of one is undecided ([`OpenReason`]).

use decide::Reason;
use exec::Place;
use interval::Enclosed;
use thiserror::Error;

/// An element of an output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The output.
    pub name: String,
    /// The number of the element, in index order.
    pub index: usize,
}

/// An element for which equality was not decided.
#[derive(Clone, Debug)]
pub struct OpenElement {
    /// The element.
    pub position: Position,
    /// The reason.
    pub reason: OpenReason,
    /// If a value was lost: the side, 0 for the reference, and the instruction.
    pub lost: Option<(usize, Place)>,
}

/// The reason why an element is undecided; displays as a clause.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OpenReason {
    /// The algebra found no answer.
    #[error("{0}")]
    Undecided(Reason),
    /// The expressions differ, but the kernels do not: constants that stand for other numbers may be the reason.
    #[error("the expressions differ, but the kernels do not")]
    Contradicted,
    /// The expressions differ, perhaps only where an argument is outside a recognised function's range.
    #[error(
        "the expressions differ, but perhaps only at function arguments that the code does not handle"
    )]
    OutOfRange,
    /// The expressions are defined at different inputs, and the kernels do not show it.
    #[error("the optimised kernel may be undefined where the reference is not")]
    Undefined,
    /// A difference over the reals that no run in floats shows.
    #[error(
        "over the reals it differs, but both kernels compute the same floats at every input tried"
    )]
    Alike,
    /// A rounded constant may account for the difference, but this was not decided.
    #[error(
        "the difference is small, and a rounded constant may explain it; this was not decided in time"
    )]
    MaybeRounded,
    /// The expressions differ at numbers outside the inputs' types.
    #[error("it differs at a point that its types cannot represent")]
    Unrepresentable,
    /// The integers differ, but the kernels do not show it.
    #[error("the integers differ unless they wrap around")]
    Wraps,
    /// A polynomial may stand for a function.
    #[error("{0}")]
    Approximates(String),
    /// A run lost its value.
    #[error("it is a value {0}")]
    Lost(&'static str),
    /// The reference defines it at some inputs only.
    #[error("the reference computes or writes it only under a condition")]
    Conditional,
    /// The reference does not write it.
    #[error("the reference does not write it")]
    ReferenceUnwritten,
    /// The optimised kernel does not write it.
    #[error("the optimised kernel does not write it")]
    OptimisedUnwritten,
    /// Equality relies on an assumption that a run in floats does not confirm.
    #[error(
        "{on}, but the kernels compute {} and {} at an input that is not zero",
        .values[0],
        .values[1]
    )]
    Reliance {
        /// The assumption.
        on: Reliance,
        /// The values of the kernels, reference first.
        values: [f64; 2],
    },
    /// A fault in floats that does not occur over the reals.
    #[error(
        "run in floats on ordinary inputs, the optimised side has an error that it does not have in real \
        numbers (`simulate` shows it)"
    )]
    FloatFault,
    /// Runs on intervals contradict the proof.
    #[error(
        "the algebra proves it equal, but the kernels give {:?} and {:?}; this is a bug in Warpproof",
        .enclosed[0],
        .enclosed[1]
    )]
    Bug {
        /// The enclosures of both kernels, reference first.
        enclosed: Box<[Enclosed; 2]>,
    },
}

/// An assumption about signs of zeros or NaN that an equality relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Reliance {
    /// A zero is positive.
    #[error("the result depends on the sign of a zero: equal if it is +")]
    SignOfZero,
    /// A value is not NaN.
    #[error("the result depends on a test for NaN: equal if there is none")]
    NanTest,
}
