//! Reductions of rows, columns, boxes and windows; scans of rows; products of matrices.

use super::{Base, BaseKind, Builder, Prefix, Scan, Structure, decorate};
use crate::expr::{Access, Fold, Int, Val, ValOp, Var};
use crate::nest::{Axis, VarKind};
use testing::Random;

/// Builds a fold of `body` for `var` from `from` to before `to`.
fn fold(op: ValOp, var: Var, from: Int, to: Int, body: Val) -> Val {
    Val::Fold(Box::new(Fold { op, var, from, to, body }))
}

fn draw_op(random: &mut Random) -> ValOp {
    random.pick(&[ValOp::Add, ValOp::Add, ValOp::Add, ValOp::Max, ValOp::Min])
}

/// Draws the least number of elements of a fold: an extreme of nothing has no value.
fn draw_least(random: &mut Random, op: ValOp) -> i64 {
    if op == ValOp::Add { random.below(2) } else { 1 }
}

pub(super) fn draw(random: &mut Random) -> Base {
    match random.below(5) {
        0 | 1 => row(random),
        2 => column(random),
        3 => cuboid(random),
        _ => window(random),
    }
}

fn row(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let op = draw_op(random);
    let rows = builder.size("rows", 1);
    let inner = builder.size("n", draw_least(random, op));
    let r = builder.axis("r", rows.clone());
    let k = builder.vars.add("k", VarKind::Local);
    let input = builder.input("in", vec![rows.clone(), inner.clone()]);
    let mut element = Val::load(input, vec![r.into(), k.into()]);
    if op == ValOp::Add && random.chance(50) {
        let weights = builder.input("v", vec![inner.clone()]);
        element = Val::bin(ValOp::Mul, element, Val::load(weights, vec![k.into()]));
    } else {
        element = decorate(random, element);
    }
    let out = builder.output(vec![rows]);
    let value = fold(op, k, 0.into(), inner, element);
    builder.finish(
        (BaseKind::Reduce, "row"),
        Access::new(out, vec![r.into()]),
        value,
        Structure::Plain,
    )
}

fn column(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let op = draw_op(random);
    let rows = builder.size("n", draw_least(random, op));
    let columns = builder.size("cols", 1);
    let c = builder.axis("c", columns.clone());
    let k = builder.vars.add("k", VarKind::Local);
    let input = builder.input("in", vec![rows.clone(), columns.clone()]);
    let element = decorate(random, Val::load(input, vec![k.into(), c.into()]));
    let out = builder.output(vec![columns]);
    let value = fold(op, k, 0.into(), rows, element);
    builder.finish(
        (BaseKind::Reduce, "column"),
        Access::new(out, vec![c.into()]),
        value,
        Structure::Plain,
    )
}

fn cuboid(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let op = draw_op(random);
    let boxes = builder.size("m", 1);
    let (height, width) = (builder.size("h", 1), builder.size("w", 1));
    let b = builder.axis("b", boxes.clone());
    let k = builder.vars.add("k", VarKind::Local);
    let l = builder.vars.add("l", VarKind::Local);
    let input = builder.input("in", vec![boxes.clone(), height.clone(), width.clone()]);
    let element = decorate(random, Val::load(input, vec![b.into(), k.into(), l.into()]));
    let out = builder.output(vec![boxes]);
    let value = fold(op, k, 0.into(), height, fold(op, l, 0.into(), width, element));
    builder.finish(
        (BaseKind::Reduce, "box"),
        Access::new(out, vec![b.into()]),
        value,
        Structure::Plain,
    )
}

fn window(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let op = draw_op(random);
    let points = builder.size("n", 1);
    let width = builder.size("m", draw_least(random, op));
    let i = builder.axis("i", points.clone());
    let k = builder.vars.add("k", VarKind::Local);
    let input = builder.input("in", vec![points.clone() + &width]);
    let element = decorate(random, Val::load(input, vec![i + k]));
    let out = builder.output(vec![points]);
    let value = fold(op, k, 0.into(), width, element);
    builder.finish(
        (BaseKind::Reduce, "window"),
        Access::new(out, vec![i.into()]),
        value,
        Structure::Plain,
    )
}

pub(super) fn draw_scan(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let prefix = random.pick(&[Prefix::Inclusive, Prefix::Exclusive, Prefix::Suffix]);
    let op = if prefix == Prefix::Exclusive { ValOp::Add } else { draw_op(random) };
    let rows = builder.size("rows", 1);
    let inner = builder.size("n", random.below(2));
    let r = builder.axis("r", rows.clone());
    let j = builder.axis("j", inner.clone());
    let k = builder.vars.add("k", VarKind::Local);
    let input = builder.input("in", vec![rows.clone(), inner.clone()]);
    let element = decorate(random, Val::load(input, vec![r.into(), j.into()]));
    let out = builder.output(vec![rows, inner.clone()]);
    let (from, to, variant) = match prefix {
        Prefix::Inclusive => (0.into(), j + 1, "inclusive"),
        Prefix::Exclusive => (0.into(), j.into(), "exclusive"),
        Prefix::Suffix => (j.into(), inner.clone(), "suffix"),
    };
    let value = fold(op, k, from, to, element.substitute(j, &k.into()));
    let axis = Axis { var: j, extent: inner };
    let shape = Structure::Scan(Scan { axis, op, prefix, element });
    builder.finish(
        (BaseKind::Scan, variant),
        Access::new(out, vec![r.into(), j.into()]),
        value,
        shape,
    )
}

pub(super) fn draw_matmul(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let batched = random.chance(35);
    let mut outer = Vec::new();
    let mut point = Vec::new();
    if batched {
        let batches = builder.size("m", 1);
        point.push(Int::Var(builder.axis("b", batches.clone())));
        outer.push(batches);
    }
    let (height, width) = (builder.size("h", 1), builder.size("w", 1));
    let inner = builder.size("n", 1);
    let (y, x) = (builder.axis("y", height.clone()), builder.axis("x", width.clone()));
    let k = builder.vars.add("k", VarKind::Local);
    let with = |first: &[Int], rest: [Int; 2]| [first, &rest[..]].concat();
    let a = builder.input("A", with(&outer, [height.clone(), inner.clone()]));
    let b = builder.input("B", with(&outer, [inner.clone(), width.clone()]));
    let left = Val::load(a, with(&point, [y.into(), k.into()]));
    let right = Val::load(b, with(&point, [k.into(), x.into()]));
    let out = builder.output(with(&outer, [height, width]));
    let value = fold(ValOp::Add, k, 0.into(), inner.clone(), Val::bin(ValOp::Mul, left, right));
    let target = Access::new(out, with(&point, [y.into(), x.into()]));
    let variant = if batched { "batched" } else { "plain" };
    builder.finish((BaseKind::Matmul, variant), target, value, Structure::Matmul { a, b, inner })
}
