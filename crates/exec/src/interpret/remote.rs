//! Checks accesses to shared memory of other blocks of the cluster: the block must belong to the cluster, and
//! exist at the time of the access ([`sync::Order`]).

use crate::address::{Area, Pointer};
use crate::cluster_fault::ClusterFault;
use crate::context::Context;
use crate::finding::{AccessKind, Fault};
use crate::lanes::Mask;
use ir::Op;

/// Checks that the block of an allocation exists, and records an access to another block. A copy's access is
/// recorded at its delivery.
pub(super) fn check_block(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    kind: AccessKind,
) -> bool {
    let Some(rank) = context.other_block(pointer.area) else { return true };
    let blocks = context.machine.blocks;
    if rank >= blocks || !exists(context, pointer.area) {
        let fault = ClusterFault::NoSuchRank { kind, blocks: blocks as u32 };
        context.record_fault(Fault::Cluster(Box::new(fault)), Mask::one(lane));
        return false;
    }
    if is_copy(context.machine.op(context.site)) {
        return true;
    }
    let who = (context.warp.number, lane, context.site);
    if !context.tracker.access_remote(who, (pointer.area, pointer.offset), rank) {
        report_not_started(context, pointer, (rank, lane), kind);
    }
    true
}

fn exists(context: &Context<'_, '_>, area: Area) -> bool {
    matches!(area, Area::Shared(number) if number < context.shared.len())
}

/// Reports an access to a block that may not have started.
fn report_not_started(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    (rank, lane): (usize, usize),
    kind: AccessKind,
) {
    let Area::Shared(number) = pointer.area else { return };
    let Some(memory) = context.shared.get(number) else { return };
    let target = memory.target(pointer.offset);
    let copy = is_copy(context.machine.op(context.site));
    let rank = rank as u32;
    let fault = ClusterFault::Lifetime { target, rank, kind, ended: false, copy };
    context.record_fault(Fault::Cluster(Box::new(fault)), Mask::one(lane));
}

/// Records a copy's accesses to shared memory before its delivery at an mbarrier: to another block, or to its
/// own on behalf of another one.
pub(super) fn record_copy_accesses(
    context: &mut Context<'_, '_>,
    pointers: &[(Pointer, AccessKind)],
    lane: usize,
    mbarrier: Pointer,
) {
    if context.machine.blocks == 1 {
        return;
    }
    let variables = context.machine.shared.len().max(1);
    let remote = |area: Area| context.other_block(area).is_some();
    if !remote(mbarrier.area) && !pointers.iter().any(|(pointer, _)| remote(pointer.area)) {
        return;
    }
    let Some(id) = context.tracker.mbarrier(mbarrier.area, mbarrier.offset) else { return };
    let who = (context.warp.number, lane, context.site);
    let all = pointers.iter().copied().chain([(mbarrier, AccessKind::Atomic)]);
    for (pointer, kind) in all {
        let Area::Shared(number) = pointer.area else { continue };
        let rank = number / variables;
        if !context.tracker.copy_remote(who, (pointer.area, pointer.offset), rank, id) {
            report_not_started(context, pointer, (rank, lane), kind);
        }
    }
}

/// Returns `true` if an instruction accesses memory by an agent of its own.
pub(crate) fn is_copy(op: Option<&Op>) -> bool {
    matches!(op, Some(Op::BulkCopy(_) | Op::TensorCopy(_) | Op::RemoteStore(_)))
}
