//! Declarations of variables, functions, types and other names for them (\[dcl.dcl\]).

use super::ast::{
    Declaration, DeclarationKind, Declarator, Expr, ExprKind, Initialiser, Name, QualifiedName,
    TemplateParameters, TypeKind, TypeSyntax, Variables,
};
use super::declarators::{Declared, Position, single};
use super::parser::Parser;
use super::pending::Pending;
use super::scopes::{Entry, Meaning, ScopeId};
use super::specifiers::Leading;
use crate::Result;
use base::Span;

impl Parser<'_> {
    /// The scope that a declared name belongs to.
    pub(super) fn declaring_scope(&self) -> ScopeId {
        self.outer.unwrap_or_else(|| self.scopes.current())
    }

    pub(super) fn declare(&mut self, name: &str, meaning: Meaning, scope: Option<ScopeId>) {
        let target = self.declaring_scope();
        self.scopes.declare_in(target, name, Entry { meaning, scope });
    }

    /// A declaration of functions or variables, or of a type, with its `;`.
    pub(super) fn declaration(
        &mut self,
        template: Option<TemplateParameters>,
        pending: Pending,
    ) -> Result<Vec<Declaration>> {
        if template.is_some() && matches!(self.word(), Some("struct" | "class" | "union")) {
            return self.class_template(template);
        }
        let mut leading = self.leading()?;
        let start = leading.start;
        let mut out = Vec::new();
        if self.is(";") && !leading.is_typedef {
            self.advance();
            return Ok(self.type_only_declaration(leading, start));
        }
        self.hoist(&mut leading, &mut out)?;
        if leading.is_typedef {
            self.typedefs(leading, &mut out)?;
            return Ok(out);
        }
        let declared = self.first_declarator(&mut leading, Position::Named)?;
        if matches!(declared.ty.kind, TypeKind::Function(..)) {
            out.push(self.function(leading, declared, template, pending)?);
            return Ok(out);
        }
        out.push(self.variables(leading, declared, template, Position::Named)?);
        Ok(out)
    }

    /// A declaration in a block, with its `;`.
    pub(super) fn local_declaration(&mut self) -> Result<Vec<Declaration>> {
        let mut leading = self.leading()?;
        let start = leading.start;
        let mut out = Vec::new();
        if self.is(";") && !leading.is_typedef {
            self.advance();
            return Ok(self.type_only_declaration(leading, start));
        }
        self.hoist(&mut leading, &mut out)?;
        if leading.is_typedef {
            self.typedefs(leading, &mut out)?;
            return Ok(out);
        }
        if self.is("[") {
            return Err(self.unsupported(start, "structured bindings are not supported"));
        }
        let declared = self.first_declarator(&mut leading, Position::Local)?;
        if matches!(declared.ty.kind, TypeKind::Function(..)) {
            return Err(self.unsupported(
                start,
                "this declares a function, and such declarations in blocks are not supported",
            ));
        }
        out.push(self.variables(leading, declared, None, Position::Local)?);
        Ok(out)
    }

    fn first_declarator(&mut self, leading: &mut Leading, position: Position) -> Result<Declared> {
        match leading.ty.clone() {
            Some(base) => self.declarator(base, position),
            None => self.special_declarator(leading),
        }
    }

    /// A declaration of only a type, such as `struct S { … };`.
    fn type_only_declaration(&mut self, leading: Leading, start: Span) -> Vec<Declaration> {
        match leading.ty.map(|ty| ty.kind) {
            Some(TypeKind::Defined(mut defined)) => {
                if let DeclarationKind::Record(record) = &mut defined.kind {
                    let outer = leading.specifiers;
                    record.specifiers.is_packed |= outer.is_packed;
                    let inner = record.specifiers.align.take();
                    record.specifiers.align = inner.or(outer.align);
                    record.specifiers.is_friend |= outer.is_friend;
                }
                vec![Declaration { span: self.since(start), ..*defined }]
            }
            _ => Vec::new(),
        }
    }

    /// Turns a type defined in a declaration into a declaration of its own, so that it is defined once.
    fn hoist(&mut self, leading: &mut Leading, out: &mut Vec<Declaration>) -> Result<()> {
        let Some(ty) = &mut leading.ty else { return Ok(()) };
        let TypeKind::Defined(defined) = &mut ty.kind else { return Ok(()) };
        let name = match &mut defined.kind {
            DeclarationKind::Record(record) => &mut record.name.name,
            DeclarationKind::Enum(one) => &mut one.name,
            _ => return Ok(()),
        };
        if name.text.is_empty() {
            // `typedef struct { … } S;` gets the name S.
            match self.word() {
                Some(word) if leading.is_typedef => {
                    *name = Name { text: word.into(), span: self.span() };
                }
                _ => return Ok(()),
            }
        }
        let name = name.clone();
        let known = self.scopes.lookup(&name.text);
        if !known.meaning.is_type() {
            self.declare(&name.text, Meaning::Type, None);
        }
        let named = TypeKind::Named(single(name));
        if let TypeKind::Defined(defined) = std::mem::replace(&mut ty.kind, named) {
            out.push(*defined);
        }
        Ok(())
    }

    fn typedefs(&mut self, leading: Leading, out: &mut Vec<Declaration>) -> Result<()> {
        let start = leading.start;
        let Some(base) = leading.ty else { return Err(self.no_type()) };
        loop {
            let declared = self.declarator(base.clone(), Position::Local)?;
            let Some(name) = declared.name.and_then(|name| name.parts.into_iter().next()) else {
                return Err(self.error("expected a name"));
            };
            let name = name.name;
            let is_itself = matches!(&declared.ty.kind, TypeKind::Named(named)
                if named.parts.len() == 1 && named.parts.first().is_some_and(|part| part.name.text == name.text));
            if !is_itself {
                self.declare_alias(&name, &declared.ty, false);
                let kind = DeclarationKind::Alias { name, template: None, ty: declared.ty };
                out.push(Declaration { kind, span: self.since(start) });
            }
            if !self.take(",") {
                break;
            }
        }
        self.skip_attributes()?;
        self.expect(";")
    }

    fn declare_alias(&mut self, name: &Name, ty: &TypeSyntax, is_template: bool) {
        let scope = match &ty.kind {
            TypeKind::Named(named) => self.scope_of(named),
            _ => None,
        };
        let meaning = if is_template { Meaning::TypeTemplate } else { Meaning::Type };
        self.declare(&name.text, meaning, scope);
    }

    /// The scope of a name, for names after `::`.
    pub(super) fn scope_of(&self, name: &QualifiedName) -> Option<ScopeId> {
        let mut entry: Option<Entry> = None;
        for part in &name.parts {
            entry = Some(match entry {
                Some(before) => self.scopes.lookup_in(before.scope, &part.name.text),
                None if name.is_global => self.scopes.lookup_global(&part.name.text),
                None => self.scopes.lookup(&part.name.text),
            });
        }
        entry.and_then(|entry| entry.scope)
    }

    /// `using A = T;`, whose `using` is next.
    pub(super) fn alias(&mut self, template: Option<TemplateParameters>) -> Result<Declaration> {
        let start = self.span();
        self.advance();
        let name = self.name()?;
        self.skip_attributes()?;
        self.expect("=")?;
        let ty = self.type_id()?;
        self.expect(";")?;
        self.declare_alias(&name, &ty, template.is_some());
        let kind = DeclarationKind::Alias { name, template, ty };
        Ok(Declaration { kind, span: self.since(start) })
    }

    /// Variables or fields, after the first declarator.
    pub(super) fn variables(
        &mut self,
        leading: Leading,
        first: Declared,
        template: Option<TemplateParameters>,
        position: Position,
    ) -> Result<Declaration> {
        let start = leading.start;
        let mut specifiers = leading.specifiers;
        let mut declarators = Vec::new();
        let mut declared = first;
        loop {
            let is_template = template.is_some();
            declarators.push(self.finish_declarator(declared, is_template)?);
            self.attributes(&mut specifiers)?;
            if !self.take(",") {
                break;
            }
            let Some(base) = leading.ty.clone() else { return Err(self.no_type()) };
            if matches!(base.kind, TypeKind::Defined(_)) {
                return Err(self.unsupported(
                    base.span,
                    "several variables of a type without a name are not supported",
                ));
            }
            declared = self.declarator(base, position)?;
            if matches!(declared.ty.kind, TypeKind::Function(..)) {
                return Err(
                    self.unsupported(start, "functions among other declarators are not supported")
                );
            }
        }
        self.expect(";")?;
        let variables = Variables { specifiers, template, declarators };
        Ok(Declaration { kind: DeclarationKind::Variables(variables), span: self.since(start) })
    }

    /// The rest of a declarator: width, initialiser. Its name is in scope in its own initialiser
    /// (\[basic.scope.pdecl\]).
    pub(super) fn finish_declarator(
        &mut self,
        declared: Declared,
        is_template: bool,
    ) -> Result<Declarator> {
        let Some(name) = declared.name else { return Err(self.error("expected a name")) };
        if let [only] = name.parts.as_slice() {
            let meaning = if is_template { Meaning::FunctionTemplate } else { Meaning::Value };
            let text = only.name.text.clone();
            self.declare(&text, meaning, None);
        }
        self.skip_attributes()?;
        if matches!(self.word(), Some("asm" | "__asm__" | "__asm")) {
            return Err(self.unsupported(self.span(), "`asm` is not supported here"));
        }
        let bit_width =
            if self.take(":") { Some(Box::new(self.binary_expression()?)) } else { None };
        let init = self.initialiser()?;
        Ok(Declarator { name, ty: declared.ty, init, bit_width })
    }

    pub(super) fn initialiser(&mut self) -> Result<Option<Initialiser>> {
        if self.is("(") {
            return self.call_arguments().map(|list| Some(Initialiser::Direct(list)));
        }
        let is_copy = self.take("=");
        if self.is("{") {
            let Expr { kind: ExprKind::Braces(list), .. } = self.braces()? else { return Ok(None) };
            return Ok(Some(Initialiser::List(list)));
        }
        if is_copy { self.assignment().map(|one| Some(Initialiser::Copy(one))) } else { Ok(None) }
    }

    /// An expression or `{…}`.
    pub(super) fn initial_expression(&mut self) -> Result<Expr> {
        if self.is("{") { self.braces() } else { self.assignment() }
    }

    /// `static_assert(e, "…");`
    pub(super) fn static_assert(&mut self) -> Result<Declaration> {
        let start = self.span();
        self.advance();
        self.expect("(")?;
        let condition = self.bracketed(Self::assignment)?;
        if self.take(",") {
            self.bracketed(Self::assignment)?;
        }
        self.expect(")")?;
        self.expect(";")?;
        let kind = DeclarationKind::StaticAssert(condition);
        Ok(Declaration { kind, span: self.since(start) })
    }

    /// `using namespace a;`, `using a::b;`, `using A = T;`
    pub(super) fn using(&mut self) -> Result<Declaration> {
        let start = self.span();
        let is_alias = self.word_at(1).is_some()
            && (self.is_at(2, "=")
                || self.is_at(2, "[")
                || self.word_at(2) == Some("__attribute__"));
        if is_alias {
            return self.alias(None);
        }
        self.advance();
        let kind = if self.take_word("namespace") {
            let (name, entry) = self.qualified_name()?;
            if let Some(scope) = entry.scope {
                self.scopes.use_scope(scope);
            }
            DeclarationKind::UsingNamespace(name)
        } else {
            self.take_word("typename");
            let (name, entry) = self.qualified_name()?;
            if let Some(last) = name.parts.last() {
                self.declare(&last.name.text, entry.meaning, entry.scope);
            }
            DeclarationKind::Using(name)
        };
        self.expect(";")?;
        Ok(Declaration { kind, span: self.since(start) })
    }
}
