//! Instances of templates: their arguments, scopes that bind parameters, classes, aliases and variables (\[temp.arg\],
//! \[temp.spec\], \[temp.class.spec\]).

use super::analyser::Analyser;
use super::declarations::{Arg, Pattern};
use super::function_pointer::is_function_pointer;
use super::scope::{Entity, ScopeId, ScopeKind, TemplateId};
use super::types::QType;
use crate::syntax::ast::{self, TemplateArgument, TemplateParameterKind, TypeKind};
use crate::tree::{self, Expr, ExprKind, Type, display};
use crate::{Result, error, limit, unsupported};
use base::Span;

/// The longest list of arguments, as text: aliases of aliases can double it in every step.
const MAX_KEY: usize = 1 << 16;
/// The most scopes of a program, of which each use of a template has one.
const MAX_SCOPES: usize = 1 << 20;

impl<'a> Analyser<'a> {
    /// An argument as text: two arguments are the same if their texts are.
    pub(super) fn arg_text(&self, arg: &Arg) -> String {
        match arg {
            Arg::Type(ty) => {
                let reference = match ty.reference {
                    super::types::Reference::None => "",
                    super::types::Reference::Lvalue => "&",
                    super::types::Reference::Rvalue => "&&",
                };
                let volatile = if ty.is_volatile { "volatile " } else { "" };
                let of_const = if ty.is_const { "const " } else { "" };
                format!(
                    "{volatile}{of_const}{}{reference}",
                    display::type_text(&self.program, &ty.ty)
                )
            }
            Arg::Value(expr) => match expr.kind {
                ExprKind::Int(value) => match expr.ty {
                    Type::Bool => (value != 0).to_string(),
                    _ => value.to_string(),
                },
                _ => display::expr_text(&self.program, None, expr),
            },
        }
    }

    /// A template argument of the program.
    pub(super) fn template_argument(&self, arg: &Arg) -> tree::TemplateArgument {
        let symbol = match arg {
            Arg::Value(Expr { kind: ExprKind::Symbol(symbol), .. }) => Some(*symbol),
            _ => None,
        };
        tree::TemplateArgument { text: self.arg_text(arg), symbol }
    }

    /// The key of a list of arguments. Types with equal names differ by number.
    pub(super) fn key(&self, args: &[Arg]) -> String {
        let texts: Vec<String> = args
            .iter()
            .map(|arg| match arg {
                Arg::Type(ty) => format!("{}#{:?}", self.arg_text(arg), ty.ty),
                Arg::Value(expr) => {
                    // Symbols of two kernels may have equal names.
                    let mut symbols = Vec::new();
                    expr.walk(&mut |inner| match inner.kind {
                        ExprKind::Symbol(id) => symbols.push(format!("{id:?}")),
                        ExprKind::Function(id) => symbols.push(format!("{id:?}")),
                        _ => {}
                    });
                    format!("{}#{:?}#{symbols:?}", self.arg_text(arg), expr.ty)
                }
            })
            .collect();
        texts.join(", ")
    }

    /// Reads an argument for a parameter, in the current scope; types of earlier parameters are declared in `bound`.
    pub(super) fn argument(
        &mut self,
        parameter: &'a ast::TemplateParameter,
        given: &'a TemplateArgument,
        bound: ScopeId,
    ) -> Result<Arg> {
        if parameter.is_pack {
            return Err(unsupported(parameter.name.span, "template packs are not supported"));
        }
        match (&parameter.kind, given) {
            (TemplateParameterKind::Type(_), TemplateArgument::Type(ty)) => {
                Ok(Arg::Type(self.resolve_type(ty)?))
            }
            (TemplateParameterKind::Constant(ty, _), TemplateArgument::Expr(value)) => {
                let limit = self.limit;
                let ty = self.at_place(bound, limit, |one| one.resolve_type(ty))?;
                if is_function_pointer(&ty.ty) {
                    let found = self.operand(value)?;
                    return self.function_argument(found, &ty.ty).map(Arg::Value);
                }
                let value = self.constant_operand(value)?;
                self.converted_argument(value, &ty.ty).map(Arg::Value)
            }
            // The parser may take a constant's name for a type if it knows neither.
            (TemplateParameterKind::Constant(ty, _), TemplateArgument::Type(syntax)) => {
                let TypeKind::Named(name) = &syntax.kind else {
                    return Err(error(syntax.span, "expected a constant"));
                };
                let limit = self.limit;
                let ty = self.at_place(bound, limit, |one| one.resolve_type(ty))?;
                let value = self.name_operand(name, syntax.span)?;
                if is_function_pointer(&ty.ty) {
                    return self.function_argument(value, &ty.ty).map(Arg::Value);
                }
                let value = self.rvalue(value)?;
                let value = self.fold_known(value)?;
                self.converted_argument(value, &ty.ty).map(Arg::Value)
            }
            (TemplateParameterKind::Type(_), TemplateArgument::Expr(value)) => {
                Err(error(value.span, "expected a type"))
            }
        }
    }

