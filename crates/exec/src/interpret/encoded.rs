//! Tracks shared addresses in numbers that are made of their bits ([`crate::encoded`]).
//!
//! Instructions execute as usual and make such lanes unknown. Then lanes with a known encoded address are rewritten: to
//! a pointer if the whole address is there, to a number if nothing of it is left, and otherwise to the same unknown
//! lane with a note of its encoding. Only matrix descriptors and addresses use these notes.
//!
//! If an operation needs more alignment than dynamic shared memory declares, the memory is assumed to begin where an
//! H200 puts it: after the kernel's static variables, modulo at most 1024 bytes ([`crate::packing`]). The report lists
//! that as assumed, as well as the equality of a generic address and its shared address in the bits below 2^24.

mod warp;

pub(super) use warp::{differs, shuffled, uniform};

use super::pointer::alignment;
use crate::address::{Area, Pointer, window as window_of};
use crate::context::Context;
use crate::encoded::{Above, Encoded, VariablePlacement};
use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::Tags;
use ir::{IntBinary, IntTernary, IntUnary, Op, Operand, Reg, Space, Width};
use smallvec::SmallVec;

/// Largest assumed alignment of dynamic shared memory, as a power of two.
pub(super) const MAX_ALIGN_BITS: u32 = 10;

/// A lane of an operand.
#[derive(Clone, Copy)]
enum LaneOperand {
    Number(u64),
    Address(Encoded),
    Other,
}

/// Encoded addresses that result from an instruction.
pub(super) type Results = SmallVec<[EncodedResult; 1]>;
/// Operands of an instruction, or their parts in a lane.
type Few<T> = SmallVec<[T; 4]>;

/// An encoded address that results from an instruction, in lanes of a register.
pub(super) struct EncodedResult {
    dst: Reg,
    lanes: Mask,
    encoded: Encoded,
    /// The alignment of dynamic shared memory that the result assumes.
    align: u32,
    /// Set if the result assumes that the shared window begins at a multiple of 2^24.
    window: bool,
}

/// Returns the encoded addresses that will result from an instruction. Called before its execution.
#[inline]
pub(super) fn results(context: &Context<'_, '_>, op: &Op) -> Results {
    let sums = match op {
        Op::Copy { .. } | Op::Select { .. } | Op::ConvertAddress { .. } => true,
        Op::IntBinary { op: IntBinary::Add | IntBinary::Sub, .. } => true,
        Op::Concat { .. } | Op::Split { .. } | Op::Resize { .. } | Op::InsertBits { .. } => false,
        Op::IntUnary { op: IntUnary::Not, .. } => false,
        Op::IntBinary {
            op:
                IntBinary::And
                | IntBinary::Or
                | IntBinary::Xor
                | IntBinary::Shl
                | IntBinary::Shr { .. }
                | IntBinary::Mul
                | IntBinary::MulWide { .. },
            ..
        } => false,
        Op::IntTernary {
            op: IntTernary::ExtractBits { .. } | IntTernary::Logic { .. }, ..
        } => false,
        _ => return Results::new(),
    };
    if sums && !context.registers.has_encoded() {
        return Results::new();
    }
    track_addresses(context, op, sums)
}

/// Like [`results`], for an operation that may involve addresses.
fn track_addresses(context: &Context<'_, '_>, op: &Op, sums: bool) -> Results {
    let mut operands: Few<Operand> = Few::new();
    let mut concerned = false;
    op.visit(&mut |access| {
        let ir::Access::Read(operand) = access else { return };
        if let Operand::Register(register) = operand {
            let pointers = !sums && !context.registers.tags(register).pointer.is_empty();
            concerned |= pointers || context.registers.may_be_encoded(register);
        }
        operands.push(operand);
    });
    let mut found = Results::new();
    if !concerned {
        return found;
    }
    let same: Option<Few<LaneOperand>> =
        operands.iter().map(|&one| common_operand(context, one)).collect();
    if let Some(parts) = same {
        add_results(context, op, parts, context.lanes, &mut found);
        return found;
    }
    for lane in context.lanes.iter() {
        let parts = operands.iter().map(|&one| lane_operand(context, one, lane)).collect();
        add_results(context, op, parts, Mask::one(lane), &mut found);
    }
    found
}

