//! Reports a deadlock: the waiting threads, their places, and the threads they wait for.

use crate::block::BlockRun;
use crate::finding::{Fault, Gap, Wait, WaitKind};
use crate::lanes::{Mask, WARP};
use crate::warp::{State, Warp};

/// The largest number of waits in a report.
const MAX_WAITS: usize = 16;

impl BlockRun<'_, '_> {
    /// Reports that the running threads wait for each other.
    pub(crate) fn deadlock(&mut self) -> Result<(), Gap> {
        let mut waits: Vec<Wait> = Vec::new();
        let mut waiting = 0;
        for (number, warp) in self.warps.iter().enumerate() {
            for group in &warp.groups {
                waiting += group.lanes.count();
                let kind = self.wait_kind(number, group.lanes, group.state);
                let place = self.machine.place(group.at);
                let same = |wait: &Wait| wait.place == place && wait.kind == kind;
                match waits.iter().position(same) {
                    Some(known) => waits[known].threads += group.lanes.count(),
                    None if waits.len() < MAX_WAITS => waits.push(Wait {
                        place,
                        first: self.thread(number, group.lanes.lowest().unwrap_or(0)),
                        threads: group.lanes.count(),
                        kind,
                    }),
                    None => {}
                }
            }
        }
        let Some(warp) = self.warps.iter().position(|warp| !warp.groups.is_empty()) else {
            return Ok(());
        };
        let group = &self.warps[warp].groups[0];
        let (at, lanes) = (group.at, group.lanes);
        self.with_context(warp, at, lanes, |context| {
            context.record_fault(Fault::Deadlock { waiting, waits }, lanes);
            Err(context.gap("threads wait for each other here and no thread can continue"))
        })
    }

    /// Describes what the lanes of a group wait for, and what is missing.
    fn wait_kind(&self, number: usize, lanes: Mask, state: State) -> WaitKind {
        let warp = &self.warps[number];
        match state {
            State::Barrier { arrival, registered: true } => {
                let generation = self.tracker.generation(warp.rank, arrival.id);
                let arrived = (generation.registrations.len() * WARP) as u32;
                let missing = self.tracker.first_missing(warp.rank, arrival.id);
                let ended = |other: &&Warp| other.rank == warp.rank && other.groups.is_empty();
                let exited = self.warps.iter().filter(ended).count();
                WaitKind::Barrier {
                    id: arrival.id,
                    arrived,
                    count: generation.count,
                    missing: missing.map(|warp| self.thread(warp, 0)),
                    exited: (exited * WARP) as u32,
                }
            }
            State::Barrier { arrival, registered: false } => {
                let here = warp.groups.iter().filter(|group| {
                    matches!(group.state, State::Barrier { arrival: other, registered: false }
                        if other.id == arrival.id)
                });
                let here = here.fold(Mask::NONE, |all, group| all.or(group.lanes));
                WaitKind::OwnWarp { id: arrival.id, missing: warp.alive().without(here).0 }
            }
            State::WarpBarrier(mask) => {
                let here = warp.groups.iter().filter(|group| group.state == state);
                let here = here.fold(Mask::NONE, |all, group| all.or(group.lanes));
                WaitKind::Lanes { missing: mask.and(warp.alive()).without(here).0 }
            }
            State::AtCollective(mask) => {
                WaitKind::Lanes { missing: mask.and(warp.alive()).without(lanes).0 }
            }
            State::Mbarrier(state) => self.phase_wait(state),
            State::Cluster { registered: true, .. } => self.cluster_wait(),
            State::Cluster { registered: false, .. } => {
                let here = warp.groups.iter().filter(|group| {
                    matches!(group.state, State::Cluster { registered: false, .. })
                });
                let here = here.fold(Mask::NONE, |all, group| all.or(group.lanes));
                WaitKind::Lanes { missing: warp.alive().without(here).0 }
            }
            // A wait for other warps of a warp group passes when nothing else can run, so it is never part of a
            // deadlock.
            State::Ready | State::WarpGroup(_) => WaitKind::Lanes { missing: 0 },
        }
    }
}
