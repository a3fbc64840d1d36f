//! Declarations at file and namespace scope (\[basic.link\], \[namespace.def\]), and skipping of host code.

use super::ast::{Clause, ClauseKind, Declaration, DeclarationKind, Name, TypeKind, TypeSyntax};
use super::parser::Parser;
use super::pending::Pending;
use super::scopes::Meaning;
use crate::Result;
use crate::token::{Token, TokenKind};
use base::Severity;

impl Parser<'_> {
    pub(super) fn declarations_until_end(&mut self) -> Result<Vec<Declaration>> {
        let mut out = Vec::new();
        while !self.is_end() {
            self.item(&mut out)?;
        }
        Ok(out)
    }

    fn item(&mut self, out: &mut Vec<Declaration>) -> Result<()> {
        self.reset_limits();
        if let TokenKind::Pragma(words) = self.kind() {
            self.pragma(words)?;
            self.advance();
            return Ok(());
        }
        if self.take(";") {
            return Ok(());
        }
        let pending = self.pending_clauses(out)?;
        if self.is_end() || self.is("}") {
            pending.refuse()?;
            if self.is("}") {
                return Err(self.error("unexpected `}`"));
            }
            return Ok(());
        }
        match self.word() {
            Some("namespace") => {
                pending.refuse()?;
                self.namespace(out)
            }
            Some("inline") if self.word_at(1) == Some("namespace") => {
                pending.refuse()?;
                self.advance();
                self.namespace(out)
            }
            Some("extern")
                if matches!(self.kind_at(1), TokenKind::Text(_)) && self.is_at(2, "{") =>
            {
                pending.refuse()?;
                self.advance();
                self.advance();
                self.advance();
                self.items_in_braces(out)
            }
            Some("__axiom")
                if self.is_at(1, "(")
                    && self.scopes.lookup("__axiom").meaning == Meaning::Undeclared =>
            {
                pending.refuse()?;
                self.axiom(out)
            }
            Some("extern") if self.word_at(1) == Some("template") => {
                self.skip_declaration();
                Ok(())
            }
            _ => self.declaration_or_skip(out, pending),
        }
    }

    /// GPUVerify's `__axiom(P);`, an assumption.
    fn axiom(&mut self, out: &mut Vec<Declaration>) -> Result<()> {
        let start = self.span();
        self.advance();
        self.expect("(")?;
        let condition = self.assignment()?;
        self.expect(")")?;
        self.take(";");
        let span = self.since(start);
        let clause = Clause { kind: ClauseKind::Assume(condition), span };
        out.push(Declaration { kind: DeclarationKind::Clauses(vec![clause]), span });
        Ok(())
    }

    fn items_in_braces(&mut self, out: &mut Vec<Declaration>) -> Result<()> {
        self.nested(|parser| {
            while !parser.take("}") {
                if parser.is_end() {
                    return Err(parser.error("expected `}`"));
                }
                parser.item(out)?;
            }
            Ok(())
        })
    }

    /// `namespace a::b { … }`, `namespace a = b;`
    fn namespace(&mut self, out: &mut Vec<Declaration>) -> Result<()> {
        let start = self.span();
        let is_inline = self.at > 0
            && matches!(self.tokens.get(self.at - 1), Some(Token { kind: TokenKind::Word(word), .. }) if &**word == "inline");
        self.advance();
        self.skip_attributes()?;
        if self.word().is_some() && self.is_at(1, "=") {
            return self.namespace_alias(start, out);
        }
        let mut names = Vec::new();
        while self.word().is_some() {
            names.push(self.name()?);
            if !self.take("::") {
                break;
            }
        }
        let is_transparent = is_inline || names.is_empty();
        if names.is_empty() {
            names.push(self.no_name());
        }
        self.expect("{")?;
        let mark = self.mark();
        for name in &names {
            let outer = self.scopes.current();
            let scope = self.scopes.namespace(&name.text);
            if is_transparent {
                self.scopes.use_in(outer, scope);
            }
            self.scopes.reopen(scope);
        }
        let mut inner = Vec::new();
        let result = self.items_in_braces(&mut inner);
        while self.scopes.mark().is_deeper_than(&mark.scopes) {
            self.scopes.close();
        }
        result?;
        let span = self.since(start);
        let nested = names.into_iter().rev().fold(inner, |declarations, name| {
            let kind = DeclarationKind::Namespace { name, is_transparent, declarations };
            vec![Declaration { kind, span }]
        });
        out.extend(nested);
        Ok(())
    }

    /// `namespace a = b;` is stored as an alias, like one of a type.
    fn namespace_alias(&mut self, start: base::Span, out: &mut Vec<Declaration>) -> Result<()> {
        let name = self.name()?;
        self.expect("=")?;
        let from = self.span();
        let (target, entry) = self.qualified_name()?;
        self.expect(";")?;
        self.declare(&name.text, Meaning::Namespace, entry.scope);
        let kind = TypeKind::Named(target);
        let ty = TypeSyntax { kind, is_const: false, is_volatile: false, span: self.since(from) };
        let kind = DeclarationKind::Alias { name, template: None, ty };
        out.push(Declaration { kind, span: self.since(start) });
        Ok(())
    }

    /// A declaration; unsupported ones of the host are skipped.
    fn declaration_or_skip(&mut self, out: &mut Vec<Declaration>, pending: Pending) -> Result<()> {
        let from = self.at;
        let span = self.span();
        let mark = self.mark();
        let has_clauses = pending.has_clauses();
        let found = match self.one_declaration(pending) {
            Ok(made) => {
                let takes = |declaration: &Declaration| matches!(&declaration.kind, DeclarationKind::Function(declaration) if !declaration.clauses.is_empty());
                let is_function = |declaration: &Declaration| {
                    matches!(declaration.kind, DeclarationKind::Function(_))
                };
                let is_dropped = has_clauses && !made.iter().any(takes);
                if is_dropped && !made.iter().any(is_function) {
                    return Err(crate::error(
                        span,
                        "the clauses before this belong to no function",
                    ));
                }
                out.extend(made);
                return Ok(());
            }
            Err(found) => found,
        };
        self.outer = None;
        self.classes.clear();
        self.late_body = None;
        self.is_annotation = false;
        self.is_in_angles = false;
        self.reset(&mark);
        self.reset_limits();
        let names = self.skipped_names(from);
        let is_for_device = self.is_for_device(from);
        if is_for_device && found.severity != Severity::Unsupported || has_clauses && !is_for_device
        {
            return Err(found);
        }
        let kind = match is_for_device.then(|| self.unread_function(from, self.at)).flatten() {
            // A kernel is identified by its name; other functions may be overloaded.
            Some(mut function) if function.specifiers.is_global && self.is_function(from) => {
                function.unread = Some((found.primary.span, found.message.to_string()));
                DeclarationKind::Function(Box::new(function))
            }
            _ => {
                let why = if is_for_device { "C++ that is not supported" } else { "host code" };
                let is_host_function = !is_for_device && self.is_function(from);
                DeclarationKind::Skipped { names, why, is_host_function }
            }
        };
        out.push(Declaration { kind, span: self.since(span) });
        Ok(())
    }

    fn one_declaration(&mut self, pending: Pending) -> Result<Vec<Declaration>> {
        match self.word() {
            Some("using") => {
                pending.refuse()?;
                self.using().map(|one| vec![one])
            }
            Some("static_assert") => {
                pending.refuse()?;
                self.static_assert().map(|one| vec![one])
            }
            Some("template") => self.template_declaration(pending),
            Some("asm" | "__asm__") => Err(self.unsupported(self.span(), "`asm` is not supported")),
            _ => self.declaration(None, pending),
        }
    }

    /// Returns `true` if the text skipped since `from` is for the device.
    fn is_for_device(&self, from: usize) -> bool {
        let words = self.tokens.get(from..self.at).unwrap_or_default().iter();
        words.filter_map(word).any(|word| {
            matches!(
                word,
                "__global__" | "__device__" | "__constant__" | "__shared__" | "__managed__"
            )
        })
    }

    /// Returns `true` if the text skipped since `from` is a function that is not `constexpr`: a name or operator
    /// stands before its first parenthesis, and nothing before that says otherwise.
    pub(super) fn is_function(&self, from: usize) -> bool {
        let tokens = self.tokens.get(from..self.at).unwrap_or_default();
        let mut last: Option<&Token> = None;
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match &token.kind {
                TokenKind::Word(word)
                    if matches!(
                        &**word,
                        "struct" | "class" | "union" | "enum" | "constexpr" | "typedef" | "using"
                    ) =>
                {
                    return false;
                }
                TokenKind::Word(word) if &**word == "operator" => return true,
                TokenKind::Punct("<") => {
                    at = past_angles(tokens, at);
                    continue;
                }
                TokenKind::Punct("(") => {
                    let name = last.and_then(word);
                    return name.is_some_and(|one| !super::builtin::is_keyword(one));
                }
                TokenKind::Punct("=" | "{" | ";" | "[") => return false,
                _ => {}
            }
            last = Some(token);
            at += 1;
        }
        false
    }

    /// Skips a declaration and returns the names it may declare. These are unknown words, which are declared now, and
    /// known words that stand where a declared name stands.
    pub(super) fn skipped_names(&mut self, from: usize) -> Vec<Name> {
        self.skip_declaration();
        let tokens = self.tokens.get(from..self.at).unwrap_or_default();
        let is_type = tokens.iter().take(16).filter_map(word).any(|word| {
            matches!(word, "struct" | "class" | "union" | "enum" | "typedef" | "using")
        });
        let mut names: Vec<Name> = Vec::new();
        let mut depth = 0usize;
        for token in tokens {
            match &token.kind {
                TokenKind::Punct("(" | "[" | "{") => depth += 1,
                TokenKind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
                TokenKind::Word(word) if depth == 0 => {
                    let is_known = super::builtin::is_keyword(word)
                        || self.scopes.lookup(word).meaning != Meaning::Undeclared
                        || names.iter().any(|name| name.text == *word);
                    if !is_known {
                        names.push(Name { text: word.clone(), span: token.span });
                    }
                }
                _ => {}
            }
        }
        let again = names_by_position(tokens);
        for name in &names {
            let meaning = if is_type { Meaning::Type } else { Meaning::Value };
            self.declare(&name.text, meaning, None);
        }
        for name in again {
            if !names.iter().any(|one| one.text == name.text) {
                names.push(name);
            }
        }
        names
    }

    /// Skips one declaration: to its `;`, or over its braces.
    pub(super) fn skip_declaration(&mut self) {
        let start = self.at;
        let mut is_initialised = false;
        while !self.is_end() {
            match self.kind() {
                TokenKind::Punct(";") => {
                    self.advance();
                    return;
                }
                TokenKind::Punct("}") if self.at > start => return,
                TokenKind::Punct("=") => {
                    is_initialised = true;
                    self.advance();
                }
                TokenKind::Punct("{") => {
                    self.skip_brackets();
                    if !is_initialised {
                        self.take(";");
                        return;
                    }
                }
                TokenKind::Punct("(" | "[") => self.skip_brackets(),
                _ => self.advance(),
            }
        }
    }

    /// A pragma that was passed on: `pack` is recorded, others are refused.
    fn pragma(&mut self, words: &[Token]) -> Result<()> {
        let has = |wanted: &str| words.iter().filter_map(word).any(|word| word == wanted);
        if has("pack") {
            // `pack()` and `pack(pop)` end it.
            let sets = words.iter().any(|token| matches!(token.kind, TokenKind::Int { .. }));
            self.is_packed = sets;
            return Ok(());
        }
        let first = words.iter().find_map(word).unwrap_or_default();
        let message = format!("`#pragma {first}` is not known");
        Err(self.unsupported(self.span(), message))
    }
}

