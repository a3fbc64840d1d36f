//! The sixteen CTA barriers of a block (PTX manual §9.7.13.1): registrations, completion of generations, and
//! the reuse rule, by which registrations match the same way on every schedule.
//!
//! A registration is an event of a warp: it waits for the lanes of the warp that have not exited, and counts as 32
//! threads even if some lanes have exited. A barrier with an explicit count keeps it when threads exit; one without
//! waits for the warps that still run. A warp that registers twice in one generation, to arrive or to wait, counts
//! twice. The manual does not forbid this, an H200 does it (measured with 512 blocks of each of two shapes), and
//! FlashAttention-3 relies on it: a warp group arrives at the barrier that it then waits at, to take the first
//! turn.
//!
//! **Reuse.** The generations of a barrier differ only in their order. A registration for generation k+1
//! belongs there on every schedule only if *every* registration of generation k happens before it in
//! waits-for (generations of a single warp are exempt among themselves). Otherwise, on some schedule, it
//! counts for generation k. This is exact. Sharma, Bauer and Aiken's rule ("Verification of producer-consumer
//! synchronization in GPU programs", 2015, Figure 4) covers waiting registrations only and skips the first
//! command of a thread. Here arrivals count too, and a missing predecessor counts as unordered. The argument holds
//! for repeated registrations of one warp as well: in the first generation that differs on another schedule, a
//! registration of a later generation would precede one of this generation, which the rule excludes.
//!
//! The waits-for clocks are kept for warps: they are queried at registrations only, and a registration waits
//! for all lanes of the warp. With mbarriers, waits and arrivals belong to lanes. Then
//! [`Order`](crate::Order) keeps waits-for for lanes as well, and two events are ordered if either clock
//! orders them.

use crate::clocks::{Clocks, LaneId, Time, Times, join};
use crate::lanes::{MAX_WARPS, Mask, WARP};
use crate::shadow::Site;

/// The number of barriers of a block.
const BARRIERS: usize = 16;

/// A warp's registration at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The warp.
    pub warp: usize,
    /// The lanes of the warp that have not exited. All of them take part.
    pub lanes: Mask,
    /// The lanes that wait; the others only arrive.
    pub waiting: Mask,
    /// The number of threads that the barrier counts; `None` for the whole block.
    pub count: Option<u32>,
    /// `true` if the barrier reduces a predicate.
    pub reduces: bool,
    /// The instruction.
    pub site: Site,
}

/// A registration that the manual does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierMisuse {
    /// The count is not a positive multiple of the size of a warp.
    Count(u32),
    /// An earlier registration of this generation named another count.
    MixedCounts {
        /// The count named here.
        here: Option<u32>,
        /// The count named before.
        before: Option<u32>,
        /// Where the other count was named.
        site: Site,
    },
    /// A reduction and a plain barrier register in one generation.
    MixedKinds {
        /// The registration of the other kind.
        site: Site,
    },
}

/// A registration that could have counted for the previous generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierReuse {
    /// The registration of the previous generation that is not ordered before it.
    pub earlier: (usize, Site),
    /// The generation, counted from zero.
    pub generation: u64,
}

/// A completed generation.
#[derive(Clone, Debug, Default)]
pub struct CompletedGeneration {
    /// The lanes that waited, by warp.
    pub waiting: Vec<(usize, Mask)>,
    /// The distinct instructions at which threads waited.
    pub sites: Vec<Site>,
}

/// The generation that a barrier is collecting.
#[derive(Clone, Debug, Default)]
pub struct Generation {
    /// Registrations so far.
    pub registrations: Vec<Registration>,
    /// The number of threads it counts; `None` for the whole block. Meaningful from the first registration
    /// on.
    pub count: Option<u32>,
    /// The time of each registration, on the clock of its warp.
    pub times: Vec<Time>,
    /// The time of each registration in waits-for, if waits-for is kept for lanes.
    waits_times: Vec<Time>,
    /// Times that waiting lanes acquire on completion.
    released_memory: Times,
    /// The same times in waits-for, if it is kept for lanes.
    released_waits: Times,
    /// Registrations that its waiting warps have waited for, once it completes.
    awaited_registrations: LatestRegistrations,
}

/// For each warp, the time of its latest registration that was waited for.
type LatestRegistrations = [Time; MAX_WARPS];

#[derive(Clone, Debug, Default)]
struct Barrier {
    number: u64,
    current: Generation,
    /// The registrations of the last generation that several warps shared.
    last_shared: Vec<PastRegistration>,
    /// The latest registration of each warp in a generation of that warp alone, since then.
    later_singles: Vec<PastRegistration>,
}

