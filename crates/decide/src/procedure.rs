//! The order of the search: products first, then structure, then a scan, then the ladder.
//!
//! The scan takes the fingerprints of all open terms, in one pass for each of two points. Where they disagree a
//! difference is likely, and the deciding interval evaluation comes before any normal form. So one wrong output among
//! thousands is found at once, and so is a wrong one whose normal form would be enormous.

use crate::blocks::Blocks;
use crate::deadline::Deadline;
use crate::evaluate::{Fingerprints, Value, evaluate, evaluate_until, fingerprints};
use crate::ladder::Ladder;
use crate::points::{DISTINCT, Points};
use crate::problem::{Budget, Problem};
use crate::products::Products;
use crate::structure::same_structure;
use crate::verdict::{Decision, Reason, Rung};
use crate::witness::{Discrepancy, Point, Search, Widest, inputs_of};
use term::{Input, Number, Term, Terms};

/// Decides pairs one after another.
///
/// Pairs share their common subterms: give the outputs of a row, a tile or a block together. All intermediate results
/// are freed at the end, so a long run is decided batch by batch, as blocks finish and their stores can be dropped.
/// Nothing is remembered between calls, and calls for different batches may run on different threads.
///
/// ```
/// use decide::{Budget, Problem, decide};
/// use std::sync::Arc;
/// use term::{Inputs, Terms};
/// let mut inputs = Inputs::new();
/// let x = inputs.scalar("x").unwrap();
/// let mut terms = Terms::new(Arc::new(inputs));
/// let x = terms.input(x);
/// let square = terms.multiply(x, x);
/// let root = terms.square_root(square);
/// let absolute = terms.absolute(x);
/// let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
/// let answers = decide(&problem, &[(root, absolute), (root, x)], &Budget::default());
/// assert!(answers[0].is_equal());
/// assert!(matches!(answers[1], decide::Decision::Different { .. }));
/// ```
///
/// # Panics
/// If the two stores have different inputs.
#[must_use]
pub fn decide(problem: &Problem<'_>, pairs: &[(Term, Term)], budget: &Budget) -> Vec<Decision> {
    let answers = equal_products(problem, pairs, budget);
    decide_open(problem, pairs, budget, answers)
}

/// Runs the first rung of [`decide`] alone: answers pairs that are sums of the same products. It costs one
/// pass over the sums and no algebra.
///
/// # Panics
/// If the two stores have different inputs.
#[must_use]
pub fn equal_products(
    problem: &Problem<'_>,
    pairs: &[(Term, Term)],
    budget: &Budget,
) -> Vec<Option<Decision>> {
    assert!(
        problem.reference.inputs() == problem.optimised.inputs(),
        "both stores of a problem range over the same inputs"
    );
    same_products(problem, pairs, budget, &Points::new(problem, budget))
}

/// Like [`decide`], for pairs that [`equal_products`] left open.
///
/// # Panics
/// If the two stores have different inputs.
#[must_use]
pub fn decide_other_than_products(
    problem: &Problem<'_>,
    pairs: &[(Term, Term)],
    budget: &Budget,
) -> Vec<Decision> {
    decide_open(problem, pairs, budget, vec![None; pairs.len()])
}

