//! Instantiates symbols of the kernel for a particular thread in particular iterations.
//!
//! Thread and block indices and the counts of loops are *digits*; an instance gives them values. Any other symbol of
//! a thread or block is a function of the digits that are older than it. In an instance it becomes a copy with the
//! same facts about the values of the instance; two instances that agree on those digits share the copy.

use super::resolve::Resolver;
use super::value::Value;
use crate::engine::state::Operation;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::{Level, Prefix};
use std::collections::{BTreeMap, BTreeSet};

/// Values of digits.
#[derive(Clone, Debug, Default)]
pub(super) struct Instance {
    pub(super) digits: BTreeMap<Sym, Poly>,
}

/// Values of the kernel's symbols for the instances so far. They are dropped after each case of sizes, because they
/// may depend on it.
#[derive(Clone, Debug, Default)]
pub(super) struct Copies {
    /// Copies, by the symbol and the values of the digits that it may depend on.
    symbols: BTreeMap<(Sym, Vec<(Sym, Poly)>), Sym>,
    /// The symbol and the instance of each copy.
    origins: BTreeMap<Sym, (Sym, Instance)>,
    /// Values of operations, by the same key.
    values: BTreeMap<(Sym, Vec<(Sym, Poly)>), Poly>,
    /// Minima and maxima of two numbers, each once.
    extremes: BTreeMap<Operation, Sym>,
}

impl Resolver {
    /// Instantiates a polynomial; `None` if it becomes too large.
    pub(super) fn poly(&mut self, poly: &Poly, instance: &Instance) -> Option<Poly> {
        let mut result = poly.clone();
        let mut values: Vec<(Sym, Poly)> = Vec::new();
        for sym in poly.symbols() {
            let value = self.symbol(sym, instance);
            if value.as_symbol() != Some(sym) {
                values.push((sym, value));
            }
        }
        // Simultaneous substitution: first to unused names, then to the values.
        let mut names = Vec::new();
        for (sym, value) in values {
            let name = self.spare(names.len());
            result = result.substituted(sym, &Poly::symbol(name))?;
            names.push((name, value));
        }
        for (name, value) in names {
            result = result.substituted(name, &value)?;
        }
        for (sym, value) in &self.case_values {
            result = result.substituted(*sym, value)?;
        }
        Some(result)
    }

    pub(super) fn formula(&mut self, formula: &Formula, instance: &Instance) -> Option<Formula> {
        formula.mapped(&mut |poly| self.poly(poly, instance))
    }

    /// Returns a symbol that is used for nothing but renaming.
    fn spare(&mut self, number: usize) -> Sym {
        while self.spares.len() <= number {
            let spare = self.prover.symbols.fresh("spare", Level::Thread);
            self.spares.push(spare);
        }
        self.spares[number]
    }

