//! Affine gathers and scatters: elements that move, with at most one operation on each.

use super::{Base, BaseKind, Builder, Structure, decorate};
use crate::expr::{Access, Cond, Int, Val};
use testing::Random;

pub(super) fn draw(random: &mut Random) -> Base {
    match random.below(12) {
        0 | 1 => transpose(random),
        2 => permute(random),
        3 => stride(random),
        4 => scatter(random),
        5 => pad(random),
        6 => crop(random),
        7 => repeat(random),
        8 => tile(random),
        9 => concat(random),
        10 => window(random),
        _ => reverse(random),
    }
}

fn finish(builder: Builder, variant: &'static str, target: Access, value: Val) -> Base {
    builder.finish((BaseKind::Gather, variant), target, value, Structure::Plain)
}

fn transpose(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let (h, w) = (builder.size("h", 1), builder.size("w", 1));
    let (y, x) = (builder.axis("y", h.clone()), builder.axis("x", w.clone()));
    let input = builder.input("in", vec![h.clone(), w.clone()]);
    let out = builder.output(vec![w, h]);
    let value = decorate(random, Val::load(input, vec![y.into(), x.into()]));
    let target = Access::new(out, vec![x.into(), y.into()]);
    builder.finish((BaseKind::Gather, "transpose"), target, value, Structure::Transpose { input })
}

