//! `warpproof prove`: races, barriers, bounds and overflow of a CUDA C kernel, for every launch and size.
//!
//! A proof holds for every launch that the kernel's contract allows. A refutation comes with the launch it was seen
//! on.

mod answer;
mod compare;
mod contract;
mod definedness;
mod detached;
mod document;
mod each;
mod findings;
mod limits;
mod options;
mod origin;
mod pair;
pub mod reading;
mod refused;
mod select;
mod single;
mod solver;
mod statements;
mod unread;

pub use compare::{Compiling, Reading, readings};
pub use contract::Contract;
pub use each::run_each;
pub use options::Options;
pub use pair::{Correspondence, compare};
pub use single::run;

pub(crate) use solver::{NoSolver, is_old, solver_version};
