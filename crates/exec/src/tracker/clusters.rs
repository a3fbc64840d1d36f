//! The cluster part of the tracker: passes arrivals and waits at the cluster barrier, and accesses to shared memory of
//! another block, on to [`sync`], in its types. The rules are in [`sync`]; nothing is decided here.

use super::{Tracker, area_code, area_of_code};
use crate::address::Area;
use crate::lanes::Mask;
use std::num::NonZeroU16;
use sync::{AgentId, ClusterMisuse, ClusterStatus, Lanes, MbarrierId, RemoteAccess, Site};

impl Tracker {
    /// Warps of a block, if several blocks run together.
    pub(super) fn block_warps(&self) -> Option<NonZeroU16> {
        let warps = u16::try_from(self.shape.warps).ok().and_then(NonZeroU16::new);
        warps.filter(|_| self.shape.blocks > 1)
    }

    /// Records the arrival of the running lanes of a warp at the cluster barrier.
    ///
    /// # Errors
    /// If the manual does not allow the arrival.
    pub(crate) fn arrive_at_cluster(
        &mut self,
        (warp, lanes, site): (usize, Mask, Site),
        releases: bool,
    ) -> Result<(), ClusterMisuse> {
        self.order.arrive_at_cluster(Lanes { warp, lanes, site }, releases)
    }

    /// Checks the wait of a warp at the cluster barrier.
    ///
    /// # Errors
    /// If the warp has not arrived.
    pub(crate) fn wait_at_cluster(&mut self, warp: usize) -> Result<(), ClusterMisuse> {
        self.order.wait_at_cluster(warp)
    }

    /// Lets a waiting warp continue, if the barrier is complete. Returns `true` if it is.
    pub(crate) fn resume_at_cluster(&mut self, warp: usize, lanes: Mask) -> bool {
        self.order.resume_at_cluster(warp, lanes)
    }

    /// State of the cluster barrier, for a report.
    pub(crate) fn cluster_status(&self) -> Option<ClusterStatus> {
        self.order.cluster_status()
    }

    fn remote(
        &self,
        (warp, lane, site): (usize, usize, Site),
        (area, offset): (Area, i64),
        block: usize,
    ) -> RemoteAccess {
        let lanes = Mask::one(lane);
        RemoteAccess { block, warp, lanes, site, place: (area_code(area), offset) }
    }

    /// Records a thread's access to shared memory of another block. Returns `true` if that block has
    /// certainly started.
    pub(crate) fn access_remote(
        &mut self,
        who: (usize, usize, Site),
        place: (Area, i64),
        block: usize,
    ) -> bool {
        if !self.is_checking() {
            return true;
        }
        let access = self.remote(who, place, block);
        self.order.access_remote(access).is_none()
    }

    /// Records an access to shared memory of a block by a copy about to be delivered at an mbarrier. Returns
    /// `true` if that block has certainly started.
    pub(crate) fn copy_remote(
        &mut self,
        who: (usize, usize, Site),
        place: (Area, i64),
        block: usize,
        id: MbarrierId,
    ) -> bool {
        if !self.is_checking() {
            return true;
        }
        let access = self.remote(who, place, block);
        self.order.copy_remote(access, id).is_none()
    }

    /// Takes the accesses that may come after the end of the accessed block: each with the lane, area and offset.
    pub(crate) fn take_late_accesses(&mut self) -> Vec<(RemoteAccess, usize, Area, i64)> {
        let late = self.order.take_late_accesses();
        let all = late.into_iter().filter_map(|(access, lane)| {
            let (number, offset) = access.place;
            Some((access, lane, area_of_code(number)?, offset))
        });
        all.collect()
    }

    /// Takes the waits that are sound only if a missing scope means cluster scope; reports list them.
    pub(crate) fn take_assumed_scopes(&mut self) -> Vec<Site> {
        self.order.take_assumed_scopes()
    }

    /// Records the initialisation of an mbarrier by a lane. Returns its agent, if there are several blocks.
    pub(crate) fn start_init(&mut self, warp: usize, lane: usize) -> Option<AgentId> {
        if self.shape.blocks == 1 {
            return None;
        }
        self.order.start_init(warp, lane)
    }
}
