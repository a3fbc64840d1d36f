//! Accesses that all threads know of, so that cells can forget them: reads, and writes that a later write hides.
//!
//! If every thread knows of an access, then every one from now on is ordered after it, and conflicts with it no more.
//! After a barrier of the whole block this holds for all reads before it, which is a new epoch ([`Clocks::epoch`]).
//! Producers and consumers wait for each other at barriers of some warps instead: the producer learns of the reads of
//! each consumer, and passes that on. So after each such barrier the least knowledge of all warps is computed.
//!
//! Errs towards unknown: nothing is known to all once a thread has exited, or while the lanes of a warp differ. The
//! caller must not ask for it if memory is accessed asynchronously, because such an access may lack a proxy fence
//! although it is ordered after a read.

use super::{Clocks, Time, WarpClock};
use crate::order::Order;

impl Order {
    /// Forgets reads that all threads know of. The findings are the same if nothing accesses memory asynchronously.
    pub fn forget_known_reads(&mut self) {
        self.clocks.followed = vec![0; self.clocks.warps.len()];
    }
}

impl Clocks {
    /// Computes what all threads know, after a barrier of some warps.
    pub(crate) fn update_followed(&mut self) {
        let is_simple = |clock: &WarpClock| clock.uniform && !clock.divided;
        if self.followed.is_empty() || self.any_exited || !self.warps.iter().all(is_simple) {
            return;
        }
        for (party, (followed, &common)) in self.followed.iter_mut().zip(&self.common).enumerate() {
            let known = self.warps.iter().map(|clock| clock.across(0)[party].max(common));
            *followed = known.min().unwrap_or(0).max(*followed);
        }
    }

    /// Returns `true` if all threads know of the accesses of a warp at a time. Errs towards `false`.
    #[must_use]
    #[inline]
    pub fn known_to_all(&self, warp: u8, time: Time) -> bool {
        let warp = usize::from(warp);
        self.followed.get(warp).is_some_and(|&known| time < known)
            && !self.any_exited
            && !self.warps[warp].divided
    }
}

#[cfg(test)]
mod tests {
    use crate::barriers::Registration;
    use crate::cluster::Shape;
    use crate::lanes::Mask;
    use crate::order::Order;

    fn meet(order: &mut Order, id: u8, arrives: &[usize], waits: &[usize]) {
        let count = Some(32 * (arrives.len() + waits.len()) as u32);
        for (warps, waiting) in [(arrives, Mask::NONE), (waits, Mask::ALL)] {
            for &warp in warps {
                let lanes = Mask::ALL;
                order
                    .arrive(
                        id,
                        Registration { warp, lanes, waiting, count, reduces: false, site: 0 },
                    )
                    .unwrap();
            }
        }
        assert!(order.is_complete(0, id));
        order.release(0, id);
    }

    /// A producer passes on what it learned of the consumers, but only once it has told all of them.
    #[test]
    fn reads_are_known_to_all_after_the_producer_has_passed_them_on() {
        let shape = Shape { warps: 3, blocks: 1, mbarriers: false, clusters: false };
        let mut order = Order::new(shape);
        let read = order.now(1);
        meet(&mut order, 1, &[1, 2], &[0]);
        assert!(!order.clocks.known_to_all(1, read), "nobody asked");
        order.forget_known_reads();
        meet(&mut order, 2, &[0], &[1]);
        assert!(!order.clocks.known_to_all(1, read), "warp 2 does not know");
        meet(&mut order, 2, &[0], &[2]);
        assert!(order.clocks.known_to_all(1, read));
        assert!(!order.clocks.known_to_all(1, order.now(1)));
    }
}
