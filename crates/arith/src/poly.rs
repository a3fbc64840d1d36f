//! Polynomials over symbols with integer coefficients, in normal form: two are equal as functions of
//! unconstrained symbols exactly if they are equal as values.
//!
//! Operations fail (`None`) if a coefficient leaves 128 bits or the polynomial becomes unreasonably large; callers
//! then know less, but never anything wrong.

use base::define_index;
use deadline::tick;
use smallvec::{SmallVec, smallvec};
use std::cmp::Ordering;
use std::collections::BTreeSet;

define_index! {
    /// A symbol.
    pub struct Sym;
}

/// Products of symbols, each with its exponent, ascending. Few have more than four, and most of the time of a proof
/// is spent building them.
pub type Monomial = SmallVec<[(Sym, u32); 4]>;

const MAX_TERMS: usize = 96;
const MAX_DEGREE: u32 = 12;

/// A polynomial: its terms in order, none with coefficient 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Poly {
    terms: Vec<(Monomial, i128)>,
}

impl Poly {
    /// A constant.
    pub fn constant(value: i128) -> Self {
        Self::monomial(Monomial::new(), value)
    }

    /// A symbol alone.
    pub fn symbol(sym: Sym) -> Self {
        Self { terms: vec![(smallvec![(sym, 1)], 1)] }
    }

    /// A monomial with a coefficient.
    pub fn monomial(monomial: Monomial, coefficient: i128) -> Self {
        let terms = if coefficient == 0 { Vec::new() } else { vec![(monomial, coefficient)] };
        Self { terms }
    }

    /// The sum of terms in any order.
    fn from_terms(mut terms: Vec<(Monomial, i128)>) -> Option<Self> {
        terms.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut sum: Vec<(Monomial, i128)> = Vec::with_capacity(terms.len());
        for (monomial, coefficient) in terms {
            match sum.last_mut() {
                Some((last, total)) if *last == monomial => {
                    *total = total.checked_add(coefficient)?;
                }
                _ => sum.push((monomial, coefficient)),
            }
        }
        sum.retain(|(_, coefficient)| *coefficient != 0);
        (sum.len() <= MAX_TERMS).then_some(Self { terms: sum })
    }

    /// Monomials with coefficients other than zero, in order.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    /// Returns `true` for the zero polynomial.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value of a polynomial without symbols.
    pub fn as_constant(&self) -> Option<i128> {
        match &self.terms[..] {
            [] => Some(0),
            [(monomial, value)] if monomial.is_empty() => Some(*value),
            _ => None,
        }
    }

    /// The symbol, if the polynomial is one.
    pub fn as_symbol(&self) -> Option<Sym> {
        match &self.terms[..] {
            [(monomial, 1)] => match monomial[..] {
                [(sym, 1)] => Some(sym),
                _ => None,
            },
            _ => None,
        }
    }

    /// The symbols, each once.
    pub fn symbols(&self) -> BTreeSet<Sym> {
        self.mentioned().collect()
    }

    /// The symbols of all terms, with repetitions.
    pub fn mentioned(&self) -> impl Iterator<Item = Sym> {
        self.terms.iter().flat_map(|(monomial, _)| monomial).map(|(sym, _)| *sym)
    }

    /// Returns `true` if a symbol occurs.
    pub fn mentions(&self, sym: Sym) -> bool {
        self.mentioned().any(|one| one == sym)
    }

