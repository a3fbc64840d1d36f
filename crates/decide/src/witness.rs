//! The search for a point where two terms differ.
//!
//! Fingerprints pick the promising points. A difference is established only by interval evaluation of both terms at
//! 256 bits, with the reference certainly defined.

use crate::evaluate::{
    Evaluator, Interval, LANES, Lanes, Value, element, evaluate_floats, evaluate_until,
    fingerprints, is_certainly_real,
};
use crate::points::Points;
use crate::problem::Problem;
use term::{Function, Input, Node, Number, Term, Terms, evaluation_order};

/// Values of the relevant inputs.
pub type Point = Vec<(Input, Number)>;

/// A difference at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discrepancy {
    /// The values are in disjoint intervals: reference, optimised.
    Values(Interval, Interval),
    /// The reference is defined there, the optimised term is not.
    OnlyReferenceDefined(Interval),
}

/// The point where two terms are farthest apart.
#[derive(Clone, Debug)]
pub struct Widest {
    /// The point.
    pub point: Point,
    /// The values there.
    pub discrepancy: Discrepancy,
    /// Their distance, relative to the larger.
    pub relative: f64,
}

impl Discrepancy {
    /// Returns `true` if floats show it: neither value is beyond their range or near its lower end, and they
    /// differ by more than a few last places of a single.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        match self {
            Self::Values(a, b) => {
                let (a, b) = (a.to_f64_lossy(), b.to_f64_lossy());
                let most = a.abs().max(b.abs());
                (1e-30..1e30).contains(&most) && relative(a, b) > 1e-6
            }
            Self::OnlyReferenceDefined(_) => true,
        }
    }

    /// Returns the distance of the values, relative to the larger; infinite if one is undefined.
    #[must_use]
    pub fn relative(&self) -> f64 {
        match self {
            Self::Values(a, b) => relative(a.to_f64_lossy(), b.to_f64_lossy()),
            Self::OnlyReferenceDefined(_) => f64::INFINITY,
        }
    }
}

fn relative(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / a.abs().max(b.abs()) }
}

/// Relative distance below which doubles agree in all digits that rounding leaves them.
const NEGLIGIBLE: f64 = 1e-13;

/// A search for a point where two terms differ, and conditions on the points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'t> {
    pub(crate) reference: (&'t Terms, Term),
    pub(crate) optimised: (&'t Terms, Term),
    /// Conditions in the reference's store that a point must satisfy.
    pub(crate) assumptions: &'t [Term],
    pub(crate) points: &'t Points<'t>,
}

/// Result for a range of points.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// The first point where both are defined and the values differ.
    pub(crate) values: Option<(Point, Discrepancy)>,
    /// The first point where only the reference is defined.
    pub(crate) undefined: Option<(Point, Discrepancy)>,
    /// Set if the reference was certainly defined at some point.
    pub(crate) reference_defined: bool,
}

impl SearchResult {
    /// Combines the results of two searches.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            values: self.values.or(other.values),
            undefined: self.undefined.or(other.undefined),
            reference_defined: self.reference_defined || other.reference_defined,
        }
    }
}

impl<'t> Search<'t> {
    /// Creates a search for a point at which the two terms of a pair differ.
    pub(crate) fn new(problem: &Problem<'t>, pair: (Term, Term), points: &'t Points<'t>) -> Self {
        Self {
            reference: (problem.reference, pair.0),
            optimised: (problem.optimised, pair.1),
            assumptions: problem.assumptions,
            points,
        }
    }

    /// Looks for a point that satisfies the assumptions and where the reference is defined. Stops at the first, or at
    /// the deadline.
    pub(crate) fn reference_has_domain(&self, points: u64) -> bool {
        self.in_time(points).any(|number| {
            let point = |input: Input| self.points.value(number, input);
            self.is_certainly_real(&point)
                || matches!(
                    self.reference_at(&point),
                    Value::Real(_) | Value::Any | Value::Infinity(_)
                )
        })
    }

    /// Looks for a point that satisfies the assumptions and where the reference is a real number. Stops at the first,
    /// or at the deadline.
    pub(crate) fn reference_is_real(&self, points: u64) -> bool {
        self.in_time(points).any(|number| {
            let point = |input: Input| self.points.value(number, input);
            self.is_certainly_real(&point) || matches!(self.reference_at(&point), Value::Real(_))
        })
    }

