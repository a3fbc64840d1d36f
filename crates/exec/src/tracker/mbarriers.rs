//! Mbarriers: what the engine tells of them and asks, handed on to [`sync`].

use super::{Tracker, mark, marked};
use crate::address::Area;
use crate::lanes::Mask;
use rustc_hash::FxHashMap;
use sync::{
    CopyId, Lanes, MbarrierAnswer, MbarrierEvent, MbarrierFinding, MbarrierId, MbarrierOutcome,
    MbarrierState, MbarrierStatus, Site,
};

/// Notes on the mbarriers of a block, looked at when it ends.
#[derive(Debug, Default)]
pub(super) struct MbarrierNotes {
    /// Bulk loads.
    loads: Vec<(CopyId, Lanes)>,
    /// The last question whose answer was no and may have been yes, by thread and group: the phase, and whether a wait for it
    /// has come.
    peeks: FxHashMap<(usize, usize, u32), (MbarrierState, bool)>,
    /// An ordinary access to a live mbarrier: who, where, and the instruction that initialised it.
    plain_access: Option<(Mask, Area, i64, Site)>,
}

impl Tracker {
    /// The mbarrier at a place.
    pub(crate) fn mbarrier(&mut self, area: Area, offset: i64) -> Option<MbarrierId> {
        self.order.mbarrier((mark(area), offset))
    }

    /// Where an mbarrier is.
    pub(crate) fn mbarrier_place(&self, id: MbarrierId) -> Option<(Area, i64)> {
        let (number, offset) = self.order.mbarrier_place(id)?;
        Some((marked(number)?, offset))
    }

    /// Does what lanes do to an mbarrier.
    pub(crate) fn apply_to_mbarrier(
        &mut self,
        id: MbarrierId,
        who: Lanes,
        event: MbarrierEvent,
    ) -> Option<MbarrierOutcome<MbarrierAnswer>> {
        self.order.apply_to_mbarrier(id, who, event)
    }

    /// Takes what is to be told of mbarriers beside errors.
    pub(crate) fn take_mbarrier_findings(&mut self) -> Vec<(Lanes, MbarrierId, MbarrierFinding)> {
        self.order.take_mbarrier_findings()
    }

    /// Notes a bulk load, of which somebody must learn that it is done before the block ends.
    pub(crate) fn note_load(&mut self, copy: CopyId, who: Lanes) {
        self.notes.loads.push((copy, who));
    }

    /// Takes the bulk loads that nobody has waited for.
    pub(crate) fn take_loads_in_flight(&mut self) -> Vec<Lanes> {
        let loads = std::mem::take(&mut self.notes.loads);
        let awaited =
            |copy: CopyId, who: Lanes| self.order.is_awaited(copy, who.lanes.lowest().unwrap_or(0));
        loads.into_iter().filter(|&(copy, who)| !awaited(copy, who)).map(|(_, who)| who).collect()
    }

    /// Tells whether there was an ordinary access to a live mbarrier.
    #[inline(always)]
    pub(crate) fn touched_mbarrier(&self) -> bool {
        self.notes.plain_access.is_some()
    }

    /// Takes an ordinary access to a live mbarrier, if there was one.
    pub(crate) fn take_mbarrier_access(&mut self) -> Option<(Mask, Area, i64, Site)> {
        self.notes.plain_access.take()
    }

    /// Lanes ask about a phase and are told no; whether none of them has asked before without waiting.
    pub(crate) fn peek(
        &mut self,
        (warp, lanes): (usize, Mask),
        group: u32,
        state: MbarrierState,
    ) -> bool {
        lanes.iter().all(|lane| {
            let before = self.notes.peeks.insert((warp, lane, group), (state, false));
            before.is_none_or(|(_, answered)| answered)
        })
    }

    /// Lanes wait for a phase; whether it is the one they asked about, if they did.
    pub(crate) fn answer_peeks(
        &mut self,
        (warp, lanes): (usize, Mask),
        group: u32,
        state: MbarrierState,
    ) -> bool {
        lanes.iter().all(|lane| match self.notes.peeks.get_mut(&(warp, lane, group)) {
            Some((asked, answered)) => {
                *answered = true;
                *asked == state
            }
            None => true,
        })
    }

    /// Tells whether the phase that threads wait for is over.
    pub(crate) fn is_phase_over(&self, state: MbarrierState) -> bool {
        self.order.is_phase_over(state)
    }

    /// Returns the state of an mbarrier that threads wait for, for a report.
    pub(crate) fn mbarrier_status(&self, id: MbarrierId) -> Option<MbarrierStatus> {
        self.order.mbarrier_status(id)
    }

    /// Mbarriers whose bytes do not balance when the block ends.
    pub(crate) fn unbalanced_mbarriers(&self) -> Vec<(MbarrierId, Lanes, [u64; 2])> {
        self.order.unbalanced_mbarriers()
    }

    /// Notes an ordinary access to the bytes of a live mbarrier.
    pub(super) fn note_plain_access(
        &mut self,
        lanes: Mask,
        (area, offset, bytes): (Area, i64, u32),
    ) {
        let Area::Shared(_) = area else { return };
        if let Some(site) = self.order.live_mbarrier_in((mark(area), offset), bytes) {
            self.notes.plain_access = self.notes.plain_access.or(Some((lanes, area, offset, site)));
        }
    }
}
