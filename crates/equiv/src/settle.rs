//! Settles questions about values that a check without values leaves open, by a symbolic run.
//!
//! Two threads that store equal values to one place are harmless; Triton's reductions do so on purpose.
//! Equality is a question about values, so the launch runs again on terms, and the terms are compared at
//! these stores. This needs no assumptions: constants are used as written.
//!
//! The same holds for copies of an element in a fragment of `wmma`: their equality is a question about
//! values.

use crate::clock::Clock;
use crate::marks::Marks;
use crate::side::{Assumption, Side};
use crate::symbolic::Symbolic;
use crate::table::Table;
use crate::tickets;
use exec::{Checks, Doubt, Doubtful, Limits, Outcome, Place};

/// Returns the stores that may race unless they repeat the value of another thread's store, which the run left open.
#[must_use]
pub fn open_stores(outcome: &Outcome) -> Vec<Place> {
    let open = outcome.undecided.iter().filter(|open| open.depends_on_values());
    open.flat_map(|open| open.race.sides.each_ref().map(|side| side.place)).collect()
}

/// Runs a kernel again on terms, if values can settle the open questions of a run without them. `None` if
/// they cannot; then the questions stay open.
#[must_use]
pub fn settle(
    side: &Side<'_>,
    assumptions: &[Assumption],
    (limits, checks): (Limits, Checks),
    before: &Outcome,
) -> Option<Outcome> {
    let places = open_stores(before);
    if places.is_empty() || before.gap.is_some() {
        return None;
    }
    let table = Table::new([side, side]).ok()?.with_ranges(assumptions).ok()?;
    let mut domain = table.domain(side, 0, false).ok()?;
    domain.marks = Some(Marks::default());
    domain.deadline = Clock::start(limits).deadline();
    let (outcome, _) = exec::check_with_equal_writes(
        side.program,
        side.launch,
        (limits, checks),
        &mut domain,
        places,
    );
    let better = outcome.gap.is_none() && open_stores(&outcome).len() < open_stores(before).len();
    (better && !domain.is_exhausted() && !outcome.conditional).then_some(outcome)
}

/// Creates the domain for a check on terms: floats behave as on a machine, and decide nothing.
fn machine_domain(side: &Side<'_>, assumptions: &[Assumption], limits: Limits) -> Option<Symbolic> {
    let table = Table::new([side, side]).ok()?.with_ranges(assumptions).ok()?;
    let mut domain = table.domain(side, 0, false).ok()?;
    domain.marks = Some(Marks::default());
    domain.deadline = Clock::start(limits).deadline();
    domain.machine_floats = true;
    Some(domain)
}

/// Checks a kernel on terms whose integers lie within the assumed ranges, since addresses may be computed
/// from them. `None` if that run gives no more than one without values.
#[must_use]
pub fn check_indexed(
    side: &Side<'_>,
    assumptions: &[Assumption],
    limits: Limits,
    checks: Checks,
) -> Option<Outcome> {
    let mut domain = machine_domain(side, assumptions, limits)?;
    let (outcome, _) =
        exec::check_with_equal_writes(side.program, side.launch, (limits, checks), &mut domain, []);
    (!domain.is_exhausted() && !outcome.conditional).then_some(outcome)
}

/// Checks on terms a kernel whose blocks take tickets from a counter, with each block as the last one. `None`
/// if no block takes one.
#[must_use]
pub fn check_tickets(
    side: &Side<'_>,
    assumptions: &[Assumption],
    limits: Limits,
    checks: Checks,
) -> Option<Outcome> {
    let mut domain = machine_domain(side, assumptions, limits)?;
    let settings = (limits, checks);
    let on_difference = tickets::OnDifference::Doubt;
    let (outcome, _) =
        tickets::run(side.program, side.launch, settings, &mut domain, on_difference)?;
    (!domain.is_exhausted() && !outcome.conditional).then_some(outcome)
}

/// Runs a kernel again on terms and compares the copies of elements in fragments. Returns the open doubts
/// about them, or `None` if that run does not complete.
#[must_use]
pub fn doubtful_copies(side: &Side<'_>, limits: Limits) -> Option<Vec<Doubt>> {
    let table = Table::new([side, side]).ok()?;
    let mut domain = table.domain(side, 0, false).ok()?;
    let (outcome, _) = exec::check_in(side.program, side.launch, limits, &mut domain);
    let ended = outcome.gap.is_none() && !domain.is_exhausted() && !outcome.conditional;
    let is_about_copies =
        |doubt: &Doubt| matches!(doubt.about, Doubtful::Copies { .. } | Doubtful::UndefinedCopy);
    ended.then(|| outcome.doubts.into_iter().filter(is_about_copies).collect())
}