    /// Returns `true` if doubles show that the reference is a real number and the assumptions hold.
    fn is_certainly_real(&self, point: &dyn Fn(Input) -> Number) -> bool {
        let (terms, root) = self.reference;
        is_certainly_real(terms, (root, self.assumptions), point, self.points.deadline)
    }

    /// Returns the numbers of points, until the deadline.
    fn in_time(&self, points: u64) -> impl Iterator<Item = u64> {
        (0..points).take_while(|_| !self.points.deadline.has_passed())
    }

    /// Tries the points numbered `points`, until the values differ. Evaluates intervals at each of the first
    /// `always`, and wherever fingerprints are promising.
    pub(crate) fn run(&self, points: std::ops::Range<u64>, always: u64) -> SearchResult {
        let mut found = SearchResult::default();
        for number in points {
            if self.points.deadline.has_passed() {
                break;
            }
            let point = |input: Input| self.points.value(number, input);
            if number >= always && !self.is_promising(&point) {
                continue;
            }
            let reference = self.reference_at(&point);
            found.reference_defined |= matches!(reference, Value::Real(_) | Value::Any);
            let Value::Real(reference) = reference else { continue };
            let (terms, root) = self.optimised;
            match evaluate_until(terms, &[root], &point, self.points.deadline).pop() {
                Some(Value::Real(optimised)) if optimised.is_disjoint(&reference) => {
                    let discrepancy = Discrepancy::Values(reference, optimised);
                    found.values = Some((self.point(number), discrepancy));
                    break;
                }
                Some(Value::Undefined) if found.undefined.is_none() => {
                    let discrepancy = Discrepancy::OnlyReferenceDefined(reference);
                    found.undefined = Some((self.point(number), discrepancy));
                }
                _ => {}
            }
        }
        found
    }

    /// Finds the differing points among those numbered `points`, the farthest apart relative to their size
    /// first, then those where only the reference is defined; at most `most` of each.
    ///
    /// Doubles choose the points. Points where they hardly differ are left out, because floats would not show the
    /// difference; so are points where the reference has no finite double.
    pub(crate) fn all(
        &self,
        points: std::ops::Range<u64>,
        most: usize,
    ) -> Vec<(Point, Discrepancy)> {
        let (mut values, mut undefined) = (Vec::new(), Vec::new());
        let (nan, mut apart): (Vec<_>, Vec<_>) =
            self.distances(points).into_iter().partition(|(distance, _)| distance.is_nan());
        apart.retain(|(distance, _)| *distance > NEGLIGIBLE);
        apart.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        for (distance, number) in nan.into_iter().chain(apart) {
            if self.points.deadline.has_passed() || !distance.is_nan() && values.len() >= most {
                break;
            }
            let found = self.run(number..number + 1, u64::MAX);
            values.extend(found.values);
            undefined.extend(found.undefined);
        }
        values.sort_by(|(_, a), (_, b)| b.relative().total_cmp(&a.relative()));
        values.truncate(most);
        values.extend(undefined.into_iter().take(most));
        values
    }

    /// Finds the point, of those numbered `points`, where the values are farthest apart relative to their
    /// size: as doubles, by `least` or more, and then in intervals.
    pub(crate) fn widest(&self, points: std::ops::Range<u64>, least: f64) -> Option<Widest> {
        let mut numbers = self.distances(points);
        numbers.retain(|(distance, _)| *distance >= least);
        numbers.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        numbers.into_iter().find_map(|(_, number)| self.distance_if_different(number))
    }

    /// Returns the relative distances of the values as doubles, at each point where the reference is finite; NaN
    /// where the optimised term is not.
    fn distances(&self, points: std::ops::Range<u64>) -> Vec<(f64, u64)> {
        let mut sides = [self.reference, self.optimised]
            .map(|(terms, root)| Evaluator::new(terms, vec![root]).until(self.points.deadline));
        let mut distances = Vec::new();
        let mut numbers = points;
        while !numbers.is_empty() && !self.points.deadline.has_passed() {
            let group: [Option<u64>; LANES] = std::array::from_fn(|_| numbers.next());
            let point = |input: Input| -> Lanes {
                group.map(|number| {
                    number.map_or(0.0, |number| self.points.value(number, input).to_f64_lossy())
                })
            };
            let [a, b] = sides.each_mut().map(|side| side.run(&point)[0]);
            let pair_distances = a.into_iter().zip(b).map(|(a, b)| (a.is_finite(), relative(a, b)));
            let of_group = group.into_iter().zip(pair_distances);
            distances.extend(of_group.filter_map(|(number, (is_defined, distance))| {
                number.filter(|_| is_defined).map(|number| (distance, number))
            }));
        }
        distances
    }

