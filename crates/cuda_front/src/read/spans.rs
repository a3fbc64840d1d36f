//! Gives statements of header functions, which have no span, the span of their call.

use base::Span;
use kir::{Element, Expr, ExprKind, Stmt};

/// Gives statements without a span that of a call.
pub(super) fn placed(statements: &mut [Stmt], span: Span) {
    for statement in statements {
        match statement {
            Stmt::Assign(_, value) | Stmt::Assert(value) | Stmt::Assume(value) => of(value, span),
            Stmt::Used(value, _) => of(value, span),
            Stmt::Load(_, element) => of_element(element, span),
            Stmt::Store(element, value) => {
                of_element(element, span);
                of(value, span);
            }
            Stmt::Atomic { element, operands, .. } => {
                of_element(element, span);
                operands.iter_mut().for_each(|one| of(one, span));
            }
            Stmt::If(condition, then, otherwise) => {
                of(condition, span);
                placed(then, span);
                placed(otherwise, span);
            }
            Stmt::Loop(inner) => {
                here(&mut inner.span, span);
                of(&mut inner.condition, span);
                for part in [&mut inner.head, &mut inner.body, &mut inner.step] {
                    placed(part, span);
                }
            }
            Stmt::Barrier(at) | Stmt::Warp(at) => here(at, span),
            Stmt::Bits(_, _, arguments) => arguments.iter_mut().for_each(|one| of(one, span)),
            Stmt::Unknown(_)
            | Stmt::Claims(_)
            | Stmt::Given(_)
            | Stmt::Return
            | Stmt::Break
            | Stmt::Continue => {}
        }
    }
}

fn here(at: &mut Span, span: Span) {
    if *at == Span::default() {
        *at = span;
    }
}

fn of_element(element: &mut Element, span: Span) {
    here(&mut element.span, span);
    element.index.iter_mut().for_each(|one| of(one, span));
}

/// Sets the span of an expression and its parts where they have none.
pub(super) fn of(expr: &mut Expr, span: Span) {
    here(&mut expr.span, span);
    match &mut expr.kind {
        ExprKind::Unary(_, one) | ExprKind::Convert(one) | ExprKind::Other(one) => of(one, span),
        ExprKind::Binary(_, one, other)
        | ExprKind::Compare(_, one, other)
        | ExprKind::And(one, other)
        | ExprKind::Or(one, other) => {
            of(one, span);
            of(other, span);
        }
        ExprKind::Select(condition, one, other) => {
            of(condition, span);
            of(one, span);
            of(other, span);
        }
        ExprKind::Call(_, all) | ExprKind::Element(_, _, all) | ExprKind::Combine(_, all) => {
            all.iter_mut().for_each(|one| of(one, span));
        }
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Var(_)
        | ExprKind::Builtin(..)
        | ExprKind::Quantified(..)
        | ExprKind::Fold(_) => {}
    }
}
