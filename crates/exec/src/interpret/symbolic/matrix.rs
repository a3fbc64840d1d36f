//! Matrix products as sums of products of domain values.
//!
//! Each element of D is a chain of multiply-adds in ascending order, C first, the same as in naive kernels. Zeros
//! that a sparse A does not store take no part. 8-bit, 4-bit and 1-bit integers are summed exactly, which is congruent
//! to hardware results. A saturating sum is clamped once, after C is added, as on an H200 (recorded on sums whose
//! partial sums overflow 32 bits although the total does not). For bits, `and` is their product, and `xor` is
//! `a + b − 2·a·b`.
//!
//! If a fragment holds an element several times, hardware may multiply any copy. Copies that may differ are supported
//! only if every copy gives the same product, as a factor of zero does.

use super::integer::{all_bytes, congruent, number};
use super::operand::{Operands, Patch, bytes};
use super::reals::{Shape, reals, write};
use crate::context::Context;
use crate::domain::{Binary, Unary, Value};
use crate::doubt::Doubtful;
use crate::handle::Handle;
use crate::interpret::matrix::factors::{Factor, Matrix, Product, Terms, format};
use crate::interpret::matrix::fragment::{Place, parts};
use crate::lanes::{Mask, WARP};
use crate::legal::Enclosure;
use crate::tags::Tags;
use crate::value::{Valued, bits, nibbles, reason};
use ir::{Element, FloatMode, Format, MmaKind, Reg, Width};
use rustc_hash::FxHashMap;

/// Values of the domain by place, or opaque words.
struct FactorValues {
    matrix: Matrix<Value>,
    /// Set if no element is opaque.
    is_known: bool,
    /// Possibly different copies, by place; opaque in the matrix.
    differing_copies: FxHashMap<Place, Vec<Value>>,
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
    let mut a = values(context, &product.a, a, (m, k), false);
    if product.negates {
        negate(context, &mut a);
    }
    let b = values(context, &product.b, b, (n, k), true);
    let c = values(context, &product.c, c, (m, n), false);
    let Some(to) = format(product.d_element) else { return };
    let count = parts(product.d_element);
    let schedule_dependent = if tags.undetermined().is_empty() { Mask::NONE } else { Mask::ALL };
    let mut chosen = Vec::new();
    if let Some(valued) = &mut context.valued {
        valued.domain.matrix_instruction(context.place);
    }
    for (register, &dst) in product.d.iter().enumerate() {
        let mut results = [[0; WARP]; 8];
        let poison = poison[register];
        for lane in Mask::ALL.without(poison).iter() {
            for (part, result) in results.iter_mut().enumerate().take(count) {
                let place = product.d_layout.place(lane, register, part);
                result[lane] = element(context, [&a, &b, &c], terms, place, &mut chosen);
            }
        }
        let shape = Shape { format: to, count: count as u8, mode: FloatMode::NEAREST };
        let unknown = Mask::ALL.without(poison);
        let tags = Tags { poison, unknown, schedule_dependent, pointer: Mask::NONE, ..tags };
        write(context, shape, dst, &results, tags);
    }
}

/// Writes sums of known numbers, with their enclosures, into lanes of a register. The domain's value is 0: in a run
/// that gets here, the enclosure is the whole result.
pub(in crate::interpret) fn enclosed_sums(
    context: &mut Context<'_, '_>,
    format: Format,
    dst: Reg,
    (sums, lanes): (&[[Option<Enclosure>; WARP]], Mask),
) {
    let mut results = [[0; WARP]; 8];
    for (result, sums) in results.iter_mut().zip(sums) {
        for lane in lanes.iter() {
            let Some(valued) = &mut context.valued else { return };
            let value = valued.domain.integer(0);
            let alias = |sum: Enclosure| valued.aliases.add(value, sum);
            result[lane] = sums[lane].map_or(value, alias);
        }
    }
    let shape = Shape { format, count: sums.len() as u8, mode: FloatMode::NEAREST };
    let all = std::mem::replace(&mut context.lanes, lanes);
    write(context, shape, dst, &results, Tags::NUMBER);
    context.lanes = all;
}

/// Executes a product of 8-bit, 4-bit or 1-bit integers. Returns `true` if the domain knows all its operands.
pub(in crate::interpret) fn integer_product(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    sources: &[Vec<Operands>; 3],
    terms: &Terms,
) -> bool {
    integer_results(context, product, sources, terms).is_some_and(|results| {
        for (patch, &dst) in results.iter().zip(product.d) {
            patch.replace(context, dst);
        }
        true
    })
}

