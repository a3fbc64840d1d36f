//! Expressions of annotations.

use crate::kir::{Binary, Compare, Expr, ExprKind, Fold, Type, Unary, VarId};
use base::Span;

fn make(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: Span::default() }
}

pub(super) fn int(value: i128) -> Expr {
    make(ExprKind::Int(value), Type::Whole)
}

/// A variable of some type as an integer without bounds.
pub(super) fn var(var: VarId, ty: Type) -> Expr {
    let own = make(ExprKind::Var(var), ty);
    match ty {
        Type::Whole => own,
        _ => make(ExprKind::Convert(Box::new(own)), Type::Whole),
    }
}

pub(super) fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    make(ExprKind::Binary(operator, Box::new(left), Box::new(right)), Type::Whole)
}

pub(super) fn add(left: Expr, right: Expr) -> Expr {
    binary(Binary::Add, left, right)
}

pub(super) fn sub(left: Expr, right: Expr) -> Expr {
    binary(Binary::Sub, left, right)
}

pub(super) fn mul(left: Expr, right: Expr) -> Expr {
    binary(Binary::Mul, left, right)
}

pub(super) fn compare(operator: Compare, left: Expr, right: Expr) -> Expr {
    make(ExprKind::Compare(operator, Box::new(left), Box::new(right)), Type::Bool)
}

pub(super) fn is_pow2(inner: Expr) -> Expr {
    make(ExprKind::Unary(Unary::IsPow2, Box::new(inner)), Type::Bool)
}

pub(super) fn folded(fold: Fold) -> Expr {
    let ty = fold.body.ty;
    make(ExprKind::Fold(Box::new(fold)), ty)
}
