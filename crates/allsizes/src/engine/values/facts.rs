//! Proves conditions on indices that were decomposed by dividing them by strides: rewrites bounds of quotients as
//! bounds of their dividends, then calls the prover. Errs towards "not proved".

use super::resolve::Resolver;
use arith::formula::Formula;
use arith::poly::{Poly, Sym, divided};
use arith::symbols::Level;
use std::collections::BTreeSet;

impl Resolver {
    /// Returns `true` if `goal` is proved to follow from `known`. Bounds of a quotient are bounds of its dividend:
    /// `x div s ≤ c` exactly if `x < (c+1)·s`, and `x div s ≥ c` exactly if `x ≥ c·s`.
    pub(super) fn proves(&mut self, known: &[Formula], goal: &Formula) -> bool {
        if let Formula::And(parts) = goal {
            return parts.iter().all(|part| self.proves(known, part));
        }
        let other = self.without_quotients(goal);
        let goals = [Some(goal.clone()), other.filter(|other| other != goal)];
        let goals: Vec<Formula> = goals.into_iter().flatten().collect();
        goals.iter().any(|goal| self.prover.proves_quickly(known, goal))
            || self.proves_before_splitting
                && goals.iter().any(|goal| self.prover.proves_reduced(known, goal))
            || goals.iter().any(|goal| self.prover.proves(known, goal))
    }

    /// Like `proves`, without a solver.
    pub(super) fn proves_quickly(&mut self, known: &[Formula], goal: &Formula) -> bool {
        if let Formula::And(parts) = goal {
            return parts.iter().all(|part| self.proves_quickly(known, part));
        }
        let other = self.without_quotients(goal);
        self.prover.proves_quickly(known, goal)
            || other
                .is_some_and(|other| other != *goal && self.prover.proves_quickly(known, &other))
    }

    /// Like `proves`, without the assumptions about sizes, which are costly to try.
    pub(super) fn proves_without_sizes(&mut self, known: &[Formula], goal: &Formula) -> bool {
        if let Formula::And(parts) = goal {
            return parts.iter().all(|part| self.proves_without_sizes(known, part));
        }
        let other = self.without_quotients(goal).filter(|other| other != goal);
        self.prover.proves_without_sizes(known, goal)
            || other.is_some_and(|other| self.prover.proves_without_sizes(known, &other))
    }

    pub(super) fn without_quotients(&self, goal: &Formula) -> Option<Formula> {
        let Formula::Ge(poly) = goal else { return None };
        let mut poly = poly.clone();
        loop {
            let newest = poly.symbols().into_iter().rev();
            let next = newest.filter_map(|sym| Some((sym, self.quotients.get(&sym)?))).find_map(
                |(sym, (dividend, divisor))| {
                    let powers = poly.by_powers(sym);
                    let [rest, factor] = &powers[..] else { return None };
                    match factor.as_constant() {
                        Some(1) => dividend.plus(&rest.times(divisor)?),
                        Some(-1) => rest.offset(1)?.times(divisor)?.offset(-1)?.minus(dividend),
                        _ => None,
                    }
                },
            );
            match next {
                Some(next) => poly = next,
                None => return Some(Formula::ge(poly)),
            }
        }
    }

    /// Divides by factors that all terms share and that are proved to be at least 1. The result is 0 exactly if `poly`
    /// is.
    pub(super) fn without_common(&mut self, poly: &Poly, known: &[Formula]) -> Poly {
        let mut poly = poly.clone();
        for sym in poly.symbols() {
            let factor = [(sym, 1)];
            let shared = |poly: &Poly| {
                poly.terms().all(|(monomial, _)| divided(monomial, &factor).is_some())
            };
            while !poly.is_zero() && shared(&poly) && self.is_positive(sym, known) {
                poly = poly.split(&factor, 1).0;
            }
        }
        poly
    }

    fn is_positive(&mut self, sym: Sym, known: &[Formula]) -> bool {
        let positive = Poly::symbol(sym).offset(-1).map(Formula::ge);
        positive.is_some_and(|positive| self.prover.proves_quickly(known, &positive))
    }

