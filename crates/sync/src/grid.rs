//! Blocks against each other: nothing orders what two blocks of a launch do.

use crate::cell::{Summary, mark};
use crate::clocks::LaneId;
use crate::pages::Pages;
use crate::shadow::{Conflict, Conflicts, Kind, SameValue, Shadow, Side, Site};

/// The last block that did something to some bytes, where and which thread.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    block: u64,
    site: Site,
    who: LaneId,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    marks: u16,
    /// Of the last write.
    extent: u8,
    read: Last,
    write: Last,
    update: Last,
    other_update: Last,
}

/// What a block did to one allocation, in short: it outlives the block's [`Shadow`].
#[derive(Clone, Debug)]
pub struct Touched {
    shift: u32,
    cells: Vec<(u64, Summary)>,
}

impl Touched {
    /// What a shadow knows.
    #[must_use]
    pub fn new(shadow: &Shadow) -> Self {
        Self { shift: shadow.shift(), cells: shadow.summaries().collect() }
    }

    /// Where bytes were written or updated, and how many: pieces that do not overlap.
    pub fn changed(&self) -> impl Iterator<Item = (i64, u64)> {
        let mut cells = self.cells.iter().filter(|(_, summary)| summary.marks & CHANGES != 0);
        let mut next = cells.next();
        std::iter::from_fn(move || {
            let &(first, _) = next?;
            let mut count = 1;
            next = cells.next();
            while next.is_some_and(|&(index, _)| index == first.wrapping_add(count)) {
                count += 1;
                next = cells.next();
            }
            Some(((first << self.shift).cast_signed(), count << self.shift))
        })
    }
}

/// Marks of bytes that a block wrote or updated.
const CHANGES: u16 = mark::WRITTEN | mark::UPDATED;

/// What the blocks so far did to one allocation.
#[derive(Clone, Debug)]
pub struct Grid {
    shift: u32,
    size: u64,
    cells: Pages<Cell>,
}

impl Grid {
    /// Nobody has accessed an allocation of `size` bytes.
    #[must_use]
    pub fn new(size: u64) -> Self {
        let shift = 2;
        Self { shift, size, cells: Pages::new(size >> shift) }
    }

    /// Returns an instruction that accessed the allocation, if any did.
    #[must_use]
    pub fn any_access(&self) -> Option<Site> {
        let (_, cell) = self.cells.iter().find(|(_, cell)| cell.marks != 0)?;
        let lasts = [
            (mark::READ, cell.read),
            (mark::WRITTEN, cell.write),
            (mark::UPDATED, cell.update),
            (mark::UPDATED_OTHERWISE, cell.other_update),
        ];
        lasts.iter().find(|(mark, _)| cell.marks & mark != 0).map(|(_, last)| last.site)
    }

    /// Adds what a block did, and compares it with the blocks before. `commute` says whether the
    /// updates of two instructions commute, whoever executes them.
    pub fn add(
        &mut self,
        block: u64,
        shadow: &Shadow,
        commute: &dyn Fn(Site, Site) -> bool,
        met: &mut Conflicts,
    ) {
        self.add_cells(block, shadow.shift(), shadow.summaries(), (commute, met));
    }

    /// As [`add`](Self::add), of a block that is over.
    pub fn add_touched(
        &mut self,
        block: u64,
        touched: &Touched,
        commute: &dyn Fn(Site, Site) -> bool,
        met: &mut Conflicts,
    ) {
        self.add_cells(block, touched.shift, touched.cells.iter().copied(), (commute, met));
    }

    /// Whether a block touched what one of the blocks so far has changed, of those that are
    /// `strange` to it.
    #[must_use]
    pub fn meets(&self, touched: &Touched, strange: &dyn Fn(u64) -> bool) -> bool {
        let changed = |index: u64| {
            let Some(cell) = self.cells.peek(index) else { return false };
            let lasts = [
                (mark::WRITTEN, cell.write),
                (mark::UPDATED, cell.update),
                (mark::UPDATED_OTHERWISE, cell.other_update),
            ];
            lasts.iter().any(|(mark, last)| cell.marks & mark != 0 && strange(last.block))
        };
        touched.cells.iter().any(|&(index, _)| {
            if touched.shift <= self.shift {
                let coarse = index.cast_signed() >> (self.shift - touched.shift);
                return changed(coarse.cast_unsigned());
            }
            let times = 1u64 << (touched.shift - self.shift);
            (0..times).any(|part| changed(index.wrapping_mul(times).wrapping_add(part)))
        })
    }

