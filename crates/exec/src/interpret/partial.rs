//! Values of which some bytes are undefined: `{half, unwritten}` in a register, or a word of memory of which
//! one half was written.
//!
//! Instructions execute as usual and make such lanes poison. Then lanes of which more is known are rewritten: moves
//! of bytes keep track of the undefined ones, and operations on packs are computed in the halves that are defined
//! in all operands. A lane without an undefined byte is an ordinary one again. Any other operation leaves poison.

use super::access::{allocation, param, set_tags_of, word_of};
use super::symbolic;
use crate::address::Area;
use crate::context::Context;
use crate::finding::Origin;
use crate::lanes::Mask;
use crate::memory::{Allocation, Word, state};
use crate::tags::Tags;
use crate::value::Valued;
use crate::value::bytes::{Bytes, ZERO};
use crate::value::reason;
use crate::value::unit::{Byte, known};
use ir::{IntBinary, IntTernary, IntUnary, Load, Op, Operand, Reg, Width};
use std::ops::Range;

/// An untracked byte of a run without a domain: data.
const DATA: Byte = Byte::Opaque(0);
/// The same, not determined by the launch and its inputs.
const SCHEDULE_DEPENDENT: Byte = Byte::Opaque(1);

/// More precise results of an instruction than its tags can express.
pub(super) struct Prepared {
    /// Bytes of lanes.
    moved: Vec<(Reg, usize, Bytes)>,
    /// Set for an operation on packs.
    packed: Option<Packed>,
}

/// An operation on packs, of which some operands have zeros in place of undefined numbers.
struct Packed {
    dst: Reg,
    /// Lanes with the bytes of the result that are undefined.
    lanes: Vec<(usize, [bool; 8])>,
    /// The replaced operands.
    operands: Vec<(Reg, usize, Bytes, Tags)>,
}

/// Prepares the results of an instruction before its execution, if they or an operand may be partly undefined.
#[inline]
pub(super) fn prepare(context: &mut Context<'_, '_>, op: &Op) -> Option<Prepared> {
    match op {
        Op::Concat { dst, parts } => {
            let poison = |part: &Operand| {
                !context.registers.operand_tags(*part).poison.and(context.lanes).is_empty()
            };
            let concerned = parts.iter().any(poison) && context.layout.width(*dst) <= Width::B64;
            concerned.then(|| moves(context, op))
        }
        // Some bytes of the result may come from a defined operand, or be zeros, although another operand is poison.
        Op::Resize { dst, .. }
        | Op::IntBinary { dst, .. }
        | Op::IntTernary { dst, .. }
        | Op::InsertBits { dst, .. } => {
            let in_bytes = !matches!(context.layout.width(*dst), Width::B1 | Width::B128);
            (in_bytes && has_poison(context, op)).then(|| moves(context, op))
        }
        _ if !context.registers.has_partial() => None,
        Op::Copy { dst, .. } | Op::Select { dst, .. }
            if !matches!(context.layout.width(*dst), Width::B1 | Width::B128) =>
        {
            concerns(context, op).then(|| moves(context, op))
        }
        Op::Split { .. } | Op::IntUnary { op: IntUnary::Not, .. } => {
            concerns(context, op).then(|| moves(context, op))
        }
        Op::FloatUnary { format, lanes: 2, dst, .. }
        | Op::FloatBinary { format, lanes: 2, dst, .. }
        | Op::Fma { format, lanes: 2, dst, .. }
            if concerns(context, op) =>
        {
            let size = format.width().bytes() as usize;
            let packed = fill_undefined(context, op, *dst, size);
            Some(Prepared { moved: Vec::new(), packed: Some(packed) })
        }
        _ => None,
    }
}

/// Returns `true` if an operand is undefined in a lane that executes, as a whole or in part.
#[inline]
fn has_poison(context: &Context<'_, '_>, op: &Op) -> bool {
    let mut poison = Mask::NONE;
    op.visit(&mut |access| {
        if let ir::Access::Read(operand) = access {
            poison = poison.or(context.registers.operand_tags(operand).poison);
        }
    });
    !poison.and(context.lanes).is_empty()
}

/// Returns `true` if an operand may be partly undefined.
fn concerns(context: &Context<'_, '_>, op: &Op) -> bool {
    operands(op).iter().any(|operand| match operand {
        Operand::Register(register) => context.registers.may_be_partial(*register),
        Operand::Constant(_) => false,
    })
}