/// Adds the results of an operation in lanes with the same operands.
fn add_results(
    context: &Context<'_, '_>,
    op: &Op,
    mut parts: Few<LaneOperand>,
    lanes: Mask,
    found: &mut Results,
) {
    let address = |whole: bool| {
        parts.iter().find_map(|part| match part {
            LaneOperand::Address(one) if !whole || one.constant().is_none() => Some(one.variable),
            _ => None,
        })
    };
    let Some(variable) = address(true).or_else(|| address(false)) else { return };
    let Some(placement) = placement_of(context, variable) else { return };
    // An operation on two variables is not tracked.
    for part in &mut parts {
        if matches!(part, LaneOperand::Address(one) if one.variable != variable) {
            *part = LaneOperand::Other;
        }
    }
    let generic = |part: &LaneOperand| matches!(part, LaneOperand::Address(one) if one.above() == Above::Window);
    let generic = parts.iter().any(generic) && !matches!(op, Op::ConvertAddress { .. });
    evaluate(context, op, &parts, placement, &mut |dst, encoded, align| {
        let window = generic && encoded.above() != Above::Window;
        found.push(EncodedResult { dst, lanes, encoded, align, window });
    });
}

/// Returns an operand that is the same in all lanes; may miss encoded addresses that are.
fn common_operand(context: &Context<'_, '_>, operand: Operand) -> Option<LaneOperand> {
    let Operand::Register(register) = operand else {
        return Some(lane_operand(context, operand, 0));
    };
    if let Some(encoded) = context.registers.encoded_in_all(register, context.lanes) {
        return Some(LaneOperand::Address(encoded));
    }
    let tags = context.registers.tags(register);
    let plain = tags.is_number_in(context.lanes) || context.lanes.without(tags.pointer).is_empty();
    let first = context.lanes.lowest().filter(|_| plain)?;
    let same = context.registers.is_uniform(context.layout, register) || {
        let width = context.layout.width(register).min(Width::B64);
        let bits = |lane| context.registers.lane(context.layout, operand, width, lane);
        context.lanes.iter().all(|lane| bits(lane) == bits(first))
    };
    same.then(|| lane_operand(context, operand, first))
}

/// Returns the known facts about the placement of a shared variable.
pub(super) fn placement_of(
    context: &Context<'_, '_>,
    variable: usize,
) -> Option<VariablePlacement> {
    let memory = context.shared.get(variable)?;
    let pointer = Pointer { area: Area::Shared(variable), offset: 0 };
    let align_bits = alignment(context, pointer).trailing_zeros();
    let first = memory.lead;
    Some(VariablePlacement { align_bits, first, size: first + memory.bytes.len() as u64 })
}

/// Reads a lane of an operand; shared addresses as encoded ones.
fn lane_operand(context: &Context<'_, '_>, operand: Operand, lane: usize) -> LaneOperand {
    let register = match operand {
        Operand::Constant(bits) => return LaneOperand::Number(bits),
        Operand::Register(register) => register,
    };
    let (registers, layout) = (&context.registers, context.layout);
    let tags = registers.tags(register);
    let width = layout.width(register);
    if tags.is_number_in(Mask::one(lane)) {
        return LaneOperand::Number(registers.lane(layout, operand, width.min(Width::B64), lane));
    }
    if let Some(encoded) = registers.encoded_in(register, lane) {
        return LaneOperand::Address(encoded);
    }
    let bits = registers.lane(layout, operand, width.min(Width::B64), lane);
    let windowed = tags.pointer.has(lane) && matches!(width, Width::B32 | Width::B64);
    let (space, above) = match bits >> 32 {
        0 if context.machine.blocks == 1 => (Space::Shared, Above::Zero),
        0 => (Space::Shared, Above::Rank),
        _ => (Space::Generic, Above::Window),
    };
    let pointer = if windowed { Pointer::decode(bits, space) } else { None };
    let encoded = pointer.and_then(|pointer| {
        let Area::Shared(variable) = pointer.area else { return None };
        let (is_own_block, placement) =
            (context.other_block(pointer.area).is_none(), placement_of(context, variable)?);
        let offset = pointer.offset.checked_add_unsigned(placement.first)?;
        Encoded::address(variable, offset, placement, above).filter(|_| is_own_block)
    });
    encoded.map_or(LaneOperand::Other, LaneOperand::Address)
}

