//! The state of parsing: the position among the tokens, the scopes around it, and stepping back.

use super::pending::Pending;
use super::scopes::{Checkpoint, ScopeId, Scopes};
use super::{ast, builtin};
use crate::token::{Token, TokenKind};
use crate::{Result, error, limit, unsupported};
use base::{Diagnostic, Span};

/// The deepest nesting; deeper text is refused before the stack ends.
const MAX_DEPTH: usize = 400;

/// Limit on the tokens of one declaration that are read in failed attempts ([`Parser::attempt`]): text with two
/// readings is tried one way, then the other.
const MAX_WASTE: usize = 1_000_000;

/// The position in the text, and the names known there.
pub(super) struct Parser<'t> {
    pub(super) tokens: &'t [Token],
    pub(super) at: usize,
    /// The first half of a `>>` at `at` was taken.
    pub(super) is_half: bool,
    pub(super) scopes: Scopes,
    pub(super) depth: usize,
    /// Inside an annotation, where comparisons chain and `==>` is an operator.
    pub(super) is_annotation: bool,
    /// Inside template arguments, where `>` ends the list.
    pub(super) is_in_angles: bool,
    /// Names of the classes around this place.
    pub(super) classes: Vec<Box<str>>,
    /// `#pragma pack` is in force.
    pub(super) is_packed: bool,
    /// The scope around template parameters: the template's name belongs to it.
    pub(super) outer: Option<ScopeId>,
    /// The body of the member that was just read, and its contract. Both are read when the class is complete.
    pub(super) late_body: Option<(usize, Pending)>,
    /// A limit was reached; this ends all attempts.
    pub(super) is_exhausted: bool,
    /// Tokens that were read in failed attempts.
    pub(super) wasted: usize,
}

/// A position to go back to.
pub(super) struct Mark {
    pub(super) at: usize,
    pub(super) is_half: bool,
    pub(super) scopes: Checkpoint,
}

static GREATER: TokenKind = TokenKind::Punct(">");

impl<'t> Parser<'t> {
    pub(super) fn new(tokens: &'t [Token]) -> Self {
        Self {
            tokens,
            at: 0,
            is_half: false,
            scopes: Scopes::new(),
            depth: 0,
            is_annotation: false,
            is_in_angles: false,
            classes: Vec::new(),
            is_packed: false,
            outer: None,
            late_body: None,
            is_exhausted: false,
            wasted: 0,
        }
    }

    pub(super) fn kind(&self) -> &'t TokenKind {
        if self.is_half { &GREATER } else { self.kind_at(0) }
    }

    /// The token `ahead` positions ahead.
    pub(super) fn kind_at(&self, ahead: usize) -> &'t TokenKind {
        self.tokens.get(self.at.saturating_add(ahead)).map_or(&TokenKind::End, |token| &token.kind)
    }

    pub(super) fn span(&self) -> Span {
        let last = || self.tokens.last().map_or(Span::default(), |token| token.span);
        self.tokens.get(self.at).map_or_else(last, |token| token.span)
    }

    /// The span from `start` to the last token taken.
    pub(super) fn since(&self, start: Span) -> Span {
        let last = self.tokens.get(self.at.wrapping_sub(1)).map_or(start, |token| token.span);
        if last.end < start.start { start } else { start.to(last) }
    }

    pub(super) fn advance(&mut self) {
        self.at += 1;
        self.is_half = false;
    }

    pub(super) fn is_end(&self) -> bool {
        *self.kind() == TokenKind::End
    }

    /// Returns `true` if the next token is this operator or bracket.
    pub(super) fn is(&self, punct: &str) -> bool {
        matches!(self.kind(), TokenKind::Punct(found) if *found == punct)
    }

    pub(super) fn is_at(&self, ahead: usize, punct: &str) -> bool {
        matches!(self.kind_at(ahead), TokenKind::Punct(found) if *found == punct)
    }

    pub(super) fn word(&self) -> Option<&'t str> {
        match self.kind() {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn word_at(&self, ahead: usize) -> Option<&'t str> {
        match self.kind_at(ahead) {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    pub(super) fn take(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: &str) -> Result<()> {
        if self.take(punct) { Ok(()) } else { Err(self.error(format!("expected `{punct}`"))) }
    }

    /// Takes `>`, or the first half of `>>`.
    pub(super) fn expect_greater(&mut self) -> Result<()> {
        if !self.is_half && self.is(">>") {
            self.is_half = true;
            return Ok(());
        }
        self.expect(">")
    }

    /// A name that is declared or used here; not a keyword.
    pub(super) fn name(&mut self) -> Result<ast::Name> {
        let span = self.span();
        match self.word() {
            Some(word) if builtin::is_keyword(word) => {
                Err(self.error(format!("expected a name, not the keyword `{word}`")))
            }
            Some(word) => {
                self.advance();
                Ok(ast::Name { text: word.into(), span })
            }
            None => Err(self.error("expected a name")),
        }
    }

    pub(super) fn no_name(&self) -> ast::Name {
        ast::Name { text: "".into(), span: self.span() }
    }

    pub(super) fn error(&self, message: impl Into<Box<str>>) -> Box<Diagnostic> {
        // An annotation `//@` in a wrong place. A compiler takes it for a comment and accepts the text.
        if *self.kind() == TokenKind::AnnotationStart {
            let message = "clauses belong before a function and its `template<…>`, or in its body";
            return error(self.span(), message);
        }
        error(self.span(), message)
    }

    pub(super) fn unsupported(&self, span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
        unsupported(span, message)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { at: self.at, is_half: self.is_half, scopes: self.scopes.mark() }
    }

    pub(super) fn reset(&mut self, mark: &Mark) {
        self.wasted += self.at.saturating_sub(mark.at) + 1;
        self.at = mark.at;
        self.is_half = mark.is_half;
        self.scopes.undo(&mark.scopes);
    }

    /// Resets the limits, for the next declaration.
    pub(super) fn reset_limits(&mut self) {
        self.is_exhausted = false;
        self.wasted = 0;
    }

    /// Runs `inner`; goes back if it fails or returns `None`.
    pub(super) fn attempt<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Option<T>>,
    ) -> Option<T> {
        let mark = self.mark();
        let angles = self.is_in_angles;
        let found = inner(self).ok().flatten();
        if found.is_none() {
            self.reset(&mark);
            self.is_in_angles = angles;
        }
        found
    }

    /// Runs `inner` one level deeper. Text that was too deep once is not tried in another way, which would take
    /// forever.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.is_exhausted |= self.depth > MAX_DEPTH || self.wasted > MAX_WASTE;
        if self.is_exhausted {
            return Err(limit(self.span(), "nested too deeply"));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Runs `inner` inside brackets, where `>` is an operator.
    pub(super) fn bracketed<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.is_in_angles, false);
        let result = self.nested(inner);
        self.is_in_angles = outer;
        result
    }

    /// Runs `inner` in a scope of its own.
    pub(super) fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.open();
        let result = inner(self);
        self.scopes.close();
        result
    }

    /// Skips from the bracket that opens here to the one that closes it.
    pub(super) fn skip_brackets(&mut self) {
        let mut depth = 0usize;
        while !self.is_end() {
            match self.kind() {
                TokenKind::Punct("(" | "[" | "{") => depth += 1,
                TokenKind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }
}
