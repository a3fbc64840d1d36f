//! Steps that the warps of a group must execute alike: changes of registers (`setmaxnreg`, PTX manual
//! §9.7.19.5) and products (`wgmma`, §9.7.15).
//!
//! All four warps of a group must execute the same steps in the same order, products with the same
//! descriptors. A last group of fewer warps may change registers by assumption, which is listed; it cannot
//! multiply. `setmaxnreg.inc` waits until the block has enough free registers. Their number is the
//! assembler's choice, so that wait is assumed to end, which the report lists.

use super::Tracker;
use crate::finding::GroupFault;
use ir::RegisterPool;
use sync::Site;

/// Warps of a group.
const GROUP_WARPS: usize = 4;

/// A step that all warps of a group must execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Registers(RegisterPool),
    /// A product or a related step at an instruction, with a digest of its operands.
    Product(Site, u64),
}

impl Step {
    fn name(self) -> &'static str {
        match self {
            Self::Registers(_) => "setmaxnreg",
            Self::Product(..) => "wgmma",
        }
    }
}

/// The steps of each warp of a block.
#[derive(Debug, Default)]
pub(crate) struct GroupSteps {
    warps: Vec<Vec<(Step, Site)>>,
}

/// A step that not all warps of its group execute: the warp, the place, its name, and the fault.
pub(crate) type UnequalStep = (usize, Site, &'static str, GroupFault);

impl GroupSteps {
    fn add(&mut self, warp: usize, step: Step, site: Site) {
        if self.warps.len() <= warp {
            self.warps.resize_with(warp + 1, Vec::new);
        }
        self.warps[warp].push((step, site));
    }

    /// Records a change of registers by a warp.
    pub(crate) fn note(&mut self, warp: usize, change: RegisterPool, site: Site) {
        self.add(warp, Step::Registers(change), site);
    }

    /// Records a product of a warp, or a related step.
    pub(crate) fn note_product(&mut self, warp: usize, site: Site, digest: u64) {
        self.add(warp, Step::Product(site, digest), site);
    }

    /// Finds the first step of each group that some warp of the group omits, or executes differently, in
    /// blocks of this many warps.
    pub(crate) fn differing(&self, warps: usize, blocks: usize) -> Vec<UnequalStep> {
        let empty = Vec::new();
        let steps = |warp: usize| self.warps.get(warp).unwrap_or(&empty);
        let mut found = Vec::new();
        let starts = (0..blocks).flat_map(|block| {
            let end = (block + 1) * warps;
            (block * warps..end).step_by(GROUP_WARPS).map(move |first| (first, end))
        });
        for (first, end) in starts {
            let group = first..(first + GROUP_WARPS).min(end);
            let Some(longest) = group.clone().max_by_key(|&warp| steps(warp).len()) else {
                continue;
            };
            let other = |&warp: &usize| {
                let pairs = steps(longest).iter().zip(steps(warp));
                let same = pairs.take_while(|((one, _), (other, _))| one == other).count();
                let (step, site) = *steps(longest).get(same)?;
                let why = match (step, steps(warp).get(same)) {
                    (Step::Product(one, _), Some((Step::Product(other, _), _)))
                        if one == *other =>
                    {
                        GroupFault::Differs((warp % warps) as u32)
                    }
                    _ => GroupFault::Absent((warp % warps) as u32),
                };
                Some((longest, site, step.name(), why))
            };
            found.extend(group.clone().filter_map(|warp| other(&warp)).next());
            if group.len() < GROUP_WARPS {
                let product = |&(step, site): &(Step, Site)| match step {
                    Step::Product(..) => Some((longest, site, step.name(), GroupFault::Incomplete)),
                    Step::Registers(_) => None,
                };
                found.extend(steps(longest).iter().find_map(product));
            }
        }
        found
    }
}

impl Tracker {
    /// The steps of warp groups so far.
    pub(crate) fn group_steps(&mut self) -> &mut GroupSteps {
        &mut self.group_steps
    }
}
