//! What every room shares: where something was written ([`Span`], [`SourceFile`]), what we want to
//! say about it ([`Diagnostic`]), typed indices into tables ([`IndexVec`]) and numbers without a pattern
//! ([`mix64`]).
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
