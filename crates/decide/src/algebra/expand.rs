//! Multiplying out: powers of sums, and bases to whole powers.

use super::{Algebra, Atom, AtomId, FormId, Outcome, Polynomial, Power};

impl Algebra {
    /// `polynomial^power` by repeated multiplication, `power ≥ 1`.
    pub(crate) fn expand_power(
        &mut self,
        polynomial: &Polynomial,
        power: u32,
    ) -> Outcome<Polynomial> {
        let mut result = polynomial.clone();
        for _ in 1..power {
            result.tidy();
            result = self.expand_product(result, polynomial.clone())?;
        }
        Ok(result)
    }

    /// Multiplies out every whole positive power of a base, the outermost first.
    pub(crate) fn expand_bases(&mut self, polynomial: Polynomial) -> Outcome<Polynomial> {
        let mut polynomial = Polynomial::from_sorted(self.expanded(polynomial)?);
        while let Some((base, form)) = self.outermost_whole_base(&polynomial) {
            let inside = self.polynomial(form);
            let mut result = Polynomial::zero();
            for (monomial, coefficient) in polynomial.into_raw_terms() {
                let mut factors = self.factors(monomial);
                let mut integer_power = 0;
                for (atom, power) in &mut factors {
                    if *atom == base && power.floor() > 0 {
                        integer_power = power.floor();
                        *power = power.plus(Power::integer(-integer_power))?;
                    }
                }
                let (rest, shed) = self.monomial_from(factors, monomial.exponent())?;
                let mut summand = Algebra::monomial_polynomial(rest, coefficient);
                if let Some(shed) = shed {
                    summand.scale_by(&shed);
                }
                for _ in 0..integer_power {
                    summand.tidy();
                    summand = self.expand_product(summand, inside.clone())?;
                }
                self.accumulate(&mut result, summand)?;
            }
            polynomial = Polynomial::from_sorted(self.expanded(result)?);
        }
        Ok(polynomial)
    }

    /// Finds the base with the latest stamp that some summand has to a power of at least 1.
    fn outermost_whole_base(&self, polynomial: &Polynomial) -> Option<(AtomId, FormId)> {
        let mut best: Option<(u32, AtomId, FormId)> = None;
        for (monomial, _) in polynomial.raw_terms() {
            if self.has_only_inputs(*monomial) {
                continue;
            }
            for (atom, power) in self.factors(*monomial) {
                if let Some(Atom::Base(form)) = self.atom_ref(atom)
                    && power.floor() > 0
                {
                    let stamp = self.atom_stamp(atom);
                    if best.is_none_or(|(other, ..)| stamp > other) {
                        best = Some((stamp, atom, *form));
                    }
                }
            }
        }
        best.map(|(_, atom, form)| (atom, form))
    }
}
