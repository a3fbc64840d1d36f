//! Interval execution: bounds on the values that a kernel computes over the reals, on given inputs.
//!
//! Floats are mathematical reals here (see [`exec::domain`]): rounding, fast-math approximations and conversions
//! between formats are exact. A value is an interval that contains it, and every operation rounds outward. So the
//! reported interval *always* contains the exact value of an output. Two kernels whose enclosures of an output do not
//! meet differ under every rounding.
//!
//! It errs on one side only: an enclosure can be too wide, a comparison undecided, a quotient *unsure* because the
//! divisor's enclosure contains zero. Therefore the same domain ([`Intervals`]) works with doubles ([`Double`]), fast
//! and with some 15 digits, and with 256 bits ([`Precise`]). [`enclose`] starts with the first, and uses the second
//! if the answer does not satisfy the caller.
//!
//! Infinities come from constants only and are values of their own, not bounds. An operation that is certainly
//! undefined over the reals (a division by zero, a logarithm of a negative number, ∞ − ∞) gives an undefined value,
//! with the reason. So does every operation on an undefined value. A select needs only the operand it takes.

mod comparison;
mod domain;
mod double;
mod enclosure;
mod expf;
mod functions;
mod inputs;
mod precise;
mod run;
mod sequence;

pub use domain::Intervals;
pub use double::Double;
pub use enclosure::Enclosure;
pub use inputs::RunInputs;
pub use precise::Precise;
pub use run::{Answers, Enclosed, Run, enclose, run};
pub use sequence::{
    CarriedBuffer, Sequence, SequenceResults, Stage, enclose_in_sequence, run_in_sequence,
};
