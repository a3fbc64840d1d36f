//! Tokens for the parser: after expansion of macros and evaluation of conditionals (ISO C++17 \[lex.token\]).
//!
//! A span is a range in the texts of all files laid end to end, see `source`. A token from a macro carries the place
//! of the macro's use, so that messages point at the user's text.

use base::Span;

/// A token and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its span.
    pub span: Span,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    /// A name or keyword. Words of the annotation language keep their backslash (`\forall`).
    Word(Box<str>),
    /// An integer literal; its type follows from value, base and suffix (\[lex.icon\]).
    Int {
        /// Its value.
        value: u128,
        /// Written in base ten; such a literal never becomes unsigned by size alone.
        decimal: bool,
        /// The suffix `u`.
        unsigned: bool,
        /// The number of `l` in the suffix: 0, 1 or 2.
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
    /// `#pragma` and the words of its line. Pragmas that only advise the compiler are dropped before.
    Pragma(Vec<Token>),
    /// The end of the text.
    End,
}
