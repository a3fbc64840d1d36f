//! The sixteen CTA barriers of a block (PTX manual §9.7.13.1): registrations, completion of generations, and
//! the reuse rule, by which registrations match the same way on every schedule.
//!
//! A registration is an event of a warp: it waits for the lanes of the warp that have not exited, and counts
//! 32, however many those are. A barrier with an explicit count keeps it when threads exit; one without waits
//! for the warps that still run. A warp that registers twice in one generation, to arrive or to wait, counts
//! twice. The manual does not forbid this, an H200 counts it (512 blocks of each of two shapes), and
//! FlashAttention-3 relies on it: a warp group gives itself the first turn.
//!
//! **Reuse.** Only their order tells the generations of a barrier apart. A registration for generation k+1
//! belongs there on every schedule only if *every* registration of generation k happens before it in
//! waits-for (generations of a single warp are exempt among themselves). Otherwise, on some schedule, it
//! counts for generation k. This is exact. Sharma, Bauer and Aiken's rule ("Verification of producer-consumer
//! synchronization in GPU programs", 2015, Figure 4) covers waiting registrations only and skips the first
//! command of a thread. Here arrivals count too, and a missing predecessor counts as unordered. The argument
//! holds for repeated registrations of one warp as well: in the first generation of a schedule that differs,
//! a registration of a later generation precedes one of this generation, after which it must come.
//!
//! The waits-for clocks are kept for warps: they are queried at registrations only, and a registration waits
//! for all lanes of the warp. With mbarriers, waits and arrivals belong to lanes. Then
//! [`Order`](crate::Order) keeps waits-for for lanes as well, and two events are ordered if either clock
//! orders them.

use crate::clocks::{Clocks, LaneId, Time, Times, join};
use crate::lanes::{MOST_WARPS, Mask, WARP};
use crate::shadow::Site;

/// Barriers of a block.
const BARRIERS: usize = 16;

/// A warp's registration at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The warp.
    pub warp: usize,
    /// The lanes of the warp that have not exited. All of them take part.
    pub lanes: Mask,
    /// The lanes of those that wait; the others only count.
    pub waiting: Mask,
    /// The number of threads that the barrier counts; `None` for the whole block.
    pub count: Option<u32>,
    /// `true` if the barrier reduces a predicate.
    pub reduces: bool,
    /// The instruction.
    pub site: Site,
}

/// An invalid registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
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
    /// A reduction and a plain barrier meet in one generation.
    MixedKinds {
        /// The registration of the other kind.
        site: Site,
    },
}

/// A registration that could have counted for the previous generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// The registration of the previous generation that is not ordered before it.
    pub earlier: (usize, Site),
    /// The generation, counted from zero.
    pub generation: u64,
}

/// A completed generation.
#[derive(Clone, Debug, Default)]
pub struct Released {
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
    /// The waits-for time of each registration, if waits-for is kept for lanes.
    stamps: Vec<Time>,
    /// Times that waiting lanes acquire on completion.
    released: Times,
    /// The same times in waits-for, if it is kept for lanes.
    waited_for: Times,
    /// Registrations that its waiting warps have waited for, once it completes.
    awaited: Waited,
}

/// For each warp, its latest registration that was waited for.
type Waited = [Time; MOST_WARPS];

#[derive(Clone, Debug, Default)]
struct Barrier {
    number: u64,
    current: Generation,
    /// Registrations of the last generation with several warps.
    partners: Vec<Past>,
    /// The latest registration of each warp in a single-warp generation since then.
    singles: Vec<Past>,
}

/// A registration of a completed generation.
#[derive(Clone, Copy, Debug)]
struct Past {
    warp: usize,
    time: Time,
    site: Site,
    /// Its waits-for time, if waits-for is kept for lanes.
    stamp: Time,
}

/// Returns `true` for a count of exactly one warp.
fn is_single(count: Option<u32>) -> bool {
    count.is_some_and(|count| count as usize == WARP)
}

/// All barriers of a block.
#[derive(Clone, Debug)]
pub(crate) struct Barriers {
    /// The number of the block's first warp. Warps are numbered across the cluster.
    first: usize,
    /// Set if the cluster has no other block.
    alone: bool,
    each: Vec<Barrier>,
    /// For each warp, the latest registration of every warp that it has waited for.
    waited: Vec<Waited>,
    /// Warps with no running lane left.
    ended: Vec<bool>,
}

impl Barriers {
    /// The barriers of a block of this many warps, alone in its cluster.
    #[must_use]
    #[cfg(test)]
    pub(crate) fn new(warps: usize) -> Self {
        Self::of_block(0, warps, true)
    }

    /// The barriers of a block whose warps are numbered from `first` on; `alone` for a cluster of one block.
    #[must_use]
    pub(crate) fn of_block(first: usize, warps: usize, alone: bool) -> Self {
        Self {
            first,
            alone,
            each: vec![Barrier::default(); BARRIERS],
            waited: vec![[0; MOST_WARPS]; warps],
            ended: vec![false; warps],
        }
    }

    /// Returns the generation that barrier `id` is collecting.
    #[must_use]
    pub(crate) fn current(&self, id: u8) -> &Generation {
        &self.each[usize::from(id)].current
    }

