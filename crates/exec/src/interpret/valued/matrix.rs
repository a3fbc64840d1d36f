//! Products of matrices as sums of products of the domain's values.
//!
//! Each element of D is a chain of multiply-adds in ascending order, C first, which is how naive
//! kernels sum as well. Zeros that a sparse A does not store take no part.

use super::float::{Ask, Operands, Shape, answer, reals, write};
use crate::domain::Values;
use crate::interpret::Context;
use crate::interpret::matrix::{Factor, Matrix, Place, Product, Terms, format, parts};
use crate::lanes::{Mask, WARP};
use crate::tags::Tags;
use ir::{FloatMode, Format};

/// Executes a product of floats.
pub(in crate::interpret) fn product(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    sources: &[Vec<Operands>; 3],
    terms: &Terms,
    (tags, poison): (Tags, &[Mask]),
) {
    let [m, n, k] = [product.shape.m, product.shape.n, product.shape.k].map(usize::from);
    let [a, b, c] = sources;
    let a = values(context, &product.a, a, (m, k));
    let b = values(context, &product.b, b, (k, n));
    let c = values(context, &product.c, c, (m, n));
    let Some(to) = format(product.d_element) else { return };
    let count = parts(product.d_element);
    for (register, &dst) in product.d.iter().enumerate() {
        let mut results = [[0; WARP]; 8];
        for (part, result) in results.iter_mut().enumerate().take(count) {
            let places = std::array::from_fn(|lane| product.d_spread.place(lane, register, part));
            let lanes = Mask::ALL.without(poison[register]);
            *result = sum(context, (&a, &b, &c), terms, &places, lanes);
        }
        let shape = Shape { format: to, count: count as u8, mode: FloatMode::NEAREST };
        let fickle = if tags.undetermined().is_empty() { Mask::NONE } else { Mask::ALL };
        let undefined = tags.undefined;
        write(
            context,
            shape,
            dst,
            &results,
            Tags { poison: poison[register], fickle, undefined, ..tags },
        );
    }
}

/// The values of a factor, by place; opaque words where there is none.
fn values(
    context: &mut Context<'_, '_>,
    factor: &Factor<'_>,
    sources: &[Operands],
    (rows, columns): (usize, usize),
) -> Matrix<u32> {
    let mut matrix = Matrix::new(rows, columns);
    let format = format(factor.element).unwrap_or(Format::F32);
    for (register, source) in sources.iter().enumerate() {
        let lanes = Mask::ALL.without(source.1.poison);
        for part in 0..parts(factor.element) {
            let found = reals(context, source, format, part, lanes);
            for lane in lanes.iter() {
                matrix.set(factor.spread.place(lane, register, part), found[lane]);
            }
        }
    }
    matrix
}

/// The elements of D at `places`.
fn sum(
    context: &mut Context<'_, '_>,
    (a, b, c): (&Matrix<u32>, &Matrix<u32>, &Matrix<u32>),
    terms: &Terms,
    places: &[Place; WARP],
    lanes: Mask,
) -> Values {
    let Some(valued) = &mut context.valued else { return [0; WARP] };
    let mode = FloatMode::NEAREST;
    let mut all: Values = places.map(|place| c.get(place.product, place.row, place.column));
    for at in 0..terms.count {
        let x = places.map(|place| a.get(place.product, place.row, at));
        let y =
            places.map(|place| b.get(place.product, terms.row_of_b(place.row, at), place.column));
        let fma: Ask<'_, 3> = &mut |valued, operands, lanes, out| {
            valued.domain.fma(operands, mode.rounding, lanes, out);
        };
        all = answer(valued, mode, &[x, y, all], lanes, fma);
    }
    all
}
