//! Clocks: which accesses of other threads a thread knows of, in the orders-memory relation.
//!
//! Every warp counts its synchronisation events ([`Clocks::now`]); an access is stamped with the
//! count at its time. What a thread knows of another is a time: *all accesses with an earlier stamp
//! are ordered before what it does now*. Three tables hold it, the coarsest that applies is used:
//!
//! - `everybody`: what all threads of the block know of a warp, from the last barrier at which
//!   all of them waited;
//! - `across`: what a thread knows of a whole warp, from barriers. It is exact to keep warps and not
//!   lanes here: a registration at a barrier releases what all lanes of the warp did;
//! - `within`: what a thread knows of a lane of its own warp, from `bar.warp.sync`.
//!
//! A thread that exits releases nothing (manual §8.9.4 does not list exit among the synchronising
//! operations): what it did after its last synchronisation stays unordered with everything. Lanes
//! that exit while others of their warp go on take no part in its later registrations: from then
//! on they are a *party* of their own, which everybody knows as far as they knew its warp. So are
//! lanes that release alone ([`Clocks::release_lanes`]), at an mbarrier; an mbarrier is a party too, whose time is its phase.
//!
//! The same tables serve for waits-for, where mbarriers need it for lanes: a second instance that is told of everything
//! that waits and of no exit.
//!
//! Long: who knows what of whom is one table, and its rules are read together.

use crate::lanes::{Mask, WARP};

/// A count of synchronisation events of a warp.
pub type Time = u32;

/// A thread of the block, by warp and lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaneId {
    /// Its warp.
    pub warp: u8,
    /// Its lane.
    pub lane: u8,
}

/// A time for each party: the warps, then lanes that exited before the rest of their warp or released alone, and
/// mbarriers. It may lack parties that were added since ([`Clocks::complete`]).
pub(crate) type Times = Vec<Time>;

/// The clocks of a block.
#[derive(Clone, Debug)]
pub struct Clocks {
    warps: Vec<WarpClock>,
    everybody: Times,
    epoch: u32,
    any_exited: bool,
    /// For each party beyond the warps, the party whose lanes it was part of before; none for an mbarrier.
    parents: Vec<Option<u16>>,
}

#[derive(Clone, Debug)]
struct WarpClock {
    now: Time,
    within: Box<[[Time; WARP]; WARP]>,
    across: Vec<Times>,
    /// The time of each lane's last release.
    released: [Time; WARP],
    /// The time of each lane's last fence; zero if there was none.
    fenced: [Time; WARP],
    /// Lanes that read something with a strong operation.
    observed: Mask,
    /// Whether lanes have met at a collective.
    met: bool,
    exited: Mask,
    /// The party of each lane.
    party: [u16; WARP],
    /// Set if lanes are in other parties than their warp.
    divided: bool,
    /// Set if all lanes know the same, of others and of each other: rows of `across` are equal, and so are those of `within`.
    even: bool,
}

/// The own time and the knowledge of a thread, at some moment.
#[derive(Clone, Debug)]
pub(crate) struct LaneMark {
    across: Times,
    /// Of the lanes of its own warp.
    known: [Time; WARP],
}

/// Joins what is known in `from` into `into`.
#[inline]
pub(crate) fn join(into: &mut [Time], from: &[Time]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = (*into).max(*from);
    }
}

impl Clocks {
    /// Clocks of a block of this many warps, before its first instruction.
    #[must_use]
    pub fn new(warps: usize) -> Self {
        let clock = |warp: usize| WarpClock {
            now: 1,
            within: Box::new([[0; WARP]; WARP]),
            across: vec![vec![0; warps]; WARP],
            released: [0; WARP],
            fenced: [0; WARP],
            observed: Mask::NONE,
            met: false,
            exited: Mask::NONE,
            party: [warp as u16; WARP],
            divided: false,
            even: true,
        };
        Self {
            warps: (0..warps).map(clock).collect(),
            everybody: vec![0; warps],
            epoch: 1,
            any_exited: false,
            parents: Vec::new(),
        }
    }

