//! Errors of lowering: one diagnostic, either for an error in the text or for an unsupported construct.

use base::{Code, Diagnostic, Span};

pub(super) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

pub(super) fn error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Name, span, message))
}

pub(super) fn unsupported(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
}
