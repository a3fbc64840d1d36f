//! Errors that only our reader makes of a text. What it calls wrong is C++ that it does not read, unless a compiler refuses the text, too;
//! annotations are no C++, and what is wrong in them is wrong.

use super::compare::{Compiling, is_accepted};
use super::detached::Deadline;
use crate::Input;
use base::{Code, Diagnostic, Severity, Span};

/// The diagnostic, as `unsupported` if nobody but us takes the text for wrong.
pub(super) fn judged(
    diagnostic: Diagnostic,
    input: &Input,
    compiling: Option<&Compiling>,
    deadline: Deadline,
) -> Diagnostic {
    let span = diagnostic.primary.span;
    if diagnostic.severity != Severity::Error || is_annotation(input, span) {
        return diagnostic;
    }
    match compiling.and_then(|compiling| is_accepted(&input.source, compiling, deadline)) {
        Some(false) => diagnostic,
        _ => Diagnostic {
            severity: Severity::Unsupported,
            code: Code::UnsupportedConstruct,
            message: format!("not read here: {}", diagnostic.message).into(),
            ..diagnostic
        },
    }
}

/// Whether a place is in a comment for us: `//@ …` or `/*@ … */`.
fn is_annotation(input: &Input, span: Span) -> bool {
    let (file, span) = input.located(span);
    let before = file.text().get(..span.start as usize).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    // The place may be the comment's own.
    let rest = file.text().get(span.start as usize..).unwrap_or_default();
    let within = before.rfind("/*@").is_some_and(|start| !before[start..].contains("*/"));
    line.contains("//@") || within || rest.starts_with("//@") || rest.starts_with("/*@")
}
