//! Evaluates all pairs at a few points, before any algebra.
//!
//! Doubles show where values clearly differ ([`Probe::run`]), and intervals of 256 bits confirm it ([`tell_apart`]).
//! The doubles have no error bounds: a suspect may be rounding, which the intervals then show, and a difference below
//! [`CLEAR`] is left to the algebra.

use crate::deadline::Deadline;
use crate::evaluate::{Evaluator, LANES, Lanes, Value, evaluate_until};
use crate::problem::Problem;
use crate::witness::{Discrepancy, Point, inputs_of};
use std::collections::BTreeSet;
use term::{Input, Node, NodeId, Number, Term, Terms};

/// Relative difference from which doubles are clearly different.
const CLEAR: f64 = 1e-6;

/// A pair whose values seem to differ at a point of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// Position among the pairs.
    pub pair: usize,
    /// The point, by its lane.
    pub lane: usize,
    /// Set if both sides are defined there; otherwise the reference alone is.
    pub defined: bool,
}

/// Pairs to evaluate.
#[derive(Debug)]
pub struct Probe<'t> {
    pairs: usize,
    reference: Evaluator<'t>,
    optimised: Evaluator<'t>,
}

impl<'t> Probe<'t> {
    /// Collects the nodes below the pairs and the assumptions.
    #[must_use]
    pub fn new(problem: &Problem<'t>, pairs: &[(Term, Term)]) -> Self {
        let mut reference: Vec<Term> = pairs.iter().map(|pair| pair.0).collect();
        reference.extend_from_slice(problem.assumptions);
        let optimised = pairs.iter().map(|pair| pair.1).collect();
        Self {
            pairs: pairs.len(),
            reference: Evaluator::new(problem.reference, reference),
            optimised: Evaluator::new(problem.optimised, optimised),
        }
    }

    /// Sets a deadline; once it has passed there are no suspects.
    #[must_use]
    pub fn until(self, deadline: Deadline) -> Self {
        let Self { pairs, reference, optimised } = self;
        Self { pairs, reference: reference.until(deadline), optimised: optimised.until(deadline) }
    }

    /// Estimates the work of [`run`](Self::run). The unit is the work for one product in a sum.
    #[must_use]
    pub fn cost(&self) -> u64 {
        self.reference.cost() + self.optimised.cost()
    }

    /// Returns the constants of both sides: those in comparisons, then the others.
    #[must_use]
    pub fn constants(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut thresholds, mut others) = (BTreeSet::new(), BTreeSet::new());
        for side in [&self.reference, &self.optimised] {
            constants(side.terms(), side.nodes(), &mut thresholds, &mut others);
        }
        let doubles = |numbers: &BTreeSet<Number>| {
            numbers.iter().map(Number::to_f64_lossy).filter(|one| one.is_finite()).collect()
        };
        (doubles(&thresholds), doubles(&(&others - &thresholds)))
    }

    /// Returns the relative distances between the values of each pair at a group of points; NaN where one is not
    /// finite, unless both are the same infinity.
    pub fn distances(&mut self, point: &dyn Fn(Input) -> Lanes) -> Vec<Lanes> {
        let reference = self.reference.run(point);
        let optimised = self.optimised.run(point);
        let distance = |a: f64, b: f64| match a == b {
            true => 0.0,
            false => (a - b).abs() / a.abs().max(b.abs()),
        };
        let pairs = reference.iter().take(self.pairs).zip(&optimised);
        pairs.map(|(a, b)| std::array::from_fn(|lane| distance(a[lane], b[lane]))).collect()
    }

    /// Returns the suspects at a group of points, by point and pair: first those with a value on both sides.
    /// Points at which an assumption fails have none.
    pub fn run(&mut self, point: &dyn Fn(Input) -> Lanes) -> Vec<Suspect> {
        let reference = self.reference.run(point);
        let optimised = self.optimised.run(point);
        if self.optimised.is_over() {
            return Vec::new();
        }
        let (values, conditions) = reference.split_at(self.pairs);
        let mut suspects = Vec::new();
        for lane in 0..LANES {
            if conditions.iter().any(|condition| condition[lane] != 1.0) {
                continue;
            }
            for (pair, (a, b)) in values.iter().zip(&optimised).enumerate() {
                let (a, b) = (a[lane], b[lane]);
                let is_far = (a - b).abs() > CLEAR * a.abs().max(b.abs());
                if a.is_finite() && (b.is_nan() || is_far && b.is_finite()) {
                    suspects.push(Suspect { pair, lane, defined: !b.is_nan() });
                }
            }
        }
        suspects.sort_by_key(|suspect| !suspect.defined);
        suspects
    }
}

