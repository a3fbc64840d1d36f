//! Builds the expressions of inferred clauses.

use base::Span;
use kir::{ArrayId, Binary, Compare, Expr, ExprKind, Fold, Type, Unary, VarId, When};

fn make(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: Span::default() }
}

pub(super) fn int(value: i128) -> Expr {
    make(ExprKind::Int(value), Type::Whole)
}

/// A variable of some type as an unbounded integer.
pub(super) fn var(var: VarId, ty: Type) -> Expr {
    whole(make(ExprKind::Var(var), ty))
}

/// An integer of some type as an unbounded one.
pub(super) fn whole(expr: Expr) -> Expr {
    match expr.ty {
        Type::Whole => expr,
        _ => make(ExprKind::Convert(Box::new(expr)), Type::Whole),
    }
}

/// The contents of an element before the loop.
pub(super) fn entry(array: ArrayId, index: Expr, ty: Type) -> Expr {
    make(ExprKind::Element(array, When::LoopEntry, vec![index]), ty)
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
