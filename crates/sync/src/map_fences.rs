//! Fences of the tensormap proxy (PTX manual §8.6, §9.7.13.4, §9.7.13.16), which make writes to a tensor map
//! visible to tensor copies.
//!
//! Copies read their map through a proxy of its own. A write e to the map is visible to a copy under three
//! conditions. A thread that knows of e releases: by `fence.proxy.tensormap::generic.release`, or by
//! `tensormap.cp_fenceproxy` for the map that it copies. A thread of the block that issues the copy knows of
//! that release and acquires the 128 bytes of the map. The issuing thread is that thread or knows of its
//! acquire. All releases and acquires are kept with the knowledge of their threads, so the answer is exact
//! for the order of this run.
//!
//! Why another thread of the block may acquire: the manual (§9.7.13.4) lets the two fences synchronise. By
//! way of the acquire, the copy follows the write in base causality order (§8.9.5), but no rule says how this
//! proxy continues from there. The CUDA programming guide does (on tensor maps in global memory): each block
//! needs one fence before any of its threads uses the changed map, and none for further uses. An acquire in
//! another block of the cluster does not count.

use crate::clocks::{Clocks, LaneId, LaneSnapshot, Time};
use crate::lanes::Mask;
use std::collections::BTreeMap;

/// A place in memory: the number that the engine gave the allocation, and an offset.
pub type MapPlace = (u32, i64);

/// A release, with the knowledge of its thread.
#[derive(Clone, Debug)]
struct Release {
    /// The map that a copy releases; `None` for a release of everything known.
    only: Option<MapPlace>,
    who: LaneId,
    stamp: Time,
    snapshot: LaneSnapshot,
}

/// An acquire, with the knowledge of its thread.
#[derive(Clone, Debug)]
struct Acquire {
    who: LaneId,
    stamp: Time,
    snapshot: LaneSnapshot,
}

/// The tensormap fences of a cluster.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapFences {
    releases: Vec<Release>,
    acquires: BTreeMap<MapPlace, Vec<Acquire>>,
}

impl MapFences {
    /// Records a release by lanes, of everything known to them or of the one map that they copied.
    pub(crate) fn release(
        &mut self,
        clocks: &mut Clocks,
        (warp, lanes): (usize, Mask),
        only: Option<MapPlace>,
    ) {
        let snapshots = clocks.snapshots(warp, lanes);
        let stamp = clocks.now(warp);
        let release = |(who, snapshot)| Release { only, who, stamp, snapshot };
        self.releases.extend(snapshots.into_iter().map(release));
    }

    /// Records a lane's acquire of the map at a place.
    pub(crate) fn acquire(
        &mut self,
        clocks: &mut Clocks,
        (warp, lane): (usize, usize),
        place: MapPlace,
    ) {
        for (who, snapshot) in clocks.snapshots(warp, Mask::one(lane)) {
            let acquire = Acquire { who, stamp: clocks.now(warp), snapshot };
            self.acquires.entry(place).or_default().push(acquire);
        }
    }

    /// Returns `true` if the write of `earlier` at `time`, to a map at `place`, is visible to a copy that `later`
    /// issues with this map. `warps` is the number of warps of a block.
    pub(crate) fn is_visible(
        &self,
        clocks: &Clocks,
        (earlier, time): (LaneId, Time),
        (later, place): (LaneId, MapPlace),
        warps: usize,
    ) -> bool {
        let Some(acquires) = self.acquires.get(&place) else { return false };
        let block = |who: LaneId| usize::from(who.warp) / warps;
        let is_known_in_block = |one: &&Acquire| {
            block(one.who) == block(later) && clocks.ordered(one.who, one.stamp, later)
        };
        let acquires: Vec<&Acquire> = acquires.iter().filter(is_known_in_block).collect();
        let of_place = |release: &&Release| release.only.is_none_or(|only| only == place);
        self.releases.iter().filter(of_place).any(|release| {
            let knows_release = |one: &&Acquire| {
                clocks.snapshot_covers(one.who, &one.snapshot, release.who, release.stamp)
            };
            clocks.snapshot_covers(release.who, &release.snapshot, earlier, time)
                && acquires.iter().any(knows_release)
        })
    }
}
