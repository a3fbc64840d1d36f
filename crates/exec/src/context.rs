//! The state that an instruction reads and changes ([`Context`]): registers, memory, the running lanes and their path
//! condition, and the tracker of synchronisation.

use crate::address::Area;
use crate::arrival::{Arrival, ClusterArrival};
use crate::doubt::{Doubtful, Reason};
use crate::fast::uniform::UniformResults;
use crate::finding::{Fault, Gap, Origin, Place, Sink, StopReason, Thread};
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
use ir::{FuncId, MapBits, Operand, Reg, Width};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use sync::{MbarrierState, Site};

/// Everything an instruction can access.
pub(crate) struct Context<'c, 'p> {
    pub(crate) machine: &'c Machine<'p>,
    pub(crate) report: &'c mut Report,
    pub(crate) global: &'c mut [Allocation],
    pub(crate) shared: &'c mut [Allocation],
    pub(crate) warp: &'c mut Warp,
    /// Registers of the running function, taken out of the warp temporarily.
    pub(crate) registers: Registers,
    pub(crate) layout: &'c Layout,
    /// Buffers for operands that are not stored as plain registers.
    pub(crate) scratch: &'c mut Scratch,
    /// The synchronisation order of the block.
    pub(crate) tracker: &'c mut Tracker,
    /// The number of the cluster, or of a lone block.
    pub(crate) unit: u64,
    /// Position of the block in the grid.
    pub(crate) block: [u32; 3],
    /// Lanes in which the instruction takes effect.
    pub(crate) lanes: Mask,
    /// The lanes among them with an undecided path condition.
    pub(crate) conditional_lanes: Mask,
    /// The path condition, lane by lane.
    pub(crate) path: Option<Rc<Path>>,
    /// A fault that occurs in one of `conditional_lanes` if its path condition holds.
    pub(crate) conditional_fault: Option<&'static str>,
    pub(crate) place: Place,
    /// The number of the instruction.
    pub(crate) site: Site,
    /// The domain's values of unknown lanes, in a run with a domain.
    pub(crate) valued: Option<Valued<'c>>,
}

/// Buffers for operands that are not stored as plain registers.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) wide: [Lanes; 3],
    pub(crate) narrow: [Narrow; 3],
    /// Cached places of matrices.
    pub(crate) tiles: TileCache,
    /// Cached boxes of tensor copies.
    pub(crate) walks: WalkCache,
    /// Results of address arithmetic.
    pub(crate) uniform: UniformResults,
    /// Tensor maps in parameters, by their place.
    pub(crate) maps: FxHashMap<(Area, usize), Rc<MapBits>>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            wide: [[0; WARP]; 3],
            narrow: [[0; WARP]; 3],
            tiles: TileCache::default(),
            walks: WalkCache::default(),
            uniform: UniformResults::default(),
            maps: FxHashMap::default(),
        }
    }
}

/// The continuation after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next instruction.
    Next,
    /// A collective can run in these lanes, but not yet in the others.
    Divide(Mask),
    /// A collective that has to wait. The first mask is the lanes it needs, the second those that are at it.
    Collective(Mask, Mask),
    /// `bar.warp.sync`. The first mask is the lanes it needs, the second those that are at it.
    WarpBarrier(Mask, Mask),
    /// A barrier of the block.
    Barrier(Arrival),
    /// A wait for a phase of an mbarrier that has not ended.
    Mbarrier(MbarrierState),
    /// The barrier of the cluster.
    Cluster(ClusterArrival),
    /// `wgmma.wait_group` for all but this many groups of products, before all warps have reached the products.
    WarpGroup(u64),
    /// A call of this function.
    Call(FuncId),
}

impl<'c, 'p> Context<'c, 'p> {
    /// The executing block's instance of a variable.
    #[inline]
    pub(crate) fn own_instance(&self, area: Area) -> Area {
        match area {
            Area::Shared(number) if self.machine.blocks > 1 => {
                Area::Shared(self.warp.rank * self.machine.shared.len() + number)
            }
            area => area,
        }
    }

    /// The rank of the block that owns shared memory, if it is not the executing block.
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

    /// Reads the low `width` bits of an operand in all lanes, with their tags.
    pub(crate) fn read(&mut self, operand: Operand, width: Width) -> (Lanes, Tags) {
        let mut buffer = [0; WARP];
        let values = *self.registers.word(self.layout, operand, width, &mut buffer);
        (values, self.registers.operand_tags(operand))
    }

    /// Writes bits. In a run with a domain, an unknown lane gets the word of a lost value in place of its bits,
    /// because these do not encode a value of the domain ([`crate::value`]).
    pub(crate) fn write(&mut self, register: Reg, values: &Lanes, tags: Tags) {
        if let Some(valued) = &mut self.valued
            && !tags.unknown.is_empty()
        {
            let word = valued.lost(tags.origin, self.place);
            let opaque = u64::from(word) << 32 | u64::from(word);
            let mut words = *values;
            tags.unknown.iter().for_each(|lane| words[lane] = opaque);
            if self.layout.width(register) == Width::B128 {
                let lanes = tags.unknown.and(self.lanes);
                self.registers.write_upper(self.layout, register, &[opaque; WARP], lanes);
            }
            return self.write_words(register, &words, tags);
        }
        self.write_words(register, values, tags);
    }