    /// The sum; `None` if a coefficient overflows.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.plus_multiple(other, 1)
    }

    /// The difference; `None` if a coefficient overflows.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.plus_multiple(other, -1)
    }

    /// `self + factor·other`, both in order.
    fn plus_multiple(&self, other: &Self, factor: i128) -> Option<Self> {
        tick();
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut mine, mut theirs) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (mine.peek(), theirs.peek()) {
                (Some((one, _)), Some((two, _))) => one.cmp(two),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let (monomial, coefficient) = match order {
                Ordering::Less => mine.next()?.clone(),
                Ordering::Greater => {
                    let (monomial, coefficient) = theirs.next()?;
                    (monomial.clone(), coefficient.checked_mul(factor)?)
                }
                Ordering::Equal => {
                    let ((monomial, one), (_, two)) = (mine.next()?, theirs.next()?);
                    (monomial.clone(), one.checked_add(two.checked_mul(factor)?)?)
                }
            };
            if coefficient != 0 {
                terms.push((monomial, coefficient));
            }
        }
        (terms.len() <= MAX_TERMS).then_some(Self { terms })
    }

    /// A multiple; `None` if a coefficient overflows.
    pub fn scaled(&self, factor: i128) -> Option<Self> {
        let mut product = Self::default();
        for (monomial, coefficient) in self.terms().filter(|_| factor != 0) {
            product.terms.push((monomial.clone(), coefficient.checked_mul(factor)?));
        }
        Some(product)
    }

    /// The product; `None` if a coefficient or an exponent overflows.
    pub fn times(&self, other: &Self) -> Option<Self> {
        if let Some(factor) = self.as_constant() {
            return other.scaled(factor);
        }
        if let Some(factor) = other.as_constant() {
            return self.scaled(factor);
        }
        let mut terms = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (one, a) in self.terms() {
            for (two, b) in other.terms() {
                terms.push((multiplied(one, two)?, a.checked_mul(b)?));
            }
        }
        Self::from_terms(terms)
    }

    /// `self + value`.
    pub fn offset(&self, value: i128) -> Option<Self> {
        self.plus(&Self::constant(value))
    }

    /// The coefficients of the powers of a symbol, lowest first.
    pub fn by_powers(&self, sym: Sym) -> Vec<Self> {
        let mut powers: Vec<Self> = Vec::new();
        for (monomial, coefficient) in self.terms() {
            let power = monomial.iter().find(|(one, _)| *one == sym).map_or(0, |(_, power)| *power);
            let rest: Monomial = monomial.iter().filter(|(one, _)| *one != sym).copied().collect();
            let power = power as usize;
            if powers.len() <= power {
                powers.resize(power + 1, Self::default());
            }
            powers[power].terms.push((rest, coefficient));
        }
        // Without the symbol, terms of one power may be in another order.
        for one in &mut powers {
            one.terms.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        }
        powers
    }

    /// Substitutes a polynomial for a symbol.
    pub fn substituted(&self, sym: Sym, value: &Self) -> Option<Self> {
        if !self.mentions(sym) {
            return Some(self.clone());
        }
        let mut sum = Self::default();
        for coefficient in self.by_powers(sym).iter().rev() {
            sum = sum.times(value)?.plus(coefficient)?;
        }
        Some(sum)
    }

    /// Renames symbols.
    pub fn renamed(&self, rename: &mut impl FnMut(Sym) -> Sym) -> Self {
        let mut out = Self::default();
        for (monomial, coefficient) in self.terms() {
            let mut renamed: Monomial =
                monomial.iter().map(|(sym, power)| (rename(*sym), *power)).collect();
            renamed.sort_unstable();
            out.terms.push((renamed, coefficient));
        }
        out.terms.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        out
    }

    /// Divides by the term `factor·divisor`, with quotient and remainder: `self = factor·divisor·quotient + remainder`,
    /// where no term of the remainder is a multiple of that term.
    pub fn split(&self, divisor: &[(Sym, u32)], factor: i128) -> (Self, Self) {
        let (mut quotient, mut remainder) = (Self::default(), Self::default());
        for (monomial, coefficient) in self.terms() {
            match divided(monomial, divisor).filter(|_| coefficient % factor == 0) {
                Some(rest) => quotient.terms.push((rest, coefficient / factor)),
                None => remainder.terms.push((monomial.clone(), coefficient)),
            }
        }
        quotient.terms.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        (quotient, remainder)
    }

    /// Divides by a polynomial, with quotient and remainder: `self = divisor·quotient + remainder`, where no term of
    /// the remainder is a multiple of the divisor's leading term. A divisor that divides leaves no remainder.
    pub fn divided_by(&self, divisor: &Self) -> Option<(Self, Self)> {
        let (lead, by) = divisor.terms().max_by(|(one, _), (other, _)| graded(one, other))?;
        let (mut left, mut quotient, mut remainder) =
            (self.clone(), Self::default(), Self::default());
        while let Some((monomial, coefficient)) =
            left.terms().max_by(|(one, _), (other, _)| graded(one, other))
        {
            let term = Self::monomial(monomial.clone(), coefficient);
            match divided(monomial, lead).filter(|_| coefficient.checked_rem(by) == Some(0)) {
                Some(rest) => {
                    let part = Self::monomial(rest, coefficient / by);
                    left = left.minus(&divisor.times(&part)?)?;
                    quotient = quotient.plus(&part)?;
                }
                None => {
                    left = left.minus(&term)?;
                    remainder = remainder.plus(&term)?;
                }
            }
        }
        Some((quotient, remainder))
    }

    /// `self / divisor`, if that is a polynomial.
    pub fn divided_exactly(&self, divisor: &Self) -> Option<Self> {
        self.divided_by(divisor).filter(|(_, rest)| rest.is_zero()).map(|(quotient, _)| quotient)
    }

    /// The greatest common divisor of all coefficients except the constant term.
    pub fn content(&self) -> i128 {
        let symbolic = self.terms().filter(|(monomial, _)| !monomial.is_empty());
        symbolic.fold(0, |gcd, (_, coefficient)| greatest_common_divisor(gcd, coefficient))
    }

    /// Tightens the inequality `self ≥ 0`: divides by the common factor of the coefficients and rounds the constant.
    /// For integers the result is at least 0 exactly if this is: `g·p + c ≥ 0` is `p ≥ −c/g`, which is `p + floor(c/g)
    /// ≥ 0`.
    pub fn tightened(&self) -> Option<Self> {
        let content = self.content();
        if content < 2 {
            return None;
        }
        let constant = self.constant_term();
        let (quotient, _) = self.offset(-constant)?.split(&[], content);
        quotient.offset(constant.div_euclid(content))
    }

    /// Returns the sign of the term of highest degree: that of `blockDim.x - 4` is positive.
    pub fn leading_sign(&self) -> i128 {
        let leading = self.terms().max_by(|(one, _), (other, _)| graded(one, other));
        leading.map_or(0, |(_, coefficient)| coefficient.signum())
    }

    /// The coefficient of a monomial.
    pub fn coefficient(&self, monomial: &[(Sym, u32)]) -> i128 {
        let position = self.terms.binary_search_by(|(one, _)| one[..].cmp(monomial));
        position.map_or(0, |position| self.terms[position].1)
    }

    /// The coefficient of the empty monomial.
    pub fn constant_term(&self) -> i128 {
        self.coefficient(&[])
    }
}

