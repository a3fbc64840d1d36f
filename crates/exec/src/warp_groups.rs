//! Looks at the end of a block whether the warps of each group changed registers and multiplied alike.

use crate::block::BlockRun;
use crate::finding::Fault;

impl BlockRun<'_, '_> {
    /// Reports, at the end of a block, steps that not all warps of a group did alike.
    pub(crate) fn note_group_steps(&mut self) {
        let (warps, blocks) = (self.machine.launch.warps(), self.machine.blocks);
        let found = self.tracker.group_steps().differing(warps, blocks);
        for (warp, site, instruction, why) in found {
            let fault = Fault::PartOfWarpGroup { instruction, why };
            let (place, thread) = (self.machine.site_place(site), self.thread(warp, 0));
            self.report.find(fault, place, thread);
        }
    }
}
