//! What a block's threads do to memory and to each other, told to [`sync`], which knows what is
//! ordered.
//!
//! Tracked are shared memory, and global memory that may be written: what is only read cannot race.

use crate::address::Area;
use crate::lanes::Mask;
use crate::launch::Access as Permission;
use crate::memory::Allocation;
use crate::options::Checks;
use crate::racing_reads::{Counts, History, Suspects};
use sync::{
    Access, Barriers, Clocks, Conflict, Conflicts, Copies, CopyId, Kind, SameValue, Shadow, Site,
    Time, UpdateGroup, Who,
};

/// A synchronisation event of a warp, for reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) time: Time,
    pub(crate) lanes: Mask,
    pub(crate) site: Site,
}

/// Order and accesses in the block that runs.
#[derive(Debug)]
pub(crate) struct Tracker {
    pub(crate) clocks: Clocks,
    pub(crate) barriers: Barriers,
    pub(crate) copies: Copies,
    /// Events of each warp, in order.
    pub(crate) events: Vec<Vec<Event>>,
    shadows: Shadows,
    /// Every access to some words, if they are to be compared one by one.
    pub(crate) history: Option<History>,
    /// Reads so far, if some are not to be trusted.
    pub(crate) counts: Counts,
}

/// The accesses to each allocation.
#[derive(Debug, Default)]
pub(crate) struct Shadows {
    /// Whether anybody wants to know.
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
    /// For each of them what else is to be known.
    circumstances: Vec<Circumstance>,
    /// A byte whose stores somebody wants to know.
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
    pub(crate) circumstance: Circumstance,
}

/// What else is to be known about a conflict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstance {
    pub(crate) area: Area,
    /// Fences of both threads lie between the accesses: what they observed decides.
    pub(crate) fenced: bool,
    /// The last barrier each thread came to before its access.
    pub(crate) passed: [Option<Site>; 2],
    /// The first thread had ended.
    pub(crate) ended: bool,
}

