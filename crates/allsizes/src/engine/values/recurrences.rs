//! Recurrences of floating-point variables that a loop changes, and their closed forms: sums, maxima and minima, and
//! rescaled sums. Any other change has no closed form, and the claim stays open.
//!
//! A variable is a sum if each iteration adds a value that does not depend on the loop's variables. It is a maximum
//! if each iteration takes the maximum with such a value. If `l·e^m` is such a sum, for any other variable `m`, then
//! `l = e^(−m)·Σ`. An online softmax does this: its sums stay small while the subtracted maximum grows.

use super::collect_stores::Track;
use super::extremes::{extreme, of_piece, pieces_of};
use super::finiteness::Finiteness;
use super::value::{Atom, Fold, Piece, Sum, Value};
use crate::clause::Monoid;
use arith::poly::{Poly, Sym};
use base::Index;
use kir::VarId;

/// The change of a variable in a loop; `digit` counts iterations in `body`.
#[derive(Clone, Debug)]
pub(super) enum Recurrence {
    /// Each iteration adds `body`.
    Sum { digit: Sym, body: Value },
    /// Each iteration takes the maximum, or minimum, with these.
    Extreme { name: String, digit: Sym, bodies: Vec<Value> },
    /// Its product with `exp` of another variable grows by `body`.
    Scaled { by: VarId, name: &'static str, digit: Sym, body: Value },
    /// Any other change.
    Other,
}

/// Returns the recurrences of variables, from their values at the end of an iteration. The iteration begins with an
/// atom ([`Atom::Carried`]) for each variable; `carried` has the atoms' numbers. Variables that scale others come
/// first.
pub(super) fn recurrences_of(
    changed: &[VarId],
    (carried, finiteness): (&[u32], &[Finiteness]),
    end: Option<&Track>,
    digit: Sym,
) -> Vec<(VarId, Recurrence)> {
    let ends: Vec<(VarId, Value, Option<&Value>)> = changed
        .iter()
        .zip(carried.iter().zip(finiteness))
        .map(|(var, (number, finiteness))| {
            let carried_value = Value::atom(Atom::Carried(*number, *finiteness));
            (*var, carried_value, end.map(|end| &end.reals[var.position()]))
        })
        .collect();
    let mut found: Vec<(VarId, Recurrence)> = Vec::new();
    for (var, own, end) in &ends {
        let recurrence = end.and_then(|end| {
            as_sum(own, end, carried, digit).or_else(|| as_extreme(own, end, carried, digit))
        });
        let recurrence = recurrence.or_else(|| {
            let others = ends.iter().filter(|(other, ..)| other != var);
            let mut others = others.filter_map(|(other, at, end)| Some((*other, at, (*end)?)));
            others.find_map(|other| scaled((own, (*end)?), other, carried, digit))
        });
        found.push((*var, recurrence.unwrap_or(Recurrence::Other)));
    }
    // A variable that scales others must be solved before them, so it cannot itself be scaled.
    let scaled = |recurrence: &Recurrence| matches!(recurrence, Recurrence::Scaled { .. });
    let late: Vec<VarId> =
        found.iter().filter(|(_, recurrence)| scaled(recurrence)).map(|(var, _)| *var).collect();
    for (_, recurrence) in &mut found {
        if matches!(recurrence, Recurrence::Scaled { by, .. } if late.contains(by)) {
            *recurrence = Recurrence::Other;
        }
    }
    found.sort_by_key(|(_, recurrence)| scaled(recurrence));
    found
}

fn as_sum(carried_value: &Value, end: &Value, carried: &[u32], digit: Sym) -> Option<Recurrence> {
    let body = end.minus(carried_value).filter(|added| is_summand(added, carried))?;
    Some(Recurrence::Sum { digit, body })
}

fn as_extreme(
    carried_value: &Value,
    end: &Value,
    carried: &[u32],
    digit: Sym,
) -> Option<Recurrence> {
    ["max", "min"].into_iter().find_map(|name| {
        let mut pieces = pieces_of(name, end);
        let is_own = |piece: &Piece| matches!(piece, Piece::One(value) if value == carried_value);
        let at = pieces.iter().position(is_own)?;
        pieces.remove(at);
        let bodies: Vec<Value> = pieces.into_iter().map(|piece| of_piece(name, piece)).collect();
        let plain = bodies.iter().all(|body| is_summand(body, carried));
        (plain && !bodies.is_empty()).then(|| Recurrence::Extreme {
            name: name.to_owned(),
            digit,
            bodies,
        })
    })
}

fn scaled(
    (own, end): (&Value, &Value),
    (by, at, after): (VarId, &Value, &Value),
    carried: &[u32],
    digit: Sym,
) -> Option<Recurrence> {
    ["exp", "exp2"].into_iter().find_map(|name| {
        let before = own.times(&exponential(name, at.clone()))?;
        let now = end.times(&exponential(name, after.clone()))?;
        let body = now.minus(&before).filter(|added| is_summand(added, carried))?;
        Some(Recurrence::Scaled { by, name, digit, body })
    })
}

fn exponential(name: &str, argument: Value) -> Value {
    Value::atom(Atom::Call(name.to_owned(), vec![argument]))
}

/// Returns `true` if a value can be summed over iterations: it does not depend on variables that the loop changes.
fn is_summand(value: &Value, carried: &[u32]) -> bool {
    let mut plain = true;
    value.visit(&mut |atom| {
        plain &= !matches!(atom, Atom::Carried(number, _) if carried.contains(number));
    });
    plain
}

impl Recurrence {
    /// Returns `true` if [`Recurrence::value`] holds for the variables scaled by this one, provided it starts with
    /// `first`. Its exponential must be finite before and after each iteration. A maximum may start with −∞.
    pub(super) fn can_scale(&self, first: &Value) -> bool {
        match (self, first.finiteness()) {
            (_, Finiteness::Finite) => true,
            (Self::Extreme { name, .. }, Finiteness::OrMinusInfinity) => name == "max",
            _ => false,
        }
    }

    /// Returns the value of a variable after `count` iterations, which is not 0 if `at_least_one`. Variables that scale
    /// it have their values in `track`.
    pub(super) fn value(
        &self,
        var: VarId,
        entry: &Track,
        (count, at_least_one): (&Poly, bool),
        track: &Track,
    ) -> Option<Value> {
        let first = &entry.reals[var.position()];
        let run = |digit: Sym, body: &Value| Sum { digit, high: count.clone(), body: body.clone() };
        let sum = |digit: Sym, body: &Value| match body.is_zero() {
            true => Value::default(),
            false => Value::atom(Atom::Sum(Box::new(run(digit, body)))),
        };
        match self {
            Self::Sum { digit, body } => first.plus(&sum(*digit, body)),
            Self::Extreme { name, digit, bodies } => {
                let pieces = bodies.iter().map(|body| Piece::Run(run(*digit, body))).collect();
                let fold = Fold { op: Monoid::named(name), unit: None, pieces };
                let all = Value::atom(Atom::Fold(Box::new(fold)));
                let both = vec![first.clone(), all];
                // Without iterations it keeps its first value, which may not be a number.
                match at_least_one || first.is_finite() {
                    true => Some(extreme(name, both)),
                    false => Some(Value::atom(Atom::Call(name.clone(), both))),
                }
            }
            Self::Scaled { by, name, digit, body } => {
                let before = &entry.reals[by.position()];
                let started = first.times(&exponential(name, before.clone()))?;
                let now = track.reals[by.position()].times(&Value::constant(-1))?;
                started.plus(&sum(*digit, body))?.times(&exponential(name, now))
            }
            Self::Other => None,
        }
    }
}
