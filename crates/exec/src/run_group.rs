//! Runs one lane group until it diverges, waits, or uses up its quota.
//!
//! [`crate::interpret`] executes instructions, and [`crate::block`] schedules the groups.

use crate::context::{Context, Flow};
use crate::fast::decode::Step;
use crate::fast::decode_single::Single;
use crate::fast::run_single::lane_alone;
use crate::finding::{Fault, Gap, Place};
use crate::interpret::symbolic::conditional::{check_hint_guard, conditional};
use crate::interpret::{execute, guarded, mbarrier, poll};
use crate::lanes::Mask;
use crate::position::Position;
use crate::racing_reads::poison_reads;
use ir::{BlockId, Guard, Instr, Op, SyncOp, Terminator};
use sync::Site;

/// The outcome of a sequence of instructions: `None` at its end, or what an instruction asks of the scheduler, with
/// the active lanes.
pub(crate) type SequenceEnd = Result<Option<(Mask, Flow)>, Gap>;

/// The progress of a group.
pub(crate) struct GroupProgress {
    /// The instruction that needs the scheduler, or the end of its basic block.
    pub(crate) at: Position,
    /// The number of executed instructions, including the last one and the ends of basic blocks.
    pub(crate) executed: u64,
    pub(crate) ended: SequenceEnd,
}

/// The largest number of instructions of a basic block between two checks of the budget.
const MAX_STRETCH: usize = 1 << 12;

/// Executes a group from `at` to the end of a basic block: the first one after `max_executed` executed instructions,
/// or where lanes diverge. It also stops inside a block longer than [`MAX_STRETCH`].
pub(crate) fn follow(
    context: &mut Context<'_, '_>,
    mut at: Position,
    lanes: Mask,
    max_executed: u64,
) -> GroupProgress {
    let machine = context.machine;
    let (function, code) = (&machine.program.functions[at.function], &machine.codes[at.function]);
    let (mut executed, alone) = (0, lane_alone(context, lanes));
    loop {
        let block = &function.blocks[at.block];
        let rest = Sequence {
            instructions: &block.instructions[at.index..],
            steps: &code.blocks[at.block][at.index..],
            single: &code.single[at.block][at.index..],
        };
        if rest.steps.len() > MAX_STRETCH {
            let (count, ended) = execute_sequence(context, rest.first(MAX_STRETCH), lanes, alone);
            at.index += count;
            executed += count as u64;
            let ended = ended.map(|flow| flow.or(Some((lanes, Flow::Next))));
            let stops = !matches!(ended, Ok(Some((_, Flow::Next))));
            return GroupProgress { at, executed: executed + u64::from(stops), ended };
        }
        let (count, ended) = execute_sequence(context, rest, lanes, alone);
        at.index += count;
        executed += count as u64 + 1;
        let next = match ended {
            Ok(None) if executed < max_executed => {
                let end = context.site;
                common_successor(context, &block.terminator, (end, lanes))
            }
            _ => None,
        };
        let Some(next) = next else { return GroupProgress { at, executed, ended } };
        at = Position::start(at.function, next);
        context.site = machine.site(at);
    }
}

