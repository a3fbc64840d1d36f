//! Asynchronous agents: copies (`cp.async`, `cp.async.bulk`, PTX manual §9.7.9.25) and products of warp groups
//! (`wgmma`). Records their groups, and the waits that complete them.
//!
//! A copy is ordered after its thread's earlier actions and before the wait for its group, and with nothing else: not
//! with other copies of the same thread. After the wait it counts as an access of its thread at the time of the wait. A
//! copy that arrives at an mbarrier is also complete for each thread that knows the end of the phase. A bulk copy
//! belongs to one lane. A wait for its group may cover its reads alone (`.read`): then its source may change, but its
//! target is not yet written.

use crate::clocks::{Clocks, LaneId, Time};
use crate::lanes::{Mask, WARP};
use crate::proxy::ProxyFences;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;

/// One execution of a copy instruction by a warp.
pub type AgentId = u32;

/// The asynchronous agents of a block.
#[derive(Clone, Debug)]
pub struct AsyncAgents {
    /// For each copy and lane, the time of the wait that covers it; zero before that.
    completed_at: Vec<[Time; WARP]>,
    /// Groups of each thread, by warp and lane.
    threads: Vec<[Groups; WARP]>,
    /// Groups of bulk copies of each thread.
    bulk: FxHashMap<(usize, usize), Groups>,
    /// For each bulk copy, the time of the wait that covers its reads.
    read_completed_at: FxHashMap<AgentId, Time>,
    /// Proxy fences, which make writes of threads visible to bulk copies.
    fences: ProxyFences,
    /// For copies that arrive at mbarriers, by copy and lane: the parties and their times.
    arrivals: FxHashMap<(AgentId, usize), Vec<(u16, Time)>>,
    /// A `cp.async.mbarrier.arrive` that was started and not yet recorded at its mbarrier.
    pending_arrival: Option<AgentId>,
    /// Groups of products of each warp.
    products: FxHashMap<usize, Groups>,
    /// The products of each warp in issue order.
    issued: Vec<Vec<AgentId>>,
    /// For each product, the warps that compute it together, and its number among theirs.
    parts: FxHashMap<AgentId, (Range<usize>, usize)>,
    /// For some bulk copies, a number: copies with the same number write the same values to the same bytes.
    contents: FxHashMap<AgentId, u32>,
}

/// Copies of a thread that it has not waited for.
#[derive(Clone, Debug, Default)]
struct Groups {
    /// Copies not yet committed to a group.
    open: Vec<AgentId>,
    committed: VecDeque<Vec<AgentId>>,
}

impl AsyncAgents {
    /// Creates the state of a block of this many warps, without agents.
    #[must_use]
    pub fn new(warps: usize) -> Self {
        let threads = (0..warps).map(|_| std::array::from_fn(|_| Groups::default())).collect();
        Self {
            completed_at: Vec::new(),
            threads,
            bulk: FxHashMap::default(),
            read_completed_at: FxHashMap::default(),
            fences: ProxyFences::default(),
            arrivals: FxHashMap::default(),
            pending_arrival: None,
            products: FxHashMap::default(),
            issued: vec![Vec::new(); warps],
            parts: FxHashMap::default(),
            contents: FxHashMap::default(),
        }
    }

    /// Starts a copy of lanes of a warp.
    pub fn start(&mut self, warp: usize, lanes: Mask) -> AgentId {
        let copy = AgentId::try_from(self.completed_at.len()).unwrap_or(AgentId::MAX);
        self.completed_at.push([0; WARP]);
        for lane in lanes.iter() {
            self.threads[warp][lane].open.push(copy);
        }
        copy
    }

    /// Executes `cp.async.commit_group`.
    pub fn commit(&mut self, warp: usize, lanes: Mask) {
        for lane in lanes.iter() {
            let groups = &mut self.threads[warp][lane];
            let open = std::mem::take(&mut groups.open);
            groups.committed.push_back(open);
        }
    }

