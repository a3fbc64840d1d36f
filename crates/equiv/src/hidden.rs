//! Differences that a proof hides when it takes constants for other numbers, for example `3.14159274` for π.
//!
//! With those numbers the kernels are equal. With the written constants they differ a little, and the report
//! calls that rounding. But the difference may be magnified: `(x·c − x·π)·10⁷` is zero for one and not for
//! the other. So both kernels run on intervals at random points, with the written constants, and their values
//! of every output must be within a bound of each other.
//!
//! **Bound.** The bound is relative to the larger of the two values. But sums cancel, and then a difference
//! in the last place of a summand is large compared with the sum. So the bound also counts the change of the
//! reference when the inputs change by [`STEP`], divided by that step: a kernel may treat the rounding of
//! constants as it treats the rounding of inputs. This counts only up to [`MAX_CANCELLATION`] times the value.
//! And an element must differ at two points, or at the only one: near a root of the reference every relative
//! distance is large.
//!
//! So `1 + x·c − x·π` is proved equal to 1: the difference is 9·10⁻⁸·x, below the bound for the value 1 at
//! all inputs up to 64. At inputs of 10⁴ a user would notice the difference, and also the even larger rounding of
//! `x·c` itself.
//!
//! This errs towards silence: enclosures that decide nothing, and values beyond the range of the output's
//! type, give no finding.

use crate::position::Position;
use crate::recheck::Recheck;
use crate::witness::{Numbers, Run};
use interval::Enclosed;
use ir::{Format, Scalar};
use term::{Node, Terms};

/// Number of points for small kernels; large ones get fewer.
const MAX_POINTS: u64 = 24;

/// Limit on the executed thread instructions: a run on intervals costs as much as a symbolic one. Large
/// kernels have many elements, and each is compared at every point.
const MAX_INSTRUCTIONS: u64 = 2_000_000;

/// Scales of the inputs: powers of two up to 32, so inputs stay below 64.
const SCALES: [f64; 4] = [1.0, 32.0, 0.25, 4.0];

/// Relative change of the inputs.
const STEP: f64 = 1.0 / 1024.0;

/// Largest factor by which a sum may cancel.
const MAX_CANCELLATION: f64 = 4096.0;

/// Units in the last place of a 16-bit constant by which values may differ.
const COARSE_UNITS: f64 = 2.0;

/// The kernels, and the unit in the last place of the coarsest constant that stands for another number.
struct ComparedKernels<'r> {
    kernels: &'r Recheck<'r>,
    unit: f64,
}

impl<'r> std::ops::Deref for ComparedKernels<'r> {
    type Target = Recheck<'r>;

    fn deref(&self) -> &Recheck<'r> {
        self.kernels
    }
}

/// An element that differs by more than rounding with the written constants.
#[derive(Clone, Debug)]
pub struct HiddenDifference {
    /// The element.
    pub position: Position,
    /// The values of both kernels at a point.
    pub values: [f64; 2],
}

/// Looks for an element with a large difference. `cost` is that of running both kernels once. `constants` are
/// those taken for other numbers, and `unit` is the unit in the last place of the coarsest constant that
/// stands for a closed form. `may_jump` is false only if both kernels are compositions of functions without
/// jumps.
pub(crate) fn find(
    kernels: &Recheck<'_>,
    cost: u64,
    constants: &[f64],
    unit: f64,
    may_jump: bool,
) -> Option<HiddenDifference> {
    let points = (MAX_INSTRUCTIONS / cost.max(1)).clamp(1, MAX_POINTS);
    let kernels = &ComparedKernels { kernels, unit };
    // A large kernel can run with only one of the constants as input. That is worthwhile only if it may jump.
    if points > 1 || may_jump {
        let found = at_constants(kernels, constants, points as usize);
        if found.is_some() {
            return found;
        }
    }
    let needed = if points == 1 { 1 } else { 2 };
    let mut difference_counts: Vec<u64> = Vec::new();
    for point in 0..points {
        let scale = SCALES[point as usize % SCALES.len()];
        let Some(numbers) = draw(kernels, point, scale, None) else { continue };
        let elements = run(kernels, &numbers);
        let suspects = suspects(kernels, &elements);
        if suspects.is_empty() {
            continue;
        }
        let near = draw(kernels, point, scale, Some(STEP));
        let nearby = near.map(|near| run_one(kernels, 0, &near));
        difference_counts.resize(elements[0].len(), 0);
        for (at, difference) in suspects {
            let values = [&elements[0][at], &elements[1][at]].map(middle);
            let [Some(one), Some(other)] = values else { continue };
            let near = nearby.as_ref().and_then(|near| middle(&near[at]));
            let change = near.map_or(0.0, |near| (near - one).abs() / STEP);
            let size = one.abs().max(other.abs());
            let size = size.max(change.min(size * MAX_CANCELLATION));
            if difference > bound(kernels, at) * size {
                difference_counts[at] += 1;
                if difference_counts[at] == needed {
                    let position = position(kernels, at)?;
                    return Some(HiddenDifference { position, values: [one, other] });
                }
            }
        }
    }
    None
}

