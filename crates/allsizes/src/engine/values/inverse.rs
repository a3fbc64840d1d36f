//! Inverts index expressions: finds the only coordinates that can have produced an index.
//!
//! Given equations `φ(x) = z` and conditions on `x`, each unknown of `x` gets the only value that they allow. Either
//! `±x + rest = z` has no other unknown, or the value is the quotient of `s·x + r = z`, where `0 ≤ r < s` is proved
//! for every `x` that satisfies the conditions. If all unknowns get values `ψ(z)`, then the only candidate for
//! hitting `z` is `ψ(z)`. So some `x` hits `z` exactly if `ψ(z)` satisfies the conditions and the equations, and no
//! search is needed. If an unknown gets no value, there is no result.
//!
//! Some symbols depend on unknowns in a way that is not polynomial (quotients, minima and maxima). In equations and
//! conditions they are treated like unknowns that get no value. A condition `q ≥ 0` with such symbols is used as a
//! remainder of its own: `φ = (φ − c·q) + c·q`, for the `c` with which the symbols cancel.

use super::resolve::Resolver;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use std::collections::{BTreeMap, BTreeSet};

/// An index expression, and its required value.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    /// The only side with unknowns.
    pub(super) own: Poly,
    pub(super) argument: Poly,
}

/// Symbols that an equation is solved for.
pub(super) struct Unknowns {
    /// Those that need a value.
    pub(super) wanted: BTreeSet<Sym>,
    /// Symbols that depend on them.
    pub(super) dependent: BTreeSet<Sym>,
}

/// Effort for showing that an expression is a remainder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    Light,
    Full,
}

impl Unknowns {
    fn contains(&self, sym: Sym) -> bool {
        self.wanted.contains(&sym) || self.dependent.contains(&sym)
    }

    /// The part of a polynomial that contains unknowns.
    fn part(&self, poly: &Poly) -> Option<Poly> {
        let mut part = Poly::default();
        for (monomial, coefficient) in poly.terms() {
            if monomial.iter().any(|(sym, _)| self.contains(*sym)) {
                part = part.plus(&Poly::monomial(monomial.clone(), coefficient))?;
            }
        }
        Some(part)
    }

    fn wanted_in(&self, poly: &Poly) -> Vec<Sym> {
        poly.symbols().into_iter().filter(|sym| self.wanted.contains(sym)).collect()
    }
}

impl Resolver {
    /// Collects the unknowns, and the symbols that depend on them.
    pub(super) fn unknowns(&self, wanted: BTreeSet<Sym>, symbols: BTreeSet<Sym>) -> Unknowns {
        let depends =
            |sym: &Sym| !wanted.contains(sym) && !self.bound_in(*sym).is_disjoint(&wanted);
        let dependent = symbols.into_iter().filter(depends).collect();
        Unknowns { wanted, dependent }
    }

    /// Returns the values that equations and facts determine for all unknowns, trying one effort after the other.
    pub(super) fn inverse(
        &mut self,
        mut unknowns: Unknowns,
        mut equations: Vec<Equation>,
        known: &[Formula],
        efforts: &[Effort],
    ) -> Option<BTreeMap<Sym, Poly>> {
        let mut known = known.to_vec();
        for one in &equations {
            known.push(Formula::eq(one.own.minus(&one.argument)?));
        }
        self.add_remainders(&mut unknowns, &mut equations, &mut known)?;
        let mut values: BTreeMap<Sym, Poly> = BTreeMap::new();
        while !unknowns.wanted.is_empty() {
            equations.sort_by_key(|one| {
                let unknown_count = unknowns.wanted_in(&one.own).len();
                (unknown_count == 0, unknown_count, one.own.terms().count())
            });
            // Failing proofs cost most, so each equation gets a light attempt before any gets a full one.
            let (sym, value) = efforts.iter().find_map(|effort| {
                let effort = *effort;
                equations
                    .iter()
                    .find_map(|one| self.determined_unknown(one, &unknowns, &known, effort))
            })?;
            for one in &mut equations {
                one.own = one.own.substituted(sym, &value)?;
            }
            known.push(Formula::eq(Poly::symbol(sym).minus(&value)?));
            unknowns.wanted.remove(&sym);
            values.insert(sym, value);
            self.evaluate_dependents(&mut unknowns, &mut equations, &mut known, &values)?;
        }
        Some(values)
    }

    /// Evaluates dependent symbols that no longer depend on unknowns.
    fn evaluate_dependents(
        &mut self,
        unknowns: &mut Unknowns,
        equations: &mut [Equation],
        known: &mut Vec<Formula>,
        values: &BTreeMap<Sym, Poly>,
    ) -> Option<()> {
        let settled = |sym: &Sym| {
            let bound = self.bound_in(*sym);
            bound.is_disjoint(&unknowns.wanted) && bound.iter().any(|one| values.contains_key(one))
        };
        for sym in unknowns.dependent.iter().copied().filter(settled).collect::<Vec<Sym>>() {
            let Some(value) = self.substitute_bound(&Poly::symbol(sym), values) else { continue };
            unknowns.dependent.remove(&sym);
            for one in equations.iter_mut() {
                one.own = one.own.substituted(sym, &value)?;
            }
            known.push(Formula::eq(Poly::symbol(sym).minus(&value)?));
        }
        Some(())
    }

