//! Invariants about arrays, guessed from runs.
//!
//! The kernel is run on a few small launches; what its arrays hold at the heads of its loops is compared with templates: `cond(x) ⇒
//! a[x] == \fold(op, j, low(x), high(x), f(j))`, where the fold is one that the contract speaks of, or one of what
//! the array itself held before the loop (`templates.rs`). What was true whenever it was
//! looked at becomes a clause. Whether it holds is for `engine/values/arrays` to show: a wrong guess costs time, never soundness.

mod build;
mod combine;
mod fit;
mod templates;
mod text;

use crate::clause::Clause;
use crate::kir::Kernel;

/// Clauses that are given and, of arrays and loops that these do not speak of, those that are guessed. Variables of the clauses are
/// added to the kernel.
pub(crate) fn with_given(kernel: &mut Kernel, given: &[(usize, Clause)]) -> Vec<(usize, Clause)> {
    let said = |number: usize, clause: &Clause| {
        given.iter().any(|(own, one)| *own == number && one.array == clause.array)
    };
    let learnt = fit::clauses(kernel).into_iter();
    let learnt = learnt.filter(|(number, clause)| !said(*number, clause));
    given.iter().cloned().chain(learnt).collect()
}
