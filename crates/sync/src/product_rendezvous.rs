//! Rendezvous of the warps of a group at their matrix products (`wgmma.mma_async`).
//!
//! On an H200 a warp passes the wait for a product only after all four warps of its group have reached the
//! product, however late the last one is ([`crate::products`]). So the wait comes after everything that the
//! four warps had waited for before the product. Example: before the product, a warp waited for a phase of an
//! mbarrier. After its own wait for the product, another warp of the group may let a copy refill the buffer, which
//! begins the next phase. The first warp cannot miss its phase, because it waited for it before the product. A
//! rendezvous orders waits only (*waits-for* in the glossary), not memory.

use crate::clocks::{Clocks, LaneId, Time};
use crate::lanes::Mask;
use std::ops::Range;

/// A warp's arrival at one of its products.
#[derive(Clone, Debug)]
struct ProductArrival {
    /// The time of the warp just afterwards.
    time_after: Time,
    /// The times it had waited for, if waits-for is kept for lanes.
    had_waited_for: Vec<Time>,
}

/// The arrivals of each warp at its products.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProductRendezvous {
    warps: Vec<Vec<ProductArrival>>,
}

impl ProductRendezvous {
    /// Forgets all arrivals.
    pub(crate) fn clear(&mut self) {
        self.warps.clear();
    }

    /// Records a warp's arrival at its next product. Also returns the [`Self::blocking_warp`]: if there is one,
    /// this warp never arrives on an H200.
    pub(crate) fn arrive(
        &mut self,
        clocks: &mut Clocks,
        (warp, group): (usize, Range<usize>),
    ) -> Option<usize> {
        let blocking = self.blocking_warp(clocks, (warp, group));
        let (time_after, had_waited_for) = clocks.release(warp, Mask::ALL);
        self.warps[warp].push(ProductArrival { time_after, had_waited_for });
        blocking
    }

    /// Like [`arrive`](Self::arrive), for a block without mbarriers, which keeps no order of waits for lanes.
    pub(crate) fn arrive_untracked(
        &mut self,
        clocks: &Clocks,
        (warp, group): (usize, Range<usize>),
    ) -> Option<usize> {
        let blocking = self.blocking_warp(clocks, (warp, group));
        self.warps[warp]
            .push(ProductArrival { time_after: clocks.now(warp), had_waited_for: Vec::new() });
        blocking
    }

    /// Returns a warp of the group that has gone past the product at which `warp` arrives, if `warp` has waited for
    /// something that it did afterwards. On an H200 that wait never ends: the other warp cannot continue before
    /// `warp` arrives.
    fn blocking_warp(
        &mut self,
        clocks: &Clocks,
        (warp, group): (usize, Range<usize>),
    ) -> Option<usize> {
        let warps = self.warps.len().max(warp + 1).max(group.end);
        self.warps.resize_with(warps, Vec::new);
        let number = self.warps[warp].len();
        let later = LaneId { warp: warp as u8, lane: 0 };
        let has_waited_for = |other: &usize| {
            let arrival = self.warps[*other].get(number);
            let is_known = |one: &ProductArrival| clocks.any_ordered(*other, one.time_after, later);
            *other != warp && arrival.is_some_and(is_known)
        };
        group.into_iter().find(has_waited_for)
    }

    /// Records that a warp has waited for the product of this number, which these warps had reached.
    pub(crate) fn wait(
        &mut self,
        clocks: &mut Clocks,
        warp: usize,
        (group, number): (Range<usize>, usize),
    ) {
        for other in group.filter(|&other| other != warp) {
            let arrival = self.warps.get_mut(other).and_then(|all| all.get_mut(number));
            if let Some(ProductArrival { had_waited_for, .. }) = arrival {
                clocks.complete(had_waited_for);
                clocks.acquire(warp, Mask::ALL, had_waited_for);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(warp: u8) -> LaneId {
        LaneId { warp, lane: 0 }
    }

    #[test]
    fn a_wait_knows_what_the_others_did_before_the_product_and_no_more() {
        let (mut clocks, mut rendezvous) = (Clocks::new(4), ProductRendezvous::default());
        let before = clocks.now(3);
        for warp in 0..4 {
            assert_eq!(rendezvous.arrive(&mut clocks, (warp, 0..4)), None);
        }
        let after = clocks.now(3);
        assert!(!clocks.ordered(lane(3), before, lane(0)));
        rendezvous.wait(&mut clocks, 0, (0..4, 0));
        assert!(clocks.ordered(lane(3), before, lane(0)));
        assert!(!clocks.ordered(lane(3), after, lane(0)));
        assert!(!clocks.ordered(lane(3), before, lane(1)));
    }

    #[test]
    fn a_warp_that_waits_for_another_past_the_product_is_stuck() {
        let (mut clocks, mut rendezvous) = (Clocks::new(4), ProductRendezvous::default());
        rendezvous.arrive(&mut clocks, (0, 0..4));
        let (_, released) = clocks.release(0, Mask::ALL);
        clocks.acquire(1, Mask::ALL, &released);
        assert_eq!(rendezvous.arrive(&mut clocks, (1, 0..4)), Some(0));
    }
}
