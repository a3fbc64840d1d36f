//! Advances the phases of mbarriers: records contributions, completes a phase when nothing is pending, and releases the
//! waiting lanes. The rules that this checks (P1 to P3) and their argument are in [`super::phases`].

use super::phases::{BrokenRule, Contribution, Lanes, TimedAction};
use super::types::MbarrierScope;
use super::{
    BothClocks, LiveBarrier, MAX_COUNT, MbarrierFinding, MbarrierId, MbarrierMisuse, MbarrierReuse,
    MbarrierState, MbarrierStop, Mbarriers, NamedPhase, Outcome, Waiter, misuse,
};
use crate::clocks::{LaneId, LaneSnapshot, Time, Times, join};
use crate::shadow::Site;
use rustc_hash::FxHashMap;

impl Mbarriers {
    /// Returns the rank of a warp's block.
    pub(super) fn block_of(&self, warp: usize) -> usize {
        warp / self.warps
    }

    /// Returns the last fences of threads, for relaxed arrivals at the cluster barrier.
    pub(crate) fn wide_fences(&self) -> &FxHashMap<LaneId, LaneSnapshot> {
        &self.release_fences[1]
    }

    /// Takes the waits that acquired something only because a missing scope counts as that of the cluster.
    pub(crate) fn take_assumed(&mut self) -> Vec<Site> {
        std::mem::take(&mut self.assumed_scopes)
    }

    /// Returns the waits-for party of an mbarrier, and its time in the current phase.
    pub(crate) fn waits_party(&self, id: MbarrierId) -> (u16, Time) {
        let mbarrier = &self.mbarriers[usize::from(id)];
        let phase = mbarrier.life.as_ref().map_or(0, |life| life.phase);
        (mbarrier.waits_party, mbarrier.time(phase))
    }

    /// Returns the live mbarrier; a misuse if there is none.
    pub(super) fn life(&mut self, id: MbarrierId) -> Outcome<&mut LiveBarrier> {
        let life = self.mbarriers[usize::from(id)].life.as_mut();
        life.ok_or(MbarrierStop::Misuse(MbarrierMisuse::NotLive))
    }

    /// Returns the name of the current phase, as an arrival would return it.
    pub(super) fn state(&mut self, id: MbarrierId) -> Outcome<MbarrierState> {
        let life = self.mbarriers[usize::from(id)].lives;
        let phase = self.life(id)?.phase;
        Ok(MbarrierState { id, life, phase })
    }

    /// Returns `true` if a wait names the current phase, and `false` if it names the previous one.
    pub(super) fn names_current(&mut self, id: MbarrierId, named: NamedPhase) -> Outcome<bool> {
        let now = self.state(id)?;
        match named {
            NamedPhase::Parity(odd) => Ok((now.phase % 2 == 1) == odd),
            NamedPhase::State(state) if (state.id, state.life) != (now.id, now.life) => {
                misuse(MbarrierMisuse::OtherState)
            }
            NamedPhase::State(state) if state.phase == now.phase => Ok(true),
            NamedPhase::State(state) if state.phase + 1 == now.phase => Ok(false),
            NamedPhase::State(state) => {
                misuse(MbarrierMisuse::OldState { named: state.phase, current: now.phase })
            }
        }
    }

    /// Finds a contribution of an earlier phase that is not ordered before the next action of one of these lanes. The
    /// phase is the previous one if `past` is 0, and the one before that if it is 1.
    pub(super) fn unordered_contribution(
        &self,
        clocks: &BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        past: usize,
    ) -> Option<Lanes> {
        let mbarrier = &self.mbarriers[usize::from(id)];
        let life = mbarrier.life.as_ref()?;
        let phase = life.phase.checked_sub(1 + past as u64)?;
        let (party, time) = (mbarrier.waits_party, mbarrier.time(phase));
        who.threads().find_map(|one| {
            let knows_end = clocks.waits.knows(one, party, time);
            life.past[past].unordered(clocks.waits, one, knows_end)
        })
    }

    /// Records a contribution of lanes to the current phase.
    pub(super) fn contribute(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        kind: Contribution,
    ) -> Outcome<()> {
        let LiveBarrier { phase, expected, .. } = *self.life(id)?;
        if expected == 0 {
            return Err(MbarrierStop::NoneExpected);
        }
        if let Some(earlier) = self.unordered_contribution(clocks, id, who, 0) {
            let reuse = MbarrierReuse::Contribution { phase, earlier };
            self.findings.push((who, id, MbarrierFinding::Reuse(reuse)));
        }
        let life = self.life(id)?;
        let observed = phase == 0
            || who.threads().all(|one| life.past[0].was_observed(clocks.waits, one))
            || std::mem::replace(&mut life.reported_unobserved, true);
        if !observed {
            self.findings.push((who, id, MbarrierFinding::Unobserved(phase)));
        }
        let (stamp, times) = clocks.waits.release_lanes(who.warp, who.lanes);
        let life = self.life(id)?;
        life.current.add(clocks.waits, TimedAction { who, stamp }, kind, &times);
        Ok(())
    }

