//! Executes moves and operations on integers and floats: bits by [`crate::concrete`], tags from the operands.

use super::pointer;
use crate::concrete::{self, lanes};
use crate::context::Context;
use crate::finding::{Fault, Gap, Origin};
use crate::lanes::{Lanes, Mask, WARP};
use crate::legal::{self, Enclosure, Unfixed, enclosure};
use crate::tags::{Source, Tags};
use ir::{Accuracy, FloatBinary, FloatMode, Format, IntBinary, IntUnary, Op, Operand, Reg, Width};

/// Executes an operation on registers only.
pub(super) fn execute(context: &mut Context<'_, '_>, op: &Op) -> Result<(), Gap> {
    match op {
        Op::Copy { dst, src } => copy(context, *dst, *src),
        Op::Select { dst, condition, if_true, if_false } => {
            select(context, *dst, *condition, *if_true, *if_false);
        }
        Op::Concat { dst, parts } => concat(context, *dst, parts),
        Op::Split { dsts, src } => split(context, dsts, *src),
        Op::Resize { dst, src, from, signed } => resize(context, *dst, *src, *from, *signed),
        Op::IntUnary { op, width, dst, a } => int_unary(context, *op, *width, *dst, *a),
        Op::IntBinary { op, width, dst, a, b } => int_binary(context, *op, *width, *dst, (*a, *b)),
        Op::IntTernary { op, width, dst, a, b, c } => {
            let ((a, ta), (b, tb), (c, tc)) =
                (context.read(*a, *width), context.read(*b, *width), context.read(*c, *width));
            let mut out = [0; WARP];
            lanes::int_ternary(*op, *width, &mut out, &a, &b, &c);
            context.write(*dst, &out, ta.combine(tb).combine(tc));
        }
        Op::InsertBits { width, dst, insert, base, position, length } => {
            let operands = [
                context.read(*insert, *width),
                context.read(*base, *width),
                context.read(*position, Width::B32),
                context.read(*length, Width::B32),
            ];
            let [(a, _), (b, _), (c, _), (d, _)] = &operands;
            let out = std::array::from_fn(|lane| {
                concrete::insert_bits(*width, a[lane], b[lane], c[lane], d[lane])
            });
            let tags = operands.iter().fold(Tags::NUMBER, |tags, (_, more)| tags.combine(*more));
            context.write(*dst, &out, tags);
        }
        Op::AddCarry { .. } => add_carry(context, op),
        Op::IntCompare { relation, signed, width, dst, a, b } => {
            let ((a, ta), (b, tb)) = (context.read(*a, *width), context.read(*b, *width));
            let mut truth = Mask(lanes::int_compare(*relation, *signed, *width, &a, &b));
            let tags = match ta.is_number() && tb.is_number() {
                true => Tags::NUMBER,
                false => {
                    pointer::compare((*relation, *signed), *width, (&a, ta), (&b, tb), &mut truth)
                }
            };
            context.write_predicate(*dst, truth, tags);
        }
        _ => float(context, op)?,
    }
    Ok(())
}

fn copy(context: &mut Context<'_, '_>, dst: Reg, src: Operand) {
    let width = context.layout.width(dst);
    if width == Width::B1 {
        let registers = &context.registers;
        let (truth, tags) = (registers.predicate(src), registers.operand_tags(src));
        return context.write_predicate(dst, truth, tags);
    }
    let (values, tags) = context.read(src, width);
    context.write(dst, &values, tags);
    if let (Width::B128, Operand::Register(src)) = (width, src) {
        let layout = context.layout;
        let upper = *context.registers.upper(layout, src);
        let lanes = context.lanes;
        context.registers.write_upper(layout, dst, &upper, lanes);
    }
}

