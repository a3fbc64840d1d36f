//! Legal results beside the domain's values ([`crate::legal`]).
//!
//! Computations on floats attach an enclosure to the result if all operands have one. Decisions on floats
//! check that all legal results decide alike.

use super::operand::{Operands, Patch, raw};
use super::reals::{Shape, followed};
use crate::concrete::{self, Conversion};
use crate::context::Context;
use crate::domain::{Binary, Numbers, Truths, Value, Values};
use crate::handle::Handle;
use crate::lanes::Mask;
use crate::legal::{Enclosure, enclosure};
use crate::memory::Word;
use crate::value::{Valued, reason};
use ir::{FloatBinary, FloatMode, FloatProperty, FloatRelation, Format, Operand, Reg, Relation};

/// A function that computes the enclosure of an instruction's result; `None` if there is none.
pub(super) type Enclose<'m, const N: usize> = &'m dyn Fn([&Enclosure; N]) -> Option<Enclosure>;

/// An operand: its bits if it is a number, and its handle.
type Known = (Option<u64>, Value);

/// The interpretation of floats for decisions of the run.
pub(super) fn numbers(context: &Context<'_, '_>) -> Numbers {
    context.valued.as_ref().map_or(Numbers::Real, |valued| valued.domain.numbers())
}

/// The bits of float number `part` of an operand, in a lane with a number.
fn bits((values, tags): &Operands, format: Format, part: usize, lane: usize) -> Option<u64> {
    let shift = part as u32 * format.width().bits();
    tags.is_number_in(Mask(1 << lane)).then(|| values[lane] >> shift & format.width().mask())
}

/// The enclosure of an operand: of its bits, or of its alias.
fn enclosed(
    valued: &Valued<'_>,
    format: Format,
    bits: Option<u64>,
    value: Value,
) -> Option<Enclosure> {
    match bits {
        Some(bits) => Enclosure::of_bits(format, bits),
        None => valued.aliases.enclosure(value).copied(),
    }
}

/// Returns `true` if an operand may be enclosed in some lane.
fn may_be_enclosed(
    valued: &Valued<'_>,
    (_, tags): &Operands,
    values: &Values,
    lanes: Mask,
) -> bool {
    let alias = |lane: usize| valued.aliases.enclosure(values[lane]).is_some();
    lanes.iter().any(|lane| tags.is_number_in(Mask(1 << lane)) || alias(lane))
}

/// Attaches enclosures to results with only enclosed operands. `values` are the operands and `out` the
/// results in the domain.
pub(super) fn attach_enclosures<const N: usize>(
    valued: &mut Valued<'_>,
    (format, part): (Format, usize),
    (sources, values): (&[Operands; N], &[Values; N]),
    lanes: Mask,
    enclose: Enclose<'_, N>,
    out: &mut Values,
) {
    let may_be = |at: usize| may_be_enclosed(valued, &sources[at], &values[at], lanes);
    if valued.domain.numbers() == Numbers::Real || !(0..N).all(may_be) {
        return;
    }
    let mut last: Option<([Known; N], Value)> = None;
    for lane in followed(out).and(lanes).iter() {
        let operands: [Known; N] =
            std::array::from_fn(|at| (bits(&sources[at], format, part, lane), values[at][lane]));
        if let Some((same, alias)) = last
            && same == operands
        {
            out[lane] = alias;
            continue;
        }
        let found = operands.map(|(bits, value)| enclosed(valued, format, bits, value));
        if found.iter().any(Option::is_none) {
            continue;
        }
        let found = found.map(|one| one.unwrap_or_else(|| unreachable!("checked above")));
        if let Some(result) = enclose(found.each_ref()) {
            out[lane] = valued.aliases.add(out[lane], result);
            last = Some((operands, out[lane]));
        }
    }
}

/// In a run on legal results, returns the lanes in which a product of numbers is a NaN: a sum fused with it is a
/// NaN as well, and a NaN has no enclosure.
pub(super) fn nan_products(
    context: &mut Context<'_, '_>,
    op: &FloatBinary,
    shape: Shape,
    operands: [Operand; 2],
) -> Patch {
    let mut patch = Patch::new();
    let Shape { format, count, mode } = shape;
    if numbers(context) != Numbers::Legal || *op != FloatBinary::Mul || count != 1 {
        return patch;
    }
    let [a, b] = operands.map(|operand| raw(context, operand));
    for lane in context.lanes.iter() {
        let (Some(x), Some(y)) = (bits(&a, format, 0, lane), bits(&b, format, 0, lane)) else {
            continue;
        };
        let product = concrete::float_binary(*op, format, mode, x, y);
        if Enclosure::of_bits(format, product).is_none() {
            patch.set(lane, (product, Word::Number));
        }
    }
    patch
}

