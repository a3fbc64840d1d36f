//! Programmatic dependent launches (PTX manual §9.7.13.13): finds accesses to global memory before
//! `griddepcontrol.wait`.
//!
//! A kernel that contains the instruction may start while earlier launches run. A thread's accesses to global
//! memory come after those launches if the thread has executed the wait, or if a thread that has is ordered
//! before it. All others are early. This errs towards "early": orders invisible to this crate do not count.

use super::Tracker;
use crate::lanes::Mask;
use sync::{LaneId, Time};

/// The waits for earlier launches in a block.
#[derive(Debug)]
pub(super) struct GridWaits {
    /// Lanes that have waited, with the time.
    waits: Vec<(usize, Mask, Time)>,
    /// Lanes of each warp that are known to come after a wait.
    after: Vec<Mask>,
}

impl GridWaits {
    /// The state for blocks of this many warps.
    pub(super) fn new(warps: usize) -> Self {
        Self { waits: Vec::new(), after: vec![Mask::NONE; warps] }
    }

    pub(super) fn restart(&mut self) {
        self.waits.clear();
        self.after.fill(Mask::NONE);
    }
}

impl Tracker {
    /// Enables the check, for a kernel that waits for earlier launches.
    pub(crate) fn follow_grids(&mut self) {
        self.grids = Some(Box::new(GridWaits::new(self.events.len())));
    }

    /// Returns `true` if the kernel contains a wait for earlier launches.
    #[inline(always)]
    pub(crate) fn follows_grids(&self) -> bool {
        self.grids.is_some()
    }

    /// Records a wait of lanes for earlier launches.
    pub(crate) fn wait_for_grids(&mut self, warp: usize, lanes: Mask) {
        let now = self.order.clocks().now(warp);
        if let Some(grids) = &mut self.grids {
            grids.waits.push((warp, lanes, now));
            grids.after[warp] = grids.after[warp].or(lanes);
        }
    }

    /// Returns `true` if a lane's present actions may come before the end of earlier launches.
    pub(crate) fn is_early(&mut self, warp: usize, lane: usize) -> bool {
        let clocks = self.order.clocks();
        let Some(grids) = &mut self.grids else { return false };
        if grids.after[warp].has(lane) {
            return false;
        }
        let thread = LaneId { warp: warp as u8, lane: lane as u8 };
        let is_before = |&(warp, lanes, time): &(usize, Mask, Time)| {
            lanes.iter().any(|lane| {
                let waiter = LaneId { warp: warp as u8, lane: lane as u8 };
                clocks.ordered(waiter, time, thread)
            })
        };
        if grids.waits.iter().any(is_before) {
            grids.after[warp] = grids.after[warp].or(Mask::one(lane));
            return false;
        }
        true
    }
}