    /// Forgets everything: another block of the same shape starts.
    pub fn restart(&mut self) {
        let warps = self.warps.len();
        self.everybody.clear();
        self.everybody.resize(warps, 0);
        (self.epoch, self.any_exited) = (1, false);
        self.parents.clear();
        for (warp, clock) in self.warps.iter_mut().enumerate() {
            clock.now = 1;
            clock.within.fill([0; WARP]);
            for across in &mut clock.across {
                across.clear();
                across.resize(warps, 0);
            }
            (clock.released, clock.fenced) = ([0; WARP], [0; WARP]);
            (clock.observed, clock.met, clock.exited) = (Mask::NONE, false, Mask::NONE);
            clock.party = [warp as u16; WARP];
            (clock.divided, clock.even) = (false, true);
        }
    }

    /// The stamp of what a warp does now.
    #[must_use]
    #[inline]
    pub fn now(&self, warp: usize) -> Time {
        self.warps[warp].now
    }

    /// How often all threads have waited for each other. What happened in an earlier epoch is known
    /// to everybody, unless a thread [exited](Self::any_exited).
    #[must_use]
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether a thread has exited.
    #[must_use]
    #[inline]
    pub fn any_exited(&self) -> bool {
        self.any_exited
    }

    /// Whether this thread has exited.
    #[must_use]
    pub fn has_exited(&self, who: LaneId) -> bool {
        self.warps[usize::from(who.warp)].exited.has(usize::from(who.lane))
    }

    /// Whether a thread of this warp has exited.
    #[must_use]
    #[inline]
    pub(crate) fn any_exited_of(&self, warp: u8) -> bool {
        self.any_exited && !self.warps[usize::from(warp)].exited.is_empty()
    }

    /// Whether accesses of these lanes of a warp, stamped `time`, are all ordered before what `later`
    /// does now.
    #[inline]
    pub(crate) fn all_ordered(&self, (warp, lanes): (u8, Mask), time: Time, later: LaneId) -> bool {
        let own = usize::from(later.lane);
        if warp == later.warp && lanes.without(Mask::one(own)).is_empty() {
            return true;
        }
        let party = usize::from(warp);
        let whole = !self.any_exited_of(warp)
            && !self.warps[party].divided
            && (time < self.everybody[party]
                || time < self.warps[usize::from(later.warp)].across[own][party]);
        let who = |lane: usize| LaneId { warp, lane: lane as u8 };
        whole || lanes.iter().all(|lane| self.ordered(who(lane), time, later))
    }

    /// Whether an access of `earlier`, stamped `time`, is ordered before what `later` does now.
    #[must_use]
    pub fn ordered(&self, earlier: LaneId, time: Time, later: LaneId) -> bool {
        if earlier == later {
            return true;
        }
        let (warp, lane) = (usize::from(earlier.warp), usize::from(earlier.lane));
        let clock = &self.warps[warp];
        if clock.exited.has(lane) && time >= clock.released[lane] {
            return false;
        }
        let party = usize::from(clock.party[lane]);
        if time < self.everybody[party] {
            return true;
        }
        let known = &self.warps[usize::from(later.warp)];
        let own = usize::from(later.lane);
        if time < known.across[own][party] {
            return true;
        }
        earlier.warp == later.warp && time < known.within[own][lane]
    }

    /// Tells whether what one of the lanes of another warp did at `time` is ordered before what `later` does now.
    pub(crate) fn any_ordered(&self, warp: usize, time: Time, later: LaneId) -> bool {
        let clock = &self.warps[warp];
        // Neighbours of one party that go on are known alike.
        let alike = |lane: usize| lane > 0 && clock.party[lane] == clock.party[lane - 1];
        let mut lanes = (0..WARP).filter(|&lane| !clock.exited.is_empty() || !alike(lane));
        let who = |lane: usize| LaneId { warp: warp as u8, lane: lane as u8 };
        lanes.any(|lane| self.ordered(who(lane), time, later))
    }