    /// A converted constant expression (\[expr.const\]/5): narrowing is an error.
    pub(super) fn converted_argument(&mut self, value: Expr, ty: &Type) -> Result<Expr> {
        let span = value.span;
        let from = self.integer_constant(&value)?;
        let to = self.converted(value, ty, span)?;
        let to = self.fold_known(to)?;
        if let (Some(before), Some(after)) = (from, self.integer_constant(&to)?)
            && before != after
        {
            return Err(error(span, "this constant does not fit the template's parameter"));
        }
        Ok(to)
    }

    /// Binds parameters to arguments, defaults included, in a scope below `parent`. `None` if one is missing.
    pub(super) fn bind(
        &mut self,
        parameters: &'a ast::TemplateParameters,
        given: &[Option<Arg>],
        parent: ScopeId,
        limit: u32,
    ) -> Result<Option<(ScopeId, Vec<Arg>)>> {
        let scope = self.new_scope(Some(parent), ScopeKind::Template);
        let mut args = Vec::new();
        if given.len() > parameters.parameters.len() {
            return Ok(None);
        }
        for (position, parameter) in parameters.parameters.iter().enumerate() {
            if parameter.is_pack {
                let message = "template packs are not supported";
                return Err(unsupported(parameter.name.span, message));
            }
            let arg = match (given.get(position).cloned().flatten(), &parameter.kind) {
                (Some(arg), _) => arg,
                (None, TemplateParameterKind::Type(Some(default))) => {
                    Arg::Type(self.at_place(scope, limit, |one| one.resolve_type(default))?)
                }
                (None, TemplateParameterKind::Constant(ty, Some(default))) => {
                    Arg::Value(self.at_place(scope, limit, |one| {
                        let value = one.constant_operand(default)?;
                        let ty = one.resolve_type(ty)?;
                        one.converted_argument(value, &ty.ty)
                    })?)
                }
                (None, _) => return Ok(None),
            };
            let entity = match &arg {
                Arg::Type(ty) => Entity::Type(ty.clone()),
                Arg::Value(value) => Entity::Constant(Box::new(value.clone())),
            };
            self.enter(scope, &parameter.name.text, entity);
            args.push(arg);
        }
        Ok(Some((scope, args)))
    }

    /// `S<…>`, an alias or a variable template with explicit arguments.
    pub(super) fn instance(
        &mut self,
        id: TemplateId,
        given: &'a [TemplateArgument],
        span: Span,
    ) -> Result<Entity> {
        let Some(template) = self.templates.get(id) else {
            return Err(error(span, "this template does not exist"));
        };
        let (parameters, parent, order) = (template.parameters, template.scope, template.order);
        let bound = self.new_scope(Some(parent), ScopeKind::Template);
        let mut args = Vec::new();
        for (position, one) in given.iter().enumerate() {
            let Some(parameter) = parameters.parameters.get(position) else {
                return Err(unsupported(span, "this template takes fewer arguments"));
            };
            let arg = self.argument(parameter, one, bound)?;
            if let Arg::Type(ty) = &arg {
                self.enter(bound, &parameter.name.text, Entity::Type(ty.clone()));
            }
            args.push(Some(arg));
        }
        let Some((scope, args)) = self.bind(parameters, &args, parent, order)? else {
            return Err(error(span, "arguments of this template are missing"));
        };
        self.instance_of(id, scope, args, span)
    }

    /// The instance for these arguments; `scope` binds the primary template's parameters.
    pub(super) fn instance_of(
        &mut self,
        id: TemplateId,
        scope: ScopeId,
        args: Vec<Arg>,
        span: Span,
    ) -> Result<Entity> {
        let key = self.key(&args);
        if key.len() > MAX_KEY || self.scopes.len() > MAX_SCOPES {
            return Err(limit(span, "templates create a type that is too large"));
        }
        if let Some(known) = self.templates.get(id).and_then(|one| one.instances.get(&key)) {
            return known.clone();
        }
        let (pattern, scope) = self.specialised(id, scope, &args, span)?;
        self.with_instance_limit(span, |analyser| match pattern {
            Pattern::Record(record) => {
                analyser.record_instance(id, record, scope, (args, key), span)
            }
            Pattern::Alias(ty) => {
                let order = analyser.templates.get(id).map_or(0, |one| one.order);
                let ty = analyser.at_place(scope, order, |one| one.resolve_type(ty))?;
                analyser.keep_instance(id, key, Entity::Type(ty))
            }
            Pattern::Variable(variables, declarator) => {
                let order = analyser.templates.get(id).map_or(0, |one| one.order);
                let entity = analyser
                    .at_place(scope, order, |one| one.constant_variable(variables, declarator))?;
                analyser.keep_instance(id, key, entity)
            }
        })
    }

