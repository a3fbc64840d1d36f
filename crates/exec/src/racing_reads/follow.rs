//! Runs a launch again to find out if anything depends on its racing reads.

use super::conflict_words::{PoisonedReads, Racing};
use super::mode::RacingReadMode;
use crate::early_end::EarlyFinding;
use crate::finding::{AccessKind, Fault};
use crate::launch::Launch;
use crate::options::{Checks, Limits};
use crate::outcome::Outcome;
use crate::race::Race;
use crate::run::check_racing_reads;
use ir::Program;
use std::sync::Arc;

/// Returns `true` if a race may be harmless because the value read is unused.
fn is_of_a_read(race: &Race) -> bool {
    let reads = race.sides.iter().filter(|side| side.kind == AccessKind::Read).count();
    reads == 1
        && !race.non_coherent
        && !race.unseen
        && race.sides.iter().all(|side| !side.in_flight)
}

/// Returns `true` if a run completed, and its only errors are races that may be harmless in this way.
fn has_only_racing_reads(outcome: &Outcome) -> bool {
    let errors = || outcome.findings.iter().filter(|finding| !finding.fault.is_note());
    let of_reads = |fault: &Fault| matches!(fault, Fault::Race(race) if is_of_a_read(race));
    outcome.gap.is_none()
        && outcome.undecided.is_empty()
        && outcome.dropped_findings == 0
        && !outcome.conditional
        && errors().next().is_some()
        && errors().all(|finding| of_reads(&finding.fault))
}

/// Checks if anything depends on the racing reads. If nothing does, the result is that of a run with
/// arbitrary values for these reads, and the races are notes. Otherwise it is `first`.
#[must_use]
pub fn follow_racing_reads(
    program: &Program,
    launch: &Launch,
    limits: Limits,
    checks: Checks,
    first: Outcome,
) -> Outcome {
    // Reads are identified by their thread in a block, and a cluster has several blocks.
    let several = launch.cluster_blocks() > 1;
    if several || !has_only_racing_reads(&first) || first.conflict_words.incomplete {
        return first;
    }
    let conflict_words = Arc::new(first.conflict_words.clone());
    let observe = RacingReadMode::Observe(Arc::clone(&conflict_words));
    let how = (limits, checks);
    let Some(observed) = check_racing_reads(program, launch, how, observe, None) else {
        return first;
    };
    let Racing { reads, sites, writers: between, gave_up, .. } = observed.racing;
    if gave_up || observed.gap.is_some() {
        return first;
    }
    let poisoned = Arc::new(PoisonedReads { reads, sites, between });
    // Usually something depends on them, and the first use of poison decides.
    let is_use = |found: EarlyFinding<'_>| match found {
        EarlyFinding::Fault(fault, _) => !fault.is_note(),
        EarlyFinding::Race(_) => false,
    };
    let find_uses = RacingReadMode::FindUses(Arc::clone(&poisoned));
    if check_racing_reads(program, launch, how, find_uses, Some(&is_use)).is_none() {
        return first;
    }
    let poison = RacingReadMode::Poison(poisoned);
    let Some(mut last) = check_racing_reads(program, launch, how, poison, None) else {
        return first;
    };
    if !has_only_racing_reads(&last) {
        return first;
    }
    for finding in &mut last.findings {
        if let Fault::Race(race) = &mut finding.fault
            && !race.same_value
        {
            race.unused = true;
        }
    }
    last
}
