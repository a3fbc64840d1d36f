//! Mbarriers: reports and queries of the engine, passed on to [`sync`].

use super::{ConflictContext, Tracker, area_code, area_of_code};
use crate::address::Area;
use crate::lanes::Mask;
use crate::pipeline::PhaseLog;
use rustc_hash::FxHashMap;
use sync::{
    AgentId, Conflict, ConflictSide, Lanes, MbarrierAnswer, MbarrierEvent, MbarrierFinding,
    MbarrierId, MbarrierOutcome, MbarrierState, MbarrierStatus, Site,
};

/// Notes on the mbarriers of a block, for its end.
#[derive(Debug, Default)]
pub(super) struct MbarrierNotes {
    /// Bulk loads.
    loads: Vec<(AgentId, Lanes)>,
    /// The last test answered with `false` that may have been `true`, by thread and group: the phase, and
    /// `true` once a wait for it has come.
    peeks: FxHashMap<(usize, usize, u32), (MbarrierState, bool)>,
    /// Bulk copies: the number of bytes, and the mbarrier and phase of their delivery.
    copies: FxHashMap<AgentId, CopyNote>,
    /// Phases with their participants, if uses of barriers are requested.
    log: PhaseLog,
    /// An ordinary access to a live mbarrier: lanes, place, and the instruction that initialised the
    /// mbarrier.
    plain_access: Option<(Mask, Area, i64, Site)>,
}

/// A bulk copy, for reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyNote {
    pub(crate) bytes: u32,
    /// The mbarrier and phase of its completion.
    pub(crate) signal: Option<(Area, i64, u64)>,
    /// The number of groups committed by its thread after its own.
    pub(crate) newer: Option<u32>,
    /// Set for a product of a warp group rather than a copy.
    pub(crate) product: bool,
}

impl Tracker {
    /// The mbarrier at a place.
    pub(crate) fn mbarrier(&mut self, area: Area, offset: i64) -> Option<MbarrierId> {
        self.order.mbarrier((area_code(area), offset))
    }

    /// The place of an mbarrier.
    pub(crate) fn mbarrier_place(&self, id: MbarrierId) -> Option<(Area, i64)> {
        let (number, offset) = self.order.mbarrier_place(id)?;
        Some((area_of_code(number)?, offset))
    }

    /// Starts an arrival of the lanes' copies.
    pub(crate) fn start_arrival(&mut self) -> AgentId {
        self.order.start_arrival()
    }

    /// Applies an operation of lanes to an mbarrier.
    pub(crate) fn apply_to_mbarrier(
        &mut self,
        id: MbarrierId,
        who: Lanes,
        event: MbarrierEvent,
    ) -> Option<MbarrierOutcome<MbarrierAnswer>> {
        let before = self.order.mbarrier_phase(id);
        let outcome = self.order.apply_to_mbarrier(id, who, event);
        if let MbarrierEvent::BulkDeliver { copy, bytes } = event {
            let place = self.mbarrier_place(id).zip(before);
            let signal = place.map(|((area, offset), (phase, _))| (area, offset, phase));
            self.notes.copies.insert(copy, CopyNote { bytes, signal, newer: None, product: false });
        }
        if self.records_uses() {
            let answer = outcome.as_ref().and_then(|outcome| outcome.as_ref().ok());
            let (after, time) = (self.order.mbarrier_phase(id), self.order.now(who.warp));
            self.notes.log.add((id, who, time), &event, answer, (before, after));
        }
        outcome
    }

    /// Records a bulk copy that completes with its group.
    pub(crate) fn note_grouped(&mut self, copy: AgentId, bytes: u32) {
        let note = CopyNote { bytes, signal: None, newer: None, product: false };
        self.notes.copies.insert(copy, note);
    }

    /// Records a product of a warp group.
    pub(super) fn note_product(&mut self, product: AgentId) {
        let note = CopyNote { bytes: 0, signal: None, newer: None, product: true };
        self.notes.copies.insert(product, note);
    }

