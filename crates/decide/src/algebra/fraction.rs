//! Fractions inside exponents and arguments: numerators reduced modulo their denominators.
//!
//! `x/(1+x)` and `1 − 1/(1+x)` are one number; as exponents they must be one form. With `B = c·L + T` (a base, one
//! chosen summand, the rest), `L·B^−k = (B^−(k−1) − T·B^−k) / c` wherever `B ≠ 0`. That holds wherever the original
//! is defined. It is applied from left to right until no numerator contains `L`. Different choices of `L` would do as
//! well. The last summand of `B` is never a constant, and each step lowers its power in a numerator.

use super::{Algebra, Atom, AtomId, FormId, Monomial, Outcome, Polynomial, Power, Summand};
use term::Number;

/// More reductions than this for one form are not worth it; the form stays as it is.
const MAX_REDUCTIONS: usize = 256;

impl Algebra {
    /// Reduces numerators modulo their denominators; the value stays the same.
    pub(crate) fn reduce_fractions(&mut self, terms: Vec<Summand>) -> Outcome<Vec<Summand>> {
        if self.reducible(&terms)?.is_none() {
            return Ok(terms);
        }
        let unreduced = terms;
        let mut terms = unreduced.clone();
        for _ in 0..MAX_REDUCTIONS {
            let Some((index, base, quotient)) = self.reducible(&terms)? else { return Ok(terms) };
            let (monomial, coefficient) = terms.remove(index);
            let form = match self.atom(base) {
                Atom::Base(form) => self.form(form).to_vec(),
                // `reducible` only finds bases.
                _ => return Ok(terms),
            };
            let Some(((leading, scale), tail)) = form.split_last() else { return Ok(terms) };
            // monomial = quotient · leading, its denominator included in quotient.
            debug_assert_eq!(self.monomial_product(quotient, *leading)?.0, monomial);
            let factor = &coefficient * &scale.reciprocal().unwrap_or(Number::ONE);
            let mut sum = Polynomial::from_sorted(terms);
            let (raised, _) = self.monomial_product(quotient, Monomial::of_atom(base))?;
            self.accumulate_single(&mut sum, raised, factor.clone())?;
            let mut rest = Polynomial::from_sorted(tail.to_vec());
            self.shift(&mut rest, quotient, &-&factor)?;
            self.accumulate(&mut sum, rest)?;
            terms = self.expanded(sum)?;
        }
        Ok(unreduced)
    }

    /// Finds a summand whose numerator contains its denominator's last summand; returns the quotient.
    fn reducible(&mut self, terms: &[Summand]) -> Outcome<Option<(usize, AtomId, Monomial)>> {
        for (index, (monomial, _)) in terms.iter().enumerate() {
            if self.has_only_inputs(*monomial) {
                continue;
            }
            for (base, power) in self.factors(*monomial) {
                let Some(Atom::Base(form)) = self.atom_ref(base) else { continue };
                let Some((leading, _)) = self.form(*form).last().cloned() else { continue };
                let is_negative_integer = power.as_integer().is_some_and(|power| power < 0);
                if is_negative_integer && self.contains(*monomial, leading) {
                    let (inverse, _) = self.monomial_inverse(leading)?;
                    return Ok(Some((index, base, self.monomial_product(*monomial, inverse)?.0)));
                }
            }
        }
        Ok(None)
    }

    /// Returns `true` if dividing by `part` makes a monomial smaller in every component.
    fn contains(&self, monomial: Monomial, part: Monomial) -> bool {
        let factors = self.factors(monomial);
        let enough = |atom: AtomId, power: Power| {
            let found = factors.iter().find(|(other, _)| *other == atom);
            found.is_some_and(|(_, present)| power.smaller(*present) == power)
        };
        part != Monomial::ONE
            && self.factors(part).iter().all(|(atom, power)| enough(*atom, *power))
            && self.exponent_contains(monomial.exponent().plain, part.exponent().plain)
            && self.exponent_contains(monomial.exponent().rest, part.exponent().rest)
    }

    fn exponent_contains(&self, exponent: FormId, part: FormId) -> bool {
        let terms = self.form(exponent);
        self.form(part).iter().all(|(monomial, wanted)| {
            let position = terms.binary_search_by_key(monomial, |(other, _)| *other);
            position.is_ok_and(|index| {
                let coefficient = &terms[index].1;
                coefficient.is_negative() == wanted.is_negative()
                    && coefficient.abs() >= wanted.abs()
            })
        })
    }
}
