//! Proves properties of CUDA C kernels for every launch and every size at once.
//!
//! ```text
//! kernel (kir) ─► engine (sites, intervals, obligations) ─► prover (side conditions) ─► answer
//!             └──► interp (refutes, tests proofs)
//! ```
//!
//! A proved property holds for every launch that the contract allows. A refuted one has a launch on which the
//! interpreter witnessed the failure. Everything else is open, with the claims that could not be proved.

mod answer;
mod clause;
pub mod engine;
mod equal;
mod learn;
mod merge;
mod prover;
mod search;
mod suggest;
mod trials;

pub use answer::{Answer, Finding, Options, PropertyVerdict, Verdict, prove};
pub use equal::{Difference, PairAnswer, Relation, compare, compare_as};
pub use merge::PairError;
pub use prover::Stats;

use kir::relevance;
use std::collections::BTreeMap;

/// Up to `wanted` launches that the kernel's contract allows and that are small enough to run, smallest first.
#[must_use]
pub fn launches(kernel: &kir::Kernel, wanted: usize) -> Vec<interp::Launch> {
    search::small(kernel, wanted).into_iter().filter(search::is_runnable).collect()
}

/// Like [`launches`], with given values of scalars.
#[must_use]
pub fn launches_with(
    kernel: &kir::Kernel,
    wanted: usize,
    given: &BTreeMap<kir::VarId, i128>,
) -> Vec<interp::Launch> {
    let found = search::small_with(kernel, wanted, given);
    found.into_iter().filter(search::is_runnable).collect()
}

/// Large launches that the kernel's contract allows: at constants of its conditions or in `numbers`, with given
/// values of scalars.
#[must_use]
pub fn launches_at(
    kernel: &kir::Kernel,
    numbers: &[i128],
    given: &BTreeMap<kir::VarId, i128>,
) -> Vec<interp::Launch> {
    let compared = relevance::compared_numbers(kernel);
    let others = numbers.iter().filter(|one| !compared.contains(one));
    let all: Vec<i128> = compared.iter().chain(others).copied().collect();
    search::constants::at(kernel, &all, given)
}