/// Decides the pairs that have no answer yet.
fn decide_open(
    problem: &Problem<'_>,
    pairs: &[(Term, Term)],
    budget: &Budget,
    mut answers: Vec<Option<Decision>>,
) -> Vec<Decision> {
    assert!(
        problem.reference.inputs() == problem.optimised.inputs(),
        "both stores of a problem range over the same inputs"
    );
    let points = &Points::new(problem, budget);
    let open = |answers: &[Option<Decision>]| -> Vec<usize> {
        answers
            .iter()
            .enumerate()
            .filter(|(_, one)| one.is_none())
            .map(|(index, _)| index)
            .collect()
    };
    if !budget.deadline.has_passed() {
        same_structure(problem, pairs, points, budget, &mut answers);
    }
    let mut differences = 0;
    let mut scanned = open(&answers);
    for number in SCANNED_POINTS {
        if budget.deadline.has_passed() || differences >= budget.differences {
            break;
        }
        let scan = Scan { problem, pairs, points, number };
        let suspects = scan.suspects(&scanned);
        differences += scan.run(&suspects, budget, differences, &mut answers);
        // If fingerprints disagree at one point, whether or not the values differ, another point adds nothing.
        scanned.retain(|index| suspects.binary_search(index).is_err());
    }
    if differences >= budget.differences {
        let skipped = || Decision::Unknown(Reason::Skipped);
        return answers.into_iter().map(|answer| answer.unwrap_or_else(skipped)).collect();
    }
    if !budget.deadline.has_passed() {
        with_blocks((problem, points), pairs, &open(&answers), budget, &mut answers);
    }
    let left = open(&answers);
    if budget.deadline.has_passed() {
        left.iter().for_each(|index| answers[*index] = Some(Decision::Unknown(Reason::Time)));
    } else if !left.is_empty() {
        let open: Vec<(Term, Term)> = left.iter().map(|index| pairs[*index]).collect();
        let ladder = Ladder::new(problem, points, &open, &Blocks::default(), budget);
        let decided = ladder.run(&open, differences);
        for (index, answer) in left.into_iter().zip(decided) {
            answers[index] = Some(answer);
        }
    }
    answers.into_iter().map(|answer| answer.unwrap_or(Decision::Unknown(Reason::Budget))).collect()
}

/// Finds terms of one growing store that seem to be different.
#[derive(Debug, Default)]
pub struct Suspicion {
    fingerprints: Fingerprints,
}

impl Suspicion {
    /// Returns `true` if the fingerprints of two terms differ. Then the terms do, except for identities
    /// between roots and the like. Not a proof. The store must be the same at every call; it may have grown.
    pub fn differ(&mut self, terms: &Terms, pair: [Term; 2]) -> bool {
        let points = Points::within(terms, &[], Budget::default().significand_bits);
        let point = |input: Input| points.value(SCANNED_POINTS[0], input);
        let found = self.fingerprints.find(terms, &pair, &point, Deadline::default());
        found[0].is_some() && found[0] != found[1]
    }
}

/// Returns the point, of all that a search for a difference tries, where the terms are farthest apart relative to
/// their size. Points with an apparent distance below `least` are skipped.
#[must_use]
pub fn widest(
    problem: &Problem<'_>,
    pair: (Term, Term),
    budget: &Budget,
    least: f64,
) -> Option<Widest> {
    let points = Points::new(problem, budget);
    Search::new(problem, pair, &points).widest(0..budget.points, least)
}

/// Returns the differences that a search finds, the widest first; then the points where only the reference is
/// defined. At most `most` of each.
#[must_use]
pub fn differences(
    problem: &Problem<'_>,
    pair: (Term, Term),
    budget: &Budget,
    most: usize,
) -> Vec<(Point, Discrepancy)> {
    let points = Points::new(problem, budget);
    Search::new(problem, pair, &points).all(0..budget.points, most)
}

/// Finds values of all inputs in some conditions, such that the conditions hold. `None` if they hold at no tried
/// point; then nothing should be claimed under them.
#[must_use]
pub fn satisfy(terms: &Terms, conditions: &[Term], budget: &Budget) -> Option<Point> {
    let points = Points::within(terms, conditions, budget.significand_bits);
    let holds = |number: &u64| {
        let values = evaluate(terms, conditions, &|input| points.value(*number, input));
        values.into_iter().all(|value| value == Value::Truth(true))
    };
    let number = (0..budget.points).find(holds)?;
    let mut inputs: Vec<Input> =
        conditions.iter().flat_map(|condition| inputs_of(terms, *condition)).collect();
    inputs.sort_unstable();
    inputs.dedup();
    Some(inputs.into_iter().map(|input| (input, points.value(number, input))).collect())
}

