//! Digits of the indices of two accesses: equations between indices become equations between digits.
//!
//! Theorem: if `S·Q + R = S·Q' + R'` with `0 ≤ R < S` and `0 ≤ R' < S`, then `Q = Q'` and `R = R'`. (Quotient and
//! remainder are unique.) Each of the bounds is about one access and the conditions of its own thread. So it has half
//! of the symbols of a claim about the difference of both (`arith::radix`), and it is proved once for all pairs of an
//! access. In `p − w·(p div w)` the difference of two threads of one block also loses the part of `p` that both share,
//! and with it the reason why it is small.
//!
//! Strides are factors of symbols in either index, the largest first. A stride for which a bound is not proved is left
//! out; so digits may stay together, never the reverse.

use super::Engine;
use arith::formula::Formula;
use arith::poly::{Monomial, Poly};
use arith::symbols::Level;

/// Limits on the splits of a pair of indices, and on the strides that are tried for one split.
const MAX_SPLITS: usize = 12;
const MAX_STRIDES: usize = 6;

impl Engine<'_> {
    /// Splits two indices into digits that are equal exactly if the indices are, given that the conditions of both
    /// paths hold. The second of each pair is in the symbols of its own path.
    pub(super) fn common_digits(
        &mut self,
        indices: [&Poly; 2],
        paths: [&[Formula]; 2],
    ) -> Vec<[Poly; 2]> {
        let mut waiting = vec![indices.map(Poly::clone)];
        let mut digits = Vec::new();
        let mut splits = 0;
        while let Some(pair) = waiting.pop() {
            splits += 1;
            match self.split_alike(&pair, paths).filter(|_| splits <= MAX_SPLITS) {
                Some(parts) => waiting.extend(parts),
                None => digits.push(pair),
            }
        }
        digits
    }

    /// Splits both by the first stride that fits; returns quotients and remainders.
    fn split_alike(&mut self, pair: &[Poly; 2], paths: [&[Formula]; 2]) -> Option<[[Poly; 2]; 2]> {
        self.strides(pair).into_iter().find_map(|stride| {
            let [one, other] = pair;
            // Without a quotient on both sides nothing is split.
            let has_quotient = |poly: &Poly| {
                poly.divided_by(&stride).is_some_and(|(quotient, _)| !quotient.is_zero())
            };
            if !has_quotient(one) && !has_quotient(other) {
                return None;
            }
            let (quotient, digit) = self.quotient_and_digit(one, &stride, paths[0])?;
            let (second, other_digit) = self.quotient_and_digit(other, &stride, paths[1])?;
            let whole = [&quotient, &second].iter().all(|one| one.is_zero());
            (!whole).then_some([[quotient, second], [digit, other_digit]])
        })
    }

    /// Writes `poly` as `stride·quotient + digit` with `0 ≤ digit < stride` wherever a path holds. Division of
    /// polynomials may miss the quotient by one.
    fn quotient_and_digit(
        &mut self,
        poly: &Poly,
        stride: &Poly,
        path: &[Formula],
    ) -> Option<(Poly, Poly)> {
        let (quotient, rest) = poly.divided_by(stride)?;
        let mut holds = |poly: Option<Poly>| {
            poly.is_some_and(|one| self.prover.proves_lightly(path, &Formula::ge(one)))
        };
        let mut is_digit = |digit: &Poly| {
            holds(Some(digit.clone())) && holds(stride.minus(digit).and_then(|one| one.offset(-1)))
        };
        if is_digit(&rest) {
            return Some((quotient, rest));
        }
        let next = rest.plus(stride)?;
        (!rest.is_zero() && is_digit(&next)).then_some((quotient.offset(-1)?, next))
    }

    /// Returns the factors of symbols that differ between threads, the largest first.
    fn strides(&self, pair: &[Poly; 2]) -> Vec<Poly> {
        let symbols = &self.prover.symbols;
        let mut found: Vec<Poly> = Vec::new();
        for index in pair {
            for sym in
                index.symbols().into_iter().filter(|sym| symbols.get(*sym).level != Level::Launch)
            {
                let powers = index.by_powers(sym);
                let [_, factor] = &powers[..] else { continue };
                let Some(stride) = factor.scaled(factor.leading_sign()) else { continue };
                let is_size = symbols.level(&stride) == Level::Launch;
                if is_size && stride.as_constant() != Some(1) && !found.contains(&stride) {
                    found.push(stride);
                }
            }
        }
        let degree = |poly: &Poly| {
            let of_one = |monomial: &Monomial| monomial.iter().map(|(_, power)| power).sum::<u32>();
            poly.terms().map(|(monomial, _)| of_one(monomial)).max()
        };
        found.sort_by_cached_key(|one| (std::cmp::Reverse(degree(one)), one.clone()));
        found.truncate(MAX_STRIDES);
        found
    }
}
