//! Exact square roots of polynomials, for `√(x² + 2xy + y²) = |x+y|`.
//!
//! The classical algorithm finds one term of the root at a time, from the largest monomial down, in the lexicographic
//! order of atoms and powers. A root is returned only if its square equals the polynomial, so a mistake in the order
//! could only miss a root. Sums with exponentials, fractional or negative powers are not tried.

use super::monomial::Factors;
use super::{Algebra, Exponent, FormId, Monomial, Outcome, Polynomial, Power, Summand};
use term::Number;

/// The most terms that a root may have.
const MAX_ROOT_TERMS: usize = 12;

impl Algebra {
    /// Finds a polynomial whose square is the form, if there is one.
    pub(crate) fn exact_square_root(&mut self, form: FormId) -> Outcome<Option<Polynomial>> {
        let terms = self.form(form).to_vec();
        let plain = |(monomial, _): &Summand| {
            monomial.exponent() == Exponent::ZERO
                && self
                    .factors(*monomial)
                    .iter()
                    .all(|(_, power)| power.as_integer().is_some_and(|power| power > 0))
        };
        if terms.len() < 3
            || terms.len() > MAX_ROOT_TERMS * (MAX_ROOT_TERMS + 1) / 2
            || !terms.iter().all(plain)
        {
            return Ok(None);
        }
        let Some((lead, coefficient)) = self.largest(&terms) else { return Ok(None) };
        let Some(first) = square_root(&coefficient) else { return Ok(None) };
        let Some(half) = self.halved(lead)? else { return Ok(None) };
        let mut root = Algebra::monomial_polynomial(half, first.clone());
        // (first + next + …)² = first² + 2·first·next + …: the next term is the leading remaining one over 2·first.
        let half_inverse = (&first + &first).reciprocal().unwrap_or(Number::ONE);
        let (inverse, _) = self.monomial_inverse(half)?;
        for _ in 0..MAX_ROOT_TERMS {
            let square = self.expand_product(root.clone(), root.clone())?;
            let rest = self.difference(Polynomial::from_sorted(terms.clone()), square)?;
            let rest = self.expanded(rest)?;
            let Some((lead, coefficient)) = self.largest(&rest) else { return Ok(Some(root)) };
            let (next, _) = self.monomial_product(lead, inverse)?;
            if self.factors(next).iter().any(|(_, power)| power.is_negative()) {
                return Ok(None);
            }
            self.accumulate_single(&mut root, next, &coefficient * &half_inverse)?;
            root.tidy();
        }
        Ok(None)
    }

    fn largest(&self, terms: &[Summand]) -> Option<Summand> {
        let key = |(monomial, _): &&Summand| self.factors(*monomial);
        terms.iter().max_by(|a, b| lexicographic(&key(a), &key(b))).cloned()
    }

    /// Returns the monomial to the power 1/2, if all its powers are even.
    fn halved(&mut self, monomial: Monomial) -> Outcome<Option<Monomial>> {
        if !self.factors(monomial).iter().all(|(_, power)| power.is_even_integer()) {
            return Ok(None);
        }
        let half = Power::from_number(&Number::dyadic(1, -1))?;
        Ok(Some(self.monomial_power(monomial, half)?.0))
    }
}

/// Compares the powers of the first atom, then of the second, and so on; an absent atom has power 0.
fn lexicographic(a: &Factors, b: &Factors) -> std::cmp::Ordering {
    for (x, y) in a.iter().zip(b.iter()) {
        // The earlier atom is missing on the other side.
        if x.0 != y.0 {
            return y.0.cmp(&x.0);
        }
        if x.1 != y.1 {
            return if x.1.smaller(y.1) == x.1 {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            };
        }
    }
    a.len().cmp(&b.len())
}

/// Returns the positive square root of a positive rational, if rational.
fn square_root(value: &Number) -> Option<Number> {
    let (numerator, denominator) = value.to_small_ratio()?;
    let root = |value: i64| {
        let root = u64::try_from(value).ok()?.isqrt();
        (root.checked_mul(root)? == value.unsigned_abs()).then_some(root as i64)
    };
    Number::ratio(root(numerator)?, root(denominator)?)
}
