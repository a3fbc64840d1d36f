//! Instruction coverage of a launch, over all its blocks.
//!
//! Instructions run in stretches, from a first one to the end of a basic block or to one that waits. So
//! nothing is recorded for each instruction. A stretch records how far it came, and only guarded instructions
//! record that some lane executed them. An instruction whose guard fails in every lane that reaches it is not
//! executed, and neither is a conditional branch that no lane takes.

use crate::machine::Machine;
use base::Span;
use ir::{FuncId, Terminator};
use std::collections::BTreeMap;
use sync::Site;

/// The instructions executed so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    /// For each instruction that started a stretch: the number after the last one executed from there.
    ends: Vec<Site>,
    /// Guarded instructions and branches that some lane executed, one bit each.
    guarded: Vec<u64>,
}

impl Coverage {
    /// Records a stretch, from its first instruction to the one after its last.
    #[inline]
    pub(crate) fn stretch(&mut self, first: Site, end: Site) {
        match self.ends.get_mut(first as usize) {
            Some(known) => *known = (*known).max(end),
            None => self.first_stretch(first, end),
        }
    }

    #[cold]
    fn first_stretch(&mut self, first: Site, end: Site) {
        self.ends.resize((first as usize + 1).next_power_of_two(), 0);
        self.ends[first as usize] = end;
    }

    /// Records a guarded instruction whose guard holds in some lane.
    #[inline]
    pub(crate) fn guard_holds(&mut self, site: Site) {
        let (word, bit) = (site as usize / 64, 1 << (site % 64));
        if word >= self.guarded.len() {
            self.guarded.resize((word + 1).next_power_of_two(), 0);
        }
        self.guarded[word] |= bit;
    }

    /// Adds the instructions that another block executed.
    pub(crate) fn absorb(&mut self, other: &Self) {
        if self.ends.len() < other.ends.len() {
            self.ends.resize(other.ends.len(), 0);
        }
        self.ends.iter_mut().zip(&other.ends).for_each(|(one, &end)| *one = (*one).max(end));
        if self.guarded.len() < other.guarded.len() {
            self.guarded.resize(other.guarded.len(), 0);
        }
        self.guarded.iter_mut().zip(&other.guarded).for_each(|(one, more)| *one |= more);
    }

    fn holds(&self, site: Site) -> bool {
        self.guarded.get(site as usize / 64).is_some_and(|word| word >> (site % 64) & 1 == 1)
    }

    /// Spans of executed instructions, ascending. One source instruction may correspond to several here: if
    /// any of them has a guard, a guarded one must have been executed.
    pub(crate) fn executed(&self, machine: &Machine<'_>) -> Vec<(FuncId, Span)> {
        let mut all: BTreeMap<(FuncId, Span), InstructionCoverage> = BTreeMap::new();
        for (function, code) in machine.codes.enumerate() {
            let blocks = &machine.program.functions[function].blocks;
            for (block, &first) in code.first.enumerate() {
                let data = &blocks[block];
                let mut reached = first;
                let instructions =
                    data.instructions.iter().map(|one| (one.span, one.guard.is_some()));
                let is_branch = matches!(data.terminator, Terminator::Branch { .. });
                let sites = instructions.chain([(data.span, is_branch)]);
                for (site, (span, guarded)) in (first..).zip(sites) {
                    reached = reached.max(self.ends.get(site as usize).copied().unwrap_or(0));
                    let done = site < reached && (!guarded || self.holds(site));
                    if site < reached {
                        let seen = all.entry((function, span)).or_default();
                        seen.guarded |= guarded;
                        *(if guarded { &mut seen.by_guard } else { &mut seen.plainly }) |= done;
                    }
                }
            }
        }
        let executed = |seen: &InstructionCoverage| seen.by_guard || seen.plainly && !seen.guarded;
        all.into_iter().filter(|(_, seen)| executed(seen)).map(|(place, _)| place).collect()
    }
}

/// The executed parts of a source instruction.
#[derive(Default)]
struct InstructionCoverage {
    /// Set if any part has a guard.
    guarded: bool,
    /// Set if a part was executed whose guard held.
    by_guard: bool,
    /// Set if a part without a guard was executed.
    plainly: bool,
}
