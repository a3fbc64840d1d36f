//! Reports memory accesses of instructions to [`crate::tracker`].

use crate::address::Pointer;
use crate::context::Context;
use crate::lanes::{Mask, WARP};
use crate::tracker::AccessAttributes;
use ir::{Load, Ordering};
use sync::{MemoryEffect, SameValue, SyncEvent};

/// Reports the reads of a load, in the same groups as [`crate::fast`]: lanes that read the same address
/// together, if the first one shares its address.
pub(super) fn track_load(
    context: &mut Context<'_, '_>,
    load: &Load,
    (lanes, pointers): (Mask, &[Option<Pointer>; WARP]),
    bytes: u32,
) {
    let attributes = load_attributes(context, load);
    let mut visit = |lanes: Mask, pointer: Pointer| {
        let target = (pointer.area, pointer.offset, bytes);
        let who = (context.warp.number, lanes);
        context.tracker.access(who, target, attributes, SameValue::Different);
    };
    let (mut rest, mut groups_lanes) = (lanes, true);
    while let Some(lane) = rest.lowest() {
        let alike =
            |other: &usize| *other == lane || groups_lanes && pointers[*other] == pointers[lane];
        let same = Mask(rest.iter().filter(alike).fold(0, |mask, lane| mask | 1 << lane));
        if let Some(pointer) = pointers[lane] {
            visit(same, pointer);
        }
        groups_lanes &= rest != lanes || same.count() > 1;
        rest = rest.without(same);
    }
}

/// Records the ordering of a load: one that is not weak observes other threads, and one that acquires acts as
/// a fence.
pub(super) fn order_load(context: &mut Context<'_, '_>, ordering: Ordering) {
    fence(context, ordering);
    if ordering != Ordering::Weak {
        let (warp, lanes) = (context.warp.number, context.lanes);
        context.tracker.apply(warp, lanes, SyncEvent::Observe);
    }
}

/// The attributes of a load's accesses.
pub(crate) fn load_attributes(context: &Context<'_, '_>, load: &Load) -> AccessAttributes {
    let attributes = AccessAttributes::plain(MemoryEffect::Read, context.site, load.width.bytes());
    AccessAttributes { non_coherent: load.non_coherent, ..attributes }
}

/// Records a fence for accesses that acquire or release.
pub(super) fn fence(context: &mut Context<'_, '_>, ordering: Ordering) {
    if matches!(ordering, Ordering::Acquire(_) | Ordering::Release(_) | Ordering::AcquireRelease(_))
    {
        let (warp, lanes) = (context.warp.number, context.lanes);
        context.tracker.apply(warp, lanes, SyncEvent::Fence);
    }
}

/// Reports a lane's access. A buffer without bounds has no start, so its own offsets are used.
pub(super) fn track(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    bytes: u32,
    attributes: AccessAttributes,
    same: SameValue,
) {
    let who = (context.warp.number, Mask::one(lane));
    context.tracker.access(who, (pointer.area, pointer.offset, bytes), attributes, same);
}
