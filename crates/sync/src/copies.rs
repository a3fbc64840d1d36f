//! Asynchronous copies (`cp.async`, PTX manual §9.7.9.25): agents of their own.
//!
//! A copy happens after what its thread did before, and before the wait that covers its group;
//! with everything else it is unordered, other copies of the same thread included. Once a thread has
//! waited, the copy is as good as an access of that thread at the time of its wait.

use crate::clocks::Time;
use crate::lanes::{Mask, WARP};
use std::collections::VecDeque;

/// A copy instruction as executed once by a warp.
pub type CopyId = u32;

/// Copies of a block.
#[derive(Clone, Debug)]
pub struct Copies {
    /// For each copy and lane the time of the wait that covers it; zero before that.
    waited: Vec<[Time; WARP]>,
    /// Groups of each thread, by warp and lane.
    threads: Vec<[Groups; WARP]>,
}

/// Copies of a thread that nobody has waited for.
#[derive(Clone, Debug, Default)]
struct Groups {
    /// In no group yet.
    open: Vec<CopyId>,
    committed: VecDeque<Vec<CopyId>>,
}

impl Copies {
    /// No copies, in a block of this many warps.
    #[must_use]
    pub fn new(warps: usize) -> Self {
        let threads = (0..warps).map(|_| std::array::from_fn(|_| Groups::default())).collect();
        Self { waited: Vec::new(), threads }
    }

    /// Lanes of a warp start a copy.
    pub fn start(&mut self, warp: usize, lanes: Mask) -> CopyId {
        let copy = CopyId::try_from(self.waited.len()).unwrap_or(CopyId::MAX);
        self.waited.push([0; WARP]);
        for lane in lanes.iter() {
            self.threads[warp][lane].open.push(copy);
        }
        copy
    }

    /// `cp.async.commit_group`
    pub fn commit(&mut self, warp: usize, lanes: Mask) {
        for lane in lanes.iter() {
            let groups = &mut self.threads[warp][lane];
            let open = std::mem::take(&mut groups.open);
            groups.committed.push_back(open);
        }
    }

    /// `cp.async.wait_group`: all but the last `pending` groups are complete; without a number, also
    /// what is in no group. `now` is the warp's time.
    pub fn wait(&mut self, warp: usize, lanes: Mask, pending: Option<u64>, now: Time) {
        for lane in lanes.iter() {
            let groups = &mut self.threads[warp][lane];
            let mut done = Vec::new();
            if pending.is_none() {
                done.append(&mut groups.open);
            }
            while groups.committed.len() as u64 > pending.unwrap_or(0) {
                done.extend(groups.committed.pop_front().into_iter().flatten());
            }
            for copy in done {
                self.waited[copy as usize][lane] = now;
            }
        }
    }

    /// When the thread that started a copy waited for it, if it has.
    #[must_use]
    pub fn waited(&self, copy: CopyId, lane: usize) -> Option<Time> {
        let time = self.waited[copy as usize][lane];
        (time != 0).then_some(time)
    }

    /// Copies of a thread that are in groups it has not waited for, and copies in no group.
    #[must_use]
    pub fn in_flight(&self, warp: usize, lane: usize) -> (usize, usize) {
        let Groups { open, committed } = &self.threads[warp][lane];
        (committed.iter().map(Vec::len).sum(), open.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_complete_in_order_and_uncommitted_copies_only_with_a_wait_for_all() {
        let mut copies = Copies::new(1);
        let lanes = Mask(1);
        let [first, second] = [(), ()].map(|()| {
            let copy = copies.start(0, lanes);
            copies.commit(0, lanes);
            copy
        });
        let open = copies.start(0, lanes);
        copies.wait(0, lanes, Some(1), 7);
        assert_eq!(copies.waited(first, 0), Some(7));
        assert_eq!(copies.waited(second, 0), None);
        copies.wait(0, lanes, Some(0), 8);
        assert_eq!(copies.waited(second, 0), Some(8));
        assert_eq!((copies.waited(open, 0), copies.in_flight(0, 0)), (None, (0, 1)));
        copies.wait(0, lanes, None, 9);
        assert_eq!((copies.waited(open, 0), copies.in_flight(0, 0)), (Some(9), (0, 0)));
    }
}
