//! Decides whether two values are equal under known facts.
//!
//! Their difference is brought to normal form. Then atoms that are proved to be equal (elements at equal indices, sums
//! with equal bounds and bodies, functions of equal values) are replaced by each other, until the difference is zero
//! or nothing changes. Finally the multiplicities of sums are compared (`multiplicity.rs`).

use super::extremes::pieces_of;
use super::resolve::{Resolver, differences, range};
use super::value::{Atom, Entry, Fold, Piece, Sum, Value};
use crate::clause::Monoid;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;
use std::collections::BTreeMap;

impl Resolver {
    /// Renames variables of sums by their nesting depth (de Bruijn levels), so that equal sums have equal names.
    pub(super) fn canonical(&mut self, value: &Value, depth: usize) -> Option<Value> {
        let mut result = Value::default();
        for (product, ratio) in &value.terms {
            let mut one = Value { terms: BTreeMap::from([(Vec::new(), *ratio)]) };
            for (atom, power) in product {
                let atom = match atom {
                    Atom::Sum(sum) => Atom::Sum(Box::new(self.canonical_sum(sum, depth)?)),
                    Atom::Fold(fold) => Atom::Fold(Box::new(self.canonical_fold(fold, depth)?)),
                    Atom::Call(name, arguments) => {
                        let mut values = Vec::new();
                        for argument in arguments {
                            values.push(self.canonical(argument, depth)?);
                        }
                        Atom::Call(name.clone(), values)
                    }
                    other => other.clone(),
                };
                for _ in 0..*power {
                    one = one.times(&Value::atom(atom.clone()))?;
                }
            }
            result = result.plus(&one)?;
        }
        Some(result)
    }

    pub(super) fn canonical_sum(&mut self, sum: &Sum, depth: usize) -> Option<Sum> {
        let digit = self.bound_name(depth);
        let body = self.at_digit(&sum.body, sum.digit, &Poly::symbol(digit))?;
        let body = self.canonical(&body, depth + 1)?;
        Some(Sum { digit, high: sum.high.clone(), body })
    }

    pub(super) fn bound_name(&mut self, depth: usize) -> Sym {
        while self.bound_names.len() <= depth {
            let name =
                self.prover.symbols.fresh(format!("k{}", self.bound_names.len()), Level::Thread);
            self.bound.insert(name);
            self.bound_names.push(name);
        }
        self.bound_names[depth]
    }

    /// Returns `true` if two values in canonical form are proved to be equal.
    pub(super) fn equal(&mut self, one: &Value, other: &Value, known: &[Formula]) -> bool {
        let Some(difference) = one.minus(other) else { return false };
        self.rewritten_to_zero(&difference, known)
            || self.cancels(&difference, known)
            || self
                .with_decided_extremes(&difference, known)
                .is_some_and(|decided| self.rewritten_to_zero(&decided, known))
    }

    /// Returns `true` if a value becomes 0 when atoms that are proved to be equal replace each other.
    fn rewritten_to_zero(&mut self, value: &Value, known: &[Formula]) -> bool {
        let mut rest = value.clone();
        loop {
            if rest.is_zero() {
                return true;
            }
            if let Some(next) = self.without_empty_folds(&rest, known) {
                rest = next;
                continue;
            }
            let mut atoms: Vec<Atom> =
                rest.terms.keys().flatten().map(|(atom, _)| atom.clone()).collect();
            atoms.sort();
            atoms.dedup();
            let next = match self.equal_pair(&atoms, known) {
                Some((from, to)) => replaced(&rest, &from, &to),
                None => self.with_joined_sums(&rest, known),
            };
            let Some(next) = next else { return false };
            rest = next;
        }
    }

    /// Replaces empty folds by their units.
    fn without_empty_folds(&mut self, value: &Value, known: &[Formula]) -> Option<Value> {
        for (product, ratio) in &value.terms {
            let [(Atom::Fold(fold), 1)] = &product[..] else { continue };
            let Some(unit) = fold.unit else { continue };
            if self.merge_pieces(fold, known)?.pieces.is_empty() {
                let mut rest = value.clone();
                rest.terms.remove(product);
                let factor = Value { terms: BTreeMap::from([(Vec::new(), *ratio)]) };
                return rest.plus(&Value::constant(unit).times(&factor)?);
            }
        }
        None
    }

