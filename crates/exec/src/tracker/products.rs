//! Products of warp groups, passed on to [`sync`].

use super::{AccessAttributes, Shadows, Tracker, area_code};
use crate::address::Area;
use crate::lanes::Mask;
use crate::tile::Places;
use std::ops::Range;
use sync::{AgentId, MemoryEffect, SameValue, Site};

impl Tracker {
    /// Starts the part of a warp in a product of these warps.
    pub(crate) fn start_product(&mut self, warp: usize, group: Range<usize>) -> AgentId {
        let product = self.order.start_product(warp, group);
        if self.shadows.enabled {
            self.note_product(product);
        }
        product
    }

    /// Records a warp's arrival at a product of its group. Returns a warp of the group that has gone past the
    /// product, if this warp has waited for it since: on hardware that wait never ends.
    pub(crate) fn arrive_at_product(&mut self, warp: usize, group: Range<usize>) -> Option<usize> {
        self.order.arrive_at_product(warp, group).filter(|_| self.shadows.enabled)
    }

    /// Returns `true` if a wait that leaves `pending` groups covers a product that another warp of the group
    /// has not reached.
    pub(crate) fn lacks_warps(&self, warp: usize, pending: u64) -> bool {
        self.order.copies().missing_part(warp, pending).is_some()
    }

    /// Returns `true` if the warp of a product has waited for it.
    pub(crate) fn is_over(&self, product: AgentId) -> bool {
        self.order.copies().waited_at(product, 0).is_some()
    }

    /// Counts the products that a warp has not waited for.
    pub(crate) fn products_in_flight(&self, warp: usize) -> usize {
        let (pending, open) = self.order.copies().products_in_flight(warp);
        pending + open
    }

    /// Records a product's reads of byte ranges in a shared variable.
    pub(crate) fn read_by_product(
        &mut self,
        product: AgentId,
        (warp, site): (usize, Site),
        area: Area,
        Places { ranges, span, units, .. }: &Places,
    ) {
        let Area::Shared(number) = area else { return };
        if !self.shadows.enabled {
            return;
        }
        if self.mbarriers && self.has_live_mbarrier(area, *span) {
            for &(offset, bytes) in ranges {
                self.note_plain_access(Mask::ALL, (area, offset, bytes));
            }
        }
        let plain = AccessAttributes::plain(MemoryEffect::Read, site, 16);
        let attributes = AccessAttributes { copy: Some(product), is_async: true, ..plain };
        let access = attributes.by((warp, Mask::ALL), SameValue::Different);
        if let Some(history) = &mut self.history {
            for &(offset, bytes) in ranges {
                history.access(self.order.clocks(), &access, (area, offset, bytes));
            }
        }
        let Shadows { shared, conflicts, .. } = &mut self.shadows;
        let Some(shadow) = shared.get_mut(number) else { return };
        conflicts.allocation = area_code(area);
        shadow.read_by_product(
            self.order.clocks(),
            self.order.copies(),
            &access,
            (ranges, units),
            conflicts,
        );
        if self.shadows.contexts.len() < self.shadows.conflicts.found.len() {
            self.report_contexts(area);
        }
    }
}
