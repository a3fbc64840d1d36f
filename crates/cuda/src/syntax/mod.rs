//! Syntax: recursive descent over tokens (ISO C++17 \[gram\], with CUDA's qualifiers).
//!
//! The parser knows names of types, templates and namespaces by scope, because C++ cannot be parsed otherwise (\[stmt.ambig\],
//! \[temp.names\]). Host code is passed over, by brackets; the names that it declares are kept so that their use is refused.
//! C++ that is not read in a device function is noted in that function, which is refused where it is used.

pub mod ast;
mod attributes;
mod builtin;
mod clauses;
mod declarations;
mod declarators;
mod expressions;
mod functions;
mod items;
mod names;
mod operands;
mod records;
mod scopes;
mod specifiers;
mod specs;
mod statements;
mod templates;
#[cfg(test)]
mod tests;
mod types;

use crate::preprocess::Preprocessed;
use crate::token::{Token, TokenKind};
use crate::{Result, error, limit, unsupported};
use base::{Diagnostic, Span};
use clauses::Pending;
use scopes::{ScopeId, Scopes, Undo};

/// Nesting deeper than this is refused before the stack ends.
const MAX_DEPTH: usize = 400;

/// Tokens of one declaration that may be read in vain, where the text can be read in two ways.
const MAX_WASTE: usize = 1_000_000;

/// Parses a file.
///
/// # Errors
/// A syntax error outside of host code, or C++ that is not read where nothing can be left out.
pub fn parse(text: &Preprocessed) -> Result<ast::Unit> {
    let mut parser = Parser::new(&text.tokens);
    let mut declarations = parser.declarations_until_end()?;
    hand_over(&mut declarations);
    Ok(ast::Unit { declarations })
}

/// A contract before a macro that makes a kernel and functions for it is the kernel's: what one call of a macro makes has one place.
fn hand_over(declarations: &mut [ast::Declaration]) {
    use ast::DeclarationKind::{Function, Namespace};
    for at in 0..declarations.len() {
        let Some((first, rest)) =
            declarations.get_mut(at..).and_then(<[ast::Declaration]>::split_first_mut)
        else {
            continue;
        };
        let span = first.span;
        let helper = match &mut first.kind {
            Namespace { declarations, .. } => {
                hand_over(declarations);
                continue;
            }
            Function(helper) if !helper.specifiers.is_global && !helper.clauses.is_empty() => {
                helper
            }
            _ => continue,
        };
        let made = rest.iter_mut().take_while(|one| one.span == span);
        let mut kernels = made.filter_map(|one| match &mut one.kind {
            Function(kernel) if kernel.specifiers.is_global && kernel.clauses.is_empty() => {
                Some(kernel)
            }
            _ => None,
        });
        if let (Some(kernel), None) = (kernels.next(), kernels.next()) {
            kernel.clauses = std::mem::take(&mut helper.clauses);
        }
    }
}

