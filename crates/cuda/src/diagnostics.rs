//! How reading fails: with one diagnostic, which says whether the text is wrong, not modelled or too large.

use base::{Code, Diagnostic, Span};

/// What reading gives, or why it cannot go on.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// The text is wrong at a place.
pub(crate) fn error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Syntax, span, message))
}

/// The text is C++ that is not read.
pub(crate) fn unsupported(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
}

/// The text exceeds a limit.
pub(crate) fn limit(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::Limit, span, message))
}

/// A name that is not declared or not what it is used as.
pub(crate) fn name_error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Name, span, message))
}
