//! Normal forms of folds of associative operations: merges neighbouring ranges.
//!
//! The law is `F(a, b) ⊕ F(b, c) = F(a, c)` for `a ≤ b ≤ c`, where `F(a, b)` is the fold of one function over `a ≤ z
//! < b`; the guards are proved, not assumed. An empty fold is the unit, a fold of one value is that value. Order is
//! kept unless the operation is known to commute. Sums are such folds, too, and commute.

use super::extremes::{as_fold, is_neutral, simplest_fold};
use super::instance::Instance;
use super::resolve::{Resolver, Unresolved, range, too_large};
use super::value::{Atom, Fold, Piece, Product, Ratio, Sum, Value};
use arith::formula::Formula;
use arith::poly::Poly;
use std::collections::BTreeMap;

/// Limit on the pieces of a fold.
const MAX_PIECES: usize = 12;

impl Resolver {
    /// Looks up the loads of a fold.
    pub(super) fn fold(
        &mut self,
        fold: &Fold,
        instance: &Instance,
        side: usize,
        known: &[Formula],
        depth: usize,
    ) -> Result<Value, Unresolved> {
        let mut pieces = Vec::new();
        for piece in &fold.pieces {
            match piece {
                Piece::One(value) => {
                    let value = self.instantiate(value, instance, side, known, depth)?;
                    match as_fold(&value, fold) {
                        Some(inner) => pieces.extend(inner.pieces.iter().cloned()),
                        None if is_neutral(&value, fold) => {}
                        None => pieces.push(Piece::One(value)),
                    }
                }
                Piece::Run(sum) => {
                    let run = self.resolve_run(sum, instance, side, known, depth)?;
                    if is_neutral(&run.body, fold) {
                        continue;
                    }
                    let merged = match as_fold(&run.body, fold).map(|inner| &inner.pieces[..]) {
                        Some([Piece::Run(inner)]) if fold.op.commutes => {
                            self.merge_strided(run.digit, &run.high, inner, known)
                        }
                        _ => None,
                    };
                    pieces.push(Piece::Run(merged.unwrap_or(run)));
                }
            }
        }
        if pieces.len() > MAX_PIECES {
            return Err(too_large());
        }
        Ok(simplest_fold(fold, pieces))
    }

    /// Looks up the loads of a conditional operand, under its condition.
    pub(super) fn guarded(
        &mut self,
        name: &str,
        (condition, value): (&Value, &Value),
        instance: &Instance,
        (side, known, depth): (usize, &[Formula], usize),
    ) -> Result<Value, Unresolved> {
        let truth = self.instantiate(condition, instance, side, known, depth)?;
        if truth.is_zero() {
            let nothing = if name == "max_if" { f64::NEG_INFINITY } else { f64::INFINITY };
            return Ok(Value::number(nothing));
        }
        let mut inside = known.to_vec();
        let formula = truth.terms.first_key_value().and_then(|(product, _)| match &product[..] {
            [(Atom::Truth(formula), 1)] => Some(formula.clone()),
            _ => None,
        });
        inside.extend(formula);
        let value = self.instantiate(value, instance, side, &inside, depth)?;
        if truth == Value::constant(1) {
            return Ok(value);
        }
        Ok(Value::atom(Atom::Call(name.to_owned(), vec![truth, value])))
    }

    /// Renames variables of a fold by their depth.
    pub(super) fn canonical_fold(&mut self, fold: &Fold, depth: usize) -> Option<Fold> {
        let mut pieces = Vec::new();
        for piece in &fold.pieces {
            pieces.push(match piece {
                Piece::One(value) => Piece::One(self.canonical(value, depth)?),
                Piece::Run(sum) => Piece::Run(self.canonical_sum(sum, depth)?),
            });
        }
        Some(Fold { op: fold.op.clone(), unit: fold.unit, pieces })
    }

    /// Returns `true` if two folds in canonical form are proved to be equal.
    pub(super) fn equal_folds(&mut self, one: &Fold, other: &Fold, known: &[Formula]) -> bool {
        one.op == other.op
            && (self.have_equal_pieces(one, other, known)
                || self.have_same_elements(one, other, known))
    }

    /// Returns `true` if the pieces of two folds, merged as far as possible, are proved to be equal one by one.
    fn have_equal_pieces(&mut self, one: &Fold, other: &Fold, known: &[Formula]) -> bool {
        let (Some(one), Some(mut other)) =
            (self.merge_pieces(one, known), self.merge_pieces(other, known))
        else {
            return false;
        };
        if one.pieces.len() != other.pieces.len() {
            return false;
        }
        for piece in &one.pieces {
            let last = if one.op.commutes { other.pieces.len() } else { 1 };
            let same = (0..last).find(|at| self.equal_pieces(piece, &other.pieces[*at], known));
            let Some(same) = same else { return false };
            other.pieces.remove(same);
        }
        true
    }

