//! Tickets: each block takes one number from a counter in global memory, so that one of them learns that it
//! is the last.
//!
//! ```text
//! partial[block] = sum;  __threadfence();
//! last = atomicAdd(&count, 1) == gridDim - 1;      // one thread
//! __syncthreads();
//! if (last) … all of partial …
//! ```
//!
//! The schedule chooses the last block, and the other numbers too. So a launch runs once for each block, with
//! that block as the last ([`crate::check_last`]): it runs after all others, and its number is known. For the
//! other numbers only their range is known, and it must suffice for all decisions. The caller compares the
//! results of all these runs.
//!
//! That covers all schedules, because exactly one block has the last number. The counter has a known initial
//! number, and each block adds one to it once ([`Counter`]), or the run ends with a gap that says what is missing.
//! The last block sees the other blocks' accesses before their tickets if these were released (manual §8.8). Either
//! the thread that takes the ticket executes a fence, after everything it knows of; or each thread executes a fence
//! after its own accesses, and the ticket's thread knows of all these fences ([`TicketWatch`]). The reading side
//! needs a fence of the ticket's thread after the ticket, known to all readers; without one there is a note.
//!
//! Blocks that take several tickets work through a list of tiles:
//!
//! ```text
//! for (tile = atomicAdd(&count, 1); tile < tiles; tile = atomicAdd(&count, 1)) …
//! ```
//!
//! There the schedule chooses who takes each ticket, and nothing else: tickets of a block are ordered with each
//! other, and they order no accesses between blocks. A run follows one sequence of takers
//! ([`crate::check_in_order`]): a block's tickets are its places in that sequence. After the end of the given
//! sequence, the lowest block that asks takes the next ticket. So the caller can go through all sequences, and
//! compares the results.

use crate::finding::Place;
use crate::lanes::{Mask, WARP};
use crate::memory::{Allocation, state};
use ir::AtomicOp;
use sync::{BlockAccesses, Clocks, LaneId, Shadow, Site, Time};

/// The counter of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter {
    /// The number of the global allocation.
    pub(crate) number: usize,
    pub(crate) offset: i64,
    pub(crate) bytes: u32,
    pub(crate) op: AtomicOp,
    /// The operand: 1, or the limit of an increment.
    pub(crate) operand: u64,
}

