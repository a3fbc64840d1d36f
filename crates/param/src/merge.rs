//! Two kernels whose arrays are numbered alike: global ones of the same name are one array.

use crate::kir::{Array, ArrayId, Element, Expr, ExprKind, Kernel, Space, Stmt};
use base::{Index, IndexVec};

/// The second kernel with its arrays renumbered, and both with a place for each array of the other.
///
/// # Errors
/// If arrays of one name cannot be one: their elements or dimensions differ.
pub(crate) fn merged(kernels: [&Kernel; 2]) -> Result<[Kernel; 2], String> {
    let [mut one, mut two] = kernels.map(Kernel::clone);
    let mut places: Vec<ArrayId> = Vec::new();
    let mut all: IndexVec<ArrayId, Array> = IndexVec::new();
    // Arrays of the first keep their numbers.
    for array in one.arrays.iter() {
        all.push(array.clone());
    }
    let firsts = all.len();
    for array in two.arrays.iter() {
        let known = (0..firsts).map(ArrayId::from_position).find(|id| {
            let other = &all[*id];
            other.space == Space::Global && array.space == Space::Global && other.name == array.name
        });
        if let Some(id) = known {
            let other = &all[id];
            if other.element != array.element || other.dimensions.len() != array.dimensions.len() {
                return Err(format!(
                    "`{}` is an array of another kind in the second kernel",
                    array.name
                ));
            }
            places.push(id);
        } else {
            places.push(all.push(array.clone()));
        }
    }
    let mut own: IndexVec<ArrayId, Array> = IndexVec::new();
    for position in 0..all.len() {
        let id = ArrayId::from_position(position);
        let mine = places.iter().position(|place| *place == id);
        let array = match mine {
            Some(mine) => two.arrays[ArrayId::from_position(mine)].clone(),
            None => foreign(&all[id]),
        };
        own.push(array);
    }
    for position in firsts..all.len() {
        one.arrays.push(foreign(&all[ArrayId::from_position(position)]));
    }
    two.arrays = own;
    for requirement in &mut two.requires {
        renumber_expr(&mut requirement.condition, &places);
    }
    for claim in two.ensures.iter_mut().chain(two.barriers.iter_mut().flat_map(|(_, all)| all)) {
        renumber_expr(&mut claim.condition, &places);
    }
    renumber(&mut two.body, &places);
    Ok([one, two])
}

/// An array of the other kernel: its sizes are written in the other's variables.
fn foreign(array: &Array) -> Array {
    let dimensions = array.dimensions.iter().map(|_| None).collect();
    Array { dimensions, ..array.clone() }
}

fn renumber(statements: &mut [Stmt], places: &[ArrayId]) {
    for statement in statements {
        match statement {
            Stmt::Assign(_, value) | Stmt::Assert(value) | Stmt::Assume(value) => {
                renumber_expr(value, places);
            }
            Stmt::Load(_, element) => renumber_element(element, places),
            Stmt::Store(element, value) => {
                renumber_element(element, places);
                renumber_expr(value, places);
            }
            Stmt::Atomic { element, operands, .. } => {
                renumber_element(element, places);
                operands.iter_mut().for_each(|one| renumber_expr(one, places));
            }
            Stmt::If(condition, then, otherwise) => {
                renumber_expr(condition, places);
                renumber(then, places);
                renumber(otherwise, places);
            }
            Stmt::Loop(inner) => {
                for part in [&mut inner.head, &mut inner.body, &mut inner.step] {
                    renumber(part, places);
                }
                renumber_expr(&mut inner.condition, places);
                inner.invariants.iter_mut().for_each(|one| renumber_expr(one, places));
                for claim in &mut inner.claims {
                    renumber_expr(&mut claim.condition, places);
                }
            }
            Stmt::Barrier(_) | Stmt::Warp(_) | Stmt::Return | Stmt::Break | Stmt::Continue => {}
        }
    }
}

fn renumber_element(element: &mut Element, places: &[ArrayId]) {
    if let Some(place) = places.get(element.array.position()) {
        element.array = *place;
    }
    element.index.iter_mut().for_each(|one| renumber_expr(one, places));
}

fn renumber_expr(expr: &mut Expr, places: &[ArrayId]) {
    match &mut expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Var(_) | ExprKind::Builtin(..) => {}
        ExprKind::Unary(_, inner)
        | ExprKind::Convert(inner)
        | ExprKind::Other(inner)
        | ExprKind::Quantified(_, _, inner) => renumber_expr(inner, places),
        ExprKind::Element(array, _, index) => {
            if let Some(place) = places.get(array.position()) {
                *array = *place;
            }
            index.iter_mut().for_each(|one| renumber_expr(one, places));
        }
        ExprKind::Fold(fold) => {
            for one in [&mut fold.low, &mut fold.high, &mut fold.body] {
                renumber_expr(one, places);
            }
        }
        ExprKind::Binary(_, left, right)
        | ExprKind::Compare(_, left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right) => {
            renumber_expr(left, places);
            renumber_expr(right, places);
        }
        ExprKind::Select(condition, then, otherwise) => {
            renumber_expr(condition, places);
            renumber_expr(then, places);
            renumber_expr(otherwise, places);
        }
        ExprKind::Call(_, arguments) | ExprKind::Combine(_, arguments) => {
            arguments.iter_mut().for_each(|one| renumber_expr(one, places));
        }
    }
}