    /// Writes bits. In a run with a domain, those of unknown lanes must encode values of the domain
    /// ([`crate::value`]).
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
        Gap { place: self.place, thread, reason: reason.into(), stop: StopReason::NotFollowed }
    }

    /// A gap at an action that depends on tensor data.
    pub(crate) fn data_gap(&self, reason: impl Into<String>) -> Gap {
        Gap { stop: StopReason::Data, ..self.gap(reason) }
    }

    /// A gap at an action with an undecided path condition.
    pub(crate) fn conditional_gap(&self, reason: impl Into<String>) -> Gap {
        Gap { stop: StopReason::Conditional, ..self.gap(reason) }
    }

    pub(crate) fn thread(&self, lane: usize) -> Thread {
        let number = self.warp.in_block * WARP + lane;
        let thread = self.machine.launch.thread_position(number as u64);
        let rank = (self.machine.blocks > 1).then_some(self.warp.rank as u32);
        Thread { block: self.block, thread, rank }
    }

    /// Records a fault in the lowest of `lanes`. The consequences of an invalid access are not a second
    /// fault.
    pub(crate) fn record_fault(&mut self, fault: Fault, lanes: Mask) {
        if let Fault::Undefined { origin: Some(Origin::BadAccess(_)), reaches } = fault {
            let is_certain = !lanes.without(self.conditional_lanes).is_empty();
            self.report.follows_error |= is_certain && reaches.decides();
            return;
        }
        match (lanes.without(self.conditional_lanes).lowest(), lanes.is_empty()) {
            (Some(lane), _) => {
                let thread = self.thread(lane);
                self.report.record_fault(fault, self.place, thread);
            }
            // A note about something that may not happen is not worth reporting.
            (None, false) if fault.is_note() => {}
            (None, false) => self.conditional_fault = Some(conditional_message(&fault)),
            (None, true) => {}
        }
    }

    /// Records, in the lowest of `lanes`, that the run continues without some knowledge.
    pub(crate) fn doubt(&mut self, about: Doubtful, lanes: Mask) {
        if let Some(lane) = lanes.lowest() {
            let thread = self.thread(lane);
            self.report.doubt(about, self.place, thread);
        }
    }

    /// Records a doubt if a value that becomes visible to others is not determined by the launch and its
    /// inputs.
    pub(crate) fn doubt_undetermined(&mut self, tags: Tags, reaches: Sink, lanes: Mask) {
        let undetermined = tags.undetermined().and(lanes).without(tags.poison);
        if let Some(lane) = undetermined.lowest() {
            let reason = tags.undetermined_reason(lane);
            self.doubt(Doubtful::Undetermined { reaches, reason }, undetermined);
        }
    }

    /// Records a doubt if a divisor is not a known number and so may be zero.
    pub(crate) fn doubt_divisor(&mut self, tags: Tags) {
        let open = tags.pointer.or(tags.unknown).or(tags.poison).and(self.lanes);
        if let Some(lane) = open.lowest() {
            self.doubt(Doubtful::Divisor(tags.reason(lane)), open);
        }
    }

    /// Requires that a value that decides something is a number. Poison is a finding, and the run continues
    /// in the other lanes; any other unknown value ends the run. Returns the lanes that can continue.
    pub(crate) fn require_numbers(&mut self, tags: Tags, sink: Sink) -> Result<Mask, Gap> {
        let poisoned = tags.poison.and(self.lanes);
        if !poisoned.is_empty() {
            let origin = tags.undefined;
            self.record_fault(Fault::Undefined { reaches: sink, origin }, poisoned);
        }
        let unknown = tags.unknown.or(tags.pointer).and(self.lanes);
        if !unknown.is_empty() {
            return Err(self.gap_of_unknown(tags, sink, unknown));
        }
        Ok(self.lanes.without(poisoned))
    }

    /// The gap at something that depends on an unavailable value. Cooperative groups find their grid data
    /// through `%envreg`: if the kernel then polls it, the gap names that poll.
    #[cold]
    fn gap_of_unknown(&self, tags: Tags, sink: Sink, lanes: Mask) -> Gap {
        let poll = self.machine.polls.first().filter(|_| tags.origin == Some(Source::ENVIRONMENT));
        match poll {
            Some(&site) => Gap { place: self.machine.site_place(site), ..self.gap(WAITS) },
            None => {
                let reason = lanes.lowest().map_or(Reason::Data, |lane| tags.reason(lane));
                let mut gap = self.gap(undecided_message(reason, sink));
                if self.valued.is_some() && sink == Sink::Address && reason == Reason::Data {
                    gap.reason.push_str(RANGE);
                }
                let stop = match reason {
                    Reason::Unfixed(_) => StopReason::NotFixed,
                    Reason::Data => StopReason::Data,
                    _ => gap.stop,
                };
                Gap { stop, ..gap }
            }
        }
    }
}

/// The remedy for addresses computed from integers: without a range they may wrap around.
const RANGE: &str = "; if it is computed from integers of a tensor, stating their range may help: --arg 'idx=s32[8]:0..100'";

/// The message for a fault that may not happen.
fn conditional_message(fault: &Fault) -> &'static str {
    match fault {
        Fault::OutOfBounds { .. } | Fault::WildAddress { .. } => {
            "this access would be out of bounds"
        }
        Fault::Misaligned { .. } => "this access would be misaligned",
        Fault::ReadOnly { .. } => "this would write to read-only memory",
        Fault::Undefined { .. } => "an undefined value would be used here",
        Fault::DivisionByZero => "this would divide by zero",
        _ => "this would be wrong",
    }
}

/// The message for something that depends on an unavailable value.
fn undecided_message(reason: Reason, sink: Sink) -> String {
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
