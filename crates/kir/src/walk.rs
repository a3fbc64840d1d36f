//! Walks over expressions and statements.

use crate::{Expr, ExprKind, Stmt};
use deadline::tick;

/// Calls `see` for an expression and everything inside it.
pub fn visit(expr: &Expr, see: &mut impl FnMut(&Expr)) {
    tick();
    see(expr);
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Var(_) | ExprKind::Builtin(..) => {}
        ExprKind::Unary(_, inner)
        | ExprKind::Convert(inner)
        | ExprKind::Other(inner)
        | ExprKind::Quantified(_, _, inner) => visit(inner, see),
        ExprKind::Element(_, _, index) => index.iter().for_each(|one| visit(one, see)),
        ExprKind::Fold(fold) => {
            for one in [&fold.low, &fold.high, &fold.body] {
                visit(one, see);
            }
        }
        ExprKind::Binary(_, left, right)
        | ExprKind::Compare(_, left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right) => {
            visit(left, see);
            visit(right, see);
        }
        ExprKind::Select(condition, then, otherwise) => {
            visit(condition, see);
            visit(then, see);
            visit(otherwise, see);
        }
        ExprKind::Call(_, arguments) | ExprKind::Combine(_, arguments) => {
            arguments.iter().for_each(|argument| visit(argument, see))
        }
    }
}

/// Calls `see` for each expression of statements, nested ones too, but not for subexpressions.
pub fn each_expr(statements: &[Stmt], see: &mut impl FnMut(&Expr)) {
    for statement in statements {
        match statement {
            Stmt::Assign(_, value) => see(value),
            Stmt::Load(_, element) => element.index.iter().for_each(&mut *see),
            Stmt::Store(element, value) => {
                element.index.iter().for_each(&mut *see);
                see(value);
            }
            Stmt::Atomic { element, operands, .. } => {
                element.index.iter().chain(operands).for_each(&mut *see);
            }
            Stmt::If(condition, then, otherwise) => {
                see(condition);
                each_expr(then, see);
                each_expr(otherwise, see);
            }
            Stmt::Loop(inner) => {
                let claims = inner.claims.iter().map(|claim| &claim.condition);
                inner.invariants.iter().chain([&inner.condition]).chain(claims).for_each(&mut *see);
                for part in [&inner.head, &inner.body, &inner.step] {
                    each_expr(part, see);
                }
            }
            Stmt::Assert(condition) | Stmt::Assume(condition) | Stmt::Used(condition, _) => {
                see(condition);
            }
            Stmt::Claims(claims) => claims.iter().for_each(|claim| see(&claim.condition)),
            Stmt::Given(given) => given.claims.iter().for_each(|claim| see(&claim.condition)),
            Stmt::Bits(_, _, arguments) => arguments.iter().for_each(&mut *see),
            Stmt::Unknown(_)
            | Stmt::Barrier(_)
            | Stmt::Warp(_)
            | Stmt::Return
            | Stmt::Break
            | Stmt::Continue => {}
        }
    }
}
