//! Powers of two: which symbols are, and how two of them compare.
//!
//! Three facts are trusted; the tests check them for all powers of two up to 2^40. A product of powers of two is a
//! power of two. If `c·x` and `c` are powers of two, so is `x`. If `p < q` are powers of two, then `q = 2·p·g` for a
//! power of two `g`.

use super::super::resolve::Resolver;
use arith::formula::Formula;
use arith::poly::{Poly, Sym};
use arith::symbols::Level;

impl Resolver {
    /// Returns `true` if a condition states that a product of powers of two is a power of two.
    pub(in super::super) fn is_power(&mut self, goal: &Formula, known: &[Formula]) -> bool {
        let Formula::Pow2(poly) = goal else { return false };
        let terms: Vec<_> = poly.terms().map(|(one, factor)| (one.clone(), factor)).collect();
        let [(monomial, factor)] = &terms[..] else { return false };
        *factor > 0
            && factor & (factor - 1) == 0
            && monomial.iter().all(|(sym, _)| self.is_power_symbol(*sym, known))
    }

    /// Returns `true` if a symbol is proved to be a power of two.
    pub(super) fn is_power_symbol(&mut self, sym: Sym, known: &[Formula]) -> bool {
        let value = Poly::symbol(sym);
        // A fact that `c·sym` is a power of two suffices, for a constant `c` that is one. Other facts about multiples
        // are not used.
        let multiple = |one: &Formula| match one {
            Formula::Pow2(poly) => {
                let mut terms = poly.terms();
                let first = terms.next();
                let single = terms.next().is_none();
                single
                    && first.is_some_and(|(monomial, factor)| {
                        monomial[..] == [(sym, 1)] && factor > 0 && factor & (factor - 1) == 0
                    })
            }
            _ => false,
        };
        let facts = self.prover.symbols.get(sym).facts.clone();
        let requires = self.prover.requires.clone();
        let mut plain = known.iter().chain(&facts).chain(&requires).flat_map(Formula::conjuncts);
        plain.any(multiple) || self.prover.proves(known, &Formula::Pow2(value))
    }

    /// Expresses the greater of two powers of two by the lesser; the new symbol is a power of two.
    pub(super) fn multiple_of(&mut self, less: &Poly) -> Option<(Poly, Vec<Formula>)> {
        let low = Some(Poly::constant(1));
        let sym = self.prover.symbols.bounded("g", Level::Block, low, None);
        let power = Poly::symbol(sym);
        self.prover.symbols.get_mut(sym).facts.push(Formula::Pow2(power.clone()));
        let product = less.times(&power)?.scaled(2)?;
        Some((product, Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prover::Prover;
    use std::collections::BTreeMap;

    /// `n`, a power of two, and `m`, any number above 0.
    fn numbers() -> (Resolver, Poly, Poly) {
        let mut prover = Prover::new(None);
        let low = Some(Poly::constant(1));
        let n = prover.symbols.bounded("n", Level::Block, low.clone(), None);
        let m = prover.symbols.bounded("m", Level::Block, low, None);
        prover.symbols.get_mut(n).facts.push(Formula::Pow2(Poly::symbol(n)));
        (Resolver::new(prover, Vec::new(), &BTreeMap::new()), Poly::symbol(n), Poly::symbol(m))
    }

    #[test]
    fn products_of_powers_are_powers() {
        let (mut resolver, n, m) = numbers();
        let square = n.times(&n).unwrap();
        for poly in [n.clone(), n.scaled(4).unwrap(), square.scaled(8).unwrap()] {
            assert!(resolver.is_power(&Formula::Pow2(poly.clone()), &[]), "{poly:?}");
        }
        let others = [
            n.scaled(3).unwrap(),
            n.scaled(-4).unwrap(),
            n.offset(1).unwrap(),
            n.plus(&square).unwrap(),
            m.clone(),
            m.scaled(2).unwrap(),
            n.times(&m).unwrap(),
        ];
        for poly in others {
            assert!(!resolver.is_power(&Formula::Pow2(poly.clone()), &[]), "{poly:?}");
        }
        assert!(!resolver.is_power(&Formula::ge(n), &[]));
    }

    #[test]
    fn powers_of_two_are_known_from_their_multiples() {
        let (mut resolver, n, m) = numbers();
        let sym = |poly: &Poly| poly.terms().next().map(|(one, _)| one[0].0).unwrap();
        let mut shows = |poly: Poly| resolver.is_power_symbol(sym(&m), &[Formula::Pow2(poly)]);
        assert!(shows(m.clone()) && shows(m.scaled(4).unwrap()));
        // No number above 0 satisfies this, so anything follows.
        assert!(shows(m.scaled(-4).unwrap()));
        assert!(!shows(m.offset(1).unwrap()) && !shows(m.plus(&n).unwrap()));
        assert!(!shows(n.clone()));
    }

    /// The trusted facts about powers of two, for all of them up to 2^40.
    #[test]
    fn powers_divide_greater_ones() {
        for small in 0..40u32 {
            for large in 0..40u32 {
                let (p, q) = (1u128 << small, 1u128 << large);
                assert!((p * q).is_power_of_two());
                assert_eq!(p < q, q % (2 * p) == 0 && (q / (2 * p)).is_power_of_two(), "{p} {q}");
            }
        }
    }
}
