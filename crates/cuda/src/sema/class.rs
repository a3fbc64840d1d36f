//! Classes: members, bases, special member functions (\[class\], \[class.mem\], \[class.derived\]).
//!
//! A base is the first field of its class, of the base's type. Classes with virtual functions, destructors or
//! bit-fields are refused where they are used.

use super::analyser::Analyser;
use super::declarations::{Class, ClassState, Member, Pattern};
use super::scope::{DeclId, Entity, ScopeId, ScopeKind};
use super::types::QType;
use crate::syntax::ast::{self, Declaration, DeclarationKind};
use crate::tree::{Field, Record, RecordId, Type};
use crate::{Result, error, unsupported};
use base::{Index, Span};

impl<'a> Analyser<'a> {
    pub(super) fn class(&self, record: RecordId) -> Option<&Class<'a>> {
        self.classes.get(record.position())
    }

    pub(super) fn class_mut(&mut self, record: RecordId) -> Option<&mut Class<'a>> {
        self.classes.get_mut(record.position())
    }

    pub(super) fn class_scope(&self, record: RecordId) -> Option<ScopeId> {
        self.class(record).map(|one| one.scope)
    }

    pub(super) fn bases(&self, record: RecordId) -> Vec<(RecordId, usize)> {
        self.class(record).map(|one| one.bases.clone()).unwrap_or_default()
    }

    /// Checks that objects of the class can be made; the error is the reason why not.
    pub(super) fn complete(&self, record: RecordId, span: Span) -> Result<()> {
        match self.class(record).map(|one| &one.state) {
            Some(ClassState::Complete) => Ok(()),
            Some(ClassState::Failed(why)) => Err(why.clone()),
            _ => Err(error(span, "this class is not complete here")),
        }
    }

    /// Makes a class without members, in a scope below `parent`.
    pub(super) fn new_record(&mut self, name: &str, parent: ScopeId, span: Span) -> RecordId {
        let id = self.program.records.push(Record {
            name: name.to_owned(),
            fields: Vec::new(),
            size: 1,
            align: 1,
            is_union: false,
            span,
        });
        let scope = self.new_scope(Some(parent), ScopeKind::Class(id));
        self.scopes[scope].name = name.into();
        self.classes.push(Class {
            scope,
            bases: Vec::new(),
            has_dependent_base: false,
            state: ClassState::Declared,
            parts: 0,
            levels: 0,
            constructors: Vec::new(),
            conversions: Vec::new(),
            field_inits: Vec::new(),
            refused: None,
            instance: None,
        });
        id
    }

    /// A class, class template or specialisation. Returns `None` for templates.
    pub(super) fn declare_record(
        &mut self,
        record: &'a ast::Record,
        span: Span,
    ) -> Result<Option<Type>> {
        let name: &str = &record.name.name.text;
        if let Some(parameters) = &record.template {
            return match &record.name.arguments {
                Some(arguments) => self
                    .specialise(name, parameters, (arguments, Pattern::Record(record)), span)
                    .map(|()| None),
                None => {
                    self.declare_record_template(record, parameters);
                    Ok(None)
                }
            };
        }
        // An earlier `struct S;` of this scope.
        let known = self.scopes.get(self.scope).and_then(|one| one.names.get(name));
        let known = known.into_iter().flatten().find_map(|(_, entity)| match entity {
            Entity::Type(QType { ty: Type::Record(id), .. }) => Some(*id),
            _ => None,
        });
        let id = match known.filter(|_| !name.is_empty()) {
            Some(id) => id,
            None => {
                let id = self.new_record(name, self.scope, span);
                self.enter(self.scope, name, Entity::Type(QType::plain(Type::Record(id))));
                id
            }
        };
        if record.members.is_some() {
            self.fill_record(id, record);
        }
        Ok(Some(Type::Record(id)))
    }

    fn declare_record_template(
        &mut self,
        record: &'a ast::Record,
        parameters: &'a ast::TemplateParameters,
    ) {
        let name: &str = &record.name.name.text;
        let known = self.scopes.get(self.scope).and_then(|one| one.names.get(name));
        let known = known.into_iter().flatten().find_map(|(_, entity)| match entity {
            Entity::Template(id) => Some(*id),
            _ => None,
        });
        match known {
            // The definition of an earlier `template <…> struct S;`. Either may have defaults: keep the one with more
            // of them.
            Some(id) => {
                if record.members.is_some() {
                    self.templates[id].pattern = Pattern::Record(record);
                    let count = |one: &ast::TemplateParameters| {
                        one.parameters.iter().filter(|parameter| has_default(parameter)).count()
                    };
                    if count(parameters) >= count(self.templates[id].parameters)
                        || same_names(parameters, self.templates[id].parameters)
                    {
                        let earlier = self.templates[id].parameters;
                        let keep =
                            same_names(parameters, earlier) && count(earlier) > count(parameters);
                        self.templates[id].parameters = if keep { earlier } else { parameters };
                    }
                }
            }
            None => self.declare_template(name, Pattern::Record(record), parameters),
        }
    }

    /// Reads the members of a class; an error is stored in the class.
    pub(super) fn fill_record(&mut self, id: RecordId, record: &'a ast::Record) {
        let Some(scope) = self.class_scope(id) else { return };
        let outer = std::mem::replace(&mut self.scope, scope);
        let name: &str = &record.name.name.text;
        // The injected name.
        self.enter(scope, name, Entity::Type(QType::plain(Type::Record(id))));
        let result = self.read_members(id, record);
        self.scope = outer;
        let state = match result {
            Ok(()) => ClassState::Complete,
            Err(why) => ClassState::Failed(why),
        };
        // Bodies of members may use all declarations up to the end of the class.
        let order = self.order;
        let members: Vec<DeclId> = self
            .decls
            .enumerate()
            .filter(|(_, decl)| decl.member.is_some_and(|one| one.record == id))
            .map(|(decl, _)| decl)
            .collect();
        for member in members {
            if let Some(definition) = &mut self.decls[member].definition {
                definition.order = definition.order.max(order);
            }
        }
        if let Some(class) = self.class_mut(id) {
            class.state = state;
        }
    }

    fn read_members(&mut self, id: RecordId, record: &'a ast::Record) -> Result<()> {
        let mut fields = Vec::new();
        if record.specifiers.is_packed {
            return Err(unsupported(record.name.name.span, "packed structs are not supported"));
        }
        for base in &record.bases {
            let span = base.parts.last().map_or(Span::default(), |one| one.name.span);
            let outer = self.scopes.get(self.scope).and_then(|one| one.parent);
            let inner = std::mem::replace(&mut self.scope, outer.unwrap_or(self.global));
            let ty = self.named_type(base, span);
            self.scope = inner;
            let ty = ty?.ty;
            let Type::Record(of) = ty else {
                return Err(error(span, "a base must be a class"));
            };
            self.complete(of, span)?;
            let name = self.program.records.get(of).map_or(String::new(), |one| one.name.clone());
            let is_plain = base.parts.iter().all(|part| part.arguments.is_none());
            let is_parameter = match &base.parts[..] {
                [part] => self.is_template_parameter(&part.name.text),
                _ => false,
            };
            if let Some(class) = self.class_mut(id) {
                class.has_dependent_base |= !is_plain || is_parameter;
                class.bases.push((of, fields.len()));
            }
            fields.push(Field { name, ty, offset: 0, is_const: false });
        }
        // Types and static members in order: each may use those before it.
        for member in record.members.iter().flatten() {
            self.read_member(id, member, &mut fields)?;
        }
        let align = match &record.specifiers.align {
            Some(align) => Some(self.required_constant(align)?),
            None => None,
        };
        self.lay_out(id, fields, record.is_union, align, record.name.name.span)
    }

    /// Returns `true` if a name is that of a template parameter around the current scope.
    fn is_template_parameter(&self, name: &str) -> bool {
        let (scope, _) = self.lookup(name);
        scope
            .and_then(|one| self.scopes.get(one))
            .is_some_and(|one| one.kind == ScopeKind::Template)
    }

    fn read_member(
        &mut self,
        id: RecordId,
        member: &'a Declaration,
        fields: &mut Vec<Field>,
    ) -> Result<()> {
        match &member.kind {
            DeclarationKind::Function(function) => self.read_method(id, function, member.span),
            DeclarationKind::Variables(variables)
                if !variables.specifiers.is_static && variables.template.is_none() =>
            {
                if variables.specifiers.align.is_some() {
                    return Err(unsupported(member.span, "aligned fields are not supported"));
                }
                for declarator in &variables.declarators {
                    self.read_field(id, declarator, fields)?;
                }
                Ok(())
            }
            DeclarationKind::Record(inner)
                if inner.name.name.text.is_empty() && inner.template.is_none() =>
            {
                Err(unsupported(
                    member.span,
                    "unnamed structs and unions in classes are not supported",
                ))
            }
            _ => self.declare(member),
        }
    }

    fn read_field(
        &mut self,
        id: RecordId,
        declarator: &'a ast::Declarator,
        fields: &mut Vec<Field>,
    ) -> Result<()> {
        let Some(part) = declarator.name.parts.last() else { return Ok(()) };
        if declarator.bit_width.is_some() {
            return Err(unsupported(part.name.span, "bit-fields are not supported"));
        }
        let ty = self.resolve_type(&declarator.ty)?;
        if ty.is_reference() {
            return Err(unsupported(part.name.span, "references as members are not supported"));
        }
        if ty.is_volatile {
            return Err(unsupported(part.name.span, "volatile members are not supported"));
        }
        let position = fields.len();
        self.enter(self.scope, &part.name.text, Entity::Field(position));
        let name = part.name.text.to_string();
        fields.push(Field { name, ty: ty.ty, offset: 0, is_const: ty.is_const });
        if let (Some(init), Some(class)) = (&declarator.init, self.class_mut(id)) {
            class.field_inits.push((position, init));
        }
        Ok(())
    }

    fn read_method(&mut self, id: RecordId, function: &'a ast::Function, span: Span) -> Result<()> {
        let Some(part) = function.name.parts.last() else { return Ok(()) };
        let name: &str = &part.name.text;
        let class_name = self.program.records.get(id).map_or(String::new(), |one| one.name.clone());
        if function.specifiers.is_friend {
            return Err(unsupported(span, "friend functions are not supported"));
        }
        if function.specifiers.is_virtual {
            self.refuse_class(id, span, "virtual functions are not supported");
            return Ok(());
        }
        if name.starts_with('~') {
            let is_trivial =
                function.is_defaulted || function.body.as_ref().is_some_and(|body| body.is_empty());
            if !is_trivial {
                self.refuse_class(id, span, "destructors are not supported");
            }
            return Ok(());
        }
        let is_constructor = name == class_name;
        let member = Member {
            record: id,
            is_static: function.specifiers.is_static,
            is_const: function.is_const_member,
            is_constructor,
        };
        let decl = self.declare_here(function, self.scope, Some(member))?;
        let is_conversion = is_conversion_name(name);
        if let Some(class) = self.class_mut(id) {
            if is_constructor {
                class.constructors.push(decl);
            } else if is_conversion && !class.conversions.contains(&decl) {
                class.conversions.push(decl);
            }
        }
        Ok(())
    }

    pub(super) fn refuse_class(&mut self, id: RecordId, span: Span, why: &'static str) {
        if let Some(class) = self.class_mut(id) {
            class.refused.get_or_insert((span, why));
        }
    }

    /// The path to a member field: positions from the object inwards, through bases.
    pub(super) fn field_path(&self, record: RecordId, name: &str) -> Option<Vec<usize>> {
        self.field_path_within(record, name, 0)
    }

    fn field_path_within(&self, record: RecordId, name: &str, depth: u32) -> Option<Vec<usize>> {
        let class = self.class(record).filter(|_| depth < 32)?;
        let members = self.scopes.get(class.scope).and_then(|one| one.names.get(name));
        if let Some(members) = members {
            return members.iter().find_map(|(_, entity)| match entity {
                Entity::Field(position) => Some(vec![*position]),
                _ => None,
            });
        }
        class.bases.iter().find_map(|(base, position)| {
            let mut path = vec![*position];
            path.extend(self.field_path_within(*base, name, depth + 1)?);
            Some(path)
        })
    }

    /// The path from a class to one of its bases; empty for itself.
    pub(super) fn base_path(&self, derived: RecordId, base: RecordId) -> Option<Vec<usize>> {
        self.base_path_within(derived, base, 0)
    }

    fn base_path_within(
        &self,
        derived: RecordId,
        base: RecordId,
        depth: u32,
    ) -> Option<Vec<usize>> {
        if derived == base {
            return Some(Vec::new());
        }
        let class = self.class(derived).filter(|_| depth < 32)?;
        let mut paths = class.bases.iter().filter_map(|(next, position)| {
            let rest = self.base_path_within(*next, base, depth + 1)?;
            Some([vec![*position], rest].concat())
        });
        let first = paths.next()?;
        // Two paths are ambiguous ([class.member.lookup]).
        paths.next().is_none().then_some(first)
    }
}

/// `operator T*` and similar, not `operator+`.
pub(super) fn is_conversion_name(name: &str) -> bool {
    match name.strip_prefix("operator") {
        Some("") => true,
        Some(rest) => {
            rest.starts_with(' ') && !rest.starts_with(" new") && !rest.starts_with(" delete")
        }
        None => false,
    }
}

fn has_default(parameter: &ast::TemplateParameter) -> bool {
    match &parameter.kind {
        ast::TemplateParameterKind::Type(default) => default.is_some(),
        ast::TemplateParameterKind::Constant(_, default) => default.is_some(),
    }
}

fn same_names(one: &ast::TemplateParameters, other: &ast::TemplateParameters) -> bool {
    let names = |all: &ast::TemplateParameters| -> Vec<Box<str>> {
        all.parameters.iter().map(|parameter| parameter.name.text.clone()).collect()
    };
    names(one) == names(other)
}
