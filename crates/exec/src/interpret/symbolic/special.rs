//! Executes float operations in which known bits of an operand matter: NaNs, and signs.
//!
//! To a domain a NaN is undefined and zero has no sign. `min` and `max` return the other operand if one is
//! NaN, comparisons with NaN are decided, and `copysign` reads a bit. Where the bits are known all that is
//! exact, and the domain handles the rest. Where `copysign` reads the sign of a value, the domain is given
//! the place: hardware has two zeros.

use super::legal::{self, Enclose};
use super::operand::{Operands, raw};
use super::reals::{Shape, query_domain, reals, write};
use crate::concrete;
use crate::context::Context;
use crate::domain::{Binary, Instruction, Numbers, Truths, Unary, Values};
use crate::lanes::{Mask, WARP};
use crate::tags::Tags;
use crate::value::Valued;
use crate::value::unit::Sort;
use ir::{FloatBinary, FloatProperty, FloatRelation, Format, Operand, Reg};

/// The lanes of `lanes` with known bits of an operand.
fn known((_, tags): &Operands, lanes: Mask) -> Mask {
    let known = lanes.iter().filter(|&lane| tags.is_number_in(Mask(1 << lane)));
    Mask(known.fold(0, |mask, lane| mask | 1 << lane))
}

/// The bits of float number `part` of an operand, where they are known.
fn bits((values, _): &Operands, format: Format, part: usize, lane: usize) -> u64 {
    let shift = (part * Sort::float(format).bytes() * 8) as u32;
    values[lane].checked_shr(shift).unwrap_or(0) & format.width().mask()
}

/// The lanes in which float number `part` of an operand is known to be NaN.
pub(super) fn nans(source: &Operands, format: Format, part: usize, lanes: Mask) -> Mask {
    let nan = |lane: usize| {
        let bits = bits(source, format, part, lane);
        concrete::float_test(FloatProperty::NotANumber, format, bits)
    };
    let nans = known(source, lanes).iter().filter(|&lane| nan(lane));
    Mask(nans.fold(0, |mask, lane| mask | 1 << lane))
}

/// The lanes in which float number `part` of an operand is known to have its sign bit set.
fn negatives(source: &Operands, format: Format, part: usize, lanes: Mask) -> Mask {
    let top = format.width().bits() - 1;
    let set = |lane: usize| bits(source, format, part, lane) >> top & 1 == 1;
    let set = known(source, lanes).iter().filter(|&lane| set(lane));
    Mask(set.fold(0, |mask, lane| mask | 1 << lane))
}

