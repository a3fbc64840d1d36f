//! Classes and enumerations (\[class\], \[dcl.enum\]).
//!
//! Bodies of members are read when the class is complete, because they may use all of its names (\[class.mem\]).

use super::ast::{
    Declaration, DeclarationKind, Enumeration, Name, NamePart, QualifiedName, Record, Specifiers,
    TemplateParameters,
};
use super::declarators::single;
use super::parser::Parser;
use super::pending::Pending;
use super::scopes::{Entry, Meaning, ScopeId};
use super::types::Elaborated;
use crate::Result;
use crate::token::TokenKind;
use base::Severity;

/// A member with a postponed body: its position among the members, the start of the body, its contract.
type Late = (usize, usize, Pending);

impl Parser<'_> {
    /// `template <…> struct S { … };`
    pub(super) fn class_template(
        &mut self,
        template: Option<TemplateParameters>,
    ) -> Result<Vec<Declaration>> {
        let start = self.span();
        match self.record(template)? {
            Elaborated::Defined(kind) => {
                self.skip_attributes()?;
                self.expect(";")?;
                Ok(vec![Declaration { kind, span: self.since(start) }])
            }
            Elaborated::Named(_) => {
                Err(self.unsupported(start, "this kind of template is not supported"))
            }
        }
    }

    /// A class from its keyword on: a definition, a declaration, or a mere name.
    pub(super) fn record(&mut self, template: Option<TemplateParameters>) -> Result<Elaborated> {
        let start = self.span();
        let is_union = self.is_word("union");
        self.advance();
        let mut specifiers = Specifiers::default();
        self.attributes(&mut specifiers)?;
        if self.is_packed {
            return Err(self.unsupported(start, "structs in `#pragma pack` are not supported"));
        }
        let name = if self.is("{") { single(self.no_name()) } else { self.record_name()? };
        self.take_word("final");
        let is_definition = self.is("{") || self.is(":") && name.parts.len() == 1;
        if !is_definition && !self.is(";") {
            return Ok(Elaborated::Named(name));
        }
        let Some(part) = name.parts.last().cloned() else {
            return Err(self.error("expected a name"));
        };
        if name.parts.len() > 1 {
            return Err(self.unsupported(
                start,
                "classes that are defined outside of their scope are not supported",
            ));
        }
        let scope = self.class_scope(&part, template.is_some());
        let mut record =
            Record { name: part, specifiers, is_union, template, bases: Vec::new(), members: None };
        if is_definition {
            self.class_body(&mut record, scope)?;
        }
        Ok(Elaborated::Defined(DeclarationKind::Record(Box::new(record))))
    }

    /// The name of a class, perhaps of a specialisation.
    fn record_name(&mut self) -> Result<QualifiedName> {
        let is_plain = !self.is_at(1, "::") && !self.is_at(1, "<");
        if is_plain {
            return Ok(single(self.name()?));
        }
        Ok(self.qualified_name()?.0)
    }

    /// Declares a class; returns its scope.
    fn class_scope(&mut self, name: &NamePart, is_template: bool) -> ScopeId {
        let known = self.scopes.lookup_in(Some(self.declaring_scope()), &name.name.text);
        // A specialisation has a scope of its own, and so does the first definition.
        let scope =
            match known.scope.filter(|_| known.meaning.is_type() && name.arguments.is_none()) {
                Some(scope) => scope,
                None => self.scopes.new_scope(),
            };
        if name.arguments.is_none() && !name.name.text.is_empty() {
            let meaning = if is_template { Meaning::TypeTemplate } else { Meaning::Type };
            self.declare(&name.name.text, meaning, Some(scope));
        }
        scope
    }

    fn class_body(&mut self, record: &mut Record, scope: ScopeId) -> Result<()> {
        if self.take(":") {
            self.bases(record, scope)?;
        }
        self.expect("{")?;
        let outer = self.outer.take();
        self.classes.push(record.name.name.text.clone());
        let mark = self.mark();
        self.scopes.reopen(scope);
        let result = self.nested(|parser| parser.members());
        while self.scopes.mark().is_deeper_than(&mark.scopes) {
            self.scopes.close();
        }
        self.classes.pop();
        self.outer = outer;
        record.members = Some(result?);
        Ok(())
    }

    fn bases(&mut self, record: &mut Record, scope: ScopeId) -> Result<()> {
        loop {
            let span = self.span();
            while matches!(self.word(), Some("public" | "private" | "protected")) {
                self.advance();
            }
            if self.is_word("virtual") {
                return Err(self.unsupported(span, "virtual bases are not supported"));
            }
            let (name, entry) = self.qualified_name()?;
            if let Some(base) = entry.scope {
                self.scopes.use_in(scope, base);
            }
            record.bases.push(name);
            if self.is("...") {
                return Err(self.unsupported(span, "packs of bases are not supported"));
            }
            if !self.take(",") {
                return Ok(());
            }
        }
    }

    /// Members up to the brace that closes them, with their bodies.
    fn members(&mut self) -> Result<Vec<Declaration>> {
        let mut members = Vec::new();
        let mut late: Vec<Late> = Vec::new();
        while !self.take("}") {
            if self.is_end() {
                return Err(self.error("expected `}`"));
            }
            self.member_or_skip(&mut members, &mut late)?;
        }
        let end = self.at;
        for (position, start, pending) in late {
            self.late_member(&mut members, position, start, &pending)?;
        }
        self.at = end;
        self.is_half = false;
        Ok(members)
    }

    fn late_member(
        &mut self,
        members: &mut [Declaration],
        position: usize,
        start: usize,
        pending: &Pending,
    ) -> Result<()> {
        let Some(Declaration { kind: DeclarationKind::Function(function), .. }) =
            members.get_mut(position)
        else {
            return Ok(());
        };
        self.at = start;
        self.is_half = false;
        let specifiers = &function.specifiers;
        let is_for_device = specifiers.is_device || specifiers.is_global || specifiers.is_constexpr;
        self.body(function, pending, is_for_device)
    }

    fn member_or_skip(&mut self, out: &mut Vec<Declaration>, late: &mut Vec<Late>) -> Result<()> {
        let from = self.at;
        let mark = self.mark();
        let before = out.len();
        let Err(found) = self.member(out, late) else { return Ok(()) };
        // An unsupported member function of the host does not matter; anything else changes the class.
        self.reset(&mark);
        out.truncate(before);
        let span = self.span();
        let names = self.skipped_names(from);
        let tokens = self.tokens.get(from..self.at).unwrap_or_default();
        let has =
            |wanted: &dyn Fn(&TokenKind) -> bool| tokens.iter().any(|token| wanted(&token.kind));
        let is_for_device = has(&|kind| {
            matches!(kind, TokenKind::Word(word)
            if matches!(&**word, "__device__" | "__global__" | "constexpr"))
        });
        let is_virtual = has(&|kind| matches!(kind, TokenKind::Word(word) if &**word == "virtual"));
        let is_function = !is_virtual && self.is_function(from);
        let is_refused = is_for_device && found.severity != Severity::Unsupported;
        let class = self.classes.last().cloned();
        // A constructor has no name that could be refused.
        let is_operator = is_for_device
            && has(&|kind| matches!(kind, TokenKind::Word(word) if &**word == "operator"));
        let is_constructor =
            is_for_device && names.iter().any(|name| Some(&name.text) == class.as_ref());
        if is_refused || !is_function || is_constructor || is_operator {
            return Err(found);
        }
        let why = if is_for_device { "C++ that is not supported" } else { "host code" };
        let kind = DeclarationKind::Skipped { names, why, is_host_function: !is_for_device };
        out.push(Declaration { kind, span: self.since(span) });
        Ok(())
    }

    fn member(&mut self, out: &mut Vec<Declaration>, late: &mut Vec<Late>) -> Result<()> {
        if self.take(";") {
            return Ok(());
        }
        let pending = self.pending_clauses(out)?;
        if self.is("}") {
            return pending.refuse();
        }
        match self.word() {
            Some("public" | "private" | "protected") if self.is_at(1, ":") => {
                self.advance();
                self.advance();
                return pending.refuse();
            }
            Some("using") => out.push(self.using()?),
            Some("static_assert") => out.push(self.static_assert()?),
            Some("template") => {
                let made = self.template_declaration(pending)?;
                self.add_members(made, out, late);
            }
            _ if self.is_unnamed_bit_field() => {
                return Err(
                    self.unsupported(self.span(), "bit-fields without a name are not supported")
                );
            }
            _ => {
                let made = self.declaration(None, pending)?;
                self.add_members(made, out, late);
            }
        }
        Ok(())
    }

    fn add_members(
        &mut self,
        made: Vec<Declaration>,
        out: &mut Vec<Declaration>,
        late: &mut Vec<Late>,
    ) {
        for one in made {
            let is_function = matches!(one.kind, DeclarationKind::Function(_));
            if is_function && let Some((start, pending)) = self.late_body.take() {
                late.push((out.len(), start, pending));
            }
            out.push(one);
        }
    }

    fn is_unnamed_bit_field(&self) -> bool {
        self.word().is_some_and(super::builtin::is_type_word) && self.is_at(1, ":")
    }

    /// An enumeration from its keyword on.
    pub(super) fn enumeration(&mut self) -> Result<Elaborated> {
        self.advance();
        let is_scoped = self.take_word("class") || self.take_word("struct");
        self.skip_attributes()?;
        let name =
            if self.word().is_some() { self.qualified_name()?.0 } else { single(self.no_name()) };
        let underlying = if self.take(":") { Some(self.type_id()?) } else { None };
        let is_declaration = self.is(";") && underlying.is_some() || is_scoped && self.is(";");
        if !self.is("{") && !is_declaration {
            return Ok(Elaborated::Named(name));
        }
        let Some(NamePart { name, .. }) = name.parts.into_iter().last() else {
            return Err(self.error("expected a name"));
        };
        let scope = self.scopes.new_scope();
        if !name.text.is_empty() {
            self.declare(&name.text, Meaning::Type, Some(scope));
        }
        let values = if self.is("{") { self.enumerators(is_scoped, scope)? } else { Vec::new() };
        let one = Enumeration { name, is_scoped, underlying, values };
        Ok(Elaborated::Defined(DeclarationKind::Enum(Box::new(one))))
    }

    fn enumerators(
        &mut self,
        is_scoped: bool,
        scope: ScopeId,
    ) -> Result<Vec<(Name, Option<super::ast::Expr>)>> {
        self.expect("{")?;
        self.bracketed(|parser| {
            let mut values = Vec::new();
            while !parser.take("}") {
                let name = parser.name()?;
                parser.skip_attributes()?;
                let value = if parser.take("=") { Some(parser.assignment()?) } else { None };
                let entry = Entry { meaning: Meaning::Value, scope: None };
                parser.scopes.declare_in(scope, &name.text, entry);
                if !is_scoped {
                    parser.declare(&name.text, Meaning::Value, None);
                }
                values.push((name, value));
                if !parser.take(",") {
                    parser.expect("}")?;
                    break;
                }
            }
            Ok(values)
        })
    }
}
