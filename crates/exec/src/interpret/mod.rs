//! Executes one instruction in the lanes of a group.
//!
//! Bits are computed in all lanes, active or not, with numbers or not; the tags say which results are meaningful.
//! Scalar semantics is in [`crate::concrete`], tag rules for pointers in [`pointer`], floats and integers with a
//! domain in [`symbolic`]. [`crate::fast`] has the common cases again.

mod access;
mod arithmetic;
mod async_copy;
mod atomic;
mod bulk;
mod call;
mod cluster;
mod collective;
mod encoded;
mod improving;
mod indexed;
mod map_change;
mod matrix;
pub(crate) mod mbarrier;
mod memory;
mod partial;
mod pointer;
pub(crate) mod poll;
mod reduce;
pub(crate) mod remote;
mod scattered;
mod special;
pub(crate) mod symbolic;
mod tensor;
mod tensor_map;
mod tensor_moves;
mod tensor_rounding;
mod tensor_walk;
mod ticket;
pub(crate) mod tracked;
mod wgmma;

use crate::arrival::ClusterArrival;
use crate::context::{Context, Flow};
use crate::fast;
use crate::fast::uniform::{self, Search};
use crate::finding::{Fault, Gap, Sink};
use crate::lanes::{Mask, WARP};
use crate::tags::{Source, Tags};
pub(crate) use atomic::{commute_between_blocks, commutes, rounds};
pub(crate) use call::return_values;
pub(crate) use collective::{Inputs, lanes_exited, same_collective};
use ir::{Guard, Op, Ordering, RegisterPool, Scope, Space, SyncOp};
pub use matrix::original_register;
use sync::{ProxySpace, SyncEvent};

/// Returns the lanes of a group in which a guard holds.
pub(crate) fn guarded(context: &mut Context<'_, '_>, guard: Guard) -> Result<Mask, Gap> {
    let operand = guard.register.into();
    let truth = context.registers.predicate(operand);
    if context.registers.is_number(operand) {
        let holds = if guard.negated { Mask(!truth.0) } else { truth };
        return Ok(holds.and(context.lanes));
    }
    let tags = context.registers.tags(guard.register);
    let holds = if guard.negated { Mask(!truth.0) } else { truth };
    let decided = context.require_numbers(tags, Sink::Control);
    let decided = decided.map_err(|gap| symbolic::explained(context, guard.register, gap))?;
    Ok(holds.and(decided))
}

/// Returns `true` if the engine supports an operation; otherwise a run that reaches it ends with a gap.
#[must_use]
pub fn executes(op: &Op) -> bool {
    !matches!(op, Op::Unsupported { .. })
}

/// Executes an operation in the context's lanes.
#[inline]
pub(crate) fn execute(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    if fast::execute(context, op) {
        return Ok(Flow::Next);
    }
    execute_general(context, op)
}

/// Executes an operation without a fast path, or writes its results if they are known.
#[inline(never)]
fn execute_general(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    match uniform::search(context, op) {
        Search::Found => Ok(Flow::Next),
        Search::NotUniform => execute_with_parts(context, op),
        Search::Missing(key) => {
            let flow = execute_with_parts(context, op);
            uniform::keep(context, op, key);
            flow
        }
    }
}

/// Executes any operation, and tracks encoded addresses and partly undefined values through it.
#[inline]
fn execute_with_parts(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    let encoded = encoded::results(context, op);
    let partial = partial::prepare(context, op);
    if encoded.is_empty() && partial.is_none() {
        // Return the result directly: a copy would read memory right after it was written in pieces, which stalls.
        return by_kind(context, op);
    }
    let flow = by_kind(context, op)?;
    encoded::write(context, &encoded);
    if let Some(partial) = partial {
        partial.finish(context);
    }
    Ok(flow)
}

/// Passes an operation to the module for its kind; in a run with a domain, first to [`symbolic`].
fn by_kind(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    if context.valued.is_some() && symbolic::execute(context, op)? {
        return Ok(Flow::Next);
    }
    match op {
        Op::Load(load) => {
            tracked::order_load(context, load.ordering);
            if !fast::load(context, load) {
                memory::load(context, load)?;
            }
        }
        Op::Store(store) => {
            tracked::fence(context, store.ordering);
            if !fast::store(context, store) {
                memory::store(context, store)?;
            }
        }
        Op::Atomic(atomic) => atomic::execute(context, atomic)?,
        Op::AsyncCopy(copy) => async_copy::execute(context, copy)?,
        Op::BulkCopy(copy) => bulk::execute(context, copy)?,
        Op::TensorCopy(copy) => tensor::execute(context, copy)?,
        Op::TensorMap(op) => return map_change::execute(context, op),
        Op::RemoteStore(store) => cluster::store(context, store)?,
        Op::MapShared { dst, address, rank, space } => {
            cluster::map_addresses(context, *dst, (*address, *rank), *space)?;
        }
        Op::SharedRank { dst, address, space } => {
            cluster::rank_of(context, *dst, *address, *space)?;
        }
        Op::Discard { space, address, bytes } => {
            memory::discard(context, *space, *address, *bytes)?
        }
        Op::Sync(sync) => return synchronize(context, sync),
        Op::Call { callee, arguments, returns } => {
            let function = &context.machine.program.functions[*callee];
            if !function.is_defined() {
                call::external(context, &function.name, returns)?;
                return Ok(Flow::Next);
            }
            call::pass_arguments(context, *callee, arguments);
            return Ok(Flow::Call(*callee));
        }
        Op::Hint { .. } => {}
        Op::Opaque { dst, what } => {
            let tags = Tags::unknown(Mask::ALL, Source::Schedule(what));
            context.write(*dst, &[0; WARP], tags);
        }
        Op::Unsupported { what } => return Err(context.gap(what.clone())),
        Op::Mma(_)
        | Op::LoadMatrix(_)
        | Op::StoreMatrix(_)
        | Op::MoveMatrix(_)
        | Op::WmmaLoad(_)
        | Op::WmmaStore(_)
        | Op::WmmaMma(_) => return matrix::execute(context, op),
        Op::Wgmma(product) => return wgmma::execute(context, product),
        Op::ReadSpecial { dst, special } => special::read(context, *dst, *special),
        Op::AddressOf { dst, symbol, offset } => {
            special::address_of(context, *dst, *symbol, *offset)?
        }
        Op::ConvertAddress { dst, src, space, to_generic } => {
            pointer::convert(context, *dst, *src, *space, *to_generic)?;
        }
        Op::IsSpace { dst, address, space } => pointer::is_space(context, *dst, *address, *space),
        _ => arithmetic::execute(context, op)?,
    }
    Ok(Flow::Next)
}

