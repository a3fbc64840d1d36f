//! Waits at mbarriers: wakes threads at the end of a phase, and reports those that wait forever.

use crate::block::BlockRun;
use crate::finding::{Fault, WaitKind};
use crate::lanes::Mask;
use crate::mbarrier_fault::{Contributor, MbarrierFault, MbarrierFaultKind, MbarrierWait};
use crate::warp::State;
use sync::{MbarrierId, MbarrierState};

impl BlockRun<'_, '_> {
    /// Wakes groups that wait for a completed phase. Returns `true` if there were any.
    pub(crate) fn wake_waiters(&mut self) -> bool {
        let mut progress = false;
        for (number, warp) in self.warps.iter_mut().enumerate() {
            for group in &mut warp.groups {
                let State::Mbarrier(state) = group.state else { continue };
                if self.tracker.is_phase_over(state) {
                    let site = self.machine.site(group.at);
                    self.tracker.note_event(number, group.lanes, site);
                    self.tracker.step(number, group.lanes);
                    (group.state, group.at) = (State::Ready, group.at.next());
                    progress = true;
                }
            }
        }
        progress
    }

    /// Describes a wait for a phase, for a deadlock report.
    pub(crate) fn phase_wait(&self, state: MbarrierState) -> WaitKind {
        let (target, status) =
            (self.mbarrier_target(state.id), self.tracker.mbarrier_status(state.id));
        let (Some(target), Some(status)) = (target, status) else {
            return WaitKind::Lanes { missing: 0 };
        };
        let [now, before] = &status.contributors;
        let has_come = |who: &sync::Lanes| {
            now.iter()
                .any(|(one, _)| one.warp == who.warp && one.lanes.and(who.lanes) != Mask::NONE)
        };
        let missing: Vec<_> = before.iter().filter(|(who, _)| !has_come(who)).copied().collect();
        WaitKind::Mbarrier(Box::new(MbarrierWait {
            target,
            phase: state.phase,
            current: status.phase,
            expected: status.expected,
            pending: status.pending,
            bytes: status.bytes,
            contributed: self.contributors(now),
            missing: self.contributors(&missing),
        }))
    }

    /// Lists threads that contribute to a phase: one entry for each instruction.
    fn contributors(&self, all: &[(sync::Lanes, bool)]) -> Vec<Contributor> {
        let mut found: Vec<Contributor> = Vec::new();
        for &(who, copy) in all {
            let place = self.machine.site_place(who.site);
            match found.iter_mut().find(|one| (one.place, one.copy) == (place, copy)) {
                Some(known) => known.threads += who.lanes.count(),
                None => {
                    let first = self.thread(who.warp, who.lanes.lowest().unwrap_or(0));
                    found.push(Contributor { first, threads: who.lanes.count(), place, copy });
                }
            }
        }
        found
    }

    /// Records the phases of mbarriers, if uses of barriers are requested.
    pub(crate) fn record_phases(&mut self) {
        let Some(mut log) = self.tracker.take_phase_log() else { return };
        self.report.mbarrier_uses =
            log.take(|id| self.mbarrier_target(id), |site| self.machine.site_place(site));
    }

    fn mbarrier_target(&self, id: MbarrierId) -> Option<crate::finding::Target> {
        let (area, offset) = self.tracker.mbarrier_place(id)?;
        let crate::address::Area::Shared(number) = area else { return None };
        self.shared.get(number).map(|memory| memory.target(offset))
    }

    /// Reports, at the end of a block, mbarriers with unbalanced bytes and bulk loads that no thread waited
    /// for.
    pub(crate) fn note_unbalanced(&mut self) {
        for who in self.tracker.take_loads_in_flight() {
            let place = self.machine.site_place(who.site);
            let thread = self.thread(who.warp, who.lanes.lowest().unwrap_or(0));
            self.report.record_fault(
                Fault::CopiesInFlight { copies: 1, committed: true },
                place,
                thread,
            );
        }
        for (id, who, bytes) in self.tracker.unbalanced_mbarriers() {
            let Some(target) = self.mbarrier_target(id) else { continue };
            let kind = MbarrierFaultKind::Unbalanced { bytes };
            let place = self.machine.site_place(who.site);
            let thread = self.thread(who.warp, who.lanes.lowest().unwrap_or(0));
            let fault = Fault::Mbarrier(Box::new(MbarrierFault { target, kind }));
            self.report.record_fault(fault, place, thread);
        }
    }
}
