//! Executes the ends of basic blocks: jumps, branches, tables, returns and exits.

use crate::block::BlockRun;
use crate::finding::{Fault, Gap};
use crate::interpret::{guarded, return_values};
use crate::lanes::Mask;
use crate::machine::Machine;
use crate::position::Position;
use crate::undecided::Branch;
use ir::{Op, Operand, Terminator};
use sync::SyncEvent;

impl BlockRun<'_, '_> {
    /// Ends the threads of a group.
    fn exit(&mut self, number: usize, group: usize) {
        let warp = &mut self.warps[number];
        let (lanes, at) = (warp.groups[group].lanes, warp.groups[group].at);
        warp.exit(group, lanes);
        let others_continue = !warp.alive().is_empty();
        self.tracker.apply(number, lanes, SyncEvent::Exit { others_continue });
        self.report_in_flight(number, (at, lanes), others_continue);
    }

    /// Executes the end of a basic block.
    pub(crate) fn terminate(
        &mut self,
        warp: usize,
        group: usize,
        end: &Terminator,
    ) -> Result<(), Gap> {
        let Position { function, .. } = self.warps[warp].groups[group].at;
        let (at, lanes) = (self.warps[warp].groups[group].at, self.warps[warp].groups[group].lanes);
        match end {
            Terminator::Jump(target) => {
                self.warps[warp].groups[group].at = Position::start(function, *target);
                self.warps[warp].merge(group);
            }
            Terminator::Branch { guard, then, otherwise, .. } => {
                let taken = self.with_context(warp, at, lanes, |context| {
                    let tags = context.registers.tags(guard.register);
                    let (poisoned, schedule_dependent) =
                        (tags.poison.and(lanes), tags.undetermined());
                    let taken = guarded(context, *guard).map_err(|gap| match schedule_dependent
                        .and(lanes)
                    {
                        Mask::NONE => gap,
                        _ => mention_possible_wait(context.machine, at, gap),
                    })?;
                    match poisoned.is_empty() {
                        true => Ok(taken),
                        false => Err(context.gap("an undefined value decides a branch")),
                    }
                });
                let taken = match taken {
                    Ok(taken) => taken,
                    Err(gap) => {
                        let (guard, then, otherwise) = (*guard, *then, *otherwise);
                        let branch = Branch { guard, then, otherwise };
                        return self.branch_on_data(warp, group, branch, gap);
                    }
                };
                if !taken.is_empty() {
                    self.report.coverage.guard_holds(self.machine.site(at));
                }
                self.branch(warp, group, &[(taken, *then), (lanes.without(taken), *otherwise)]);
            }
            Terminator::Table { index, targets, .. } => {
                let ways = self.table(warp, at, lanes, *index, targets)?;
                self.branch(warp, group, &ways);
            }
            Terminator::Return if self.arrive_at_end(warp, group, end)? => {
                self.return_from_call(warp, group)
            }
            Terminator::Exit if self.arrive_at_end(warp, group, end)? => self.exit(warp, group),
            Terminator::Return | Terminator::Exit => {}
            Terminator::Trap => {
                return self.with_context(warp, at, lanes, |context| {
                    context.record_fault(Fault::Trap, lanes);
                    Err(match context.path.is_some() {
                        true => context.conditional_gap("the kernel may trap here"),
                        false => context.gap("the kernel traps here"),
                    })
                });
            }
        }
        Ok(())
    }

    /// Returns the lanes for each target of a branch table.
    fn table(
        &mut self,
        warp: usize,
        at: Position,
        lanes: Mask,
        index: Operand,
        targets: &[ir::BlockId],
    ) -> Result<Vec<(Mask, ir::BlockId)>, Gap> {
        self.with_context(warp, at, lanes, |context| {
            let (values, tags) = context.read(index, ir::Width::B32);
            if !tags.is_number_in(lanes) {
                return Err(context.gap("a branch table is indexed by an unknown value"));
            }
            let mut ways: Vec<(Mask, ir::BlockId)> = Vec::new();
            for lane in lanes.iter() {
                let Some(&target) = targets.get(values[lane] as usize) else {
                    return Err(context.gap("the index is past the end of the branch table"));
                };
                match ways.iter_mut().find(|(_, known)| *known == target) {
                    Some((lanes, _)) => *lanes = lanes.or(Mask(1 << lane)),
                    None => ways.push((Mask(1 << lane), target)),
                }
            }
            Ok(ways)
        })
    }

    /// Splits the lanes of a group between targets.
    pub(crate) fn branch(&mut self, warp: usize, group: usize, ways: &[(Mask, ir::BlockId)]) {
        let warp = &mut self.warps[warp];
        let function = warp.groups[group].at.function;
        let mut ways = ways.iter().filter(|(lanes, _)| !lanes.is_empty());
        let Some((_, first)) = ways.next() else { return };
        for (lanes, target) in ways {
            let other = warp.split(group, *lanes);
            warp.groups[other].at = Position::start(function, *target);
        }
        warp.groups[group].at = Position::start(function, *first);
        warp.merge(group);
    }

    /// Returns from a call, or ends the threads of a kernel.
    fn return_from_call(&mut self, warp: usize, group: usize) {
        let Some(call) = self.warps[warp].groups[group].calls.pop() else {
            return self.exit(warp, group);
        };
        let block = &self.machine.program.functions[call.function].blocks[call.block];
        let lanes = self.warps[warp].groups[group].lanes;
        if let Some(Op::Call { callee, returns, .. }) =
            block.instructions.get(call.index).map(|instruction| &instruction.op)
        {
            self.with_context(warp, call, lanes, |context| {
                return_values(context, *callee, returns);
            });
        }
        self.warps[warp].groups[group].at = call.next();
        self.warps[warp].merge(group);
    }
}

/// The gap at a branch on a value that the launch does not determine. In a loop, it mentions a possible wait.
#[cold]
fn mention_possible_wait(machine: &Machine<'_>, at: Position, mut gap: Gap) -> Gap {
    let function = &machine.program.functions[at.function];
    if ir::cfg::innermost_loop(function, at.block).is_some() {
        gap.reason.push_str("; this loop may wait for another thread");
    }
    gap
}
