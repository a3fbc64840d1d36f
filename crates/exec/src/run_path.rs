//! Runs one lane group on a side of an undecided branch, to the end of a basic block.
//!
//! Like [`crate::run_group`], with all actions under the path condition of the group
//! ([`crate::interpret::symbolic::conditional`]).

use crate::context::{Context, Flow};
use crate::finding::{Gap, Place};
use crate::interpret::symbolic::conditional::execute_on_path;
use crate::interpret::{mbarrier, poll};
use crate::lanes::Mask;
use crate::position::Position;
use crate::run_group::{GroupProgress, SequenceEnd, guarded_lanes, is_access, touch_products};
use ir::Instr;

/// Executes a group from `at` to the end of its basic block.
pub(crate) fn follow_path(
    context: &mut Context<'_, '_>,
    mut at: Position,
    lanes: Mask,
) -> GroupProgress {
    let machine = context.machine;
    let block = &machine.program.functions[at.function].blocks[at.block];
    let steps = &machine.codes[at.function].blocks[at.block];
    let first = context.site;
    let mut executed = 0;
    for instruction in &block.instructions[at.index..] {
        context.site = first + executed as u32;
        executed += 1;
        let of_products = steps[at.index].of_products;
        match step(context, instruction, of_products, lanes) {
            Ok(None) => at.index += 1,
            ended => {
                let last = context.site + u32::from(ended.is_ok());
                context.report.coverage.stretch(first, last);
                return GroupProgress { at, executed, ended };
            }
        }
    }
    context.site = first + executed as u32;
    context.report.coverage.stretch(first, context.site + 1);
    GroupProgress { at, executed: executed + 1, ended: Ok(None) }
}

fn step(
    context: &mut Context<'_, '_>,
    instruction: &Instr,
    of_products: bool,
    lanes: Mask,
) -> SequenceEnd {
    (context.lanes, context.conditional_lanes) = (lanes, lanes);
    context.place = Place { span: instruction.span, location: instruction.location };
    let mut active = lanes;
    if let Some(guard) = instruction.guard {
        match guarded_lanes(context, guard, &instruction.op)? {
            Some(holds) => active = holds,
            None => return Ok(None),
        }
        if context.conditional_fault.take().is_some() {
            return Err(
                context.conditional_gap("an undefined value may decide whether this is executed")
            );
        }
        if active.is_empty() {
            return Ok(None);
        }
        context.report.coverage.guard_holds(context.site);
        (context.lanes, context.conditional_lanes) = (active, active);
    }
    if of_products && context.tracker.is_checking() {
        touch_products(context, &instruction.op);
    }
    let flow = execute_on_side(context, instruction)?;
    Ok((flow != Flow::Next).then_some((active, flow)))
}

fn execute_on_side(context: &mut Context<'_, '_>, instruction: &Instr) -> Result<Flow, Gap> {
    let accesses = is_access(&instruction.op);
    if accesses && context.machine.polls.binary_search(&context.site).is_ok() {
        poll::check(context, &instruction.op)?;
    }
    let flow = execute_on_path(context, &instruction.op)?;
    if accesses && context.tracker.touched_mbarrier() {
        mbarrier::check_plain_access(context)?;
        if context.conditional_fault.take().is_some() {
            return Err(context.conditional_gap("an mbarrier may be accessed as plain memory"));
        }
    }
    Ok(flow)
}
