//! Functions: the text after their parameters, initialisers of members, bodies (\[dcl.fct.def\]).
//!
//! A body with unsupported C++ is skipped, and marked in the function. Host functions are not read; their names are
//! kept.

use super::ast::{
    Declaration, DeclarationKind, Function, TemplateParameters, TypeKind, TypeSyntax,
};
use super::declarators::{Declared, single};
use super::parser::Parser;
use super::pending::Pending;
use super::scopes::Meaning;
use super::specifiers::Leading;
use crate::Result;
use base::Severity;

impl Parser<'_> {
    /// The rest of a function, after its declarator.
    pub(super) fn function(
        &mut self,
        leading: Leading,
        declared: Declared,
        template: Option<TemplateParameters>,
        pending: Pending,
    ) -> Result<Declaration> {
        let start = leading.start;
        let TypeKind::Function(returns, parameters) = declared.ty.kind else {
            return Err(self.error("expected the parameters of a function"));
        };
        let Some(name) = declared.name else { return Err(self.error("expected a name")) };
        let mut function = Function {
            name,
            specifiers: leading.specifiers,
            template,
            returns: *returns,
            parameters,
            is_variadic: declared.is_variadic,
            is_const_member: false,
            member_inits: Vec::new(),
            clauses: Vec::new(),
            body: None,
            is_defaulted: false,
            is_deleted: false,
            unread: None,
        };
        self.declare_function(&function);
        self.text_before_body(&mut function)?;
        let specifiers = &function.specifiers;
        let is_for_device = specifiers.is_global || specifiers.is_device || specifiers.is_constexpr;
        let is_member = !self.classes.is_empty() || function.name.parts.len() > 1;
        if !is_for_device && !is_member {
            pending.refuse()?;
            return self.host_function(function, start);
        }
        if self.take(";") {
            self.contract(&mut function, &pending)?;
        } else if self.is("{") || self.is(":") || self.is_word("try") {
            self.body_or_later(&mut function, &pending, is_for_device)?;
        } else {
            return Err(self.error("expected `;` or the body of the function"));
        }
        let kind = DeclarationKind::Function(Box::new(function));
        Ok(Declaration { kind, span: self.since(start) })
    }

    /// A function of the host; skips its body.
    fn host_function(&mut self, function: Function, start: base::Span) -> Result<Declaration> {
        if !self.take(";") {
            while !self.is("{") && !self.is(";") && !self.is_end() {
                self.advance();
            }
            self.skip_brackets();
        }
        let names = function.name.parts.into_iter().map(|part| part.name).collect();
        let kind =
            DeclarationKind::Skipped { names, why: "a host function", is_host_function: true };
        Ok(Declaration { kind, span: self.since(start) })
    }

    fn declare_function(&mut self, function: &Function) {
        let [only] = function.name.parts.as_slice() else { return };
        let is_template =
            function.template.as_ref().is_some_and(|list| !list.parameters.is_empty());
        let text = only.name.text.clone();
        let known = self.scopes.lookup_in(Some(self.declaring_scope()), &text).meaning;
        // A friend is not a member, and a constructor does not hide its class.
        let is_constructor = self.classes.last().is_some_and(|class| *class == text);
        if function.specifiers.is_friend || known.is_type() || is_constructor {
            return;
        }
        if is_template && !self.classes.is_empty() {
            self.scopes.add_member_template(&text);
        }
        let is_any_template = is_template || known == Meaning::FunctionTemplate;
        let meaning = if is_any_template { Meaning::FunctionTemplate } else { Meaning::Value };
        self.declare(&text, meaning, None);
    }

    /// The text between the parameters and the body.
    fn text_before_body(&mut self, function: &mut Function) -> Result<()> {
        loop {
            if self.attributes(&mut function.specifiers)? {
                continue;
            }
            let span = self.span();
            match self.word() {
                Some("const") => function.is_const_member = true,
                Some("override" | "final") => function.specifiers.is_virtual = true,
                Some("volatile") => {
                    return Err(
                        self.unsupported(span, "volatile member functions are not supported")
                    );
                }
                Some("noexcept") if self.is_at(1, "(") => {
                    self.advance();
                    self.skip_brackets();
                    continue;
                }
                Some("noexcept") => {}
                Some("throw") => {
                    self.advance();
                    self.skip_brackets();
                    continue;
                }
                _ if self.is("&") || self.is("&&") => {
                    return Err(self.unsupported(
                        span,
                        "qualifiers `&` of member functions are not supported",
                    ));
                }
                _ if self.is("->") => {
                    self.advance();
                    function.returns = self.type_id()?;
                    continue;
                }
                _ => break,
            }
            self.advance();
        }
        if self.take("=") {
            match self.word() {
                Some("default") => function.is_defaulted = true,
                Some("delete") => function.is_deleted = true,
                // `= 0`: pure.
                _ => function.specifiers.is_virtual = true,
            }
            self.advance();
        }
        Ok(())
    }

    /// A constructor, destructor or conversion.
    pub(super) fn special_declarator(&mut self, leading: &mut Leading) -> Result<Declared> {
        let start = self.span();
        let (mut name, _) = self.qualified_name()?;
        let is_conversion = name.parts.last().is_some_and(|part| &*part.name.text == "operator ");
        let returns: TypeSyntax = if is_conversion {
            let base = self.type_specifiers()?;
            let ty = self.pointers(base)?;
            if let Some(last) = name.parts.last_mut() {
                last.name.span = self.since(start);
            }
            ty
        } else {
            self.void(start)
        };
        let list = self.parameters()?;
        leading.ty = None;
        let kind = TypeKind::Function(Box::new(returns), list.parameters);
        let span = self.since(start);
        let ty = TypeSyntax { kind, is_const: false, is_volatile: false, span };
        Ok(Declared { name: Some(name), ty, is_variadic: list.is_variadic, is_pack: false })
    }

    /// Reads the body, or postpones it until the class is complete.
    fn body_or_later(
        &mut self,
        function: &mut Function,
        pending: &Pending,
        is_for_device: bool,
    ) -> Result<()> {
        let start = self.at;
        self.skip_body();
        let end = std::mem::replace(&mut self.at, start);
        if self.classes.is_empty() {
            self.body(function, pending, is_for_device)?;
        } else {
            self.late_body = Some((start, pending.clone()));
        }
        self.at = end;
        self.is_half = false;
        Ok(())
    }

    /// Skips initialisers of members and the body.
    fn skip_body(&mut self) {
        self.take_word("try");
        if self.take(":") {
            loop {
                while !self.is("(") && !self.is("{") && !self.is_end() {
                    self.advance();
                }
                self.skip_brackets();
                self.take("...");
                if !self.take(",") {
                    break;
                }
            }
        }
        self.skip_brackets();
        while self.is_word("catch") {
            self.advance();
            self.skip_brackets();
            self.skip_brackets();
        }
    }

    /// Reads the body that begins here. Unsupported code is noted.
    pub(super) fn body(
        &mut self,
        function: &mut Function,
        pending: &Pending,
        is_for_device: bool,
    ) -> Result<()> {
        let outer = self.outer.take();
        let class = self.class_of(function);
        let mark = self.mark();
        if let Some(class) = class {
            self.scopes.reopen(class);
        }
        self.scopes.open();
        let template = function.template.take();
        self.declare_template(template.as_ref());
        function.template = template;
        let parameters = std::mem::take(&mut function.parameters);
        self.declare_parameters(&parameters);
        function.parameters = parameters;
        let result =
            self.contract_in_scope(function, pending).and_then(|()| self.statements_of(function));
        self.scopes.undo(&mark.scopes);
        self.outer = outer;
        self.reset_limits();
        match result {
            Ok(()) => Ok(()),
            Err(found) if found.severity == Severity::Unsupported || !is_for_device => {
                function.unread = Some((found.primary.span, found.message.to_string()));
                function.body = Some(Vec::new());
                function.member_inits.clear();
                Ok(())
            }
            Err(found) => Err(found),
        }
    }

    /// The scope of the class of a function that is defined outside of it.
    fn class_of(&self, function: &Function) -> Option<super::scopes::ScopeId> {
        let (_, before) = function.name.parts.split_last()?;
        if before.is_empty() {
            return None;
        }
        let name = super::ast::QualifiedName {
            is_global: function.name.is_global,
            parts: before.to_vec(),
        };
        self.scope_of(&name)
    }

    fn statements_of(&mut self, function: &mut Function) -> Result<()> {
        if self.is_word("try") {
            return Err(self.unsupported(self.span(), "`try` is not supported"));
        }
        if self.take(":") {
            self.member_inits(function)?;
        }
        let mut body = Vec::new();
        self.block_into(&mut body)?;
        function.body = Some(body);
        Ok(())
    }

    fn member_inits(&mut self, function: &mut Function) -> Result<()> {
        loop {
            let start = self.span();
            let (name, _) = self.qualified_name()?;
            let Some(last) = name.parts.into_iter().last() else { return Ok(()) };
            let values = if self.is("{") {
                match self.braces()?.kind {
                    super::ast::ExprKind::Braces(list) => list,
                    _ => Vec::new(),
                }
            } else {
                self.call_arguments()?
            };
            if self.is("...") {
                return Err(self.unsupported(start, "packs are not supported here"));
            }
            function.member_inits.push((last.name, values));
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    /// A device function with an unsupported declaration: only its name is known.
    pub(super) fn unread_function(&mut self, from: usize, end: usize) -> Option<Function> {
        let tokens = self.tokens.get(from..end)?;
        let word = |at: usize| match tokens.get(at).map(|token| &token.kind) {
            Some(crate::token::TokenKind::Word(word)) => Some(word),
            _ => None,
        };
        let is_open = |at: usize| {
            tokens.get(at).is_some_and(|one| one.kind == crate::token::TokenKind::Punct("("))
        };
        let has =
            |wanted: &str| (0..tokens.len()).any(|at| word(at).is_some_and(|one| **one == *wanted));
        let is_name = |at: &usize| {
            word(*at).is_some_and(|one| !one.starts_with("__") && !super::builtin::is_keyword(one))
                && is_open(at + 1)
        };
        let at = (0..tokens.len()).find(is_name)?;
        let span = tokens.get(at)?.span;
        let name = super::ast::Name { text: word(at)?.clone(), span };
        let specifiers = super::ast::Specifiers {
            is_global: has("__global__"),
            is_device: has("__device__"),
            ..super::ast::Specifiers::default()
        };
        Some(Function {
            name: single(name),
            specifiers,
            template: None,
            returns: self.void(span),
            parameters: Vec::new(),
            is_variadic: false,
            is_const_member: false,
            member_inits: Vec::new(),
            clauses: Vec::new(),
            body: Some(Vec::new()),
            is_defaulted: false,
            is_deleted: false,
            unread: None,
        })
    }
}