/// Collects the constants of some nodes.
fn constants(
    terms: &Terms,
    nodes: &[NodeId],
    thresholds: &mut BTreeSet<Number>,
    others: &mut BTreeSet<Number>,
) {
    for node in nodes {
        match terms.at(*node) {
            Node::Compare(_, a, b) | Node::Maximum(a, b) | Node::Minimum(a, b) => {
                let constant = |node: NodeId| terms.as_number(node.into()).cloned();
                thresholds.extend([a, b].into_iter().filter_map(constant));
            }
            Node::Constant(constant) => {
                others.insert(terms.number(constant).clone());
            }
            _ => {}
        }
    }
}

/// Returns the difference of a pair at a point, if it is certain: the assumptions hold, the reference is defined, and
/// the values differ. `None` if the deadline passes.
#[must_use]
pub fn tell_apart(
    problem: &Problem<'_>,
    pair: (Term, Term),
    value: &dyn Fn(Input) -> Number,
    deadline: Deadline,
) -> Option<(Point, Discrepancy)> {
    let mut roots = vec![pair.0];
    roots.extend_from_slice(problem.assumptions);
    let mut values = evaluate_until(problem.reference, &roots, value, deadline).into_iter();
    let Some(Value::Real(reference)) = values.next() else { return None };
    if values.any(|condition| condition != Value::Truth(true)) {
        return None;
    }
    let discrepancy = match evaluate_until(problem.optimised, &[pair.1], value, deadline).pop()? {
        Value::Real(optimised) if optimised.is_disjoint(&reference) => {
            Discrepancy::Values(reference, optimised)
        }
        Value::Undefined => Discrepancy::OnlyReferenceDefined(reference),
        _ => return None,
    };
    let mut inputs: BTreeSet<Input> = inputs_of(problem.optimised, pair.1).into_iter().collect();
    inputs.extend(roots.iter().flat_map(|root| inputs_of(problem.reference, *root)));
    Some((inputs.into_iter().map(|input| (input, value(input))).collect(), discrepancy))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::text::{Scope, parse_expression, parse_script};

    /// Collects the suspects among pairs of expressions over x and y where x is 3, −2, 5000 and 0 and y is 1,
    /// and whether intervals confirm each.
    fn suspects(pairs: &[[&str; 2]], assumptions: &[&str]) -> Vec<(usize, usize, bool, bool)> {
        let script = parse_script("input x, y").unwrap();
        let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let mut term = |text: &str| {
            let expression = parse_expression(text).unwrap();
            scope.term(&mut terms, &expression).unwrap()
        };
        let pairs: Vec<_> = pairs.iter().map(|[a, b]| (term(a), term(b))).collect();
        let assumptions: Vec<Term> = assumptions.iter().map(|text| term(text)).collect();
        let problem = Problem { reference: &terms, optimised: &terms, assumptions: &assumptions };
        let lanes = |input: Input| match input.position() {
            0 => [3.0, -2.0, 5000.0, 0.0],
            _ => [1.0; LANES],
        };
        let found = Probe::new(&problem, &pairs).run(&lanes);
        let confirm = |suspect: &Suspect| {
            let value = |input: Input| Number::from_f64(lanes(input)[suspect.lane]).unwrap();
            let differs =
                tell_apart(&problem, pairs[suspect.pair], &value, Deadline::default()).is_some();
            (suspect.pair, suspect.lane, suspect.defined, differs)
        };
        found.iter().map(confirm).collect()
    }

    #[test]
    fn differences_are_seen_where_they_are() {
        let pairs = [["x*y", "y*x"], ["max(x, -1000)", "min(max(x, -1000), 1000)"]];
        assert_eq!(suspects(&pairs, &[]), [(1, 2, true, true)]);
        // A point that violates an assumption shows nothing.
        assert_eq!(suspects(&pairs, &["x < 100"]), []);
        // Only the reference has a value.
        assert_eq!(suspects(&[["x", "x*x/x"]], &[]), [(0, 3, false, true)]);
    }

    #[test]
    fn rounding_is_a_suspect_and_no_difference() {
        let pairs = [["x + y", "(x + 1000000000000000000) + (y - 1000000000000000000)"]];
        let found = suspects(&pairs, &[]);
        assert!(!found.is_empty() && found.iter().all(|(_, _, _, apart)| !apart), "{found:?}");
    }

    #[test]
    fn thresholds_are_constants_of_comparisons() {
        let script = parse_script("input x").unwrap();
        let (mut scope, inputs) = Scope::declare(&script, &[]).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let expression = parse_expression("if(x < 20, 3*x, x)").unwrap();
        let term = scope.term(&mut terms, &expression).unwrap();
        let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
        let (thresholds, others) = Probe::new(&problem, &[(term, term)]).constants();
        assert_eq!(thresholds, [20.0]);
        assert!(others.contains(&3.0), "{others:?}");
    }
}
