//! Looks for overflow: runs both kernels as written, in floats, at ordinary inputs. If the optimised one
//! gives an infinity or NaN and the reference a number, users see it, although the two are equal over the
//! reals.
//!
//! A softmax without subtracting the maximum is right for real numbers and NaN at 100. The finding is a note
//! beside the verdict. The runs are those of `simulate`: where hardware may round an operation in several
//! ways, one of them is used. Large launches run at fewer points, the most informative first, so that the
//! runs stay a small part of a proof. No run is made where bounds show that no value overflows ([`Magnitudes`]).
//! Nothing is reported about inputs that these points do not cover.

use crate::clock::Clock;
use crate::magnitude::{Magnitudes, largest};
use crate::ordinary::{InputContents, OrdinaryInputs, POINT_COUNT};
use crate::position::{OpenElement, OpenReason, Position};
use crate::replay::element;
use crate::witness::Run;
use exec::{Limits, Outcome};
use ir::Scalar;

/// Instructions, counted in all lanes, that all runs together may cost. One takes 30 to 250 processor instructions on
/// the kernels of the corpus, and a small proof takes 10⁸.
const FREE_INSTRUCTIONS: u64 = 60_000;

/// The cost of starting a run, in such instructions.
const START_COST: u64 = 5_000;

/// Launches with at most this many instructions run at [`MIN_POINTS`] points in any case.
const SMALL_LAUNCH: u64 = 40_000;

/// The number of points that small launches run at: the most informative ones.
const MIN_POINTS: u64 = 3;

/// An element that is not finite in floats although the reference's is.
#[derive(Clone, Debug)]
pub struct Overflow {
    /// The element.
    pub position: Position,
    /// Its values in the runs, reference first.
    pub values: [f64; 2],
    /// All inputs of the runs.
    pub inputs: Vec<InputContents>,
}

/// The kinds of result to search for.
#[derive(Clone, Copy)]
pub(crate) struct OverflowSearch {
    /// Elements that are not finite.
    pub(crate) overflow: bool,
    /// Faults of the optimised side alone.
    pub(crate) fault: bool,
}

/// Results of the runs.
#[derive(Default)]
pub(crate) struct OverflowResult {
    pub(crate) overflow: Option<Overflow>,
    /// A fault of the optimised side in floats that neither the reference nor a run on reals has: an infinity
    /// or a NaN steers it.
    pub(crate) fault: Option<OpenElement>,
}

/// Runs the optimised side at ordinary inputs, and the reference where that is informative. `instructions` is
/// the number that the symbolic runs executed, `magnitudes` the values of the optimised side.
#[inline(never)]
pub(crate) fn find(
    ordinary: &OrdinaryInputs<'_>,
    limits: Limits,
    instructions: u64,
    search: OverflowSearch,
    magnitudes: &Magnitudes<'_>,
) -> OverflowResult {
    let mut result = OverflowResult::default();
    let deadline = Clock::start(limits).deadline();
    for number in 0..POINT_COUNT.min(affordable_points(instructions)) {
        let seeks_overflow = search.overflow && result.overflow.is_none();
        let is_done = !(seeks_overflow || search.fault && result.fault.is_none());
        if is_done || deadline.has_passed() {
            break;
        }
        let Some((inputs, numbers)) = ordinary.at(number) else { continue };
        let all = inputs.iter().flat_map(|contents| &contents.numbers);
        if !search.fault && magnitudes.are_finite(largest(all)) {
            continue;
        }
        let run = |number: usize| {
            let (side, table) = (ordinary.sides[number], ordinary.table);
            Run { side, number, table, numbers: &numbers, limits }.on_bits()
        };
        let Some(optimised) = run(1) else { continue };
        let is_fault = |finding: &exec::Finding| !finding.fault.is_note();
        let has_fault = |outcomes: &[Outcome]| {
            outcomes.iter().any(|outcome| outcome.findings.iter().any(is_fault))
        };
        if has_fault(&optimised) {
            let faults = search.fault && result.fault.is_none();
            if faults && run(0).is_some_and(|reference| !has_fault(&reference)) {
                result.fault = open_by_fault(ordinary);
            }
        } else if seeks_overflow
            && let Some((position, values)) = first_overflow(ordinary, &optimised, &|| {
                run(0).filter(|reference| !has_fault(reference))
            })
        {
            result.overflow = Some(Overflow { position, values, inputs });
        }
    }
    result
}

/// Returns the first output as an open element, because a fault in floats belongs to no element.
fn open_by_fault(ordinary: &OrdinaryInputs<'_>) -> Option<OpenElement> {
    let (name, _) = ordinary.sides[1].written().into_iter().next()?;
    let position = Position { name: name.to_owned(), index: 0 };
    Some(OpenElement { position, reason: OpenReason::FloatFault, lost: None })
}

/// Returns the number of points to try, given the number of instructions that the symbolic runs executed.
fn affordable_points(instructions: u64) -> usize {
    let least = if instructions <= SMALL_LAUNCH { MIN_POINTS } else { 1 };
    let points = (FREE_INSTRUCTIONS / (instructions + START_COST)).max(least);
    points as usize
}

/// Returns the first element at a point that is not finite although the reference's is.
fn first_overflow(
    ordinary: &OrdinaryInputs<'_>,
    optimised: &[Outcome],
    reference: &dyn Fn() -> Option<Vec<Outcome>>,
) -> Option<(Position, [f64; 2])> {
    let other = ordinary.sides[0].written();
    let written = ordinary.sides[1].written();
    let floats = || {
        written.iter().filter_map(|(name, output)| {
            let is_float = matches!(output.1.scalar, Scalar::Float(_));
            is_float.then_some((output, other.get(name)?))
        })
    };
    // Most runs have only finite numbers; then the reference need not run.
    let non_finite = |(output, _): (&(usize, &crate::Output), _)| {
        let mut all = (0..output.1.starts.len()).filter_map(|at| element(optimised, *output, at));
        all.any(|value| !value.is_finite())
    };
    if !floats().any(non_finite) {
        return None;
    }
    let reference = reference()?;
    for (output, other) in floats() {
        for index in 0..output.1.starts.len() {
            let values = [written_element(&reference, *other, index), {
                written_element(optimised, *output, index)
            }];
            let [Some(finite), Some(non_finite)] = values else { continue };
            if finite.is_finite() && !non_finite.is_finite() {
                let position = Position { name: output.1.name.clone(), index };
                return Some((position, [finite, non_finite]));
            }
        }
    }
    None
}

/// Returns an element that was written.
fn written_element(
    outcomes: &[Outcome],
    output: (usize, &crate::Output),
    index: usize,
) -> Option<f64> {
    let start = *output.1.starts.get(index)?;
    let end = start + output.1.scalar.width().bytes() as usize;
    let written = outcomes.get(output.0)?.written.get(output.1.buffer)?;
    written.contains(start..end).then(|| element(outcomes, output, index))?
}