/// Replaces aliases by the domain's values.
pub(super) fn drop_aliases(valued: &Valued<'_>, values: &mut Values) {
    if !valued.aliases.is_empty() {
        values.iter_mut().for_each(|value| *value = valued.aliases.target(*value));
    }
}

/// Attaches enclosures to results that are a single number each, with these `bits`.
pub(super) fn attach_exact(
    valued: &mut Valued<'_>,
    format: Format,
    lanes: Mask,
    out: &mut Values,
    bits: impl Fn(usize) -> u64,
) {
    if valued.domain.numbers() == Numbers::Real {
        return;
    }
    for lane in followed(out).and(lanes).iter() {
        if let Some(point) = Enclosure::of_bits(format, bits(lane)) {
            out[lane] = valued.aliases.add(out[lane], point);
        }
    }
}

/// Returns `true` if all legal results of a value are known.
pub(super) fn is_enclosed(valued: &Valued<'_>, value: Value) -> bool {
    valued.aliases.enclosure(value).is_some()
}

/// In a run on legal results, turns lanes of a register with only one legal result into numbers.
pub(super) fn write_fixed(
    context: &mut Context<'_, '_>,
    shape: Shape,
    dst: Reg,
    results: &[Values; 8],
) {
    if numbers(context) != Numbers::Legal {
        return;
    }
    let mut patch = Patch::new();
    let bits = shape.format.width().bits();
    for lane in context.lanes.iter() {
        let Some(valued) = &context.valued else { return };
        let parts = results.iter().take(shape.count.into()).rev();
        let word = parts.into_iter().try_fold(0u64, |word, part| {
            let found = valued.aliases.enclosure(part[lane])?;
            Some(word.unbounded_shl(bits) | found.fixed(shape.format)?)
        });
        if let Some(word) = word {
            patch.set(lane, (word, Word::Number));
        }
    }
    patch.apply(context, dst);
}

/// Confirms or withdraws decisions of a comparison; `truths` is the domain's answer.
pub(super) fn confirm_comparison(
    context: &mut Context<'_, '_>,
    relation: Relation,
    (format, flush): (Format, bool),
    (sources, values): (&[Operands; 2], &[Values; 2]),
    lanes: Mask,
    truths: &mut Truths,
) {
    let place = context.place;
    let Some(valued) = &mut context.valued else { return };
    let numbers = valued.domain.numbers();
    if numbers == Numbers::Real {
        return;
    }
    for lane in lanes.iter() {
        let operand = |at: usize| {
            let bits = bits(&sources[at], format, 0, lane);
            enclosed(valued, format, bits, values[at][lane])
        };
        let (a, b) = (operand(0), operand(1));
        let infinite = |one: Option<Enclosure>| one.is_some_and(|one| one.low.is_infinite());
        let compared =
            a.zip(b).and_then(|(a, b)| enclosure::compare(relation, (format, flush), [&a, &b]));
        match (numbers, truths.known.has(lane), compared) {
            (Numbers::Legal, _, Some(holds)) => truths.decide(lane, holds),
            (Numbers::Legal, _, None) if a.is_some() && b.is_some() => {
                truths.defer(lane, valued.store.units.opaque(Some(place), reason::NOT_FIXED));
            }
            (Numbers::Confirmed, true, compared) => {
                let holds = truths.truth.has(lane);
                // Data are assumed to stay finite. A number that does not depend on data and is not enclosed
                // may be a NaN, for example `inf - inf`, where the reals have 0.
                let is_data = |at: usize| is_data(valued, values[at][lane]);
                let assumed =
                    compared.is_none() && (infinite(a) && is_data(1) || infinite(b) && is_data(0));
                if compared != Some(holds) && !assumed {
                    truths.defer(lane, valued.domain.truth(holds));
                }
            }
            _ => {}
        }
    }
}

/// Returns `true` if a value is known to depend on inputs.
fn is_data(valued: &Valued<'_>, value: Value) -> bool {
    Handle(value).is_value() && valued.domain.is_data(value)
}

