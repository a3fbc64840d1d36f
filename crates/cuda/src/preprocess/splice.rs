//! Phases 1 and 2 of [lex.phases]: drops a byte order mark, and joins two lines at a backslash before the newline.
//!
//! A backslash followed by blanks joins lines for gcc and not for others: the lexer refuses it where this matters. A
//! lone carriage return, a newline for old compilers, is refused.

/// A text without spliced newlines, with a map to the original offsets.
pub(super) struct Spliced {
    pub(super) text: String,
    /// From this offset of `text` on, this many bytes of the original have been removed; ascending.
    cuts: Vec<(usize, usize)>,
}

/// Joins lines. The error is the offset of a lone carriage return.
pub(super) fn splice(original: &str) -> Result<Spliced, usize> {
    let mut spliced = Spliced { text: String::with_capacity(original.len()), cuts: Vec::new() };
    let mut rest = original;
    if let Some(tail) = rest.strip_prefix('\u{feff}') {
        spliced.cut(rest.len() - tail.len());
        rest = tail;
    }
    while let Some(at) = rest.find(['\\', '\r']) {
        let (before, from) = rest.split_at(at);
        spliced.text.push_str(before);
        let joined = ["\\\n", "\\\r\n"].into_iter().find(|one| from.starts_with(one));
        let length = match joined {
            Some(joined) => {
                spliced.cut(joined.len());
                joined.len()
            }
            None if from.starts_with("\r\n") => {
                spliced.cut(1);
                1
            }
            None if from.starts_with('\r') => return Err(original.len() - from.len()),
            None => {
                spliced.text.push('\\');
                1
            }
        };
        rest = from.get(length..).unwrap_or_default();
    }
    spliced.text.push_str(rest);
    Ok(spliced)
}

impl Spliced {
    fn cut(&mut self, length: usize) {
        let removed = self.cuts.last().map_or(0, |(_, removed)| *removed) + length;
        match self.cuts.last_mut() {
            Some(last) if last.0 == self.text.len() => last.1 = removed,
            _ => self.cuts.push((self.text.len(), removed)),
        }
    }

    /// The original offset of the byte at `at`.
    pub(super) fn original(&self, at: usize) -> usize {
        let after = self.cuts.partition_point(|(offset, _)| *offset <= at);
        let cut = after.checked_sub(1).and_then(|index| self.cuts.get(index));
        at + cut.map_or(0, |(_, removed)| *removed)
    }

    /// The new offset of the byte at an original offset.
    pub(super) fn spliced(&self, original: usize) -> usize {
        let after = self.cuts.partition_point(|(offset, removed)| offset + removed <= original);
        let cut = after.checked_sub(1).and_then(|index| self.cuts.get(index));
        original - cut.map_or(0, |(_, removed)| *removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_places_are_kept() {
        let original = "a\\\nb\\\r\nc\r\nd\\ e";
        let spliced = splice(original).ok().unwrap();
        assert_eq!(spliced.text, "abc\nd\\ e");
        for (at, byte) in spliced.text.bytes().enumerate() {
            let place = spliced.original(at);
            assert_eq!(original.as_bytes()[place], byte);
            assert_eq!(spliced.spliced(place), at);
        }
        assert_eq!(splice("a\rb").err(), Some(1));
    }
}
