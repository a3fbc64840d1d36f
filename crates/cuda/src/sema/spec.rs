//! Expressions of annotations: integers without bounds, real numbers, quantifiers (docs/contracts.md).
//!
//! Values read from the program are converted to [`Type::Whole`] or [`Type::Real`]; a cast to a machine type wraps.

use super::analyser::{Analyser, SpecContext};
use super::operand::{Operand, literal, value};
use super::operators::{arithmetic, comparison};
use super::scope::{Entity, ScopeKind};
use super::types::QType;
use crate::syntax::ast::{self, ExprKind as Ast};
use crate::tree::{
    Binary, Expr, ExprKind, Fold, Local, LocalId, Quantifier, SpecExpr, Storage, Type, Unary,
};
use crate::{Result, error, unsupported};
use base::Span;

impl<'a> Analyser<'a> {
    /// Reads a part of a clause, with the names that `context` allows.
    pub(super) fn in_spec<T>(
        &mut self,
        context: SpecContext,
        inner: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = std::mem::replace(&mut self.body.spec, SpecContext { active: true, ..context });
        let result = inner(self);
        self.body.spec = outer;
        result
    }

    /// An expression of a clause as a truth value.
    pub(super) fn spec_condition(&mut self, expr: &'a ast::Expr) -> Result<Expr> {
        let found = self.spec(expr)?;
        self.spec_truth(found)
    }

    pub(super) fn spec_truth(&mut self, found: Expr) -> Result<Expr> {
        let span = found.span;
        match found.ty {
            Type::Bool => Ok(found),
            Type::Whole | Type::Real => {
                let zero = match found.ty {
                    Type::Whole => literal(0, Type::Whole, span),
                    _ => value(ExprKind::Float(0.0), Type::Real, span),
                };
                let kind =
                    ExprKind::Compare(crate::tree::Compare::Ne, Box::new(found), Box::new(zero));
                Ok(value(kind, Type::Bool, span))
            }
            _ => Err(error(span, "this is not a condition")),
        }
    }

    /// An expression of a clause as an integer without bounds.
    pub(super) fn spec_whole(&mut self, expr: &'a ast::Expr) -> Result<Expr> {
        let found = self.spec(expr)?;
        let span = found.span;
        match found.ty {
            Type::Whole => Ok(found),
            Type::Bool => Ok(converted_to(found, Type::Whole)),
            _ => Err(error(span, "expected an integer")),
        }
    }

    /// An expression of a clause as a value: whole, real, a truth value, or a value of the program other than a number.
    pub(super) fn spec(&mut self, expr: &'a ast::Expr) -> Result<Expr> {
        let operand = self.spec_operand(expr)?;
        let plain = self.rvalue(operand)?;
        Ok(self.spec_value(plain))
    }

    /// Turns a number of the program into a whole or real one.
    pub(super) fn spec_value(&self, plain: Expr) -> Expr {
        match (&plain.kind, &plain.ty) {
            (ExprKind::Int(number), Type::Int(_) | Type::Enum(_)) => {
                literal(*number, Type::Whole, plain.span)
            }
            (ExprKind::Float(number), Type::Float(_)) => {
                value(ExprKind::Float(*number), Type::Real, plain.span)
            }
            (_, Type::Int(_) | Type::Enum(_)) => converted_to(plain, Type::Whole),
            (_, Type::Float(_)) => converted_to(plain, Type::Real),
            _ => plain,
        }
    }

    pub(super) fn spec_operand(&mut self, expr: &'a ast::Expr) -> Result<Operand> {
        // A level of a clause takes about twice the stack of one of the program.
        let span = expr.span;
        self.with_nesting_limit(span, |one| {
            one.with_nesting_limit(span, |one| one.spec_operand_unguarded(expr))
        })
    }

