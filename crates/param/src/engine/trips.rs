//! How often a loop is gone round.

use super::Engine;
use super::state::Operation;
use crate::kir::Type;
use crate::logic::formula::Formula;
use crate::logic::poly::{Poly, Sym};

/// The number of iterations of a loop.
pub(super) struct Trips {
    /// As many iterations there are, or none if this is negative.
    pub(super) number: Poly,
    /// Set if it is shown not to be negative.
    pub(super) is_shown: bool,
    /// Dividend and divisor, where it is a quotient, rounded up.
    pub(super) quotient: Option<(Poly, Poly)>,
}

impl Engine<'_> {
    /// The number of iterations, as a polynomial. The condition `top − S·k > 0` with `S ≥ 1` is true exactly for
    /// `k < ceil(top / S)`; that many iterations there are, if the number is not negative.
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
        // What is newer than the count may be another in each iteration.
        let steady = poly.symbols().into_iter().all(|sym| sym <= count);
        let up = top.plus(&stride)?.offset(-1)?;
        let mut holds = |poly: Poly| self.prover.proves_alone(path, &Formula::ge(poly));
        if !steady || !holds(stride.offset(-1)?) {
            return None;
        }
        let is_shown = holds(up.clone());
        let exact = |number: Poly| Some(Trips { number, is_shown, quotient: None });
        if stride.as_constant() == Some(1) {
            return exact(top);
        }
        if let [(monomial, factor)] = stride.terms().collect::<Vec<_>>()[..] {
            let (quotient, left) = top.split(monomial, factor);
            if left.is_zero() {
                return exact(quotient);
            }
        }
        // Rounded towards 0, a quotient that is negative stays one or becomes 0: no iterations either way.
        let number = self.operation(Operation::Div(up, stride.clone()), Type::Whole);
        Some(Trips { number, is_shown, quotient: Some((top, stride)) })
    }
}
