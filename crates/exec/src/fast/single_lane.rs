//! Fast path for common operations in a warp with one thread, frequent in references: one value instead of
//! 32.
//!
//! All others are left to the code for all warps, which gives the same result where both apply. Bits of lanes
//! without a thread are meaningless, and their tags are those of the thread ([`crate::registers`]).

use super::contiguous::starts::allocation;
use crate::address::{Area, Pointer, keeps_region};
use crate::concrete;
use crate::context::Context;
use crate::finding::AccessKind;
use crate::interpret::symbolic;
use crate::lanes::Mask;
use crate::memory::state;
use crate::tags::{Source, Tags};
use ir::{AddressBase, IntBinary, Load, Op, Operand, Ordering, Reg, Relation, Width};

/// Executes a common operation of the context's only lane. Returns `false` if it declines.
#[inline]
pub(super) fn execute(context: &mut Context<'_, '_>, op: &Op) -> bool {
    let done = match op {
        Op::IntBinary { op, width, dst, a, b } => int_binary(context, *op, *width, *dst, [*a, *b]),
        Op::IntCompare { relation, signed, width, dst, a, b } => {
            int_compare(context, (*relation, *signed), *width, *dst, [*a, *b])
        }
        Op::Load(load) if context.machine.blocks == 1 => self::load(context, load),
        Op::Fma { .. } if context.valued.is_some() => return symbolic::float(context, op),
        _ => None,
    };
    done.is_some()
}

/// Computes integer operations, and sums of pointers and numbers.
#[inline]
fn int_binary(
    context: &mut Context<'_, '_>,
    op: IntBinary,
    width: Width,
    dst: Reg,
    [a, b]: [Operand; 2],
) -> Option<()> {
    let Context { registers, layout, lanes, .. } = context;
    let divides = matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. });
    if width == Width::B1 || divides || layout.width(dst) == Width::B1 {
        return None;
    }
    let tags = match registers.is_number(a) && registers.is_number(b) {
        true => Tags::NUMBER,
        false => Tags::pointer(super::direct::moved_pointers(
            registers,
            (layout, *lanes),
            op,
            width,
            [a, b],
        )?),
    };
    let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
    let lane = lanes.lowest()?;
    let a = registers.lane(layout, a, width, lane);
    let b = registers.lane(layout, b, if shifts { Width::B32 } else { width }, lane);
    let result = match op {
        IntBinary::Add => a.wrapping_add(b) & width.mask(),
        op => concrete::int_binary(op, width, a, b),
    };
    registers.write_lanes(layout, dst, tags, *lanes, |_| result);
    Some(())
}

#[inline]
fn int_compare(
    context: &mut Context<'_, '_>,
    (relation, signed): (Relation, bool),
    width: Width,
    dst: Reg,
    [a, b]: [Operand; 2],
) -> Option<()> {
    let Context { registers, layout, lanes, .. } = context;
    if width == Width::B1 || !registers.is_number(a) || !registers.is_number(b) {
        return None;
    }
    let lane = lanes.lowest()?;
    let [a, b] = [a, b].map(|operand| registers.lane(layout, operand, width, lane));
    let truth = concrete::int_compare(relation, signed, width, a, b);
    let truth = if truth { *lanes } else { Mask::NONE };
    registers.write_predicate(dst, truth, Tags::NUMBER, *lanes);
    Some(())
}

/// Loads one word from untracked memory.
#[inline]
fn load(context: &mut Context<'_, '_>, load: &Load) -> Option<()> {
    let AddressBase::Register(base) = load.address.base else { return None };
    let [Some(dst)] = load.dsts[..] else { return None };
    let Context {
        machine, registers, layout, global, shared, warp, lanes, tracker, valued, ..
    } = context;
    let (lane, bytes) = (lanes.lowest()?, load.width.bytes());
    let orders = load.ordering != Ordering::Weak;
    if orders || load.width > Width::B64 || !registers.pointers(base.into())?.has(lane) {
        return None;
    }
    let width = layout.width(base);
    let base = registers.lane(layout, base.into(), width, lane);
    let address = base.wrapping_add_signed(load.address.offset) & width.mask();
    let near = keeps_region(base, address);
    let Pointer { area, offset } = Pointer::decode(address, load.space).filter(|_| near)?;
    if matches!(area, Area::Local(_)) || tracker.watches(area) || tracker.follows_grids() {
        return None;
    }
    let (memory, ..) = allocation(machine, global, shared, warp, area)?;
    let start = memory.inside(offset, bytes)?;
    let aligned = start % bytes as usize == 0 && memory.align >= u64::from(bytes);
    if !aligned || !memory.bounded || !memory.allows(AccessKind::Read) {
        return None;
    }
    let state = match memory.states.all_defined() {
        true => state::DEFINED,
        false => memory.states.common(start, bytes as usize)?,
    };
    let width = layout.width(dst);
    let (value, tags) = match (state, valued) {
        (state::DEFINED, _) => {
            let value = memory.bits(start, bytes as usize);
            let same = width == load.width;
            let resized = || concrete::resize(load.width, load.signed, width, value);
            (if same { value } else { resized() }, Tags::NUMBER)
        }
        (state::OPAQUE, Some(valued)) if width == load.width => {
            let word = match bytes {
                2 => valued.store.units.half_alone(memory.unit(start & !3), start / 2 % 2)?.into(),
                4.. => memory.bits(start, bytes as usize),
                _ => return None,
            };
            (word, Tags::unknown(Mask::ALL, Source::Data))
        }
        _ => return None,
    };
    memory.read = true;
    registers.write_lanes(layout, dst, tags, *lanes, |_| value);
    Some(())
}
