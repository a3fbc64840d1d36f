//! Powers: integer, and rational by way of roots.
//!
//! The rules for a rational, non-integer power `q` of `f`, defined where `f ≥ 0` (and `f ≠ 0` if `q < 0`):
//! - Positive factors leave the root; so do factors that are not negative if all are.
//! - `(a^p)^q = a^(pq)` if `p` is odd or a fraction, since then `a ≥ 0` wherever the whole is defined.
//! - `(a^p)^q = |a|^(pq)` if `p` is even.
//! - Everything else stays together as a base.

use super::SignSet;
use super::{
    Algebra, Atom, Exponent, FormId, Monomial, Obstacle, Outcome, Polynomial, Power, Pull,
};
use term::Number;

/// Positive integer powers are multiplied out up to about this many summands.
const MAX_EXPANDED_POWER: usize = 64;

impl Algebra {
    /// `f^power`
    pub(crate) fn power(&mut self, base: Polynomial, power: Power) -> Outcome<Polynomial> {
        let mut base = base;
        if power.is_zero() {
            return Ok(Polynomial::integer(1));
        }
        if base.is_zero() {
            return if power.is_negative() {
                Err(Obstacle::ZeroDenominator)
            } else {
                Ok(Polynomial::zero())
            };
        }
        match power.as_integer() {
            Some(1) => Ok(base),
            Some(integer) => self.integer_power(base, integer),
            None => self.rational_power(base, power),
        }
    }

    /// `f^power` for an integer other than 0 and 1.
    fn integer_power(&mut self, base: Polynomial, power: i32) -> Outcome<Polynomial> {
        if base.length() > 1 && power > 0 {
            let size = base.length().checked_pow(power.unsigned_abs());
            if size.is_some_and(|size| size <= MAX_EXPANDED_POWER) {
                return self.expand_power(&base, power.unsigned_abs());
            }
        }
        let (content, coefficient, primitive) = self.primitive(base, Pull::Everything)?;
        let exponent = Power::integer(power);
        let (monomial, shed) = self.monomial_power(content, exponent)?;
        let mut result = self.number_to_power(&coefficient, exponent)?;
        if coefficient.is_negative() && power % 2 != 0 {
            result = result.negated();
        }
        self.shift(&mut result, monomial, &shed.unwrap_or(Number::ONE))?;
        self.times_base(result, primitive, exponent)
    }

    /// `f^power` for a power that is not an integer.
    fn rational_power(&mut self, base: Polynomial, power: Power) -> Outcome<Polynomial> {
        let (content, coefficient, primitive) = self.primitive(base, Pull::Positive)?;
        // The coefficient pulled out of a root is positive.
        let mut result = self.number_to_power(&coefficient, power)?;
        let (monomial, shed) = self.monomial_power(content, power)?;
        self.shift(&mut result, monomial, &shed.unwrap_or(Number::ONE))?;
        let root = match self.form(primitive) {
            [(Monomial::ONE, sign)] if sign.is_negative() => return Err(Obstacle::Undefined),
            [(Monomial::ONE, _)] => return Ok(result),
            [(monomial, sign)] if sign.is_one() => {
                let factors = self.factors(*monomial);
                match factors.as_slice() {
                    [(atom, inner)] => Some((*atom, *inner)),
                    _ => None,
                }
            }
            _ => None,
        };
        if root.is_none()
            && let Some(factors) = self.not_negative_factors(primitive)
        {
            for (atom, inner) in factors {
                let factor_polynomial = Polynomial::single(Monomial::of_atom(atom));
                let inner = self.power(factor_polynomial, inner.times(power)?)?;
                result = self.product(result, inner)?;
            }
            return Ok(result);
        }
        let Some((atom, inner)) = root else {
            return self.root_of_sum(result, primitive, power);
        };
        let atom_polynomial = Polynomial::single(Monomial::of_atom(atom));
        let total = inner.times(power)?;
        let factor = if inner.is_even_integer() && !total.is_even_integer() {
            let absolute = self.absolute(atom_polynomial)?;
            self.power(absolute, total)?
        } else {
            let (monomial, shed) =
                self.monomial_from([(atom, total)].into_iter().collect(), Exponent::ZERO)?;
            Algebra::monomial_polynomial(monomial, shed.unwrap_or(Number::ONE))
        };
        self.product(result, factor)
    }

    /// Returns the factors of a single product, if none can be negative. Then the root of the product is the
    /// product of their roots, each defined, zeros included.
    fn not_negative_factors(&self, primitive: FormId) -> Option<super::monomial::Factors> {
        let [(monomial, coefficient)] = self.form(primitive) else { return None };
        let factors = self.factors(*monomial);
        let is_not_negative = |(atom, _): &(super::AtomId, Power)| {
            self.sign_of_atom(*atom).within(SignSet::NOT_NEGATIVE)
        };
        let is_plain_product = monomial.exponent() == Exponent::ZERO && coefficient.is_one();
        (is_plain_product && factors.len() > 1 && factors.iter().all(is_not_negative))
            .then_some(factors)
    }

    /// `result · primitive^power` for a sum under a root: `|s|^(2·power)` if it is `s²`.
    fn root_of_sum(
        &mut self,
        result: Polynomial,
        primitive: FormId,
        power: Power,
    ) -> Outcome<Polynomial> {
        let Some(root) = self.exact_square_root(primitive)? else {
            return self.times_base(result, primitive, power);
        };
        let absolute = self.absolute(root)?;
        let raised = self.power(absolute, power.times(Power::integer(2))?)?;
        self.product(result, raised)
    }

    /// `result · primitive^power`, the primitive sum kept together.
    fn times_base(
        &mut self,
        mut result: Polynomial,
        primitive: FormId,
        power: Power,
    ) -> Outcome<Polynomial> {
        if self.form(primitive) == [(Monomial::ONE, Number::ONE)] {
            return Ok(result);
        }
        let atom = self.intern_atom(Atom::Base(primitive));
        let (monomial, _) =
            self.monomial_from([(atom, power)].into_iter().collect(), Exponent::ZERO)?;
        self.shift(&mut result, monomial, &Number::ONE)?;
        Ok(result)
    }

    /// `|f|`
    pub(crate) fn absolute(&mut self, argument: Polynomial) -> Outcome<Polynomial> {
        let form = self.intern(argument)?;
        let sign = self.sign(form)?;
        let argument = self.polynomial(form);
        if sign.within(SignSet::NOT_NEGATIVE) {
            return Ok(argument);
        }
        if sign.within(SignSet::NOT_POSITIVE) {
            return Ok(argument.negated());
        }
        let negated = argument.clone().negated();
        self.maximum(vec![argument, negated])
    }
}
