//! Runs a block, or the blocks of a cluster together: their warps in turn and their barriers, until all
//! threads have ended.

use crate::arrival::{Unawaited, Votes};
use crate::budget::Budget;
use crate::context::{Context, Flow, Scratch};
use crate::early_end::{EarlyEnd, Examined};
use crate::finding::{Gap, Thread};
use crate::interpret::{Inputs, lanes_exited, same_collective};
use crate::lanes::{Mask, WARP};
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::position::Position;
use crate::report::Report;
use crate::run_group::{GroupProgress, follow};
use crate::run_path::follow_path;
use crate::tracker::{Shadows, Tracker};
use crate::undecided::{ControlFlows, Side};
use crate::value::Valued;
use crate::warp::{Group, State, Warp};
use ir::Op;
use std::rc::Rc;
use sync::{Shape, SyncEvent};

/// Instructions of a lane between two checks of the budget.
const MAX_UNCHECKED_STEPS: u64 = 1 << 10;

/// A running block, or a cluster of them. Warps are numbered across the cluster in rank order, and so is
/// shared memory.
pub(crate) struct BlockRun<'b, 'p> {
    pub(crate) machine: &'b Machine<'p>,
    pub(crate) global: &'b mut [Allocation],
    /// Findings of the block.
    pub(crate) report: Report,
    pub(crate) budget: Budget,
    /// The number of the cluster, or of a lone block.
    pub(crate) unit: u64,
    /// Positions of the blocks, by rank.
    positions: Vec<[u32; 3]>,
    pub(crate) shared: Vec<Allocation>,
    pub(crate) warps: Vec<Warp>,
    pub(crate) tracker: Tracker,
    /// Predicates at each barrier of each block.
    pub(crate) votes: Vec<[Votes; 16]>,
    /// Barrier generations without a waiting thread.
    pub(crate) unawaited: Unawaited,
    scratch: Scratch,
    pub(crate) valued: Option<Valued<'b>>,
    /// Sides of undecided branches, outermost first.
    pub(crate) sides: Vec<Side>,
    pub(crate) control_flows: ControlFlows,
    /// Instructions that a warp has executed on the sides of the outermost undecided branch.
    pub(crate) conditional_steps: u64,
    /// Set in runs that may end early, unless the block runs speculatively.
    pub(crate) early_end: Option<EarlyEnd<'b>>,
    pub(crate) examined: Examined,
}

impl<'b, 'p> BlockRun<'b, 'p> {
    pub(crate) fn new(
        machine: &'b Machine<'p>,
        global: &'b mut [Allocation],
        budget: Budget,
        mut shadows: Shadows,
    ) -> Self {
        let threads = machine.launch.threads() as usize;
        let mbarriers = machine.uses_mbarriers();
        let agents = machine.copies_asynchronously() || mbarriers;
        let blocks = machine.blocks;
        let is_alone = threads == 1 && blocks == 1 && !machine.general;
        shadows.alone = (is_alone || machine.racing_reads.finds_uses()) && !agents;
        let of_block = threads.div_ceil(WARP);
        let warps = (0..of_block * blocks).map(|number| {
            let before = number % of_block * WARP;
            let exists = Mask::first((threads - before).min(WARP) as u32);
            Warp::new(machine, number, exists)
        });
        let warps: Vec<Warp> = warps.collect();
        let clusters = machine.uses_clusters();
        let shape = Shape { warps: of_block.max(1), blocks, mbarriers, clusters };
        let mut tracker = Tracker::new(shape, shadows, machine.racing_reads.history());
        if !agents {
            tracker.forget_known_reads();
        }
        tracker.ignores_shared = machine.racing_reads.ignores_conflicts();
        if tracker.is_checking() && machine.waits_for_grids() {
            tracker.follow_grids();
        }
        Self {
            machine,
            global,
            report: Report::default(),
            budget,
            unit: 0,
            positions: vec![[0; 3]; blocks],
            shared: machine.shared_memory(),
            tracker,
            warps,
            votes: vec![[Votes::default(); 16]; blocks],
            unawaited: Unawaited::default(),
            scratch: Scratch::default(),
            valued: None,
            sides: Vec::new(),
            control_flows: ControlFlows::default(),
            conditional_steps: 0,
            early_end: None,
            examined: Examined::default(),
        }
    }