    /// Types an expression of a clause, without the limit on nesting.
    fn spec_operand_unguarded(&mut self, expr: &'a ast::Expr) -> Result<Operand> {
        let span = expr.span;
        match &expr.kind {
            Ast::Name(name) => self.spec_name(name, span),
            Ast::Index(array, index) => self.spec_index(array, index, span),
            Ast::Member { object, member, arrow } => self.spec_member(object, member, *arrow, span),
            Ast::Unary("*", inner) => {
                let inner = self.spec_operand(inner)?;
                let at = self.rvalue(inner)?;
                self.dereferenced(at, span)
            }
            Ast::Unary("&", inner) => {
                let inner = self.spec_operand(inner)?;
                self.address(inner, span)
            }
            Ast::Unary(sign, inner) => self.spec_unary(sign, inner, span).map(Operand::new),
            Ast::Binary(sign, left, right) => {
                self.spec_binary(sign, left, right, span).map(Operand::new)
            }
            Ast::Ternary(condition, one, other) => {
                self.spec_ternary(condition, one, other, span).map(Operand::new)
            }
            Ast::Call(callee, arguments) => {
                let Ast::Name(name) = &callee.kind else {
                    return Err(unsupported(span, "this call in a clause is not supported"));
                };
                self.spec_call(name, arguments, span).map(Operand::new)
            }
            Ast::Cast(kind, ty, inner) => {
                let target = self.resolve_type(ty)?;
                self.spec_cast(Some(*kind), &target, inner, span)
            }
            Ast::Construct { ty, arguments, .. } => match &arguments[..] {
                [only] => {
                    let target = self.resolve_type(ty)?;
                    self.spec_cast(None, &target, only, span)
                }
                _ => Err(unsupported(span, "this expression in a clause is not supported")),
            },
            Ast::Quantified(word, names, body) => {
                self.quantified(word, names, body, span).map(Operand::new)
            }
            Ast::Fold(fold) => self.fold(fold, span).map(Operand::new),
            Ast::Int { .. }
            | Ast::Float { .. }
            | Ast::Character(_)
            | Ast::Bool(_)
            | Ast::Null
            | Ast::This
            | Ast::SizeOf(_)
            | Ast::SizeOfType(..) => self.operand(expr),
            Ast::Assign(..) | Ast::Step { .. } => {
                Err(error(span, "a clause must not change variables"))
            }
            _ => Err(unsupported(span, "this expression in a clause is not supported")),
        }
    }

    /// A name in a clause; `\result` and `__same_group` are words of annotations.
    fn spec_name(&mut self, name: &'a ast::QualifiedName, span: Span) -> Result<Operand> {
        if let [part] = &name.parts[..]
            && part.name.text.as_ref() == "\\result"
        {
            return self.spec_result(span);
        }
        if let [part] = &name.parts[..]
            && part.name.text.as_ref() == "__same_group"
            && self.lookup("__same_group").1.is_empty()
        {
            return self.same_group(span).map(Operand::new);
        }
        self.name_operand(name, span)
    }

    /// `a\[i\]` in a clause.
    fn spec_index(
        &mut self,
        array: &'a ast::Expr,
        index: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        let array = self.spec_operand(array)?;
        let index = self.spec_whole(index)?;
        if let Type::Record(_) = array.expr.ty {
            return Err(unsupported(span, "`[]` of a class in a clause is not supported"));
        }
        let base = self.rvalue(array)?;
        let sum = self.pointer_sum(true, base, index, span)?;
        self.dereferenced(sum, span)
    }

    /// `a.b` and `a->b` in a clause.
    fn spec_member(
        &mut self,
        object: &'a ast::Expr,
        member: &'a ast::NamePart,
        arrow: bool,
        span: Span,
    ) -> Result<Operand> {
        let object = self.spec_operand(object)?;
        let object = match arrow {
            true => {
                let at = self.rvalue(object)?;
                self.dereferenced(at, span)?
            }
            false => object,
        };
        let Type::Record(record) = object.expr.ty else {
            return Err(error(span, "this has no members"));
        };
        match self.field_path(record, &member.name.text) {
            Some(path) => Ok(self.walk_fields(object, &path, span)),
            None => Err(error(span, format!("there is no field `{}`", member.name.text))),
        }
    }

    /// `c ? a : b` in a clause.
    fn spec_ternary(
        &mut self,
        condition: &'a ast::Expr,
        one: &'a ast::Expr,
        other: &'a ast::Expr,
        span: Span,
    ) -> Result<Expr> {
        let condition = self.spec_condition(condition)?;
        let (one, other) = (self.spec(one)?, self.spec(other)?);
        let (one, other) = unify_kinds(one, other, span)?;
        let ty = one.ty.clone();
        let kind = ExprKind::Select(Box::new(condition), Box::new(one), Box::new(other));
        Ok(value(kind, ty, span))
    }

    pub(super) fn spec_result(&mut self, span: Span) -> Result<Operand> {
        let returns = self.body.returns.clone().filter(|_| self.body.spec.has_result);
        let Some(returns) = returns.filter(|one| one.ty != Type::Void) else {
            let message = "only a `__device__` function that returns a value has a result";
            return Err(error(span, message));
        };
        let ty = match &returns.ty {
            Type::Int(_) | Type::Enum(_) => Type::Whole,
            Type::Float(_) => Type::Real,
            other => other.clone(),
        };
        let kind = ExprKind::Spec(Box::new(SpecExpr::Result));
        Ok(Operand::new(value(kind, ty, span)))
    }