/// Parses annotations that stand alone, such as conditions of the command line.
///
/// # Errors
/// The tokens are not clauses.
pub fn clauses(tokens: &[Token]) -> Result<Vec<ast::Clause>> {
    let mut parser = Parser::new(tokens);
    let clauses = parser.clauses_if_any()?;
    if parser.is_end() {
        Ok(clauses)
    } else {
        Err(parser.error("expected the end of the condition"))
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    /// Whether the first half of a `>>` at `at` was taken.
    is_half: bool,
    scopes: Scopes,
    depth: usize,
    /// Inside an annotation, where comparisons chain and `==>` is an operator.
    is_annotation: bool,
    /// Inside template arguments, where `>` ends the list.
    is_in_angles: bool,
    /// Names of the classes around this place.
    classes: Vec<Box<str>>,
    /// Whether `#pragma pack` is in force.
    is_packed: bool,
    /// The scope around template parameters, where the template's name belongs.
    outer: Option<ScopeId>,
    /// The body of the member that was just read, and its contract: both are read when the class is complete.
    late_body: Option<(usize, Pending)>,
    /// Whether a limit was met, which ends all attempts.
    is_exhausted: bool,
    /// Tokens that were read in vain.
    wasted: usize,
}

/// A place to go back to.
struct Mark {
    at: usize,
    is_half: bool,
    undo: Undo,
}

static GREATER: TokenKind = TokenKind::Punct(">");

impl<'t> Parser<'t> {
    fn new(tokens: &'t [Token]) -> Self {
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

    fn kind(&self) -> &'t TokenKind {
        if self.is_half { &GREATER } else { self.kind_at(0) }
    }

    /// The token that many places ahead.
    fn kind_at(&self, ahead: usize) -> &'t TokenKind {
        self.tokens.get(self.at.saturating_add(ahead)).map_or(&TokenKind::End, |token| &token.kind)
    }

    fn span(&self) -> Span {
        let last = || self.tokens.last().map_or(Span::default(), |token| token.span);
        self.tokens.get(self.at).map_or_else(last, |token| token.span)
    }

    /// The span from `start` to the last token taken.
    fn since(&self, start: Span) -> Span {
        let last = self.tokens.get(self.at.wrapping_sub(1)).map_or(start, |token| token.span);
        if last.end < start.start { start } else { start.to(last) }
    }

    fn advance(&mut self) {
        self.at += 1;
        self.is_half = false;
    }

    fn is_end(&self) -> bool {
        *self.kind() == TokenKind::End
    }

    fn is(&self, punct: &str) -> bool {
        matches!(self.kind(), TokenKind::Punct(found) if *found == punct)
    }

    fn is_at(&self, ahead: usize, punct: &str) -> bool {
        matches!(self.kind_at(ahead), TokenKind::Punct(found) if *found == punct)
    }

    fn word(&self) -> Option<&'t str> {
        match self.kind() {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn word_at(&self, ahead: usize) -> Option<&'t str> {
        match self.kind_at(ahead) {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn take(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, punct: &str) -> Result<()> {
        if self.take(punct) { Ok(()) } else { Err(self.error(format!("expected `{punct}`"))) }
    }

    /// Takes `>`, or the first half of `>>`.
    fn expect_greater(&mut self) -> Result<()> {
        if !self.is_half && self.is(">>") {
            self.is_half = true;
            return Ok(());
        }
        self.expect(">")
    }

    /// A name that is declared or used here; not a keyword.
    fn name(&mut self) -> Result<ast::Name> {
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

    fn no_name(&self) -> ast::Name {
        ast::Name { text: "".into(), span: self.span() }
    }

    fn error(&self, message: impl Into<Box<str>>) -> Box<Diagnostic> {
        // A compiler sees a comment here.
        if *self.kind() == TokenKind::AnnotationStart {
            let message =
                "clauses belong before a function and its `template<…>`, or into its body";
            return error(self.span(), message);
        }
        error(self.span(), message)
    }

    fn unsupported(&self, span: Span, message: impl Into<Box<str>>) -> Box<Diagnostic> {
        unsupported(span, message)
    }

    fn mark(&self) -> Mark {
        Mark { at: self.at, is_half: self.is_half, undo: self.scopes.mark() }
    }

    fn reset(&mut self, mark: &Mark) {
        self.wasted += self.at.saturating_sub(mark.at) + 1;
        self.at = mark.at;
        self.is_half = mark.is_half;
        self.scopes.undo(&mark.undo);
    }

    /// Begins anew after something that was too deep.
    fn refresh(&mut self) {
        self.is_exhausted = false;
        self.wasted = 0;
    }

    /// Runs `inner`; goes back if it fails or gives nothing.
    fn attempt<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<Option<T>>) -> Option<T> {
        let mark = self.mark();
        let angles = self.is_in_angles;
        let found = inner(self).ok().flatten();
        if found.is_none() {
            self.reset(&mark);
            self.is_in_angles = angles;
        }
        found
    }

    /// Runs `inner` one level deeper. What is too deep once is not tried in another way, which would take for ever.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
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
    fn bracketed<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.is_in_angles, false);
        let result = self.nested(inner);
        self.is_in_angles = outer;
        result
    }

    /// Runs `inner` in a scope of its own.
    fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.scopes.open();
        let result = inner(self);
        self.scopes.close();
        result
    }

    /// Passes over a bracket that opens here and all up to the one that closes it.
    fn skip_brackets(&mut self) {
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
