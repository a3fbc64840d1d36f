//! The barrier of a cluster (`barrier.cluster`, PTX manual §9.7.13.3): arrivals, completion of generations,
//! and the times acquired by waiting threads.
//!
//! A warp arrives once in each generation and waits for it before it arrives again; its lanes that have not
//! exited do so together. A generation is complete when every warp has arrived or ended. So a thread can
//! arrive in generation k+1 only after waiting for all arrivals and ends of generation k. Hence the
//! generation of every arrival is the same on every schedule, and the reuse rule of `barriers.rs` holds by
//! itself. An H200 lets a warp arrive twice or wait without having arrived. The manual forbids the former and
//! gives the latter no meaning, so both are misuses here.
//!
//! A wait acquires the times passed on by releasing arrivals. A relaxed arrival passes on the actions before
//! its thread's last fence of cluster scope, and the mbarrier initialisations that `fence.mbarrier_init`
//! covered (§9.7.13.4). For those the barrier is a party of the clocks; its time is its generation. Nothing
//! here passes on asynchronous copies.

use crate::clocks::{LaneId, LaneSnapshot, Time, Times, join};
use crate::copies::{AgentId, AsyncAgents};
use crate::lanes::Mask;
use crate::mbarrier::{BothClocks, Lanes};
use crate::shadow::Site;
use rustc_hash::FxHashMap;

/// The blocks that run together: their number and size, and the features to track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of warps of a block. Warps are numbered across the cluster, in the order of block ranks.
    pub warps: usize,
    /// The number of blocks of the cluster.
    pub blocks: usize,
    /// Set if the program may use mbarriers.
    pub mbarriers: bool,
    /// Set if there are several blocks, or a cluster barrier. Implies `mbarriers`.
    pub clusters: bool,
}

impl Shape {
    /// Returns the number of warps of the cluster.
    #[must_use]
    pub fn all_warps(&self) -> usize {
        self.warps * self.blocks
    }
}

/// State of the cluster barrier, for a report: its generation, the number of arrived warps, and the first
/// missing one.
pub type ClusterStatus = (u64, usize, Option<usize>);

/// A misuse of the barrier of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterMisuse {
    /// The warp arrives again without waiting in between.
    Twice {
        /// Its previous arrival.
        site: Site,
    },
    /// The warp waits without having arrived.
    NotArrived,
}

/// State of a warp at the barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// It has not arrived in the current generation.
    Out,
    /// It has arrived in this generation.
    Arrived(u64, Site),
    /// All its threads have ended; it counts as arrived in every generation.
    Ended,
}

/// Times that a generation passes on.
#[derive(Clone, Debug, Default)]
struct ReleasedTimes {
    memory: Times,
    waits: Times,
}

/// An mbarrier initialisation that `fence.mbarrier_init` may cover.
#[derive(Clone, Copy, Debug)]
struct Init {
    copy: AgentId,
    who: LaneId,
    fenced: bool,
}

/// The barrier of a cluster.
#[derive(Clone, Debug)]
pub(crate) struct ClusterBarrier {
    warps: Vec<Progress>,
    /// The current generation, counted from zero.
    generation: u64,
    /// Its party in orders-memory, from the first arrival on.
    party: Option<u16>,
    current: ReleasedTimes,
    past: ReleasedTimes,
    /// Ends of warps that had arrived in the current generation. Later generations wait for them; this one
    /// does not.
    ended: Times,
    inits: Vec<Init>,
}

impl ClusterBarrier {
    /// Creates the barrier of a cluster of this many warps.
    pub(crate) fn new(warps: usize) -> Self {
        Self {
            warps: vec![Progress::Out; warps],
            generation: 0,
            party: None,
            current: ReleasedTimes::default(),
            past: ReleasedTimes::default(),
            ended: Times::default(),
            inits: Vec::new(),
        }
    }

    /// Records an initialisation of an mbarrier.
    pub(crate) fn note_init(&mut self, copy: AgentId, who: LaneId) {
        self.inits.push(Init { copy, who, fenced: false });
    }

    /// Executes `fence.mbarrier_init`.
    pub(crate) fn fence_inits(&mut self, warp: usize, lanes: Mask) {
        let is_of = |who: LaneId| usize::from(who.warp) == warp && lanes.has(usize::from(who.lane));
        self.inits.iter_mut().filter(|init| is_of(init.who)).for_each(|init| init.fenced = true);
    }

