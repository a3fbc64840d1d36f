//! Inputs as users choose them: numbers around 1, 10 and 100, large negative ones, zeros, rows of equal
//! numbers.
//!
//! At most of the points all elements of all tensors are the same number, so you can type it in. The points are for
//! runs in floats, where magnitudes matter: numbers overflow that are harmless over the reals.

use crate::assumed::Assumed;
use crate::sample::nearest;
use crate::side::{Input, InputKind, Side};
use crate::table::Table;
use crate::witness::Numbers;
use base::mix64;
use decide::Points;
use ir::Scalar;
use term::Terms;

/// The inputs at a point.
#[derive(Clone, Copy, Debug)]
enum PointKind {
    /// All elements of all tensors are this number.
    Filled(f64),
    /// One number for each row.
    Rows(f64),
    /// Random numbers with this standard deviation.
    Normal(f64),
}

/// The points, most informative first. Fractions that are not floats make sums round.
const POINTS: [PointKind; 12] = [
    PointKind::Filled(100.1),
    PointKind::Filled(0.0),
    PointKind::Filled(-10000.3),
    PointKind::Normal(1.0),
    PointKind::Rows(37.7),
    PointKind::Filled(-100.1),
    PointKind::Filled(10.1),
    PointKind::Normal(100.0),
    PointKind::Filled(-10.1),
    PointKind::Filled(1.0),
    PointKind::Filled(1234.567),
    PointKind::Normal(10.0),
];

/// Number of points.
pub(crate) const POINT_COUNT: usize = POINTS.len();

/// Values for scalars: they are rarely large, and often keep a divisor from zero.
const SCALARS: [f64; 2] = [1.0, 1e-5];

/// All elements of an input at a point.
#[derive(Clone, Debug, PartialEq)]
pub struct InputContents {
    /// The input.
    pub name: String,
    /// The type of its elements.
    pub scalar: Scalar,
    /// Dimensions; `None` for a scalar.
    pub shape: Option<Vec<u64>>,
    /// Its elements in index order; a single one if all are equal.
    pub numbers: Vec<f64>,
}

/// The inputs of a comparison.
pub(crate) struct OrdinaryInputs<'c> {
    pub(crate) sides: [&'c Side<'c>; 2],
    pub(crate) table: &'c Table,
    /// The store with the terms of the assumptions.
    pub(crate) terms: &'c Terms,
    pub(crate) assumed: &'c Assumed,
}

impl OrdinaryInputs<'_> {
    /// Returns all inputs at a point, if the assumptions hold there.
    pub(crate) fn at(&self, number: usize) -> Option<(Vec<InputContents>, Numbers)> {
        let conditions = self.assumed.all();
        let ranges = Points::within(self.terms, &conditions, 3);
        let mut contents: Vec<InputContents> = Vec::new();
        let mut known = Vec::new();
        for input in self.sides.iter().flat_map(|side| side.own_inputs()) {
            if contents.iter().any(|known| known.name == input.name) {
                continue;
            }
            let Some((length, row)) = sizes(input) else { continue };
            let first = self.table.first(&input.name);
            let mut numbers = Vec::with_capacity(length);
            for index in 0..length {
                let Some(position) = self.table.position(&input.name, index) else {
                    numbers.push(0.0);
                    continue;
                };
                let term_input = self.terms.inputs().at(position)?;
                let value = value(number, input, position, (position - first) / row.max(1));
                let value = ranges.confine(term_input, nearest(input.scalar, value));
                numbers.push(nearest(input.scalar, value));
                known.push((position, nearest(input.scalar, value)));
            }
            if numbers.iter().all(|one| Some(one) == numbers.first()) {
                numbers.truncate(1);
            }
            let shape = match &input.kind {
                InputKind::Tensor { shape, .. } => Some(shape.clone()),
                InputKind::Scalar | InputKind::Related(_) => None,
            };
            let (name, scalar) = (input.name.clone(), input.scalar);
            contents.push(InputContents { name, scalar, shape, numbers });
        }
        let numbers = Numbers::of_all(self.sides, self.table, self.terms, known)?;
        self.assumed.all_hold(self.terms, &numbers).then_some((contents, numbers))
    }

    /// Returns the first inputs of a point by name, in order, without those determined by a tensor's structure.
    pub(crate) fn named(&self, numbers: &Numbers, most: usize) -> Vec<(String, f64)> {
        let inputs = self.terms.inputs();
        let free = (0..inputs.len()).filter(|position| self.table.is_free(*position));
        let all = free.take(most).filter_map(|position| inputs.at(position));
        all.map(|input| (inputs.name(input), numbers.at(input.position()))).collect()
    }
}

/// Returns the number of elements, and of elements in a row; `None` for a scalar that depends on others.
fn sizes(input: &Input) -> Option<(usize, usize)> {
    match &input.kind {
        InputKind::Related(_) => None,
        InputKind::Scalar => Some((1, 1)),
        InputKind::Tensor { shape, .. } => {
            let length = shape.iter().product::<u64>() as usize;
            Some((length, shape.last().map_or(1, |last| *last as usize)))
        }
    }
}

/// Returns the value at a point of the element at this position, in this row.
fn value(number: usize, input: &Input, position: usize, row: usize) -> f64 {
    let point = POINTS[number % POINT_COUNT];
    if input.kind == InputKind::Scalar {
        return SCALARS[number % SCALARS.len()];
    }
    match point {
        PointKind::Filled(value) => value,
        PointKind::Rows(value) => value * (1.0 + (row % 16) as f64),
        PointKind::Normal(deviation) => {
            // A sum of four uniform numbers is close enough to a normal one.
            let random = mix64((number as u64) << 40 ^ position as u64);
            let uniform = (0..4).map(|at| (random >> (16 * at) & 0xffff) as f64 / 65536.0 - 0.5);
            deviation * uniform.sum::<f64>() * 3_f64.sqrt()
        }
    }
}
