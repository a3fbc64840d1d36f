//! Judges errors that our reader finds in a text. If a compiler accepts the text, the error means C++ that we do not
//! read. Errors in annotations stay errors, because annotations are not C++.

use super::compare::{Compiling, is_accepted};
use super::detached::Deadline;
use crate::Input;
use base::{Code, Diagnostic, Severity, Span};

/// Turns the diagnostic into `unsupported` if a compiler accepts the text.
pub(super) fn judge(
    diagnostic: Diagnostic,
    input: &Input,
    compiling: Option<&Compiling>,
    deadline: Deadline,
) -> Diagnostic {
    let span = diagnostic.primary.span;
    let is_ours = diagnostic.code == Code::Formula || is_annotation(input, span);
    if diagnostic.severity != Severity::Error || is_ours {
        return diagnostic;
    }
    match compiling.and_then(|compiling| is_accepted(&input.source, compiling, deadline)) {
        Some(false) => diagnostic,
        _ => Diagnostic {
            severity: Severity::Unsupported,
            code: Code::UnsupportedConstruct,
            message: format!("not supported here: {}", diagnostic.message).into(),
            ..diagnostic
        },
    }
}

/// Returns `true` if a place is in an annotation, `//@ …` or `/*@ … */`.
fn is_annotation(input: &Input, span: Span) -> bool {
    let (file, span) = input.located(span);
    let before = file.text().get(..span.start as usize).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    // The place may be that of the annotation itself.
    let rest = file.text().get(span.start as usize..).unwrap_or_default();
    let within = before.rfind("/*@").is_some_and(|start| !before[start..].contains("*/"));
    line.contains("//@") || within || rest.starts_with("//@") || rest.starts_with("/*@")
}
