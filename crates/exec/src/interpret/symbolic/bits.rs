//! Moves and bit operations, as far as they move whole bytes of values.
//!
//! Each operation is first executed as without a domain. That determines numbers, pointers and poison, and makes
//! the rest opaque. Then lanes for which more is known are rewritten.

use super::operand::{Patch, bytes, raw};
use super::{address, integer, packed, ranged, truth};
use crate::concrete;
use crate::context::Context;
use crate::domain::Unary;
use crate::finding::Gap;
use crate::handle::Handle;
use crate::interpret::arithmetic;
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tags::Tags;
use crate::value::Valued;
use crate::value::bit_runs;
use crate::value::bits as single;
use crate::value::bytes::{self as on_bytes, Bytes, ZERO, number};
use crate::value::nibbles;
use crate::value::unit::{Byte, Content, Unit, content, known};
use ir::{BitRange, IntBinary, IntTernary, IntUnary, Op, Operand, Reg, Width};

/// An operand in all lanes.
type Source = (Lanes, Tags);

/// Executes a bit operation with some unknown operands. Returns `false` if there are none.
pub(super) fn execute(context: &mut Context<'_, '_>, op: &Op) -> Result<bool, Gap> {
    if let Op::Split { dsts, src } = op
        && !context.machine.general
        && packed::split(context, dsts, *src)
    {
        return Ok(true);
    }
    if let Op::Concat { dst, parts } = op
        && let [low, high] = parts[..]
        && !context.machine.general
        && packed::join(context, *dst, [low, high])
    {
        return Ok(true);
    }
    let mut operands = Vec::new();
    op.visit(&mut |access| {
        if let ir::Access::Read(operand) = access {
            operands.push(operand);
        }
    });
    let sources: Vec<Source> = operands.iter().map(|&operand| raw(context, operand)).collect();
    let unknown = sources.iter().fold(Mask::NONE, |mask, (_, tags)| mask.or(tags.unknown));
    if unknown.and(context.lanes).is_empty() {
        return Ok(false);
    }
    let layout = context.layout;
    let upper = match (op, operands.first()) {
        (Op::Split { .. }, Some(Operand::Register(src))) if layout.width(*src) == Width::B128 => {
            *context.registers.upper(layout, *src)
        }
        _ => [0; WARP],
    };
    arithmetic::execute(context, op)?;
    match op {
        Op::Split { dsts, .. } => split(context, dsts, &sources[0], &upper),
        Op::Concat { dst, parts } => concat(context, *dst, &sources, parts.len()),
        Op::Resize { dst, .. }
        | Op::IntUnary { dst, .. }
        | Op::IntBinary { dst, .. }
        | Op::IntTernary { dst, .. }
        | Op::InsertBits { dst, .. } => compute(context, op, *dst, &sources),
        _ => {}
    }
    Ok(true)
}

/// Executes `mov {a, b}, c`.
fn split(context: &mut Context<'_, '_>, dsts: &[Option<Reg>], source: &Source, upper: &Lanes) {
    let Some(part) = dsts.iter().flatten().next().map(|&dst| context.layout.width(dst)) else {
        return;
    };
    let size = part.bytes() as usize;
    let mut patches: Vec<Patch> = dsts.iter().map(|_| Patch::new()).collect();
    for lane in source.1.unknown.and(context.lanes).iter() {
        let low = bytes(context, source, lane);
        let high = bytes(context, &(*upper, source.1), lane);
        let Some(valued) = &mut context.valued else { return };
        for (position, patch) in patches.iter_mut().enumerate() {
            let at = position * size;
            let half = if at < 8 { &low } else { &high };
            let mut out = ZERO;
            out[..size].copy_from_slice(&half[at % 8..at % 8 + size]);
            patch.set(lane, valued.store.word(&out));
        }
    }
    for (dst, patch) in dsts.iter().zip(&patches) {
        if let Some(dst) = *dst {
            patch.apply(context, dst);
        }
    }
}

