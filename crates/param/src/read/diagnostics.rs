//! How lowering fails: with one diagnostic, which says whether the text is wrong or not modelled.

use base::{Code, Diagnostic, Span};

pub(super) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

pub(super) fn error(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(Code::Name, span, message))
}

pub(super) fn unsupported(span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
    Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
}
