//! Runs a block: its warps in turn, its barriers, until all threads have ended.

use crate::budget::Budget;
use crate::decode::Decoded;
use crate::finding::{Fault, Gap, Place};
use crate::interpret::{Arrival, Context, Flow, Scratch, execute, guarded, return_values};
use crate::lanes::{Mask, WARP};
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::report::Report;
use crate::tags::Tags;
use crate::warp::{Group, Position, State, Warp};
use ir::{BarrierKind, Instr, Op, Operand, SyncOp, Terminator};

/// A barrier of the block, in one generation.
#[derive(Clone, Debug, Default)]
struct Barrier {
    /// Warps that have come, by number.
    warps: Vec<usize>,
    /// Threads the generation counts, if an arrival says.
    count: Option<u32>,
    /// Threads that came with a true predicate, and all that came.
    votes: u32,
    voters: u32,
}

/// A block on its way.
pub(crate) struct BlockRun<'b, 'p> {
    pub(crate) machine: &'b Machine<'p>,
    pub(crate) global: &'b mut [Allocation],
    pub(crate) report: &'b mut Report,
    budget: &'b mut Budget,
    position: [u32; 3],
    shared: Vec<Allocation>,
    warps: Vec<Warp>,
    barriers: Vec<Barrier>,
    scratch: Scratch,
}

impl<'b, 'p> BlockRun<'b, 'p> {
    pub(crate) fn new(
        machine: &'b Machine<'p>,
        global: &'b mut [Allocation],
        report: &'b mut Report,
        budget: &'b mut Budget,
    ) -> Self {
        let threads = machine.launch.threads() as usize;
        let warps = (0..threads.div_ceil(WARP)).map(|number| {
            let exists = Mask::first((threads - number * WARP).min(WARP) as u32);
            Warp::new(machine, number, exists)
        });
        Self {
            machine,
            global,
            report,
            budget,
            position: [0; 3],
            shared: machine.shared_memory(),
            warps: warps.collect(),
            barriers: vec![Barrier::default(); 16],
            scratch: Scratch::default(),
        }
    }

    /// Starts a block. What the one before had (registers, memory, groups) is used again.
    fn start(&mut self, number: u64) {
        self.position = self.machine.launch.block_position(number);
        let shared = self.shared.iter_mut().map(|memory| memory.states.forget());
        let warps = self.warps.iter_mut().map(|warp| warp.restart(self.machine));
        self.report.charge(shared.chain(warps).sum());
        self.barriers.fill(Barrier::default());
    }

    /// Runs the block with this number to the end of every thread.
    ///
    /// # Errors
    /// The place where the block could not be followed any further.
    pub(crate) fn run(&mut self, number: u64) -> Result<(), Gap> {
        self.start(number);
        loop {
            let mut progress = false;
            for warp in 0..self.warps.len() {
                while let Some(group) = self.warps[warp].next_group() {
                    progress |= self.run_group(warp, group)?;
                }
            }
            progress |= self.release_barriers();
            if progress {
                continue;
            }
            if self.warps.iter().all(|warp| warp.groups.is_empty()) {
                return Ok(());
            }
            return self.deadlock();
        }
    }

    fn deadlock(&mut self) -> Result<(), Gap> {
        let waiting: u32 =
            self.warps.iter().flat_map(|warp| &warp.groups).map(|group| group.lanes.count()).sum();
        let Some(warp) = self.warps.iter().position(|warp| !warp.groups.is_empty()) else {
            return Ok(());
        };
        let group = &self.warps[warp].groups[0];
        let (at, lanes) = (group.at, group.lanes);
        self.with_context(warp, at, lanes, |context| {
            context.find(Fault::Deadlock { waiting }, lanes);
            Err(context.gap("threads wait for each other here and nobody goes on"))
        })
    }

    /// Everything an instruction at `at` can touch. [`Self::put_back`] must follow.
    fn context(&mut self, warp: usize, at: Position, lanes: Mask) -> Context<'_, 'p> {
        let place = self.machine.place(at);
        let registers = self.warps[warp].take_registers(self.machine, at.function);
        Context {
            machine: self.machine,
            report: self.report,
            global: self.global,
            shared: &mut self.shared,
            warp: &mut self.warps[warp],
            registers,
            layout: &self.machine.layouts[at.function],
            scratch: &mut self.scratch,
            block: self.position,
            lanes,
            place,
        }
    }

