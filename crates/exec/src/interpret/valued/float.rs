//! Floats: the domain computes, everything here finds operands and puts results where they belong.

use super::legal::{self, Machine};
use super::truth;
use super::{bytes, classify, convert, is_number, raw, special};
use crate::concrete::Conversion;
use crate::domain::{Binary, HANDLES, Instruction, LIMIT, Numbers, Truths, Unary, Values};
use crate::interpret::Context;
use crate::lanes::{Lanes, Mask, WARP};
use crate::legal::Enclosure;
use crate::legal::enclosure;
use crate::tags::{Source, Tags};
use crate::value::Valued;
use crate::value::bytes::ZERO;
use crate::value::unit::{Byte, Sort, Unit};
use ir::{
    FloatBinary, FloatMode, FloatRelation, FloatUnary, Format, Op, Operand, Reg, Relation,
    Rounding, Width,
};

/// An operand in all lanes.
pub(super) type Operands = (Lanes, Tags);

/// Executes an operation on floats; whether it is the domain's business.
pub(in crate::interpret) fn execute(context: &mut Context<'_, '_>, op: &Op) -> bool {
    match op {
        op if keeps_bits(context, op) => false,
        Op::FloatUnary { op, format, lanes, mode, dst, a } => {
            let exact =
                matches!(op, FloatUnary::Negate | FloatUnary::Abs | FloatUnary::RoundToIntegral);
            if exact && !mode.flush && is_number(context, *a) {
                return false;
            }
            let unary = unary(*op, mode.rounding);
            let shape = Shape { format: *format, count: *lanes, mode: *mode };
            let machine = |[a]: [&Enclosure; 1]| enclosure::unary(*op, *format, *mode, a);
            compute(context, shape, *dst, [*a], &machine, &mut |valued, [a], lanes, out| {
                valued.domain.unary(unary, a, lanes, out);
            })
        }
        Op::FloatBinary { op, format, lanes, mode, dst, a, b } => {
            let exact = matches!(
                op,
                FloatBinary::Min { .. } | FloatBinary::Max { .. } | FloatBinary::CopySign
            );
            let numbers = is_number(context, *a) && is_number(context, *b);
            if exact && !mode.flush && numbers {
                return false;
            }
            let Some(binary) = binary(*op) else { return false };
            let shape = Shape { format: *format, count: *lanes, mode: *mode };
            let machine = |ab: [&Enclosure; 2]| enclosure::binary(*op, *format, *mode, ab);
            if special::execute(context, *op, shape, *dst, [*a, *b], &machine) {
                return true;
            }
            let nans = legal::nan_products(context, op, shape, [*a, *b]);
            compute(context, shape, *dst, [*a, *b], &machine, &mut |valued, ab, lanes, out| {
                valued.domain.binary(binary, ab, lanes, out);
            });
            nans.apply(context, *dst);
            true
        }
        Op::Fma { format, lanes, mode, dst, a, b, c } => {
            let shape = Shape { format: *format, count: *lanes, mode: *mode };
            let machine = |abc: [&Enclosure; 3]| enclosure::fma(*format, *mode, abc);
            compute(context, shape, *dst, [*a, *b, *c], &machine, &mut |valued, abc, lanes, out| {
                valued.domain.fma(abc, mode.rounding, lanes, out);
            })
        }
        Op::Real { function, format, range, dst, a, b } => {
            let shape = Shape { format: *format, count: 1, mode: FloatMode::NEAREST };
            let operands = [*a, b.unwrap_or(*a)];
            // How precise the library's function is, nobody says.
            let machine = |_: [&Enclosure; 2]| None;
            compute(
                context,
                shape,
                *dst,
                operands,
                &machine,
                &mut |valued, operands, lanes, out| {
                    valued.domain.function((*function, *range), operands, lanes, out);
                },
            )
        }
        Op::FloatCompare { relation, format, flush, dst, a, b } => {
            compare(context, *relation, (*format, *flush), *dst, [*a, *b])
        }
        Op::FloatTest { property, format, dst, a } => {
            classify::test(context, *property, *format, *dst, *a)
        }
        Op::Convert { dst, src, from, to, rounding, flush, saturate, finite, relu } => {
            let conversion = Conversion {
                from: *from,
                to: *to,
                rounding: *rounding,
                flush: *flush,
                saturate: *saturate,
                finite: *finite,
                relu: *relu,
            };
            convert::execute(context, conversion, *dst, *src)
        }
        _ => false,
    }
}

/// Whether the operands are numbers, the result is one too, and the run wants it as it is on a machine.
fn keeps_bits(context: &Context<'_, '_>, op: &Op) -> bool {
    if legal::numbers(context) != Numbers::Legal || !crate::legal::fixes(op) {
        return false;
    }
    let mut numbers = true;
    op.visit(&mut |access| {
        if let ir::Access::Read(operand) = access {
            numbers &= is_number(context, operand);
        }
    });
    numbers
}

