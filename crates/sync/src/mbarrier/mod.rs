//! Transaction barriers in shared memory (PTX manual §9.7.13.15): lifetimes, counts, phases, waiting lanes, and the
//! times released to them. A *life* of an mbarrier is the time from its `init` to its `inval`.
//!
//! Effects happen when the engine reports them; copies arrive when they are started. By the rules in [`phases`] this
//! order does not matter. A broken rule is returned as data ([`MbarrierMisuse`], [`MbarrierReuse`]).
//!
//! Memory: a releasing arrival passes on the actions and knowledge of its lanes, and an acquiring wait takes over
//! everything that the arrivals of the phase passed on. Between blocks both must have cluster scope. By the manual a
//! missing scope is the block (§9.7.13.15.13), but kernels rely on the cluster. So do we, and reports say so. A
//! relaxed arrival passes on the actions before its thread's last fence, and a relaxed wait takes effect at the next
//! fence (§8.8: release and acquire patterns). An arrival of copies passes on those copies and nothing else. An
//! mbarrier is a party of both clocks ([`crate::clocks`]). Its time is its phase, and the next life at the
//! same place continues the count.
//!
//! Uses that an H200 tolerates and the manual does not (any use after `inval`, counts of zero) are misuses here.

mod advance;
mod phases;
mod queries;
mod types;

pub use phases::{Lanes, Overtaken};
pub use types::{
    ArrivalTerms, MbarrierAnswer, MbarrierEvent, MbarrierFinding, MbarrierId, MbarrierMisuse,
    MbarrierPlace, MbarrierReuse, MbarrierScope, MbarrierState, MbarrierStatus, MbarrierStop,
    NamedPhase, Outcome, WaitTerms, Waiting,
};

use crate::clocks::{Clocks, LaneId, LaneSnapshot, Time, Times};
use crate::lanes::Mask;
use crate::shadow::Site;
use phases::{Contribution, Phase};
use rustc_hash::FxHashMap;

/// The largest count of arrivals or bytes.
const MAX_COUNT: u32 = (1 << 20) - 1;

/// Lanes waiting for a phase.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    who: Lanes,
    acquires: bool,
    scope: MbarrierScope,
}

/// An mbarrier from `init` to `inval`.
#[derive(Clone, Debug, Default)]
struct LiveBarrier {
    /// The instruction that initialised it.
    site: Site,
    /// The number of arrivals that each phase expects.
    expected: u32,
    /// The number of arrivals that are missing in this phase.
    pending: u32,
    /// Arrivals that later phases no longer expect.
    dropped: u32,
    /// Bytes announced in this phase.
    announced: u64,
    /// Bytes delivered in this phase.
    delivered: u64,
    /// Arrivals that `cp.async.mbarrier.arrive` added to the pending ones of this phase.
    added: u32,
    phase: u64,
    current: Phase,
    /// The previous phase, and the one before it.
    past: [Phase; 2],
    /// Lanes that wait for the current phase.
    blocked: Vec<Waiter>,
    /// Set once a phase that no thread waited for was reported.
    reported_unobserved: bool,
}

impl LiveBarrier {
    /// Returns the bytes announced and delivered in this phase.
    fn bytes(&self) -> [u64; 2] {
        [self.announced, self.delivered]
    }
}

/// A place in memory for mbarriers, and the live one there.
#[derive(Clone, Debug)]
struct Mbarrier {
    /// The party in the clocks of orders-memory.
    memory_party: u16,
    /// The party in the clocks of waits-for.
    waits_party: u16,
    /// The number of initialisations so far.
    lives: u32,
    /// The time of phase 0 of this life.
    base: Time,
    /// `None` before `init` and after `inval`.
    life: Option<LiveBarrier>,
}

impl Mbarrier {
    fn time(&self, phase: u64) -> Time {
        self.base.saturating_add(Time::try_from(phase).unwrap_or(Time::MAX))
    }
}

/// The clocks affected by mbarriers.
pub(crate) struct BothClocks<'c> {
    pub(crate) memory: &'c mut Clocks,
    pub(crate) waits: &'c mut Clocks,
}

