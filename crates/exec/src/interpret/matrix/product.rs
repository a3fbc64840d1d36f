//! Products: D = A·B + C (manual §9.7.14.4.5, §9.7.14.5.14, §9.7.14.6.3).
//!
//! Element by element: an undefined value in a row of A, a column of B or at C makes exactly the dependent
//! elements of D undefined. Without a domain, one unknown element makes all of D unknown, which loses nothing
//! relevant to `check`. So does unknown metadata of a sparse A.

use super::copies::{self, CopyComparison};
use super::factors::{Factor, Matrix, Numbers, Product, Sources, Terms, format};
use super::fragment::{Place, parts};
use super::legal;
use super::sparse::Chunks;
use crate::context::Context;
use crate::finding::{Gap, Origin};
use crate::interpret::symbolic;
use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::{Source, Tags};
use ir::Width;

/// Executes a product of matrices in registers.
pub(super) fn execute(context: &mut Context<'_, '_>, product: &Product<'_>) -> Result<(), Gap> {
    let sources = [&product.a, &product.b, &product.c].map(|factor| read(context, factor));
    multiply(context, product, sources)
}

/// Reads the registers of an operand.
pub(in crate::interpret) fn read(context: &mut Context<'_, '_>, factor: &Factor<'_>) -> Sources {
    factor.registers.iter().map(|&operand| context.read(operand, Width::B64)).collect()
}

/// Multiplies the operands and writes D. `sources` are the contents of the operands' registers.
pub(in crate::interpret) fn multiply(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    mut sources: [Sources; 3],
) -> Result<(), Gap> {
    let factors = [&product.a, &product.b, &product.c];
    if context.machine.simulates {
        for (factor, sources) in factors.into_iter().zip(&mut sources) {
            copies::take_first_copies(context, factor, sources);
        }
    }
    let [a, b, c] = [0, 1, 2].map(|side| CopyComparison::of(factors[side], &sources[side]));
    let mut tags = combine_all_tags(&sources);
    let mut poison = dependent_lanes(product, [&a.poison, &b.poison, &c.poison]);
    let terms = match terms(context, product, &mut poison)? {
        Ok(terms) => terms,
        Err(metadata) => {
            tags = tags.combine(metadata);
            make_unknown(context, product, tags, &poison);
            return Ok(());
        }
    };
    let floats = format(product.a.element).is_some();
    let copies_differ = [&a, &b, &c].iter().any(|comparison| comparison.has_differences());
    if floats && tags.is_number() && !copies_differ && legal::wants_bits(context) {
        legal::execute(context, product, &Numbers::new(product, &sources), &terms);
        return Ok(());
    }
    if context.valued.is_some() && floats {
        symbolic::matrix_product(context, product, &sources, &terms, (tags, &poison));
        return Ok(());
    }
    let comparisons = [a, b, c];
    comparisons.iter().for_each(|comparison| comparison.record_doubts(context));
    let [a, b, c] = comparisons.each_ref().map(CopyComparison::certain);
    let copies_unknown = dependent_lanes(product, [&a, &b, &c]);
    if !tags.unknown.is_empty() {
        let plain = poison.iter().chain(&copies_unknown).all(|lanes| lanes.is_empty());
        let is_computed = context.valued.is_some()
            && plain
            && tags.undetermined().is_empty()
            && symbolic::integer_product(context, product, &sources, &terms);
        if !is_computed {
            make_unknown(context, product, tags, &poison);
        }
        return Ok(());
    }
    if floats && copies_differ && legal::wants_bits(context) {
        // The copies used are open, and so is the rounding of the sums.
        let copies = Tags::unknown(Mask::ALL, Source::Copies);
        make_unknown(context, product, tags.combine(copies), &poison);
        return Ok(());
    }
    // The bits of undefined values are never used, and after a race all values may be undefined.
    let is_lost = poison.iter().all(|lanes| *lanes == Mask::ALL) && !context.machine.simulates;
    let results = match is_lost {
        true => vec![[0; WARP]; product.d.len()],
        false => compute(product, &sources, &terms),
    };
    for (register, &dst) in product.d.iter().enumerate() {
        let undefined = tags.undefined.or(Some(Origin::Operation(context.place)));
        let poison = poison[register];
        let unknown = copies_unknown[register].without(poison);
        let origin = (!unknown.is_empty()).then_some(Source::Copies);
        let tags =
            Tags { poison, unknown, schedule_dependent: Mask::NONE, origin, undefined, ..tags };
        context.write(dst, &results[register], tags);
    }
    Ok(())
}

/// Combines the tags of all registers of the operands, lane by lane. An element of D depends on registers of
/// other lanes. So poison in one register does not hide an unknown one of the same lane, as it would if each
/// lane computed by itself.
fn combine_all_tags(sources: &[Sources; 3]) -> Tags {
    let mut all = Tags::NUMBER;
    for (_, tags) in sources.iter().flatten() {
        let tags = tags.spread();
        all = Tags {
            pointer: Mask::NONE,
            unknown: all.unknown.or(tags.unknown),
            poison: all.poison.or(tags.poison),
            schedule_dependent: all.schedule_dependent.or(tags.schedule_dependent),
            origin: [all.origin, tags.origin].into_iter().flatten().reduce(Source::to_report),
            undefined: all.undefined.or(tags.undefined),
        };
    }
    all
}

