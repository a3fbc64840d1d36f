//! Answers a cell's queries about the order of accesses, from clocks, asynchronous copies, and the kind of memory.
//!
//! Nothing is decided here: [`Clocks`] orders threads, and [`AsyncAgents`] knows the waits for copies.

use crate::clocks::{Clocks, LaneId, Time};
use crate::copies::{AgentId, AsyncAgents};
use crate::entry::Entry;
use crate::proxy::ProxySpace;
use crate::shadow::{ConflictSide, MemoryEffect};

/// The knowledge of a warp at an instruction that reads, while no thread has exited.
#[derive(Debug)]
pub(crate) struct Reader<'o> {
    order: AccessOrder<'o>,
    pub(crate) epoch: u32,
    /// The times that all lanes know of other warps, if all lanes know the same.
    known: Option<&'o [Time]>,
    /// The last write of a copy that all threads know of.
    copy: Option<Entry>,
}

impl<'o> Reader<'o> {
    /// The knowledge of a warp.
    pub(crate) fn new(order: AccessOrder<'o>, warp: usize) -> Self {
        let (epoch, known) = (order.clocks.epoch(), order.clocks.known_to_all_lanes(warp));
        Self { order, epoch, known, copy: None }
    }

    #[inline(always)]
    pub(crate) fn clocks(&self) -> &'o Clocks {
        self.order.clocks
    }

    /// Returns `true` if the lanes know of a write by threads. Errs towards `false`.
    #[inline(always)]
    pub(super) fn knows(&self, write: &Entry) -> bool {
        let party = usize::from(write.warp);
        self.known.and_then(|known| known.get(party)).is_some_and(|&time| write.time < time)
            && !self.order.clocks.is_divided(party)
    }

    /// Returns `true` if all threads know of a write by a copy.
    #[inline]
    pub(super) fn knows_copy(&mut self, write: &Entry) -> bool {
        // Neighbouring cells were written by the same copy.
        if self.copy.is_some_and(|copy| copy.is_same_time(write)) {
            return true;
        }
        let knows = self.order.is_past_copy(write);
        self.copy = knows.then_some(*write);
        knows
    }
}

/// The relations that order accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessOrder<'o> {
    pub(crate) clocks: &'o Clocks,
    pub(crate) copies: &'o AsyncAgents,
    /// The memory that the bytes belong to.
    pub(crate) space: ProxySpace,
}

impl AccessOrder<'_> {
    /// Returns `true` if an access of `epoch` is ordered before everything now, without a look at the clocks.
    #[inline]
    pub(super) fn is_past(&self, epoch: u32) -> bool {
        epoch != self.clocks.epoch() && !self.clocks.any_exited()
    }

    /// Like [`is_past`](Self::is_past), for accesses of one warp.
    #[inline]
    pub(super) fn is_past_of(&self, epoch: u32, warp: u8) -> bool {
        epoch != self.clocks.epoch() && !self.clocks.any_exited_of(warp)
    }

    /// Returns `true` if all threads know that a copy has completed its write.
    #[cold]
    pub(super) fn is_past_copy(&self, write: &Entry) -> bool {
        write.lanes.iter().all(|lane| {
            let who = LaneId { warp: write.warp, lane: lane as u8 };
            let waited = self.copies.waited_at(write.time, lane);
            let mut arrivals = self.copies.arrivals(write.time, lane).iter();
            waited.is_some_and(|time| self.clocks.all_know(who, time))
                || arrivals.any(|&(party, time)| self.clocks.all_know_party(party, time))
        })
    }

    /// Returns `true` if all threads know of a write.
    pub(super) fn is_past_write(&self, write: &Entry) -> bool {
        let who = |lane: usize| LaneId { warp: write.warp, lane: lane as u8 };
        match write.is_copy {
            true => self.is_past_copy(write),
            false => write.lanes.iter().all(|lane| self.clocks.all_know(who(lane), write.time)),
        }
    }

    /// Returns `true` if an entry, not a copy, is ordered before the next action of `later`.
    #[inline]
    pub(super) fn is_ordered(&self, entry: &Entry, later: LaneId) -> bool {
        self.clocks.all_ordered((entry.warp, entry.lanes), entry.time, later)
    }

    /// Returns `true` if a copy arrived at an mbarrier in a phase whose end `later` knows of.
    #[cold]
    fn has_arrived(&self, copy: AgentId, lane: usize, later: LaneId) -> bool {
        let mut arrivals = self.copies.arrivals(copy, lane).iter();
        arrivals.any(|&(party, time)| self.clocks.knows(later, party, time))
    }

    /// Returns `true` if two entries are copies known to write the same values.
    pub(super) fn same_contents(&self, a: &Entry, b: &Entry) -> bool {
        self.copies.same_contents(a.time, b.time)
    }

    /// Finds a lane of an entry that is not ordered before the next action of `later`.
    #[inline(always)]
    pub(crate) fn unordered(&self, entry: &Entry, later: LaneId) -> Option<ConflictSide> {
        for lane in entry.lanes.iter() {
            let who = LaneId { warp: entry.warp, lane: lane as u8 };
            let time = match (entry.is_copy, entry.kind) {
                (false, _) => Some(entry.time),
                (true, MemoryEffect::Read) => self.copies.read_waited_at(entry.time, lane),
                (true, MemoryEffect::Write | MemoryEffect::Update) => {
                    self.copies.waited_at(entry.time, lane)
                }
            };
            let ordered = time.is_some_and(|time| self.clocks.ordered(who, time, later))
                || entry.is_copy && self.has_arrived(entry.time, lane, later);
            if !ordered {
                let copy = entry.copy();
                return Some(ConflictSide { who, site: entry.site, kind: entry.kind, time, copy });
            }
        }
        None
    }
}
