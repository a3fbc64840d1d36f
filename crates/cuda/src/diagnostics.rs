//! Failures of reading: one diagnostic, which says if the text is wrong, not modelled or too large.

use base::{Code, Diagnostic, Span};

/// The result of reading, or the reason why it cannot continue.
pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// An error in the text.
pub(crate) fn error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Syntax, span, message))
}

/// C++ that is not supported.
pub(crate) fn unsupported(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
}

/// A text that exceeds a limit.
pub(crate) fn limit(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::Limit, span, message))
}

/// A name that is undeclared or used as something else.
pub(crate) fn name_error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Name, span, message))
}