    /// `dividend div divisor`, rounded down; `None` unless the divisor is proved to be positive.
    pub(super) fn quotient(
        &mut self,
        dividend: &Poly,
        divisor: &Poly,
        known: &[Formula],
    ) -> Option<Poly> {
        let positive = divisor.offset(-1).map(Formula::ge)?;
        // Facts about a symbol must hold everywhere, not only here.
        let everywhere = self.prover.proves_quickly(&[], &positive);
        let here = everywhere
            || self.proves_before_splitting && self.prover.proves_quickly(known, &positive);
        if !here {
            return None;
        }
        // (h·a) div (h·b) = a div b.
        for sym in divisor.symbols() {
            let factor = [(sym, 1)];
            let both = dividend.terms().chain(divisor.terms());
            let shared = both.into_iter().all(|(one, _)| divided(one, &factor).is_some());
            let here = if self.proves_before_splitting { known } else { &[] };
            if shared && !dividend.is_zero() && self.is_positive(sym, here) {
                let (dividend, divisor) =
                    (dividend.split(&factor, 1).0, divisor.split(&factor, 1).0);
                return self.quotient(&dividend, &divisor, known);
            }
        }
        // (a·q + r) div (a·b) = q div b, if 0 ≤ r < a.
        for sym in divisor.symbols() {
            let factor = [(sym, 1)];
            if !divisor.terms().all(|(one, _)| divided(one, &factor).is_some())
                || divisor.as_symbol() == Some(sym)
                || !self.is_positive(sym, &[])
            {
                continue;
            }
            let (whole, rest) = dividend.split(&factor, 1);
            let below = Poly::symbol(sym).minus(&rest)?.offset(-1).map(Formula::ge)?;
            if !whole.is_zero()
                && self.prover.proves_quickly(known, &Formula::ge(rest))
                && self.prover.proves_quickly(known, &below)
                && let Some(value) = self.quotient(&whole, &divisor.split(&factor, 1).0, known)
            {
                return Some(value);
            }
        }
        // (x div a) div b = x div (a·b).
        if let Some((inner, by)) = dividend.as_symbol().and_then(|sym| self.quotients.get(&sym)) {
            let (inner, by) = (inner.clone(), by.times(divisor)?);
            return self.quotient(&inner, &by, known);
        }
        if let Some(value) = self.quotient_with_same_value(dividend, divisor, known) {
            return Some(value);
        }
        let (quotient, rest) = dividend.divided_by(divisor)?;
        let below = divisor.minus(&rest).and_then(|one| one.offset(-1)).map(Formula::ge)?;
        let is_quotient = rest.is_zero()
            || self.prover.proves_quickly(known, &Formula::ge(rest.clone()))
                && self.prover.proves_quickly(known, &below);
        if is_quotient {
            return Some(quotient);
        }
        // −s ≤ r < 0: the quotient is one less.
        let negative = rest.scaled(-1)?.offset(-1).map(Formula::ge)?;
        let above = rest.plus(divisor).map(Formula::ge)?;
        if self.prover.proves_quickly(known, &negative) && self.prover.proves_quickly(known, &above)
        {
            return quotient.offset(-1);
        }
        // (s·q + r) div s = q + r div s.
        if !quotient.is_zero() {
            return quotient.plus(&self.quotient(&rest, divisor, known)?);
        }
        self.named_quotient(dividend, divisor, everywhere)
    }

    /// Returns the symbol of a quotient. Its facts hold where the divisor is positive, which `everywhere` says of all
    /// launches; elsewhere it is any number, but the same one for the same operands.
    pub(super) fn named_quotient(
        &mut self,
        dividend: &Poly,
        divisor: &Poly,
        everywhere: bool,
    ) -> Option<Poly> {
        let positive = divisor.offset(-1).map(Formula::ge)?;
        let key = (dividend.clone(), divisor.clone());
        if let Some(sym) = self.named_quotients.get(&key) {
            return Some(Poly::symbol(*sym));
        }
        let sym = self.prover.symbols.fresh("quotient", Level::Thread);
        let quotient = Poly::symbol(sym);
        let rest = dividend.minus(&quotient.times(divisor)?)?;
        let below = divisor.minus(&rest)?.offset(-1)?;
        let facts = [Formula::ge(rest), Formula::ge(below)];
        let facts = facts.map(|fact| match everywhere {
            true => fact,
            false => positive.clone().implies(fact),
        });
        let symbol = self.prover.symbols.get_mut(sym);
        symbol.facts.extend(facts);
        symbol.is_quotient = true;
        let mentioned = dividend.symbols().into_iter().chain(divisor.symbols());
        let bound: BTreeSet<Sym> = mentioned.flat_map(|one| self.bound_in(one)).collect();
        if !bound.is_empty() {
            self.implicit.insert(sym, bound);
        }
        let operands =
            if everywhere { &mut self.quotients } else { &mut self.conditional_quotients };
        operands.insert(sym, key.clone());
        self.named_quotients.insert(key, sym);
        Some(quotient)
    }

    /// Returns a quotient in the dividend that is the wanted quotient, too: with `q = j div s`, `(j + c·q) div (s + c)` is
    /// `q`, since what is left, `j − s·q`, is below `s + c`.
    fn quotient_with_same_value(
        &mut self,
        dividend: &Poly,
        divisor: &Poly,
        known: &[Formula],
    ) -> Option<Poly> {
        let known_quotients: Vec<Sym> =
            dividend.symbols().into_iter().filter(|sym| self.quotients.contains_key(sym)).collect();
        known_quotients.into_iter().map(Poly::symbol).find(|quotient| {
            let rest = quotient.times(divisor).and_then(|whole| dividend.minus(&whole));
            let below = rest.as_ref().and_then(|rest| divisor.minus(rest)?.offset(-1));
            let mut shows = |poly: Option<Poly>| {
                poly.is_some_and(|poly| self.prover.proves_quickly(known, &Formula::ge(poly)))
            };
            shows(rest) && shows(below)
        })
    }

    /// Adds that divisors of quotients in conditions are positive, where it is proved but does not hold everywhere.
    pub(super) fn add_positive_divisors<'f>(
        &mut self,
        known: &mut Vec<Formula>,
        conditions: impl Iterator<Item = &'f Formula>,
    ) {
        let symbols: BTreeSet<Sym> = conditions.flat_map(Formula::symbols).collect();
        for sym in symbols {
            let Some((_, divisor)) = self.conditional_quotients.get(&sym) else { continue };
            let Some(positive) = divisor.offset(-1).map(Formula::ge) else { continue };
            if !known.contains(&positive) && self.prover.proves_lightly(known, &positive) {
                known.push(positive);
            }
        }
    }

    /// Adds a condition to known facts; `x ≠ 0` becomes a strict inequality if the sign of `x` is known.
    pub(super) fn with_fact(&mut self, known: &[Formula], condition: &Formula) -> Vec<Formula> {
        let mut all = known.to_vec();
        for part in condition.conjuncts() {
            all.push(part.clone());
            let Formula::Not(inner) = part else { continue };
            let Formula::Eq(poly) = &**inner else { continue };
            for side in [Some(poly.clone()), poly.scaled(-1)].into_iter().flatten() {
                if self.prover.proves_quickly(known, &Formula::ge(side.clone())) {
                    all.extend(side.offset(-1).map(Formula::ge));
                }
            }
        }
        all
    }
}
