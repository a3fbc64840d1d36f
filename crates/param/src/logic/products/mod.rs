//! Integer arithmetic by products of assumptions and linear programming.
//!
//! Assumptions `h ≥ 0` and `e = 0` are refuted by a sum of products of them, with weights that are not negative, that is a negative
//! constant (Handelman, Krivine): complete for bounded polyhedra as the degree grows, decidable at each degree. Monomials are the
//! columns of a linear program, products are found by relevance, and a program that stays feasible is cut in three at the sign of a
//! difference of quotients. This is the vertex method, the theorem of mixed radices for strides that are polynomials, and the bounds of
//! Euclid's quotients by one argument.
//!
//! What is found is a [`Certificate`], which a small checker accepts or not ([`certificate`]); nothing is called refuted otherwise. So
//! floating-point numbers may be used to find a large one ([`simplex`]); small ones are found in whole numbers ([`bounded`]). It can fail to refute, never refute what can hold.

mod bounded;
mod certificate;
mod exact;
mod program;
mod search;
mod simplex;
#[cfg(test)]
mod tests;

#[cfg(test)]
use certificate::Certificate;
pub(crate) use certificate::Hypotheses;
pub(crate) use search::{Effort, refutation};
