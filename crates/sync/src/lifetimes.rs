//! Lifetimes of the blocks of a cluster: accesses to another block's memory must fall within its lifetime.
//!
//! Shared memory of a block exists from the block's start to the end of its last thread (CUDA programming
//! guide, "Distributed Shared Memory"; an H200 fails the launch otherwise). On every schedule an access to
//! another block comes
//! - after its start, if its thread has waited for any action of a thread of that block, and
//! - before its end, if a thread of that block has waited for the access before it ended. One such thread for
//!   each access is enough. So it suffices to join, by block, the times that its threads had waited for when
//!   they ended.
//!
//! The access of a copy is over when some thread has waited for the phase of its delivery. Waits invisible to
//! this crate do not count, so it errs towards "may have ended".

use crate::clocks::{Clocks, LaneId, Time, Times, join};
use crate::lanes::Mask;
use crate::shadow::Site;

/// An access to another block's memory, by a thread or a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAccess {
    /// The rank of the block that owns the memory.
    pub block: usize,
    /// The warp that accesses it or started the copy.
    pub warp: usize,
    /// Its lanes.
    pub lanes: Mask,
    /// The instruction.
    pub site: Site,
    /// The allocation and the byte, for reports.
    pub place: (u32, i64),
}

#[derive(Clone, Copy, Debug)]
enum Completion {
    /// An access by a thread at this waits-for time.
    At(Time),
    /// An access complete once this waits-for party has reached this time.
    Party(u16, Time),
}

/// Lifetimes of the blocks of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Lifetimes {
    /// Warps of a block.
    warps: usize,
    /// For each block, the times that its threads had waited for when they ended.
    ended: Vec<Times>,
    accesses: Vec<(RemoteAccess, Completion)>,
}

impl Lifetimes {
    pub(crate) fn new(warps: usize, blocks: usize) -> Self {
        Self { warps, ended: vec![Times::new(); blocks], accesses: Vec::new() }
    }

    /// Records the exit of threads.
    pub(crate) fn exit(&mut self, waits: &Clocks, warp: usize, lanes: Mask) {
        let ended = &mut self.ended[warp / self.warps];
        waits.complete(ended);
        for lane in lanes.iter() {
            let who = LaneId { warp: warp as u8, lane: lane as u8 };
            join(ended, waits.known_of_others(who));
        }
    }

    /// Records an access of threads to the memory of another block. Returns a lane that may access it before
    /// that block has started.
    pub(crate) fn access(&mut self, waits: &Clocks, access: RemoteAccess) -> Option<usize> {
        let now = waits.now(access.warp);
        let same = |(other, completion): &(RemoteAccess, Completion)| {
            let place = RemoteAccess { place: other.place, ..access };
            *other == place && matches!(completion, Completion::At(time) if *time == now)
        };
        if !self.accesses.iter().rev().take(16).any(same) {
            self.accesses.push((access, Completion::At(now)));
        }
        self.may_precede_start(waits, access)
    }

    /// Records an access of a copy to the memory of a block, over once a waits-for party has reached a time.
    /// Returns a lane as [`access`](Self::access) does.
    pub(crate) fn copy(
        &mut self,
        waits: &Clocks,
        access: RemoteAccess,
        (party, time): (u16, Time),
    ) -> Option<usize> {
        self.accesses.push((access, Completion::Party(party, time)));
        self.may_precede_start(waits, access)
    }

    /// Returns a lane that may access a block before the block has started.
    fn may_precede_start(&self, waits: &Clocks, access: RemoteAccess) -> Option<usize> {
        let RemoteAccess { block, warp, lanes, .. } = access;
        if block == warp / self.warps {
            return None;
        }
        let warps_of_block = block * self.warps..(block + 1) * self.warps;
        let knows = |&lane: &usize| {
            let who = LaneId { warp: warp as u8, lane: lane as u8 };
            waits.knows_one_of(who, warps_of_block.clone())
        };
        lanes.iter().find(|lane| !knows(lane))
    }

    /// Takes the accesses that may come after the end of the accessed block, each with such a lane. Call it
    /// once all threads have ended.
    pub(crate) fn take_late(&mut self, waits: &Clocks) -> Vec<(RemoteAccess, usize)> {
        self.ended.iter_mut().for_each(|ended| waits.complete(ended));
        let late = |(access, completion): (RemoteAccess, Completion)| {
            let ended = &self.ended[access.block];
            let is_known = |&lane: &usize| match completion {
                Completion::At(time) => {
                    let who = LaneId { warp: access.warp as u8, lane: lane as u8 };
                    time < ended[waits.party(who)]
                }
                Completion::Party(party, time) => time < ended[usize::from(party)],
            };
            let lane = access.lanes.iter().find(|lane| !is_known(lane))?;
            Some((access, lane))
        };
        std::mem::take(&mut self.accesses).into_iter().filter_map(late).collect()
    }
}
