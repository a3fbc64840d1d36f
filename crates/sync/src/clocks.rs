//! Vector clocks of the orders-memory relation: for each thread, the accesses of other threads known to it.
//!
//! Every warp counts its synchronisation events ([`Clocks::now`]); an access is stamped with the current
//! count. A thread's knowledge of another is a time: *all accesses with an earlier stamp are ordered before
//! the thread's next action*. It is held in three tables, and the coarsest applicable one is used:
//!
//! - `common`: the knowledge common to all threads of the block about a warp, from the last barrier at
//!   which all of them waited;
//! - `across`: a thread's knowledge of a whole warp, from barriers. One time for a warp is exact, because a
//!   registration at a barrier releases the actions of all lanes of the warp;
//! - `within`: a thread's knowledge of a lane of its own warp, from `bar.warp.sync`.
//!
//! Exit releases nothing (manual §8.9.4 does not list it among the synchronising operations): a thread's
//! actions after its last synchronisation stay unordered with everything. Lanes that exit before the rest of
//! their warp take no part in its later registrations. From then on they are a *party* of their own. At first a
//! thread's knowledge of the new party is its knowledge of their warp. So are lanes that release alone
//! ([`Clocks::release_lanes`]), at an mbarrier. An mbarrier is a party too; its time is its phase.
//!
//! A second instance of the same tables serves for waits-for, which mbarriers need for lanes. It gets every
//! event that waits, and no exits.

use crate::lanes::{Mask, WARP};

mod known_to_all;
mod parties;
mod snapshots;

pub(crate) use snapshots::LaneSnapshot;

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
    /// For each warp, a time that all threads know of, from barriers of some warps as well; empty unless known reads
    /// are forgotten (`known_to_all.rs`).
    followed: Times,
    epoch: u32,
    any_exited: bool,
    /// For each party beyond the warps, the party that its lanes belonged to before; `None` for an mbarrier.
    parents: Vec<Option<u16>>,
}

#[derive(Clone, Debug)]
struct WarpClock {
    /// The stamp of the warp's current actions.
    now: Time,
    /// For each lane, its knowledge of each lane of the warp ([`Self::within`]).
    within_rows: Box<[[Time; WARP]; WARP]>,
    /// For each lane, its knowledge of each party ([`Self::across`]).
    across_rows: Vec<Times>,
    /// The time of each lane's last release.
    released: [Time; WARP],
    /// The time of each lane's last fence; zero if there was none.
    fenced: [Time; WARP],
    /// Lanes that have read a value with a strong operation.
    observed: Mask,
    /// Set once lanes have executed a collective together.
    had_collective: bool,
    exited: Mask,
    /// The party of each lane.
    party: [u16; WARP],
    /// Lanes that belong to another party than the lane before them; the first lane, too.
    borders: Mask,
    /// Set if some lanes belong to another party than their warp.
    divided: bool,
    /// Set if all lanes know the same, of others and of each other. Then only the first row of each table is in use.
    uniform: bool,
}

impl WarpClock {
    /// The number of rows in use.
    fn rows(&self) -> usize {
        if self.uniform { 1 } else { WARP }
    }

    /// The knowledge of a lane about each party.
    #[inline]
    fn across(&self, lane: usize) -> &Times {
        &self.across_rows[if self.uniform { 0 } else { lane }]
    }

    /// The knowledge of a lane about each lane of its warp.
    #[inline]
    fn within(&self, lane: usize) -> &[Time; WARP] {
        &self.within_rows[if self.uniform { 0 } else { lane }]
    }

    /// Gives each lane its own rows, because lanes are about to learn different things.
    fn separate(&mut self) {
        if !std::mem::take(&mut self.uniform) {
            return;
        }
        if let [first, others @ ..] = &mut *self.across_rows {
            others.iter_mut().for_each(|row| row.clone_from(first));
        }
        let [first, others @ ..] = &mut *self.within_rows;
        others.fill(*first);
    }

    /// Records a release of lanes.
    #[inline]
    fn note_release(&mut self, lanes: Mask) {
        match lanes {
            Mask::ALL => self.released = [self.now; WARP],
            _ => lanes.iter().for_each(|lane| self.released[lane] = self.now),
        }
    }
}

/// Takes the later time for each entry of `into`.
#[inline]
pub(crate) fn join(into: &mut [Time], from: &[Time]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into = (*into).max(*from);
    }
}

