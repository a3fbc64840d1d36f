//! The engine's only interface to [`sync`]: memory accesses and synchronisation of a block's threads go
//! through here.
//!
//! It tracks shared memory, and writable global memory: read-only memory cannot race.

mod attributes;
mod clusters;
mod contents;
mod events;
mod grids;
mod group_steps;
mod maps;
mod mbarriers;
mod products;
mod rows;
mod tickets;
mod traced;

use crate::address::Area;
use crate::lanes::Mask;
use crate::launch::Access as Permission;
use crate::memory::Allocation;
use crate::options::Checks;
use crate::racing_reads::{ConflictWords, Counts, History, Racing};
use crate::tickets::TicketWatch;
pub(crate) use attributes::AccessAttributes;
use contents::ContentNumbers;
pub(crate) use contents::CopyContents;
use grids::GridWaits;
use group_steps::GroupSteps;
pub(crate) use mbarriers::CopyNote;
use mbarriers::MbarrierNotes;
use sync::{
    AgentId, BarrierMisuse, BarrierReuse, CompletedGeneration, Conflict, Conflicts, Generation,
    MBARRIER_UPDATES, MemoryEffect, Order, ProxySpace, Registration, RequiredCertainty, SameValue,
    Shadow, Shape, Site, SyncEvent, Time,
};
pub(crate) use traced::Traced;
use traced::TracedStore;

/// A synchronisation event of a warp, for reports.
#[derive(Clone, Copy, Debug)]
struct Event {
    time: Time,
    lanes: Mask,
    site: Site,
}

/// Order and accesses in the running block or cluster.
#[derive(Debug)]
pub(crate) struct Tracker {
    order: Order,
    shape: Shape,
    /// Events of each warp, in order.
    events: Vec<Vec<Event>>,
    shadows: Shadows,
    /// Every access to some words, for pairwise comparison.
    history: Option<History>,
    /// Set if conflicts in shared memory are not needed. Those in global memory show how blocks depend on each other.
    pub(crate) ignores_shared: bool,
    /// The reads of each thread so far, in a run that replaces racing reads by poison.
    counts: Counts,
    /// Set if the program may use mbarriers.
    mbarriers: bool,
    /// Notes on mbarriers, for the end of the block.
    notes: MbarrierNotes,
    /// Waits for earlier launches, if the kernel has any.
    grids: Option<Box<GridWaits>>,
    /// Steps of warp groups.
    group_steps: GroupSteps,
    /// Contents of bulk copies.
    contents: ContentNumbers,
    /// Accesses before and after the block's ticket, in runs in which blocks take them.
    tickets: Option<Box<TicketWatch>>,
}

/// The accesses to each allocation.
#[derive(Debug, Default)]
pub(crate) struct Shadows {
    /// Set if accesses are tracked.
    enabled: bool,
    /// Set if a single thread has the shared memory, without concurrent copies: it cannot race. Or its races are not
    /// needed.
    pub(crate) alone: bool,
    /// Set if lanes run in lock step.
    lock_step: bool,
    /// Set if uses of barriers are recorded.
    pub(crate) records_uses: bool,
    shared: Vec<Shadow>,
    /// Shadows of writable global memory.
    pub(crate) global: Vec<Option<Shadow>>,
    /// Conflicts of the block so far.
    conflicts: Conflicts,
    /// The context of each of them.
    contexts: Vec<ConflictContext>,
    /// Elements whose last stores are requested.
    traced: Option<Traced>,
}

/// A conflict of a block, with its count.
#[derive(Debug)]
pub(crate) struct CountedConflict {
    pub(crate) conflict: Conflict,
    pub(crate) count: u64,
    pub(crate) context: ConflictContext,
}

/// Additional context for the report of a conflict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConflictContext {
    pub(crate) area: Area,
    /// Set if fences of both threads lie between the accesses: then the observed values decide.
    pub(crate) fenced: bool,
    /// The last barrier that each thread reached before its access.
    pub(crate) passed: [Option<Site>; 2],
    /// Set if the first thread had ended.
    pub(crate) ended: bool,
    /// The bulk copies that the accesses belong to.
    pub(crate) copies: [Option<CopyNote>; 2],
}

impl ConflictContext {
    /// A context with only the allocation.
    pub(crate) fn new(area: Area) -> Self {
        Self { area, fenced: false, passed: [None; 2], ended: false, copies: [None; 2] }
    }
}

