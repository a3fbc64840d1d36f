//! Values of terms at points: floats and residues to search with, intervals of at least 256 bits to
//! decide with.
//!
//! [`interval`] and [`elementary`] enclose: the exact value always lies between the bounds. [`float`], [`lanes`] and
//! [`fingerprint`] only suggest. [`certain`] encloses in doubles, to show quickly that a term is defined. Evaluation is of the original terms, never of normal forms, so that a bug in the
//! algebra cannot hide itself. [`forms`] serves signs of constants and guesses.

mod arithmetic;
mod certain;
mod elementary;
mod fingerprint;
mod float;
mod forms;
mod interval;
mod lanes;
mod residue;
mod terms;

pub(crate) use certain::is_certainly_real;
pub(crate) use fingerprint::{Fingerprints, fingerprints};
pub(crate) use float::evaluate_floats;
pub(crate) use forms::{FormValues, constant_sign};
pub use interval::Interval;
pub(crate) use lanes::Evaluator;
pub use lanes::{LANES, Lanes};
pub use terms::{Value, evaluate};
pub(crate) use terms::{element, evaluate_until};