/// A registration of a completed generation.
#[derive(Clone, Copy, Debug)]
struct PastRegistration {
    warp: usize,
    time: Time,
    site: Site,
    /// Its time in waits-for, if waits-for is kept for lanes.
    waits_time: Time,
}

/// Returns `true` for a count of exactly one warp.
fn is_single(count: Option<u32>) -> bool {
    count.is_some_and(|count| count as usize == WARP)
}

/// All barriers of a block.
#[derive(Clone, Debug)]
pub(crate) struct Barriers {
    /// The number of the block's first warp. Warps are numbered across the cluster.
    first_warp: usize,
    /// Set if the cluster has no other block.
    only_block: bool,
    barriers: Vec<Barrier>,
    /// For each warp, the latest registrations that it has waited for.
    latest_waited: Vec<LatestRegistrations>,
    /// Warps with no running lane left.
    ended: Vec<bool>,
}

impl Barriers {
    /// Creates the barriers of a block of this many warps, alone in its cluster.
    #[must_use]
    #[cfg(test)]
    pub(crate) fn new(warps: usize) -> Self {
        Self::of_block(0, warps, true)
    }

    /// Creates the barriers of a block whose warps are numbered from `first_warp` on. `only_block` is set for a
    /// cluster of one block.
    #[must_use]
    pub(crate) fn of_block(first_warp: usize, warps: usize, only_block: bool) -> Self {
        Self {
            first_warp,
            only_block,
            barriers: vec![Barrier::default(); BARRIERS],
            latest_waited: vec![[0; MAX_WARPS]; warps],
            ended: vec![false; warps],
        }
    }

    /// Returns the generation that barrier `id` is collecting.
    #[must_use]
    pub(crate) fn current(&self, id: u8) -> &Generation {
        &self.barriers[usize::from(id)].current
    }

    /// Records the exit of lanes of a warp. `others_continue` is set if other lanes of the warp keep running.
    pub(crate) fn exit(
        &mut self,
        clocks: &mut Clocks,
        warp: usize,
        lanes: Mask,
        others_continue: bool,
    ) {
        self.ended[warp - self.first_warp] |= !others_continue;
        clocks.exit(warp, lanes, others_continue);
    }

    /// Registers a warp at barrier `id`.
    ///
    /// # Errors
    /// If the manual does not allow the registration.
    pub(crate) fn register(
        &mut self,
        clocks: &mut Clocks,
        mut waits: Option<&mut Clocks>,
        id: u8,
        registration: Registration,
    ) -> Result<Option<BarrierReuse>, BarrierMisuse> {
        self.check(id, &registration)?;
        let warp = registration.warp;
        // A registration waits for the lanes of the warp, including those that have exited.
        if let Some(waits) = &mut waits {
            waits.warp_barrier(warp, Mask::ALL);
        }
        let (time, released) = clocks.release(warp, registration.lanes);
        let barrier = &mut self.barriers[usize::from(id)];
        let first_warp = self.first_warp;
        let latest_waited = &mut self.latest_waited[warp - first_warp];
        // Generations of one warp each cannot be mistaken for each other.
        let later_singles =
            if is_single(registration.count) { &[][..] } else { &barrier.later_singles };
        let mut before = barrier.last_shared.iter().chain(later_singles);
        let lane = LaneId { warp: warp as u8, lane: 0 };
        let ordered = |past: &PastRegistration| {
            let earlier = LaneId { warp: past.warp as u8, lane: 0 };
            latest_waited[past.warp - first_warp] >= past.time
                || waits.as_ref().is_some_and(|waits| waits.ordered(earlier, past.waits_time, lane))
        };
        let unordered = before.find(|past| !ordered(past));
        let reuse = unordered.map(|past| BarrierReuse {
            earlier: (past.warp, past.site),
            generation: barrier.number,
        });
        latest_waited[warp - first_warp] = time;
        let current = &mut barrier.current;
        current.count = current.count.or(registration.count);
        current.registrations.push(registration);
        current.times.push(time);
        if current.released_memory.is_empty() {
            current.released_memory = released;
        } else {
            clocks.complete(&mut current.released_memory);
            join(&mut current.released_memory, &released);
        }
        let waits_time = waits.map_or(0, |waits| {
            let waits_time = waits.now(warp);
            let (_, released) = waits.release(warp, Mask::ALL);
            waits.complete(&mut current.released_waits);
            join(&mut current.released_waits, &released);
            waits_time
        });
        current.waits_times.push(waits_time);
        join(&mut current.awaited_registrations, latest_waited);
        Ok(reuse)
    }

