//! Sums of monomials under construction: a common scale, and summands sorted only on demand.
//!
//! Two costs decide whether a running rescale (`acc = acc · e^δ + p · v`) is linear or quadratic:
//! multiplying every summand by `e^δ`, and keeping the list sorted. So a polynomial has a *scale*
//! that a multiplication by one monomial changes in O(1), and combines equal monomials only when
//! it has doubled since it last did.

use super::{Algebra, Monomial, Obstacle, Outcome, Summand};
use term::Number;

/// `factor · scale · Σ terms`.
#[derive(Clone, Debug)]
pub(crate) struct Polynomial {
    pub(super) scale: Monomial,
    /// Never zero.
    pub(super) factor: Number,
    pub(super) terms: Vec<Summand>,
    /// How many of the terms are sorted and combined; the rest were pushed since.
    tidy: usize,
}

/// Products of more summands than this stay products of composite atoms.
const LARGEST_EXPANSION: usize = 1 << 20;

/// Numbers of more bits than this are given up: floats overflow long before.
const LONGEST_COEFFICIENT: usize = 1 << 16;
/// Bits of a coefficient that count as one step.
const STEP_BITS: usize = 256;

impl Polynomial {
    /// About how many bits its longest coefficient has: of the first, middle and last.
    fn longest_coefficient(&self) -> usize {
        let length = self.terms.len();
        let some = [0, length / 2, length.saturating_sub(1)];
        some.iter()
            .filter_map(|at| self.terms.get(*at))
            .map(|(_, one)| one.bits())
            .max()
            .unwrap_or(0)
    }

    pub(crate) fn zero() -> Self {
        Self::from_sorted(Vec::new())
    }

    pub(crate) fn constant(value: Number) -> Self {
        if value.is_zero() {
            return Self::zero();
        }
        Self::from_sorted(vec![(Monomial::ONE, value)])
    }

    pub(crate) fn integer(value: i64) -> Self {
        Self::constant(value.into())
    }

    pub(crate) fn single(monomial: Monomial) -> Self {
        Self::from_sorted(vec![(monomial, Number::ONE)])
    }

    /// `terms` sorted, combined, without zeros.
    pub(crate) fn from_sorted(terms: Vec<Summand>) -> Self {
        let tidy = terms.len();
        Self { scale: Monomial::ONE, factor: Number::ONE, terms, tidy }
    }

    /// The one summand there is, if there is just one.
    pub(crate) fn as_single(&self) -> Option<Summand> {
        match self.terms.as_slice() {
            [(monomial, coefficient)] if self.scale == Monomial::ONE => {
                Some((*monomial, times(&self.factor, coefficient)))
            }
            _ => None,
        }
    }

    /// The one summand there is, if there is just one and nothing is left to multiply in.
    pub(crate) fn as_settled_single(&self) -> Option<(Monomial, &Number)> {
        match self.terms.as_slice() {
            [(monomial, coefficient)] if self.is_plain() => Some((*monomial, coefficient)),
            _ => None,
        }
    }

    /// Multiplies the factor into a single summand, so that users need not.
    pub(crate) fn settle(&mut self) {
        if let [(_, coefficient)] = self.terms.as_mut_slice() {
            *coefficient = times(&self.factor, coefficient);
            self.factor = Number::ONE;
        }
    }