/// Executes `mov c, {a, b}`.
fn concat(context: &mut Context<'_, '_>, dst: Reg, sources: &[Source], count: usize) {
    let width_bytes = context.layout.width(dst).bytes() as usize;
    let size = width_bytes / count;
    let mut patch = Patch::new();
    for lane in context.registers.tags(dst).unknown.and(context.lanes).iter() {
        let mut all = [Byte::Known(0); 16];
        for (position, source) in sources.iter().enumerate() {
            let part = bytes(context, source, lane);
            all[position * size..][..size].copy_from_slice(&part[..size]);
        }
        let Some(valued) = &mut context.valued else { return };
        let (mut low, mut high) = (ZERO, ZERO);
        low.copy_from_slice(&all[..8]);
        high.copy_from_slice(&all[8..]);
        let mut halves = [low, high].map(|half| valued.store.word(&half));
        if width_bytes == 16 && halves.iter().any(|half| half.1 != Word::Number) {
            // Both halves share one tag: a number becomes the words of its bits.
            for half in halves.iter_mut().filter(|half| half.1 == Word::Number) {
                let [a, b] = [half.0 as u32, (half.0 >> 32) as u32];
                let [a, b] = [a, b].map(|bits| u64::from(valued.store.units.bits(bits)));
                *half = (a | b << 32, Word::Unknown);
            }
            let is_schedule_dependent = halves.iter().any(|half| half.1 == Word::ScheduleDependent);
            halves[0].1 =
                if is_schedule_dependent { Word::ScheduleDependent } else { Word::Unknown };
        }
        patch.set(lane, halves[0]);
        patch.upper[lane] = halves[1].0;
    }
    patch.apply(context, dst);
}

/// Executes operations with one result.
fn compute(context: &mut Context<'_, '_>, op: &Op, dst: Reg, sources: &[Source]) {
    let to = context.layout.width(dst).bytes().min(8) as usize;
    let mut patch = Patch::new();
    for lane in context.registers.tags(dst).unknown.and(context.lanes).iter() {
        if let Some(words) = address::sum(context, op, sources, lane) {
            patch.set(lane, (words, Word::ScheduleDependent));
            continue;
        }
        let operands: Vec<Bytes> =
            sources.iter().map(|source| bytes(context, source, lane)).collect();
        let is_ring = |width| operands.iter().any(|a| integer::is_integer(a, width));
        let computed = context.valued.as_mut().and_then(|valued| match ring_width(op) {
            Some(width) if is_ring(width) => integer::compute(valued, op, &operands, to),
            _ => ranged::compute(valued, op, &operands, to),
        });
        let moved = computed.or_else(|| moved(op, &operands, to)).or_else(|| {
            let valued = context.valued.as_mut()?;
            parts(valued, op, &operands, to)
                .or_else(|| integer::compute(valued, op, &operands, to))
                .or_else(|| halves(op, &operands))
                .or_else(|| signed_nibbles(valued, op, &operands, to))
                .or_else(|| bit_runs::compute(valued, op, &operands, to))
                .or_else(|| single::compute(valued, op, &operands, to))
        });
        let result = match moved {
            Some(result) => Some(result),
            None => {
                signs(context, op, &operands).or_else(|| power_of_exponent(context, op, &operands))
            }
        };
        let Some(valued) = &mut context.valued else { return };
        if let Some(mut result) = result {
            result[to..].fill(Byte::Known(0));
            patch.set(lane, valued.store.word(&result));
        } else if let Some(words) = distributed(context, op, sources, lane) {
            patch.set(lane, (words, Word::Unknown));
        }
    }
    patch.apply(context, dst);
}

/// The width of sums and products. Integers that fill their registers stay integers, even if their bytes
/// could be moved.
fn ring_width(op: &Op) -> Option<Width> {
    match op {
        Op::IntBinary { op: IntBinary::Add | IntBinary::Sub | IntBinary::Mul, width, .. } => {
            Some(*width)
        }
        _ => None,
    }
}