impl Circumstance {
    /// Nothing is known but where it was.
    pub(crate) fn new(area: Area) -> Self {
        Self { area, fenced: false, passed: [None; 2], ended: false }
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
        let shadow = |memory: &Allocation| Shadow::new(memory.bytes.len() as u64);
        let writable =
            |memory: &Allocation| (memory.access != Permission::In).then(|| shadow(memory));
        Self {
            enabled: true,
            lock_step,
            keeps_uses: barrier_uses,
            shared: shared.iter().map(shadow).collect(),
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

/// How an instruction accesses memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    pub(crate) kind: Kind,
    pub(crate) site: Site,
    /// Bytes of one value.
    pub(crate) element: u32,
    pub(crate) copy: Option<CopyId>,
    pub(crate) non_coherent: bool,
    pub(crate) group: UpdateGroup,
}

impl Manner {
    /// An ordinary access to values of `element` bytes.
    pub(crate) fn plain(kind: Kind, site: Site, element: u32) -> Self {
        Self { kind, site, element, copy: None, non_coherent: false, group: None }
    }
}

impl Tracker {
    /// For blocks of this many warps.
    pub(crate) fn new(warps: usize, shadows: Shadows) -> Self {
        Self {
            clocks: Clocks::new(warps),
            barriers: Barriers::new(warps),
            copies: Copies::new(warps),
            events: vec![Vec::new(); warps],
            shadows,
            history: None,
            counts: Counts::default(),
        }
    }

    /// Starts a block.
    pub(crate) fn restart(&mut self, block: [u32; 3]) {
        self.counts.clear();
        if let Some(history) = &mut self.history {
            history.restart(block);
        }
        let warps = self.events.len();
        self.clocks.restart();
        self.barriers = Barriers::new(warps);
        self.copies = Copies::new(warps);
        self.events.iter_mut().for_each(Vec::clear);
        self.shadows.clear();
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

    /// Lanes of a warp access `bytes` bytes at one address.
    #[inline]
    pub(crate) fn access(
        &mut self,
        (warp, lanes): (usize, Mask),
        (area, offset, bytes): (Area, i64, u32),
        manner: Manner,
        same_value: SameValue,
    ) {
        if !self.shadows.enabled || bytes == 0 {
            return;
        }
        let Manner { kind, site, element, copy, non_coherent, group } = manner;
        let access =
            Access { warp, lanes, kind, site, element, copy, non_coherent, group, same_value };
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
            history.access(&self.clocks, &access, (area, offset, bytes));
        }
        met.area = mark(area);
        shadow.access(&self.clocks, &self.copies, &access, (offset, bytes), met);
        if self.shadows.circumstances.len() < self.shadows.met.met.len() {
            self.note_circumstances(area);
        }
    }

    /// A lane stores values side by side, of each of which it is known whether it leaves in place
    /// what is there. They are told apart only where that differs: a value that stays excuses itself
    /// and not its neighbours.
    pub(crate) fn store(
        &mut self,
        (warp, lane): (usize, usize),
        (area, offset): (Area, i64),
        manner: Manner,
        same_values: &[SameValue],
    ) {
        let Some((&first, rest)) = same_values.split_first() else { return };
        let who = (warp, Mask::one(lane));
        let count = same_values.len() as u32;
        if rest.iter().all(|&same| same == first) {
            return self.access(who, (area, offset, count * manner.element), manner, first);
        }
        let starts = (offset..).step_by(manner.element.max(1) as usize);
        for (offset, &same) in starts.zip(same_values) {
            self.access(who, (area, offset, manner.element), manner, same);
        }
    }

    #[cold]
    fn note_circumstances(&mut self, area: Area) {
        let known = self.shadows.circumstances.len();
        let mut circumstances = Vec::new();
        for (conflict, _) in &self.shadows.met.met[known..] {
            let (earlier, later) = (conflict.earlier, conflict.later);
            let fenced = earlier
                .time
                .is_some_and(|time| self.clocks.fences_between(earlier.who, time, later.who));
            let passed = [
                earlier.time.and_then(|time| self.passed(earlier.who, time)),
                self.passed(later.who, self.clocks.now(usize::from(later.who.warp))),
            ];
            let ended = self.clocks.has_exited(earlier.who);
            circumstances.push(Circumstance { area, fenced, passed, ended });
        }
        self.shadows.circumstances.extend(circumstances);
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
            self.clocks.warp_barrier(warp, lanes);
        }
    }

    /// Takes the conflicts that the block met, and where they were.
    pub(crate) fn take_conflicts(&mut self) -> (Vec<Met>, Suspects) {
        let Conflicts { met: conflicts, words, more_words, .. } =
            std::mem::take(&mut self.shadows.met);
        let words = words.into_iter().filter_map(|(mark, word)| Some((marked(mark)?, word)));
        let suspects =
            Suspects { words: words.collect(), incomplete: more_words, ..Suspects::default() };
        let circumstances = std::mem::take(&mut self.shadows.circumstances);
        let all = conflicts.into_iter().zip(circumstances);
        let met =
            all.map(|((conflict, count), circumstance)| Met { conflict, count, circumstance });
        (met.collect(), suspects)
    }

    /// Lanes of a warp have synchronised.
    pub(crate) fn note_event(&mut self, warp: usize, lanes: Mask, site: Site) {
        if self.shadows.enabled {
            let time = self.clocks.now(warp);
            self.events[warp].push(Event { time, lanes, site });
        }
    }

    /// The last synchronisation a thread took part in before an access of its own at `time`.
    fn passed(&self, who: Who, time: Time) -> Option<Site> {
        let events = &self.events[usize::from(who.warp)];
        let before = events.partition_point(|event| event.time <= time);
        let took_part = |event: &&Event| event.lanes.has(usize::from(who.lane));
        events[..before].iter().rev().find(took_part).map(|event| event.site)
    }
}