    fn spec_unary(&mut self, sign: &str, inner: &'a ast::Expr, span: Span) -> Result<Expr> {
        if sign == "!" {
            let inner = self.spec_condition(inner)?;
            return Ok(value(ExprKind::Unary(Unary::Not, Box::new(inner)), Type::Bool, span));
        }
        let inner = self.spec(inner)?;
        let inner = if inner.ty == Type::Bool { converted_to(inner, Type::Whole) } else { inner };
        if !matches!(inner.ty, Type::Whole | Type::Real) {
            return Err(error(span, "expected a number"));
        }
        let ty = inner.ty.clone();
        match (sign, &inner.kind) {
            ("+", _) => Ok(inner),
            ("-", ExprKind::Int(number)) => Ok(literal(-number, ty, span)),
            ("-", _) => Ok(value(ExprKind::Unary(Unary::Neg, Box::new(inner)), ty, span)),
            ("~", _) if ty == Type::Whole => {
                Ok(value(ExprKind::Unary(Unary::Complement, Box::new(inner)), ty, span))
            }
            _ => Err(error(span, format!("`{sign}` does not apply to this value"))),
        }
    }

    fn spec_binary(
        &mut self,
        sign: &str,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Result<Expr> {
        if matches!(sign, "&&" | "||" | "==>" | "<==>") {
            let (left, right) = (self.spec_condition(left)?, self.spec_condition(right)?);
            let kind = match sign {
                "&&" => ExprKind::And(Box::new(left), Box::new(right)),
                "||" => ExprKind::Or(Box::new(left), Box::new(right)),
                "==>" => ExprKind::Spec(Box::new(SpecExpr::Implies(left, right))),
                _ => ExprKind::Spec(Box::new(SpecExpr::Iff(left, right))),
            };
            return Ok(value(kind, Type::Bool, span));
        }
        let (left, right) = (self.spec(left)?, self.spec(right)?);
        if let (Type::Bool, Type::Bool, "&" | "|") = (&left.ty, &right.ty, sign) {
            let (left, right) = (Box::new(left), Box::new(right));
            let kind = match sign {
                "&" => ExprKind::And(left, right),
                _ => ExprKind::Or(left, right),
            };
            return Ok(value(kind, Type::Bool, span));
        }
        if let Some(compare) = comparison(sign) {
            let (left, right) = unify_kinds(left, right, span)?;
            let kind = ExprKind::Compare(compare, Box::new(left), Box::new(right));
            return Ok(value(kind, Type::Bool, span));
        }
        let Some(op) = arithmetic(sign) else {
            return Err(error(span, format!("`{sign}` does not belong in a clause")));
        };
        if let (Type::Pointer(_), Type::Whole, Binary::Add | Binary::Sub) =
            (&left.ty, &right.ty, op)
        {
            return self.pointer_sum(op == Binary::Add, left, right, span);
        }
        let number =
            |one: Expr| if one.ty == Type::Bool { converted_to(one, Type::Whole) } else { one };
        let (left, right) = unify_kinds(number(left), number(right), span)?;
        let ty = left.ty.clone();
        let real = matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div);
        if ty != Type::Whole && !(ty == Type::Real && real) {
            return Err(error(span, format!("`{sign}` does not apply to these values")));
        }
        Ok(value(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span))
    }

    /// `(T)e`. Clauses are over the integers, where a cast has no effect: one that could change a number is refused.
    fn spec_cast(
        &mut self,
        kind: Option<ast::CastKind>,
        target: &QType,
        inner: &'a ast::Expr,
        span: Span,
    ) -> Result<Operand> {
        match &target.ty {
            Type::Int(_) | Type::Enum(_) => {
                let found = self.spec(inner)?;
                if !matches!(found.ty, Type::Whole | Type::Real | Type::Bool) {
                    return Err(unsupported(span, "this cast in a clause is not supported"));
                }
                if !keeps_number(&found, &target.ty) {
                    let message = "clauses use unbounded integers: a cast that may change a number is not supported in them";
                    return Err(unsupported(span, message));
                }
                Ok(Operand::new(converted_to(found, Type::Whole)))
            }
            Type::Float(_) => {
                let found = self.spec(inner)?;
                match found.ty {
                    Type::Real => Ok(Operand::new(found)),
                    Type::Whole | Type::Bool => Ok(Operand::new(converted_to(found, Type::Real))),
                    _ => Err(unsupported(span, "this cast in a clause is not supported")),
                }
            }
            Type::Bool => self.spec_condition(inner).map(Operand::new),
            Type::Pointer(_) => {
                let found = self.spec_operand(inner)?;
                let kind = kind.unwrap_or(ast::CastKind::C);
                self.explicit_cast(kind, found, target, span)
            }
            _ => Err(unsupported(span, "this cast in a clause is not supported")),
        }
    }

    /// Declares a variable of annotations.
    pub(super) fn declare_ghost(&mut self, name: &'a ast::Name, ty: Type) -> LocalId {
        let id = self.body.locals.push(Local {
            name: name.text.to_string(),
            ty,
            is_const: false,
            is_volatile: false,
            is_reference: false,
            storage: Storage::Automatic,
            is_ghost: true,
            span: name.span,
        });
        self.enter(self.scope, &name.text, Entity::Local(id));
        id
    }

