//! Legal results: the possible machine values of a float whose bits the manual does not fix.
//!
//! Most instructions fix every bit. Four kinds do not ([`Unfixed`]): sums of atomic additions, in
//! schedule-dependent order; products without a written rounding, which the assembler may fuse with the sum
//! they go into (PTX manual §9.7.3.3–5); `.approx` and `.full` functions, with an error bound in the manual;
//! and sums inside matrix instructions. Such a number is known as an [`Enclosure`] that contains every legal
//! result. A branch, an integer or an address that depends on it is decided only if all numbers of the
//! enclosure agree.
//!
//! A run without a domain cannot store enclosures: there such a number is *unknown* ([`crate::tags`]). A run
//! with a domain keeps enclosures beside the domain's values ([`alias`]). [`Enclosed`] is the domain of a run
//! that needs nothing else.
//!
//! Errs on the safe side: an enclosure may contain numbers that no GPU produces, and a float without an
//! enclosure is unknown.

pub(crate) mod alias;
mod approximate;
mod enclosed;
pub(crate) mod enclosure;
mod interval;
mod matrix;
mod repeated;
mod sum;

pub use enclosed::Enclosed;
pub(crate) use enclosure::Enclosure;
pub(crate) use matrix::matrix_sum;

use ir::{Accuracy, FloatBinary, FloatMode, FloatUnary, Op};
use std::fmt;

/// The reason why the manual does not fix the bits of a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unfixed {
    /// A product that the assembler may fuse with the sum it goes into.
    Contraction,
    /// The result of an approximate function.
    Approximation,
    /// A sum of atomic additions.
    AtomicOrder,
    /// A sum inside a matrix instruction.
    MatrixSum,
}

impl fmt::Display for Unfixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contraction => "the assembler may fuse a product with a sum",
            Self::Approximation => "an approximate function",
            Self::AtomicOrder => "the order of float additions",
            Self::MatrixSum => "the order in which a matrix instruction adds",
        })
    }
}

/// Returns `true` if the manual fixes the bits of a function of one number.
pub(crate) fn fixes_unary(op: FloatUnary, mode: FloatMode) -> bool {
    match op {
        FloatUnary::Negate | FloatUnary::Abs | FloatUnary::RoundToIntegral => true,
        FloatUnary::Sqrt | FloatUnary::ReciprocalSqrt | FloatUnary::Reciprocal => {
            mode.accuracy == Accuracy::Exact
        }
        FloatUnary::Exp2
        | FloatUnary::Log2
        | FloatUnary::Sin
        | FloatUnary::Cos
        | FloatUnary::Tanh => false,
    }
}

/// Returns `true` if the manual fixes the bits of an operation on numbers. A product that may be fused is
/// fixed by itself; the sum it goes into is not.
pub(crate) fn fixes(op: &Op) -> bool {
    match op {
        Op::FloatUnary { op, mode, .. } => fixes_unary(*op, *mode),
        Op::FloatBinary { op: FloatBinary::Mul, mode, .. } => !mode.contract,
        Op::FloatBinary { op: FloatBinary::Div, mode, .. } => mode.accuracy == Accuracy::Exact,
        Op::Real { .. } => false,
        _ => true,
    }
}
