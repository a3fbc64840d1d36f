//! Branches that a domain does not decide: runs both sides and merges them.
//!
//! The lanes of a group with an open branch condition go one way, under the path condition that this side is
//! taken. They go up to the reconvergence point of the branch (its immediate post-dominator,
//! [`ir::cfg::reconvergence`]) or to the end of the function. Then their registers and local memory are
//! restored to the state at the branch, and they go the other way under the negated condition. Where the
//! sides meet, private state that differs and is live becomes a choice by the branch condition. Memory
//! visible to others is written under the path condition ([`crate::interpret::symbolic::conditional`]).
//! Nothing else of a thread is visible, because everything that others could wait for, or be ordered by, ends
//! the run.
//!
//! This is done at run time and not on the program text (`lift` does that for short branches): a region may
//! have any shape, with calls, loops of known trip counts, several paths to one block, returns and exits.
//! Nested branches recurse, to a depth of [`MAX_DEPTH`], which bounds loops with a data-dependent condition. A
//! branch decided in all lanes costs nothing.
//!
//! Errs towards ending the run. Sides that meet only at the end of the kernel (an early exit) are each
//! followed to it, so the code after them is executed once for each.

use crate::block::BlockRun;
use crate::finding::Gap;
use crate::interpret::symbolic::conditional::Condition;
use crate::interpret::symbolic::{merge, private};
use crate::lanes::Mask;
use crate::memory::Allocation;
use crate::path::Path;
use crate::position::Position;
use crate::registers::Registers;
use crate::warp::{Group, State};
use base::IndexVec;
use ir::{BlockId, FuncId, Guard, Param, Reg, RegisterSet, Terminator};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The largest nesting of branches, which also bounds the iterations of a loop with a data-dependent condition.
const MAX_DEPTH: usize = 128;

/// The largest number of instructions of a warp on the sides of an outermost branch. A loop that ends on every
/// feasible path may not end on an infeasible one, and the domain may not know which is which.
const MAX_STEPS: u64 = 1 << 16;

/// The largest number of bytes of registers and local memory that nested branches may copy.
const MAX_COPIED: usize = 1 << 28;

/// A side of a branch in progress.
#[derive(Debug)]
pub(crate) struct Side {
    pub(crate) path: Rc<Path>,
    /// The function of the branch, and its call depth.
    function: FuncId,
    calls: usize,
    /// The block where the sides meet; `None` for the end of the function.
    end: Option<BlockId>,
    /// Lanes that have arrived there, and their position.
    arrived: Mask,
    at: Option<Position>,
}

/// Control flow of functions with undecided branches.
pub(crate) type ControlFlows = FxHashMap<FuncId, Rc<ControlFlow>>;

/// Reconvergence points of a function, and the live registers there.
#[derive(Debug)]
pub(crate) struct ControlFlow {
    reconvergence: IndexVec<BlockId, Option<BlockId>>,
    live: IndexVec<BlockId, RegisterSet>,
}

/// A conditional branch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub(crate) guard: Guard,
    pub(crate) then: BlockId,
    pub(crate) otherwise: BlockId,
}

/// Private state of a lane.
struct PrivateState {
    registers: Registers,
    local: Vec<Option<Allocation>>,
}

/// The sides of the lanes at a branch.
struct BranchLanes {
    /// Lanes that go one way only.
    taken: Mask,
    not_taken: Mask,
    /// Lanes that go both ways, with their conditions.
    open: Mask,
    condition: Path,
    sides: [Path; 2],
}

