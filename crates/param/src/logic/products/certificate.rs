//! Refutations of assumptions about integers, and who checks them.
//!
//! The checker knows polynomials and five rules. A sum of products of assumptions, weighted by positive numbers, and of equations times
//! anything is at least 0, so assumptions for which it is a negative constant cannot hold. An equation gives a symbol a value. A symbol may
//! be counted from elsewhere. An integer is positive, negative or 0. A number that divides all coefficients of an equation divides its constant.

use crate::logic::poly::{Monomial, Poly, Sym, multiplied};
use std::collections::BTreeMap;

/// Assumptions about integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hypotheses {
    /// At least 0 each.
    pub(crate) at_least: Vec<Poly>,
    /// 0 each.
    pub(crate) equal: Vec<Poly>,
}

impl Hypotheses {
    /// Adds `poly ≥ 0`, with coefficients that have no factor in common; not if it is known already. Where it says that a symbol is
    /// positive, that it is not negative is added as well: products with the symbol alone are simpler. Where `poly ≤ 0` is known, so is the
    /// equation.
    pub(crate) fn add_at_least(&mut self, poly: Poly) {
        let poly = poly.lowered().unwrap_or(poly);
        let symbol = poly.offset(-poly.constant_term()).filter(|own| own.as_symbol().is_some());
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

    /// Adds `poly = 0`, with coefficients that have no factor in common; not if it is known already.
    pub(crate) fn add_equal(&mut self, poly: Poly) {
        let content = poly.content();
        let is_divisible = content > 1 && poly.constant_term() % content == 0;
        let poly = if is_divisible { poly.split(&[], content).0 } else { poly };
        if !poly.is_zero() && !self.equal.contains(&poly) {
            self.equal.push(poly);
        }
    }

    /// With the value that an equation gives to a symbol in its place; what becomes too large is left out.
    ///
    /// None if it does not give it one: it must be `±x + rest = 0` without another `x`.
    pub(super) fn solved(&self, equation: usize, sym: Sym) -> Option<Self> {
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

    /// With `x + by` in the place of a symbol `x` that `by` does not mention: integers that fulfil one fulfil the other for another `x`.
    /// Leaves out what becomes too large.
    pub(super) fn sheared(&self, sym: Sym, by: &Poly) -> Option<Self> {
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

    /// For each sign of a polynomial: positive, negative, 0.
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
pub(crate) struct Weighted {
    pub(super) weight: i128,
    /// Positions in [`Hypotheses::at_least`]; none is the number 1.
    pub(super) factors: Vec<usize>,
}

/// An equation times a monomial, with any weight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Multiple {
    pub(super) weight: i128,
    pub(super) equation: usize,
    pub(super) by: Monomial,
}

/// Why assumptions cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Certificate {
    /// This sum is a negative constant.
    Sum { products: Vec<Weighted>, multiples: Vec<Multiple> },
    /// Some number divides all coefficients of an equation and not its constant.
    Divisor { equation: usize },
    /// An equation gives a symbol a value, and then they cannot.
    Solved { equation: usize, sym: Sym, then: Box<Self> },
    /// A symbol is counted from elsewhere, and then they cannot.
    Sheared { sym: Sym, by: Poly, then: Box<Self> },
    /// They cannot whatever the sign of a polynomial is: positive, negative, 0.
    Cut { poly: Poly, cases: Box<[Self; 3]> },
}

impl Certificate {
    /// Tells whether this shows that assumptions cannot hold.
    pub(crate) fn refutes(&self, known: &Hypotheses) -> bool {
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
                known.solved(*equation, *sym).is_some_and(|known| then.refutes(&known))
            }
            Self::Sheared { sym, by, then } => {
                known.sheared(*sym, by).is_some_and(|known| then.refutes(&known))
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
