//! Splits a text into preprocessing tokens (ISO C++17 \[lex.pptoken\]) and annotations.
//!
//! A comment that begins with `//@` or `/*@` is an annotation: its tokens come between [`Kind::AnnotationStart`] and
//! [`Kind::AnnotationEnd`]. Annotations that follow each other directly are one, so that a clause may span `//@` lines.
//! `==>`, `<==>`, `..` and words such as `\forall` exist only there.

use super::pp_token::{Kind, PpToken};
use super::splice::{Spliced, splice};
use crate::{Result, error, unsupported};
use base::Span;
use std::rc::Rc;

/// Longest first, so that the first match is the right one; with the usual spelling.
const PUNCTUATION: &[(&str, &str)] = &[
    ("%:%:", "##"),
    ("<<=", "<<="),
    (">>=", ">>="),
    ("...", "..."),
    ("->*", "->*"),
    ("<<", "<<"),
    (">>", ">>"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("&&", "&&"),
    ("||", "||"),
    ("++", "++"),
    ("--", "--"),
    ("+=", "+="),
    ("-=", "-="),
    ("*=", "*="),
    ("/=", "/="),
    ("%=", "%="),
    ("&=", "&="),
    ("|=", "|="),
    ("^=", "^="),
    ("->", "->"),
    (".*", ".*"),
    ("::", "::"),
    ("##", "##"),
    ("<%", "{"),
    ("%>", "}"),
    ("<:", "["),
    (":>", "]"),
    ("%:", "#"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "%"),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("!", "!"),
    ("~", "~"),
    ("&", "&"),
    ("|", "|"),
    ("^", "^"),
    ("?", "?"),
    (":", ":"),
    (";", ";"),
    (",", ","),
    (".", "."),
    ("(", "("),
    (")", ")"),
    ("[", "["),
    ("]", "]"),
    ("{", "{"),
    ("}", "}"),
    ("#", "#"),
];

/// Operators of annotations.
const ANNOTATION_PUNCTUATION: &[(&str, &str)] = &[("<==>", "<==>"), ("==>", "==>"), ("..", "..")];

/// Splits a text into tokens; `start` is the place of its first byte.
pub(crate) fn lex(original: &str, start: u32) -> Result<Vec<PpToken>> {
    let spliced = splice(original).map_err(|at| {
        let place = start.saturating_add(offset(at));
        let message =
            "a carriage return without a newline is not supported: compilers differ on it";
        unsupported(Span::new(place, place.saturating_add(1)), message)
    })?;
    let end = spliced.text.len();
    let mut lexer = Lexer {
        original,
        spliced: &spliced,
        start,
        at: 0,
        end,
        out: Vec::new(),
        is_annotation: false,
        is_spaced: false,
        is_first: true,
    };
    lexer.run()?;
    Ok(lexer.out)
}

struct Lexer<'t> {
    original: &'t str,
    spliced: &'t Spliced,
    start: u32,
    at: usize,
    /// The end of the text or of an annotation.
    end: usize,
    out: Vec<PpToken>,
    is_annotation: bool,
    is_spaced: bool,
    is_first: bool,
}

