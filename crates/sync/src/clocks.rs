//! Vector clocks of the orders-memory relation: for each thread, the accesses of other threads known to it.
//!
//! Every warp counts its synchronisation events ([`Clocks::now`]); an access is stamped with the current
//! count. A thread's knowledge of another is a time: *all accesses with an earlier stamp are ordered before
//! the thread's next action*. It is held in three tables, and the coarsest applicable one is used:
//!
//! - `common`: the knowledge common to all threads of the block about a warp, from the last barrier at
//!   which all of them waited;
//! - `across`: a thread's knowledge of a whole warp, from barriers. Warps are exact here, lanes are not
//!   needed: a registration at a barrier releases the actions of all lanes of the warp;
//! - `within`: a thread's knowledge of a lane of its own warp, from `bar.warp.sync`.
//!
//! Exit releases nothing (manual §8.9.4 does not list it among the synchronising operations): a thread's
//! actions after its last synchronisation stay unordered with everything. Lanes that exit before the rest of
//! their warp take no part in its later registrations. From then on they are a *party* of their own, known to
//! every thread as far as it knew their warp. So are lanes that release alone ([`Clocks::release_lanes`]), at
//! an mbarrier. An mbarrier is a party too; its time is its phase.
//!
//! A second instance of the same tables serves for waits-for, which mbarriers need for lanes. It gets every
//! event that waits, and no exits.
//!
//! Long: the tables and the rules that update them are read together.

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

/// A time for each party: first the warps, then mbarriers and lanes that exited before the rest of their warp
/// or released alone. Parties added later may be absent ([`Clocks::complete`]).
pub(crate) type Times = Vec<Time>;

/// The clocks of a block.
#[derive(Clone, Debug)]
pub struct Clocks {
    warps: Vec<WarpClock>,
    common: Times,
    epoch: u32,
    any_exited: bool,
    /// For each party beyond the warps, the party that its lanes belonged to before; `None` for an mbarrier.
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
    /// Lanes that have read a value with a strong operation.
    observed: Mask,
    /// Set once lanes have met at a collective.
    had_collective: bool,
    exited: Mask,
    /// The party of each lane.
    party: [u16; WARP],
    /// Set if some lanes belong to another party than their warp.
    divided: bool,
    /// Set if all lanes know the same, of others and of each other: the rows of `across` are equal, and so
    /// are those of `within`.
    even: bool,
}

/// A thread's own time and its knowledge, at some moment.
#[derive(Clone, Debug)]
pub(crate) struct LaneMark {
    across: Times,
    /// Knowledge of the lanes of its own warp.
    known: [Time; WARP],
}

