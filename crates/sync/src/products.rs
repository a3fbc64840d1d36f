//! Products of warp groups (`wgmma.mma_async`, PTX manual §9.7.15): agents that read shared memory.
//!
//! A warp's part of a product is one operation of all its lanes: it comes after everything that *any* of them
//! did or learned before. It is over once a warp of the group has waited for the product
//! (`wgmma.wait_group`), for that warp and for threads that know of its wait. In between it is unordered with
//! everything. It reads through the async proxy, so writes of threads need a fence ([`crate::proxy`]);
//! nothing more is needed after the wait (§9.7.15.4).
//!
//! The wait of one warp covers the parts of all four: CUTLASS pipelines rely on this when one thread hands a
//! stage back. The manual makes a wgmma-group *per warpgroup* (§9.7.15.7.2) and says no more. So it was
//! measured on an H200: no warp passes the wait before the last of the four has reached the product.
//! Overwriting operands after the wait of one warp changes no result of the other three. There were seven
//! settings (no warp late, each of the four late, others late, in turn), with the operands overwritten by
//! that warp, by stores of a fifth one or by a bulk copy. None of 158 400 rounds of eight products of 528
//! blocks each was wrong. Without the wait some were wrong in each of the seven runs with 528 blocks, and
//! none with one block. Reports list this as assumed.
//!
//! The reads are kept beside the cells of a [`crate::Shadow`], as sets of units of 16 bytes: only writes look
//! them up. A bulk copy's write that comes after a product removes bytes from its set: an access unordered
//! with the product is then unordered with the copy too, and no equal value excuses it from that. A product
//! known to all threads is removed as a whole.

use crate::cell::{AccessOrder, Cell};
use crate::clocks::LaneId;
use crate::copies::AgentId;
use crate::entry::{Entry, conflict_side};
use crate::lanes::{Mask, WARP};
use crate::pages::Pages;
use crate::proxy::Visibility;
use crate::shadow::{Access, Conflict, ConflictSide, Conflicts, MemoryEffect, Site};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a unit, as a power of two.
const UNIT: u32 = 4;

/// The number of reads at which completed ones are removed for the first time.
const MIN_KEPT_READS: usize = 64;

/// The most ranges of pages in [`ProductReads::spans`].
const MAX_SPANS: usize = 1 << 10;

/// A write invisible to a product: the writer and, if the product is ordered after it, the missing fence.
pub(crate) type Unseen = (ConflictSide, Option<Visibility>);

/// The bytes read by a product, as units of 16 bytes. Many products read the same ones.
#[derive(Clone, Debug)]
pub struct ReadUnits {
    /// The first unit, a multiple of 64.
    first: u64,
    units: Arc<[u64]>,
    /// The smallest range around all units.
    bounds: Range<i64>,
}

impl ReadUnits {
    /// Collects the units of ranges of bytes, which are in ascending order.
    #[must_use]
    pub fn new(ranges: &[(i64, u32)]) -> Self {
        let start = ranges.first().map_or(0, |range| range.0);
        let end = ranges.iter().map(|&(start, bytes)| start + i64::from(bytes)).max().unwrap_or(0);
        let first = (start >> UNIT).cast_unsigned() & !63;
        let words = (((end >> UNIT).cast_unsigned() + 1).saturating_sub(first)).div_ceil(64);
        let mut reads = Self { first, units: vec![0; words as usize].into(), bounds: start..end };
        ranges.iter().for_each(|&(offset, bytes)| reads.add(offset, bytes));
        reads
    }

    /// Returns the smallest range of bytes around all units.
    pub(crate) fn bounds(&self) -> &Range<i64> {
        &self.bounds
    }