impl Shadows {
    /// Shadows for the allocations of a launch.
    pub(crate) fn new(
        checks: Option<Checks>,
        shared: &[Allocation],
        global: &[Allocation],
    ) -> Self {
        let Some(Checks { lock_step, barrier_uses }) = checks else { return Self::default() };
        let shadow = |memory: &Allocation, space| Shadow::new(memory.bytes.len() as u64, space);
        let writable = |memory: &Allocation| {
            (memory.access != Permission::In).then(|| shadow(memory, ProxySpace::Global))
        };
        Self {
            enabled: true,
            lock_step,
            records_uses: barrier_uses,
            shared: shared.iter().map(|memory| shadow(memory, ProxySpace::Shared)).collect(),
            global: global.iter().map(writable).collect(),
            ..Self::default()
        }
    }

    /// Starts recording stores.
    pub(crate) fn trace(&mut self, traced: Traced) {
        self.traced = Some(traced);
    }

    /// Takes the last stores, each with the number of its element.
    pub(crate) fn take_traced(&mut self) -> Vec<(usize, TracedStore)> {
        self.traced.as_mut().map(Traced::take).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.shared.iter_mut().for_each(Shadow::clear);
        self.global.iter_mut().flatten().for_each(Shadow::clear);
    }
}

/// Encodes an allocation as a number.
fn area_code(area: Area) -> u32 {
    match area {
        Area::Shared(number) => (number as u32) << 1,
        Area::Global(number) => (number as u32) << 1 | 1,
        Area::Local(_) | Area::Param(_) => u32::MAX,
    }
}

/// Decodes the allocation of an [`area_code`].
fn area_of_code(area_code: u32) -> Option<Area> {
    let number = (area_code >> 1) as usize;
    match (area_code, area_code & 1) {
        (u32::MAX, _) => None,
        (_, 0) => Some(Area::Shared(number)),
        _ => Some(Area::Global(number)),
    }
}

impl Tracker {
    /// A tracker for clusters of this shape; `history` records accesses for pairwise comparison.
    pub(crate) fn new(shape: Shape, shadows: Shadows, history: Option<History>) -> Self {
        Self {
            order: Order::new(shape),
            shape,
            mbarriers: shape.mbarriers,
            notes: MbarrierNotes::default(),
            grids: None,
            group_steps: GroupSteps::default(),
            contents: ContentNumbers::default(),
            events: vec![Vec::new(); shape.all_warps()],
            shadows,
            history,
            ignores_shared: false,
            counts: Counts::default(),
            tickets: None,
        }
    }

    /// Forgets reads that all threads know of: for a program without asynchronous accesses.
    pub(crate) fn forget_known_reads(&mut self) {
        self.order.forget_known_reads();
    }

    /// Starts a block.
    pub(crate) fn restart(&mut self, block: [u32; 3]) {
        self.counts.clear();
        self.notes = MbarrierNotes::default();
        self.group_steps = GroupSteps::default();
        self.contents.clear();
        if let Some(grids) = &mut self.grids {
            grids.restart();
        }
        if let Some(history) = &mut self.history {
            history.restart(block);
        }
        self.order.restart();
        self.events.iter_mut().for_each(Vec::clear);
        self.shadows.conflicts.warps = self.block_warps();
        self.shadows.clear();
    }

    /// Reports an event that orders memory or ends a wait, in these lanes of a warp.
    #[inline]
    pub(crate) fn apply(&mut self, warp: usize, lanes: Mask, event: SyncEvent) {
        self.order.apply(warp, lanes, event);
    }

    /// Registers a warp at barrier `id`. Returns the premature reuse that this causes, if any.
    ///
    /// # Errors
    /// If the manual does not allow the registration.
    pub(crate) fn arrive(
        &mut self,
        id: u8,
        registration: Registration,
    ) -> Result<Option<BarrierReuse>, BarrierMisuse> {
        self.order.arrive(id, registration)
    }

    /// Returns `true` if all threads counted by barrier `id` of a block have registered.
    pub(crate) fn is_complete(&self, rank: usize, id: u8) -> bool {
        self.order.is_complete(rank, id)
    }

    /// Completes barrier `id` of a block and returns the waiting threads.
    pub(crate) fn release(&mut self, rank: usize, id: u8) -> CompletedGeneration {
        self.order.release(rank, id)
    }

