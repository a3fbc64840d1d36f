//! Executes `ld`, `st` and `discard` (manual §9.7.9.8–17), lane by lane and element by element. Addresses and checks
//! are in `access.rs`, data-dependent addresses in `indexed.rs` and `scattered.rs`.

use super::access::{
    allocation, locate, must_report_store, read_element, resolve, resolve_indexed, set_tags_of,
    word_of, write_element,
};
use super::indexed::{self, Indexed};
use super::symbolic::expanded::{self, Parts};
use super::tracked::{track, track_load};
use super::{partial, scattered, symbolic};
use crate::address::{Area, Pointer};
use crate::concrete;
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Origin, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::{Word, state};
use crate::tags::Tags;
use crate::tracker::AccessAttributes;
use ir::{Address, Load, Space, Store, Width};
use sync::{MemoryEffect, RequiredCertainty, SameValue};

pub(super) fn load(context: &mut Context<'_, '_>, load: &Load) -> Result<(), Gap> {
    let element = load.width.bytes();
    let bytes = element * load.dsts.len() as u32;
    let (addresses, indexed) =
        resolve_indexed(context, load.address, load.space, AccessKind::Read, bytes)?;
    let mut parts = vec![([0u64; WARP], [0u64; WARP], Tags::NUMBER); load.dsts.len()];
    let indexed_lanes = indexed.iter().fold(0, |mask, one| mask | 1 << one.lane);
    let failed = context.lanes.without(addresses.lanes).without(Mask(indexed_lanes));
    let bad = Origin::BadAccess(context.place);
    parts.iter_mut().for_each(|part| part.2 = Tags::poison(failed, bad));
    let mut located = Mask::NONE;
    let mut partly_defined = Vec::new();
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let found = locate(context, pointer, lane, (bytes, bytes), AccessKind::Read);
        if found.is_some() {
            located = located.or(Mask::one(lane));
        }
        for (position, (low, high, tags)) in parts.iter_mut().enumerate() {
            let at = found.map(|start| start.map(|start| start + position * element as usize));
            let word = read_element(context, pointer.area, lane, at, element as usize, [low, high]);
            set_tags_of(tags, lane, word, context.place, found.is_none());
            let place = at.flatten().filter(|_| word == Word::Poison);
            if let (Some(at), Some(dst)) = (place, load.dsts[position]) {
                let bytes = partial::loaded_bytes(context, (pointer.area, lane, at), load, dst);
                partly_defined.extend(bytes.map(|bytes| (dst, lane, bytes)));
            }
        }
    }
    for one in &indexed {
        load_indexed(context, one, load, &mut parts)?;
    }
    track_load(context, load, (located, &addresses.pointers), bytes);
    for (dst, (low, high, tags)) in load.dsts.iter().zip(parts) {
        if let Some(dst) = *dst {
            finish_load(context, load, dst, (&low, &high), tags);
        }
    }
    for (dst, lane, bytes) in &partly_defined {
        partial::restore_loaded(context, *dst, *lane, bytes);
    }
    Ok(())
}

/// Executes a load of a lane with a data-dependent address.
fn load_indexed(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    load: &Load,
    parts: &mut Parts,
) -> Result<(), Gap> {
    let element = load.width.bytes();
    let bytes = element * load.dsts.len() as u32;
    match (indexed::table(context, one), one.area) {
        (Ok(_), _) => {}
        // For a large tensor, report what it lacks rather than the number of places.
        (Err(gap), Area::Global(number)) => {
            expanded::load(context, one, load, parts).map_err(|_| gap)?;
            let unit = context.unit;
            if let Some(valued) = &mut context.valued {
                valued.store.expanded_loads.insert(number, unit);
            }
            return Ok(());
        }
        (Err(_), _) => return expanded::load(context, one, load, parts),
    }
    let found = indexed::read(context, one, (bytes, bytes))?;
    for (position, (low, high, tags)) in parts.iter_mut().enumerate() {
        let from = position * element as usize;
        let element_bytes = found.as_ref().and_then(|all| all.get(from..from + element as usize));
        let (lane, bad) = (one.lane, element_bytes.is_none());
        if let Some(element_bytes) = element_bytes {
            low[lane] = indexed::word(context, element_bytes).0;
            high[lane] = indexed::word(context, element_bytes.get(8..).unwrap_or_default()).0;
        }
        let word = if bad { Word::Poison } else { Word::Unknown };
        set_tags_of(tags, lane, word, context.place, bad);
    }
    Ok(())
}

/// Returns `true` if this block loaded from all possible places of a buffer. Then its stores go there, too: a
/// later load must see them (`acc[x[i]] += v[i]`).
fn has_expanded_load(context: &Context<'_, '_>, number: usize) -> bool {
    let loads = context.valued.as_ref().map(|valued| &valued.store.expanded_loads);
    loads.and_then(|loads| loads.get(&number)) == Some(&context.unit)
}

/// Extends a loaded value to its register.
fn finish_load(
    context: &mut Context<'_, '_>,
    load: &Load,
    dst: ir::Reg,
    (low, high): (&Lanes, &Lanes),
    tags: Tags,
) {
    let width = context.layout.width(dst);
    if load.width == Width::B128 {
        context.write_words(dst, low, tags);
        let (layout, lanes) = (context.layout, context.lanes);
        return context.registers.write_upper(layout, dst, high, lanes);
    }
    if width == load.width {
        return context.write_words(dst, low, tags);
    }
    if context.valued.is_some() {
        return symbolic::extend(context, (load.width, load.signed), dst, (low, tags));
    }
    let extended = low.map(|bits| concrete::resize(load.width, load.signed, width, bits));
    context.write(dst, &extended, tags);
}

