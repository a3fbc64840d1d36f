//! Tests [`Cell::record_if_ordered`], the shortcut for accesses ordered after all earlier ones, against one-by-one
//! comparison. After each of a series of random accesses, both must agree on whether it conflicts with an earlier
//! one. Also tests accesses of a warp reported together against the same accesses one by one, and the
//! pruned history of a cell against a complete one.

use super::{AccessOrder, Cell};
use crate::clocks::Clocks;
use crate::copies::AsyncAgents;
use crate::entry::{Commutes, Entry, HiddenValue, Lists};
use crate::lanes::{Mask, WARP};
use crate::proxy::ProxySpace;
use crate::shadow::{
    Access, AccessPart, Conflicts, MemoryEffect, RequiredCertainty, SameValue, Shadow, each_place,
};
use std::num::NonZeroU16;
use testing::Random;

const WARPS: usize = 3;
const LANES: u32 = 3;

/// A block in which some lanes may have exited.
struct Block {
    clocks: Clocks,
    copies: AsyncAgents,
    alive: [Mask; WARPS],
}

impl Block {
    fn synchronise(&mut self, random: &mut Random) {
        let warp = random.below(WARPS);
        let lanes = self.alive[warp];
        match random.below(12) {
            0..5 => {
                // All threads wait for each other.
                let mut all = Vec::new();
                for warp in (0..WARPS).filter(|&warp| !self.alive[warp].is_empty()) {
                    let (_, released) = self.clocks.release(warp, self.alive[warp]);
                    all.resize(released.len().max(all.len()), 0);
                    all.iter_mut().zip(&released).for_each(|(all, one)| *all = *one.max(all));
                }
                if !all.is_empty() {
                    self.clocks.acquire_all(&all);
                }
            }
            5 => {
                let (_, released) = self.clocks.release(warp, lanes);
                let other = (warp + 1) % WARPS;
                self.clocks.acquire(other, self.alive[other], &released);
            }
            6 | 7 => {
                let some = lanes.and(Mask(random.below(8) as u32));
                self.clocks.warp_barrier(warp, some);
            }
            8 => self.copies.commit(warp, lanes),
            9 => self.copies.wait(warp, lanes, None, self.clocks.now(warp)),
            _ if random.below(12) == 0 && !lanes.is_empty() => {
                let gone = lanes.and(Mask(random.below(8) as u32));
                self.alive[warp] = lanes.without(gone);
                if !gone.is_empty() {
                    let others_continue = !self.alive[warp].is_empty();
                    self.clocks.exit(warp, gone, others_continue);
                }
            }
            _ => {}
        }
    }

    /// A random access by running lanes, in the form that a cell takes.
    fn access(&mut self, random: &mut Random, site: u32) -> Option<(Access, Entry)> {
        let warp = random.below(WARPS);
        let kind = match random.below(12) {
            0..7 => MemoryEffect::Read,
            7..11 => MemoryEffect::Write,
            _ => MemoryEffect::Update,
        };
        let lanes = self.alive[warp].and(Mask(random.below(1 << LANES) as u32));
        let lanes = match kind {
            MemoryEffect::Read => lanes,
            _ => lanes.lowest().map_or(Mask::NONE, Mask::one),
        };
        if lanes.is_empty() {
            return None;
        }
        let copies = kind != MemoryEffect::Update && random.below(40) == 0;
        let copy = copies.then(|| self.copies.start(warp, lanes));
        let same_value =
            [SameValue::Equal, SameValue::Different, SameValue::Undecided][random.below(3)];
        let drawn = NonZeroU16::new(random.below(3) as u16);
        let group = if kind == MemoryEffect::Update { drawn } else { None };
        let non_coherent = kind == MemoryEffect::Read && random.below(60) == 0;
        let access = Access {
            warp,
            lanes,
            kind,
            site,
            element: 4,
            copy,
            is_async: false,
            non_coherent,
            group,
            same_value,
            is_determined: false,
        };
        let entry = Entry {
            time: copy.unwrap_or_else(|| self.clocks.now(warp)),
            site,
            lanes,
            warp: warp as u8,
            kind,
            is_copy: copy.is_some(),
            commutes: if group.is_some() { Commutes::OwnSite } else { Commutes::Nothing },
            is_async: false,
            extent: random.below(2) as u8,
            hides: HiddenValue::Nothing,
            hidden: false,
        };
        Some((access, entry))
    }
}

