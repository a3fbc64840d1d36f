//! Normal forms of sums `Σ_{0≤z<h} f(z)` over a symbolic number of terms.
//!
//! A sum of a sum is a sum, a factor that does not depend on the variable goes outside (`Σ c·f = c·Σ f`), a sum of
//! ones is its length. A condition that bounds the variable becomes a bound of the sum (`Σ_{z<h} [z<n]·f = Σ_{z<n} f`
//! if `n ≤ h`); this removes the zero padding of a ragged tile. Two sums whose variables occur only as `m·T + k` with
//! `0 ≤ k < T` are one sum over that number; this merges the tiles of a matrix product.

use super::resolve::{Resolver, Unresolved, open, too_large};
use super::value::{Atom, Product, Ratio, Sum, Value, exponent};
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use std::collections::BTreeMap;

impl Resolver {
    /// `Σ body` over `0 ≤ digit < high`, in normal form.
    pub(super) fn sum_over(
        &mut self,
        digit: Sym,
        high: &Poly,
        body: &Value,
        known: &[Formula],
    ) -> Result<Value, Unresolved> {
        let mut total = Value::default();
        for (product, ratio) in &body.terms {
            let factor = |ratio: Ratio| Value { terms: BTreeMap::from([(Vec::new(), ratio)]) };
            if let Some((outside, Sum { digit, high, body })) =
                self.merge_strided_sum(digit, high, product, known)
            {
                let one = self.sum_over(digit, &high, &body, known)?;
                let one = one.times(&outside).and_then(|one| one.times(&factor(*ratio)));
                total = one.and_then(|one| total.plus(&one)).ok_or_else(too_large)?;
                continue;
            }
            let product = self.push_into_inner_sum(product, digit)?;
            for (product, inner) in product.terms {
                let one = self.sum_product_over(digit, high, &product, known)?;
                let ratio = ratio.by(inner).ok_or_else(too_large)?;
                let one = one.times(&factor(ratio));
                total = one.and_then(|one| total.plus(&one)).ok_or_else(too_large)?;
            }
        }
        Ok(total)
    }

    /// Merges a nested sum over strided terms (as threads share the work of a loop) into one sum. Returns it with the
    /// factors that do not depend on the variable.
    fn merge_strided_sum(
        &mut self,
        digit: Sym,
        high: &Poly,
        product: &Product,
        known: &[Formula],
    ) -> Option<(Value, Sum)> {
        let inner = product.iter().find_map(|(atom, power)| match atom {
            Atom::Sum(inner) if *power == 1 => {
                let length = inner.high.as_symbol()?;
                self.bound_in(length).contains(&digit).then_some((atom, inner))
            }
            _ => None,
        })?;
        let mut outside = Value::constant(1);
        for (atom, power) in product.iter().filter(|(atom, _)| atom != inner.0) {
            if self.depends(atom, digit) {
                return None;
            }
            for _ in 0..*power {
                outside = outside.times(&Value::atom(atom.clone()))?;
            }
        }
        Some((outside, self.merge_strided(digit, high, inner.1, known)?))
    }

    /// Merges a strided distribution: `digit` of `high` has the terms `digit`, `digit + high`, … below a number, so
    /// together they are all terms below it: `⊕_{z<T} ⊕_{k<Q} F(z + k·T) = ⊕_{w<N} F(w)` for `Q = (N − z)/T`, rounded
    /// up, `T ≥ 1` and any `N`.
    pub(super) fn merge_strided(
        &mut self,
        digit: Sym,
        high: &Poly,
        inner: &Sum,
        known: &[Formula],
    ) -> Option<Sum> {
        let (top, stride) = inner.high.as_symbol().and_then(|sym| self.lengths.get(&sym))?.clone();
        let digit_value = Poly::symbol(digit);
        let number = top.plus(&digit_value)?;
        let merged_digit = self.variable();
        let place = Poly::symbol(inner.digit).times(high)?;
        let within = Poly::symbol(merged_digit).minus(&place)?;
        let body = inner.body.mapped(&mut |poly| {
            let mapped = poly.substituted(digit, &within)?;
            (!mapped.mentions(inner.digit)).then_some(mapped)
        })?;
        let hidden = body.symbols().into_iter().any(|sym| {
            let bound = self.implicit.get(&sym);
            bound.is_some_and(|bound| bound.contains(&digit) || bound.contains(&inner.digit))
        });
        let steady = [&number, &stride, high].into_iter().all(|one| {
            let hides = |sym: Sym| self.bound_in(sym).contains(&digit);
            !one.symbols().into_iter().any(hides)
        });
        let holds = !hidden
            && steady
            && self.proves(known, &Formula::eq(stride.minus(high)?))
            && self.proves(known, &Formula::ge(high.offset(-1)?));
        Some(Sum { digit: merged_digit, high: number, body }).filter(|_| holds)
    }