/// The common successor of all lanes at the end of a basic block. `None` if they diverge, or if this must be
/// decided elsewhere.
#[inline]
fn common_successor(
    context: &mut Context<'_, '_>,
    end: &Terminator,
    (site, lanes): (Site, Mask),
) -> Option<BlockId> {
    match end {
        Terminator::Jump(target) => Some(*target),
        Terminator::Branch { guard, then, otherwise, .. } => {
            let operand = guard.register.into();
            let truth = context.registers.predicate(operand);
            let taken = lanes.and(if guard.negated { Mask(!truth.0) } else { truth });
            match context.registers.is_number(operand) {
                true if taken == lanes => {
                    context.report.coverage.guard_holds(site);
                    Some(*then)
                }
                true if taken.is_empty() => Some(*otherwise),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Instructions of a basic block, with their decoded forms.
#[derive(Clone, Copy)]
struct Sequence<'s> {
    instructions: &'s [Instr],
    steps: &'s [Step],
    single: &'s [Single],
}

impl Sequence<'_> {
    /// Returns the first `count` instructions.
    fn first(self, count: usize) -> Self {
        Self {
            instructions: &self.instructions[..count],
            steps: &self.steps[..count],
            single: &self.single[..count],
        }
    }
}

/// Executes instructions in sequence, in all lanes of a group, and returns their number. `alone` is the lane of a group
/// for which instructions [decoded for one lane](Single) are executed as such.
fn execute_sequence(
    context: &mut Context<'_, '_>,
    Sequence { instructions: rest, steps, single }: Sequence<'_>,
    lanes: Mask,
    alone: Option<usize>,
) -> (usize, SequenceEnd) {
    let first = context.site;
    for (executed, step) in steps.iter().enumerate() {
        if let Some(lane) = alone
            && single[executed].execute(context, &rest[executed], (lane, lanes))
        {
            continue;
        }
        if !step.guarded && step.decoded.execute(&mut context.registers, lanes) {
            continue;
        }
        context.site = first + executed as u32;
        match single_step(context, &rest[executed], step, lanes) {
            Ok(None) => {}
            Ok(Some(flow)) => {
                context.report.coverage.stretch(first, context.site + 1);
                return (executed, Ok(Some(flow)));
            }
            Err(gap) => {
                context.report.coverage.stretch(first, context.site);
                return (executed, Err(gap));
            }
        }
    }
    context.site = first + steps.len() as u32;
    context.report.coverage.stretch(first, context.site + 1);
    (steps.len(), Ok(None))
}

/// Returns the lanes in which the guard of an instruction holds. `None` if the guard is undecided and the
/// instruction was executed under its condition.
#[inline]
pub(crate) fn guarded_lanes(
    context: &mut Context<'_, '_>,
    guard: Guard,
    op: &Op,
) -> Result<Option<Mask>, Gap> {
    if let Op::Hint { .. } = op {
        context.report.coverage.guard_holds(context.site);
        return check_hint_guard(context, guard).map(|()| None);
    }
    match guarded(context, guard) {
        Ok(holds) => Ok(Some(holds)),
        Err(gap) => {
            let followed = conditional(context, guard, op)?;
            context.report.coverage.guard_holds(context.site);
            if followed { Ok(None) } else { Err(gap) }
        }
    }
}

/// Executes an instruction that has a guard or no fast path.
fn single_step(
    context: &mut Context<'_, '_>,
    instruction: &Instr,
    step: &Step,
    lanes: Mask,
) -> SequenceEnd {
    context.lanes = lanes;
    context.place = Place { span: instruction.span, location: instruction.location };
    let mut active = lanes;
    if let Some(guard) = instruction.guard {
        match guarded_lanes(context, guard, &instruction.op)? {
            Some(holds) => active = holds,
            None => return Ok(None),
        }
        if active.is_empty() {
            return Ok(None);
        }
        context.report.coverage.guard_holds(context.site);
        if step.decoded.execute(&mut context.registers, active) {
            return Ok(None);
        }
        context.lanes = active;
    }
    if step.of_products && context.tracker.is_checking() {
        touch_products(context, &instruction.op);
    }
    let accesses = is_access(&instruction.op);
    let signals = matches!(instruction.op, Op::Sync(SyncOp::Mbarrier(_)));
    if signals {
        context.tracker.step(context.warp.number, lanes);
    }
    if accesses {
        context.tracker.step(context.warp.number, lanes);
        if context.machine.polls.binary_search(&context.site).is_ok() {
            poll::check(context, &instruction.op)?;
        }
    }
    let flow = match (&instruction.op, context.machine.racing_reads.poisoned()) {
        (Op::Load(load), Some(_)) => {
            let racing = poison_reads::racing_lanes(context, load);
            let flow = execute(context, &instruction.op);
            poison_reads::poison(context, load, &racing);
            flow
        }
        (op, _) => execute(context, op),
    };
    if signals {
        context.tracker.step(context.warp.number, lanes);
    }
    if accesses {
        context.tracker.step(context.warp.number, lanes);
        if context.tracker.touched_mbarrier() {
            mbarrier::check_plain_access(context)?;
        }
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

/// Records an access to registers of products, and reports one that comes too early.
#[cold]
pub(crate) fn touch_products(context: &mut Context<'_, '_>, op: &Op) {
    if let Some(window) = context.registers.record_access(op, context.place) {
        context.record_fault(Fault::ProductRegisters(window), context.lanes);
    }
}

/// Returns `true` if an operation accesses memory.
pub(crate) fn is_access(op: &Op) -> bool {
    let plain = matches!(op, Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::AsyncCopy(_))
        || matches!(
            op,
            Op::BulkCopy(_) | Op::TensorCopy(_) | Op::TensorMap(_) | Op::RemoteStore(_)
        );
    plain
        || matches!(op, Op::LoadMatrix(_) | Op::StoreMatrix(_) | Op::WmmaLoad(_) | Op::WmmaStore(_))
}

/// Returns `true` if the lanes of a warp execute an operation together (`.sync`).
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
        Op::WmmaLoad(_) | Op::WmmaStore(_) | Op::WmmaMma(_) | Op::Wgmma(_) => true,
        _ => false,
    }
}