fn permute(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let sizes = ["d", "h", "w"].map(|name| builder.size(name, 1));
    let axes = [0, 1, 2].map(|axis| builder.axis(["z", "y", "x"][axis], sizes[axis].clone()));
    let order = random.pick(&[[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]);
    let input = builder.input("in", sizes.to_vec());
    let out = builder.output(order.iter().map(|axis| sizes[*axis].clone()).collect());
    let target = Access::new(out, order.iter().map(|axis| axes[*axis].into()).collect());
    let value = Val::load(input, axes.iter().map(|axis| Int::Var(*axis)).collect());
    finish(builder, "permute", target, value)
}

/// Draws a factor: a size or a small number.
fn factor(random: &mut Random, builder: &mut Builder) -> Int {
    if random.chance(50) { builder.size("m", 1) } else { Int::Const(random.below(3_i64) + 2) }
}

/// The first axis of an array of rows, if it has one.
struct Rows {
    extent: Option<Int>,
    point: Option<Int>,
}

impl Rows {
    fn draw(random: &mut Random, builder: &mut Builder) -> Self {
        let extent = random.chance(40).then(|| builder.size("h", 1));
        Self { extent, point: None }
    }

    /// Adds the axis; after the sizes, so that it comes first in the box.
    fn axis(&mut self, builder: &mut Builder) {
        self.point = self.extent.clone().map(|extent| Int::Var(builder.axis("y", extent)));
    }

    fn shape(&self, last: Int) -> Vec<Int> {
        self.extent.iter().cloned().chain([last]).collect()
    }

    fn at(&self, last: Int) -> Vec<Int> {
        self.point.iter().cloned().chain([last]).collect()
    }
}

fn stride(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let mut rows = Rows::draw(random, &mut builder);
    let n = builder.size("n", 1);
    let step = factor(random, &mut builder);
    rows.axis(&mut builder);
    let i = builder.axis("i", n.clone());
    let input = builder.input("in", rows.shape(n.clone() * &step));
    let out = builder.output(rows.shape(n));
    let value = decorate(random, Val::load(input, rows.at(i * step)));
    finish(builder, "stride", Access::new(out, rows.at(i.into())), value)
}

fn scatter(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let mut rows = Rows::draw(random, &mut builder);
    let n = builder.size("n", 1);
    let step = factor(random, &mut builder);
    rows.axis(&mut builder);
    let i = builder.axis("i", n.clone());
    let input = builder.input("in", rows.shape(n.clone()));
    let out = builder.output(rows.shape(n * &step));
    let value = decorate(random, Val::load(input, rows.at(i.into())));
    finish(builder, "scatter", Access::new(out, rows.at(i * step)), value)
}

fn pad(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let mut rows = Rows::draw(random, &mut builder);
    let (n, p) = (builder.size("n", 1), builder.size("p", 0));
    let wide = n.clone() + p.clone() * 2;
    rows.axis(&mut builder);
    let i = builder.axis("i", wide.clone());
    let input = builder.input("in", rows.shape(n.clone()));
    let out = builder.output(rows.shape(wide));
    let inside = Cond::all([Int::Var(i).ge(p.clone()), Int::Var(i).lt(n + p.clone())]);
    let value = Val::select(inside, Val::load(input, rows.at(i - p)), Val::Const(0));
    finish(builder, "pad", Access::new(out, rows.at(i.into())), value)
}

fn crop(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let rank = random.below(2_usize) + 1;
    let (mut input_shape, mut output_shape, mut output_point, mut input_point) =
        (vec![], vec![], vec![], vec![]);
    for axis in 2 - rank..2 {
        let small = builder.size(["h", "w"][axis], 1);
        let large = builder.size(["hh", "ww"][axis], 1);
        let offset = builder.size(["top", "left"][axis], 0);
        builder.requires.push((small.clone() + &offset).le(large.clone()));
        let var = builder.axis(["y", "x"][axis], small.clone());
        input_shape.push(large);
        output_shape.push(small);
        input_point.push(var + offset);
        output_point.push(Int::Var(var));
    }
    let input = builder.input("in", input_shape);
    let out = builder.output(output_shape);
    finish(builder, "crop", Access::new(out, output_point), Val::load(input, input_point))
}

/// Repeats every element: `a a b b`.
fn repeat(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let mut rows = Rows::draw(random, &mut builder);
    let n = builder.size("n", 1);
    let times = factor(random, &mut builder);
    let total = n.clone() * &times;
    rows.axis(&mut builder);
    let i = builder.axis("i", total.clone());
    let input = builder.input("in", rows.shape(n));
    let out = builder.output(rows.shape(total));
    let value = decorate(random, Val::load(input, rows.at(i / times)));
    finish(builder, "repeat", Access::new(out, rows.at(i.into())), value)
}

/// Repeats the whole row: `a b a b`.
fn tile(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let mut rows = Rows::draw(random, &mut builder);
    let n = builder.size("n", 1);
    let times = factor(random, &mut builder);
    let total = n.clone() * &times;
    rows.axis(&mut builder);
    let i = builder.axis("i", total.clone());
    let input = builder.input("in", rows.shape(n.clone()));
    let out = builder.output(rows.shape(total));
    let value = decorate(random, Val::load(input, rows.at(i % n)));
    finish(builder, "tile", Access::new(out, rows.at(i.into())), value)
}

fn concat(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let mut rows = Rows::draw(random, &mut builder);
    let (n, m) = (builder.size("n", 1), builder.size("m", 1));
    let total = n.clone() + &m;
    rows.axis(&mut builder);
    let i = builder.axis("i", total.clone());
    let first = builder.input("head", rows.shape(n.clone()));
    let second = builder.input("tail", rows.shape(m));
    let out = builder.output(rows.shape(total));
    let value = Val::select(
        Int::Var(i).lt(n.clone()),
        Val::load(first, rows.at(i.into())),
        Val::load(second, rows.at(i - n)),
    );
    finish(builder, "concat", Access::new(out, rows.at(i.into())), value)
}

/// Copies a window around each point: `out[i, j] = in[i + j]`.
fn window(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let (n, m) = (builder.size("n", 1), builder.size("m", 1));
    let (i, j) = (builder.axis("i", n.clone()), builder.axis("j", m.clone()));
    let input = builder.input("in", vec![n.clone() + &m]);
    let out = builder.output(vec![n, m]);
    let value = decorate(random, Val::load(input, vec![i + j]));
    finish(builder, "window", Access::new(out, vec![i.into(), j.into()]), value)
}

fn reverse(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let mut rows = Rows::draw(random, &mut builder);
    let n = builder.size("n", random.below(2));
    rows.axis(&mut builder);
    let i = builder.axis("i", n.clone());
    let input = builder.input("in", rows.shape(n.clone()));
    let out = builder.output(rows.shape(n.clone()));
    let value = decorate(random, Val::load(input, rows.at(n - 1 - i)));
    finish(builder, "reverse", Access::new(out, rows.at(i.into())), value)
}
