//! Stencils on lines and planes: weighted neighbours at a distance of up to two.

use super::{Base, BaseKind, Border, Builder, Stencil, Structure, Tap};
use crate::expr::{Access, ArrayId, Cond, Fold, Int, Val, ValOp, Var};
use crate::nest::{INT_MAX, VarKind};
use testing::Random;

pub(super) fn draw(random: &mut Random) -> Base {
    if random.chance(20) {
        return draw_window(random);
    }
    let mut builder = Builder::new();
    let rank = random.below(2_usize) + 1;
    let names = [("y", "h"), ("x", "w")];
    let mut axes = Vec::new();
    for (axis, size) in &names[2 - rank..] {
        let extent = builder.size(size, 1);
        axes.push((builder.axis(axis, extent.clone()), extent));
    }
    let shape: Vec<Int> = axes.iter().map(|(_, extent)| extent.clone()).collect();
    let input = builder.input("in", shape.clone());
    let stencil = draw_stencil(random, input, rank);
    for ((_, extent), reach) in axes.iter().zip(&stencil.radius) {
        builder.requires.push((extent.clone() + *reach).le(INT_MAX));
    }
    let point: Vec<Int> = axes.iter().map(|(var, _)| Int::Var(*var)).collect();
    let out = builder.output(shape);
    let value = value(&stencil, &axes);
    let guard = inside(&stencil, &axes);
    let variant = match stencil.border {
        Border::Clamp => "clamp",
        Border::Zero => "zero",
        Border::Interior => "interior",
    };
    let target = Access::new(out, point);
    let base =
        builder.finish((BaseKind::Stencil, variant), target, value, Structure::Stencil(stencil));
    Base { guard, ..base }
}

/// Draws a stencil whose radius is a size: the sum or an extreme of a window around each point.
fn draw_window(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let (n, radius) = (builder.size("n", 1), builder.size("rad", 0));
    let i = builder.axis("i", n.clone());
    let k = builder.vars.add("k", VarKind::Local);
    let width = radius.clone() * 2 + 1;
    builder.requires.push((n.clone() + &width).le(INT_MAX));
    let input = builder.input("in", vec![n.clone()]);
    let out = builder.output(vec![n.clone()]);
    let at = i + k - radius;
    let (op, body, variant) = match random.below(3) {
        0 => (ValOp::Add, Val::load(input, vec![at.max(0).min(n - 1)]), "radius-clamp"),
        1 => (ValOp::Max, Val::load(input, vec![at.max(0).min(n - 1)]), "radius-max"),
        _ => {
            let inside = Cond::all([at.clone().ge(0), at.clone().lt(n)]);
            let value = Val::select(inside, Val::load(input, vec![at]), Val::Const(0));
            (ValOp::Add, value, "radius-zero")
        }
    };
    let fold = Fold { op, var: k, from: 0.into(), to: width, body };
    let value = Val::Fold(Box::new(fold));
    builder.finish(
        (BaseKind::Stencil, variant),
        Access::new(out, vec![i.into()]),
        value,
        Structure::Plain,
    )
}

fn draw_stencil(random: &mut Random, input: ArrayId, rank: usize) -> Stencil {
    let reach = random.below(2_i64) + 1;
    let mut taps = vec![Tap { offset: vec![0; rank], weight: random.below(3_i64) + 2 }];
    for axis in 0..rank {
        for distance in 1..=reach {
            for offset in [-distance, distance] {
                if distance == reach || random.chance(50) {
                    let mut tap = Tap { offset: vec![0; rank], weight: random.below(3_i64) + 1 };
                    tap.offset[axis] = offset;
                    taps.push(tap);
                }
            }
        }
    }
    if random.chance(25) {
        taps.retain(|tap| tap.offset.iter().all(|offset| *offset <= 0));
    }
    let border = random.pick(&[Border::Clamp, Border::Zero, Border::Interior]);
    Stencil { input, taps, radius: vec![reach; rank], border }
}

/// Returns the condition that a point has all neighbours; true if the border has a value.
fn inside(stencil: &Stencil, axes: &[(Var, Int)]) -> Cond {
    if stencil.border != Border::Interior {
        return Cond::And(Vec::new());
    }
    Cond::all(axes.iter().zip(&stencil.radius).flat_map(|((var, extent), reach)| {
        [Int::Var(*var).ge(*reach), Int::Var(*var).lt(extent.clone() - *reach)]
    }))
}

fn value(stencil: &Stencil, axes: &[(Var, Int)]) -> Val {
    let mut sum: Option<Val> = None;
    for tap in &stencil.taps {
        let load = neighbour(stencil, axes, &tap.offset);
        let term = weighted(tap.weight, load);
        sum = Some(match sum {
            None => term,
            Some(sum) => Val::bin(ValOp::Add, sum, term),
        });
    }
    sum.unwrap_or(Val::Const(0))
}

/// Multiplies with a weight, unless it is 1.
pub(crate) fn weighted(weight: i64, value: Val) -> Val {
    if weight == 1 { value } else { Val::bin(ValOp::Mul, Val::Const(weight), value) }
}

fn neighbour(stencil: &Stencil, axes: &[(Var, Int)], offset: &[i64]) -> Val {
    let shifted: Vec<Int> = axes.iter().zip(offset).map(|((var, _), by)| *var + *by).collect();
    match stencil.border {
        Border::Interior => Val::load(stencil.input, shifted),
        Border::Clamp => {
            let coords = shifted
                .into_iter()
                .zip(axes)
                .zip(offset)
                .map(|((coord, (_, extent)), by)| clamp(coord, extent, *by));
            Val::load(stencil.input, coords.collect())
        }
        Border::Zero => {
            let conds =
                shifted.iter().zip(axes).zip(offset).filter_map(|((coord, (_, extent)), by)| {
                    match by.signum() {
                        -1 => Some(coord.clone().ge(0)),
                        1 => Some(coord.clone().lt(extent.clone())),
                        _ => None,
                    }
                });
            let cond = Cond::all(conds);
            let load = Val::load(stencil.input, shifted);
            if cond.is_true() { load } else { Val::select(cond, load, Val::Const(0)) }
        }
    }
}

fn clamp(coord: Int, extent: &Int, by: i64) -> Int {
    match by.signum() {
        -1 => coord.max(0),
        1 => coord.min(extent.clone() - 1),
        _ => coord,
    }
}
