//! Atoms: the factors of monomials.

use super::{ConditionId, FormId};
use term::Function;

/// An atom's number: 0 is none, then the inputs, then the rest in order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AtomId(pub(crate) u32);

impl AtomId {
    /// Returns the atom of an input.
    pub(crate) const fn of_input(position: usize) -> Self {
        Self(position as u32 + 1)
    }
}

/// The meaning of an atom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    /// A free variable, by position.
    Input(u32),
    /// π.
    Pi,
    /// An integer > 1 with no small factor to split off, only ever to powers strictly between 0
    /// and 1: whole powers belong to the coefficient.
    Integer(u64),
    /// `ln n`, `n` as in [`Atom::Integer`].
    LogInteger(u64),
    /// `ln |f|`.
    Log(FormId),
    /// `f`, kept together: the carrier of powers that cannot be multiplied out.
    Base(FormId),
    /// The largest of at least two forms, sorted by number, whose component-wise minimum is zero.
    Maximum(Box<[FormId]>),
    /// The second where the condition holds, else the third.
    Select(ConditionId, FormId, FormId),
    /// A named function.
    Apply(Function, FormId),
    /// A block: an unknown function of the inputs, with a number and whether it is a sum of squares.
    Opaque {
        /// Equal numbers, equal functions.
        number: u32,
        /// Not negative.
        squares: bool,
    },
}
