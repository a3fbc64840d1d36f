//! Group `reduction`: the threads of a block share the iterations of a fold, and combine their partial
//! results in a tree.

use crate::draft::Draft;
use crate::expr::{Access, ArrayId, CmpOp, Cond, Int, Local, Val, ValOp, Var};
use crate::nest::{Dim, For, Kernel, Order, Space, Stmt, VarKind};
use crate::walk;
use testing::Random;

/// The shape of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tree {
    /// Half of the threads add the partial results of the other half.
    Halving,
    /// Thread `t` adds element `t + d` if `2d` divides `t`; `d` doubles.
    Interleaved,
    /// Like `Interleaved`, but thread `t` adds to element `2dt`, so that the active threads have consecutive numbers.
    Consecutive,
    /// Halving, rounded up; for blocks of any size.
    RoundingUp,
}

/// Distributes the fold that computes an output; `None` if the body of the draft is anything but one fold.
#[must_use]
pub fn draw(draft: &Draft, random: &mut Random) -> Option<Kernel> {
    let [Stmt::Float(sum, start), Stmt::For(fold_loop), Stmt::Store(target, stored)] =
        draft.kernel.body.as_slice()
    else {
        return None;
    };
    let (_, to) = fold_loop.as_range()?;
    let op = combined_with(&fold_loop.body, *sum)?;
    let (sum, start, fold_loop) = (*sum, start.clone(), (**fold_loop).clone());
    let (target, stored) = (target.clone(), stored.clone());
    let Draft { mut kernel, axes } = draft.clone();
    let size = block_size(&mut kernel, random);
    let space = if size == Int::Var(Dim::X.threads()) { Space::Dynamic } else { Space::Static };
    let s = kernel.array("s", vec![size.clone()], space);
    let t = kernel.int("t");
    kernel.require_fits(to + &size);
    let distributed = distribute(&mut kernel, fold_loop, t, &size, random);
    let place = |at: Int| Access::new(s, vec![at]);
    let mut body = vec![Stmt::Float(sum, start)];
    body.extend(distributed);
    body.push(Stmt::Store(place(t.into()), Val::Local(sum)));
    body.push(Stmt::Barrier);
    let tree = random.pick(&[
        Tree::Halving,
        Tree::Halving,
        Tree::Interleaved,
        Tree::Consecutive,
        Tree::RoundingUp,
    ]);
    body.extend(combine(&mut kernel, tree, op, s, t, &size));
    let stored =
        stored.map(&mut |val| (*val == Val::Local(sum)).then(|| Val::Load(place(Int::Const(0)))));
    body.push(Stmt::If(Int::Var(t).equals(0), vec![Stmt::Store(target, stored)], Vec::new()));
    kernel.body = outputs_by_blocks(&mut kernel, &axes, body, random);
    kernel.body.insert(0, Stmt::Int(t, Dim::X.thread().into()));
    Some(kernel)
}

/// Distributes iterations: strided over threads, or a chunk to each.
fn distribute(
    kernel: &mut Kernel,
    whole: For,
    t: Var,
    size: &Int,
    random: &mut Random,
) -> Vec<Stmt> {
    let range = whole.as_range().filter(|_| random.chance(30));
    let Some((_, to)) = range else {
        return vec![For { from: Some(t.into()), next: whole.var + size, ..whole }.into()];
    };
    kernel.note("reduction", "dealt-in-chunks");
    let (threads, length, first) = (kernel.int("b"), kernel.int("len"), kernel.int("lo"));
    let end = (first + length).min(to.clone());
    vec![
        Stmt::Int(threads, size.clone()),
        Stmt::Int(length, (to + threads - 1) / threads),
        Stmt::Int(first, t * length),
        For::range(whole.var, first.into(), end, whole.body).into(),
    ]
}

/// Returns the operation with which the statements combine into one accumulator, if they do nothing else.
fn combined_with(stmts: &[Stmt], sum: Local) -> Option<ValOp> {
    match stmts {
        [Stmt::Combine(local, op, _)] if *local == sum => Some(*op),
        [Stmt::For(inner)] => combined_with(&inner.body, sum),
        _ => None,
    }
}

