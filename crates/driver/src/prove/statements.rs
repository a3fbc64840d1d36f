//! Searches the statements of a kernel, for reports and comparisons.

use base::Span;
use kir::{self, Expr, ExprKind, Stmt};

/// Calls `see` with every statement, at any depth.
fn each(statements: &[Stmt], see: &mut dyn FnMut(&Stmt)) {
    for statement in statements {
        see(statement);
        match statement {
            Stmt::If(_, then, otherwise) => {
                each(then, see);
                each(otherwise, see);
            }
            Stmt::Loop(inner) => {
                for part in [&inner.head, &inner.body, &inner.step] {
                    each(part, see);
                }
            }
            _ => {}
        }
    }
}

fn has(statements: &[Stmt], wanted: fn(&Stmt) -> bool) -> bool {
    let mut found = false;
    each(statements, &mut |one| found |= wanted(one));
    found
}

/// Calls `see` with the place of every `assume`.
pub(super) fn each_assume(statements: &[Stmt], see: &mut impl FnMut(Span)) {
    each(statements, &mut |one| {
        if let Stmt::Assume(condition) = one {
            see(condition.span);
        }
    });
}

/// The places of all stores to an array, in the order of the text.
pub(super) fn stores_to(statements: &[Stmt], array: kir::ArrayId) -> Vec<Span> {
    let mut spans = Vec::new();
    each(statements, &mut |one| match one {
        Stmt::Store(element, _) | Stmt::Atomic { element, .. } if element.array == array => {
            spans.push(element.span);
        }
        _ => {}
    });
    spans.sort_unstable();
    spans.dedup();
    spans
}

/// Returns `true` if there is a loop, at any depth.
pub(super) fn has_loop(statements: &[Stmt]) -> bool {
    has(statements, |one| matches!(one, Stmt::Loop(_)))
}

/// Returns `true` if there are values that a run cannot compute: arbitrary ones, or contents of textures.
pub(super) fn has_unknown(statements: &[Stmt]) -> bool {
    let is_unknown = |statement: &Stmt| matches!(statement, Stmt::Unknown(_) | Stmt::Bits(_, _, _) if !is_of_numbers(statement));
    has(statements, is_unknown) || has_fetch(statements)
}

/// Functions of bits of integers, which a run can always compute.
fn is_of_numbers(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Bits(_, name, _) if !name.contains("_as_"))
}

/// Returns `true` if there is a fetch from a texture. Fetches have statements of their own.
pub(super) fn has_fetch(statements: &[Stmt]) -> bool {
    let is_one =
        |value: &Expr| matches!(value.kind, ExprKind::Call(name, _) if kir::is_fetch(name));
    let mut found = false;
    each(statements, &mut |one| {
        found |= matches!(one, Stmt::Assign(_, value) if is_one(value));
    });
    found
}
