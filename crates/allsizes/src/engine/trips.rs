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
