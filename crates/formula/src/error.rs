//! Mistakes in formulas, in the terms of the person who wrote one.

use base::Span;

/// A mistake and its span.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Its span.
    pub span: Span,
    /// One sentence: the fact, and what to write instead.
    pub message: String,
}

impl Error {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }
}

/// Returns the known name that is closest to a word, if one is close enough.
pub(crate) fn closest<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let distance = |name: &str| strsim::damerau_levenshtein(word, name);
    let most = (word.chars().count() / 3).max(1);
    known.filter(|name| distance(name) <= most).min_by_key(|name| distance(name))
}