fn offset(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// Returns `true` if a character is allowed in a name.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii() && c.is_alphanumeric()
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        self.spliced.text.get(self.at..self.end).unwrap_or_default()
    }

    fn run(&mut self) -> Result<()> {
        while let Some(first) = self.rest().chars().next() {
            if first == '\n' {
                self.at += 1;
                self.new_line();
            } else if first.is_whitespace() {
                self.at += first.len_utf8();
                self.is_spaced = true;
            } else if !self.comment()? {
                self.token(first)?;
            }
        }
        Ok(())
    }

    fn new_line(&mut self) {
        self.is_spaced = true;
        if !self.is_annotation {
            self.is_first = true;
            return;
        }
        // In a block annotation, lines may begin with `@`.
        let rest = self.rest();
        let line = rest.trim_start_matches([' ', '\t']);
        if line.starts_with('@') {
            self.at += rest.len() - line.len() + 1;
        }
    }

    /// Reads a comment or annotation, if one begins here.
    fn comment(&mut self) -> Result<bool> {
        let rest = self.rest();
        let is_line = rest.starts_with("//");
        if !is_line && !rest.starts_with("/*") {
            return Ok(false);
        }
        let start = self.at;
        let length = if is_line {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            let close = rest.get(2..).and_then(|inside| inside.find("*/"));
            let Some(length) = close else {
                return Err(self.error("this comment is not closed", start));
            };
            length + 4
        };
        let text = rest.get(..length).unwrap_or_default();
        if is_line && ends_in_doubtful_splice(text) {
            return Err(self.doubtful_splice(start + length - 1));
        }
        if text.get(2..).is_some_and(|inside| inside.starts_with('@')) {
            self.annotation(is_line, start + length)?;
        }
        self.at = start + length;
        self.is_spaced = true;
        Ok(true)
    }

    fn annotation(&mut self, is_line: bool, end: usize) -> Result<()> {
        let start = self.at;
        if self.is_annotation {
            return Err(self.error("an annotation inside an annotation", start));
        }
        let joined = self.out.last().is_some_and(|last| last.kind == Kind::AnnotationEnd);
        self.at += 3;
        if joined {
            self.out.pop();
            self.is_spaced = true;
        } else {
            self.push(Kind::AnnotationStart, start, "");
        }
        let mut inner = if is_line { end } else { end.saturating_sub(2).max(self.at) };
        if !is_line && self.spliced.text.as_bytes().get(inner.wrapping_sub(1)) == Some(&b'@') {
            inner = (inner - 1).max(self.at);
        }
        let outer = std::mem::replace(&mut self.end, inner);
        self.is_annotation = true;
        self.is_first = false;
        self.run()?;
        self.is_annotation = false;
        self.end = outer;
        self.at = end;
        self.is_first = false;
        self.push(Kind::AnnotationEnd, inner, "");
        Ok(())
    }

    fn token(&mut self, first: char) -> Result<()> {
        let start = self.at;
        let rest = self.rest();
        let second = rest.chars().nth(1);
        let is_word = is_name(first) && !first.is_ascii_digit()
            || first == '\\' && self.is_annotation && second.is_some_and(is_name);
        if is_word {
            return self.word(start);
        }
        if first.is_ascii_digit() || first == '.' && second.is_some_and(|c| c.is_ascii_digit()) {
            self.at += number_length(rest, self.is_annotation);
            self.push(Kind::Number, start, rest);
            return Ok(());
        }
        if first == '"' || first == '\'' {
            self.quoted(start);
            return Ok(());
        }
        if first == '\\' && rest.lines().next().is_some_and(ends_in_doubtful_splice) {
            let line = rest.lines().next().unwrap_or_default();
            if line.trim_end() == "\\" {
                return Err(self.doubtful_splice(start));
            }
        }
        let annotation = if self.is_annotation { ANNOTATION_PUNCTUATION } else { &[] };
        let found = annotation.iter().chain(PUNCTUATION).find(|(one, _)| rest.starts_with(one));
        match found {
            // `<::` is `<` and `::` ([lex.pptoken]).
            Some(("<:", _)) if is_less_and_scope(rest) => {
                self.at += 1;
                self.push(Kind::Punct("<"), start, rest);
            }
            Some((spelling, usual)) => {
                self.at += spelling.len();
                self.push(Kind::Punct(usual), start, rest);
            }
            None => {
                self.at += first.len_utf8();
                self.push(Kind::Other, start, rest);
            }
        }
        Ok(())
    }

    fn word(&mut self, start: usize) -> Result<()> {
        let rest = self.rest();
        let tail = rest.get(1..).unwrap_or_default();
        let skip = rest.chars().next().map_or(1, char::len_utf8);
        let tail = rest.get(skip..).unwrap_or(tail);
        let length = skip + tail.find(|c| !is_name(c)).unwrap_or(tail.len());
        let (word, after) = rest.split_at(length);
        match word {
            "u8" | "u" | "U" | "L" if after.starts_with(['"', '\'']) => {
                self.at += length;
                self.quoted(start);
                Ok(())
            }
            "R" | "u8R" | "uR" | "UR" | "LR" if after.starts_with('"') => {
                self.raw_text(start, length)
            }
            _ => {
                self.at += length;
                self.push(Kind::Word, start, rest);
                Ok(())
            }
        }
    }

    /// Reads a character or string whose quote is at the current position; a quote without a closing one on its line
    /// is a token by itself.
    fn quoted(&mut self, start: usize) {
        let from = self.at;
        let rest = self.rest();
        let quote = rest.chars().next().unwrap_or('"');
        let mut is_escaped = false;
        for (at, c) in rest.char_indices().skip(1) {
            if c == '\n' {
                break;
            }
            if c == quote && !is_escaped {
                self.at = from + at + 1;
                let kind = if quote == '"' { Kind::Text } else { Kind::Character };
                self.push_range(kind, start);
                return;
            }
            is_escaped = c == '\\' && !is_escaped;
        }
        self.at = from + 1;
        self.push_range(Kind::Other, start);
    }

    /// `R"x(…)x"`: line splices inside of it are part of the text, so it is read from the original.
    fn raw_text(&mut self, start: usize, prefix: usize) -> Result<()> {
        let from = self.spliced.original(start);
        let rest = self.original.get(from..).unwrap_or_default();
        let inside = rest.get(prefix + 1..).unwrap_or_default();
        let open = inside.find('(').filter(|length| *length <= 16);
        let length = open.and_then(|open| {
            let close = format!("){}\"", inside.get(..open)?);
            Some(prefix + 1 + inside.find(&close)? + close.len())
        });
        let Some(length) = length else {
            return Err(self.error("this raw string is not closed", start));
        };
        self.at = self.spliced.spliced(from + length).min(self.end);
        let text = rest.get(..length).unwrap_or_default();
        self.push(Kind::Text, start, "");
        if let Some(last) = self.out.last_mut() {
            last.text = Rc::from(text);
        }
        Ok(())
    }

    fn push_range(&mut self, kind: Kind, start: usize) {
        let text = self.spliced.text.get(start..).unwrap_or_default();
        self.push(kind, start, text);
    }

    /// Pushes the token from `start` to the current position; `text` begins with it, or is empty.
    fn push(&mut self, kind: Kind, start: usize, text: &str) {
        let span = self.span(start);
        let text = Rc::from(text.get(..self.at.saturating_sub(start)).unwrap_or_default());
        let (is_spaced, is_first) = (self.is_spaced, self.is_first);
        self.out.push(PpToken { kind, text, span, is_spaced, is_first, hide: None });
        self.is_spaced = false;
        self.is_first = false;
    }

    fn span(&self, start: usize) -> Span {
        let begin = self.spliced.original(start);
        let end = if self.at > start { self.spliced.original(self.at - 1) + 1 } else { begin };
        let place = |at: usize| self.start.saturating_add(offset(at));
        Span::new(place(begin), place(end.max(begin)))
    }

    fn error(&self, message: &str, start: usize) -> Box<base::Diagnostic> {
        let begin = self.spliced.original(start);
        let place = self.start.saturating_add(offset(begin));
        error(Span::new(place, place.saturating_add(1)), message)
    }

    fn doubtful_splice(&self, at: usize) -> Box<base::Diagnostic> {
        let place = self.start.saturating_add(offset(self.spliced.original(at)));
        let message = "blanks after the backslash that ends this line: compilers differ on whether \
                       it joins the lines; remove them";
        unsupported(Span::new(place, place.saturating_add(1)), message)
    }
}

