//! Looks at the end of a block whether the warps of each group did the same changes of registers.

use crate::block::BlockRun;
use crate::finding::Fault;

impl BlockRun<'_, '_> {
    /// Reports, at the end of a block, changes of registers that not all warps of a group did.
    pub(crate) fn note_register_changes(&mut self) {
        let found = self
            .tracker
            .register_changes()
            .differing(self.machine.launch.warps(), self.machine.blocks);
        for (warp, site, other) in found {
            let fault = Fault::PartOfWarpGroup { other: other as u32 };
            let (place, thread) = (self.machine.site_place(site), self.thread(warp, 0));
            self.report.find(fault, place, thread);
        }
    }
}
