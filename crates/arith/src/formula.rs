//! Formulas: Boolean combinations of polynomial conditions (`p ≥ 0`, `p = 0`, `p` is a power of two) over integer
//! symbols, without quantifiers and arrays. The constructors simplify.

use crate::poly::{Poly, Sym};
use deadline::tick;
use std::collections::BTreeSet;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// Always true.
    True,
    /// Never true.
    False,
    /// The polynomial is at least 0.
    Ge(Poly),
    /// The polynomial is 0.
    Eq(Poly),
    /// The polynomial is 1, 2, 4, 8, …
    Pow2(Poly),
    /// The negation of a condition without an opposite of its own.
    Not(Box<Formula>),
    /// All of them hold.
    And(Vec<Formula>),
    /// One of them holds.
    Or(Vec<Formula>),
}

impl Formula {
    /// The polynomial is at least 0.
    pub fn ge(poly: Poly) -> Self {
        match poly.as_constant() {
            Some(value) if value >= 0 => Self::True,
            Some(_) => Self::False,
            None => Self::Ge(poly.tightened().unwrap_or(poly)),
        }
    }

    /// The polynomial is 0.
    pub fn eq(poly: Poly) -> Self {
        match poly.as_constant() {
            Some(0) => Self::True,
            Some(_) => Self::False,
            None => {
                let content = poly.content();
                if content > 1 && poly.constant_term() % content != 0 {
                    return Self::False;
                }
                Self::Eq(poly)
            }
        }
    }

    /// The condition that a symbol, which is 0 or 1, is 1.
    pub fn holds(sym: Sym) -> Self {
        Poly::symbol(sym).offset(-1).map_or(Self::False, Self::ge)
    }

    /// The opposite condition.
    #[expect(
        clippy::should_implement_trait,
        reason = "a chain of methods reads from left to right"
    )]
    pub fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Not(inner) => *inner,
            Self::Ge(poly) => match poly.scaled(-1).and_then(|negative| negative.offset(-1)) {
                Some(negative) => Self::ge(negative),
                None => Self::Not(Box::new(Self::Ge(poly))),
            },
            Self::And(parts) => Self::or(parts.into_iter().map(Self::not)),
            Self::Or(parts) => Self::and(parts.into_iter().map(Self::not)),
            other => Self::Not(Box::new(other)),
        }
    }

    /// The conjunction, without parts that follow from its form.
    pub fn and(parts: impl IntoIterator<Item = Self>) -> Self {
        tick();
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::True => {}
                Self::False => return Self::False,
                Self::And(inner) => flat.extend(inner),
                other if flat.contains(&other) => {}
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::True,
            1 => flat.remove(0),
            _ => Self::And(flat),
        }
    }

    /// The disjunction, without parts that follow from its form.
    pub fn or(parts: impl IntoIterator<Item = Self>) -> Self {
        tick();
        let mut flat = Vec::new();
        for part in parts {
            match part {
                Self::False => {}
                Self::True => return Self::True,
                Self::Or(inner) => flat.extend(inner),
                other if flat.contains(&other) => {}
                other => flat.push(other),
            }
        }
        match flat.len() {
            0 => Self::False,
            1 => flat.remove(0),
            _ => Self::Or(flat),
        }
    }

    /// `other` wherever this condition holds.
    pub fn implies(self, other: Self) -> Self {
        Self::or([self.not(), other])
    }

    /// The conjuncts.
    pub fn conjuncts(&self) -> &[Self] {
        match self {
            Self::And(parts) => parts,
            Self::True => &[],
            _ => std::slice::from_ref(self),
        }
    }

    /// Calls `see` for every polynomial in it.
    pub fn visit(&self, see: &mut impl FnMut(&Poly)) {
        tick();
        match self {
            Self::True | Self::False => {}
            Self::Ge(poly) | Self::Eq(poly) | Self::Pow2(poly) => see(poly),
            Self::Not(inner) => inner.visit(see),
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.visit(see)),
        }
    }

    /// The symbols of all polynomials.
    pub fn symbols(&self) -> BTreeSet<Sym> {
        let mut found = BTreeSet::new();
        self.visit(&mut |poly| found.extend(poly.symbols()));
        found
    }

    /// Maps the polynomials; `None` if one cannot be mapped.
    pub fn mapped(&self, map: &mut impl FnMut(&Poly) -> Option<Poly>) -> Option<Self> {
        Some(match self {
            Self::True | Self::False => self.clone(),
            Self::Ge(poly) => Self::ge(map(poly)?),
            Self::Eq(poly) => Self::eq(map(poly)?),
            Self::Pow2(poly) => Self::Pow2(map(poly)?),
            Self::Not(inner) => inner.mapped(map)?.not(),
            Self::And(parts) => {
                let parts: Option<Vec<Self>> = parts.iter().map(|part| part.mapped(map)).collect();
                Self::and(parts?)
            }
            Self::Or(parts) => {
                let parts: Option<Vec<Self>> = parts.iter().map(|part| part.mapped(map)).collect();
                Self::or(parts?)
            }
        })
    }
}