fn operands(op: &Op) -> Vec<Operand> {
    let mut operands = Vec::new();
    op.visit(&mut |access| {
        if let ir::Access::Read(operand) = access {
            operands.push(operand);
        }
    });
    operands
}

/// The results of a move of bytes.
fn moves(context: &mut Context<'_, '_>, op: &Op) -> Prepared {
    let operands = operands(op);
    let mut poison = Mask::NONE;
    for &operand in &operands {
        poison = poison.or(context.registers.operand_tags(operand).poison);
    }
    let mut results = Vec::new();
    for lane in poison.and(context.lanes).iter() {
        let mut bytes = Vec::new();
        operands.iter().for_each(|&operand| bytes.push(operand_bytes(context, operand, lane)));
        result(context, op, &bytes, &mut |dst, bytes| results.push((dst, lane, bytes)));
    }
    Prepared { moved: results, packed: None }
}

/// Passes the bytes of an operation's results to `found`.
fn result(
    context: &mut Context<'_, '_>,
    op: &Op,
    operands: &[Bytes],
    found: &mut dyn FnMut(Reg, Bytes),
) {
    match op {
        Op::Copy { dst, .. } => found(*dst, zero_above_width(context, *dst, operands[0])),
        Op::Select { dst, .. } => {
            if let Byte::Known(bits) = operands[0][0] {
                let chosen = operands[if bits & 1 == 1 { 1 } else { 2 }];
                found(*dst, zero_above_width(context, *dst, chosen));
            }
        }
        Op::Concat { dst, parts } => {
            let size = context.layout.width(*dst).bytes() as usize / parts.len();
            let mut out = ZERO;
            for (position, part) in operands.iter().enumerate() {
                out[position * size..][..size].copy_from_slice(&part[..size]);
            }
            found(*dst, out);
        }
        Op::Split { dsts, .. } => {
            for (position, dst) in dsts.iter().enumerate() {
                let Some(dst) = *dst else { continue };
                let size = context.layout.width(dst).bytes() as usize;
                let mut out = ZERO;
                if let Some(part) = operands[0].get(position * size..(position + 1) * size) {
                    out[..size].copy_from_slice(part);
                    found(dst, out);
                }
            }
        }
        Op::Resize { dst, .. }
        | Op::IntUnary { dst, .. }
        | Op::IntBinary { dst, .. }
        | Op::IntTernary { dst, .. }
        | Op::InsertBits { dst, .. } => {
            let to = context.layout.width(*dst).bytes() as usize;
            let bytes =
                symbolic::moved(op, operands, to).or_else(|| bitwise(context, op, operands));
            if let Some(bytes) = bytes {
                found(*dst, zero_above_width(context, *dst, bytes));
            }
        }
        _ => {}
    }
}

/// Sets the bytes above the width of a register to zero.
fn zero_above_width(context: &Context<'_, '_>, dst: Reg, mut bytes: Bytes) -> Bytes {
    let size = context.layout.width(dst).bytes() as usize;
    bytes[size.min(8)..].fill(Byte::Known(0));
    bytes
}

/// Applies a boolean function to each byte. A result that is not simply a byte of an operand is undefined if one of
/// the operands' bytes is, and untracked otherwise.
fn bitwise(context: &mut Context<'_, '_>, op: &Op, operands: &[Bytes]) -> Option<Bytes> {
    let size = match op {
        Op::IntBinary { op: IntBinary::And | IntBinary::Or | IntBinary::Xor, width, .. }
        | Op::IntTernary { op: IntTernary::Logic { .. }, width, .. } => width.bytes() as usize,
        _ => return None,
    };
    let mut out = ZERO;
    for at in 0..size {
        let mut single = [ZERO; 3];
        for (single, operand) in single.iter_mut().zip(operands) {
            single[0] = operand[at];
        }
        let bytes: Vec<Byte> = operands.iter().map(|operand| operand[at]).collect();
        // Apply the operation to this byte alone, with zeros above it.
        if let Some(moved) = symbolic::moved(op, &single[..operands.len()], 8) {
            out[at] = moved[0];
        } else if bytes.contains(&Byte::Undefined) {
            out[at] = Byte::Undefined;
        } else {
            out[at] = untracked_byte(context, &bytes);
        }
    }
    Some(out)
}