    /// Returns `true` if an atom depends on the variable of a sum.
    fn depends(&self, atom: &Atom, digit: Sym) -> bool {
        let symbols = Value::atom(atom.clone()).symbols();
        symbols.into_iter().any(|sym| self.bound_in(sym).contains(&digit))
    }

    /// Returns `true` if a polynomial depends on the variable of a sum implicitly, beyond its explicit occurrences.
    fn hides_digit(&self, poly: &Poly, digit: Sym) -> bool {
        poly.mentioned().any(|sym| sym != digit && self.bound_in(sym).contains(&digit))
    }

    /// Moves factors that depend on `digit` into an inner sum beside them, so that the two sums can become one.
    fn push_into_inner_sum(&mut self, product: &Product, digit: Sym) -> Result<Value, Unresolved> {
        let plain = Value { terms: BTreeMap::from([(product.clone(), Ratio::ONE)]) };
        let sums: Vec<&(Atom, u32)> =
            product.iter().filter(|(atom, _)| matches!(atom, Atom::Sum(_))).collect();
        let [(Atom::Sum(inner), 1)] = sums[..] else { return Ok(plain) };
        if !self.depends(&Atom::Sum(inner.clone()), digit) {
            return Ok(plain);
        }
        let (mut inside, mut outside) = (inner.body.clone(), Value::constant(1));
        for (atom, power) in product.iter().filter(|(atom, _)| !matches!(atom, Atom::Sum(_))) {
            let target = if self.depends(atom, digit) { &mut inside } else { &mut outside };
            for _ in 0..*power {
                *target = target.times(&Value::atom(atom.clone())).ok_or_else(too_large)?;
            }
        }
        let sum = Sum { digit: inner.digit, high: inner.high.clone(), body: inside };
        outside.times(&Value::atom(Atom::Sum(Box::new(sum)))).ok_or_else(too_large)
    }

    /// Splits a value into the terms that depend on the variable, and the others.
    fn split_by_dependence(&mut self, value: &Value, digit: Sym) -> Result<[Value; 2], Unresolved> {
        let mut parts = [Value::default(), Value::default()];
        for (product, ratio) in &value.terms {
            let mut depends = false;
            for (atom, _) in product {
                depends |= self.depends(atom, digit);
            }
            parts[usize::from(!depends)].add(product.clone(), *ratio).ok_or_else(too_large)?;
        }
        Ok(parts)
    }

    /// Builds `Σ product` over `0 ≤ digit < high`: factors that do not depend on the digit go outside, conditions that
    /// bound it become bounds.
    fn sum_product_over(
        &mut self,
        digit: Sym,
        high: &Poly,
        product: &Product,
        known: &[Formula],
    ) -> Result<Value, Unresolved> {
        let (mut outside, mut inside) = (Value::constant(1), Value::constant(1));
        let mut high = high.clone();
        for (atom, power) in product {
            if let (Some((name, argument)), 1) = (exponent(atom), *power) {
                // A part that does not depend on the variable is a factor of its own.
                let [own, other] = self.split_by_dependence(argument, digit)?;
                for (target, part) in [(&mut inside, own), (&mut outside, other)] {
                    if !part.is_zero() {
                        let factor = Value::atom(Atom::Call(name.to_owned(), vec![part]));
                        *target = target.times(&factor).ok_or_else(too_large)?;
                    }
                }
                continue;
            }
            if let Atom::Truth(formula) = atom {
                let (out, kept) = self.extract_bounds(formula, digit, &mut high, known)?;
                outside = outside.times(&out).ok_or_else(too_large)?;
                inside = inside.times(&kept).ok_or_else(too_large)?;
                continue;
            }
            let target = if self.depends(atom, digit) { &mut inside } else { &mut outside };
            for _ in 0..*power {
                *target = target.times(&Value::atom(atom.clone())).ok_or_else(too_large)?;
            }
        }
        let shared = high.as_symbol().is_some_and(|sym| !self.bound_in(sym).is_empty());
        if inside == Value::constant(1) && !shared {
            let length = Formula::ge(high.clone());
            if !self.proves(known, &length) {
                return open(None, "the length of a sum");
            }
            let length = Value::of_poly(&high, &mut |_| None).ok_or_else(too_large)?;
            return outside.times(&length).ok_or_else(too_large);
        }
        let flat = self.flatten(digit, &high, &inside, known)?;
        let sum = match flat {
            Some(flat) => flat,
            None => Value::atom(Atom::Sum(Box::new(Sum { digit, high, body: inside }))),
        };
        outside.times(&sum).ok_or_else(too_large)
    }

