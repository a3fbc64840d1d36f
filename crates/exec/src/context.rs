//! The state that an instruction reads and changes.

use crate::address::Area;
use crate::arrival::{Arrival, ClusterArrival};
use crate::doubt::{Doubtful, Reason};
use crate::finding::{Fault, Gap, Origin, Place, Sink, Stop, Thread};
use crate::lanes::{Lanes, Mask, Narrow, WARP};
use crate::layout::Layout;
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::path::Path;
use crate::polls::WAITS;
use crate::registers::Registers;
use crate::report::Report;
use crate::tags::{Source, Tags};
use crate::tensor_box::WalkCache;
use crate::tile::TileCache;
use crate::tracker::Tracker;
use crate::value::Valued;
use crate::warp::Warp;
use ir::{FuncId, Operand, Reg, Width};
use std::rc::Rc;
use sync::{MbarrierState, Site};

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
    /// The number of the cluster, or of a block that is alone.
    pub(crate) unit: u64,
    /// Position of the block in the grid.
    pub(crate) block: [u32; 3],
    /// Lanes in which the instruction takes effect.
    pub(crate) lanes: Mask,
    /// Those of them in which it takes effect under a condition that is not decided.
    pub(crate) open: Mask,
    /// That condition, lane by lane.
    pub(crate) path: Option<Rc<Path>>,
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
    /// Where matrices lie that were met before.
    pub(crate) tiles: TileCache,
    /// Boxes of tensor copies that were met before.
    pub(crate) walks: WalkCache,
}

impl Default for Scratch {
    fn default() -> Self {
        let (tiles, walks) = (TileCache::default(), WalkCache::default());
        Self { wide: [[0; WARP]; 3], narrow: [[0; WARP]; 3], tiles, walks }
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
    /// A wait for a phase of an mbarrier.
    Mbarrier(MbarrierState),
    /// The barrier of the cluster.
    Cluster(ClusterArrival),
    /// A wait for products that leaves so many groups and covers one which other warps have not come to.
    WarpGroup(u64),
    /// A call of this function.
    Call(FuncId),
}

impl<'c, 'p> Context<'c, 'p> {
    /// A variable's allocation as the executing block has it.
    #[inline]
    pub(crate) fn own(&self, area: Area) -> Area {
        match area {
            Area::Shared(number) if self.machine.blocks > 1 => {
                Area::Shared(self.warp.rank * self.machine.shared.len() + number)
            }
            area => area,
        }
    }

    /// The rank of the block whose shared memory an allocation is, if it is another one than the executing block.
    #[inline]
    pub(crate) fn other_block(&self, area: Area) -> Option<usize> {
        match area {
            Area::Shared(number) if self.machine.blocks > 1 => {
                let rank = number / self.machine.shared.len().max(1);
                (rank != self.warp.rank).then_some(rank)
            }
            _ => None,
        }
    }

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

    /// A gap at something that happens only under a condition that is not decided.
    pub(crate) fn conditional_gap(&self, reason: impl Into<String>) -> Gap {
        Gap { stop: Stop::Conditional, ..self.gap(reason) }
    }

    pub(crate) fn thread(&self, lane: usize) -> Thread {
        let number = self.warp.in_block * WARP + lane;
        let thread = self.machine.launch.thread_position(number as u64);
        let rank = (self.machine.blocks > 1).then_some(self.warp.rank as u32);
        Thread { block: self.block, thread, rank }
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
            // What need not happen and would be no error is not worth telling.
            (None, false) if fault.is_note() => {}
            (None, false) => self.would_fail = Some(would_be(&fault)),
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
                let mut gap = self.gap(undecided(reason, sink));
                if self.valued.is_some() && sink == Sink::Address && reason == Reason::Data {
                    gap.reason.push_str(RANGE);
                }
                let stop = match reason {
                    Reason::Unfixed(_) => Stop::NotFixed,
                    _ => gap.stop,
                };
                Gap { stop, ..gap }
            }
        }
    }
}

/// What helps where an address is computed from integers: without a range they may wrap around.
const RANGE: &str =
    "; if it is made of integers of a tensor, their range may help: --arg 'idx=s32[8]:0..100'";

/// The words for a fault that need not happen.
fn would_be(fault: &Fault) -> &'static str {
    match fault {
        Fault::OutOfBounds { .. } | Fault::WildAddress { .. } => {
            "this access would be out of bounds"
        }
        Fault::Misaligned { .. } => "this access would not be aligned",
        Fault::ReadOnly { .. } => "this would write to something that may only be read",
        Fault::Undefined { .. } => "an undefined value would be used here",
        Fault::DivisionByZero => "this would divide by zero",
        _ => "this would be wrong",
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