impl BlockRun<'_, '_> {
    /// Follows both sides of a branch that is undecided in some lanes of a group.
    ///
    /// # Errors
    /// The given gap if the domain does not track the condition, or a gap on one of the sides.
    #[cold]
    pub(crate) fn branch_on_data(
        &mut self,
        warp: usize,
        group: usize,
        branch: Branch,
        gap: Gap,
    ) -> Result<(), Gap> {
        let Group { lanes, at, .. } = self.warps[warp].groups[group];
        if self.sides.len() >= MAX_DEPTH {
            let reason = format!("{}; {MAX_DEPTH} such branches are open", gap.reason);
            return Err(Gap { reason, ..gap });
        }
        let Some(split) = self.lanes_of_sides(warp, at, lanes, branch.guard) else {
            return Err(gap);
        };
        if self.sides.is_empty() {
            self.conditional_steps = 0;
        }
        if !split.taken.or(split.open).is_empty() {
            self.report.coverage.guard_holds(self.machine.site(at));
        }
        let Branch { then, otherwise, .. } = branch;
        if split.open.is_empty() {
            self.branch(warp, group, &[(split.taken, then), (split.not_taken, otherwise)]);
            return Ok(());
        }
        for (lanes, target) in [(split.taken, then), (split.not_taken, otherwise)] {
            if !lanes.is_empty() {
                let other = self.warps[warp].split(group, lanes);
                self.warps[warp].groups[other].at = Position::start(at.function, target);
            }
        }
        let open = self.warps[warp].groups.swap_remove(group);
        let others = std::mem::take(&mut self.warps[warp].groups);
        let (end, end_position) = self.run_both_sides(warp, &open, &split, [then, otherwise])?;
        self.warps[warp].groups = others;
        self.resume(warp, open, end, end_position)
    }

    /// Returns the sides of each lane. `None` if the domain does not track a condition.
    fn lanes_of_sides(
        &mut self,
        warp: usize,
        at: Position,
        lanes: Mask,
        guard: Guard,
    ) -> Option<BranchLanes> {
        let outer = self.sides.last().map(|side| Rc::clone(&side.path));
        self.with_context(warp, at, lanes, |context| {
            let condition = Condition::new(context, guard)?;
            let poison = context.registers.tags(guard.register).poison.and(lanes);
            if !poison.is_empty() {
                return None;
            }
            let [then, otherwise] =
                [true, false].map(|holds| condition.side(context, outer.as_deref(), holds));
            let (then, otherwise) = (then?, otherwise?);
            let open = then.lanes.and(otherwise.lanes);
            let neither = condition.open.without(then.lanes).without(otherwise.lanes);
            if !neither.is_empty() {
                return None;
            }
            let taken = condition.certain.or(then.lanes.without(open));
            let not_taken = lanes.without(taken).without(open);
            let condition = Path { lanes: open, ..condition.path };
            let sides = [Path { lanes: open, ..then }, Path { lanes: open, ..otherwise }];
            Some(BranchLanes { taken, not_taken, open, condition, sides })
        })
    }

    /// Runs lanes on both sides and merges their state. Returns the block where they meet, and their position
    /// if that is at the end.
    fn run_both_sides(
        &mut self,
        warp: usize,
        group: &Group,
        split: &BranchLanes,
        targets: [BlockId; 2],
    ) -> Result<(Option<BlockId>, Option<Position>), Gap> {
        let Position { function, block, .. } = group.at;
        let control_flow = self.control_flow(function);
        let end = control_flow.reconvergence[block];
        let before = self.copy_private_state(warp, function);
        self.charge_copies(warp, group, before.bytes())?;
        let [then, otherwise] = split.sides.clone();
        let first = self.run_side(warp, (group, end), then, targets[0])?;
        let with = self.copy_private_state(warp, function);
        self.restore_private_state(warp, function, before);
        let second = self.run_side(warp, (group, end), otherwise, targets[1])?;
        self.charge_copies(warp, group, with.bytes())?;
        let ends = [first, second].map(|at| at.map(|at| self.ends_thread(at, group)));
        if ends[0] != ends[1] {
            return Err(self.gap_at(warp, group, "a thread ends on only one side of this branch"));
        }
        self.merge_private(warp, group, (&split.condition, &with), (&control_flow, end))?;
        Ok((end, first))
    }

