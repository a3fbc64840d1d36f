//! The sixteen barriers of a block (PTX manual §9.7.13.1): who has registered, when a generation
//! is complete, and whether another schedule could have matched registrations differently.
//!
//! A registration is an event of a warp: it waits for the warp's lanes that have not exited and
//! counts 32, whatever their number. A barrier with a count keeps it when threads exit; one without
//! waits for the warps that still run. A warp that arrives and comes again, to arrive or to wait, counts again: the manual does not
//! forbid it and an H200 counts it (512 blocks of each of two shapes), and FlashAttention-3 gives itself the first turn in that way.
//!
//! **Reuse.** A barrier's generations are told apart by nothing but their order. A registration for
//! generation k+1 belongs there on every schedule only if *every* registration of generation k comes
//! before it in waits-for (except that generations of a single warp do not mind each other); otherwise a schedule exists on which it counts for generation k. This is
//! exact: Sharma, Bauer and Aiken's rule ("Verification of producer-consumer synchronization in GPU
//! programs", 2015, Figure 4) looks at registrations that wait alone and skips the first command
//! of a thread; here arrivals count too and a missing predecessor counts as unordered. The argument does not ask of which warps registrations are:
//! in the first generation of a schedule that differs, some registration of a later one stands before one of this generation, which it comes after.
//!
//! The waits-for clocks are kept for warps: the only question asked of them is asked at
//! registrations, which wait for all lanes of the warp. Where there are mbarriers, whose waits and arrivals are those of
//! lanes, [`Order`](crate::Order) keeps waits-for for lanes as well, and what either knows is ordered.

use crate::clocks::{Clocks, LaneId, Time, Times, join};
use crate::lanes::{MOST_WARPS, Mask, WARP};
use crate::shadow::Site;

/// How many barriers a block has.
const BARRIERS: usize = 16;

/// A warp comes to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The warp.
    pub warp: usize,
    /// Its lanes that have not exited; all of them are there.
    pub lanes: Mask,
    /// Those of them that wait; the others only count.
    pub waiting: Mask,
    /// How many threads the barrier counts; all of the block if absent.
    pub count: Option<u32>,
    /// Whether the barrier reduces a predicate.
    pub reduces: bool,
    /// The instruction.
    pub site: Site,
}

/// What is wrong with a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// The count is not a positive multiple of the size of a warp.
    Count(u32),
    /// Others in this generation named another count.
    MixedCounts {
        /// The count named here.
        here: Option<u32>,
        /// The count named before.
        before: Option<u32>,
        /// Where it was named.
        site: Site,
    },
    /// A reduction and a plain barrier in one generation.
    MixedKinds {
        /// The registration of the other kind.
        site: Site,
    },
}

/// A registration that could have counted for the generation before its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// The registration of the earlier generation that is not ordered before it.
    pub earlier: (usize, Site),
    /// The generation, counted from zero.
    pub generation: u64,
}

/// A generation that is complete.
#[derive(Clone, Debug, Default)]
pub struct Released {
    /// Lanes that waited, by warp.
    pub waiting: Vec<(usize, Mask)>,
    /// The different instructions at which threads waited.
    pub sites: Vec<Site>,
}

/// The generation of a barrier that is being collected.
#[derive(Clone, Debug, Default)]
pub struct Generation {
    /// Who has come.
    pub registrations: Vec<Registration>,
    /// How many threads it counts; all of the block if absent. Meaningful once somebody came.
    pub count: Option<u32>,
    /// When each came, in the count of its warp.
    pub times: Vec<Time>,
    /// When each came in waits-for, if that is kept for lanes.
    stamps: Vec<Time>,
    /// What is released to those who wait.
    released: Times,
    /// The same in waits-for, if that is kept for lanes.
    waited_for: Times,
    /// What those who wait have waited for.
    awaited: Waited,
}

/// The latest registration of each warp that was waited for.
type Waited = [Time; MOST_WARPS];

#[derive(Clone, Debug, Default)]
struct Barrier {
    number: u64,
    current: Generation,
    /// Registrations of the last generation that took several warps.
    partners: Vec<Past>,
    /// Registrations of the generations since, which took one warp each; one for each warp.
    singles: Vec<Past>,
}

/// A registration of a generation that is over.
#[derive(Clone, Copy, Debug)]
struct Past {
    warp: usize,
    time: Time,
    site: Site,
    /// When it was in waits-for, if that is kept for lanes.
    stamp: Time,
}

/// Whether a barrier with this count takes one warp.
fn is_single(count: Option<u32>) -> bool {
    count.is_some_and(|count| count as usize == WARP)
}

/// All barriers of a block.
#[derive(Clone, Debug)]
pub(crate) struct Barriers {
    /// The number of its first warp; those of other blocks of the cluster have other numbers.
    first: usize,
    /// Set if there is no other block in the cluster.
    alone: bool,
    each: Vec<Barrier>,
    /// The latest registration of each warp that each warp has waited for.
    waited: Vec<Waited>,
    /// Warps of which no lane runs any more.
    ended: Vec<bool>,
}

impl Barriers {
    /// The barriers of a block of this many warps, which is alone.
    #[must_use]
    #[cfg(test)]
    pub(crate) fn new(warps: usize) -> Self {
        Self::of_block(0, warps, true)
    }

    /// The barriers of a block whose warps have numbers from `first` on; `alone` if it is the only one of its cluster.
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

    /// The generation that barrier `id` collects.
    #[must_use]
    pub(crate) fn current(&self, id: u8) -> &Generation {
        &self.each[usize::from(id)].current
    }

    /// Lanes of a warp exit; `others_go_on` if they are not the last.
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

    /// A warp registers at barrier `id`.
    ///
    /// # Errors
    /// What is wrong about that, if the manual does not allow it.
    pub(crate) fn register(
        &mut self,
        clocks: &mut Clocks,
        mut waits: Option<&mut Clocks>,
        id: u8,
        registration: Registration,
    ) -> Result<Option<Reuse>, Misuse> {
        self.check(id, &registration)?;
        let warp = registration.warp;
        // Lanes have waited for each other, and for those that exited.
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

    /// Whether everybody has come whom barrier `id` waits for.
    #[must_use]
    pub(crate) fn is_complete(&self, id: u8) -> bool {
        let Generation { registrations, count, .. } = self.current(id);
        match count {
            _ if registrations.is_empty() => false,
            Some(count) => registrations.len() * WARP >= *count as usize,
            None => self.missing(id).next().is_none(),
        }
    }

    /// Warps that still run and have not come to barrier `id`.
    pub(crate) fn missing(&self, id: u8) -> impl Iterator<Item = usize> {
        let registrations = &self.current(id).registrations;
        let came = move |warp: usize| registrations.iter().any(|other| other.warp == warp);
        let warps = (0..self.ended.len()).filter(move |&warp| !self.ended[warp]);
        warps.map(move |warp| self.first + warp).filter(move |&warp| !came(warp))
    }

    /// Ends the generation of barrier `id`: those who wait learn what the others did.
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
            // It waited for the others to exit.
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

    /// Those who waited have waited for everybody who came and, without a count, for warps to end.
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