    fn check(&self, id: u8, registration: &Registration) -> Result<(), BarrierMisuse> {
        if let Some(count) = registration.count
            && (count == 0 || !(count as usize).is_multiple_of(WARP))
        {
            return Err(BarrierMisuse::Count(count));
        }
        let others = &self.barriers[usize::from(id)].current.registrations;
        for other in others {
            let site = other.site;
            if other.count != registration.count {
                let (here, before) = (registration.count, other.count);
                return Err(BarrierMisuse::MixedCounts { here, before, site });
            }
            if other.reduces != registration.reduces {
                return Err(BarrierMisuse::MixedKinds { site });
            }
        }
        Ok(())
    }

    /// Returns `true` if every awaited warp has registered at barrier `id`.
    #[must_use]
    pub(crate) fn is_complete(&self, id: u8) -> bool {
        let Generation { registrations, count, .. } = self.current(id);
        match count {
            _ if registrations.is_empty() => false,
            Some(count) => registrations.len() * WARP >= *count as usize,
            None => self.missing(id).next().is_none(),
        }
    }

    /// Returns the running warps that have not registered at barrier `id`.
    pub(crate) fn missing(&self, id: u8) -> impl Iterator<Item = usize> {
        let registrations = &self.current(id).registrations;
        let registered = move |warp: usize| registrations.iter().any(|other| other.warp == warp);
        let warps = (0..self.ended.len()).filter(move |&warp| !self.ended[warp]);
        warps.map(move |warp| self.first_warp + warp).filter(move |&warp| !registered(warp))
    }

    /// Completes the generation of barrier `id`: the waiting lanes acquire the clocks of all registrations.
    pub(crate) fn release(
        &mut self,
        clocks: &mut Clocks,
        waits: Option<&mut Clocks>,
        id: u8,
    ) -> CompletedGeneration {
        let barrier = &mut self.barriers[usize::from(id)];
        barrier.number += 1;
        let mut completed = std::mem::take(&mut barrier.current);
        clocks.complete(&mut completed.released_memory);
        let registered =
            completed.registrations.iter().zip(completed.times.iter().zip(&completed.waits_times));
        let registered = registered.map(|(one, (&time, &waits_time))| {
            let Registration { warp, site, .. } = *one;
            PastRegistration { warp, time, site, waits_time }
        });
        if is_single(completed.count) {
            for past in registered {
                barrier.later_singles.retain(|other| other.warp != past.warp);
                barrier.later_singles.push(past);
            }
        } else {
            barrier.later_singles.clear();
            barrier.last_shared.clear();
            barrier.last_shared.extend(registered);
        }
        if completed.count.is_none() {
            // A barrier without a count also waited for the other warps to exit.
            for (warp, latest_waited) in self.latest_waited.iter().enumerate() {
                if self.ended[warp] {
                    join(&mut completed.awaited_registrations, latest_waited);
                }
            }
        }
        let waiting = completed.registrations.iter().filter(|one| !one.waiting.is_empty());
        let waiting: Vec<Registration> = waiting.copied().collect();
        for registration in &waiting {
            join(
                &mut self.latest_waited[registration.warp - self.first_warp],
                &completed.awaited_registrations,
            );
        }
        if let Some(waits) = waits {
            self.release_waits(waits, &mut completed, &waiting);
        }
        let fully_waiting = waiting.iter().filter(|one| one.waiting == one.lanes).count();
        // If all running threads of the cluster waited here, a new epoch begins.
        if self.only_block && fully_waiting == self.ended.iter().filter(|&&ended| !ended).count() {
            clocks.acquire_all(&completed.released_memory);
        } else {
            for registration in &waiting {
                clocks.acquire(registration.warp, registration.waiting, &completed.released_memory);
            }
            clocks.update_followed();
        }
        let mut sites: Vec<Site> = waiting.iter().map(|one| one.site).collect();
        sites.sort_unstable();
        sites.dedup();
        let waiting = waiting.iter().map(|one| (one.warp, one.waiting)).collect();
        CompletedGeneration { waiting, sites }
    }

    /// Updates waits-for: waiting lanes have waited for every registration and, without a count, for ended
    /// warps.
    fn release_waits(
        &self,
        waits: &mut Clocks,
        completed: &mut Generation,
        waiting: &[Registration],
    ) {
        if completed.count.is_none() {
            for warp in (0..self.ended.len()).filter(|&warp| self.ended[warp]) {
                let (_, released) = waits.release(self.first_warp + warp, Mask::ALL);
                join(&mut completed.released_waits, &released);
            }
        }
        waits.complete(&mut completed.released_waits);
        for registration in waiting {
            waits.acquire(registration.warp, registration.waiting, &completed.released_waits);
        }
    }
}

#[cfg(test)]
#[path = "barriers_tests.rs"]
mod tests;