/// Executes `min`, `max` and `copysign` where known bits give more than the real number. Returns `true` if
/// they do.
pub(super) fn execute(
    context: &mut Context<'_, '_>,
    op: FloatBinary,
    shape: Shape,
    dst: Reg,
    operands: [Operand; 2],
    enclose: Enclose<'_, 2>,
) -> bool {
    // A legal result may be NaN, so the known bits of the other operand decide nothing.
    if legal::numbers(context) == Numbers::Legal {
        return false;
    }
    let binary = match op {
        FloatBinary::CopySign => Binary::CopySign,
        FloatBinary::Min { xor_sign_abs: false, .. } => Binary::Min,
        FloatBinary::Max { xor_sign_abs: false, .. } => Binary::Max,
        _ => return false,
    };
    let propagates = matches!(
        op,
        FloatBinary::Min { propagate_nan: true, .. } | FloatBinary::Max { propagate_nan: true, .. }
    );
    let sources = operands.map(|operand| raw(context, operand));
    let tags = sources.iter().fold(Tags::NUMBER, |tags, source| tags.combine(source.1));
    let lanes = context.lanes.without(tags.poison);
    let parts = 0..usize::from(shape.count);
    let nans: Vec<[Mask; 2]> = parts
        .clone()
        .map(|part| sources.each_ref().map(|source| nans(source, shape.format, part, lanes)))
        .collect();
    let special = match binary {
        Binary::CopySign => true,
        // A propagated NaN is undefined, as in the domain.
        _ => !propagates && nans.iter().flatten().any(|nans| !nans.is_empty()),
    };
    if !special {
        return false;
    }
    let mut results = [[0; WARP]; 8];
    for part in parts {
        let values =
            sources.each_ref().map(|source| reals(context, source, shape.format, part, lanes));
        let place = context.place;
        let (signs, set) =
            (known(&sources[0], lanes), negatives(&sources[0], shape.format, part, lanes));
        let Some(valued) = &mut context.valued else { return false };
        let Shape { format, mode, .. } = shape;
        valued.domain.instruction(Instruction { format, mode, place });
        results[part] = match binary {
            Binary::CopySign => query_domain(
                valued,
                shape.mode,
                &values,
                lanes,
                &mut |valued, [sign, size], lanes, out| {
                    magnitude(valued, size, (signs.and(lanes), set), out);
                    let read = lanes.without(signs);
                    if !read.is_empty() {
                        read.iter().for_each(|lane| valued.domain.reads_sign(sign[lane], place));
                        valued.domain.binary(Binary::CopySign, [sign, size], read, out);
                    }
                },
            ),
            _ => extremum(valued, (binary, shape), &values, lanes, nans[part]),
        };
        let operands = (&sources, &values);
        legal::attach_enclosures(
            valued,
            (format, part),
            operands,
            lanes,
            enclose,
            &mut results[part],
        );
    }
    write(context, shape, dst, &results, tags);
    true
}

/// Computes the magnitude in lanes with a known sign, and applies that sign.
fn magnitude(valued: &mut Valued<'_>, size: &Values, (lanes, set): (Mask, Mask), out: &mut Values) {
    if lanes.is_empty() {
        return;
    }
    valued.domain.unary(Unary::Abs, size, lanes, out);
    let set = set.and(lanes);
    if !set.is_empty() {
        let before = *out;
        valued.domain.unary(Unary::Negate, &before, set, out);
    }
}

/// Computes `min` or `max`: the other operand where one is NaN.
fn extremum(
    valued: &mut Valued<'_>,
    (op, shape): (Binary, Shape),
    values: &[Values; 2],
    lanes: Mask,
    [first, second]: [Mask; 2],
) -> Values {
    // If both are NaN the result is NaN, so either operand will do.
    let numbers = lanes.without(first).without(second);
    let mut out =
        query_domain(valued, shape.mode, values, numbers, &mut |valued, operands, lanes, out| {
            valued.domain.binary(op, operands, lanes, out);
        });
    for (nan, other) in [(first, &values[1]), (second.without(first), &values[0])] {
        let same =
            query_domain(valued, shape.mode, &[*other], nan, &mut |_, [a], _, out| *out = *a);
        nan.iter().for_each(|lane| out[lane] = same[lane]);
    }
    out
}

/// Decides a comparison in the lanes where an operand is known to be NaN.
pub(super) fn settle_comparison(
    relation: FloatRelation,
    format: Format,
    sources: &[Operands; 2],
    lanes: Mask,
    truths: &mut Truths,
) {
    let [a, b] = sources.each_ref().map(|source| nans(source, format, 0, lanes));
    let holds = match relation {
        FloatRelation::Order { or_unordered, .. } => or_unordered,
        FloatRelation::BothNumbers => false,
        FloatRelation::EitherNan => true,
    };
    a.or(b).iter().for_each(|lane| truths.decide(lane, holds));
}

/// Decides a test in the lanes with known bits; for `finite` its opposite, which the caller negates.
pub(super) fn settle_test(
    property: FloatProperty,
    format: Format,
    source: &Operands,
    lanes: Mask,
    truths: &mut Truths,
) {
    for lane in known(source, lanes).iter() {
        let holds = concrete::float_test(property, format, bits(source, format, 0, lane));
        truths.decide(lane, holds != (property == FloatProperty::Finite));
    }
}
