//! Compares an access with the earlier ones of a cell, lane by lane, and collects the conflicts. Accesses that
//! [`super::ordered`] can record alone do not come here.

use super::{AccessOrder, Cell, mark};
use crate::clocks::LaneId;
use crate::entry::{Commutes, Entry, HiddenValue, Lists, conflict_side};
use crate::lanes::Mask;
use crate::shadow::{Access, Conflict, ConflictSide, Conflicts, MemoryEffect, SameValue};

impl Cell {
    /// Returns `true` if `entry` and the last write are copies of the same contents, with no update in between.
    pub(super) fn is_repeated(&self, order: AccessOrder<'_>, entry: &Entry) -> bool {
        let both_write =
            (entry.kind, self.write.kind) == (MemoryEffect::Write, MemoryEffect::Write);
        let both_are_copies = entry.is_copy && self.write.is_copy;
        let updated = self.marks & (mark::UPDATED | mark::UPDATED_OTHERWISE) != 0;
        both_write && both_are_copies && !updated && order.same_contents(entry, &self.write)
    }

    /// Returns `true` if the same instruction made the last write, at the same address and with no update in between,
    /// and its value is determined by the address.
    #[inline(always)]
    pub(super) fn is_written_again(&self, access: &Access, entry: &Entry) -> bool {
        access.is_determined
            && access.same_value == SameValue::Undecided
            && (self.write.kind, self.write.is_copy) == (MemoryEffect::Write, false)
            && self.write.lanes != Mask::NONE
            && (self.write.site, self.write.extent) == (entry.site, entry.extent)
            && self.marks & (mark::UPDATED | mark::UPDATED_OTHERWISE) == 0
    }

    /// Returns `true` if the cell holds anything to compare an access with, whichever its lane.
    pub(super) fn has_candidates(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        entry: &Entry,
    ) -> bool {
        let write_is_past = self.write_is_past(order);
        let past = self.history_is_past(order);
        self.write.lanes != Mask::NONE && !write_is_past && !order.is_past_write(&self.write)
            || !past && self.first.lanes != Mask::NONE && !never_conflicts(&self.first, entry)
            || !past && lists.get(self.list).iter().any(|other| !never_conflicts(other, entry))
    }

    /// Adds the conflicts of one lane's access.
    pub(super) fn compare(
        &self,
        lists: &Lists,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, lane, offset): (&Entry, usize, i64),
        conflicts: &mut Conflicts,
    ) {
        let one = (entry, lane);
        let write_is_past = self.write_is_past(order);
        let mut excused = false;
        if self.write.lanes != Mask::NONE && !write_is_past {
            excused |= compare_pair(order, access, one, &self.write, offset, conflicts);
        }
        let past = self.history_is_past(order);
        let history = || (!past).then(|| self.history(lists)).into_iter().flatten();
        for other in history().filter(|other| !other.hidden) {
            excused |= compare_pair(order, access, one, other, offset, conflicts);
        }
        if excused {
            let aside = lists.get(self.aside);
            for other in history().chain(aside).filter(|other| other.hidden) {
                compare_pair(order, access, one, other, offset, conflicts);
            }
        }
    }

    /// Adds conflicts of reads through the read-only cache: no write is ordered with them.
    pub(super) fn compare_non_coherent(
        &self,
        access: &Access,
        entry: &Entry,
        offset: i64,
        conflicts: &mut Conflicts,
    ) {
        let changed = mark::WRITTEN | mark::UPDATED;
        let bypassed = match access.kind {
            MemoryEffect::Read => access.non_coherent && self.marks & changed != 0,
            MemoryEffect::Write | MemoryEffect::Update => self.marks & mark::NON_COHERENT != 0,
        };
        if !bypassed {
            return;
        }
        let write = (self.write.site, self.write.who());
        let ((site, who), kind) = match access.kind {
            MemoryEffect::Read if self.marks & mark::WRITTEN != 0 => (write, MemoryEffect::Write),
            MemoryEffect::Read => (self.update, MemoryEffect::Update),
            MemoryEffect::Write | MemoryEffect::Update => (self.read, MemoryEffect::Read),
        };
        let earlier = ConflictSide { who, site, kind, time: None, copy: None };
        let later = conflict_side(entry, access.lanes.lowest().unwrap_or(0));
        let (same_value, blocks) = (None, None);
        let conflict = Conflict {
            earlier,
            later,
            offset,
            same_value,
            blocks,
            non_coherent: true,
            unseen: None,
        };
        conflicts.add_times(conflict, access.lanes.count().into());
    }
}

/// Returns `true` if two accesses do not conflict even if unordered.
fn never_conflicts(earlier: &Entry, later: &Entry) -> bool {
    match (earlier.kind, later.kind) {
        (MemoryEffect::Read, MemoryEffect::Read) => true,
        (MemoryEffect::Update, MemoryEffect::Update) => {
            earlier.commutes == later.commutes
                && match later.commutes {
                    Commutes::Nothing => false,
                    Commutes::OwnSite => earlier.site == later.site,
                    Commutes::Mbarrier => true,
                }
        }
        _ => false,
    }
}

/// Adds the conflict of a lane's access with an earlier one, if they conflict. Returns `true` if equal values
/// may excuse it.
fn compare_pair(
    order: AccessOrder<'_>,
    access: &Access,
    (entry, lane): (&Entry, usize),
    other: &Entry,
    offset: i64,
    conflicts: &mut Conflicts,
) -> bool {
    if never_conflicts(other, entry) {
        return false;
    }
    let later = LaneId { warp: entry.warp, lane: lane as u8 };
    let Some(earlier) = order.unordered(other, later) else { return false };
    let same_kind = other.kind == entry.kind && entry.kind != MemoryEffect::Read;
    // The time at which a copy in flight writes is unknown. Two kinds of copies still write the same: those
    // of lanes of a warp at one instruction, and those from one source that is never written.
    let time_is_known = earlier.time.is_some() && !entry.is_copy;
    let both_are_copies = entry.is_copy && other.is_copy;
    let same_contents = both_are_copies && order.same_contents(entry, other);
    let same_instruction = both_are_copies && (entry.site, entry.warp) == (other.site, other.warp);
    let same_result = same_contents || same_instruction && access.same_value == SameValue::Equal;
    let same_place = same_kind && (time_is_known || same_result) && other.extent == entry.extent;
    let same = if same_contents { SameValue::Equal } else { access.same_value };
    let same_value = same_place.then_some(match (same, other.hides) {
        (SameValue::Equal, HiddenValue::MayDiffer) => SameValue::Undecided,
        (_, HiddenValue::Differs) => SameValue::Different,
        (same, _) => same,
    });
    let (later, blocks) = (conflict_side(entry, lane), None);
    let non_coherent = false;
    conflicts.add(Conflict {
        earlier,
        later,
        offset,
        same_value,
        blocks,
        non_coherent,
        unseen: None,
    });
    matches!(same_value, Some(SameValue::Equal | SameValue::Undecided))
}