    /// `bar.warp.sync` of these lanes, which are all there: each learns what the others know.
    pub fn warp_barrier(&mut self, warp: usize, lanes: Mask) {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        if clock.even && lanes == Mask::ALL {
            clock.within.fill([clock.now; WARP]);
            clock.released = [clock.now; WARP];
            return;
        }
        clock.even = lanes == Mask::ALL;
        let (mut within, mut across) = ([0; WARP], vec![0; self.everybody.len()]);
        for lane in lanes.iter() {
            join(&mut within, &clock.within[lane]);
            join(&mut across, &clock.across[lane]);
        }
        for lane in lanes.iter() {
            within[lane] = clock.now;
            clock.released[lane] = clock.now;
        }
        for lane in lanes.iter() {
            clock.within[lane] = within;
            clock.across[lane].copy_from_slice(&across);
        }
    }

    /// The warp's lanes register at a barrier: what all of them know and did is released. Gives the
    /// time of the registration and what is released.
    pub(crate) fn release(&mut self, warp: usize, lanes: Mask) -> (Time, Times) {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        let mut released = vec![0; self.everybody.len()];
        // Lanes that know the same release what one of them does.
        let different = if clock.even { Mask(lanes.0 & lanes.0.wrapping_neg()) } else { lanes };
        different.iter().for_each(|lane| join(&mut released, &clock.across[lane]));
        lanes.iter().for_each(|lane| clock.released[lane] = clock.now);
        released[warp] = clock.now;
        if clock.divided {
            lanes.iter().for_each(|lane| released[usize::from(clock.party[lane])] = clock.now);
        }
        (clock.now, released)
    }

    /// Lanes release together, and their warp does not: what they know and did. Gives the stamp of what they did last and
    /// what is released.
    pub(crate) fn release_lanes(&mut self, warp: usize, lanes: Mask) -> (Time, Times) {
        let known = self.known_of_own_warp(warp, lanes);
        self.divide_by(warp, &known);
        let clock = &mut self.warps[warp];
        let stamp = clock.now;
        clock.now += 1;
        let mut released = vec![0; self.everybody.len()];
        for lane in lanes.iter() {
            join(&mut released, &clock.across[lane]);
            clock.released[lane] = clock.now;
        }
        for (lane, &time) in known.iter().enumerate() {
            let party = usize::from(clock.party[lane]);
            released[party] = released[party].max(time);
        }
        (stamp, released)
    }

    /// Returns the times that lanes which release together know of each lane of their own warp, themselves included.
    fn known_of_own_warp(&self, warp: usize, lanes: Mask) -> [Time; WARP] {
        let clock = &self.warps[warp];
        let mut known = [0; WARP];
        lanes.iter().for_each(|lane| join(&mut known, &clock.within[lane]));
        lanes.iter().for_each(|lane| known[lane] = clock.now + 1);
        known
    }

    /// Makes parties of a warp so small that one time says what is known of each.
    fn divide_by(&mut self, warp: usize, known: &[Time; WARP]) {
        let mut rest = Mask::ALL;
        while let Some(first) = rest.lowest() {
            let party = self.warps[warp].party;
            let members = rest.iter().filter(|&lane| party[lane] == party[first]);
            let members: Vec<usize> = members.collect();
            let alike = members.iter().filter(|&&lane| known[lane] == known[first]);
            let cohort = Mask(alike.fold(0, |mask, lane| mask | 1 << lane));
            if cohort.count() < members.len() as u32 {
                self.divide(warp, cohort, first, false);
            }
            rest = rest.without(cohort);
        }
    }

    /// Adds a party that nobody knows anything of; its number.
    pub(crate) fn add_party(&mut self) -> u16 {
        self.everybody.push(0);
        self.parents.push(None);
        let rows = self.warps.iter_mut().flat_map(|clock| &mut clock.across);
        rows.for_each(|across| across.push(0));
        (self.everybody.len() - 1) as u16
    }

    /// Adds the parties to `times` that came later: what was known of the party they were part of is known of them.
    pub(crate) fn complete(&self, times: &mut Times) {
        for party in times.len()..self.everybody.len() {
            let parent = party.checked_sub(self.warps.len()).and_then(|at| self.parents[at]);
            times.push(parent.map_or(0, |parent| times[usize::from(parent)]));
        }
    }

