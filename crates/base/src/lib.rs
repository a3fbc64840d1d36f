//! Shared by all crates: positions in a text ([`Span`], [`SourceFile`]), messages about them ([`Diagnostic`]), typed
//! indices into tables ([`IndexVec`]) and pseudo-random numbers ([`mix64`]).
//!
//! This crate knows neither PTX nor GPUs, does no I/O and cannot fail.

mod diagnostic;
mod index;
mod mix;
mod source;
mod span;

pub use diagnostic::{Code, Diagnostic, Label, Severity, SourceLine};
pub use index::{Index, IndexVec};
pub use mix::{GAMMA, mix64};
pub use source::{LineColumn, SourceFile};
pub use span::Span;