    /// Adds times to those released by the current phase.
    pub(super) fn pass_on(
        &mut self,
        clocks: &BothClocks<'_>,
        id: MbarrierId,
        from: (usize, MbarrierScope),
        times: &Times,
    ) -> Outcome<()> {
        self.life(id)?.current.pass_on(clocks.memory, from, times);
        Ok(())
    }

    /// Completes the phase if no arrival and no bytes are pending.
    pub(super) fn complete_phase_if_due(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
    ) -> Outcome<()> {
        let life = self.life(id)?;
        let [announced, delivered] = life.bytes();
        let most = u64::from(MAX_COUNT);
        if announced > most || delivered > most || life.expected + life.added > MAX_COUNT {
            return misuse(MbarrierMisuse::Range);
        }
        if life.pending > 0 || announced > delivered {
            return Ok(());
        }
        if delivered > announced {
            return misuse(MbarrierMisuse::NotAnnounced { bytes: delivered - announced });
        }
        self.end_phase(clocks, id, who)
    }

    /// Checks the rules for bytes, starts the next phase, and releases the lanes that waited.
    fn end_phase(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
    ) -> Outcome<()> {
        let mbarrier = &mut self.mbarriers[usize::from(id)];
        let end_time = mbarrier.time(mbarrier.life.as_ref().map_or(0, |life| life.phase)) + 1;
        let waits_party = usize::from(mbarrier.waits_party);
        let life = self.life(id)?;
        match life.current.check_bytes(clocks.waits) {
            None => {}
            Some(BrokenRule::Late(who)) => return misuse(MbarrierMisuse::Late(who)),
            Some(BrokenRule::Completes(who)) => return misuse(MbarrierMisuse::Completes(who)),
            Some(BrokenRule::Undecided(who)) => return Err(MbarrierStop::Undecided(who)),
        }
        let current = &mut life.current;
        clocks.waits.complete(&mut current.contribution_times);
        current.end_time = end_time;
        current.contribution_times[waits_party] = end_time;
        let overtaken = life.past[0].overtaken(clocks.waits, &life.current.contribution_times);
        let phase = life.phase.checked_sub(1);
        life.past.swap(0, 1);
        life.past[0] = std::mem::take(&mut life.current);
        life.phase += 1;
        life.expected -= life.dropped;
        (life.pending, life.dropped) = (life.expected, 0);
        (life.announced, life.delivered, life.added) = (0, 0, 0);
        let blocked = std::mem::take(&mut life.blocked);
        if let Some(wait) = overtaken {
            let reuse = MbarrierReuse::Overtaken { phase, wait };
            self.findings.push((who, id, MbarrierFinding::Reuse(reuse)));
        }
        blocked.into_iter().for_each(|waiter| self.resume(clocks, id, waiter));
        Ok(())
    }

    /// Lets lanes continue that waited for the phase before the current one.
    pub(super) fn resume(&mut self, clocks: &mut BothClocks<'_>, id: MbarrierId, waiter: Waiter) {
        let Waiter { who, acquires, scope } = waiter;
        let block = self.block_of(who.warp);
        let mbarrier = &mut self.mbarriers[usize::from(id)];
        let party = usize::from(mbarrier.memory_party);
        let Some(life) = mbarrier.life.as_mut() else { return };
        let past = &mut life.past[0];
        clocks.waits.complete(&mut past.contribution_times);
        clocks.waits.acquire(who.warp, who.lanes, &past.contribution_times);
        let (learned, assumed) =
            past.acquired_times(clocks.memory, party, (block, scope), self.warps);
        if acquires {
            clocks.memory.acquire(who.warp, who.lanes, &learned);
            if assumed && !self.assumed_scopes.contains(&who.site) {
                self.assumed_scopes.push(who.site);
            }
        } else {
            let narrow = (block, MbarrierScope::Block);
            let (near, _) = past.acquired_times(clocks.memory, party, narrow, self.warps);
            for one in who.threads() {
                for (pending, learned) in self.deferred_acquires.iter_mut().zip([&near, &learned]) {
                    let times = pending.entry(one).or_default();
                    clocks.memory.complete(times);
                    join(times, learned);
                }
            }
        }
        let stamp = clocks.waits.now(who.warp);
        past.waiters.push(TimedAction { who, stamp });
    }
}
