//! Points at which both sides are evaluated before any algebra: values that random tests miss.
//!
//! The first are those of [`decide::Points`]: small numbers, zeros, ties, rows of equal numbers. Then come
//! all magnitudes of the inputs' types, their extremes, single nonzero elements, and ascending and descending
//! numbers. Last are the constants of the kernels themselves, with their neighbours, their multiples, and
//! numbers beyond all of them. A threshold of 20 or a mask of −1e10 shows only there.
//!
//! Every value is one of its input's type. Where an assumption bounds an input by numbers, the value is moved
//! into the range; the caller checks the other assumptions.

use crate::side::{InputKind, Side};
use crate::table::Table;
use base::mix64;
use decide::{LANES, Lanes, Points};
use ir::{Format, Scalar};
use term::{Input, Term, Terms};

/// Groups of points.
pub(crate) const GROUPS: usize = POINT_KINDS.len() / LANES;

/// The largest number of constants used to make points.
const MAX_CONSTANTS: usize = 24;

/// The inputs at a point.
#[derive(Clone, Copy, Debug)]
enum PointKind {
    /// The point of [`Points`] with this number.
    Ordinary(u64),
    /// Random numbers of this size, a binary exponent.
    Order(i32),
    /// Random numbers of random sizes.
    Orders,
    /// The same number everywhere.
    Equal(f64),
    /// One nonzero element in each tensor.
    Single,
    Ascending,
    Descending,
    /// The smallest and largest numbers of the types.
    Ends,
    /// One constant of the kernels, or a number near it, everywhere.
    Constant,
    /// Constants of the kernels, or numbers near them.
    Constants,
    /// Numbers of larger magnitude than all constants: all negative, or of both signs.
    Beyond {
        negative: bool,
    },
}

/// The kinds of points in groups of [`LANES`], the most informative first: large problems are evaluated in
/// few groups.
const POINT_KINDS: [PointKind; 32] = [
    PointKind::Ordinary(0),
    PointKind::Ordinary(1),
    PointKind::Ordinary(2),
    PointKind::Constants,
    // The next group: equal numbers, zeros, and numbers beyond a mask.
    PointKind::Ordinary(4),
    PointKind::Ordinary(3),
    PointKind::Constants,
    PointKind::Beyond { negative: true },
    PointKind::Ordinary(7),
    PointKind::Orders,
    PointKind::Constant,
    PointKind::Beyond { negative: false },
    PointKind::Single,
    PointKind::Ascending,
    PointKind::Descending,
    PointKind::Ordinary(5),
    PointKind::Order(33),
    PointKind::Order(-33),
    PointKind::Constant,
    PointKind::Constants,
    PointKind::Equal(0.0),
    PointKind::Equal(30.0),
    PointKind::Equal(-30.0),
    PointKind::Ends,
    PointKind::Order(100),
    PointKind::Order(-100),
    PointKind::Constant,
    PointKind::Orders,
    PointKind::Ordinary(6),
    PointKind::Ordinary(8),
    PointKind::Constants,
    PointKind::Beyond { negative: true },
];

/// The points of a comparison.
#[derive(Debug)]
pub(crate) struct Sample<'s> {
    ordinary: Points<'s>,
    /// The inputs, by position.
    inputs: Vec<InputElements>,
    constants: Vec<f64>,
}

/// The elements of a tensor or scalar.
#[derive(Clone, Copy, Debug)]
struct InputElements {
    first: usize,
    length: usize,
    scalar: Scalar,
}

