//! Proves that a polynomial is nonnegative, without a solver.
//!
//! A polynomial is proved to be at least 0 by eliminating its symbols one by one. With `x = low + x'` (or `x = high −
//! x'`) and `x' ≥ 0`, it is enough that every coefficient of a power of `x'` is at least 0, which is a query about
//! fewer symbols. For a polynomial that is linear in each symbol this evaluates the vertex of the box that the signs
//! of the coefficients select. Bounds come from the symbols and from assumptions that are linear in a symbol with
//! coefficient ±1. If that fails, assumptions `h ≥ 0`, or their products with nonnegative symbols, are subtracted
//! first: `p ≥ 0` follows from `p − h ≥ 0`. It can fail to prove what is true, never the reverse.

use crate::formula::Formula;
use crate::models::{self, Model};
use crate::poly::{Monomial, Poly, Sym, divided, multiplied};
use crate::range::{self, Range};
use crate::symbols::{Level, Symbols};
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;

/// Steps for one goal; beyond this many the answer is "not proved".
const BUDGET: u32 = 500;
/// Like [`BUDGET`], if assumptions about sizes are tried.
const DEEP_BUDGET: u32 = 1500;
/// Bounds tried for one symbol on one side.
const MAX_BOUNDS: usize = 4;
/// Limit on the assumptions that are subtracted from one goal.
const MAX_SUBTRACTED: usize = 2;
/// Assumptions tried at each step.
const MAX_TRIED: usize = 5;

/// Bounds of symbols, and other assumptions.
pub struct Bounds<'s> {
    /// Lower bounds of each symbol.
    pub(crate) low: BTreeMap<Sym, Vec<Poly>>,
    /// Upper bounds of each symbol.
    pub(crate) high: BTreeMap<Sym, Vec<Poly>>,
    /// Polynomials that are at least 0.
    known: Vec<Poly>,
    /// Those of them that mention only symbols of the launch.
    sizes: Vec<Poly>,
    /// Steps left for the current goal.
    steps_left: Cell<u32>,
    /// Results for polynomials of sizes, by the number of assumptions subtracted.
    seen: RefCell<FxHashMap<(Poly, usize), bool>>,
    /// Models of `known`.
    models: OnceCell<Vec<Model>>,
    /// Computed ranges, by the depth of bounds of bounds.
    pub(crate) ranges: RefCell<FxHashMap<(Sym, u32), Range>>,
    /// The table with the symbols' own bounds.
    pub(crate) symbols: &'s Symbols,
}

impl<'s> Bounds<'s> {
    /// Collects the bounds in assumptions.
    pub fn new(assumed: &[Formula], symbols: &'s Symbols) -> Self {
        let (low, high) = (BTreeMap::new(), BTreeMap::new());
        let (known, sizes, steps_left) = (Vec::new(), Vec::new(), Cell::new(0));
        let (seen, ranges) = (RefCell::default(), RefCell::default());
        let models = OnceCell::new();
        let mut bounds =
            Self { low, high, known, sizes, steps_left, seen, models, ranges, symbols };
        for part in assumed.iter().flat_map(Formula::conjuncts) {
            match part {
                Formula::Ge(one) => bounds.add(one.clone()),
                Formula::Eq(one) => {
                    bounds.add(one.clone());
                    if let Some(negative) = one.scaled(-1) {
                        bounds.add(negative);
                    }
                }
                _ => {}
            }
        }
        bounds
    }

    /// Adds the bounds that `poly ≥ 0` gives for its symbols.
    fn add(&mut self, poly: Poly) {
        if self.known.contains(&poly) {
            return;
        }
        let rank = |one: Sym| (self.symbols.get(one).level, one);
        for sym in poly.symbols() {
            let powers = poly.by_powers(sym);
            let [rest, coefficient] = &powers[..] else { continue };
            let (side, bound) = match coefficient.as_constant() {
                Some(1) => (&mut self.low, rest.scaled(-1)),
                Some(-1) => (&mut self.high, Some(rest.clone())),
                _ => continue,
            };
            let Some(bound) = bound else { continue };
            // Keep a bound only if its symbols are eliminated later: otherwise elimination would not terminate.
            let circular = bound.symbols().into_iter().any(|other| rank(other) > rank(sym));
            let list = side.entry(sym).or_default();
            if !circular && list.len() < MAX_BOUNDS && !list.contains(&bound) {
                list.push(bound);
            }
        }
        if self.symbols.level(&poly) == Level::Launch {
            self.sizes.push(poly.clone());
        }
        self.known.push(poly);
    }