    /// Starts a block or a cluster, reusing the previous one's registers, memory and groups.
    fn start(&mut self, number: u64) {
        self.unit = number;
        for (rank, position) in self.positions.iter_mut().enumerate() {
            *position = self.machine.launch.position_in_unit(number, rank);
        }
        let cleared = self.shared.iter_mut().map(|memory| memory.states.set_all_undefined()).sum();
        self.report.charge(cleared);
        self.warps.iter_mut().for_each(|warp| warp.restart(self.machine));
        self.tracker.restart(self.positions[0]);
        self.votes.fill([Votes::default(); 16]);
        self.unawaited = Unawaited::default();
        self.examined = Examined::default();
    }

    /// Runs the block or cluster with this number to the end of every thread.
    ///
    /// # Errors
    /// The place where the run could not continue.
    pub(crate) fn run(&mut self, number: u64) -> Result<(), Gap> {
        self.start(number);
        loop {
            let mut progress = false;
            for warp in 0..self.warps.len() {
                while let Some(group) = self.warps[warp].next_group() {
                    progress |= self.run_group(warp, group)?;
                }
            }
            progress |= self.release_barriers()?;
            if progress || self.pass_products() {
                continue;
            }
            if self.warps.iter().all(|warp| warp.groups.is_empty()) {
                self.report_unawaited();
                self.note_unbalanced();
                self.note_group_steps();
                self.report_late_accesses();
                return Ok(());
            }
            return self.deadlock();
        }
    }

    /// A thread of this run.
    pub(crate) fn thread(&self, warp: usize, lane: usize) -> Thread {
        self.machine.launch.thread(self.unit, warp, lane)
    }

    /// Builds the context of an instruction at `at`: everything it can access. [`Self::put_back`] must
    /// follow.
    fn context(&mut self, warp: usize, at: Position, lanes: Mask) -> Context<'_, 'p> {
        let (place, site) = (self.machine.place(at), self.machine.site(at));
        let registers = self.warps[warp].take_registers(self.machine, at.function);
        let rank = self.warps[warp].rank;
        Context {
            machine: self.machine,
            report: &mut self.report,
            global: self.global,
            shared: &mut self.shared,
            warp: &mut self.warps[warp],
            registers,
            layout: &self.machine.layouts[at.function],
            scratch: &mut self.scratch,
            tracker: &mut self.tracker,
            unit: self.unit,
            block: self.positions[rank],
            lanes,
            conditional_lanes: if self.sides.is_empty() { Mask::NONE } else { lanes },
            path: self.sides.last().map(|side| Rc::clone(&side.path)),
            conditional_fault: None,
            place,
            site,
            valued: self.valued.as_mut().map(Valued::reborrow),
        }
    }

    /// Runs an action in the context of a place.
    pub(crate) fn with_context<T>(
        &mut self,
        warp: usize,
        at: Position,
        lanes: Mask,
        action: impl FnOnce(&mut Context<'_, 'p>) -> T,
    ) -> T {
        let mut context = self.context(warp, at, lanes);
        let result = action(&mut context);
        let registers = std::mem::take(&mut context.registers);
        self.warps[warp].put_registers(at.function, registers);
        result
    }

