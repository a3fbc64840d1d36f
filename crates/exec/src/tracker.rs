//! The engine's one door to [`sync`]: what a block's threads do to memory and to each other goes through here.
//!
//! Tracked are shared memory, and global memory that may be written: what is only read cannot race.

mod clusters;
mod contents;
mod events;
mod grids;
mod group_steps;
mod maps;
mod mbarriers;
mod products;
mod tickets;

use crate::address::Area;
use crate::lanes::Mask;
use crate::launch::Access as Permission;
use crate::memory::Allocation;
use crate::options::Checks;
use crate::racing_reads::{Counts, History, Racing, Suspects};
use crate::tickets::TicketWatch;
use contents::ContentNumbers;
pub(crate) use contents::CopyContents;
use grids::GridWaits;
use group_steps::GroupSteps;
pub(crate) use mbarriers::CopyNote;
use mbarriers::MbarrierNotes;
use sync::{
    Access, Conflict, Conflicts, CopyId, Generation, Kind, MBARRIER_UPDATES, Misuse, Order, Part,
    ProxySpace, Question, Registration, Released, Reuse, SameValue, Shadow, Shape, Site, SyncEvent,
    Time, UpdateGroup,
};

/// A synchronisation event of a warp, for reports.
#[derive(Clone, Copy, Debug)]
struct Event {
    time: Time,
    lanes: Mask,
    site: Site,
}

/// Order and accesses in the block or cluster that runs.
#[derive(Debug)]
pub(crate) struct Tracker {
    order: Order,
    shape: Shape,
    /// Events of each warp, in order.
    events: Vec<Vec<Event>>,
    shadows: Shadows,
    /// Every access to some words, if they are to be compared one by one.
    history: Option<History>,
    /// Reads so far, if some are not to be trusted.
    counts: Counts,
    /// Set if there may be mbarriers.
    mbarriers: bool,
    /// Notes on mbarriers, looked at when the block ends.
    notes: MbarrierNotes,
    /// Waits for earlier launches, if the kernel may wait for them.
    grids: Option<Box<GridWaits>>,
    /// Steps of warp groups.
    group_steps: GroupSteps,
    /// What bulk copies write.
    contents: ContentNumbers,
    /// Accesses before and after the block's ticket, in runs in which blocks take them.
    tickets: Option<Box<TicketWatch>>,
}

/// The accesses to each allocation.
#[derive(Debug, Default)]
pub(crate) struct Shadows {
    /// Whether accesses are looked at.
    enabled: bool,
    /// Only one thread has the shared memory, and no copy is under way beside it: there is no one to race with.
    pub(crate) alone: bool,
    /// Whether lanes that run together stay together.
    lock_step: bool,
    /// Whether uses of barriers are kept.
    pub(crate) keeps_uses: bool,
    shared: Vec<Shadow>,
    /// Of global memory that may be written.
    pub(crate) global: Vec<Option<Shadow>>,
    /// Conflicts the block met so far.
    met: Conflicts,
    /// The context of each of them.
    contexts: Vec<ConflictContext>,
    /// A byte whose last store is asked for.
    traced: Option<Traced>,
}

/// A byte and the last store to it: the instruction, the warp and the lane.
#[derive(Debug)]
struct Traced {
    area: Area,
    offset: i64,
    last: Option<(Site, usize, usize)>,
}

/// A conflict that a block met, and how often.
#[derive(Debug)]
pub(crate) struct Met {
    pub(crate) conflict: Conflict,
    pub(crate) count: u64,
    pub(crate) context: ConflictContext,
}

/// What a report of a conflict needs besides the conflict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConflictContext {
    pub(crate) area: Area,
    /// Fences of both threads lie between the accesses: what they observed decides.
    pub(crate) fenced: bool,
    /// The last barrier each thread came to before its access.
    pub(crate) passed: [Option<Site>; 2],
    /// The first thread had ended.
    pub(crate) ended: bool,
    /// The bulk copies that the accesses belong to.
    pub(crate) copies: [Option<CopyNote>; 2],
}

impl ConflictContext {
    /// A conflict of which only the allocation is known.
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
            keeps_uses: barrier_uses,
            shared: shared.iter().map(|memory| shadow(memory, ProxySpace::Shared)).collect(),
            global: global.iter().map(writable).collect(),
            ..Self::default()
        }
    }

    /// From now on, stores to a byte are noted.
    pub(crate) fn trace(&mut self, area: Area, offset: i64) {
        self.traced = Some(Traced { area, offset, last: None });
    }

    /// Takes the last of them.
    pub(crate) fn take_traced(&mut self) -> Option<(Site, usize, usize)> {
        self.traced.as_mut()?.last.take()
    }

    fn clear(&mut self) {
        self.shared.iter_mut().for_each(Shadow::clear);
        self.global.iter_mut().flatten().for_each(Shadow::clear);
    }
}

