//! Decides whether two real terms are equal: [`Decision::Equal`], [`Decision::Different`] with a point, or
//! [`Decision::Unknown`] with a reason. The origin of the terms does not matter here.
//!
//! # What `Equal` means
//!
//! A term is a partial function of finite real inputs ([`term`]). `Equal` with no conditions says: at *every* input
//! where the reference is defined, ties and boundaries included, the optimised term is defined and has the same
//! value, and there is such an input. `Equal` with conditions says the same of the inputs that also satisfy them.
//! Each condition is an operation of the optimised term whose argument must be non-zero, non-negative or positive.
//! `Different` names one input where the reference is certainly defined and the two values lie in disjoint intervals
//! (256 bits, rounded outward), or where only the optimised term is undefined. Everything else is `Unknown`.
//!
//! # The normal form
//!
//! A term becomes a finite sum
//!
//! ```text
//!     Σᵢ cᵢ · Πⱼ aⱼ^qᵢⱼ · e^Eᵢ        cᵢ, qᵢⱼ rational, Eᵢ again such a sum
//! ```
//!
//! over *atoms* `aⱼ`: inputs, π, ln p, p^q (0 < q < 1) for integers p, and composite atoms over normal forms:
//! `ln|f|`, `max{f₁…fₙ}`, `if(condition, f, g)`, named functions, and *bases* f. A base is a sum with a power that
//! cannot be multiplied out: a quotient is a product with a base to the −1, a root one with a base to a fraction.
//! Summands are sorted and equal monomials combined, so equal normal forms are equal lists.
//!
//! **Theorem.** Let all atoms be inputs and all exponents polynomials in the inputs, no two of them
//! differing by a constant. Then the sum is zero at every input only if every coefficient is zero:
//! the normal form decides equality.
//! *Proof.* Substitute `x = αt` for a direction α in which the exponents still differ pairwise and
//! no coefficient polynomial vanishes identically (all but a null set of directions will do). Divide
//! by the exponential that grows fastest; as t → ∞ every other summand vanishes faster than any
//! polynomial grows, so the coefficient polynomial of the fastest tends to zero, hence is zero.
//! Repeat. ∎
//!
//! The condition on constants cannot be dropped: `e·e⁰ − 1·e¹ = 0` has distinct exponents and non-zero coefficients
//! (the theorem in the paper on VOLTA, §4.4, omits it). Here a constant is part of the exponent and products add
//! exponents, so `e · e^x` and `e^(x+1)` are one monomial. Two exponents that differ by a constant belong to
//! *different* monomials with dependent values, e.g. `(e−2)·e^x` is the list `e^(x+1) − 2e^x`. Such lists are zero
//! only if formally zero as far as e, π, ln p and p^q satisfy no relations beyond those applied (`p^q·p^r = p^(q+r)`,
//! `e^(q ln p) = p^q`), which is unproved mathematics. So an unequal normal form is never taken as a difference, only
//! a point is.
//!
//! **Beyond the theorem** (quotients, roots, logarithms, maxima, selects, named functions) equal normal forms are
//! still equal functions. But atoms are no longer independent (`max·min = ab`, `|x|² = x²`), so nothing follows from
//! unequal forms, and the next rungs are tried.
//!
//! # The ladder
//!
//! | [`Rung`] | test |
//! |---|---|
//! | `Products` | the same products of inputs, in any order |
//! | `Structure` | the same operations, operands of sums, products, maxima and minima in any order |
//! | `Composite` | the same normal form; first with an unknown for each sum of products that both sides have |
//! | `Inline` | zero after multiplying by the denominators and multiplying out |
//! | `Facts` | the same with the signs that definedness and assumptions give, equal arguments merged |
//! | `Cases` | zero in every case: which element of a maximum is largest, whether a condition holds |
//! | `Point` | a point where the values differ |
//!
//! Each has a budget in steps ([`Budget`]); none reads a clock, unless the caller sets a [`Deadline`].
//!
//! Before the normal forms, one pass takes *fingerprints* of the open pairs (of some, if they are many): values at a
//! point modulo a safe prime p = 2q+1, exponents modulo q, maxima and selects decided by floats. Where they disagree,
//! interval evaluation looks for a difference at once. They choose where to look and are never an answer: beyond
//! exp-polynomials they may disagree for equal terms.
//!
//! Common sums of both sides may be unknowns because the same unknown stands for the same function of the inputs:
//! their products were compared, exactly. Equal forms in such unknowns are equal functions. If the forms are unequal
//! nothing follows, and the sums are taken apart.
//!
//! **Why each step is sound.** Every rewrite keeps the value at each input where the *original*
//! terms are defined; conditions are collected from the terms before anything is rewritten
//! ([`Definedness`]), so no cancellation can lose one. Multiplying by a denominator is allowed
//! because it is not zero there. A denominator that is zero everywhere is refused.
//!
//! # A worked example: online softmax
//!
//! For keys x₁, x₂ the online kernel keeps m and l: m₁ = x₁, l₁ = e^(x₁−m₁) = 1 (the first step's
//! rescale `l₀·e^(−∞−m₁)` is 0: the constructor of `exp` eliminates −∞). Then m₂ = max(x₁, x₂), an
//! atom M, and l₂ = l₁·e^(x₁−M) + e^(x₂−M). The output is e^(x₁−M)/l₂. The division takes l₂ apart:
//! its exponents x₁−M and x₂−M have component-wise minimum −M, so l₂ = e^−M · B with the base
//! B = e^x₁ + e^x₂, and the output is e^(x₁−M) · e^M · B^−1 = e^x₁·B^−1. The naive softmax
//! e^x₁/(e^x₁ + e^x₂) has the same normal form: the maximum is gone, no cross terms were made, and
//! the condition l₂ ≠ 0 holds because B is a sum of exponentials.
//!
//! ```
//! use decide::{Budget, Problem, Rung, decide};
//! use std::sync::Arc;
//! use term::{Inputs, Terms};
//! let mut inputs = Inputs::new();
//! inputs.tensor("x", 2).unwrap();
//! let mut terms = Terms::new(Arc::new(inputs));
//! let x = [0, 1].map(|at| terms.input(terms.inputs().at(at).unwrap()));
//! let naive = {
//!     let weights = x.map(|x| terms.exp(x));
//!     let total = terms.add(weights[0], weights[1]);
//!     terms.divide(weights[0], total)
//! };
//! let online = {
//!     let (mut m, mut l) = (terms.infinity(true), terms.integer(0));
//!     for x in x {
//!         let next = terms.maximum(m, x);
//!         let [old, new] = [m, x].map(|value| {
//!             let gap = terms.subtract(value, next);
//!             terms.exp(gap)
//!         });
//!         let rescaled = terms.multiply(l, old);
//!         l = terms.add(rescaled, new);
//!         m = next;
//!     }
//!     let gap = terms.subtract(x[0], m);
//!     let weight = terms.exp(gap);
//!     terms.divide(weight, l)
//! };
//! let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
//! let answer = decide(&problem, &[(naive, online)], &Budget::default()).remove(0);
//! assert!(answer.is_equal());
//! assert_eq!(answer.rung(), Some(Rung::Composite));
//! ```
//!
//! # Limits
//!
//! No polynomial factorisation: `(x²−1)/(x−1) = x+1` needs the `Inline` rung, and deep nests of such quotients under
//! roots or logarithms stay unknown. `√(ab)` becomes `√a·√b` if both are known not to be negative, for products
//! written as such; sums under roots are not factored. Cube roots and trigonometric functions are opaque except for sign
//! symmetry. Facts are combined in pairs, not by linear programming. [`decide`] tries points from a fixed list of
//! small dyadic values: a difference confined to, say, x > 10⁶ is missed, and the answer is `Unknown`, not `Equal`. A
//! caller that knows more about the inputs can try other points first ([`Probe`]).

mod algebra;
mod blocks;
mod consistency;
mod deadline;
mod definedness;
mod evaluate;
mod ladder;
mod normalise;
mod numbering;
mod points;
mod probe;
mod problem;
mod procedure;
mod products;
mod rewrite;
mod split;
mod structure;
mod verdict;
mod witness;

pub use consistency::{Contradiction, contradiction, is_never_zero};
pub use deadline::Deadline;
pub use definedness::{Definedness, Requirement};
pub use evaluate::{Interval, LANES, Lanes, Value, evaluate};
pub use numbering::{Numbering, ValueNumber};
pub use points::Points;
pub use probe::{Probe, Suspect, tell_apart};
pub use problem::{Budget, Problem};
pub use procedure::{
    Suspicion, decide, decide_other_than_products, differences, equal_products, satisfy, widest,
};
pub use verdict::{Assumed, Decision, Reason, Rung};
pub use witness::{Discrepancy, Point, Widest, inputs_of, lookups};
