//! Guesses the thread and iteration that stores to an element, by inverting the index.
//!
//! The equation `index(digits) = element` is split into equations between digits (`arith::radix`). One with a
//! single unknown is solved. In one with several, the unknown with the largest stride is the quotient by that stride
//! and the others share the remainder, as in reading off the digits of a number. A digit that the equation does not
//! determine is 0, or for the count of a loop its last iteration. `hits.rs` has to prove the guess.

use super::dividends::System;
use super::hits::HitQuery;
use super::instance::Instance;
use super::resolve::Resolver;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::radix;
use arith::symbols::Level;
use std::collections::{BTreeMap, BTreeSet};

/// A digit that an equation is solved for.
struct LargestDigit {
    sym: Sym,
    /// `factor·sym + rest = 0`.
    factor: Poly,
    rest: Poly,
    /// Set if another digit has the opposite sign.
    reflected: bool,
}

impl Resolver {
    /// Guesses a witness. `other` is an arbitrary instance that satisfies `assumed`.
    pub(super) fn guess_instance(
        &mut self,
        query: &HitQuery<'_>,
        other: &Instance,
        assumed: &[Formula],
    ) -> Option<Instance> {
        let digits: Vec<(Sym, Sym)> = query
            .digits
            .iter()
            .filter_map(|digit| Some((*digit, other.digits.get(digit)?.as_symbol()?)))
            .collect();
        let unknown: BTreeSet<Sym> = digits.iter().map(|(_, copy)| *copy).collect();
        let System { mut equations, unknown, assumed: with_digits } =
            self.digit_equations(query, other, unknown, assumed)?;
        for part in assumed.iter().flat_map(Formula::conjuncts) {
            if let Formula::Eq(poly) = part {
                equations.push(poly.clone());
            }
        }
        // A digit whose bounds are equal is known.
        for (_, copy) in &digits {
            let symbol = self.prover.symbols.get(*copy);
            if let (Some(low), true) = (symbol.low.clone(), symbol.low == symbol.high) {
                equations.push(Poly::symbol(*copy).minus(&low)?);
            }
        }
        equations.sort_by_key(|part| part.terms().count());
        let mut solved: BTreeMap<Sym, Poly> = BTreeMap::new();
        while let Some(choice) = equations
            .iter()
            .find_map(|equation| self.largest_digit(equation, &unknown))
            .filter(|_| solved.len() < 24)
        {
            let value = self.solution(&choice, &unknown, &with_digits)?;
            for equation in &mut equations {
                *equation = equation.substituted(choice.sym, &value)?;
            }
            for one in solved.values_mut() {
                *one = one.substituted(choice.sym, &value)?;
            }
            solved.insert(choice.sym, value);
        }
        let mut instance = query.fixed.clone();
        for (digit, copy) in digits {
            let value = match solved.get(&copy) {
                Some(value) => value.clone(),
                None if query.free.contains(&digit) => {
                    self.last_iteration(query, copy, assumed, &solved)?
                }
                None => Poly::constant(0),
            };
            instance.digits.insert(digit, value);
        }
        // Some digits were solved in terms of digits that are chosen freely: substitute the choices.
        let free: Vec<(Sym, Poly)> = query
            .digits
            .iter()
            .filter_map(|digit| {
                let copy = other.digits.get(digit)?.as_symbol()?;
                Some((copy, instance.digits.get(digit)?.clone()))
                    .filter(|(copy, _)| !solved.contains_key(copy))
            })
            .collect();
        for value in instance.digits.values_mut() {
            for (copy, chosen) in &free {
                *value = value.substituted(*copy, chosen)?;
            }
        }
        Some(instance)
    }

    /// Splits the equations between indices into equations between single digits as far as possible.
    fn digit_equations(
        &mut self,
        query: &HitQuery<'_>,
        other: &Instance,
        unknown: BTreeSet<Sym>,
        assumed: &[Formula],
    ) -> Option<System> {
        let at = self.indices(&query.site.index, other)?;
        let mut equations = Vec::new();
        for (here, there) in at.iter().zip(query.index) {
            equations.push(match self.position_by_prefix_sum(here, there) {
                Some(place) => place,
                None => here.minus(there)?,
            });
        }
        let mut system = System { equations, unknown, assumed: assumed.to_vec() };
        let before = system.assumed.len();
        self.take_dividends_apart(&mut system);
        let mut parts = Vec::new();
        for equation in &system.equations {
            let launch: BTreeSet<Sym> = equation
                .symbols()
                .into_iter()
                .filter(|sym| self.prover.symbols.get(*sym).level == Level::Launch)
                .collect();
            // A guess needs no full proof.
            let (prover, assumed) = (&mut self.prover, &system.assumed);
            let has_digits = assumed.len() > before;
            let mut nonnegative = |poly: &Poly| {
                let goal = Formula::ge(poly.clone());
                prover.proves_without_sizes(assumed, &goal)
                    || has_digits && prover.proves_without_solver(assumed, &goal)
            };
            parts.extend(radix::split(equation, &|sym| launch.contains(&sym), &mut nonnegative));
        }
        // Short equations first: they have the fewest unknowns.
        parts.sort_by_key(|part| part.terms().count());
        system.equations = parts;
        Some(system)
    }

