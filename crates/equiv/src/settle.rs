//! What a check without values leaves open, asked again with values.
//!
//! Two threads that write the same value to one place are no problem; Triton's reductions do it on
//! purpose. Whether they write the same is a question about values, so the launch is run again on
//! terms, and at the stores in question the terms are compared. Nothing is assumed for it: constants are
//! taken as they are.
//!
//! The same goes for copies of an element in a fragment of `wmma`: whether they are the same is a question about values.

use crate::clock::Clock;
use crate::marks::Marks;
use crate::side::{Assumption, Side};
use crate::symbolic::Symbolic;
use crate::table::Table;
use crate::tickets;
use exec::{Checks, Doubt, Doubtful, Limits, Outcome, Place};

/// The stores of which it is open whether they write what another thread has written.
#[must_use]
pub fn asked(outcome: &Outcome) -> Vec<Place> {
    let open = outcome.undecided.iter().filter(|open| open.asks_for_values());
    open.flat_map(|open| open.race.sides.each_ref().map(|side| side.place)).collect()
}

/// Runs a kernel again on terms, if values can settle what a run without them left open. `None` if they
/// do not: then what was open is so still.
#[must_use]
pub fn settle(
    side: &Side<'_>,
    assumptions: &[Assumption],
    (limits, checks): (Limits, Checks),
    before: &Outcome,
) -> Option<Outcome> {
    let places = asked(before);
    if places.is_empty() || before.gap.is_some() {
        return None;
    }
    let table = Table::new([side, side]).ok()?.assuming(assumptions).ok()?;
    let mut domain = table.domain(side, 0, false).ok()?;
    domain.marks = Some(Marks::default());
    domain.deadline = Clock::start(limits).deadline();
    let (outcome, _) =
        exec::check_asking(side.program, side.launch, (limits, checks), &mut domain, places);
    let better = outcome.gap.is_none() && asked(&outcome).len() < asked(before).len();
    (better && !domain.is_exhausted() && !outcome.conditional).then_some(outcome)
}

/// Makes the domain of a check on terms: floats are what a machine makes of them, and decide nothing.
fn of_machine(side: &Side<'_>, assumptions: &[Assumption], limits: Limits) -> Option<Symbolic> {
    let table = Table::new([side, side]).ok()?.assuming(assumptions).ok()?;
    let mut domain = table.domain(side, 0, false).ok()?;
    domain.marks = Some(Marks::default());
    domain.deadline = Clock::start(limits).deadline();
    domain.of_machine = true;
    Some(domain)
}

/// Checks a kernel on terms, of which integers are between the numbers that assumptions say: addresses may be computed from
/// such integers. `None` if that run says no more than one without values.
#[must_use]
pub fn check_indexed(
    side: &Side<'_>,
    assumptions: &[Assumption],
    limits: Limits,
    checks: Checks,
) -> Option<Outcome> {
    let mut domain = of_machine(side, assumptions, limits)?;
    let (outcome, _) =
        exec::check_asking(side.program, side.launch, (limits, checks), &mut domain, []);
    (!domain.is_exhausted() && !outcome.conditional).then_some(outcome)
}

/// Checks a kernel on terms whose blocks take tickets from a counter, with each block as the last one. `None` if no block takes one.
#[must_use]
pub fn check_tickets(
    side: &Side<'_>,
    assumptions: &[Assumption],
    limits: Limits,
    checks: Checks,
) -> Option<Outcome> {
    let mut domain = of_machine(side, assumptions, limits)?;
    let (outcome, _) = tickets::run(side.program, side.launch, (limits, checks), &mut domain)?;
    (!domain.is_exhausted() && !outcome.conditional).then_some(outcome)
}

/// Runs a kernel again on terms and looks at the copies of elements in fragments: what is left open of them, or `None`
/// if that run does not end.
#[must_use]
pub fn copies(side: &Side<'_>, limits: Limits) -> Option<Vec<Doubt>> {
    let table = Table::new([side, side]).ok()?;
    let mut domain = table.domain(side, 0, false).ok()?;
    let (outcome, _) = exec::check_in(side.program, side.launch, limits, &mut domain);
    let ended = outcome.gap.is_none() && !domain.is_exhausted() && !outcome.conditional;
    let is_meant =
        |doubt: &Doubt| matches!(doubt.about, Doubtful::Copies { .. } | Doubtful::UndefinedCopy);
    ended.then(|| outcome.doubts.into_iter().filter(is_meant).collect())
}