    /// Returns a symbol's value in an instance: a digit's value, the result of its operation, or else a copy with the
    /// same facts.
    fn symbol(&mut self, sym: Sym, instance: &Instance) -> Poly {
        if let Some(value) = instance.digits.get(&sym) {
            return value.clone();
        }
        let level = self.prover.symbols.get(sym).level;
        // The resolver's own symbols belong to no thread.
        if level == Level::Launch || sym >= self.first_own {
            return Poly::symbol(sym);
        }
        // A value of a warp differs between the threads of a block.
        let least = if level == Level::Warp { Level::Thread } else { level };
        let digits: Vec<(Sym, Poly)> = instance
            .digits
            .iter()
            .filter(|(digit, _)| **digit < sym && self.prover.symbols.get(**digit).level <= least)
            .map(|(digit, value)| (*digit, value.clone()))
            .collect();
        // The symbol depends on no digit, or no digit is replaced.
        if digits.iter().all(|(digit, value)| value.as_symbol() == Some(*digit)) {
            return Poly::symbol(sym);
        }
        let key = (sym, digits);
        if let Some(value) = self.copies.values.get(&key) {
            return value.clone();
        }
        let operation = self.operation(sym, instance);
        if let Some(value) = operation.as_ref().and_then(|one| self.simplified(one)) {
            self.copies.values.insert(key, value.clone());
            return value;
        }
        if let Some(copy) = self.copies.symbols.get(&key) {
            return Poly::symbol(*copy);
        }
        let symbol = self.prover.symbols.get(sym).clone();
        let copy = self.prover.symbols.fresh(format!("{}'", symbol.name), Level::Thread);
        let mentioned: BTreeSet<Sym> =
            key.1.iter().flat_map(|(_, value)| value.symbols()).collect();
        let bound: BTreeSet<Sym> = mentioned.iter().flat_map(|one| self.bound_in(*one)).collect();
        if !bound.is_empty() {
            self.implicit.insert(copy, bound);
        }
        if self.sides.iter().any(|side| side.tests.iter().any(|test| test.sym == sym)) {
            self.tests.insert(copy, (sym, instance.clone()));
        }
        self.copies.symbols.insert(key, copy);
        self.copies.origins.insert(copy, (sym, instance.clone()));
        if let Some(operation @ (Operation::Min(..) | Operation::Max(..))) = operation {
            self.copies.extremes.insert(operation, copy);
        }
        let facts: Vec<Formula> =
            symbol.facts.iter().filter_map(|fact| self.formula(fact, instance)).collect();
        let low = symbol.low.as_ref().and_then(|low| self.poly(low, instance));
        let high = symbol.high.as_ref().and_then(|high| self.poly(high, instance));
        let element = symbol.element.as_ref().and_then(|(array, index)| {
            let index: Option<Vec<Poly>> =
                index.iter().map(|one| self.poly(one, instance)).collect();
            Some((*array, index?))
        });
        let version = symbol.version.and_then(|one| self.symbol(one, instance).as_symbol());
        // If the version was lost, so is the element: it would be that of another barrier interval.
        let element = element.filter(|_| version.is_some() == symbol.version.is_some());
        // `inside` is not copied: the sum in another thread may include elements that do not exist.
        let prefix = symbol.prefix.as_ref().and_then(|one| {
            let (high, size) = (self.poly(&one.high, instance)?, self.poly(&one.size, instance)?);
            Some(Prefix { high, size, inside: false, ..one.clone() })
        });
        let target = self.prover.symbols.get_mut(copy);
        (target.facts, target.low, target.high, target.element) = (facts, low, high, element);
        (target.version, target.prefix) = (version, prefix);
        target.is_quotient = symbol.is_quotient;
        Poly::symbol(copy)
    }

    /// Returns the operation that defines a symbol, with the operands of an instance.
    fn operation(&mut self, sym: Sym, instance: &Instance) -> Option<Operation> {
        let operation = self.definitions.get(&sym)?.clone();
        let mut instantiate = |poly: &Poly| self.poly(poly, instance);
        Some(match operation {
            Operation::Div(a, b) => Operation::Div(instantiate(&a)?, instantiate(&b)?),
            Operation::Floor(a, b) => Operation::Floor(instantiate(&a)?, b),
            Operation::Min(a, b) => Operation::Min(instantiate(&a)?, instantiate(&b)?),
            Operation::Max(a, b) => Operation::Max(instantiate(&a)?, instantiate(&b)?),
            Operation::Opaque(..)
            | Operation::Truth(_)
            | Operation::Combine(..)
            | Operation::Prefix(..) => return None,
        })
    }