pub(super) fn store(context: &mut Context<'_, '_>, store: &Store) -> Result<(), Gap> {
    let element = store.width.bytes();
    let bytes = element * store.srcs.len() as u32;
    let (addresses, indexed) =
        resolve_indexed(context, store.address, store.space, AccessKind::Write, bytes)?;
    for one in &indexed {
        match one.area {
            Area::Global(number) if !has_expanded_load(context, number) => {
                scattered::store(context, one, store)?;
            }
            _ => expanded::store(context, one, store, false)?,
        }
    }
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let Some(found) = locate(context, pointer, lane, (bytes, bytes), AccessKind::Write) else {
            continue;
        };
        let same = match found {
            Some(start) => keeps(context, pointer, lane, start, store),
            None => vec![SameValue::Undecided; store.srcs.len()],
        };
        let is_determined = context.machine.is_determined(context.site, pointer.area);
        let attributes = AccessAttributes::store(context.site, element, is_determined);
        let who = (context.warp.number, lane);
        context.tracker.store(who, (pointer.area, pointer.offset), attributes, &same);
        let Some(start) = found else { continue };
        for (position, &src) in store.srcs.iter().enumerate() {
            let at = start + position * element as usize;
            store_element(context, pointer, lane, at, src, store.width);
        }
    }
    Ok(())
}

/// Compares each value that a lane stores with the present contents.
fn keeps(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    start: usize,
    store: &Store,
) -> Vec<SameValue> {
    let element = store.width.bytes() as usize;
    if element > 8 || !context.tracker.watches(pointer.area) {
        return vec![SameValue::Undecided; store.srcs.len()];
    }
    let compares_terms = context.machine.compared_stores.contains(&context.place);
    let mut keeps = |(position, &src): (usize, &ir::Operand)| {
        let at = start + position * element;
        if compares_terms {
            // A comparison of terms may be a proof, so compare only if needed.
            let offset = pointer.offset + (position * element) as i64;
            let bytes = (offset, element as u32);
            return match context.tracker.required_certainty(pointer.area, bytes, context.site) {
                RequiredCertainty::None => SameValue::Undecided,
                certainty => {
                    let likely = certainty == RequiredCertainty::Likely;
                    symbolic::keeps(context, (pointer, lane), (at, element), src, likely)
                }
            };
        }
        let (values, tags) = context.read(src, store.width);
        let Some((memory, ..)) = allocation(context, pointer.area, lane) else {
            return SameValue::Undecided;
        };
        let known = word_of(tags, lane) == Word::Number;
        let state = if known { state::DEFINED } else { state::OPAQUE };
        memory.would_keep(at, &values[lane].to_le_bytes()[..element], state)
    };
    store.srcs.iter().enumerate().map(&mut keeps).collect()
}

/// Writes one element of one lane.
pub(super) fn store_element(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    at: usize,
    src: ir::Operand,
    width: Width,
) {
    let (mut values, mut tags) = context.read(src, Width::B64);
    let mut word = word_of(tags, lane);
    if word == Word::Poison
        && let Some(bytes) = partial::stored_bytes(context, src, lane)
    {
        let bytes = &bytes[..width.bytes() as usize];
        match partial::defined_word(context, bytes) {
            Some(stored) => {
                (values[lane], word) = stored;
                tags = Tags::NUMBER;
                set_tags_of(&mut tags, lane, word, context.place, false);
            }
            None if matches!(pointer.area, Area::Global(_)) => {}
            None => return partial::write_memory(context, (pointer.area, lane), at, bytes),
        }
    }
    // Words of units stay whole.
    if !matches!(word, Word::Unknown | Word::ScheduleDependent) {
        values[lane] &= width.mask();
    }
    if word == Word::Poison && matches!(pointer.area, Area::Global(_)) {
        let origin = tags.undefined;
        context.record_fault(Fault::Undefined { reaches: Sink::Output, origin }, Mask(1 << lane));
        // The fault is reported, and the memory counts as written: no later access may report it again.
        word = Word::Unknown;
        values[lane] = 0;
    }
    if matches!(word, Word::ScheduleDependent | Word::Pointer)
        && must_report_store(context, pointer.area)
    {
        context.doubt_undetermined(tags, Sink::Output, Mask(1 << lane));
    }
    let high = match (width, src) {
        (Width::B128, ir::Operand::Register(register)) => {
            let layout = context.layout;
            Some(context.registers.upper(layout, register)[lane])
        }
        _ => None,
    };
    let target = (pointer.area, lane);
    write_element(context, target, at, width.bytes().min(8) as usize, (values[lane], word));
    if let Some(high) = high {
        write_element(context, target, at + 8, 8, (high, word));
    }
}

/// Executes `discard`: the old contents are lost.
pub(super) fn discard(
    context: &mut Context<'_, '_>,
    space: Space,
    address: Address,
    bytes: u64,
) -> Result<(), Gap> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let addresses = resolve(context, address, space, AccessKind::Write, bytes)?;
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let found = locate(context, pointer, lane, (bytes, bytes), AccessKind::Write);
        if found.is_some() {
            let attributes = AccessAttributes::plain(MemoryEffect::Write, context.site, 1);
            track(context, pointer, lane, bytes, attributes, SameValue::Different);
        }
        if let (Some(Some(start)), Some((memory, ..))) =
            (found, allocation(context, pointer.area, lane))
        {
            memory.states.fill(start..start + bytes as usize, state::UNDEFINED);
        }
    }
    Ok(())
}