fn word(token: &Token) -> Option<&str> {
    match &token.kind {
        TokenKind::Word(word) => Some(word),
        _ => None,
    }
}

/// The names in a skipped declaration that stand where a declared name stands: before parameters, an initialiser, a
/// body or the end. The template of a specialisation is one of them.
fn names_by_position(tokens: &[Token]) -> Vec<Name> {
    let mut names = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match &token.kind {
            TokenKind::Punct("(" | "[" | "{") => depth += 1,
            TokenKind::Punct(")" | "]" | "}") => depth = depth.saturating_sub(1),
            TokenKind::Punct("<") if depth == 0 => at = past_angles(tokens, at - 1),
            TokenKind::Word(text) if depth == 0 && &**text == "operator" => {
                let signs = tokens.iter().skip(at).map_while(|token| match token.kind {
                    TokenKind::Punct("(") => None,
                    TokenKind::Punct(sign) => Some(sign),
                    _ => None,
                });
                let sign: String = signs.collect();
                let sign = if sign.is_empty() { "()" } else { &sign };
                let text = format!("operator{sign}").into();
                names.push(Name { text, span: token.span });
            }
            TokenKind::Word(text) if depth == 0 && !super::builtin::is_keyword(text) => {
                let is_special =
                    tokens.get(at).is_some_and(|next| next.kind == TokenKind::Punct("<"));
                let next = if is_special { past_angles(tokens, at) } else { at };
                let ends = tokens.get(next).is_none_or(|next| {
                    matches!(next.kind, TokenKind::Punct("(" | "=" | ";" | "," | "[" | "{" | ":"))
                        || is_special && next.kind == TokenKind::Punct("::")
                });
                if ends {
                    names.push(Name { text: text.clone(), span: token.span });
                }
            }
            _ => {}
        }
    }
    names
}

/// The position after the angle brackets that open at `at`.
fn past_angles(tokens: &[Token], at: usize) -> usize {
    let (mut open, mut inner) = (0usize, 0usize);
    for (number, token) in tokens.iter().enumerate().skip(at) {
        match token.kind {
            TokenKind::Punct("(" | "[" | "{") => inner += 1,
            TokenKind::Punct(")" | "]" | "}") => inner = inner.saturating_sub(1),
            TokenKind::Punct("<") if inner == 0 => open += 1,
            TokenKind::Punct(">") if inner == 0 => open = open.saturating_sub(1),
            TokenKind::Punct(">>") if inner == 0 => open = open.saturating_sub(2),
            TokenKind::Punct(";") => return number,
            _ => {}
        }
        if open == 0 {
            return number + 1;
        }
    }
    tokens.len()
}