/// A byte computed from others, none of them undefined.
fn untracked_byte(context: &mut Context<'_, '_>, bytes: &[Byte]) -> Byte {
    let place = context.place;
    match &mut context.valued {
        Some(valued) => {
            let mut all = ZERO;
            all[..bytes.len()].copy_from_slice(bytes);
            let schedule_dependent = valued.store.word(&all).1 == Word::ScheduleDependent;
            let reason = if schedule_dependent { reason::SCHEDULE } else { reason::BITS };
            Byte::Opaque(valued.store.units.opaque(Some(place), reason))
        }
        None if bytes.contains(&SCHEDULE_DEPENDENT) => SCHEDULE_DEPENDENT,
        None => DATA,
    }
}

/// Replaces undefined numbers in the operands of an operation on packs by zeros.
fn fill_undefined(context: &mut Context<'_, '_>, op: &Op, dst: Reg, size: usize) -> Packed {
    let mut packed = Packed { dst, lanes: Vec::new(), operands: Vec::new() };
    let operands = operands(op);
    for lane in context.lanes.iter() {
        let mut undefined = [false; 8];
        let mut partial: Vec<(Reg, Bytes)> = Vec::new();
        for &operand in &operands {
            let Operand::Register(register) = operand else { continue };
            if !context.registers.tags(register).poison.has(lane) {
                continue;
            }
            let bytes = operand_bytes(context, operand, lane);
            for half in 0..2 {
                let half = half * size..(half + 1) * size;
                if bytes[half.clone()].contains(&Byte::Undefined) {
                    undefined[half].fill(true);
                }
            }
            if !partial.iter().any(|(known, _)| *known == register) {
                partial.push((register, bytes));
            }
        }
        if partial.is_empty() || undefined[..2 * size] == [true; 8][..2 * size] {
            continue;
        }
        packed.lanes.push((lane, undefined));
        for (register, bytes) in partial {
            packed.operands.push((register, lane, bytes, context.registers.tags(register)));
            let filled = bytes.map(|byte| match byte {
                Byte::Undefined => Byte::Known(0),
                byte => byte,
            });
            write(context, register, lane, &filled, Tags::NUMBER);
        }
    }
    packed
}

impl Prepared {
    /// Rewrites the results after the execution.
    pub(super) fn finish(self, context: &mut Context<'_, '_>) {
        for (dst, lane, bytes) in &self.moved {
            let before = context.registers.tags(*dst);
            write(context, *dst, *lane, bytes, before);
        }
        let Some(packed) = self.packed else { return };
        let origin = packed.operands.first().map(|(.., tags)| *tags).unwrap_or_default();
        for (register, lane, bytes, tags) in &packed.operands {
            if *register != packed.dst {
                write(context, *register, *lane, bytes, *tags);
            }
        }
        for (lane, undefined) in &packed.lanes {
            let mut bytes = operand_bytes(context, packed.dst.into(), *lane);
            for (byte, undefined) in bytes.iter_mut().zip(undefined) {
                if *undefined {
                    *byte = Byte::Undefined;
                }
            }
            write(context, packed.dst, *lane, &bytes, origin);
        }
    }
}

/// Writes a lane of a register; `tags` have the origin of what is undefined in it.
fn write(context: &mut Context<'_, '_>, dst: Reg, lane: usize, bytes: &Bytes, tags: Tags) {
    let undefined = bytes.contains(&Byte::Undefined);
    let (value, word) = match undefined {
        true => (0, Word::Poison),
        false => word(context, bytes),
    };
    let mut new = Tags::NUMBER;
    set_tags_of(&mut new, lane, word, context.place, false);
    if undefined {
        new.undefined = tags.undefined.or(Some(Origin::Register));
    }
    let layout = context.layout;
    context.registers.write_lanes(layout, dst, new, Mask::one(lane), |_| value);
    let size = (layout.width(dst).bytes() as usize).min(8);
    if undefined && bytes[..size].iter().any(|byte| *byte != Byte::Undefined) {
        context.registers.set_partial(dst, lane, *bytes);
    }
}

/// Assembles bytes, none of them undefined, to a word of a register.
fn word(context: &mut Context<'_, '_>, bytes: &Bytes) -> (u64, Word) {
    match &mut context.valued {
        Some(valued) => valued.store.word(bytes),
        None => match known(bytes) {
            Some(number) => (number, Word::Number),
            None if bytes.contains(&SCHEDULE_DEPENDENT) => (0, Word::ScheduleDependent),
            None => (0, Word::Unknown),
        },
    }
}

