//! Selected values: `c ? a : b`, and variables where two paths join.
//!
//! A minimum or maximum that is written with a comparison becomes one; a choice between constants by a bit becomes a
//! polynomial. Any other selected integer is a new symbol with a fact for each side. Facts must be true; one that is
//! missing only leaves claims open.

use super::Engine;
use super::state::{Operation, SymbolicValue};
use arith::formula::Formula;
use arith::poly::Poly;
use arith::symbols::Level;
use kir::Type;

impl Engine<'_> {
    /// `x == c ? a : b` as the polynomial `a + (b − a)·(x − c)`, for constants `a` and `b`, if `x` is one of two
    /// neighbours in every launch: the number of one of two buffers.
    fn select_by_bit(
        &mut self,
        condition: &Formula,
        then: &Poly,
        otherwise: &Poly,
    ) -> Option<Poly> {
        let (first, second) = match condition {
            Formula::Not(_) => (otherwise, then),
            _ => (then, otherwise),
        };
        let zero = match condition {
            Formula::Eq(poly) => poly,
            Formula::Not(inner) => match &**inner {
                Formula::Eq(poly) => poly,
                _ => return None,
            },
            _ => return None,
        };
        let step = second.minus(first)?.as_constant()?;
        first.as_constant()?;
        [1, -1].into_iter().find_map(|sign| {
            let bit = zero.scaled(sign)?;
            let below = bit.scaled(-1)?.offset(1)?;
            let is_bit = self.prover.proves_quickly(&[], &Formula::ge(bit.clone()))
                && self.prover.proves_quickly(&[], &Formula::ge(below));
            if is_bit { first.plus(&bit.scaled(step)?) } else { None }
        })
    }

    /// Selects one of two values, by conditions that exclude each other.
    pub(super) fn select(
        &mut self,
        name: &str,
        [one, other]: [(&Formula, SymbolicValue); 2],
    ) -> SymbolicValue {
        match (&one.1, &other.1) {
            (first, second) if first == second => one.1,
            // A decided condition.
            _ if *one.0 == Formula::False => other.1,
            _ if *other.0 == Formula::False => one.1,
            (SymbolicValue::Int(first), SymbolicValue::Int(second)) => {
                if let Some(value) = self.select_by_bit(one.0, first, second) {
                    return SymbolicValue::Int(value);
                }
                if let Some(extreme) = as_extreme(one.0, first, second) {
                    return SymbolicValue::Int(self.operation(extreme, Type::Whole));
                }
                let symbols = &mut self.prover.symbols;
                let levels = [symbols.level(first), symbols.level(second)];
                let conditions = [symbols.formula_level(one.0), symbols.formula_level(other.0)];
                let level = levels.into_iter().chain(conditions).max().unwrap_or(Level::Thread);
                let sym = symbols.fresh(name, level);
                let own = Poly::symbol(sym);
                let differences = [own.minus(first), own.minus(second)];
                if let [Some(to_first), Some(to_second)] = differences {
                    let sides = [(one.0, to_first), (other.0, to_second)];
                    symbols.get_mut(sym).facts.extend(selected(sides));
                }
                SymbolicValue::Int(own)
            }
            (SymbolicValue::Bool(first), SymbolicValue::Bool(second)) => {
                SymbolicValue::Bool(Formula::or([
                    Formula::and([one.0.clone(), first.clone()]),
                    Formula::and([other.0.clone(), second.clone()]),
                ]))
            }
            (first, second) => {
                let conditions = [
                    self.prover.symbols.formula_level(one.0),
                    self.prover.symbols.formula_level(other.0),
                ];
                let values = [self.level(first), self.level(second)];
                let level = conditions.into_iter().chain(values).max();
                self.untracked(level.unwrap_or(Level::Thread))
            }
        }
    }
}

/// `a < b ? a : b` as a minimum, `a > b ? a : b` as a maximum.
fn as_extreme(condition: &Formula, then: &Poly, otherwise: &Poly) -> Option<Operation> {
    let Formula::Ge(difference) = condition else { return None };
    let is = |one: Poly| one == *difference || one.offset(-1).as_ref() == Some(difference);
    let (a, b) = (then.clone(), otherwise.clone());
    match () {
        () if is(b.minus(&a)?) => Some(Operation::Min(a, b)),
        () if is(a.minus(&b)?) => Some(Operation::Max(a, b)),
        () => None,
    }
}

/// The facts about a selected number, given as differences that are 0: by a single comparison they are one choice, so
/// that a proof by cases knows in each case the comparison and the number.
fn selected(sides: [(&Formula, Poly); 2]) -> Vec<Formula> {
    let is_comparison = |one: &Formula| match one {
        Formula::Ge(_) | Formula::Eq(_) => true,
        Formula::Not(inner) => matches!(**inner, Formula::Eq(_)),
        _ => false,
    };
    let [(one, first), (other, second)] = sides;
    if is_comparison(one) && *other == one.clone().not() {
        return vec![Formula::or([
            Formula::and([one.clone(), Formula::eq(first)]),
            Formula::and([other.clone(), Formula::eq(second)]),
        ])];
    }
    [(one, first), (other, second)]
        .map(|(condition, difference)| condition.clone().implies(Formula::eq(difference)))
        .to_vec()
}
