//! Executes `cp.async.bulk` and `cp.reduce.async.bulk` (manual §9.7.9.25.4.1-2) at once, like `cp.async`. Its
//! place in the order is that of its completion, at an mbarrier or with its group.
//!
//! The size and both addresses must be multiples of 16, and both ranges inside their allocations. Otherwise
//! the manual leaves the effect open (an H200 faults, or never completes): a finding that ends the run. A
//! copy to several blocks is a separate agent for each.

use super::access::{is_visible_outside, locate, read_element, resolve, write_element};
use super::cluster;
use super::mbarrier;
use super::reduce::Reduction;
use super::remote;
use super::tracked::track;
use crate::address::{Area, Pointer};
use crate::cluster_fault::ClusterFault;
use crate::context::Context;
use crate::doubt::{Doubtful, Reason};
use crate::finding::{AccessKind, Fault, Gap, Origin, Sink};
use crate::lanes::{Mask, WARP};
use crate::launch::Access as Permission;
use crate::memory::Word;
use crate::tracker::{AccessAttributes, CopyContents};
use ir::{Atomic, BulkCompletion, BulkCopy, Space, Width};
use sync::{AgentId, MemoryEffect, SameValue};

/// The granularity of sizes and addresses, in bytes.
const UNIT: u32 = 16;

/// Copies in every lane, one after the other.
pub(super) fn execute(context: &mut Context<'_, '_>, copy: &BulkCopy) -> Result<(), Gap> {
    let (sizes, tags) = context.read(copy.bytes, Width::B32);
    context.lanes = context.require_numbers(tags, Sink::CopySize)?;
    let masks = cluster::masks(context, copy.multicast)?;
    let all = context.lanes;
    let sources = resolve(context, copy.src, copy.src_space, AccessKind::Read, UNIT)?;
    let targets = resolve(context, copy.dst, copy.dst_space, AccessKind::Write, UNIT)?;
    let signals = match copy.completion {
        BulkCompletion::Mbarrier(at) => {
            Some(resolve(context, at, Space::SharedCluster, AccessKind::Atomic, UNIT)?)
        }
        BulkCompletion::Group => None,
    };
    let mut last = None;
    for lane in all.iter() {
        let bytes = sizes[lane] as u32;
        if !bytes.is_multiple_of(UNIT) {
            context.record_fault(Fault::BulkSize { bytes }, Mask::one(lane));
            return Err(context.gap("a bulk copy of this size is undefined"));
        }
        // Nothing is moved or signalled.
        if bytes == 0 {
            continue;
        }
        let usable =
            |set: &super::access::Addresses| set.pointers[lane].filter(|_| set.lanes.has(lane));
        let (Some(source), Some(target)) = (usable(&sources), usable(&targets)) else {
            return Err(context.gap("a bulk copy with a wrong address is undefined"));
        };
        let signal = match &signals {
            Some(signals) => match usable(signals) {
                Some(pointer) => Some(pointer),
                None => return Err(context.gap("a bulk copy has a wrong mbarrier address")),
            },
            None => None,
        };
        check_blocks(context, copy, (source, target, signal), (lane, bytes))?;
        let this = (source, target, signal, bytes, masks.as_ref().map(|masks| masks[lane]));
        let same = same_as(&mut last, this);
        match cluster::ranks(context, &masks, lane)? {
            None => copy_to_block(context, copy, (source, target, signal), (lane, bytes, same))?,
            // The same place in each block, and its own mbarrier there.
            Some(ranks) => {
                for rank in ranks {
                    let target = cluster::in_block(context, target, rank);
                    let signal = signal.map(|signal| cluster::in_block(context, signal, rank));
                    copy_to_block(context, copy, (source, target, signal), (lane, bytes, same))?;
                }
            }
        }
    }
    context.lanes = all;
    Ok(())
}

/// Compares a copy with that of the previous lane: lanes that copy the same source write the same values, as
/// the source must not change before both are done.
pub(super) fn same_as<T: PartialEq>(last: &mut Option<T>, this: T) -> SameValue {
    let same = last.as_ref() == Some(&this);
    *last = Some(this);
    if same { SameValue::Equal } else { SameValue::Different }
}

/// Checks the blocks of a copy. A copy between shared memories goes to another block, and its mbarrier is in
/// the destination's block. A reducing copy may go to its own block, on an H200 too (recorded); only if it reads what it
/// changes, the run stops.
fn check_blocks(
    context: &mut Context<'_, '_>,
    copy: &BulkCopy,
    (source, target, signal): (Pointer, Pointer, Option<Pointer>),
    (lane, bytes): (usize, u32),
) -> Result<(), Gap> {
    let ranks = [Some(source), Some(target), signal];
    let [from, to, mbarrier] = ranks.map(|one| one.and_then(|one| cluster::rank(context, one)));
    let fault = match (from, to, mbarrier) {
        (Some(from), Some(to), _) if from == to && copy.reduce.is_none() => ClusterFault::OwnBlock,
        (_, Some(to), Some(at)) if to != at => {
            ClusterFault::OtherBlock { destination: to as u32, mbarrier: at as u32 }
        }
        _ => {
            let overlap = source.offset.abs_diff(target.offset) < u64::from(bytes);
            return match copy.reduce.is_some() && source.area == target.area && overlap {
                true => Err(context.gap("a reducing copy of the bytes that it changes")),
                false => Ok(()),
            };
        }
    };
    Err(cluster::refuse(context, lane, fault))
}