/// Passes the results of an operation in one lane to `found`.
fn evaluate(
    context: &Context<'_, '_>,
    op: &Op,
    parts: &[LaneOperand],
    placement: VariablePlacement,
    found: &mut dyn FnMut(Reg, Encoded, u32),
) {
    if let Op::Split { dsts, .. } = op {
        let [LaneOperand::Address(whole)] = parts else { return };
        for (position, dst) in dsts.iter().enumerate() {
            let Some(dst) = *dst else { continue };
            let bits = context.layout.width(dst).bits();
            let whole_bits = bits * dsts.len() as u32;
            let at = u64::from(bits) * position as u64;
            let part = whole.shift_right(at, false, whole_bits.min(64));
            if let Some(part) = part.and_then(|part| part.resize(whole_bits.min(64), false, bits)) {
                found(dst, part, 0);
            }
        }
        return;
    }
    let dst = match op {
        Op::Copy { dst, .. }
        | Op::Select { dst, .. }
        | Op::Concat { dst, .. }
        | Op::Resize { dst, .. }
        | Op::ConvertAddress { dst, .. }
        | Op::IntUnary { dst, .. }
        | Op::IntBinary { dst, .. }
        | Op::IntTernary { dst, .. }
        | Op::InsertBits { dst, .. } => *dst,
        _ => return,
    };
    let to = context.layout.width(dst).bits();
    if let Op::ConvertAddress { space, to_generic, .. } = op {
        let ([LaneOperand::Address(whole)], Space::Shared) = (parts, space) else { return };
        let converted = whole.cvta(*to_generic, context.machine.blocks == 1);
        return converted.into_iter().for_each(|result| found(dst, result, 0));
    }
    if let Some(result) = result_of(op, parts, to, placement) {
        return found(dst, result, 0);
    }
    let Some(variable) = parts.iter().find_map(|part| match part {
        LaneOperand::Address(encoded) => Some(encoded.variable),
        _ => None,
    }) else {
        return;
    };
    if context.machine.is_placed(variable) {
        for align_bits in placement.align_bits + 1..=MAX_ALIGN_BITS {
            if let Some(result) =
                result_of(op, parts, to, VariablePlacement { align_bits, ..placement })
            {
                return found(dst, result, 1 << align_bits);
            }
        }
    }
}

/// Returns the encoded result of an operation; `None` if it has none.
fn result_of(
    op: &Op,
    parts: &[LaneOperand],
    to: u32,
    placement: VariablePlacement,
) -> Option<Encoded> {
    match (op, parts) {
        (Op::Copy { .. }, [LaneOperand::Address(a)]) => a.resize(64, false, to),
        (Op::Select { .. }, [LaneOperand::Number(condition), a, b]) => {
            match if condition & 1 == 1 { a } else { b } {
                LaneOperand::Address(chosen) => chosen.resize(64, false, to),
                _ => None,
            }
        }
        (Op::Concat { .. }, parts) => concat(parts, to, placement),
        (Op::Resize { from, signed, .. }, [LaneOperand::Address(a)]) => {
            a.resize(from.bits(), *signed, to)
        }
        (Op::IntUnary { width, .. }, [LaneOperand::Address(a)]) => {
            a.bitwise(u64::MAX, u64::MAX, width.bits(), placement)
        }
        (Op::IntBinary { op, width, .. }, [a, b]) => binary(*op, *width, (*a, *b), placement),
        (Op::IntTernary { op, width, .. }, parts) => ternary(*op, *width, parts, placement),
        (
            Op::InsertBits { width, .. },
            [insert, base, LaneOperand::Number(position), LaneOperand::Number(length)],
        ) => inserted(width.bits(), (*insert, *base), (position & 0xff, length & 0xff), placement),
        _ => None,
    }
}

