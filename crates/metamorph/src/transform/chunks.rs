//! Group `memory`: a factor needed by all threads of a block goes through shared memory, a chunk at a time.

use crate::draft::{Draft, guarded};
use crate::expr::{Access, ArrayId, Cond, Int, Val, Var};
use crate::nest::{Dim, For, Kernel, Order, Space, Stmt, VarKind};
use testing::Random;

/// Stages a factor of a fold whose index is that of the fold alone; `None` if there is none.
#[must_use]
pub fn draw(draft: &Draft, random: &mut Random) -> Option<Kernel> {
    let [axis] = draft.axes.as_slice() else { return None };
    let [Stmt::Float(sum, start), Stmt::For(fold_loop), Stmt::Store(target, stored)] =
        draft.kernel.body.as_slice()
    else {
        return None;
    };
    let (_, to) = fold_loop.as_range()?;
    let [Stmt::Combine(_, op, val)] = fold_loop.body.as_slice() else { return None };
    let factor = shared_factor(val, fold_loop.var)?;
    let mut kernel = draft.kernel.clone();
    let fixed = random.chance(50);
    let size = chunk_size(&mut kernel, fixed);
    let space = if fixed { Space::Static } else { Space::Dynamic };
    let s = kernel.array("s", vec![size.clone()], space);
    require_launch(&mut kernel, &size, &axis.extent, &to);
    kernel.note("memory", "chunks-of-operand");
    let t = kernel.int("t");
    let (first, offset) = (kernel.int("k0"), kernel.int("k1"));
    let staged = val.map(&mut |part| match part {
        Val::Load(access) if access.array == factor => Some(Val::load(s, vec![offset.into()])),
        _ => None,
    });
    let k = fold_loop.var;
    let step = vec![Stmt::Int(k, first + offset), Stmt::Combine(*sum, *op, staged)];
    let inside = Int::Var(axis.var).lt(axis.extent.clone());
    let range = For::range(offset, 0.into(), size.clone(), step);
    let is_in_range = Cond::all([range.test.clone(), (first + offset).lt(to.clone())]);
    let inner = For { test: is_in_range, ..range };
    let body = stage_chunk(s, factor, t, (first, &to), guarded(&inside, vec![inner.into()]));
    let outer = For { order: Order::Fixed, ..For::range(first, 0.into(), to.clone(), body) };
    kernel.body = vec![
        Stmt::Int(t, Dim::X.thread().into()),
        Stmt::Int(axis.var, Dim::X.block() * &size + t),
        Stmt::Float(*sum, start.clone()),
        For { next: first + &size, ..outer }.into(),
    ];
    kernel.body.extend(guarded(&inside, vec![Stmt::Store(target.clone(), stored.clone())]));
    Some(kernel)
}

/// Returns an array that is loaded at the fold's variable and nowhere else.
fn shared_factor(val: &Val, k: Var) -> Option<ArrayId> {
    let mut found = None;
    val.visit(&mut |part| match part {
        Val::Load(access) if access.coords == [Int::Var(k)] => found = Some(access.array),
        _ => {}
    });
    found
}

fn chunk_size(kernel: &mut Kernel, fixed: bool) -> Int {
    if !fixed {
        return Int::Var(Dim::X.threads());
    }
    let size = kernel.vars.add("T", VarKind::Macro);
    kernel.require(Int::Var(Dim::X.threads()).equals(size));
    Int::Var(size)
}

fn require_launch(kernel: &mut Kernel, size: &Int, extent: &Int, to: &Int) {
    let covered = Int::Var(Dim::X.blocks()) * size;
    kernel.require(covered.clone().ge(extent.clone()));
    kernel.require_fits(covered);
    kernel.require_fits(to.clone() + size);
}

/// Loads a chunk, synchronises, uses it, and synchronises again.
fn stage_chunk(
    s: ArrayId,
    factor: ArrayId,
    t: Var,
    (first, to): (Var, &Int),
    work: Vec<Stmt>,
) -> Vec<Stmt> {
    let load = Val::load(factor, vec![first + t]);
    let store = Stmt::Store(Access::new(s, vec![t.into()]), load);
    let mut body = vec![Stmt::If((first + t).lt(to.clone()), vec![store], Vec::new())];
    body.push(Stmt::Barrier);
    body.extend(work);
    body.push(Stmt::Barrier);
    body
}
