//! Recursive descent over tokens: files, functions, declarations and types (ISO C++17 [gram], with
//! CUDA's qualifiers). Statements are in `statements.rs`, expressions in `expressions.rs`, annotations in
//! `clauses.rs`.
//!
//! Host code is skipped; a function that a kernel calls must be a `__device__` function of the file. The
//! first error ends the reading.

use super::ast::{Clause, ClauseKind, Declaration, Declarator, Function, Scalar, TypeName, Unit};
use super::token::{Kind, Result, Token};
use super::types::{integer_type, is_type_word, named_type};
use base::{Code, Diagnostic, Span};
use std::collections::BTreeMap;

/// Statements and expressions nested deeper than this are refused before the stack ends.
const MAX_DEPTH: usize = 128;

pub(super) struct Parser {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    /// Names of types that the file declares.
    aliases: BTreeMap<String, Scalar>,
    depth: usize,
    /// Inside an annotation, where comparisons chain and `==>` is an operator.
    pub(super) annotated: bool,
}

/// Reads a file from its tokens.
pub(super) fn parse(tokens: Vec<Token>, symbolic: Vec<String>) -> Result<Unit> {
    let aliases = BTreeMap::new();
    let mut parser = Parser { tokens: joined(tokens), at: 0, aliases, depth: 0, annotated: false };
    let mut unit = Unit { symbolic, ..Unit::default() };
    while !parser.is_end() {
        parser.item(&mut unit)?;
    }
    Ok(unit)
}

/// Annotations that follow each other directly are one, so that a clause may span `//@` lines.
fn joined(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let ended = out.last().is_some_and(|last| last.kind == Kind::AnnotationEnd);
        if token.kind == Kind::AnnotationStart && ended {
            out.pop();
        } else {
            out.push(token);
        }
    }
    out
}

/// What stands before a declaration.
#[derive(Clone, Copy, Default)]
struct Qualifiers {
    global: bool,
    device: bool,
    shared: bool,
    external: bool,
    constant: bool,
}

impl Parser {
    pub(super) fn kind(&self) -> &Kind {
        self.tokens.get(self.at).map_or(&Kind::End, |token| &token.kind)
    }

    pub(super) fn kind_at(&self, ahead: usize) -> &Kind {
        self.tokens.get(self.at + ahead).map_or(&Kind::End, |token| &token.kind)
    }

    pub(super) fn span(&self) -> Span {
        let last = self.tokens.last().map_or(Span::default(), |token| token.span);
        self.tokens.get(self.at).map_or(last, |token| token.span)
    }

    /// The span from `start` to the last token taken.
    pub(super) fn since(&self, start: Span) -> Span {
        let last = self.tokens.get(self.at.saturating_sub(1)).map_or(start, |token| token.span);
        if last.end < start.start { start } else { start.to(last) }
    }

    fn is_end(&self) -> bool {
        *self.kind() == Kind::End
    }

