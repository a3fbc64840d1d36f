//! Executes float operations on domain values: reads the operands as values, lets the domain compute, and writes the
//! results. An operation that the domain cannot express gives opaque words.

use super::legal::{self, Enclose};
use super::operand::{is_number, raw};
use super::reals::{
    Query, Shape, all_followed, query_domain, query_relation, reals, report_nan_tests, write,
};
use super::{classify, convert, special, truth};
use crate::concrete::Conversion;
use crate::context::Context;
use crate::domain::{Binary, Instruction, Numbers, Truths, Unary};
use crate::handle::Handle;
use crate::lanes::{Mask, WARP};
use crate::legal::Enclosure;
use crate::legal::enclosure;
use crate::tags::Tags;
use ir::{
    FloatBinary, FloatMode, FloatRelation, FloatUnary, Format, Op, Operand, Reg, Rounding, Width,
};

/// Executes an operation on floats. Returns `true` if the domain is involved.
///
/// Long, because each kind of operation has an arm that only names its operands and the query to the domain.
pub(crate) fn execute(context: &mut Context<'_, '_>, op: &Op) -> bool {
    match op {
        op if keeps_bits(context, op) => false,
        Op::FloatUnary { op, format, lanes, mode, dst, a } => {
            let exact =
                matches!(op, FloatUnary::Negate | FloatUnary::Abs | FloatUnary::RoundToIntegral);
            if exact && !mode.flush && is_number(context, *a) {
                return false;
            }
            let unary = domain_unary(*op, mode.rounding);
            let shape = Shape { format: *format, count: *lanes, mode: *mode };
            let enclose = |[a]: [&Enclosure; 1]| enclosure::unary(*op, *format, *mode, a);
            compute(context, shape, *dst, [*a], &enclose, &mut |valued, [a], lanes, out| {
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
            let Some(binary) = domain_binary(*op) else { return false };
            let shape = Shape { format: *format, count: *lanes, mode: *mode };
            let enclose = |ab: [&Enclosure; 2]| enclosure::binary(*op, *format, *mode, ab);
            if special::execute(context, *op, shape, *dst, [*a, *b], &enclose) {
                return true;
            }
            let nans = legal::nan_products(context, op, shape, [*a, *b]);
            compute(context, shape, *dst, [*a, *b], &enclose, &mut |valued, ab, lanes, out| {
                valued.domain.binary(binary, ab, lanes, out);
            });
            nans.apply(context, *dst);
            true
        }
        Op::Fma { format, lanes, mode, dst, a, b, c } => {
            let shape = Shape { format: *format, count: *lanes, mode: *mode };
            let enclose = |abc: [&Enclosure; 3]| enclosure::fma(*format, *mode, abc);
            compute(context, shape, *dst, [*a, *b, *c], &enclose, &mut |valued, abc, lanes, out| {
                valued.domain.fma(abc, mode.rounding, lanes, out);
            })
        }
        Op::Real { function, format, range, dst, a, b } => {
            let shape = Shape { format: *format, count: 1, mode: FloatMode::NEAREST };
            let operands = [*a, b.unwrap_or(*a)];
            // The precision of the library's function is unspecified.
            let enclose = |_: [&Enclosure; 2]| None;
            compute(
                context,
                shape,
                *dst,
                operands,
                &enclose,
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

/// Returns `true` if operands and result are numbers, and the run keeps machine results.
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

fn domain_unary(op: FloatUnary, rounding: Rounding) -> Unary {
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

/// Translates an operation. `None` for `min` and `max` with `.xorsign.abs`, which are unsupported.
fn domain_binary(op: FloatBinary) -> Option<Binary> {
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

/// Fast path for single-precision operands that are values in every lane. Returns `false` if it does not apply.
#[inline]
fn compute_singles<const N: usize>(
    context: &mut Context<'_, '_>,
    shape: Shape,
    dst: Reg,
    operands: [Operand; N],
    query: Query<'_, N>,
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
            Some(words) if aliases && words.iter().any(|&word| Handle(word).is_alias()) => {
                return false;
            }
            Some(words) if all_followed(words, *lanes) => *source = words,
            _ => return false,
        }
    }
    let mut out = [0; WARP];
    valued.domain.instruction(Instruction { format, mode, place: *place });
    query(valued, sources, *lanes, &mut out);
    registers.write_data(layout, dst, &out, *lanes);
    true
}

/// Computes an operation on floats in the domain, attaches the enclosures of hardware results, and writes `dst`.
fn compute<const N: usize>(
    context: &mut Context<'_, '_>,
    shape: Shape,
    dst: Reg,
    operands: [Operand; N],
    enclose: Enclose<'_, N>,
    query: Query<'_, N>,
) -> bool {
    if !context.machine.general && compute_singles(context, shape, dst, operands, query) {
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
        *result = query_domain(valued, shape.mode, &values, lanes, query);
        let operands = (&sources, &values);
        legal::attach_enclosures(valued, (shape.format, part), operands, lanes, enclose, result);
    }
    write(context, shape, dst, &results, tags);
    legal::write_fixed(context, shape, dst, &results);
    true
}

/// Compares two floats in the domain, and writes the predicate. Returns `true` if the domain is involved.
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
        // Values of the domain count as numbers, except those that may be NaN ([`legal::confirm_numbers`]).
        FloatRelation::BothNumbers | FloatRelation::EitherNan
            if legal::numbers(context) != Numbers::Legal =>
        {
            values.iter().for_each(|values| report_nan_tests(context, values, lanes));
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
    let mut truths = query_relation(context, order, &values, lanes);
    let operands = (&sources, &values);
    legal::confirm_comparison(context, order, (format, flush), operands, lanes, &mut truths);
    special::settle_comparison(relation, format, &sources, lanes, &mut truths);
    truth::write(context, dst, &truths, tags, context.lanes);
    true
}