    /// Guesses the position of an element: if the contract says that it is a prefix sum, the end of that sum.
    fn position_by_prefix_sum(&self, here: &Poly, there: &Poly) -> Option<Poly> {
        let symbols = &self.prover.symbols;
        let constant = there.constant_term();
        if here.constant_term() != constant {
            return None;
        }
        let symbol = symbols.get(here.offset(-constant)?.as_symbol()?);
        let (_, index) = symbol.element.as_ref()?;
        let prefix = symbols.get(there.offset(-constant)?.as_symbol()?).prefix.as_ref()?;
        // A prefix sum among the facts about the element, if there is one.
        let mut sums = symbol.facts.iter().flat_map(Formula::symbols).filter_map(|sym| {
            let other = symbols.get(sym).prefix.as_ref()?;
            (other.array == prefix.array).then_some(&other.high)
        });
        match (&index[..], sums.next()) {
            (_, Some(high)) => high.minus(&prefix.high),
            ([at], None) => at.minus(&prefix.high),
            _ => None,
        }
    }

    fn solution(
        &mut self,
        choice: &LargestDigit,
        unknown: &BTreeSet<Sym>,
        known: &[Formula],
    ) -> Option<Poly> {
        let LargestDigit { factor, rest, .. } = choice;
        if let Some(sign @ (1 | -1)) = factor.as_constant() {
            return rest.scaled(-sign);
        }
        let terms: Vec<_> = factor.terms().collect();
        let (sign, divisor) = match terms[..] {
            [(monomial, coefficient)] => {
                let size = Poly::monomial(monomial.clone(), coefficient.checked_abs()?);
                (coefficient.signum(), size)
            }
            _ => (1, factor.clone()),
        };
        // Drop the other unknowns: together they are less than the stride.
        let mut constant = Poly::default();
        for (monomial, coefficient) in rest.terms() {
            if monomial.iter().all(|(sym, _)| !unknown.contains(sym)) {
                constant = constant.plus(&Poly::monomial(monomial.clone(), coefficient))?;
            }
        }
        let dividend = constant.scaled(-sign)?;
        match choice.reflected {
            false => self.quotient(&dividend, &divisor, known),
            true => self.quotient(&dividend.scaled(-1)?, &divisor, known)?.scaled(-1),
        }
    }

    /// Returns the last iteration that conditions allow.
    fn last_iteration(
        &mut self,
        query: &HitQuery<'_>,
        count: Sym,
        assumed: &[Formula],
        solved: &BTreeMap<Sym, Poly>,
    ) -> Option<Poly> {
        if let Some(before) = &query.before {
            return before.offset(-1);
        }
        for part in assumed.iter().flat_map(Formula::conjuncts) {
            let Formula::Ge(poly) = part else { continue };
            let powers = poly.by_powers(count);
            let [rest, factor] = &powers[..] else { continue };
            let mut bound = rest.clone();
            for (sym, value) in solved {
                bound = bound.substituted(*sym, value)?;
            }
            let stride = factor.scaled(-1)?;
            if stride.as_constant() == Some(1) {
                return Some(bound);
            }
            let positive = stride.offset(-1).map(Formula::ge)?;
            if self.prover.proves_quickly(&[], &positive) {
                return self.quotient(&bound, &stride, assumed);
            }
        }
        Some(Poly::constant(0))
    }

    /// Returns the unknown with the largest stride in an equation that is linear in all of them.
    fn largest_digit(&mut self, equation: &Poly, unknown: &BTreeSet<Sym>) -> Option<LargestDigit> {
        let digits: Vec<Sym> =
            equation.symbols().into_iter().filter(|sym| unknown.contains(sym)).collect();
        let mut all: Vec<(Poly, i128, LargestDigit)> = Vec::new();
        for sym in digits {
            let powers = equation.by_powers(sym);
            let [rest, factor] = &powers[..] else { return None };
            if factor.symbols().iter().any(|one| unknown.contains(one)) {
                return None;
            }
            let sign = factor.leading_sign();
            let (size, factor, rest) = (factor.scaled(sign)?, factor.clone(), rest.clone());
            all.push((size, sign, LargestDigit { sym, factor, rest, reflected: false }));
        }
        let mut largest = 0;
        for position in 1..all.len() {
            if self.is_larger(&all[position].0, &all[largest].0) {
                largest = position;
            }
        }
        let reflected =
            all.iter().any(|(_, sign, _)| Some(*sign) != all.get(largest).map(|one| one.1));
        let (_, _, mut choice) = all.into_iter().nth(largest)?;
        choice.reflected = reflected;
        Some(choice)
    }

    /// Returns `true` if a stride is the larger one, by proof or by its degree.
    fn is_larger(&mut self, one: &Poly, other: &Poly) -> bool {
        let over = one.minus(other);
        let mut is_proved = |poly: Option<Poly>| {
            poly.is_some_and(|poly| self.prover.proves_quickly(&[], &Formula::ge(poly)))
        };
        let under = over.as_ref().and_then(|over| over.scaled(-1));
        match (is_proved(over), is_proved(under)) {
            (true, false) => true,
            (false, true) => false,
            _ => degree(one) > degree(other),
        }
    }
}

fn degree(poly: &Poly) -> u32 {
    poly.terms()
        .map(|(monomial, _)| monomial.iter().map(|(_, power)| power).sum())
        .max()
        .unwrap_or(0)
}
