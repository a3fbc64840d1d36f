//! Floats of operands as domain values: reads them, queries the domain, writes its answers.

use super::operand::{Operands, bytes};
use crate::context::Context;
use crate::domain::{Truths, Unary, Values};
use crate::handle::{Handle, all_values};
use crate::lanes::{Mask, WARP};
use crate::tags::{Source, Tags};
use crate::value::Valued;
use crate::value::bytes::ZERO;
use crate::value::unit::{Byte, Sort, Unit};
use ir::{FloatMode, Format, Reg, Relation};

/// The floats of an operation: their format, the number packed in a register, and the modifiers.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) format: Format,
    pub(super) count: u8,
    pub(super) mode: FloatMode,
}

/// A query to the domain.
pub(super) type Query<'a, const N: usize> =
    &'a mut dyn FnMut(&mut Valued<'_>, [&Values; N], Mask, &mut Values);

/// Queries the domain in the lanes with values for all operands; an opaque operand makes an opaque result.
pub(super) fn query_domain<const N: usize>(
    valued: &mut Valued<'_>,
    mode: FloatMode,
    values: &[Values; N],
    lanes: Mask,
    query: Query<'_, N>,
) -> Values {
    let mut out = [0; WARP];
    let followed = values.iter().fold(lanes, |lanes, values| lanes.and(followed(values)));
    for lane in lanes.without(followed).iter() {
        let words = values.iter().map(|values| values[lane]);
        out[lane] = words.into_iter().find(|&word| Handle(word).is_unit()).unwrap_or(0);
    }
    if followed.is_empty() {
        return out;
    }
    query(valued, values.each_ref(), followed, &mut out);
    for (wanted, op) in [(mode.saturate, Unary::Saturate), (mode.relu, Unary::Rectify)] {
        if wanted {
            let before = out;
            valued.domain.unary(op, &before, followed, &mut out);
        }
    }
    out
}

/// Returns `true` if these lanes all have a domain value. In a warp of few threads the others are not
/// inspected.
pub(super) fn all_followed(words: &Values, lanes: Mask) -> bool {
    if lanes == Mask::ALL {
        return followed(words) == Mask::ALL;
    }
    lanes.iter().all(|lane| Handle(words[lane]).is_value())
}

/// The lanes with a domain value.
pub(super) fn followed(words: &Values) -> Mask {
    if all_values(words) {
        return Mask::ALL;
    }
    let lanes = (0..WARP).filter(|&lane| Handle(words[lane]).is_value());
    Mask(lanes.fold(0, |mask, lane| mask | 1 << lane))
}

/// The values of float number `part` of an operand; opaque words elsewhere.
pub(super) fn reals(
    context: &mut Context<'_, '_>,
    source: &Operands,
    format: Format,
    part: usize,
    lanes: Mask,
) -> Values {
    let (values, tags) = source;
    let size = Sort::float(format).bytes();
    let mut out = [0; WARP];
    let place = Some(context.place);
    let mut last = None;
    let shift = (part * size * 8) as u32;
    if size == 4 && lanes.without(tags.unknown).is_empty() && !context.machine.general {
        // The common case at once: singles in all lanes.
        for lane in 0..WARP {
            out[lane] = (values[lane] >> shift) as u32;
        }
        if all_followed(&out, lanes) {
            return out;
        }
    }
    for lane in lanes.iter() {
        let Some(valued) = &mut context.valued else { break };
        out[lane] = if tags.unknown.has(lane) && size == 4 {
            let word = (values[lane] >> shift) as u32;
            if Handle(word).is_value() {
                word
            } else {
                valued.single(word, format, place).unwrap_or_else(|word| word)
            }
        } else if tags.is_number_in(Mask(1 << lane)) {
            let bits = values[lane] >> shift & format.width().mask();
            match last {
                Some((known, value)) if known == bits => value,
                _ => {
                    let value = valued.constant(format, bits);
                    last = Some((bits, value));
                    value
                }
            }
        } else if let (true, Some(value)) = (
            size == 2 && tags.unknown.has(lane) && part < 2,
            valued.store.units.half(values[lane] as u32, part & 1, Sort::float(format)),
        ) {
            value
        } else {
            let found = bytes(context, source, lane);
            let Some(valued) = &mut context.valued else { break };
            let part = &found[part * size..][..size];
            valued.real(part, format, place).unwrap_or_else(|word| word)
        };
    }
    out
}