fn block_size(kernel: &mut Kernel, random: &mut Random) -> Int {
    if random.chance(60) {
        return Int::Var(Dim::X.threads());
    }
    let size = kernel.vars.add("T", VarKind::Macro);
    kernel.require(Int::Var(Dim::X.threads()).equals(size));
    Int::Var(size)
}

/// Builds the tree: `s[t]` holds the partial result of thread `t`.
fn combine(
    kernel: &mut Kernel,
    tree: Tree,
    op: ValOp,
    s: ArrayId,
    t: Var,
    size: &Int,
) -> Vec<Stmt> {
    let step = |near: Int, far: Int| {
        let load = |at: Int| Val::load(s, vec![at]);
        Stmt::Store(Access::new(s, vec![near.clone()]), Val::bin(op, load(near), load(far)))
    };
    let d = kernel.int("d");
    let fixed = |from: Int, test: Cond, next: Int, body: Vec<Stmt>| {
        let range = For::range(d, from, 0.into(), body);
        Stmt::from(For { test, next, order: Order::Fixed, ..range })
    };
    let only = |cond: Cond, stmt: Stmt| Stmt::If(cond, vec![stmt], Vec::new());
    match tree {
        Tree::Halving => {
            kernel.note("reduction", "tree-halving");
            kernel.require(Cond::PowerOfTwo(size.clone()));
            let body = vec![only(Int::Var(t).lt(d), step(t.into(), t + d)), Stmt::Barrier];
            let test = Int::Var(d).cmp(CmpOp::Gt, 0);
            vec![fixed(size.clone() / 2, test, d / 2, body)]
        }
        Tree::Interleaved => {
            kernel.note("reduction", "tree-interleaved");
            kernel.require(Cond::PowerOfTwo(size.clone()));
            let first = (t % (d * 2)).equals(0);
            let body = vec![only(first, step(t.into(), t + d)), Stmt::Barrier];
            vec![fixed(1.into(), Int::Var(d).lt(size.clone()), d * 2, body)]
        }
        Tree::Consecutive => {
            kernel.note("reduction", "tree-consecutive");
            kernel.require(Cond::PowerOfTwo(size.clone()));
            let at = kernel.int("at");
            let body = vec![
                Stmt::Int(at, d * 2 * t),
                only((at + d).lt(size.clone()), step(at.into(), at + d)),
                Stmt::Barrier,
            ];
            vec![fixed(1.into(), Int::Var(d).lt(size.clone()), d * 2, body)]
        }
        Tree::RoundingUp => {
            kernel.note("reduction", "tree-rounding-up");
            let half = kernel.int("half");
            let body = vec![
                Stmt::Int(half, (d + 1) / 2),
                only((t + half).lt(d), step(t.into(), t + half)),
                Stmt::Barrier,
            ];
            let test = Int::Var(d).cmp(CmpOp::Gt, 1);
            vec![fixed(size.clone(), test, (d + 1) / 2, body)]
        }
    }
}

/// Lets a block compute each output.
fn outputs_by_blocks(
    kernel: &mut Kernel,
    axes: &[crate::nest::Axis],
    body: Vec<Stmt>,
    random: &mut Random,
) -> Vec<Stmt> {
    if let [axis] = axes {
        let strided = random.chance(30);
        if strided {
            kernel.note("launch", "block-stride");
        }
        let body = if strided { walk::copy(&body, kernel) } else { body };
        return super::launch::by_blocks(kernel, axis.var, &axis.extent, body, strided);
    }
    let mut stmts = Vec::new();
    for (axis, dim) in axes.iter().rev().zip(Dim::ALL) {
        kernel.require(Int::Var(dim.blocks()).equals(axis.extent.clone()));
        if dim != Dim::X {
            kernel.require(Int::Var(dim.threads()).equals(1));
        }
        stmts.push(Stmt::Int(axis.var, dim.block().into()));
    }
    stmts.extend(body);
    stmts
}
