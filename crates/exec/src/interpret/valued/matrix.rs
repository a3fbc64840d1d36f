//! Products of matrices as sums of products of the domain's values.
//!
//! Each element of D is a chain of multiply-adds in ascending order, C first, which is how naive
//! kernels sum as well. Zeros that a sparse A does not store take no part. Integers of eight bits, of
//! four and of one are added up exactly, which is congruent to what hardware computes; a sum that saturates is followed
//! only if the domain knows that it does not. Of bits, `and` is their product, and `xor` is `a + b − 2·a·b`.

use super::float::{Operands, Shape, reals, write};
use super::integer::{congruent, number, whole};
use super::{Patch, bytes};
use crate::domain::{LIMIT, Value};
use crate::interpret::Context;
use crate::interpret::matrix::{Factor, Matrix, Place, Product, Terms, format, parts};
use crate::lanes::{Mask, WARP};
use crate::tags::Tags;
use crate::value::{Valued, bits, nibbles};
use ir::{Element, FloatMode, Format, MmaKind, Width};

/// Values of the domain by place, or opaque words.
struct Values {
    matrix: Matrix<Value>,
    /// Whether all are values.
    followed: bool,
}

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
    let a = values(context, &product.a, a, (m, k), false);
    let b = values(context, &product.b, b, (n, k), true);
    let c = values(context, &product.c, c, (m, n), false);
    let Some(to) = format(product.d_element) else { return };
    let count = parts(product.d_element);
    let fickle = if tags.undetermined().is_empty() { Mask::NONE } else { Mask::ALL };
    let mut chosen = Vec::new();
    for (register, &dst) in product.d.iter().enumerate() {
        let mut results = [[0; WARP]; 8];
        let poison = poison[register];
        for lane in Mask::ALL.without(poison).iter() {
            for (part, result) in results.iter_mut().enumerate().take(count) {
                let place = product.d_spread.place(lane, register, part);
                result[lane] = element(context, [&a, &b, &c], terms, place, &mut chosen);
            }
        }
        let shape = Shape { format: to, count: count as u8, mode: FloatMode::NEAREST };
        write(context, shape, dst, &results, Tags { poison, fickle, ..tags });
    }
}

/// Executes a product of integers of eight bits, four or one; whether all numbers that go into it are known to
/// the domain.
pub(in crate::interpret) fn integer_product(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    sources: &[Vec<Operands>; 3],
    terms: &Terms,
) -> bool {
    integer_results(context, product, sources, terms).is_some_and(|results| {
        for (patch, &dst) in results.iter().zip(product.d) {
            patch.apply(context, dst);
        }
        true
    })
}

/// The registers of D.
fn integer_results(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    [a, b, c]: &[Vec<Operands>; 3],
    terms: &Terms,
) -> Option<Vec<Patch>> {
    let saturate = matches!(product.kind, MmaKind::MultiplyAdd { saturate: true, .. });
    let differs = product.kind == MmaKind::XorPopc;
    let [m, n, k] = [product.shape.m, product.shape.n, product.shape.k].map(usize::from);
    let a = integers(context, &product.a, a, (m, k), false)?;
    let b = integers(context, &product.b, b, (n, k), true)?;
    let mut results = Vec::new();
    let mut chosen = Vec::new();
    for (register, start) in c.iter().enumerate() {
        let mut patch = Patch::new();
        for lane in 0..WARP {
            let place = product.d_spread.place(lane, register, 0);
            let row = &a.row(place.product, place.row)[..terms.count];
            let column = b.row(place.product, place.column);
            chosen.clear();
            chosen.extend((0..terms.count).map(|at| column[terms.row_of_b(place.row, at)]));
            let start = bytes(context, start, lane);
            let valued = context.valued.as_mut()?;
            let start = match saturate {
                true => number(valued, &start[..4], true)?,
                false => congruent(valued, &start[..4])?,
            };
            let sum = match differs {
                true => differing(valued, row, &chosen, start),
                false => valued.domain.dot(row, &chosen, start),
            };
            // Another number in its place would be what it wraps around to.
            if saturate && valued.domain.in_range(sum, Width::B32, true) != Some(sum) {
                return None;
            }
            patch.set(lane, valued.store.word(&whole(sum, 4)?));
        }
        results.push(patch);
    }
    Some(results)
}

