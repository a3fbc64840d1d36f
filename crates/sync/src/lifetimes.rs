//! Lives of the blocks of a cluster: whether the memory of another block is there when it is accessed.
//!
//! Shared memory of a block is there from the block's start to the end of its last thread (CUDA programming guide, "Distributed Shared
//! Memory"; an H200 fails the launch otherwise). On every schedule an access to another block comes
//! - after its start, if its thread has waited for anything that a thread of that block did, and
//! - before its end, if a thread of that block has waited for the access before it ended. For each access some thread will do, so
//!   it is enough to join, by block, what its threads had waited for when they ended.
//!
//! The access of a copy is over when somebody has waited for the phase that it is delivered in. Waits that this crate does not see do
//! not count, so it errs towards "may have ended".

use crate::clocks::{Clocks, LaneId, Time, Times, join};
use crate::lanes::Mask;
use crate::shadow::Site;

/// An access to the memory of a block by a thread of another, or by a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAccess {
    /// The block whose memory it is, by rank.
    pub block: usize,
    /// The warp that accesses it, or started the copy.
    pub warp: usize,
    /// Its lanes.
    pub lanes: Mask,
    /// The instruction.
    pub site: Site,
    /// The allocation and the byte, for reports.
    pub place: (u32, i64),
}

#[derive(Clone, Copy, Debug)]
enum Done {
    /// A thread did it at this time of waits-for.
    At(Time),
    /// It is done when this party of waits-for has come so far.
    Party(u16, Time),
}

/// The lives of the blocks of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Lifetimes {
    /// Warps of a block.
    warps: usize,
    /// Times that threads of each block had waited for when they ended.
    ended: Vec<Times>,
    accesses: Vec<(RemoteAccess, Done)>,
}

impl Lifetimes {
    pub(crate) fn new(warps: usize, blocks: usize) -> Self {
        Self { warps, ended: vec![Times::new(); blocks], accesses: Vec::new() }
    }

    /// Threads end.
    pub(crate) fn exit(&mut self, waits: &Clocks, warp: usize, lanes: Mask) {
        let ended = &mut self.ended[warp / self.warps];
        waits.complete(ended);
        for lane in lanes.iter() {
            let who = LaneId { warp: warp as u8, lane: lane as u8 };
            join(ended, waits.known_of_others(who));
        }
    }

    /// Threads access the memory of another block; the answer is a lane that may do so before that block has started.
    pub(crate) fn access(&mut self, waits: &Clocks, access: RemoteAccess) -> Option<usize> {
        let stamp = waits.now(access.warp);
        let same = |(other, done): &(RemoteAccess, Done)| {
            let place = RemoteAccess { place: other.place, ..access };
            *other == place && matches!(done, Done::At(time) if *time == stamp)
        };
        if !self.accesses.iter().rev().take(16).any(same) {
            self.accesses.push((access, Done::At(stamp)));
        }
        self.may_precede_start(waits, access)
    }

    /// A copy accesses the memory of a block until a party of waits-for has come so far; the answer is as for
    /// [`access`](Self::access).
    pub(crate) fn copy(
        &mut self,
        waits: &Clocks,
        access: RemoteAccess,
        (party, time): (u16, Time),
    ) -> Option<usize> {
        self.accesses.push((access, Done::Party(party, time)));
        self.may_precede_start(waits, access)
    }

    fn may_precede_start(&self, waits: &Clocks, access: RemoteAccess) -> Option<usize> {
        let RemoteAccess { block, warp, lanes, .. } = access;
        if block == warp / self.warps {
            return None;
        }
        let of_block = block * self.warps..(block + 1) * self.warps;
        let knows = |&lane: &usize| {
            let who = LaneId { warp: warp as u8, lane: lane as u8 };
            waits.knows_one_of(who, of_block.clone())
        };
        lanes.iter().find(|lane| !knows(lane))
    }

    /// Takes the accesses that may come after the end of the block whose memory they access, now that all threads have ended; each with a
    /// lane that does so.
    pub(crate) fn take_late(&mut self, waits: &Clocks) -> Vec<(RemoteAccess, usize)> {
        self.ended.iter_mut().for_each(|ended| waits.complete(ended));
        let late = |(access, done): (RemoteAccess, Done)| {
            let ended = &self.ended[access.block];
            let is_known = |&lane: &usize| match done {
                Done::At(time) => {
                    let who = LaneId { warp: access.warp as u8, lane: lane as u8 };
                    time < ended[waits.party(who)]
                }
                Done::Party(party, time) => time < ended[usize::from(party)],
            };
            let lane = access.lanes.iter().find(|lane| !is_known(lane))?;
            Some((access, lane))
        };
        std::mem::take(&mut self.accesses).into_iter().filter_map(late).collect()
    }
}