    /// Executes `cp.async.wait_group`: all but the last `pending` groups are complete; without a number,
    /// uncommitted copies too. `now` is the warp's time.
    pub fn wait(&mut self, warp: usize, lanes: Mask, pending: Option<u64>, now: Time) {
        for lane in lanes.iter() {
            let groups = &mut self.threads[warp][lane];
            let mut done = Vec::new();
            if pending.is_none() {
                done.append(&mut groups.open);
            }
            while groups.committed.len() as u64 > pending.unwrap_or(0) {
                done.extend(groups.committed.pop_front().into_iter().flatten());
            }
            for copy in done {
                self.completed_at[copy as usize][lane] = now;
            }
        }
    }

    /// Returns the time at which its thread waited for a copy, if it has.
    #[must_use]
    pub fn waited_at(&self, copy: AgentId, lane: usize) -> Option<Time> {
        let time = self.completed_at[copy as usize][lane];
        (time != 0).then_some(time)
    }

    /// Starts a bulk copy of a lane, in its open group or in no group.
    pub(crate) fn start_bulk(&mut self, (warp, lane): (usize, usize), grouped: bool) -> AgentId {
        let copy = AgentId::try_from(self.completed_at.len()).unwrap_or(AgentId::MAX);
        self.completed_at.push([0; WARP]);
        if grouped {
            self.bulk.entry((warp, lane)).or_default().open.push(copy);
        }
        copy
    }

    /// Numbers the contents of a copy: two copies of one number write the same value wherever they write the
    /// same byte.
    pub(crate) fn set_contents(&mut self, copy: AgentId, contents: u32) {
        self.contents.insert(copy, contents);
    }

    /// Returns `true` if two copies are known to write the same values wherever they write the same bytes.
    #[inline]
    pub(crate) fn same_contents(&self, a: AgentId, b: AgentId) -> bool {
        let known = self.contents.get(&a);
        known.is_some() && known == self.contents.get(&b)
    }

    /// Starts an agent that completes at once. It counts as an access of the lane at `now`, and other threads
    /// may learn of its completion by other means too.
    pub(crate) fn start_completed(&mut self, lane: usize, now: Time) -> AgentId {
        let copy = AgentId::try_from(self.completed_at.len()).unwrap_or(AgentId::MAX);
        self.completed_at.push([0; WARP]);
        self.completed_at[copy as usize][lane] = now;
        copy
    }

    /// Completes a bulk copy for every thread that knows of the party at this time.
    pub(crate) fn complete_bulk(&mut self, copy: AgentId, lane: usize, at: (u16, Time)) {
        self.arrivals.entry((copy, lane)).or_default().push(at);
    }

    /// Executes `cp.async.bulk.commit_group`.
    pub(crate) fn commit_bulk(&mut self, warp: usize, lanes: Mask) {
        for lane in lanes.iter() {
            let groups = self.bulk.entry((warp, lane)).or_default();
            let open = std::mem::take(&mut groups.open);
            groups.committed.push_back(open);
        }
    }

    /// Executes `cp.async.bulk.wait_group`: all but the last `pending` groups are complete, or with `read`
    /// have read their source.
    pub(crate) fn wait_bulk(
        &mut self,
        (warp, lanes): (usize, Mask),
        (pending, read): (u64, bool),
        now: Time,
    ) {
        for lane in lanes.iter() {
            let Some(groups) = self.bulk.get_mut(&(warp, lane)) else { continue };
            let done = (groups.committed.len() as u64).saturating_sub(pending) as usize;
            for &copy in groups.committed.iter().take(done).flatten() {
                self.read_completed_at.entry(copy).or_insert(now);
                if !read {
                    self.completed_at[copy as usize][lane] = now;
                }
            }
            if !read {
                groups.committed.drain(..done);
            }
        }
    }

    /// Starts the part of a warp in a product that these warps compute together.
    pub(crate) fn start_product(&mut self, warp: usize, group: Range<usize>) -> AgentId {
        let copy = AgentId::try_from(self.completed_at.len()).unwrap_or(AgentId::MAX);
        self.completed_at.push([0; WARP]);
        self.products.entry(warp).or_default().open.push(copy);
        self.parts.insert(copy, (group, self.issued[warp].len()));
        self.issued[warp].push(copy);
        copy
    }

