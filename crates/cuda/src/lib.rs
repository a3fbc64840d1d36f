//! Reads CUDA C++ as the compiler reads it, to a tree in which nothing is left to look up.
//!
//! ```text
//! files ─ preprocess (phases 1–4 of \[lex.phases\]) ─► tokens ─ syntax ─► ast ─ sema ─► tree
//! ```
//!
//! The language is C++17 as NVRTC compiles it for the device, plus annotations in comments (`//@ …`, `/*@ … */`).
//! A construct outside of what is modelled is refused with its place. It errs towards refusal: nothing is
//! skipped or guessed at.

mod diagnostics;
pub mod intrinsics;
pub mod preprocess;
pub mod sema;
pub mod source;
pub mod syntax;
pub mod token;
pub mod tree;

pub use diagnostics::Result;
pub(crate) use diagnostics::{error, limit, name_error, unsupported};

/// Reads a text: what it means, and where its files lie.
///
/// # Errors
/// What is wrong with the whole text; what concerns single kernels is in their entries.
pub fn read(
    options: &preprocess::Options<'_>,
    text: &str,
) -> Result<(tree::Program, source::SourceMap)> {
    let text = preprocess::preprocess(options, text)?;
    let unit = syntax::parse(&text)?;
    let program = sema::analyse(&unit, &sema::Options::default())?;
    Ok((program, text.sources))
}
