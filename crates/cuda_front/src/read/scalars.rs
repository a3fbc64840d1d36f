//! Lowers expressions of scalar type: literals, operators, conversions, comparisons.

use super::diagnostics::{Result, error, unsupported};
use super::intrinsics::is_text;
use super::lowerer::Lowerer;
use super::memory_model::Item;
use super::types::{annotation_type, boolean, compare, convert, int, not, to_common_type, truth};
use base::Span;
use cuda::tree::{self, ExprKind as Kind};
use kir::{Builtin, Compare, Expr, ExprKind, Stmt, Type, Unary};

impl Lowerer<'_> {
    /// The value of an expression of scalar type, except calls, selects and assignments (`expr.rs`).
    pub(super) fn scalar_value(&mut self, expr: &tree::Expr, out: &mut Vec<Stmt>) -> Result<Expr> {
        let span = expr.span;
        // `assert(c && "text")`: the address of a string is not null.
        if matches!((&expr.kind, &expr.ty), (Kind::Convert(inner), tree::Type::Bool) if is_text(inner))
        {
            return Ok(boolean(true, span));
        }
        match &expr.kind {
            Kind::Int(value) => {
                let ty = self.scalar(&expr.ty).unwrap_or(Type::INT);
                let ty = if self.in_annotation { annotation_type(ty) } else { ty };
                Ok(int(*value, ty, span))
            }
            Kind::Float(value) => {
                let value = decimal_value(*value, &expr.ty);
                Ok(Expr { kind: ExprKind::Float(value), ty: Type::Float, span })
            }
            Kind::Symbol(id) => self.symbol(*id, span),
            Kind::Special(special, axis) => {
                let builtin = builtin(*special);
                // Expressions without a span come from headers (such as a thread's rank in its block), not from the
                // user.
                if expr.span != Span::default() {
                    self.mention(builtin, *axis);
                }
                let kind = ExprKind::Builtin(builtin, *axis);
                Ok(Expr { kind, ty: Type::UNSIGNED, span })
            }
            Kind::PointerDiff(left, right) => {
                let (left, right) = (self.pointer(left, out)?, self.pointer(right, out)?);
                self.pointer_difference(&left, &right, span)
            }
            Kind::Convert(inner) => self.convert_value(inner, &expr.ty, span, out),
            Kind::Unary(operator, inner) => self.unary(*operator, inner, span, out),
            Kind::Binary(operator, left, right) => {
                let (left, right) = self.numbers([left, right], out)?;
                self.combine(*operator, left, right, span)
            }
            Kind::Compare(operator, left, right) => {
                self.comparison(*operator, [left, right], span, out)
            }
            Kind::And(left, right) => self.logical(true, [left, right], span, out),
            Kind::Or(left, right) => self.logical(false, [left, right], span, out),
            Kind::Spec(spec) if self.in_annotation => self.annotation_expr(spec, span),
            Kind::Spec(_) => Err(error(span, "this belongs in an annotation")),
            Kind::Null | Kind::Text(_) => Err(unsupported(span, "this value is not supported")),
            _ => Err(unsupported(span, "this expression is not supported")),
        }
    }

    /// Two numbers in order of evaluation.
    pub(super) fn numbers(
        &mut self,
        [left, right]: [&tree::Expr; 2],
        out: &mut Vec<Stmt>,
    ) -> Result<(Expr, Expr)> {
        let spans = [left.span, right.span];
        let (mut left, mut right) = self.in_order([left, right], out)?;
        // Not copied: a sum of thousands of summands would be copied once for each of them.
        match (left.pop().filter(|_| left.is_empty()), right.pop().filter(|_| right.is_empty())) {
            (Some(Item::Scalar(left)), Some(Item::Scalar(right))) => Ok((left, right)),
            (Some(Item::Scalar(_)), _) => {
                Err(unsupported(spans[1], "this value is not supported here"))
            }
            _ => Err(unsupported(spans[0], "this value is not supported here")),
        }
    }

    fn convert_value(
        &mut self,
        inner: &tree::Expr,
        ty: &tree::Type,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        if matches!(inner.ty, tree::Type::Pointer(_)) {
            return match ty {
                tree::Type::Bool => self.condition(inner, out),
                _ => Err(unsupported(span, "casting pointers to integers is not supported")),
            };
        }
        let Some(wanted) = self.scalar(ty) else {
            return Err(unsupported(span, "this cast is not supported"));
        };
        let value = self.number(inner, out)?;
        if self.in_annotation && wanted == Type::Bool {
            return Ok(truth(value));
        }
        Ok(Expr { span, ..convert(value, wanted) })
    }

    fn unary(
        &mut self,
        operator: tree::Unary,
        inner: &tree::Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        if operator == tree::Unary::Not {
            return Ok(Expr { span, ..not(self.condition(inner, out)?) });
        }
        let value = self.number(inner, out)?;
        let ty = if self.in_annotation { annotation_type(value.ty) } else { value.ty };
        let value = convert(value, ty);
        let kind = match (operator, &value.kind) {
            (tree::Unary::Neg, ExprKind::Int(number)) => ExprKind::Int(-number),
            (tree::Unary::Neg, _) => ExprKind::Unary(Unary::Neg, Box::new(value)),
            _ => ExprKind::Unary(Unary::Complement, Box::new(value)),
        };
        // The negative of an unsigned literal wraps to its width.
        if let (ExprKind::Int(number), Type::Int { signed: false, .. }) = (&kind, ty) {
            return Ok(int(ty.wrap(*number), ty, span));
        }
        Ok(Expr { kind, ty, span })
    }

    /// `&&` and `||`: the right side is evaluated only if needed.
    fn logical(
        &mut self,
        is_and: bool,
        [left, right]: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let left = self.condition(left, out)?;
        let mut effects = Vec::new();
        let right = self.condition(right, &mut effects)?;
        if effects.is_empty() {
            let kind = match is_and {
                true => ExprKind::And(Box::new(left), Box::new(right)),
                false => ExprKind::Or(Box::new(left), Box::new(right)),
            };
            return Ok(Expr { kind, ty: Type::Bool, span });
        }
        let result = self.keep("condition", left, out);
        effects.push(Stmt::Assign(result, right));
        let tested = self.var(result, span);
        out.push(match is_and {
            true => Stmt::If(tested, effects, Vec::new()),
            false => Stmt::If(tested, Vec::new(), effects),
        });
        Ok(self.var(result, span))
    }

    /// A comparison of numbers or pointers.
    fn comparison(
        &mut self,
        operator: tree::Compare,
        [left, right]: [&tree::Expr; 2],
        span: Span,
        out: &mut Vec<Stmt>,
    ) -> Result<Expr> {
        let operator = super::arithmetic::comparison(operator);
        let (left, right) = self.in_order([left, right], out)?;
        match (&left[..], &right[..]) {
            ([Item::Pointer(one)], [Item::Pointer(other)]) => {
                self.compare_pointers(operator, one, other, span)
            }
            ([Item::Scalar(one)], [Item::Scalar(other)]) => {
                let (one, other) = self.compared_sides(operator, one.clone(), other.clone());
                Ok(Expr { span, ..compare(operator, one, other) })
            }
            _ => Err(unsupported(span, "comparing these values is not supported")),
        }
    }

    /// Both sides of a comparison in one type; in a claim, an equation with an integer element has the element's
    /// type.
    fn compared_sides(&self, operator: Compare, left: Expr, right: Expr) -> (Expr, Expr) {
        if !self.in_claim || !matches!(operator, Compare::Eq | Compare::Ne) {
            return to_common_type(left, right, self.in_annotation);
        }
        let (left, right) = (bare(left), bare(right));
        let of_element = |expr: &Expr| {
            let is_element = matches!(expr.kind, ExprKind::Element(..));
            Some(expr.ty).filter(|ty| is_element && matches!(ty, Type::Int { .. }))
        };
        match (of_element(&left), of_element(&right)) {
            (Some(one), Some(other)) if one == other => (left, right),
            (Some(ty), None) if right.ty != Type::Float => (left, convert(right, ty)),
            (None, Some(ty)) if left.ty != Type::Float => (convert(left, ty), right),
            _ => to_common_type(left, right, true),
        }
    }
}

/// An element without the conversion that annotations add.
fn bare(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Convert(inner)
            if expr.ty == Type::Whole && matches!(inner.kind, ExprKind::Element(..)) =>
        {
            *inner
        }
        _ => expr,
    }
}

/// A literal as written: over the reals, `0.1f` is a tenth. A float that is an integer stays that integer: most of
/// those are written with all their digits, and the shortest decimal may differ.
fn decimal_value(value: f64, ty: &tree::Type) -> f64 {
    #[expect(clippy::cast_possible_truncation, reason = "it was rounded to this type already")]
    let single = value as f32;
    match ty {
        tree::Type::Float(tree::FloatKind::Float)
            if single.is_finite() && single.fract() != 0.0 =>
        {
            single.to_string().parse().unwrap_or(value)
        }
        _ => value,
    }
}

fn builtin(special: tree::Special) -> Builtin {
    match special {
        tree::Special::ThreadIdx => Builtin::Thread,
        tree::Special::BlockIdx => Builtin::Block,
        tree::Special::BlockDim => Builtin::BlockDim,
        tree::Special::GridDim => Builtin::GridDim,
    }
}