    /// Charges for the bytes to copy and merge for a branch, in advance: local memory may be large, and
    /// branches deeply nested.
    fn charge_copies(&mut self, warp: usize, group: &Group, bytes: usize) -> Result<(), Gap> {
        if bytes.saturating_mul(self.sides.len() + 1) > MAX_COPIED {
            let reason = "undecided branches are nested, and there is too much local memory to follow both sides";
            return Err(self.gap_at(warp, group, reason));
        }
        // Memory is copied and merged; each costs about one lane instruction for eight bytes.
        self.charge_budget(warp, bytes as u64 / 4, |_| group)
    }

    /// Returns `true` if the end of a basic block ends the thread.
    fn ends_thread(&self, at: Position, group: &Group) -> bool {
        let block = &self.machine.program.functions[at.function].blocks[at.block];
        block.terminator == Terminator::Exit || group.calls.is_empty()
    }

    /// Lets lanes continue after both sides.
    fn resume(
        &mut self,
        warp: usize,
        mut group: Group,
        end: Option<BlockId>,
        end_position: Option<Position>,
    ) -> Result<(), Gap> {
        match (end, end_position) {
            (Some(end), _) => group.at = Position::start(group.at.function, end),
            (None, Some(end_position)) => group.at = end_position,
            (None, None) => return Ok(()),
        }
        let at = group.at;
        self.warps[warp].groups.push(group);
        let last = self.warps[warp].groups.len() - 1;
        match end {
            Some(_) => {
                self.warps[warp].merge(last);
                Ok(())
            }
            None => {
                let block = &self.machine.program.functions[at.function].blocks[at.block];
                self.terminate(warp, last, &block.terminator)
            }
        }
    }

    /// Runs lanes from a block until all of them have reached the end of the side. Returns their position, if
    /// that is the end of the function.
    fn run_side(
        &mut self,
        warp: usize,
        (group, end): (&Group, Option<BlockId>),
        path: Path,
        start: BlockId,
    ) -> Result<Option<Position>, Gap> {
        let (function, lanes) = (group.at.function, path.lanes);
        self.sides.push(Side {
            path: Rc::new(path),
            function,
            calls: group.calls.len(),
            end,
            arrived: Mask::NONE,
            at: None,
        });
        let at = Position::start(function, start);
        self.warps[warp].groups.push(Group { at, state: State::Ready, ..group.clone() });
        self.warps[warp].groups[0].lanes = lanes;
        self.remove_arrived(warp);
        while let Some(next) = self.warps[warp].next_group() {
            let here = self.warps[warp].groups[next].clone();
            self.run_group(warp, next)?;
            self.remove_arrived(warp);
            if self.conditional_steps > MAX_STEPS {
                let reason = "too many instructions follow an undecided branch";
                return Err(self.gap_at(warp, &here, reason));
            }
        }
        let Some(Side { arrived, at, .. }) = self.sides.pop() else { return Ok(None) };
        match arrived == lanes && self.warps[warp].groups.is_empty() {
            true => Ok(at),
            false => Err(self.gap_at(
                warp,
                group,
                "the two sides of this undecided branch do not join again",
            )),
        }
    }

    /// Removes groups that have reached the block where the side ends.
    fn remove_arrived(&mut self, warp: usize) {
        let Some(side) = self.sides.last_mut() else { return };
        let Some(end) = side.end else { return };
        let end = Position::start(side.function, end);
        self.warps[warp].groups.retain(|group| {
            let is_there = group.at == end && group.calls.len() == side.calls;
            if is_there {
                side.arrived = side.arrived.or(group.lanes);
            }
            !is_there
        });
    }