    /// Returns `true` if `poly ≥ 0` is proved to follow.
    pub fn is_nonnegative(&self, poly: &Poly) -> bool {
        // Assumptions about sizes are costly to try and seldom needed.
        self.is_nonnegative_without_sizes(poly) || {
            self.steps_left.set(DEEP_BUDGET);
            self.search(poly, MAX_SUBTRACTED, true)
        }
    }

    /// Like `is_nonnegative`, without the assumptions about sizes.
    pub fn is_nonnegative_without_sizes(&self, poly: &Poly) -> bool {
        self.steps_left.set(BUDGET);
        self.search(poly, MAX_SUBTRACTED, false)
    }

    /// Like `is_nonnegative`, from the bounds of single symbols alone.
    pub fn is_nonnegative_by_bounds(&self, poly: &Poly) -> bool {
        self.steps_left.set(BUDGET / 4);
        self.search(poly, 0, false)
    }

    /// Proves a polynomial directly, or after subtracting assumptions.
    fn search(&self, poly: &Poly, left: usize, deep: bool) -> bool {
        if self.is_refuted(poly) {
            return false;
        }
        let poly = &self.without_factors(poly);
        let proved = self.eliminate(poly, deep).unwrap_or(false);
        if proved || range::least(poly, self).is_some_and(|least| least >= 0) {
            return true;
        }
        if left == 0 {
            return false;
        }
        let launch = |sym: &Sym| self.symbols.get(*sym).level == Level::Launch;
        let factors = poly.symbols().into_iter().filter(|sym| {
            launch(sym) && range::symbol_range(*sym, self, 0).0.is_some_and(|least| least >= 0)
        });
        let factors: Vec<Monomial> = std::iter::once(Monomial::new())
            .chain(factors.map(|sym| smallvec![(sym, 1)]))
            .collect();
        let mut rests: Vec<(usize, Poly)> = Vec::new();
        for known in &self.known {
            for factor in &factors {
                // The product helps only if it cancels a term of `poly`.
                let helps = known.terms().any(|(monomial, coefficient)| {
                    let product = multiplied(monomial, factor);
                    product.is_some_and(|product| {
                        !product.is_empty() && poly.coefficient(&product) == coefficient
                    })
                });
                if !helps {
                    continue;
                }
                let multiple = known.times(&Poly::monomial(factor.clone(), 1));
                if let Some(rest) = multiple.and_then(|multiple| poly.minus(&multiple)) {
                    rests.push((rest.terms().count(), rest));
                }
            }
        }
        any_simplest(rests, |rest| self.search(rest, left - 1, deep))
    }

    /// Returns `true` if the polynomial is negative in a model of all assumptions.
    fn is_refuted(&self, poly: &Poly) -> bool {
        let models = self.models.get_or_init(|| models::find(&self.known, self.symbols));
        models.iter().any(|model| model.refutes(poly))
    }

    /// Proves `poly ≥ 0` by eliminating symbols one by one: those of threads first, then those of blocks; newest first.
    fn eliminate(&self, poly: &Poly, deep: bool) -> Option<bool> {
        self.steps_left.set(self.steps_left.get().checked_sub(1)?);
        if let Some(value) = poly.as_constant() {
            return Some(value >= 0);
        }
        if self.is_refuted(poly) {
            return Some(false);
        }
        if deep && self.symbols.level(poly) == Level::Launch {
            return Some(self.prove_over_sizes(poly, MAX_SUBTRACTED));
        }
        self.eliminate_newest(poly, deep)
    }

    /// Proves `poly ≥ 0` for a polynomial of sizes alone, with the assumptions about sizes.
    fn prove_over_sizes(&self, poly: &Poly, left: usize) -> bool {
        let key = (self.without_factors(poly), left);
        if let Some(known) = self.seen.borrow().get(&key) {
            return *known;
        }
        let proved = self.prove_over_new_sizes(&key.0, left);
        // A failure for lack of steps is not cached.
        if proved || self.steps_left.get() > 0 {
            self.seen.borrow_mut().insert(key, proved);
        }
        proved
    }

