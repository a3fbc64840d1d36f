//! Runs kernels on intervals: what a kernel computes over the reals, on given inputs.
//!
//! Floats are mathematical reals here (see [`exec::domain`]): rounding, fast-math approximations and
//! conversions between formats are exact. A value is kept as an interval that contains it; every
//! operation rounds outward, so the exact value of an output is *always* inside what is reported.
//! Two kernels whose enclosures of an output do not meet differ, whatever rounding does.
//!
//! It errs on one side only: an enclosure can be too wide, a comparison undecided, a quotient
//! *unsure* because the divisor's enclosure contains zero. Therefore the same domain
//! ([`Intervals`]) works with doubles ([`Double`]), fast and with some 15 digits, and with 256 bits
//! ([`Precise`]); [`enclose`] starts with the first and goes on to the second where the answer does
//! not satisfy the caller.
//!
//! Infinities come from constants only and are values of their own, not bounds. An operation that
//! is undefined over the reals for certain (a division by zero, a logarithm of a negative number,
//! ∞ − ∞) gives an undefined value, with the reason; so does every operation on one. A choice
//! needs only the operand it takes.

mod domain;
mod double;
mod enclosure;
mod expf;
mod functions;
mod given;
mod precise;
mod run;
mod sequence;

pub use domain::Intervals;
pub use double::Double;
pub use enclosure::Enclosure;
pub use given::Given;
pub use precise::Precise;
pub use run::{Answers, Enclosed, Run, enclose, run};
pub use sequence::{Carried, Leftovers, Sequence, Stage, enclose_in_sequence, run_in_sequence};
