//! Executes one instruction in the lanes of a group.
//!
//! Bits are computed in all lanes, whatever they are; the tags say which results mean something.
//! Scalar meaning is in [`crate::concrete`], tag rules for pointers in [`pointer`].

mod arithmetic;
mod async_copy;
mod atomic;
mod call;
mod collective;
mod contiguous;
mod direct;
mod matrix;
mod memory;
mod pointer;
mod solo;
mod special;
mod tracked;
mod valued;

use crate::barrier::Arrival;
use crate::doubt::{Doubtful, Reason};
use crate::finding::{Fault, Gap, Origin, Place, Sink, Stop, Thread};
use crate::lanes::{Lanes, Mask, Narrow, WARP};
use crate::layout::Layout;
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::polls::WAITS;
use crate::registers::Registers;
use crate::report::Report;
use crate::tags::{Source, Tags};
use crate::tracker::Tracker;
use crate::value::Valued;
use crate::warp::Warp;
pub(crate) use atomic::{commute_between_blocks, commutes, rounds};
pub(crate) use call::return_values;
pub(crate) use collective::{Inputs, lanes_left, same_collective};
use ir::{FuncId, Guard, Op, Operand, Reg, SyncOp, Width};
pub use matrix::original_register;
use sync::Site;
pub(crate) use valued::conditional;

/// Everything an instruction can touch.
pub(crate) struct Context<'c, 'p> {
    pub(crate) machine: &'c Machine<'p>,
    pub(crate) report: &'c mut Report,
    pub(crate) global: &'c mut [Allocation],
    pub(crate) shared: &'c mut [Allocation],
    pub(crate) warp: &'c mut Warp,
    /// Registers of the function that runs, taken out of the warp for the time being.
    pub(crate) registers: Registers,
    pub(crate) layout: &'c Layout,
    /// Room for operands that are not registers as they stand.
    pub(crate) scratch: &'c mut Scratch,
    /// What is ordered in the block.
    pub(crate) tracker: &'c mut Tracker,
    /// Position of the block in the grid.
    pub(crate) block: [u32; 3],
    /// Lanes in which the instruction takes effect.
    pub(crate) lanes: Mask,
    /// Those of them in which it takes effect under a condition that is not decided.
    pub(crate) open: Mask,
    /// What would be wrong in one of those.
    pub(crate) would_fail: Option<&'static str>,
    pub(crate) place: Place,
    /// The number of the instruction.
    pub(crate) site: Site,
    /// What unknown values are, in a run with a domain.
    pub(crate) valued: Option<Valued<'c>>,
}

/// Room for operands that are not registers as they stand.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) wide: [Lanes; 3],
    pub(crate) narrow: [Narrow; 3],
}

impl Default for Scratch {
    fn default() -> Self {
        Self { wide: [[0; WARP]; 3], narrow: [[0; WARP]; 3] }
    }
}

/// What happens after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next one.
    Next,
    /// A collective can be executed in these lanes and not yet in the others.
    Divide(Mask),
    /// A collective waits for lanes with this mask, in these lanes of the group.
    Gather(Mask, Mask),
    /// `bar.warp.sync` with this mask, in these lanes of the group.
    WarpBarrier(Mask, Mask),
    /// A barrier of the block.
    Barrier(Arrival),
    /// A call of this function.
    Call(FuncId),
}

impl<'c, 'p> Context<'c, 'p> {
    /// The low `width` bits of an operand in all lanes, and what they are.
    pub(crate) fn read(&mut self, operand: Operand, width: Width) -> (Lanes, Tags) {
        let mut buffer = [0; WARP];
        let values = *self.registers.word(self.layout, operand, width, &mut buffer);
        (values, self.registers.operand_tags(operand))
    }

    /// Writes bits. In a run with a domain, those of unknown lanes are no words of units, and the
    /// value is lost ([`crate::value`]).
    pub(crate) fn write(&mut self, register: Reg, values: &Lanes, tags: Tags) {
        if let Some(valued) = &mut self.valued
            && !tags.unknown.is_empty()
        {
            let word = valued.lost(tags.origin, self.place);
            let lost = u64::from(word) << 32 | u64::from(word);
            let mut words = *values;
            tags.unknown.iter().for_each(|lane| words[lane] = lost);
            if self.layout.width(register) == Width::B128 {
                let lanes = tags.unknown.and(self.lanes);
                self.registers.write_upper(self.layout, register, &[lost; WARP], lanes);
            }
            return self.write_words(register, &words, tags);
        }
        self.write_words(register, values, tags);
    }

