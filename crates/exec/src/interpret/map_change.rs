//! Changes of tensor maps by kernels: `tensormap.replace`, `tensormap.cp_fenceproxy` and the fences of the
//! tensormap proxy (manual §9.7.9.28, §9.7.13.16, §9.7.13.4).
//!
//! A map is 128 bytes of memory. Replacing a field reads and writes all of them in the generic proxy;
//! [`ir::MapField`] defines the changed bits. The address of the tensor must be a pointer as a whole. A stride may
//! be anything, as long as no copy uses it. Any other unknown bits of a map are a gap.

use super::access::{
    Addresses, locate, lose_element, read_element, resolve, word_of, write_element,
};
use super::bulk::check_word_for_global;
use super::tracked::track;
use super::{Flow, SyncEvent};
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap};
use crate::lanes::{Mask, WARP};
use crate::memory::Word;
use crate::tracker::AccessAttributes;
use ir::{Address, AddressBase, MapEdit, MapField, MapOp, Operand, Space, TENSOR_MAP_BYTES, Width};
use sync::{MemoryEffect, SameValue};

const BYTES: u32 = TENSOR_MAP_BYTES as u32;
/// Alignment of a map in memory, as the driver requires; an H200 replaces fields at multiples of 16, too.
const ALIGN: u32 = 64;
/// The size of the values in which accesses to a map are reported to the tracker, in bytes.
const UNIT: u32 = 16;
const UNKNOWN_CONTENTS: &str = "the contents of a tensor map are not known";
const WRONG_ADDRESS: &str = "the behaviour with a wrong tensor-map address is undefined";

pub(super) fn execute(context: &mut Context<'_, '_>, op: &MapOp) -> Result<Flow, Gap> {
    match op {
        MapOp::Replace { map, space, field, value } => {
            replace(context, (*map, *space), *field, *value)?;
        }
        MapOp::Publish { dst, src } => return publish(context, *dst, *src),
    }
    Ok(Flow::Next)
}

/// Executes `fence.proxy.tensormap::generic`: a release, or the acquire of a map.
pub(super) fn fence(context: &mut Context<'_, '_>, map: Option<Address>) -> Result<(), Gap> {
    let (warp, lanes) = (context.warp.number, context.lanes);
    let Some(map) = map else {
        context.tracker.apply(warp, lanes, SyncEvent::ReleaseMaps);
        return Ok(());
    };
    let null = null_lanes(context, map).and(lanes);
    context.report.acquires_null_map |= !null.is_empty();
    context.lanes = lanes.without(null);
    if context.lanes.is_empty() {
        return Ok(());
    }
    let maps = resolve(context, map, Space::Generic, AccessKind::Read, BYTES)?;
    for lane in lanes.without(null).iter() {
        let pointer = map_pointer(context, &maps, lane)?;
        context.tracker.acquire_map(warp, lane, (pointer.area, pointer.offset));
    }
    Ok(())
}

/// Returns the lanes in which an address is zero. The manual leaves a fence of such a map undefined, but it accesses no
/// memory, and CUTLASS executes one in warps without a map. So it is assumed to do nothing.
fn null_lanes(context: &mut Context<'_, '_>, map: Address) -> Mask {
    let AddressBase::Register(base) = map.base else { return Mask::NONE };
    let (values, tags) = context.read(base.into(), Width::B64);
    let zero = |lane: &usize| values[*lane].wrapping_add_signed(map.offset) == 0;
    let zeros = Mask((0..WARP).filter(zero).fold(0, |mask, lane| mask | 1 << lane));
    zeros.without(tags.pointer).without(tags.unknown).without(tags.poison)
}

/// Returns a lane's pointer to a map, or a gap if its address had a fault.
fn map_pointer(context: &Context<'_, '_>, all: &Addresses, lane: usize) -> Result<Pointer, Gap> {
    let found = all.pointers[lane].filter(|_| all.lanes.has(lane));
    found.ok_or_else(|| context.gap(WRONG_ADDRESS))
}

