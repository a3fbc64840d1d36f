//! Accesses of all lanes of a warp at one instruction.

use super::{AccessAttributes, Shadows, Tracker, area_code};
use crate::address::Area;
use crate::lanes::{Mask, WARP};
use sync::{Access, AccessPart, SameValue};

impl Tracker {
    /// Defers reads of `bytes` bytes by lanes of a warp, each at its start. Returns `false` if they must be recorded
    /// now.
    #[inline]
    pub(crate) fn defer_read(
        &mut self,
        who: (usize, Mask),
        (area, bytes): (Area, u32),
        attributes: AccessAttributes,
        starts: &[u32; WARP],
    ) -> bool {
        let Shadows { shared, traced, enabled, .. } = &mut self.shadows;
        let needs_every_access = traced.is_some() || self.history.is_some() || self.mbarriers;
        let Area::Shared(number) = area else { return false };
        if needs_every_access || self.tickets.is_some() || !*enabled || bytes == 0 {
            return false;
        }
        let access = attributes.by(who, SameValue::Different);
        let shadow = shared.get_mut(number);
        shadow.is_some_and(|one| one.defer_read(self.order.clocks(), (&access, bytes), starts))
    }

    /// Records accesses of lanes to `bytes` bytes each at one instruction, one after the other.
    pub(crate) fn access_each(
        &mut self,
        warp: usize,
        (area, bytes): (Area, u32),
        attributes: AccessAttributes,
        each: &[AccessPart],
    ) {
        let Shadows { shared, global, conflicts, traced, enabled, .. } = &mut self.shadows;
        if traced.is_some() || self.mbarriers || self.tickets.is_some() {
            for part in each {
                let target = (area, part.offset, bytes);
                self.access((warp, part.lanes), target, attributes, part.same_value);
            }
            return;
        }
        let shadow = match area {
            Area::Shared(number) => shared.get_mut(number),
            Area::Global(number) => global.get_mut(number).and_then(Option::as_mut),
            Area::Local(_) | Area::Param(_) => None,
        };
        let Some(shadow) = shadow.filter(|_| *enabled && bytes > 0) else { return };
        let access = attributes.by((warp, Mask::NONE), SameValue::Undecided);
        if let Some(history) = &mut self.history {
            for part in each {
                let access = Access { lanes: part.lanes, same_value: part.same_value, ..access };
                history.access(self.order.clocks(), &access, (area, part.offset, bytes));
            }
        }
        if self.ignores_shared && matches!(area, Area::Shared(_)) {
            return;
        }
        conflicts.allocation = area_code(area);
        let (clocks, copies) = (self.order.clocks(), self.order.copies());
        shadow.access_each(clocks, copies, (&access, bytes), each, conflicts);
        if self.shadows.contexts.len() < self.shadows.conflicts.found.len() {
            self.report_contexts(area);
        }
    }
}
