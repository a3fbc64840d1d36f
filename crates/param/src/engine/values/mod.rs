//! Functional correctness for every launch and size: the value of an arbitrary element of an output, as a function of
//! the inputs.
//!
//! `run.rs` and `rounds.rs` collect stores with their values. `resolve.rs` looks up which store an element comes from
//! (`writer.rs`, `witness.rs`). `sums.rs` and `compare.rs` bring values to normal forms and compare them. All of it
//! presumes that races, barriers, bounds and overflow of the kernels are proved; the caller must ensure that.
//!
//! Trusted beside `logic/`: the argument in `resolve.rs`, that a stored integer is right modulo 2^bits of its type,
//! and the laws of sums in `sums.rs`. Floats are real numbers, functions are known by their names.

mod arrays;
mod carry;
mod cell;
mod claims;
mod compare;
mod dividends;
mod ensures;
mod extent;
mod extremes;
mod facts;
mod finite;
mod first_reads;
mod folds;
mod instance;
mod inverse;
mod kept;
mod last_store;
mod meetings;
mod multiplicity;
mod not_followed;
mod pair;
mod relations;
mod resolve;
mod rounds;
mod run;
mod show;
mod side;
mod signs;
mod size_cases;
mod sums;
mod textures;
mod value;
mod witness;
mod writer;

pub(crate) use ensures::ensured;
pub(crate) use first_reads::{has_reads, initialised};
pub(crate) use pair::{Equality, equal};
