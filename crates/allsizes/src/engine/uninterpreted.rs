//! Quotients, minima, maxima, bitwise operations and other results that are not polynomials.
//!
//! Each result is a new symbol with facts about it (`q = a div b` has `0 ≤ a − q·b < b`); equal operations share one.
//! Facts must be true. A fact that is missing only leaves claims open.

use super::Engine;
use super::state::{Operation, State};
use arith::formula::Formula;
use arith::poly::{Monomial, Poly, Sym};
use arith::symbols::Level;
use kir::Type;

impl Engine<'_> {
    /// The symbol of an operation; equal operations give the same symbol.
    pub(super) fn operation(&mut self, operation: Operation, ty: Type) -> Poly {
        if let Some(value) = fold_constants(&operation) {
            return value;
        }
        let operation = match operation {
            Operation::Min(a, b) if a > b => Operation::Min(b, a),
            Operation::Max(a, b) if a > b => Operation::Max(b, a),
            other => other,
        };
        if let Some(known) = self.operations.get(&operation) {
            return known.clone();
        }
        let quotient = match &operation {
            Operation::Div(a, b) => self.visible_quotient(a, b),
            Operation::Floor(a, b) => self.visible_quotient(a, &Poly::constant(*b)),
            _ => None,
        };
        if let Some(quotient) = quotient {
            self.operations.insert(operation, quotient.clone());
            return quotient;
        }
        let symbols = &self.prover.symbols;
        let level = match &operation {
            Operation::Div(a, b)
            | Operation::Min(a, b)
            | Operation::Max(a, b)
            | Operation::Combine(_, a, b)
            | Operation::Opaque(_, a, b) => symbols.level(a).max(symbols.level(b)),
            Operation::Floor(a, _) | Operation::Prefix(_, a) => symbols.level(a),
            Operation::Truth(formula) => symbols.formula_level(formula),
        };
        let value = self.new_symbol(&operation, ty, level);
        self.operations.insert(operation, value.clone());
        value
    }

    fn new_symbol(&mut self, operation: &Operation, ty: Type, level: Level) -> Poly {
        match operation {
            Operation::Opaque(name, a, b) => {
                let value = self.unknown(name, level, ty);
                if let Some(sym) = value.as_symbol() {
                    let facts = bitwise_facts(name, &value, a, b);
                    self.prover.symbols.get_mut(sym).facts.extend(facts);
                }
                value
            }
            Operation::Combine(name, ..) => self.unknown(name, level, ty),
            Operation::Prefix(..) => Poly::symbol(self.prover.symbols.fresh("sum", level)),
            Operation::Div(a, b) => self.quotient(a, b, level, false),
            Operation::Floor(a, b) => self.quotient(a, &Poly::constant(*b), level, true),
            Operation::Min(a, b) | Operation::Max(a, b) => {
                let sign = if matches!(operation, Operation::Min(..)) { 1 } else { -1 };
                let sym = self.prover.symbols.fresh("minmax", level);
                let value = Poly::symbol(sym);
                self.extremes.insert(sym, (a.clone(), b.clone(), sign == 1));
                let differences = [a, b].map(|operand| operand.minus(&value));
                let [Some(to_a), Some(to_b)] = differences else { return value };
                let bounds = [&to_a, &to_b].map(|one| one.scaled(sign).map(Formula::ge));
                let facts = &mut self.prover.symbols.get_mut(sym).facts;
                facts.extend(bounds.into_iter().flatten());
                facts.push(Formula::or([Formula::eq(to_a), Formula::eq(to_b)]));
                value
            }
            Operation::Truth(formula) => {
                let (low, high) = (Some(Poly::constant(0)), Some(Poly::constant(1)));
                let sym = self.prover.symbols.bounded("truth", level, low, high);
                let set = Formula::holds(sym);
                let facts = [formula.clone().implies(set.clone()), set.implies(formula.clone())];
                self.prover.symbols.get_mut(sym).facts.extend(facts);
                Poly::symbol(sym)
            }
        }
    }

    /// Replaces the count of a loop by its value after the loop, also in quotients, minima and maxima of the count.
    pub(super) fn substitute_count(&mut self, state: &mut State, count: Sym, value: &Poly) {
        let depends = |operation: &Operation| {
            let is_followed = matches!(
                operation,
                Operation::Floor(..) | Operation::Div(..) | Operation::Min(..) | Operation::Max(..)
            );
            is_followed && operation.mentions(count)
        };
        let quotients: Vec<(Operation, Poly)> = self
            .operations
            .iter()
            .filter(|(operation, _)| depends(operation))
            .map(|(operation, value)| (operation.clone(), value.clone()))
            .collect();
        for (operation, quotient) in quotients {
            let substitute = |poly: &Poly| poly.substituted(count, value);
            let both = |a: &Poly, b: &Poly| substitute(a).zip(substitute(b));
            let substituted = match &operation {
                Operation::Floor(a, b) => substitute(a).map(|a| Operation::Floor(a, *b)),
                Operation::Div(a, b) => both(a, b).map(|(a, b)| Operation::Div(a, b)),
                Operation::Min(a, b) => both(a, b).map(|(a, b)| Operation::Min(a, b)),
                Operation::Max(a, b) => both(a, b).map(|(a, b)| Operation::Max(a, b)),
                _ => None,
            };
            if let (Some(sym), Some(substituted)) = (quotient.as_symbol(), substituted) {
                let after_loop = self.operation(substituted, Type::Whole);
                state.substitute(sym, &after_loop);
            }
        }
        state.substitute(count, value);
    }

    /// Returns a quotient that needs no new symbol: that of `b·Q + R` by `b` is `Q` if `R` is 0, or if `0 ≤ R < b` and
    /// `Q` is not negative.
    fn visible_quotient(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        let mut terms = b.terms();
        let (monomial, factor) = terms.next().filter(|(_, factor)| *factor > 0)?;
        if terms.next().is_some() {
            return None;
        }
        let (quotient, rest) = a.split(monomial, factor);
        let below = b.minus(&rest).and_then(|below| below.offset(-1));
        let is_quotient = rest.is_zero()
            || (!quotient.is_zero() || b.as_constant().is_some())
                && self.is_quickly_nonnegative(&Some(rest.clone()))
                && self.is_quickly_nonnegative(&below)
                && self.is_quickly_nonnegative(&Some(quotient.clone()));
        is_quotient.then_some(quotient)
    }

    /// Returns a symbol for `a / b`, rounded toward zero or down, with its facts.
    fn quotient(&mut self, a: &Poly, b: &Poly, level: Level, down: bool) -> Poly {
        // If b > 0 and a ≥ 0, the quotient gets the lower bound 0 and facts without conditions: no solver has to
        // prove their conditions first.
        let positive = self.is_quickly_nonnegative(&b.offset(-1));
        let nonnegative = self.is_quickly_nonnegative(&Some(a.clone()));
        let low = (positive && nonnegative).then(|| Poly::constant(0));
        let high = if low.is_some() { self.greatest_quotient(a, b) } else { None };
        let sym = self.prover.symbols.bounded("quotient", level, low, high);
        let quotient = Poly::symbol(sym);
        let rest = quotient.times(b).and_then(|multiple| a.minus(&multiple));
        let (Some(rest), Some(below)) = (rest.clone(), rest.and_then(|rest| b.minus(&rest))) else {
            return quotient;
        };
        let mut facts = Vec::new();
        let is_positive = b.offset(-1).map_or(Formula::False, Formula::ge);
        let is_nonnegative = Formula::ge(a.clone());
        // 0 ≤ a − q·b < b.
        let euclid = Formula::and([
            Formula::ge(rest.clone()),
            below.offset(-1).map_or(Formula::True, Formula::ge),
        ]);
        if down {
            facts.push(is_positive.clone().implies(euclid));
        } else {
            facts.push(Formula::and([is_positive.clone(), is_nonnegative.clone()]).implies(euclid));
            // −b < a − q·b ≤ 0 for a negative dividend.
            let other = Formula::and([
                rest.scaled(-1).map_or(Formula::True, Formula::ge),
                rest.plus(b).and_then(|sum| sum.offset(-1)).map_or(Formula::True, Formula::ge),
            ]);
            let negative = Formula::and([is_positive.clone(), is_nonnegative.clone().not()]);
            facts.push(negative.implies(other));
        }
        if positive && nonnegative {
            facts = vec![Formula::ge(rest.clone())];
            facts.extend(below.offset(-1).map(Formula::ge));
            // q ≤ a follows from the facts above, but bounds the quotient in a single linear step.
            facts.extend(a.minus(&quotient).map(Formula::ge));
        }
        if b.as_constant() == Some(2) {
            // Half of a power of two is a power of two, unless the power is 1.
            let exact = Formula::and([Formula::Pow2(quotient.clone()), Formula::eq(rest.clone())]);
            let one = a.offset(-1).map_or(Formula::True, Formula::eq);
            facts.push(Formula::Pow2(a.clone()).implies(Formula::or([one, exact])));
        }
        if b.as_constant().is_none() {
            // A power of two divides every greater power of two; the quotient is a power of two.
            let greater = a.minus(b).map_or(Formula::False, Formula::ge);
            let powers = [Formula::Pow2(a.clone()), Formula::Pow2(b.clone()), greater];
            let exact = Formula::and([Formula::Pow2(quotient.clone()), Formula::eq(rest)]);
            facts.push(Formula::and(powers).implies(exact));
        }
        facts.extend(self.power_of_two_facts(b, level));
        let symbol = self.prover.symbols.get_mut(sym);
        symbol.facts.extend(facts);
        symbol.is_quotient = true;
        quotient
    }

    /// The greatest quotient of `a`, which is not negative, by `b`, which is positive: `c − 1` if `a < b·c`. A product
    /// `b·c` of sizes is tried if the contract or the size of an array names it.
    fn greatest_quotient(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        let required = self.prover.requires.iter().flat_map(Formula::conjuncts);
        let required = required.filter_map(|part| match part {
            Formula::Ge(poly) | Formula::Eq(poly) => Some(poly),
            _ => None,
        });
        let sizes = self.sizes.iter().flatten().flatten();
        let mut tried: Vec<Poly> = Vec::new();
        for (monomial, _) in required.chain(sizes).flat_map(Poly::terms) {
            let factor = Poly::monomial(monomial.clone(), 1).divided_exactly(b);
            if let Some(factor) = factor.filter(|one| one.as_constant().is_none())
                && self.prover.symbols.level(&factor) == Level::Launch
                && !tried.contains(&factor)
            {
                tried.push(factor);
            }
        }
        // `h·w` and `d·h·w` may both be named: `h` is a better bound of a quotient by `w` than `d·h`.
        tried.sort_by_cached_key(|factor| {
            let degree = |monomial: &Monomial| monomial.iter().map(|(_, power)| power).sum::<u32>();
            factor.terms().map(|(monomial, _)| degree(monomial)).max()
        });
        tried.into_iter().find_map(|factor| {
            let below = b.times(&factor)?.minus(a)?.offset(-1);
            let high = factor.offset(-1)?;
            self.is_quickly_nonnegative(&below).then_some(high)
        })
    }

    /// Returns facts about divisors `d` that are powers of two: a size `s` that is a power of two is a multiple of
    /// `d` if `d ≤ s`, and also if `e < s` where `d = 2·e`.
    fn power_of_two_facts(&mut self, divisor: &Poly, level: Level) -> Vec<Formula> {
        let terms: Vec<(&Monomial, i128)> = divisor.terms().collect();
        let [(monomial, factor)] = terms[..] else { return Vec::new() };
        let is_power = factor > 0 && factor.count_ones() == 1;
        let base = Poly::monomial(monomial.clone(), 1);
        if monomial.is_empty() || !is_power {
            return Vec::new();
        }
        let powers = self.prover.requires.iter().flat_map(Formula::conjuncts);
        let sizes: Vec<Poly> = powers
            .filter_map(|one| match one {
                Formula::Pow2(size) if size != &base => Some(size.clone()),
                _ => None,
            })
            .collect();
        let mut facts = Vec::new();
        for size in sizes {
            let low = Some(Poly::constant(1));
            let ratio = Poly::symbol(self.prover.symbols.bounded("ratio", level, low, None));
            let rest = divisor.times(&ratio).and_then(|multiple| size.minus(&multiple));
            let Some(rest) = rest else { continue };
            let exact = Formula::and([Formula::eq(rest), Formula::Pow2(ratio)]);
            let half = (factor > 1).then(|| Poly::monomial(monomial.clone(), factor / 2));
            let greater = half.and_then(|half| size.minus(&half)?.offset(-1));
            let at_least = size.minus(divisor).into_iter().chain(greater);
            for enough in at_least.map(Formula::ge) {
                let premises = [Formula::Pow2(base.clone()), Formula::Pow2(size.clone()), enough];
                facts.push(Formula::and(premises).implies(exact.clone()));
            }
        }
        facts
    }

    fn is_quickly_nonnegative(&mut self, poly: &Option<Poly>) -> bool {
        poly.as_ref()
            .is_some_and(|poly| self.prover.proves_quickly(&[], &Formula::ge(poly.clone())))
    }
}