    /// Writes bits that, in a run with a domain, are words of units in unknown lanes.
    pub(crate) fn write_words(&mut self, register: Reg, values: &Lanes, tags: Tags) {
        self.registers.write(self.layout, register, values, tags, self.lanes);
    }

    /// Writes a predicate. In a run with a domain, it is lost in unknown lanes.
    pub(crate) fn write_predicate(&mut self, register: Reg, truth: Mask, tags: Tags) {
        if let Some(valued) = &mut self.valued
            && !tags.unknown.is_empty()
        {
            let word = valued.lost(tags.origin, self.place);
            self.registers.write_truths(register, &[word; WARP], tags.unknown.and(self.lanes));
        }
        self.registers.write_predicate(register, truth, tags, self.lanes);
    }

    pub(crate) fn gap(&self, reason: impl Into<String>) -> Gap {
        let thread = self.lanes.lowest().map(|lane| self.thread(lane));
        Gap { place: self.place, thread, reason: reason.into(), stop: Stop::NotFollowed }
    }

    pub(crate) fn thread(&self, lane: usize) -> Thread {
        let number = self.warp.number * WARP + lane;
        Thread { block: self.block, thread: self.machine.launch.thread_position(number as u64) }
    }

    /// Records a fault in the lowest of `lanes`. What follows from an access that was wrong itself is
    /// no second fault.
    pub(crate) fn find(&mut self, fault: Fault, lanes: Mask) {
        if matches!(fault, Fault::Undefined { origin: Some(Origin::BadAccess(_)), .. }) {
            return;
        }
        match (lanes.without(self.open).lowest(), lanes.is_empty()) {
            (Some(lane), _) => {
                let thread = self.thread(lane);
                self.report.find(fault, self.place, thread);
            }
            (None, false) => self.would_fail = Some("this would be wrong"),
            (None, true) => {}
        }
    }

    /// Records, in the lowest of `lanes`, that the run goes on without knowing something.
    pub(crate) fn doubt(&mut self, about: Doubtful, lanes: Mask) {
        if let Some(lane) = lanes.lowest() {
            let thread = self.thread(lane);
            self.report.doubt(about, self.place, thread);
        }
    }

    /// A value goes where others see it: it must be determined by the launch and its inputs.
    pub(crate) fn doubt_undetermined(&mut self, tags: Tags, reaches: Sink, lanes: Mask) {
        let undetermined = tags.undetermined().and(lanes).without(tags.poison);
        if let Some(lane) = undetermined.lowest() {
            let reason = tags.undetermined_reason(lane);
            self.doubt(Doubtful::Undetermined { reaches, reason }, undetermined);
        }
    }

    /// A divisor that is not a number may be zero.
    pub(crate) fn doubt_divisor(&mut self, tags: Tags) {
        let open = tags.pointer.or(tags.unknown).or(tags.poison).and(self.lanes);
        if let Some(lane) = open.lowest() {
            self.doubt(Doubtful::Divisor(tags.reason(lane)), open);
        }
    }

    /// A value that decides something must be a number. Poison is a finding and lets the run go on
    /// in the other lanes; anything else unknown ends it. Returns the lanes that can go on.
    pub(crate) fn decide(&mut self, tags: Tags, sink: Sink) -> Result<Mask, Gap> {
        let poisoned = tags.poison.and(self.lanes);
        if !poisoned.is_empty() {
            let origin = tags.undefined;
            self.find(Fault::Undefined { reaches: sink, origin }, poisoned);
        }
        let unknown = tags.unknown.or(tags.pointer).and(self.lanes);
        if !unknown.is_empty() {
            return Err(self.undecided(tags, sink, unknown));
        }
        Ok(self.lanes.without(poisoned))
    }

    /// The gap at something that depends on a value we do not have. What cooperative groups keep for a grid
    /// is found through `%envreg`: where a kernel goes on to poll it, that is what is to be said.
    #[cold]
    fn undecided(&self, tags: Tags, sink: Sink, lanes: Mask) -> Gap {
        let poll = self.machine.polls.first().filter(|_| tags.origin == Some(Source::ENVIRONMENT));
        match poll {
            Some(&site) => Gap { place: self.machine.site_place(site), ..self.gap(WAITS) },
            None => {
                let reason = lanes.lowest().map_or(Reason::Data, |lane| tags.reason(lane));
                let gap = self.gap(undecided(reason, sink));
                let stop = match reason {
                    Reason::Unfixed(_) => Stop::NotFixed,
                    _ => gap.stop,
                };
                Gap { stop, ..gap }
            }
        }
    }
}

