//! Which instructions of a program were executed, in all blocks of a launch together.
//!
//! Instructions run in stretches, from a first one on to the end of a block or to one that waits. So
//! nothing is noted for each instruction: a stretch notes how far it came, and only what has a guard
//! notes by itself that some lane did it. An instruction whose guard fails in every lane that comes to
//! it is not executed, and neither is a conditional branch that nobody takes.

use crate::machine::Machine;
use base::Span;
use ir::{FuncId, Terminator};
use std::collections::BTreeMap;
use sync::Site;

/// What was executed so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    /// For each instruction that a stretch began with: the number behind the last one that was executed from there.
    ends: Vec<Site>,
    /// Guarded instructions and branches that some lane executed, one bit each.
    guarded: Vec<u64>,
}

impl Coverage {
    /// Notes a stretch, from its first instruction to behind its last.
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

    /// Notes an instruction with a guard that holds in some lane.
    #[inline]
    pub(crate) fn guard_holds(&mut self, site: Site) {
        let (word, bit) = (site as usize / 64, 1 << (site % 64));
        if word >= self.guarded.len() {
            self.guarded.resize((word + 1).next_power_of_two(), 0);
        }
        self.guarded[word] |= bit;
    }

    /// Adds what another block executed.
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

    /// Spans of instructions that were executed, ascending. One instruction of the source may be several here: if
    /// any of them has a guard, one with a guard must have been executed.
    pub(crate) fn executed(&self, machine: &Machine<'_>) -> Vec<(FuncId, Span)> {
        let mut all: BTreeMap<(FuncId, Span), Seen> = BTreeMap::new();
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
        let executed = |seen: &Seen| seen.by_guard || seen.plainly && !seen.guarded;
        all.into_iter().filter(|(_, seen)| executed(seen)).map(|(place, _)| place).collect()
    }
}

/// What became of the parts of an instruction.
#[derive(Default)]
struct Seen {
    guarded: bool,
    by_guard: bool,
    plainly: bool,
}
