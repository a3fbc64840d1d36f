//! Calls in clauses: words of annotations, predicates, functions of numbers.

use super::analyser::Analyser;
use super::operand::value;
use super::scope::{DeclId, Entity};
use super::spec::{converted_to, unify_kinds};
use super::types::{QType, is_narrow_float};
use crate::syntax::ast::{self, ExprKind as Ast};
use crate::tree::{Expr, ExprKind, Label, SpecExpr, Type};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// Types a call in a clause.
    pub(super) fn spec_call(
        &mut self,
        name: &'a ast::QualifiedName,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Expr> {
        let word = name.parts.last().map_or("", |one| one.name.text.as_ref());
        if let Some(made) = self.spec_word(word, arguments, span)? {
            return Ok(made);
        }
        if let Some(position) = self.predicates.get(word).copied() {
            return self.predicate_call(position, arguments, span);
        }
        let found = self.find(name)?;
        let functions: Vec<_> = found
            .iter()
            .filter_map(|one| match one {
                Entity::Function(decl) => Some(*decl),
                _ => None,
            })
            .collect();
        match &functions[..] {
            [] => self.spec_builtin(word, arguments, span),
            [decl] => self.spec_function(*decl, arguments, span),
            _ => Err(unsupported(span, "an overloaded function in a clause is not supported")),
        }
    }

    /// Types a word of annotations that looks like a function, such as `\max`. Long: one arm for each word.
    fn spec_word(
        &mut self,
        word: &str,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Option<Expr>> {
        let spec =
            |spec: SpecExpr, ty: Type| Ok(Some(value(ExprKind::Spec(Box::new(spec)), ty, span)));
        let of_numbers =
            |one: &Self, word: &str| word.starts_with('\\') || one.lookup(word).1.is_empty();
        match (word, arguments) {
            ("\\is_pow2", [one]) => {
                let one = self.spec_whole(one)?;
                spec(SpecExpr::Function("is_pow2", vec![one]), Type::Bool)
            }
            ("\\pow2", [one]) => {
                let one = self.spec_whole(one)?;
                spec(SpecExpr::Function("pow2", vec![one]), Type::Whole)
            }
            ("\\lowbit", [one]) => {
                let one = self.spec_whole(one)?;
                spec(SpecExpr::Function("lowbit", vec![one]), Type::Whole)
            }
            ("\\max" | "max" | "\\min" | "min", [one, other]) if of_numbers(self, word) => {
                let (one, other) = (self.spec(one)?, self.spec(other)?);
                let (one, other) = unify_kinds(one, other, span)?;
                let ty = one.ty.clone();
                let name = if word.ends_with("max") { "max" } else { "min" };
                spec(SpecExpr::Function(name, vec![one, other]), ty)
            }
            ("\\abs" | "abs", [one]) if of_numbers(self, word) => {
                let one = self.spec(one)?;
                let ty = one.ty.clone();
                spec(SpecExpr::Function("abs", vec![one]), ty)
            }
            ("\\old", [one]) => {
                let one = self.spec(one)?;
                let ty = one.ty.clone();
                spec(SpecExpr::At(one, Label::Old), ty)
            }
            ("\\at", [one, label]) => {
                let label = self.label(label)?;
                let one = self.spec(one)?;
                let ty = one.ty.clone();
                spec(SpecExpr::At(one, label), ty)
            }
            ("\\other" | "__other_int" | "__other_bool", [one]) => {
                if !self.body.spec.may_name_other {
                    let message = format!("`{word}` belongs in a barrier invariant");
                    return Err(match word {
                        "\\other" => error(span, message),
                        _ => unsupported(span, format!("not supported here: {message}")),
                    });
                }
                // Another thread's other thread would be a third one.
                self.body.spec.may_name_other = false;
                let one = self.spec(one);
                self.body.spec.may_name_other = true;
                let one = one?;
                let ty = one.ty.clone();
                spec(SpecExpr::Other(one), ty)
            }
            ("__implies", [one, other]) => {
                let (one, other) = (self.spec_condition(one)?, self.spec_condition(other)?);
                spec(SpecExpr::Implies(one, other), Type::Bool)
            }
            _ if word.starts_with('\\') => Err(error(
                span,
                format!("`{word}` is not a word of annotations, or takes other arguments"),
            )),
            _ => self.spec_gpuverify(word, arguments, span),
        }
    }

    /// The moment that a label of `\at` names.
    fn label(&self, label: &'a ast::Expr) -> Result<Label> {
        let word = match &label.kind {
            Ast::Name(name) => match &name.parts[..] {
                [part] => part.name.text.as_ref(),
                _ => "",
            },
            _ => "",
        };
        match word {
            "Pre" | "Old" => Ok(Label::Old),
            "Here" => Ok(Label::Here),
            "LoopEntry" if self.body.spec.in_loop_clause => Ok(Label::LoopEntry),
            "LoopEntry" => Err(error(label.span, "`LoopEntry` belongs in a loop invariant")),
            _ => {
                let message = "only the labels `Pre`, `Here` and `LoopEntry` are supported";
                Err(unsupported(label.span, message))
            }
        }
    }

    fn predicate_call(
        &mut self,
        position: usize,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Expr> {
        let Some(predicate) = self.program.predicates.get(position) else {
            return Err(error(span, "this predicate does not exist"));
        };
        let scope = predicate.scope;
        let types: Vec<Type> = predicate
            .parameters
            .iter()
            .filter_map(|parameter| self.program.functions.get(scope)?.locals.get(*parameter))
            .map(|one| one.ty.clone())
            .collect();
        let made = self.spec_arguments(&types, arguments, span)?;
        let spec = SpecExpr::Predicate(position, made);
        Ok(value(ExprKind::Spec(Box::new(spec)), Type::Bool, span))
    }

    /// Arguments for parameters of predicates, lemmas and functions.
    pub(super) fn spec_arguments(
        &mut self,
        types: &[Type],
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Vec<Expr>> {
        if types.len() != arguments.len() {
            let message = format!("expected {} arguments", types.len());
            return Err(error(span, message));
        }
        let mut made = Vec::new();
        for (ty, argument) in types.iter().zip(arguments) {
            let found = self.spec(argument)?;
            made.push(self.spec_argument(found, ty)?);
        }
        Ok(made)
    }

    /// Converts an argument to a parameter's type.
    fn spec_argument(&mut self, found: Expr, ty: &Type) -> Result<Expr> {
        let span = found.span;
        match (&found.ty, ty) {
            (one, other) if one == other => Ok(found),
            (
                Type::Whole | Type::Bool,
                Type::Real | Type::Whole | Type::Int(_) | Type::Float(_),
            ) => Ok(converted_to(found, ty.clone())),
            (Type::Real, Type::Float(_)) => Ok(converted_to(found, ty.clone())),
            (Type::Whole | Type::Real, Type::Bool) => self.spec_truth(found),
            (Type::Pointer(one), Type::Pointer(other)) if one.ty == other.ty => {
                Ok(converted_to(found, ty.clone()))
            }
            _ => Err(error(span, "this argument does not fit")),
        }
    }

    /// A `__device__` function of numbers, with arguments and result of machine types.
    fn spec_function(
        &mut self,
        decl: DeclId,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Result<Expr> {
        let signature = match self.decls.get(decl).and_then(|one| one.signature.clone()) {
            Some(signature) => signature?,
            None => return Err(unsupported(span, "a template in a clause is not supported")),
        };
        let plain = |ty: &QType| {
            !ty.is_reference() && matches!(ty.ty, Type::Bool | Type::Int(_) | Type::Float(_))
        };
        let fits =
            signature.parameters.iter().all(plain) && signature.returns.as_ref().is_some_and(plain);
        if !fits {
            return Err(unsupported(span, "this function in a clause is not supported"));
        }
        let types: Vec<Type> =
            signature.parameters.iter().map(|parameter| parameter.ty.clone()).collect();
        let made = self.spec_arguments(&types, arguments, span)?;
        let function = self.function_of(decl, None, span)?;
        let result = self.make_call(function, made, span)?;
        Ok(self.spec_value(result.expr))
    }

    /// A function of real numbers by its name.
    fn spec_builtin(&mut self, word: &str, arguments: &'a [ast::Expr], span: Span) -> Result<Expr> {
        let candidates = self.builtin_candidates(word);
        let real = |ty: &Type| matches!(ty, Type::Float(_)) && !is_narrow_float(ty);
        let fitting = candidates.iter().find_map(|one| match &one.target {
            super::overload::Target::Builtin(intrinsic, returns)
                if intrinsic.class == crate::intrinsics::Class::Math
                    && real(returns)
                    && one.parameters.len() == arguments.len()
                    && one.parameters.iter().all(|parameter| real(&parameter.ty)) =>
            {
                Some(intrinsic.canonical)
            }
            _ => None,
        });
        let Some(canonical) = fitting else {
            return Err(unsupported(span, format!("`{word}` in a clause is not supported")));
        };
        let types = vec![Type::Real; arguments.len()];
        let made = self.spec_arguments(&types, arguments, span)?;
        Ok(value(ExprKind::Intrinsic(canonical, made), Type::Real, span))
    }
}
