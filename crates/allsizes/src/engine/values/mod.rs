//! Functional correctness for every launch and size: the value of an arbitrary element of an output, as a function of
//! the inputs.
//!
//! `collect_stores.rs` and `loop_values.rs` collect stores with their values. `resolve.rs` looks up which store an
//! element comes from (`hits.rs`, `invert_index.rs`). `sums.rs` and `compare.rs` bring values to normal forms and
//! compare them. All of it presumes that races, barriers, bounds and overflow of the kernels are proved; the caller
//! must ensure that.
//!
//! Trusted beside `arith` and `prover.rs`: the argument in `resolve.rs`, that a stored integer is right modulo 2^bits of its type,
//! and the laws of sums in `sums.rs`. Floats are real numbers, functions are known by their names.

mod arrays;
mod barrier_invariants;
mod cell;
mod claims;
mod collect_stores;
mod compare;
mod display;
mod dividends;
mod ensures;
mod extremes;
mod facts;
mod finite;
mod finiteness;
mod folds;
mod hits;
mod initialised;
mod instance;
mod inverse;
mod invert_index;
mod kernel_equivalence;
mod kernel_summary;
mod last_store;
mod lookups;
mod loop_invariants;
mod loop_values;
mod multiplicity;
mod not_followed;
mod real_comparisons;
mod recurrences;
mod relations;
mod resolve;
mod size_cases;
mod sums;
mod textures;
mod value;

pub(crate) use ensures::ensured;
pub(crate) use initialised::{has_reads, initialised};
pub(crate) use kernel_equivalence::{Equality, equal};