/// Runs a random history. Returns the first access at which the two answers differ, and the numbers of
/// accesses with and without a conflict.
fn compare_shortcut(seed: u64) -> (Option<u32>, [u32; 2]) {
    let mut random = Random::new(seed);
    let (clocks, copies) = (Clocks::new(WARPS), AsyncAgents::new(WARPS));
    let mut block = Block { clocks, copies, alive: [Mask::first(LANES); WARPS] };
    let (mut quick, mut slow) = (Cell::default(), Cell::default());
    let (mut quick_lists, mut slow_lists) = (Lists::default(), Lists::default());
    let mut counts = [0; 2];
    for site in 0..24 {
        if random.below(5) < 3 {
            block.synchronise(&mut random);
            continue;
        }
        let Some((access, entry)) = block.access(&mut random, site) else { continue };
        let order =
            AccessOrder { clocks: &block.clocks, copies: &block.copies, space: ProxySpace::Shared };
        let mut conflicts = [Conflicts::default(), Conflicts::default()];
        let (one, other) = conflicts.split_at_mut(1);
        quick.access(&mut quick_lists, order, &access, (&entry, 0), &mut one[0]);
        slow.compare_and_record(&mut slow_lists, order, &access, (&entry, 0), &mut other[0]);
        let conflicts = conflicts.map(|conflicts| !conflicts.found.is_empty());
        if conflicts[0] != conflicts[1] {
            return (Some(site), counts);
        }
        counts[usize::from(conflicts[0])] += 1;
    }
    (None, counts)
}

#[test]
fn the_shortcut_misses_no_conflict_and_makes_none_up() {
    let mut all = [0; 2];
    for seed in 0..20_000 {
        let (differs, counts) = compare_shortcut(seed);
        assert_eq!(differs, None, "seed {seed}");
        (0..2).for_each(|at| all[at] += counts[at]);
    }
    assert!(all.iter().all(|&count| count > 20_000), "{all:?}");
}

/// Runs a random history on two cells: one gets the values of all writes, the other only those that it
/// requests. Returns `true` if both report the same conflicts, and the number of values not requested.
fn compare_requested_values(seed: u64) -> (bool, u32) {
    let mut random = Random::new(seed);
    let (clocks, copies) = (Clocks::new(WARPS), AsyncAgents::new(WARPS));
    let mut block = Block { clocks, copies, alive: [Mask::first(LANES); WARPS] };
    let mut cells = [Cell::default(), Cell::default()];
    let mut lists = [Lists::default(), Lists::default()];
    let mut conflicts = [Conflicts::default(), Conflicts::default()];
    let mut not_requested = 0;
    for site in 0..24 {
        if random.below(5) < 2 {
            block.synchronise(&mut random);
            continue;
        }
        let Some((access, entry)) = block.access(&mut random, site) else { continue };
        let order =
            AccessOrder { clocks: &block.clocks, copies: &block.copies, space: ProxySpace::Shared };
        let required_certainty = cells[1].required_certainty(&lists[1], order, site, &conflicts[1]);
        let is_requested =
            access.kind != MemoryEffect::Write || required_certainty != RequiredCertainty::None;
        not_requested += u32::from(!is_requested);
        let same_value = if is_requested { access.same_value } else { SameValue::Undecided };
        for (at, same_value) in [access.same_value, same_value].into_iter().enumerate() {
            let access = Access { same_value, ..access };
            cells[at].access(&mut lists[at], order, &access, (&entry, 0), &mut conflicts[at]);
        }
    }
    (conflicts[0].found == conflicts[1].found, not_requested)
}

#[test]
fn values_that_are_not_requested_change_nothing() {
    let mut all = 0;
    for seed in 0..20_000 {
        let (same, not_requested) = compare_requested_values(seed);
        assert!(same, "seed {seed}");
        all += not_requested;
    }
    assert!(all > 5_000, "{all}");
}

