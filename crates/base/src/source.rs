//! Source text with a name, and the translation from byte offsets to lines and columns.

use crate::Span;

/// A text and its name for users.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    /// Byte offset of the first byte of every line; never empty, ascending.
    line_starts: Vec<u32>,
    /// Continuation bytes of UTF-8 before each stride of the text, so that finding a column in a long line does not
    /// walk the line. Empty if the text is ASCII.
    continuations: Vec<u32>,
}

/// Bytes between two entries of `continuations`.
const STRIDE: usize = 1024;

/// A position in the convention of editors: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl SourceFile {
    /// Takes `text` under `name`; `None` if the text is too long for 32-bit offsets.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        u32::try_from(text.len()).ok()?;
        let newlines = text.bytes().zip(1u32..).filter(|&(byte, _)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(_, next)| next)).collect();
        let continuations = if text.is_ascii() { Vec::new() } else { count_continuations(&text) };
        Some(Self { name: name.into(), text, line_starts, continuations })
    }

    /// The name the text was given under, usually a path as the user typed it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The line (from 1) of the byte at `offset`.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.line_starts.partition_point(|&start| start <= offset))
            .unwrap_or(u32::MAX)
    }

    /// The start of a line (from 1); `None` if the text has fewer.
    #[must_use]
    pub fn line_start(&self, line: u32) -> Option<usize> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.line_starts.get(index).map(|&start| start as usize)
    }

    /// Line and column of the byte at `offset`; an offset past the end is read as the end.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.line(offset);
        let start = self.line_starts[line as usize - 1] as usize;
        let offset = (offset as usize).min(self.text.len());
        let start = start.min(offset);
        // Count characters, not bytes: continuation bytes of UTF-8 do not move the column.
        let inside = self.continuations_before(offset) - self.continuations_before(start);
        let column = offset - start - inside + 1;
        LineColumn { line, column: u32::try_from(column).unwrap_or(u32::MAX) }
    }

    fn continuations_before(&self, offset: usize) -> usize {
        let Some(&counted) = self.continuations.get(offset / STRIDE) else { return 0 };
        let rest = &self.text.as_bytes()[offset / STRIDE * STRIDE..offset];
        counted as usize + rest.iter().filter(|&&byte| is_continuation(byte)).count()
    }

    /// The text of a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn count_continuations(text: &str) -> Vec<u32> {
    let mut before = 0;
    let mut counts = vec![0];
    for stride in text.as_bytes().chunks(STRIDE) {
        let inside = stride.iter().filter(|&&byte| is_continuation(byte)).count();
        before += u32::try_from(inside).unwrap_or(u32::MAX);
        counts.push(before);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_start_at_one() {
        let file = SourceFile::new("f", "ab\nçd\n").unwrap();
        assert_eq!(file.line_column(0), LineColumn { line: 1, column: 1 });
        assert_eq!(file.line_column(3), LineColumn { line: 2, column: 1 });
        assert_eq!(file.line_column(5), LineColumn { line: 2, column: 2 });
        assert_eq!(file.line_column(7), LineColumn { line: 3, column: 1 });
        assert_eq!(file.line_column(99), LineColumn { line: 3, column: 1 });
        assert_eq!(file.slice(Span::new(3, 6)), "çd");
    }

    #[test]
    fn columns_of_a_long_line_are_those_of_a_walk() {
        let text = "aé".repeat(3000);
        let file = SourceFile::new("f", text.clone()).unwrap();
        for (column, (offset, _)) in text.char_indices().enumerate().step_by(97) {
            let found = file.line_column(u32::try_from(offset).unwrap());
            assert_eq!(found.column as usize, column + 1);
        }
    }
}