/// Returns the alignment that a map's address must have. A map in dynamic shared memory is assumed to be aligned, and
/// the report lists the assumption.
fn required_alignment(context: &mut Context<'_, '_>, pointer: Pointer) -> u32 {
    let Area::Shared(number) = pointer.area else { return ALIGN };
    let memory = context.shared.get(number);
    let (declared, lead) = memory.map_or((1, 0), |memory| (memory.align, memory.lead));
    let inside = (pointer.offset + lead.cast_signed()) % i64::from(ALIGN) == 0;
    if !inside || declared >= u64::from(ALIGN) || !context.machine.is_placed(number) {
        return ALIGN;
    }
    context.report.shared_alignment = context.report.shared_alignment.max(ALIGN);
    1
}

/// Returns the position of a map's bytes in its allocation, or a gap if they cannot be accessed.
fn locate_map(
    context: &mut Context<'_, '_>,
    (pointer, lane): (Pointer, usize),
    kind: AccessKind,
) -> Result<usize, Gap> {
    let align = required_alignment(context, pointer);
    match locate(context, pointer, lane, (BYTES, align), kind) {
        Some(Some(at)) => Ok(at),
        Some(None) => Err(context.gap(UNKNOWN_CONTENTS)),
        None => Err(context.gap(WRONG_ADDRESS)),
    }
}

/// Reports an access to the whole map to the tracker.
fn track_map_access(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    kind: MemoryEffect,
) {
    let attributes = AccessAttributes::plain(kind, context.site, UNIT);
    track(context, pointer, lane, BYTES, attributes, SameValue::Different);
}

/// Executes `tensormap.replace`.
fn replace(
    context: &mut Context<'_, '_>,
    (map, space): (Address, Space),
    field: MapField,
    value: Operand,
) -> Result<(), Gap> {
    let maps = resolve(context, map, space, AccessKind::Write, BYTES)?;
    let (values, tags) = context.read(value, field.width());
    for lane in context.lanes.iter() {
        let pointer = map_pointer(context, &maps, lane)?;
        let at = locate_map(context, (pointer, lane), AccessKind::Write)?;
        track_map_access(context, pointer, lane, MemoryEffect::Write);
        let word = word_of(tags, lane);
        if field == MapField::GlobalAddress {
            let word = word_for_area(context, pointer.area, (word, lane));
            write_element(context, (pointer.area, lane), at, 8, (values[lane], word));
            continue;
        }
        if let (
            MapField::GlobalStride(number),
            Word::Pointer | Word::Unknown | Word::ScheduleDependent,
        ) = (field, word)
        {
            lose_stride(context, (pointer.area, lane), at, number)?;
            continue;
        }
        if word != Word::Number {
            return Err(context.gap("a field of a tensor map is not known"));
        }
        // An H200 drops the low bits of a stride, and no driver accepts them.
        let aligned =
            !matches!(field, MapField::GlobalStride(_)) || values[lane].is_multiple_of(16);
        let Some(edits) = field.edits(values[lane]).filter(|_| aligned) else {
            let text =
                format!("the value {:#x} of a tensor map's field is not modelled", values[lane]);
            return Err(context.gap(text));
        };
        for edit in edits {
            apply(context, (pointer.area, lane), at, edit)?;
        }
    }
    Ok(())
}

/// Checks a word stored to a map: in global memory others may see it.
fn word_for_area(context: &mut Context<'_, '_>, area: Area, (word, lane): (Word, usize)) -> Word {
    match area {
        Area::Global(_) => check_word_for_global(context, area, (word, lane)),
        _ => word,
    }
}