fn select(
    context: &mut Context<'_, '_>,
    dst: Reg,
    condition: Operand,
    if_true: Operand,
    if_false: Operand,
) {
    let width = context.layout.width(dst);
    let registers = &context.registers;
    let (truth, deciding) = (registers.predicate(condition), registers.operand_tags(condition));
    let ((a, ta), (b, tb)) = (context.read(if_true, width), context.read(if_false, width));
    let mut out = [0; WARP];
    lanes::select(truth.0, &mut out, &a, &b);
    let mut tags = ta.within(truth, tb);
    // An undecided choice gives an unknown value.
    if !deciding.is_number() {
        let undecided = deciding.spread();
        let maybe = ta.poison.or(tb.poison).and(undecided.unknown).and(context.lanes);
        context.report.maybe_undefined |= !maybe.is_empty();
        tags = undecided.chosen(ta, tb).within(undecided.unknown.or(undecided.poison), tags);
    }
    context.write(dst, &out, tags);
}

fn concat(context: &mut Context<'_, '_>, dst: Reg, parts: &[Operand]) {
    let width = context.layout.width(dst);
    let bits = width.bits() / parts.len() as u32;
    let part = Width::from_bits(bits).unwrap_or(Width::B64);
    let mut halves = [[0; WARP]; 2];
    let mut tags = Tags::NUMBER;
    let mut windowed = None;
    for (position, &operand) in parts.iter().enumerate() {
        let (values, more) = context.read(operand, part);
        if position == 0 && bits == 32 {
            windowed = Some(more.pointer);
        }
        tags = tags.combine(more);
        let at = position as u32 * bits;
        let half = &mut halves[(at / 64) as usize];
        half.iter_mut().zip(values).for_each(|(out, value)| *out |= value << (at % 64));
    }
    // `{address, 0}` is the 64-bit address.
    if let Some(pointers) = windowed {
        for lane in pointers.iter().filter(|&lane| halves[0][lane] >> 32 == 0) {
            tags.pointer = tags.pointer.or(Mask(1 << lane));
            tags.unknown = tags.unknown.without(Mask(1 << lane));
        }
    }
    context.write(dst, &halves[0], tags);
    if width == Width::B128 {
        let (layout, lanes) = (context.layout, context.lanes);
        context.registers.write_upper(layout, dst, &halves[1], lanes);
    }
}

fn split(context: &mut Context<'_, '_>, dsts: &[Option<Reg>], src: Operand) {
    let Some(part) = dsts.iter().flatten().next().map(|&dst| context.layout.width(dst)) else {
        return;
    };
    let total_bits = part.bits() * dsts.len() as u32;
    let source_width = Width::from_bits(total_bits).unwrap_or(Width::B64);
    let (low, tags) = context.read(src, source_width.min(Width::B64));
    let high = match (source_width, src) {
        (Width::B128, Operand::Register(src)) => {
            let layout = context.layout;
            *context.registers.upper(layout, src)
        }
        _ => [0; WARP],
    };
    for (position, dst) in dsts.iter().enumerate() {
        let Some(dst) = *dst else { continue };
        let at = position as u32 * part.bits();
        let half = if at < 64 { &low } else { &high };
        let values = half.map(|bits| bits >> (at % 64) & part.mask());
        let tags = if position == 0 {
            pointer::resized(&low, tags, source_width, part)
        } else if part == Width::B64 {
            tags
        } else {
            tags.spread()
        };
        context.write(dst, &values, tags);
    }
}

fn resize(context: &mut Context<'_, '_>, dst: Reg, src: Operand, from: Width, signed: bool) {
    let to = context.layout.width(dst);
    let (values, tags) = context.read(src, from);
    let out = values.map(|bits| concrete::resize(from, signed, to, bits));
    let tags = pointer::resized(&values, tags, from, to);
    context.write(dst, &out, tags);
}

fn int_unary(context: &mut Context<'_, '_>, op: IntUnary, width: Width, dst: Reg, a: Operand) {
    if width == Width::B1 {
        let registers = &context.registers;
        let (truth, tags) = (registers.predicate(a), registers.operand_tags(a));
        return context.write_predicate(dst, Mask(!truth.0), tags);
    }
    let (a, tags) = context.read(a, width);
    let mut out = [0; WARP];
    lanes::int_unary(op, width, &mut out, &a);
    context.write(dst, &out, tags.spread());
}