    /// Extracts bounds of the variable from a condition; returns the part that goes outside of the sum, and the part
    /// that stays.
    fn extract_bounds(
        &mut self,
        formula: &Formula,
        digit: Sym,
        high: &mut Poly,
        known: &[Formula],
    ) -> Result<(Value, Value), Unresolved> {
        let (mut out, mut kept) = (Vec::new(), Vec::new());
        for part in formula.conjuncts() {
            if !self.depends(&Atom::Truth(part.clone()), digit) {
                out.push(part.clone());
                continue;
            }
            let bound = match part {
                Formula::Ge(poly) if self.hides_digit(poly, digit) => None,
                Formula::Ge(poly) => match &poly.by_powers(digit)[..] {
                    [rest, factor] => factor.as_constant().map(|sign| (sign, rest.clone())),
                    _ => None,
                },
                _ => None,
            };
            let dropped = match bound {
                // digit ≤ rest
                Some((-1, rest)) => {
                    let end = rest.offset(1).ok_or_else(too_large)?;
                    let over = end.minus(high).ok_or_else(too_large)?;
                    let under = over.scaled(-1).ok_or_else(too_large)?;
                    if self.proves_quickly(known, &Formula::ge(over)) {
                        true
                    } else if self.proves_quickly(known, &Formula::ge(under)) {
                        *high = end;
                        true
                    } else {
                        false
                    }
                }
                // digit ≥ −rest
                Some((1, rest)) => self.proves_quickly(known, &Formula::ge(rest)),
                _ => false,
            };
            if !dropped {
                kept.push(part.clone());
            }
        }
        let mut outside = Value::constant(1);
        for part in out {
            outside = outside.times(&self.truth(&part, known)?).ok_or_else(too_large)?;
        }
        Ok((outside, Value::atom(Atom::Truth(Formula::and(kept)))))
    }

    /// Flattens a sum of a sum into one sum over `outer·T + inner`.
    fn flatten(
        &mut self,
        outer: Sym,
        high: &Poly,
        inside: &Value,
        known: &[Formula],
    ) -> Result<Option<Value>, Unresolved> {
        let Some((product, ratio)) = inside.terms.first_key_value() else { return Ok(None) };
        let ([(Atom::Sum(inner), 1)], Ratio::ONE, 1) = (&product[..], *ratio, inside.terms.len())
        else {
            return Ok(None);
        };
        if inner.high.mentions(outer) || self.hides_digit(&inner.high, outer) {
            return Ok(None);
        }
        let Some(length) = high.times(&inner.high) else { return Ok(None) };
        // Either variable may count whole stretches of the other.
        let orders = [(outer, inner.digit, &inner.high), (inner.digit, outer, high)];
        for (stretches, within, stretch) in orders {
            let merged_digit = self.variable();
            let within_value = Poly::symbol(stretches)
                .times(stretch)
                .and_then(|start| Poly::symbol(merged_digit).minus(&start));
            let Some(within_value) = within_value else { continue };
            let body = inner.body.mapped(&mut |poly| {
                let mapped = poly.substituted(within, &within_value)?;
                (!mapped.mentions(stretches)).then_some(mapped)
            });
            let Some(body) = body else { continue };
            let hidden = body.symbols().into_iter().any(|sym| {
                self.implicit
                    .get(&sym)
                    .is_some_and(|one| one.contains(&within) || one.contains(&stretches))
            });
            // A stretch of negative length would be empty, and so would the whole.
            let proper = self.proves(known, &Formula::ge(stretch.clone()))
                && self.proves(known, &Formula::ge(high.clone()));
            if hidden || !proper {
                continue;
            }
            return self.sum_over(merged_digit, &length, &body, known).map(Some);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    /// Numbers distributed to `hands`, hand by hand.
    fn dealt(number: i32, hands: i32) -> Vec<i32> {
        let length = |z: i32| (number - z + hands - 1).div_euclid(hands);
        let hand = |z: i32| (0..length(z)).map(move |k| z + k * hands);
        let mut all: Vec<i32> = (0..hands).flat_map(hand).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn dealt_numbers_are_all_numbers() {
        for number in -5..30 {
            for hands in 1..9 {
                assert_eq!(dealt(number, hands), (0..number).collect::<Vec<i32>>());
            }
        }
    }
}