    /// The party of a thread.
    pub(crate) fn party(&self, who: LaneId) -> usize {
        usize::from(self.warps[usize::from(who.warp)].party[usize::from(who.lane)])
    }

    /// Tells whether a thread knows of what a party did at `time`.
    #[must_use]
    pub(crate) fn knows(&self, who: LaneId, party: u16, time: Time) -> bool {
        let party = usize::from(party);
        let across = &self.warps[usize::from(who.warp)].across[usize::from(who.lane)];
        time < self.everybody[party] || time < across[party]
    }

    /// Returns what a thread knows of each party, beside what it knows of single lanes of its own warp.
    pub(crate) fn known_of_others(&self, who: LaneId) -> &Times {
        &self.warps[usize::from(who.warp)].across[usize::from(who.lane)]
    }

    /// Tells whether a thread knows of anything that one of some warps did.
    pub(crate) fn knows_one_of(&self, who: LaneId, warps: std::ops::Range<usize>) -> bool {
        let known = self.known_of_others(who).iter().zip(&self.everybody);
        let known = known.enumerate().filter(|(_, (own, all))| **own > 0 || **all > 0);
        known.map(|(party, _)| party).any(|mut party| {
            loop {
                if party < self.warps.len() {
                    return warps.contains(&party);
                }
                match self.parents[party - self.warps.len()] {
                    Some(parent) => party = usize::from(parent),
                    None => return false,
                }
            }
        })
    }

    /// Remembers what each of these lanes did and knows, to be released later.
    pub(crate) fn marks(&mut self, warp: usize, lanes: Mask) -> Vec<(LaneId, LaneMark)> {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        let mark = |lane: usize| {
            let mut known = clock.within[lane];
            known[lane] = clock.now;
            let mut across = clock.across[lane].clone();
            join(&mut across, &self.everybody);
            LaneMark { across, known }
        };
        let who = |lane: usize| LaneId { warp: warp as u8, lane: lane as u8 };
        lanes.iter().map(|lane| (who(lane), mark(lane))).collect()
    }

    /// Tells whether a thread knew, when that was remembered, of what `earlier` did at `time`.
    pub(crate) fn knew(&self, who: LaneId, mark: &LaneMark, earlier: LaneId, time: Time) -> bool {
        if earlier.warp == who.warp && time < mark.known[usize::from(earlier.lane)] {
            return true;
        }
        let mut party = self.party(earlier);
        while party >= mark.across.len() {
            let parent = party.checked_sub(self.warps.len()).and_then(|at| self.parents[at]);
            let Some(parent) = parent else { return false };
            party = usize::from(parent);
        }
        time < mark.across[party]
    }

    /// Tells whether a thread knew, when that was remembered, of what a party did at `time`.
    pub(crate) fn knew_party(mark: &LaneMark, party: u16, time: Time) -> bool {
        mark.across.get(usize::from(party)).is_some_and(|&known| time < known)
    }

    /// Tells whether all threads know of what a thread did at a time.
    pub(crate) fn all_know(&self, who: LaneId, time: Time) -> bool {
        let clock = &self.warps[usize::from(who.warp)];
        let (lane, party) = (usize::from(who.lane), self.party(who));
        !(clock.exited.has(lane) && time >= clock.released[lane]) && time < self.everybody[party]
    }

    /// Tells whether all threads know of a party at a time.
    pub(crate) fn all_know_party(&self, party: u16, time: Time) -> bool {
        self.everybody.get(usize::from(party)).is_some_and(|&known| time < known)
    }

    /// Returns what a thread releases that passes on an earlier moment of its own.
    pub(crate) fn release_mark(&mut self, who: LaneId, mark: &LaneMark) -> Times {
        let warp = usize::from(who.warp);
        self.divide_by(warp, &mark.known);
        let mut released = mark.across.clone();
        self.complete(&mut released);
        let clock = &mut self.warps[warp];
        for (lane, &time) in mark.known.iter().enumerate() {
            let party = usize::from(clock.party[lane]);
            released[party] = released[party].max(time);
        }
        let own = usize::from(who.lane);
        clock.released[own] = clock.released[own].max(mark.known[own]);
        released
    }

