//! Sums, differences and products of polynomials, exact over the rationals. Operations that would exceed the
//! limits of size end with an error, never with an approximation.

use super::{Algebra, Monomial, Obstacle, Outcome, Polynomial, Summand, times};
use term::Number;

/// Products of more summands than this stay products of composite atoms.
pub(super) const MAX_EXPANSION: usize = 1 << 20;

/// Limit on the bits of a coefficient; floats overflow long before.
const MAX_COEFFICIENT_BITS: usize = 1 << 16;
/// Bits of a coefficient that count as one step.
const STEP_BITS: usize = 256;
/// Limit on the summands of one product, each counted by the length of its coefficient: some hundred megabytes.
const MAX_WORDS: usize = 1 << 22;

impl Algebra {
    /// Adds `addend` to `sum`. The longer of the two is kept in place.
    pub(crate) fn accumulate(&mut self, sum: &mut Polynomial, addend: Polynomial) -> Outcome<()> {
        let mut addend = addend;
        if addend.length() > sum.length() {
            std::mem::swap(sum, &mut addend);
        }
        if addend.terms.is_empty() {
            return Ok(());
        }
        self.spend(addend.length())?;
        let same_scale = sum.scale == addend.scale;
        let mut factor = addend.factor;
        if !sum.factor.is_one() {
            // A polynomial's factor is never zero.
            factor = &factor * &sum.factor.reciprocal().unwrap_or(Number::ONE);
        }
        let ratio = if same_scale {
            Monomial::ONE
        } else {
            let (inverse, shed) = self.monomial_inverse(sum.scale)?;
            let (ratio, more) = self.monomial_product(addend.scale, inverse)?;
            for extra in [shed, more].into_iter().flatten() {
                factor = &factor * &extra;
            }
            ratio
        };
        for (monomial, coefficient) in addend.terms {
            let mut coefficient =
                if factor.is_one() { coefficient } else { &coefficient * &factor };
            let monomial = if ratio == Monomial::ONE {
                monomial
            } else {
                let (product, shed) = self.monomial_product(monomial, ratio)?;
                if let Some(shed) = shed {
                    coefficient = &coefficient * &shed;
                }
                product
            };
            sum.terms.push((monomial, coefficient));
        }
        sum.tidy_if_doubled();
        Ok(())
    }

    /// Adds one summand: [`Algebra::accumulate`] without a list for it.
    pub(crate) fn accumulate_single(
        &mut self,
        sum: &mut Polynomial,
        monomial: Monomial,
        coefficient: Number,
    ) -> Outcome<()> {
        self.spend(1)?;
        if sum.is_plain() {
            sum.terms.push((monomial, coefficient));
            sum.tidy_if_doubled();
            return Ok(());
        }
        let (mut monomial, mut coefficient) = (monomial, coefficient);
        if !sum.factor.is_one() {
            // A polynomial's factor is never zero.
            coefficient = &coefficient * &sum.factor.reciprocal().unwrap_or(Number::ONE);
        }
        if sum.scale != Monomial::ONE {
            let (inverse, shed) = self.monomial_inverse(sum.scale)?;
            let (product, more) = self.monomial_product(monomial, inverse)?;
            monomial = product;
            for extra in [shed, more].into_iter().flatten() {
                coefficient = &coefficient * &extra;
            }
        }
        sum.terms.push((monomial, coefficient));
        sum.tidy_if_doubled();
        Ok(())
    }

    /// Adds a product of two monomials. A factor with powers is divided by the scale before the multiplication: `p/l
    /// · v` in a sum over `l` is `p · v`, without creating `p·v/l`.
    pub(crate) fn accumulate_product(
        &mut self,
        sum: &mut Polynomial,
        [m, n]: [Monomial; 2],
        coefficient: Number,
    ) -> Outcome<()> {
        let mut coefficient = coefficient;
        let (own, other) = if n.is_in_table() { (n, m) } else { (m, n) };
        if sum.scale == Monomial::ONE || !own.is_in_table() {
            let (monomial, shed) = self.monomial_product(own, other)?;
            if let Some(shed) = shed {
                coefficient = &coefficient * &shed;
            }
            return self.accumulate_single(sum, monomial, coefficient);
        }
        self.spend(1)?;
        let (inverse, first) = self.monomial_inverse(sum.scale)?;
        let (own, second) = self.monomial_product(own, inverse)?;
        let (monomial, third) = self.monomial_product(own, other)?;
        for extra in [first, second, third].into_iter().flatten() {
            coefficient = &coefficient * &extra;
        }
        if !sum.factor.is_one() {
            // A polynomial's factor is never zero.
            coefficient = &coefficient * &sum.factor.reciprocal().unwrap_or(Number::ONE);
        }
        sum.terms.push((monomial, coefficient));
        sum.tidy_if_doubled();
        Ok(())
    }

    /// `a + b`
    pub(crate) fn sum(&mut self, a: Polynomial, b: Polynomial) -> Outcome<Polynomial> {
        let mut sum = a;
        self.accumulate(&mut sum, b)?;
        Ok(sum)
    }

    /// `a − b`
    pub(crate) fn difference(&mut self, a: Polynomial, b: Polynomial) -> Outcome<Polynomial> {
        self.sum(a, b.negated())
    }

