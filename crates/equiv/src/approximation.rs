//! Differences that are too small to be a mistake.
//!
//! A compiler puts a polynomial where a function is called. [`lift`](../lift/index.html) finds it again, but not
//! every form of it: where the compiler knew a range it may have left half of it out. Then one side has
//! `tanh(x)` and the other a polynomial that is off by 10⁻⁸, and over the reals they are different. To call
//! that a bug is a false alarm; to call it equal would be a guess. So where two outputs are that close at
//! every point tried, and one side has constants as polynomials have them that the other has not, the answer
//! is that it is not known.
//!
//! It errs to the side of no answer: a mistake of less than [`CLOSE`] in a kernel with an unrecognised
//! polynomial is not reported as one.

use decide::{Budget, Discrepancy, Point, Problem, widest};
use std::collections::BTreeSet;
use std::fmt::Write;
use term::{Node, Number, Term, Terms, evaluation_order};

/// Two approximations of one function are no farther apart than this, for their size.
const CLOSE: f64 = 1e-5;

/// Values no farther apart than this look the same to a reader: a point that shows more is looked for.
const ALIKE: f64 = 1e-3;

/// So many constants make a polynomial.
const POLYNOMIAL: usize = 3;

/// A constant of fewer bits was written by hand.
const LONG: u32 = 12;

/// Constants that a reason names.
const SHOWN: usize = 3;

/// What is to be reported of a difference.
pub(crate) enum Reported {
    /// That there is one, at this point.
    At(Point, Discrepancy),
    /// Why it is none.
    Close(String),
}

/// Looks at a difference that was found at a point.
pub(crate) fn look(
    problem: &Problem<'_>,
    pair: (Term, Term),
    found: (&Point, &Discrepancy),
    budget: &Budget,
) -> Reported {
    let (point, discrepancy) = found;
    let as_found = || Reported::At(point.clone(), discrepancy.clone());
    if discrepancy.relative() > ALIKE {
        return as_found();
    }
    let Some(widest) = widest(problem, pair, budget, 0.0) else { return as_found() };
    if widest.relative <= CLOSE
        && let Some(reason) = reason(problem, pair, widest.relative)
    {
        return Reported::Close(reason);
    }
    match widest.relative > discrepancy.relative() {
        true => Reported::At(widest.point, widest.discrepancy),
        false => as_found(),
    }
}

/// A difference that is more than that of approximations, if a quick look at a pair shows one.
pub(crate) fn glance(
    problem: &Problem<'_>,
    pair: (Term, Term),
    budget: &Budget,
) -> Option<(Point, Discrepancy)> {
    let quick = Budget { points: budget.quick_points, ..*budget };
    let widest = widest(problem, pair, &quick, ALIKE).filter(|widest| widest.relative > ALIKE)?;
    Some((widest.point, widest.discrepancy))
}

/// Whether a side has a polynomial of its own that may stand for a function.
pub(crate) fn is_one(problem: &Problem<'_>, pair: (Term, Term)) -> bool {
    reason(problem, pair, 0.0).is_some()
}

/// Why a small difference says nothing, if a side has a polynomial of its own.
fn reason(problem: &Problem<'_>, pair: (Term, Term), relative: f64) -> Option<String> {
    let reference = constants(problem.reference, pair.0);
    let optimised = constants(problem.optimised, pair.1);
    let sides = [("optimised", &optimised, &reference), ("reference", &reference, &optimised)];
    sides.into_iter().find_map(|(name, one, other)| {
        let own: Vec<&Number> = one.difference(other).collect();
        if own.len() < POLYNOMIAL {
            return None;
        }
        let mut text = format!(
            "the two are within {relative:.1e} of each other at all points tried, as approximations \
             of one function are; the {name} side has a polynomial that is not recognised as a function \
             (constants"
        );
        for constant in own.iter().take(SHOWN) {
            let _ = write!(text, " {:.6e},", constant.to_f64_lossy());
        }
        text.push_str(" …)");
        Some(text)
    })
}

/// Constants below a term that nobody writes by hand.
fn constants(terms: &Terms, root: Term) -> BTreeSet<Number> {
    let order = evaluation_order(terms, [root], |_| true);
    let long = |number: &&Number| match number.to_small_ratio() {
        Some((numerator, _)) => {
            let digits = numerator.unsigned_abs().max(1);
            u64::BITS - digits.leading_zeros() - digits.trailing_zeros() >= LONG
        }
        None => true,
    };
    let numbers = order.nodes.iter().filter_map(|node| match terms.at(*node) {
        Node::Constant(id) => Some(terms.number(id)),
        _ => None,
    });
    numbers.filter(long).map(Number::abs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use decide::{Decision, decide};
    use std::sync::Arc;
    use term::Inputs;

    /// `x` against `Σ cᵢ·x` with these constants.
    fn reported(constants: &[f64]) -> Reported {
        let mut inputs = Inputs::new();
        let x = inputs.scalar("x").unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let x = terms.input(x);
        let mut sum = terms.zero();
        for constant in constants {
            let constant = terms.float(*constant);
            sum = terms.fused_multiply_add(constant, x, sum);
        }
        let (problem, budget) =
            (Problem { reference: &terms, optimised: &terms, assumptions: &[] }, Budget::default());
        let decisions = decide(&problem, &[(x, sum)], &budget);
        let Decision::Different { point, discrepancy } = &decisions[0] else {
            panic!("{decisions:?}");
        };
        look(&problem, (x, sum), (point, discrepancy), &budget)
    }

    #[test]
    fn small_differences_of_polynomials_are_no_mistakes() {
        let close = [0.333_333_5, 0.233_333_3, 0.433_333_3];
        assert!(
            matches!(reported(&close), Reported::Close(reason) if reason.contains("optimised side"))
        );
        // Ten times as far apart as approximations are.
        let far = [0.333_433_4, 0.233_333_3, 0.433_333_3];
        assert!(matches!(reported(&far), Reported::At(..)));
        // Two constants make no polynomial, and short ones none either.
        assert!(matches!(reported(&[0.333_333_5, 0.666_666_6]), Reported::At(..)));
        assert!(matches!(reported(&[0.5, 0.25, 0.249_999_046_325_683_6]), Reported::At(..)));
    }
}
