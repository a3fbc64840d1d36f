//! Declarations of namespaces and files (\[dcl.dcl\], \[basic.link\], \[over.load\], \[namespace.udecl\]).
//!
//! A declaration that cannot be read is kept with its reason and refused where it is used.

use super::analyser::Analyser;
use super::class::is_conversion_name;
use super::declarations::{Definition, FunctionDecl, Member, Pattern, Signature, Template};
use super::scope::{Entity, ScopeId, ScopeKind, spelled};
use super::template_text::template_text;
use super::types::{QType, decayed};
use crate::syntax::ast::{self, Declaration, DeclarationKind, TypeKind};
use crate::tree::Type;
use crate::{Result, error, name_error, unsupported};
use base::{Severity, Span};
use rustc_hash::FxHashMap;

impl<'a> Analyser<'a> {
    /// Declarations in the current scope, in order.
    pub(super) fn declare_all(&mut self, declarations: &'a [Declaration]) -> Result<()> {
        for declaration in declarations {
            self.order += 1;
            self.limit = self.order;
            match self.declare(declaration) {
                Err(why) if why.severity == Severity::Unsupported => {
                    for name in declared_names(declaration) {
                        self.enter(self.scope, name, Entity::Refused(why.message.clone()));
                    }
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// A declaration at file, namespace, class or block scope that is not a variable of a block.
    pub(super) fn declare(&mut self, declaration: &'a Declaration) -> Result<()> {
        let span = declaration.span;
        match &declaration.kind {
            DeclarationKind::Function(function) => self.declare_function(function),
            DeclarationKind::Variables(variables) => self.declare_variables(variables),
            DeclarationKind::Record(record) => self.declare_record(record, span).map(|_| ()),
            DeclarationKind::Enum(one) => self.declare_enum(one).map(|_| ()),
            DeclarationKind::Alias { name, template, ty } => {
                self.declare_alias(name, template.as_ref(), ty);
                Ok(())
            }
            DeclarationKind::UsingNamespace(name) => self.using_namespace(name),
            DeclarationKind::Using(name) => self.using(name),
            DeclarationKind::Namespace { name, is_transparent, declarations } => {
                self.declare_namespace(name, *is_transparent, declarations)
            }
            DeclarationKind::ExplicitInstantiation(function) => {
                self.explicit_instantiation(function, span);
                Ok(())
            }
            DeclarationKind::StaticAssert(condition) => self.static_assert(condition).map(|_| ()),
            DeclarationKind::Clauses(clauses) => self.file_clauses(clauses),
            DeclarationKind::Skipped { names, why, is_host_function } => {
                for name in names {
                    let refusal = format!("`{}` is {why}", name.text).into();
                    let entity = match is_host_function {
                        true => Entity::Host(refusal),
                        false => Entity::Refused(refusal),
                    };
                    self.enter(self.scope, &name.text, entity);
                }
                Ok(())
            }
        }
    }

    fn declare_namespace(
        &mut self,
        name: &'a ast::Name,
        is_transparent: bool,
        declarations: &'a [Declaration],
    ) -> Result<()> {
        let outer = self.scope;
        let known = self.names_in(outer, &name.text).into_iter().find_map(|one| match one {
            Entity::Namespace(scope) => Some(scope),
            _ => None,
        });
        let inner = match known.filter(|_| !name.text.is_empty()) {
            Some(scope) => scope,
            None => {
                let scope = self.new_scope(Some(outer), ScopeKind::Namespace);
                self.scopes[scope].name = name.text.clone();
                self.enter(outer, &name.text, Entity::Namespace(scope));
                if is_transparent {
                    self.scopes[outer].transparent.push(scope);
                }
                scope
            }
        };
        self.scope = inner;
        let result = self.declare_all(declarations);
        self.scope = outer;
        result
    }

    fn using_namespace(&mut self, name: &'a ast::QualifiedName) -> Result<()> {
        let Some(last) = name.parts.last() else { return Ok(()) };
        let within = self.qualifier(name).ok();
        let is_namespace = |one: &Entity| matches!(one, Entity::Namespace(_));
        let found = match within {
            Some(Some(scope)) => self.names_in(scope, &last.name.text),
            Some(None) => self.lookup_where(&last.name.text, is_namespace).1,
            None => Vec::new(),
        };
        let nominated = found.into_iter().find_map(|one| match one {
            Entity::Namespace(scope) => Some(scope),
            _ => None,
        });
        // Namespaces of unread headers have no names here, so their members are undeclared when used.
        if let Some(nominated) = nominated {
            let order = self.order;
            self.scopes[self.scope].directives.push((order, nominated));
        }
        Ok(())
    }

    fn using(&mut self, name: &'a ast::QualifiedName) -> Result<()> {
        let Some(last) = name.parts.last() else { return Ok(()) };
        let found = match self.qualifier(name).ok() {
            Some(Some(scope)) if scope == self.standard => return self.using_standard(last),
            Some(Some(scope)) => self.names_in(scope, &last.name.text),
            _ => Vec::new(),
        };
        let of_class = self.scopes.get(self.scope).map(|one| one.kind);
        if let Some(ScopeKind::Class(record)) = of_class {
            // A constructor has no name that could be refused.
            if let [.., class, last] = &name.parts[..]
                && class.name.text == last.name.text
            {
                self.refuse_class(
                    record,
                    last.name.span,
                    "inherited constructors are not supported",
                );
            }
            let why = "`using` of a base's members is not supported";
            self.enter(self.scope, &last.name.text, Entity::Refused(why.into()));
            return Ok(());
        }
        if found.is_empty() {
            let why = format!("`{}` is not declared", spelled(name));
            self.enter(self.scope, &last.name.text, Entity::Refused(why.into()));
        }
        for entity in found {
            self.enter(self.scope, &last.name.text, entity);
        }
        Ok(())
    }

    /// `using std::min;`: functions of the standard library are already found by their plain names, and overload in
    /// the same way.
    fn using_standard(&mut self, last: &'a ast::NamePart) -> Result<()> {
        if self.scope != self.global && self.is_builtin_name(&last.name.text) {
            let why =
                "a `using` of the standard library that hides other functions is not supported";
            self.enter(self.scope, &last.name.text, Entity::Refused(why.into()));
        }
        Ok(())
    }

    fn declare_alias(
        &mut self,
        name: &'a ast::Name,
        template: Option<&'a ast::TemplateParameters>,
        ty: &'a ast::TypeSyntax,
    ) {
        if let Some(parameters) = template {
            let pattern = Pattern::Alias(ty);
            self.declare_template(&name.text, pattern, parameters);
            return;
        }
        // `namespace a = b;` comes as another name for `b`.
        if let TypeKind::Named(target) = &ty.kind
            && let Ok(found) = self.find(target)
            && let Some(entity @ Entity::Namespace(_)) = found.first()
        {
            self.enter(self.scope, &name.text, entity.clone());
            return;
        }
        let entity = match self.resolve_type(ty) {
            Ok(found) => Entity::Type(found),
            Err(why) => Entity::Refused(why.message.clone()),
        };
        self.enter(self.scope, &name.text, entity);
    }

    pub(super) fn declare_template(
        &mut self,
        name: &str,
        pattern: Pattern<'a>,
        parameters: &'a ast::TemplateParameters,
    ) {
        let template = Template {
            pattern,
            parameters,
            scope: self.scope,
            order: self.order,
            specialisations: Vec::new(),
            member_definitions: Vec::new(),
            instances: FxHashMap::default(),
        };
        let id = self.templates.push(template);
        self.enter(self.scope, name, Entity::Template(id));
    }

    /// A record or enumeration defined inside of another declaration; once for all declarators.
    pub(super) fn defined_type(&mut self, declaration: &'a Declaration) -> Result<QType> {
        let key = (self.scope, declaration.span);
        if let Some(known) = self.defined.get(&key) {
            return Ok(known.clone());
        }
        let ty = match &declaration.kind {
            DeclarationKind::Record(record) => self.declare_record(record, declaration.span)?,
            DeclarationKind::Enum(one) => Some(self.declare_enum(one)?),
            _ => None,
        };
        let ty = ty.ok_or_else(|| error(declaration.span, "this is not a type"))?;
        let ty = QType::plain(ty);
        self.defined.insert(key, ty.clone());
        Ok(ty)
    }

    /// A false assertion is an error; one that depends on symbols is returned.
    pub(super) fn static_assert(
        &mut self,
        condition: &'a ast::Expr,
    ) -> Result<Option<crate::tree::Expr>> {
        let operand = self.constant_operand(condition)?;
        let truth = self.truth_of(operand)?;
        match self.integer_constant(&truth)? {
            Some(0) => Err(error(condition.span, "this static assertion is false")),
            Some(_) => Ok(None),
            None => Ok(Some(truth)),
        }
    }

    /// Parameter and result types, read in the scope of the declaration.
    pub(super) fn signature(&mut self, function: &'a ast::Function) -> Result<Signature> {
        let mut parameters = Vec::new();
        for parameter in &function.parameters {
            let mut ty = self.resolve_type(&parameter.ty)?;
            if !ty.is_reference() {
                let decay = decayed(&ty);
                if matches!(ty.ty, Type::Array(..)) {
                    (ty.is_const, ty.is_volatile) = (false, false);
                }
                ty.ty = decay;
            }
            if matches!(ty.ty, Type::Function(_)) {
                return Err(unsupported(
                    parameter.ty.span,
                    "pointers to functions are not supported",
                ));
            }
            if ty.ty == Type::Void {
                return Err(error(parameter.ty.span, "a parameter cannot be `void`"));
            }
            parameters.push(ty);
        }
        let returns = match is_auto(&function.returns) {
            true if matches!(function.returns.kind, TypeKind::Auto) => None,
            true => {
                return Err(unsupported(function.returns.span, "this `auto` is not supported"));
            }
            false => Some(self.resolve_type(&function.returns)?),
        };
        Ok(Signature { parameters, returns, is_variadic: function.is_variadic })
    }

    fn declare_function(&mut self, function: &'a ast::Function) -> Result<()> {
        if function.specifiers.is_friend {
            let Some(last) = function.name.parts.last() else { return Ok(()) };
            let why = "friend functions are not supported";
            let place = self.enclosing_namespace();
            if function.body.is_some() {
                self.enter(place, &last.name.text, Entity::Refused(why.into()));
            }
            return Ok(());
        }
        if function.name.parts.len() > 1 {
            return self.define_outside(function);
        }
        let is_specialisation =
            function.template.as_ref().is_some_and(|one| one.parameters.is_empty());
        match is_specialisation {
            true => self.specialise_function(function),
            false => self.declare_here(function, self.scope, None).map(|_| ()),
        }
    }

    fn enclosing_namespace(&self) -> ScopeId {
        let mut at = Some(self.scope);
        while let Some(scope) = at {
            match self.scopes.get(scope) {
                Some(one) if one.kind == ScopeKind::Namespace => return scope,
                Some(one) => at = one.parent,
                None => break,
            }
        }
        self.global
    }

    /// Declares a function in a scope, merging it with an earlier declaration of the same one.
    pub(super) fn declare_here(
        &mut self,
        function: &'a ast::Function,
        scope: ScopeId,
        member: Option<Member>,
    ) -> Result<super::scope::DeclId> {
        let Some(last) = function.name.parts.last() else {
            return Err(error(Span::default(), "this function has no name"));
        };
        let name: &str = &last.name.text;
        let signature = match function.template {
            Some(_) => None,
            None => Some(self.signature(function)),
        };
        let definition =
            (function.body.is_some() || function.is_defaulted || function.unread.is_some())
                .then_some(Definition { ast: function, order: self.order, scope });
        let defaults: Vec<_> = function.parameters.iter().map(|one| one.default.as_ref()).collect();
        if let Some(known) = self.same_function(scope, name, function, signature.as_ref(), member) {
            let decl = &mut self.decls[known];
            for (old, new) in decl.defaults.iter_mut().zip(defaults) {
                *old = old.or(new);
            }
            if let Some(definition) = definition {
                if decl.definition.is_some() && member.is_none() {
                    let message = format!("`{name}` is defined twice");
                    return Err(name_error(last.name.span, message));
                }
                decl.definition = Some(definition);
                if function.specifiers.is_global {
                    self.kernels.push((known, last.name.span));
                }
            }
            return Ok(known);
        }
        let id = self.decls.push(FunctionDecl {
            name: name.to_owned(),
            scope,
            order: self.order,
            ast: function,
            definition,
            signature,
            member,
            defaults,
            specialisations: Vec::new(),
            instances: FxHashMap::default(),
        });
        if function.specifiers.is_global && definition.is_some() {
            self.kernels.push((id, last.name.span));
        }
        self.has_operators |= name.starts_with("operator") && member.is_none();
        if !member.is_some_and(|one| one.is_constructor) {
            self.enter(scope, name, Entity::Function(id));
        }
        Ok(id)
    }

    /// An earlier declaration of the same function: same parameters, and `const` for members (\[over.dcl\]).
    fn same_function(
        &self,
        scope: ScopeId,
        name: &str,
        function: &'a ast::Function,
        signature: Option<&Result<Signature>>,
        member: Option<Member>,
    ) -> Option<super::scope::DeclId> {
        let entities = self.scopes.get(scope)?.names.get(name)?;
        entities.iter().find_map(|(_, entity)| {
            let Entity::Function(id) = entity else { return None };
            let decl = self.decls.get(*id)?;
            let same = match (&decl.signature, signature) {
                (Some(Ok(one)), Some(Ok(other))) => same_parameters(one, other),
                (None, None) => template_text(decl.ast) == template_text(function),
                _ => false,
            };
            let same_result = !is_conversion_name(name)
                || match (&decl.signature, signature) {
                    (Some(Ok(one)), Some(Ok(other))) => one.returns == other.returns,
                    _ => false,
                };
            let is_const = |one: Option<Member>| one.map(|one| one.is_const);
            (same && same_result && is_const(decl.member) == is_const(member)).then_some(*id)
        })
    }

    /// `int S::f() { … }`, `int n::f() { … }` and members of class templates (\[class.mfct\], \[temp.mem.func\]).
    fn define_outside(&mut self, function: &'a ast::Function) -> Result<()> {
        let Some((last, before)) = function.name.parts.split_last() else { return Ok(()) };
        let class_template = before.last().filter(|one| one.arguments.is_some());
        if let (Some(part), Some(parameters)) = (class_template, &function.template) {
            let found = self.lookup(&part.name.text).1;
            let template = found.into_iter().find_map(|one| match one {
                Entity::Template(id) => Some(id),
                _ => None,
            });
            let Some(template) = template else {
                return Ok(());
            };
            if parameters.parameters.is_empty() {
                let why = "specialisations of single members are not supported";
                self.enter(self.scope, &part.name.text, Entity::Refused(why.into()));
                return Ok(());
            }
            let order = self.order;
            self.templates[template].member_definitions.push((function, order));
            return Ok(());
        }
        let Some(scope) = self.qualifier(&function.name)? else { return Ok(()) };
        let outer = std::mem::replace(&mut self.scope, scope);
        let result = self.define_in(function, scope, last);
        self.scope = outer;
        result
    }

    fn define_in(
        &mut self,
        function: &'a ast::Function,
        scope: ScopeId,
        last: &'a ast::NamePart,
    ) -> Result<()> {
        let record = match self.scopes.get(scope).map(|one| one.kind) {
            Some(ScopeKind::Class(record)) => record,
            _ => return self.declare_here(function, scope, None).map(|_| ()),
        };
        let signature = match function.template {
            Some(_) => None,
            None => Some(self.signature(function)?),
        };
        let mut candidates: Vec<_> = self.names_in(scope, &last.name.text);
        if let Some(class) = self.class(record) {
            candidates.extend(class.constructors.iter().map(|one| Entity::Function(*one)));
            candidates.extend(class.conversions.iter().map(|one| Entity::Function(*one)));
        }
        for entity in candidates {
            let Entity::Function(id) = entity else { continue };
            let Some(decl) = self.decls.get(id) else { continue };
            let same = match (&decl.signature, &signature) {
                (Some(Ok(one)), Some(other)) => {
                    same_parameters(one, other) && decl.name == *last.name.text
                }
                (None, None) => template_text(decl.ast) == template_text(function),
                _ => false,
            };
            let is_const = decl.member.is_some_and(|one| one.is_const);
            if same && is_const == function.is_const_member {
                let order = self.order;
                self.decls[id].definition = Some(Definition { ast: function, order, scope });
                return Ok(());
            }
        }
        Err(name_error(last.name.span, "the class has no such member"))
    }
}

/// Names that an unread declaration would have declared.
fn declared_names(declaration: &Declaration) -> Vec<&str> {
    match &declaration.kind {
        DeclarationKind::Function(function) => {
            function.name.parts.last().map(|one| one.name.text.as_ref()).into_iter().collect()
        }
        DeclarationKind::Record(record) => vec![&record.name.name.text],
        DeclarationKind::Enum(one) => {
            let values = one.values.iter().map(|one| one.0.text.as_ref());
            std::iter::once(one.name.text.as_ref()).chain(values).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns `true` if two functions have the same parameters without top-level `const`, so that they are no overloads.
pub(super) fn same_parameters(one: &Signature, other: &Signature) -> bool {
    let same = |one: &QType, other: &QType| match one.is_reference() {
        true => one == other,
        false => one.ty == other.ty && !other.is_reference(),
    };
    one.is_variadic == other.is_variadic
        && one.parameters.len() == other.parameters.len()
        && one.parameters.iter().zip(&other.parameters).all(|(one, other)| same(one, other))
}

pub(super) fn is_auto(syntax: &ast::TypeSyntax) -> bool {
    match &syntax.kind {
        TypeKind::Auto => true,
        TypeKind::Pointer(inner)
        | TypeKind::Reference(inner)
        | TypeKind::RvalueReference(inner) => is_auto(inner),
        _ => false,
    }
}