    /// Computes the distance of the values at a point, if they certainly differ there.
    fn distance_if_different(&self, number: u64) -> Option<Widest> {
        let point = |input: Input| self.points.value(number, input);
        let Value::Real(reference) = self.reference_at(&point) else { return None };
        let (terms, root) = self.optimised;
        match evaluate_until(terms, &[root], &point, self.points.deadline).pop() {
            Some(Value::Real(optimised)) if optimised.is_disjoint(&reference) => {
                let discrepancy = Discrepancy::Values(reference, optimised);
                let relative = discrepancy.relative();
                Some(Widest { point: self.point(number), discrepancy, relative })
            }
            _ => None,
        }
    }

    /// Returns the reference's value, if the assumptions hold.
    fn reference_at(&self, point: &dyn Fn(Input) -> Number) -> Value {
        let (terms, root) = self.reference;
        let mut roots = vec![root];
        roots.extend_from_slice(self.assumptions);
        let mut values = evaluate_until(terms, &roots, point, self.points.deadline).into_iter();
        let reference = values.next().unwrap_or(Value::Unsure);
        if values.all(|value| value == Value::Truth(true)) { reference } else { Value::Unsure }
    }

    /// Returns `true` if fingerprints suggest that the values differ, or floats if there are none.
    fn is_promising(&self, point: &dyn Fn(Input) -> Number) -> bool {
        let [a, b] = [self.reference, self.optimised].map(|(terms, root)| {
            fingerprints(terms, &[root], point, self.points.deadline).pop().flatten()
        });
        if a.is_some() {
            return a != b;
        }
        let a = evaluate_floats(self.reference.0, &[self.reference.1], point);
        let b = evaluate_floats(self.optimised.0, &[self.optimised.1], point);
        match (a.first(), b.first()) {
            (Some(a), Some(b)) => {
                a.is_finite() && (b.is_nan() || (a - b).abs() > 1e-10 * (a.abs() + b.abs()))
            }
            _ => false,
        }
    }

    fn point(&self, number: u64) -> Point {
        let mut inputs = inputs_of(self.reference.0, self.reference.1);
        inputs.extend(inputs_of(self.optimised.0, self.optimised.1));
        for assumption in self.assumptions {
            inputs.extend(inputs_of(self.reference.0, *assumption));
        }
        for (terms, root) in [self.reference, self.optimised] {
            inputs.extend(self.elements_at(number, terms, root));
        }
        inputs.sort_unstable();
        inputs.dedup();
        let at = |input| (input, self.points.value(number, input));
        inputs.into_iter().map(at).collect()
    }
}

impl Search<'_> {
    /// Collects the elements of tensors that a term reads at a point through computed indices.
    fn elements_at(&self, number: u64, terms: &Terms, root: Term) -> Vec<Input> {
        let (firsts, indices): (Vec<Input>, Vec<Term>) = lookups(terms, root).into_iter().unzip();
        let point = |input: Input| self.points.value(number, input);
        let values = evaluate_until(terms, &indices, &point, self.points.deadline);
        let elements = firsts.into_iter().zip(values).filter_map(|(first, value)| match value {
            Value::Real(index) => element(terms, first, &index),
            _ => None,
        });
        elements.collect()
    }
}

/// Collects the tensors that a term indexes with computed indices, by their first elements, and the indices.
#[must_use]
pub fn lookups(terms: &Terms, root: Term) -> Vec<(Input, Term)> {
    let order = evaluation_order(terms, [root], |_| true);
    // A root that is not a sum is among the nodes.
    let lookups = order.nodes.iter().filter_map(|node| match terms.at(*node) {
        Node::Apply(Function::Element(first), index) => Some((first, index.into())),
        _ => None,
    });
    lookups.collect()
}

/// Collects the inputs below a term, without elements read by computed indices ([`lookups`]).
#[must_use]
pub fn inputs_of(terms: &Terms, root: Term) -> Vec<Input> {
    let order = evaluation_order(terms, [root], |_| true);
    let inputs = order.nodes.iter().filter_map(|node| match terms.at(*node) {
        Node::Input(input) => Some(input),
        _ => None,
    });
    inputs.collect()
}
