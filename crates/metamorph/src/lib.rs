//! Draws GPU kernels whose verdict is known: a base kernel, transformations that keep its meaning, and mutations that
//! break it.
//!
//! A [`Case`] is a function of its seed (and of [`VERSION`]). Kernels are trees of a small loop-nest language
//! ([`nest`], [`expr`]), not text; [`print`](mod@print) writes them as CUDA C++ with a contract. Labels hold by
//! construction, and running every kernel on small launches checks them ([`check`]): a transformation that changes
//! the meaning is an error, and a mutant that no launch shows to be wrong is discarded.
//!
//! The example `cases` writes cases, `score` scores a binary on them, and `minimise` drops transformations
//! from a case that is answered `unknown`.

pub mod bases;
mod case;
pub mod chain;
pub mod check;
pub mod draft;
pub mod expr;
pub mod mutate;
pub mod nest;
pub mod print;
pub mod transform;
mod value;
pub mod walk;

pub use case::{Case, Effort, Label, Question, VERSION, WrongTransformation};