    fn add_cells(
        &mut self,
        block: u64,
        shift: u32,
        cells: impl Iterator<Item = (u64, Summary)>,
        (commute, met): (&dyn Fn(Site, Site) -> bool, &mut Conflicts),
    ) {
        if shift < self.shift {
            self.refine(shift);
        }
        let times = 1u64 << (shift - self.shift);
        for (index, summary) in cells {
            for part in 0..times {
                let index = index.wrapping_mul(times).wrapping_add(part);
                let cell = self.cells.get(index);
                let offset = (index << self.shift).cast_signed();
                compare(cell, block, &summary, offset, commute, met);
                record(cell, block, &summary);
            }
        }
    }

    fn refine(&mut self, shift: u32) {
        let times = 1u64 << (self.shift - shift);
        let mut cells = Pages::new(self.size >> shift);
        for (index, cell) in self.cells.iter().filter(|(_, cell)| cell.marks != 0) {
            for part in 0..times {
                *cells.get(index * times + part) = *cell;
            }
        }
        (self.cells, self.shift) = (cells, shift);
    }
}

fn record(cell: &mut Cell, block: u64, summary: &Summary) {
    let written = cell.marks & summary.marks & mark::WRITTEN != 0;
    if written && cell.extent != summary.extent {
        cell.marks |= mark::EXTENTS;
    }
    if summary.marks & mark::WRITTEN != 0 {
        cell.extent = summary.extent;
    }
    cell.marks |= summary.marks;
    let sides = [
        (mark::READ, &mut cell.read, summary.read),
        (mark::WRITTEN, &mut cell.write, summary.write),
        (mark::UPDATED, &mut cell.update, summary.update),
        (mark::UPDATED_OTHERWISE, &mut cell.other_update, summary.other_update),
    ];
    for (mark, last, (site, who)) in sides {
        if summary.marks & mark != 0 {
            *last = Last { block, site, who };
        }
    }
}

fn compare(
    cell: &Cell,
    block: u64,
    summary: &Summary,
    offset: i64,
    commute: &dyn Fn(Site, Site) -> bool,
    met: &mut Conflicts,
) {
    if cell.marks == 0 {
        return;
    }
    let before = [
        (mark::READ, Kind::Read, cell.read),
        (mark::WRITTEN, Kind::Write, cell.write),
        (mark::UPDATED, Kind::Update, cell.update),
        (mark::UPDATED_OTHERWISE, Kind::Update, cell.other_update),
    ];
    let now = [
        (mark::READ, Kind::Read, summary.read),
        (mark::WRITTEN, Kind::Write, summary.write),
        (mark::UPDATED, Kind::Update, summary.update),
        (mark::UPDATED_OTHERWISE, Kind::Update, summary.other_update),
    ];
    // Of writes that overlap in part nothing is promised, whatever they write (manual §8.7.2).
    let same_extent =
        cell.extent == summary.extent && (cell.marks | summary.marks) & mark::EXTENTS == 0;
    for (mark, kind, last) in before {
        for (other_mark, other_kind, (site, who)) in now {
            if cell.marks & mark == 0 || summary.marks & other_mark == 0 {
                continue;
            }
            let harmless = match (kind, other_kind) {
                (Kind::Read, Kind::Read) => true,
                (Kind::Update, Kind::Update) => commute(last.site, site),
                _ => false,
            };
            if harmless {
                continue;
            }
            let both_write = same_extent && (kind, other_kind) == (Kind::Write, Kind::Write);
            let read_only_cache = (cell.marks | summary.marks) & mark::NON_COHERENT != 0;
            met.add(Conflict {
                earlier: Side { who: last.who, site: last.site, kind, time: None, copy: None },
                later: Side { who, site, kind: other_kind, time: None, copy: None },
                offset,
                same_value: both_write.then(|| same_value(summary.marks)),
                blocks: Some([last.block, block]),
                non_coherent: read_only_cache && (kind == Kind::Read || other_kind == Kind::Read),
                unseen: None,
            });
        }
    }
}

/// Whether a block's writes left in place what was there.
fn same_value(marks: u16) -> SameValue {
    if marks & mark::CHANGED != 0 {
        SameValue::Different
    } else if marks & mark::MAY_HAVE_CHANGED != 0 {
        SameValue::Undecided
    } else {
        SameValue::Equal
    }
}