    fn equal_pieces(&mut self, one: &Piece, other: &Piece, known: &[Formula]) -> bool {
        let (one, other) = (self.as_run(one), self.as_run(other));
        let lengths = one.high.minus(&other.high).map(Formula::eq);
        let Some(inside) = range(one.digit, &one.high) else { return false };
        let inner: Vec<Formula> = known.iter().cloned().chain(inside).collect();
        one.digit == other.digit
            && lengths.is_some_and(|same| self.proves(known, &same))
            && self.equal(&one.body, &other.body, &inner)
    }

    /// A single value as a run of length 1.
    fn as_run(&mut self, piece: &Piece) -> Sum {
        match piece {
            Piece::Run(sum) => sum.clone(),
            Piece::One(value) => {
                Sum { digit: self.bound_name(0), high: Poly::constant(1), body: value.clone() }
            }
        }
    }

    /// Merges neighbours and drops empty pieces.
    pub(super) fn merge_pieces(&mut self, fold: &Fold, known: &[Formula]) -> Option<Fold> {
        let mut pieces = fold.pieces.clone();
        let mut at = 0;
        while at < pieces.len() {
            match &pieces[at] {
                Piece::Run(sum) if self.is_empty(sum, known) => {
                    pieces.remove(at);
                }
                _ => at += 1,
            }
        }
        'again: loop {
            for first in 0..pieces.len() {
                for second in 0..pieces.len() {
                    let ordered = fold.op.commutes && second != first || second == first + 1;
                    if !ordered {
                        continue;
                    }
                    let (one, two) = (&pieces[first], &pieces[second]);
                    let joined = self.join_pieces(one, two, known);
                    let joined = joined.or_else(|| match fold.op.commutes {
                        true => self.interleaved(one, two, known),
                        false => None,
                    });
                    if let Some(joined) = joined {
                        pieces[first] = Piece::Run(joined);
                        pieces.remove(second);
                        continue 'again;
                    }
                }
            }
            break;
        }
        Some(Fold { op: fold.op.clone(), unit: fold.unit, pieces })
    }

    pub(super) fn is_empty(&mut self, sum: &Sum, known: &[Formula]) -> bool {
        let none = sum.high.scaled(-1).map(Formula::ge);
        none.is_some_and(|none| none != Formula::False && self.proves(known, &none))
    }

    /// Merges two pieces if the second is proved to continue the first.
    pub(super) fn join_pieces(
        &mut self,
        one: &Piece,
        two: &Piece,
        known: &[Formula],
    ) -> Option<Sum> {
        let (first, second) = (self.as_run(one), self.as_run(two));
        let high = first.high.plus(&second.high)?;
        let digit = first.digit;
        let digit_value = Poly::symbol(digit);
        let shift = |body: &Value, by: &Poly| {
            let shifted_digit = digit_value.plus(by)?;
            body.mapped(&mut |poly| poly.substituted(digit, &shifted_digit))
        };
        // The function that has to give the values of both pieces.
        let body = match (one, two) {
            (Piece::Run(_), _) => first.body.clone(),
            (Piece::One(_), Piece::Run(_)) => shift(&second.body, &Poly::constant(-1))?,
            (Piece::One(_), Piece::One(_)) => return None,
        };
        let inside = |sum: &Sum| {
            let parts = range(digit, &sum.high)?;
            Some(known.iter().cloned().chain(parts).collect::<Vec<Formula>>())
        };
        let holds = match (one, two) {
            (Piece::One(value), _) => {
                let at_first =
                    body.mapped(&mut |poly| poly.substituted(digit, &Poly::default()))?;
                self.equal(&at_first, value, known)
            }
            (_, Piece::One(value)) => {
                let after = body.mapped(&mut |poly| poly.substituted(digit, &first.high))?;
                self.equal(&after, value, known)
            }
            _ => {
                let after = shift(&body, &first.high)?;
                let inside = inside(&second)?;
                first.digit == second.digit && self.equal(&after, &second.body, &inside)
            }
        };
        let proper = holds
            && !self.depends_implicitly(&body)
            && self.proves(known, &Formula::ge(first.high.clone()))
            && self.proves(known, &Formula::ge(second.high));
        proper.then_some(Sum { digit, high, body })
    }

    /// Returns `true` if a body depends on bound variables implicitly, through symbols that are functions of them.
    fn depends_implicitly(&self, body: &Value) -> bool {
        body.symbols().into_iter().any(|sym| self.implicit.contains_key(&sym))
    }

    /// Merges two pieces of the same length, if they are the values of a function at even and at odd numbers.
    fn interleaved(&mut self, one: &Piece, two: &Piece, known: &[Formula]) -> Option<Sum> {
        let (Piece::Run(even), Piece::Run(odd)) = (one, two) else { return None };
        let digit = even.digit;
        // Find `F` with `f(z) = F(2z)`: halve the coefficients of `z`, which must be even.
        let body = even.body.mapped(&mut |poly| match &poly.by_powers(digit)[..] {
            [_] => Some(poly.clone()),
            [rest, factor] => {
                let (half, left) = factor.split(&Vec::new(), 2);
                let product = half.times(&Poly::symbol(digit)).filter(|_| left.is_zero())?;
                rest.plus(&product)
            }
            _ => None,
        })?;
        let next = Poly::symbol(digit).scaled(2)?.offset(1)?;
        let after = body.mapped(&mut |poly| poly.substituted(digit, &next))?;
        let inside: Vec<Formula> = known.iter().cloned().chain(range(digit, &even.high)?).collect();
        let lengths = even.high.minus(&odd.high).map(Formula::eq)?;
        let holds = digit == odd.digit
            && !self.depends_implicitly(&body)
            && self.equal(&after, &odd.body, &inside)
            && self.proves(known, &lengths);
        Some(Sum { digit, high: even.high.scaled(2)?, body }).filter(|_| holds)
    }

    /// Merges two terms of a sum of sums, or drops an empty sum; returns the rest.
    pub(super) fn with_joined_sums(&mut self, rest: &Value, known: &[Formula]) -> Option<Value> {
        let terms: Vec<(Product, Ratio)> =
            rest.terms.iter().map(|(product, ratio)| (product.clone(), *ratio)).collect();
        let pieces: Vec<Piece> = terms.iter().map(|(product, _)| as_piece(product)).collect();
        let without = |left: &[usize]| {
            let kept = terms.iter().enumerate().filter(|(at, _)| !left.contains(at));
            Value { terms: kept.map(|(_, term)| term.clone()).collect() }
        };
        for (at, piece) in pieces.iter().enumerate() {
            if let Piece::Run(sum) = piece
                && self.is_empty(sum, known)
            {
                return Some(without(&[at]));
            }
        }
        for (first, one) in pieces.iter().enumerate() {
            for (second, two) in pieces.iter().enumerate() {
                let same = terms[first].1 == terms[second].1;
                let sums = matches!(one, Piece::Run(_)) || matches!(two, Piece::Run(_));
                if first == second || !same || !sums {
                    continue;
                }
                let sum = self.join_pieces(one, two, known);
                let Some(sum) = sum.or_else(|| self.interleaved(one, two, known)) else { continue };
                let mut left = without(&[first, second]);
                left.add(vec![(Atom::Sum(Box::new(sum)), 1)], terms[first].1)?;
                return Some(left);
            }
        }
        // A sum of one value.
        for (at, piece) in pieces.iter().enumerate() {
            let Piece::Run(sum) = piece else { continue };
            let one = sum.high.offset(-1).map(Formula::eq);
            if one.is_some_and(|one| self.proves(known, &one)) {
                let zero = Poly::default();
                let value = self.at_digit(&sum.body, sum.digit, &zero)?;
                let factor = Value { terms: BTreeMap::from([(Vec::new(), terms[at].1)]) };
                return without(&[at]).plus(&value.times(&factor)?);
            }
        }
        None
    }
}

