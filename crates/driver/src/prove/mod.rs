//! `warpproof prove`: races, barriers, bounds and overflow of a CUDA C kernel, for every launch and size.
//!
//! What is proved holds for every launch that the kernel's contract allows. What is refuted was seen on a launch
//! that the report names.

mod answer;
mod compare;
mod definedness;
mod detached;
mod document;
mod each;
mod findings;
mod limits;
mod options;
mod pair;
pub mod reading;
mod refused;
mod select;
mod single;
mod solver;
mod statements;
mod unread;

pub use compare::{Compiling, Reading, readings};
pub use each::run_each;
pub use options::Options;
pub use pair::{Together, compare};
pub use single::run;

pub(crate) use solver::{is_old, solver_version};
