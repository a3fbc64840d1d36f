//! Maxima and minima as data: folds of `max` and `min`, calls of both, and values taken under a condition.
//!
//! `max_if(c, x)` is `x` if `c` holds and −∞ otherwise. So `if (c) m = max(m, x)` turns `m` into `max(m, max_if(c,
//! x))`, and the loop around it is a fold like any other. It occurs only among operands of a maximum; `min_if` with
//! +∞ likewise. No other operation takes either.

use super::finiteness::Finiteness;
use super::value::{Atom, Fold, Piece, Ratio, Sum, Value};
use crate::clause::Monoid;
use arith::formula::Formula;

/// Operations, and the names of their conditional operands.
const EXTREMES: [(&str, &str); 2] = [("max", "max_if"), ("min", "min_if")];

/// Returns the infinity that `max_if` or `min_if` may be; `None` for other calls.
pub(super) fn conditional_finiteness(name: &str) -> Option<Finiteness> {
    match name {
        "max_if" => Some(Finiteness::OrMinusInfinity),
        "min_if" => Some(Finiteness::OrPlusInfinity),
        _ => None,
    }
}

/// A select of two values, as a maximum or minimum if one of them is the other with more operands.
pub(super) fn select(condition: &Formula, [then, otherwise]: [&Value; 2]) -> Option<Value> {
    with_more(condition, then, otherwise)
        .or_else(|| with_more(&condition.clone().not(), otherwise, then))
        .or_else(|| Value::select(condition, then, otherwise))
}

/// `then` if the condition holds, else `base`, for a `then` that is the maximum or minimum of `base` and others.
fn with_more(condition: &Formula, then: &Value, base: &Value) -> Option<Value> {
    EXTREMES.into_iter().find_map(|(name, guarded)| {
        let mut more = pieces_of(name, then);
        for piece in pieces_of(name, base) {
            let at = more.iter().position(|one| *one == piece)?;
            more.remove(at);
        }
        if more.is_empty() {
            return None;
        }
        let truth = Value::atom(Atom::Truth(condition.clone()));
        let under =
            |value: Value| Value::atom(Atom::Call(guarded.to_owned(), vec![truth.clone(), value]));
        more.into_iter().try_fold(base.clone(), |all, piece| {
            let one = match piece {
                Piece::One(value) => under(value),
                Piece::Run(sum) => of_piece(name, Piece::Run(Sum { body: under(sum.body), ..sum })),
            };
            Some(of_two(name, all, one))
        })
    })
}

/// Converts an operand of a maximum or minimum to a value.
pub(super) fn of_piece(name: &str, piece: Piece) -> Value {
    match piece {
        Piece::One(value) => value,
        Piece::Run(_) => {
            let fold = Fold { op: Monoid::named(name), unit: None, pieces: vec![piece] };
            Value::atom(Atom::Fold(Box::new(fold)))
        }
    }
}

/// Returns the condition and the value of a conditional operand of this operation.
pub(super) fn condition_and_value<'v>(
    name: &str,
    value: &'v Value,
) -> Option<(&'v Formula, &'v Value)> {
    let (product, ratio) = value.terms.first_key_value().filter(|_| value.terms.len() == 1)?;
    let [(Atom::Call(own, arguments), 1)] = &product[..] else { return None };
    let is_own = |(one, guarded): &(&str, &str)| *one == name && own == guarded;
    let is_guarded = *ratio == Ratio::ONE && EXTREMES.iter().any(is_own);
    let [truth, value] = &arguments[..] else { return None };
    let (product, _) = truth.terms.first_key_value()?;
    match &product[..] {
        [(Atom::Truth(formula), 1)] if is_guarded => Some((formula, value)),
        _ => None,
    }
}

/// The maximum or minimum of two values, in canonical order; both commute.
pub(super) fn of_two(name: &str, one: Value, two: Value) -> Value {
    let (one, two) = if one <= two { (one, two) } else { (two, one) };
    Value::atom(Atom::Call(name.to_owned(), vec![one, two]))
}

/// Returns the value as a fold of the same operation, if it is one.
pub(super) fn as_fold<'v>(value: &'v Value, like: &Fold) -> Option<&'v Fold> {
    single_fold(value).filter(|fold| fold.op == like.op && fold.unit == like.unit)
}

/// Returns the value as a fold, if it is one.
pub(super) fn single_fold(value: &Value) -> Option<&Fold> {
    let (product, ratio) = value.terms.first_key_value()?;
    match &product[..] {
        [(Atom::Fold(fold), 1)] if *ratio == Ratio::ONE && value.terms.len() == 1 => Some(fold),
        _ => None,
    }
}