/// Changes some bits of a map. They lie in one half of a word, and the other half may be an unknown stride.
fn apply(
    context: &mut Context<'_, '_>,
    (area, lane): (Area, usize),
    at: usize,
    edit: MapEdit,
) -> Result<(), Gap> {
    let upper = edit.mask >> 32 != 0;
    let at = at + 8 * edit.word + if upper { 4 } else { 0 };
    let half = |bits: u64| if upper { bits >> 32 } else { bits };
    let (mut value, mut unused) = ([0; WARP], [0; WARP]);
    let word = read_element(context, area, lane, Some(Some(at)), 4, [&mut value, &mut unused]);
    if word != Word::Number {
        return Err(context.gap(UNKNOWN_CONTENTS));
    }
    let changed = value[lane] & !half(edit.mask) | half(edit.bits);
    write_element(context, (area, lane), at, 4, (changed, Word::Number));
    Ok(())
}

/// Stores an unknown stride in a map, as loops over all five dimensions do for those that the map lacks. Its lower
/// 32 bits become unknown, so a copy that uses the stride is rejected. Its upper four bits share a byte with those
/// of another stride. They become zero, which no copy can use.
fn lose_stride(
    context: &mut Context<'_, '_>,
    (area, lane): (Area, usize),
    at: usize,
    number: u8,
) -> Result<(), Gap> {
    for edit in MapField::GlobalStride(number).edits(0).unwrap_or_default() {
        let lower = edit.mask.count_ones() == 32;
        if !lower {
            apply(context, (area, lane), at, edit)?;
            continue;
        }
        let at = at + 8 * edit.word + if edit.mask >> 32 != 0 { 4 } else { 0 };
        lose_element(context, (area, lane), at, 4);
    }
    Ok(())
}

/// Executes `tensormap.cp_fenceproxy` by a whole warp: every lane reads; the lowest is assumed to write.
fn publish(context: &mut Context<'_, '_>, dst: Address, src: Address) -> Result<Flow, Gap> {
    let (warp, lanes) = (context.warp.number, context.warp.alive());
    if context.lanes != lanes {
        return Ok(Flow::Collective(Mask::ALL, context.lanes));
    }
    context.tracker.apply(warp, lanes, SyncEvent::Collective);
    if lanes != Mask::ALL {
        context.record_fault(Fault::LanesMissing { missing: !lanes.0 }, lanes);
    }
    let targets = resolve(context, dst, Space::Global, AccessKind::Write, BYTES)?;
    let sources = resolve(context, src, Space::Shared, AccessKind::Read, BYTES)?;
    let writer = lanes.lowest().unwrap_or(0);
    let (source, target) =
        (map_pointer(context, &sources, writer)?, map_pointer(context, &targets, writer)?);
    for lane in lanes.iter() {
        let pointers =
            (map_pointer(context, &sources, lane)?, map_pointer(context, &targets, lane)?);
        if pointers != (source, target) {
            return Err(context.gap("lanes of a warp use different tensor maps"));
        }
        track_map_access(context, source, lane, MemoryEffect::Read);
    }
    let from = locate_map(context, (source, writer), AccessKind::Read)?;
    let to = locate_map(context, (target, writer), AccessKind::Write)?;
    track_map_access(context, target, writer, MemoryEffect::Write);
    // The address as a whole, and the rest as words, each known or unknown.
    let words = std::iter::once((0, 8)).chain((8..TENSOR_MAP_BYTES).step_by(4).map(|at| (at, 4)));
    for (offset, bytes) in words {
        let (mut value, mut unused) = ([0; WARP], [0; WARP]);
        let at = Some(Some(from + offset));
        let word = read_element(context, source.area, writer, at, bytes, [&mut value, &mut unused]);
        let word = check_word_for_global(context, target.area, (word, writer));
        write_element(context, (target.area, writer), to + offset, bytes, (value[writer], word));
    }
    context.report.charge(TENSOR_MAP_BYTES);
    context.tracker.publish_map(warp, lanes, (target.area, target.offset));
    Ok(Flow::Next)
}
