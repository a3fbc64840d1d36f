//! Infers invariants about arrays from runs.
//!
//! The kernel is run on a few small launches. The contents of its arrays at the heads of its loops are compared with
//! templates: `cond(x) ⇒ a[x] == \fold(op, j, low(x), high(x), f(j))`, where the fold is from the contract, or over
//! the array's own contents before the loop (`templates.rs`). A template that held at every observation becomes a
//! clause. If no element is known by itself, ranges of elements are tried that combine to what all did before the loop
//! (`totals.rs`). `engine/values/arrays` must then prove it: a wrong guess costs time, never soundness.

mod build;
mod combine;
mod fit;
mod templates;
mod text;
mod totals;

use crate::clause::Clause;
use kir::Kernel;

/// Returns the given clauses and, for arrays and loops without one, inferred clauses. Variables of the clauses are
/// added to the kernel.
pub(crate) fn with_given(kernel: &mut Kernel, given: &[(usize, Clause)]) -> Vec<(usize, Clause)> {
    let is_given = |number: usize, clause: &Clause| {
        given.iter().any(|(own, one)| *own == number && one.array == clause.array)
    };
    let learnt = fit::clauses(kernel).into_iter();
    let learnt = learnt.filter(|(number, clause)| !is_given(*number, clause));
    given.iter().cloned().chain(learnt).collect()
}
