//! Equations between indices that contradict the assumptions: splits them into equations between digits
//! (`arith::radix`), solves these, and looks for an assumption that became false.

use super::Prover;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::radix;
use arith::symbols::Symbols;
use arith::vertex::Bounds;
use std::collections::BTreeSet;

impl Prover {
    /// Returns `true` if `equations` (each polynomial is 0) contradict the assumptions.
    ///
    /// `shared` returns `true` for symbols of both threads of a pair. Equations are split into digits first. If `patient`
    /// is set, digits whose bounds need products of assumptions are split as well.
    pub(crate) fn contradicts(
        &mut self,
        assumed: &[Formula],
        equations: &[Poly],
        shared: &impl Fn(&Symbols, Sym) -> bool,
        patient: bool,
    ) -> bool {
        let Some((all, mut parts)) = self.contradicts_quickly(assumed, equations, shared) else {
            return true;
        };
        if patient {
            let finer = self.split_patiently(assumed, &parts, shared);
            if finer != parts && self.are_contradictory(&all, &finer) {
                return true;
            }
            parts = finer;
        }
        let mut with: Vec<Formula> = assumed.to_vec();
        let digits = Formula::and(parts.into_iter().map(Formula::eq));
        with.extend(digits.conjuncts().iter().cloned());
        self.proves(&with, &Formula::False)
    }

    /// Like `contradicts`, with little effort. Otherwise returns the facts and the equations between digits.
    pub(crate) fn contradicts_quickly(
        &mut self,
        assumed: &[Formula],
        equations: &[Poly],
        shared: &impl Fn(&Symbols, Sym) -> bool,
    ) -> Option<(Vec<Formula>, Vec<Poly>)> {
        let first = Formula::and(equations.iter().cloned().map(Formula::eq));
        if first == Formula::False {
            self.stats.without_solver += 1;
            return None;
        }
        let all = self.context(assumed, &first);
        let mut parts = Vec::new();
        for equation in equations {
            let symbols = &self.symbols;
            let is_shared = |sym| shared(symbols, sym);
            let bounds = Bounds::new(&all, symbols);
            let mut nonnegative = |poly: &Poly| bounds.is_nonnegative_without_sizes(poly);
            parts.extend(radix::split(equation, &is_shared, &mut nonnegative));
        }
        let parts = self.with_equal_symbols(&all, parts, shared);
        (!self.are_contradictory(&all, &parts)).then_some((all, parts))
    }

    /// Substitutes symbols that are equal in the other equations, and splits these again: once `q` and `q'` are known to
    /// be equal, `B·b + t − w·q` can be split by `B`.
    fn with_equal_symbols(
        &self,
        all: &[Formula],
        mut parts: Vec<Poly>,
        shared: &impl Fn(&Symbols, Sym) -> bool,
    ) -> Vec<Poly> {
        let mut done: Vec<Poly> = Vec::new();
        while let Some(at) = parts.iter().position(|one| equal_symbols(one).is_some()) {
            let equation = parts.swap_remove(at);
            let Some((from, to)) = equal_symbols(&equation) else { break };
            let bounds = Bounds::new(all, &self.symbols);
            let mut next = Vec::new();
            for part in parts {
                match part.substituted(from, &Poly::symbol(to)).filter(|one| *one != part) {
                    Some(changed) => {
                        let is_shared = |sym| shared(&self.symbols, sym);
                        let mut nonnegative =
                            |poly: &Poly| bounds.is_nonnegative_without_sizes(poly);
                        next.extend(radix::split(&changed, &is_shared, &mut nonnegative));
                    }
                    None => next.push(part),
                }
            }
            parts = next;
            done.push(equation);
        }
        done.extend(parts);
        done
    }

    /// Returns `true` if equations between digits contradict the assumptions, without a search.
    fn are_contradictory(&mut self, all: &[Formula], digits: &[Poly]) -> bool {
        let is_false = Formula::and(digits.iter().cloned().map(Formula::eq)) == Formula::False;
        let found = is_false || self.is_quick_contradiction(all, digits);
        self.stats.without_solver += u64::from(found);
        found
    }

