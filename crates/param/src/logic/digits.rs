//! Bounds digit by digit: a goal of high degree is shown by goals of lower degree.
//!
//! With a size `s ≥ 0`, `s·a + b ≥ 0` follows from `a ≥ 1` and `s + b ≥ 0`, and from `a ≥ 0` and `b ≥ 0`. So
//! `(y·h + x)·n + k < m·h·n` follows from `k < n` and `y·h + x < m·h`, and that from `x < h` and `y < m`. Sums of
//! products would need products of as many assumptions at once. A goal with a constant (`… ≤ 2147483647`) follows
//! from an assumption about sizes with one (`m·h·n ≤ 2147483647`) if the difference is not negative.

use super::formula::Formula;
use super::poly::{Poly, Sym};
use super::products::Effort;
use super::side::Prover;
use super::symbols::Level;
use std::collections::BTreeSet;

/// Digits taken off one after the other.
const MAX_DIGITS: u32 = 3;
/// Limit on the sizes that are tried as a stride, and on assumptions with a constant.
const MAX_STRIDES: usize = 4;
const MAX_LIMITS: usize = 3;

impl Prover {
    /// Is `goal` shown to follow digit by digit?
    pub(super) fn by_digits(&self, all: &[Formula], goal: &Formula) -> bool {
        let Formula::Ge(poly) = goal else { return false };
        if !is_nonlinear(poly) {
            return false;
        }
        let limits = all.iter().flat_map(Formula::conjuncts).filter_map(|one| match one {
            Formula::Ge(limit) => self.below_limit(poly, limit),
            _ => None,
        });
        std::iter::once(poly.clone())
            .chain(limits.take(MAX_LIMITS))
            .any(|one| self.by_stride(all, &one, MAX_DIGITS))
    }

    /// The rest of a goal that a limit on sizes leaves, if it takes the goal's constant away.
    fn below_limit(&self, poly: &Poly, limit: &Poly) -> Option<Poly> {
        let is_limit = is_nonlinear(limit) && self.symbols.level(limit) == Level::Launch;
        let (constant, most) = (limit.constant_term(), poly.constant_term());
        let is_close = constant > 0 && constant <= most && most - constant < constant;
        poly.minus(limit).filter(|_| is_limit && is_close)
    }

    fn by_stride(&self, all: &[Formula], poly: &Poly, digits: u32) -> bool {
        let Some(digits) = digits.checked_sub(1) else { return false };
        self.sizes_of_products(poly).into_iter().any(|sym| {
            let stride = Poly::symbol(sym);
            let (above, below) = poly.split(&[(sym, 1)], 1);
            if !self.quickly_at_least(all, &stride) {
                return false;
            }
            let within = below.plus(&stride).zip(above.offset(-1));
            within.is_some_and(|(below, above)| {
                self.digit_is_shown(all, &below, digits) && self.digit_is_shown(all, &above, digits)
            }) || self.digit_is_shown(all, &below, digits)
                && self.digit_is_shown(all, &above, digits)
        })
    }

    fn digit_is_shown(&self, all: &[Formula], poly: &Poly, digits: u32) -> bool {
        self.quickly_at_least(all, poly)
            || self.by_products(all, &Formula::ge(poly.clone()), Effort::LIGHT)
            || self.by_stride(all, poly, digits)
    }

    /// Sizes in products, those in the most products first.
    fn sizes_of_products(&self, poly: &Poly) -> Vec<Sym> {
        let products: Vec<BTreeSet<Sym>> = poly
            .terms()
            .map(|(monomial, _)| monomial.iter().map(|(sym, _)| *sym).collect())
            .filter(|product: &BTreeSet<Sym>| product.len() > 1)
            .collect();
        let all: BTreeSet<Sym> = products.iter().flatten().copied().collect();
        let mut sizes: Vec<Sym> =
            all.into_iter().filter(|sym| self.symbols.get(*sym).level == Level::Launch).collect();
        sizes.sort_by_key(|sym| {
            std::cmp::Reverse(products.iter().filter(|product| product.contains(sym)).count())
        });
        sizes.truncate(MAX_STRIDES);
        sizes
    }
}

fn is_nonlinear(poly: &Poly) -> bool {
    poly.terms().any(|(monomial, _)| monomial.iter().map(|(_, power)| power).sum::<u32>() > 1)
}
