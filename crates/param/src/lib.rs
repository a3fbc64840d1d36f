//! Proves properties of CUDA C kernels for every launch and every size at once.
//!
//! ```text
//! text ─ cuda ─ read ─► kir ─► engine (sites, intervals, obligations) ─► logic (side conditions) ─► answer
//!                           └───► interp (refutes, tests proofs)
//! ```
//!
//! What is proved holds for every launch that the contract allows. What is refuted has a launch on which the
//! interpreter saw it. All else is open, with what could not be shown.

mod answer;
mod clause;
pub mod deadline;
pub mod depth;
pub mod engine;
mod equal;
mod front;
pub mod interp;
pub mod kir;
mod learn;
mod liveness;
mod logic;
mod merge;
pub mod partial;
mod read;
mod relevance;
mod search;
pub(crate) mod spec;
mod suggest;
mod trials;

pub use answer::{Answer, Checked, Finding, Options, Verdict, prove};
pub use equal::{Compared, Difference, Relation, compare, compare_as};
pub use logic::second::Second;
pub use logic::side::Stats;
pub use logic::smt::{Memory, Solver, SolverError};
pub use merge::PairError;

use base::Diagnostic;
use cuda::preprocess::{self, Preprocessed, preprocess};
use std::collections::BTreeMap;

/// A kernel of a file: its name, and itself or why it cannot be read.
pub type Parsed = (String, Result<kir::Kernel, Box<Diagnostic>>);

/// The kernels of a text that includes no files, each by itself: one outside the subset does not concern the others.
///
/// # Errors
/// If the text as a whole cannot be read.
pub fn kernels(text: &str) -> Result<Vec<Parsed>, Box<Diagnostic>> {
    let text = preprocess(&preprocess::Options::default(), text)?;
    front::kernels(&text, cuda::sema::Options::default().longest_chain)
}

/// The kernels of a text that was preprocessed. They may have expressions so deep that the thread must have [`depth::STACK`].
///
/// # Errors
/// If the text as a whole cannot be read.
pub fn kernels_in(text: &Preprocessed) -> Result<Vec<Parsed>, Box<Diagnostic>> {
    front::kernels(text, depth::MAX_DEPTH)
}

/// The same with demands on launches that are given apart from the file, in which names are replaced; beside
/// each kernel, whether it has the names that they speak of. If not, they are no demands of it.
///
/// # Errors
/// If the text as a whole, or a demand, cannot be read.
pub fn kernels_with(
    text: &Preprocessed,
    demands: &[String],
    names: &[(String, String)],
) -> Result<Vec<(Parsed, bool)>, Box<Diagnostic>> {
    front::kernels_with(text, demands, names, depth::MAX_DEPTH)
}

/// Lowers the kernels of a file that was read already.
#[must_use]
pub fn lowered(program: &cuda::tree::Program) -> Vec<Parsed> {
    front::lowered(program)
}

/// Whether it is followed what a function of CUDA computes, or does; its name is that of the reader's tree.
#[must_use]
pub fn follows(function: &str) -> bool {
    read::follows(function)
}

/// Up to `wanted` launches that the kernel's contract allows and that can be run as a whole, smallest first.
#[must_use]
pub fn launches(kernel: &kir::Kernel, wanted: usize) -> Vec<interp::Launch> {
    search::small(kernel, wanted).into_iter().filter(search::is_runnable).collect()
}

/// The same with scalars of the launch that are given.
#[must_use]
pub fn launches_with(
    kernel: &kir::Kernel,
    wanted: usize,
    given: &BTreeMap<kir::VarId, i128>,
) -> Vec<interp::Launch> {
    let found = search::small_with(kernel, wanted, given);
    found.into_iter().filter(search::is_runnable).collect()
}

/// Large launches that the kernel's contract allows: at numbers that its conditions or `numbers` name, with scalars of the launch
/// that are given.
#[must_use]
pub fn launches_at(
    kernel: &kir::Kernel,
    numbers: &[i128],
    given: &BTreeMap<kir::VarId, i128>,
) -> Vec<interp::Launch> {
    let own = relevance::compared_numbers(kernel);
    let others = numbers.iter().filter(|one| !own.contains(one));
    let all: Vec<i128> = own.iter().chain(others).copied().collect();
    search::turns::at(kernel, &all, given)
}
