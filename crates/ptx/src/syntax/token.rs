//! Tokens of PTX (manual §4.1–4.5).
//!
//! The lexer returns one token at a time and never fails: unreadable text becomes a [`TokenKind::Bad`] token that the
//! parser turns into a diagnostic. Two constructs of PTX are not regular and are resolved by the parser, which may
//! move the lexer back with [`Lexer::restart_at`]: `%` is both an operator and the first letter of a name, and `.05`
//! is both a number and the shape of a modifier.

use base::Span;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// `abc`, `%r1`, `$L__BB0_2`, `_`.
    Name,
    /// `.b32`, `.shared::cta`, `.16x64b`: a dot and the characters attached to it.
    Dotted,
    /// Any literal that starts with a digit.
    Number,
    /// `"…"`, quotes included.
    String,
    /// One of the operators and brackets below.
    Punct(Punct),
    /// Something unreadable.
    Bad(Bad),
    /// The end of the text; repeats forever.
    End,
}

/// Operators and brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Punct {
    LeftParen,
    RightParen,
    LeftBrace,
    RightBrace,
    LeftBracket,
    RightBracket,
    Comma,
    Semicolon,
    Colon,
    Question,
    At,
    Equal,
    EqualEqual,
    Bang,
    BangEqual,
    Less,
    LessEqual,
    LessLess,
    Greater,
    GreaterEqual,
    GreaterGreater,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Tilde,
    Caret,
    Ampersand,
    AmpersandAmpersand,
    Pipe,
    PipePipe,
}

/// The reason why a text is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bad {
    /// A character PTX does not use.
    Character,
    /// `/*` without `*/`.
    UnterminatedComment,
    /// `"` without a second one on the same line.
    UnterminatedString,
    /// A line that starts with `#`.
    Preprocessor,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// Cuts a text into tokens.
