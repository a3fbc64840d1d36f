//! Diagnostics for people (source excerpts) and for programs (JSON).

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use base::{Diagnostic, Label, Severity, SourceFile};
use serde::Serialize;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// With terminal escapes; whoever prints it strips them if the terminal has none.
    Styled,
    /// Without.
    Plain,
}

/// A diagnostic with the source lines it is about.
pub(crate) fn render(diagnostic: &Diagnostic, source: &SourceFile, colour: Colour) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Unsupported => Level::WARNING.with_name("unsupported"),
        Severity::Note => Level::NOTE,
    };
    let code = diagnostic.code.to_string();
    let mut group = Group::with_title(level.primary_title(&diagnostic.message).id(&code));
    group = group.element(snippet(&diagnostic.primary, source, AnnotationKind::Primary));
    for label in &diagnostic.secondary {
        group = group.element(snippet(label, source, AnnotationKind::Context));
    }
    if let Some(note) = &diagnostic.note {
        group = group.element(Level::NOTE.message(&**note));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(&**help));
    }
    let renderer = match colour {
        Colour::Styled => Renderer::styled(),
        Colour::Plain => Renderer::plain(),
    };
    renderer.decor_style(DecorStyle::Ascii).render(&[group])
}

/// Only the lines of the label: the renderer would copy and scan a whole file for each snippet.
fn snippet<'s>(
    label: &'s Label,
    source: &'s SourceFile,
    kind: AnnotationKind,
) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
    let text = source.text();
    let range = label.span.range();
    let (start, end) = (range.start.min(text.len()), range.end.min(text.len()));
    let first = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let last = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
    let (first, last) = shorten(text, (first, last), (start, end));
    let excerpt = &text[first..last];
    let annotation = kind.span(start - first..end.min(last) - first);
    let annotation = if label.message.is_empty() {
        annotation
    } else {
        annotation.label(label.message.as_str())
    };
    Snippet::source(excerpt)
        .line_start(source.line(label.span.start) as usize)
        .path(source.name())
        .annotation(annotation)
}

/// Minified PTX may be one line of megabytes: show what surrounds the label.
fn shorten(text: &str, line: (usize, usize), label: (usize, usize)) -> (usize, usize) {
    const AROUND: usize = 200;
    let first = if label.0 - line.0 > AROUND {
        (label.0 - AROUND..=label.0).find(|&at| text.is_char_boundary(at)).unwrap_or(label.0)
    } else {
        line.0
    };
    let end = label.1.min(label.0 + AROUND);
    let last = if line.1.saturating_sub(end) > AROUND {
        (end..=line.1).find(|&at| at >= end + AROUND && text.is_char_boundary(at)).unwrap_or(line.1)
    } else {
        line.1
    };
    (first, last)
}

/// A diagnostic as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct JsonDiagnostic {
    code: String,
    severity: &'static str,
    message: String,
    line: u32,
    column: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl JsonDiagnostic {
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn line(&self) -> u32 {
        self.line
    }

    pub(crate) fn new(diagnostic: &Diagnostic, source: &SourceFile) -> Self {
        let position = source.line_column(diagnostic.primary.span.start);
        Self {
            code: diagnostic.code.to_string(),
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Unsupported => "unsupported",
                Severity::Note => "note",
            },
            message: diagnostic.message.clone(),
            line: position.line,
            column: position.column,
            help: diagnostic.help.as_deref().map(str::to_owned),
        }
    }
}
