//! Invariants about arrays, guessed from runs.
//!
//! The kernel is run on a few small launches; what its arrays hold at the heads of its loops is compared with templates: `cond(x) ⇒
//! a[x] == \fold(op, j, low(x), high(x), f(j))`, where the fold is one that the contract speaks of (`templates.rs`). What was true whenever it was
//! looked at becomes a clause. Whether it holds is for `engine/values/arrays` to show: a wrong guess costs time, never soundness.

mod build;
mod fit;
mod templates;
mod text;

pub(crate) use fit::clauses;
