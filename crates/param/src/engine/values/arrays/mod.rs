//! Invariants about arrays: clauses at the heads of loops, as virtual stores.
//!
//! What an array *holds at a place* of the kernel is what the last store before that place left, in the order of
//! `resolve.rs` (statements in order, iterations by their count). A clause `\forall digits; when ==> a[index] == value` at the head of a
//! loop is shown for the place before the loop, and for the end of an arbitrary iteration from what all clauses of
//! the loop say at its beginning (`prove.rs`). Then a load inside the loop or behind it, which no store of the same iteration (of
//! the code behind the loop) answers, is answered by a clause (`cover.rs`): digits are found by inverting the index, as for
//! stores. Where no clause covers an element nothing is known of it.
//!
//! Clauses that are not shown are dropped and the rest is shown again, so a wrong guess costs time alone.

mod at;
mod cover;
mod powers;
mod prove;

pub(super) use prove::Shown;
