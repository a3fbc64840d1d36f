//! Group `loops`: strength reduction. The index of an element is carried from iteration to iteration instead of being
//! recomputed.

use crate::expr::{Access, Int, IntOp, Val, Var};
use crate::nest::{For, Kernel, Stmt, VarKind};
use crate::walk::{self, ReplaceLoads};
use testing::Random;

/// Carries one index of one loop; `false` if no index grows evenly.
pub fn draw(kernel: &mut Kernel, random: &mut Random) -> bool {
    let mut choices = Vec::new();
    walk::visit(&kernel.body, &mut |stmt| {
        if let Stmt::For(inner) = stmt {
            choices.extend(find_index(kernel, inner));
        }
    });
    if choices.is_empty() {
        return false;
    }
    let choice = random.pick(&choices);
    let elements = Int::product(&kernel.arrays[choice.access.array.0].shape);
    kernel.require_fits(elements + &choice.step);
    let index = kernel.int("ind");
    let mut body = std::mem::take(&mut kernel.body);
    walk::visit_lists(&mut body, &mut |list| carry_index(list, &choice, index));
    kernel.body = body;
    kernel.note("loops", "carried-index");
    true
}

/// An index that grows by the same number with every iteration.
#[derive(Clone)]
struct CarriedIndex {
    /// The variable of the loop.
    var: Var,
    /// The loaded element.
    access: Access,
    /// Its index in the first iteration.
    first: Int,
    /// The growth of the index.
    step: Int,
}

/// Finds an element that every iteration loads, at an index that grows by a size or number.
fn find_index(kernel: &Kernel, inner: &For) -> Option<CarriedIndex> {
    let (from, _) = inner.as_range()?;
    let access = inner.body.iter().find_map(|stmt| loaded_element(kernel, stmt))?;
    let index = kernel.arrays[access.array.0].linear(&access.coords);
    let step = growth(&index, inner.var)?;
    let mut declared = vec![inner.var];
    walk::visit(&inner.body, &mut |stmt| match stmt {
        Stmt::Int(var, _) | Stmt::Assign(var, _) => declared.push(*var),
        _ => {}
    });
    let depends = declared[1..].iter().any(|var| index.mentions(*var));
    // The start of an empty loop may be any number, and its index may overflow. A start that is made of sizes
    // alone fits.
    let mut closed = step != Int::Const(0);
    for part in [&step, &from] {
        part.visit(&mut |part| {
            if let Int::Var(var) = part {
                closed &= kernel.vars.kind(*var) == VarKind::Size;
            }
        });
    }
    let first = index.substitute(inner.var, &from);
    (closed && !depends).then_some(CarriedIndex { var: inner.var, access, first, step })
}

/// Returns the first element of a global array that a statement loads unconditionally.
fn loaded_element(kernel: &Kernel, stmt: &Stmt) -> Option<Access> {
    let is_global = |access: &Access| !kernel.arrays[access.array.0].is_shared();
    match stmt {
        Stmt::Combine(_, _, val) | Stmt::Float(_, val) => val.first_load(&is_global).cloned(),
        _ => None,
    }
}

/// Returns the growth of an expression with a variable, if it is constant.
fn growth(int: &Int, var: Var) -> Option<Int> {
    match int {
        Int::Var(found) if *found == var => Some(Int::Const(1)),
        Int::Bin(IntOp::Add, a, b) => Some(growth(a, var)? + growth(b, var)?),
        Int::Bin(IntOp::Sub, a, b) => Some(growth(a, var)? - growth(b, var)?),
        Int::Bin(IntOp::Mul, a, b) if !b.mentions(var) => Some(growth(a, var)? * &**b),
        Int::Bin(IntOp::Mul, a, b) if !a.mentions(var) => Some(growth(b, var)? * &**a),
        other => (!other.mentions(var)).then_some(Int::Const(0)),
    }
}

/// Carries the index of the loop that counts with the chosen variable, if it is in this list.
fn carry_index(list: &mut Vec<Stmt>, choice: &CarriedIndex, index: Var) {
    let counts = |stmt: &Stmt| matches!(stmt, Stmt::For(inner) if inner.var == choice.var && inner.as_range().is_some());
    let Some(at) = list.iter().position(counts) else { return };
    if let Stmt::For(inner) = &mut list[at] {
        let by = Val::load(choice.access.array, vec![index.into()]);
        inner.body = walk::rewrite(&inner.body, &mut ReplaceLoads { access: &choice.access, by });
        inner.body.push(Stmt::Assign(index, index + &choice.step));
        inner.order = crate::nest::Order::Fixed;
    }
    list.insert(at, Stmt::Int(index, choice.first.clone()));
}
