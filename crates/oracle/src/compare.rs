//! Compares a checker's verdict on a program with the oracle's.
//!
//! The checker has run one schedule; the oracle knows all. One finding may hide or change others. After a misuse
//! nothing is reliable, a deadlock prevents later events, and if barriers are reused without order, each schedule
//! may show other findings. So agreement means:
//!
//! 1. **Findings are real.** Some schedule shows each race, deadlock, misuse or undefined value that the
//!    checker reports. A reported reuse means that the program depends on the schedule; this cannot be
//!    decided if schedules are cut off at a misuse. Races beside a misuse or a reuse do not count as
//!    wrong: the checker may have continued after the point at which schedules differ. A lane that waits at an
//!    aligned barrier for a lane stuck elsewhere may be called a deadlock or a misuse, and so may every misuse,
//!    because hardware hangs there.
//! 2. **Faults are found.** If any schedule has a fault, the checker reports something. If the program
//!    depends on the schedule, it reports a reuse or a misuse, whichever schedule it took: a deadlock alone
//!    would claim that all schedules end so.
//! 3. **Where all schedules agree, the checker does too.** If the program does not depend on the schedule and
//!    misuses nothing, every run consists of the same events. Then race, deadlock and undefined value are each
//!    found exactly if they exist.
//! 4. **Clean runs leave the same memory.** If there is no fault, there is one final state, and the checker
//!    ended with it.
//!
//! A race of an unused read with a write of the same size is not a finding: all schedules leave the same memory.
//! Rules 3 and 4 apply to such programs as to those without races.
//!
//! A checker that gives up (`unknown`) is held to the first rule alone, and the caller is informed. Notes of
//! the checker (equal values stored, blocking barriers of one generation at different instructions, copies in
//! flight at exit) are not findings.

use crate::emit::{Kernel, emit, expected_buffers};
use crate::explore::{Explorer, Verdict};
use crate::program::Program;
use std::collections::BTreeSet;
use std::fmt;

/// A checker's verdict on a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckerVerdict {
    /// Conflicting unordered accesses.
    pub race: bool,
    /// The threads of each reported race, the smaller number first; not necessarily all races.
    pub race_pairs: Option<BTreeSet<(u32, u32)>>,
    /// Threads that wait forever.
    pub deadlock: bool,
    /// Misuse of a barrier, divergence included.
    pub misuse: bool,
    /// Premature reuse of a barrier.
    pub reuse: bool,
    /// An undefined value written to memory.
    pub undefined: bool,
    /// Final contents of the launch's buffers, if the run completed.
    pub buffers: Option<Vec<Vec<u8>>>,
    /// The reason why the checker gave up; `None` if it answered.
    pub unknown: Option<String>,
}

impl CheckerVerdict {
    /// Returns `true` if it reports any fault.
    #[must_use]
    pub fn finds_something(&self) -> bool {
        self.race || self.deadlock || self.misuse || self.reuse || self.undefined
    }
}

/// The result on which checker and oracle agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// No fault.
    Clean,
    /// Some fault.
    Wrong,
    /// The checker gave up; its earlier findings are real.
    GaveUp,
}

/// A program on which checker and oracle disagree.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The program.
    pub program: Program,
    /// The points of disagreement.
    pub reasons: Vec<&'static str>,
    /// The checker's verdict.
    pub checker: CheckerVerdict,
    /// The oracle's verdict.
    pub oracle: Verdict,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, reasons, checker, oracle } = self;
        write!(f, "{}\n\n{program}\noracle: ", reasons.join("\n"))?;
        write!(f, "completes {}, deadlocks {}", oracle.completes, oracle.deadlocks)?;
        write!(f, ", matchings differ {}", oracle.matchings_differ)?;
        writeln!(f, ", undefined {}", oracle.undefined)?;
        oracle.misuses.iter().try_for_each(|misuse| writeln!(f, "  misuse: {misuse}"))?;
        oracle.races.iter().try_for_each(|(a, b)| writeln!(f, "  race: {a} and {b}"))?;
        for outcome in oracle.outcomes.iter().flatten() {
            writeln!(f, "  leaves {:02x?}", expected_buffers(outcome))?;
        }
        writeln!(f, "checker: {checker:02x?}\n\n{}", emit(program).ptx)
    }
}