fn unary(op: FloatUnary, rounding: Rounding) -> Unary {
    match op {
        FloatUnary::Negate => Unary::Negate,
        FloatUnary::Abs => Unary::Abs,
        FloatUnary::Sqrt => Unary::Sqrt,
        FloatUnary::ReciprocalSqrt => Unary::ReciprocalSqrt,
        FloatUnary::Reciprocal => Unary::Reciprocal,
        FloatUnary::Exp2 => Unary::Exp2,
        FloatUnary::Log2 => Unary::Log2,
        FloatUnary::Sin => Unary::Sin,
        FloatUnary::Cos => Unary::Cos,
        FloatUnary::Tanh => Unary::Tanh,
        FloatUnary::RoundToIntegral => Unary::Round(rounding),
    }
}

/// `None` for the extremum of magnitudes with a sign of its own, which is not followed.
fn binary(op: FloatBinary) -> Option<Binary> {
    Some(match op {
        FloatBinary::Add => Binary::Add,
        FloatBinary::Sub => Binary::Sub,
        FloatBinary::Mul => Binary::Mul,
        FloatBinary::Div => Binary::Div,
        FloatBinary::Min { xor_sign_abs: false, .. } => Binary::Min,
        FloatBinary::Max { xor_sign_abs: false, .. } => Binary::Max,
        FloatBinary::Min { .. } | FloatBinary::Max { .. } => return None,
        FloatBinary::CopySign => Binary::CopySign,
    })
}

/// Floats of an operation: their format, how many are side by side, and its modifiers.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) format: Format,
    pub(super) count: u8,
    pub(super) mode: FloatMode,
}

/// A question to the domain.
pub(super) type Ask<'a, const N: usize> =
    &'a mut dyn FnMut(&mut Valued<'_>, [&Values; N], Mask, &mut Values);

/// The common case: singles, each a value in every lane. Whether it is that.
#[inline]
fn quick<const N: usize>(
    context: &mut Context<'_, '_>,
    shape: Shape,
    dst: Reg,
    operands: [Operand; N],
    ask: Ask<'_, N>,
) -> bool {
    let Shape { format, count, mode } = shape;
    let Context { registers, layout, lanes, place, valued: Some(valued), .. } = context else {
        return false;
    };
    let plain = format == Format::F32 && count == 1 && !mode.saturate && !mode.relu;
    if !plain || layout.width(dst) != Width::B32 {
        return false;
    }
    let mut sources = [&[0; WARP]; N];
    let aliases = !valued.aliases.is_empty();
    for (source, operand) in sources.iter_mut().zip(operands) {
        match registers.unknown_narrow(layout, operand, Width::B32, *lanes) {
            Some(words) if aliases && words.iter().any(|&word| is_alias(word)) => return false,
            Some(words) if all_followed(words, *lanes) => *source = words,
            _ => return false,
        }
    }
    let mut out = [0; WARP];
    valued.domain.instruction(Instruction { format, mode, place: *place });
    ask(valued, sources, *lanes, &mut out);
    let tags = Tags::unknown(Mask::ALL, Source::Data);
    registers.write_narrow(layout, dst, &out, tags, *lanes);
    true
}

fn compute<const N: usize>(
    context: &mut Context<'_, '_>,
    shape: Shape,
    dst: Reg,
    operands: [Operand; N],
    machine: Machine<'_, N>,
    ask: Ask<'_, N>,
) -> bool {
    if !context.machine.general && quick(context, shape, dst, operands, ask) {
        return true;
    }
    let sources = operands.map(|operand| raw(context, operand));
    let tags = sources.iter().fold(Tags::NUMBER, |tags, source| tags.combine(source.1));
    let lanes = context.lanes.without(tags.poison);
    let mut results = [[0; WARP]; 8];
    for (part, result) in results.iter_mut().enumerate().take(shape.count.into()) {
        let values =
            sources.each_ref().map(|source| reals(context, source, shape.format, part, lanes));
        let Shape { format, mode, .. } = shape;
        let Some(valued) = &mut context.valued else { return false };
        valued.domain.instruction(Instruction { format, mode, place: context.place });
        *result = answer(valued, shape.mode, &values, lanes, ask);
        let operands = (&sources, &values);
        legal::attach(valued, (shape.format, part), operands, lanes, machine, result);
    }
    write(context, shape, dst, &results, tags);
    legal::fix(context, shape, dst, &results);
    true
}

/// Asks in the lanes whose operands are all values; an opaque operand makes an opaque result.
pub(super) fn answer<const N: usize>(
    valued: &mut Valued<'_>,
    mode: FloatMode,
    values: &[Values; N],
    lanes: Mask,
    ask: Ask<'_, N>,
) -> Values {
    let mut out = [0; WARP];
    let followed = values.iter().fold(lanes, |lanes, values| lanes.and(followed(values)));
    for lane in lanes.without(followed).iter() {
        let words = values.iter().map(|values| values[lane]);
        out[lane] = words.into_iter().find(|&word| word >= HANDLES).unwrap_or(0);
    }
    if followed.is_empty() {
        return out;
    }
    ask(valued, values.each_ref(), followed, &mut out);
    for (wanted, op) in [(mode.saturate, Unary::Saturate), (mode.relu, Unary::Rectify)] {
        if wanted {
            let before = out;
            valued.domain.unary(op, &before, followed, &mut out);
        }
    }
    out
}

