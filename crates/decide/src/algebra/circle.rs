//! `sin²u = 1 − cos²u`, which holds at every real number: two sums that are equal by it are identical once no sine
//! has a power above 1. Multiplying out may make sums longer, so this is done to a gap and not by a constructor.

use super::{Algebra, Atom, AtomId, FormId, Outcome, Polynomial, Power};
use term::Function;

impl Algebra {
    /// Returns the sum without squares of sines; `None` if it has none.
    pub(crate) fn without_squares_of_sines(
        &mut self,
        polynomial: Polynomial,
    ) -> Outcome<Option<Polynomial>> {
        let mut polynomial = Polynomial::from_sorted(self.expanded(polynomial)?);
        let mut found = false;
        while let Some((sine, form)) = self.squared_sine(&polynomial) {
            found = true;
            let cosine = self.atom_polynomial(Atom::Apply(Function::Cos, form));
            let square = self.expand_product(cosine.clone(), cosine)?;
            let other = self.difference(Polynomial::integer(1), square)?;
            let mut result = Polynomial::zero();
            for (monomial, coefficient) in polynomial.into_raw_terms() {
                let mut factors = self.factors(monomial);
                let mut squares = 0;
                for (_, power) in factors.iter_mut().filter(|(atom, _)| *atom == sine) {
                    squares = power.floor().max(0) / 2;
                    *power = power.plus(Power::integer(-2 * squares))?;
                }
                let (rest, shed) = self.monomial_from(factors, monomial.exponent())?;
                let mut summand = Algebra::monomial_polynomial(rest, coefficient);
                if let Some(shed) = shed {
                    summand.scale_by(&shed);
                }
                for _ in 0..squares {
                    summand.tidy();
                    summand = self.expand_product(summand, other.clone())?;
                }
                self.accumulate(&mut result, summand)?;
            }
            polynomial = Polynomial::from_sorted(self.expanded(result)?);
        }
        Ok(found.then_some(polynomial))
    }

    /// Finds a sine that some summand has to a power of at least 2, and its argument.
    fn squared_sine(&self, polynomial: &Polynomial) -> Option<(AtomId, FormId)> {
        let monomials = polynomial.raw_terms().iter().map(|(monomial, _)| *monomial);
        let mut factors = monomials
            .filter(|monomial| !self.has_only_inputs(*monomial))
            .flat_map(|monomial| self.factors(monomial));
        factors.find_map(|(atom, power)| match self.atom_ref(atom) {
            Some(Atom::Apply(Function::Sin, form)) if power.floor() >= 2 => Some((atom, *form)),
            _ => None,
        })
    }
}
