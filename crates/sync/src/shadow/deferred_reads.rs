//! Deferred recording of reads of shared memory, for speed.
//!
//! A warp that reads a tile would record 32 cells in each instruction. Almost always all threads wait at a barrier
//! before any thread writes there, and then those reads can conflict with nothing. So ordinary reads are kept in a list
//! while the epoch (the time between two barriers of the whole block) has no write. Any other access in the epoch
//! records them first. So does an access after the exit of a thread, because no barrier orders the reads of that
//! thread. Otherwise the list is dropped at the end of the epoch. The conflicts found are the same.

use super::{Access, MemoryEffect, Shadow, entry, extent};
use crate::clocks::Clocks;
use crate::entry::Entry;
use crate::lanes::{Mask, WARP};
use crate::proxy::ProxySpace;

/// The largest number of instructions kept; further reads of the epoch are recorded at once.
const MAX_DEFERRED: usize = 2048;

/// Reads of an epoch that are not in the cells yet.
#[derive(Clone, Debug, Default)]
pub(super) struct DeferredReads {
    epoch: u32,
    reads: Vec<DeferredRead>,
    /// The epoch whose reads are recorded at once: it has a write, or too many reads.
    immediate_epoch: u32,
    /// Set if a cell may hold more than its last write and the reads after it.
    unusual: bool,
}

/// Reads of a warp at one instruction.
#[derive(Clone, Copy, Debug)]
struct DeferredRead {
    access: Access,
    time: u32,
    bytes: u32,
    starts: [u32; WARP],
}

impl DeferredReads {
    /// Drops all reads and flags, for a new block.
    pub(super) fn clear(&mut self) {
        self.reads.clear();
        (self.immediate_epoch, self.unusual) = (0, false);
    }

    /// Records that the epoch has an access other than an ordinary read.
    #[inline]
    pub(super) fn note_change(&mut self, access: &Access, epoch: u32) {
        self.immediate_epoch = epoch;
        self.unusual |=
            access.kind == MemoryEffect::Update || access.copy.is_some() || access.is_async;
    }

    /// Sets `unusual` if a cell holds more than its last write and the reads after it.
    #[inline]
    pub(super) fn note_unusual(&mut self, is_unusual: bool) {
        self.unusual |= is_unusual;
    }
}

/// Calls `visit` for each place that lanes access, with its lanes. Lanes with the same start are grouped, unless the
/// first lane's start is its own: then every lane gets its own call.
pub fn each_place(lanes: Mask, starts: &[u32; WARP], mut visit: impl FnMut(Mask, u32)) {
    let mut rest = lanes;
    while let Some(lane) = rest.lowest() {
        let start = starts[lane];
        let mut same = 0;
        for (lane, &other) in starts.iter().enumerate() {
            same |= u32::from(other == start) << lane;
        }
        let same = Mask(same).and(rest);
        visit(same, start);
        rest = rest.without(same);
        if same.count() == 1 && rest.count() == lanes.count() - 1 {
            return rest.iter().for_each(|lane| visit(Mask::one(lane), starts[lane]));
        }
    }
}

impl Shadow {
    /// Defers ordinary reads of `bytes` bytes by lanes of a warp, each at its start, a multiple of `bytes`. Returns
    /// `false` if they must be recorded now. Shared memory has no read-only cache, so conflicts with it do not arise.
    #[inline]
    pub fn defer_read(
        &mut self,
        clocks: &Clocks,
        (access, bytes): (&Access, u32),
        starts: &[u32; WARP],
    ) -> bool {
        let (epoch, deferred) = (clocks.epoch(), &mut self.deferred);
        let is_plain = access.kind == MemoryEffect::Read
            && !(access.copy.is_some() || access.non_coherent || access.is_async);
        let is_quiet =
            deferred.immediate_epoch != epoch && !deferred.unusual && !clocks.any_exited();
        if !is_plain || !is_quiet || self.space != ProxySpace::Shared || !self.products.is_empty() {
            return false;
        }
        // Smaller cells would change how often conflicts are counted.
        if bytes & ((1 << self.shift) - 1) != 0 {
            return false;
        }
        if deferred.epoch != epoch {
            // All threads have passed a barrier since, and none had exited.
            deferred.reads.clear();
            deferred.epoch = epoch;
        }
        if deferred.reads.len() == MAX_DEFERRED {
            deferred.immediate_epoch = epoch;
            self.record_all_deferred(clocks);
            return false;
        }
        let time = clocks.now(access.warp);
        deferred.reads.push(DeferredRead { access: *access, time, bytes, starts: *starts });
        true
    }

    /// Records the deferred reads, before another access.
    #[inline]
    pub(super) fn record_deferred_reads(&mut self, clocks: &Clocks) {
        if !self.deferred.reads.is_empty() {
            self.record_all_deferred(clocks);
        }
    }

    #[inline(never)]
    fn record_all_deferred(&mut self, clocks: &Clocks) {
        let (mut reads, epoch) = (std::mem::take(&mut self.deferred.reads), self.deferred.epoch);
        if epoch == clocks.epoch() || clocks.any_exited() {
            for DeferredRead { access, time, bytes, starts } in &reads {
                let entry = Entry { time: *time, ..entry(clocks, access, 0) };
                each_place(access.lanes, starts, |lanes, start| {
                    let extent = extent(access.element, start.into());
                    let entry = Entry { lanes, extent, ..entry };
                    self.record_read(clocks, &entry, (start, *bytes), epoch);
                });
            }
        }
        reads.clear();
        self.deferred.reads = reads;
    }

    /// Records a read in an epoch without a write.
    fn record_read(
        &mut self,
        clocks: &Clocks,
        entry: &Entry,
        (start, bytes): (u32, u32),
        epoch: u32,
    ) {
        debug_assert!((start | bytes) & ((1 << self.shift) - 1) == 0, "smaller than a cell");
        for index in start >> self.shift..(start + bytes) >> self.shift {
            let cell = self.cells.get(index.into());
            debug_assert!(cell.was_written_before(epoch), "the cell was written in this epoch");
            cell.read(&mut self.lists, clocks, entry, epoch);
        }
    }
}