/// The bytes of an operand in a lane, with zeros above its width.
fn operand_bytes(context: &mut Context<'_, '_>, operand: Operand, lane: usize) -> Bytes {
    let register = match operand {
        Operand::Constant(bits) => return bits.to_le_bytes().map(Byte::Known),
        Operand::Register(register) => register,
    };
    if let Some(bytes) = context.registers.partial_in(register, lane) {
        return bytes;
    }
    let layout = context.layout;
    let width = layout.width(register).min(Width::B64);
    let value = context.registers.lane(layout, operand, width, lane);
    let word = word_of(context.registers.tags(register), lane);
    let mut bytes = match (&mut context.valued, word) {
        (_, Word::Number) => value.to_le_bytes().map(Byte::Known),
        (_, Word::Poison) => [Byte::Undefined; 8],
        (None, Word::Unknown) => [DATA; 8],
        (None, Word::ScheduleDependent | Word::Pointer) => [SCHEDULE_DEPENDENT; 8],
        (Some(valued), word) => {
            // Words of units are not cut off.
            let value = context.registers.lane(layout, operand, Width::B64, lane);
            valued.store.bytes(value, word)
        }
    };
    bytes[width.bytes() as usize..].fill(Byte::Known(0));
    bytes
}

/// The bytes of a poison element in memory, extended to the register that it is loaded into, if some of them
/// are defined.
pub(super) fn loaded_bytes(
    context: &mut Context<'_, '_>,
    (area, lane, at): (Area, usize, usize),
    load: &Load,
    dst: Reg,
) -> Option<Bytes> {
    let size = load.width.bytes() as usize;
    if size > 8 || load.signed && context.layout.width(dst) != load.width {
        return None;
    }
    let mut valued = context.valued.take();
    let mut read = |memory: &Allocation| in_memory(&mut valued, memory, at..at + size);
    let found = match param(context, area) {
        Some(memory) => read(memory),
        None => allocation(context, area, lane).and_then(|(memory, ..)| read(memory)),
    };
    context.valued = valued;
    found
}

fn in_memory(
    valued: &mut Option<Valued<'_>>,
    memory: &Allocation,
    range: Range<usize>,
) -> Option<Bytes> {
    let states = memory.states.get(range.clone())?;
    if states.iter().all(|state| *state == state::UNDEFINED) {
        return None;
    }
    let mut bytes = ZERO;
    for (byte, at) in bytes.iter_mut().zip(range) {
        *byte = match (&mut *valued, memory.states[at]) {
            (Some(valued), _) => valued.store.byte(memory, at),
            (None, state::DEFINED) => Byte::Known(memory.bytes[at]),
            (None, state::OPAQUE) => DATA,
            (None, state::UNDEFINED) => Byte::Undefined,
            (None, _) => SCHEDULE_DEPENDENT,
        };
    }
    Some(bytes)
}

/// Records what was loaded into a poison lane, after the load.
pub(super) fn restore_loaded(context: &mut Context<'_, '_>, dst: Reg, lane: usize, bytes: &Bytes) {
    let tags = context.registers.tags(dst);
    if tags.poison.has(lane) {
        write(context, dst, lane, bytes, tags);
    }
}

/// The bytes of a poison operand of a store, if some of them are defined.
pub(super) fn stored_bytes(
    context: &Context<'_, '_>,
    operand: Operand,
    lane: usize,
) -> Option<Bytes> {
    match operand {
        Operand::Register(register) => context.registers.partial_in(register, lane),
        Operand::Constant(_) => None,
    }
}

/// The word of some bytes, if none of them is undefined.
pub(super) fn defined_word(context: &mut Context<'_, '_>, bytes: &[Byte]) -> Option<(u64, Word)> {
    let mut all = ZERO;
    all[..bytes.len()].copy_from_slice(bytes);
    (!all.contains(&Byte::Undefined)).then(|| word(context, &all))
}

/// Writes bytes of a lane, some of them undefined.
pub(super) fn write_memory(
    context: &mut Context<'_, '_>,
    (area, lane): (Area, usize),
    at: usize,
    bytes: &[Byte],
) {
    let mut valued = context.valued.take();
    if let Some((memory, ..)) = allocation(context, area, lane) {
        match &mut valued {
            Some(valued) => valued.store.store_bytes(memory, at, bytes),
            None => {
                for (at, byte) in (at..).zip(bytes) {
                    let (value, word) = match *byte {
                        Byte::Known(bits) => (bits.into(), Word::Number),
                        Byte::Undefined => (0, Word::Poison),
                        SCHEDULE_DEPENDENT => (0, Word::ScheduleDependent),
                        _ => (0, Word::Unknown),
                    };
                    memory.store(at, 1, value, word);
                }
            }
        }
    }
    context.valued = valued;
}
