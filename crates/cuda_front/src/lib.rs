//! From CUDA C++ to kernels for proofs about every size ([`kir::Kernel`]).
//!
//! ```text
//! text ─ cuda (preprocessor, syntax, semantic analysis) ─ read (lowering) ─► kir
//! ```
//!
//! A construct that is not modelled is an error with its place: nothing is skipped.

mod front;
mod read;

use base::Diagnostic;
use cuda::preprocess::{self, Preprocessed, preprocess};
use kir::depth;

/// A kernel of a file: its name, and the kernel or why it cannot be read.
pub type Parsed = (String, Result<kir::Kernel, Box<Diagnostic>>);

/// Reads the kernels of a text without includes. An unsupported kernel is an error of its own and does not affect the
/// others.
///
/// # Errors
/// If the text as a whole cannot be read.
pub fn kernels(text: &str) -> Result<Vec<Parsed>, Box<Diagnostic>> {
    let text = preprocess(&preprocess::Options::default(), text)?;
    front::kernels(&text, cuda::sema::Options::default().longest_chain)
}

/// Reads the kernels of a preprocessed text. Their expressions may be so deep that the thread needs [`depth::STACK`].
///
/// # Errors
/// If the text as a whole cannot be read.
pub fn kernels_in(text: &Preprocessed) -> Result<Vec<Parsed>, Box<Diagnostic>> {
    front::kernels(text, depth::MAX_DEPTH)
}

/// Like [`kernels_in`], with additional launch preconditions (`preconditions`) from the command line. `names` are
/// replacements for names in them. The flag is `false` for a kernel that lacks a name they use; it gets none of them.
///
/// # Errors
/// If the text as a whole, or a requirement, cannot be read.
pub fn kernels_with(
    text: &Preprocessed,
    preconditions: &[String],
    names: &[(String, String)],
) -> Result<Vec<(Parsed, bool)>, Box<Diagnostic>> {
    front::kernels_with(text, preconditions, names, depth::MAX_DEPTH)
}

/// Clauses of a contract given separately from the file.
#[derive(Clone, Debug)]
pub struct ExternalClauses {
    /// Their text, as in a file: `//@ requires n > 0;`.
    pub text: String,
    /// Their place in messages.
    pub place: Place,
}

/// The place of clauses that are not part of the file, for messages.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The offset of their text among all texts.
    From(u32),
    /// The piece of a text from which they were generated.
    Of(base::Span),
}

/// Like [`kernels_in`], with additional clauses for the kernels of this name.
///
/// # Errors
/// If the text as a whole, or a clause, cannot be read.
pub fn kernels_with_clauses(
    text: &Preprocessed,
    kernel: &str,
    contract: &[ExternalClauses],
) -> Result<Vec<Parsed>, Box<Diagnostic>> {
    front::kernels_with_clauses(text, kernel, contract, depth::MAX_DEPTH)
}

/// Lowers the kernels of a file that was already read.
#[must_use]
pub fn lower(program: &cuda::tree::Program) -> Vec<Parsed> {
    front::lower(program)
}

/// Returns `true` if a function of CUDA is modelled, by its name in [`cuda::tree`].
#[must_use]
pub fn is_modelled(function: &str) -> bool {
    read::is_modelled(function)
}