    /// Removes a group that has reached the end of a function or thread, if the side ends there. Returns
    /// `true` if the end is to be executed as usual.
    ///
    /// # Errors
    /// If a thread ends on this side alone.
    pub(crate) fn arrive_at_end(
        &mut self,
        warp: usize,
        group: usize,
        end: &Terminator,
    ) -> Result<bool, Gap> {
        let Some(side) = self.sides.last_mut() else { return Ok(true) };
        let here = &self.warps[warp].groups[group];
        let returns = *end == Terminator::Return;
        if returns && here.calls.len() > side.calls {
            return Ok(true);
        }
        if side.end.is_some() || here.calls.len() != side.calls {
            let here = here.clone();
            return Err(self.gap_at(warp, &here, "a thread ends under an undecided condition"));
        }
        let exits = |terminator: &Terminator| *terminator == Terminator::Exit;
        if let Some(at) = side.at {
            let function = &self.machine.program.functions[at.function];
            let other = &function.blocks[at.block].terminator;
            if side.calls > 0 && exits(other) != exits(end) {
                let here = here.clone();
                return Err(self.gap_at(warp, &here, "a thread ends under an undecided condition"));
            }
        }
        side.arrived = side.arrived.or(here.lanes);
        side.at = Some(here.at);
        self.warps[warp].groups.swap_remove(group);
        Ok(false)
    }

    fn gap_at(&mut self, warp: usize, group: &Group, reason: &str) -> Gap {
        self.with_context(warp, group.at, group.lanes, |context| context.conditional_gap(reason))
    }

    fn control_flow(&mut self, function: FuncId) -> Rc<ControlFlow> {
        let machine = self.machine;
        let control_flow = self.control_flows.entry(function).or_insert_with(|| {
            let function = &machine.program.functions[function];
            let reconvergence = ir::cfg::reconvergence(function);
            Rc::new(ControlFlow { reconvergence, live: ir::live(function) })
        });
        Rc::clone(control_flow)
    }

    fn copy_private_state(&mut self, warp: usize, function: FuncId) -> PrivateState {
        let (machine, warp) = (self.machine, &mut self.warps[warp]);
        let registers = warp.registers(machine, function).clone();
        PrivateState { registers, local: warp.local_memory().to_vec() }
    }

    fn restore_private_state(&mut self, warp: usize, function: FuncId, private: PrivateState) {
        let warp = &mut self.warps[warp];
        warp.put_registers(function, private.registers);
        warp.put_local_memory(private.local);
    }

    /// Makes private state a choice between that of one side and the present one.
    fn merge_private(
        &mut self,
        warp: usize,
        group: &Group,
        (condition, with): (&Path, &PrivateState),
        (control_flow, end): (&ControlFlow, Option<BlockId>),
    ) -> Result<(), Gap> {
        let function = &self.machine.program.functions[group.at.function];
        let returned = |register: Reg| {
            function
                .returns
                .iter()
                .any(|one| matches!(one, Param::Register(of, _) if *of == register))
        };
        let is_live = |register: Reg| match end {
            Some(end) => control_flow.live[end].has(register),
            None => returned(register),
        };
        let live = function.registers.indices().filter(|register| is_live(*register));
        let lanes = condition.lanes;
        self.with_context(warp, group.at, lanes, |context| {
            let merged = merge::merge_registers(context, condition, &with.registers, live);
            merged.ok_or_else(|| {
                context.gap("a 128-bit register is written under an undecided condition")
            })?;
            for (number, memory) in with.local.iter().enumerate() {
                match memory {
                    Some(memory) => private::merge_local(context, condition, number, memory),
                    // Only the other side has used this memory.
                    None if context.warp.local_memory()[number].is_some() => {
                        let unused = context.warp.unused_local(context.machine, number);
                        private::merge_local(context, condition, number, &unused);
                    }
                    None => {}
                }
            }
            Ok(())
        })
    }
}

impl PrivateState {
    /// The approximate number of bytes that a copy of the state takes.
    fn bytes(&self) -> usize {
        let local = self.local.iter().flatten().map(|memory| memory.bytes.len());
        local.sum::<usize>() + self.registers.tag_bytes()
    }
}
