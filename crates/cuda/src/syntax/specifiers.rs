//! Words before a declaration (\[dcl.spec\]): storage, CUDA's memories and execution spaces, attributes, and the type
//! among them.

use super::ast::{Specifiers, TypeSyntax};
use super::parser::Parser;
use super::scopes::Meaning;
use super::types::TypeWords;
use crate::Result;
use crate::token::TokenKind;
use base::Span;

/// The specifiers before declarators.
pub(super) struct Leading {
    pub(super) specifiers: Specifiers,
    /// The type; `None` for constructors and conversions.
    pub(super) ty: Option<TypeSyntax>,
    pub(super) is_typedef: bool,
    pub(super) start: Span,
}

impl Parser<'_> {
    /// Returns `true` if a declaration begins here.
    pub(super) fn is_declaration_start(&self) -> bool {
        self.is_specifier()
            || self.is_attribute()
            || self.is_type_start()
            || self.is_word("typedef")
    }

    fn is_specifier(&self) -> bool {
        matches!(
            self.word(),
            Some(
                "static"
                    | "extern"
                    | "inline"
                    | "constexpr"
                    | "register"
                    | "thread_local"
                    | "mutable"
                    | "virtual"
                    | "explicit"
                    | "friend"
                    | "__global__"
                    | "__device__"
                    | "__host__"
                    | "__shared__"
                    | "__constant__"
                    | "__managed__"
            )
        )
    }

    /// Reads the specifiers before declarators.
    pub(super) fn leading(&mut self) -> Result<Leading> {
        let start = self.span();
        let mut found =
            Leading { specifiers: Specifiers::default(), ty: None, is_typedef: false, start };
        let mut words = TypeWords::default();
        loop {
            if self.attributes(&mut found.specifiers)? || self.specifier(&mut found)? {
                continue;
            }
            let is_special =
                !words.is_complete() && (self.is_constructor() || self.is_conversion());
            if is_special || !self.type_specifier(&mut words)? {
                break;
            }
        }
        let is_typeless = words.is_empty() && (self.is_constructor() || self.is_conversion());
        if !is_typeless {
            found.ty = Some(self.finish_type(words, start)?);
        }
        Ok(found)
    }

    fn specifier(&mut self, found: &mut Leading) -> Result<bool> {
        let span = self.span();
        let specifiers = &mut found.specifiers;
        match self.word() {
            Some("static") => specifiers.is_static = true,
            Some("extern") => {
                specifiers.is_extern = true;
                if matches!(self.kind_at(1), TokenKind::Text(_)) {
                    self.advance();
                }
            }
            Some("constexpr") => specifiers.is_constexpr = true,
            Some("explicit") => {
                specifiers.is_explicit = true;
                if self.is_at(1, "(") {
                    return Err(
                        self.unsupported(span, "`explicit` with a condition is not supported")
                    );
                }
            }
            Some("friend") => specifiers.is_friend = true,
            Some("virtual") => specifiers.is_virtual = true,
            Some("typedef") => found.is_typedef = true,
            Some("__global__") => specifiers.is_global = true,
            Some("__device__") => specifiers.is_device = true,
            Some("__host__") => specifiers.is_host = true,
            Some("__shared__") => specifiers.is_shared = true,
            Some("__constant__") => specifiers.is_constant = true,
            Some("__managed__") => specifiers.is_managed = true,
            Some("inline" | "register" | "mutable") => {}
            Some("thread_local") => {
                return Err(self.unsupported(span, "`thread_local` is not supported"));
            }
            _ => return Ok(false),
        }
        self.advance();
        Ok(true)
    }

    /// Returns `true` if a constructor or destructor begins here: `S(` in its class, `S::S(` outside, `~S(`.
    fn is_constructor(&self) -> bool {
        if self.is("~") {
            return true;
        }
        let Some(word) = self.word() else { return false };
        let is_own = self.classes.last().is_some_and(|class| **class == *word);
        if is_own && self.is_at(1, "(") {
            return true;
        }
        self.is_outer_constructor()
    }

    fn is_outer_constructor(&self) -> bool {
        let (_, ahead) = self.meaning_here();
        let last = self.word_at(ahead.wrapping_sub(1));
        // `S<T>::S(` has arguments in between; look for the name before them.
        let is_scope = ahead >= 3 && self.is_at(ahead - 2, "::");
        if self.is_at(ahead, "::") && self.is_at(ahead + 1, "~") {
            return true;
        }
        if !is_scope || !self.is_at(ahead, "(") {
            return false;
        }
        let is_same = |at: usize| self.word_at(at) == last;
        if self.word_at(ahead - 3).is_some() {
            return is_same(ahead - 3);
        }
        (0..ahead - 3).any(|at| is_same(at) && self.is_at(at + 1, "<"))
    }

    /// `operator float`, also qualified.
    fn is_conversion(&self) -> bool {
        if self.is_word("operator") {
            return true;
        }
        let mut ahead = 0;
        while self.word_at(ahead).is_some() && self.is_at(ahead + 1, "::") {
            ahead += 2;
        }
        ahead > 0 && self.word_at(ahead) == Some("operator") && self.is_class_before(ahead)
    }

    fn is_class_before(&self, ahead: usize) -> bool {
        let word = self.word_at(ahead.wrapping_sub(2)).unwrap_or_default();
        self.scopes.lookup(word).meaning != Meaning::Value
    }
}
