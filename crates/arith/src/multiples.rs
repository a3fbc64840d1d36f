//! Facts about multiples of a symbol: `s·r ≥ 1` and `s ≥ 1` give `r ≥ 1`, over the integers.
//!
//! A loop with step `s` over a size that `s` divides has the facts `s·k < size` and `size = s·q`. This module derives
//! that the last step ends inside, `s·k + s ≤ size`. All results follow from the given facts.

use crate::formula::Formula;
use crate::poly::{Monomial, Poly, Sym, divided};

/// Limit on the facts.
const MAX_FOUND: usize = 8;

/// Facts `s·r ≥ s`, from `s·r ≥ 1` and `s ≥ 1`, where an equation is needed to see that a condition has that form.
pub fn derive(all: &[Formula]) -> Vec<Formula> {
    let parts = || all.iter().flat_map(Formula::conjuncts);
    let equations: Vec<&Poly> = parts()
        .filter_map(|part| match part {
            Formula::Eq(poly) if is_product(poly) => Some(poly),
            _ => None,
        })
        .collect();
    let mut found = Vec::new();
    if equations.is_empty() {
        return found;
    }
    let positive: Vec<Sym> = parts().filter_map(positive).collect();
    for part in parts() {
        let Formula::Ge(known) = part else { continue };
        for equation in &equations {
            let with = [known.plus(equation), known.minus(equation)].into_iter().flatten();
            let sym = with.filter_map(|one| factor(&one.offset(1)?, &positive)).next();
            // `known + 1 = s·r`, in any form.
            let fact = sym.and_then(|sym| known.offset(1)?.minus(&Poly::symbol(sym)));
            let fact = fact.map(Formula::ge);
            found.extend(fact.filter(|fact| !found.contains(fact) && !all.contains(fact)));
        }
        if found.len() >= MAX_FOUND {
            break;
        }
    }
    found
}

/// Returns `true` if an equation states that a number is a product, `c − x·y = 0`.
fn is_product(poly: &Poly) -> bool {
    let is_product = |(monomial, coefficient): (&Monomial, i128)| match monomial.len() {
        0 => true,
        1 => false,
        _ => coefficient.abs() == 1,
    };
    poly.terms().count() == 2 && poly.constant_term() != 0 && poly.terms().all(is_product)
}

/// The symbol that a condition states to be at least 1.
fn positive(part: &Formula) -> Option<Sym> {
    let Formula::Ge(poly) = part else { return None };
    let least = poly.constant_term().checked_neg()?;
    let sym = poly.offset(least)?.as_symbol()?;
    (least >= 1).then_some(sym)
}

/// A positive symbol that all terms of a sum share.
fn factor(sum: &Poly, positive: &[Sym]) -> Option<Sym> {
    let shares = |sym: &&Sym| {
        let factor = vec![(**sym, 1)];
        sum.terms().all(|(monomial, _)| divided(monomial, &factor).is_some())
    };
    positive.iter().find(shares).copied().filter(|_| sum.terms().count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Index;

    fn sym(number: usize) -> Poly {
        Poly::symbol(Sym::from_position(number))
    }

    /// `factor·Π symbols + …`.
    fn sum(terms: &[(i128, &[usize])]) -> Poly {
        let term = |(factor, symbols): &(i128, &[usize])| {
            let start = Poly::constant(*factor);
            symbols.iter().fold(start, |product, one| product.times(&sym(*one)).unwrap())
        };
        terms.iter().fold(Poly::default(), |all, one| all.plus(&term(one)).unwrap())
    }

    #[test]
    fn the_last_step_ends_inside() {
        let positive = Formula::ge(sum(&[(1, &[0]), (-1, &[])]));
        for size in 2..40 {
            let divides = Formula::eq(sum(&[(size, &[]), (-1, &[0, 1])]));
            let inside = Formula::ge(sum(&[(size - 1, &[]), (-1, &[0, 2])]));
            let found = derive(&[positive.clone(), divides.clone(), inside]);
            let expected = Formula::ge(sum(&[(size, &[]), (-1, &[0, 2]), (-1, &[0])]));
            assert_eq!(found, [expected]);
            for (step, quotient) in (1..=size).map(|step| (step, size / step)) {
                let holds = (0..=size).filter(|k| step * k < size).all(|k| step * k + step <= size);
                assert!(holds || step * quotient != size, "{size} {step}");
            }
        }
    }

    #[test]
    fn nothing_is_found_without_its_reasons() {
        let positive = Formula::ge(sum(&[(1, &[0]), (-1, &[])]));
        let divides = Formula::eq(sum(&[(32, &[]), (-1, &[0, 1])]));
        let inside = |last: i128| Formula::ge(sum(&[(last, &[]), (-1, &[0, 2])]));
        assert_eq!(derive(&[divides.clone(), inside(31)]), [], "the step may be negative");
        assert_eq!(derive(&[positive.clone(), inside(31)]), [], "the step may not divide the size");
        assert_eq!(derive(&[positive.clone(), divides.clone(), inside(30)]), [], "another size");
        assert_eq!(derive(&[positive, divides, inside(32)]), [], "another step may begin");
    }
}
