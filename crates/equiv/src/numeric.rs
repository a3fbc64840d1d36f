//! Refutes equality by numbers alone, for runs that terms could not complete (a branch on data, or too large a
//! launch).
//!
//! Both kernels run as written, in floats, at a few ordinary inputs. If an element differs by more than
//! rounding explains, both run again at that input on intervals, which must confirm the difference. Both are
//! also checked for races and for any other dependence on the schedule: at these inputs the results must be
//! the same on every schedule. Errs only by missing a difference; it never proves equality.

use crate::difference::Difference;
use crate::ordinary::OrdinaryInputs;
use crate::position::Position;
use crate::replay::{Floats, element};
use crate::witness::{Numbers, Run, confirm};
use exec::{Limits, Outcome};
use interval::Enclosed;
use ir::Scalar;

/// The points of [`OrdinaryInputs`] to try, by number: random numbers first.
const POINTS: [usize; 5] = [3, 11, 7, 4, 0];

/// The largest number of instructions, counted in all lanes, of a run.
const MAX_INSTRUCTIONS: u64 = 100_000_000;

/// The optimised kernel may execute this many times the instructions of the reference, and some more. One that needs
/// more seldom ends.
const MAX_RATIO: u64 = 64;
const MIN_INSTRUCTIONS: u64 = 1_000_000;

/// The largest number of elements that are evaluated in intervals at one point.
const MAX_CANDIDATES: usize = 3;

/// A difference beyond rounding exceeds the first ratio of the larger value, and the second ratio of the largest
/// value of the tensor.
const DIFFERENCE_RATIOS: [f64; 2] = [1e-2, 1e-3];

/// The largest number of inputs in the report.
const MAX_LISTED_INPUTS: usize = 4096;

/// Searches for inputs at which the kernels certainly differ.
pub(crate) fn refute(ordinary: &OrdinaryInputs<'_>, limits: Limits) -> Option<Box<Difference>> {
    let lane_instructions = limits.lane_instructions.min(MAX_INSTRUCTIONS);
    let mut limits = Limits { lane_instructions, ..limits };
    POINTS.into_iter().find_map(|number| {
        let (_, numbers) = ordinary.at(number)?;
        let outcomes = run(ordinary, 0, &numbers, limits).on_bits().and_then(|reference| {
            let executed: u64 = reference.iter().map(|one| one.lane_instructions).sum();
            let most = executed.saturating_mul(MAX_RATIO).saturating_add(MIN_INSTRUCTIONS);
            let lane_instructions = limits.lane_instructions.min(most);
            let optimised = run(ordinary, 1, &numbers, Limits { lane_instructions, ..limits });
            Some([reference, optimised.on_bits()?])
        });
        let Some(outcomes) = outcomes else {
            // A run that does not end at one point seldom ends at the others.
            limits.lane_instructions /= 16;
            return None;
        };
        let side = |number: usize| run(ordinary, number, &numbers, limits);
        let candidates = candidates(ordinary, &outcomes);
        let shown = candidates.into_iter().take(MAX_CANDIDATES).find_map(|(position, values)| {
            let witness = confirm(ordinary.sides, ordinary.table, &position, &numbers, limits)?;
            let shown = witness.shows_difference()
                && [0, 1].into_iter().all(|number| {
                    let checked = side(number).checked_on_bits();
                    checked.is_some_and(|outcomes| outcomes.iter().all(is_deterministic))
                });
            shown.then_some((position, values, witness))
        });
        let (position, floats, witness) = shown?;
        let values = witness.elements.each_ref().map(|element| match element {
            Enclosed::Between(low, high) => Some(low / 2.0 + high / 2.0),
            _ => None,
        });
        let inputs = ordinary.named(&numbers, MAX_LISTED_INPUTS);
        let witness = Some(witness);
        Some(Box::new(Difference {
            inputs,
            values,
            witness,
            floats: Some(Floats::new(floats)),
            is_numeric: true,
            ..Difference::of_integers(position, [0; 2])
        }))
    })
}

/// Prepares a run of a side at a point.
fn run<'r>(
    ordinary: &'r OrdinaryInputs<'_>,
    number: usize,
    numbers: &'r Numbers,
    limits: Limits,
) -> Run<'r> {
    Run { side: ordinary.sides[number], number, table: ordinary.table, numbers, limits }
}

/// Returns `true` if the results of a run are the same on every schedule.
fn is_deterministic(outcome: &Outcome) -> bool {
    outcome.findings.is_empty() && outcome.undecided.is_empty() && outcome.doubts.is_empty()
}

/// Returns the elements that differ by more than rounding, with their values.
fn candidates(
    ordinary: &OrdinaryInputs<'_>,
    outcomes: &[Vec<Outcome>; 2],
) -> Vec<(Position, [f64; 2])> {
    let [reference, optimised] = ordinary.sides.map(|side| side.written());
    let mut candidates = Vec::new();
    for (name, output) in &reference {
        let Some(other) = optimised.get(name) else { continue };
        let same = output.1.starts.len() == other.1.starts.len();
        if !same || !matches!(output.1.scalar, Scalar::Float(_)) {
            continue;
        }
        let values = |index: usize| {
            Some([element(&outcomes[0], *output, index)?, element(&outcomes[1], *other, index)?])
        };
        let all: Vec<Option<[f64; 2]>> = (0..output.1.starts.len()).map(values).collect();
        let largest = all.iter().flatten().flatten().filter(|one| one.is_finite());
        let largest = largest.fold(0.0, |a: f64, b| a.max(b.abs()));
        for (index, values) in all.into_iter().enumerate() {
            let Some([a, b]) = values else { continue };
            let distance = (a - b).abs();
            if distance > DIFFERENCE_RATIOS[0] * a.abs().max(b.abs())
                && distance > DIFFERENCE_RATIOS[1] * largest
            {
                let position = Position { name: (*name).to_owned(), index };
                candidates.push((position, [a, b]));
            }
        }
    }
    candidates
}