/// Copies to one block.
fn copy_to_block(
    context: &mut Context<'_, '_>,
    copy: &BulkCopy,
    (source, target, signal): (Pointer, Pointer, Option<Pointer>),
    (lane, bytes, same): (usize, u32, SameValue),
) -> Result<(), Gap> {
    let id = context.tracker.start_bulk(context.warp.number, lane, signal.is_none());
    if signal.is_none() {
        context.tracker.note_grouped(id, bytes);
    }
    match &copy.reduce {
        None => transfer(context, (source, target), (lane, same), (id, bytes))?,
        Some(update) => reduce(context, update, (source, target), lane, (id, bytes))?,
    }
    if let Some(pointer) = signal {
        let (warp, site) = (context.warp.number, context.site);
        context.tracker.note_load(id, sync::Lanes { warp, lanes: Mask::one(lane), site });
        let changes = if copy.reduce.is_some() { AccessKind::Atomic } else { AccessKind::Write };
        let accesses = [(source, AccessKind::Read), (target, changes)];
        remote::record_copy_accesses(context, &accesses, lane, pointer);
        mbarrier::deliver(context, pointer, lane, (id, bytes))?;
    }
    Ok(())
}

/// Moves the bytes, and reports both accesses to the tracker.
fn transfer(
    context: &mut Context<'_, '_>,
    (source, target): (Pointer, Pointer),
    (lane, same): (usize, SameValue),
    (id, bytes): (AgentId, u32),
) -> Result<(), Gap> {
    let from = locate(context, source, lane, (bytes, UNIT), AccessKind::Read);
    let to = locate(context, target, lane, (bytes, UNIT), AccessKind::Write);
    let (Some(from), Some(to)) = (from, to) else {
        return Err(context.gap("a bulk copy outside its tensors is undefined"));
    };
    if let (Area::Shared(_), true) = (target.area, is_constant(context, source.area)) {
        let distance = source.offset.wrapping_sub(target.offset);
        let contents = CopyContents::Bytes { source: source.area, target: target.area, distance };
        context.tracker.note_contents(id, contents);
    }
    let reads = async_access(context, MemoryEffect::Read, id);
    let writes = async_access(context, MemoryEffect::Write, id);
    track(context, source, lane, bytes, reads, SameValue::Different);
    track(context, target, lane, bytes, writes, same);
    for offset in (0..bytes as usize).step_by(8) {
        let (mut value, mut unused) = ([0; WARP], [0; WARP]);
        let at = Some(from.map(|start| start + offset));
        let word = read_element(context, source.area, lane, at, 8, [&mut value, &mut unused]);
        let word = match target.area {
            Area::Global(_) => check_word_for_global(context, target.area, (word, lane)),
            _ => word,
        };
        if let Some(start) = to {
            write_element(context, (target.area, lane), start + offset, 8, (value[lane], word));
        }
    }
    context.report.charge(bytes as usize);
    Ok(())
}

/// Updates each element of the target with that of the source.
fn reduce(
    context: &mut Context<'_, '_>,
    update: &Atomic,
    (source, target): (Pointer, Pointer),
    lane: usize,
    (id, bytes): (AgentId, u32),
) -> Result<(), Gap> {
    let from = locate(context, source, lane, (bytes, UNIT), AccessKind::Read);
    let to = locate(context, target, lane, (bytes, UNIT), AccessKind::Atomic);
    let (Some(Some(from)), Some(to)) = (from, to) else {
        return Err(context.gap("a bulk copy outside its tensors is undefined"));
    };
    let reads = async_access(context, MemoryEffect::Read, id);
    track(context, source, lane, bytes, reads, SameValue::Different);
    let reduction = Reduction { update, lane, id };
    for offset in (0..bytes).step_by(update.scalar.width().bytes() as usize) {
        let at = Pointer { offset: target.offset + i64::from(offset), ..target };
        let to = to.map(|start| start + offset as usize);
        reduction.element(context, (source.area, from + offset as usize), (at, to));
    }
    context.report.charge(bytes as usize);
    Ok(())
}

/// Returns `true` if the launch writes nothing in an area.
pub(super) fn is_constant(context: &Context<'_, '_>, area: Area) -> bool {
    match area {
        Area::Global(number) => {
            context.global.get(number).is_some_and(|memory| memory.access == Permission::In)
        }
        Area::Param(_) => true,
        Area::Shared(_) | Area::Local(_) => false,
    }
}

/// The attributes of a bulk copy's access.
pub(super) fn async_access(
    context: &Context<'_, '_>,
    kind: MemoryEffect,
    id: AgentId,
) -> AccessAttributes {
    let plain = AccessAttributes::plain(kind, context.site, UNIT);
    AccessAttributes { copy: Some(id), is_async: true, ..plain }
}

/// Checks a word stored to global memory: it must be defined, and determined if others see it. Returns the word to
/// store.
pub(super) fn check_word_for_global(
    context: &mut Context<'_, '_>,
    area: Area,
    (word, lane): (Word, usize),
) -> Word {
    let lanes = Mask::one(lane);
    match word {
        Word::Poison => {
            let origin = Some(Origin::Memory(context.place));
            context.record_fault(Fault::Undefined { reaches: Sink::Output, origin }, lanes);
            // The fault is reported, and the memory counts as written: no later access may report it again.
            Word::Unknown
        }
        Word::ScheduleDependent | Word::Pointer if is_visible_outside(context, area) => {
            let (reaches, reason) = (Sink::Output, Reason::Undetermined);
            context.doubt(Doubtful::Undetermined { reaches, reason }, lanes);
            word
        }
        Word::Number | Word::Unknown | Word::ScheduleDependent | Word::Pointer => word,
    }
}
