//! Polynomials over symbols with integer coefficients, in normal form: two are equal as functions of
//! unconstrained symbols exactly if they are equal as values.
//!
//! Operations fail (`None`) when a coefficient leaves 128 bits or the polynomial becomes unreasonably
//! large; callers then know less, never something wrong.

use base::define_index;
use std::collections::{BTreeMap, BTreeSet};

define_index! {
    /// A symbol.
    pub(crate) struct Sym;
}

/// Products of symbols, each with its exponent, ascending.
pub(crate) type Monomial = Vec<(Sym, u32)>;

const MAX_TERMS: usize = 96;
const MAX_DEGREE: u32 = 12;

/// A polynomial; no coefficient is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Poly {
    terms: BTreeMap<Monomial, i128>,
}

impl Poly {
    pub(crate) fn constant(value: i128) -> Self {
        let mut terms = BTreeMap::new();
        if value != 0 {
            terms.insert(Vec::new(), value);
        }
        Self { terms }
    }

    pub(crate) fn symbol(sym: Sym) -> Self {
        Self { terms: BTreeMap::from([(vec![(sym, 1)], 1)]) }
    }

    pub(crate) fn monomial(monomial: Monomial, coefficient: i128) -> Self {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(monomial, coefficient);
        }
        Self { terms }
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Its value, if it has no symbols.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The symbol it is, if it is one.
    pub(crate) fn as_symbol(&self) -> Option<Sym> {
        match self.terms.iter().next() {
            Some((monomial, 1)) if self.terms.len() == 1 => match monomial[..] {
                [(sym, 1)] => Some(sym),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn symbols(&self) -> BTreeSet<Sym> {
        self.terms.keys().flatten().map(|(sym, _)| *sym).collect()
    }

    pub(crate) fn mentions(&self, sym: Sym) -> bool {
        self.terms.keys().flatten().any(|(one, _)| *one == sym)
    }

    fn add_term(&mut self, monomial: Monomial, coefficient: i128) -> Option<()> {
        let entry = self.terms.entry(monomial);
        let sum = match &entry {
            std::collections::btree_map::Entry::Occupied(old) => {
                old.get().checked_add(coefficient)?
            }
            std::collections::btree_map::Entry::Vacant(_) => coefficient,
        };
        match (sum, entry) {
            (0, std::collections::btree_map::Entry::Occupied(old)) => {
                old.remove();
            }
            (0, _) => {}
            (_, std::collections::btree_map::Entry::Occupied(mut old)) => {
                old.insert(sum);
            }
            (_, std::collections::btree_map::Entry::Vacant(new)) => {
                new.insert(sum);
            }
        }
        (self.terms.len() <= MAX_TERMS).then_some(())
    }

    pub(crate) fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (monomial, coefficient) in other.terms() {
            sum.add_term(monomial.clone(), coefficient)?;
        }
        Some(sum)
    }

    pub(crate) fn minus(&self, other: &Self) -> Option<Self> {
        self.plus(&other.scaled(-1)?)
    }

    pub(crate) fn scaled(&self, factor: i128) -> Option<Self> {
        let mut product = Self::default();
        for (monomial, coefficient) in self.terms() {
            product.add_term(monomial.clone(), coefficient.checked_mul(factor)?)?;
        }
        Some(product)
    }

    pub(crate) fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (one, a) in self.terms() {
            for (two, b) in other.terms() {
                product.add_term(multiplied(one, two)?, a.checked_mul(b)?)?;
            }
        }
        Some(product)
    }

    /// `self + value`.
    pub(crate) fn offset(&self, value: i128) -> Option<Self> {
        self.plus(&Self::constant(value))
    }

    /// The coefficients of the powers of a symbol, lowest first.
    pub(crate) fn by_powers(&self, sym: Sym) -> Vec<Self> {
        let mut powers: Vec<Self> = Vec::new();
        for (monomial, coefficient) in self.terms() {
            let power = monomial.iter().find(|(one, _)| *one == sym).map_or(0, |(_, power)| *power);
            let rest: Monomial = monomial.iter().filter(|(one, _)| *one != sym).copied().collect();
            let power = power as usize;
            if powers.len() <= power {
                powers.resize(power + 1, Self::default());
            }
            powers[power].terms.insert(rest, coefficient);
        }
        powers
    }

    /// With a polynomial in the place of a symbol.
    pub(crate) fn substituted(&self, sym: Sym, value: &Self) -> Option<Self> {
        if !self.mentions(sym) {
            return Some(self.clone());
        }
        let mut sum = Self::default();
        for coefficient in self.by_powers(sym).iter().rev() {
            sum = sum.times(value)?.plus(coefficient)?;
        }
        Some(sum)
    }

    /// With other symbols.
    pub(crate) fn renamed(&self, rename: &mut impl FnMut(Sym) -> Sym) -> Self {
        let mut out = Self::default();
        for (monomial, coefficient) in self.terms() {
            let mut renamed: Monomial =
                monomial.iter().map(|(sym, power)| (rename(*sym), *power)).collect();
            renamed.sort_unstable();
            out.terms.insert(renamed, coefficient);
        }
        out
    }

    /// Its quotient and remainder by a monomial: `self = divisor·quotient + remainder`, where no term
    /// of the remainder is a multiple of the divisor.
    pub(crate) fn split(&self, divisor: &Monomial, factor: i128) -> (Self, Self) {
        let (mut quotient, mut remainder) = (Self::default(), Self::default());
        for (monomial, coefficient) in self.terms() {
            match divided(monomial, divisor).filter(|_| coefficient % factor == 0) {
                Some(rest) => quotient.terms.insert(rest, coefficient / factor),
                None => remainder.terms.insert(monomial.clone(), coefficient),
            };
        }
        (quotient, remainder)
    }

    /// The greatest number that divides every coefficient but that of the constant term.
    pub(crate) fn content(&self) -> i128 {
        let symbolic = self.terms().filter(|(monomial, _)| !monomial.is_empty());
        symbolic.fold(0, |gcd, (_, coefficient)| greatest_common_divisor(gcd, coefficient))
    }

    pub(crate) fn coefficient(&self, monomial: &Monomial) -> i128 {
        self.terms.get(monomial).copied().unwrap_or(0)
    }

    pub(crate) fn constant_term(&self) -> i128 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }
}

pub(crate) fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

fn multiplied(one: &Monomial, two: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<Sym, u32> = one.iter().copied().collect();
    for (sym, power) in two {
        *powers.entry(*sym).or_default() += power;
    }
    let degree: u32 = powers.values().sum();
    (degree <= MAX_DEGREE).then(|| powers.into_iter().collect())
}

/// `monomial / divisor`, if that is one.
pub(crate) fn divided(monomial: &Monomial, divisor: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<Sym, u32> = monomial.iter().copied().collect();
    for (sym, power) in divisor {
        let own = powers.get_mut(sym).filter(|own| **own >= *power)?;
        *own -= power;
    }
    Some(powers.into_iter().filter(|(_, power)| *power > 0).collect())
}