/// An allocation as a number.
fn mark(area: Area) -> u32 {
    match area {
        Area::Shared(number) => (number as u32) << 1,
        Area::Global(number) => (number as u32) << 1 | 1,
        Area::Local(_) | Area::Param(_) => u32::MAX,
    }
}

/// The allocation of a [mark].
fn marked(mark: u32) -> Option<Area> {
    let number = (mark >> 1) as usize;
    match (mark, mark & 1) {
        (u32::MAX, _) => None,
        (_, 0) => Some(Area::Shared(number)),
        _ => Some(Area::Global(number)),
    }
}

/// The attributes of an instruction's access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessAttributes {
    pub(crate) kind: Kind,
    pub(crate) site: Site,
    /// Bytes of one value.
    pub(crate) element: u32,
    pub(crate) copy: Option<CopyId>,
    /// Set if it goes through the async proxy.
    pub(crate) is_async: bool,
    pub(crate) non_coherent: bool,
    pub(crate) group: UpdateGroup,
}

impl AccessAttributes {
    /// An ordinary access to values of `element` bytes.
    pub(crate) fn plain(kind: Kind, site: Site, element: u32) -> Self {
        Self { kind, site, element, copy: None, is_async: false, non_coherent: false, group: None }
    }

    /// Returns the access that lanes of a warp do.
    fn by(self, (warp, lanes): (usize, Mask), same_value: SameValue) -> Access {
        let Self { kind, site, element, copy, is_async, non_coherent, group } = self;
        Access { warp, lanes, kind, site, element, copy, is_async, non_coherent, group, same_value }
    }
}

