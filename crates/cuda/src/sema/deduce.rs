//! Template argument deduction (\[temp.deduct.call\], \[temp.deduct.type\]).
//!
//! A type that mentions parameters in a form without a rule here deduces nothing. The conversion of the argument is
//! checked after substitution, so this errs towards refusal.

use super::analyser::Analyser;
use super::declarations::{Arg, Signature};
use super::operand::Operand;
use super::scope::{DeclId, Entity, ScopeId};
use super::types::{QType, Reference, decayed};
use crate::syntax::ast::{self, TemplateArgument, TemplateParameterKind, TypeKind, TypeSyntax};
use crate::tree::{Category, Expr, ExprKind, Extent, Type};
use crate::{Result, error, unsupported};
use base::{Severity, Span};

/// Parameters of a template, with their arguments so far.
pub(crate) struct Bindings<'a> {
    pub parameters: &'a ast::TemplateParameters,
    pub args: Vec<Option<Arg>>,
    /// The number of explicit arguments: these are not deduced.
    pub explicit: usize,
}

impl<'a> Bindings<'a> {
    pub(super) fn new(parameters: &'a ast::TemplateParameters) -> Self {
        let args = vec![None; parameters.parameters.len()];
        Self { parameters, args, explicit: 0 }
    }

    fn position(&self, name: &ast::QualifiedName) -> Option<usize> {
        match &name.parts[..] {
            [part] if part.arguments.is_none() && !name.is_global => {
                self.parameters.parameters.iter().position(|parameter| {
                    parameter.name.text == part.name.text && !parameter.name.text.is_empty()
                })
            }
            _ => None,
        }
    }
}

/// A candidate of a call that is an instance of a template.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub scope: ScopeId,
    pub key: String,
    pub args: Vec<Arg>,
    pub signature: Signature,
}