    /// Returns the units of a range of bytes, as positions and bits within these words of 64 units.
    fn bits(&self, offset: i64, bytes: u32) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (from, to) = (offset >> UNIT, (offset + i64::from(bytes) - 1) >> UNIT);
        let end = self.first + 64 * self.units.len() as u64;
        let from = (from.max(0) as u64).max(self.first);
        let to = (to.max(-1) + 1).cast_unsigned().min(end);
        let first = self.first;
        let words = if from < to { (from - first) / 64..(to - 1 - first) / 64 + 1 } else { 0..0 };
        words.map(move |word| {
            let start = first + 64 * word;
            let low = from.saturating_sub(start);
            let high = (to - start).min(64);
            let ones = if high - low == 64 { u64::MAX } else { ((1 << (high - low)) - 1) << low };
            (word as usize, ones)
        })
    }

    /// Returns the first byte of a range that the product reads.
    fn first_common_byte(&self, offset: i64, bytes: u32) -> Option<i64> {
        self.bits(offset, bytes).find_map(|(word, ones)| {
            let common = self.units[word] & ones;
            let unit = self.first + 64 * word as u64 + u64::from(common.trailing_zeros());
            (common != 0).then(|| ((unit << UNIT).cast_signed()).max(offset))
        })
    }

    fn remove(&mut self, offset: i64, bytes: u32) {
        let bits = self.bits(offset, bytes);
        let units = Arc::make_mut(&mut self.units);
        bits.for_each(|(word, ones)| units[word] &= !ones);
    }

    fn add(&mut self, offset: i64, bytes: u32) {
        let bits = self.bits(offset, bytes);
        let units = Arc::make_mut(&mut self.units);
        bits.for_each(|(word, ones)| units[word] |= ones);
    }
}

/// The reads of one warp's part of a product.
#[derive(Clone, Debug)]
struct ProductRead {
    copy: AgentId,
    warp: u8,
    site: Site,
    units: ReadUnits,
}

/// Reads of products that may be in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProductReads {
    reads: Vec<ProductRead>,
    /// The number of reads at which completed ones are removed next.
    prune_at: usize,
    /// The smallest range of bytes around all reads.
    bounds: Range<i64>,
    /// For pages of cells, the single access that last wrote all of them, if there is one. Valid until the
    /// next write to the page.
    writes: FxHashMap<u64, Option<Entry>>,
    /// For ranges of pages that are all in `writes`, the different accesses among those that last wrote them.
    spans: FxHashMap<(u64, u64), Vec<Entry>>,
}

impl ProductReads {
    /// Forgets all reads.
    pub(crate) fn clear(&mut self) {
        self.reads.clear();
        self.prune_at = MIN_KEPT_READS;
        self.forget_all_writes();
    }

    /// Returns `true` if there are no reads and no cached writes.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    /// Returns the single access that last wrote all cells of a page, if there is one. It has no lanes if the
    /// page was never written.
    pub(crate) fn one_write(&mut self, page: u64, cells: &Pages<Cell>) -> Option<Entry> {
        *self.writes.entry(page).or_insert_with(|| {
            let Some(cells) = cells.elements(page) else { return Some(Entry::default()) };
            let first = *cells.first()?.only_write()?;
            let same =
                |cell: &Cell| cell.only_write().is_some_and(|one| one.is_same_access(&first));
            cells.iter().all(same).then_some(first)
        })
    }

    /// Returns the accesses that last wrote some pages, if a single one wrote all cells of each. Neighbouring pages with
    /// the same access count once, and pages that were never written count as written by no lane.
    pub(crate) fn last_writes(
        &mut self,
        (first, last): (u64, u64),
        cells: &Pages<Cell>,
    ) -> Option<&[Entry]> {
        if !self.spans.contains_key(&(first, last)) {
            let mut found: Vec<Entry> = Vec::new();
            for page in first..=last {
                let write = self.one_write(page, cells)?;
                if !found.last().is_some_and(|known| known.is_same_access(&write)) {
                    found.push(write);
                }
            }
            if self.spans.len() >= MAX_SPANS {
                self.spans.clear();
            }
            self.spans.insert((first, last), found);
        }
        self.spans.get(&(first, last)).map(Vec::as_slice)
    }

    /// Drops cached writes to these cells, which are about to be written.
    pub(crate) fn forget_writes(&mut self, first: u64, count: u64) {
        if !self.writes.is_empty() && count > 0 {
            let pages = Pages::<Cell>::page(first)..=Pages::<Cell>::page(first + count - 1);
            let (start, end) = (*pages.start(), *pages.end());
            // The pages of a span are cached, so a span is affected only if one of its pages is.
            let cached = pages.filter(|page| self.writes.remove(page).is_some()).count();
            if cached > 0 {
                self.spans.retain(|&(first, last), _| last < start || first > end);
            }
        }
    }

