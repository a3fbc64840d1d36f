//! Tickets of blocks, and events that may order threads: the queries of [`crate::tickets`] and
//! [`crate::scatter`] about a block.

use super::Tracker;
use crate::address::Area;
use crate::lanes::Mask;
use crate::tickets::TicketWatch;
use sync::{LaneId, Time};

impl Tracker {
    /// Returns `true` if reads of an allocation are not recorded.
    pub(crate) fn ignores_reads(&self, area: Area) -> bool {
        !self.watches(area) && self.tickets.is_none()
    }

    /// Starts watching accesses before and after each block's ticket, from the next block on.
    pub(crate) fn watch_tickets(&mut self) {
        self.tickets = Some(Box::new(TicketWatch::new(self.shape.all_warps())));
    }

    /// Takes the record of a block's ticket.
    pub(crate) fn take_tickets(&mut self) -> Option<Box<TicketWatch>> {
        self.tickets.take()
    }

    /// Prepares for a thread to take a ticket.
    pub(crate) fn begin_ticket(&mut self, taker: LaneId, releases: bool) {
        if let Some(watch) = &mut self.tickets {
            watch.begin(self.order.clocks(), taker, releases);
        }
    }

    /// Records that the thread has taken the ticket.
    pub(crate) fn end_ticket(&mut self, taker: LaneId, acquires: bool) {
        let time = self.order.now(taker.warp.into());
        if let Some(watch) = &mut self.tickets {
            watch.end((taker, time), acquires, self.shadows.global.iter().map(Option::as_ref));
        }
    }

    /// The present time of a thread.
    pub(crate) fn time_of(&self, who: LaneId) -> Time {
        self.order.now(who.warp.into())
    }

    /// Returns `true` if a thread is ordered after an earlier event.
    pub(crate) fn is_after(&self, (earlier, time): (LaneId, Time), who: LaneId) -> bool {
        self.order.clocks().ordered(earlier, time, who)
    }

    /// Records a fence of lanes with a scope of all blocks, which releases, acquires or both.
    pub(crate) fn fence_widely(
        &mut self,
        warp: usize,
        lanes: Mask,
        [releases, acquires]: [bool; 2],
    ) {
        if let Some(watch) = &mut self.tickets {
            watch.fence(self.order.clocks(), (warp, lanes), [releases, acquires]);
        }
    }

    /// The number of events so far that may have ordered accesses of a warp ([`Order::events`]).
    pub(crate) fn events_of(&self, warp: usize) -> (u64, u64) {
        self.order.events(warp)
    }
}