/// Runs a random history of instructions on two shadows: one gets the accesses of a warp together, the other
/// one by one. Returns `true` if both report and record the same, and the number of accesses.
fn compare_grouped_reports(seed: u64) -> (bool, usize) {
    let mut random = Random::new(seed);
    let (clocks, copies) = (Clocks::new(WARPS), AsyncAgents::new(WARPS));
    let mut block = Block { clocks, copies, alive: [Mask::first(LANES); WARPS] };
    let mut shadows = [0, 1].map(|_| Shadow::new(32, ProxySpace::Shared));
    let mut conflicts = [Conflicts::default(), Conflicts::default()];
    let mut count = 0;
    for site in 0..24 {
        if random.below(5) < 2 {
            block.synchronise(&mut random);
            continue;
        }
        let Some((access, _)) = block.access(&mut random, site) else { continue };
        let access = Access { element: 1 << (2 - random.below(8) / 7), ..access };
        let bytes = access.element << random.below(3);
        let part = |lane: usize, random: &mut Random| AccessPart {
            lanes: Mask::one(lane),
            offset: i64::from(bytes) * random.below(2) as i64,
            same_value: access.same_value,
        };
        // Lanes write one after the other, each at its own address or at a common one.
        let lanes = match access.kind {
            MemoryEffect::Write => block.alive[access.warp],
            MemoryEffect::Read | MemoryEffect::Update => access.lanes,
        };
        let mut each: Vec<AccessPart> = lanes.iter().map(|lane| part(lane, &mut random)).collect();
        if access.kind == MemoryEffect::Read && random.below(2) == 0 {
            each = vec![AccessPart { lanes: access.lanes, ..each[0] }];
        }
        count += each.len();
        let (one, other) = conflicts.split_at_mut(1);
        let Block { clocks, copies, .. } = &block;
        shadows[0].access_each(clocks, copies, (&access, bytes), &each, &mut one[0]);
        for AccessPart { lanes, offset, same_value } in each {
            let access = Access { lanes, same_value, ..access };
            shadows[1].access(clocks, copies, &access, (offset, bytes), &mut other[0]);
        }
    }
    let kept =
        shadows.each_ref().map(|shadow| format!("{:?}", shadow.summaries().collect::<Vec<_>>()));
    (conflicts[0].found == conflicts[1].found && kept[0] == kept[1], count)
}

#[test]
fn accesses_reported_together_equal_those_reported_one_by_one() {
    let mut all = 0;
    for seed in 0..20_000 {
        let (same, count) = compare_grouped_reports(seed);
        assert!(same, "seed {seed}");
        all += count;
    }
    assert!(all > 100_000, "{all}");
}

/// Runs a random history in two shadows, one of which defers reads and records those of a warp at once. Returns `true` if both report the same
/// conflicts, and the number of deferred reads.
fn compare_deferred_reads(seed: u64) -> (bool, usize) {
    let mut random = Random::new(seed);
    let (clocks, copies) = (Clocks::new(WARPS), AsyncAgents::new(WARPS));
    // All lanes of a full warp know the same for longer.
    let alive = if seed.is_multiple_of(2) { Mask::ALL } else { Mask::first(LANES) };
    let mut block = Block { clocks, copies, alive: [alive; WARPS] };
    let mut shadows = [0, 1].map(|_| Shadow::new(32, ProxySpace::Shared));
    let mut conflicts = [Conflicts::default(), Conflicts::default()];
    let (mut count, often) = (0, random.below(4) + 1);
    for site in 0..40 {
        if random.below(8) < often {
            block.synchronise(&mut random);
            continue;
        }
        let Some((access, _)) = block.access(&mut random, site) else { continue };
        // Most histories have plain reads and writes only, so that reads are deferred.
        let is_plain = access.copy.is_none() && access.kind != MemoryEffect::Update;
        if access.non_coherent || !seed.is_multiple_of(4) && !is_plain {
            continue;
        }
        let access = Access { element: 1 << (2 - random.below(16) / 15), ..access };
        let bytes = access.element << random.below(2);
        let starts = [0; WARP].map(|_: u32| bytes * random.below(3_u32));
        let mut each = Vec::new();
        each_place(access.lanes, &starts, |lanes, start| {
            each.push(AccessPart { lanes, offset: start.into(), same_value: access.same_value });
        });
        let (one, other) = conflicts.split_at_mut(1);
        let Block { clocks, copies, .. } = &block;
        let is_deferred = shadows[0].defer_read(clocks, (&access, bytes), &starts);
        count += usize::from(is_deferred);
        if !is_deferred {
            shadows[0].access_each(clocks, copies, (&access, bytes), &each, &mut one[0]);
        }
        for AccessPart { lanes, offset, same_value } in each {
            let access = Access { lanes, same_value, ..access };
            shadows[1].access(clocks, copies, &access, (offset, bytes), &mut other[0]);
        }
    }
    // The order of several conflicts of one access may differ.
    let [deferred, immediate] = conflicts.map(|conflicts| {
        let mut all: Vec<String> = conflicts.found.iter().map(|one| format!("{one:?}")).collect();
        all.sort();
        all
    });
    (deferred == immediate, count)
}