    fn keep_instance(&mut self, id: TemplateId, key: String, entity: Entity) -> Result<Entity> {
        self.templates[id].instances.insert(key, Ok(entity.clone()));
        Ok(entity)
    }

    fn record_instance(
        &mut self,
        id: TemplateId,
        record: &'a ast::Record,
        scope: ScopeId,
        (args, key): (Vec<Arg>, String),
        span: Span,
    ) -> Result<Entity> {
        if record.members.is_none() {
            return Err(unsupported(span, "this class template is not defined"));
        }
        let name: &str = &record.name.name.text;
        let instance = self.new_record(name, scope, record.name.name.span);
        let entity = Entity::Type(QType::plain(Type::Record(instance)));
        if let Some(class) = self.class_mut(instance) {
            class.instance = Some((id, args));
        }
        self.templates[id].instances.insert(key, Ok(entity.clone()));
        // Templates are read in the scope of their definition: later names are invisible.
        let order = self.templates.get(id).map_or(0, |one| one.order);
        let saved = std::mem::replace(&mut self.order, order);
        let body = std::mem::replace(&mut self.body, super::analyser::Body::new());
        self.at_place(scope, order, |one| one.fill_record(instance, record));
        self.body = body;
        self.order = saved;
        Ok(entity)
    }

    /// The best matching specialisation, and the scope that binds its parameters (\[temp.class.spec.match\]).
    fn specialised(
        &mut self,
        id: TemplateId,
        primary: ScopeId,
        args: &[Arg],
        span: Span,
    ) -> Result<(Pattern<'a>, ScopeId)> {
        let Some(template) = self.templates.get(id) else {
            return Err(error(span, "this template does not exist"));
        };
        let (parent, order, pattern) = (template.scope, template.order, template.pattern);
        let specialisations = template.specialisations.clone();
        let mut fitting = Vec::new();
        for (parameters, patterns, special) in specialisations {
            let bound = self.at_place(parent, self.limit, |one| {
                one.match_specialisation(parameters, patterns, args)
            })?;
            if let Some(given) = bound
                && let Some((scope, _)) = self.bind(parameters, &given, parent, order)?
            {
                fitting.push((parameters.parameters.is_empty(), special, scope));
            }
        }
        if let Some((_, special, scope)) = fitting.iter().find(|one| one.0) {
            return Ok((*special, *scope));
        }
        match &fitting[..] {
            [] => Ok((pattern, primary)),
            [(_, special, scope)] => Ok((*special, *scope)),
            _ => Err(unsupported(span, "several partial specialisations fit here")),
        }
    }

    /// Arguments of a specialisation's parameters, if its patterns match.
    fn match_specialisation(
        &mut self,
        parameters: &'a ast::TemplateParameters,
        patterns: &'a [TemplateArgument],
        args: &[Arg],
    ) -> Result<Option<Vec<Option<Arg>>>> {
        let mut bound = super::deduce::Bindings::new(parameters);
        if patterns.len() != args.len() {
            return Ok(None);
        }
        for (pattern, arg) in patterns.iter().zip(args) {
            if !self.match_argument(pattern, arg, &mut bound)? {
                return Ok(None);
            }
        }
        Ok(Some(bound.args))
    }

    /// `template <> struct S<int> { … };`, `template <> constexpr int v<int> = 1;` and partial specialisations.
    pub(super) fn specialise(
        &mut self,
        name: &str,
        parameters: &'a ast::TemplateParameters,
        (arguments, pattern): (&'a [TemplateArgument], Pattern<'a>),
        span: Span,
    ) -> Result<()> {
        let found = self.lookup(name).1;
        let template = found.into_iter().find_map(|one| match one {
            Entity::Template(id) => Some(id),
            _ => None,
        });
        let Some(template) = template else {
            return Err(error(span, format!("there is no template `{name}`")));
        };
        let computes = |template_argument: &TemplateArgument| match template_argument {
            TemplateArgument::Type(ty) => super::template_text::has_decltype(ty),
            TemplateArgument::Expr(_) => false,
        };
        if arguments.iter().any(computes) {
            let why = "a specialisation for types of expressions is not supported";
            self.enter(self.scope, name, Entity::Refused(why.into()));
            return Ok(());
        }
        self.templates[template].specialisations.push((parameters, arguments, pattern));
        Ok(())
    }
}

/// Returns `true` if an argument is a value that is not fixed.
pub(super) fn is_symbolic(arg: &Arg) -> bool {
    match arg {
        Arg::Type(_) => false,
        Arg::Value(expr) => !matches!(expr.kind, ExprKind::Int(_) | ExprKind::Function(_)),
    }
}
