//! Reports operations in flight at the end of threads: asynchronous copies, and products of warp groups.

use crate::block::BlockRun;
use crate::finding::Fault;
use crate::lanes::Mask;
use crate::position::Position;

impl BlockRun<'_, '_> {
    /// Reports copies of exiting lanes, and products of their warp if they are its last lanes.
    pub(crate) fn report_in_flight(
        &mut self,
        number: usize,
        (at, lanes): (Position, Mask),
        others_continue: bool,
    ) {
        for lane in lanes.iter() {
            let (pending, open) = self.tracker.copies_in_flight(number, lane);
            for (copies, committed) in [(open, false), (pending, true)] {
                if copies > 0 {
                    let fault = Fault::CopiesInFlight { copies, committed };
                    self.with_context(number, at, lanes, |context| {
                        context.record_fault(fault, Mask::one(lane));
                    });
                }
            }
        }
        let products = if others_continue { 0 } else { self.tracker.products_in_flight(number) };
        if products > 0 {
            let fault = Fault::ProductsInFlight { products };
            self.with_context(number, at, lanes, |context| context.record_fault(fault, lanes));
        }
    }
}
