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
mod tests {
    use super::*;

    fn come(warp: usize, waits: bool, count: Option<u32>) -> Registration {
        let waiting = if waits { Mask::ALL } else { Mask::NONE };
        Registration { warp, lanes: Mask::ALL, waiting, count, reduces: false, site: 0 }
    }

    fn who(warp: u8) -> LaneId {
        LaneId { warp, lane: 5 }
    }

    #[test]
    fn chains_through_a_third_warp_order_memory() {
        let mut clocks = Clocks::new(3);
        let mut barriers = Barriers::new(3);
        let time = clocks.now(0);
        for (id, pair) in [(1, [0, 1]), (2, [1, 2])] {
            for warp in pair {
                let registered =
                    barriers.register(&mut clocks, None, id, come(warp, true, Some(64)));
                assert_eq!(registered, Ok(None));
            }
            assert!(barriers.is_complete(id));
            barriers.release(&mut clocks, None, id);
        }
        assert!(clocks.ordered(who(0), time, who(2)));
        assert!(!clocks.ordered(who(2), time, who(0)));
    }

    #[test]
    fn the_last_warp_learns_of_ended_ones_only_what_was_passed_on() {
        // Warp 1 arrives for warp 2 before it waits for warp 0; both end; warp 2 is alone.
        let mut clocks = Clocks::new(3);
        let mut barriers = Barriers::new(3);
        let time = clocks.now(0);
        barriers.register(&mut clocks, None, 1, come(0, false, Some(64))).unwrap();
        barriers.register(&mut clocks, None, 2, come(1, false, Some(64))).unwrap();
        barriers.register(&mut clocks, None, 1, come(1, true, Some(64))).unwrap();
        barriers.release(&mut clocks, None, 1);
        for warp in [0, 1] {
            barriers.exit(&mut clocks, warp, Mask::ALL, false);
        }
        barriers.register(&mut clocks, None, 2, come(2, true, Some(64))).unwrap();
        barriers.release(&mut clocks, None, 2);
        assert!(!clocks.ordered(who(0), time, who(2)));
        assert!(clocks.ordered(who(1), time, who(2)));
    }

    #[test]
    fn what_an_exited_lane_released_is_not_released_again_by_its_warp() {
        // Lane 0 arrives where nobody waits and exits; the rest of its warp meets warp 1.
        let mut clocks = Clocks::new(2);
        let mut barriers = Barriers::new(2);
        let time = clocks.now(0);
        barriers.register(&mut clocks, None, 3, come(0, false, Some(64))).unwrap();
        barriers.exit(&mut clocks, 0, Mask::one(0), true);
        let rest = Mask::ALL.without(Mask::one(0));
        let registration = Registration { lanes: rest, waiting: rest, ..come(0, true, Some(64)) };
        barriers.register(&mut clocks, None, 1, registration).unwrap();
        barriers.register(&mut clocks, None, 1, come(1, true, Some(64))).unwrap();
        barriers.release(&mut clocks, None, 1);
        let exited = LaneId { warp: 0, lane: 0 };
        assert!(!clocks.ordered(exited, time, who(1)));
        assert!(clocks.ordered(who(0), time, who(1)));
        // Who waits at the other barrier still learns of it.
        barriers.register(&mut clocks, None, 3, come(1, true, Some(64))).unwrap();
        barriers.release(&mut clocks, None, 3);
        assert!(clocks.ordered(exited, time, who(1)));
    }

    #[test]
    fn an_arrival_releases_and_does_not_acquire() {
        let mut clocks = Clocks::new(2);
        let mut barriers = Barriers::new(2);
        let times = [clocks.now(0), clocks.now(1)];
        barriers.register(&mut clocks, None, 1, come(0, false, Some(64))).unwrap();
        barriers.register(&mut clocks, None, 1, come(1, true, Some(64))).unwrap();
        barriers.release(&mut clocks, None, 1);
        assert!(clocks.ordered(who(0), times[0], who(1)));
        assert!(!clocks.ordered(who(1), times[1], who(0)));
        let (one, other) = (LaneId { warp: 0, lane: 0 }, LaneId { warp: 0, lane: 1 });
        assert!(
            !clocks.ordered(one, times[0], other),
            "lanes of its own warp learn nothing either"
        );
    }