/// Returns the result of an operation that moves whole bytes.
pub(in crate::interpret) fn moved(op: &Op, operands: &[Bytes], to: usize) -> Option<Bytes> {
    match op {
        Op::Resize { from, signed, .. } => {
            let size = from.bytes() as usize;
            let mut out = operands[0];
            if size < 8 {
                let top = match *signed && to > size {
                    true => on_bytes::sign(out[size - 1])?,
                    false => Byte::Known(0),
                };
                out[size..].fill(top);
            }
            Some(out)
        }
        Op::IntUnary { op: IntUnary::Not, width, .. } => {
            each(operands, width.bytes() as usize, &|bits| !bits[0])
        }
        Op::IntBinary { op, width, .. } => binary(*op, *width, &operands[0], &operands[1]),
        Op::IntTernary { op, width, .. } => ternary(*op, *width, operands),
        Op::InsertBits { width, .. } => {
            let size = width.bytes() as usize;
            let (at, length) = (known(&operands[2][..4])? & 0xff, known(&operands[3][..4])? & 0xff);
            let (at, length) = (on_bytes::byte_count(at)?, on_bytes::byte_count(length)?);
            let mut out = operands[1];
            (at..size.min(at + length)).for_each(|byte| out[byte] = operands[0][byte - at]);
            Some(out)
        }
        _ => None,
    }
}

/// Returns the result of an operation that moves half bytes of integers.
fn halves(op: &Op, operands: &[Bytes]) -> Option<Bytes> {
    let amount = |operand: &Bytes| known(&operand[..4]);
    match op {
        Op::IntBinary { op: IntBinary::Shl, width, .. } => {
            nibbles::shift_left(&operands[0], amount(&operands[1])?, width.bytes() as usize)
        }
        Op::IntBinary { op: IntBinary::Shr { signed: false }, width, .. } => {
            nibbles::shift_right(&operands[0], amount(&operands[1])?, width.bytes() as usize)
        }
        Op::IntTernary { op: IntTernary::ExtractBits { signed: false }, width, .. } => {
            let (first, length) = (amount(&operands[1])? & 0xff, amount(&operands[2])? & 0xff);
            nibbles::extract(&operands[0], first, length, width.bytes() as usize)
        }
        _ => None,
    }
}

/// Shifts parts of several integers to the left as a move, rather than as a multiple of their sum; or
/// complements them.
fn parts(valued: &mut Valued<'_>, op: &Op, operands: &[Bytes], to: usize) -> Option<Bytes> {
    let (Op::IntBinary { op: IntBinary::Shl, width, .. }
    | Op::IntUnary { op: IntUnary::Not, width, .. }) = op
    else {
        return None;
    };
    if integer::is_integer(&operands[0], *width) {
        return None;
    }
    halves(op, operands)
        .or_else(|| bit_runs::compute(valued, op, operands, to))
        .or_else(|| single::compute(valued, op, operands, to))
}

/// Sign-extends one or more nibbles.
fn signed_nibbles(
    valued: &mut Valued<'_>,
    op: &Op,
    operands: &[Bytes],
    to: usize,
) -> Option<Bytes> {
    let (first, length, size) = match op {
        Op::IntBinary { op: IntBinary::Shr { signed: true }, width, .. } => {
            let first = known(&operands[1][..4])?;
            (first, u64::from(width.bits()).checked_sub(first)?, width.bytes() as usize)
        }
        Op::IntTernary { op: IntTernary::ExtractBits { signed: true }, width, .. } => {
            let (first, length) =
                (known(&operands[1][..4])? & 0xff, known(&operands[2][..4])? & 0xff);
            (first, length, width.bytes() as usize)
        }
        _ => return None,
    };
    let inside = length > 0 && first + length <= 8 * size as u64;
    let value = nibbles::signed(valued, &operands[0], first, length, size).filter(|_| inside)?;
    integer::all_bytes(value, to)
}

/// Applies a boolean function to each byte, or to each half byte.
fn each(operands: &[Bytes], size: usize, function: &dyn Fn(&[u8]) -> u8) -> Option<Bytes> {
    let mut out = ZERO;
    for at in 0..size {
        let bytes: Vec<Byte> = operands.iter().map(|operand| operand[at]).collect();
        let whole_bytes = on_bytes::bitwise(&bytes, function);
        out[at] = whole_bytes.or_else(|| nibbles::bitwise(&bytes, function))?;
    }
    Some(out)
}