    /// The current generation of barrier `id` of a block.
    pub(crate) fn generation(&self, rank: usize, id: u8) -> &Generation {
        self.order.generation(rank, id)
    }

    /// The first warp that has not registered at barrier `id` of a block.
    pub(crate) fn first_missing(&self, rank: usize, id: u8) -> Option<usize> {
        self.order.missing(rank, id).next()
    }

    /// Starts an asynchronous copy of lanes.
    pub(crate) fn start_copy(&mut self, warp: usize, lanes: Mask) -> AgentId {
        self.order.start_copy(warp, lanes)
    }

    /// Starts a bulk copy of a lane, in its open group or in no group.
    pub(crate) fn start_bulk(&mut self, warp: usize, lane: usize, grouped: bool) -> AgentId {
        self.order.start_bulk(warp, lane, grouped)
    }

    /// Counts the copies that a thread has not waited for: in committed groups, and in no group.
    pub(crate) fn copies_in_flight(&self, warp: usize, lane: usize) -> (usize, usize) {
        self.order.copies_in_flight(warp, lane)
    }

    /// The reads of each thread so far, in a run that replaces racing reads by poison.
    pub(crate) fn read_counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    /// Takes the racing reads, if requested.
    pub(crate) fn take_racing(&mut self) -> Option<Racing> {
        self.history.as_mut().map(|history| std::mem::take(&mut history.racing))
    }

    /// The accesses of the block.
    pub(crate) fn shadows(&self) -> &Shadows {
        &self.shadows
    }

    /// Like [`shadows`](Self::shadows), for changes.
    pub(crate) fn shadows_mut(&mut self) -> &mut Shadows {
        &mut self.shadows
    }

    /// Returns `true` if findings must hold for all schedules.
    pub(crate) fn is_checking(&self) -> bool {
        self.shadows.enabled
    }

    /// Returns `true` if accesses to an allocation are tracked.
    #[inline(always)]
    pub(crate) fn watches(&self, area: Area) -> bool {
        self.shadows.enabled
            && match area {
                Area::Shared(_) => !self.shadows.alone,
                Area::Global(number) => self.shadows.global[number].is_some(),
                Area::Local(_) | Area::Param(_) => false,
            }
    }

    /// Returns how much must be known about the value of a write at `site`. In shared memory an earlier write
    /// matters only if it is unordered or may be hidden. In global memory other blocks may write there, too.
    pub(crate) fn required_certainty(
        &self,
        area: Area,
        (offset, bytes): (i64, u32),
        site: Site,
    ) -> RequiredCertainty {
        let (clocks, copies) = (self.order.clocks(), self.order.copies());
        let Shadows { shared, conflicts, .. } = &self.shadows;
        match area {
            Area::Shared(number) => shared.get(number).map_or(RequiredCertainty::None, |shadow| {
                shadow.required_certainty(clocks, copies, (offset, bytes), (site, conflicts))
            }),
            Area::Global(_) => RequiredCertainty::Proof,
            Area::Local(_) | Area::Param(_) => RequiredCertainty::None,
        }
    }

    /// Records an access of lanes to `bytes` bytes at one address.
    #[inline]
    pub(crate) fn access(
        &mut self,
        (warp, lanes): (usize, Mask),
        (area, offset, bytes): (Area, i64, u32),
        attributes: AccessAttributes,
        same_value: SameValue,
    ) {
        if !self.shadows.enabled || bytes == 0 {
            return;
        }
        let AccessAttributes { kind, site, group, .. } = attributes;
        if let (Some(watch), Area::Global(_)) = (&mut self.tickets, area) {
            let AccessAttributes { copy, is_async, non_coherent, .. } = attributes;
            let is_unusual = copy.is_some() || is_async || non_coherent;
            watch.access(self.order.clocks(), (warp, lanes), site, is_unusual);
        }
        if self.mbarriers && group != MBARRIER_UPDATES {
            self.note_plain_access(lanes, (area, offset, bytes));
        }
        let access = attributes.by((warp, lanes), same_value);
        let Shadows { shared, global, conflicts, traced, .. } = &mut self.shadows;
        if let Some(traced) = traced
            && kind != MemoryEffect::Read
            && let Some(lane) = lanes.lowest()
        {
            traced.store((area, offset, bytes), (site, warp, lane));
        }
        let shadow = match area {
            Area::Shared(number) => shared.get_mut(number),
            Area::Global(number) => global.get_mut(number).and_then(Option::as_mut),
            Area::Local(_) | Area::Param(_) => None,
        };
        let Some(shadow) = shadow else { return };
        if let Some(history) = &mut self.history {
            history.access(self.order.clocks(), &access, (area, offset, bytes));
        }
        if self.ignores_shared && matches!(area, Area::Shared(_)) {
            return;
        }
        conflicts.allocation = area_code(area);
        shadow.access(
            self.order.clocks(),
            self.order.copies(),
            &access,
            (offset, bytes),
            conflicts,
        );
        if self.shadows.contexts.len() < self.shadows.conflicts.found.len() {
            self.report_contexts(area);
        }
    }