/// Whether a word is a handle of the engine's own.
fn is_alias(word: u32) -> bool {
    (LIMIT..HANDLES).contains(&word)
}

/// Whether these lanes have a value of the domain. In a warp of few threads the others are not looked at.
fn all_followed(words: &Values, lanes: Mask) -> bool {
    if lanes == Mask::ALL {
        return followed(words) == Mask::ALL;
    }
    lanes.iter().all(|lane| words[lane] != 0 && words[lane] < HANDLES)
}

/// The lanes that have a value of the domain.
pub(super) fn followed(words: &Values) -> Mask {
    let all =
        words.iter().fold((0, false), |(bits, zero), &word| (bits | word, zero | (word == 0)));
    if all.0 < HANDLES && !all.1 {
        return Mask::ALL;
    }
    let lanes = (0..WARP).filter(|&lane| words[lane] != 0 && words[lane] < HANDLES);
    Mask(lanes.fold(0, |mask, lane| mask | 1 << lane))
}

/// The values of float number `part` of an operand, opaque words where there is none.
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
            if word != 0 && word < HANDLES {
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

/// Puts results side by side into a register.
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
                        *byte = match value != 0 && value < HANDLES {
                            true => Byte::Of { value, sort, index: index as u8 },
                            false => Byte::Opaque(value),
                        };
                    }
                }
                let half = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
                let low = match (size, count) {
                    (2, 2)
                        if results[..2].iter().all(|part| (1..HANDLES).contains(&part[lane])) =>
                    {
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
    // The bits of a pointer are not determined by the inputs, and marks of lanes that were numbers mean nothing.
    let spread = tags.spread();
    let origin = spread.origin.or(Some(Source::Data));
    let tags = Tags { unknown: Mask(!tags.poison.0), origin, ..spread };
    context.write_words(dst, &words, tags);
}

/// Tells the domain of tests whether values are NaN, which are answered as if none were.
pub(super) fn tell_tests(context: &mut Context<'_, '_>, values: &Values, lanes: Mask) {
    let place = context.place;
    if let Some(valued) = &mut context.valued {
        let followed = followed(values).and(lanes);
        followed.iter().for_each(|lane| valued.domain.tests_number(values[lane], place));
    }
}

fn compare(
    context: &mut Context<'_, '_>,
    relation: FloatRelation,
    (format, flush): (Format, bool),
    dst: Reg,
    operands: [Operand; 2],
) -> bool {
    let numbers = operands.iter().all(|&operand| is_number(context, operand));
    if numbers && !flush {
        return false;
    }
    let sources = operands.map(|operand| raw(context, operand));
    let tags = sources[0].1.combine(sources[1].1);
    let lanes = context.lanes.without(tags.poison);
    let values = sources.each_ref().map(|source| reals(context, source, format, 0, lanes));
    let order = match relation {
        FloatRelation::Order { relation, .. } => relation,
        // Values are numbers; what is not enclosed may be none.
        FloatRelation::BothNumbers | FloatRelation::EitherNan
            if legal::numbers(context) != Numbers::Legal =>
        {
            values.iter().for_each(|values| tell_tests(context, values, lanes));
            let truth = if relation == FloatRelation::BothNumbers { Mask::ALL } else { Mask::NONE };
            let mut truths = Truths { known: Mask::ALL, truth, values: [0; WARP] };
            for operand in sources.iter().zip(&values) {
                legal::confirm_numbers(context, format, operand, lanes, &mut truths);
            }
            special::settle_comparison(relation, format, &sources, lanes, &mut truths);
            truth::write(context, dst, &truths, tags, context.lanes);
            return true;
        }
        FloatRelation::BothNumbers | FloatRelation::EitherNan => {
            let truths = legal::ordered(context, relation, format, (&sources, &values), lanes);
            truth::write(context, dst, &truths, tags, context.lanes);
            return true;
        }
    };
    if let Some(valued) = &mut context.valued {
        let (mode, place) = (FloatMode { flush, ..FloatMode::NEAREST }, context.place);
        valued.domain.instruction(Instruction { format, mode, place });
    }
    let mut truths = ask_relation(context, order, &values, lanes);
    let operands = (&sources, &values);
    legal::confirm(context, order, (format, flush), operands, lanes, &mut truths);
    special::settle_comparison(relation, format, &sources, lanes, &mut truths);
    truth::write(context, dst, &truths, tags, context.lanes);
    true
}

pub(super) fn ask_relation(
    context: &mut Context<'_, '_>,
    relation: Relation,
    values: &[Values; 2],
    lanes: Mask,
) -> Truths {
    let mut truths = Truths::NONE;
    let both = lanes.and(followed(&values[0])).and(followed(&values[1]));
    for lane in lanes.without(both).iter() {
        let opaque = values.iter().map(|values| values[lane]).find(|&word| word >= HANDLES);
        truths.defer(lane, opaque.unwrap_or(0));
    }
    if let Some(valued) = &mut context.valued
        && !both.is_empty()
    {
        valued.domain.compare(relation, values.each_ref(), both, &mut truths);
    }
    truths
}
