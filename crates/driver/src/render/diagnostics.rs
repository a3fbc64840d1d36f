//! Formats diagnostics for people (source excerpts) and for programs (JSON).

use super::Colour;
use crate::Input;
use crate::source_lines::{origin_text, outer_text};
use crate::vocabulary;
use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use base::{Code, Diagnostic, Label, Severity, SourceFile};
use serde::Serialize;
use std::borrow::Cow;
use std::ops::Range;

/// Renders a diagnostic with its lines: those of the source if it can be read, else of the input.
pub(crate) fn render(diagnostic: &Diagnostic, input: &Input, colour: Colour) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        // The question stays open, perhaps for another reason than an unsupported instruction.
        Severity::Unsupported if diagnostic.code == Code::NotFollowed => {
            Level::WARNING.with_name("unknown")
        }
        Severity::Unsupported => Level::WARNING.with_name("unsupported"),
        Severity::Note => Level::NOTE,
    };
    let code = diagnostic.code.to_string();
    let mut group = Group::with_title(level.primary_title(&*diagnostic.message).id(&code));
    let labels = std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary);
    let placed: Vec<LabelInText> = labels.map(|label| locate_label(label, input)).collect();
    let mut reported = vec![false; placed.len()];
    for (number, one) in placed.iter().enumerate() {
        if std::mem::replace(&mut reported[number], true) {
            continue;
        }
        // Labels of one source file share an excerpt. The input may be megabytes, so there every label has its own.
        let mut together = vec![(number, one)];
        if one.is_source {
            let rest = placed.iter().enumerate().skip(number + 1);
            together.extend(
                rest.filter(|(_, other)| other.is_source && other.file.name() == one.file.name()),
            );
        }
        together.iter().for_each(|&(number, _)| reported[number] = true);
        group = group.element(snippet(&together));
    }
    if let Some(note) = &diagnostic.note {
        group = group.element(Level::NOTE.message(&**note));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(&**help));
    }
    let renderer = match colour {
        Colour::Styled { width } => Renderer::styled().term_width(width),
        Colour::Plain => Renderer::plain(),
    };
    renderer.decor_style(DecorStyle::Ascii).render(&[group])
}

/// A label and the text it is shown in.
struct LabelInText<'i> {
    file: Cow<'i, SourceFile>,
    /// The file is the source that the input was compiled from.
    is_source: bool,
    range: Range<usize>,
    message: String,
}

/// The innermost source line whose file can be read; the input's own line if there is none.
fn locate_label<'i>(label: &Label, input: &'i Input) -> LabelInText<'i> {
    for (depth, origin) in label.origin.iter().enumerate() {
        let Some(file) = origin.file.as_deref().and_then(|file| input.source_file(file)) else {
            continue;
        };
        let Some(range) = line_range(&file, origin.line) else { continue };
        let ptx = input.source.line(label.span.start);
        let outer = outer_text(&label.origin[depth + 1..]);
        let message = format!("{}{outer}, PTX line {ptx}", label.message);
        let file = Cow::Owned(SourceFile::clone(&file));
        return LabelInText {
            file,
            is_source: true,
            range,
            message: message.trim_start_matches(", ").to_owned(),
        };
    }
    let message = format!("{}{}", label.message, origin_text(&label.origin));
    let message = message.trim_start_matches(", ").to_owned();
    let (file, span) = input.located(label.span);
    LabelInText { file: Cow::Borrowed(file), is_source: false, range: span.range(), message }
}

/// The text of a line, without indentation and comment; `None` if there is no such line.
fn line_range(file: &SourceFile, line: u32) -> Option<Range<usize>> {
    let start = file.line_start(line)?;
    let text = file.text()[start..].lines().next().unwrap_or_default();
    let code = text.split("//").next().unwrap_or_default();
    let code = if code.trim().is_empty() { text } else { code };
    let indentation = code.len() - code.trim_start().len();
    let written = code.trim();
    (!written.is_empty()).then(|| start + indentation..start + indentation + written.len())
}

/// Makes an excerpt of only the labelled lines: the renderer would copy and scan a whole file for each snippet.
fn snippet<'s>(
    labels: &[(usize, &'s LabelInText<'_>)],
) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
    let source = &labels[0].1.file;
    let text = source.text();
    let clipped = |range: &Range<usize>| (range.start.min(text.len()), range.end.min(text.len()));
    let start = labels.iter().map(|(_, one)| clipped(&one.range).0).min().unwrap_or_default();
    let end = labels.iter().map(|(_, one)| clipped(&one.range).1).max().unwrap_or_default();
    let first = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let last = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
    let (first, last) = match labels {
        [_] => shorten(text, (first, last), (start, end)),
        _ => (first, last),
    };
    let line = source.line(u32::try_from(start).unwrap_or(u32::MAX));
    let mut snippet =
        Snippet::source(&text[first..last]).line_start(line as usize).path(source.name());
    for (number, one) in labels {
        let (start, end) = clipped(&one.range);
        let kind = if *number == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(start - first..end.min(last) - first);
        snippet = snippet.annotation(match one.message.is_empty() {
            true => annotation,
            false => annotation.label(one.message.as_str()),
        });
    }
    snippet
}

/// Cuts a long line around the label: minified PTX may be one line of megabytes.
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
    severity: vocabulary::Severity,
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
            severity: diagnostic.severity.into(),
            message: diagnostic.message.to_string(),
            line: position.line,
            column: position.column,
            help: diagnostic.help.as_deref().map(str::to_owned),
        }
    }
}