impl Clocks {
    /// Creates the clocks of a block of this many warps, before its first instruction.
    #[must_use]
    pub fn new(warps: usize) -> Self {
        let clock = |warp: usize| WarpClock {
            now: 1,
            within_rows: Box::new([[0; WARP]; WARP]),
            across_rows: vec![vec![0; warps]; WARP],
            released: [0; WARP],
            fenced: [0; WARP],
            observed: Mask::NONE,
            had_collective: false,
            exited: Mask::NONE,
            party: [warp as u16; WARP],
            borders: Mask::one(0),
            divided: false,
            uniform: true,
        };
        Self {
            warps: (0..warps).map(clock).collect(),
            common: vec![0; warps],
            followed: Vec::new(),
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
        self.followed.fill(0);
        (self.epoch, self.any_exited) = (1, false);
        self.parents.clear();
        for (warp, clock) in self.warps.iter_mut().enumerate() {
            clock.now = 1;
            clock.within_rows[0] = [0; WARP];
            if let Some(across) = clock.across_rows.first_mut() {
                across.clear();
                across.resize(warps, 0);
            }
            (clock.released, clock.fenced) = ([0; WARP], [0; WARP]);
            (clock.observed, clock.had_collective, clock.exited) = (Mask::NONE, false, Mask::NONE);
            (clock.party, clock.borders) = ([warp as u16; WARP], Mask::one(0));
            (clock.divided, clock.uniform) = (false, true);
        }
    }

    /// Returns the stamp for the current actions of a warp.
    #[must_use]
    #[inline]
    pub fn now(&self, warp: usize) -> Time {
        self.warps[warp].now
    }

    /// Returns the number of the epoch: one more than the times that all threads have waited for each other. Actions
    /// of an earlier epoch are known to every thread, unless a thread [exited](Self::any_exited).
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
        if warp == later.warp && lanes.without(Mask::one(usize::from(later.lane))).is_empty() {
            return true;
        }
        let who = |lane: usize| LaneId { warp, lane: lane as u8 };
        self.is_warp_known(warp, time, later)
            || lanes.iter().all(|lane| self.ordered(who(lane), time, later))
    }

    /// Returns `true` if all accesses of a warp, stamped `time` or earlier, are ordered before the next action of
    /// `later`, because it knows of the whole warp.
    #[inline]
    pub(crate) fn is_warp_known(&self, warp: u8, time: Time, later: LaneId) -> bool {
        let party = usize::from(warp);
        let known = self.warps[usize::from(later.warp)].across(usize::from(later.lane));
        !self.any_exited_of(warp)
            && !self.warps[party].divided
            && (time < self.common[party] || time < known[party])
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
        let later_lane = usize::from(later.lane);
        if time < known.across(later_lane)[party] {
            return true;
        }
        earlier.warp == later.warp && time < known.within(later_lane)[lane]
    }

    /// Returns for each party the time known to every lane of a warp from barriers, if all lanes know the same.
    pub(crate) fn known_to_all_lanes(&self, warp: usize) -> Option<&[Time]> {
        let clock = &self.warps[warp];
        clock.uniform.then(|| clock.across(0).as_slice())
    }

    /// Returns `true` if some lanes of a warp belong to a party of their own.
    #[inline]
    pub(crate) fn is_divided(&self, warp: usize) -> bool {
        self.warps[warp].divided
    }

    /// Returns `true` if the actions at `time` of some lane of another warp are ordered before the next action of
    /// `later`.
    pub(crate) fn any_ordered(&self, warp: usize, time: Time, later: LaneId) -> bool {
        let clock = &self.warps[warp];
        // Neighbours in the same party are known equally well, unless lanes have exited.
        let lanes = if clock.exited.is_empty() { clock.borders } else { Mask::ALL };
        let who = |lane: usize| LaneId { warp: warp as u8, lane: lane as u8 };
        lanes.iter().any(|lane| self.ordered(who(lane), time, later))
    }

    /// Executes `bar.warp.sync` for these lanes, all of them present: each acquires the knowledge of the
    /// others.
    pub fn warp_barrier(&mut self, warp: usize, lanes: Mask) {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        if clock.uniform && lanes == Mask::ALL {
            clock.within_rows[0] = [clock.now; WARP];
            return clock.note_release(lanes);
        }
        clock.separate();
        let (mut within, mut across) = ([0; WARP], vec![0; self.common.len()]);
        for lane in lanes.iter() {
            join(&mut within, &clock.within_rows[lane]);
            join(&mut across, &clock.across_rows[lane]);
        }
        lanes.iter().for_each(|lane| within[lane] = clock.now);
        clock.note_release(lanes);
        clock.uniform = lanes == Mask::ALL;
        let rows = if clock.uniform { Mask::one(0) } else { lanes };
        for lane in rows.iter() {
            clock.within_rows[lane] = within;
            clock.across_rows[lane].clone_from(&across);
        }
    }

