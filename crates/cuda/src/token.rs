//! Tokens as the parser sees them: after macros were expanded and conditionals were obeyed (ISO C++17 \[lex.token\]).
//!
//! A span is a range in the texts of all files laid end to end, see `source`. A token from a macro carries the place where
//! the macro is used, so messages point at what the user wrote.

use base::Span;

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is written.
    pub span: Span,
}

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A name or keyword. Words of the annotation language keep their backslash (`\forall`).
    Word(Box<str>),
    /// An integer literal; its type follows from value, base and suffix (\[lex.icon\]).
    Int {
        /// Its value.
        value: u128,
        /// Whether it is written in base ten, which never becomes unsigned by size alone.
        decimal: bool,
        /// The suffix `u`.
        unsigned: bool,
        /// How often `l` stands in the suffix: 0, 1 or 2.
        long: u8,
    },
    /// A floating literal, correctly rounded to its own type.
    Float {
        /// Its value.
        value: f64,
        /// Its type: `float` with the suffix `f`, `double` without.
        single: bool,
    },
    /// A character literal; its value as `char`.
    Character(i8),
    /// A string literal, adjacent ones joined; the bytes without the final zero.
    Text(Box<[u8]>),
    /// An operator or bracket. Alternative spellings (`and`, `<%`) are replaced by the usual ones.
    Punct(&'static str),
    /// `/*@` or `//@`.
    AnnotationStart,
    /// The end of that comment.
    AnnotationEnd,
    /// `#pragma` and the words of its line. Pragmas that only advise the compiler do not come through.
    Pragma(Vec<Token>),
    /// The end of the text.
    End,
}