    /// Does something in the context of a place.
    fn with_context<T>(
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

    /// Runs a group to the end of its block, or until it must wait; whether anything was done.
    fn run_group(&mut self, warp: usize, group: usize) -> Result<bool, Gap> {
        let machine = self.machine;
        let Group { lanes, at, .. } = self.warps[warp].groups[group];
        let block = &machine.program.functions[at.function].blocks[at.block];
        let rest = &block.instructions[at.index..];
        let decoded = &machine.codes[at.function].blocks[at.block][at.index..];
        let (executed, step) =
            self.with_context(warp, at, lanes, |context| straight(context, rest, decoded, lanes));
        let here = Position { index: at.index + executed, ..at };
        self.warps[warp].groups[group].at = here;
        self.spend(warp, group, executed as u64 + 1)?;
        let Some((active, flow)) = step? else {
            self.terminate(warp, group, &block.terminator)?;
            return Ok(true);
        };
        // Lanes whose guard is false do not take part and go on.
        if active != lanes {
            let passing = self.warps[warp].split(group, lanes.without(active));
            self.warps[warp].groups[passing].at = here.next();
        }
        let done = executed > 0 || active != lanes;
        match flow {
            Flow::Next => Ok(true),
            Flow::Call(callee) => {
                let caller = &mut self.warps[warp].groups[group];
                caller.calls.push(here);
                caller.at = Position::start(callee, base::Index::from_position(0));
                Ok(true)
            }
            Flow::Gather(ready) => Ok(self.gather(warp, group, ready) || done),
            Flow::WarpBarrier(mask, same) => Ok(self.warp_barrier(warp, group, mask, same) || done),
            Flow::Barrier(arrival) => {
                self.arrive(warp, group, arrival);
                Ok(true)
            }
        }
    }

    /// Counts what is executed and stops a run that does not end.
    #[inline]
    fn spend(&mut self, warp: usize, group: usize, count: u64) -> Result<(), Gap> {
        let cost = u64::from(self.warps[warp].groups[group].lanes.count()) * count;
        self.report.lane_instructions += cost;
        let charged = std::mem::take(&mut self.report.charged);
        self.budget.spend(cost + charged).map_err(|exhausted| {
            let last = (self.position, warp, &self.warps[warp].groups[group]);
            exhausted.gap(self.machine, last, self.report.lane_instructions)
        })
    }

    /// A collective lacks lanes. Those that can go on become a group of their own; the rest waits
    /// and joins others at the same place. Whether anybody can go on.
    fn gather(&mut self, warp: usize, group: usize, ready: Mask) -> bool {
        let warp = &mut self.warps[warp];
        if !ready.is_empty() {
            let waiting = warp.groups[group].lanes.without(ready);
            let waiting = warp.split(group, waiting);
            warp.groups[waiting].state = State::Gathering;
            return true;
        }
        warp.groups[group].state = State::Gathering;
        let before = warp.groups.len();
        let merged = warp.merge(group);
        // New lanes have come: perhaps everybody is here now.
        let joined = warp.groups.len() < before;
        if joined {
            warp.groups[merged].state = State::Ready;
        }
        joined
    }

    /// `bar.warp.sync`: done when the lanes named wait at any such instruction with this mask.
    fn warp_barrier(&mut self, warp: usize, group: usize, mask: Mask, same: Mask) -> bool {
        let warp = &mut self.warps[warp];
        let group = if same == warp.groups[group].lanes { group } else { warp.split(group, same) };
        warp.groups[group].state = State::WarpBarrier(mask);
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
        true
    }

    /// Lanes come to a barrier of the block.
    fn arrive(&mut self, warp: usize, group: usize, arrival: Arrival) {
        let lanes = self.warps[warp].groups[group].lanes;
        let barrier = &mut self.barriers[usize::from(arrival.id)];
        barrier.count = barrier.count.or(arrival.count);
        barrier.votes += arrival.votes.count();
        barrier.voters += lanes.count();
        self.warps[warp].groups[group].state =
            State::Barrier { id: arrival.id, waits: arrival.waits, registered: false };
    }

    /// Registers warps whose lanes have all come, and lets go what is complete.
    fn release_barriers(&mut self) -> bool {
        let mut progress = self.retry_collectives();
        for number in 0..self.warps.len() {
            progress |= self.register(number);
        }
        for id in 0..self.barriers.len() {
            if self.is_complete(id) {
                self.release(id);
                progress = true;
            }
        }
        progress
    }

    /// Exited lanes no longer keep others waiting: look again at what waits in a warp.
    fn retry_collectives(&mut self) -> bool {
        let mut progress = false;
        for warp in &mut self.warps {
            let alive = warp.alive();
            if warp.retried == alive {
                continue;
            }
            warp.retried = alive;
            for group in &mut warp.groups {
                if matches!(group.state, State::Gathering | State::WarpBarrier(_)) {
                    group.state = State::Ready;
                    progress = true;
                }
            }
        }
        progress
    }

    /// A warp counts at a barrier when all its lanes that still run are there.
    fn register(&mut self, number: usize) -> bool {
        let warp = &mut self.warps[number];
        let Some(State::Barrier { id, .. }) = warp.groups.first().map(|group| group.state) else {
            return false;
        };
        let all_here = warp
            .groups
            .iter()
            .all(|group| matches!(group.state, State::Barrier { id: other, .. } if other == id));
        let new = warp
            .groups
            .iter()
            .any(|group| matches!(group.state, State::Barrier { registered: false, .. }));
        if !all_here || !new {
            return false;
        }
        self.barriers[usize::from(id)].warps.push(number);
        for group in &mut warp.groups {
            let State::Barrier { id, waits, .. } = group.state else { continue };
            if waits {
                group.state = State::Barrier { id, waits, registered: true };
            } else {
                group.state = State::Ready;
                group.at = group.at.next();
            }
        }
        true
    }

    fn is_complete(&self, id: usize) -> bool {
        let barrier = &self.barriers[id];
        if barrier.warps.is_empty() {
            return false;
        }
        match barrier.count {
            Some(count) => barrier.warps.len() * WARP >= count as usize,
            None => (0..self.warps.len()).all(|number| {
                self.warps[number].alive().is_empty() || barrier.warps.contains(&number)
            }),
        }
    }

    /// Lets everybody go who waits at a barrier, with the result of its reduction.
    fn release(&mut self, id: usize) {
        let Barrier { votes, voters, .. } = std::mem::take(&mut self.barriers[id]);
        for warp in 0..self.warps.len() {
            for group in 0..self.warps[warp].groups.len() {
                let state = self.warps[warp].groups[group].state;
                let here = matches!(state, State::Barrier { id: other, registered: true, .. }
                    if usize::from(other) == id);
                if !here {
                    continue;
                }
                let (at, lanes) =
                    (self.warps[warp].groups[group].at, self.warps[warp].groups[group].lanes);
                self.deliver(warp, at, lanes, votes, voters);
                let group = &mut self.warps[warp].groups[group];
                group.state = State::Ready;
                group.at = at.next();
            }
        }
    }

    fn deliver(&mut self, warp: usize, at: Position, lanes: Mask, votes: u32, voters: u32) {
        let block = &self.machine.program.functions[at.function].blocks[at.block];
        let Some(Op::Sync(SyncOp::Barrier { kind, .. })) =
            block.instructions.get(at.index).map(|instruction| &instruction.op)
        else {
            return;
        };
        let truth = |holds: bool| if holds { Mask::ALL } else { Mask::NONE };
        self.with_context(warp, at, lanes, |context| match kind {
            BarrierKind::Sync | BarrierKind::Arrive => {}
            BarrierKind::Popc { dst, .. } => {
                context.write(*dst, &[u64::from(votes); WARP], Tags::NUMBER);
            }
            BarrierKind::And { dst, .. } => {
                context.write_predicate(*dst, truth(votes == voters), Tags::NUMBER);
            }
            BarrierKind::Or { dst, .. } => {
                context.write_predicate(*dst, truth(votes > 0), Tags::NUMBER);
            }
        });
    }

    /// Follows the end of a block.
    fn terminate(&mut self, warp: usize, group: usize, end: &Terminator) -> Result<(), Gap> {
        let Position { function, .. } = self.warps[warp].groups[group].at;
        let (at, lanes) = (self.warps[warp].groups[group].at, self.warps[warp].groups[group].lanes);
        match end {
            Terminator::Jump(target) => {
                self.warps[warp].groups[group].at = Position::start(function, *target);
                self.warps[warp].merge(group);
            }
            Terminator::Branch { guard, then, otherwise, .. } => {
                let taken = self.with_context(warp, at, lanes, |context| {
                    let poisoned = context.registers.tags(guard.register).poison.and(lanes);
                    let taken = guarded(context, *guard)?;
                    match poisoned.is_empty() {
                        true => Ok(taken),
                        false => Err(context.gap("an undefined value decides a branch")),
                    }
                })?;
                self.branch(warp, group, &[(taken, *then), (lanes.without(taken), *otherwise)]);
            }
            Terminator::Table { index, targets, .. } => {
                let ways = self.table(warp, at, lanes, *index, targets)?;
                self.branch(warp, group, &ways);
            }
            Terminator::Return => self.leave(warp, group),
            Terminator::Exit => self.warps[warp].exit(group, lanes),
            Terminator::Trap => {
                return self.with_context(warp, at, lanes, |context| {
                    context.find(Fault::Trap, lanes);
                    Err(context.gap("the kernel traps here"))
                });
            }
        }
        Ok(())
    }

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
                return Err(context.gap("a branch table is indexed by a value that is not known"));
            }
            let mut ways: Vec<(Mask, ir::BlockId)> = Vec::new();
            for lane in lanes.iter() {
                let Some(&target) = targets.get(values[lane] as usize) else {
                    return Err(context.gap("an index past the end of a branch table"));
                };
                match ways.iter_mut().find(|(_, known)| *known == target) {
                    Some((lanes, _)) => *lanes = lanes.or(Mask(1 << lane)),
                    None => ways.push((Mask(1 << lane), target)),
                }
            }
            Ok(ways)
        })
    }

    /// Sends the lanes of a group on their ways.
    fn branch(&mut self, warp: usize, group: usize, ways: &[(Mask, ir::BlockId)]) {
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
    fn leave(&mut self, warp: usize, group: usize) {
        let Some(call) = self.warps[warp].groups[group].calls.pop() else {
            let lanes = self.warps[warp].groups[group].lanes;
            return self.warps[warp].exit(group, lanes);
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

/// How a stretch of instructions ended: at its end, or at one that is more than a step, with the
/// lanes that take part in it.
type Step = Result<Option<(Mask, Flow)>, Gap>;

/// Executes instructions one after the other, in all lanes of a group; how many were done.
fn straight(
    context: &mut Context<'_, '_>,
    rest: &[Instr],
    decoded: &[Decoded],
    lanes: Mask,
) -> (usize, Step) {
    for (executed, (instruction, decoded)) in rest.iter().zip(decoded).enumerate() {
        let mut active = lanes;
        if let Some(guard) = instruction.guard {
            context.lanes = lanes;
            context.place = Place { span: instruction.span, location: instruction.location };
            match guarded(context, guard) {
                Ok(holds) => active = holds,
                Err(gap) => return (executed, Err(gap)),
            }
            if active.is_empty() {
                continue;
            }
        }
        if decoded.execute(&mut context.registers, active) {
            continue;
        }
        context.lanes = active;
        context.place = Place { span: instruction.span, location: instruction.location };
        match execute(context, &instruction.op) {
            Ok(Flow::Next) => {}
            Ok(flow) => return (executed, Ok(Some((active, flow)))),
            Err(gap) => return (executed, Err(gap)),
        }
    }
    (rest.len(), Ok(None))
}