    /// Drops all cached writes, because the cells are rebuilt.
    pub(crate) fn forget_all_writes(&mut self) {
        self.writes.clear();
        self.spans.clear();
    }

    /// Records a product's reads of ranges of bytes. `units` are the same ranges as units.
    pub(crate) fn add(
        &mut self,
        order: AccessOrder<'_>,
        access: &Access,
        (ranges, units): (&[(i64, u32)], &ReadUnits),
    ) {
        let Some(copy) = access.copy.filter(|_| !ranges.is_empty()) else { return };
        if self.reads.len() >= self.prune_at {
            self.reads.retain(|reads| {
                reads.units.units.iter().any(|units| *units != 0) && !order.is_past_product(reads)
            });
            self.prune_at = MIN_KEPT_READS.max(2 * self.reads.len());
        }
        let ReadUnits { bounds, .. } = units;
        self.bounds = match self.reads.is_empty() {
            true => bounds.clone(),
            false => self.bounds.start.min(bounds.start)..self.bounds.end.max(bounds.end),
        };
        let (warp, site, units) = (access.warp as u8, access.site, units.clone());
        self.reads.push(ProductRead { copy, warp, site, units });
    }

    /// Compares a write or update with all reads.
    #[cold]
    pub(crate) fn compare(
        &mut self,
        order: AccessOrder<'_>,
        access: &Access,
        (entry, offset, bytes): (&Entry, i64, u32),
        conflicts: &mut Conflicts,
    ) {
        if offset >= self.bounds.end || offset + i64::from(bytes) <= self.bounds.start {
            return;
        }
        let end = offset + i64::from(bytes);
        self.reads.retain_mut(|reads| {
            let bounds = reads.units.bounds();
            let is_covered = offset <= bounds.start && bounds.end <= end;
            let Some(at) = reads.units.first_common_byte(offset, bytes) else { return true };
            let mut over = true;
            for lane in access.lanes.iter() {
                let later = LaneId { warp: entry.warp, lane: lane as u8 };
                if !order.is_over(reads, later) {
                    over = false;
                    let who = LaneId { warp: reads.warp, lane: 0 };
                    let time = order.copies.waited_at(reads.copy, 0);
                    let (site, kind, copy) = (reads.site, MemoryEffect::Read, Some(reads.copy));
                    let earlier = ConflictSide { who, site, kind, time, copy };
                    conflicts.add(conflict(earlier, conflict_side(entry, lane), at, None));
                }
            }
            let removes = over && access.is_async && access.kind == MemoryEffect::Write;
            if removes && !is_covered {
                reads.units.remove(offset, bytes);
            }
            !(removes && is_covered)
        });
    }
}

fn conflict(
    earlier: ConflictSide,
    later: ConflictSide,
    offset: i64,
    unseen: Option<Visibility>,
) -> Conflict {
    Conflict { earlier, later, offset, same_value: None, blocks: None, non_coherent: false, unseen }
}

/// Returns the lanes of a warp. If `first` belongs to the warp it comes first: a thread always knows its own actions.
fn lanes_from(warp: u8, first: LaneId) -> impl Iterator<Item = LaneId> {
    let start = if first.warp == warp { first.lane } else { 0 };
    (0..WARP as u8).map(move |lane| LaneId { warp, lane: (start + lane) % WARP as u8 })
}