fn int_binary(
    context: &mut Context<'_, '_>,
    op: IntBinary,
    width: Width,
    dst: Reg,
    (a, b): (Operand, Operand),
) {
    if width == Width::B1 {
        return predicate_binary(context, op, dst, a, b);
    }
    let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
    let (a, ta) = context.read(a, width);
    let (b, tb) = context.read(b, if shifts { Width::B32 } else { width });
    let mut out = [0; WARP];
    lanes::int_binary(op, width, &mut out, &a, &b);
    let mut tags = match ta.is_number() && tb.is_number() {
        true => Tags::NUMBER,
        false => pointer::binary(context, op, width, (&a, ta), (&b, tb), &mut out),
    };
    if matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. }) {
        let known = Mask(!(tb.pointer.0 | tb.unknown.0 | tb.poison.0));
        let zero = (0..WARP).filter(|&lane| b[lane] == 0).fold(0, |mask, lane| mask | 1 << lane);
        let zero = Mask(zero).and(known).and(context.lanes);
        if !zero.is_empty() {
            context.record_fault(Fault::DivisionByZero, zero);
            tags = Tags::poison(zero, Origin::Operation(context.place)).within(zero, tags);
        }
        context.doubt_divisor(tb);
    }
    context.write(dst, &out, tags);
}

/// Computes predicate operations: a known operand may determine the result.
fn predicate_binary(
    context: &mut Context<'_, '_>,
    op: IntBinary,
    dst: Reg,
    a: Operand,
    b: Operand,
) {
    let registers = &context.registers;
    let (pa, ta) = (registers.predicate(a), registers.operand_tags(a));
    let (pb, tb) = (registers.predicate(b), registers.operand_tags(b));
    let mut tags = ta.combine(tb);
    let (truth, settled) = match op {
        IntBinary::And => (pa.and(pb), Mask(!pa.0 & known_lanes(ta) | !pb.0 & known_lanes(tb))),
        IntBinary::Or => (pa.or(pb), Mask(pa.0 & known_lanes(ta) | pb.0 & known_lanes(tb))),
        _ => (Mask(pa.0 ^ pb.0), Mask::NONE),
    };
    let truth = match op {
        IntBinary::Or => truth.or(settled),
        IntBinary::And => truth.without(settled),
        _ => truth,
    };
    tags.unknown = tags.unknown.without(settled);
    tags.poison = tags.poison.without(settled);
    // An undefined operand matters only if the other one, which is unknown, does not determine the result.
    let maybe = ta.poison.and(tb.unknown).or(tb.poison.and(ta.unknown));
    if matches!(op, IntBinary::And | IntBinary::Or) && !maybe.is_empty() {
        context.report.maybe_undefined |= !maybe.and(context.lanes).is_empty();
        tags.poison = tags.poison.without(maybe);
        tags.unknown = tags.unknown.or(maybe);
        tags.schedule_dependent = tags.schedule_dependent.or(maybe);
    }
    context.write_predicate(dst, truth, tags);
}

fn known_lanes(tags: Tags) -> u32 {
    !(tags.pointer.0 | tags.unknown.0 | tags.poison.0)
}

fn add_carry(context: &mut Context<'_, '_>, op: &Op) {
    let Op::AddCarry { width, subtract, dst, carry_out, a, b, carry_in } = op else { return };
    let ((a, ta), (b, tb)) = (context.read(*a, *width), context.read(*b, *width));
    let registers = &context.registers;
    let (carry, tc) = match carry_in {
        Some(carry) => (registers.predicate(*carry), registers.operand_tags(*carry)),
        None => (Mask::NONE, Tags::NUMBER),
    };
    let mut out = [0; WARP];
    let mut carries = 0u32;
    for lane in 0..WARP {
        let (sum, overflow) =
            concrete::add_carry(*width, *subtract, a[lane], b[lane], carry.has(lane));
        out[lane] = sum;
        carries |= u32::from(overflow) << lane;
    }
    let mut tags = ta.combine(tb).combine(tc);
    if carry_in.is_none() && !*subtract && !(ta.is_number() && tb.is_number()) {
        tags = pointer::binary(context, IntBinary::Add, *width, (&a, ta), (&b, tb), &mut out);
    }
    context.write(*dst, &out, tags);
    if let Some(carry_out) = carry_out {
        context.write_predicate(*carry_out, Mask(carries), tags.spread());
    }
}

