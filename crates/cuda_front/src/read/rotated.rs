//! Rotated loops, which test at the end after a test of the same condition: `if (c) do S while (c);` becomes `while
//! (c) S`.
//!
//! Compilers write loops this way, and so do people. Both forms evaluate `c`, then `S`, then `c` again, in this
//! order, so they are equivalent even if `c` has side effects. But in the second form `c` is known to hold where an
//! iteration begins. A loop with invariants is not changed: in the other form they would also have to hold when the
//! loop is left.

use cuda::tree::{self, Expr, ExprKind as Kind, StmtKind};

/// The loop with its test at the beginning.
pub(super) fn rotated(condition: &Expr, then: &[tree::Stmt]) -> Option<tree::Stmt> {
    let [only] = then else { return None };
    match &only.kind {
        StmtKind::Block(inner) => rotated(condition, inner),
        StmtKind::Loop(inner) => {
            let tested = inner.condition.as_ref().filter(|_| inner.tests_after)?;
            let is_plain = inner.clauses.is_empty() && inner.init.is_empty();
            if !is_plain || inner.step.is_some() || !is_same(condition, tested) {
                return None;
            }
            let turned = tree::Loop { tests_after: false, ..(**inner).clone() };
            Some(tree::Stmt { kind: StmtKind::Loop(Box::new(turned)), span: only.span })
        }
        _ => None,
    }
}

/// Returns `true` if two expressions are equal except for their spans; `false` for kinds rare in loop conditions.
fn is_same(one: &Expr, other: &Expr) -> bool {
    if one.ty != other.ty || one.category != other.category {
        return false;
    }
    match (&one.kind, &other.kind) {
        (Kind::Int(a), Kind::Int(b)) => a == b,
        (Kind::Local(a), Kind::Local(b)) => a == b,
        (Kind::Symbol(a), Kind::Symbol(b)) => a == b,
        (Kind::Special(a, i), Kind::Special(b, j)) => a == b && i == j,
        (Kind::Read(a), Kind::Read(b)) | (Kind::Convert(a), Kind::Convert(b)) => is_same(a, b),
        (Kind::Unary(op, a), Kind::Unary(other, b)) => op == other && is_same(a, b),
        (Kind::Binary(op, a, x), Kind::Binary(other, b, y)) => {
            op == other && is_same(a, b) && is_same(x, y)
        }
        (Kind::Compare(op, a, x), Kind::Compare(other, b, y)) => {
            op == other && is_same(a, b) && is_same(x, y)
        }
        (Kind::And(a, x), Kind::And(b, y)) | (Kind::Or(a, x), Kind::Or(b, y)) => {
            is_same(a, b) && is_same(x, y)
        }
        (Kind::Select(c, a, x), Kind::Select(d, b, y)) => {
            is_same(c, d) && is_same(a, b) && is_same(x, y)
        }
        _ => false,
    }
}