    /// Whether scale and factor are 1: a summand can be added as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.scale == Monomial::ONE && self.factor.is_one()
    }

    /// Whether it is a sum of exponentials, told without multiplying anything out.
    pub(crate) fn is_plainly_positive(&self) -> bool {
        let positive = |number: &Number| number.signum() > 0;
        !self.terms.is_empty()
            && positive(&self.factor)
            && !self.scale.has_atoms()
            && self
                .terms
                .iter()
                .all(|(monomial, coefficient)| !monomial.has_atoms() && positive(coefficient))
    }

    /// Adds summands to a plain polynomial.
    pub(crate) fn extend_plain(&mut self, summands: impl Iterator<Item = Summand>) {
        debug_assert!(self.is_plain(), "a scale would have to be divided out");
        self.terms.extend(summands);
        self.tidy_if_doubled();
    }

    /// Adds summands inside the scale and the factor.
    pub(crate) fn extend_raw(&mut self, summands: impl IntoIterator<Item = Summand>) {
        self.terms.extend(summands);
        self.tidy();
    }

    /// Makes room for this many more summands.
    pub(crate) fn reserve(&mut self, summands: usize) {
        self.terms.reserve(summands);
    }

    /// Upper bound on the number of summands.
    pub(crate) fn length(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn scale(&self) -> Monomial {
        self.scale
    }

    pub(crate) fn factor(&self) -> &Number {
        &self.factor
    }

    /// The summands without scale and factor, in any order, equal monomials not combined.
    pub(crate) fn raw_terms(&self) -> &[Summand] {
        &self.terms
    }

    /// The summands without scale and factor.
    pub(crate) fn into_raw_terms(self) -> Vec<Summand> {
        self.terms
    }

    /// Multiplies by a rational.
    pub(crate) fn scale_by(&mut self, value: &Number) {
        if value.is_zero() {
            *self = Self::zero();
        } else if !value.is_one() {
            self.factor = &self.factor * value;
        }
    }

    pub(crate) fn negated(mut self) -> Self {
        self.scale_by(&Number::MINUS_ONE);
        self
    }

    /// Sorts, combines equal monomials and drops zeros.
    pub(crate) fn tidy(&mut self) {
        if self.tidy == self.terms.len() {
            return;
        }
        // Rows are often made in order, with nothing to combine.
        if self.terms.is_sorted_by(|(a, _), (b, _)| a < b) {
            self.tidy = self.terms.len();
            return;
        }
        self.terms.sort_by_key(|(monomial, _)| *monomial);
        let mut kept = 0;
        for index in 0..self.terms.len() {
            if kept > 0 && self.terms[kept - 1].0 == self.terms[index].0 {
                let sum = &self.terms[kept - 1].1 + &self.terms[index].1;
                self.terms[kept - 1].1 = sum;
            } else {
                if kept > 0 && self.terms[kept - 1].1.is_zero() {
                    kept -= 1;
                }
                self.terms.swap(kept, index);
                kept += 1;
            }
        }
        if kept > 0 && self.terms[kept - 1].1.is_zero() {
            kept -= 1;
        }
        self.terms.truncate(kept);
        self.tidy = kept;
    }

    pub(crate) fn is_zero(&mut self) -> bool {
        self.tidy();
        self.terms.is_empty()
    }

    /// Amortised: each summand takes part in O(log n) sorts.
    fn tidy_if_doubled(&mut self) {
        if self.terms.len() > 2 * self.tidy + 16 {
            self.tidy();
        }
    }
}

/// Most factors are 1.
pub(crate) fn times(a: &Number, b: &Number) -> Number {
    if a.is_one() {
        b.clone()
    } else if b.is_one() {
        a.clone()
    } else {
        a * b
    }
}

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

    /// Adds a product of two monomials. A factor with powers is divided by the scale before it meets the
    /// other: `p/l · v` in a sum over `l` is `p · v`, and nobody has to know `p·v/l`.
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
        // A single summand takes the factor itself: then it needs no scale when it is used.
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
                    > LONGEST_COEFFICIENT
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
        if a.length().saturating_mul(b.length()) > LARGEST_EXPANSION {
            let (a, b) = (self.as_composite(a)?, self.as_composite(b)?);
            return self.product(a, b);
        }
        self.expand_product(a, b)
    }

    /// Every summand of `a` with every one of `b`.
    pub(crate) fn expand_product(&mut self, a: Polynomial, b: Polynomial) -> Outcome<Polynomial> {
        let mut result = Polynomial::zero();
        // Long coefficients cost more: a step is about one multiplication of short ones.
        let weight = 1 + a.longest_coefficient().max(b.longest_coefficient()) / STEP_BITS;
        self.spend(a.length().saturating_mul(b.length()).saturating_mul(weight))?;
        for (m, c) in &a.terms {
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

    /// The sorted summands with scale and factor multiplied in.
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

    /// The difference of two polynomials, or nothing if they are the same sum. A common scale is
    /// not multiplied in.
    pub(crate) fn unequal(&mut self, a: Polynomial, b: Polynomial) -> Outcome<Option<Polynomial>> {
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
