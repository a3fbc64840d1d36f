//! Demonstrates races and accesses out of bounds under data conditions by trial runs.
//!
//! A run that follows both sides of branches leaves it open whether two conditional accesses race: perhaps no
//! contents satisfy both conditions. Here the kernel as written runs on numbers at a few points that the
//! assumptions allow, with all checks. A race of the same two instructions there is a real one, with contents
//! that show it. Inputs that it does not need are set to zero again, as far as a few runs can tell. Finding
//! no race at these points proves nothing. The same holds for an access out of bounds, if a run stopped because
//! bounds depend on data.

use crate::assumed::Assumed;
use crate::assumed_ranges::AssumedRange;
use crate::ordinary::OrdinaryInputs;
use crate::side::{Assumption, Side};
use crate::table::Table;
use crate::witness::{Numbers, Run};
use base::mix64;
use exec::{Checks, Fault, Finding, Launch, Limits, Outcome, Place, Race, Undecided};
use ir::Program;

/// The points to try, by number: equal inputs, both signs, random numbers.
const POINTS: [usize; 8] = [0, 1, 2, 3, 4, 7, 9, 11];

/// The number of points at which integers have numbers of their ranges, tried for accesses out of bounds.
const POINTS_IN_RANGES: usize = 24;

/// Chooses a number of a range for an element, by the number of the point: the largest, the least, both in turn, or a
/// random one.
fn number_in(point: usize, element: usize, (least, most): (i128, i128)) -> i128 {
    match point {
        0 => most,
        1 => least,
        2 | 3 => {
            if element % 2 == point % 2 {
                least
            } else {
                most
            }
        }
        _ => {
            let random = mix64((point as u64) << 40 ^ element as u64);
            least + i128::from(random) % (most - least + 1).max(1)
        }
    }
}

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
    let find = |trial: &Trial<'_>, numbers: &Numbers| trial.race(numbers, open);
    let shown = try_points(side, (assumptions, limits), false, &find);
    let ((position, mut finding), contents) = shown?;
    if let Fault::Race(race) = &mut finding.fault {
        race.when = Some(contents);
    }
    Some((position, finding))
}

/// Finds contents for which an access is out of bounds.
#[must_use]
pub fn show_out_of_bounds(
    side: &Side<'_>,
    assumptions: &[Assumption],
    limits: Limits,
) -> Option<Finding> {
    let find = |trial: &Trial<'_>, numbers: &Numbers| trial.outside(numbers);
    let shown = try_points(side, (assumptions, limits), true, &find);
    let (mut finding, contents) = shown?;
    if let Fault::OutOfBounds { when, .. } = &mut finding.fault {
        *when = Some(contents);
    }
    Some(finding)
}

/// Tries a few points, or more, until one of them shows something. Returns it with the contents that it needs.
fn try_points<T>(
    side: &Side<'_>,
    (assumptions, limits): (&[Assumption], Limits),
    tries_more: bool,
    find: &dyn Fn(&Trial<'_>, &Numbers) -> Option<T>,
) -> Option<(T, String)> {
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
    let trial = Trial { ordinary, limits: Limits { lane_instructions, ..limits } };
    let in_ranges = if tries_more { 0..POINTS_IN_RANGES } else { 0..0 };
    let in_ranges = in_ranges.map(|point| trial.in_ranges(&domain.assumed_ranges, point));
    let usual = POINTS.into_iter().map(|number| Some(trial.ordinary.at(number)?.1));
    in_ranges.chain(usual).find_map(|numbers| {
        let numbers = numbers?;
        let found = find(&trial, &numbers)?;
        Some(trial.reduce(&numbers, found, find))
    })
}

/// A kernel with the inputs of trial runs.
struct Trial<'t> {
    ordinary: OrdinaryInputs<'t>,
    limits: Limits,
}

impl Trial<'_> {
    /// A point at which integers have numbers of their stated ranges.
    fn in_ranges(&self, ranges: &[AssumedRange], point: usize) -> Option<Numbers> {
        let OrdinaryInputs { sides, table, terms, assumed } = self.ordinary;
        let (_, usual) = self.ordinary.at(POINTS[0])?;
        let positions = (0..terms.inputs().len()).filter(|position| table.is_free(*position));
        let number = |position: usize| {
            let range = ranges.iter().find(|range| range.positions.contains(&position))?;
            let number = number_in(point, position - range.positions.start, range.range);
            let is_exact = number.abs() < 1 << 53;
            let is_allowed = range.without_gaps((number, number)) == (number, number);
            (is_exact && is_allowed).then_some(number as f64)
        };
        let values = positions
            .map(|position| (position, number(position).unwrap_or_else(|| usual.at(position))));
        let point = Numbers::of_all(sides, table, terms, values)?;
        assumed.all_hold(terms, &point).then_some(point)
    }

    /// The findings of a run at a point.
    fn findings(&self, numbers: &Numbers) -> Option<Vec<Finding>> {
        let (side, table, limits) = (self.ordinary.sides[0], self.ordinary.table, self.limits);
        let run = Run { side, number: 0, table, numbers, limits };
        Some(run.on_bits_by(check)?.pop()?.findings)
    }

    /// Returns an access out of bounds at a point.
    fn outside(&self, numbers: &Numbers) -> Option<Finding> {
        let is_outside = |finding: &Finding| matches!(finding.fault, Fault::OutOfBounds { .. });
        self.findings(numbers)?.into_iter().find(is_outside)
    }

    /// Returns a race at a point, with the number of the undecided pair that it settles.
    fn race(&self, numbers: &Numbers, open: &[Undecided]) -> Option<(usize, Finding)> {
        self.findings(numbers)?.into_iter().find_map(|finding| match &finding.fault {
            Fault::Race(race) if !race.is_harmless() && !finding.fault.is_note() => {
                let same = |open: &Undecided| {
                    open.depends_on_contents() && places(&open.race) == places(race)
                };
                Some((open.iter().position(same)?, finding))
            }
            _ => None,
        })
    }

    /// Sets inputs to zero that a finding does not need, and names the others.
    fn reduce<T>(
        &self,
        numbers: &Numbers,
        mut found: T,
        find: &dyn Fn(&Self, &Numbers) -> Option<T>,
    ) -> (T, String) {
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
                if let Some(again) = find(self, &point) {
                    (values, found) = (fewer, again);
                }
            }
            width /= 2;
        }
        (found, self.contents(&values))
    }

    /// Formats contents for a report: `x[0] is 1 and x[3] is 2`.
    fn contents(&self, values: &[(usize, f64)]) -> String {
        let inputs = self.ordinary.terms.inputs();
        let needed = values.iter().filter(|value| value.1 != 0.0);
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