    #[test]
    fn the_first_command_of_a_thread_can_misuse_a_barrier() {
        // Warp 0 comes twice, warps 1 and 2 once, two at a time: who meets whom is open.
        let mut clocks = Clocks::new(3);
        let mut barriers = Barriers::new(3);
        for warp in [0, 1] {
            barriers.register(&mut clocks, None, 0, come(warp, true, Some(64))).unwrap();
        }
        barriers.release(&mut clocks, None, 0);
        assert_eq!(barriers.register(&mut clocks, None, 0, come(0, true, Some(64))), Ok(None));
        let reuse = barriers.register(&mut clocks, None, 0, come(2, true, Some(64)));
        assert!(matches!(reuse, Ok(Some(Reuse { generation: 1, .. }))), "{reuse:?}");
    }

    #[test]
    fn barriers_of_one_warp_each_cannot_be_mistaken_for_each_other() {
        let mut clocks = Clocks::new(2);
        let mut barriers = Barriers::new(2);
        for warp in [0, 1, 0] {
            let reuse = barriers.register(&mut clocks, None, 0, come(warp, true, Some(32)));
            assert_eq!(reuse, Ok(None));
            barriers.release(&mut clocks, None, 0);
        }
        let reuse = barriers.register(&mut clocks, None, 0, come(0, true, Some(64)));
        assert!(matches!(reuse, Ok(Some(_))), "warp 1 could still have been about to come alone");
    }

    #[test]
    fn a_count_outlives_threads_and_the_lack_of_one_does_not() {
        let mut clocks = Clocks::new(2);
        let mut barriers = Barriers::new(2);
        barriers.register(&mut clocks, None, 0, come(0, true, None)).unwrap();
        barriers.register(&mut clocks, None, 1, come(0, true, Some(64))).unwrap();
        assert!(!barriers.is_complete(0));
        barriers.exit(&mut clocks, 1, Mask::ALL, false);
        assert!(barriers.is_complete(0));
        assert!(!barriers.is_complete(1));
    }

    /// Warp 0 gives itself the first turn; then warp 1, which knows nothing of it, takes one.
    #[test]
    fn a_warp_that_comes_again_counts_again() {
        let mut clocks = Clocks::new(2);
        let mut barriers = Barriers::new(2);
        for (warp, expected) in [(0, true), (1, false)] {
            barriers.register(&mut clocks, None, 1, come(warp, false, Some(64))).unwrap();
            assert!(!barriers.is_complete(1));
            let reuse = barriers.register(&mut clocks, None, 1, come(warp, true, Some(64)));
            assert_eq!(reuse == Ok(None), expected, "{reuse:?}");
            assert!(barriers.is_complete(1));
            let released = barriers.release(&mut clocks, None, 1);
            assert_eq!(released.waiting, [(warp, Mask::ALL)]);
        }
    }

    #[test]
    fn misuse_is_named() {
        let mut clocks = Clocks::new(3);
        let mut barriers = Barriers::new(3);
        let mut register = |registration| barriers.register(&mut clocks, None, 0, registration);
        assert_eq!(register(come(0, true, Some(40))), Err(Misuse::Count(40)));
        assert_eq!(register(come(0, false, Some(96))), Ok(None));
        assert_eq!(register(come(0, false, Some(96))), Ok(None), "a warp may come again");
        let mixed = Misuse::MixedCounts { here: Some(64), before: Some(96), site: 0 };
        assert_eq!(register(come(1, true, Some(64))), Err(mixed));
        let mixed = Misuse::MixedCounts { here: None, before: Some(96), site: 0 };
        assert_eq!(register(come(1, true, None)), Err(mixed), "though the block has 96 threads");
        let reduces = Registration { reduces: true, ..come(2, true, Some(96)) };
        assert_eq!(register(reduces), Err(Misuse::MixedKinds { site: 0 }));
    }
}