    /// Records the arrival of a warp. With `fences`, the last fences of threads, the arrival is relaxed.
    ///
    /// # Errors
    /// If the warp has arrived without waiting since.
    pub(crate) fn arrive(
        &mut self,
        clocks: &mut BothClocks<'_>,
        copies: &mut AsyncAgents,
        who: Lanes,
        fences: Option<&FxHashMap<LaneId, LaneSnapshot>>,
    ) -> Result<(), ClusterMisuse> {
        if let Progress::Arrived(_, site) = self.warps[who.warp] {
            return Err(ClusterMisuse::Twice { site });
        }
        let party = *self.party.get_or_insert_with(|| clocks.memory.add_party());
        // An arrival waits for the lanes of the warp, including those that have exited.
        clocks.waits.warp_barrier(who.warp, Mask::ALL);
        let (_, times) = clocks.waits.release(who.warp, Mask::ALL);
        clocks.waits.complete(&mut self.current.waits);
        join(&mut self.current.waits, &times);
        match fences {
            None => {
                let (_, times) = clocks.memory.release(who.warp, who.lanes);
                self.pass_on(clocks, &times);
            }
            Some(fences) => {
                for lane in who.lanes.iter() {
                    let one = LaneId { warp: who.warp as u8, lane: lane as u8 };
                    if let Some(snapshot) = fences.get(&one) {
                        let times = clocks.memory.release_snapshot(one, snapshot);
                        self.pass_on(clocks, &times);
                    }
                }
            }
        }
        let time = self.time();
        for init in self.inits.iter().filter(|init| init.fenced) {
            if usize::from(init.who.warp) == who.warp && who.lanes.has(usize::from(init.who.lane)) {
                copies.complete_bulk(init.copy, usize::from(init.who.lane), (party, time));
            }
        }
        self.inits.retain(|init| !init.fenced || usize::from(init.who.warp) != who.warp);
        self.warps[who.warp] = Progress::Arrived(self.generation, who.site);
        self.complete_if_due(clocks);
        Ok(())
    }

    fn pass_on(&mut self, clocks: &BothClocks<'_>, times: &Times) {
        clocks.memory.complete(&mut self.current.memory);
        join(&mut self.current.memory, times);
    }

    /// Returns the time of the current generation.
    fn time(&self) -> Time {
        Time::try_from(self.generation).unwrap_or(Time::MAX - 1)
    }

    /// Records the end of all threads of a warp.
    pub(crate) fn end(&mut self, clocks: &mut BothClocks<'_>, warp: usize) {
        let arrived = self.warps[warp] == Progress::Arrived(self.generation, self.site(warp));
        self.warps[warp] = Progress::Ended;
        let (_, times) = clocks.waits.release(warp, Mask::ALL);
        let awaited_by = if arrived { &mut self.ended } else { &mut self.current.waits };
        clocks.waits.complete(awaited_by);
        join(awaited_by, &times);
        self.complete_if_due(clocks);
    }

    fn site(&self, warp: usize) -> Site {
        match self.warps[warp] {
            Progress::Arrived(_, site) => site,
            Progress::Out | Progress::Ended => Site::default(),
        }
    }

    /// Completes the generation once every warp has arrived or ended, and at least one has arrived.
    fn complete_if_due(&mut self, clocks: &mut BothClocks<'_>) {
        let current = self.generation;
        let has_arrived_or_ended = |warp: &Progress| match *warp {
            Progress::Out => false,
            Progress::Arrived(generation, _) => generation == current,
            Progress::Ended => true,
        };
        let any_arrived = self.warps.iter().any(|warp| matches!(warp, Progress::Arrived(..)));
        if !any_arrived || !self.warps.iter().all(has_arrived_or_ended) {
            return;
        }
        let end = self.time() + 1;
        self.past = std::mem::take(&mut self.current);
        clocks.memory.complete(&mut self.past.memory);
        if let Some(party) = self.party {
            self.past.memory[usize::from(party)] = end;
        }
        self.generation += 1;
        // A warp that has ended precedes every later generation too.
        clocks.waits.complete(&mut self.past.waits);
        self.current.waits.clone_from(&self.past.waits);
        let mut ended = std::mem::take(&mut self.ended);
        clocks.waits.complete(&mut ended);
        join(&mut self.current.waits, &ended);
    }

    /// Checks that a warp may wait.
    ///
    /// # Errors
    /// If it has not arrived.
    pub(crate) fn check_wait(&self, warp: usize) -> Result<(), ClusterMisuse> {
        match self.warps[warp] {
            Progress::Arrived(..) => Ok(()),
            Progress::Out | Progress::Ended => Err(ClusterMisuse::NotArrived),
        }
    }

    /// Returns `true` if the generation in which a warp arrived is complete.
    pub(crate) fn is_over(&self, warp: usize) -> bool {
        matches!(self.warps[warp], Progress::Arrived(generation, _) if generation < self.generation)
    }

    /// Lets a waiting warp continue.
    pub(crate) fn resume(&mut self, clocks: &mut BothClocks<'_>, warp: usize, lanes: Mask) {
        // The warp arrives in no later generation before it continues, so it waited for the last completed
        // one.
        clocks.waits.warp_barrier(warp, Mask::ALL);
        clocks.waits.complete(&mut self.past.waits);
        clocks.memory.complete(&mut self.past.memory);
        clocks.waits.acquire(warp, lanes, &self.past.waits);
        clocks.memory.acquire(warp, lanes, &self.past.memory);
        self.warps[warp] = Progress::Out;
    }

    /// Returns the current generation, the number of warps that arrived in it, and the first warp that has
    /// neither arrived nor ended.
    pub(crate) fn status(&self) -> (u64, usize, Option<usize>) {
        let current = self.generation;
        let has_arrived = |warp: &Progress| matches!(*warp, Progress::Arrived(generation, _) if generation == current);
        let missing =
            self.warps.iter().position(|warp| !has_arrived(warp) && *warp != Progress::Ended);
        (current, self.warps.iter().filter(|warp| has_arrived(warp)).count(), missing)
    }
}
