//! Source text with a name, and the translation from byte offsets to lines and columns.

use crate::Span;

/// A text and the name users know it by.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    /// Byte offset of the first byte of every line; never empty, ascending.
    line_starts: Vec<u32>,
}

/// A position as editors count it: both numbers start at 1, columns count characters.
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
        Some(Self { name: name.into(), text, line_starts })
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

    /// The line (from 1) that holds the byte at `offset`.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.line_starts.partition_point(|&start| start <= offset))
            .unwrap_or(u32::MAX)
    }

    /// Line and column of the byte at `offset`; an offset past the end is read as the end.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.line(offset);
        let start = self.line_starts[line as usize - 1] as usize;
        let offset = (offset as usize).min(self.text.len());
        let before = self.text.as_bytes()[start.min(offset)..offset].iter();
        // Count characters, not bytes: continuation bytes of UTF-8 do not move the column.
        let column = before.filter(|&&byte| byte & 0xC0 != 0x80).count() + 1;
        LineColumn { line, column: u32::try_from(column).unwrap_or(u32::MAX) }
    }

    /// The text of a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
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
}