    /// Runs a group to the end of a basic block, or until it must wait. Returns `true` if anything was
    /// executed.
    pub(crate) fn run_group(&mut self, warp: usize, group: usize) -> Result<bool, Gap> {
        let Group { lanes, at: start, .. } = self.warps[warp].groups[group];
        let conditional = !self.sides.is_empty();
        // If the warp has other groups it stops at every basic block, so that they can reconverge.
        let max_steps = match self.warps[warp].groups.len() {
            1 if !self.machine.general => {
                MAX_UNCHECKED_STEPS.min(self.budget.remaining() / u64::from(lanes.count().max(1)))
            }
            _ => 0,
        };
        let GroupProgress { at: here, executed, ended } =
            self.with_context(warp, start, lanes, |context| match conditional {
                true => follow_path(context, start, lanes),
                false => follow(context, start, lanes, max_steps),
            });
        self.warps[warp].groups[group].at = here;
        if conditional {
            self.conditional_steps += executed;
        }
        self.spend(warp, group, executed)?;
        let Some((active, flow)) = ended? else {
            let block = &self.machine.program.functions[here.function].blocks[here.block];
            self.terminate(warp, group, &block.terminator)?;
            return Ok(true);
        };
        // Lanes with a false guard skip the instruction.
        if active != lanes {
            let passing = self.warps[warp].split(group, lanes.without(active));
            self.warps[warp].groups[passing].at = here.next();
        }
        let done = executed > 1 || active != lanes;
        match flow {
            Flow::Next => Ok(true),
            Flow::Call(callee) => {
                let caller = &mut self.warps[warp].groups[group];
                caller.calls.push(here);
                caller.at = Position::start(callee, base::Index::from_position(0));
                Ok(true)
            }
            Flow::Divide(ready) => {
                self.warps[warp].split(group, ready);
                Ok(true)
            }
            Flow::Collective(mask, same) => {
                Ok(self.wait_for_collective(warp, group, mask, same)? || done)
            }
            Flow::WarpBarrier(mask, same) => Ok(self.warp_barrier(warp, group, mask, same) || done),
            Flow::Barrier(arrival) => {
                self.warps[warp].groups[group].state =
                    State::Barrier { arrival, registered: false };
                self.register(warp)?;
                Ok(true)
            }
            Flow::Mbarrier(state) => {
                self.warps[warp].groups[group].state = State::Mbarrier(state);
                Ok(true)
            }
            Flow::WarpGroup(pending) => {
                self.warps[warp].groups[group].state = State::WarpGroup(pending);
                Ok(true)
            }
            Flow::Cluster(arrival) => {
                self.warps[warp].groups[group].state =
                    State::Cluster { arrival, registered: false };
                self.register_at_cluster(warp)?;
                Ok(true)
            }
        }
    }

    /// Counts executed instructions, and stops a run that exceeds its budget.
    #[inline]
    fn spend(&mut self, warp: usize, group: usize, count: u64) -> Result<(), Gap> {
        let cost = u64::from(self.warps[warp].groups[group].lanes.count()) * count;
        self.report.charge(std::mem::take(&mut self.warps[warp].cleared));
        self.report.lane_instructions += cost;
        let cost = cost + std::mem::take(&mut self.report.charged);
        self.charge_budget(warp, cost, |warp| &warp.groups[group])?;
        self.end_early()
    }

    /// Charges the budget for a group of a warp.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub(crate) fn charge_budget<'g>(
        &'g mut self,
        warp: usize,
        cost: u64,
        group: impl FnOnce(&'g Warp) -> &'g Group,
    ) -> Result<(), Gap> {
        self.report.spent += cost;
        let Err(exhausted) = self.budget.spend(cost) else { return Ok(()) };
        let at = &self.warps[warp];
        let last = (self.positions[at.rank], at.in_block, group(at));
        let executed = self.report.before + self.report.lane_instructions;
        Err(exhausted.gap(self.machine, last, executed))
    }

    /// Handles a collective with missing lanes: the lanes `same`, which have this mask, wait and join others at the
    /// same place. Returns `true` if a lane can continue.
    fn wait_for_collective(
        &mut self,
        number: usize,
        group: usize,
        mask: Mask,
        same: Mask,
    ) -> Result<bool, Gap> {
        let warp = &mut self.warps[number];
        let divides = same != warp.groups[group].lanes;
        let group = if divides { warp.split(group, same) } else { group };
        warp.groups[group].state = State::AtCollective(mask);
        let before = warp.groups.len();
        let merged = warp.merge(group);
        // Other lanes have joined, so perhaps none is missing any more.
        if warp.groups.len() < before {
            warp.groups[merged].state = State::Ready;
            return Ok(true);
        }
        Ok(self.complete_across_instructions(number, merged, mask)? || divides)
    }