    /// Evaluates an operation if it has a simpler form than its symbol. Truncating division rounds down if its
    /// dividend is proved not to be negative for every thread.
    fn simplified(&mut self, operation: &Operation) -> Option<Poly> {
        let mut holds = |poly: Poly| self.prover.proves_quickly(&[], &Formula::ge(poly));
        match operation {
            Operation::Div(a, b) if holds(a.clone()) => self.quotient(a, b, &[]),
            Operation::Floor(a, b) => self.quotient(a, &Poly::constant(*b), &[]),
            Operation::Min(a, b) | Operation::Max(a, b) => {
                if let Some(sym) = self.copies.extremes.get(operation) {
                    return Some(Poly::symbol(*sym));
                }
                let (more, less) = (a.minus(b)?, b.minus(a)?);
                let least = matches!(operation, Operation::Min(..));
                match (holds(more), holds(less)) {
                    (true, _) => Some(if least { b } else { a }.clone()),
                    (_, true) => Some(if least { a } else { b }.clone()),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Substitutes variables of sums in a polynomial, including implicit occurrences. `None` if an occurrence cannot
    /// be substituted.
    pub(super) fn substitute_bound(
        &mut self,
        poly: &Poly,
        values: &BTreeMap<Sym, Poly>,
    ) -> Option<Poly> {
        let mut result = poly.clone();
        let mut names: Vec<(Sym, Poly)> = Vec::new();
        for sym in poly.symbols() {
            let value = self.substitute_bound_symbol(sym, values)?;
            if value.as_symbol() != Some(sym) {
                let name = self.spare(names.len());
                names.push((name, value));
                result = result.substituted(sym, &Poly::symbol(name))?;
            }
        }
        for (name, value) in names {
            result = result.substituted(name, &value)?;
        }
        Some(result)
    }

    fn substitute_bound_symbol(&mut self, sym: Sym, values: &BTreeMap<Sym, Poly>) -> Option<Poly> {
        if let Some(value) = values.get(&sym) {
            return Some(value.clone());
        }
        if self.bound_in(sym).iter().all(|one| !values.contains_key(one)) {
            return Some(Poly::symbol(sym));
        }
        if let Some((dividend, divisor)) = self.quotients.get(&sym).cloned() {
            let (dividend, divisor) = (
                self.substitute_bound(&dividend, values)?,
                self.substitute_bound(&divisor, values)?,
            );
            return self.quotient(&dividend, &divisor, &[]);
        }
        if let Some((dividend, divisor)) = self.conditional_quotients.get(&sym).cloned() {
            let (dividend, divisor) = (
                self.substitute_bound(&dividend, values)?,
                self.substitute_bound(&divisor, values)?,
            );
            let value = self.quotient(&dividend, &divisor, &[]);
            return value.or_else(|| self.named_quotient(&dividend, &divisor, false));
        }
        let (origin, instance) = self.copies.origins.get(&sym).cloned()?;
        let mut substituted = Instance::default();
        for (digit, value) in &instance.digits {
            substituted.digits.insert(*digit, self.substitute_bound(value, values)?);
        }
        Some(self.symbol(origin, &substituted))
    }

    /// Substitutes the variable of a sum in a value.
    pub(super) fn at_digit(&mut self, value: &Value, digit: Sym, at: &Poly) -> Option<Value> {
        let values = BTreeMap::from([(digit, at.clone())]);
        value.mapped(&mut |poly| self.substitute_bound(poly, &values))
    }

    /// Substitutes variables of sums in a condition.
    pub(super) fn substitute_bound_formula(
        &mut self,
        formula: &Formula,
        values: &BTreeMap<Sym, Poly>,
    ) -> Option<Formula> {
        formula.mapped(&mut |poly| self.substitute_bound(poly, values))
    }

    /// Returns the variables of sums that a symbol is, or depends on.
    pub(super) fn bound_in(&self, sym: Sym) -> BTreeSet<Sym> {
        match self.implicit.get(&sym) {
            Some(bound) => bound.clone(),
            None if self.bound.contains(&sym) => BTreeSet::from([sym]),
            None => BTreeSet::new(),
        }
    }

    /// Returns `true` if a condition depends on a variable of a sum.
    pub(super) fn is_bound(&self, formula: &Formula) -> bool {
        formula.symbols().into_iter().any(|sym| !self.bound_in(sym).is_empty())
    }

    /// Returns an arbitrary existing thread and iteration.
    pub(super) fn arbitrary_instance(&mut self, digits: &[Sym], fixed: &Instance) -> Instance {
        self.new_instance(digits, fixed, None).0
    }

    /// Like `arbitrary_instance`, but records which symbols depend on its digits, and also returns the unknown for
    /// each digit. A digit with a mirror `high` is counted downwards: its unknown is `high − d`.
    pub(super) fn tracked_instance(
        &mut self,
        digits: &[Sym],
        fixed: &Instance,
        mirrors: &BTreeMap<Sym, Poly>,
    ) -> (Instance, BTreeMap<Sym, Sym>) {
        self.new_instance(digits, fixed, Some(mirrors))
    }

    fn new_instance(
        &mut self,
        digits: &[Sym],
        fixed: &Instance,
        tracked: Option<&BTreeMap<Sym, Poly>>,
    ) -> (Instance, BTreeMap<Sym, Sym>) {
        let (mut instance, mut copies) = (fixed.clone(), BTreeMap::new());
        let mut fresh = Vec::new();
        for digit in digits {
            let symbol = self.prover.symbols.get(*digit).clone();
            let copy = self.prover.symbols.fresh(format!("{}?", symbol.name), symbol.level);
            let copy_value = Poly::symbol(copy);
            let mirrored = tracked.and_then(|mirrors| mirrors.get(digit)?.minus(&copy_value));
            instance.digits.insert(*digit, mirrored.unwrap_or(copy_value));
            if tracked.is_some() {
                self.bound.insert(copy);
            }
            copies.insert(*digit, copy);
            fresh.push((copy, symbol));
        }
        for (copy, symbol) in fresh {
            let facts: Vec<Formula> =
                symbol.facts.iter().filter_map(|fact| self.formula(fact, &instance)).collect();
            let low = symbol.low.as_ref().and_then(|low| self.poly(low, &instance));
            let high = symbol.high.as_ref().and_then(|high| self.poly(high, &instance));
            let target = self.prover.symbols.get_mut(copy);
            (target.facts, target.low, target.high) = (facts, low, high);
        }
        (instance, copies)
    }
}
