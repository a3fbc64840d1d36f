//! Stores and updates at data-dependent addresses. They are kept until the end of the launch
//! ([`crate::scatter`]).

use super::access::{must_report_store, report_before_grid_wait};
use super::indexed::{self, Indexed};
use super::symbolic;
use super::tracked::fence;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Sink};
use crate::lanes::Mask;
use crate::memory::state;
use crate::value::bytes::{Bytes, ZERO};
use crate::value::data_writes::{DataWrite, WriteKind, Writer};
use ir::{Atomic, Operand, Ordering, Store};
use sync::LaneId;

/// Records a lane's store.
pub(super) fn store(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    store: &Store,
) -> Result<(), Gap> {
    let size = store.width.bytes();
    let all = size * store.srcs.len() as u32;
    if size > 8 || store.ordering != Ordering::Weak {
        return Err(indexed::not_followed(context, one, AccessKind::Write));
    }
    if !can_be_recorded(context, one, AccessKind::Write, all)? {
        return Ok(());
    }
    for (position, &src) in store.srcs.iter().enumerate() {
        check_stored_value(context, one, src);
        let content = symbolic::content(context, src, one.lane);
        let at = i128::from(size) * position as i128;
        record_write(context, one, (WriteKind::Store, at, size), content)?;
    }
    Ok(())
}

/// Checks a stored value: it must be defined, and determined by the launch and its inputs.
fn check_stored_value(context: &mut Context<'_, '_>, one: &Indexed, src: Operand) {
    let (tags, lane) = (context.registers.operand_tags(src), Mask::one(one.lane));
    if tags.poison.has(one.lane) {
        let origin = tags.undefined;
        context.record_fault(Fault::Undefined { reaches: Sink::Output, origin }, lane);
    }
    if must_report_store(context, one.area) {
        context.doubt_undetermined(tags, Sink::Output, lane);
    }
}

/// Records a lane's addition or other update of an element. Its result must be unused.
pub(super) fn update(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    atomic: &Atomic,
) -> Result<(), Gap> {
    let kind = WriteKind::of(atomic).filter(|_| atomic.b.is_none());
    let used = atomic.dsts.iter().flatten().any(|&dst| context.layout.is_read(dst));
    let Some(kind) = kind.filter(|_| !used) else {
        return Err(indexed::not_followed(context, one, AccessKind::Atomic));
    };
    let size = atomic.scalar.width().bytes();
    let packed = usize::from(atomic.packed);
    let all = size * (packed * atomic.a.len()) as u32;
    if !can_be_recorded(context, one, AccessKind::Atomic, all)? {
        return Ok(());
    }
    if !is_initialised(context, one, all)? {
        return Ok(());
    }
    fence(context, atomic.ordering);
    for (position, &operand) in atomic.a.iter().enumerate() {
        let content = symbolic::content(context, operand, one.lane);
        for part in 0..packed {
            let from = part * size as usize;
            let mut element = ZERO;
            element[..size as usize].copy_from_slice(&content[from..from + size as usize]);
            let at = i128::from(size) * (position * packed + part) as i128;
            record_write(context, one, (kind, at, size), element)?;
        }
    }
    Ok(())
}

/// Returns `true` if everything that an update may read was written. If nothing of it was, that is a fault,
/// which is recorded.
fn is_initialised(context: &mut Context<'_, '_>, one: &Indexed, bytes: u32) -> Result<bool, Gap> {
    let Area::Global(number) = one.area else { return Ok(true) };
    let bounds = context.valued.as_mut().and_then(|valued| valued.domain.bounds(one.offset.0));
    let Some(memory) = context.global.get(number) else { return Ok(true) };
    let ends = bounds.and_then(|bounds| {
        let low = usize::try_from(bounds.low + one.offset.1).ok()?;
        let over = usize::try_from(bounds.high + one.offset.1 + i128::from(bytes)).ok()?;
        memory.states.get(low..over).map(|states| (low, states))
    });
    let Some((low, states)) = ends else {
        return Err(indexed::not_followed(context, one, AccessKind::Atomic));
    };
    if !states.contains(&state::UNDEFINED) {
        return Ok(true);
    }
    if states.iter().all(|one| *one == state::UNDEFINED) {
        let target = memory.target(low as i64);
        context.record_fault(Fault::DependsOnInitial { target }, Mask::one(one.lane));
        return Ok(false);
    }
    let name = memory.name.clone();
    Err(context.gap(format!(
        "`{name}` is updated at a data-dependent place, and some of the possible elements are unwritten"
    )))
}

/// Returns `true` if a write can be kept; a fault is recorded.
fn can_be_recorded(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    kind: AccessKind,
    bytes: u32,
) -> Result<bool, Gap> {
    let Area::Global(number) = one.area else {
        return Err(indexed::not_followed(context, one, kind));
    };
    let Some(memory) = context.global.get(number).filter(|memory| memory.bounded) else {
        return Err(indexed::not_followed(context, one, kind));
    };
    if !memory.allows(kind) {
        let target = memory.target(0);
        context.record_fault(Fault::ReadOnly { target }, Mask::one(one.lane));
        return Ok(false);
    }
    // Without checks, memory is that of one schedule.
    let is_open = context.conditional_lanes.has(one.lane) || context.path.is_some();
    if is_open || !context.tracker.is_checking() {
        return Err(indexed::not_followed(context, one, kind));
    }
    indexed::check_alignment(context, one, (kind, bytes))?;
    if !indexed::in_bounds(context, one, (kind, bytes))? {
        return Ok(false);
    }
    if context.tracker.follows_grids() {
        report_before_grid_wait(context, Pointer { area: one.area, offset: 0 }, one.lane, kind);
    }
    Ok(true)
}

fn record_write(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    (kind, at, size): (WriteKind, i128, u32),
    content: Bytes,
) -> Result<(), Gap> {
    let Area::Global(number) = one.area else { return Ok(()) };
    let warp = context.warp.number;
    // A warp has 32 lanes, and a cluster at most 256 warps.
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    let who = LaneId { warp: warp as u8, lane: one.lane as u8 };
    let events = context.tracker.events_of(warp);
    let by = Writer { site: context.site, unit: context.unit, who, events };
    let (value, more) = one.offset;
    let place = context.valued.as_mut().and_then(|one| one.domain.data_place((value, more + at)));
    let Some(place) = place else {
        return Err(indexed::not_followed(context, one, AccessKind::Write));
    };
    if let Some(valued) = &mut context.valued {
        let scatter = valued.store.scatters.entry(number).or_default();
        scatter.writes.push(DataWrite { kind, place, size, content, by });
    }
    Ok(())
}
