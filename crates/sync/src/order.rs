//! The order of events of a block or cluster: the single entry point for an engine's reports.
//!
//! An engine reports each event with its lanes, in the order of one execution. [`Order::apply`] takes the
//! events that need no answer; barriers and copies have methods of their own, which return answers. The
//! meaning of an event is defined in the file of its primitive: [`Clocks`], [`Barriers`], [`AsyncAgents`],
//! [`Mbarriers`]. Nothing is decided here, so this module errs only as those do.
//!
//! Waits-for is kept for lanes only if there may be mbarriers: nothing else queries it.

use crate::barriers::{
    BarrierMisuse, BarrierReuse, Barriers, CompletedGeneration, Generation, Registration,
};
use crate::clocks::{Clocks, LaneId, Time};
use crate::cluster::{ClusterBarrier, ClusterMisuse, ClusterStatus, Shape};
use crate::copies::{AgentId, AsyncAgents};
use crate::event::SyncEvent;
use crate::lanes::Mask;
use crate::lifetimes::{Lifetimes, RemoteAccess};
use crate::map_fences::{MapFences, MapPlace};
use crate::mbarrier::{
    BothClocks, Lanes, MbarrierAnswer, MbarrierEvent, MbarrierFinding, MbarrierId, MbarrierPlace,
    MbarrierState, MbarrierStatus, Mbarriers, Outcome,
};
use crate::product_rendezvous::ProductRendezvous;
use crate::shadow::Site;
use std::ops::Range;

/// The order of the events of a cluster so far.
#[derive(Debug)]
pub struct Order {
    shape: Shape,
    pub(crate) clocks: Clocks,
    /// Barriers of each block.
    barriers: Vec<Barriers>,
    copies: AsyncAgents,
    maps: MapFences,
    rendezvous: ProductRendezvous,
    mbarriers: Option<Box<WithMbarriers>>,
    /// The number of events so far that may order threads of different warps, and for each warp, of those
    /// that may order its own lanes.
    events: (u64, Vec<u64>),
}

/// Extra state for programs with mbarriers.
#[derive(Debug)]
struct WithMbarriers {
    /// The waits-for clocks of lanes.
    waits: Clocks,
    mbarriers: Mbarriers,
    cluster: Option<Cluster>,
}

/// Extra state for clusters.
#[derive(Debug)]
struct Cluster {
    barrier: ClusterBarrier,
    lifetimes: Lifetimes,
}

impl Cluster {
    fn new(shape: Shape) -> Option<Self> {
        shape.clusters.then(|| Self {
            barrier: ClusterBarrier::new(shape.all_warps()),
            lifetimes: Lifetimes::new(shape.warps, shape.blocks),
        })
    }
}

fn barriers(shape: Shape) -> Vec<Barriers> {
    let Shape { warps, blocks, .. } = shape;
    (0..blocks).map(|block| Barriers::of_block(block * warps, warps, blocks == 1)).collect()
}

