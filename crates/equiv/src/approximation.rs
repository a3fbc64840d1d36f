//! Recognises differences that come from approximations rather than mistakes.
//!
//! A compiler replaces a function call by a polynomial. [`lift`](../lift/index.html) recovers the function,
//! but not from every form: knowing a range, the compiler may have left out half of the polynomial. Then one
//! side has `tanh(x)` and the other a polynomial that is off by 10⁻⁸, and over the reals they differ.
//! Reporting a bug would be a false alarm, and reporting equality would be a guess. So the answer is
//! `unknown` if two outputs are that close at every tested point and one side has polynomial-like constants
//! that the other lacks.
//!
//! This errs towards no answer: a mistake below [`MAX_APPROXIMATION_ERROR`] in a kernel with an unrecognised
//! polynomial is not reported.

use decide::{Budget, Discrepancy, Point, Problem, widest};
use std::collections::BTreeSet;
use std::fmt::Write;
use term::{Node, Number, Term, Terms, evaluation_order};

/// Largest relative distance between two approximations of one function.
const MAX_APPROXIMATION_ERROR: f64 = 1e-5;

/// Values no farther apart than this, relative to their size, look equal in a report: search for a point with
/// a larger difference.
const SIMILAR_IN_REPORT: f64 = 1e-3;

/// The smallest number of constants that make a polynomial.
const MIN_POLYNOMIAL_CONSTANTS: usize = 3;

/// A constant with fewer significant bits was written by hand.
const MIN_SIGNIFICANT_BITS: u32 = 12;

/// The largest number of constants named in a reason.
const MAX_NAMED: usize = 3;

/// Verdict on a difference.
pub(crate) enum Reported {
    /// Report it, at this point.
    At(Point, Discrepancy),
    /// Do not report it, for this reason.
    Close(String),
}

/// Decides if a difference found at a point is reported, and at which point it shows best.
pub(crate) fn judge_difference(
    problem: &Problem<'_>,
    pair: (Term, Term),
    found: (&Point, &Discrepancy),
    budget: &Budget,
) -> Reported {
    let (point, discrepancy) = found;
    let as_found = || Reported::At(point.clone(), discrepancy.clone());
    if discrepancy.relative() > SIMILAR_IN_REPORT {
        return as_found();
    }
    let Some(widest) = widest(problem, pair, budget, 0.0) else { return as_found() };
    if widest.relative <= MAX_APPROXIMATION_ERROR
        && let Some(reason) = polynomial_reason(problem, pair, widest.relative)
    {
        return Reported::Close(reason);
    }
    match widest.relative > discrepancy.relative() {
        true => Reported::At(widest.point, widest.discrepancy),
        false => as_found(),
    }
}

/// Looks for a difference larger than that of approximations, with few points.
pub(crate) fn find_large_difference(
    problem: &Problem<'_>,
    pair: (Term, Term),
    budget: &Budget,
) -> Option<(Point, Discrepancy)> {
    let quick = Budget { points: budget.quick_points, ..*budget };
    let widest = widest(problem, pair, &quick, SIMILAR_IN_REPORT)
        .filter(|widest| widest.relative > SIMILAR_IN_REPORT)?;
    Some((widest.point, widest.discrepancy))
}

/// Returns `true` if one side alone has a polynomial, which may stand for a function.
pub(crate) fn has_unrecognised_polynomial(problem: &Problem<'_>, pair: (Term, Term)) -> bool {
    polynomial_reason(problem, pair, 0.0).is_some()
}

/// Returns the reason not to report a small difference, if one side alone has a polynomial.
fn polynomial_reason(problem: &Problem<'_>, pair: (Term, Term), relative: f64) -> Option<String> {
    let reference = constants(problem.reference, pair.0);
    let optimised = constants(problem.optimised, pair.1);
    let sides = [("optimised", &optimised, &reference), ("reference", &reference, &optimised)];
    sides.into_iter().find_map(|(name, one, other)| {
        let own_constants: Vec<&Number> = one.difference(other).collect();
        if own_constants.len() < MIN_POLYNOMIAL_CONSTANTS {
            return None;
        }
        let mut text = format!(
            "at all points tried the two differ by at most {relative:.1e}, as approximations of one function \
            do; the {name} side has a polynomial that was not recognised as a function (constants"
        );
        for constant in own_constants.iter().take(MAX_NAMED) {
            let _ = write!(text, " {:.6e},", constant.to_f64_lossy());
        }
        text.push_str(" …)");
        Some(text)
    })
}

/// Collects the constants below a term that look machine-made.
fn constants(terms: &Terms, root: Term) -> BTreeSet<Number> {
    let order = evaluation_order(terms, [root], |_| true);
    let is_long = |number: &&Number| match number.to_small_ratio() {
        Some((numerator, _)) => {
            let digits = numerator.unsigned_abs().max(1);
            u64::BITS - digits.leading_zeros() - digits.trailing_zeros() >= MIN_SIGNIFICANT_BITS
        }
        None => true,
    };
    let numbers = order.nodes.iter().filter_map(|node| match terms.at(*node) {
        Node::Constant(id) => Some(terms.number(id)),
        _ => None,
    });
    numbers.filter(is_long).map(Number::abs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use decide::{Decision, decide};
    use std::sync::Arc;
    use term::Inputs;

    /// Judges `x` against `Σ cᵢ·x` with these constants.
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
        judge_difference(&problem, (x, sum), (point, discrepancy), &budget)
    }

    #[test]
    fn small_differences_of_polynomials_are_not_reported() {
        let close = [0.333_333_5, 0.233_333_3, 0.433_333_3];
        assert!(
            matches!(reported(&close), Reported::Close(reason) if reason.contains("optimised side"))
        );
        // Ten times farther apart than approximations are.
        let far = [0.333_433_4, 0.233_333_3, 0.433_333_3];
        assert!(matches!(reported(&far), Reported::At(..)));
        // Neither two constants nor short ones make a polynomial.
        assert!(matches!(reported(&[0.333_333_5, 0.666_666_6]), Reported::At(..)));
        assert!(matches!(reported(&[0.5, 0.25, 0.249_999_046_325_683_6]), Reported::At(..)));
    }
}
