//! Invariants about arrays: clauses at the heads of loops, as virtual stores.
//!
//! The *contents of an array at a point* of the kernel are those of the last store before that point, in the order of
//! `resolve.rs` (statements in order, iterations by their count). A clause `\forall digits; when ==> a[index] ==
//! value` at the head of a loop is proved for the point before the loop, and for the end of an arbitrary iteration
//! from all clauses of the loop at its beginning (`prove.rs`). Then a load inside or after the loop that has no store
//! in the same iteration (or after the loop) is answered by a clause (`clause_lookup.rs`): digits are found by
//! inverting the index, as for stores. If no clause covers an element, its contents are unknown.
//!
//! Clauses that are not proved are dropped and the rest is proved again, so a wrong guess costs only time.

mod clause_instances;
mod clause_lookup;
mod powers;
mod prove;
mod totals;

pub(super) use prove::ClauseResults;