/// Computes the registers of D.
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
    context.valued.as_mut()?.domain.matrix_instruction(context.place);
    for (register, start) in c.iter().enumerate() {
        let mut patch = Patch::new();
        for lane in 0..WARP {
            let place = product.d_layout.place(lane, register, 0);
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
                true => add_differing_bits(valued, row, &chosen, start),
                false => valued.domain.dot(row, &chosen, start),
            };
            // If `in_range` returns another number, that is the wrapped sum.
            let fits = !saturate || valued.domain.in_range(sum, Width::B32, true) == Some(sum);
            let sum = if fits { sum } else { clamped(valued, sum) };
            patch.set(lane, valued.store.word(&all_bytes(sum, 4)?));
        }
        results.push(patch);
    }
    Some(results)
}

/// Clamps an integer to 32 bits.
fn clamped(valued: &mut Valued<'_>, sum: Value) -> Value {
    let [low, high] = [i32::MIN, i32::MAX].map(|end| valued.domain.integer(end.into()));
    let below = valued.binary(Binary::Min, sum, high);
    valued.binary(Binary::Max, below, low)
}

/// Adds the number of different bits in a row and a column to `start`.
fn add_differing_bits(
    valued: &mut Valued<'_>,
    row: &[Value],
    column: &[Value],
    start: Value,
) -> Value {
    let [one, minus_two] = [1, -2].map(|number| valued.domain.integer(number));
    let ones = vec![one; row.len()];
    let of_row = valued.domain.dot(row, &ones, start);
    let of_both = valued.domain.dot(column, &ones, of_row);
    let zero = valued.domain.integer(0);
    let common = valued.domain.dot(row, column, zero);
    valued.domain.dot(&[common], &[minus_two], of_both)
}

/// Returns the 8-bit, 4-bit or 1-bit integers of a factor, if the domain knows all of them.
fn integers(
    context: &mut Context<'_, '_>,
    factor: &Factor<'_>,
    sources: &[Operands],
    (rows, columns): (usize, usize),
    transposed: bool,
) -> Option<Matrix<Value>> {
    let mut matrix = Matrix::new(rows, columns);
    for (register, source) in sources.iter().enumerate() {
        if factor.copies(register).next().is_some() {
            // Fragments of integers have no copies.
            return None;
        }
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
                let Place { product, row, column } =
                    factor.fragment_layout.place(lane, register, part);
                let (row, column) = if transposed { (column, row) } else { (row, column) };
                matrix.set(Place { product, row, column }, value);
            }
        }
    }
    Some(matrix)
}

/// Returns the values of a factor, transposed on request.
fn values(
    context: &mut Context<'_, '_>,
    factor: &Factor<'_>,
    sources: &[Operands],
    (rows, columns): (usize, usize),
    transposed: bool,
) -> FactorValues {
    let mut all = FactorValues {
        matrix: Matrix::new(rows, columns),
        is_known: true,
        differing_copies: FxHashMap::default(),
    };
    let format = format(factor.element).unwrap_or(Format::F32);
    let mut copies = Vec::new();
    for register in factor.originals() {
        for part in 0..parts(factor.element) {
            copies.clear();
            for number in std::iter::once(register).chain(factor.copies(register)) {
                let source = &sources[number];
                let lanes = Mask::ALL.without(source.1.poison);
                copies.push((reals(context, source, format, part, lanes), lanes));
            }
            for lane in 0..WARP {
                let Place { product, row, column } =
                    factor.fragment_layout.place(lane, register, part);
                let (row, column) = if transposed { (column, row) } else { (row, column) };
                let place = Place { product, row, column };
                match &copies[..] {
                    // Skip undefined elements: poison has already made their results undefined.
                    [(words, lanes)] if lanes.has(lane) => all.set(place, words[lane]),
                    [_] => {}
                    copies => all.set_any(context, place, lane, copies),
                }
            }
        }
    }
    all
}

/// Negates the values of a factor; opaque words stay.
fn negate(context: &mut Context<'_, '_>, all: &mut FactorValues) {
    let Some(valued) = &mut context.valued else { return };
    all.matrix.change(|words| {
        let mut lanes = [0; WARP];
        lanes[..words.len()].copy_from_slice(words);
        let known = words.iter().enumerate().filter(|(_, word)| is_value(**word));
        let known = Mask(known.fold(0, |mask, (lane, _)| mask | 1 << lane));
        let mut out = lanes;
        valued.domain.unary(Unary::Negate, &lanes, known, &mut out);
        known.iter().for_each(|lane| words[lane] = out[lane]);
    });
}

/// The contents of a register, and its defined lanes.
type RegisterCopy = (crate::domain::Values, Mask);

impl FactorValues {
    fn set(&mut self, place: Place, word: Value) {
        self.matrix.set(place, word);
        self.is_known &= is_value(word);
    }

