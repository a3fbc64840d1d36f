//! Trip counts: the number of iterations of a loop as a polynomial, from its condition and a recurrence.
//!
//! `top − S·k > 0` with `S ≥ 1` holds exactly for `k < ceil(top / S)`. Other conditions give no count.

use super::Engine;
use super::state::Operation;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use kir::Type;

/// The number of iterations of a loop.
pub(super) struct Trips {
    /// The number of iterations if it is not negative; otherwise there are none.
    pub(super) number: Poly,
    /// Set if it is proved not to be negative.
    pub(super) is_nonnegative: bool,
    /// Dividend and divisor, if it is a quotient, rounded up.
    pub(super) quotient: Option<(Poly, Poly)>,
}

impl Engine<'_> {
    /// Replaces `k ≠ top` in the test of a loop by `k < top`, if `top ≥ 0` is proved. They are equivalent at each test:
    /// `k` begins with 0 and grows by 1, so the first test that fails is at `top`, and there is none after it.
    pub(super) fn as_upper_bounds(
        &mut self,
        test: Formula,
        count: Sym,
        path: &[Formula],
    ) -> Formula {
        let parts: Vec<Formula> = test.conjuncts().to_vec();
        Formula::and(parts.into_iter().map(|part| {
            let top = steps_until_equal(&part, count);
            let top = top
                .filter(|top| self.prover.proves_without_solver(path, &Formula::ge(top.clone())));
            let below = top.and_then(|top| top.minus(&Poly::symbol(count))?.offset(-1));
            below.map_or(part, Formula::ge)
        }))
    }

    /// Returns the number of iterations, as a polynomial. The condition `top − S·k > 0` with `S ≥ 1` is true exactly
    /// for `k < ceil(top / S)`; so that is the number of iterations, unless it is negative.
    pub(super) fn trips(
        &mut self,
        condition: &Formula,
        count: Sym,
        path: &[Formula],
    ) -> Option<Trips> {
        let Formula::Ge(poly) = condition else { return None };
        let powers = poly.by_powers(count);
        let [rest, coefficient] = &powers[..] else { return None };
        let (top, stride) = (rest.offset(1)?, coefficient.scaled(-1)?);
        // A symbol newer than the count may differ in each iteration.
        let steady = poly.symbols().into_iter().all(|sym| sym <= count);
        let up = top.plus(&stride)?.offset(-1)?;
        let mut holds = |poly: Poly| self.prover.proves_without_solver(path, &Formula::ge(poly));
        if !steady || !holds(stride.offset(-1)?) {
            return None;
        }
        let is_nonnegative = holds(up.clone());
        let exact = |number: Poly| Some(Trips { number, is_nonnegative, quotient: None });
        if stride.as_constant() == Some(1) {
            return exact(top);
        }
        if let [(monomial, factor)] = stride.terms().collect::<Vec<_>>()[..] {
            let (quotient, left) = top.split(monomial, factor);
            if left.is_zero() {
                return exact(quotient);
            }
        }
        // Rounded towards 0, a negative quotient stays negative or becomes 0: no iterations either way.
        let number = self.operation(Operation::Div(up, stride.clone()), Type::Whole);
        Some(Trips { number, is_nonnegative, quotient: Some((top, stride)) })
    }
}

/// The number `top` for which a condition is `k ≠ top`, if it is the same in all iterations.
pub(super) fn steps_until_equal(condition: &Formula, count: Sym) -> Option<Poly> {
    let Formula::Not(inner) = condition else { return None };
    let Formula::Eq(difference) = &**inner else { return None };
    let powers = difference.by_powers(count);
    let [rest, coefficient] = &powers[..] else { return None };
    let sign = coefficient.as_constant().filter(|one| one.abs() == 1)?;
    // A symbol newer than the count may differ in each iteration.
    let is_steady = difference.symbols().into_iter().all(|sym| sym <= count);
    rest.scaled(-sign).filter(|_| is_steady)
}
