//! Saves the knowledge of threads at a fence. Later operations pass it on, or are checked against it.

use super::{Clocks, LaneId, Time, Times, join};
use crate::lanes::{Mask, WARP};

/// A thread's own time and its knowledge, saved at some moment.
#[derive(Clone, Debug)]
pub(crate) struct LaneSnapshot {
    across: Times,
    /// Knowledge of the lanes of its own warp.
    own_warp: [Time; WARP],
}

impl Clocks {
    /// Saves the actions and knowledge of each of these lanes, for a later release.
    pub(crate) fn snapshots(&mut self, warp: usize, lanes: Mask) -> Vec<(LaneId, LaneSnapshot)> {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        let snapshot = |lane: usize| {
            let mut own_warp = *clock.within(lane);
            own_warp[lane] = clock.now;
            let mut across = clock.across(lane).clone();
            join(&mut across, &self.common);
            LaneSnapshot { across, own_warp }
        };
        let who = |lane: usize| LaneId { warp: warp as u8, lane: lane as u8 };
        lanes.iter().map(|lane| (who(lane), snapshot(lane))).collect()
    }

    /// Returns `true` if a thread knew, at the moment of `snapshot`, of the actions of `earlier` at `time`.
    pub(crate) fn snapshot_covers(
        &self,
        who: LaneId,
        snapshot: &LaneSnapshot,
        earlier: LaneId,
        time: Time,
    ) -> bool {
        if earlier.warp == who.warp && time < snapshot.own_warp[usize::from(earlier.lane)] {
            return true;
        }
        let mut party = self.party(earlier);
        while party >= snapshot.across.len() {
            let parent = party.checked_sub(self.warps.len()).and_then(|at| self.parents[at]);
            let Some(parent) = parent else { return false };
            party = usize::from(parent);
        }
        time < snapshot.across[party]
    }

    /// Returns `true` if a thread knew, at the moment of `snapshot`, of the actions of a party at `time`.
    pub(crate) fn knew_party(snapshot: &LaneSnapshot, party: u16, time: Time) -> bool {
        snapshot.across.get(usize::from(party)).is_some_and(|&known| time < known)
    }

    /// Returns the times released by a thread that passes on its actions and knowledge as of `snapshot`.
    pub(crate) fn release_snapshot(&mut self, who: LaneId, snapshot: &LaneSnapshot) -> Times {
        let warp = usize::from(who.warp);
        self.split_by_knowledge(warp, &snapshot.own_warp);
        let mut released = snapshot.across.clone();
        self.complete(&mut released);
        let clock = &mut self.warps[warp];
        for (lane, &time) in snapshot.own_warp.iter().enumerate() {
            let party = usize::from(clock.party[lane]);
            released[party] = released[party].max(time);
        }
        let lane = usize::from(who.lane);
        clock.released[lane] = clock.released[lane].max(snapshot.own_warp[lane]);
        released
    }
}