impl<'a> Analyser<'a> {
    /// The instance of a function template for a call; `None` if deduction fails.
    pub(super) fn deduce_call(
        &mut self,
        decl: DeclId,
        explicit: &'a [TemplateArgument],
        arguments: &[Operand],
    ) -> Result<Option<Instance>> {
        let Some(one) = self.decls.get(decl) else { return Ok(None) };
        // Names in its parameters are looked up at its declaration.
        let (function, scope, order) = (one.ast, one.scope, one.order);
        let Some(parameters) = &function.template else { return Ok(None) };
        let mut bound = Bindings::new(parameters);
        if !self.explicit_arguments(decl, explicit, &mut bound)? {
            return Ok(None);
        }
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            // If all arguments are explicit, nothing is deduced: arguments are converted.
            if bound.args.iter().all(Option::is_some) {
                break;
            }
            let fits = self.at_place(scope, order, |one| {
                one.deduce_parameter(&parameter.ty, argument, &mut bound)
            })?;
            if !fits {
                return Ok(None);
            }
        }
        self.substitute(decl, &bound.args)
    }

    /// Takes the explicit arguments of the call. `false` if they do not fit.
    pub(super) fn explicit_arguments(
        &mut self,
        decl: DeclId,
        explicit: &'a [TemplateArgument],
        bound: &mut Bindings<'a>,
    ) -> Result<bool> {
        let Some(scope) = self.decls.get(decl).map(|one| one.scope) else { return Ok(false) };
        let inner = self.new_scope(Some(scope), super::scope::ScopeKind::Template);
        for (position, given) in explicit.iter().enumerate() {
            let Some(parameter) = bound.parameters.parameters.get(position) else {
                return Ok(false);
            };
            let arg = match self.argument(parameter, given, inner) {
                Ok(arg) => arg,
                Err(why) if why.severity == Severity::Error => return Ok(false),
                Err(why) => return Err(why),
            };
            if let Arg::Type(ty) = &arg {
                self.enter(inner, &parameter.name.text, Entity::Type(ty.clone()));
            }
            if let Some(slot) = bound.args.get_mut(position) {
                *slot = Some(arg);
            }
        }
        bound.explicit = explicit.len();
        Ok(true)
    }

    /// The signature for these arguments; an invalid one removes the template from the overload set
    /// (\[temp.deduct\]/8).
    pub(super) fn substitute(
        &mut self,
        decl: DeclId,
        args: &[Option<Arg>],
    ) -> Result<Option<Instance>> {
        let Some(one) = self.decls.get(decl) else { return Ok(None) };
        let (function, parent, order) = (one.ast, one.scope, one.order);
        let Some(parameters) = &function.template else { return Ok(None) };
        let span = function.name.parts.last().map_or(Span::default(), |one| one.name.span);
        let written =
            function.parameters.iter().map(|parameter| &parameter.ty).chain([&function.returns]);
        if { written }.any(super::template_text::has_decltype) {
            return Err(unsupported(span, "types of expressions in templates are not supported"));
        }
        let result = self.with_instance_limit(span, |analyser| {
            let Some((scope, args)) = analyser.bind(parameters, args, parent, order)? else {
                return Ok(None);
            };
            let signature = analyser.at_place(scope, order, |one| one.signature(function))?;
            let key = analyser.key(&args);
            Ok(Some(Instance { scope, key, args, signature }))
        });
        match result {
            Err(why) if why.severity == Severity::Error => Ok(None),
            other => other,
        }
    }

    /// [temp.deduct.call]: `P` from an argument.
    fn deduce_parameter(
        &mut self,
        pattern: &'a TypeSyntax,
        argument: &Operand,
        bound: &mut Bindings<'a>,
    ) -> Result<bool> {
        let from = argument.qtype();
        if argument.is_null
            && matches!(argument.expr.kind, ExprKind::Null)
            && mentions(pattern, bound)
        {
            // `nullptr` has a type of its own, not a pointer type.
            return match &pattern.kind {
                TypeKind::Pointer(_) => Ok(false),
                _ => Err(unsupported(argument.span(), "the type of `nullptr` is not supported")),
            };
        }
        match &pattern.kind {
            TypeKind::Reference(inner) => self.deduce(inner, &from, bound),
            TypeKind::RvalueReference(inner) => {
                // A forwarding reference takes an lvalue as a reference to it.
                let forwards = matches!(&inner.kind, TypeKind::Named(name) if bound.position(name).is_some())
                    && !inner.is_const
                    && !inner.is_volatile;
                let is_lvalue = argument.is_place() && !argument.is_xvalue;
                let from = match forwards && is_lvalue {
                    true => QType { reference: Reference::Lvalue, ..from },
                    false => from,
                };
                self.deduce(inner, &from, bound)
            }
            _ => {
                let from = QType::plain(decayed(&from));
                self.deduce(pattern, &from, bound)
            }
        }
    }

    /// [temp.deduct.type]: `P` from a type. `false` if they cannot be made equal.
    pub(super) fn deduce(
        &mut self,
        pattern: &'a TypeSyntax,
        from: &QType,
        bound: &mut Bindings<'a>,
    ) -> Result<bool> {
        match &pattern.kind {
            TypeKind::Named(name) => match bound.position(name) {
                Some(position) => {
                    let from = QType {
                        is_const: from.is_const && !pattern.is_const,
                        is_volatile: from.is_volatile && !pattern.is_volatile,
                        ..from.clone()
                    };
                    Ok(self.bind_one(position, Arg::Type(from), bound))
                }
                None => self.deduce_from_instance(name, from, bound),
            },
            TypeKind::Pointer(inner) => match &from.ty {
                Type::Pointer(to) => self.deduce(inner, &QType::of(to), bound),
                // A null pointer or an object with a conversion deduces nothing; this is fine if the pattern has no
                // parameters.
                _ => Ok(!mentions(pattern, bound)),
            },
            TypeKind::Array(inner, size) => {
                let Type::Array(element, extent) = &from.ty else {
                    return Ok(!mentions(pattern, bound));
                };
                let element_type = QType { ty: element.as_ref().clone(), ..from.clone() };
                if !self.deduce(inner, &element_type, bound)? {
                    return Ok(false);
                }
                match (size.as_deref().map(|one| (&one.kind, one.span)), extent) {
                    (Some((ast::ExprKind::Name(name), span)), Extent::Known(count)) => {
                        let Some(position) = bound.position(name) else {
                            return Err(unsupported(span, ARRAY));
                        };
                        let value = Expr {
                            kind: ExprKind::Int(i128::from(*count)),
                            ty: super::types::SIZE,
                            category: Category::Value,
                            span,
                        };
                        self.bind_value(position, value, bound)
                    }
                    (Some((ast::ExprKind::Name(name), span)), _)
                        if bound.position(name).is_some() =>
                    {
                        Err(unsupported(span, "a size cannot be deduced from this array"))
                    }
                    (None, extent) => Ok(matches!(extent, Extent::Unknown)),
                    (Some((_, span)), _) => Err(unsupported(span, ARRAY)),
                }
            }
            TypeKind::Reference(_) | TypeKind::RvalueReference(_) => Ok(!mentions(pattern, bound)),
            TypeKind::Words(_) | TypeKind::Auto | TypeKind::Defined(_) => Ok(true),
            TypeKind::Decltype(_) => Ok(true),
            TypeKind::Function(..) => {
                Err(unsupported(pattern.span, "deduction from functions is not supported"))
            }
        }
    }

    /// `S<T, n>` from an instance of `S`.
    fn deduce_from_instance(
        &mut self,
        name: &'a ast::QualifiedName,
        from: &QType,
        bound: &mut Bindings<'a>,
    ) -> Result<bool> {
        let Some(part) = name.parts.last() else { return Ok(true) };
        let Some(patterns) = &part.arguments else { return Ok(true) };
        if name.parts.len() > 1 {
            return Ok(true);
        }
        let template = self.find(name)?.into_iter().find_map(|one| match one {
            Entity::Template(id) => Some(id),
            _ => None,
        });
        let is_class = template
            .and_then(|id| self.templates.get(id))
            .is_some_and(|one| matches!(one.pattern, super::declarations::Pattern::Record(_)));
        if !is_class {
            let span = part.name.span;
            return Err(unsupported(span, "deduction through another name is not supported"));
        }
        let instance = match &from.ty {
            Type::Record(id) => self.class(*id).and_then(|one| one.instance.clone()),
            _ => None,
        };
        let fits = instance.as_ref().is_some_and(|one| Some(one.0) == template);
        if let Type::Record(record) = &from.ty
            && !fits
            && !self.bases(*record).is_empty()
        {
            let message = "deduction from a base is not supported";
            return Err(unsupported(part.name.span, message));
        }
        let Some((_, args)) = instance.filter(|one| Some(one.0) == template) else {
            return Ok(!patterns.iter().any(|pattern| match pattern {
                TemplateArgument::Type(ty) => mentions(ty, bound),
                TemplateArgument::Expr(expr) => names_parameter(expr, bound),
            }));
        };
        for (pattern, arg) in patterns.iter().zip(&args) {
            if !self.match_argument(pattern, arg, bound)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Matches an argument's pattern with an argument: exact, as in specialisations.
    pub(super) fn match_argument(
        &mut self,
        pattern: &'a TemplateArgument,
        arg: &Arg,
        bound: &mut Bindings<'a>,
    ) -> Result<bool> {
        match (pattern, arg) {
            (TemplateArgument::Type(syntax), Arg::Type(ty)) => {
                if !mentions(syntax, bound) {
                    return Ok(self.resolve_type(syntax)? == *ty);
                }
                if !exactly_shaped(syntax, ty, bound) {
                    return Ok(false);
                }
                let inner = match &syntax.kind {
                    TypeKind::Reference(inner) | TypeKind::RvalueReference(inner) => inner,
                    _ => syntax,
                };
                let ty = if std::ptr::eq(inner, syntax) { ty.clone() } else { ty.referred() };
                self.deduce(inner, &ty, bound)
            }
            (TemplateArgument::Expr(pattern), Arg::Value(value)) => {
                if let ast::ExprKind::Name(name) = &pattern.kind
                    && let Some(position) = bound.position(name)
                {
                    return self.bind_value(position, value.clone(), bound);
                }
                let wanted = self.constant_operand(pattern)?;
                let wanted = self.integer_constant(&wanted)?;
                match self.integer_constant(value)? {
                    Some(known) => Ok(wanted == Some(known)),
                    None => Err(unsupported(
                        pattern.span,
                        "a specialisation depends on a value that is not known",
                    )),
                }
            }
            (TemplateArgument::Type(syntax), Arg::Value(value)) => match &syntax.kind {
                TypeKind::Named(name) => match bound.position(name) {
                    Some(position) => self.bind_value(position, value.clone(), bound),
                    None => Ok(false),
                },
                _ => Ok(false),
            },
            _ => Ok(false),
        }
    }

    fn bind_one(&self, position: usize, arg: Arg, bound: &mut Bindings<'a>) -> bool {
        if position < bound.explicit {
            return true;
        }
        let text = self.key(std::slice::from_ref(&arg));
        match bound.args.get_mut(position) {
            Some(slot @ None) => {
                *slot = Some(arg);
                true
            }
            Some(Some(known)) => self.key(std::slice::from_ref(known)) == text,
            None => false,
        }
    }

    fn bind_value(
        &mut self,
        position: usize,
        value: Expr,
        bound: &mut Bindings<'a>,
    ) -> Result<bool> {
        let Some(parameter) = bound.parameters.parameters.get(position) else { return Ok(false) };
        let TemplateParameterKind::Constant(ty, _) = &parameter.kind else {
            return Err(error(parameter.name.span, "this parameter is a type"));
        };
        let ty = self.resolve_type(ty)?;
        let span = value.span;
        let value = self.converted(value, &ty.ty, span)?;
        let value = self.fold_known(value)?;
        Ok(self.bind_one(position, Arg::Value(value), bound))
    }

    /// The type of `auto x = e` and similar (\[dcl.type.auto.deduct\]).
    pub(super) fn deduce_auto(&mut self, syntax: &'a TypeSyntax, from: &Operand) -> Result<QType> {
        let is_lvalue = from.is_place() && !from.is_xvalue;
        let source = from.qtype();
        let (mut ty, inner) = match &syntax.kind {
            TypeKind::Reference(inner) => {
                (QType { reference: Reference::Lvalue, ..source }, inner.as_ref())
            }
            TypeKind::RvalueReference(inner) => {
                let reference = if is_lvalue { Reference::Lvalue } else { Reference::Rvalue };
                (QType { reference, ..source }, inner.as_ref())
            }
            _ => (QType::plain(decayed(&source)), syntax),
        };
        match &inner.kind {
            TypeKind::Auto => {
                ty.is_const |= inner.is_const;
                ty.is_volatile |= inner.is_volatile;
                Ok(ty)
            }
            TypeKind::Pointer(to) => {
                let Type::Pointer(pointee) = &ty.ty else {
                    return Err(error(syntax.span, "this is not a pointer"));
                };
                let TypeKind::Auto = &to.kind else {
                    return Err(unsupported(syntax.span, "this use of `auto` is not supported"));
                };
                let mut pointee = pointee.as_ref().clone();
                pointee.is_const |= to.is_const;
                pointee.is_volatile |= to.is_volatile;
                ty.ty = Type::Pointer(std::sync::Arc::new(pointee));
                ty.is_const |= inner.is_const;
                Ok(ty)
            }
            _ => Err(unsupported(syntax.span, "this use of `auto` is not supported")),
        }
    }
}

/// The reason why sizes of arrays are not compared.
const ARRAY: &str = "an array of this size in a template is not supported";

/// Returns `true` if a written type mentions one of the parameters.
fn mentions(syntax: &TypeSyntax, bound: &Bindings<'_>) -> bool {
    match &syntax.kind {
        TypeKind::Named(name) => name.parts.iter().any(|part| {
            let is_parameter = bound.parameters.parameters.iter().any(|parameter| {
                parameter.name.text == part.name.text && !part.name.text.is_empty()
            });
            is_parameter
                || part.arguments.iter().flatten().any(|one| match one {
                    TemplateArgument::Type(ty) => mentions(ty, bound),
                    TemplateArgument::Expr(expr) => names_parameter(expr, bound),
                })
        }),
        TypeKind::Pointer(inner)
        | TypeKind::Reference(inner)
        | TypeKind::RvalueReference(inner) => mentions(inner, bound),
        TypeKind::Array(inner, size) => {
            mentions(inner, bound) || size.as_ref().is_some_and(|one| names_parameter(one, bound))
        }
        TypeKind::Decltype(_) | TypeKind::Function(..) => true,
        TypeKind::Words(_) | TypeKind::Auto | TypeKind::Defined(_) => false,
    }
}

/// Returns `true` if an expression may mention a parameter: all may but plain literals and other names.
fn names_parameter(expr: &ast::Expr, bound: &Bindings<'_>) -> bool {
    match &expr.kind {
        ast::ExprKind::Name(name) => bound.position(name).is_some(),
        ast::ExprKind::Int { .. } | ast::ExprKind::Bool(_) | ast::ExprKind::Character(_) => false,
        _ => true,
    }
}

/// Patterns of specialisations must be equal to the argument, not only convertible: qualifiers and references included.
fn exactly_shaped(syntax: &TypeSyntax, ty: &QType, bound: &Bindings<'_>) -> bool {
    let wanted = match &syntax.kind {
        TypeKind::Reference(_) => Reference::Lvalue,
        TypeKind::RvalueReference(_) => Reference::Rvalue,
        _ => Reference::None,
    };
    let is_parameter =
        matches!(&syntax.kind, TypeKind::Named(name) if bound.position(name).is_some());
    if is_parameter {
        return (!syntax.is_const || ty.is_const) && (!syntax.is_volatile || ty.is_volatile);
    }
    if ty.reference != wanted {
        return false;
    }
    let qualified = (syntax.is_const, syntax.is_volatile) != (ty.is_const, ty.is_volatile);
    if wanted == Reference::None && qualified {
        return false;
    }
    match &syntax.kind {
        TypeKind::Pointer(inner) => match &ty.ty {
            Type::Pointer(to) => exactly_shaped(inner, &QType::of(to), bound),
            _ => false,
        },
        TypeKind::Reference(inner) | TypeKind::RvalueReference(inner) => {
            exactly_shaped(inner, &ty.referred(), bound)
        }
        TypeKind::Array(inner, _) => match &ty.ty {
            Type::Array(element, _) => {
                exactly_shaped(inner, &QType { ty: element.as_ref().clone(), ..ty.clone() }, bound)
            }
            _ => false,
        },
        _ => true,
    }
}
