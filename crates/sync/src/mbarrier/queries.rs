//! Queries about mbarriers, which change nothing: places, phases, and the state for reports.

use super::{
    Lanes, LiveBarrier, MbarrierId, MbarrierPlace, MbarrierState, MbarrierStatus, Mbarriers,
};
use crate::shadow::Site;

impl Mbarriers {
    /// Returns the place of an mbarrier.
    pub(crate) fn place(&self, id: MbarrierId) -> Option<MbarrierPlace> {
        self.places.get(usize::from(id)).copied()
    }

    /// Looks for a live mbarrier within a range of bytes, and returns the instruction that initialised it.
    pub(crate) fn live_in(&self, (mark, offset): MbarrierPlace, bytes: u32) -> Option<Site> {
        if self.live == 0 {
            return None;
        }
        let end = offset + i64::from(bytes);
        let first = offset.div_euclid(8) * 8;
        let site = |&id: &u16| self.mbarriers[usize::from(id)].life.as_ref().map(|life| life.site);
        if (end - first) / 8 > self.ids.len() as i64 {
            // A large range has more places than there are mbarriers, so search those. Report the lowest.
            let inside = |at: &MbarrierPlace| at.0 == mark && (first..end).contains(&at.1);
            let inside = self.ids.iter().filter(|(at, _)| inside(at));
            let live = inside.filter_map(|(at, id)| Some((at.1, site(id)?)));
            return live.min().map(|(_, site)| site);
        }
        let mut places = (first..end).step_by(8).filter_map(|at| self.ids.get(&(mark, at)));
        places.find_map(site)
    }

    /// Returns `true` if the phase named by a wait is over.
    pub(crate) fn is_over(&self, state: MbarrierState) -> bool {
        let mbarrier = &self.mbarriers[usize::from(state.id)];
        let same_life = mbarrier.lives == state.life;
        same_life && mbarrier.life.as_ref().is_some_and(|life| life.phase > state.phase)
    }

    /// Returns the current phase of an mbarrier and the arrivals it expects; `None` if it is not live.
    pub(crate) fn phase(&self, id: MbarrierId) -> Option<(u64, u32)> {
        let life = self.mbarriers.get(usize::from(id))?.life.as_ref()?;
        Some((life.phase, life.expected))
    }

    /// Returns the state of an mbarrier with waiting threads, for a report.
    pub(crate) fn status(&self, id: MbarrierId) -> MbarrierStatus {
        let none = LiveBarrier::default();
        let life = self.mbarriers[usize::from(id)].life.as_ref();
        let life_or_none = life.unwrap_or(&none);
        let LiveBarrier { expected, pending, current, past, .. } = life_or_none;
        MbarrierStatus {
            phase: life.map(|life| life.phase),
            expected: *expected,
            pending: *pending,
            bytes: life_or_none.bytes(),
            contributors: [current, &past[0]].map(|phase| phase.contributors().collect()),
        }
    }

    /// Returns the mbarriers with unequal numbers of announced and delivered bytes at the end of the block.
    pub(crate) fn unbalanced(&self) -> impl Iterator<Item = (MbarrierId, Lanes, [u64; 2])> {
        let all = (0..).zip(&self.mbarriers);
        let lives = all.filter_map(|(id, mbarrier)| Some((id, mbarrier.life.as_ref()?)));
        let open = lives.filter(|(_, life)| life.announced != life.delivered);
        open.filter_map(|(id, life)| {
            Some((id, life.current.contributors().next()?.0, life.bytes()))
        })
    }
}