/// The mbarriers of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct Mbarriers {
    /// Warps of a block.
    warps: usize,
    /// Set if there are several blocks, or a cluster barrier.
    clusters: bool,
    ids: FxHashMap<MbarrierPlace, MbarrierId>,
    places: Vec<MbarrierPlace>,
    mbarriers: Vec<Mbarrier>,
    /// The number of live mbarriers.
    live: usize,
    /// The moments of each thread's last releasing fence, for relaxed arrivals, and of its last one with a
    /// scope wider than its block.
    release_fences: [FxHashMap<LaneId, LaneSnapshot>; 2],
    /// Times that each thread acquires at its next acquiring fence, and at its next one with a scope wider
    /// than its block.
    deferred_acquires: [FxHashMap<LaneId, Times>; 2],
    /// Waits that acquired something from another block because a missing scope is taken for that of the
    /// cluster.
    assumed_scopes: Vec<Site>,
    findings: Vec<(Lanes, MbarrierId, MbarrierFinding)>,
}

impl Mbarriers {
    /// Creates the state of blocks of this many warps, without mbarriers. `clusters` is set for several blocks or a
    /// cluster barrier.
    pub(crate) fn new(warps: usize, clusters: bool) -> Self {
        Self {
            warps,
            clusters,
            ids: FxHashMap::default(),
            places: Vec::new(),
            mbarriers: Vec::new(),
            live: 0,
            release_fences: Default::default(),
            deferred_acquires: Default::default(),
            assumed_scopes: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Returns the mbarrier at a place, registering the place at its first use. `None` if there are too many.
    pub(crate) fn at(
        &mut self,
        clocks: &mut BothClocks<'_>,
        place: MbarrierPlace,
    ) -> Option<MbarrierId> {
        if let Some(&id) = self.ids.get(&place) {
            return Some(id);
        }
        let id = MbarrierId::try_from(self.mbarriers.len()).ok()?;
        let (memory_party, waits_party) = (clocks.memory.add_party(), clocks.waits.add_party());
        self.mbarriers.push(Mbarrier { memory_party, waits_party, lives: 0, base: 1, life: None });
        self.ids.insert(place, id);
        self.places.push(place);
        Some(id)
    }

    /// Applies an operation of lanes to an mbarrier. For copies, also returns the party and the time that
    /// complete them.
    pub(crate) fn apply(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        event: MbarrierEvent,
    ) -> Outcome<(MbarrierAnswer, Option<(u16, Time)>)> {
        let mut copies = None;
        let answer = match event {
            MbarrierEvent::Init(count) => {
                self.init(id, who, count)?;
                MbarrierAnswer::Done
            }
            MbarrierEvent::Inval => {
                self.inval(id)?;
                MbarrierAnswer::Done
            }
            MbarrierEvent::Arrive(terms) => {
                MbarrierAnswer::Arrived(self.arrive(clocks, id, who, terms)?)
            }
            MbarrierEvent::Expect(bytes) => {
                self.expect(clocks, id, who, bytes)?;
                MbarrierAnswer::Done
            }
            MbarrierEvent::Deliver(bytes) => {
                self.deliver(clocks, id, who, bytes)?;
                MbarrierAnswer::Done
            }
            MbarrierEvent::CopiesArrive { increments } => {
                copies = Some(self.copies_arrive(clocks, id, who, increments)?);
                MbarrierAnswer::Done
            }
            MbarrierEvent::BulkDeliver { bytes, .. } => {
                copies = Some(self.bulk_deliver(clocks, id, who, bytes)?);
                MbarrierAnswer::Done
            }
            MbarrierEvent::Wait(named, terms) => {
                MbarrierAnswer::Waiting(self.wait(clocks, id, who, named, terms)?)
            }
            MbarrierEvent::Test(named) => {
                let is_current = self.names_current(id, named)?;
                let past = usize::from(!is_current);
                let earlier = self.unordered_contribution(clocks, id, who, past);
                MbarrierAnswer::Tested(self.named_state(id, is_current)?, earlier)
            }
        };
        Ok((answer, copies))
    }

    /// Takes the collected findings.
    pub(crate) fn take_findings(&mut self) -> Vec<(Lanes, MbarrierId, MbarrierFinding)> {
        std::mem::take(&mut self.findings)
    }

    /// Executes `mbarrier.init`.
    fn init(&mut self, id: MbarrierId, who: Lanes, count: u32) -> Outcome<()> {
        let mbarrier = &mut self.mbarriers[usize::from(id)];
        if let Some(life) = &mbarrier.life {
            return misuse(MbarrierMisuse::Live(life.site));
        }
        if count == 0 || count > MAX_COUNT {
            return misuse(MbarrierMisuse::Count(count));
        }
        mbarrier.lives += 1;
        let (expected, pending) = (count, count);
        mbarrier.life =
            Some(LiveBarrier { site: who.site, expected, pending, ..LiveBarrier::default() });
        self.live += 1;
        Ok(())
    }

    /// Executes `mbarrier.inval`.
    fn inval(&mut self, id: MbarrierId) -> Outcome<()> {
        let mbarrier = &mut self.mbarriers[usize::from(id)];
        let Some(life) = mbarrier.life.take() else { return misuse(MbarrierMisuse::NotLive) };
        mbarrier.base = mbarrier.time(life.phase) + 1;
        self.live -= 1;
        Ok(())
    }

    /// Executes arrivals of lanes. Returns the phase that each counts for.
    fn arrive(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        terms: ArrivalTerms,
    ) -> Outcome<Vec<(Mask, MbarrierState)>> {
        let pending = self.life(id)?.pending;
        let wanted = u64::from(terms.count) * u64::from(who.lanes.count());
        if wanted <= u64::from(pending) {
            return Ok(vec![(who.lanes, self.arrive_together(clocks, id, who, terms)?)]);
        }
        // Too many arrivals, or arrivals for more than one phase: take the lanes one by one.
        let mut states = Vec::new();
        for lane in who.lanes.iter() {
            let one = Lanes { lanes: Mask::one(lane), ..who };
            states.push((one.lanes, self.arrive_together(clocks, id, one, terms)?));
        }
        Ok(states)
    }

    /// Executes arrivals of lanes that all count for the current phase.
    fn arrive_together(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        terms: ArrivalTerms,
    ) -> Outcome<MbarrierState> {
        let ArrivalTerms { count, expects, drops, no_complete, releases, scope } = terms;
        if count == 0 || count > MAX_COUNT {
            return misuse(MbarrierMisuse::Count(count));
        }
        let count = u64::from(count) * u64::from(who.lanes.count());
        let pending = self.life(id)?.pending;
        if count > u64::from(pending) {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            return misuse(MbarrierMisuse::TooMany { pending, count });
        }
        let kind = Contribution::Arrival { expects: expects.unwrap_or(0) > 0, no_complete };
        self.contribute(clocks, id, who, kind)?;
        let block = self.block_of(who.warp);
        if releases {
            let (_, times) = clocks.memory.release_lanes(who.warp, who.lanes);
            self.pass_on(clocks, id, (block, scope), &times)?;
        } else {
            for one in who.threads() {
                for (index, scope) in [(0, MbarrierScope::Block), (1, scope)] {
                    if let Some(snapshot) = self.release_fences[index].get(&one) {
                        let times = clocks.memory.release_snapshot(one, snapshot);
                        self.pass_on(clocks, id, (block, scope), &times)?;
                    }
                }
            }
        }
        let announced = u64::from(expects.unwrap_or(0)) * u64::from(who.lanes.count());
        let state = self.state(id)?;
        let life = self.life(id)?;
        life.announced += announced;
        life.pending -= count as u32;
        life.dropped += if drops { count as u32 } else { 0 };
        self.complete_phase_if_due(clocks, id, who)?;
        Ok(state)
    }

    /// Executes `mbarrier.expect_tx`: each lane announces bytes.
    fn expect(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        bytes: u32,
    ) -> Outcome<()> {
        self.contribute(clocks, id, who, Contribution::Expect(bytes > 0))?;
        self.life(id)?.announced += u64::from(bytes) * u64::from(who.lanes.count());
        self.complete_phase_if_due(clocks, id, who)
    }

    /// Executes `mbarrier.complete_tx`: each lane delivers bytes.
    fn deliver(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        bytes: u32,
    ) -> Outcome<()> {
        self.contribute(clocks, id, who, Contribution::Delivery(bytes > 0))?;
        self.life(id)?.delivered += u64::from(bytes) * u64::from(who.lanes.count());
        self.complete_phase_if_due(clocks, id, who)
    }

    /// Delivers the bytes of a bulk copy. Returns the party and the time that complete it for waiting
    /// threads.
    fn bulk_deliver(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        bytes: u32,
    ) -> Outcome<(u16, Time)> {
        self.contribute(clocks, id, who, Contribution::CopyDelivery(bytes > 0))?;
        let state = self.state(id)?;
        self.life(id)?.delivered += u64::from(bytes);
        let mbarrier = &self.mbarriers[usize::from(id)];
        let completion = (mbarrier.memory_party, mbarrier.time(state.phase));
        self.complete_phase_if_due(clocks, id, who)?;
        Ok(completion)
    }

    /// Executes `cp.async.mbarrier.arrive`. Returns the party and the time that complete the copies of the
    /// lanes for waiting threads.
    fn copies_arrive(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        increments: bool,
    ) -> Outcome<(u16, Time)> {
        let count = who.lanes.count();
        if increments {
            self.contribute(clocks, id, who, Contribution::Increment)?;
            let life = self.life(id)?;
            life.added += count;
        } else {
            let life = self.life(id)?;
            let pending = life.pending;
            if count > pending {
                return misuse(MbarrierMisuse::TooMany { pending, count });
            }
        }
        self.contribute(clocks, id, who, Contribution::CopyArrival { counted: !increments })?;
        let state = self.state(id)?;
        if !increments {
            self.life(id)?.pending -= count;
        }
        let mbarrier = &self.mbarriers[usize::from(id)];
        let completion = (mbarrier.memory_party, mbarrier.time(state.phase));
        self.complete_phase_if_due(clocks, id, who)?;
        Ok(completion)
    }

    /// Executes a wait of lanes for a phase.
    fn wait(
        &mut self,
        clocks: &mut BothClocks<'_>,
        id: MbarrierId,
        who: Lanes,
        named: NamedPhase,
        WaitTerms { acquires, scope }: WaitTerms,
    ) -> Outcome<Waiting> {
        let state = self.state(id)?;
        let is_current = self.names_current(id, named)?;
        let past = usize::from(!is_current);
        if let Some(earlier) = self.unordered_contribution(clocks, id, who, past) {
            let phase = if is_current { state.phase } else { state.phase - 1 };
            let reuse = MbarrierReuse::Early { phase, earlier };
            self.findings.push((who, id, MbarrierFinding::Reuse(reuse)));
        }
        let waiter = Waiter { who, acquires, scope };
        if !is_current {
            self.resume(clocks, id, waiter);
            return Ok(Waiting::Over(self.named_state(id, false)?));
        }
        let life = self.life(id)?;
        if life.expected == 0 {
            return Err(MbarrierStop::NoneExpected);
        }
        life.blocked.push(waiter);
        Ok(Waiting::Blocked(state))
    }

    /// Returns the current phase, or the previous one if `current` is `false`.
    fn named_state(&mut self, id: MbarrierId, current: bool) -> Outcome<MbarrierState> {
        let state = self.state(id)?;
        let phase = state.phase.wrapping_sub(u64::from(!current));
        Ok(MbarrierState { phase, ..state })
    }

    /// Records a fence of lanes.
    pub(crate) fn fence(
        &mut self,
        clocks: &mut BothClocks<'_>,
        who: Lanes,
        (releases, acquires): (bool, bool),
        wide: bool,
    ) {
        if self.mbarriers.is_empty() && !self.clusters {
            return;
        }
        let scopes = if wide { 2 } else { 1 };
        let acquiring = if acquires { who.lanes } else { Mask::NONE };
        for one in (Lanes { lanes: acquiring, ..who }).threads() {
            for deferred in &mut self.deferred_acquires[..scopes] {
                if let Some(mut times) = deferred.remove(&one) {
                    clocks.memory.complete(&mut times);
                    clocks.memory.acquire(who.warp, Mask::one(usize::from(one.lane)), &times);
                }
            }
        }
        if releases {
            let snapshots = clocks.memory.snapshots(who.warp, who.lanes);
            self.release_fences[..scopes]
                .iter_mut()
                .for_each(|known| known.extend(snapshots.iter().cloned()));
        }
    }
}

fn misuse<T>(misuse: MbarrierMisuse) -> Outcome<T> {
    Err(MbarrierStop::Misuse(misuse))
}
