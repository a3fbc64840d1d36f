//! Chooses the line to show for a label: a line of the source if its file can be read, else the line of the PTX.

use super::{ShownLine, SourceLine};
use crate::Input;
use crate::paths::relative;
use base::{Label, SourceFile};

/// Returns the innermost source line whose file can be read; if there is none, the line of the PTX.
pub(super) fn shown_line(label: &Label, input: &Input) -> ShownLine {
    for origin in &label.origin {
        let file = origin.file.as_deref().and_then(|file| input.source_file(file));
        if let Some(line) = file.and_then(|file| whole_line(&file, origin.line)) {
            return line;
        }
    }
    let source = &input.source;
    let start = source.line_column(label.span.start);
    let mut shown = whole_line(source, start.line).unwrap_or_default();
    // In the PTX the columns are known: mark the label alone, or up to the end of the line if it spans several.
    (shown.path, shown.line, shown.column) = (relative(source.name()), start.line, start.column);
    let end = source.line_column(label.span.end);
    if end.line == start.line && end.column > start.column {
        shown.end_column = end.column;
    }
    shown
}

/// The source lines of a label, in the form of the report.
pub(super) fn source_lines(label: &Label) -> Vec<SourceLine> {
    let line = |line: &base::SourceLine| SourceLine { file: line.file.clone(), line: line.line };
    label.origin.iter().map(line).collect()
}

/// The text of a line without indentation, marked as a whole; `None` for a blank line.
fn whole_line(file: &SourceFile, line: u32) -> Option<ShownLine> {
    let start = file.line_start(line)?;
    let text = file.text()[start..].lines().next()?;
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return None;
    }
    let indentation = text.chars().take_while(|c| c.is_whitespace()).count();
    let column = |count: usize| u32::try_from(count).unwrap_or(u32::MAX).saturating_add(1);
    Some(ShownLine {
        path: relative(file.name()),
        line,
        column: column(indentation),
        end_column: column(indentation + trimmed.chars().count()),
        text: trimmed.to_owned(),
    })
}