/// Packs results into a register.
pub(super) fn write(
    context: &mut Context<'_, '_>,
    shape: Shape,
    dst: Reg,
    results: &[Values; 8],
    tags: Tags,
) {
    let lanes = context.lanes.without(tags.poison);
    let Some(valued) = &mut context.valued else { return };
    let units = &mut valued.store.units;
    let sort = Sort::float(shape.format);
    let mut words = [0u64; WARP];
    match (sort.bytes(), shape.count) {
        (4, 1) => (0..WARP).for_each(|lane| words[lane] = u64::from(results[0][lane])),
        (4, 2) => (0..WARP).for_each(|lane| {
            words[lane] = u64::from(results[0][lane]) | u64::from(results[1][lane]) << 32;
        }),
        (size, count) => {
            for lane in lanes.iter() {
                let mut bytes = ZERO;
                for part in 0..usize::from(count) {
                    let value = results[part][lane];
                    for (index, byte) in bytes[part * size..][..size].iter_mut().enumerate() {
                        *byte = match Handle(value).is_value() {
                            true => Byte::Of { value, sort, index: index as u8 },
                            false => Byte::Opaque(value),
                        };
                    }
                }
                let half = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
                let low = match (size, count) {
                    (2, 2) if results[..2].iter().all(|part| Handle(part[lane]).is_value()) => {
                        let values = [results[0][lane], results[1][lane]];
                        units.push(Unit::Halves { values, sorts: [sort; 2] })
                    }
                    _ => units.unit(half(0)),
                };
                let high = if size * usize::from(count) > 4 { units.unit(half(4)) } else { 0 };
                words[lane] = u64::from(low) | u64::from(high) << 32;
            }
        }
    }
    // `spread` makes pointers schedule-dependent, since their bits are, and drops the mark of lanes with numbers,
    // where it is meaningless.
    let spread = tags.spread();
    let origin = spread.origin.or(Some(Source::Data));
    let tags = Tags { unknown: Mask(!tags.poison.0), origin, ..spread };
    context.write_words(dst, &words, tags);
}

/// Reports NaN tests of values to the domain. They are answered as if there were no NaN.
pub(super) fn report_nan_tests(context: &mut Context<'_, '_>, values: &Values, lanes: Mask) {
    let place = context.place;
    if let Some(valued) = &mut context.valued {
        let followed = followed(values).and(lanes);
        followed.iter().for_each(|lane| valued.domain.tests_number(values[lane], place));
    }
}

/// Queries the domain for a comparison.
pub(super) fn query_relation(
    context: &mut Context<'_, '_>,
    relation: Relation,
    values: &[Values; 2],
    lanes: Mask,
) -> Truths {
    let mut truths = Truths::NONE;
    let asks = |valued: &Valued<'_>| valued.domain.compares_floats();
    let asked = if context.valued.as_ref().is_some_and(asks) { lanes } else { Mask::NONE };
    let both = asked.and(followed(&values[0])).and(followed(&values[1]));
    for lane in lanes.without(both).iter() {
        let opaque = values.iter().map(|values| values[lane]).find(|&word| Handle(word).is_unit());
        truths.defer(lane, opaque.unwrap_or(0));
    }
    if let Some(valued) = &mut context.valued
        && !both.is_empty()
    {
        valued.domain.compare_floats(relation, values.each_ref(), both, &mut truths);
    }
    truths
}
