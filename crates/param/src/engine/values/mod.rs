//! What kernels compute, for every launch and size: the value of an arbitrary element of an output, as a function of the inputs.
//!
//! `run.rs` and `rounds.rs` gather stores with their values, `resolve.rs` looks up which store an element comes from (`writer.rs`, `witness.rs`), `sums.rs` and `compare.rs`
//! bring values to normal forms and compare them. All of it presumes that races, barriers, bounds and overflow of the
//! kernels are proved; whoever asks must see to that.
//!
//! Trusted beside `logic/`: the argument of `resolve.rs`, that an integer that is stored is right modulo 2^bits of its type, and
//! the laws of sums in `sums.rs`. Floats are real numbers, functions are known by their names.

mod arrays;
mod carry;
mod claims;
mod compare;
mod ensures;
mod facts;
mod finite;
mod folds;
mod instance;
mod kept;
mod meetings;
mod pair;
mod relations;
mod resolve;
mod rounds;
mod run;
mod show;
mod signs;
mod sums;
mod textures;
mod value;
mod witness;
mod writer;

pub(crate) use ensures::ensured;
pub(crate) use pair::equal;

use crate::kir::{ArrayId, Space};
use crate::logic::poly::{Poly, Sym};
use arrays::LoopRecord;
use claims::Obliged;
use run::Site;
use signs::Test;
use std::collections::BTreeMap;

/// A kernel as a list of stores.
struct Side {
    sites: Vec<Site>,
    /// The symbols of `threadIdx` and `blockIdx`.
    threads: Vec<Sym>,
    blocks: Vec<Sym>,
    spaces: Vec<Space>,
    names: Vec<String>,
    /// Arrays with atomic operations.
    atomics: Vec<ArrayId>,
    /// Loops with clauses.
    loops: Vec<LoopRecord>,
    /// What annotations claim on the way.
    claims: Vec<Obliged>,
    /// Numbers of iterations that are quotients: `top / stride`, rounded up.
    lengths: BTreeMap<Sym, (Poly, Poly)>,
    /// Comparisons of real numbers.
    tests: Vec<Test>,
}
