//! Characters of CUDA C to tokens (ISO C++17 [lex], as far as kernels need it).
//!
//! Comments that begin with `@` are annotations: their tokens come between `AnnotationStart` and
//! `AnnotationEnd`. Preprocessor lines come as one `Directive` token each, with the tokens of the
//! line inside. Anything else that is not a token is an error, never skipped.

use base::{Code, Diagnostic, Span};

pub(crate) type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name or keyword; words of the annotation language keep their backslash.
    Word(String),
    /// An integer literal.
    Int { value: u128, unsigned: bool, long: bool },
    /// A floating literal.
    Float(f64),
    /// Text in quotes; only `extern "C"` and `asm` have use for it.
    Text(String),
    /// Operators and brackets.
    Punct(&'static str),
    /// `/*@` or `//@`.
    AnnotationStart,
    /// The end of that comment.
    AnnotationEnd,
    /// `#` and the rest of its line.
    Directive(Vec<Token>),
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
    /// Whether a blank comes before it; `#define F (x)` differs from `#define F(x)`.
    pub(crate) spaced: bool,
}

/// Longest first, so that the first that fits is the right one.
const PUNCTUATION: &[&str] = &[
    "<==>", "<<=", ">>=", "...", "==>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->", "::", "..", "##", "+", "-", "*", "/",
    "%", "<", ">", "=", "!", "~", "&", "|", "^", "?", ":", ";", ",", ".", "(", ")", "[", "]", "{",
    "}", "#",
];

/// Splits `text` into tokens; the last one is [`Kind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0, out: Vec::new(), annotation: None, spaced: true };
    lexer.run()?;
    let end = Span::new(offset(text.len()), offset(text.len()));
    lexer.out.push(Token { kind: Kind::End, span: end, spaced: true });
    Ok(lexer.out)
}

/// How an annotation ends.
#[derive(Clone, Copy, PartialEq)]
enum Until {
    Line,
    Star,
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    out: Vec<Token>,
    annotation: Option<Until>,
    spaced: bool,
}

fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn run(&mut self) -> Result<()> {
        while self.at < self.text.len() {
            self.step()?;
        }
        match self.annotation {
            Some(Until::Star) => Err(self.error("this annotation is not closed", self.at)),
            Some(Until::Line) => {
                self.push(Kind::AnnotationEnd, self.at);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn step(&mut self) -> Result<()> {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or(' ');
        if first == '\n' && self.annotation == Some(Until::Line) {
            self.end_annotation(1);
        } else if first.is_whitespace() || rest.starts_with("\\\n") {
            self.at += if first == '\\' { 2 } else { first.len_utf8() };
            self.spaced = true;
        } else if self.annotation == Some(Until::Star)
            && (rest.starts_with("@*/") || rest.starts_with("*/"))
        {
            self.end_annotation(if first == '@' { 3 } else { 2 });
        } else if rest.starts_with("//@") || rest.starts_with("/*@") {
            self.start_annotation(rest.starts_with("//@"))?;
        } else if rest.starts_with("//") {
            self.at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let Some(length) = rest.find("*/") else {
                return Err(self.error("this comment is not closed", self.at));
            };
            self.at += length + 2;
            self.spaced = true;
        } else if first == '#' && self.annotation.is_none() && self.at_line_start() {
            self.directive()?;
        } else {
            self.token(first)?;
        }
        Ok(())
    }

    fn at_line_start(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or_default();
        before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
    }

    fn start_annotation(&mut self, line: bool) -> Result<()> {
        if self.annotation.is_some() {
            return Err(self.error("an annotation inside an annotation", self.at));
        }
        let start = self.at;
        self.at += 3;
        self.annotation = Some(if line { Until::Line } else { Until::Star });
        self.push(Kind::AnnotationStart, start);
        Ok(())
    }

    fn end_annotation(&mut self, length: usize) {
        let start = self.at;
        self.at += length;
        self.annotation = None;
        self.push(Kind::AnnotationEnd, start);
    }

    /// A preprocessor line, with `\` at its end continuing it.
    fn directive(&mut self) -> Result<()> {
        let start = self.at;
        let mut end = start;
        loop {
            let line = self.text.get(end..).unwrap_or_default();
            end += line.find('\n').unwrap_or(line.len());
            if !self.text.get(..end).unwrap_or_default().ends_with('\\') || end == self.text.len() {
                break;
            }
            end += 1;
        }
        let line = self.text.get(..end).unwrap_or_default();
        let mut inner =
            Lexer { text: line, at: start + 1, out: Vec::new(), annotation: None, spaced: false };
        inner.run()?;
        let inside = inner.out;
        self.at = end;
        self.push(Kind::Directive(inside), start);
        Ok(())
    }

    fn token(&mut self, first: char) -> Result<()> {
        let start = self.at;
        let rest = self.rest();
        if first.is_ascii_alphabetic() || first == '_' || first == '\\' {
            let tail = rest.get(1..).unwrap_or_default();
            let length = tail.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let length = 1 + length.unwrap_or(tail.len());
            let word = rest.get(..length).unwrap_or_default().to_owned();
            self.at += length;
            self.push(Kind::Word(word), start);
            return Ok(());
        }
        let digit_next = rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if first.is_ascii_digit() || first == '.' && digit_next {
            return self.number();
        }
        if first == '"' || first == '\'' {
            let Some(length) = rest.get(1..).and_then(|tail| tail.find(first)) else {
                return Err(self.error("this text is not closed", start));
            };
            let inside = rest.get(1..=length).unwrap_or_default().to_owned();
            self.at += length + 2;
            self.push(Kind::Text(inside), start);
            return Ok(());
        }
        let Some(punct) = PUNCTUATION.iter().find(|punct| rest.starts_with(**punct)) else {
            return Err(self.error(&format!("`{first}` is no part of CUDA C"), start));
        };
        self.at += punct.len();
        self.push(Kind::Punct(punct), start);
        Ok(())
    }

    fn number(&mut self) -> Result<()> {
        let start = self.at;
        let rest = self.rest();
        let hex = rest.starts_with("0x") || rest.starts_with("0X");
        let mut length = 0;
        let bytes = rest.as_bytes();
        while let Some(&byte) = bytes.get(length) {
            let exponent = !hex && length > 0 && matches!(bytes[length - 1], b'e' | b'E');
            let range = byte == b'.' && bytes.get(length + 1) == Some(&b'.');
            let belongs = byte.is_ascii_alphanumeric()
                || byte == b'.' && !range
                || exponent && matches!(byte, b'+' | b'-');
            if !belongs {
                break;
            }
            length += 1;
        }
        let word = rest.get(..length).unwrap_or_default().to_owned();
        self.at += length;
        let kind = literal(&word, hex);
        let Some(kind) = kind else {
            return Err(self.error(&format!("`{word}` is no number"), start));
        };
        self.push(kind, start);
        Ok(())
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let span = Span::new(offset(start), offset(self.at));
        self.out.push(Token { kind, span, spaced: self.spaced });
        self.spaced = false;
    }

    fn error(&self, message: &str, start: usize) -> Box<Diagnostic> {
        let end = offset(self.at.max(start + 1).min(self.text.len()));
        Box::new(Diagnostic::error(Code::Syntax, Span::new(offset(start), end), message))
    }
}

/// The value of a literal, by its spelling.
fn literal(word: &str, hex: bool) -> Option<Kind> {
    let lower = word.to_ascii_lowercase();
    if !hex && (lower.contains(['.', 'e']) || lower.ends_with('f')) {
        let digits = lower.trim_end_matches(['f', 'l']);
        return digits.parse().ok().map(Kind::Float);
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = lower.get(digits.len()..)?;
    if suffix.matches('u').count() > 1 || suffix.matches('l').count() > 2 {
        return None;
    }
    let value = if hex {
        u128::from_str_radix(digits.get(2..)?, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        u128::from_str_radix(digits.get(1..)?, 8).ok()?
    } else {
        digits.parse().ok()?
    };
    if value > u128::from(u64::MAX) {
        return None;
    }
    // A hexadecimal or octal literal takes an unsigned type before a longer one, a decimal one does not.
    let (decimal, long) =
        (!(hex || digits.len() > 1 && digits.starts_with('0')), suffix.contains('l'));
    let unsigned = suffix.contains('u') || !decimal && !long && (1 << 31..1 << 32).contains(&value);
    Some(Kind::Int { value, unsigned, long })
}
