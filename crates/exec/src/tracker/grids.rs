//! Programmatic dependent launches (PTX manual §9.7.13.13): which accesses to global memory come after `griddepcontrol.wait`.
//!
//! A kernel that contains the instruction may start while the launches before it run. What a thread does to global memory
//! is after them if the thread has executed the wait, or if a thread that has is ordered before it. Everything else is
//! early, which errs towards "early": orders that this crate does not see do not count.

use super::Tracker;
use crate::lanes::Mask;
use sync::{LaneId, Time};

/// The waits for earlier launches in a block.
#[derive(Debug)]
pub(super) struct GridWaits {
    /// Lanes that have waited, and when.
    waits: Vec<(usize, Mask, Time)>,
    /// Lanes of each warp that are known to come after a wait.
    after: Vec<Mask>,
}

impl GridWaits {
    /// For blocks of so many warps.
    pub(super) fn new(warps: usize) -> Self {
        Self { waits: Vec::new(), after: vec![Mask::NONE; warps] }
    }

    pub(super) fn restart(&mut self) {
        self.waits.clear();
        self.after.fill(Mask::NONE);
    }
}

impl Tracker {
    /// Says that the kernel waits for earlier launches: accesses to global memory are asked for.
    pub(crate) fn follow_grids(&mut self) {
        self.grids = Some(Box::new(GridWaits::new(self.events.len())));
    }

    /// Tells whether the kernel waits for earlier launches somewhere.
    #[inline(always)]
    pub(crate) fn follows_grids(&self) -> bool {
        self.grids.is_some()
    }

    /// Lanes wait for earlier launches.
    pub(crate) fn wait_for_grids(&mut self, warp: usize, lanes: Mask) {
        let now = self.order.clocks().now(warp);
        if let Some(grids) = &mut self.grids {
            grids.waits.push((warp, lanes, now));
            grids.after[warp] = grids.after[warp].or(lanes);
        }
    }

    /// Tells whether what a lane does now may come before the end of earlier launches.
    pub(crate) fn is_early(&mut self, warp: usize, lane: usize) -> bool {
        let clocks = self.order.clocks();
        let Some(grids) = &mut self.grids else { return false };
        if grids.after[warp].has(lane) {
            return false;
        }
        let own = LaneId { warp: warp as u8, lane: lane as u8 };
        let is_before = |&(warp, lanes, time): &(usize, Mask, Time)| {
            lanes.iter().any(|lane| {
                let waiter = LaneId { warp: warp as u8, lane: lane as u8 };
                clocks.ordered(waiter, time, own)
            })
        };
        if grids.waits.iter().any(is_before) {
            grids.after[warp] = grids.after[warp].or(Mask::one(lane));
            return false;
        }
        true
    }
}
