//! Elements of outputs, and why one is not settled.

use decide::Reason;
use exec::Place;
use interval::Enclosed;
use thiserror::Error;

/// An element of an output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The output.
    pub name: String,
    /// The element, in the order of the indices.
    pub index: usize,
}

/// An element that is not settled.
#[derive(Clone, Debug)]
pub struct Unsettled {
    /// Which.
    pub position: Position,
    /// Why.
    pub reason: OpenReason,
    /// The side that lost it, the reference or the other, and the instruction, if a value was lost.
    pub lost: Option<(usize, Place)>,
}

/// Why an element is not settled; displays as a clause.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum OpenReason {
    /// The algebra gives no answer.
    #[error("{0}")]
    Undecided(Reason),
    /// Constants that stand for other numbers may make expressions differ and kernels not.
    #[error("the expressions differ, but the kernels do not")]
    Contradicted,
    /// Out of its range a function is something else.
    #[error(
        "the expressions differ, but perhaps only where an argument of a function is out of the range that the code has \
         a case for"
    )]
    OutOfRange,
    /// A difference of definedness that the kernels do not show.
    #[error("the optimised kernel may be undefined where the reference is not")]
    Undefined,
    /// A difference that no run in floats shows.
    #[error(
        "over the reals it differs, but both kernels compute the same floats at every input tried"
    )]
    Alike,
    /// Whether constants that stand for other numbers make the difference was not decided.
    #[error(
        "it differs by little, which a rounded constant may explain; whether one does was not decided in time"
    )]
    MayStand,
    /// A difference at numbers that are not of the inputs' types.
    #[error("it differs at a point that its types cannot represent")]
    Unrepresentable,
    /// A difference of integers that the kernels do not show.
    #[error("the integers differ, unless they wrap around")]
    Wraps,
    /// A polynomial that may stand for a function.
    #[error("{0}")]
    Approximates(String),
    /// A run does not know its value.
    #[error("it is a value {0}")]
    Lost(&'static str),
    /// The reference defines it at some inputs alone.
    #[error("the reference computes or writes it only under a condition")]
    Conditional,
    /// The reference leaves it as it was.
    #[error("the reference does not write it")]
    ReferenceUnwritten,
    /// The optimised kernel leaves it as it was.
    #[error("the optimised kernel does not write it")]
    OptimisedUnwritten,
    /// Equality rests on something that a run in floats does not confirm.
    #[error(
        "{on}, but the kernels compute {} and {} at an input that is not zero",
        .values[0],
        .values[1]
    )]
    Reliance {
        /// What it rests on.
        on: Reliance,
        /// What the kernels compute, reference first.
        values: [f64; 2],
    },
    /// A fault in floats that real numbers do not have.
    #[error(
        "run in floats at ordinary inputs, the optimised side does something wrong that it does not do in real numbers \
         (`simulate` shows it)"
    )]
    FloatFault,
    /// A proof that runs on intervals contradict.
    #[error(
        "the algebra says that it is equal, but the kernels give {:?} and {:?}; this is a bug in Warpproof",
        .enclosed[0],
        .enclosed[1]
    )]
    Bug {
        /// What the kernels give, reference first.
        enclosed: Box<[Enclosed; 2]>,
    },
}

/// What an equality may rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Reliance {
    /// That a zero is positive.
    #[error("the sign of a zero decides: equal if it is +")]
    SignOfZero,
    /// That a value is a number.
    #[error("a test for NaN decides: equal if it finds none")]
    NanTest,
}