/// The sentence for something that depends on a value we do not have.
fn undecided(reason: Reason, sink: Sink) -> String {
    let what = match sink {
        Sink::Control => "control flow depends",
        Sink::Address => "an address depends",
        Sink::Synchronisation => "a barrier operand or lane mask depends",
        Sink::CopySize => "the source size of an asynchronous copy depends",
        Sink::Atomic => "an atomic operation depends",
        Sink::Output => "an output depends",
    };
    format!("{what} on {reason}")
}

/// The lanes of a group in which a guard holds.
pub(crate) fn guarded(context: &mut Context<'_, '_>, guard: Guard) -> Result<Mask, Gap> {
    let operand = guard.register.into();
    let truth = context.registers.predicate(operand);
    if context.registers.is_number(operand) {
        let holds = if guard.negated { Mask(!truth.0) } else { truth };
        return Ok(holds.and(context.lanes));
    }
    let tags = context.registers.tags(guard.register);
    let holds = if guard.negated { Mask(!truth.0) } else { truth };
    let decided = context.decide(tags, Sink::Control);
    let decided = decided.map_err(|gap| valued::explained(context, guard.register, gap))?;
    Ok(holds.and(decided))
}

/// Whether the engine executes an operation; if not, a run that reaches it ends with a gap.
#[must_use]
pub fn executes(op: &Op) -> bool {
    !matches!(op, Op::Unsupported { .. })
}

/// Executes an operation in the context's lanes.
#[inline]
pub(crate) fn execute(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    if context.machine.general {
        return in_general(context, op);
    }
    if context.lanes.is_one() && solo::execute(context, op) {
        return Ok(Flow::Next);
    }
    if direct::execute(context, op) {
        return Ok(Flow::Next);
    }
    in_general(context, op)
}

#[inline(never)]
fn in_general(context: &mut Context<'_, '_>, op: &Op) -> Result<Flow, Gap> {
    if context.valued.is_some() && valued::execute(context, op)? {
        return Ok(Flow::Next);
    }
    match op {
        Op::Load(load) => {
            tracked::order_load(context, load.ordering);
            if context.machine.general || !contiguous::load(context, load) {
                memory::load(context, load)?;
            }
        }
        Op::Store(store) => {
            tracked::fence(context, store.ordering);
            if context.machine.general || !contiguous::store(context, store) {
                memory::store(context, store)?;
            }
        }
        Op::Atomic(atomic) => atomic::execute(context, atomic)?,
        Op::AsyncCopy(copy) => async_copy::execute(context, copy)?,
        Op::Discard { space, address, bytes } => {
            memory::discard(context, *space, *address, *bytes)?
        }
        Op::Sync(sync) => return synchronize(context, sync),
        Op::Call { callee, arguments, .. } => {
            let function = &context.machine.program.functions[*callee];
            if !function.is_defined() {
                call::external(context, &function.name)?;
                return Ok(Flow::Next);
            }
            call::pass_arguments(context, *callee, arguments);
            return Ok(Flow::Call(*callee));
        }
        Op::Hint { .. } => {}
        Op::Unsupported { what } => return Err(context.gap(what.clone())),
        Op::Mma(_)
        | Op::LoadMatrix(_)
        | Op::StoreMatrix(_)
        | Op::MoveMatrix(_)
        | Op::WmmaLoad(_)
        | Op::WmmaStore(_)
        | Op::WmmaMma(_) => return matrix::execute(context, op),
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

fn synchronize(context: &mut Context<'_, '_>, sync: &SyncOp) -> Result<Flow, Gap> {
    let (warp, lanes) = (context.warp.number, context.lanes);
    match sync {
        SyncOp::Barrier { kind, id, count, aligned } => {
            return collective::barrier(context, kind, *id, *count, *aligned);
        }
        SyncOp::WarpBarrier { mask } => return collective::warp_barrier(context, *mask),
        SyncOp::Fence { .. } => context.tracker.clocks.fence(warp, lanes),
        SyncOp::CommitGroup => context.tracker.copies.commit(warp, lanes),
        SyncOp::WaitGroup(pending) => {
            let now = context.tracker.clocks.now(warp);
            context.tracker.copies.wait(warp, lanes, *pending, now);
        }
        SyncOp::ActiveMask { dst } => {
            // Which lanes happen to run together is the schedule's choice.
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
            Inputs::read(context, sync)?.finish(context, sync, lanes)?;
        }
    }
    Ok(Flow::Next)
}