    /// Describes the bulk copy of an access, as far as it is known at the time of the access.
    pub(super) fn copy_note(&self, side: ConflictSide) -> Option<CopyNote> {
        let note = self.notes.copies.get(&side.copy?)?;
        let (warp, lane) = (usize::from(side.who.warp), usize::from(side.who.lane));
        let copies = self.order.copies();
        let newer = match note.product {
            true => copies.newer_product_groups(side.copy?, warp),
            false => copies.newer_groups(side.copy?, warp, lane),
        };
        Some(CopyNote { newer, ..*note })
    }

    /// Adds the completion of copies that was unknown at the time of their conflict.
    pub(super) fn add_signals(&self, conflict: &Conflict, context: &mut ConflictContext) {
        for (side, known) in [conflict.earlier, conflict.later].into_iter().zip(&mut context.copies)
        {
            if known.is_none() {
                *known = side.copy.and_then(|copy| self.notes.copies.get(&copy).copied());
            }
        }
    }

    /// Takes the log of phases, if there is one.
    pub(crate) fn take_phase_log(&mut self) -> Option<PhaseLog> {
        self.records_uses().then(|| std::mem::take(&mut self.notes.log))
    }

    /// Takes the findings about mbarriers other than misuses.
    pub(crate) fn take_mbarrier_findings(&mut self) -> Vec<(Lanes, MbarrierId, MbarrierFinding)> {
        let findings = self.order.take_mbarrier_findings();
        for (_, id, finding) in &findings {
            let MbarrierFinding::Reuse(reuse) = finding else { continue };
            self.notes.log.mark_faulty(*id, reuse.phase());
        }
        findings
    }

    /// Records a bulk load. Some thread must wait for it before the block ends.
    pub(crate) fn note_load(&mut self, copy: AgentId, who: Lanes) {
        self.notes.loads.push((copy, who));
    }

    /// Takes the bulk loads that no thread has waited for.
    pub(crate) fn take_loads_in_flight(&mut self) -> Vec<Lanes> {
        let loads = std::mem::take(&mut self.notes.loads);
        let awaited = |copy: AgentId, who: Lanes| {
            self.order.is_known_complete(copy, who.lanes.lowest().unwrap_or(0))
        };
        loads.into_iter().filter(|&(copy, who)| !awaited(copy, who)).map(|(_, who)| who).collect()
    }

    /// Returns `true` after an ordinary access to a live mbarrier.
    #[inline(always)]
    pub(crate) fn touched_mbarrier(&self) -> bool {
        self.notes.plain_access.is_some()
    }

    /// Takes an ordinary access to a live mbarrier, if there was one.
    pub(crate) fn take_mbarrier_access(&mut self) -> Option<(Mask, Area, i64, Site)> {
        self.notes.plain_access.take()
    }

    /// Records a test of a phase that is answered with `false`. Returns `false` if one of the lanes has
    /// tested before without waiting.
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

    /// Records a wait for a phase. Returns `true` if it is the phase of the lanes' tests, if there were any.
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

    /// Returns `true` if the awaited phase is over.
    pub(crate) fn is_phase_over(&self, state: MbarrierState) -> bool {
        self.order.is_phase_over(state)
    }

    /// Returns the state of an mbarrier with waiting threads, for a report.
    pub(crate) fn mbarrier_status(&self, id: MbarrierId) -> Option<MbarrierStatus> {
        self.order.mbarrier_status(id)
    }

    /// Mbarriers with unbalanced bytes at the end of the block.
    pub(crate) fn unbalanced_mbarriers(&self) -> Vec<(MbarrierId, Lanes, [u64; 2])> {
        self.order.unbalanced_mbarriers()
    }

    /// Returns `true` if some bytes belong to a live mbarrier.
    pub(super) fn has_live_mbarrier(&self, area: Area, (offset, bytes): (i64, u32)) -> bool {
        self.order.live_mbarrier_in((area_code(area), offset), bytes).is_some()
    }

    /// Records an ordinary access to the bytes of a live mbarrier.
    pub(super) fn note_plain_access(
        &mut self,
        lanes: Mask,
        (area, offset, bytes): (Area, i64, u32),
    ) {
        let Area::Shared(_) = area else { return };
        if let Some(site) = self.order.live_mbarrier_in((area_code(area), offset), bytes) {
            self.notes.plain_access = self.notes.plain_access.or(Some((lanes, area, offset, site)));
        }
    }
}
