//! The last store to each of some adjacent elements, for reports.

use crate::address::Area;
use std::collections::BTreeMap;
use sync::Site;

/// The last store to an element: the instruction, the warp and the lane.
pub(crate) type TracedStore = (Site, usize, usize);

/// Adjacent elements, and the last store to each.
#[derive(Debug)]
pub(crate) struct Traced {
    area: Area,
    start: i64,
    /// Bytes of an element.
    bytes: i64,
    count: usize,
    last: BTreeMap<usize, TracedStore>,
}

impl Traced {
    /// Elements of an allocation from a byte on: the size of one, and how many.
    pub(crate) fn new(area: Area, start: i64, (bytes, count): (u32, usize)) -> Self {
        Self { area, start, bytes: i64::from(bytes.max(1)), count, last: BTreeMap::new() }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Records a store to some bytes of an allocation.
    pub(super) fn store(&mut self, (area, offset, bytes): (Area, i64, u32), store: TracedStore) {
        let from = offset.saturating_sub(self.start);
        let to = from.saturating_add(i64::from(bytes));
        if area != self.area || to <= 0 {
            return;
        }
        let first = usize::try_from(from.max(0) / self.bytes).unwrap_or(usize::MAX);
        let end =
            usize::try_from(to.saturating_add(self.bytes - 1) / self.bytes).unwrap_or(usize::MAX);
        for at in first..end.min(self.count) {
            self.last.insert(at, store);
        }
    }

    /// Takes the stores since the last call, by element.
    pub(super) fn take(&mut self) -> Vec<(usize, TracedStore)> {
        std::mem::take(&mut self.last).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_store_to_each_element_counts() {
        let area = Area::Shared(0);
        let mut traced = Traced::new(area, 8, (4, 3));
        // Bytes before and after, another allocation, then parts of elements.
        for at in [(area, 0, 8), (area, 20, 4), (Area::Shared(1), 8, 12)] {
            traced.store(at, (1, 0, 0));
        }
        assert_eq!(traced.take(), []);
        traced.store((area, 4, 8), (2, 0, 1));
        traced.store((area, 10, 4), (3, 1, 2));
        traced.store((area, 16, 64), (4, 1, 3));
        assert_eq!(traced.take(), [(0, (3, 1, 2)), (1, (3, 1, 2)), (2, (4, 1, 3))]);
        assert_eq!(traced.take(), []);
    }
}
