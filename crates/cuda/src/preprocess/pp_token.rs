//! Preprocessing tokens (ISO C++17 \[lex.pptoken\]).

use base::Span;
use std::rc::Rc;

/// Kind of a preprocessing token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Word,
    Number,
    Character,
    Text,
    /// An operator or bracket, by its usual spelling.
    Punct(&'static str),
    AnnotationStart,
    AnnotationEnd,
    /// A character that forms no token.
    Other,
    /// Nothing: an empty argument beside `##`.
    Nothing,
}

/// Macros that must not replace a token again, as sorted numbers.
pub(crate) type HideSet = Option<Rc<[u32]>>;

/// A preprocessing token.
#[derive(Clone, Debug)]
pub(crate) struct PpToken {
    pub(crate) kind: Kind,
    /// Its spelling.
    pub(crate) text: Rc<str>,
    pub(crate) span: Span,
    /// A blank comes before it.
    pub(crate) is_spaced: bool,
    /// Set if it is the first of its line.
    pub(crate) is_first: bool,
    pub(crate) hide: HideSet,
}

impl PpToken {
    pub(crate) fn new(kind: Kind, text: &str, span: Span) -> Self {
        let text = Rc::from(text);
        Self { kind, text, span, is_spaced: false, is_first: false, hide: None }
    }

    pub(crate) fn is(&self, punct: &str) -> bool {
        matches!(self.kind, Kind::Punct(found) if found == punct)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && &*self.text == word
    }
}

/// The operator of an alternative spelling (\[lex.digraph\]).
pub(super) fn alternative(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        "xor" => "^",
        "bitand" => "&",
        "bitor" => "|",
        "compl" => "~",
        "and_eq" => "&=",
        "or_eq" => "|=",
        "xor_eq" => "^=",
        "not_eq" => "!=",
        _ => return None,
    })
}