    /// Returns the warps that compute a product together, and its number among the products of each.
    pub(crate) fn product_group(&self, product: AgentId) -> (Range<usize>, usize) {
        self.parts.get(&product).cloned().unwrap_or((0..0, 0))
    }

    /// Returns the started parts of a product, by warp.
    pub(crate) fn parts(&self, product: AgentId) -> impl Iterator<Item = (usize, AgentId)> + '_ {
        let (group, number) = self.product_group(product);
        group.filter_map(move |warp| Some((warp, *self.issued.get(warp)?.get(number)?)))
    }

    /// Counts the products of a warp that are complete after a wait for all but `pending` groups.
    fn covered(&self, warp: usize, pending: u64) -> usize {
        let in_flight = self.products.get(&warp).map_or(0, |Groups { open, committed }| {
            let pending = usize::try_from(pending).unwrap_or(usize::MAX);
            let groups = committed.iter().rev().take(pending);
            open.len() + groups.map(Vec::len).sum::<usize>()
        });
        self.issued[warp].len() - in_flight
    }

    /// Returns a warp that has not yet started its part of a product that a wait of `warp` completes.
    #[must_use]
    pub fn missing_part(&self, warp: usize, pending: u64) -> Option<usize> {
        let covered = self.covered(warp, pending);
        let last = self.issued[warp].get(covered.checked_sub(1)?)?;
        let (group, _) = self.parts.get(last)?;
        group.clone().find(|&other| self.issued[other].len() < covered)
    }

    /// Executes `wgmma.commit_group`.
    pub(crate) fn commit_products(&mut self, warp: usize) {
        let groups = self.products.entry(warp).or_default();
        let open = std::mem::take(&mut groups.open);
        groups.committed.push_back(open);
    }

    /// Executes `wgmma.wait_group`: all but the last `pending` groups of a warp are complete. Returns the
    /// last product that this wait completes.
    pub(crate) fn wait_products(
        &mut self,
        warp: usize,
        pending: u64,
        now: Time,
    ) -> Option<AgentId> {
        let groups = self.products.get_mut(&warp)?;
        let mut last = None;
        while groups.committed.len() as u64 > pending {
            for copy in groups.committed.pop_front().into_iter().flatten() {
                self.completed_at[copy as usize] = [now; WARP];
                last = Some(copy);
            }
        }
        last
    }

    /// Counts the products that a warp has not waited for: in committed groups, and in no group.
    #[must_use]
    pub fn products_in_flight(&self, warp: usize) -> (usize, usize) {
        let groups = self.products.get(&warp);
        groups.map_or((0, 0), |Groups { open, committed }| {
            (committed.iter().map(Vec::len).sum(), open.len())
        })
    }

    /// Counts the groups committed by a warp after the group of one of its products. `None` if that product
    /// is in no group or was waited for.
    #[must_use]
    pub fn newer_product_groups(&self, product: AgentId, warp: usize) -> Option<u32> {
        let committed = &self.products.get(&warp)?.committed;
        let position = committed.iter().position(|group| group.contains(&product))?;
        u32::try_from(committed.len() - 1 - position).ok()
    }

    /// Returns the time at which its thread waited for a copy to read its source, if it has.
    #[must_use]
    #[inline]
    pub(crate) fn read_waited_at(&self, copy: AgentId, lane: usize) -> Option<Time> {
        let read = if self.read_completed_at.is_empty() {
            None
        } else {
            self.read_completed_at.get(&copy).copied()
        };
        read.or_else(|| self.waited_at(copy, lane))
    }

    /// Returns `true` if some thread of the block knows that a bulk copy is complete.
    pub(crate) fn is_known_complete(&self, clocks: &Clocks, copy: AgentId, lane: usize) -> bool {
        let each = (0..self.threads.len()).flat_map(|warp| {
            (0..WARP).map(move |lane| LaneId { warp: warp as u8, lane: lane as u8 })
        });
        let arrivals = self.arrivals(copy, lane);
        let knows = |who: LaneId| arrivals.iter().any(|&(party, at)| clocks.knows(who, party, at));
        each.into_iter().any(knows)
    }

    /// Returns the proxy fences.
    pub(crate) fn fences(&self) -> &ProxyFences {
        &self.fences
    }

    /// Returns the proxy fences, to add one.
    pub(crate) fn fences_mut(&mut self) -> &mut ProxyFences {
        &mut self.fences
    }

    /// Counts the bulk groups committed by a thread after the group of one of its copies. `None` if that copy
    /// is in no committed group or was waited for.
    #[must_use]
    pub fn newer_groups(&self, copy: AgentId, warp: usize, lane: usize) -> Option<u32> {
        let committed = &self.bulk.get(&(warp, lane))?.committed;
        let position = committed.iter().position(|group| group.contains(&copy))?;
        u32::try_from(committed.len() - 1 - position).ok()
    }

    /// Counts the bulk copies that a thread has not waited for: in committed groups, and in no group.
    pub(crate) fn bulk_in_flight(&self, warp: usize, lane: usize) -> (usize, usize) {
        let groups = self.bulk.get(&(warp, lane));
        groups.map_or((0, 0), |Groups { open, committed }| {
            let may_be_reading = |copy: &&AgentId| !self.read_completed_at.contains_key(copy);
            (committed.iter().flatten().filter(may_be_reading).count(), open.len())
        })
    }

    /// Executes `cp.async.mbarrier.arrive`: the copies of these lanes not yet waited for are complete for
    /// each thread that knows of the party at this time.
    pub(crate) fn arrive(&mut self, warp: usize, lanes: Mask, at: (u16, Time)) {
        let arrival = self.pending_arrival.take();
        for lane in lanes.iter() {
            if let Some(arrival) = arrival {
                self.arrivals.entry((arrival, lane)).or_default().push(at);
            }
        }
        for lane in lanes.iter() {
            let Groups { open, committed } = &self.threads[warp][lane];
            for &copy in open.iter().chain(committed.iter().flatten()) {
                self.arrivals.entry((copy, lane)).or_default().push(at);
            }
        }
    }

    /// Starts an arrival that takes effect when the copies of its lanes are complete. It is an agent like a
    /// copy, and no wait for a group covers it: only a wait for its phase does.
    pub(crate) fn start_arrival(&mut self) -> AgentId {
        let copy = AgentId::try_from(self.completed_at.len()).unwrap_or(AgentId::MAX);
        self.completed_at.push([0; WARP]);
        self.pending_arrival = Some(copy);
        copy
    }

    /// Returns the parties and times that complete a copy.
    pub(crate) fn arrivals(&self, copy: AgentId, lane: usize) -> &[(u16, Time)] {
        self.arrivals.get(&(copy, lane)).map_or(&[], Vec::as_slice)
    }

    /// Counts the copies that a thread has not waited for, in committed groups and in no group. Copies that
    /// arrive at an mbarrier are left out.
    #[must_use]
    pub fn in_flight(&self, warp: usize, lane: usize) -> (usize, usize) {
        let Groups { open, committed } = &self.threads[warp][lane];
        if self.arrivals.is_empty() {
            return (committed.iter().map(Vec::len).sum(), open.len());
        }
        let has_no_arrival = |copy: &&AgentId| !self.arrivals.contains_key(&(**copy, lane));
        let pending = committed.iter().flatten().filter(has_no_arrival).count();
        (pending, open.iter().filter(has_no_arrival).count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_complete_in_order_and_uncommitted_copies_only_with_a_wait_for_all() {
        let mut copies = AsyncAgents::new(1);
        let lanes = Mask(1);
        let [first, second] = [(), ()].map(|()| {
            let copy = copies.start(0, lanes);
            copies.commit(0, lanes);
            copy
        });
        let open = copies.start(0, lanes);
        copies.wait(0, lanes, Some(1), 7);
        assert_eq!(copies.waited_at(first, 0), Some(7));
        assert_eq!(copies.waited_at(second, 0), None);
        copies.wait(0, lanes, Some(0), 8);
        assert_eq!(copies.waited_at(second, 0), Some(8));
        assert_eq!((copies.waited_at(open, 0), copies.in_flight(0, 0)), (None, (0, 1)));
        copies.wait(0, lanes, None, 9);
        assert_eq!((copies.waited_at(open, 0), copies.in_flight(0, 0)), (Some(9), (0, 0)));
    }
}
