//! Which variables feed an index, a condition or a claim, and which arrays are written: what does not, may wrap
//! as it likes.

use crate::deadline::tick;
use crate::kir::{Element, Expr, ExprKind, FETCH_OF_INDEX, Kernel, Stmt};
use base::Index;

/// Calls `see` for an expression and everything inside it.
pub(crate) fn visit(expr: &Expr, see: &mut impl FnMut(&Expr)) {
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
            arguments.iter().for_each(|one| visit(one, see))
        }
    }
}

/// For each variable, whether it feeds an index, a condition or another such variable.
pub(crate) fn relevant(kernel: &Kernel) -> Vec<bool> {
    let mut marks = vec![false; kernel.vars.len()];
    loop {
        let before = marks.clone();
        statements(&kernel.body, &mut marks);
        if marks == before {
            return marks;
        }
    }
}

/// Marks variables that sizes of arrays or what may be accessed are made of.
pub(crate) fn mark_sizes(kernel: &Kernel, marks: &mut [bool]) {
    let sizes = kernel.arrays.iter().flat_map(|array| array.dimensions.iter().flatten());
    let allowed = kernel.footprints.iter().flat_map(|one| [&one.low, &one.high]);
    sizes.chain(allowed).for_each(|one| mark(one, marks));
}

fn mark(expr: &Expr, marks: &mut [bool]) {
    visit(expr, &mut |inner| {
        if let ExprKind::Var(var) = inner.kind {
            marks[var.position()] = true;
        }
    });
}

fn element(element: &Element, marks: &mut [bool]) {
    element.index.iter().for_each(|index| mark(index, marks));
}

fn statements(list: &[Stmt], marks: &mut [bool]) {
    for statement in list {
        match statement {
            Stmt::Assign(var, value) => {
                if marks[var.position()] {
                    mark(value, marks);
                }
                inner_conditions(value, marks);
            }
            Stmt::Load(_, one) => element(one, marks),
            Stmt::Store(one, value) => {
                element(one, marks);
                inner_conditions(value, marks);
            }
            Stmt::Atomic { element: one, operands, .. } => {
                element(one, marks);
                operands.iter().for_each(|operand| inner_conditions(operand, marks));
            }
            Stmt::If(condition, then, otherwise) => {
                mark(condition, marks);
                statements(then, marks);
                statements(otherwise, marks);
            }
            Stmt::Loop(inner) => {
                mark(&inner.condition, marks);
                let claims = inner.claims.iter().map(|claim| &claim.condition);
                inner.invariants.iter().chain(claims).for_each(|one| mark(one, marks));
                for part in [&inner.head, &inner.body, &inner.step] {
                    statements(part, marks);
                }
            }
            Stmt::Assert(condition) | Stmt::Assume(condition) | Stmt::Used(condition, _) => {
                mark(condition, marks);
            }
            Stmt::Given(given) => given.claims.iter().for_each(|one| mark(&one.condition, marks)),
            Stmt::Claims(claims) => claims.iter().for_each(|one| mark(&one.condition, marks)),
            Stmt::Bits(var, _, arguments) => {
                if marks[var.position()] {
                    arguments.iter().for_each(|one| mark(one, marks));
                }
                arguments.iter().for_each(|one| inner_conditions(one, marks));
            }
            Stmt::Unknown(_)
            | Stmt::Barrier(_)
            | Stmt::Warp(_)
            | Stmt::Return
            | Stmt::Break
            | Stmt::Continue => {}
        }
    }
}

/// Conditions inside a value, of `&&` and `?:`, and indices of textures.
fn inner_conditions(value: &Expr, marks: &mut [bool]) {
    visit(value, &mut |inner| match &inner.kind {
        ExprKind::Select(condition, ..)
        | ExprKind::And(condition, _)
        | ExprKind::Or(condition, _) => mark(condition, marks),
        ExprKind::Call(FETCH_OF_INDEX, arguments) => {
            arguments.iter().for_each(|one| mark(one, marks));
        }
        _ => {}
    });
}

/// For each array, whether the kernel writes it.
pub(crate) fn written(kernel: &Kernel) -> Vec<bool> {
    let mut marks = vec![false; kernel.arrays.len()];
    written_in(&kernel.body, &mut marks);
    marks
}

fn written_in(list: &[Stmt], marks: &mut [bool]) {
    for statement in list {
        match statement {
            Stmt::Store(element, _) | Stmt::Atomic { element, .. } => {
                marks[element.array.position()] = true;
            }
            Stmt::If(_, then, otherwise) => {
                written_in(then, marks);
                written_in(otherwise, marks);
            }
            Stmt::Loop(inner) => {
                for part in [&inner.head, &inner.body, &inner.step] {
                    written_in(part, marks);
                }
            }
            _ => {}
        }
    }
}