/// Takes the later time for each entry of `into`.
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
            had_collective: false,
            exited: Mask::NONE,
            party: [warp as u16; WARP],
            divided: false,
            even: true,
        };
        Self {
            warps: (0..warps).map(clock).collect(),
            common: vec![0; warps],
            epoch: 1,
            any_exited: false,
            parents: Vec::new(),
        }
    }

    /// Resets everything for another block of the same shape.
    pub fn restart(&mut self) {
        let warps = self.warps.len();
        self.common.clear();
        self.common.resize(warps, 0);
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
            (clock.observed, clock.had_collective, clock.exited) = (Mask::NONE, false, Mask::NONE);
            clock.party = [warp as u16; WARP];
            (clock.divided, clock.even) = (false, true);
        }
    }

    /// The stamp for the current actions of a warp.
    #[must_use]
    #[inline]
    pub fn now(&self, warp: usize) -> Time {
        self.warps[warp].now
    }

    /// The number of times that all threads have waited for each other. Actions of an earlier epoch are known
    /// to every thread, unless a thread [exited](Self::any_exited).
    #[must_use]
    #[inline]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Returns `true` if a thread has exited.
    #[must_use]
    #[inline]
    pub fn any_exited(&self) -> bool {
        self.any_exited
    }

    /// Returns `true` if this thread has exited.
    #[must_use]
    pub fn has_exited(&self, who: LaneId) -> bool {
        self.warps[usize::from(who.warp)].exited.has(usize::from(who.lane))
    }

    /// Returns `true` if a thread of this warp has exited.
    #[must_use]
    #[inline]
    pub(crate) fn any_exited_of(&self, warp: u8) -> bool {
        self.any_exited && !self.warps[usize::from(warp)].exited.is_empty()
    }

    /// Returns `true` if accesses of these lanes of a warp, stamped `time`, are all ordered before the next
    /// action of `later`.
    #[inline]
    pub(crate) fn all_ordered(&self, (warp, lanes): (u8, Mask), time: Time, later: LaneId) -> bool {
        let own = usize::from(later.lane);
        if warp == later.warp && lanes.without(Mask::one(own)).is_empty() {
            return true;
        }
        let party = usize::from(warp);
        let whole = !self.any_exited_of(warp)
            && !self.warps[party].divided
            && (time < self.common[party]
                || time < self.warps[usize::from(later.warp)].across[own][party]);
        let who = |lane: usize| LaneId { warp, lane: lane as u8 };
        whole || lanes.iter().all(|lane| self.ordered(who(lane), time, later))
    }

    /// Returns `true` if an access of `earlier`, stamped `time`, is ordered before the next action of
    /// `later`.
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
        if time < self.common[party] {
            return true;
        }
        let known = &self.warps[usize::from(later.warp)];
        let own = usize::from(later.lane);
        if time < known.across[own][party] {
            return true;
        }
        earlier.warp == later.warp && time < known.within[own][lane]
    }

    /// Returns `true` if the actions at `time` of one of the lanes of another warp are ordered before the
    /// next action of `later`.
    pub(crate) fn any_ordered(&self, warp: usize, time: Time, later: LaneId) -> bool {
        let clock = &self.warps[warp];
        // Neighbours in the same party are known equally well, unless lanes have exited.
        let alike = |lane: usize| lane > 0 && clock.party[lane] == clock.party[lane - 1];
        let mut lanes = (0..WARP).filter(|&lane| !clock.exited.is_empty() || !alike(lane));
        let who = |lane: usize| LaneId { warp: warp as u8, lane: lane as u8 };
        lanes.any(|lane| self.ordered(who(lane), time, later))
    }

    /// Executes `bar.warp.sync` for these lanes, all of them present: each acquires the knowledge of the
    /// others.
    pub fn warp_barrier(&mut self, warp: usize, lanes: Mask) {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        if clock.even && lanes == Mask::ALL {
            clock.within.fill([clock.now; WARP]);
            clock.released = [clock.now; WARP];
            return;
        }
        clock.even = lanes == Mask::ALL;
        let (mut within, mut across) = ([0; WARP], vec![0; self.common.len()]);
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

    /// Releases the actions and knowledge of the warp's lanes, which register at a barrier. Returns the time
    /// of the registration and the released times.
    pub(crate) fn release(&mut self, warp: usize, lanes: Mask) -> (Time, Times) {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        let mut released = vec![0; self.common.len()];
        // If all lanes know the same, one of them is enough.
        let different = if clock.even { Mask(lanes.0 & lanes.0.wrapping_neg()) } else { lanes };
        different.iter().for_each(|lane| join(&mut released, &clock.across[lane]));
        lanes.iter().for_each(|lane| clock.released[lane] = clock.now);
        released[warp] = clock.now;
        if clock.divided {
            lanes.iter().for_each(|lane| released[usize::from(clock.party[lane])] = clock.now);
        }
        (clock.now, released)
    }

    /// Releases the actions and knowledge of these lanes, without the rest of their warp. Returns the stamp
    /// of their last actions and the released times.
    pub(crate) fn release_lanes(&mut self, warp: usize, lanes: Mask) -> (Time, Times) {
        let known = self.known_of_own_warp(warp, lanes);
        self.split_by_knowledge(warp, &known);
        let clock = &mut self.warps[warp];
        let stamp = clock.now;
        clock.now += 1;
        let mut released = vec![0; self.common.len()];
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

    /// Returns the joint knowledge of releasing lanes about each lane of their own warp, themselves included.
    fn known_of_own_warp(&self, warp: usize, lanes: Mask) -> [Time; WARP] {
        let clock = &self.warps[warp];
        let mut known = [0; WARP];
        lanes.iter().for_each(|lane| join(&mut known, &clock.within[lane]));
        lanes.iter().for_each(|lane| known[lane] = clock.now + 1);
        known
    }

    /// Divides the parties of a warp until one time describes the knowledge of each.
    fn split_by_knowledge(&mut self, warp: usize, known: &[Time; WARP]) {
        let mut rest = Mask::ALL;
        while let Some(first) = rest.lowest() {
            let party = self.warps[warp].party;
            let members = rest.iter().filter(|&lane| party[lane] == party[first]);
            let members: Vec<usize> = members.collect();
            let alike = members.iter().filter(|&&lane| known[lane] == known[first]);
            let cohort = Mask(alike.fold(0, |mask, lane| mask | 1 << lane));
            if cohort.count() < members.len() as u32 {
                self.split_party(warp, cohort, first, false);
            }
            rest = rest.without(cohort);
        }
    }

    /// Adds a party unknown to all threads, and returns its number.
    pub(crate) fn add_party(&mut self) -> u16 {
        self.common.push(0);
        self.parents.push(None);
        let rows = self.warps.iter_mut().flat_map(|clock| &mut clock.across);
        rows.for_each(|across| across.push(0));
        (self.common.len() - 1) as u16
    }

    /// Extends `times` by the parties added since: each gets the time of the party that it was part of.
    pub(crate) fn complete(&self, times: &mut Times) {
        for party in times.len()..self.common.len() {
            let parent = party.checked_sub(self.warps.len()).and_then(|at| self.parents[at]);
            times.push(parent.map_or(0, |parent| times[usize::from(parent)]));
        }
    }

    /// The party of a thread.
    pub(crate) fn party(&self, who: LaneId) -> usize {
        usize::from(self.warps[usize::from(who.warp)].party[usize::from(who.lane)])
    }

    /// Returns `true` if a thread knows of the actions of a party at `time`.
    #[must_use]
    pub(crate) fn knows(&self, who: LaneId, party: u16, time: Time) -> bool {
        let party = usize::from(party);
        let across = &self.warps[usize::from(who.warp)].across[usize::from(who.lane)];
        time < self.common[party] || time < across[party]
    }

    /// Returns a thread's knowledge of each party, apart from its knowledge of single lanes of its own warp.
    pub(crate) fn known_of_others(&self, who: LaneId) -> &Times {
        &self.warps[usize::from(who.warp)].across[usize::from(who.lane)]
    }

    /// Returns `true` if a thread knows of any action of one of these warps.
    pub(crate) fn knows_one_of(&self, who: LaneId, warps: std::ops::Range<usize>) -> bool {
        let known = self.known_of_others(who).iter().zip(&self.common);
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

    /// Saves the actions and knowledge of each of these lanes, for a later release.
    pub(crate) fn marks(&mut self, warp: usize, lanes: Mask) -> Vec<(LaneId, LaneMark)> {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        let mark = |lane: usize| {
            let mut known = clock.within[lane];
            known[lane] = clock.now;
            let mut across = clock.across[lane].clone();
            join(&mut across, &self.common);
            LaneMark { across, known }
        };
        let who = |lane: usize| LaneId { warp: warp as u8, lane: lane as u8 };
        lanes.iter().map(|lane| (who(lane), mark(lane))).collect()
    }

    /// Returns `true` if a thread knew, at the moment of `mark`, of the actions of `earlier` at `time`.
    pub(crate) fn mark_covers(
        &self,
        who: LaneId,
        mark: &LaneMark,
        earlier: LaneId,
        time: Time,
    ) -> bool {
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

    /// Returns `true` if a thread knew, at the moment of `mark`, of the actions of a party at `time`.
    pub(crate) fn knew_party(mark: &LaneMark, party: u16, time: Time) -> bool {
        mark.across.get(usize::from(party)).is_some_and(|&known| time < known)
    }

    /// Returns `true` if all threads know of a thread's actions at a time.
    pub(crate) fn all_know(&self, who: LaneId, time: Time) -> bool {
        let clock = &self.warps[usize::from(who.warp)];
        let (lane, party) = (usize::from(who.lane), self.party(who));
        !(clock.exited.has(lane) && time >= clock.released[lane]) && time < self.common[party]
    }

    /// Returns `true` if all threads know of a party at a time.
    pub(crate) fn all_know_party(&self, party: u16, time: Time) -> bool {
        self.common.get(usize::from(party)).is_some_and(|&known| time < known)
    }

    /// Returns the times released by a thread that passes on an earlier moment of its own.
    pub(crate) fn release_mark(&mut self, who: LaneId, mark: &LaneMark) -> Times {
        let warp = usize::from(who.warp);
        self.split_by_knowledge(warp, &mark.known);
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

    /// Lets waiting lanes acquire the times released at a barrier.
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

    /// Lets all running threads, which have waited for each other, acquire the released times. Of ended warps
    /// they learn only the times that were passed on to one of them.
    pub(crate) fn acquire_all(&mut self, released: &[Time]) {
        self.epoch += 1;
        join(&mut self.common, released);
    }

    /// Records a fence of these lanes, or an operation that acts as one.
    pub fn fence(&mut self, warp: usize, lanes: Mask) {
        let clock = &mut self.warps[warp];
        lanes.iter().for_each(|lane| clock.fenced[lane] = clock.now);
    }

    /// Records a read of a value that another thread may have written for these lanes to see.
    pub fn observe(&mut self, warp: usize, lanes: Mask) {
        let clock = &mut self.warps[warp];
        clock.observed = clock.observed.or(lanes);
    }

    /// Records a collective of lanes of a warp, which orders fences but no memory.
    pub fn note_collective(&mut self, warp: usize) {
        self.warps[warp].had_collective = true;
    }

    /// Could fences order the two accesses? Requires a fence of the earlier thread after its access, one of
    /// the later thread before its own, and an event that may have forced the first to come first: a value
    /// seen by the later thread, a collective, or an exit that it waited for. A fence in the same interval as
    /// the access counts as after it: better open than wrong.
    #[must_use]
    pub fn fences_between(&self, earlier: LaneId, time: Time, later: LaneId) -> bool {
        let (one, other) =
            (&self.warps[usize::from(earlier.warp)], &self.warps[usize::from(later.warp)]);
        let (lane, own) = (usize::from(earlier.lane), usize::from(later.lane));
        let fenced = one.fenced[lane] >= time && other.fenced[own] > 0;
        let forced = other.observed.has(own)
            || earlier.warp == later.warp && other.had_collective
            || one.exited.has(lane);
        fenced && forced
    }

    /// Records the exit of threads.
    pub(crate) fn exit(&mut self, warp: usize, lanes: Mask, others_go_on: bool) {
        self.any_exited = true;
        self.warps[warp].exited = self.warps[warp].exited.or(lanes);
        if !others_go_on {
            return;
        }
        let mut rest = lanes;
        while let Some(first) = rest.lowest() {
            // Lanes stay together if every lane of the warp knows equally much of them.
            let WarpClock { within, party, .. } = &self.warps[warp];
            let alike = |lane: &usize| {
                party[*lane] == party[first] && within.iter().all(|row| row[*lane] == row[first])
            };
            let cohort = Mask(rest.iter().filter(alike).fold(0, |mask, lane| mask | 1 << lane));
            self.split_party(warp, cohort, first, true);
            rest = rest.without(cohort);
        }
    }

    /// Moves lanes of a party to a party of their own. With `alike`, every lane of the warp knows equally
    /// much of all of them.
    fn split_party(&mut self, warp: usize, lanes: Mask, first: usize, alike: bool) {
        let parent = usize::from(self.warps[warp].party[first]);
        let party = self.common.len() as u16;
        self.common.push(self.common[parent]);
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

    /// Tests the shortcuts for lanes with equal knowledge against clocks without shortcuts.
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