    /// Adds equations in which a non-negative expression from a condition replaces a part that is not a polynomial.
    fn add_remainders(
        &mut self,
        unknowns: &mut Unknowns,
        equations: &mut Vec<Equation>,
        known: &mut Vec<Formula>,
    ) -> Option<()> {
        let depends = |poly: &Poly| poly.mentioned().any(|sym| unknowns.dependent.contains(&sym));
        let mut more: Vec<(Equation, Poly, Poly)> = Vec::new();
        for equation in equations.iter().filter(|one| depends(&one.own)) {
            for condition in known.iter().flat_map(Formula::conjuncts) {
                let Formula::Ge(poly) = condition else { continue };
                let dependent = poly.mentioned().find(|sym| unknowns.dependent.contains(sym));
                let factor = dependent.and_then(|sym| multiple_of(&equation.own, poly, sym));
                let Some(factor) = factor else { continue };
                let rest = equation.own.minus(&factor.times(poly)?)?;
                if !depends(&rest) && !unknowns.wanted_in(&rest).is_empty() {
                    more.push((Equation { own: rest, ..equation.clone() }, poly.clone(), factor));
                }
            }
        }
        for (mut equation, poly, factor) in more {
            let low = Some(Poly::constant(0));
            let remainder = self.prover.symbols.bounded("rest", Level::Thread, low, None);
            unknowns.dependent.insert(remainder);
            equation.own = equation.own.plus(&factor.times(&Poly::symbol(remainder))?)?;
            known.push(Formula::eq(Poly::symbol(remainder).minus(&poly)?));
            equations.push(equation);
        }
        Some(())
    }

    /// Finds an unknown that an equation determines.
    fn determined_unknown(
        &mut self,
        equation: &Equation,
        unknowns: &Unknowns,
        known: &[Formula],
        effort: Effort,
    ) -> Option<(Sym, Poly)> {
        let wanted = unknowns.wanted_in(&equation.own);
        for sym in &wanted {
            let powers = equation.own.by_powers(*sym);
            let [rest, factor] = &powers[..] else { continue };
            if let Some(sign @ (1 | -1)) = factor.as_constant()
                && !rest.mentioned().any(|one| unknowns.contains(one))
            {
                return Some((*sym, equation.argument.minus(rest)?.scaled(sign)?));
            }
        }
        wanted.iter().find_map(|sym| self.by_division(equation, *sym, unknowns, (known, effort)))
    }

    /// Returns the quotient that is an unknown's only value. A known remainder is not divided, so that arguments with
    /// other remainders have the same quotient.
    fn by_division(
        &mut self,
        equation: &Equation,
        sym: Sym,
        unknowns: &Unknowns,
        (known, effort): (&[Formula], Effort),
    ) -> Option<(Sym, Poly)> {
        let powers = equation.own.by_powers(sym);
        let [rest, factor] = &powers[..] else { return None };
        if factor.mentioned().any(|one| unknowns.contains(one)) {
            return None;
        }
        let sign = factor.leading_sign();
        let (stride, rest) = (factor.scaled(sign)?, rest.scaled(sign)?);
        let argument = equation.argument.scaled(sign)?;
        let others = unknowns.part(&rest)?;
        let constant = match stride.as_constant() {
            Some(stride) => rest.constant_term().rem_euclid(stride),
            None => rest.constant_term(),
        };
        // Split the known part: multiples of the stride belong to the quotient, the rest to the remainder. With stride
        // `s*w`, the rest of `(n - 1 - b)*s*w + t*w + w - 1 - q` is `t*w + w - 1 - q`.
        let (_, left) = rest.minus(&others)?.divided_by(&stride)?;
        // Division of polynomials may take one stride too many: with stride `n` it takes the first `n` of `n·r + n − 4·q`.
        let near = others.plus(&left)?;
        let next = near.plus(&stride)?;
        let mut tried: Vec<Poly> = Vec::new();
        for remainder in [rest.clone(), near, others.offset(constant)?, others, next] {
            if tried.contains(&remainder) {
                continue;
            }
            let dividend = argument.minus(&rest)?.plus(&remainder)?;
            if let Some(value) =
                self.quotient_if_remainder(&dividend, &remainder, &stride, (known, effort))
            {
                return Some((sym, value));
            }
            tried.push(remainder);
        }
        None
    }

    /// `y` of `s·y + r = w`, if `0 ≤ r < s` or `−s < r ≤ 0`.
    fn quotient_if_remainder(
        &mut self,
        whole: &Poly,
        remainder: &Poly,
        stride: &Poly,
        (known, effort): (&[Formula], Effort),
    ) -> Option<Poly> {
        let mut shows = |poly: Poly| match effort {
            Effort::Light => self.prover.proves_lightly(known, &Formula::ge(poly)),
            Effort::Full => self.prover.proves_without_solver(known, &Formula::ge(poly)),
        };
        if shows(remainder.clone()) && shows(stride.minus(remainder)?.offset(-1)?) {
            return self.quotient_here(whole, stride, known);
        }
        if shows(remainder.scaled(-1)?) && shows(stride.plus(remainder)?.offset(-1)?) {
            // The quotient is rounded up.
            return self.quotient_here(&whole.plus(stride)?.offset(-1)?, stride, known);
        }
        None
    }

    /// Divides by an expression that is proved to be positive for any candidate; otherwise returns `None`.
    fn quotient_here(&mut self, whole: &Poly, stride: &Poly, known: &[Formula]) -> Option<Poly> {
        let proves_before_splitting = std::mem::replace(&mut self.proves_before_splitting, true);
        let quotient = self.quotient(whole, stride, known);
        self.proves_before_splitting = proves_before_splitting;
        quotient
    }
}

/// Returns the factor of `part` with which a symbol of both occurs in `whole`, if it occurs linearly.
fn multiple_of(whole: &Poly, part: &Poly, sym: Sym) -> Option<Poly> {
    let [whole, part] = [whole.by_powers(sym), part.by_powers(sym)];
    match (&whole[..], &part[..]) {
        ([_, factor], [_, unit]) => factor.divided_exactly(unit),
        _ => None,
    }
}
