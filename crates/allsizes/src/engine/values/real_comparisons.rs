//! Relates comparisons of real numbers: those of the kernel with those of a claim.
//!
//! To the engine a comparison of reals is an opaque symbol, true or false. Here it also has the two compared values.
//! If the differences of two comparisons are proved to be equal, or opposite, both test the sign of one number, and
//! one may decide the other: over real numbers `a > b` excludes `a <= b`. NaN is ignored, as everywhere here.

use super::instance::Instance;
use super::kernel_summary::Test;
use super::resolve::Resolver;
use super::value::{Atom, Piece, Value};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use kir::Compare;
use std::collections::{BTreeMap, BTreeSet};

/// The signs of the difference for which a comparison holds: negative, zero, positive.
fn signs(compare: Compare) -> [bool; 3] {
    match compare {
        Compare::Lt => [true, false, false],
        Compare::Le => [true, true, false],
        Compare::Eq => [false, true, false],
        Compare::Ne => [true, false, true],
        Compare::Ge => [false, true, true],
        Compare::Gt => [false, false, true],
    }
}

impl Resolver {
    /// Derives facts about the claim's comparisons from the kernel's comparisons in a condition, which holds in the
    /// current case.
    pub(super) fn facts_from_tests(
        &mut self,
        condition: &Formula,
        known: &[Formula],
    ) -> Vec<Formula> {
        let mut facts = Vec::new();
        for sym in condition.symbols() {
            let Some((test, instance, side)) = self.test_of(sym) else { continue };
            let Some(own) = self.compared_difference(&test, &instance, side, known) else {
                continue;
            };
            for (other, compare, value) in self.claim_tests.clone() {
                let same = self.equal(&own, &value, known);
                let opposite = !same
                    && value
                        .times(&Value::constant(-1))
                        .is_some_and(|negative| self.equal(&own, &negative, known));
                if same || opposite {
                    let mut there = signs(compare);
                    if opposite {
                        there.reverse();
                    }
                    facts.extend(sign_facts([(sym, signs(test.compare)), (other, there)]));
                }
            }
        }
        facts
    }

    /// Replaces maxima and minima of two values by one of the values, where a comparison of the claim says which is
    /// greater. `None` if nothing is replaced.
    pub(super) fn with_decided_extremes(
        &mut self,
        value: &Value,
        known: &[Formula],
    ) -> Option<Value> {
        let (mut result, mut is_decided) = (Value::default(), false);
        for (product, ratio) in &value.terms {
            let mut one = Value { terms: BTreeMap::from([(Vec::new(), *ratio)]) };
            for (atom, power) in product {
                let decided = self.decided_extreme(atom, known);
                is_decided |= decided.is_some();
                let factor = decided.unwrap_or_else(|| Value::atom(atom.clone()));
                for _ in 0..*power {
                    one = one.times(&factor)?;
                }
            }
            result = result.plus(&one)?;
        }
        is_decided.then_some(result)
    }

    fn decided_extreme(&mut self, atom: &Atom, known: &[Formula]) -> Option<Value> {
        let (name, [first, second]) = match atom {
            Atom::Call(name, arguments) => {
                let [first, second] = &arguments[..] else { return None };
                (name, [first, second])
            }
            // Machine integers are compared in their type.
            Atom::Fold(fold) if fold.op.compares.is_none() => {
                let [Piece::One(first), Piece::One(second)] = &fold.pieces[..] else { return None };
                (&fold.op.name, [first, second])
            }
            _ => return None,
        };
        let is_maximum = match name.as_str() {
            "max" => true,
            "min" => false,
            _ => return None,
        };
        let difference = first.minus(second)?;
        for (sym, compare, asked) in self.claim_tests.clone() {
            let holds = Formula::holds(sym);
            let truth = match () {
                () if self.prover.proves_without_sizes(known, &holds) => true,
                () if self.prover.proves_without_sizes(known, &holds.not()) => false,
                () => continue,
            };
            let mut possible = signs(compare).map(|one| one == truth);
            let negative = asked.times(&Value::constant(-1))?;
            if difference.minus(&negative).is_some_and(|one| one.is_zero()) {
                possible.reverse();
            } else if !difference.minus(&asked).is_some_and(|one| one.is_zero()) {
                continue;
            }
            match possible {
                [false, _, _] => return Some(if is_maximum { first } else { second }.clone()),
                [_, _, false] => return Some(if is_maximum { second } else { first }.clone()),
                _ => {}
            }
        }
        None
    }