fn binary(op: IntBinary, width: Width, a: &Bytes, b: &Bytes) -> Option<Bytes> {
    let size = width.bytes() as usize;
    let operands = [*a, *b];
    match op {
        IntBinary::And => each(&operands, size, &|bits| bits[0] & bits[1]),
        IntBinary::Or => each(&operands, size, &|bits| bits[0] | bits[1]),
        IntBinary::Xor => each(&operands, size, &|bits| bits[0] ^ bits[1]),
        IntBinary::Add => on_bytes::disjoint_sum(a, b, size),
        IntBinary::Sub => (known(&b[..size])? == 0).then_some(*a),
        IntBinary::Shl => on_bytes::shift_left(a, known(&b[..4])?, size),
        IntBinary::Shr { signed } => on_bytes::shift_right(a, known(&b[..4])?, size, signed),
        IntBinary::Mul => {
            let (value, factor) = match (known(&a[..size]), known(&b[..size])) {
                (None, Some(factor)) => (a, factor),
                (Some(factor), None) => (b, factor),
                _ => return None,
            };
            let shift = factor.is_power_of_two().then(|| u64::from(factor.ilog2()))?;
            on_bytes::shift_left(value, shift, size)
        }
        _ => None,
    }
}

fn ternary(op: IntTernary, width: Width, operands: &[Bytes]) -> Option<Bytes> {
    let size = width.bytes() as usize;
    let [a, b, c] = operands else { return None };
    match op {
        IntTernary::Permute => on_bytes::permute(a, b, known(&c[..4])?),
        IntTernary::Logic { table } => each(operands, size, &|bits| {
            let [x, y, z] = [bits[0], bits[1], bits[2]];
            let minterm = |index: u8| {
                let pick = |bits: u8, at: u8| if index >> at & 1 == 1 { bits } else { !bits };
                let term = pick(x, 2) & pick(y, 1) & pick(z, 0);
                if table >> index & 1 == 1 { term } else { 0 }
            };
            (0..8).fold(0, |all, index| all | minterm(index))
        }),
        IntTernary::FunnelShift { left, range } => {
            let amount = known(&c[..4])?;
            let amount = match range {
                BitRange::Clamp => amount.min(32),
                BitRange::Wrap => amount & 31,
            };
            let mut both = ZERO;
            both[..4].copy_from_slice(&a[..4]);
            both[4..].copy_from_slice(&b[..4]);
            let shifted = match left {
                true => on_bytes::shift_left(&both, amount, 8)?,
                false => on_bytes::shift_right(&both, amount, 8, false)?,
            };
            let mut out = ZERO;
            out[..4].copy_from_slice(if left { &shifted[4..] } else { &shifted[..4] });
            Some(out)
        }
        IntTernary::ExtractBits { signed } => {
            let (at, length) = (known(&b[..4])? & 0xff, known(&c[..4])? & 0xff);
            let (at, length) = (on_bytes::byte_count(at)?, on_bytes::byte_count(length)?);
            let mut out = on_bytes::shift_right(a, at as u64 * 8, size, false)?;
            let end = length.min(size);
            let fits = at + length <= size;
            let top = match signed && length > 0 {
                true if fits => on_bytes::sign(out[end - 1])?,
                true => return None,
                false => Byte::Known(0),
            };
            out[end..].fill(top);
            Some(out)
        }
        _ => None,
    }
}

/// Changes signs of floats: `x ^ 0x80000000` is −x and `x & 0x7fffffff` is |x|, in each float of a pack.
fn signs(context: &mut Context<'_, '_>, op: &Op, operands: &[Bytes]) -> Option<Bytes> {
    let Op::IntBinary { op, width, .. } = op else { return None };
    let size = width.bytes() as usize;
    let (value, mask) = match (known(&operands[0][..size]), known(&operands[1][..size])) {
        (None, Some(mask)) => (&operands[0], number(mask)),
        (Some(mask), None) => (&operands[1], number(mask)),
        _ => return None,
    };
    let mut out = ZERO;
    let mut at = 0;
    while at < size {
        let Byte::Of { sort, index: 0, .. } = value[at] else { return None };
        let format = sort.format()?;
        let end = at + sort.bytes();
        let (part, bits) = (value.get(at..end)?, known(&mask[at..end])?);
        let Content::Value(float) = content(part, sort) else { return None };
        let width = format.width();
        let sign = 1 << (width.bits() - 1);
        let unary = match op {
            IntBinary::Xor if bits == sign => Some(Unary::Negate),
            IntBinary::And if bits == sign - 1 => Some(Unary::Abs),
            IntBinary::Xor if bits == 0 => None,
            IntBinary::And if bits == width.mask() => None,
            _ => return None,
        };
        let result = match unary {
            Some(unary) => apply(context, unary, float)?,
            None => float,
        };
        for (position, byte) in out[at..end].iter_mut().enumerate() {
            *byte = Byte::Of { value: result, sort, index: position as u8 };
        }
        at = end;
    }
    Some(out)
}

