//! Sums of monomials under construction: a common scale, and summands sorted only on demand.
//!
//! Two costs decide whether a running rescale (`acc = acc · e^δ + p · v`) is linear or quadratic: multiplying every
//! summand by `e^δ`, and keeping the list sorted. So a polynomial has a *scale*, changed in O(1) by a multiplication
//! with one monomial. Equal monomials are combined only when the polynomial has doubled since the last time.

use super::{Monomial, Summand};
use term::Number;

/// `factor · scale · Σ terms`.
#[derive(Clone, Debug)]
pub(crate) struct Polynomial {
    pub(super) scale: Monomial,
    /// Never zero.
    pub(super) factor: Number,
    pub(super) terms: Vec<Summand>,
    /// Number of terms that are sorted and combined; the rest were pushed since.
    tidy: usize,
}

impl Polynomial {
    /// Estimates the bits of its longest coefficient: from the first, middle and last.
    pub(super) fn longest_coefficient(&self) -> usize {
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

    /// Builds a polynomial of summands that are sorted, combined and not zero.
    pub(crate) fn from_sorted(terms: Vec<Summand>) -> Self {
        let tidy = terms.len();
        Self { scale: Monomial::ONE, factor: Number::ONE, terms, tidy }
    }

    /// Returns the summand of a polynomial with just one.
    pub(crate) fn as_single(&self) -> Option<Summand> {
        match self.terms.as_slice() {
            [(monomial, coefficient)] if self.scale == Monomial::ONE => {
                Some((*monomial, times(&self.factor, coefficient)))
            }
            _ => None,
        }
    }

    /// Returns the summand of a polynomial with just one, whose scale and factor are 1.
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

    /// Returns `true` if scale and factor are 1. Then a summand can be added as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.scale == Monomial::ONE && self.factor.is_one()
    }

    /// Returns `true` for a sum of exponentials with positive coefficients. Decided without multiplying out.
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

    /// Returns an upper bound on the number of summands: some may be equal monomials, or cancel.
    pub(crate) fn length(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn scale(&self) -> Monomial {
        self.scale
    }

    pub(crate) fn factor(&self) -> &Number {
        &self.factor
    }

    /// Returns the summands without scale and factor, in any order, equal monomials not combined.
    pub(crate) fn raw_terms(&self) -> &[Summand] {
        &self.terms
    }

    /// Returns the summands without scale and factor.
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

    /// Sorts and combines if the sum has doubled since the last time: so each summand takes part in O(log n) sorts.
    pub(super) fn tidy_if_doubled(&mut self) {
        if self.terms.len() > 2 * self.tidy + 16 {
            self.tidy();
        }
    }
}

/// Multiplies; most factors are 1.
pub(crate) fn times(a: &Number, b: &Number) -> Number {
    if a.is_one() {
        b.clone()
    } else if b.is_one() {
        a.clone()
    } else {
        a * b
    }
}
