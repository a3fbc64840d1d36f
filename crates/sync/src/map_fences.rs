//! Fences of the tensormap proxy (PTX manual §8.6, §9.7.13.4, §9.7.13.16): which writes to a tensor map a tensor copy sees.
//!
//! Copies read their map through a proxy of its own. A write e to the map is visible to a copy that a thread issues if some thread
//! that knows of e releases (`fence.proxy.tensormap::generic.release`; `tensormap.cp_fenceproxy` releases the map that it
//! copies), a thread of the block that issues the copy, knowing of that release, acquires the 128 bytes of the map, and the issuing
//! thread is that one or knows of its acquire. All releases and acquires are kept with what their
//! threads knew, so the answer is exact for this run's order.
//!
//! Why another thread of the block may acquire: the manual (§9.7.13.4) lets the two fences synchronise, which puts the copy behind the
//! write in base causality order (§8.9.5) by way of the acquire, and names no rule by which this proxy goes on from there. The CUDA programming guide does
//! (on tensor maps in global memory): a fence is needed in each block before any of its threads uses the changed map, and none
//! for its further uses. An acquire in another block of the cluster does not count.

use crate::clocks::{Clocks, LaneId, LaneMark, Time};
use crate::lanes::Mask;
use std::collections::BTreeMap;

/// A place in memory: a mark of its allocation, and an offset.
pub type MapPlace = (u32, i64);

/// A release, with what its thread knew.
#[derive(Clone, Debug)]
struct Release {
    /// The only map that it releases, if it is that of a copy.
    only: Option<MapPlace>,
    who: LaneId,
    stamp: Time,
    mark: LaneMark,
}

/// An acquire, with what its thread knew.
#[derive(Clone, Debug)]
struct Acquire {
    who: LaneId,
    stamp: Time,
    mark: LaneMark,
}

/// The fences of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapFences {
    releases: Vec<Release>,
    acquires: BTreeMap<MapPlace, Vec<Acquire>>,
}

impl MapFences {
    /// Lanes release all that they know of, or the one map that they copied.
    pub(crate) fn release(
        &mut self,
        clocks: &mut Clocks,
        (warp, lanes): (usize, Mask),
        only: Option<MapPlace>,
    ) {
        let marks = clocks.marks(warp, lanes);
        let stamp = clocks.now(warp);
        let release = |(who, mark)| Release { only, who, stamp, mark };
        self.releases.extend(marks.into_iter().map(release));
    }

    pub(crate) fn acquire(
        &mut self,
        clocks: &mut Clocks,
        (warp, lane): (usize, usize),
        place: MapPlace,
    ) {
        for (who, mark) in clocks.marks(warp, Mask::one(lane)) {
            let acquire = Acquire { who, stamp: clocks.now(warp), mark };
            self.acquires.entry(place).or_default().push(acquire);
        }
    }

    /// Tells whether a copy that `later` issues sees in its map at `place` what `earlier` wrote at `time`, in blocks of so many warps.
    pub(crate) fn is_visible(
        &self,
        clocks: &Clocks,
        (earlier, time): (LaneId, Time),
        (later, place): (LaneId, MapPlace),
        warps: usize,
    ) -> bool {
        let Some(acquires) = self.acquires.get(&place) else { return false };
        let block = |who: LaneId| usize::from(who.warp) / warps;
        let counts = |one: &&Acquire| {
            block(one.who) == block(later) && clocks.ordered(one.who, one.stamp, later)
        };
        let acquires: Vec<&Acquire> = acquires.iter().filter(counts).collect();
        let of_place = |release: &&Release| release.only.is_none_or(|only| only == place);
        self.releases.iter().filter(of_place).any(|release| {
            let passed_on =
                |one: &&Acquire| clocks.knew(one.who, &one.mark, release.who, release.stamp);
            clocks.knew(release.who, &release.mark, earlier, time) && acquires.iter().any(passed_on)
        })
    }
}