impl Tracker {
    /// For clusters of this shape; `history` keeps accesses to compare one by one.
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
            counts: Counts::default(),
            tickets: None,
        }
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
        self.shadows.met.warps = self.block_warps();
        self.shadows.clear();
    }

    /// Tells of an event that orders memory or ends a wait, in these lanes of a warp.
    #[inline]
    pub(crate) fn apply(&mut self, warp: usize, lanes: Mask, event: SyncEvent) {
        self.order.apply(warp, lanes, event);
    }

    /// Registers a warp at barrier `id`; returns the reuse that it makes too early, if any.
    ///
    /// # Errors
    /// What is wrong about that, if the manual does not allow it.
    pub(crate) fn arrive(
        &mut self,
        id: u8,
        registration: Registration,
    ) -> Result<Option<Reuse>, Misuse> {
        self.order.arrive(id, registration)
    }

    /// Tells whether all threads have come that barrier `id` of a block counts.
    pub(crate) fn is_complete(&self, rank: usize, id: u8) -> bool {
        self.order.is_complete(rank, id)
    }

    /// Completes barrier `id` of a block; returns who goes on.
    pub(crate) fn release(&mut self, rank: usize, id: u8) -> Released {
        self.order.release(rank, id)
    }

    /// The generation that barrier `id` of a block collects.
    pub(crate) fn generation(&self, rank: usize, id: u8) -> &Generation {
        self.order.generation(rank, id)
    }

    /// The first warp that has not come to barrier `id` of a block.
    pub(crate) fn first_missing(&self, rank: usize, id: u8) -> Option<usize> {
        self.order.missing(rank, id).next()
    }

    /// Lanes start an asynchronous copy.
    pub(crate) fn start_copy(&mut self, warp: usize, lanes: Mask) -> CopyId {
        self.order.start_copy(warp, lanes)
    }

    /// A lane starts a bulk copy, in its open group or in none.
    pub(crate) fn start_bulk(&mut self, warp: usize, lane: usize, grouped: bool) -> CopyId {
        self.order.start_bulk(warp, lane, grouped)
    }

    /// Copies of a thread that are in groups it has not waited for, and copies in no group.
    pub(crate) fn copies_in_flight(&self, warp: usize, lane: usize) -> (usize, usize) {
        self.order.copies_in_flight(warp, lane)
    }

    /// Counts the reads of each thread, if some are not to be trusted.
    pub(crate) fn read_counts(&mut self) -> &mut Counts {
        &mut self.counts
    }

    /// Takes the reads that race, if they were looked for.
    pub(crate) fn take_racing(&mut self) -> Option<Racing> {
        self.history.as_mut().map(|history| std::mem::take(&mut history.racing))
    }

    /// What the block has accessed.
    pub(crate) fn shadows(&self) -> &Shadows {
        &self.shadows
    }

    /// As [`shadows`](Self::shadows), to be changed.
    pub(crate) fn shadows_mut(&mut self) -> &mut Shadows {
        &mut self.shadows
    }

    /// Whether what is found must hold for all schedules.
    pub(crate) fn is_checking(&self) -> bool {
        self.shadows.enabled
    }

    /// Whether accesses to an allocation are looked at.
    #[inline(always)]
    pub(crate) fn watches(&self, area: Area) -> bool {
        self.shadows.enabled
            && match area {
                Area::Shared(_) => !self.shadows.alone,
                Area::Global(number) => self.shadows.global[number].is_some(),
                Area::Local(_) | Area::Param(_) => false,
            }
    }

    /// What is to be known of the value of a write at `site`. In shared memory an earlier write must be unordered or may be
    /// hidden for it to matter; in global memory other blocks may write there, too.
    pub(crate) fn question(&self, area: Area, (offset, bytes): (i64, u32), site: Site) -> Question {
        let (clocks, copies) = (self.order.clocks(), self.order.copies());
        let Shadows { shared, met, .. } = &self.shadows;
        match area {
            Area::Shared(number) => shared.get(number).map_or(Question::None, |shadow| {
                shadow.question(clocks, copies, (offset, bytes), (site, met))
            }),
            Area::Global(_) => Question::Proof,
            Area::Local(_) | Area::Param(_) => Question::None,
        }
    }

    /// Lanes of a warp access `bytes` bytes at one address.
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
        let Shadows { shared, global, met, traced, .. } = &mut self.shadows;
        if let Some(traced) = traced
            && kind != Kind::Read
            && (traced.area, (offset..offset + i64::from(bytes)).contains(&traced.offset))
                == (area, true)
        {
            traced.last = lanes.lowest().map(|lane| (site, warp, lane));
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
        met.area = mark(area);
        shadow.access(self.order.clocks(), self.order.copies(), &access, (offset, bytes), met);
        if self.shadows.contexts.len() < self.shadows.met.met.len() {
            self.note_contexts(area);
        }
    }

    /// Lanes of a warp access `bytes` bytes each at one instruction, one after the other.
    pub(crate) fn access_each(
        &mut self,
        warp: usize,
        (area, bytes): (Area, u32),
        attributes: AccessAttributes,
        each: &[Part],
    ) {
        let Shadows { shared, global, met, traced, enabled, .. } = &mut self.shadows;
        if traced.is_some() || self.history.is_some() || self.mbarriers || self.tickets.is_some() {
            for part in each {
                let target = (area, part.offset, bytes);
                self.access((warp, part.lanes), target, attributes, part.same_value);
            }
            return;
        }
        let shadow = match area {
            Area::Shared(number) => shared.get_mut(number),
            Area::Global(number) => global.get_mut(number).and_then(Option::as_mut),
            Area::Local(_) | Area::Param(_) => None,
        };
        let Some(shadow) = shadow.filter(|_| *enabled && bytes > 0) else { return };
        let access = attributes.by((warp, Mask::NONE), SameValue::Undecided);
        met.area = mark(area);
        let (clocks, copies) = (self.order.clocks(), self.order.copies());
        shadow.access_each(clocks, copies, (&access, bytes), each, met);
        if self.shadows.contexts.len() < self.shadows.met.met.len() {
            self.note_contexts(area);
        }
    }

    /// A lane stores values side by side, of each of which it is known whether it leaves in place
    /// what is there. They are told apart only where that differs: a value that stays excuses itself
    /// and not its neighbours.
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
    fn note_contexts(&mut self, area: Area) {
        let known = self.shadows.contexts.len();
        let mut contexts = Vec::new();
        for (conflict, _) in &self.shadows.met.met[known..] {
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

    /// Whether uses of barriers are kept.
    pub(crate) fn keeps_uses(&self) -> bool {
        self.shadows.keeps_uses
    }

    /// Lanes that run together are about to access memory, or have done so: if they are said to stay
    /// together, that orders what they do.
    #[inline]
    pub(crate) fn step(&mut self, warp: usize, lanes: Mask) {
        if self.shadows.lock_step {
            self.order.apply(warp, lanes, SyncEvent::WarpBarrier);
        }
    }

    /// Takes the conflicts that the block met, and where they were.
    pub(crate) fn take_conflicts(&mut self) -> (Vec<Met>, Suspects) {
        let Conflicts { met: conflicts, words, more_words, .. } =
            std::mem::take(&mut self.shadows.met);
        let words = words.into_iter().filter_map(|(mark, word)| Some((marked(mark)?, word)));
        let suspects =
            Suspects { words: words.collect(), incomplete: more_words, ..Suspects::default() };
        let contexts = std::mem::take(&mut self.shadows.contexts);
        let all = conflicts.into_iter().zip(contexts);
        let met = all.map(|((conflict, count), mut context)| {
            self.add_signals(&conflict, &mut context);
            Met { conflict, count, context }
        });
        (met.collect(), suspects)
    }
}
