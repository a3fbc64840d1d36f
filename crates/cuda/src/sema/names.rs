//! Names as types and as expressions (\[basic.lookup\], \[expr.prim.id\], \[temp.names\]).

use super::analyser::Analyser;
use super::declarations::Pattern;
use super::operand::Operand;
use super::scope::{Entity, ScopeId, ScopeKind, spelled};
use super::types::{QType, Reference, UNSIGNED};
use crate::syntax::ast::{self, ExprKind as Ast};
use crate::tree::{Category, Expr, ExprKind, LocalId, Special, Type};
use crate::{Result, error, name_error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// The type denoted by a name.
    pub(super) fn named_type(&mut self, name: &'a ast::QualifiedName, span: Span) -> Result<QType> {
        let Some(last) = name.parts.last() else {
            return Err(error(span, "a name is missing here"));
        };
        let within = self.qualifier(name)?;
        self.type_of_part(within, last)
    }

    /// The type denoted by a part of a name, in a scope or looked up from here.
    pub(super) fn type_of_part(
        &mut self,
        within: Option<ScopeId>,
        part: &'a ast::NamePart,
    ) -> Result<QType> {
        let word: &str = &part.name.text;
        let span = part.name.span;
        let is_type = |entity: &Entity| {
            matches!(entity, Entity::Type(_) | Entity::Template(_) | Entity::Refused(_))
        };
        let found: Vec<Entity> = match within {
            Some(scope) => self.names_in(scope, word).into_iter().filter(is_type).collect(),
            None => self.lookup_where(word, is_type).1,
        };
        match (found.first(), &part.arguments) {
            (Some(Entity::Refused(why)), _) => Err(unsupported(span, why.as_ref())),
            (Some(Entity::Type(ty)), None) => Ok(ty.clone()),
            (Some(Entity::Template(id)), Some(given)) => {
                let (id, given) = (*id, &given[..]);
                match self.instance(id, given, span)? {
                    Entity::Type(ty) => Ok(ty),
                    _ => Err(error(span, format!("`{word}` is not a type"))),
                }
            }
            (Some(Entity::Template(_)), None) => Err(unsupported(
                span,
                format!("arguments of the template `{word}` are missing here"),
            )),
            // The injected name of an instance, with arguments.
            (Some(Entity::Type(QType { ty: Type::Record(id), .. })), Some(given)) => {
                let template = self.class(*id).and_then(|one| one.instance.as_ref());
                let Some(template) = template.map(|one| one.0) else {
                    return Err(error(span, format!("`{word}` is not a template")));
                };
                match self.instance(template, given, span)? {
                    Entity::Type(ty) => Ok(ty),
                    _ => Err(error(span, format!("`{word}` is not a type"))),
                }
            }
            (Some(_), _) => Err(error(span, format!("`{word}` is not a template"))),
            (None, arguments) => {
                let outermost =
                    within.is_none_or(|scope| scope == self.global || scope == self.standard);
                if outermost
                    && arguments.is_none()
                    && let Some(ty) = self.builtin_type(word)
                {
                    return Ok(QType::plain(ty));
                }
                if let (Some(given), true) = (arguments, within == Some(self.standard)) {
                    return self.standard_type(word, given, span);
                }
                let of_class = within
                    .and_then(|one| self.scopes.get(one))
                    .is_some_and(|one| matches!(one.kind, ScopeKind::Class(_)));
                let message = format!("the type `{word}` is not declared");
                match of_class {
                    true => Err(name_error(span, message)),
                    false => Err(unsupported(span, message)),
                }
            }
        }
    }

    /// Type traits of the standard library.
    fn standard_type(
        &mut self,
        word: &str,
        given: &'a [ast::TemplateArgument],
        span: Span,
    ) -> Result<QType> {
        let mut types = Vec::new();
        for one in given {
            match one {
                ast::TemplateArgument::Type(ty) => types.push(self.resolve_type(ty)?),
                ast::TemplateArgument::Expr(_) => {
                    return Err(unsupported(span, format!("`std::{word}` is not supported")));
                }
            }
        }
        match (word, &types[..]) {
            ("remove_const_t", [ty]) => Ok(QType { is_const: false, ..ty.clone() }),
            ("remove_volatile_t", [ty]) => Ok(QType { is_volatile: false, ..ty.clone() }),
            ("remove_cv_t", [ty]) => {
                Ok(QType { is_const: false, is_volatile: false, ..ty.clone() })
            }
            ("remove_reference_t", [ty]) => Ok(ty.referred()),
            _ => Err(unsupported(span, format!("`std::{word}` is not supported"))),
        }
    }

    /// A name as an expression.
    pub(super) fn name_operand(
        &mut self,
        name: &'a ast::QualifiedName,
        span: Span,
    ) -> Result<Operand> {
        let Some(last) = name.parts.last() else {
            return Err(error(span, "a name is missing here"));
        };
        let word: &str = &last.name.text;
        let mut found = self.find(name)?;
        // Another entity of the same name hides a class ([basic.scope.hiding]).
        if found.len() > 1 {
            found.retain(|one| !matches!(one, Entity::Type(_)));
        }
        let Some(entity) = found.first().cloned() else {
            if name.parts.len() == 1
                && let Some(operand) = self.builtin_variable(word, span)
            {
                return Ok(operand);
            }
            if self.is_builtin_name(word) {
                return Err(unsupported(span, format!("`{word}` as a value is not supported")));
            }
            if name.parts.len() > 1 {
                return Err(unsupported(span, format!("`{}` is not supported", spelled(name))));
            }
            return Err(name_error(span, format!("`{word}` is not declared")));
        };
        if Self::is_overloaded(&found) {
            let message = format!("not supported here: one of the functions `{word}` as a value");
            return Err(unsupported(span, message));
        }
        if matches!(entity, Entity::Field(_)) && name.parts.len() > 1 {
            // It may be hidden in the current class.
            let message = "a member of a base by its qualified name is not supported";
            return Err(unsupported(span, message));
        }
        if let Entity::Template(id) = entity {
            let Some(given) = &last.arguments else {
                return Err(error(span, format!("arguments of the template `{word}` are missing")));
            };
            if !matches!(self.templates.get(id).map(|one| one.pattern), Some(Pattern::Variable(..)))
            {
                return Err(error(span, format!("`{word}` is a type")));
            }
            let entity = self.instance(id, given, span)?;
            return self.entity_operand(entity, word, span);
        }
        self.entity_operand(entity, word, span)
    }

    /// Builds the operand that names an entity.
    pub(super) fn entity_operand(
        &mut self,
        entity: Entity,
        word: &str,
        span: Span,
    ) -> Result<Operand> {
        match entity {
            Entity::Local(id) => self.local_operand(id, span),
            Entity::Global(id) => {
                let Some(global) = self.program.globals.get(id) else {
                    return Err(error(span, "this variable does not exist"));
                };
                let expr = Expr {
                    kind: ExprKind::Global(id),
                    ty: global.ty.clone(),
                    category: Category::Place,
                    span,
                };
                // `__constant__` memory must not be written either, but this does not make pointers to it `const`:
                // the lowering checks it.
                let is_const = global.is_const;
                let is_volatile = self.volatile_globals.contains(&id);
                Ok(Operand { is_const, is_volatile, ..Operand::new(expr) })
            }
            Entity::Variable(id) => {
                let Some(variable) = self.variables.get(id) else {
                    return Err(error(span, "this variable does not exist"));
                };
                let literal = Expr { span, ..variable.value.clone()? };
                let expr = Expr {
                    ty: literal.ty.clone(),
                    kind: ExprKind::Temporary(Box::new(literal.clone())),
                    category: Category::Place,
                    span,
                };
                let constant = Some(Box::new(literal));
                Ok(Operand { is_const: true, constant, ..Operand::new(expr) })
            }
            Entity::Constant(expr) => Ok(Operand::new(Expr { span, ..*expr })),
            Entity::Symbol(id) => {
                let ty = self.program.symbols.get(id).map_or(Type::Void, |one| one.ty.clone());
                let kind = ExprKind::Symbol(id);
                Ok(Operand::new(Expr { kind, ty, category: Category::Value, span }))
            }
            Entity::Enumerator(id, value) => {
                let (kind, ty) = (ExprKind::Int(value), Type::Enum(id));
                Ok(Operand::new(Expr { kind, ty, category: Category::Value, span }))
            }
            Entity::Field(_) => self.own_field(word, span),
            Entity::Refused(why) | Entity::Host(why) => Err(unsupported(span, why.as_ref())),
            Entity::Function(decl) => self.function_value(decl, word, span),
            Entity::Type(_) | Entity::Template(_) | Entity::Namespace(_) => {
                Err(name_error(span, format!("`{word}` is not a value")))
            }
        }
    }

    pub(super) fn local_operand(&self, id: LocalId, span: Span) -> Result<Operand> {
        let Some(local) = self.body.locals.get(id) else {
            // A name of an enclosing function, visible in a local class.
            return Err(unsupported(span, "variables of another function are not supported here"));
        };
        if local.is_ghost && !self.body.spec.active {
            return Err(name_error(span, "this variable belongs to annotations"));
        }
        let expr = Expr {
            kind: ExprKind::Local(id),
            ty: local.ty.clone(),
            category: Category::Place,
            span,
        };
        let constant =
            self.body.constants.get(&id).map(|one| Box::new(Expr { span, ..one.clone() }));
        Ok(Operand {
            is_const: local.is_const,
            is_volatile: local.is_volatile,
            constant,
            ..Operand::new(expr)
        })
    }

    /// A field of the object of a member function.
    fn own_field(&mut self, word: &str, span: Span) -> Result<Operand> {
        let (Some((this, _)), Some(record)) = (self.body.this, self.body.record) else {
            return Err(error(span, format!("`{word}` belongs to an object, and there is none")));
        };
        let Some(path) = self.field_path(record, word) else {
            return Err(error(span, format!("`{word}` is not a field of this object")));
        };
        let object = self.local_operand(this, span)?;
        Ok(self.walk_fields(object, &path, span))
    }

    /// Walks from an object to a nested field.
    pub(super) fn walk_fields(&self, object: Operand, path: &[usize], span: Span) -> Operand {
        path.iter().fold(object, |object, position| self.field_of(object, *position, span))
    }

    fn field_of(&self, object: Operand, position: usize, span: Span) -> Operand {
        let field = match &object.expr.ty {
            Type::Record(id) => {
                self.program.records.get(*id).and_then(|one| one.fields.get(position)).cloned()
            }
            _ => None,
        };
        let Some(field) = field else { return object };
        if let (ExprKind::Construct(parts), Category::Value) =
            (&object.expr.kind, object.expr.category)
            && let Some(part) = parts.get(position)
            && parts.iter().all(|part| matches!(part.kind, ExprKind::Special(..)))
        {
            return Operand::new(Expr { span, ..part.clone() });
        }
        let category = object.expr.category;
        let expr = Expr {
            kind: ExprKind::Field(Box::new(object.expr), position),
            ty: field.ty,
            category,
            span,
        };
        Operand {
            is_const: object.is_const || field.is_const,
            is_volatile: object.is_volatile,
            is_xvalue: object.is_xvalue,
            ..Operand::new(expr)
        }
    }

    fn builtin_variable(&mut self, word: &str, span: Span) -> Option<Operand> {
        let (special, ty) = match word {
            "threadIdx" => (Special::ThreadIdx, "uint3"),
            "blockIdx" => (Special::BlockIdx, "uint3"),
            "blockDim" => (Special::BlockDim, "dim3"),
            "gridDim" => (Special::GridDim, "dim3"),
            "warpSize" => {
                let (kind, ty) = (ExprKind::Int(32), super::types::INT);
                return Some(Operand::new(Expr { kind, ty, category: Category::Value, span }));
            }
            _ => return None,
        };
        let parts = [0, 1, 2].map(|axis| Expr {
            kind: ExprKind::Special(special, axis),
            ty: UNSIGNED,
            category: Category::Value,
            span,
        });
        let ty = self.vector_type(ty).ty;
        let kind = ExprKind::Construct(parts.to_vec());
        Some(Operand::new(Expr { kind, ty, category: Category::Value, span }))
    }

    /// The reference kind of the variable denoted by a name, for `decltype`.
    pub(super) fn declared_reference(&mut self, inner: &'a ast::Expr) -> Option<Reference> {
        let Ast::Name(name) = &inner.kind else { return None };
        match self.find(name).ok()?.first()? {
            Entity::Local(id) => {
                let local = self.body.locals.get(*id)?;
                Some(if local.is_reference { Reference::Lvalue } else { Reference::None })
            }
            _ => Some(Reference::None),
        }
    }
}