/// Returns `true` if a line ends in a backslash followed by blanks.
fn ends_in_doubtful_splice(line: &str) -> bool {
    let trimmed = line.trim_end_matches([' ', '\t', '\u{b}', '\u{c}']);
    trimmed.len() < line.len() && trimmed.ends_with('\\')
}

fn is_less_and_scope(rest: &str) -> bool {
    rest.starts_with("<::") && !rest.get(3..).is_some_and(|after| after.starts_with([':', '>']))
}

/// The length of a preprocessing number (\[lex.ppnumber\]). In annotations it ends before `..`.
fn number_length(rest: &str, is_annotation: bool) -> usize {
    let bytes = rest.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let mut length = 0;
    while length < bytes.len() {
        let (before, now, next) = (byte(length.wrapping_sub(1)), byte(length), byte(length + 1));
        let is_range = is_annotation && now == b'.' && next == b'.';
        let is_sign = matches!(now, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
        let is_separator = now == b'\'' && (next.is_ascii_alphanumeric() || next == b'_');
        let belongs = now.is_ascii_alphanumeric() || now == b'_' || now == b'.' && !is_range;
        if !(belongs || is_sign && length > 0 || is_separator && length > 0) {
            break;
        }
        length += 1;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        let tokens = lex(text, 0).unwrap();
        let show = |token: &PpToken| match token.kind {
            Kind::AnnotationStart => "<@".to_owned(),
            Kind::AnnotationEnd => "@>".to_owned(),
            Kind::Punct(usual) => usual.to_owned(),
            _ => token.text.to_string(),
        };
        tokens.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_longest_token_is_taken() {
        assert_eq!(printed("a+++b<<=c>>d->*e"), "a ++ + b <<= c >> d ->* e");
        assert_eq!(printed("x<::y <:z:> %:%: <%"), "x < :: y [ z ] ## {");
        assert_eq!(printed("0x1p-3f 1'000u .5e+3 1.e2 0xe+1"), "0x1p-3f 1'000u .5e+3 1.e2 0xe+1");
        assert_eq!(printed("a<==>b 0..n ==>"), "a <= => b".replace("=> b", "= > b 0..n == >"));
    }

    #[test]
    fn comments_may_be_spliced() {
        assert_eq!(printed("a // b \\\n c\nd"), "a d");
        assert_eq!(printed("a /\\\n/ b\nd"), "a d");
        assert_eq!(printed("a /* // */ b"), "a b");
        assert_eq!(printed("\"/* */\" '\"' b // \""), "\"/* */\" '\"' b");
        assert_eq!(printed("wo\\\nrd"), "word");
        assert!(lex("a // b \\ \nc", 0).is_err());
        assert!(lex("#define A \\ \nc", 0).is_err());
        assert!(lex("a /* b", 0).is_err());
    }

    #[test]
    fn annotations_follow_each_other() {
        assert_eq!(printed("//@ a <==> b\n//@ 0 .. n\nc"), "<@ a <==> b 0 .. n @> c");
        assert_eq!(printed("/*@ \\forall i\n  @ b @*/ c"), "<@ \\forall i b @> c");
        assert_eq!(printed("//@ 0..n // why\nc"), "<@ 0 .. n @> c");
        assert_eq!(printed("/*@*/c"), "<@ @> c");
        assert!(lex("/*@ a //@ b */", 0).is_err());
        // A comment ends where the compiler ends it; its text does not matter.
        assert!(lex("/*@ a /* b */ c */", 0).is_err());
    }

    #[test]
    fn spans_are_those_of_the_original() {
        let text = "ab\\\ncd ef";
        let tokens = lex(text, 10).unwrap();
        assert_eq!(tokens[0].span, Span::new(10, 16));
        assert_eq!(tokens[1].span, Span::new(17, 19));
    }

    #[test]
    fn raw_strings_keep_their_lines() {
        let tokens = lex("R\"x(a\\\nb)\")x\" c", 0).unwrap();
        assert_eq!(&*tokens[0].text, "R\"x(a\\\nb)\")x\"");
        assert_eq!(&*tokens[1].text, "c");
    }
}
