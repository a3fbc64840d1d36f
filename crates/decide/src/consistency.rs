//! Contradictory conditions, and terms that are never zero, decided by ranges and signs alone.
//!
//! Both answers may be "no" for lack of a better argument. If no contradiction is found, there may still be no point;
//! and a term that is not proved to be nonzero need not have a zero.

use crate::algebra::{Algebra, Condition, Outcome, SignSet};
use crate::normalise::Normaliser;
use crate::points::Points;
use crate::problem::{Budget, Problem};
use term::{Input, Node, Term, Terms};

/// Steps that one question may take.
const STEPS: u64 = 200_000;

/// More conditions than this are not combined: each is a normal form.
const MAX_CONDITIONS: usize = 256;

/// The reason why no input satisfies some conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// No number of this input's type satisfies them.
    Input(Input),
    /// They contradict each other, or are false.
    Conditions,
}

/// Returns a contradiction between conditions, if ranges and signs show one.
#[must_use]
pub fn contradiction(terms: &Terms, conditions: &[Term]) -> Option<Contradiction> {
    let significand_bits = Budget::default().significand_bits;
    if let Some(input) = Points::within(terms, conditions, significand_bits).impossible() {
        return Some(Contradiction::Input(input));
    }
    let is_false = |condition: &Term| terms.node(*condition) == Node::Truth(false);
    if conditions.iter().any(is_false) {
        return Some(Contradiction::Conditions);
    }
    let some = &conditions[..conditions.len().min(MAX_CONDITIONS)];
    let mut algebra = Algebra::new(terms.inputs().len());
    let mut normaliser = Normaliser::new(terms, some.iter().copied());
    let possible = assume(&mut algebra, &mut normaliser, some);
    matches!(possible, Ok(false)).then_some(Contradiction::Conditions)
}

/// Returns `true` if a term of the optimised store, or of the reference's, is proved to be nonzero at every input that
/// satisfies the assumptions and at which the term is defined.
#[must_use]
pub fn is_never_zero(problem: &Problem<'_>, optimised: bool, term: Term) -> bool {
    never_zero(problem, optimised, term).unwrap_or(false)
}

fn never_zero(problem: &Problem<'_>, optimised: bool, term: Term) -> Outcome<bool> {
    let assumptions = problem.assumptions.get(..MAX_CONDITIONS).unwrap_or(problem.assumptions);
    let terms = if optimised { problem.optimised } else { problem.reference };
    let mut algebra = Algebra::new(problem.reference.inputs().len());
    let mut conditions = Normaliser::new(problem.reference, assumptions.iter().copied());
    let mut normaliser = Normaliser::new(terms, [term]);
    if optimised {
        normaliser.share_functions(problem.reference);
    }
    assume(&mut algebra, &mut conditions, assumptions)?;
    algebra.facts.combine = true;
    algebra.steps = STEPS;
    let value = normaliser.real(&mut algebra, term)?;
    Ok(algebra.sign_of(value)?.within(SignSet::NOT_ZERO))
}

/// Adds conditions to the facts; returns `false` if they contradict each other.
fn assume(
    algebra: &mut Algebra,
    normaliser: &mut Normaliser<'_>,
    conditions: &[Term],
) -> Outcome<bool> {
    let mut possible = true;
    for condition in conditions {
        algebra.steps = STEPS;
        // A condition without a normal form adds no fact.
        let Ok(condition) = normaliser.condition(algebra, *condition) else { continue };
        possible &= algebra.condition(condition) != Condition::Truth(false);
        for (form, signs) in algebra.comparisons(condition) {
            algebra.facts.combine = true;
            let known = algebra.sign(form)?;
            possible &= !known.and(signs).within(SignSet::NONE);
            possible &= algebra.assume(form, signs)?;
        }
    }
    Ok(possible)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use term::{FloatNumbers, Inputs, Number, Numbers, Relation};

    const HALF: FloatNumbers = FloatNumbers { digits: 11, lowest: -24, largest: (2047, 5) };

    fn store() -> (Terms, [Term; 3]) {
        let kinds = [Numbers::Reals, Numbers::Floats(HALF), Numbers::Integers(0, 255)];
        let mut inputs = Inputs::new();
        let positions = [0, 1, 2].map(|at: usize| {
            let input = inputs.scalar(["x", "h", "u"][at]).unwrap();
            inputs.describe(&[], kinds[at]);
            input
        });
        let terms = Terms::new(Arc::new(inputs));
        let values = positions.map(|input| terms.input(input));
        (terms, values)
    }

    fn is_impossible(terms: &Terms, conditions: &[Term]) -> bool {
        contradiction(terms, conditions).is_some()
    }

    #[test]
    fn types_without_a_number_in_range_are_found() {
        let (mut terms, [x, h, u]) = store();
        let zero = terms.zero();
        let negative = [x, h, u].map(|one| terms.compare(Relation::Less, one, zero));
        let found = negative.map(|condition| is_impossible(&terms, &[condition]));
        assert_eq!(found, [false, false, true]);
        // No half-precision float lies between 0.1 and 0.1000000001.
        let ends = [(1, 10), (1_000_000_001, 10_000_000_000)];
        let [low, high] = ends.map(|(a, b)| terms.constant(Number::ratio(a, b).unwrap()));
        let between = |terms: &mut Terms, value| {
            [terms.compare(Relation::Less, low, value), terms.compare(Relation::Less, value, high)]
        };
        let found = [x, h].map(|value| {
            let conditions = between(&mut terms, value);
            is_impossible(&terms, &conditions)
        });
        assert_eq!(found, [false, true]);
        let huge = terms.integer(70_000);
        let above = [x, h, u].map(|one| terms.compare(Relation::Less, huge, one));
        assert_eq!(above.map(|one| is_impossible(&terms, &[one])), [false, true, true]);
        let equal = [x, h].map(|one| terms.compare(Relation::Equal, one, low));
        assert_eq!(equal.map(|one| is_impossible(&terms, &[one])), [false, true]);
    }

    #[test]
    fn contradictions_are_found() {
        let (mut terms, [x, h, _]) = store();
        let (zero, one) = (terms.zero(), terms.one());
        let square = terms.multiply(x, x);
        let below = terms.compare(Relation::Less, square, zero);
        assert!(is_impossible(&terms, &[below]));
        let (less, more) =
            (terms.compare(Relation::Less, x, h), terms.compare(Relation::Less, h, x));
        assert!(is_impossible(&terms, &[less, more]) && !is_impossible(&terms, &[less]));
        let sum = terms.add(x, one);
        let inside = terms.compare(Relation::Less, sum, x);
        assert!(is_impossible(&terms, &[inside]));
    }

    #[test]
    fn terms_that_are_never_zero() {
        let (mut terms, [x, h, _]) = store();
        let zero = terms.zero();
        let positive = terms.compare(Relation::Less, zero, x);
        let exponential = terms.exp(h);
        let product = terms.multiply(x, exponential);
        let assumed = [positive];
        let never = |count: usize, term| {
            let assumptions = &assumed[..count];
            let problem = Problem { reference: &terms, optimised: &terms, assumptions };
            [false, true].map(|side| is_never_zero(&problem, side, term))
        };
        assert_eq!(never(0, x), [false; 2]);
        assert_eq!(never(0, exponential), [true; 2]);
        assert_eq!(never(1, x), [true; 2]);
        assert_eq!(never(1, product), [true; 2]);
        assert_eq!(never(1, h), [false; 2]);
    }
}