#[test]
fn deferred_reads_have_the_same_conflicts() {
    let mut all = 0;
    for seed in 0..60_000 {
        let (same, count) = compare_deferred_reads(seed);
        assert!(same, "seed {seed}");
        all += count;
    }
    assert!(all > 100_000, "{all}");
}

/// Runs a random history of writes of few values, in a cell and in a complete list. It ends at the first
/// access that conflicts with one in the list: two unordered accesses, unless both only read or both write
/// the same value in the same place. Returns `true` if the cell reported a conflict there and nowhere else,
/// and the number of writes excused from an earlier one.
fn compare_complete_history(seed: u64) -> (bool, u32) {
    let mut random = Random::new(seed);
    let (clocks, copies) = (Clocks::new(WARPS), AsyncAgents::new(WARPS));
    let mut block = Block { clocks, copies, alive: [Mask::first(LANES); WARPS] };
    let (mut cell, mut lists) = (Cell::default(), Lists::default());
    let mut history: Vec<(Entry, usize)> = Vec::new();
    let (mut content, mut excused) = (0, 0);
    for site in 0..32 {
        if random.below(5) < 3 {
            block.synchronise(&mut random);
            continue;
        }
        let Some((access, entry)) = block.access(&mut random, site) else { continue };
        // Most reads would end the history at once.
        if access.copy.is_some() || access.kind == MemoryEffect::Read && random.below(8) > 0 {
            continue;
        }
        let value = match access.kind {
            MemoryEffect::Read => content,
            // Mostly rewrite the present value.
            MemoryEffect::Write => {
                if random.below(3) > 0 {
                    content
                } else {
                    random.below(3)
                }
            }
            MemoryEffect::Update => 3 + site as usize,
        };
        let same_value = if value == content { SameValue::Equal } else { SameValue::Different };
        let entry = Entry { extent: u8::from(random.below(12) == 0), ..entry };
        let access = Access { same_value, non_coherent: false, group: None, ..access };
        let order =
            AccessOrder { clocks: &block.clocks, copies: &block.copies, space: ProxySpace::Shared };
        let mut conflicts = Conflicts::default();
        cell.access(&mut lists, order, &access, (&entry, 0), &mut conflicts);
        let unordered = |one: &Entry| {
            let who = |lane| crate::clocks::LaneId { warp: entry.warp, lane };
            entry.lanes.iter().any(|lane| order.unordered(one, who(lane as u8)).is_some())
        };
        let both_are = |one: &Entry, kind| one.kind == kind && entry.kind == kind;
        let races = history.iter().any(|(one, written)| {
            let same = both_are(one, MemoryEffect::Write)
                && *written == value
                && one.extent == entry.extent;
            let harmless = both_are(one, MemoryEffect::Read) || same;
            excused += u32::from(same && unordered(one));
            !harmless && unordered(one)
        });
        let reported =
            conflicts.found.iter().filter(|(one, _)| one.same_value != Some(SameValue::Equal));
        if races || reported.count() > 0 {
            let certain =
                |same| same != Some(SameValue::Equal) && same != Some(SameValue::Undecided);
            return (
                races && conflicts.found.iter().any(|(one, _)| certain(one.same_value)),
                excused,
            );
        }
        history.push((entry, value));
        content = value;
    }
    (true, excused)
}

#[test]
fn forgotten_accesses_hide_no_race_and_leave_nothing_open() {
    let mut all = 0;
    for seed in 0..60_000 {
        let (right, excused) = compare_complete_history(seed);
        assert!(right, "seed {seed}");
        all += excused;
    }
    assert!(all > 20_000, "{all}");
}