pub(crate) struct Lexer<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Lexer<'a> {
    /// `text` must be shorter than 4 GiB: spans are 32 bits wide.
    pub(crate) fn new(text: &'a str) -> Self {
        debug_assert!(u32::try_from(text.len()).is_ok());
        Self { bytes: text.as_bytes(), position: 0 }
    }

    /// Reads the next token from `offset` on.
    pub(crate) fn restart_at(&mut self, offset: u32) {
        self.position = offset as usize;
    }

    /// Reads the next token.
    pub(crate) fn next_token(&mut self) -> Token {
        if let Err(unterminated_comment) = self.skip_blanks() {
            return unterminated_comment;
        }
        let start = self.position;
        let Some(&first) = self.bytes.get(start) else {
            return self.token(TokenKind::End, start);
        };
        let kind = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => self.name(),
            b'%' if self.peek(1).is_some_and(is_name_byte) => self.name(),
            b'.' if self.peek(1).is_some_and(is_name_byte) => self.dotted(),
            b'0'..=b'9' => self.number(),
            b'"' => self.string(),
            b'#' => self.preprocessor(),
            _ => self.punct(first),
        };
        self.token(kind, start)
    }

    fn token(&self, kind: TokenKind, start: usize) -> Token {
        let offset = |position| u32::try_from(position).unwrap_or(u32::MAX);
        Token { kind, span: Span::new(offset(start), offset(self.position)) }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.position + ahead).copied()
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) {
        let rest = &self.bytes[self.position..];
        self.position += rest.iter().position(|&byte| !wanted(byte)).unwrap_or(rest.len());
    }

    /// Skips white space and comments. A comment without an end is an error, and the error is its token.
    fn skip_blanks(&mut self) -> Result<(), Token> {
        loop {
            self.take_while(|byte| byte.is_ascii_whitespace() || byte == b'\x0b');
            match (self.peek(0), self.peek(1)) {
                (Some(b'/'), Some(b'/')) => self.take_while(|byte| byte != b'\n'),
                (Some(b'/'), Some(b'*')) => self.skip_block_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), Token> {
        let start = self.position;
        let body = &self.bytes[start + 2..];
        match body.windows(2).position(|pair| pair == b"*/") {
            Some(length) => {
                self.position = start + 2 + length + 2;
                Ok(())
            }
            None => {
                self.position = self.bytes.len();
                // Point at the opening alone: the rest of the file is no help.
                let mut token = self.token(TokenKind::Bad(Bad::UnterminatedComment), start);
                token.span.end = token.span.start + 2;
                Err(token)
            }
        }
    }

    fn name(&mut self) -> TokenKind {
        self.position += 1;
        self.take_while(is_name_byte);
        TokenKind::Name
    }

    fn dotted(&mut self) -> TokenKind {
        self.position += 1;
        self.take_while(is_name_byte);
        while self.peek(0) == Some(b':')
            && self.peek(1) == Some(b':')
            && self.peek(2).is_some_and(is_name_byte)
        {
            self.position += 2;
            self.take_while(is_name_byte);
        }
        TokenKind::Dotted
    }

    /// Takes all characters attached to a literal, so that `0x12zz` is one bad literal and not a number followed by a
    /// name; [`super::number`] evaluates it.
    fn number(&mut self) -> TokenKind {
        let prefixed = matches!(
            (self.peek(0), self.peek(1)),
            (Some(b'0'), Some(b'x' | b'X' | b'b' | b'B' | b'f' | b'F' | b'd' | b'D'))
        );
        self.take_while(is_name_byte);
        if prefixed {
            return TokenKind::Number;
        }
        if self.peek(0) == Some(b'.') {
            self.position += 1;
            self.take_while(is_name_byte);
        }
        self.exponent_sign();
        TokenKind::Number
    }

    /// Reads the literal `.5e-3`, whose first character is the dot at the current position.
    pub(crate) fn number_from_dot(&mut self, dot: u32) -> Token {
        self.position = dot as usize + 1;
        self.take_while(is_name_byte);
        self.exponent_sign();
        self.token(TokenKind::Number, dot as usize)
    }

    /// Continues past the sign of an exponent: in `1e-5` the letters stop before the sign.
    fn exponent_sign(&mut self) {
        let after_e = matches!(self.bytes[self.position - 1], b'e' | b'E');
        if after_e
            && matches!(self.peek(0), Some(b'+' | b'-'))
            && self.peek(1).is_some_and(|byte| byte.is_ascii_digit())
        {
            self.position += 1;
            self.take_while(is_name_byte);
        }
    }

    fn string(&mut self) -> TokenKind {
        self.position += 1;
        loop {
            self.take_while(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
            match self.peek(0) {
                Some(b'"') => {
                    self.position += 1;
                    return TokenKind::String;
                }
                // An escaped quote does not end the string; an escaped line end is not allowed.
                Some(b'\\') if matches!(self.peek(1), Some(b'"' | b'\\')) => self.position += 2,
                Some(b'\\') => self.position += 1,
                _ => return TokenKind::Bad(Bad::UnterminatedString),
            }
        }
    }

    fn preprocessor(&mut self) -> TokenKind {
        self.take_while(|byte| byte != b'\n');
        TokenKind::Bad(Bad::Preprocessor)
    }

    fn punct(&mut self, first: u8) -> TokenKind {
        use Punct::*;
        let (kind, length) = match (first, self.peek(1)) {
            (b'=', Some(b'=')) => (EqualEqual, 2),
            (b'!', Some(b'=')) => (BangEqual, 2),
            (b'<', Some(b'=')) => (LessEqual, 2),
            (b'<', Some(b'<')) => (LessLess, 2),
            (b'>', Some(b'=')) => (GreaterEqual, 2),
            (b'>', Some(b'>')) => (GreaterGreater, 2),
            (b'&', Some(b'&')) => (AmpersandAmpersand, 2),
            (b'|', Some(b'|')) => (PipePipe, 2),
            (b'(', _) => (LeftParen, 1),
            (b')', _) => (RightParen, 1),
            (b'{', _) => (LeftBrace, 1),
            (b'}', _) => (RightBrace, 1),
            (b'[', _) => (LeftBracket, 1),
            (b']', _) => (RightBracket, 1),
            (b',', _) => (Comma, 1),
            (b';', _) => (Semicolon, 1),
            (b':', _) => (Colon, 1),
            (b'?', _) => (Question, 1),
            (b'@', _) => (At, 1),
            (b'=', _) => (Equal, 1),
            (b'!', _) => (Bang, 1),
            (b'<', _) => (Less, 1),
            (b'>', _) => (Greater, 1),
            (b'+', _) => (Plus, 1),
            (b'-', _) => (Minus, 1),
            (b'*', _) => (Star, 1),
            (b'/', _) => (Slash, 1),
            (b'%', _) => (Percent, 1),
            (b'~', _) => (Tilde, 1),
            (b'^', _) => (Caret, 1),
            (b'&', _) => (Ampersand, 1),
            (b'|', _) => (Pipe, 1),
            _ => return self.bad_characters(),
        };
        self.position += length;
        TokenKind::Punct(kind)
    }

    /// A run of characters that PTX does not use is one token, so that binary files give one error, not one for each
    /// byte.
    fn bad_characters(&mut self) -> TokenKind {
        self.take_while(|byte| !byte.is_ascii_graphic() && !byte.is_ascii_whitespace());
        // A printable character that PTX does not use, such as a back quote.
        if self.peek(0).is_some_and(|byte| matches!(byte, b'`' | b'\'' | b'\\' | b'.')) {
            self.position += 1;
        }
        TokenKind::Bad(Bad::Character)
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
        let mut lexer = Lexer::new(text);
        let next = || Some(lexer.next_token()).filter(|token| token.kind != TokenKind::End);
        std::iter::from_fn(next).map(|token| (token.kind, &text[token.span.range()])).collect()
    }

    #[test]
    fn modifiers_with_digits_and_colons_are_single_tokens() {
        let texts: Vec<_> =
            tokens("tcgen05.ld.16x32bx2 .shared::cta").into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["tcgen05", ".ld", ".16x32bx2", ".shared::cta"]);
    }

    #[test]
    fn literals_include_all_attached_characters() {
        for literal in ["0x3fb8aa3bU", "0f3F800000", "0d3FF0000000000000", "1.5e-3", "9.4", "017"] {
            assert_eq!(tokens(literal), [(TokenKind::Number, literal)]);
        }
        assert_eq!(tokens("0x1e+1").len(), 3, "a hexadecimal e is no exponent");
    }

    #[test]
    fn garbage_always_makes_progress() {
        for text in ["\0\0\0", "`", "'a", "\\", ". ", "..", "é", "\u{7f}x", "/* ", "\"abc\n"] {
            assert!(tokens(text).len() <= text.len(), "{text:?}");
        }
    }
}