    /// Returns the facts that two copies of a comparison have the same truth if they are of the same thread and
    /// iteration.
    pub(super) fn same_tests(&self, formulas: &[Formula]) -> Vec<Formula> {
        let symbols: BTreeSet<Sym> = formulas.iter().flat_map(Formula::symbols).collect();
        let copies = symbols.iter().filter_map(|sym| Some((*sym, self.tests.get(sym)?)));
        let copies: Vec<(Sym, &(Sym, Instance))> = copies.collect();
        let mut facts = Vec::new();
        for (position, (one, (own, here))) in copies.iter().enumerate() {
            for (two, (other, there)) in &copies[position + 1..] {
                let alike = here.digits.keys().eq(there.digits.keys());
                let digits = here.digits.iter().filter(|_| own == other && alike);
                let same = digits.map(|(digit, value)| {
                    Some(Formula::eq(value.minus(there.digits.get(digit)?)?))
                });
                let Some(same) = same.collect::<Option<Vec<_>>>().filter(|_| own == other && alike)
                else {
                    continue;
                };
                let equal = Poly::symbol(*one).minus(&Poly::symbol(*two)).map(Formula::eq);
                facts.extend(equal.map(|equal| Formula::and(same).implies(equal)));
            }
        }
        facts
    }

    /// Returns the comparison behind a symbol, and its instance.
    fn test_of(&self, sym: Sym) -> Option<(Test, Instance, usize)> {
        let (own, instance) = match self.tests.get(&sym) {
            Some((own, instance)) => (*own, instance.clone()),
            None => (sym, Instance::default()),
        };
        self.sides.iter().enumerate().find_map(|(side, one)| {
            let test = one.tests.iter().find(|test| test.sym == own)?;
            Some((test.clone(), instance.clone(), side))
        })
    }

    /// Returns the difference of the compared values, if known.
    pub(super) fn compared_difference(
        &mut self,
        test: &Test,
        instance: &Instance,
        side: usize,
        known: &[Formula],
    ) -> Option<Value> {
        let mut values = Vec::new();
        for one in [&test.left, &test.right] {
            let value = self.instantiate(one, instance, side, known, 0).ok()?;
            values.push(self.canonical(&value, 0)?);
        }
        let numbers = values.iter().all(|one| self.is_number(one, known));
        numbers.then(|| values[0].minus(&values[1])).flatten()
    }
}

/// Derives facts about one comparison from another, where both test the sign of one number.
fn sign_facts([(one, here), (other, there)]: [(Sym, [bool; 3]); 2]) -> Vec<Formula> {
    let mut facts = Vec::new();
    for holds in [true, false] {
        let possible =
            |wanted: bool| here.iter().zip(&there).any(|(a, b)| *a == holds && *b == wanted);
        let first = Formula::holds(one);
        let first = if holds { first } else { first.not() };
        match (possible(true), possible(false)) {
            (true, false) => facts.push(first.implies(Formula::holds(other))),
            (false, true) => facts.push(first.implies(Formula::holds(other).not())),
            _ => {}
        }
    }
    facts
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Every derived fact about two comparisons of one number holds for all of its signs.
    #[test]
    fn facts_hold_for_all_signs() {
        let all = [Compare::Lt, Compare::Le, Compare::Eq, Compare::Ne, Compare::Ge, Compare::Gt];
        let [one, other] = [0, 1].map(base::Index::from_position);
        for first in all {
            for second in all {
                let facts = sign_facts([(one, signs(first)), (other, signs(second))]);
                for sign in 0..3 {
                    let truth = [signs(first)[sign], signs(second)[sign]];
                    for fact in &facts {
                        let mapped = fact.mapped(&mut |poly| {
                            let with = |poly: &Poly, sym, value: bool| {
                                let value = Poly::constant(i128::from(value));
                                poly.substituted(sym, &value)
                            };
                            with(&with(poly, one, truth[0])?, other, truth[1])
                        });
                        assert_eq!(mapped, Some(Formula::True), "{first:?} {second:?} {sign}");
                    }
                }
            }
        }
    }
}