    /// Records the exit of lanes of a warp. `others_go_on` is set if other lanes of the warp keep running.
    pub(crate) fn exit(
        &mut self,
        clocks: &mut Clocks,
        warp: usize,
        lanes: Mask,
        others_go_on: bool,
    ) {
        self.ended[warp - self.first] |= !others_go_on;
        clocks.exit(warp, lanes, others_go_on);
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
    ) -> Result<Option<Reuse>, Misuse> {
        self.check(id, &registration)?;
        let warp = registration.warp;
        // A registration waits for the lanes of the warp, including those that have exited.
        if let Some(waits) = &mut waits {
            waits.warp_barrier(warp, Mask::ALL);
        }
        let (time, released) = clocks.release(warp, registration.lanes);
        let barrier = &mut self.each[usize::from(id)];
        let first = self.first;
        let waited = &mut self.waited[warp - first];
        // Generations of one warp each cannot be mistaken for each other.
        let singles = if is_single(registration.count) { &[][..] } else { &barrier.singles };
        let mut before = barrier.partners.iter().chain(singles);
        let lane = LaneId { warp: warp as u8, lane: 0 };
        let ordered = |past: &Past| {
            let earlier = LaneId { warp: past.warp as u8, lane: 0 };
            waited[past.warp - first] >= past.time
                || waits.as_ref().is_some_and(|waits| waits.ordered(earlier, past.stamp, lane))
        };
        let unordered = before.find(|past| !ordered(past));
        let reuse = unordered
            .map(|past| Reuse { earlier: (past.warp, past.site), generation: barrier.number });
        waited[warp - first] = time;
        let current = &mut barrier.current;
        current.count = current.count.or(registration.count);
        current.registrations.push(registration);
        current.times.push(time);
        if current.released.is_empty() {
            current.released = released;
        } else {
            clocks.complete(&mut current.released);
            join(&mut current.released, &released);
        }
        let stamp = waits.map_or(0, |waits| {
            let stamp = waits.now(warp);
            let (_, released) = waits.release(warp, Mask::ALL);
            waits.complete(&mut current.waited_for);
            join(&mut current.waited_for, &released);
            stamp
        });
        current.stamps.push(stamp);
        join(&mut current.awaited, waited);
        Ok(reuse)
    }

    fn check(&self, id: u8, registration: &Registration) -> Result<(), Misuse> {
        if let Some(count) = registration.count
            && (count == 0 || !(count as usize).is_multiple_of(WARP))
        {
            return Err(Misuse::Count(count));
        }
        let others = &self.each[usize::from(id)].current.registrations;
        for other in others {
            let site = other.site;
            if other.count != registration.count {
                let (here, before) = (registration.count, other.count);
                return Err(Misuse::MixedCounts { here, before, site });
            }
            if other.reduces != registration.reduces {
                return Err(Misuse::MixedKinds { site });
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
        let came = move |warp: usize| registrations.iter().any(|other| other.warp == warp);
        let warps = (0..self.ended.len()).filter(move |&warp| !self.ended[warp]);
        warps.map(move |warp| self.first + warp).filter(move |&warp| !came(warp))
    }

    /// Completes the generation of barrier `id`: the waiting lanes acquire the clocks of all registrations.
    pub(crate) fn release(
        &mut self,
        clocks: &mut Clocks,
        waits: Option<&mut Clocks>,
        id: u8,
    ) -> Released {
        let barrier = &mut self.each[usize::from(id)];
        barrier.number += 1;
        let mut ended = std::mem::take(&mut barrier.current);
        clocks.complete(&mut ended.released);
        let came = ended.registrations.iter().zip(ended.times.iter().zip(&ended.stamps));
        let came = came.map(|(one, (&time, &stamp))| {
            let Registration { warp, site, .. } = *one;
            Past { warp, time, site, stamp }
        });
        if is_single(ended.count) {
            for past in came {
                barrier.singles.retain(|other| other.warp != past.warp);
                barrier.singles.push(past);
            }
        } else {
            barrier.singles.clear();
            barrier.partners.clear();
            barrier.partners.extend(came);
        }
        if ended.count.is_none() {
            // A barrier without a count also waited for the other warps to exit.
            for (warp, waited) in self.waited.iter().enumerate() {
                if self.ended[warp] {
                    join(&mut ended.awaited, waited);
                }
            }
        }
        let waiting = ended.registrations.iter().filter(|one| !one.waiting.is_empty());
        let waiting: Vec<Registration> = waiting.copied().collect();
        for registration in &waiting {
            join(&mut self.waited[registration.warp - self.first], &ended.awaited);
        }
        if let Some(waits) = waits {
            self.release_waits(waits, &mut ended, &waiting);
        }
        let everybody = waiting.iter().filter(|one| one.waiting == one.lanes).count();
        if self.alone && everybody == self.ended.iter().filter(|&&ended| !ended).count() {
            clocks.acquire_all(&ended.released);
        } else {
            for registration in &waiting {
                clocks.acquire(registration.warp, registration.waiting, &ended.released);
            }
        }
        let mut sites: Vec<Site> = waiting.iter().map(|one| one.site).collect();
        sites.sort_unstable();
        sites.dedup();
        let waiting = waiting.iter().map(|one| (one.warp, one.waiting)).collect();
        Released { waiting, sites }
    }

    /// Updates waits-for: waiting lanes have waited for every registration and, without a count, for ended
    /// warps.
    fn release_waits(&self, waits: &mut Clocks, ended: &mut Generation, waiting: &[Registration]) {
        if ended.count.is_none() {
            for warp in (0..self.ended.len()).filter(|&warp| self.ended[warp]) {
                let (_, released) = waits.release(self.first + warp, Mask::ALL);
                join(&mut ended.waited_for, &released);
            }
        }
        waits.complete(&mut ended.waited_for);
        for registration in waiting {
            waits.acquire(registration.warp, registration.waiting, &ended.waited_for);
        }
    }
}

#[cfg(test)]
#[path = "barriers_tests.rs"]
mod tests;
