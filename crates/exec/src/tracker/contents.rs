//! What bulk copies write: copies of the same bytes of memory that the launch does not write leave the same values, whoever starts them
//! and whenever, so it makes no difference which of them is the last.
//!
//! That is known of sources that are inputs alone. All else counts as different, which errs towards a race.

use super::Tracker;
use crate::address::{Area, Pointer};
use rustc_hash::FxHashMap;
use sync::CopyId;

/// What a copy writes where.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CopyContents {
    /// Bytes of an allocation: each byte of the target is the one so much further in the source.
    Bytes { source: Area, target: Area, distance: i64 },
    /// A box of the tensor of a map.
    Box { map: Pointer, coordinates: Vec<i32>, offsets: Vec<u16>, target: Pointer },
}

/// Contents met in a block, by number.
#[derive(Debug, Default)]
pub(super) struct ContentNumbers {
    known: FxHashMap<CopyContents, u32>,
}

impl ContentNumbers {
    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

impl Tracker {
    /// Notes what a bulk copy writes, from a source that the launch does not write.
    pub(crate) fn note_contents(&mut self, copy: CopyId, contents: CopyContents) {
        if self.shadows.enabled {
            let next = self.contents.known.len() as u32;
            let number = *self.contents.known.entry(contents).or_insert(next);
            self.order.set_contents(copy, number);
        }
    }
}
