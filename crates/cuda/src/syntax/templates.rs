//! `template <…>` (\[temp\]): parameters, instantiations.

use super::ast::{
    Declaration, DeclarationKind, TemplateParameter, TemplateParameterKind, TemplateParameters,
};
use super::declarators::Position;
use super::parser::Parser;
use super::pending::Pending;
use super::scopes::Meaning;
use crate::Result;

impl Parser<'_> {
    /// A declaration that begins with `template`.
    pub(super) fn template_declaration(&mut self, pending: Pending) -> Result<Vec<Declaration>> {
        let start = self.span();
        self.advance();
        if !self.is("<") {
            return self.instantiation(start);
        }
        let is_outermost = self.outer.is_none();
        if is_outermost {
            self.outer = Some(self.scopes.current());
        }
        let result = self.scoped(|parser| {
            let mut template = parser.template_parameters()?;
            while parser.is_word("template") && parser.is_at(1, "<") {
                // A member template of a class template, defined outside: both lists are its own.
                parser.advance();
                let inner = parser.template_parameters()?;
                if !inner.parameters.is_empty() && !template.parameters.is_empty() {
                    return Err(parser.unsupported(
                        start,
                        "member templates outside of their class template are not supported",
                    ));
                }
                template.parameters.extend(inner.parameters);
            }
            if parser.is_word("using") {
                return parser.alias(Some(template)).map(|one| vec![one]);
            }
            parser.declaration(Some(template), pending)
        });
        if is_outermost {
            self.outer = None;
        }
        result
    }

    fn instantiation(&mut self, start: base::Span) -> Result<Vec<Declaration>> {
        if matches!(self.word(), Some("struct" | "class" | "union")) {
            // Instances of class templates are made when used.
            while !self.is(";") && !self.is_end() {
                self.advance();
            }
            self.expect(";")?;
            return Ok(Vec::new());
        }
        let made = self.declaration(None, Pending::default())?;
        let kinds = made.into_iter().filter_map(|one| match one.kind {
            DeclarationKind::Function(function) => {
                Some(DeclarationKind::ExplicitInstantiation(function))
            }
            _ => None,
        });
        let span = self.since(start);
        Ok(kinds.map(|kind| Declaration { kind, span }).collect())
    }

    /// `<typename T, int N = 4>`.
    pub(super) fn template_parameters(&mut self) -> Result<TemplateParameters> {
        self.expect("<")?;
        let outer = std::mem::replace(&mut self.is_in_angles, true);
        let list = self.nested(|parser| {
            let mut parameters = Vec::new();
            while !parser.is(">") && !parser.is(">>") {
                parameters.push(parser.template_parameter()?);
                if !parser.take(",") {
                    break;
                }
            }
            Ok(parameters)
        });
        self.is_in_angles = outer;
        let parameters = list?;
        self.expect_greater()?;
        Ok(TemplateParameters { parameters })
    }

    fn template_parameter(&mut self) -> Result<TemplateParameter> {
        let span = self.span();
        if self.is_word("template") {
            return Err(
                self.unsupported(span, "template parameters that are templates are not supported")
            );
        }
        let is_type = matches!(self.word(), Some("typename" | "class"))
            && !(self.is_at(2, "::") || self.is_at(2, "<"));
        if is_type {
            self.advance();
            let is_pack = self.take("...");
            let name = if self.word().is_some() { self.name()? } else { self.no_name() };
            self.scopes.declare(&name.text, Meaning::Type);
            let default = if self.take("=") { Some(self.type_id()?) } else { None };
            return Ok(TemplateParameter {
                name,
                kind: TemplateParameterKind::Type(default),
                is_pack,
            });
        }
        let base = self.type_specifiers()?;
        let declared = self.declarator(base, Position::Parameter)?;
        let name =
            declared.name.and_then(|name| name.parts.into_iter().next()).map(|part| part.name);
        let name = name.unwrap_or_else(|| self.no_name());
        self.scopes.declare(&name.text, Meaning::Value);
        let default = if self.take("=") { Some(self.assignment()?) } else { None };
        let kind = TemplateParameterKind::Constant(declared.ty, default);
        Ok(TemplateParameter { name, kind, is_pack: declared.is_pack })
    }

    /// Declares the parameters of a template that has been read.
    pub(super) fn declare_template(&mut self, template: Option<&TemplateParameters>) {
        for parameter in template.iter().flat_map(|list| &list.parameters) {
            let meaning = match parameter.kind {
                TemplateParameterKind::Type(_) => Meaning::Type,
                TemplateParameterKind::Constant(..) => Meaning::Value,
            };
            self.scopes.declare(&parameter.name.text, meaning);
        }
    }
}