/// Returns the number in a part, including an address with no bits left.
fn number(part: LaneOperand) -> Option<u64> {
    match part {
        LaneOperand::Number(bits) => Some(bits),
        LaneOperand::Address(encoded) => encoded.constant(),
        LaneOperand::Other => None,
    }
}

/// Returns an address and a number, in either order.
fn address_and_number(a: LaneOperand, b: LaneOperand) -> Option<(Encoded, u64)> {
    match (a, b) {
        (LaneOperand::Address(address), other) if number(other).is_some() => {
            Some((address, number(other)?))
        }
        (other, LaneOperand::Address(address)) => Some((address, number(other)?)),
        _ => None,
    }
}

fn binary(
    op: IntBinary,
    width: Width,
    (a, b): (LaneOperand, LaneOperand),
    placement: VariablePlacement,
) -> Option<Encoded> {
    let bits = width.bits();
    match op {
        IntBinary::Sub => {
            let (LaneOperand::Address(a), b) = (a, number(b)?) else { return None };
            a.add(b.wrapping_neg(), bits, placement)
        }
        IntBinary::Shl => {
            let (LaneOperand::Address(a), amount) = (a, number(b)?) else { return None };
            a.shift_left(amount & 0xffff_ffff, bits)
        }
        IntBinary::Shr { signed } => {
            let (LaneOperand::Address(a), amount) = (a, number(b)?) else { return None };
            a.shift_right(amount & 0xffff_ffff, signed, bits)
        }
        _ => {
            let (address, number) = address_and_number(a, b)?;
            let number = number & width.mask();
            let power = || number.is_power_of_two().then(|| u64::from(number.ilog2()));
            match op {
                IntBinary::Add => address.add(number, bits, placement),
                IntBinary::And => address.bitwise(number, 0, bits, placement),
                IntBinary::Or => address.bitwise(!number, number, bits, placement),
                IntBinary::Xor => address.bitwise(u64::MAX, number, bits, placement),
                IntBinary::Mul => address.shift_left(power()?, bits),
                IntBinary::MulWide { signed: false } => {
                    let wide = address.resize(bits, false, 2 * bits)?;
                    wide.shift_left(power()?, (2 * bits).min(64))
                }
                _ => None,
            }
        }
    }
}

fn ternary(
    op: IntTernary,
    width: Width,
    parts: &[LaneOperand],
    placement: VariablePlacement,
) -> Option<Encoded> {
    let bits = width.bits();
    match (op, parts) {
        (IntTernary::ExtractBits { signed: false }, [LaneOperand::Address(a), first, length]) => {
            let (first, length) = (number(*first)? & 0xff, number(*length)? & 0xff);
            let length = length.min(bits.into()) as u32;
            let kept = if length == 64 { u64::MAX } else { (1 << length) - 1 };
            a.shift_right(first, false, bits)?.bitwise(kept, 0, bits, placement)
        }
        (IntTernary::Logic { table }, [a, b, c]) => {
            let each = [*a, *b, *c];
            let mut addresses = each.iter().enumerate().filter(|(_, one)| number(**one).is_none());
            let (place, LaneOperand::Address(address)) = addresses.next()? else { return None };
            if addresses.next().is_some() {
                return None;
            }
            let fixed = each.map(|one| number(one).unwrap_or(0));
            let with = |bit: u64| {
                let mut operands = fixed;
                operands[place] = bit;
                let [x, y, z] = operands;
                (0..8u32).filter(|index| table >> index & 1 == 1).fold(0, |all, index| {
                    let pick = |bits: u64, at: u32| if index >> at & 1 == 1 { bits } else { !bits };
                    all | pick(x, 2) & pick(y, 1) & pick(z, 0)
                })
            };
            let (zeros, ones) = (with(0), with(u64::MAX));
            address.bitwise(zeros ^ ones, zeros, bits, placement)
        }
        _ => None,
    }
}