    /// Lanes that waited at a barrier learn what was released there.
    pub(crate) fn acquire(&mut self, warp: usize, lanes: Mask, released: &[Time]) {
        let clock = &mut self.warps[warp];
        let teaches =
            |lane: usize| clock.across[lane].iter().zip(released).any(|(own, new)| new > own);
        if clock.even && lanes.lowest().is_none_or(|lane| !teaches(lane)) {
            return;
        }
        if clock.even && lanes == Mask::ALL {
            let [first, others @ ..] = &mut *clock.across else { return };
            join(first, released);
            others.iter_mut().for_each(|row| row.copy_from_slice(first));
            return;
        }
        clock.even &= lanes == Mask::ALL;
        for lane in lanes.iter() {
            join(&mut clock.across[lane], released);
        }
    }

    /// All threads that still run have waited for each other, and learn what they released. Of
    /// warps that have ended they learn what was passed on to one of them, and no more.
    pub(crate) fn acquire_all(&mut self, released: &[Time]) {
        self.epoch += 1;
        join(&mut self.everybody, released);
    }

    /// Lanes execute a fence, or something that acts as one.
    pub fn fence(&mut self, warp: usize, lanes: Mask) {
        let clock = &mut self.warps[warp];
        lanes.iter().for_each(|lane| clock.fenced[lane] = clock.now);
    }

    /// Lanes read something that another thread may have written for them to see.
    pub fn observe(&mut self, warp: usize, lanes: Mask) {
        let clock = &mut self.warps[warp];
        clock.observed = clock.observed.or(lanes);
    }

    /// Lanes of a warp have done something together, which orders fences but no memory.
    pub fn meet(&mut self, warp: usize) {
        self.warps[warp].met = true;
    }

    /// Whether fences might order the two: the earlier thread had one after its access, the later
    /// one before, and something may have forced the first to come first: a value that the later
    /// thread saw, a collective, or an exit that it waited for. (A fence in the same interval as
    /// the access counts as after it: better open than wrong.)
    #[must_use]
    pub fn fences_between(&self, earlier: LaneId, time: Time, later: LaneId) -> bool {
        let (one, other) =
            (&self.warps[usize::from(earlier.warp)], &self.warps[usize::from(later.warp)]);
        let (lane, own) = (usize::from(earlier.lane), usize::from(later.lane));
        let fenced = one.fenced[lane] >= time && other.fenced[own] > 0;
        let forced = other.observed.has(own)
            || earlier.warp == later.warp && other.met
            || one.exited.has(lane);
        fenced && forced
    }

    /// Threads end.
    pub(crate) fn exit(&mut self, warp: usize, lanes: Mask, others_go_on: bool) {
        self.any_exited = true;
        self.warps[warp].exited = self.warps[warp].exited.or(lanes);
        if !others_go_on {
            return;
        }
        let mut rest = lanes;
        while let Some(first) = rest.lowest() {
            // Lanes of which everybody in the warp knows the same stay together.
            let WarpClock { within, party, .. } = &self.warps[warp];
            let alike = |lane: &usize| {
                party[*lane] == party[first] && within.iter().all(|row| row[*lane] == row[first])
            };
            let cohort = Mask(rest.iter().filter(alike).fold(0, |mask, lane| mask | 1 << lane));
            self.divide(warp, cohort, first, true);
            rest = rest.without(cohort);
        }
    }