    /// Releases the actions and knowledge of the warp's lanes, which register at a barrier. Returns the time
    /// of the registration and the released times.
    pub(crate) fn release(&mut self, warp: usize, lanes: Mask) -> (Time, Times) {
        let clock = &mut self.warps[warp];
        clock.now += 1;
        // If all lanes know the same, one of them is enough.
        let mut released = match clock.uniform && !lanes.is_empty() {
            true => clock.across(0).clone(),
            false => vec![0; self.common.len()],
        };
        if !clock.uniform {
            lanes.iter().for_each(|lane| join(&mut released, clock.across(lane)));
        }
        clock.note_release(lanes);
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
            join(&mut released, clock.across(lane));
            clock.released[lane] = clock.now;
        }
        for (lane, &time) in known.iter().enumerate() {
            let party = usize::from(clock.party[lane]);
            released[party] = released[party].max(time);
        }
        (stamp, released)
    }

    /// Returns `true` if a thread knows of a party's actions at `time`.
    #[must_use]
    pub(crate) fn knows(&self, who: LaneId, party: u16, time: Time) -> bool {
        let party = usize::from(party);
        let across = self.warps[usize::from(who.warp)].across(usize::from(who.lane));
        time < self.common[party] || time < across[party]
    }

    /// Returns a thread's knowledge of each party, apart from its knowledge of single lanes of its own warp.
    pub(crate) fn known_of_others(&self, who: LaneId) -> &Times {
        self.warps[usize::from(who.warp)].across(usize::from(who.lane))
    }

    /// Returns `true` if a thread knows of any action of one of these warps.
    pub(crate) fn knows_one_of(&self, who: LaneId, warps: std::ops::Range<usize>) -> bool {
        let known = self.known_of_others(who).iter().zip(&self.common);
        let known =
            known.enumerate().filter(|(_, (by_lane, by_all))| **by_lane > 0 || **by_all > 0);
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

    /// Returns `true` if all threads know of a thread's actions at a time.
    pub(crate) fn all_know(&self, who: LaneId, time: Time) -> bool {
        let clock = &self.warps[usize::from(who.warp)];
        let (lane, party) = (usize::from(who.lane), self.party(who));
        !(clock.exited.has(lane) && time >= clock.released[lane]) && time < self.common[party]
    }

    /// Returns `true` if a thread's actions at a time are ordered before everything from now on. It asks every thread,
    /// because barriers of only some of them pass knowledge on, too. Errs towards `false`.
    #[must_use]
    pub fn all_threads_know(&self, who: LaneId, time: Time) -> bool {
        self.warps.iter().enumerate().all(|(warp, clock)| {
            let is_own = warp == usize::from(who.warp);
            let lanes = if clock.uniform && !is_own { Mask::one(0) } else { Mask::ALL };
            let later = |lane: usize| LaneId { warp: warp as u8, lane: lane as u8 };
            lanes.iter().all(|lane| self.ordered(who, time, later(lane)))
        })
    }

    /// Returns `true` if all threads know of a party at a time.
    pub(crate) fn all_know_party(&self, party: u16, time: Time) -> bool {
        self.common.get(usize::from(party)).is_some_and(|&known| time < known)
    }

    /// Lets waiting lanes acquire the times released at a barrier.
    pub(crate) fn acquire(&mut self, warp: usize, lanes: Mask, released: &[Time]) {
        let clock = &mut self.warps[warp];
        if clock.uniform {
            let learns = || clock.across(0).iter().zip(released).any(|(old, new)| new > old);
            if lanes.is_empty() || !learns() {
                return;
            }
            if lanes == Mask::ALL {
                return join(&mut clock.across_rows[0], released);
            }
        }
        clock.separate();
        for lane in lanes.iter() {
            join(&mut clock.across_rows[lane], released);
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

    /// Returns `true` if fences may order the two accesses. This takes a fence of the earlier thread after its
    /// access, one of the later thread before its own, and an event that may have forced the first to come first: a
    /// value read by the later thread, a collective, or an exit that it waited for. A fence with the same stamp as
    /// the access counts as after it. So this errs towards `true`, which leaves the conflict open.
    #[must_use]
    pub fn fences_between(&self, earlier: LaneId, time: Time, later: LaneId) -> bool {
        let (one, other) =
            (&self.warps[usize::from(earlier.warp)], &self.warps[usize::from(later.warp)]);
        let (lane, later_lane) = (usize::from(earlier.lane), usize::from(later.lane));
        let fenced = one.fenced[lane] >= time && other.fenced[later_lane] > 0;
        let forced = other.observed.has(later_lane)
            || earlier.warp == later.warp && other.had_collective
            || one.exited.has(lane);
        fenced && forced
    }

    /// Records the exit of threads.
    pub(crate) fn exit(&mut self, warp: usize, lanes: Mask, others_continue: bool) {
        self.any_exited = true;
        self.warps[warp].exited = self.warps[warp].exited.or(lanes);
        if !others_continue {
            return;
        }
        let mut rest = lanes;
        while let Some(first) = rest.lowest() {
            // Lanes stay together if every lane of the warp knows equally much of them.
            let clock = &self.warps[warp];
            let rows = &clock.within_rows[..clock.rows()];
            let alike = |lane: &usize| {
                clock.party[*lane] == clock.party[first]
                    && rows.iter().all(|row| row[*lane] == row[first])
            };
            let cohort = Mask(rest.iter().filter(alike).fold(0, |mask, lane| mask | 1 << lane));
            self.split_party(warp, cohort, first, true);
            rest = rest.without(cohort);
        }
    }
}

#[cfg(test)]
#[path = "clocks_tests.rs"]
mod tests;
