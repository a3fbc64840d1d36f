//! Splits C++ text into pieces for readers that do not parse it: each comment, string and preprocessor line is one
//! piece.
//!
//! A backslash at the end of a line joins the next one to it. A quote that separates digits (`1'000`) is taken for
//! the start of a character literal; the piece then ends at the end of the line at the latest.

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A line of the preprocessor.
    Directive,
    Comment,
    /// A string or character.
    Quoted,
    Byte(u8),
}

/// Returns the piece at a position and its length; `None` at the end.
pub(crate) fn piece(text: &str, at: usize) -> Option<(Piece, usize)> {
    let bytes = text.as_bytes();
    let rest = bytes.get(at..)?;
    let (piece, length) = match rest {
        [b'/', b'/', ..] => (Piece::Comment, line(rest)),
        [b'/', b'*', ..] => {
            let end = rest.windows(2).skip(2).position(|two| two == b"*/");
            (Piece::Comment, end.map_or(rest.len(), |end| end + 4))
        }
        [b'#', ..] if begins_line(&bytes[..at]) => (Piece::Directive, line(rest)),
        [b'"', ..] if begins_raw(&bytes[..at]) => (Piece::Quoted, raw(rest)),
        [quote @ (b'"' | b'\''), ..] => (Piece::Quoted, quoted(rest, *quote)),
        [first, ..] => (Piece::Byte(*first), 1),
        [] => return None,
    };
    Some((piece, length.max(1)))
}

/// Returns the preprocessor lines, each with its continuations.
pub(crate) fn directives(text: &str) -> Vec<&str> {
    let (mut at, mut found) = (0, Vec::new());
    while let Some((piece, length)) = piece(text, at) {
        if piece == Piece::Directive {
            found.extend(text.get(at..at + length));
        }
        at += length;
    }
    found
}

fn begins_line(before: &[u8]) -> bool {
    let mut back = before.iter().rev();
    back.find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| *byte == b'\n')
}

/// Bytes of a line; a backslash at its end joins the next one to it.
fn line(rest: &[u8]) -> usize {
    let mut before = 0;
    for (at, byte) in rest.iter().enumerate() {
        if *byte == b'\n' && before != b'\\' {
            return at;
        }
        if *byte != b'\r' {
            before = *byte;
        }
    }
    rest.len()
}

fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.iter().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'\n' => return at,
            byte if *byte == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Returns `true` if a quote after this text begins a raw string, whose prefixes are `R`, `LR`, `uR`, `UR` and `u8R`.
fn begins_raw(before: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = before.iter().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
    matches!(&before[start..], b"R" | b"LR" | b"uR" | b"UR" | b"u8R")
}

/// Bytes of a raw string from its quote on: `"mark( … )mark"`.
fn raw(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().position(|byte| *byte == b'(') else { return rest.len() };
    let end = [b")", &rest[1..open], b"\""].concat();
    let found = rest[open..].windows(end.len()).position(|bytes| bytes == end);
    found.map_or(rest.len(), |found| open + found + end.len())
}

#[cfg(test)]
mod tests {
    use super::{Piece, directives, piece};

    #[test]
    fn comments_strings_and_directives_are_one_piece() {
        let text = "#define A \\\n b\nx/* \" */'\\''//c";
        let mut at = 0;
        let mut pieces = Vec::new();
        while let Some((piece, length)) = piece(text, at) {
            pieces.push((piece, &text[at..at + length]));
            at += length;
        }
        let (new_line, x) = ((Piece::Byte(b'\n'), "\n"), (Piece::Byte(b'x'), "x"));
        let directive = (Piece::Directive, "#define A \\\n b");
        let rest =
            [(Piece::Comment, "/* \" */"), (Piece::Quoted, "'\\''"), (Piece::Comment, "//c")];
        assert_eq!(pieces[..3], [directive, new_line, x]);
        assert_eq!(pieces[3..], rest);
        assert_eq!(directives(text), ["#define A \\\n b"]);
        for (text, at, length) in
            [("R\"(a\")\" b", 1, 6), ("u8R\"x()\")x\"", 3, 8), ("xR\"(a\")", 2, 4)]
        {
            assert_eq!(piece(text, at), Some((Piece::Quoted, length)), "{text}");
        }
        for open in ["/*", "/*/", "\"", "'\\", "#"] {
            assert_eq!(piece(open, 0).map(|(_, length)| length), Some(open.len()), "{open}");
        }
    }
}