/// Withdraws decisions of NaN tests for numbers that neither depend on inputs nor are enclosed. All other
/// tests are answered as if there were no NaN.
pub(super) fn confirm_numbers(
    context: &mut Context<'_, '_>,
    format: Format,
    (source, values): (&Operands, &Values),
    lanes: Mask,
    truths: &mut Truths,
) {
    let Some(valued) = &mut context.valued else { return };
    for lane in followed(values).and(lanes).and(truths.known).iter() {
        let found = enclosed(valued, format, bits(source, format, 0, lane), values[lane]);
        if found.is_none() && !is_data(valued, values[lane]) {
            let holds = truths.truth.has(lane);
            truths.defer(lane, valued.domain.truth(holds));
        }
    }
}

/// Returns the integer that a float converts to, if it is the same for all legal results.
pub(super) fn integer(
    valued: &Valued<'_>,
    conversion: Conversion,
    format: Format,
    value: Value,
) -> Option<u64> {
    enclosure::to_integer(conversion, &enclosed(valued, format, None, value)?)
}

/// Confirms a test of a float: the domain's answer counts only if it agrees with the known legal results.
pub(super) fn confirm_test(
    context: &mut Context<'_, '_>,
    property: FloatProperty,
    format: Format,
    values: &Values,
    truths: &mut Truths,
) {
    let Some(valued) = &mut context.valued else { return };
    for lane in truths.known.and(context.lanes).iter() {
        let found = enclosed(valued, format, None, values[lane]);
        let holds = truths.truth.has(lane);
        let confirmed = match found {
            Some(found) => enclosure::test(property, format, &found) == Some(holds),
            None => is_data(valued, values[lane]),
        };
        if !confirmed {
            truths.defer(lane, valued.domain.truth(holds));
        }
    }
}

/// Tests a float in each lane, in a run on legal results.
pub(super) fn test(
    context: &mut Context<'_, '_>,
    property: FloatProperty,
    format: Format,
    values: &Values,
    lanes: Mask,
) -> Truths {
    let mut truths = Truths::NONE;
    let place = context.place;
    let Some(valued) = &mut context.valued else { return truths };
    for lane in lanes.iter() {
        let found = enclosed(valued, format, None, values[lane]);
        let settled = found.and_then(|one| enclosure::test(property, format, &one));
        match settled {
            Some(holds) => truths.decide(lane, holds),
            None => truths.defer(lane, valued.store.units.opaque(Some(place), reason::NOT_FIXED)),
        }
    }
    truths
}

/// Tests if two floats are both numbers, or one is NaN, in a run on legal results.
pub(super) fn ordered(
    context: &mut Context<'_, '_>,
    relation: FloatRelation,
    format: Format,
    (sources, values): (&[Operands; 2], &[Values; 2]),
    lanes: Mask,
) -> Truths {
    let mut truths = Truths::NONE;
    let place = context.place;
    let Some(valued) = &mut context.valued else { return truths };
    for lane in lanes.iter() {
        // An enclosed value is a number.
        let is_number = |at: usize| match bits(&sources[at], format, 0, lane) {
            Some(bits) => Some(Enclosure::of_bits(format, bits).is_some()),
            None => valued.aliases.enclosure(values[at][lane]).map(|_| true),
        };
        let both = match (is_number(0), is_number(1)) {
            (Some(a), Some(b)) => Some(a && b),
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => None,
        };
        match both {
            Some(both) => truths.decide(lane, both == (relation == FloatRelation::BothNumbers)),
            None => truths.defer(lane, valued.store.units.opaque(Some(place), reason::NOT_FIXED)),
        }
    }
    truths
}

/// Computes a read-modify-write of floats: the domain's result, with an enclosure if both operands have one.
pub(super) fn update(
    valued: &mut Valued<'_>,
    (op, format): (Binary, Format),
    [old, a]: [Value; 2],
    known: [Option<u64>; 2],
) -> Value {
    let result = match op {
        Binary::Add => valued.domain.unordered_sum(old, a),
        op => valued.binary(op, old, a),
    };
    if valued.domain.numbers() == Numbers::Real {
        return result;
    }
    let operands = [enclosed(valued, format, known[0], old), enclosed(valued, format, known[1], a)];
    let [Some(x), Some(y)] = operands else { return result };
    let (propagate_nan, xor_sign_abs) = (false, false);
    let float_binary = |op| enclosure::binary(op, format, FloatMode::NEAREST, [&x, &y]);
    let found = match op {
        Binary::Add => enclosure::atomic_add(format, &x, &y),
        Binary::Min => float_binary(FloatBinary::Min { propagate_nan, xor_sign_abs }),
        Binary::Max => float_binary(FloatBinary::Max { propagate_nan, xor_sign_abs }),
        _ => None,
    };
    found.map_or(result, |found| valued.aliases.add(result, found))
}
