//! Recursive descent over tokens: files, functions and declarations (ISO C++17 [gram], with CUDA's
//! qualifiers). Types are in `types.rs`, statements in `statements.rs`, expressions in `expressions.rs`,
//! annotations in `clauses.rs`.
//!
//! Host code is skipped; a function that a kernel calls must be a `__device__` function of the file. The
//! first error ends the reading.

use super::ast::{
    Clause, ClauseKind, Declaration, Declarator, Function, Scalar, Struct, TypeName, Unit,
};
use super::token::{Kind, Result, Token};
use base::{Code, Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Statements and expressions nested deeper than this are refused before the stack ends.
const MAX_DEPTH: usize = 128;

pub(super) struct Parser {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    /// Names of types that the file declares.
    pub(super) aliases: BTreeMap<String, Scalar>,
    pub(super) structs: Vec<Struct>,
    /// Names of types that are variables here.
    pub(super) shadowed: BTreeSet<String>,
    /// Functions that are templates.
    pub(super) templates: BTreeSet<String>,
    depth: usize,
    /// Inside an annotation, where comparisons chain and `==>` is an operator.
    pub(super) annotated: bool,
}

/// Reads annotations that stand alone.
pub(super) fn clauses(tokens: Vec<Token>) -> Result<Vec<Clause>> {
    let mut parser = Parser::new(tokens);
    let clauses = parser.clauses_if_any()?;
    match parser.is_end() {
        true => Ok(clauses),
        false => Err(parser.error("expected the end of the condition")),
    }
}

/// Reads a file from its tokens.
pub(super) fn parse(tokens: Vec<Token>, symbolic: Vec<String>) -> Result<Unit> {
    let mut parser = Parser::new(tokens);
    let mut unit = Unit { symbolic, ..Unit::default() };
    while !parser.is_end() {
        parser.item(&mut unit)?;
    }
    unit.structs = parser.structs;
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

/// Takes out what stands for itself and belongs to the file: predicates, lemmas, monoids.
fn definitions(clauses: &mut Vec<Clause>, unit: &mut Unit) {
    clauses.retain(|clause| {
        match &clause.kind {
            ClauseKind::Predicate(one) => unit.predicates.push((**one).clone()),
            ClauseKind::Lemma(one) => unit.lemmas.push((**one).clone()),
            ClauseKind::Monoid(one) => unit.monoids.push((**one).clone()),
            _ => return true,
        }
        false
    });
}

/// Parameters of a template.
#[derive(Default)]
struct Template {
    sizes: Vec<Declarator>,
    types: Vec<String>,
    order: Vec<String>,
}

/// What stands before a declaration.
#[derive(Clone, Copy, Default)]
pub(super) struct Qualifiers {
    global: bool,
    device: bool,
    shared: bool,
    external: bool,
    constant: bool,
}

impl Parser {
    fn new(tokens: Vec<Token>) -> Self {
        Self {
            tokens: joined(tokens),
            at: 0,
            aliases: BTreeMap::new(),
            structs: Vec::new(),
            shadowed: BTreeSet::new(),
            templates: BTreeSet::new(),
            depth: 0,
            annotated: false,
        }
    }

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

    pub(super) fn is_end(&self) -> bool {
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
        let mut clauses = self.clauses_if_any()?;
        definitions(&mut clauses, unit);
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
        if self.is_word("struct") && self.record() {
            return self.no_clauses(&clauses);
        }
        let start = self.at;
        let before = (self.aliases.clone(), std::mem::take(&mut self.shadowed));
        let template = self.template()?;
        let qualifiers = self.qualifiers();
        if qualifiers.global || qualifiers.device {
            let result = self.device_item(unit, qualifiers, clauses, template);
            (self.aliases, self.shadowed) = before;
            return result;
        }
        (self.aliases, self.shadowed) = before;
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

    /// `template <typename T, int N>`: integers become symbolic sizes, types are read as floats.
    fn template(&mut self) -> Result<Template> {
        let mut found = Template::default();
        if !self.take_word("template") {
            return Ok(found);
        }
        self.expect("<")?;
        while !self.take(">") {
            let span = self.span();
            if self.take_word("typename") || self.take_word("class") {
                let name = self.name()?;
                self.aliases.insert(name.clone(), Scalar::Float { bits: 32 });
                found.order.push(name.clone());
                found.types.push(name);
            } else if self.is_type() {
                let ty = self.type_name()?;
                let name = self.name()?;
                if !matches!(ty.scalar, Scalar::Int { .. } | Scalar::Bool) || ty.pointers > 0 {
                    return Err(
                        self.unsupported(span, "only integers and types are supported here")
                    );
                }
                found.order.push(name.clone());
                found.sizes.push(Declarator { name, span, ty, dimensions: vec![], init: None });
            } else {
                let message = "this kind of template is not supported; use an instance";
                return Err(self.unsupported(span, message));
            }
            if self.take("=") {
                // What stands here if nothing is given; every value is looked at anyway.
                while !self.is(",") && !self.is(">") && !self.is_end() {
                    self.at += 1;
                }
            }
            if !self.take(",") && !self.is(">") {
                return Err(self.error("expected `,` or `>`"));
            }
        }
        Ok(found)
    }

    pub(super) fn qualifiers(&mut self) -> Qualifiers {
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
        template: Template,
    ) -> Result<()> {
        let start = self.span();
        let begin = self.at;
        let returns = self.type_name()?;
        let more = self.qualifiers();
        qualifiers.global |= more.global;
        let span = self.span();
        let name = self.name()?;
        if !template.sizes.is_empty() || !template.types.is_empty() {
            self.templates.insert(name.clone());
        }
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
            template: template.sizes,
            types: template.types,
            template_order: template.order,
            clauses,
            body,
        });
        Ok(())
    }

    pub(super) fn parameters(&mut self) -> Result<Vec<Declarator>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        if self.is_word("void") && *self.kind_at(1) == Kind::Punct(")") {
            self.at += 1;
        }
        while !self.take(")") {
            let span = self.span();
            let mut ty = self.type_name()?;
            ty.reference = self.take("&");
            let name = self.declared()?;
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

    /// A name that is declared here; if it is that of a type, it is not one any more.
    fn declared(&mut self) -> Result<String> {
        let name = self.name()?;
        if self.is_type_word(&name) {
            self.shadowed.insert(name.clone());
        }
        Ok(name)
    }

    /// A declaration of variables, with its `;`.
    pub(super) fn declaration(&mut self, qualifiers: Qualifiers) -> Result<Declaration> {
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
        let mut ty = ty;
        ty.reference = self.take("&");
        if self.is("(") || self.is("&") {
            return Err(self.unsupported(span, "pointers to functions or arrays are not supported"));
        }
        let name = self.declared()?;
        let mut dimensions = Vec::new();
        while self.take("[") {
            let size = if self.is("]") { None } else { Some(self.expression()?) };
            self.expect("]")?;
            dimensions.push(size);
        }
        let init = if self.take("=") || self.is("{") {
            Some(if self.is("{") { self.braces()? } else { self.assignment()? })
        } else if self.take("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            Some(inner)
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
        self.declaration(qualifiers).map(Some)
    }

    /// Passes over one item of host code: to its `;` or over its braces.
    pub(super) fn skip_host(&mut self) {
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
