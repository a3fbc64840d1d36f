//! Chooses the line to show to a reader.

use super::{ShownLine, SourceLine};
use crate::Input;
use crate::paths::relative;
use base::{Label, SourceFile};

/// The innermost source line that is at hand, or that of the PTX.
pub(super) fn shown_line(label: &Label, input: &Input) -> ShownLine {
    for origin in &label.origin {
        let file = origin.file.as_deref().and_then(|file| input.source_file(file));
        if let Some(shown) = file.and_then(|file| of_line(&file, origin.line)) {
            return shown;
        }
    }
    let source = &input.source;
    let start = source.line_column(label.span.start);
    let mut shown = of_line(source, start.line).unwrap_or_default();
    (shown.path, shown.line, shown.column) = (relative(source.name()), start.line, start.column);
    let end = source.line_column(label.span.end);
    if end.line == start.line && end.column > start.column {
        shown.end_column = end.column;
    }
    shown
}

pub(super) fn source_lines(label: &Label) -> Vec<SourceLine> {
    let line = |line: &base::SourceLine| SourceLine { file: line.file.clone(), line: line.line };
    label.origin.iter().map(line).collect()
}

fn of_line(file: &SourceFile, line: u32) -> Option<ShownLine> {
    let start = file.line_start(line)?;
    let text = file.text()[start..].lines().next()?;
    let written = text.trim();
    if written.is_empty() {
        return None;
    }
    let before = text.chars().take_while(|c| c.is_whitespace()).count();
    let column = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
    Some(ShownLine {
        path: relative(file.name()),
        line,
        column: column(before),
        end_column: column(before + written.chars().count()),
        text: written.to_owned(),
    })
}