    /// Multiplies by a monomial and a rational, in O(1).
    pub(crate) fn shift(
        &mut self,
        polynomial: &mut Polynomial,
        monomial: Monomial,
        factor: &Number,
    ) -> Outcome<()> {
        if monomial == Monomial::ONE {
            polynomial.scale_by(factor);
            return Ok(());
        }
        // A single summand takes the monomial itself, so that it needs no scale when it is used.
        let single = polynomial.terms.len() == 1 && polynomial.scale == Monomial::ONE;
        let place = if single { &mut polynomial.terms[0].0 } else { &mut polynomial.scale };
        let (product, shed) = self.monomial_product(*place, monomial)?;
        *place = product;
        polynomial.scale_by(factor);
        if let Some(shed) = shed {
            polynomial.scale_by(&shed);
        }
        Ok(())
    }

    /// `a · b`
    pub(crate) fn product(&mut self, a: Polynomial, b: Polynomial) -> Outcome<Polynomial> {
        let (mut a, mut b) = (a, b);
        if a.length() < b.length() {
            std::mem::swap(&mut a, &mut b);
        }
        if b.length() > 1 {
            b.tidy();
        }
        match b.terms.as_slice() {
            [] => return Ok(Polynomial::zero()),
            [(monomial, coefficient)] => {
                if [&a.factor, &b.factor, coefficient].map(Number::bits).iter().sum::<usize>()
                    > MAX_COEFFICIENT_BITS
                {
                    return Err(Obstacle::TooLarge);
                }
                let factor = &b.factor * coefficient;
                let (monomial, scale) = (*monomial, b.scale);
                self.shift(&mut a, monomial, &factor)?;
                self.shift(&mut a, scale, &Number::ONE)?;
                return Ok(a);
            }
            _ => a.tidy(),
        }
        if a.length() <= 1 {
            return self.product(b, a);
        }
        self.gather_for_cancelling(&mut a, &mut b)?;
        if a.length() == 1 || b.length() == 1 {
            return self.product(a, b);
        }
        if a.length().saturating_mul(b.length()) > MAX_EXPANSION {
            let (a, b) = (self.as_composite(a)?, self.as_composite(b)?);
            return self.product(a, b);
        }
        self.expand_product(a, b)
    }

    /// Multiplies every summand of `a` with every one of `b`.
    pub(crate) fn expand_product(&mut self, a: Polynomial, b: Polynomial) -> Outcome<Polynomial> {
        let mut result = Polynomial::zero();
        // Long coefficients cost more: a step is about one multiplication of short ones.
        let words = [&a, &b].map(|one| 1 + one.longest_coefficient() / STEP_BITS);
        let row = b.length().saturating_mul(words[0].saturating_mul(words[1]));
        if (a.length() as u64).saturating_mul(row as u64) > self.steps {
            return Err(Obstacle::Budget);
        }
        for (m, c) in &a.terms {
            // Row by row, so that a deadline is noticed between them.
            self.spend(row)?;
            if result.terms.len().saturating_mul(words[0] + words[1]) > MAX_WORDS {
                return Err(Obstacle::TooLarge);
            }
            for (n, d) in &b.terms {
                let (product, shed) = self.monomial_product(*m, *n)?;
                let mut coefficient = c * d;
                if let Some(shed) = shed {
                    coefficient = &coefficient * &shed;
                }
                result.terms.push((product, coefficient));
            }
            result.tidy_if_doubled();
        }
        result.tidy();
        if !result.terms.is_empty() {
            result.factor = &a.factor * &b.factor;
            self.shift(&mut result, a.scale, &Number::ONE)?;
            self.shift(&mut result, b.scale, &Number::ONE)?;
        }
        Ok(result)
    }

    /// Returns the sorted summands with scale and factor multiplied in.
    pub(crate) fn expanded(&mut self, polynomial: Polynomial) -> Outcome<Vec<Summand>> {
        let mut polynomial = polynomial;
        polynomial.tidy();
        if polynomial.scale == Monomial::ONE {
            if !polynomial.factor.is_one() {
                for (_, coefficient) in &mut polynomial.terms {
                    *coefficient = &*coefficient * &polynomial.factor;
                }
            }
            return Ok(polynomial.terms);
        }
        self.spend(polynomial.length())?;
        let mut result = Polynomial::zero();
        result.reserve(polynomial.length());
        for (monomial, coefficient) in &polynomial.terms {
            let (product, shed) = self.monomial_product(*monomial, polynomial.scale)?;
            let mut coefficient = times(coefficient, &polynomial.factor);
            if let Some(shed) = shed {
                coefficient = &coefficient * &shed;
            }
            result.terms.push((product, coefficient));
        }
        result.tidy();
        Ok(result.terms)
    }

    /// Computes the difference of two polynomials, or `None` if they are the same sum. A common scale is not
    /// multiplied in.
    pub(crate) fn difference_if_unequal(
        &mut self,
        a: Polynomial,
        b: Polynomial,
    ) -> Outcome<Option<Polynomial>> {
        let (mut a, mut b) = (a, b);
        let scale = b.scale;
        b.scale = Monomial::ONE;
        if a.scale == scale {
            a.scale = Monomial::ONE;
        } else {
            let (inverse, shed) = self.monomial_inverse(scale)?;
            self.shift(&mut a, inverse, &shed.unwrap_or(Number::ONE))?;
        }
        let (a, b) = (self.expanded(a)?, self.expanded(b)?);
        if a == b {
            return Ok(None);
        }
        let mut gap = self.difference(Polynomial::from_sorted(a), Polynomial::from_sorted(b))?;
        self.shift(&mut gap, scale, &Number::ONE)?;
        Ok(Some(gap))
    }
}
