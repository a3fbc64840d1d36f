//! Records the synchronisation events of each warp, so that a report of a race can name the last one that each thread
//! passed before its access. No verdict depends on them.

use super::{Event, Tracker};
use crate::lanes::Mask;
use sync::{LaneId, Site, Time};

impl Tracker {
    /// Records a synchronisation of lanes of a warp.
    pub(crate) fn note_event(&mut self, warp: usize, lanes: Mask, site: Site) {
        if self.shadows.enabled {
            let time = self.order.now(warp);
            self.events[warp].push(Event { time, lanes, site });
        }
    }

    /// The last synchronisation a thread took part in before an access of its own at `time`.
    pub(super) fn passed(&self, who: LaneId, time: Time) -> Option<Site> {
        let events = &self.events[usize::from(who.warp)];
        let before = events.partition_point(|event| event.time <= time);
        let took_part = |event: &&Event| event.lanes.has(usize::from(who.lane));
        events[..before].iter().rev().find(took_part).map(|event| event.site)
    }
}