/// Lanes of each register of D that depend on these lanes of the registers of A, B and C.
fn dependent_lanes(product: &Product<'_>, marks: [&[Mask]; 3]) -> Vec<Mask> {
    if marks.iter().all(|marks| marks.iter().all(|lanes| lanes.is_empty())) {
        return vec![Mask::NONE; product.d.len()];
    }
    let [m, n, _] = product.size();
    let mut rows = Matrix::<bool>::new(m, 1);
    let mut columns = Matrix::<bool>::new(1, n);
    let mut starts = Matrix::<bool>::new(m, n);
    let [a, b, c] = marks;
    let each = |factor: &Factor<'_>, marks: &[Mask], mark: &mut dyn FnMut(Place)| {
        for (register, lanes) in marks.iter().enumerate() {
            for lane in lanes.iter() {
                (0..parts(factor.element))
                    .for_each(|part| mark(factor.fragment_layout.place(lane, register, part)));
            }
        }
    };
    each(&product.a, a, &mut |place| rows.set(Place { column: 0, ..place }, true));
    each(&product.b, b, &mut |place| columns.set(Place { row: 0, ..place }, true));
    each(&product.c, c, &mut |place| starts.set(place, true));
    let is_reached = |place: Place| {
        let Place { product, row, column } = place;
        rows.get(product, row, 0)
            || columns.get(product, 0, column)
            || starts.get(product, row, column)
    };
    lanes_of_d(product, is_reached)
}

/// The lanes of each register of D with some part at such a place.
fn lanes_of_d(product: &Product<'_>, holds: impl Fn(Place) -> bool) -> Vec<Mask> {
    let parts = parts(product.d_element);
    let has = |register: usize, lane: usize| {
        (0..parts).any(|part| holds(product.d_layout.place(lane, register, part)))
    };
    let mask = |register| (0..WARP).filter(|&lane| has(register, lane)).fold(0, |m, l| m | 1 << l);
    (0..product.d.len()).map(|register| Mask(mask(register))).collect()
}

/// Returns the pairs of elements to multiply, or the tags of unknown metadata. Rows with invalid metadata are
/// undefined.
fn terms(
    context: &mut Context<'_, '_>,
    product: &Product<'_>,
    poison: &mut [Mask],
) -> Result<Result<Terms, Tags>, Gap> {
    let [m, _, k] = product.size();
    let Some(sparsity) = product.sparsity else {
        return Ok(Ok(Terms { chosen: None, count: k }));
    };
    let chunks = Chunks::new(product.a.element, k);
    if !chunks.allows(sparsity.selector) {
        return Err(context.gap("the sparsity selector names threads that do not exist"));
    }
    let (metadata, tags) = context.read(sparsity.metadata, Width::B32);
    if !tags.is_number() {
        if !tags.poison.is_empty() {
            poison.fill(Mask::ALL);
        }
        return Ok(Err(tags));
    }
    let mut chosen = Vec::with_capacity(m);
    for row in 0..m {
        let columns = chunks.columns((sparsity.selector, sparsity.ordered), row, &metadata);
        if columns.is_none() {
            let bad = lanes_of_d(product, |place| place.row == row);
            poison.iter_mut().zip(bad).for_each(|(all, lanes)| *all = all.or(lanes));
        }
        chosen.push(columns.unwrap_or_else(|| vec![0; k / 2]));
    }
    Ok(Ok(Terms { chosen: Some(chosen), count: k / 2 }))
}

/// Makes D unknown.
fn make_unknown(context: &mut Context<'_, '_>, product: &Product<'_>, tags: Tags, poison: &[Mask]) {
    for (&dst, &poison) in product.d.iter().zip(poison) {
        let schedule_dependent =
            if tags.schedule_dependent.is_empty() { Mask::NONE } else { Mask::ALL };
        let unknown = Mask::ALL.without(poison);
        let undefined = tags.undefined.or(Some(Origin::Operation(context.place)));
        let tags =
            Tags { unknown, poison, schedule_dependent, pointer: Mask::NONE, undefined, ..tags };
        context.write(dst, &[0; WARP], tags);
    }
}

/// Computes D, register by register.
fn compute(product: &Product<'_>, sources: &[Sources; 3], terms: &Terms) -> Vec<Lanes> {
    let numbers = Numbers::new(product, sources);
    let element = |place: Place| numbers.combine(product, terms, place);
    let parts = parts(product.d_element);
    let bits = product.d_element.bits();
    let lanes_of = |register: usize| {
        std::array::from_fn(|lane| {
            (0..parts).fold(0, |word, part| {
                let place = product.d_layout.place(lane, register, part);
                word | element(place) << (part as u32 * bits)
            })
        })
    };
    (0..product.d.len()).map(lanes_of).collect()
}
