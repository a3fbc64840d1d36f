//! Fences of the tensormap proxy (PTX manual §8.6, §9.7.13.4, §9.7.13.16): which writes to a tensor map a tensor copy sees.
//!
//! Copies read their map through a proxy of its own. A write e to the map is visible to a copy that a thread issues if some thread
//! that knows of e releases (`fence.proxy.tensormap::generic.release`; `tensormap.cp_fenceproxy` releases the map that it
//! copies), and the issuing thread, knowing of that release, acquires the 128 bytes of the map. All releases and acquires of a block are kept with what their
//! threads knew, so the answer is exact for this run's order.

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

/// The fences of a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct MapFences {
    releases: Vec<Release>,
    acquires: BTreeMap<(LaneId, MapPlace), Vec<LaneMark>>,
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
            self.acquires.entry((who, place)).or_default().push(mark);
        }
    }

    /// Tells whether a copy that `later` issues sees in its map at `place` what `earlier` wrote at `time`.
    pub(crate) fn is_visible(
        &self,
        clocks: &Clocks,
        (earlier, time): (LaneId, Time),
        (later, place): (LaneId, MapPlace),
    ) -> bool {
        let Some(acquires) = self.acquires.get(&(later, place)) else { return false };
        let of_place = |release: &&Release| release.only.is_none_or(|only| only == place);
        self.releases.iter().filter(of_place).any(|release| {
            clocks.knew(release.who, &release.mark, earlier, time)
                && acquires.iter().any(|mark| clocks.knew(later, mark, release.who, release.stamp))
        })
    }
}