/// Returns `true` if some operation of a run may jump: a condition, a choice, or an unknown function. Errs on
/// the side of `true`.
pub(crate) fn may_jump(terms: &Terms) -> bool {
    terms
        .nodes()
        .iter()
        .any(|node| matches!(node, Node::Compare(..) | Node::Select(..) | Node::Apply(..)))
}

/// Tries the constants themselves as inputs: a comparison with a constant jumps there and nowhere near. Only
/// a jump that is large compared with the constant counts.
fn at_constants(
    kernels: &ComparedKernels<'_>,
    constants: &[f64],
    points: usize,
) -> Option<HiddenDifference> {
    let near = |constant: &f64| {
        let single = *constant as f32;
        [single, single.next_up(), single.next_down()].map(f64::from)
    };
    for number in constants.iter().flat_map(near).take(points) {
        let drawn = draw(kernels, 0, 1.0, None)?;
        let numbers = drawn.with_floats(kernels.sides, kernels.table, kernels.terms, |_, _| number);
        let Some(numbers) = numbers else { continue };
        let elements = run(kernels, &numbers);
        for (at, difference) in suspects(kernels, &elements) {
            let values = [&elements[0][at], &elements[1][at]].map(middle);
            let [Some(one), Some(other)] = values else { continue };
            let size = one.abs().max(other.abs()).max(number.abs());
            if difference > bound(kernels, at) * size {
                return Some(HiddenDifference {
                    position: position(kernels, at)?,
                    values: [one, other],
                });
            }
        }
    }
    None
}

/// Draws the numbers of a point. With `step`, each is changed by that relative amount, up or down.
fn draw(
    kernels: &ComparedKernels<'_>,
    point: u64,
    scale: f64,
    step: Option<f64>,
) -> Option<Numbers> {
    let mut state = (point + 1) << 32;
    let next = || {
        state += 1;
        base::mix64(state)
    };
    let known = (kernels.terms, kernels.assumed);
    let numbers = Numbers::random(kernels.sides, kernels.table, known, scale, next)?;
    match step {
        None => Some(numbers),
        Some(step) => numbers.changed(kernels.sides, kernels.table, kernels.terms, step),
    }
}

/// Evaluates all elements of both kernels.
fn run(kernels: &ComparedKernels<'_>, numbers: &Numbers) -> [Vec<Enclosed>; 2] {
    [0, 1].map(|number| run_one(kernels, number, numbers))
}

fn run_one(kernels: &ComparedKernels<'_>, number: usize, numbers: &Numbers) -> Vec<Enclosed> {
    let Recheck { table, limits, .. } = *kernels.kernels;
    kernels.elements(&Run { side: kernels.sides[number], number, table, numbers, limits })
}

/// Returns the elements that differ by more than the bound in relation to the larger value, each with a lower
/// bound on its difference.
fn suspects(kernels: &ComparedKernels<'_>, elements: &[Vec<Enclosed>; 2]) -> Vec<(usize, f64)> {
    let mut found = Vec::new();
    for (at, pair) in elements[0].iter().zip(&elements[1]).enumerate() {
        let (Enclosed::Between(a, b), Enclosed::Between(c, d)) = pair else { continue };
        let gap = (c - b).max(a - d).max(0.0);
        let size = [a, b, c, d].into_iter().fold(0.0, |most: f64, one| most.max(one.abs()));
        let (least, most) = full_precision_range(kernels, at);
        if (least..=most).contains(&size) && gap > bound(kernels, at) * size {
            found.push((at, gap));
        }
    }
    found
}

/// Returns the middle of an enclosure.
fn middle(element: &Enclosed) -> Option<f64> {
    match element {
        Enclosed::Between(low, high) => Some(low / 2.0 + high / 2.0),
        _ => None,
    }
}

/// Returns `true` if the element with this number among all outputs is a double.
fn is_double(kernels: &ComparedKernels<'_>, at: usize) -> bool {
    let mut index = at;
    for (_, output) in kernels.outputs(0) {
        if index < output.starts.len() {
            return output.scalar == Scalar::Float(Format::F64);
        }
        index -= output.starts.len();
    }
    false
}

/// Returns the largest relative distance between values that is not reported. Rounding of a 16-bit constant
/// exceeds the bound for singles.
fn bound(kernels: &ComparedKernels<'_>, at: usize) -> f64 {
    let bound = if is_double(kernels, at) { 1e-12 } else { 1e-5 };
    if kernels.unit > f32::EPSILON.into() { COARSE_UNITS * kernels.unit } else { bound }
}

/// Returns the range of magnitudes in which floats of the output's type have full precision.
fn full_precision_range(kernels: &ComparedKernels<'_>, at: usize) -> (f64, f64) {
    match is_double(kernels, at) {
        true => (f64::MIN_POSITIVE, f64::MAX),
        false => (f32::MIN_POSITIVE.into(), f32::MAX.into()),
    }
}

/// Returns the position of the element with this number among all outputs.
fn position(kernels: &ComparedKernels<'_>, at: usize) -> Option<Position> {
    let mut index = at;
    for (_, output) in kernels.outputs(0) {
        if index < output.starts.len() {
            return Some(Position { name: output.name.clone(), index });
        }
        index -= output.starts.len();
    }
    None
}