/// The maximum or minimum of values.
pub(super) fn extreme(name: &str, values: Vec<Value>) -> Value {
    let fold = Fold { op: Monoid::named(name), unit: None, pieces: Vec::new() };
    let mut pieces = Vec::new();
    for value in values {
        match as_fold(&value, &fold) {
            Some(inner) => pieces.extend(inner.pieces.iter().cloned()),
            None => pieces.push(Piece::One(value)),
        }
    }
    simplest_fold(&fold, pieces)
}

/// The operands of a maximum or minimum, through calls and folds of the same function.
pub(super) fn pieces_of(name: &str, value: &Value) -> Vec<Piece> {
    let op = Monoid::named(name);
    if let Some(fold) = single_fold(value).filter(|fold| fold.op == op && fold.unit.is_none()) {
        let inner = |piece: &Piece| match piece {
            Piece::One(value) => pieces_of(name, value),
            Piece::Run(_) => vec![piece.clone()],
        };
        return fold.pieces.iter().flat_map(inner).collect();
    }
    let single = value.terms.first_key_value().filter(|_| value.terms.len() == 1);
    match single.map(|(product, ratio)| (&product[..], *ratio)) {
        Some(([(Atom::Call(own, arguments), 1)], Ratio::ONE)) if own == name => {
            arguments.iter().flat_map(|one| pieces_of(name, one)).collect()
        }
        _ => vec![Piece::One(value.clone())],
    }
}

/// Returns the operands of a value that is a call of this minimum or maximum.
pub(super) fn operands<'v>(name: &str, value: &'v Value) -> Option<&'v [Value]> {
    let (product, ratio) = value.terms.first_key_value().filter(|_| value.terms.len() == 1)?;
    match &product[..] {
        [(Atom::Call(own, operands), 1)] => {
            let is_own = own == name && EXTREMES.iter().any(|(one, _)| *one == name);
            (is_own && *ratio == Ratio::ONE).then_some(operands)
        }
        _ => None,
    }
}

/// Returns `true` if a value is the neutral element, such as −∞ for a maximum.
pub(super) fn is_neutral(value: &Value, fold: &Fold) -> bool {
    // The sign of an infinity may be a part of the number or a factor −1.
    let infinity = |sign: i128| {
        let negated = Value::number(f64::INFINITY).times(&Value::constant(sign));
        let number = if sign < 0 { f64::NEG_INFINITY } else { f64::INFINITY };
        *value == Value::number(number) || negated.is_some_and(|one| *value == one)
    };
    let infinite = match fold.op.name.as_str() {
        "max" => infinity(-1),
        "min" => infinity(1),
        _ => false,
    };
    infinite || fold.unit.is_some_and(|unit| *value == Value::constant(unit))
}

/// A fold of pieces, as the simplest value equal to it.
pub(super) fn simplest_fold(fold: &Fold, mut pieces: Vec<Piece>) -> Value {
    match (&pieces[..], fold.unit) {
        ([], Some(unit)) => return Value::constant(unit),
        ([Piece::One(value)], _) => return value.clone(),
        _ => {}
    }
    pieces.retain(|piece| !matches!(piece, Piece::One(value) if is_neutral(value, fold)));
    if fold.op.commutes {
        pieces.sort();
    }
    if matches!(fold.op.name.as_str(), "max" | "min") {
        pieces.dedup();
    }
    if let [Piece::One(value)] = &pieces[..] {
        return value.clone();
    }
    Value::atom(Atom::Fold(Box::new(Fold { op: fold.op.clone(), unit: fold.unit, pieces })))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repeated value counts once in a maximum, and twice in a sum.
    #[test]
    fn values_count_as_often_as_they_are_there() {
        let one = Value::atom(Atom::Scalar("a".to_owned()));
        let other = Value::atom(Atom::Scalar("b".to_owned()));
        let folded = |name: &str, values: [&Value; 3]| {
            let op = Monoid::named(name);
            let pieces: Vec<Piece> = values.map(|value| Piece::One(value.clone())).to_vec();
            let fold = Fold { op, unit: None, pieces: Vec::new() };
            simplest_fold(&fold, pieces)
        };
        for name in ["max", "min"] {
            assert_eq!(folded(name, [&one; 3]), one);
            let twice = folded(name, [&one, &other, &one]);
            assert_eq!(twice, folded(name, [&other, &one, &other]));
        }
        assert_ne!(folded("+", [&one; 3]), one);
        let twice = folded("+", [&one, &other, &one]);
        assert_ne!(twice, folded("+", [&other, &one, &other]));
    }
}