    pub(super) fn is(&self, punct: &str) -> bool {
        matches!(self.kind(), Kind::Punct(found) if *found == punct)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), Kind::Word(found) if found == word)
    }

    pub(super) fn take(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, punct: &str) -> Result<()> {
        if self.take(punct) {
            return Ok(());
        }
        Err(self.error(&format!("expected `{punct}`")))
    }

    pub(super) fn name(&mut self) -> Result<String> {
        match self.kind().clone() {
            Kind::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.error("expected a name")),
        }
    }

    pub(super) fn error(&self, message: &str) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(Code::Syntax, self.span(), message))
    }

    pub(super) fn unsupported(&self, span: Span, message: &str) -> Box<Diagnostic> {
        Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message))
    }

    /// Runs `inner` one level deeper.
    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth > MAX_DEPTH {
            return Err(Box::new(Diagnostic::error(Code::Limit, self.span(), "nested too deeply")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn item(&mut self, unit: &mut Unit) -> Result<()> {
        let clauses = self.clauses_if_any()?;
        if self.take(";") || self.is_end() {
            return self.no_clauses(&clauses);
        }
        if self.is_word("extern") && matches!(self.kind_at(1), Kind::Text(_)) {
            self.at += 2;
            if self.take("{") {
                while !self.take("}") {
                    if self.is_end() {
                        return Err(self.error("expected `}`"));
                    }
                    self.nested(|inner| inner.item(unit))?;
                }
                return self.no_clauses(&clauses);
            }
        }
        if self.is_word("typedef") || self.is_word("using") {
            return self.alias();
        }
        let start = self.at;
        let template = self.template()?;
        let qualifiers = self.qualifiers();
        if qualifiers.global || qualifiers.device {
            return self.device_item(unit, qualifiers, clauses, template);
        }
        let is_constant = qualifiers.constant && self.is_type();
        if is_constant && let Ok(declaration) = self.declaration(qualifiers) {
            unit.globals.push(declaration);
            return self.no_clauses(&clauses);
        }
        self.at = start;
        self.no_clauses(&clauses)?;
        self.skip_host();
        Ok(())
    }

    /// Clauses must belong to something, apart from `symbolic`, which stands for itself.
    fn no_clauses(&self, clauses: &[Clause]) -> Result<()> {
        let lost = clauses.iter().find(|clause| !matches!(clause.kind, ClauseKind::Symbolic));
        lost.map_or(Ok(()), |clause| {
            let message = "this annotation stands before no kernel or `__device__` function";
            Err(Box::new(Diagnostic::error(Code::Syntax, clause.span, message)))
        })
    }

    fn alias(&mut self) -> Result<()> {
        let start = self.at;
        let named = if self.take_word("using") {
            let name = self.name()?;
            self.take("=");
            self.is_type().then(|| self.scalar()).transpose()?.map(|scalar| (name, scalar))
        } else {
            self.at += 1;
            let scalar = self.is_type().then(|| self.scalar()).transpose()?;
            scalar.and_then(|scalar| self.name().ok().map(|name| (name, scalar)))
        };
        match named {
            Some((name, scalar)) if self.take(";") => {
                self.aliases.insert(name, scalar);
            }
            // Not a name for a scalar: whoever uses it will be told.
            _ => {
                self.at = start;
                self.skip_host();
            }
        }
        Ok(())
    }

    /// `template <int N, unsigned M>`: integers become symbolic sizes.
    fn template(&mut self) -> Result<Vec<Declarator>> {
        let mut parameters = Vec::new();
        if !self.take_word("template") {
            return Ok(parameters);
        }
        self.expect("<")?;
        while !self.take(">") {
            let span = self.span();
            if !self.is_type() {
                let message = "templates over types are not supported; use an instance";
                return Err(self.unsupported(span, message));
            }
            let ty = self.type_name()?;
            let name = self.name()?;
            if !matches!(ty.scalar, Scalar::Int { .. }) || ty.pointers > 0 {
                return Err(self.unsupported(span, "only integers are supported here"));
            }
            parameters.push(Declarator { name, span, ty, dimensions: vec![], init: None });
            if !self.take(",") && !self.is(">") {
                return Err(self.error("expected `,` or `>`"));
            }
        }
        Ok(parameters)
    }

    fn qualifiers(&mut self) -> Qualifiers {
        let mut found = Qualifiers::default();
        while let Kind::Word(word) = self.kind() {
            match word.as_str() {
                "__global__" => found.global = true,
                "__device__" => found.device = true,
                "__shared__" => found.shared = true,
                "extern" => found.external = true,
                "const" | "constexpr" | "__constant__" => found.constant = true,
                "static" | "inline" | "__forceinline__" | "__noinline__" | "__host__"
                | "__inline__" | "volatile" | "register" => {}
                "__launch_bounds__" if *self.kind_at(1) == Kind::Punct("(") => {
                    while !self.is(")") && !self.is_end() {
                        self.at += 1;
                    }
                }
                "__align__" | "alignas" if *self.kind_at(1) == Kind::Punct("(") => self.at += 3,
                _ => break,
            }
            self.at += 1;
        }
        found
    }

    /// A function for the device, or a global variable of it.
    fn device_item(
        &mut self,
        unit: &mut Unit,
        mut qualifiers: Qualifiers,
        clauses: Vec<Clause>,
        template: Vec<Declarator>,
    ) -> Result<()> {
        let start = self.span();
        let begin = self.at;
        let returns = self.type_name()?;
        let more = self.qualifiers();
        qualifiers.global |= more.global;
        let span = self.span();
        let name = self.name()?;
        if !self.is("(") {
            self.at = begin;
            unit.globals.push(self.declaration(qualifiers)?);
            return self.no_clauses(&clauses);
        }
        let parameters = self.parameters()?;
        if self.take(";") {
            return Ok(());
        }
        if !self.is("{") {
            return Err(self.unsupported(start, "this kind of function is not supported"));
        }
        let body = self.block()?;
        let is_kernel = qualifiers.global;
        unit.functions.push(Function {
            name,
            span,
            is_kernel,
            returns,
            parameters,
            template,
            clauses,
            body,
        });
        Ok(())
    }

    fn parameters(&mut self) -> Result<Vec<Declarator>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.is_word("void") && *self.kind_at(1) == Kind::Punct(")") {
            self.at += 1;
        }
        while !self.take(")") {
            let span = self.span();
            let mut ty = self.type_name()?;
            if self.is("&") {
                return Err(self.unsupported(span, "references are not supported"));
            }
            let name = self.name()?;
            if self.take("[") {
                while !self.take("]") {
                    if self.is_end() {
                        return Err(self.error("expected `]`"));
                    }
                    self.at += 1;
                }
                ty.pointers += 1;
                if self.is("[") {
                    let message = "parameters that are arrays of arrays are not supported";
                    return Err(self.unsupported(span, message));
                }
            }
            let span = self.since(span);
            parameters.push(Declarator { name, span, ty, dimensions: vec![], init: None });
            if !self.take(",") && !self.is(")") {
                return Err(self.error("expected `,` or `)`"));
            }
        }
        Ok(parameters)
    }

    /// A declaration of variables, with its `;`.
    fn declaration(&mut self, qualifiers: Qualifiers) -> Result<Declaration> {
        let (shared, external) = (qualifiers.shared, qualifiers.external);
        let mut base = self.type_name()?;
        base.constant |= qualifiers.constant;
        let first_pointers = base.pointers;
        let mut declarators = Vec::new();
        loop {
            let mut ty = base;
            if !declarators.is_empty() {
                // A star belongs to its own name: `int *a, b`.
                ty.pointers = 0;
                self.stars(&mut ty);
            } else {
                ty.pointers = first_pointers;
            }
            declarators.push(self.declarator(ty)?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(Declaration { shared, external, declarators })
    }

    fn declarator(&mut self, ty: TypeName) -> Result<Declarator> {
        let span = self.span();
        if self.is("&") || self.is("(") {
            return Err(
                self.unsupported(span, "references and function pointers are not supported")
            );
        }
        let name = self.name()?;
        let mut dimensions = Vec::new();
        while self.take("[") {
            let size = if self.is("]") { None } else { Some(self.expression()?) };
            self.expect("]")?;
            dimensions.push(size);
        }
        if self.is("{") || self.is("(") {
            return Err(self.unsupported(span, "this kind of initialiser is not supported"));
        }
        let init = if self.take("=") {
            if self.is("{") {
                let message = "initialisers in braces are not supported";
                return Err(self.unsupported(self.span(), message));
            }
            Some(self.assignment()?)
        } else {
            None
        };
        Ok(Declarator { name, span: self.since(span), ty, dimensions, init })
    }

    /// Whether a declaration begins here.
    pub(super) fn is_declaration(&mut self) -> bool {
        let start = self.at;
        self.qualifiers();
        let begins = self.at > start || self.is_type();
        self.at = start;
        begins
    }

    /// A declaration statement, if one begins here.
    pub(super) fn local_declaration(&mut self) -> Result<Option<Declaration>> {
        let start = self.at;
        let qualifiers = self.qualifiers();
        if self.at == start && !self.is_type() {
            return Ok(None);
        }
        if self.is_word("auto") {
            return Err(self.unsupported(self.span(), "`auto` is not supported"));
        }
        self.declaration(qualifiers).map(Some)
    }

    /// Whether a type begins here.
    pub(super) fn is_type(&self) -> bool {
        match self.kind() {
            Kind::Word(word) => {
                is_type_word(word) || named_type(word).is_some() || self.aliases.contains_key(word)
            }
            _ => false,
        }
    }

    /// A type with its pointers, as in casts and parameters.
    pub(super) fn type_name(&mut self) -> Result<TypeName> {
        let mut constant = false;
        while self.is_word("const") || self.is_word("volatile") {
            constant |= self.is_word("const");
            self.at += 1;
        }
        let scalar = self.scalar()?;
        while self.is_word("const") || self.is_word("volatile") {
            constant |= self.is_word("const");
            self.at += 1;
        }
        let mut ty = TypeName { scalar, pointers: 0, constant };
        self.stars(&mut ty);
        Ok(ty)
    }

    fn stars(&mut self, ty: &mut TypeName) {
        while self.take("*") {
            ty.pointers = ty.pointers.saturating_add(1);
            while matches!(self.kind(), Kind::Word(word)
                if matches!(word.as_str(), "const" | "__restrict__" | "__restrict" | "restrict" | "volatile"))
            {
                self.at += 1;
            }
        }
    }

    fn scalar(&mut self) -> Result<Scalar> {
        let span = self.span();
        let Kind::Word(word) = self.kind().clone() else {
            return Err(self.error("expected a type"));
        };
        if let Some(scalar) = named_type(&word).or_else(|| self.aliases.get(&word).copied()) {
            self.at += 1;
            return Ok(scalar);
        }
        let mut words = Vec::new();
        while let Kind::Word(word) = self.kind().clone() {
            if word == "const" && !words.is_empty() {
                break;
            }
            if !is_type_word(&word) {
                break;
            }
            words.push(word);
            self.at += 1;
        }
        integer_type(&words).ok_or_else(|| {
            let message = format!("the type `{word}` is not supported");
            self.unsupported(span, &message)
        })
    }

    /// Passes over one item of host code: to its `;` or over its braces.
    fn skip_host(&mut self) {
        let mut depth = 0usize;
        while !self.is_end() {
            let closes = self.is("}");
            let opens = self.is("{");
            let ends = self.is(";") && depth == 0;
            self.at += 1;
            depth = if opens { depth + 1 } else { depth.saturating_sub(usize::from(closes)) };
            if ends || closes && depth == 0 {
                return;
            }
        }
    }
}