/// Computes `x << 23` of a single, if the domain supports it.
fn power_of_exponent(context: &mut Context<'_, '_>, op: &Op, operands: &[Bytes]) -> Option<Bytes> {
    let Op::IntBinary { op: IntBinary::Shl, width: Width::B32, .. } = op else { return None };
    let Byte::Of { sort, index: 0, .. } = operands[0][0] else { return None };
    let single = sort.format() == Some(ir::Format::F32);
    if !single || known(&operands[1][..4])? != 23 {
        return None;
    }
    let Content::Value(float) = content(&operands[0][..4], sort) else { return None };
    let value = context.valued.as_mut()?.domain.power_of_exponent(float)?;
    let mut out = ZERO;
    for (position, byte) in out[..4].iter_mut().enumerate() {
        *byte = Byte::Of { value, sort, index: position as u8 };
    }
    Some(out)
}

/// Applies an operation of the domain in one lane.
fn apply(context: &mut Context<'_, '_>, op: Unary, value: u32) -> Option<u32> {
    let valued = context.valued.as_mut()?;
    let mut out = [0; WARP];
    valued.domain.unary(op, &[value; WARP], Mask(1), &mut out);
    Handle(out[0]).is_value().then_some(out[0])
}

/// Distributes an operation over a choice between two numbers. Returns the words of the choice between its results.
fn distributed(
    context: &mut Context<'_, '_>,
    op: &Op,
    sources: &[Source],
    lane: usize,
) -> Option<u64> {
    let valued = context.valued.as_mut()?;
    let width = match op {
        Op::Resize { from: width, .. }
        | Op::IntBinary { width, .. }
        | Op::IntUnary { width, .. } => *width,
        _ => return None,
    };
    let mut condition = None;
    let mut operands = [Vec::new(), Vec::new()];
    for (values, tags) in sources {
        if tags.is_number_in(Mask(1 << lane)) {
            operands.iter_mut().for_each(|list| list.push(values[lane]));
            continue;
        }
        // The bits of a pointer are no words of units.
        if !tags.unknown.has(lane) {
            return None;
        }
        let (found, numbers) = truth::bits_of_choice(&valued.store.units, values[lane], width)?;
        if condition.is_some_and(|known| known != found) {
            return None;
        }
        condition = Some(found);
        operands.iter_mut().zip(numbers).for_each(|(list, number)| list.push(number));
    }
    let condition = condition?;
    let result = |operands: &[u64]| match op {
        Op::Resize { dst, from, signed, .. } => {
            let to = context.layout.width(*dst);
            Some(concrete::resize(*from, *signed, to, operands[0] & from.mask()))
        }
        Op::IntBinary { op, width, .. }
            if !matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. }) =>
        {
            let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
            let second = if shifts { Width::B32 } else { *width };
            let (a, b) = (operands[0] & width.mask(), operands[1] & second.mask());
            Some(concrete::int_binary(*op, *width, a, b))
        }
        Op::IntUnary { op, width, .. } => {
            Some(concrete::int_unary(*op, *width, operands[0] & width.mask()))
        }
        _ => None,
    };
    let (a, b) = (result(&operands[0])?, result(&operands[1])?);
    let units = &mut valued.store.units;
    let mut half = |shift: u32| {
        let [a, b] = [a, b].map(|value| units.bits((value >> shift) as u32));
        if a == b { a } else { units.push(Unit::Choice { condition, if_true: a, if_false: b }) }
    };
    Some(u64::from(half(0)) | u64::from(half(32)) << 32)
}