/// Executes `mov c, {a, b}` with an address in one part.
fn concat(parts: &[LaneOperand], to: u32, placement: VariablePlacement) -> Option<Encoded> {
    let bits = to / parts.len() as u32;
    if to > 64 {
        return None;
    }
    let (mut address, mut numbers) = (None, 0);
    for (position, &part) in parts.iter().enumerate() {
        let at = u64::from(bits) * position as u64;
        match (number(part), part) {
            (Some(number), _) => numbers |= (number & ((1 << bits) - 1)) << at,
            (None, LaneOperand::Address(one)) if address.is_none() => address = Some((one, at)),
            _ => return None,
        }
    }
    let (one, at) = match (address, parts.first()) {
        (Some(found), _) => found,
        // Constants left over from addresses.
        (None, _) => {
            let left = parts.iter().find_map(|part| match part {
                LaneOperand::Address(one) => Some(*one),
                _ => None,
            })?;
            return left.bitwise(0, numbers, to, placement);
        }
    };
    let shifted = one.resize(64, false, bits)?.shift_left(at, to)?;
    shifted.bitwise(!numbers, numbers, to, placement)
}

/// Executes `bfi`.
fn inserted(
    bits: u32,
    (insert, base): (LaneOperand, LaneOperand),
    (first, length): (u64, u64),
    placement: VariablePlacement,
) -> Option<Encoded> {
    let length = length.min(u64::from(bits).saturating_sub(first));
    let ones = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
    if length == 0 {
        return None;
    }
    match (insert, base) {
        (LaneOperand::Address(insert), base) if number(base).is_some() => {
            let placed = insert.bitwise(ones, 0, bits, placement)?.shift_left(first, bits)?;
            let others = number(base)? & !(ones << first);
            placed.bitwise(!others, others, bits, placement)
        }
        (insert, LaneOperand::Address(base)) => {
            let placed = (number(insert)? & ones) << first;
            base.bitwise(!(ones << first), placed, bits, placement)
        }
        _ => None,
    }
}

/// Writes results into lanes that the instruction left unknown.
#[cold]
pub(super) fn write(context: &mut Context<'_, '_>, results: &[EncodedResult]) {
    for &EncodedResult { dst, lanes, encoded, align: assumed, window } in results {
        let lanes = lanes.and(context.registers.tags(dst).unknown);
        let Some(placement) = placement_of(context, encoded.variable).filter(|_| !lanes.is_empty())
        else {
            continue;
        };
        context.report.shared_window |= window;
        let width = context.layout.width(dst);
        let address = match encoded.as_address(placement) {
            Some((offset, None)) => Some((offset, assumed)),
            Some((offset, Some(align_bits)))
                if align_bits <= MAX_ALIGN_BITS && context.machine.is_placed(encoded.variable) =>
            {
                Some((offset, assumed.max(1 << align_bits)))
            }
            _ => None,
        };
        // A pointer of a cluster may include a rank; only the encoded address shows that the rank is gone.
        let (is_pointer, base) = match encoded.above() {
            Above::Zero => (context.machine.blocks == 1 && width >= Width::B32, 0),
            Above::Rank => (width >= Width::B32, 0),
            Above::Window => (width == Width::B64, window_of(Space::Shared)),
            Above::Lost => (false, 0),
        };
        let (bits, tags, needed) = match (encoded.constant(), address.filter(|_| is_pointer)) {
            (Some(number), _) => (number, Tags::NUMBER, assumed),
            (None, Some((offset, needed))) => {
                let area = Area::Shared(encoded.variable);
                let pointer = Pointer { area, offset: (offset - placement.first).cast_signed() };
                (pointer.address().wrapping_add(base), Tags::pointer(lanes), needed)
            }
            _ => {
                context.registers.set_encoded(dst, lanes, encoded);
                assume_alignment(context, assumed);
                continue;
            }
        };
        assume_alignment(context, needed);
        let values: Lanes = [bits & width.mask(); WARP];
        context.registers.write(context.layout, dst, &values, tags, lanes);
    }
}

/// Records an assumed alignment of dynamic shared memory.
pub(super) fn assume_alignment(context: &mut Context<'_, '_>, align: u32) {
    context.report.shared_alignment = context.report.shared_alignment.max(align);
}
