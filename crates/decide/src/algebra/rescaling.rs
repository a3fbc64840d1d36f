//! Selects between exponentials: `if(d > 0, a, b)` where `a·e^(k·d) = b`.
//!
//! An online softmax that is written with a branch rescales its sum only if the maximum grows: `if (x > m) s = s·e^(m
//! − x) + 1; else s = s + e^(x − m);`. Both branches are `(s + e^(x − m))·e^(−max(x − m, 0))`. In general such a
//! select is `b·e^(−k·max(d, 0))`: if `d > 0` that is `b·e^(−k·d) = a`, else it is `b`. An exponential is defined
//! everywhere, so `a` and `b` are defined for the same inputs, and at `d = 0` they agree.
//!
//! `k` is read off one summand of each branch; then the whole equation is checked. If no `k` is found, the select
//! stays as it is.

use super::{Algebra, Atom, ConditionId, FormId, Monomial, Outcome, Polynomial, Summand};
use term::Number;

/// Summands of the first branch that are compared with those of the second to find `k`: they may have common factors
/// by accident.
const MAX_TRIED: usize = 4;

impl Algebra {
    /// Returns `if(condition, a, b)` as a product, if the branches differ by an exponential of the compared form.
    pub(crate) fn select_as_rescaling(
        &mut self,
        condition: ConditionId,
        a: FormId,
        b: FormId,
    ) -> Outcome<Option<Polynomial>> {
        let Some((compared, upper, lower)) = self.ordered_branches(condition, a, b) else {
            return Ok(None);
        };
        if self.form(upper).len() != self.form(lower).len() {
            return Ok(None);
        }
        let Some(rate) = self.rate(compared, upper, lower)? else { return Ok(None) };
        let growth = self.times_rate(compared, &rate)?;
        let growth = self.exp(growth)?;
        let (first, second) = (self.polynomial(upper), self.polynomial(lower));
        let grown = self.product(first, growth)?;
        if self.intern(grown)? != lower {
            return Ok(None);
        }
        let ramp = self.ramp(compared)?;
        let ramp = self.intern(ramp)?;
        let decay = self.times_rate(ramp, &rate)?.negated();
        let decay = self.exp(decay)?;
        Ok(Some(self.product(second, decay)?))
    }

    /// Finds `k` from the exponents of two summands that are equal otherwise: a rational, or one times ln 2, the unit
    /// of `exp2`.
    fn rate(&mut self, compared: FormId, upper: FormId, lower: FormId) -> Outcome<Option<Summand>> {
        let logarithm = self.intern_atom(Atom::LogInteger(2));
        let first: Vec<Summand> = self.form(upper).iter().take(MAX_TRIED).cloned().collect();
        for (monomial, coefficient) in first {
            let alike = |other: &&Summand| {
                other.1 == coefficient
                    && other.0.without_exponent() == monomial.without_exponent()
                    && other.0.exponent() != monomial.exponent()
            };
            let alike: Vec<Monomial> =
                self.form(lower).iter().filter(alike).map(|one| one.0).collect();
            for other in alike {
                self.spend(self.form(compared).len() + 1)?;
                let from = self.exponent_polynomial(monomial.exponent());
                let to = self.exponent_polynomial(other.exponent());
                let gap = self.difference(to, from)?;
                let gap = self.expanded(gap)?;
                for unit in [Monomial::ONE, Monomial::of_atom(logarithm)] {
                    if let Some(factor) = self.proportion(&gap, compared, unit)? {
                        return Ok(Some((unit, factor)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Returns the rational `q` with `gap = q · unit · form`, if there is one.
    fn proportion(
        &mut self,
        gap: &[Summand],
        form: FormId,
        unit: Monomial,
    ) -> Outcome<Option<Number>> {
        let of_unit = self.times_rate(form, &(unit, Number::ONE))?;
        let of_unit = self.expanded(of_unit)?;
        let (Some((_, own)), Some((_, leading))) = (gap.first(), of_unit.first()) else {
            return Ok(None);
        };
        let Some(inverse) = leading.reciprocal() else { return Ok(None) };
        let factor = own * &inverse;
        let is_one = gap.len() == of_unit.len()
            && gap.iter().zip(&of_unit).all(|((m, c), (n, d))| m == n && *c == d * &factor);
        Ok(is_one.then_some(factor))
    }

    fn times_rate(&mut self, form: FormId, (unit, factor): &Summand) -> Outcome<Polynomial> {
        let mut product = self.polynomial(form);
        self.shift(&mut product, *unit, factor)?;
        Ok(product)
    }
}
