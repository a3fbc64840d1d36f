//! Updates that leave memory alone if its number is at least as good ([`Atomic::skips`]): loops of compare-and-swap
//! that compare first.
//!
//! If such an update changes memory in this run, it writes, and its races and faults are real. If it changes nothing,
//! it may still write in another schedule, in which other updates come later. Only a number that no update has replaced
//! since the launch began is at least as good in every schedule, because updates that commute with this one replace a
//! number only by a better one. Then the update is a read. Otherwise, or if numbers are unknown, it is open whether it
//! writes: its races are open ([`crate::races`]), and a write to read-only memory ends the run.
//!
//! Errs towards open.

use super::access::{allocation, locate, word_of};
use super::atomic::{self, Operands, better, update};
use super::tracked::track;
use crate::address::{Area, Pointer};
use crate::concrete;
use crate::context::Context;
use crate::finding::{AccessKind, Gap};
use crate::lanes::Lanes;
use crate::launch::Contents;
use crate::memory::Word;
use crate::tags::Tags;
use crate::tracker::AccessAttributes;
use ir::{Atomic, AtomicOp, Scalar, Skips};
use sync::{LaneId, MemoryEffect, SameValue};

/// The effect of an update on memory.
enum Effect {
    /// It changes memory in this run.
    Writes,
    /// It changes nothing in any schedule.
    Reads,
    Open,
}

/// Performs the update of one lane.
pub(super) fn update_lane(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    (pointer, lane): (Pointer, usize),
    operands: &Operands,
    old: &mut [(Lanes, Tags)],
) -> Result<(), Gap> {
    let bytes = atomic.scalar.width().bytes();
    // A warp has 32 lanes, and a cluster at most 256 warps.
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    let who = LaneId { warp: context.warp.number as u8, lane: lane as u8 };
    let update = (context.site, context.unit, who);
    match effect(context, atomic, (pointer, lane), operands) {
        Effect::Reads => {
            if locate(context, pointer, lane, (bytes, bytes), AccessKind::Read).is_some() {
                let site = context.site;
                let attributes = AccessAttributes::plain(MemoryEffect::Read, site, bytes);
                track(context, pointer, lane, bytes, attributes, SameValue::Different);
            }
            return Ok(());
        }
        Effect::Writes => {
            context.report.certain_updates.insert(update);
        }
        Effect::Open => {
            context.report.open_updates.insert(update);
            let memory = allocation(context, pointer.area, lane);
            if memory.is_some_and(|(memory, ..)| !memory.allows(AccessKind::Atomic)) {
                let reason =
                    "this would write to read-only memory, unless its number is at least as good";
                return Err(context.conditional_gap(reason));
            }
        }
    }
    atomic::update_lane(context, atomic, (pointer, lane), operands, old);
    Ok(())
}

/// Decides the effect of a lane's update.
fn effect(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    (pointer, lane): (Pointer, usize),
    operands: &Operands,
) -> Effect {
    let bytes = atomic.scalar.width().bytes();
    let [(values, tags)] = operands else { return Effect::Open };
    let Some((memory, first, _)) = allocation(context, pointer.area, lane) else {
        return Effect::Open;
    };
    let Some(start) = memory.inside(pointer.offset, bytes) else { return Effect::Open };
    let size = bytes as usize;
    let never_changes = !memory.allows(AccessKind::Atomic);
    let (old, word) = memory.load(first + start, size);
    if (word, word_of(*tags, lane)) != (Word::Number, Word::Number) {
        return Effect::Open;
    }
    let writes = match (better(atomic.op), atomic.scalar) {
        // NaN may be replaced by the same bits.
        (Some(better), Scalar::Float(format)) => {
            let flush = !atomic.keeps_subnormals;
            concrete::float_compare(better, format, flush, values[lane], old)
        }
        _ => update(atomic, old, values[lane], None) != old,
    };
    if writes {
        return Effect::Writes;
    }
    if atomic.skips == Skips::Perhaps || values[lane] == old && atomic.skips == Skips::IfWorse {
        // Perhaps it swaps the number for itself.
        return Effect::Open;
    }
    if never_changes {
        return Effect::Reads;
    }
    let Area::Global(number) = pointer.area else { return Effect::Open };
    let buffer = context.machine.launch.buffers.get(number);
    let is_first = buffer.is_some_and(|buffer| match &buffer.contents {
        Contents::Known(first) => {
            first.get(start..start + size) == Some(&old.to_le_bytes()[..size])
        }
        _ => false,
    });
    // With NaN, a number may come back.
    let grows = !matches!(atomic.op, AtomicOp::RaiseOrNan | AtomicOp::LowerOrNan);
    if is_first && grows { Effect::Reads } else { Effect::Open }
}

/// Returns `true` if a comparison of floats decides which of two numbers stays: neither is NaN, and equal ones are
/// the same bits. Then several such updates leave the same bits in every order.
pub(super) fn is_decided(atomic: &Atomic, old: u64, a: u64) -> bool {
    let (Some(better), Scalar::Float(format)) = (better(atomic.op), atomic.scalar) else {
        return false;
    };
    let flush = !atomic.keeps_subnormals;
    let is_better = |a, b| concrete::float_compare(better, format, flush, a, b);
    // With NaN, none or both are better.
    is_better(a, old) != is_better(old, a)
        || a == old && concrete::float_compare(EQUAL, format, flush, a, a)
}

/// Holds for numbers, and not for NaN.
const EQUAL: ir::FloatRelation =
    ir::FloatRelation::Order { relation: ir::Relation::Eq, or_unordered: false };