    /// Makes lanes of a party a party of their own. With `alike`, every lane of the warp knows the same of all of them.
    fn divide(&mut self, warp: usize, lanes: Mask, first: usize, alike: bool) {
        let parent = usize::from(self.warps[warp].party[first]);
        let party = self.everybody.len() as u16;
        self.everybody.push(self.everybody[parent]);
        self.parents.push(Some(parent as u16));
        for (number, clock) in self.warps.iter_mut().enumerate() {
            for (lane, across) in clock.across.iter_mut().enumerate() {
                let within = if alike && number == warp { clock.within[lane][first] } else { 0 };
                across.push(across[parent].max(within));
            }
        }
        lanes.iter().for_each(|lane| self.warps[warp].party[lane] = party);
        self.warps[warp].divided = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(warp: u8, lane: u8) -> LaneId {
        LaneId { warp, lane }
    }

    #[test]
    fn a_thread_is_ordered_with_itself_alone() {
        let clocks = Clocks::new(2);
        assert!(clocks.ordered(who(0, 3), clocks.now(0), who(0, 3)));
        assert!(!clocks.ordered(who(0, 3), clocks.now(0), who(0, 4)));
        assert!(!clocks.ordered(who(0, 3), clocks.now(0), who(1, 3)));
    }

    #[test]
    fn a_warp_barrier_orders_its_lanes_and_is_transitive() {
        let mut clocks = Clocks::new(1);
        let time = clocks.now(0);
        clocks.warp_barrier(0, Mask(0b0011));
        assert!(clocks.ordered(who(0, 0), time, who(0, 1)));
        assert!(!clocks.ordered(who(0, 0), time, who(0, 2)));
        clocks.warp_barrier(0, Mask(0b0110));
        assert!(clocks.ordered(who(0, 0), time, who(0, 2)));
        assert!(!clocks.ordered(who(0, 2), time, who(0, 0)));
    }

    /// The short cuts for lanes that know the same, against clocks that take none.
    #[test]
    fn lanes_that_know_the_same_learn_and_release_as_others_do() {
        let (mut quick, mut slow) = (Clocks::new(2), Clocks::new(2));
        let mut state = 3u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut times = vec![vec![0, 0]];
        for round in 0..3000 {
            slow.warps.iter_mut().for_each(|clock| clock.even = false);
            let (warp, what) = (next(2) as usize, next(4));
            let lanes = if next(4) == 0 { Mask(next(1 << 32) as u32 | 1) } else { Mask::ALL };
            match what {
                0 => [&mut quick, &mut slow]
                    .into_iter()
                    .for_each(|one| one.warp_barrier(warp, lanes)),
                1 => {
                    let released = quick.release(warp, lanes);
                    assert_eq!(released, slow.release(warp, lanes), "{round}");
                    times.push(released.1);
                }
                _ => {
                    let released = times[next(times.len() as u64) as usize].clone();
                    let both = [&mut quick, &mut slow].into_iter();
                    both.for_each(|one| one.acquire(warp, lanes, &released));
                }
            }
            for (one, other) in quick.warps.iter().zip(&slow.warps) {
                assert_eq!((&one.across, &one.within), (&other.across, &other.within), "{round}");
                assert_eq!((one.now, one.released), (other.now, other.released), "{round}");
            }
        }
    }

    #[test]
    fn what_a_thread_did_before_it_exited_stays_unordered() {
        let mut clocks = Clocks::new(1);
        let (early, lanes) = (clocks.now(0), Mask(0b11));
        clocks.warp_barrier(0, lanes);
        let late = clocks.now(0);
        clocks.exit(0, Mask(0b01), true);
        clocks.warp_barrier(0, Mask(0b10));
        assert!(clocks.ordered(who(0, 0), early, who(0, 1)));
        assert!(!clocks.ordered(who(0, 0), late, who(0, 1)));
    }

    #[test]
    fn lanes_that_took_no_part_in_a_barrier_did_not_release() {
        let mut clocks = Clocks::new(1);
        let time = clocks.now(0);
        clocks.warp_barrier(0, Mask(0b011));
        clocks.exit(0, Mask(0b100), true);
        let (_, released) = clocks.release(0, Mask(0b011));
        clocks.acquire(0, Mask(0b011), &released);
        assert!(!clocks.ordered(who(0, 2), time, who(0, 0)));
        assert!(clocks.ordered(who(0, 1), time, who(0, 0)));
    }
}