/// Executes a float operation on bits, with the tags of its operands.
fn float(context: &mut Context<'_, '_>, op: &Op) -> Result<(), Gap> {
    match op {
        Op::FloatUnary { op, format, lanes: count, mode, dst, a } => {
            report_approximation(context, *mode);
            let (a, tags) = context.read(*a, pack_width(*format, *count));
            let out = packed(*format, *count, [&a], |out, [a]| {
                lanes::float_unary(*op, *format, *mode, out, a);
            });
            let tags = match legal::fixes_unary(*op, *mode) {
                true => tags.spread(),
                false => unfixed(context, tags.spread(), Mask::ALL, Unfixed::Approximation),
            };
            context.write(*dst, &out, tags);
        }
        Op::FloatBinary { op, format, lanes: count, mode, dst, a, b } => {
            report_approximation(context, *mode);
            let width = pack_width(*format, *count);
            let ((a, ta), (b, tb)) = (context.read(*a, width), context.read(*b, width));
            let out = packed(*format, *count, [&a, &b], |out, [a, b]| {
                lanes::float_binary(*op, *format, *mode, out, a, b);
            });
            let mut tags = ta.combine(tb);
            if *op == FloatBinary::Mul && mode.contract {
                let rounded = rounded_products((*format, *count), *mode, [&a, &b]);
                tags = unfixed(context, tags, rounded, Unfixed::Contraction);
            } else if mode.accuracy != Accuracy::Exact {
                tags = unfixed(context, tags, Mask::ALL, Unfixed::Approximation);
            }
            context.write(*dst, &out, tags);
        }
        Op::Fma { format, lanes: count, mode, dst, a, b, c } => {
            let width = pack_width(*format, *count);
            let ((a, ta), (b, tb), (c, tc)) =
                (context.read(*a, width), context.read(*b, width), context.read(*c, width));
            let out = packed(*format, *count, [&a, &b, &c], |out, [a, b, c]| {
                lanes::fma(*format, *mode, out, a, b, c);
            });
            context.write(*dst, &out, ta.combine(tb).combine(tc));
        }
        Op::FloatCompare { relation, format, flush, dst, a, b } => {
            let width = format.width();
            let ((a, ta), (b, tb)) = (context.read(*a, width), context.read(*b, width));
            let truth = Mask(lanes::float_compare(*relation, *format, *flush, &a, &b));
            context.write_predicate(*dst, truth, ta.combine(tb));
        }
        Op::FloatTest { property, format, dst, a } => {
            let (a, tags) = context.read(*a, format.width());
            let holds = |lane: &usize| concrete::float_test(*property, *format, a[*lane]);
            let truth = (0..WARP).filter(holds).fold(0, |mask, lane| mask | 1 << lane);
            context.write_predicate(*dst, Mask(truth), tags.spread());
        }
        Op::Convert { dst, src, from, to, rounding, flush, saturate, finite, relu } => {
            let conversion = concrete::Conversion {
                from: *from,
                to: *to,
                rounding: *rounding,
                flush: *flush,
                saturate: *saturate,
                finite: *finite,
                relu: *relu,
            };
            let (a, tags) = context.read(*src, from.width());
            let mut out = [0; WARP];
            lanes::convert(conversion, &mut out, &a);
            context.write(*dst, &out, tags.spread());
        }
        Op::Real { .. } => real_function(context, op),
        other => return Err(context.gap(format!("not executed yet: {other:?}"))),
    }
    Ok(())
}

