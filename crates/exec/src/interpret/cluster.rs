//! Shared memory of other blocks of the cluster: addresses (manual §9.7.9.23–24), faults of accesses to it,
//! and asynchronous stores and updates (§9.7.9.12, §9.7.13.7).
//!
//! An address determines the rank of its block ([`crate::address`]). An address passed to another block
//! through memory is not tracked: the manual does not say that it keeps its meaning there. Stores and updates
//! are executed at once, like copies; their place in the order is that of their delivery at the mbarrier. The
//! manual names no proxy for them; we assume the generic one.

use super::access::{locate, read_element, resolve, word_of, write_element};
use super::atomic::{change_element, group};
use super::mbarrier;
use super::remote::record_copy_accesses;
use super::tracked::track;
use crate::address::{Area, MAX_SHARED, Pointer, window};
use crate::cluster_fault::ClusterFault;
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::tags::{Source, Tags};
use crate::tracker::AccessAttributes;
use ir::{Operand, Reg, RemoteStore, Space, Width};
use sync::{MemoryEffect, SameValue};

/// Decodes addresses in shared memory of the cluster; `None` in other lanes.
fn pointers(
    context: &mut Context<'_, '_>,
    address: Operand,
    space: Space,
) -> ([Option<Pointer>; WARP], Tags) {
    let (values, tags) = context.read(address, Width::B64);
    let pointer = |lane: usize| {
        let pointer = Pointer::decode(values[lane], space).filter(|_| tags.pointer.has(lane));
        pointer.filter(|pointer| matches!(pointer.area, Area::Shared(_)))
    };
    (std::array::from_fn(pointer), tags)
}

/// Executes `mapa`.
pub(super) fn map_addresses(
    context: &mut Context<'_, '_>,
    dst: Reg,
    (address, rank): (Operand, Operand),
    space: Space,
) -> Result<(), Gap> {
    let (ranks, rank_tags) = context.read(rank, Width::B32);
    context.lanes = context.require_numbers(rank_tags, Sink::Address)?;
    let (pointers, tags) = pointers(context, address, space);
    let variables = context.machine.shared.len().max(1);
    let mut result: Lanes = [0; WARP];
    let (mut mapped, mut lost) = (Mask::NONE, Mask::NONE);
    for lane in context.lanes.without(tags.poison).iter() {
        let Some(Pointer { area: Area::Shared(number), offset }) = pointers[lane] else {
            lost = lost.or(Mask::one(lane));
            continue;
        };
        let rank = usize::try_from(ranks[lane]).unwrap_or(usize::MAX);
        let number = match rank < context.machine.blocks {
            true => rank * variables + number % variables,
            // Points nowhere; an access through it is a fault.
            false if context.machine.blocks > 1 => MAX_SHARED - 1,
            false => {
                return Err(context.gap(format!(
                    "an address is mapped to the block of rank {}, and the cluster has one block",
                    ranks[lane]
                )));
            }
        };
        let base = if space == Space::Generic { window(Space::SharedCluster) } else { 0 };
        result[lane] = Pointer { area: Area::Shared(number), offset }.address().wrapping_add(base);
        mapped = mapped.or(Mask::one(lane));
    }
    let unknown = Tags::unknown(lost, Source::Address);
    let tags = Tags {
        pointer: mapped,
        poison: tags.poison,
        undefined: tags.undefined,
        origin: if lost.is_empty() { None } else { unknown.origin },
        ..unknown
    };
    context.write(dst, &result, tags);
    Ok(())
}

/// Executes `getctarank`.
pub(super) fn rank_of(
    context: &mut Context<'_, '_>,
    dst: Reg,
    address: Operand,
    space: Space,
) -> Result<(), Gap> {
    let (pointers, _) = pointers(context, address, space);
    let variables = context.machine.shared.len().max(1);
    let mut result: Lanes = [0; WARP];
    for lane in context.lanes.iter() {
        let Some(Pointer { area: Area::Shared(number), .. }) = pointers[lane] else {
            return Err(context.gap("`getctarank` is asked about an unknown address"));
        };
        if number >= context.machine.blocks * variables {
            return Err(context.gap("`getctarank` is asked about an address outside the cluster"));
        }
        result[lane] = (number / variables) as u64;
    }
    context.write(dst, &result, Tags::NUMBER);
    Ok(())
}

/// The rank of the block that owns a pointer's shared memory.
pub(super) fn rank(context: &Context<'_, '_>, pointer: Pointer) -> Option<usize> {
    match pointer.area {
        Area::Shared(number) => Some(number / context.machine.shared.len().max(1)),
        _ => None,
    }
}

/// Records a fault of a copy between blocks and ends the run: the manual does not define what follows.
pub(super) fn refuse(context: &mut Context<'_, '_>, lane: usize, fault: ClusterFault) -> Gap {
    context.record_fault(Fault::Cluster(Box::new(fault)), Mask::one(lane));
    context.gap("this copy between blocks is undefined")
}

/// Returns the same place in the block of another rank.
pub(super) fn in_block(context: &Context<'_, '_>, pointer: Pointer, rank: usize) -> Pointer {
    let variables = context.machine.shared.len().max(1);
    match pointer.area {
        Area::Shared(number) => {
            Pointer { area: Area::Shared(rank * variables + number % variables), ..pointer }
        }
        _ => pointer,
    }
}

/// The multicast masks of a copy, in all lanes.
pub(super) fn masks(
    context: &mut Context<'_, '_>,
    multicast: Option<Operand>,
) -> Result<Option<Lanes>, Gap> {
    let Some(mask) = multicast else { return Ok(None) };
    let (values, tags) = context.read(mask, Width::B16);
    context.lanes = context.require_numbers(tags, Sink::Synchronisation)?;
    Ok(Some(values))
}

