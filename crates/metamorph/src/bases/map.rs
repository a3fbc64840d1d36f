//! Element-wise maps over one to three axes; further inputs may lack some axes, as a bias for each row does.

use super::{Base, BaseKind, Builder, Structure, combine};
use crate::expr::{Access, Int, Val, Var};
use testing::Random;

pub(super) fn draw(random: &mut Random) -> Base {
    let mut builder = Builder::new();
    let rank = random.below(3_usize) + 1;
    let least = if rank == 1 { random.below(2_i64) } else { 1 };
    let names = [("z", "d"), ("y", "h"), ("x", "w")];
    let mut axes: Vec<(Var, Int)> = Vec::new();
    for (axis, size) in &names[3 - rank..] {
        let extent = builder.size(size, least);
        axes.push((builder.axis(axis, extent.clone()), extent));
    }
    let shape: Vec<Int> = axes.iter().map(|(_, extent)| extent.clone()).collect();
    let point: Vec<Int> = axes.iter().map(|(var, _)| Int::Var(*var)).collect();
    let input = builder.input("in", shape.clone());
    let mut values = vec![Val::load(input, point.clone())];
    for name in ["bias", "scale"].into_iter().take(random.below(3_usize)) {
        values.push(operand(random, &mut builder, name, &axes));
    }
    let value = combine(random, values);
    let out = builder.output(shape);
    let variant = ["1d", "2d", "3d"][rank - 1];
    builder.finish((BaseKind::Map, variant), Access::new(out, point), value, Structure::Plain)
}

/// Adds an input with all axes, or with one of them.
fn operand(random: &mut Random, builder: &mut Builder, name: &str, axes: &[(Var, Int)]) -> Val {
    let kept: Vec<&(Var, Int)> = if random.chance(50) {
        axes.iter().collect()
    } else {
        vec![&axes[random.below(axes.len())]]
    };
    let shape = kept.iter().map(|(_, extent)| extent.clone()).collect();
    let array = builder.input(name, shape);
    Val::load(array, kept.iter().map(|(var, _)| Int::Var(*var)).collect())
}