/// Runs the first rung for all pairs.
fn same_products(
    problem: &Problem<'_>,
    pairs: &[(Term, Term)],
    budget: &Budget,
    points: &Points<'_>,
) -> Vec<Option<Decision>> {
    let mut products = Products::default();
    // These sums are total, so the equality is about some input unless the assumptions exclude all inputs.
    let mut possible = problem.assumptions.is_empty().then_some(true);
    let mut decide = |(reference, optimised): &(Term, Term)| {
        let sides = ((problem.reference, *reference), (problem.optimised, *optimised));
        let same = !budget.deadline.has_passed()
            && products.equal(sides.0, sides.1)
            && *possible.get_or_insert_with(|| {
                let search = Search::new(problem, (*reference, *optimised), points);
                search.reference_has_domain(budget.points)
            });
        same.then_some(Decision::Equal { rung: Rung::Products, conditions: Vec::new() })
    };
    pairs.iter().map(&mut decide).collect()
}

/// Answers pairs that are equal with their common sums as unknowns, or as unknowns with a definition.
fn with_blocks(
    (problem, points): (&Problem<'_>, &Points<'_>),
    pairs: &[(Term, Term)],
    open: &[usize],
    budget: &Budget,
    answers: &mut [Option<Decision>],
) {
    let chosen: Vec<(Term, Term)> = open.iter().map(|index| pairs[*index]).collect();
    let Some(blocks) = Blocks::find(problem, &chosen) else { return };
    let ladder = Ladder::new(problem, points, &chosen, &blocks, budget);
    let mut left = Vec::new();
    for (index, answer) in open.iter().zip(ladder.run_composite(&chosen)) {
        if answer.is_none() {
            left.push(*index);
        }
        answers[*index] = answer;
    }
    if left.is_empty() || budget.deadline.has_passed() {
        return;
    }
    let chosen: Vec<(Term, Term)> = left.iter().map(|index| pairs[*index]).collect();
    let blocks = blocks.in_common();
    let ladder = Ladder::new(problem, points, &chosen, &blocks, budget);
    for (index, answer) in left.iter().zip(ladder.run_composite(&chosen)) {
        answers[*index] = answer;
    }
}

/// The points of the scan: ordinary values, then one where hardly any two are the same.
const SCANNED_POINTS: [u64; 2] = [0, DISTINCT];

/// Suspects evaluated at once: they share subterms.
const SUSPECTS_PER_PASS: usize = 64;

/// A scan of all pairs at one point.
struct Scan<'s, 't> {
    problem: &'s Problem<'t>,
    pairs: &'s [(Term, Term)],
    points: &'s Points<'t>,
    number: u64,
}

impl Scan<'_, '_> {
    /// Answers the suspects that differ at the point, until these differences and the `before` earlier ones are
    /// enough; returns the number of the new ones.
    fn run(
        &self,
        suspects: &[usize],
        budget: &Budget,
        before: usize,
        answers: &mut [Option<Decision>],
    ) -> usize {
        let mut differences = 0;
        for some in suspects.chunks(SUSPECTS_PER_PASS) {
            if budget.deadline.has_passed() {
                break;
            }
            for index in self.disjoint_pairs(some) {
                let search = Search::new(self.problem, self.pairs[index], self.points);
                let found = search.run(self.number..self.number + 1, u64::MAX);
                if let Some(difference) = found.values {
                    differences += 1;
                    answers[index] = Some(difference.into());
                }
                if before + differences >= budget.differences {
                    return differences;
                }
            }
        }
        differences
    }

    /// Collects the pairs whose fingerprints disagree. All are compared, in one pass: a wrong element may be
    /// anywhere.
    fn suspects(&self, open: &[usize]) -> Vec<usize> {
        self.pairs_with(open, fingerprints, |a, b| a.is_some() && a != b)
    }

    /// Collects the suspects whose intervals are disjoint. Fingerprints of equal terms may differ if there are roots,
    /// so a whole batch may be suspect without a difference.
    fn disjoint_pairs(&self, suspects: &[usize]) -> Vec<usize> {
        self.pairs_with(suspects, evaluate_until, |a, b| match (a, b) {
            (Value::Real(a), Value::Real(b)) => a.is_disjoint(b),
            _ => false,
        })
    }

