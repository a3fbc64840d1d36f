//! Integer arithmetic by products of assumptions and linear programming.
//!
//! Assumptions `h ≥ 0` and `e = 0` are refuted by a sum of products of them, with nonnegative weights, that is a
//! negative constant (Handelman, Krivine): complete for bounded polyhedra as the degree grows, decidable at each
//! degree. Products are the columns of a linear program, chosen by relevance. If a program stays feasible, the search
//! splits into three cases by the sign of a difference of quotients. This one argument covers the vertex method, the
//! theorem of mixed radices for strides that are polynomials, and the bounds of Euclid's quotients.
//!
//! The result is a certificate, which a small checker accepts or rejects (`certificate`); nothing is called
//! refuted otherwise. So floating-point numbers may be used to find a large one (`simplex`); small ones are found
//! in whole numbers (`bounded`). The search may miss refutations, but never refutes consistent assumptions.

mod bounded;
mod certificate;
mod exact;
mod program;
mod quotients;
mod search;
mod simplex;
#[cfg(test)]
mod tests;

#[cfg(test)]
use certificate::Certificate;
pub use certificate::Hypotheses;
pub use quotients::{Division, bounds_of_quotients, divisions};
pub use search::{Effort, refutation};