impl AccessOrder<'_> {
    /// Returns `true` if a product is over for a thread: it knows of the wait of one of the warps.
    fn is_over(&self, reads: &ProductRead, later: LaneId) -> bool {
        let knows = |warp: u8, part: AgentId| {
            let waited = self.copies.waited_at(part, 0);
            waited.is_some_and(|time| {
                lanes_from(warp, later).any(|who| self.clocks.ordered(who, time, later))
            })
        };
        let others = || self.copies.parts(reads.copy).filter(|(_, part)| *part != reads.copy);
        knows(reads.warp, reads.copy) || others().any(|(warp, part)| knows(warp as u8, part))
    }

    /// Returns `true` if a product is over for all threads.
    fn is_past_product(&self, reads: &ProductRead) -> bool {
        let waited = self.copies.waited_at(reads.copy, 0);
        let who = LaneId { warp: reads.warp, lane: 0 };
        waited.is_some_and(|time| self.clocks.all_know(who, time))
    }

    /// Finds a lane whose write, possibly by a copy, is invisible to a product of a warp: nothing orders it
    /// before any lane of the warp, or it lacks a fence between the proxies.
    pub(crate) fn unseen_by_product(&self, write: &Entry, warp: u8) -> Option<Unseen> {
        for lane in write.lanes.iter() {
            let one = Entry { lanes: Mask::one(lane), ..*write };
            let who = LaneId { warp: write.warp, lane: lane as u8 };
            let mut unordered = None;
            let ordered = lanes_from(warp, who).any(|later| {
                unordered = self.unordered(&one, later);
                unordered.is_none()
            });
            if let (Some(writer), false) = (unordered, ordered) {
                return Some((writer, None));
            }
            if write.is_async {
                continue;
            }
            let time = match write.is_copy {
                false => Some(write.time),
                true => self.copies.waited_at(write.time, lane),
            };
            let seen = self.best_visibility(who, warp, |later| {
                let fences = self.copies.fences();
                let arrivals = || self.copies.arrivals(write.time, lane);
                let (clocks, space) = (self.clocks, self.space);
                match time {
                    Some(time) => fences.visibility(clocks, (who, time), later, space),
                    None => fences.arrival_visibility(clocks, arrivals(), later, space),
                }
            });
            if seen != Visibility::Visible {
                let (site, kind, copy) = (write.site, write.kind, write.copy());
                return Some((ConflictSide { who, site, kind, time, copy }, Some(seen)));
            }
        }
        None
    }

    /// Returns the visibility of a lane's write to a product of a warp: the best over the lanes of that warp.
    fn best_visibility(
        &self,
        who: LaneId,
        warp: u8,
        visibility: impl Fn(LaneId) -> Visibility,
    ) -> Visibility {
        let mut best = Visibility::NeedsFence;
        for later in lanes_from(warp, who) {
            match visibility(later) {
                Visibility::Visible => return Visibility::Visible,
                Visibility::Open => best = Visibility::Open,
                Visibility::NeedsFence | Visibility::NeedsMapFence => {}
            }
        }
        best
    }
}

/// Adds the conflict of a product with an earlier write.
pub(crate) fn add_unseen(
    entry: &Entry,
    (earlier, unseen): Unseen,
    offset: i64,
    conflicts: &mut Conflicts,
) {
    conflicts.add(conflict(earlier, conflict_side(entry, 0), offset, unseen));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn units(offset: i64, bytes: u32) -> std::ops::RangeInclusive<i64> {
        offset >> UNIT..=(offset + i64::from(bytes) - 1) >> UNIT
    }

    /// Tests sets of units against a plain set, with arbitrary ranges.
    #[test]
    fn reads_are_sets_of_units() {
        let mut reads = ReadUnits { first: 64, units: vec![0; 5].into(), bounds: 0..0 };
        let inside = 64..64 + 5 * 64;
        let mut plain = BTreeSet::new();
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for round in 0..2000 {
            let (offset, bytes) = (next(7000).cast_signed() - 200, next(900) as u32 + 1);
            let of_range = units(offset, bytes).filter(|unit| inside.contains(unit));
            if round % 3 == 0 {
                reads.remove(offset, bytes);
                of_range.for_each(|unit| {
                    plain.remove(&unit);
                });
            } else if bytes < 100 {
                reads.add(offset, bytes);
                plain.extend(of_range);
            }
            let (offset, bytes) = (next(7000).cast_signed() - 200, next(60) as u32 + 1);
            let first = units(offset, bytes).find(|unit| plain.contains(unit));
            let expected = first.map(|unit| (unit << UNIT).max(offset));
            assert_eq!(
                reads.first_common_byte(offset, bytes),
                expected,
                "{round} {offset} {bytes}"
            );
        }
    }

    #[test]
    fn a_warp_starts_with_the_lane_that_wrote() {
        let first = LaneId { warp: 3, lane: 30 };
        let order: Vec<u8> = lanes_from(3, first).map(|one| one.lane).take(3).collect();
        assert_eq!(order, [30, 31, 0]);
        assert_eq!(lanes_from(2, first).next(), Some(LaneId { warp: 2, lane: 0 }));
        assert_eq!(lanes_from(2, first).count(), WARP);
    }
}