impl<'s> Sample<'s> {
    /// Prepares points for the inputs of both sides. Constants used in comparisons come first.
    pub(crate) fn new(
        sides: [&Side<'_>; 2],
        table: &Table,
        (terms, assumptions): (&'s Terms, &[Term]),
        (thresholds, others): (Vec<f64>, Vec<f64>),
    ) -> Self {
        let elements = |input: &crate::Input| {
            let length = match &input.kind {
                InputKind::Related(_) => return None,
                InputKind::Scalar => 1,
                InputKind::Tensor { shape, .. } => shape.iter().product::<u64>() as usize,
            };
            Some(InputElements { first: table.first(&input.name), length, scalar: input.scalar })
        };
        let all = sides.iter().flat_map(|side| side.own_inputs());
        let mut inputs: Vec<InputElements> = all.filter_map(elements).collect();
        inputs.sort_by_key(|input| input.first);
        inputs.dedup_by_key(|input| input.first);
        let is_informative = |number: &f64| *number != 0.0 && number.abs() != 1.0;
        let (mut constants, mut others): (Vec<f64>, Vec<f64>) = (
            spread(thresholds, MAX_CONSTANTS),
            others.into_iter().filter(is_informative).collect(),
        );
        constants.retain(|number| *number != 0.0);
        // The largest may be a mask.
        let by_size = |a: &f64, b: &f64| a.abs().total_cmp(&b.abs());
        constants.extend(others.iter().copied().max_by(by_size));
        others = spread(others, MAX_CONSTANTS.saturating_sub(constants.len()));
        constants.extend(others);
        Self { ordinary: Points::within(terms, assumptions, 3), inputs, constants }
    }

    /// Returns the values of an input at the points of a group.
    pub(crate) fn values(&self, group: usize, input: Input) -> Lanes {
        std::array::from_fn(|lane| self.value(group * LANES + lane, input))
    }

    /// Returns the value of an input at a point.
    pub(crate) fn value(&self, number: usize, input: Input) -> f64 {
        let kind = POINT_KINDS[number % POINT_KINDS.len()];
        let position = input.position();
        let after = self.inputs.partition_point(|input| input.first <= position);
        let elements = after.checked_sub(1).map(|at| self.inputs[at]);
        let elements = elements.filter(|element| position < element.first + element.length);
        match (kind, elements) {
            (PointKind::Ordinary(number), _) => self.ordinary.value(number, input).to_f64_lossy(),
            // The gaps between elements belong to no tensor.
            (_, None) => self.ordinary.value(number as u64, input).to_f64_lossy(),
            (kind, Some(elements)) => {
                let index = position - elements.first;
                let value = self.drawn_value(number as u64, kind, elements, index);
                let scalar = elements.scalar;
                nearest(scalar, self.ordinary.confine(input, nearest(scalar, value)))
            }
        }
    }

    /// Draws the value of an element at a point of this kind, not yet rounded to its type.
    fn drawn_value(
        &self,
        number: u64,
        kind: PointKind,
        elements: InputElements,
        index: usize,
    ) -> f64 {
        let (first, length, scalar) = (elements.first, elements.length, elements.scalar);
        let shared = mix64(number);
        let individual = mix64(number << 32 ^ (first + index) as u64);
        let fraction = |random: u64| 1.0 + (random % 8) as f64 / 8.0;
        let sign = |random: u64| if random >> 40 & 1 == 1 { -1.0 } else { 1.0 };
        match kind {
            PointKind::Order(order) => {
                sign(individual) * fraction(individual) * order_within(scalar, order)
            }
            PointKind::Orders => {
                let order = (individual >> 8 & 127) as i32 - 64;
                sign(individual) * fraction(individual) * order_within(scalar, order)
            }
            PointKind::Equal(number) => number,
            PointKind::Single if index as u64 == shared % length.max(1) as u64 => 8.0,
            PointKind::Single => 0.0,
            PointKind::Ascending => index as f64 / 8.0 - 4.0,
            PointKind::Descending => 4.0 - index as f64 / 8.0,
            PointKind::Ends => {
                let (least, most) = extremes(scalar);
                if sign(individual) < 0.0 { least } else { most }
            }
            PointKind::Constant => self.beside_constant(scalar, shared),
            PointKind::Constants => self.beside_constant(scalar, individual),
            PointKind::Beyond { negative } => {
                let largest = self.constants.iter().fold(1.0, |a: f64, b| a.max(b.abs()));
                let beyond =
                    largest * fraction(individual) * [2.0, 4.0, 16.0, 1024.0][shared as usize % 4];
                if negative { -beyond } else { sign(individual) * beyond }
            }
            PointKind::Ordinary(_) => 0.0,
        }
    }

    /// Returns a constant, one of its neighbours, or a multiple of it.
    fn beside_constant(&self, scalar: Scalar, random: u64) -> f64 {
        if self.constants.is_empty() {
            return (random % 64) as f64 / 4.0 - 8.0;
        }
        let constant = nearest(scalar, self.constants[random as usize % self.constants.len()]);
        match random >> 20 & 7 {
            0 | 1 => constant,
            2 => nearest(scalar, constant + step(scalar, constant)),
            3 => nearest(scalar, constant - step(scalar, constant)),
            4 => nearest(scalar, -constant),
            5 => nearest(scalar, 2.0 * constant),
            6 => nearest(scalar, -2.0 * constant),
            _ => nearest(scalar, constant / 2.0),
        }
    }
}

/// Selects at most `most` numbers, evenly spread.
fn spread(numbers: Vec<f64>, most: usize) -> Vec<f64> {
    let stride = numbers.len().div_ceil(most.max(1)).max(1);
    numbers.into_iter().step_by(stride).take(most).collect()
}

/// Returns a power of two within the limits of the type.
fn order_within(scalar: Scalar, order: i32) -> f64 {
    match scalar {
        Scalar::Float(format) => {
            let (_, least, most) = parameters(format);
            2_f64.powi(order.max(least)).min(most / 2.0)
        }
        Scalar::Integer { .. } => 2_f64.powi(order.abs().min(62)),
    }
}

/// Returns significand bits, exponent of the smallest step, and largest number of a format. For bf16 the largest
/// number here is three quarters of 2¹²⁸, somewhat below the true one.
fn parameters(format: Format) -> (i32, i32, f64) {
    match format {
        Format::F64 => (53, -1074, f64::MAX),
        Format::F32 => (24, -149, f64::from(f32::MAX)),
        Format::Tf32 => (11, -136, (2.0 - 2_f64.powi(-10)) * 2_f64.powi(127)),
        Format::Bf16 => (8, -133, 1.5 * 2_f64.powi(127)),
        Format::F16 => (11, -24, 65504.0),
        Format::E4m3 => (4, -9, 448.0),
        Format::E5m2 => (3, -16, 57344.0),
    }
}

/// Returns the smallest and largest number of a type, as doubles.
fn extremes(scalar: Scalar) -> (f64, f64) {
    match scalar {
        Scalar::Float(format) => {
            let most = nearest(scalar, parameters(format).2);
            (-most, most)
        }
        Scalar::Integer { width, signed } => {
            let limit = 2_f64.powi(width.bits() as i32 - i32::from(signed));
            // A double has 53 bits, so use the largest representable one of the 64-bit integers.
            let most = if width.bits() > 53 { limit - limit / 2_f64.powi(53) } else { limit - 1.0 };
            (if signed { -limit } else { 0.0 }, most)
        }
    }
}

/// Returns the distance to the next number of the type.
fn step(scalar: Scalar, number: f64) -> f64 {
    let Scalar::Float(format) = scalar else { return 1.0 };
    let (bits, least, _) = parameters(format);
    let exponent = if number == 0.0 { least } else { number.abs().log2().floor() as i32 };
    2_f64.powi((exponent - bits + 1).max(least))
}

/// Rounds to the nearest number of the type.
pub(crate) fn nearest(scalar: Scalar, number: f64) -> f64 {
    match scalar {
        Scalar::Float(Format::F64) => number.clamp(-f64::MAX, f64::MAX),
        Scalar::Float(Format::F32) => {
            let most = f64::from(f32::MAX);
            f64::from(number.clamp(-most, most) as f32)
        }
        Scalar::Float(format) => {
            let most = parameters(format).2;
            let step = step(scalar, number);
            ((number / step).round_ties_even() * step).clamp(-most, most)
        }
        Scalar::Integer { .. } => {
            let (least, most) = extremes(scalar);
            number.round_ties_even().clamp(least, most)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::is_of_type;

    #[test]
    fn nearest_numbers_are_of_their_types() {
        let widths = [ir::Width::B8, ir::Width::B16, ir::Width::B32, ir::Width::B64];
        let integers = widths
            .iter()
            .flat_map(|&width| [true, false].map(|signed| Scalar::Integer { width, signed }));
        let formats = [
            Format::F64,
            Format::F32,
            Format::Tf32,
            Format::Bf16,
            Format::F16,
            Format::E4m3,
            Format::E5m2,
        ];
        let types: Vec<Scalar> = formats.map(Scalar::Float).into_iter().chain(integers).collect();
        let numbers = [0.0, 0.1, -1e-9, 3.7, -17.3, 999.9, 1e5, -1e10, 1e30, -1e300, 1e-310];
        for scalar in types {
            let (least, most) = extremes(scalar);
            for number in numbers.into_iter().chain([least, most]) {
                let near = nearest(scalar, number);
                assert!(is_of_type(scalar, near), "{scalar:?}: {number} gives {near}");
                let next = nearest(scalar, near + step(scalar, near));
                assert!(is_of_type(scalar, next), "{scalar:?}: {near} and {next}");
            }
            for order in [-100, -33, 0, 33, 100] {
                let number = order_within(scalar, order) * 1.875;
                assert!(is_of_type(scalar, nearest(scalar, number)), "{scalar:?} {order}");
            }
        }
    }
}