impl Counter {
    /// The number in the counter, if it is known.
    pub(crate) fn value(&self, global: &[Allocation]) -> Option<u64> {
        let memory = global.get(self.number)?;
        let start = usize::try_from(self.offset).ok()?;
        let range = start..start.checked_add(self.bytes as usize)?;
        let bytes = memory.bytes.get(range.clone())?;
        let is_number = memory.states[range].iter().all(|&one| one == state::DEFINED);
        is_number.then(|| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

/// The order in which blocks take tickets in a run.
#[derive(Debug, Default)]
pub(crate) enum TicketMode {
    /// Any order: an ordinary run.
    #[default]
    None,
    /// Each block takes one, this block the last.
    Last(u64),
    /// Blocks take them in this order, and after that in ascending order of blocks.
    Sequence(Vec<u64>),
}

impl TicketMode {
    /// The block that takes the last ticket.
    pub(crate) fn last(&self) -> Option<u64> {
        if let Self::Last(block) = self { Some(*block) } else { None }
    }

    /// The given sequence of takers.
    pub(crate) fn sequence(&self) -> Option<&[u64]> {
        if let Self::Sequence(takers) = self { Some(takers) } else { None }
    }
}

/// The tickets that blocks have taken.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    /// The counter, its initial value, and the place of the first ticket.
    pub(crate) counter: Option<(Counter, u64, Place)>,
    pub(crate) taken: u64,
    /// The block that took the last one so far.
    pub(crate) unit: Option<u64>,
    /// In a run with a sequence: the number of tickets of that block, and the thread and time of its last.
    pub(crate) of_unit: (usize, Option<(LaneId, Time)>),
    /// In such a run: the block of each ticket, first the given sequence.
    pub(crate) takers: Vec<u64>,
    /// In such a run: the number of tickets that were taken in the given sequence.
    pub(crate) taken_in_sequence: usize,
    /// Set if there are increments with a limit that do not take a ticket.
    pub(crate) other_increments: bool,
}

/// Accesses and fences of a block before and after its ticket, in writable global memory.
#[derive(Debug)]
pub(crate) struct TicketWatch {
    /// For each thread its last access before the ticket.
    accessed: Vec<[Option<Time>; WARP]>,
    /// The first fence of each thread after that.
    fenced: Vec<[Option<Time>; WARP]>,
    /// Set after any fence.
    any_fence: bool,
    /// Threads with a fence at which they knew all accesses so far.
    covering: Vec<Mask>,
    state: State,
    /// Set if the ticket releases all accesses before it.
    pub(crate) is_released: bool,
    /// Set if the ticket releases no accesses, for want of a fence.
    is_bare: bool,
    /// Set for concurrent copies or reads through the read-only cache, which fences do not order.
    is_unusual: bool,
    /// Set if threads access global memory after the ticket.
    pub(crate) continues_after: bool,
    /// Set if such a thread does not know of the ticket.
    pub(crate) is_unordered: bool,
    /// The first fence after the ticket by its thread; the ticket itself if it acquires.
    acquired: Option<Time>,
    /// An access after the ticket that is not ordered after that fence.
    pub(crate) unacquired: Option<(Site, LaneId)>,
    /// The accesses of the block up to its ticket.
    pub(crate) before: Vec<Option<BlockAccesses>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    /// The ticket is being taken. Its own access is not recorded.
    Taking,
    /// Taken by this thread, at this time.
    Taken(LaneId, Time),
}

impl TicketWatch {
    /// A watch for a block of this many warps.
    pub(crate) fn new(warps: usize) -> Self {
        Self {
            accessed: vec![[None; WARP]; warps],
            fenced: vec![[None; WARP]; warps],
            covering: vec![Mask::NONE; warps],
            any_fence: false,
            state: State::Before,
            is_released: false,
            is_bare: false,
            is_unusual: false,
            continues_after: false,
            is_unordered: false,
            acquired: None,
            unacquired: None,
            before: Vec::new(),
        }
    }

    /// Returns `true` if the block has a ticket.
    pub(crate) fn has_ticket(&self) -> bool {
        matches!(self.state, State::Taken(..))
    }

    /// The reason why the actions of a block after its ticket are unsupported, if they are.
    pub(crate) fn obstacle(&self, is_last: bool) -> Option<&'static str> {
        match is_last {
            _ if !self.has_ticket() => None,
            _ if self.is_unusual => Some(
                "blocks take tickets, and asynchronous copies or the read-only cache access memory that \
                blocks may write; this is not supported",
            ),
            false if !self.is_released && !self.is_bare => Some(
                "blocks take tickets, and some earlier accesses are not followed by a fence: their effects \
                are not tracked exactly",
            ),
            true if self.is_unordered => Some(
                "other threads of the block access global memory, and nothing orders these accesses with the \
                thread that takes the ticket",
            ),
            false if self.continues_after => Some(
                "blocks that are not the last also access global memory after taking their ticket: this is not supported",
            ),
            _ => None,
        }
    }

    /// Records an access of lanes to global memory. Copies and reads through the read-only cache are unusual.
    pub(crate) fn access(
        &mut self,
        clocks: &Clocks,
        (warp, lanes): (usize, Mask),
        site: Site,
        is_unusual: bool,
    ) {
        self.is_unusual |= is_unusual;
        match self.state {
            State::Taking => {}
            State::Before => {
                let now = clocks.now(warp);
                lanes.iter().for_each(|lane| self.accessed[warp][lane] = Some(now));
                lanes.iter().for_each(|lane| self.fenced[warp][lane] = None);
                self.covering.iter_mut().for_each(|covering| *covering = Mask::NONE);
            }
            State::Taken(taker, time) => {
                self.continues_after = true;
                for lane in lanes.iter() {
                    let who = lane_id(warp, lane);
                    let knows = |time: Time| who == taker || clocks.ordered(taker, time, who);
                    self.is_unordered |= !knows(time);
                    if !self.acquired.is_some_and(knows) && self.unacquired.is_none() {
                        self.unacquired = Some((site, who));
                    }
                }
            }
        }
    }

    /// Records a fence of lanes with a scope of all blocks, which releases, acquires or both.
    pub(crate) fn fence(
        &mut self,
        clocks: &Clocks,
        (warp, lanes): (usize, Mask),
        [releases, acquires]: [bool; 2],
    ) {
        let now = clocks.now(warp);
        if let State::Taken(taker, _) = self.state {
            let is_own = usize::from(taker.warp) == warp && lanes.has(taker.lane.into());
            if is_own && acquires && self.acquired.is_none() {
                self.acquired = Some(now);
            }
            return;
        }
        if !releases {
            return;
        }
        self.any_fence = true;
        for lane in lanes.iter() {
            self.fenced[warp][lane].get_or_insert(now);
        }
        for lane in lanes.iter() {
            if self.all_accesses(
                |who, time| clocks.ordered(who, time, lane_id(warp, lane)),
                lane_id(warp, lane),
            ) {
                self.covering[warp] = self.covering[warp].or(Mask::one(lane));
            }
        }
    }

    /// Returns `true` if `holds` is true for the last access of every thread except one.
    fn all_accesses(&self, holds: impl Fn(LaneId, Time) -> bool, except: LaneId) -> bool {
        self.accessed.iter().enumerate().all(|(warp, lanes)| {
            lanes.iter().enumerate().all(|(lane, time)| {
                let who = lane_id(warp, lane);
                who == except || time.is_none_or(|time| holds(who, time))
            })
        })
    }

    /// Prepares for a thread to take the ticket, with an operation that may itself release.
    pub(crate) fn begin(&mut self, clocks: &Clocks, taker: LaneId, releases: bool) {
        let time_of = |all: &[[Option<Time>; WARP]], who: LaneId| {
            all[usize::from(who.warp)][usize::from(who.lane)]
        };
        // A fence that is not ordered with the ticket may come after it.
        let fenced = |who: LaneId| {
            time_of(&self.fenced, who).is_some_and(|time| clocks.ordered(who, time, taker))
        };
        let is_own_fenced = time_of(&self.fenced, taker).is_some();
        let each = (time_of(&self.accessed, taker).is_none() || is_own_fenced)
            && self
                .all_accesses(|who, time| fenced(who) && clocks.ordered(who, time, taker), taker);
        let knows_all = || self.all_accesses(|who, time| clocks.ordered(who, time, taker), taker);
        self.is_released = each
            || self.covering[usize::from(taker.warp)].has(taker.lane.into())
            || releases && knows_all();
        self.is_bare = !releases && !self.any_fence;
        self.state = State::Taking;
    }

    /// Records that the thread has taken the ticket.
    pub(crate) fn end<'s>(
        &mut self,
        (taker, time): (LaneId, Time),
        acquires: bool,
        shadows: impl Iterator<Item = Option<&'s Shadow>>,
    ) {
        self.state = State::Taken(taker, time);
        self.before = shadows.map(|shadow| shadow.map(BlockAccesses::new)).collect();
        self.acquired = acquires.then_some(time);
    }
}

fn lane_id(warp: usize, lane: usize) -> LaneId {
    // A warp has 32 lanes, and a block at most 32 warps.
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    LaneId { warp: warp as u8, lane: lane as u8 }
}
