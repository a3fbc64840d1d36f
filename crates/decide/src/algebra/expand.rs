//! Multiplying out: powers of sums, and bases to whole powers.

use super::arithmetic::MAX_EXPANSION;
use super::{Algebra, Atom, AtomId, FormId, Monomial, Obstacle, Outcome, Polynomial, Power};

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
            // Products beyond the limit became composites; multiplied out here, they would be as large.
            if self.count_expanded(&polynomial, base, inside.length()) > MAX_EXPANSION {
                return Err(Obstacle::TooLarge);
            }
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

    /// Counts the products that multiplying out a base of this length takes.
    fn count_expanded(&self, polynomial: &Polynomial, base: AtomId, length: usize) -> usize {
        let power_in = |monomial: Monomial| {
            let factors = self.factors(monomial);
            let found = factors.iter().find(|(atom, _)| *atom == base);
            found.and_then(|(_, power)| u32::try_from(power.floor()).ok()).unwrap_or(0)
        };
        let powers = polynomial.raw_terms().iter().map(|(monomial, _)| power_in(*monomial));
        let products = powers.filter(|power| *power > 0).map(|power| length.saturating_pow(power));
        products.fold(0, usize::saturating_add)
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

#[cfg(test)]
mod tests {
    use crate::{Budget, Decision, Problem, decide};
    use std::sync::Arc;
    use term::{Inputs, Term, Terms};

    /// `a xor b` of bits: `a + b - 2ab`.
    fn xor(terms: &mut Terms, [a, b]: [Term; 2]) -> Term {
        let (product, minus_two) = (terms.multiply(a, b), terms.integer(-2));
        let sum = terms.add(a, b);
        terms.fused_multiply_add(minus_two, product, sum)
    }

    /// Compares two ways to the parity of bits: halves onto each other, and one after the other.
    fn parities(count: usize) -> Decision {
        let mut inputs = Inputs::new();
        inputs.tensor("x", count as u32).unwrap();
        let mut terms = Terms::new(Arc::new(inputs));
        let inputs: Vec<_> = (0..count).map(|at| terms.inputs().at(at).unwrap()).collect();
        let bits: Vec<Term> = inputs.into_iter().map(|input| terms.input(input)).collect();
        let mut folded = bits.clone();
        while folded.len() > 1 {
            let half = folded.len() / 2;
            folded = (0..half).map(|at| xor(&mut terms, [folded[at], folded[at + half]])).collect();
        }
        let chain = bits[1..].iter().fold(bits[0], |all, &bit| xor(&mut terms, [all, bit]));
        let problem = Problem { reference: &terms, optimised: &terms, assumptions: &[] };
        decide(&problem, &[(folded[0], chain)], &Budget::default()).remove(0)
    }

    /// The parity of n bits has `2^n` products: the budget ends it before they fill the memory.
    #[test]
    fn parities_of_many_bits_end() {
        assert!(parities(8).is_equal());
        let answer = parities(32);
        assert!(matches!(answer, Decision::Unknown(_)), "{answer:?}");
    }
}
