//! The texts of all files that were read, laid end to end, so that one span type covers them all.
//!
//! The main file comes first, at offset 0: places in it need no translation.

use base::Span;
use std::path::{Path, PathBuf};

/// The maximum length of all texts together, so that offsets fit into 32 bits.
pub const MAX_BYTES: usize = 1 << 30;

/// A file that was read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its path, as it was looked up.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Its start among all texts.
    start: u32,
}

impl Source {
    /// The offset after its last byte, counted through all texts.
    fn end(&self) -> u32 {
        self.start.saturating_add(u32::try_from(self.text.len()).unwrap_or(u32::MAX))
    }

    /// The place of a local offset among all texts.
    #[must_use]
    pub fn place(&self, offset: usize) -> u32 {
        self.start.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX)).min(self.end())
    }
}

/// All files that were read. The first is the main file.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<Source>,
}

impl SourceMap {
    /// Adds a file and returns its number; `None` if all texts together are too long.
    pub(crate) fn add(&mut self, path: &Path, text: String) -> Option<usize> {
        // One byte between files separates the end of one from the start of the next.
        let start = self.files.last().map_or(0, |last| last.end() as usize + 1);
        if start.saturating_add(text.len()) > MAX_BYTES {
            return None;
        }
        let start = u32::try_from(start).ok()?;
        self.files.push(Source { path: path.to_path_buf(), text, start });
        Some(self.files.len() - 1)
    }

    /// Adds a text of clauses given separately from the files; returns its start among all texts, or `None` if all
    /// together are too long.
    pub fn add_text(&mut self, name: &str, text: &str) -> Option<u32> {
        let number = self.add(Path::new(name), text.to_owned())?;
        self.files.get(number).map(|file| file.start)
    }

    /// The files; the main file first.
    #[must_use]
    pub fn files(&self) -> &[Source] {
        &self.files
    }

    /// The file in which a span begins, and the span relative to it, cut off at the end of the file.
    #[must_use]
    pub fn locate(&self, span: Span) -> Option<(&Source, Span)> {
        let after = self.files.partition_point(|file| file.start <= span.start);
        let file = self.files.get(after.checked_sub(1)?)?;
        let end = span.end.clamp(span.start, file.end().max(span.start));
        Some((file, Span::new(span.start - file.start, end - file.start)))
    }

    /// Returns `true` if a span is in the main file.
    #[must_use]
    pub fn is_in_main(&self, span: Span) -> bool {
        self.files.first().is_none_or(|main| span.start <= main.end())
    }

    /// The line of a place in its file, from 1.
    #[must_use]
    pub fn line(&self, span: Span) -> u32 {
        let Some((file, local)) = self.locate(span) else { return 1 };
        let before = file.text.as_bytes().get(..local.start as usize).unwrap_or_default();
        let newlines = before.iter().filter(|byte| **byte == b'\n').count();
        u32::try_from(newlines).unwrap_or(u32::MAX).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_their_files() {
        let mut map = SourceMap::default();
        map.add(Path::new("main.cu"), "abc\nd".to_owned()).unwrap();
        map.add(Path::new("x.h"), "12\n345".to_owned()).unwrap();
        let find = |start, end| {
            let (file, span) = map.locate(Span::new(start, end)).unwrap();
            (file.path.to_str().unwrap().to_owned(), span)
        };
        assert_eq!(find(4, 5), ("main.cu".to_owned(), Span::new(4, 5)));
        assert_eq!(find(5, 5), ("main.cu".to_owned(), Span::new(5, 5)), "the end of the file");
        assert_eq!(find(6, 7), ("x.h".to_owned(), Span::new(0, 1)));
        assert_eq!(find(3, 9), ("main.cu".to_owned(), Span::new(3, 5)), "cut at the end");
        assert_eq!(map.line(Span::new(9, 10)), 2);
        assert!(map.is_in_main(Span::new(5, 5)) && !map.is_in_main(Span::new(6, 7)));
    }
}