/// Executes a synchronising operation, or returns what its lanes wait for.
fn synchronize(context: &mut Context<'_, '_>, sync: &SyncOp) -> Result<Flow, Gap> {
    let (warp, lanes) = (context.warp.number, context.lanes);
    match sync {
        SyncOp::Barrier { kind, id, count, aligned } => {
            return collective::barrier(context, kind, *id, *count, *aligned);
        }
        SyncOp::WarpBarrier { mask } => return collective::warp_barrier(context, *mask),
        SyncOp::ClusterBarrier { waits, releases, aligned } => {
            let (waits, releases, aligned) = (*waits, *releases, *aligned);
            return Ok(Flow::Cluster(ClusterArrival { waits, releases, aligned }));
        }
        SyncOp::FenceMbarrierInit => context.tracker.apply(warp, lanes, SyncEvent::FenceInits),
        SyncOp::Fence { ordering, scope } => {
            context.tracker.apply(warp, lanes, SyncEvent::Fence);
            let releases = !matches!(ordering, Some(Ordering::Acquire(_)));
            let acquires = !matches!(ordering, Some(Ordering::Release(_)));
            let wide = *scope != Scope::Cta;
            if matches!(scope, Scope::Gpu | Scope::Sys) {
                context.tracker.fence_widely(warp, lanes, [releases, acquires]);
            }
            let event = SyncEvent::FenceAtMbarriers { releases, acquires, wide };
            context.tracker.apply(warp, lanes, event);
        }
        SyncOp::BulkCommit => context.tracker.apply(warp, lanes, SyncEvent::CommitBulk),
        SyncOp::BulkWait { pending, read } => {
            let event = SyncEvent::WaitForBulk { pending: *pending, read: *read };
            context.tracker.apply(warp, lanes, event);
        }
        SyncOp::ProxyFence(space) => {
            let space = space.map(|space| match space {
                Space::Global => ProxySpace::Global,
                _ => ProxySpace::Shared,
            });
            context.tracker.apply(warp, lanes, SyncEvent::ProxyFence(space));
        }
        SyncOp::MapFence(map) => map_change::fence(context, *map)?,
        SyncOp::Mbarrier(mbarrier) => return mbarrier::execute(context, mbarrier),
        SyncOp::RegisterPool(change) => return Ok(change_registers(context, *change)),
        SyncOp::Wgmma(op) => return Ok(wgmma::synchronize(context, *op)),
        SyncOp::GridWait => context.tracker.wait_for_grids(warp, lanes),
        SyncOp::CommitGroup => context.tracker.apply(warp, lanes, SyncEvent::CommitCopies),
        SyncOp::WaitGroup(pending) => {
            context.tracker.apply(warp, lanes, SyncEvent::WaitForCopies(*pending));
        }
        SyncOp::ActiveMask { dst } => {
            // The schedule chooses the lanes that run together.
            let tags = Tags::unknown(Mask::ALL, Source::Schedule("activemask"));
            context.write(*dst, &[u64::from(context.lanes.0); WARP], tags);
        }
        SyncOp::Shuffle { mask, .. }
        | SyncOp::Vote { mask, .. }
        | SyncOp::Match { mask, .. }
        | SyncOp::Redux { mask, .. }
        | SyncOp::Elect { mask, .. } => {
            let flow = collective::complete(context, *mask)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
            let offered = match sync {
                SyncOp::Shuffle { value, dst, .. } => {
                    Some((encoded::uniform(context, *value), *dst))
                }
                _ => None,
            };
            Inputs::read(context, sync)?.finish(context, sync, lanes)?;
            if let Some((offered, dst)) = offered {
                encoded::shuffled(context, dst, offered);
            }
        }
    }
    Ok(Flow::Next)
}

/// Executes `setmaxnreg` by a whole warp.
fn change_registers(context: &mut Context<'_, '_>, change: RegisterPool) -> Flow {
    let (alive, warp) = (context.warp.alive(), context.warp.number);
    if context.lanes != alive {
        return Flow::Collective(Mask::ALL, context.lanes);
    }
    context.tracker.apply(warp, alive, SyncEvent::Collective);
    if alive != Mask::ALL {
        context.record_fault(Fault::LanesMissing { missing: !alive.0 }, alive);
    }
    context.tracker.group_steps().note(warp, change, context.site);
    Flow::Next
}
