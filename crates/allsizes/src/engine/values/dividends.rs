//! Equations with quotients of unknowns: a dividend is written in digits, so that its quotients become unknowns of
//! their own.
//!
//! If `p` is an unknown number or a sum of some, and `p div d₁`, `p div d₂`, … occur with `d₁ | d₂ | …`, then `p` is
//! `r₀ + d₁·(r₁ + (d₂/d₁)·(… + q))` with `0 ≤ r₀ < d₁`, `0 ≤ r₁ < d₂/d₁`, … The quotients are sums of these digits. An
//! unknown with coefficient 1 in the dividend is replaced: it equals the sum of the digits minus the rest of the
//! dividend. The solution is still a guess: the caller has to prove it.

use super::resolve::Resolver;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use std::collections::BTreeSet;

/// Limit on the dividends to expand.
const MAX_DIVIDENDS: usize = 4;

/// A system of equations, with facts about its unknowns.
pub(super) struct System {
    pub(super) equations: Vec<Poly>,
    pub(super) unknown: BTreeSet<Sym>,
    pub(super) assumed: Vec<Formula>,
}

impl Resolver {
    /// Adds digits of dividends to the unknowns, and equations that define them.
    pub(super) fn take_dividends_apart(&mut self, system: &mut System) {
        for _ in 0..MAX_DIVIDENDS {
            let Some(dividend) = self.unknown_dividend(system) else { return };
            if self.take_apart(&dividend, system).is_none() {
                return;
            }
        }
    }

    /// Finds a dividend that contains unknowns and has a quotient in the equations.
    fn unknown_dividend(&self, system: &System) -> Option<Poly> {
        let occurring: BTreeSet<Sym> = system.equations.iter().flat_map(Poly::mentioned).collect();
        let mut dividends = occurring.iter().filter_map(|sym| {
            let (dividend, _) = self.quotients.get(sym)?;
            dividend.mentioned().any(|one| system.unknown.contains(&one)).then_some(dividend)
        });
        dividends.next().cloned()
    }

    /// Writes one dividend in digits; `None` if its divisors do not divide each other, or a value is too large.
    fn take_apart(&mut self, dividend: &Poly, system: &mut System) -> Option<()> {
        let mut quotients: Vec<(Sym, Poly)> = Vec::new();
        for (sym, (own, divisor)) in &self.quotients {
            if own == dividend && self.prover.symbols.level(divisor) == Level::Launch {
                quotients.push((*sym, divisor.clone()));
            }
        }
        // Sort so that each divisor comes after the divisors that divide it.
        let divisors: Vec<Poly> = quotients.iter().map(|(_, divisor)| divisor.clone()).collect();
        quotients.sort_by_cached_key(|(_, divisor)| {
            divisors.iter().filter(|other| divisor.divided_exactly(other).is_some()).count()
        });
        let mut ratios: Vec<Poly> = Vec::new();
        for (number, (_, divisor)) in quotients.iter().enumerate() {
            ratios.push(match number.checked_sub(1) {
                Some(before) => divisor.divided_exactly(&quotients[before].1)?,
                None => divisor.clone(),
            });
        }
        let zero = || Some(Poly::constant(0));
        let mut digits: Vec<Poly> = Vec::new();
        for ratio in &ratios {
            let high = ratio.offset(-1);
            let digit = self.prover.symbols.bounded("digit", Level::Thread, zero(), high);
            system.unknown.insert(digit);
            digits.push(Poly::symbol(digit));
        }
        // The last quotient remains an unknown.
        let (last, _) = quotients.last()?;
        system.unknown.insert(*last);
        let mut above = Poly::symbol(*last);
        let mut values: Vec<(Sym, Poly)> = Vec::new();
        for (number, (sym, _)) in quotients.iter().enumerate().rev() {
            if sym != last {
                values.push((*sym, above.clone()));
            }
            above = above.times(&ratios[number])?.plus(&digits[number])?;
        }
        let unknown = dividend.symbols().into_iter().filter(|sym| system.unknown.contains(sym));
        let unit = unknown.filter(|sym| dividend.coefficient(&[(*sym, 1)]) == 1).max()?;
        let rest = dividend.minus(&Poly::symbol(unit))?;
        let equation = dividend.minus(&above)?;
        values.push((unit, above.minus(&rest)?));
        for one in &mut system.equations {
            for (sym, value) in &values {
                *one = one.substituted(*sym, value)?;
            }
        }
        for (sym, value) in values.iter().filter(|(sym, _)| *sym != unit) {
            system.assumed.push(Formula::eq(Poly::symbol(*sym).minus(value)?));
        }
        system.assumed.push(Formula::eq(equation.clone()));
        system.equations.push(equation);
        Some(())
    }
}
