//! Reads that all threads know of are forgotten ([`Order::forget_known_reads`]): random accesses and barriers of some
//! warps have the same conflicts as without.

use std::collections::BTreeSet;
use sync::{
    Access, AccessPart, Conflicts, Mask, MemoryEffect, Order, ProxySpace, Registration, SameValue,
    Shadow, Shape, Site, SyncEvent, WARP,
};
use testing::Random;

const WARPS: usize = 4;

/// A block, with its accesses and conflicts so far.
struct Block {
    order: Order,
    shadow: Shadow,
    conflicts: Conflicts,
}

impl Block {
    fn new(forgets: bool) -> Self {
        let shape = Shape { warps: WARPS, blocks: 1, mbarriers: false, clusters: false };
        let mut order = Order::new(shape);
        if forgets {
            order.forget_known_reads();
        }
        let shadow = Shadow::new(1024, ProxySpace::Shared);
        Self { order, shadow, conflicts: Conflicts::default() }
    }

    fn access(&mut self, access: &Access, each: &[AccessPart]) {
        let (clocks, copies) = (self.order.clocks(), self.order.copies());
        self.shadow.access_each(clocks, copies, (access, 4), each, &mut self.conflicts);
    }

    /// Warps meet at a barrier; some of them only arrive.
    fn meet(&mut self, id: u8, warps: &[(usize, bool)]) {
        let count = Some(32 * warps.len() as u32);
        for &(warp, waits) in warps {
            let waiting = if waits { Mask::ALL } else { Mask::NONE };
            let lanes = Mask::ALL;
            let one = Registration { warp, lanes, waiting, count, reduces: false, site: 0 };
            let _ = self.order.arrive(id, one);
        }
        assert!(self.order.is_complete(0, id));
        self.order.release(0, id);
    }

    /// Takes the words at which the last access conflicts with earlier ones, and whether it does. Which of several
    /// earlier accesses stands for all of them may differ.
    fn take_words(&mut self) -> (BTreeSet<i64>, bool) {
        let conflicts = std::mem::take(&mut self.conflicts);
        (conflicts.words.iter().map(|&(_, word)| word).collect(), !conflicts.found.is_empty())
    }
}

/// The accesses of a warp's lanes to a row, forwards or backwards, to one word, or of one lane.
fn access(random: &mut Random, site: Site) -> (Access, Vec<AccessPart>) {
    let kind = random.pick(&[MemoryEffect::Read, MemoryEffect::Read, MemoryEffect::Write]);
    let same_value = random.pick(&[SameValue::Different, SameValue::Equal]);
    let (start, form) = (4 * random.below(8_i64), random.below(4));
    let lanes = if form == 3 { random.below(WARP)..WARP } else { 0..WARP };
    let part = |lane: usize| {
        let offset = match form {
            0 => 4 * lane as i64,
            1 => 4 * (WARP - 1 - lane) as i64,
            _ => 0,
        };
        AccessPart { lanes: Mask::one(lane), offset: start + offset, same_value }
    };
    let each = match (form, kind) {
        (2, MemoryEffect::Read) => vec![AccessPart { lanes: Mask::ALL, ..part(0) }],
        (2 | 3, _) => vec![part(lanes.start)],
        _ => lanes.map(part).collect(),
    };
    let access = Access {
        warp: random.below(WARPS),
        lanes: Mask::NONE,
        kind,
        site,
        element: 4,
        copy: None,
        is_async: false,
        non_coherent: false,
        group: None,
        same_value,
        is_determined: false,
    };
    (access, each)
}

#[test]
fn the_conflicts_are_the_same() {
    let (mut racy, mut clean) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let (mut forgets, mut keeps) = (Block::new(true), Block::new(false));
        let barriers = random.pick(&[20, 50, 80]);
        for step in 0..random.below(200) {
            if random.chance(barriers) {
                let mut warps: Vec<(usize, bool)> =
                    (0..WARPS).map(|warp| (warp, random.chance(60))).collect();
                random.shuffle(&mut warps);
                warps.truncate(2 + random.below(WARPS - 1));
                warps[0].1 = true;
                let id = 1 + (step % 15) as u8;
                forgets.meet(id, &warps);
                keeps.meet(id, &warps);
            } else if random.chance(3) {
                let (warp, lanes) = (random.below(WARPS), Mask(random.bits() as u32));
                forgets.order.apply(warp, lanes, SyncEvent::WarpBarrier);
                keeps.order.apply(warp, lanes, SyncEvent::WarpBarrier);
            } else {
                let (access, each) = access(&mut random, step % 40);
                forgets.access(&access, &each);
                keeps.access(&access, &each);
                let found = keeps.take_words();
                assert_eq!(forgets.take_words(), found, "seed {seed}, step {step}");
                if found.1 { racy += 1 } else { clean += 1 }
            }
        }
    }
    assert!(racy > 10_000 && clean > 10_000, "{racy} accesses with conflicts, {clean} without");
}