/// Facts about bitwise operations on numbers that are not negative.
fn bitwise_facts(name: &str, value: &Poly, a: &Poly, b: &Poly) -> Option<Formula> {
    let at_most = |one: &Poly, other: &Poly| other.minus(one).map_or(Formula::True, Formula::ge);
    let facts = match name {
        "and" => Formula::and([at_most(value, a), at_most(value, b)]),
        "or" => {
            let sum = a.plus(b)?;
            Formula::and([at_most(value, &sum), at_most(a, value), at_most(b, value)])
        }
        "xor" => at_most(value, &a.plus(b)?),
        _ => return None,
    };
    let nonnegative = Formula::and([Formula::ge(a.clone()), Formula::ge(b.clone())]);
    Some(nonnegative.implies(Formula::and([Formula::ge(value.clone()), facts])))
}

/// Evaluates an operation on constants.
fn fold_constants(operation: &Operation) -> Option<Poly> {
    let value = match operation {
        Operation::Div(a, b) => a.as_constant()?.checked_div(b.as_constant()?)?,
        Operation::Floor(a, b) => a.as_constant()?.div_euclid(*b),
        Operation::Min(a, b) => a.as_constant()?.min(b.as_constant()?),
        Operation::Max(a, b) => a.as_constant()?.max(b.as_constant()?),
        Operation::Truth(Formula::True) => 1,
        Operation::Truth(Formula::False) => 0,
        Operation::Truth(_)
        | Operation::Opaque(..)
        | Operation::Combine(..)
        | Operation::Prefix(..) => return None,
    };
    Some(Poly::constant(value))
}