    /// Sets an element that has these copies.
    fn set_any(
        &mut self,
        context: &mut Context<'_, '_>,
        place: Place,
        lane: usize,
        copies: &[RegisterCopy],
    ) {
        let bit = Mask(1 << lane);
        let defined = copies.iter().filter(|(_, lanes)| lanes.has(lane));
        let mut words: Vec<Value> = defined.map(|(words, _)| words[lane]).collect();
        let Some(&first) = words.first() else { return };
        let all_defined = words.len() == copies.len();
        if let Some(opaque) = words.iter().copied().find(|&word| !is_value(word))
            && all_defined
        {
            context.doubt(Doubtful::Copies { differ: false }, bit);
            return self.set(place, opaque);
        }
        let Some(valued) = &mut context.valued else { return };
        if all_defined && words.iter().all(|&word| word == first) {
            return self.set(place, first);
        }
        if all_defined && let Some(word) = valued.domain.any_of(&words) {
            return self.set(place, word);
        }
        let opaque = valued.store.units.opaque(Some(context.place), reason::COPIES);
        self.set(place, opaque);
        if !all_defined {
            context.doubt(Doubtful::UndefinedCopy, bit);
            words.clear();
        }
        self.differing_copies.insert(place, words);
    }

    /// Returns the possible values of an element with different copies; an empty slice if some copies are undefined.
    fn choices(&self, place: Place) -> Option<&[Value]> {
        self.differing_copies.get(&place).map(Vec::as_slice)
    }
}

fn is_value(word: Value) -> bool {
    Handle(word).is_value()
}

/// Computes an element of D, or an opaque word if it depends on one.
fn element(
    context: &mut Context<'_, '_>,
    [a, b, c]: [&FactorValues; 3],
    terms: &Terms,
    place: Place,
    chosen: &mut Vec<Value>,
) -> Value {
    let row = &a.matrix.row(place.product, place.row)[..terms.count];
    let mut column = b.matrix.row(place.product, place.column);
    if terms.is_sparse() {
        chosen.clear();
        chosen.extend((0..terms.count).map(|at| column[terms.row_of_b(place.row, at)]));
        column = chosen;
    }
    let start = c.matrix.get(place.product, place.row, place.column);
    if a.is_known && b.is_known && c.is_known {
        return context.valued.as_mut().map_or(0, |valued| valued.domain.dot(row, column, start));
    }
    if [a, b, c].iter().all(|values| values.differing_copies.is_empty()) {
        let mut all = row.iter().chain(column).copied().chain([start]);
        return match (all.find(|&word| !is_value(word)), &mut context.valued) {
            (Some(opaque), _) => opaque,
            (None, Some(valued)) => valued.domain.dot(row, column, start),
            (None, None) => 0,
        };
    }
    let mut pairs = Vec::with_capacity(terms.count);
    for at in 0..terms.count {
        let of_a = Place { product: place.product, row: place.row, column: at };
        let row_of_b = terms.row_of_b(place.row, at);
        let of_b = Place { product: place.product, row: place.column, column: row_of_b };
        let choices = [a.choices(of_a), b.choices(of_b)];
        match representatives(context, [row[at], column[at]], choices) {
            Ok(pair) => pairs.push(pair),
            Err(opaque) => return opaque,
        }
    }
    if c.choices(place).is_some() {
        context.doubt(Doubtful::Copies { differ: true }, Mask(1));
    }
    if !is_value(start) {
        return start;
    }
    let (row, column): (Vec<Value>, Vec<Value>) = pairs.into_iter().unzip();
    context.valued.as_mut().map_or(0, |valued| valued.domain.dot(&row, &column, start))
}

/// Returns representatives of two factors, some with several possible values, if the product is the same for all of
/// them. Otherwise returns an opaque word.
fn representatives(
    context: &mut Context<'_, '_>,
    [a, b]: [Value; 2],
    choices: [Option<&[Value]>; 2],
) -> Result<(Value, Value), Value> {
    let opaque = |words: [Value; 2]| words.into_iter().find(|&word| !is_value(word));
    if choices == [None, None] {
        return opaque([a, b]).map_or(Ok((a, b)), Err);
    }
    let single = [[a], [b]];
    let [of_a, of_b] = [0, 1].map(|side| choices[side].unwrap_or(&single[side]));
    let all = of_a.iter().flat_map(|&a| of_b.iter().map(move |&b| (a, b)));
    let pairs: Vec<(Value, Value)> = all.collect();
    if let (Some(valued), Some(&first)) = (&mut context.valued, pairs.first())
        && pairs.iter().all(|&(a, b)| opaque([a, b]).is_none())
    {
        let products: Vec<Value> =
            pairs.iter().map(|&(a, b)| valued.binary(Binary::Mul, a, b)).collect();
        if valued.domain.any_of(&products).is_some_and(|product| product == products[0]) {
            return Ok(first);
        }
    }
    context.doubt(Doubtful::Copies { differ: true }, Mask(1));
    Err(opaque([a, b]).unwrap_or(0))
}