/// Executes a function of CUDA's library. The manual does not specify its bits, so a result in single precision is
/// unknown. In double precision the function belongs to a formula, and its value is only displayed.
fn real_function(context: &mut Context<'_, '_>, op: &Op) {
    let Op::Real { function, format, dst, a, b, .. } = op else { return };
    let (x, ta) = context.read(*a, format.width());
    let (y, tb) = context.read(b.unwrap_or(*a), format.width());
    if *format != Format::F64 {
        let tags = ta.combine(tb);
        let unknown = Mask(!tags.poison.0);
        let origin = tags.origin.or(Some(Source::Data));
        return context.write(*dst, &[0; WARP], Tags { unknown, origin, ..tags });
    }
    let values: [Option<u64>; WARP] =
        std::array::from_fn(|lane| concrete::real_function(*function, x[lane], y[lane]));
    let out = values.map(|value| value.unwrap_or(0));
    let open = (0..WARP).filter(|lane| values[*lane].is_none());
    let open = Mask(open.fold(0, |mask, lane| mask | 1 << lane));
    let tags = unfixed(context, ta.combine(tb), Mask::ALL, Unfixed::Approximation);
    let unknown = tags.unknown.or(Mask(open.0 & !tags.poison.0));
    let origin = tags.origin.or((!open.is_empty()).then_some(Source::Data));
    context.write(*dst, &out, Tags { unknown, origin, ..tags });
}

/// The tags of a result without fixed bits in `lanes`. A run without checks keeps the computed number, which is one
/// of the legal results.
fn unfixed(context: &mut Context<'_, '_>, tags: Tags, lanes: Mask, cause: Unfixed) -> Tags {
    if !context.tracker.is_checking() {
        return tags;
    }
    let marked = tags.unfixed(lanes, cause);
    let new = marked.unknown.without(tags.unknown).and(context.lanes);
    context.report.unfixed |= !new.is_empty();
    marked
}

/// Returns the lanes with an inexact product.
fn rounded_products((format, count): (Format, u8), mode: FloatMode, [a, b]: [&Lanes; 2]) -> Mask {
    let bits = format.width().bits();
    let exact = |lane: usize, part: u32| {
        let part_of = |lanes: &Lanes| {
            Enclosure::of_bits(format, lanes[lane] >> (part * bits) & format.width().mask())
        };
        // A NaN operand gives a NaN, fused or not.
        let (Some(x), Some(y)) = (part_of(a), part_of(b)) else { return true };
        let product = enclosure::binary(FloatBinary::Mul, format, mode, [&x, &y]);
        product.is_none_or(|product| product.fixed(format).is_some())
    };
    let rounds = |lane: &usize| !(0..u32::from(count)).all(|part| exact(*lane, part));
    Mask((0..WARP).filter(rounds).fold(0, |mask, lane| mask | 1 << lane))
}

/// Lists an instruction whose result the manual does not fix to the bit.
fn report_approximation(context: &mut Context<'_, '_>, mode: FloatMode) {
    if mode.accuracy != Accuracy::Exact {
        context.report.approximate.insert(context.place);
    }
}

fn pack_width(format: Format, count: u8) -> Width {
    Width::from_bits(format.width().bits() * u32::from(count)).unwrap_or(Width::B64)
}

/// Applies an operation to each of the numbers packed in a register.
fn packed<const N: usize>(
    format: Format,
    count: u8,
    operands: [&Lanes; N],
    apply: impl Fn(&mut Lanes, [&Lanes; N]),
) -> Lanes {
    let mut out = [0; WARP];
    if count == 1 {
        apply(&mut out, operands);
        return out;
    }
    let bits = format.width().bits();
    for part in 0..u32::from(count) {
        let pieces =
            operands.map(|lanes| lanes.map(|v| v >> (part * bits) & format.width().mask()));
        let mut result = [0; WARP];
        apply(&mut result, std::array::from_fn(|position| &pieces[position]));
        out.iter_mut().zip(result).for_each(|(out, value)| *out |= value << (part * bits));
    }
    out
}
