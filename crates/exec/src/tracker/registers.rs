//! Changes of registers by warp groups (`setmaxnreg`, PTX manual §9.7.19.5).
//!
//! All four warps of a group must execute the same changes in the same order; that a last group of fewer warps may do so is listed as
//! assumed. `.inc` waits until the block has as many
//! registers left; how many it has is the assembler's choice, so that wait is taken to end, which the report lists.

use super::Tracker;
use ir::RegisterPool;
use sync::Site;

/// Warps of a group.
const WARPS: usize = 4;

/// The changes of each warp of a block.
#[derive(Debug, Default)]
pub(crate) struct RegisterChanges {
    warps: Vec<Vec<(RegisterPool, Site)>>,
}

impl RegisterChanges {
    /// Notes a change of a warp.
    pub(crate) fn note(&mut self, warp: usize, change: RegisterPool, site: Site) {
        if self.warps.len() <= warp {
            self.warps.resize_with(warp + 1, Vec::new);
        }
        self.warps[warp].push((change, site));
    }

    /// In blocks of so many warps, the first change of each group that a warp of the group does not do: its warp, its place, and who does something else.
    pub(crate) fn differing(&self, warps: usize, blocks: usize) -> Vec<(usize, Site, usize)> {
        let empty = Vec::new();
        let changes = |warp: usize| self.warps.get(warp).unwrap_or(&empty);
        let mut found = Vec::new();
        let starts = (0..blocks).flat_map(|block| {
            let end = (block + 1) * warps;
            (block * warps..end).step_by(WARPS).map(move |first| (first, end))
        });
        for (first, end) in starts {
            let group = first..(first + WARPS).min(end);
            let Some(most) = group.clone().max_by_key(|&warp| changes(warp).len()) else {
                continue;
            };
            let other = |&warp: &usize| {
                let pairs = changes(most).iter().zip(changes(warp));
                let same = pairs.take_while(|((one, _), (other, _))| one == other).count();
                changes(most).get(same).map(|(_, site)| (most, *site, warp))
            };
            found.extend(group.filter_map(|warp| other(&warp)).next());
        }
        found
    }
}

impl Tracker {
    /// The changes of registers so far.
    pub(crate) fn register_changes(&mut self) -> &mut RegisterChanges {
        &mut self.register_changes
    }
}
