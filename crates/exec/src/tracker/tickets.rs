//! Tickets of blocks, and events that may order threads: what [`crate::tickets`] and [`crate::scatter`] ask of a block.

use super::Tracker;
use crate::address::Area;
use crate::lanes::Mask;
use crate::tickets::TicketWatch;
use sync::LaneId;

impl Tracker {
    /// Tells whether nothing is kept of reads of an allocation.
    pub(crate) fn ignores_reads(&self, area: Area) -> bool {
        !self.watches(area) && self.tickets.is_none()
    }

    /// From the next block on, looks at what comes before and after the block's ticket.
    pub(crate) fn watch_tickets(&mut self) {
        self.tickets = Some(Box::new(TicketWatch::new(self.shape.all_warps())));
    }

    /// Takes what was seen of a block's ticket.
    pub(crate) fn take_tickets(&mut self) -> Option<Box<TicketWatch>> {
        self.tickets.take()
    }

    /// A thread is about to take a ticket.
    pub(crate) fn begin_ticket(&mut self, taker: LaneId, releases: bool) {
        if let Some(watch) = &mut self.tickets {
            watch.begin(self.order.clocks(), taker, releases);
        }
    }

    /// It has taken it.
    pub(crate) fn end_ticket(&mut self, taker: LaneId, acquires: bool) {
        let time = self.order.now(taker.warp.into());
        if let Some(watch) = &mut self.tickets {
            watch.end((taker, time), acquires, self.shadows.global.iter().map(Option::as_ref));
        }
    }

    /// Lanes of a warp execute a fence whose scope has all blocks, and which releases, acquires or both.
    pub(crate) fn fence_widely(&mut self, warp: usize, lanes: Mask, how: [bool; 2]) {
        if let Some(watch) = &mut self.tickets {
            watch.fence(self.order.clocks(), (warp, lanes), how);
        }
    }

    /// Events so far that may have ordered accesses of a warp ([`Order::events`]).
    pub(crate) fn events_of(&self, warp: usize) -> (u64, u64) {
        self.order.events(warp)
    }
}
