//! Monomials: products of atoms to rational powers, times an exponential.
//!
//! Sixteen bytes. Products of at most two atoms to the power 1 (nearly all in kernels) are held in place; others are
//! numbers of a table. Either way equal monomials are equal bytes.
//!
//! An exponent has two numbers: one for its summands over inputs alone, one for all others. The scores of attention
//! are of the first kind and long. The maxima that rescale them are of the second and short. So a rescale adds short
//! forms, and each score is stored once.

use super::{AtomId, FormId, Power};
use smallvec::SmallVec;
use term::Number;

/// An exponent in two parts, each a form, to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Exponent {
    /// The summands with at most two inputs and nothing else.
    pub(crate) plain: FormId,
    /// All others.
    pub(crate) rest: FormId,
}

impl Exponent {
    pub(crate) const ZERO: Self = Self { plain: FormId::ZERO, rest: FormId::ZERO };

    /// Returns both parts.
    pub(crate) const fn parts(self) -> [FormId; 2] {
        [self.plain, self.rest]
    }
}

/// `Π atom^power · e^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Monomial {
    pub(super) exponent: Exponent,
    /// An atom, or 0; or, if `second` is [`IN_TABLE`], a number of the power table.
    pub(super) first: u32,
    /// An atom not before `first`, or 0.
    pub(super) second: u32,
}

pub(super) const IN_TABLE: u32 = u32::MAX;

/// A summand: coefficient and monomial.
pub(crate) type Summand = (Monomial, Number);

/// Atoms and powers, ascending by atom, no zero powers.
pub(crate) type Factors = SmallVec<[(AtomId, Power); 4]>;

impl Monomial {
    /// The empty product.
    pub(crate) const ONE: Self = Self { exponent: Exponent::ZERO, first: 0, second: 0 };

    pub(crate) const fn of_atom(atom: AtomId) -> Self {
        Self { exponent: Exponent::ZERO, first: atom.0, second: 0 }
    }

    pub(crate) const fn of_exponent(exponent: Exponent) -> Self {
        Self { exponent, first: 0, second: 0 }
    }

    /// Returns the product of two inputs.
    pub(crate) fn of_inputs(a: usize, b: usize) -> Self {
        let (a, b) = (AtomId::of_input(a), AtomId::of_input(b));
        Self { exponent: Exponent::ZERO, first: a.0.min(b.0), second: a.0.max(b.0) }
    }

    /// Returns the product of two atoms.
    pub(crate) fn of_atoms(a: AtomId, b: AtomId) -> Self {
        Self { exponent: Exponent::ZERO, first: a.0.min(b.0), second: a.0.max(b.0) }
    }

    /// Returns the two atoms of a product of two, the earlier first.
    pub(crate) fn as_pair(self) -> Option<(AtomId, AtomId)> {
        let pair = self.second != 0 && self.second != IN_TABLE && self.exponent == Exponent::ZERO;
        pair.then_some((AtomId(self.first), AtomId(self.second)))
    }

    /// Returns all of its bits, for hashing.
    pub(crate) const fn bits(self) -> (u64, u64) {
        (
            (self.exponent.plain.0 as u64) << 32 | self.first as u64,
            (self.exponent.rest.0 as u64) << 32 | self.second as u64,
        )
    }

    pub(crate) const fn exponent(self) -> Exponent {
        self.exponent
    }

    pub(crate) const fn without_exponent(self) -> Self {
        Self { exponent: Exponent::ZERO, ..self }
    }

    pub(crate) const fn has_atoms(self) -> bool {
        self.first != 0 || self.second != 0
    }

    /// Returns `true` if it has powers other than 1 and 2, or more than two atoms.
    pub(crate) const fn is_in_table(self) -> bool {
        self.second == IN_TABLE
    }

    /// Returns the atom if the monomial is one atom to the power 1 without exponential.
    pub(crate) fn as_atom(self) -> Option<AtomId> {
        (self.second == 0 && self.first != 0 && self.exponent == Exponent::ZERO)
            .then_some(AtomId(self.first))
    }
}
