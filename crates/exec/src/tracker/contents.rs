//! Contents of bulk copies: copies from the same source bytes, which the launch does not write, leave the same
//! values, from every thread and at any time, so their order makes no difference.
//!
//! That is known only for sources that are inputs. All others count as different, which errs towards a race.

use super::Tracker;
use crate::address::{Area, Pointer};
use rustc_hash::FxHashMap;
use sync::AgentId;

/// The contents and target of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CopyContents {
    /// Bytes of an allocation: the byte at an offset of the target is that of the source at this offset plus
    /// `distance`.
    Bytes { source: Area, target: Area, distance: i64 },
    /// A box of the tensor of a map.
    Box { map: Pointer, coordinates: Vec<i32>, offsets: Vec<u16>, target: Pointer },
}

/// Numbers for the contents of copies in a block: equal contents have equal numbers.
#[derive(Debug, Default)]
pub(super) struct ContentNumbers {
    known: FxHashMap<CopyContents, u32>,
}

impl ContentNumbers {
    /// Forgets all contents.
    pub(super) fn clear(&mut self) {
        self.known.clear();
    }
}

impl Tracker {
    /// Records the contents of a bulk copy from a source that the launch does not write.
    pub(crate) fn note_contents(&mut self, copy: AgentId, contents: CopyContents) {
        if self.shadows.enabled {
            let next = self.contents.known.len() as u32;
            let number = *self.contents.known.entry(contents).or_insert(next);
            self.order.set_contents(copy, number);
        }
    }
}
