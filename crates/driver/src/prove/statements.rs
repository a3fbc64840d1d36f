//! What is looked for in the statements of a kernel.

use base::Span;
use param::kir::Stmt;

/// Calls `see` with the place of every `assume`.
pub(super) fn each_assume(statements: &[Stmt], see: &mut impl FnMut(Span)) {
    for statement in statements {
        match statement {
            Stmt::Assume(condition) => see(condition.span),
            Stmt::If(_, then, otherwise) => {
                each_assume(then, see);
                each_assume(otherwise, see);
            }
            Stmt::Loop(inner) => {
                for part in [&inner.head, &inner.body, &inner.step] {
                    each_assume(part, see);
                }
            }
            _ => {}
        }
    }
}

/// Whether there is a loop.
pub(super) fn has_loop(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match statement {
        Stmt::Loop(_) => true,
        Stmt::If(_, then, otherwise) => has_loop(then) || has_loop(otherwise),
        _ => false,
    })
}