/// Runs the checker on a program and compares its verdict with the oracle's.
///
/// # Errors
/// If they disagree.
pub fn compare(
    explorer: &mut Explorer,
    program: &Program,
    checker: &dyn Fn(&Kernel) -> CheckerVerdict,
) -> Result<Agreement, Box<Disagreement>> {
    let oracle = explorer.explore(program);
    let checker = checker(&emit(program));
    agree(&oracle, &checker).map_err(|reasons| {
        Box::new(Disagreement { program: program.clone(), reasons, checker, oracle })
    })
}

/// Compares two verdicts on one program.
///
/// # Errors
/// The points of disagreement.
pub fn agree(oracle: &Verdict, checker: &CheckerVerdict) -> Result<Agreement, Vec<&'static str>> {
    let mut reasons = unfounded_findings(oracle, checker);
    let gave_up = checker.unknown.is_some();
    if !gave_up {
        reasons.extend(missed_faults(oracle, checker));
        reasons.extend(differing_memory(oracle, checker));
    }
    match (reasons.is_empty(), gave_up, checker.finds_something()) {
        (false, ..) => Err(reasons),
        (true, true, _) => Ok(Agreement::GaveUp),
        (true, false, true) => Ok(Agreement::Wrong),
        (true, false, false) => Ok(Agreement::Clean),
    }
}

/// Rule 1: findings that no schedule shows.
fn unfounded_findings(oracle: &Verdict, checker: &CheckerVerdict) -> Vec<&'static str> {
    let trusted = !checker.misuse && !checker.reuse;
    let misused = !oracle.misuses.is_empty();
    // A harmless race may still be reported where the checker does not prove it so: beside other faults and
    // with copies.
    let other_faults = !oracle.is_clean() || checker.deadlock || checker.misuse || checker.reuse;
    let excusable =
        !oracle.harmless_races.is_empty() && (other_faults || checker.undefined || oracle.copies);
    let races: BTreeSet<(u32, u32)> = oracle
        .races
        .iter()
        .chain(&oracle.harmless_races)
        .map(|(a, b)| (a.thread.min(b.thread), a.thread.max(b.thread)))
        .collect();
    let reports_foreign_pairs =
        checker.race_pairs.as_ref().is_some_and(|pairs| !pairs.is_subset(&races)) && trusted;
    reasons_that_hold([
        (
            checker.race && trusted && oracle.races.is_empty() && !excusable,
            "reports a race that never happens, or makes no difference",
        ),
        (reports_foreign_pairs, "reports a race between threads that do not race"),
        (
            checker.deadlock && !oracle.deadlocks && !misused,
            "reports a deadlock that never happens",
        ),
        (
            checker.misuse && !misused && !oracle.stuck_at_aligned_barrier,
            "reports a misuse that never happens",
        ),
        (
            checker.reuse && !misused && !oracle.schedule_dependent(),
            "reports a reuse where all schedules do the same",
        ),
        (
            checker.undefined && trusted && !oracle.undefined,
            "reports an undefined value where all are defined",
        ),
    ])
}

/// Rules 2 and 3: faults of schedules that the checker does not report.
fn missed_faults(oracle: &Verdict, checker: &CheckerVerdict) -> Vec<&'static str> {
    if !oracle.is_clean() && !checker.finds_something() {
        return vec!["finds no fault although there is one"];
    }
    if oracle.schedule_dependent() {
        let reported = checker.reuse || checker.misuse;
        return reasons_that_hold([(
            !reported,
            "does not see that the run depends on the schedule",
        )]);
    }
    if !oracle.misuses.is_empty() {
        let reported = checker.misuse || checker.deadlock;
        return reasons_that_hold([(!reported, "misses a misuse")]);
    }
    let deadlock = checker.deadlock || (checker.misuse && oracle.stuck_at_aligned_barrier);
    reasons_that_hold([
        (!oracle.races.is_empty() && !checker.race, "misses a race"),
        (oracle.deadlocks && !deadlock, "misses a deadlock"),
        (oracle.undefined && !checker.undefined, "misses an undefined value"),
    ])
}

/// Rule 4: final memory of clean runs.
fn differing_memory(oracle: &Verdict, checker: &CheckerVerdict) -> Vec<&'static str> {
    let Some(outcomes) = &oracle.outcomes else { return Vec::new() };
    let observable: BTreeSet<_> = outcomes.iter().map(expected_buffers).collect();
    let same = checker.buffers.iter().eq(observable.iter());
    reasons_that_hold([
        (outcomes.len() != 1, "no finding, and yet several final states"),
        (!same && !checker.finds_something(), "ends with other contents"),
    ])
}

fn reasons_that_hold<const N: usize>(reasons: [(bool, &'static str); N]) -> Vec<&'static str> {
    reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason).collect()
}
