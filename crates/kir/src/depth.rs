//! A limit on the depth of expressions, for all code that recurses through them: lowering, the engine, runs, and
//! dropping. [`STACK`] is enough for the limit; proofs run on a thread with such a stack.

use crate::{Expr, ExprKind, Kernel, each_expr};
use base::{Code, Diagnostic};

/// Limit on the depth of an expression.
pub const MAX_DEPTH: usize = 10_000;
/// Bytes of stack for reading and proving expressions of this depth.
pub const STACK: usize = 1 << 30;

/// Refuses a kernel with an expression that is too deep.
pub fn refuse_deep(kernel: Result<Kernel, Box<Diagnostic>>) -> Result<Kernel, Box<Diagnostic>> {
    let kernel = kernel?;
    let mut deep = None;
    each_expr(&kernel.body, &mut |expr| {
        if deep.is_none() && is_deep(expr) {
            deep = Some(expr.span);
        }
    });
    let requires = kernel.requires.iter().map(|require| &require.condition);
    let clauses = requires.chain(kernel.ensures.iter().map(|ensure| &ensure.condition));
    let clause = clauses.into_iter().find(|clause| is_deep(clause)).map(|one| one.span);
    match deep.or(clause) {
        Some(span) => {
            let message = format!("an expression with more than {MAX_DEPTH} nested operations");
            Err(Box::new(Diagnostic::unsupported(Code::UnsupportedConstruct, span, message)))
        }
        None => Ok(kernel),
    }
}

/// Returns `true` if an expression is too deep. Does not recurse: the expression may be too deep for the stack.
fn is_deep(expr: &Expr) -> bool {
    let mut waiting = vec![(expr, 1)];
    while let Some((expr, depth)) = waiting.pop() {
        if depth > MAX_DEPTH {
            return true;
        }
        let mut go = |inner| waiting.push((inner, depth + 1));
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Var(_) | ExprKind::Builtin(..) => {}
            ExprKind::Unary(_, inner)
            | ExprKind::Convert(inner)
            | ExprKind::Other(inner)
            | ExprKind::Quantified(_, _, inner) => go(inner),
            ExprKind::Element(_, _, all) | ExprKind::Call(_, all) | ExprKind::Combine(_, all) => {
                all.iter().for_each(go);
            }
            ExprKind::Fold(fold) => [&fold.low, &fold.high, &fold.body].into_iter().for_each(go),
            ExprKind::Binary(_, left, right)
            | ExprKind::Compare(_, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => {
                go(left);
                go(right);
            }
            ExprKind::Select(condition, then, otherwise) => {
                go(condition);
                go(then);
                go(otherwise);
            }
        }
    }
    false
}