    /// Collects the pairs whose values at the point satisfy `differ`.
    fn pairs_with<V>(
        &self,
        some: &[usize],
        evaluate: impl Fn(&Terms, &[Term], &dyn Fn(Input) -> Number, Deadline) -> Vec<V>,
        differ: impl Fn(&V, &V) -> bool,
    ) -> Vec<usize> {
        if some.is_empty() {
            return Vec::new();
        }
        let point = |input: Input| self.points.value(self.number, input);
        let side = |terms: &Terms, of: fn(&(Term, Term)) -> Term| {
            let roots: Vec<Term> = some.iter().map(|index| of(&self.pairs[*index])).collect();
            evaluate(terms, &roots, &point, self.points.deadline)
        };
        let reference = side(self.problem.reference, |pair| pair.0);
        let optimised = side(self.problem.optimised, |pair| pair.1);
        let differing = reference.iter().zip(&optimised).map(|(a, b)| differ(a, b));
        some.iter()
            .zip(differing)
            .filter(|(_, differing)| *differing)
            .map(|(index, _)| *index)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::Inputs;

    /// Functions are numbered by store: the same number may be another function.
    #[test]
    fn functions_are_told_apart_by_name() {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let inputs = Arc::new(inputs);
        let mut stores = [Terms::new(Arc::clone(&inputs)), Terms::new(inputs)];
        let make = |terms: &mut Terms, names: [&str; 2]| {
            names.map(|name| {
                let function = terms.function(name).unwrap();
                terms.apply(function, terms.input(x))
            })
        };
        let [f, g] = make(&mut stores[0], ["f", "g"]);
        let [other_g, other_f] = make(&mut stores[1], ["g", "f"]);
        let [reference, optimised] = &stores;
        let problem = Problem { reference, optimised, assumptions: &[] };
        let pairs = [(f, other_f), (g, other_g), (f, other_g), (g, other_f)];
        let answers = decide(&problem, &pairs, &Budget::default());
        assert_eq!(
            answers.iter().map(Decision::is_equal).collect::<Vec<_>>(),
            [true, true, false, false]
        );
    }

    /// `Σ (xᵢ−m)²` or `Σ xᵢ² − n·m²`, over `divisor`.
    fn variance(terms: &mut Terms, length: i64, in_two_passes: bool, divisor: i64) -> Term {
        let inputs: Vec<Term> =
            (0..length as usize).map(|at| terms.input(terms.inputs().at(at).unwrap())).collect();
        let sum = inputs.iter().fold(terms.zero(), |sum, x| terms.add(sum, *x));
        let count = terms.integer(length);
        let mean = terms.divide(sum, count);
        let mut squares = terms.zero();
        for x in inputs {
            let x = if in_two_passes { terms.subtract(x, mean) } else { x };
            squares = terms.fused_multiply_add(x, x, squares);
        }
        if !in_two_passes {
            let square = terms.multiply(mean, mean);
            let all = terms.multiply(square, count);
            squares = terms.subtract(squares, all);
        }
        let divisor = terms.integer(divisor);
        terms.divide(squares, divisor)
    }

    /// A number of steps that suffices for a row, and not for its square.
    #[test]
    fn variances_of_long_rows_are_not_multiplied_out() {
        const LENGTH: i64 = 500;
        let mut inputs = Inputs::new();
        inputs.tensor("x", LENGTH as u32).unwrap();
        let inputs = Arc::new(inputs);
        let mut stores = [Terms::new(Arc::clone(&inputs)), Terms::new(inputs)];
        let two_passes = variance(&mut stores[0], LENGTH, true, LENGTH);
        let one_pass = variance(&mut stores[1], LENGTH, false, LENGTH);
        let other = variance(&mut stores[1], LENGTH, false, LENGTH - 1);
        let problem = Problem { reference: &stores[0], optimised: &stores[1], assumptions: &[] };
        let budget = Budget { normalise: 20 * LENGTH as u64, ..Budget::default() };
        let pairs = [(two_passes, one_pass), (two_passes, other)];
        let answers = decide(&problem, &pairs, &budget);
        assert!(answers[0].is_equal(), "{:?}", answers[0]);
        assert!(matches!(answers[1], Decision::Different { .. }), "{:?}", answers[1]);
    }
}
