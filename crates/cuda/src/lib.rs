//! Reads CUDA C++ as the compiler reads it, to a tree in which nothing is left to look up.
//!
//! ```text
//! files ─ preprocess (phases 1–4 of [lex.phases]) ─► tokens ─ syntax ─► ast ─ sema ─► tree
//! ```
//!
//! The language is C++17 as NVRTC compiles it for the device, plus annotations in comments (`//@ …`, `/*@ … */`).
//! A construct outside of what is modelled is refused with its place. It errs towards refusal: nothing is
//! skipped or guessed at.

pub mod syntax;
pub mod token;
pub mod tree;

use base::Diagnostic;

/// What reading gives, or why it cannot go on.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;