    /// Executes a collective if all named lanes have reached a matching one. Their instructions may differ (manual
    /// §9.7.9.6: with the same qualifiers and mask).
    fn complete_across_instructions(
        &mut self,
        number: usize,
        group: usize,
        mask: Mask,
    ) -> Result<bool, Gap> {
        let machine = self.machine;
        let sync = |at: Position| match machine.op_at(at) {
            Some(Op::Sync(sync)) => Some(sync),
            _ => None,
        };
        let warp = &self.warps[number];
        let Some(wanted) = sync(warp.groups[group].at) else { return Ok(false) };
        let alike = |other: &&Group| {
            other.state == State::AtCollective(mask)
                && sync(other.at).is_some_and(|other| same_collective(wanted, other))
        };
        let parts: Vec<(Mask, Position)> =
            warp.groups.iter().filter(alike).map(|group| (group.lanes, group.at)).collect();
        let here = parts.iter().fold(Mask::NONE, |all, (lanes, _)| all.or(*lanes));
        if parts.len() < 2 || !mask.and(warp.alive()).without(here).is_empty() {
            return Ok(false);
        }
        let mut inputs = Inputs::default();
        for &(lanes, at) in &parts {
            let Some(sync) = sync(at) else { continue };
            let more =
                self.with_context(number, at, lanes, |context| Inputs::read(context, sync))?;
            inputs.merge(&more, lanes);
        }
        for &(lanes, at) in &parts {
            let Some(sync) = sync(at) else { continue };
            self.with_context(number, at, lanes, |context| inputs.finish(context, sync, here))?;
        }
        self.report.syncs.warp += u64::from(here.count());
        for group in &mut self.warps[number].groups {
            if parts.iter().any(|(lanes, at)| group.lanes == *lanes && group.at == *at) {
                group.state = State::Ready;
                group.at = group.at.next();
            }
        }
        Ok(true)
    }

    /// Executes `bar.warp.sync` if all named lanes wait at a `bar.warp.sync` with this mask.
    fn warp_barrier(&mut self, number: usize, group: usize, mask: Mask, same: Mask) -> bool {
        let (machine, warp) = (self.machine, &mut self.warps[number]);
        let group = if same == warp.groups[group].lanes { group } else { warp.split(group, same) };
        warp.groups[group].state = State::WarpBarrier(mask);
        let at = warp.groups[group].at;
        let waits = |state: State| state == State::WarpBarrier(mask);
        let here = warp.groups.iter().filter(|group| waits(group.state));
        let here = here.fold(Mask::NONE, |lanes, group| lanes.or(group.lanes));
        if !mask.and(warp.alive()).without(here).is_empty() {
            return false;
        }
        for group in warp.groups.iter_mut().filter(|group| waits(group.state)) {
            group.state = State::Ready;
            group.at = group.at.next();
        }
        // Lanes outside the mask only wait, without ordering guarantees.
        let (members, exited) = (here.and(mask), warp.exited.and(mask));
        if !warp.exited.and(mask).is_empty() {
            let fault = lanes_exited(machine, warp, mask);
            self.with_context(number, at, members, |context| context.record_fault(fault, members));
        }
        self.tracker.apply(number, members, SyncEvent::WarpBarrier);
        if !exited.is_empty() {
            self.tracker.apply(number, members.or(exited), SyncEvent::Wait);
        }
        self.tracker.note_event(number, members, machine.site(at));
        self.report.syncs.warp += u64::from(here.count());
        true
    }

    /// Registers warps whose lanes have all come, and releases complete barriers.
    fn release_barriers(&mut self) -> Result<bool, Gap> {
        let mut progress = self.retry_collectives() | self.wake_waiters() | self.wake_products();
        for number in 0..self.warps.len() {
            progress |= self.register(number)? | self.register_at_cluster(number)?;
        }
        for rank in 0..self.positions.len() {
            for id in 0..16 {
                if self.tracker.is_complete(rank, id) {
                    self.release(rank, id);
                    progress = true;
                }
            }
        }
        Ok(progress | self.resume_at_cluster())
    }
}
