//! Refutations of assumptions about integers, and their checker.
//!
//! A certificate ([`Certificate`]) is checked by computing with polynomials. Five rules are needed:
//! - A sum of products of assumptions with positive weights, and of equations times any polynomial, is at least 0. So
//!   assumptions for which it is a negative constant are contradictory.
//! - An equation may determine a symbol, which is then substituted.
//! - A symbol may be shifted by a polynomial of others.
//! - An integer is positive, negative or 0.
//! - A number that divides all coefficients of an equation divides its constant.

use crate::poly::{Monomial, Poly, Sym, multiplied};
use std::collections::BTreeMap;

/// Assumptions about integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hypotheses {
    /// Polynomials that are at least 0.
    pub at_least: Vec<Poly>,
    /// Polynomials that are 0.
    pub equal: Vec<Poly>,
}

impl Hypotheses {
    /// Adds `poly ≥ 0`, divided by the common factor of the coefficients, unless it is known already. If it states
    /// that a symbol is positive, the weaker fact that it is not negative is added as well: products with the symbol
    /// alone are simpler. If `poly ≤ 0` is known, the equation is added, too.
    pub fn add_at_least(&mut self, poly: Poly) {
        let poly = poly.tightened().unwrap_or(poly);
        let without_constant = poly.constant_term().checked_neg().and_then(|one| poly.offset(one));
        let symbol = without_constant.filter(|own| own.as_symbol().is_some());
        let weaker = symbol.filter(|_| poly.constant_term() < 0);
        for poly in weaker.into_iter().chain([poly]) {
            let is_trivial = poly.as_constant().is_some_and(|value| value >= 0);
            if is_trivial || self.at_least.contains(&poly) {
                continue;
            }
            if poly.scaled(-1).is_some_and(|opposite| self.at_least.contains(&opposite)) {
                self.add_equal(poly.clone());
            }
            self.at_least.push(poly);
        }
    }

    /// Adds `poly = 0`, divided by the common factor of the coefficients, unless it is known already.
    pub fn add_equal(&mut self, poly: Poly) {
        let content = poly.content();
        let is_divisible = content > 1 && poly.constant_term() % content == 0;
        let poly = if is_divisible { poly.split(&[], content).0 } else { poly };
        if !poly.is_zero() && !self.equal.contains(&poly) {
            self.equal.push(poly);
        }
    }

    /// Substitutes the value that an equation gives a symbol; assumptions that become too large are left out.
    ///
    /// `None` if it does not determine the symbol: it must be `±x + rest = 0` without another `x`.
    pub(super) fn with_symbol_solved(&self, equation: usize, sym: Sym) -> Option<Self> {
        let powers = self.equal.get(equation)?.by_powers(sym);
        let [rest, coefficient] = &powers[..] else { return None };
        let sign = coefficient.as_constant().filter(|sign| sign.abs() == 1)?;
        let value = rest.scaled(-sign)?;
        let mut solved = Self::default();
        let at_least = self.at_least.iter().filter_map(|one| one.substituted(sym, &value));
        at_least.for_each(|one| solved.add_at_least(one));
        let equal = self.equal.iter().filter_map(|one| one.substituted(sym, &value));
        equal.for_each(|one| solved.add_equal(one));
        Some(solved)
    }

    /// Substitutes `x + by` for a symbol `x` that `by` does not mention: integers that satisfy one system satisfy the
    /// other with a shifted `x`. Leaves out assumptions that become too large.
    pub(super) fn with_symbol_shifted(&self, sym: Sym, by: &Poly) -> Option<Self> {
        if by.mentions(sym) {
            return None;
        }
        let value = Poly::symbol(sym).plus(by)?;
        let mut sheared = Self::default();
        let at_least = self.at_least.iter().filter_map(|one| one.substituted(sym, &value));
        at_least.for_each(|one| sheared.add_at_least(one));
        let equal = self.equal.iter().filter_map(|one| one.substituted(sym, &value));
        equal.for_each(|one| sheared.add_equal(one));
        Some(sheared)
    }