    fn prove_over_new_sizes(&self, poly: &Poly, left: usize) -> bool {
        let proved = self.eliminate(poly, false).unwrap_or(false);
        if proved || range::least(poly, self).is_some_and(|least| least >= 0) {
            return true;
        }
        if left == 0 {
            return false;
        }
        let rests = self.sizes.iter().filter_map(|known| poly.minus(known));
        let rests = rests.map(|rest| (rest.terms().count(), rest)).collect();
        any_simplest(rests, |rest| self.prove_over_sizes(rest, left - 1))
    }

    /// Eliminates the newest symbol by each of its bounds.
    fn eliminate_newest(&self, poly: &Poly, deep: bool) -> Option<bool> {
        let next = poly.mentioned().max_by_key(|sym| (self.symbols.get(*sym).level, *sym));
        let sym = next?;
        let symbol = self.symbols.get(sym);
        let powers = poly.by_powers(sym);
        for (sign, own, always) in
            [(1, self.low.get(&sym), &symbol.low), (-1, self.high.get(&sym), &symbol.high)]
        {
            let mut bounds = own.into_iter().flatten().chain(always).peekable();
            if bounds.peek().is_none() {
                continue;
            }
            // In powers of `sign·x`. The substitution of `sign·bound + x'` does not change the highest coefficient.
            let Some(powers) = powers_with_sign(&powers, sign) else { continue };
            let Some((highest, lower)) = powers.split_last() else { continue };
            if !self.eliminate(highest, deep)? {
                continue;
            }
            for bound in bounds.filter(|bound| !bound.mentions(sym)) {
                if self.are_lower_nonnegative(highest, lower, (bound, sign), deep)? {
                    return Some(true);
                }
            }
        }
        Some(false)
    }

    /// Returns `true` if the coefficients below the highest are proved to be at least 0 after the substitution of
    /// `sign·bound + x'` for `sign·x`.
    fn are_lower_nonnegative(
        &self,
        highest: &Poly,
        lower: &[Poly],
        (bound, sign): (&Poly, i128),
        deep: bool,
    ) -> Option<bool> {
        let Some(by) = bound.scaled(sign) else { return Some(false) };
        let mut powers = lower.to_vec();
        powers.push(highest.clone());
        let top = lower.len();
        // Horner's scheme: each round completes one coefficient.
        for round in 0..top {
            for at in (round..top).rev() {
                let more = powers[at + 1].times(&by).and_then(|more| powers[at].plus(&more));
                let Some(more) = more else { return Some(false) };
                powers[at] = more;
            }
        }
        // The highest powers first: they fail most often.
        for coefficient in powers[..top].iter().rev() {
            if !self.eliminate(coefficient, deep)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Divides by nonnegative symbols that all terms share.
    fn without_factors(&self, poly: &Poly) -> Poly {
        let mut poly = poly.clone();
        let Some(first) = poly.terms().next().map(|(monomial, _)| monomial.clone()) else {
            return poly;
        };
        for (sym, _) in first {
            let factor = [(sym, 1)];
            let shared = poly.terms().all(|(monomial, _)| divided(monomial, &factor).is_some());
            if shared && range::symbol_range(sym, self, 0).0.is_some_and(|least| least >= 0) {
                poly = poly.split(&factor, 1).0;
            }
        }
        poly
    }
}

/// The coefficients of the powers of `sign·x`.
fn powers_with_sign(powers: &[Poly], sign: i128) -> Option<Vec<Poly>> {
    let turn = |(power, one): (usize, &Poly)| match power % 2 {
        1 if sign < 0 => one.scaled(-1),
        _ => Some(one.clone()),
    };
    powers.iter().enumerate().map(turn).collect()
}

/// Returns `true` if one of the first few polynomials is proved. Those with the fewest terms come first.
fn any_simplest(mut rests: Vec<(usize, Poly)>, mut shows: impl FnMut(&Poly) -> bool) -> bool {
    rests.sort();
    rests.dedup();
    rests.iter().take(MAX_TRIED).any(|(_, rest)| shows(rest))
}