/// The greatest common divisor; 0 for two zeros.
pub fn greatest_common_divisor(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// A monomial order compatible with multiplication: by degree, then by powers of older symbols.
fn graded(one: &Monomial, other: &Monomial) -> Ordering {
    let degree = |monomial: &Monomial| monomial.iter().map(|(_, power)| *power).sum::<u32>();
    let older = |((a, n), (b, m)): (&(Sym, u32), &(Sym, u32))| b.cmp(a).then(n.cmp(m));
    let differing = one.iter().zip(other).map(older).find(|order| order.is_ne());
    degree(one).cmp(&degree(other)).then(differing.unwrap_or(Ordering::Equal))
}

/// The product of two monomials; `None` if an exponent overflows.
pub fn multiplied(one: &[(Sym, u32)], two: &[(Sym, u32)]) -> Option<Monomial> {
    let mut product = Monomial::with_capacity(one.len() + two.len());
    let (mut mine, mut theirs) = (one.iter().peekable(), two.iter().peekable());
    loop {
        let order = match (mine.peek(), theirs.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        product.push(match order {
            Ordering::Less => *mine.next()?,
            Ordering::Greater => *theirs.next()?,
            Ordering::Equal => {
                let ((sym, power), (_, more)) = (mine.next()?, theirs.next()?);
                (*sym, power + more)
            }
        });
    }
    let degree: u32 = product.iter().map(|(_, power)| power).sum();
    (degree <= MAX_DEGREE).then_some(product)
}

/// `monomial / divisor`, if that is one.
pub fn divided(monomial: &[(Sym, u32)], divisor: &[(Sym, u32)]) -> Option<Monomial> {
    let mut rest = Monomial::with_capacity(monomial.len());
    let mut divisor = divisor.iter().peekable();
    for (sym, power) in monomial {
        match divisor.peek() {
            Some((own, less)) if own == sym => {
                let left = power.checked_sub(*less)?;
                divisor.next();
                if left > 0 {
                    rest.push((*sym, left));
                }
            }
            _ => rest.push((*sym, *power)),
        }
    }
    divisor.next().is_none().then_some(rest)
}
