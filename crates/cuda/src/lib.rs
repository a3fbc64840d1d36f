//! Reads CUDA C++ as the compiler does, into a tree with all names resolved.
//!
//! ```text
//! files ─ preprocess (phases 1–4 of \[lex.phases\]) ─► tokens ─ syntax ─► ast ─ sema ─► tree
//! ```
//!
//! The language is C++17 as NVRTC compiles it for the device, plus annotations in comments (`//@ …`, `/*@ … */`). A
//! construct outside of the model is refused with its place. Errs towards refusal: nothing is skipped or guessed.

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

/// Reads a text: returns its tree, and the source map of its files.
///
/// # Errors
/// An error in the whole text; those in single kernels are in their entries.
pub fn read(
    options: &preprocess::Options<'_>,
    text: &str,
) -> Result<(tree::Program, source::SourceMap)> {
    let text = preprocess::preprocess(options, text)?;
    let unit = syntax::parse(&text)?;
    let program = sema::analyse(&unit, &sema::Options::default())?;
    Ok((program, text.sources))
}
