//! Denominators that are sums: kept as one factor where that makes them cancel, and otherwise multiplied out.

use super::monomial::Factors;
use super::{Algebra, Atom, AtomId, Exponent, Monomial, Outcome, Polynomial, Pull};

impl Algebra {
    /// Turns one operand into a base if the other has that base to a negative power. Then `(Σ e^xᵢ) · (Σ e^xᵢ)^-1`
    /// cancels without being multiplied out. FlashAttention's first version does this at every step.
    pub(super) fn gather_for_cancelling(
        &mut self,
        a: &mut Polynomial,
        b: &mut Polynomial,
    ) -> Outcome<()> {
        if self.may_cancel(a, b)
            && let Some(gathered) = self.as_known_base(b)?
        {
            *b = gathered;
        }
        if self.may_cancel(b, a)
            && let Some(gathered) = self.as_known_base(a)?
        {
            *a = gathered;
        }
        Ok(())
    }

    /// Returns `true` if a polynomial has a base to a negative power that may be `other`. Their numbers of
    /// summands must agree, for the primitive of a sum has as many as the sum.
    pub(crate) fn may_cancel(&self, polynomial: &Polynomial, other: &Polynomial) -> bool {
        let factors: Factors = self.factors(polynomial.scale);
        let first = polynomial.terms.first().map(|(monomial, _)| self.factors(*monomial));
        factors.iter().chain(first.iter().flatten()).any(|(atom, power)| {
            power.is_negative()
                && match self.atom_ref(*atom) {
                    Some(Atom::Base(form)) => self.form(*form).len() == other.length(),
                    _ => false,
                }
        })
    }

    /// Returns the polynomial as a multiple of a base that already exists.
    pub(crate) fn as_known_base(&mut self, polynomial: &Polynomial) -> Outcome<Option<Polynomial>> {
        let (content, coefficient, base) = self.primitive(polynomial.clone(), Pull::Everything)?;
        Ok(self.known_base(base).map(|atom| {
            let mut result = Polynomial::single(Monomial::of_atom(atom));
            result.scale = content;
            result.factor = coefficient;
            result
        }))
    }

    /// Returns the polynomial as content times one composite atom.
    pub(crate) fn as_composite(&mut self, polynomial: Polynomial) -> Outcome<Polynomial> {
        let (content, coefficient, base) = self.primitive(polynomial, Pull::Everything)?;
        let atom: AtomId = self.intern_atom(Atom::Base(base));
        let mut result = Polynomial::single(Monomial::of_atom(atom));
        self.shift(&mut result, content, &coefficient)?;
        Ok(result)
    }

    /// Gives an empty sum the divisors of its first summand as a scale: the others often have the same.
    pub(crate) fn divide_by_divisor_of(
        &mut self,
        sum: &mut Polynomial,
        factors: [Monomial; 2],
    ) -> Outcome<()> {
        for factor in factors.into_iter().filter(|factor| factor.is_in_table()) {
            let mut divisors = self.factors(factor);
            divisors.retain(|(atom, power)| {
                power.is_negative() && matches!(self.atom_ref(*atom), Some(Atom::Base(_)))
            });
            if !divisors.is_empty() {
                let (scale, _) = self.monomial_from(divisors, Exponent::ZERO)?;
                sum.scale = scale;
                return Ok(());
            }
        }
        Ok(())
    }
}
