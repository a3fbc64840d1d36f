//! Gives statements of header functions, which have no span, the span of their call.

use base::Span;
use kir::{Element, Expr, ExprKind, Stmt};

/// Gives statements without a span that of a call.
pub(super) fn set_missing_spans(statements: &mut [Stmt], span: Span) {
    for statement in statements {
        match statement {
            Stmt::Assign(_, value) | Stmt::Assert(value) | Stmt::Assume(value) => {
                set_in_expr(value, span)
            }
            Stmt::Used(value, _) => set_in_expr(value, span),
            Stmt::Load(_, element) => set_in_element(element, span),
            Stmt::Store(element, value) => {
                set_in_element(element, span);
                set_in_expr(value, span);
            }
            Stmt::Atomic { element, operands, .. } => {
                set_in_element(element, span);
                operands.iter_mut().for_each(|operand| set_in_expr(operand, span));
            }
            Stmt::If(condition, then, otherwise) => {
                set_in_expr(condition, span);
                set_missing_spans(then, span);
                set_missing_spans(otherwise, span);
            }
            Stmt::Loop(inner) => {
                set_if_missing(&mut inner.span, span);
                set_in_expr(&mut inner.condition, span);
                for part in [&mut inner.head, &mut inner.body, &mut inner.step] {
                    set_missing_spans(part, span);
                }
            }
            Stmt::Barrier(at) | Stmt::Warp(at) => set_if_missing(at, span),
            Stmt::Bits(_, _, arguments) => {
                arguments.iter_mut().for_each(|argument| set_in_expr(argument, span))
            }
            Stmt::Unknown(_)
            | Stmt::Claims(_)
            | Stmt::Given(_)
            | Stmt::Return
            | Stmt::Break
            | Stmt::Continue => {}
        }
    }
}

fn set_if_missing(at: &mut Span, span: Span) {
    if *at == Span::default() {
        *at = span;
    }
}

fn set_in_element(element: &mut Element, span: Span) {
    set_if_missing(&mut element.span, span);
    element.index.iter_mut().for_each(|one| set_in_expr(one, span));
}

/// Sets the span of an expression and its parts where they have none.
pub(super) fn set_in_expr(expr: &mut Expr, span: Span) {
    set_if_missing(&mut expr.span, span);
    match &mut expr.kind {
        ExprKind::Unary(_, one) | ExprKind::Convert(one) | ExprKind::Other(one) => {
            set_in_expr(one, span)
        }
        ExprKind::Binary(_, one, other)
        | ExprKind::Compare(_, one, other)
        | ExprKind::And(one, other)
        | ExprKind::Or(one, other) => {
            set_in_expr(one, span);
            set_in_expr(other, span);
        }
        ExprKind::Select(condition, one, other) => {
            set_in_expr(condition, span);
            set_in_expr(one, span);
            set_in_expr(other, span);
        }
        ExprKind::Call(_, all) | ExprKind::Element(_, _, all) | ExprKind::Combine(_, all) => {
            all.iter_mut().for_each(|one| set_in_expr(one, span));
        }
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Var(_)
        | ExprKind::Builtin(..)
        | ExprKind::Quantified(..)
        | ExprKind::Fold(_) => {}
    }
}