    /// Records a lane's store of adjacent values, each with its comparison to the present value. They are reported
    /// separately only where that differs: an equal value makes a conflict harmless for itself, not for its
    /// neighbours.
    pub(crate) fn store(
        &mut self,
        (warp, lane): (usize, usize),
        (area, offset): (Area, i64),
        attributes: AccessAttributes,
        same_values: &[SameValue],
    ) {
        let Some((&first, rest)) = same_values.split_first() else { return };
        let who = (warp, Mask::one(lane));
        let count = same_values.len() as u32;
        if rest.iter().all(|&same| same == first) {
            return self.access(who, (area, offset, count * attributes.element), attributes, first);
        }
        let starts = (offset..).step_by(attributes.element.max(1) as usize);
        for (offset, &same) in starts.zip(same_values) {
            self.access(who, (area, offset, attributes.element), attributes, same);
        }
    }

    #[cold]
    fn report_contexts(&mut self, area: Area) {
        let known = self.shadows.contexts.len();
        let mut contexts = Vec::new();
        for (conflict, _) in &self.shadows.conflicts.found[known..] {
            let (earlier, later) = (conflict.earlier, conflict.later);
            let fenced = earlier.time.is_some_and(|time| {
                self.order.clocks().fences_between(earlier.who, time, later.who)
            });
            let passed = [
                earlier.time.and_then(|time| self.passed(earlier.who, time)),
                self.passed(later.who, self.order.now(usize::from(later.who.warp))),
            ];
            let ended = self.order.clocks().has_exited(earlier.who);
            let copies = [earlier, later].map(|side| self.copy_note(side));
            contexts.push(ConflictContext { area, fenced, passed, ended, copies });
        }
        self.shadows.contexts.extend(contexts);
    }

    /// Returns `true` if uses of barriers are recorded.
    pub(crate) fn records_uses(&self) -> bool {
        self.shadows.records_uses
    }

    /// Records that lanes are about to access memory together, or have done so. In lock step, that orders
    /// their actions.
    #[inline]
    pub(crate) fn step(&mut self, warp: usize, lanes: Mask) {
        if self.shadows.lock_step {
            self.order.apply(warp, lanes, SyncEvent::WarpBarrier);
        }
    }

    /// Returns `true` if a warp's access orders its lanes.
    pub(crate) fn is_lock_step(&self) -> bool {
        self.shadows.lock_step
    }

    /// The conflicts of the block so far, in the order of discovery.
    pub(crate) fn conflicts(&self) -> impl ExactSizeIterator<Item = (&Conflict, &ConflictContext)> {
        let Shadows { conflicts, contexts, .. } = &self.shadows;
        conflicts.found.iter().map(|(conflict, _)| conflict).zip(contexts)
    }

    /// Takes the conflicts of the block, with their words.
    pub(crate) fn take_conflicts(&mut self) -> (Vec<CountedConflict>, ConflictWords) {
        let Conflicts { found: conflicts, words, more_words, .. } =
            std::mem::take(&mut self.shadows.conflicts);
        let words = words
            .into_iter()
            .filter_map(|(area_code, word)| Some((area_of_code(area_code)?, word)));
        let conflict_words = ConflictWords {
            words: words.collect(),
            incomplete: more_words,
            ..ConflictWords::default()
        };
        let contexts = std::mem::take(&mut self.shadows.contexts);
        let all = conflicts.into_iter().zip(contexts);
        let conflicts = all.map(|((conflict, count), mut context)| {
            self.add_signals(&conflict, &mut context);
            CountedConflict { conflict, count, context }
        });
        (conflicts.collect(), conflict_words)
    }
}