    fn equal_pair(&mut self, atoms: &[Atom], known: &[Formula]) -> Option<(Atom, Atom)> {
        for (position, one) in atoms.iter().enumerate() {
            for other in &atoms[position + 1..] {
                if self.equal_atoms(one, other, known) {
                    return Some((other.clone(), one.clone()));
                }
            }
        }
        None
    }

    /// Returns `true` if two atoms are proved to be equal: of the same kind, with equal indices, bounds or arguments.
    fn equal_atoms(&mut self, one: &Atom, other: &Atom, known: &[Formula]) -> bool {
        match (one, other) {
            (Atom::Input(array, index), Atom::Input(second, at)) if array == second => {
                differences(index, at).is_some_and(|differences| {
                    differences.into_iter().all(|one| self.proves(known, &Formula::eq(one)))
                })
            }
            (Atom::Entry(one), Atom::Entry(other)) => {
                let places = |entry: &Entry| -> Vec<Poly> {
                    let around = entry.around.iter().map(|(_, value)| value);
                    entry.index.iter().chain(around).cloned().collect()
                };
                (one.side, &one.point, one.array) == (other.side, &other.point, other.array)
                    && differences(&places(one), &places(other)).is_some_and(|all| {
                        all.into_iter().all(|one| self.proves(known, &Formula::eq(one)))
                    })
            }
            (Atom::Int(one), Atom::Int(other)) => {
                let difference = Poly::symbol(*one).minus(&Poly::symbol(*other));
                difference.is_some_and(|one| self.proves(known, &Formula::eq(one)))
            }
            (Atom::Truth(one), Atom::Truth(other)) => {
                let there = one.clone().implies(other.clone());
                let back = other.clone().implies(one.clone());
                self.proves(known, &there) && self.proves(known, &back)
            }
            (Atom::Call(name, first), Atom::Call(second, others)) => {
                name == second
                    && first.len() == others.len()
                    && first.iter().zip(others).all(|(a, b)| self.equal(a, b, known))
                    || self.same_extremes(one, other, known)
            }
            (Atom::Call(..), Atom::Fold(_)) | (Atom::Fold(_), Atom::Call(..))
                if self.same_extremes(one, other, known) =>
            {
                true
            }
            (Atom::Sum(one), Atom::Sum(other)) => {
                if one.digit != other.digit {
                    return false;
                }
                let lengths = one.high.minus(&other.high);
                if !lengths.is_some_and(|lengths| self.proves(known, &Formula::eq(lengths))) {
                    return false;
                }
                let Some(inside) = range(one.digit, &one.high) else { return false };
                let known: Vec<Formula> = known.iter().cloned().chain(inside).collect();
                self.equal(&one.body, &other.body, &known)
            }
            (Atom::Fold(one), Atom::Fold(other)) => self.equal_folds(one, other, known),
            // The fold may have only one value: compare the other atom as a fold of one value.
            (Atom::Fold(fold), other) | (other, Atom::Fold(fold)) => {
                let pieces = vec![Piece::One(Value::atom(other.clone()))];
                let single = Fold { op: fold.op.clone(), unit: fold.unit, pieces };
                self.equal_folds(fold, &single, known)
            }
            _ => false,
        }
    }
}

impl Resolver {
    /// Returns `true` if two calls or folds are the minimum, or the maximum, of the same values, for any
    /// nesting.
    fn same_extremes(&mut self, one: &Atom, other: &Atom, known: &[Formula]) -> bool {
        ["max", "min"].into_iter().any(|name| {
            let [one, other] = [one, other].map(|atom| pieces_of(name, &Value::atom(atom.clone())));
            let plain = |pieces: &[Piece]| matches!(pieces, [Piece::One(_)]);
            if plain(&one) || plain(&other) {
                return false;
            }
            let [one, other] =
                [one, other].map(|pieces| Fold { op: Monoid::named(name), unit: None, pieces });
            self.have_same_elements(&one, &other, known)
        })
    }
}

fn replaced(value: &Value, from: &Atom, to: &Atom) -> Option<Value> {
    let mut result = Value::default();
    for (product, ratio) in &value.terms {
        let mut one = Value { terms: BTreeMap::from([(Vec::new(), *ratio)]) };
        for (atom, power) in product {
            let atom = if atom == from { to } else { atom };
            for _ in 0..*power {
                one = one.times(&Value::atom(atom.clone()))?;
            }
        }
        result = result.plus(&one)?;
    }
    Some(result)
}