/// How many bits of a row and a column differ, added to `start`.
fn differing(valued: &mut Valued<'_>, row: &[Value], column: &[Value], start: Value) -> Value {
    let [one, minus_two] = [1, -2].map(|number| valued.domain.integer(number));
    let ones = vec![one; row.len()];
    let some = valued.domain.dot(row, &ones, start);
    let all = valued.domain.dot(column, &ones, some);
    let zero = valued.domain.integer(0);
    let both = valued.domain.dot(row, column, zero);
    valued.domain.dot(&[both], &[minus_two], all)
}

/// The integers of a factor of eight bits, four or one, if all are known to the domain.
fn integers(
    context: &mut Context<'_, '_>,
    factor: &Factor<'_>,
    sources: &[Operands],
    (rows, columns): (usize, usize),
    transposed: bool,
) -> Option<Matrix<Value>> {
    let mut matrix = Matrix::new(rows, columns);
    for (register, source) in sources.iter().enumerate() {
        for lane in 0..WARP {
            let found = bytes(context, source, lane);
            for part in 0..parts(factor.element) {
                let valued = context.valued.as_mut()?;
                let value = match factor.element {
                    Element::S8 => number(valued, &found[part..=part], true)?,
                    Element::U8 => number(valued, &found[part..=part], false)?,
                    Element::S4 => nibbles::nibble(valued, &found, part, true)?,
                    Element::U4 => nibbles::nibble(valued, &found, part, false)?,
                    Element::B1 => {
                        let bit = bits::bit(valued, &found, part)?;
                        bits::number(valued, bit)
                    }
                    _ => return None,
                };
                let Place { product, row, column } = factor.spread.place(lane, register, part);
                let (row, column) = if transposed { (column, row) } else { (row, column) };
                matrix.set(Place { product, row, column }, value);
            }
        }
    }
    Some(matrix)
}

/// The values of a factor; with rows and columns exchanged if wanted.
fn values(
    context: &mut Context<'_, '_>,
    factor: &Factor<'_>,
    sources: &[Operands],
    (rows, columns): (usize, usize),
    transposed: bool,
) -> Values {
    let mut matrix = Matrix::new(rows, columns);
    let mut followed = true;
    let format = format(factor.element).unwrap_or(Format::F32);
    for (register, source) in sources.iter().enumerate() {
        let lanes = Mask::ALL.without(source.1.poison);
        for part in 0..parts(factor.element) {
            let found = reals(context, source, format, part, lanes);
            for lane in lanes.iter() {
                let Place { product, row, column } = factor.spread.place(lane, register, part);
                let (row, column) = if transposed { (column, row) } else { (row, column) };
                matrix.set(Place { product, row, column }, found[lane]);
                followed &= found[lane] != 0 && found[lane] < LIMIT;
            }
        }
    }
    Values { matrix, followed }
}

/// An element of D, or an opaque word if something opaque goes into it.
fn element(
    context: &mut Context<'_, '_>,
    [a, b, c]: [&Values; 3],
    terms: &Terms,
    place: Place,
    chosen: &mut Vec<Value>,
) -> Value {
    let Some(valued) = &mut context.valued else { return 0 };
    let row = &a.matrix.row(place.product, place.row)[..terms.count];
    let mut column = b.matrix.row(place.product, place.column);
    if terms.is_sparse() {
        chosen.clear();
        chosen.extend((0..terms.count).map(|at| column[terms.row_of_b(place.row, at)]));
        column = chosen;
    }
    let start = c.matrix.get(place.product, place.row, place.column);
    if !(a.followed && b.followed && c.followed) {
        let mut all = row.iter().chain(column).copied().chain([start]);
        if let Some(opaque) = all.find(|&word| word == 0 || word >= LIMIT) {
            return opaque;
        }
    }
    valued.domain.dot(row, column, start)
}