/// The ranks that a lane's multicast copy goes to.
pub(super) fn ranks(
    context: &mut Context<'_, '_>,
    masks: &Option<Lanes>,
    lane: usize,
) -> Result<Option<Vec<usize>>, Gap> {
    let Some(masks) = masks else { return Ok(None) };
    let (mask, blocks) = ((masks[lane] & 0xffff) as u16, context.machine.blocks);
    match ranks_of(mask, blocks) {
        Some(ranks) => Ok(Some(ranks)),
        None => {
            let blocks = blocks as u32;
            Err(refuse(context, lane, ClusterFault::Mask { mask, blocks }))
        }
    }
}

/// The destinations of a lane's copy: one block, or the same place in several, each with its mbarrier there.
pub(super) fn targets(
    context: &mut Context<'_, '_>,
    masks: &Option<Lanes>,
    lane: usize,
    (shared, signal): (Pointer, Option<Pointer>),
) -> Result<Vec<(Pointer, Option<Pointer>)>, Gap> {
    if let Some(ranks) = ranks(context, masks, lane)? {
        let place = |pointer, rank| in_block(context, pointer, rank);
        let target = |rank| (place(shared, rank), signal.map(|signal| place(signal, rank)));
        return Ok(ranks.into_iter().map(target).collect());
    }
    let ranks = [Some(shared), signal].map(|one| one.and_then(|one| rank(context, one)));
    match ranks {
        [Some(to), Some(at)] if to != at => {
            let (destination, mbarrier) = (to as u32, at as u32);
            let fault = ClusterFault::OtherBlock { destination, mbarrier };
            Err(refuse(context, lane, fault))
        }
        _ => Ok(vec![(shared, signal)]),
    }
}

/// Executes `st.async` and `red.async`.
pub(super) fn store(context: &mut Context<'_, '_>, store: &RemoteStore) -> Result<(), Gap> {
    let element = store.width.bytes();
    let bytes = element * store.srcs.len() as u32;
    let kind = match store.reduce {
        Some(_) => AccessKind::Atomic,
        None => AccessKind::Write,
    };
    let all = context.lanes;
    let targets = resolve(context, store.address, store.space, kind, bytes)?;
    let signals = resolve(context, store.mbarrier, store.space, AccessKind::Atomic, 8)?;
    for lane in all.iter() {
        let usable =
            |set: &super::access::Addresses| set.pointers[lane].filter(|_| set.lanes.has(lane));
        let (Some(target), Some(signal)) = (usable(&targets), usable(&signals)) else {
            return Err(context.gap("an asynchronous store to a wrong address is undefined"));
        };
        check_ranks(context, store, lane, (target, signal))?;
        let Some(found) = locate(context, target, lane, (bytes, bytes), kind) else {
            return Err(context.gap("an asynchronous store to a wrong address is undefined"));
        };
        let id = context.tracker.start_bulk(context.warp.number, lane, false);
        let attributes = AccessAttributes {
            copy: Some(id),
            group: store.reduce.as_ref().and_then(|update| group(context, update)),
            ..AccessAttributes::plain(
                if store.reduce.is_some() { MemoryEffect::Update } else { MemoryEffect::Write },
                context.site,
                element,
            )
        };
        track(context, target, lane, bytes, attributes, SameValue::Different);
        if let Some(start) = found {
            write(context, store, (target, lane, start));
        }
        record_copy_accesses(context, &[(target, kind)], lane, signal);
        mbarrier::deliver(context, signal, lane, (id, bytes))?;
    }
    context.lanes = all;
    Ok(())
}

/// Checks the blocks of an asynchronous store.
fn check_ranks(
    context: &mut Context<'_, '_>,
    store: &RemoteStore,
    lane: usize,
    (target, signal): (Pointer, Pointer),
) -> Result<(), Gap> {
    let (Some(destination), Some(mbarrier)) = (rank(context, target), rank(context, signal)) else {
        return Err(context.gap("an asynchronous store is not to shared memory"));
    };
    let blocks = context.machine.blocks;
    let fault = if blocks == 1 {
        ClusterFault::Alone
    } else if destination != mbarrier {
        let (destination, mbarrier) = (destination as u32, mbarrier as u32);
        ClusterFault::OtherBlock { destination, mbarrier }
    } else if store.reduce.is_some() && destination == context.warp.rank {
        ClusterFault::OwnBlock
    } else {
        return Ok(());
    };
    Err(refuse(context, lane, fault))
}

/// Writes or updates the values of a lane.
fn write(
    context: &mut Context<'_, '_>,
    store: &RemoteStore,
    (target, lane, start): (Pointer, usize, usize),
) {
    let element = store.width.bytes() as usize;
    for (position, &src) in store.srcs.iter().enumerate() {
        let at = start + position * element;
        let (values, tags) = context.read(src, store.width);
        let value = (values[lane], word_of(tags, lane));
        match &store.reduce {
            None => write_element(context, (target.area, lane), at, element, value),
            Some(update) => {
                let (mut old, mut unused) = ([0; WARP], [0; WARP]);
                let read = [&mut old, &mut unused];
                let before =
                    read_element(context, target.area, lane, Some(Some(at)), element, read);
                let operands = [(old[lane], before), value];
                change_element(context, update, (target, lane, at), operands, None);
            }
        }
    }
}

/// Decodes a mask of blocks to ascending ranks; `None` if one is outside the cluster.
fn ranks_of(mask: u16, blocks: usize) -> Option<Vec<usize>> {
    let all = Mask(u32::from(mask));
    let inside = all.iter().all(|rank| rank < blocks);
    (inside && mask != 0).then(|| all.iter().collect())
}
