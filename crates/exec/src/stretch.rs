//! Executes instructions of a block one after the other, in the lanes of a group.

use crate::decode::Step;
use crate::finding::{Gap, Place};
use crate::interpret::{Context, Flow, conditional, execute, guarded};
use crate::lanes::Mask;
use ir::{Instr, Op, SyncOp};

/// How a stretch of instructions ended: at its end, or at one that is more than a step, with the
/// lanes that take part in it.
pub(crate) type Flowing = Result<Option<(Mask, Flow)>, Gap>;

/// Executes instructions one after the other, in all lanes of a group; how many were done.
pub(crate) fn straight(
    context: &mut Context<'_, '_>,
    rest: &[Instr],
    steps: &[Step],
    lanes: Mask,
) -> (usize, Flowing) {
    let first = context.site;
    for (executed, step) in steps.iter().enumerate() {
        if !step.guarded && step.decoded.execute(&mut context.registers, lanes) {
            continue;
        }
        context.site = first + executed as u32;
        match single_step(context, &rest[executed], step, lanes) {
            Ok(None) => {}
            Ok(Some(flow)) => return (executed, Ok(Some(flow))),
            Err(gap) => return (executed, Err(gap)),
        }
    }
    (steps.len(), Ok(None))
}

/// Executes an instruction that is guarded or not of the common kind.
fn single_step(
    context: &mut Context<'_, '_>,
    instruction: &Instr,
    step: &Step,
    lanes: Mask,
) -> Flowing {
    context.lanes = lanes;
    context.place = Place { span: instruction.span, location: instruction.location };
    let mut active = lanes;
    if let Some(guard) = instruction.guard {
        match guarded(context, guard) {
            Ok(holds) => active = holds,
            Err(gap) => {
                let followed = conditional(context, guard, &instruction.op)?;
                return if followed { Ok(None) } else { Err(gap) };
            }
        }
        if active.is_empty() || step.decoded.execute(&mut context.registers, active) {
            return Ok(None);
        }
        context.lanes = active;
    }
    let accesses = is_access(&instruction.op);
    if accesses {
        context.tracker.step(context.warp.number, lanes);
    }
    let flow = execute(context, &instruction.op);
    if accesses {
        context.tracker.step(context.warp.number, lanes);
    }
    match flow? {
        Flow::Next => {
            if is_collective(&instruction.op) {
                context.report.syncs.warp += u64::from(active.count());
            }
            Ok(None)
        }
        flow => Ok(Some((active, flow))),
    }
}

/// Whether an operation touches memory.
fn is_access(op: &Op) -> bool {
    let plain = matches!(op, Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::AsyncCopy(_));
    plain
        || matches!(op, Op::LoadMatrix(_) | Op::StoreMatrix(_) | Op::WmmaLoad(_) | Op::WmmaStore(_))
}

/// Whether the lanes of a warp execute an operation together (`.sync`).
fn is_collective(op: &Op) -> bool {
    match op {
        Op::Sync(sync) => matches!(
            sync,
            SyncOp::Shuffle { .. }
                | SyncOp::Vote { .. }
                | SyncOp::Match { .. }
                | SyncOp::Redux { .. }
                | SyncOp::Elect { .. }
        ),
        Op::Mma(_) | Op::LoadMatrix(_) | Op::StoreMatrix(_) | Op::MoveMatrix(_) => true,
        Op::WmmaLoad(_) | Op::WmmaStore(_) | Op::WmmaMma(_) => true,
        _ => false,
    }
}