/// Converts a product to a piece of a sum.
fn as_piece(product: &Product) -> Piece {
    match &product[..] {
        [(Atom::Sum(sum), 1)] => Piece::Run((**sum).clone()),
        _ => Piece::One(Value { terms: BTreeMap::from([(product.clone(), Ratio::ONE)]) }),
    }
}

#[cfg(test)]
mod tests {
    /// The fold over `a ≤ z < b` of an operation that does not commute.
    fn fold(a: i32, b: i32) -> String {
        (a..b).map(|z| format!("{z},")).collect()
    }

    /// The law holds exactly as far as its guards go.
    #[test]
    fn neighbours_join_within_their_guards() {
        for a in -4..5 {
            for b in -4..5 {
                for c in -4..5 {
                    let joined = fold(a, b) + &fold(b, c) == fold(a, c);
                    assert!(joined || !(a <= b && b <= c), "{a} {b} {c}");
                    assert!(
                        !joined || a <= b && b <= c || a >= c && a >= b && b >= c,
                        "{a} {b} {c}"
                    );
                }
            }
            assert_eq!(fold(a, a), "");
        }
        assert_ne!(fold(1, 2) + &fold(0, 1), fold(0, 2), "order matters");
    }

    /// Even and odd numbers below `2h` are all of them, each once; with different lengths they are not.
    #[test]
    fn even_and_odd_numbers_are_all() {
        let both = |even: i32, odd: i32| {
            let mut all: Vec<i32> = (0..even).map(|z| 2 * z).collect();
            all.extend((0..odd).map(|z| 2 * z + 1));
            all.sort_unstable();
            all
        };
        for length in -3..12 {
            assert_eq!(both(length, length), (0..2 * length).collect::<Vec<i32>>(), "{length}");
        }
        assert_ne!(both(3, 5), (0..6).collect::<Vec<i32>>());
    }
}
