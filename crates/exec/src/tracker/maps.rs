//! Tensor maps in memory: reads by copies, and fences of their proxy (PTX manual §9.7.13.4).

use super::{AccessAttributes, Shadows, Tracker, area_code};
use crate::address::Area;
use crate::lanes::Mask;
use std::cell::Cell;
use sync::{LaneId, SameValue};

impl Tracker {
    /// Records a release by lanes of the tensor map that they copied to a place.
    pub(crate) fn publish_map(&mut self, warp: usize, lanes: Mask, (area, offset): (Area, i64)) {
        self.order.publish_map(warp, lanes, (area_code(area), offset));
    }

    /// Records a lane's acquire of the tensor map at a place.
    pub(crate) fn acquire_map(&mut self, warp: usize, lane: usize, (area, offset): (Area, i64)) {
        self.order.acquire_map(warp, lane, (area_code(area), offset));
    }

    /// Records a bulk copy's read of its tensor map. Returns `true` if another block of the cluster has
    /// changed the map. Maps that no kernel changes have no shadow.
    pub(crate) fn read_map(
        &mut self,
        (warp, lane): (usize, usize),
        (area, offset): (Area, i64),
        attributes: AccessAttributes,
    ) -> bool {
        let warps = self.block_warps();
        let Shadows { global, conflicts, enabled: true, .. } = &mut self.shadows else {
            return false;
        };
        let Area::Global(number) = area else { return false };
        let Some(Some(shadow)) = global.get_mut(number) else { return false };
        let access = attributes.by((warp, Mask::one(lane)), SameValue::Different);
        let order = &self.order;
        if let Some(history) = &mut self.history {
            let place = (area, offset, ir::TENSOR_MAP_BYTES as u32);
            history.access(order.clocks(), &access, place);
        }
        conflicts.allocation = area_code(area);
        let later = LaneId { warp: warp as u8, lane: lane as u8 };
        let block = |who: LaneId| warps.map(|warps| u16::from(who.warp) / warps);
        let is_changed_by_other_block = Cell::new(false);
        let visible = |who: LaneId, time| {
            is_changed_by_other_block
                .set(is_changed_by_other_block.get() || block(who) != block(later));
            order.is_map_visible((who, time), later, (area_code(area), offset))
        };
        shadow.read_map(order.clocks(), order.copies(), (&access, offset), &visible, conflicts);
        if self.shadows.contexts.len() < self.shadows.conflicts.found.len() {
            self.report_contexts(area);
        }
        is_changed_by_other_block.get()
    }
}
