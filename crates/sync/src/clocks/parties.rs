//! Parties of the clocks: whole warps at first, then mbarriers and the lanes that are known less well than the rest of
//! their warp. Parties are only ever added; a new one starts with the times of the one that its lanes leave.

use super::{Clocks, LaneId, Time, Times, join};
use crate::lanes::{Mask, WARP};

impl Clocks {
    /// Returns the joint knowledge of releasing lanes about each lane of their own warp, themselves included.
    pub(super) fn known_of_own_warp(&self, warp: usize, lanes: Mask) -> [Time; WARP] {
        let clock = &self.warps[warp];
        let mut known = [0; WARP];
        lanes.iter().for_each(|lane| join(&mut known, clock.within(lane)));
        lanes.iter().for_each(|lane| known[lane] = clock.now + 1);
        known
    }

    /// Divides the parties of a warp until one time describes the knowledge of each.
    pub(super) fn split_by_knowledge(&mut self, warp: usize, known: &[Time; WARP]) {
        if self.agree(warp, known) {
            return;
        }
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

    /// Returns `true` if the lanes of each party of a warp are known alike; `false` if there are too many parties to
    /// tell quickly.
    fn agree(&self, warp: usize, known: &[Time; WARP]) -> bool {
        let (mut parties, mut count) = ([(0, 0); 4], 0);
        for (&party, &time) in self.warps[warp].party.iter().zip(known) {
            match parties[..count].iter().find(|one| one.0 == party) {
                Some(one) if one.1 != time => return false,
                Some(_) => continue,
                None => {}
            }
            let Some(place) = parties.get_mut(count) else { return false };
            *place = (party, time);
            count += 1;
        }
        true
    }

    /// Adds a party unknown to all threads, and returns its number.
    pub(crate) fn add_party(&mut self) -> u16 {
        self.common.push(0);
        self.parents.push(None);
        for clock in &mut self.warps {
            let rows = clock.rows();
            clock.across_rows[..rows].iter_mut().for_each(|across| across.push(0));
        }
        (self.common.len() - 1) as u16
    }

    /// Extends `times` by the parties added since: each gets the time of the party that it was part of.
    pub(crate) fn complete(&self, times: &mut Times) {
        if times.len() >= self.common.len() {
            return;
        }
        times.reserve_exact(self.common.len() - times.len());
        for party in times.len()..self.common.len() {
            let parent = party.checked_sub(self.warps.len()).and_then(|at| self.parents[at]);
            times.push(parent.map_or(0, |parent| times[usize::from(parent)]));
        }
    }

    /// Returns the party of a thread.
    pub(crate) fn party(&self, who: LaneId) -> usize {
        usize::from(self.warps[usize::from(who.warp)].party[usize::from(who.lane)])
    }

    /// Moves lanes of a party to a party of their own. `first` is one of these lanes. With `alike`, every lane of
    /// the warp knows equally much of each of the moved lanes.
    pub(super) fn split_party(&mut self, warp: usize, lanes: Mask, first: usize, alike: bool) {
        let parent = usize::from(self.warps[warp].party[first]);
        let party = self.common.len() as u16;
        self.common.push(self.common[parent]);
        self.parents.push(Some(parent as u16));
        for (number, clock) in self.warps.iter_mut().enumerate() {
            let rows = clock.rows();
            for (lane, across) in clock.across_rows[..rows].iter_mut().enumerate() {
                let is_own = alike && number == warp;
                let within = if is_own { clock.within_rows[lane][first] } else { 0 };
                across.push(across[parent].max(within));
            }
        }
        let clock = &mut self.warps[warp];
        lanes.iter().for_each(|lane| clock.party[lane] = party);
        let is_border = |lane: &usize| *lane == 0 || clock.party[*lane] != clock.party[lane - 1];
        clock.borders = Mask((0..WARP).filter(is_border).fold(0, |mask, lane| mask | 1 << lane));
        clock.divided = true;
    }
}