    /// Returns the hypotheses of three cases: the polynomial is positive, negative, or 0.
    pub(super) fn cut(&self, poly: &Poly) -> Option<[Self; 3]> {
        let [mut above, mut below, mut zero] = [self.clone(), self.clone(), self.clone()];
        above.add_at_least(poly.offset(-1)?);
        below.add_at_least(poly.scaled(-1)?.offset(-1)?);
        zero.add_equal(poly.clone());
        Some([above, below, zero])
    }
}

/// A product of assumptions with a positive weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weighted {
    pub(super) weight: i128,
    /// Positions in [`Hypotheses::at_least`]; an empty list is the number 1.
    pub(super) factors: Vec<usize>,
}

/// An equation times a monomial, with any weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Multiple {
    pub(super) weight: i128,
    pub(super) equation: usize,
    pub(super) by: Monomial,
}

/// A proof that assumptions are contradictory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certificate {
    /// This sum is a negative constant.
    Sum { products: Vec<Weighted>, multiples: Vec<Multiple> },
    /// A number divides all coefficients of an equation but not its constant.
    Divisor { equation: usize },
    /// An equation determines a symbol, and the rest is contradictory.
    Solved { equation: usize, sym: Sym, then: Box<Self> },
    /// A symbol is shifted, and the result is contradictory.
    Shifted { sym: Sym, by: Poly, then: Box<Self> },
    /// They are contradictory for each sign of a polynomial: positive, negative, 0.
    Cut { poly: Poly, cases: Box<[Self; 3]> },
}

impl Certificate {
    /// Returns `true` if this proves that assumptions are contradictory.
    pub fn refutes(&self, known: &Hypotheses) -> bool {
        match self {
            Self::Sum { products, multiples } => {
                total(known, products, multiples).is_some_and(|sum| match &sum[..] {
                    [(monomial, value)] => monomial.is_empty() && *value < 0,
                    _ => false,
                })
            }
            Self::Divisor { equation } => known.equal.get(*equation).is_some_and(|poly| {
                let content = poly.content();
                match content {
                    0 => poly.constant_term() != 0,
                    _ => poly.constant_term() % content != 0,
                }
            }),
            Self::Solved { equation, sym, then } => {
                known.with_symbol_solved(*equation, *sym).is_some_and(|known| then.refutes(&known))
            }
            Self::Shifted { sym, by, then } => {
                known.with_symbol_shifted(*sym, by).is_some_and(|known| then.refutes(&known))
            }
            Self::Cut { poly, cases } => known.cut(poly).is_some_and(|known| {
                cases.iter().zip(&known).all(|(case, known)| case.refutes(known))
            }),
        }
    }
}

/// The terms of a sum.
fn total(
    known: &Hypotheses,
    products: &[Weighted],
    multiples: &[Multiple],
) -> Option<Vec<(Monomial, i128)>> {
    let mut sum: BTreeMap<Monomial, i128> = BTreeMap::new();
    for Weighted { weight, factors } in products {
        if *weight <= 0 {
            return None;
        }
        let mut product = Poly::constant(*weight);
        for factor in factors {
            product = product.times(known.at_least.get(*factor)?)?;
        }
        add(&mut sum, &product, &[], 1)?;
    }
    for Multiple { weight, equation, by } in multiples {
        add(&mut sum, known.equal.get(*equation)?, by, *weight)?;
    }
    Some(sum.into_iter().filter(|(_, coefficient)| *coefficient != 0).collect())
}

fn add(
    sum: &mut BTreeMap<Monomial, i128>,
    poly: &Poly,
    by: &[(Sym, u32)],
    weight: i128,
) -> Option<()> {
    for (monomial, coefficient) in poly.terms() {
        let entry = sum.entry(multiplied(monomial, by)?).or_default();
        *entry = entry.checked_add(coefficient.checked_mul(weight)?)?;
    }
    Some(())
}