    fn quantified(
        &mut self,
        word: &str,
        names: &'a [ast::Name],
        body: &'a ast::Expr,
        span: Span,
    ) -> Result<Expr> {
        let quantifier = match word {
            "\\forall" => Quantifier::Forall,
            "\\exists" => Quantifier::Exists,
            _ => return Err(unsupported(span, format!("`{word}` is not supported"))),
        };
        self.in_scope(ScopeKind::Block, |one| {
            let variables: Vec<LocalId> =
                names.iter().map(|name| one.declare_ghost(name, Type::Whole)).collect();
            let body = one.spec_condition(body)?;
            let spec = SpecExpr::Quantified(quantifier, variables, body);
            Ok(value(ExprKind::Spec(Box::new(spec)), Type::Bool, span))
        })
    }

    fn fold(&mut self, fold: &'a ast::Fold, span: Span) -> Result<Expr> {
        let op: &str = fold.op.trim_start_matches('\\');
        let known = ["+", "*", "|", "&", "^", "max", "min"].contains(&op);
        if !known && !self.monoid_names.iter().any(|monoid_name| **monoid_name == *op) {
            let message = format!("`{op}` is not a monoid: no `monoid` clause names it");
            return Err(error(span, message));
        }
        let (low, high) = (self.spec_whole(&fold.low)?, self.spec_whole(&fold.high)?);
        self.in_scope(ScopeKind::Block, |one| {
            let variable = one.declare_ghost(&fold.variable, Type::Whole);
            let body = one.spec(&fold.body)?;
            let body = if body.ty == Type::Bool { converted_to(body, Type::Whole) } else { body };
            let ty = body.ty.clone();
            let of_bits = matches!(op, "|" | "&" | "^");
            if ty != Type::Whole && (ty != Type::Real || of_bits) {
                return Err(error(span, "this operator does not take numbers of these types"));
            }
            let fold = Fold { op: op.to_owned(), variable, low, high, body };
            Ok(value(ExprKind::Spec(Box::new(SpecExpr::Fold(fold))), ty, span))
        })
    }
}

/// Returns `true` if a cast leaves a number of a clause unchanged: its type must hold every possible value. Sums and
/// products of machine integers are exact in clauses, so casts to signed 64 bits keep them.
fn keeps_number(found: &Expr, target: &Type) -> bool {
    let Type::Int(target) = target else { return false };
    let widest = target.is_signed() && target.bits() == 64;
    let (least, most) = target.range();
    let holds = |number: i128| (least..=most).contains(&number);
    match (&found.kind, &found.ty) {
        (_, Type::Bool) => true,
        (ExprKind::Int(number), Type::Whole) => holds(*number),
        (ExprKind::Convert(inner), Type::Whole) => match &inner.ty {
            Type::Int(own) => holds(own.range().0) && holds(own.range().1),
            Type::Bool => true,
            Type::Whole => keeps_number(inner, &Type::Int(*target)),
            _ => false,
        },
        (ExprKind::Binary(op, left, right), Type::Whole) if widest => {
            matches!(op, Binary::Add | Binary::Sub | Binary::Mul)
                && [left, right].iter().all(|one| keeps_number(one, &Type::Int(*target)))
        }
        _ => false,
    }
}

/// Converts a value within a clause.
pub(super) fn converted_to(from: Expr, ty: Type) -> Expr {
    let span = from.span;
    if let (ExprKind::Int(number), Type::Whole) = (&from.kind, &ty) {
        return literal(*number, Type::Whole, span);
    }
    value(ExprKind::Convert(Box::new(from)), ty, span)
}

/// Brings two values to one kind: real if one is, truth values if both are.
pub(super) fn unify_kinds(one: Expr, other: Expr, span: Span) -> Result<(Expr, Expr)> {
    if one.ty == other.ty {
        return Ok((one, other));
    }
    let rank = |ty: &Type| match ty {
        Type::Bool => Some(0),
        Type::Whole => Some(1),
        Type::Real => Some(2),
        _ => None,
    };
    match (rank(&one.ty), rank(&other.ty)) {
        (Some(first), Some(second)) if first < second => {
            let ty = other.ty.clone();
            Ok((converted_to(one, ty), other))
        }
        (Some(_), Some(_)) => {
            let ty = one.ty.clone();
            let other = converted_to(other, ty);
            Ok((one, other))
        }
        _ => match (&one.ty, &other.ty) {
            (Type::Pointer(first), Type::Pointer(second)) if first.ty == second.ty => {
                let ty = one.ty.clone();
                let other = converted_to(other, ty);
                Ok((one, other))
            }
            _ => Err(error(span, "these types do not fit together")),
        },
    }
}
