//! Finds the data that control flow and accesses depend on: variables and arrays that feed an index, a condition or a
//! claim, constants in conditions, and the written arrays. Integers in other variables may wrap around.

use crate::{
    ArrayId, Element, Expr, ExprKind, FETCH_OF_INDEX, Kernel, Stmt, VarId, each_expr, visit,
};
use base::Index;

/// Returns for each variable if it feeds an index, a condition or another such variable.
pub fn relevant(kernel: &Kernel) -> Vec<bool> {
    let mut marks = vec![false; kernel.vars.len()];
    loop {
        let before = marks.clone();
        mark_statements(&kernel.body, &mut marks);
        if marks == before {
            return marks;
        }
    }
}

/// Marks variables in the sizes of arrays and in footprints.
pub fn mark_sizes(kernel: &Kernel, marks: &mut [bool]) {
    let sizes = kernel.arrays.iter().flat_map(|array| array.dimensions.iter().flatten());
    let allowed = kernel.footprints.iter().flat_map(|footprint| [&footprint.low, &footprint.high]);
    sizes.chain(allowed).for_each(|one| mark(one, marks));
}

fn mark(expr: &Expr, marks: &mut [bool]) {
    visit(expr, &mut |inner| {
        if let ExprKind::Var(var) = inner.kind {
            marks[var.position()] = true;
        }
    });
}

fn mark_indices(element: &Element, marks: &mut [bool]) {
    element.index.iter().for_each(|index| mark(index, marks));
}

/// Marks the variables that feed an index or a condition in statements, or another marked variable.
fn mark_statements(list: &[Stmt], marks: &mut [bool]) {
    for statement in list {
        match statement {
            Stmt::Assign(var, value) => {
                if marks[var.position()] {
                    mark(value, marks);
                }
                inner_conditions(value, marks);
            }
            Stmt::Load(_, one) => mark_indices(one, marks),
            Stmt::Store(one, value) => {
                mark_indices(one, marks);
                inner_conditions(value, marks);
            }
            Stmt::Atomic { element: one, operands, .. } => {
                mark_indices(one, marks);
                operands.iter().for_each(|operand| inner_conditions(operand, marks));
            }
            Stmt::If(condition, then, otherwise) => {
                mark(condition, marks);
                mark_statements(then, marks);
                mark_statements(otherwise, marks);
            }
            Stmt::Loop(inner) => {
                mark(&inner.condition, marks);
                let claims = inner.claims.iter().map(|claim| &claim.condition);
                inner.invariants.iter().chain(claims).for_each(|one| mark(one, marks));
                for part in [&inner.head, &inner.body, &inner.step] {
                    mark_statements(part, marks);
                }
            }
            Stmt::Assert(condition) | Stmt::Assume(condition) | Stmt::Used(condition, _) => {
                mark(condition, marks);
            }
            Stmt::Given(given) => {
                given.claims.iter().for_each(|claim| mark(&claim.condition, marks))
            }
            Stmt::Claims(claims) => claims.iter().for_each(|claim| mark(&claim.condition, marks)),
            Stmt::Bits(var, _, arguments) => {
                if marks[var.position()] {
                    arguments.iter().for_each(|argument| mark(argument, marks));
                }
                arguments.iter().for_each(|argument| inner_conditions(argument, marks));
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

/// Marks the variables in conditions inside a value, of `&&` and `?:`, and in indices of textures.
fn inner_conditions(value: &Expr, marks: &mut [bool]) {
    visit(value, &mut |inner| match &inner.kind {
        ExprKind::Select(condition, ..)
        | ExprKind::And(condition, _)
        | ExprKind::Or(condition, _) => mark(condition, marks),
        ExprKind::Call(FETCH_OF_INDEX, arguments) => {
            arguments.iter().for_each(|argument| mark(argument, marks));
        }
        _ => {}
    });
}

/// Returns for each array if the kernel writes it.
pub fn written(kernel: &Kernel) -> Vec<bool> {
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

/// Returns for each array if loads from it feed an index or a condition.
pub fn feeding(kernel: &Kernel, relevant: &[bool]) -> Vec<bool> {
    fn each(list: &[Stmt], see: &mut impl FnMut(VarId, ArrayId)) {
        for statement in list {
            match statement {
                Stmt::Load(var, element) => see(*var, element.array),
                Stmt::Atomic { result, element, .. } => see(*result, element.array),
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
    let mut marks = vec![false; kernel.arrays.len()];
    each(&kernel.body, &mut |var, array| {
        if relevant.get(var.position()).copied().unwrap_or(true)
            && let Some(mark) = marks.get_mut(array.position())
        {
            *mark = true;
        }
    });
    marks
}

/// Constants in comparisons of a kernel, the largest first.
pub fn compared_numbers(kernel: &Kernel) -> Vec<i128> {
    let mut found = Vec::new();
    each_expr(&kernel.body, &mut |expr| {
        visit(expr, &mut |inner| {
            if let ExprKind::Compare(_, left, right) = &inner.kind {
                for side in [left, right] {
                    visit(side, &mut |part| {
                        if let ExprKind::Int(value) = part.kind {
                            found.push(value);
                        }
                    });
                }
            }
        });
    });
    found.sort_unstable();
    found.dedup();
    found.reverse();
    found
}
