//! Ends a run at its first unwanted finding. It is for callers that only ask if there is one: a run of a proposed
//! remedy is useless as soon as the old race occurs again.
//!
//! Findings only grow, so one that is unwanted stays. Blocks that run speculatively are examined when they are
//! committed, because only then it is certain that they behaved as in their turn.

use crate::block::BlockRun;
use crate::finding::{Fault, Gap, Place, StopReason};
use crate::machine::Machine;
use crate::races;
use crate::report::Report;
use std::cell::Cell;

/// A finding of a run that has not ended.
#[derive(Debug)]
pub enum EarlyFinding<'f> {
    /// A race of instructions at these places, or a pair of accesses there that is left open.
    Race([Place; 2]),
    /// A fault.
    Fault(&'f Fault, Place),
}

/// Decides if a finding ends the run.
pub type IsUnwanted<'u> = &'u dyn Fn(EarlyFinding<'_>) -> bool;

/// The request to end a run early.
#[derive(Clone, Copy)]
pub(crate) struct EarlyEnd<'u> {
    pub(crate) is_unwanted: IsUnwanted<'u>,
    /// Set when the run has ended early.
    pub(crate) ended: &'u Cell<bool>,
}

impl EarlyEnd<'_> {
    fn gap(&self, place: Place) -> Gap {
        self.ended.set(true);
        let reason = "the run is no longer needed".to_owned();
        Gap { place, thread: None, reason, stop: StopReason::Interrupted }
    }

    /// Examines the findings of all blocks so far.
    pub(crate) fn examine(&self, report: &Report) -> Option<Gap> {
        let places = |race: &crate::race::Race| race.sides.each_ref().map(|side| side.place);
        let open = report.undecided.iter().map(|open| places(&open.race));
        let open = open.map(|places| (EarlyFinding::Race(places), places[1]));
        let found = report.findings.iter().map(|finding| match &finding.fault {
            Fault::Race(race) => (EarlyFinding::Race(places(race)), finding.place),
            fault => (EarlyFinding::Fault(fault, finding.place), finding.place),
        });
        let unwanted =
            found.chain(open).find_map(|(found, place)| (self.is_unwanted)(found).then_some(place));
        unwanted.map(|place| self.gap(place))
    }
}

/// The number of findings of a block that were examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Examined {
    faults: usize,
    conflicts: usize,
}

impl BlockRun<'_, '_> {
    /// Ends the run if something unwanted was found since the last call.
    ///
    /// # Errors
    /// The place of the finding.
    pub(crate) fn end_early(&mut self) -> Result<(), Gap> {
        let Some(early_end) = self.early_end else { return Ok(()) };
        let conflicts = self.tracker.conflicts();
        let now = Examined { faults: self.report.findings.len(), conflicts: conflicts.len() };
        let before = std::mem::replace(&mut self.examined, now);
        if now == before {
            return Ok(());
        }
        let machine: &Machine<'_> = self.machine;
        // The counts restart with each block.
        let new_faults = self.report.findings.iter().skip(before.faults);
        for finding in new_faults.filter(|finding| !matches!(finding.fault, Fault::Race(_))) {
            if (early_end.is_unwanted)(EarlyFinding::Fault(&finding.fault, finding.place)) {
                return Err(early_end.gap(finding.place));
            }
        }
        for (conflict, context) in conflicts.skip(before.conflicts) {
            if !races::is_reported(machine, conflict, *context) {
                continue;
            }
            let sites = [conflict.earlier.site, conflict.later.site];
            let places = sites.map(|site| machine.site_place(site));
            if (early_end.is_unwanted)(EarlyFinding::Race(places)) {
                return Err(early_end.gap(places[1]));
            }
        }
        Ok(())
    }
}