    /// Splits equations into digits; bounds of remainders are proved by all means but the solver.
    fn split_patiently(
        &mut self,
        assumed: &[Formula],
        equations: &[Poly],
        shared: &impl Fn(&Symbols, Sym) -> bool,
    ) -> Vec<Poly> {
        let mut parts = Vec::new();
        for equation in equations {
            let both: BTreeSet<Sym> =
                equation.mentioned().filter(|sym| shared(&self.symbols, *sym)).collect();
            let is_shared = |sym: Sym| both.contains(&sym);
            let mut nonnegative =
                |poly: &Poly| self.proves_lightly(assumed, &Formula::ge(poly.clone()));
            parts.extend(radix::split(equation, &is_shared, &mut nonnegative));
        }
        parts
    }

    /// Substitutes equal digits into the assumptions and looks for one that became false.
    pub(super) fn is_quick_contradiction(&self, all: &[Formula], parts: &[Poly]) -> bool {
        let mut rest: Vec<Poly> = parts.to_vec();
        let mut assumed: Vec<Formula> = Vec::new();
        for part in all.iter().flat_map(Formula::conjuncts) {
            match part {
                Formula::Eq(poly) => rest.push(poly.clone()),
                _ => assumed.push(part.clone()),
            }
        }
        let mut all = assumed;
        while let Some((sym, value)) = rest.iter().find_map(solve_for_symbol) {
            let mut map = |poly: &Poly| poly.substituted(sym, &value);
            all = all.iter().map(|one| one.mapped(&mut map).unwrap_or(Formula::True)).collect();
            rest = rest.iter().filter_map(|one| one.substituted(sym, &value)).collect();
            rest.retain(|one| !one.is_zero());
            let impossible = rest.iter().any(|one| Formula::eq(one.clone()) == Formula::False);
            if impossible || all.contains(&Formula::False) {
                return true;
            }
        }
        // An assumption `p ≥ 0` is false if `−p − 1 ≥ 0` is proved.
        let parts: Vec<Formula> = all.iter().flat_map(Formula::conjuncts).cloned().collect();
        let rest = rest.into_iter().map(Formula::Eq);
        let known: Vec<Formula> = parts.iter().cloned().chain(rest.clone()).collect();
        let bounds = Bounds::new(&known, &self.symbols);
        let below = |poly: &Poly| poly.scaled(-1).and_then(|negative| negative.offset(-1));
        let proved =
            |poly: Option<Poly>| poly.is_some_and(|one| bounds.is_nonnegative_by_bounds(&one));
        parts.into_iter().chain(rest).any(|part| match part {
            Formula::Ge(poly) => proved(below(&poly)),
            Formula::Eq(poly) => proved(below(&poly)) || proved(poly.offset(-1)),
            _ => false,
        })
    }
}

/// The symbols that an equation states to be equal, if it does nothing else.
fn equal_symbols(equation: &Poly) -> Option<(Sym, Sym)> {
    let terms: Vec<(Option<Sym>, i128)> = equation
        .terms()
        .map(|(monomial, factor)| (Poly::monomial(monomial.clone(), 1).as_symbol(), factor))
        .collect();
    match terms[..] {
        [(Some(one), 1), (Some(other), -1)] | [(Some(one), -1), (Some(other), 1)] => {
            Some((one.max(other), one.min(other)))
        }
        _ => None,
    }
}

/// A symbol that an equation determines, newest first.
fn solve_for_symbol(poly: &Poly) -> Option<(Sym, Poly)> {
    for sym in poly.symbols().into_iter().rev() {
        if let [rest, coefficient] = &poly.by_powers(sym)[..]
            && let Some(sign @ (1 | -1)) = coefficient.as_constant()
        {
            return Some((sym, rest.scaled(-sign)?));
        }
    }
    None
}