impl Order {
    /// Creates the initial state of a cluster of this shape.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        let warps = shape.all_warps();
        let with_mbarriers = || WithMbarriers {
            waits: Clocks::new(warps),
            mbarriers: Mbarriers::new(shape.warps, shape.clusters),
            cluster: Cluster::new(shape),
        };
        Self {
            shape,
            clocks: Clocks::new(warps),
            barriers: barriers(shape),
            copies: AsyncAgents::new(warps),
            maps: MapFences::default(),
            rendezvous: ProductRendezvous::default(),
            mbarriers: (shape.mbarriers || shape.clusters).then(|| Box::new(with_mbarriers())),
            events: (0, vec![0; warps]),
        }
    }

    /// Starts another cluster of the same shape.
    pub fn restart(&mut self) {
        let shape = self.shape;
        self.clocks.restart();
        self.barriers = barriers(shape);
        self.copies = AsyncAgents::new(shape.all_warps());
        self.maps = MapFences::default();
        self.rendezvous.clear();
        self.events = (0, vec![0; shape.all_warps()]);
        if let Some(with) = &mut self.mbarriers {
            with.waits.restart();
            with.mbarriers = Mbarriers::new(shape.warps, shape.clusters);
            with.cluster = Cluster::new(shape);
        }
    }

    /// Records an event.
    #[inline]
    pub fn apply(&mut self, warp: usize, lanes: Mask, event: SyncEvent) {
        match event {
            SyncEvent::Exit { .. } => {}
            SyncEvent::Collective | SyncEvent::Wait | SyncEvent::WarpBarrier => {
                self.events.1[warp] += 1;
            }
            _ => self.events.0 += 1,
        }
        match event {
            SyncEvent::Fence => self.clocks.fence(warp, lanes),
            SyncEvent::Observe => self.clocks.observe(warp, lanes),
            SyncEvent::FenceAtMbarriers { releases, acquires, wide } => {
                if let Some(with) = &mut self.mbarriers {
                    let WithMbarriers { waits, mbarriers, .. } = &mut **with;
                    let mut clocks = BothClocks { memory: &mut self.clocks, waits };
                    let who = Lanes { warp, lanes, site: Site::default() };
                    mbarriers.fence(&mut clocks, who, (releases, acquires), wide);
                }
            }
            SyncEvent::FenceInits => {
                if let Some(cluster) = self.cluster() {
                    cluster.barrier.fence_inits(warp, lanes);
                }
            }
            SyncEvent::Collective => {
                self.clocks.note_collective(warp);
                self.wait_for_each_other(warp, lanes);
            }
            SyncEvent::Wait => self.wait_for_each_other(warp, lanes),
            SyncEvent::WarpBarrier => {
                self.clocks.warp_barrier(warp, lanes);
                self.wait_for_each_other(warp, lanes);
            }
            SyncEvent::CommitCopies => self.copies.commit(warp, lanes),
            SyncEvent::WaitForCopies(pending) => {
                self.copies.wait(warp, lanes, pending, self.clocks.now(warp));
            }
            SyncEvent::CommitBulk => self.copies.commit_bulk(warp, lanes),
            SyncEvent::WaitForBulk { pending, read } => {
                let now = self.clocks.now(warp);
                self.copies.wait_bulk((warp, lanes), (pending, read), now);
            }
            SyncEvent::CommitProducts => self.copies.commit_products(warp),
            SyncEvent::WaitForProducts(pending) => self.wait_for_products(warp, pending),
            SyncEvent::ProxyFence(space) => {
                self.copies.fences_mut().fence(&mut self.clocks, (warp, lanes), space);
            }
            SyncEvent::ReleaseMaps => self.maps.release(&mut self.clocks, (warp, lanes), None),
            SyncEvent::Exit { others_continue } => self.exit(warp, lanes, others_continue),
        }
    }

    /// Registers a warp at barrier `id`. Returns the premature reuse that this causes, if any.
    ///
    /// # Errors
    /// If the manual does not allow the registration.
    pub fn arrive(
        &mut self,
        id: u8,
        registration: Registration,
    ) -> Result<Option<BarrierReuse>, BarrierMisuse> {
        let waits = self.mbarriers.as_mut().map(|with| &mut with.waits);
        let barriers = &mut self.barriers[registration.warp / self.shape.warps];
        barriers.register(&mut self.clocks, waits, id, registration)
    }

    /// Returns `true` if all threads counted by barrier `id` of a block have registered.
    #[must_use]
    pub fn is_complete(&self, block: usize, id: u8) -> bool {
        self.barriers[block].is_complete(id)
    }

    /// Completes barrier `id` of a block: orders the registrations before the waiting threads, and returns the
    /// waiting threads.
    pub fn release(&mut self, block: usize, id: u8) -> CompletedGeneration {
        self.events.0 += 1;
        let waits = self.mbarriers.as_mut().map(|with| &mut with.waits);
        self.barriers[block].release(&mut self.clocks, waits, id)
    }

    /// Records the exit of threads.
    fn exit(&mut self, warp: usize, lanes: Mask, others_continue: bool) {
        if let Some(with) = &mut self.mbarriers {
            let WithMbarriers { waits, cluster: Some(cluster), .. } = &mut **with else {
                return self.exit_block(warp, lanes, others_continue);
            };
            cluster.lifetimes.exit(waits, warp, lanes);
            if !others_continue {
                let mut clocks = BothClocks { memory: &mut self.clocks, waits };
                cluster.barrier.end(&mut clocks, warp);
            }
        }
        self.exit_block(warp, lanes, others_continue);
    }

    fn exit_block(&mut self, warp: usize, lanes: Mask, others_continue: bool) {
        let block = if self.shape.blocks == 1 { 0 } else { warp / self.shape.warps };
        self.barriers[block].exit(&mut self.clocks, warp, lanes, others_continue);
    }

    fn cluster(&mut self) -> Option<&mut Cluster> {
        self.mbarriers.as_mut()?.cluster.as_mut()
    }

    /// Records the arrival of the running lanes of a warp at the cluster barrier.
    ///
    /// # Errors
    /// If the manual does not allow the arrival.
    pub fn arrive_at_cluster(&mut self, who: Lanes, releases: bool) -> Result<(), ClusterMisuse> {
        let Some(with) = &mut self.mbarriers else { return Ok(()) };
        let WithMbarriers { waits, mbarriers, cluster: Some(cluster) } = &mut **with else {
            return Ok(());
        };
        let mut clocks = BothClocks { memory: &mut self.clocks, waits };
        let fences = (!releases).then(|| mbarriers.wide_fences());
        cluster.barrier.arrive(&mut clocks, &mut self.copies, who, fences)
    }

    /// Checks a wait of the running lanes of a warp at the cluster barrier.
    ///
    /// # Errors
    /// If they have not arrived.
    pub fn wait_at_cluster(&mut self, warp: usize) -> Result<(), ClusterMisuse> {
        self.cluster().map_or(Ok(()), |cluster| cluster.barrier.check_wait(warp))
    }

    /// Lets the lanes of a warp that wait at the cluster barrier continue if the generation is complete.
    /// Returns `true` if the generation is complete.
    pub fn resume_at_cluster(&mut self, warp: usize, lanes: Mask) -> bool {
        self.events.0 += 1;
        let Some(with) = &mut self.mbarriers else { return false };
        let WithMbarriers { waits, cluster: Some(cluster), .. } = &mut **with else {
            return false;
        };
        let over = cluster.barrier.is_over(warp);
        if over {
            let mut clocks = BothClocks { memory: &mut self.clocks, waits };
            cluster.barrier.resume(&mut clocks, warp, lanes);
        }
        over
    }

    /// Returns the state of the cluster barrier, for a report.
    #[must_use]
    pub fn cluster_status(&self) -> Option<ClusterStatus> {
        Some(self.mbarriers.as_ref()?.cluster.as_ref()?.barrier.status())
    }

    /// Records an access of threads to the memory of another block. Returns a lane that may access it before
    /// that block has started.
    pub fn access_remote(&mut self, access: RemoteAccess) -> Option<usize> {
        let WithMbarriers { waits, cluster, .. } = &mut **self.mbarriers.as_mut()?;
        cluster.as_mut()?.lifetimes.access(waits, access)
    }

    /// Records an access to the memory of a block by a copy about to be delivered at an mbarrier. Returns a
    /// lane as [`access_remote`](Self::access_remote) does.
    pub fn copy_remote(&mut self, access: RemoteAccess, id: MbarrierId) -> Option<usize> {
        let WithMbarriers { waits, cluster, mbarriers } = &mut **self.mbarriers.as_mut()?;
        cluster.as_mut()?.lifetimes.copy(waits, access, mbarriers.waits_party(id))
    }

    /// Takes the accesses to other blocks that may come after their end. Call it once all threads have ended.
    pub fn take_late_accesses(&mut self) -> Vec<(RemoteAccess, usize)> {
        let Some(with) = &mut self.mbarriers else { return Vec::new() };
        let WithMbarriers { waits, cluster, .. } = &mut **with;
        cluster.as_mut().map_or_else(Vec::new, |cluster| cluster.lifetimes.take_late(waits))
    }

    /// Takes the waits that acquired something from another block because a missing scope is taken for that
    /// of the cluster.
    pub fn take_assumed_scopes(&mut self) -> Vec<Site> {
        self.mbarriers.as_mut().map_or_else(Vec::new, |with| with.mbarriers.take_assumed())
    }

    /// Records the initialisation of an mbarrier by a lane. Returns the agent of the initialisation, if there
    /// are clusters.
    pub fn start_init(&mut self, warp: usize, lane: usize) -> Option<AgentId> {
        let now = self.clocks.now(warp);
        let cluster = self.mbarriers.as_mut()?.cluster.as_mut()?;
        let copy = self.copies.start_completed(lane, now);
        cluster.barrier.note_init(copy, LaneId { warp: warp as u8, lane: lane as u8 });
        Some(copy)
    }

    /// Records that lanes of a warp have waited for each other.
    #[inline]
    fn wait_for_each_other(&mut self, warp: usize, lanes: Mask) {
        if let Some(with) = &mut self.mbarriers {
            with.waits.warp_barrier(warp, lanes);
        }
    }

    /// Executes `wgmma.wait_group`: all but the last `pending` groups of a warp are complete.
    fn wait_for_products(&mut self, warp: usize, pending: u64) {
        let last = self.copies.wait_products(warp, pending, self.clocks.now(warp));
        if let (Some(last), Some(with)) = (last, &mut self.mbarriers) {
            self.rendezvous.wait(&mut with.waits, warp, self.copies.product_group(last));
        }
    }

    /// Returns the mbarrier at a place. `None` if there are too many, or if the shape has no mbarriers.
    pub fn mbarrier(&mut self, place: MbarrierPlace) -> Option<MbarrierId> {
        let WithMbarriers { waits, mbarriers, .. } = &mut **self.mbarriers.as_mut()?;
        mbarriers.at(&mut BothClocks { memory: &mut self.clocks, waits }, place)
    }

    /// Applies an operation of lanes to an mbarrier. `None` if the shape has no mbarriers.
    pub fn apply_to_mbarrier(
        &mut self,
        id: MbarrierId,
        who: Lanes,
        event: MbarrierEvent,
    ) -> Option<Outcome<MbarrierAnswer>> {
        self.events.0 += 1;
        let WithMbarriers { waits, mbarriers, .. } = &mut **self.mbarriers.as_mut()?;
        let mut clocks = BothClocks { memory: &mut self.clocks, waits };
        let outcome = mbarriers.apply(&mut clocks, id, who, event);
        Some(outcome.map(|(answer, copies)| {
            if let Some(at) = copies {
                match (event, who.lanes.lowest()) {
                    (MbarrierEvent::BulkDeliver { copy, .. }, Some(lane)) => {
                        self.copies.complete_bulk(copy, lane, at);
                    }
                    _ => self.copies.arrive(who.warp, who.lanes, at),
                }
            }
            answer
        }))
    }

    /// Takes the findings about mbarriers other than misuses.
    pub fn take_mbarrier_findings(&mut self) -> Vec<(Lanes, MbarrierId, MbarrierFinding)> {
        self.mbarriers.as_mut().map_or_else(Vec::new, |with| with.mbarriers.take_findings())
    }

    /// Looks for a live mbarrier within a range of bytes, and returns the instruction that initialised it.
    #[must_use]
    #[inline]
    pub fn live_mbarrier_in(&self, place: MbarrierPlace, bytes: u32) -> Option<Site> {
        self.mbarriers.as_ref()?.mbarriers.live_in(place, bytes)
    }

    /// Returns the place of an mbarrier.
    #[must_use]
    pub fn mbarrier_place(&self, id: MbarrierId) -> Option<MbarrierPlace> {
        self.mbarriers.as_ref()?.mbarriers.place(id)
    }

    /// Returns `true` if the awaited phase is over.
    #[must_use]
    pub fn is_phase_over(&self, state: MbarrierState) -> bool {
        self.mbarriers.as_ref().is_some_and(|with| with.mbarriers.is_over(state))
    }

    /// Returns the current phase of an mbarrier and the arrivals it expects; `None` if it is not live.
    #[must_use]
    pub fn mbarrier_phase(&self, id: MbarrierId) -> Option<(u64, u32)> {
        self.mbarriers.as_ref()?.mbarriers.phase(id)
    }

    /// Returns the state of an mbarrier with waiting threads, for a report.
    #[must_use]
    pub fn mbarrier_status(&self, id: MbarrierId) -> Option<MbarrierStatus> {
        self.mbarriers.as_ref().map(|with| with.mbarriers.status(id))
    }

    /// Returns the mbarriers with unbalanced bytes at the end of the block: each with a contributor, and the numbers
    /// of bytes announced and delivered.
    #[must_use]
    pub fn unbalanced_mbarriers(&self) -> Vec<(MbarrierId, Lanes, [u64; 2])> {
        self.mbarriers.as_ref().map_or_else(Vec::new, |with| with.mbarriers.unbalanced().collect())
    }

    /// Returns the current generation of barrier `id` of a block.
    #[must_use]
    pub fn generation(&self, block: usize, id: u8) -> &Generation {
        self.barriers[block].current(id)
    }

    /// Returns the running warps that have not registered at barrier `id` of a block.
    pub fn missing(&self, block: usize, id: u8) -> impl Iterator<Item = usize> {
        self.barriers[block].missing(id)
    }

    /// Starts an asynchronous copy of lanes.
    pub fn start_copy(&mut self, warp: usize, lanes: Mask) -> AgentId {
        self.copies.start(warp, lanes)
    }

    /// Starts an arrival of the lanes' copies. The next [`MbarrierEvent::CopiesArrive`] must count it.
    pub fn start_arrival(&mut self) -> AgentId {
        self.copies.start_arrival()
    }

    /// Starts a bulk copy of a lane, in its open group or in no group.
    pub fn start_bulk(&mut self, warp: usize, lane: usize, grouped: bool) -> AgentId {
        self.copies.start_bulk((warp, lane), grouped)
    }

    /// Numbers the contents of a copy: two copies of one number write the same value wherever they write the
    /// same byte.
    pub fn set_contents(&mut self, copy: AgentId, contents: u32) {
        self.copies.set_contents(copy, contents);
    }

    /// Starts the part of a warp in a product that these warps compute together.
    pub fn start_product(&mut self, warp: usize, group: Range<usize>) -> AgentId {
        self.copies.start_product(warp, group)
    }

    /// Records a warp's arrival at a product of a group of warps. On an H200 no warp goes past a product
    /// before all four have reached it. So the method returns a warp of the group that has gone past this
    /// product, if this warp has waited for it since: that wait would never end. A rendezvous does not order
    /// memory.
    pub fn arrive_at_product(&mut self, warp: usize, group: Range<usize>) -> Option<usize> {
        match &mut self.mbarriers {
            Some(with) => self.rendezvous.arrive(&mut with.waits, (warp, group)),
            None => self.rendezvous.arrive_untracked(&self.clocks, (warp, group)),
        }
    }

    /// Returns `true` if some thread of the block knows that a bulk copy of this lane is complete.
    #[must_use]
    pub fn is_known_complete(&self, copy: AgentId, lane: usize) -> bool {
        self.copies.is_known_complete(&self.clocks, copy, lane)
    }

    /// Counts the copies that a thread has not waited for: in committed groups, and in no group.
    #[must_use]
    pub fn copies_in_flight(&self, warp: usize, lane: usize) -> (usize, usize) {
        let ((pending, open), (bulk, uncommitted)) =
            (self.copies.in_flight(warp, lane), self.copies.bulk_in_flight(warp, lane));
        (pending + bulk, open + uncommitted)
    }

    /// Records a release by lanes of the tensor map that they copied to a place.
    pub fn publish_map(&mut self, warp: usize, lanes: Mask, place: MapPlace) {
        self.maps.release(&mut self.clocks, (warp, lanes), Some(place));
    }

    /// Records a lane's acquire of the tensor map at a place.
    pub fn acquire_map(&mut self, warp: usize, lane: usize, place: MapPlace) {
        self.maps.acquire(&mut self.clocks, (warp, lane), place);
    }

    /// Returns `true` if the write of `earlier` (a thread and a time) to the tensor map at a place is visible to a
    /// copy that `later` issues with this map.
    #[must_use]
    pub fn is_map_visible(&self, earlier: (LaneId, Time), later: LaneId, place: MapPlace) -> bool {
        self.maps.is_visible(&self.clocks, earlier, (later, place), self.shape.warps)
    }

    /// Counts the events so far that may have ordered accesses of a warp's lanes with other warps, and with
    /// each other. Two accesses with equal counts are unordered, unless they are of one thread.
    #[must_use]
    pub fn events(&self, warp: usize) -> (u64, u64) {
        (self.events.0, self.events.1[warp])
    }

    /// Returns the current time of a warp.
    #[must_use]
    #[inline]
    pub fn now(&self, warp: usize) -> Time {
        self.clocks.now(warp)
    }

    /// Returns each thread's knowledge of the others' accesses.
    #[must_use]
    #[inline]
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// Returns the asynchronous agents, with the waits for them.
    #[must_use]
    #[inline]
    pub fn copies(&self) -> &AsyncAgents {
        &self.copies
    }
}
