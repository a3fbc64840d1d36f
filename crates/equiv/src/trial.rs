//! Demonstrates races under data conditions by trial runs.
//!
//! A run that follows both sides of branches leaves it open whether two conditional accesses race: perhaps no
//! contents satisfy both conditions. Here the kernel as written runs on numbers at a few points that the
//! assumptions allow, with all checks. A race of the same two instructions there is a real one, with contents
//! that show it. Inputs that it does not need are set to zero again, as far as a few runs can tell. Finding
//! no race at these points proves nothing.

use crate::assumed::Assumed;
use crate::ordinary::OrdinaryInputs;
use crate::side::{Assumption, Side};
use crate::table::Table;
use crate::witness::{Numbers, Run};
use exec::{Checks, Fault, Finding, Launch, Limits, Outcome, Place, Race, Undecided};
use ir::Program;

/// The points to try, by number: equal inputs, both signs, random numbers.
const POINTS: [usize; 8] = [0, 1, 2, 3, 4, 7, 9, 11];

/// The largest number of instructions, counted in all lanes, of a run.
const MAX_INSTRUCTIONS: u64 = 10_000_000;

/// The largest number of runs for setting inputs to zero.
const MAX_RUNS: usize = 48;

/// The largest number of inputs named in a report.
const MAX_NAMED: usize = 6;

/// Finds contents for which a pair of `open` races. Returns the number of the pair and the race.
#[must_use]
pub fn show_race(
    side: &Side<'_>,
    assumptions: &[Assumption],
    limits: Limits,
    open: &[Undecided],
) -> Option<(usize, Finding)> {
    let table = Table::new([side, side]).ok()?.with_ranges(assumptions).ok()?;
    let table = table.with_conditions(assumptions).ok()?;
    let domain = table.domain(side, 0, false).ok()?;
    let assumed = Assumed::new(&table, &domain.terms).ok()?;
    let ordinary = OrdinaryInputs {
        sides: [side, side],
        table: &table,
        terms: &domain.terms,
        assumed: &assumed,
    };
    let lane_instructions = limits.lane_instructions.min(MAX_INSTRUCTIONS);
    let trial = Trial { ordinary, open, limits: Limits { lane_instructions, ..limits } };
    POINTS.into_iter().find_map(|number| {
        let (_, numbers) = trial.ordinary.at(number)?;
        let found = trial.race(&numbers)?;
        Some(trial.reduce(&numbers, found))
    })
}

/// A kernel with its undecided races.
struct Trial<'t> {
    ordinary: OrdinaryInputs<'t>,
    open: &'t [Undecided],
    limits: Limits,
}

impl Trial<'_> {
    /// Returns a race at a point, with the number of the undecided pair that it settles.
    fn race(&self, numbers: &Numbers) -> Option<(usize, Finding)> {
        let (side, table, limits) = (self.ordinary.sides[0], self.ordinary.table, self.limits);
        let run = Run { side, number: 0, table, numbers, limits };
        let outcome = run.on_bits_by(check)?.pop()?;
        outcome.findings.into_iter().find_map(|finding| match &finding.fault {
            Fault::Race(race) if !race.is_harmless() && !finding.fault.is_note() => {
                let same = |open: &Undecided| {
                    open.asks_for_contents() && places(&open.race) == places(race)
                };
                Some((self.open.iter().position(same)?, finding))
            }
            _ => None,
        })
    }

    /// Sets inputs to zero that a race does not need, and names the others in the finding.
    fn reduce(&self, numbers: &Numbers, mut found: (usize, Finding)) -> (usize, Finding) {
        let OrdinaryInputs { sides, table, terms, .. } = self.ordinary;
        let positions = (0..terms.inputs().len()).filter(|position| table.is_free(*position));
        let mut values: Vec<(usize, f64)> =
            positions.map(|position| (position, numbers.at(position))).collect();
        let (mut runs, mut width) = (0, values.len().next_power_of_two());
        while width > 0 {
            for start in (0..values.len()).step_by(width) {
                let end = values.len().min(start + width);
                if runs >= MAX_RUNS || values[start..end].iter().all(|one| one.1 == 0.0) {
                    continue;
                }
                runs += 1;
                let mut fewer = values.clone();
                fewer[start..end].iter_mut().for_each(|one| one.1 = 0.0);
                let point = Numbers::of_all(sides, table, terms, fewer.iter().copied());
                let holds = |point: &Numbers| self.ordinary.assumed.all_hold(terms, point);
                let Some(point) = point.filter(holds) else { continue };
                if let Some(race) = self.race(&point) {
                    (values, found) = (fewer, race);
                }
            }
            width /= 2;
        }
        if let Fault::Race(race) = &mut found.1.fault {
            race.when = Some(self.contents(&values));
        }
        found
    }

    /// Formats contents for a report: `x[0] is 1 and x[3] is 2`.
    fn contents(&self, values: &[(usize, f64)]) -> String {
        let inputs = self.ordinary.terms.inputs();
        let needed = values.iter().filter(|one| one.1 != 0.0);
        let named = needed.clone().filter_map(|(position, value)| {
            Some(format!("{} is {value}", inputs.name(inputs.at(*position)?)))
        });
        let named: Vec<String> = named.take(MAX_NAMED).collect();
        let more = if needed.count() > MAX_NAMED { " and so on" } else { "" };
        match named.is_empty() {
            true => "all inputs are 0".to_owned(),
            false => format!("{}{more}, and the others are 0", named.join(" and ")),
        }
    }
}

/// Runs a check that also covers floats without fixed bits, and recognises racing reads that nothing depends
/// on.
fn check(program: &Program, launch: &Launch, limits: Limits) -> Outcome {
    let mut outcome = exec::check(program, launch, limits);
    if outcome.unfixed && !outcome.undecided.is_empty() {
        outcome = exec::check_enclosed(program, launch, limits, Checks::default());
    }
    exec::follow_racing_reads(program, launch, limits, Checks::default(), outcome)
}

/// Returns the places of two accesses, in source order.
fn places(race: &Race) -> [Place; 2] {
    let mut places = race.sides.each_ref().map(|side| side.place);
    places.sort_unstable_by_key(|place| (place.span.start, place.span.end));
    places
}
