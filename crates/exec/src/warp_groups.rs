//! Warp groups: ends waits for products when all warps have come, and checks at the end of a block that the
//! warps of each group changed registers and multiplied alike.

use crate::block::BlockRun;
use crate::finding::Fault;
use crate::warp::State;

impl BlockRun<'_, '_> {
    /// Wakes waits for products that all warps of the group have reached. Returns `true` if there were any.
    pub(crate) fn wake_products(&mut self) -> bool {
        let mut woken = false;
        for warp in &mut self.warps {
            for group in &mut warp.groups {
                let State::WarpGroup(pending) = group.state else { continue };
                if !self.tracker.lacks_warps(warp.number, pending) {
                    group.state = State::Ready;
                    woken = true;
                }
            }
        }
        woken
    }

    /// Ends waits for products although a warp of the group has not come, when no other thread can continue.
    /// Returns `true` if there were any. The missing warp is reported: it comes too late, or never.
    pub(crate) fn pass_products(&mut self) -> bool {
        let mut woken = false;
        for warp in &mut self.warps {
            for group in &mut warp.groups {
                if matches!(group.state, State::WarpGroup(_)) {
                    group.state = State::Ready;
                    (warp.passes_wait, woken) = (true, true);
                }
            }
        }
        woken
    }

    /// Reports, at the end of a block, steps that the warps of a group executed differently.
    pub(crate) fn note_group_steps(&mut self) {
        let (warps, blocks) = (self.machine.launch.warps(), self.machine.blocks);
        let found = self.tracker.group_steps().differing(warps, blocks);
        for (warp, site, instruction, why) in found {
            let fault = Fault::PartOfWarpGroup { instruction, why };
            let (place, thread) = (self.machine.site_place(site), self.thread(warp, 0));
            self.report.record_fault(fault, place, thread);
        }
    }
}
