//! Operations of the engine on terms, as keys for the lookup of earlier results.

use exec::domain::{Binary, Connective, Unary};
use ir::{ArgumentRange, RealFunction, Relation};
use term::Term;

/// An operation on up to three terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Unary(Unary),
    Binary(Binary),
    Function(RealFunction, Option<ArgumentRange>),
    /// `a·b + c`.
    Fma,
    Compare(Relation),
    CompareFloats(Relation),
    Connect(Connective),
    Not,
    /// The second operand where the first holds, the third elsewhere.
    Select,
}

impl Operation {
    /// Returns the position of the operand that is a sum, if the operation appends a product to it.
    pub(super) fn extended_sum(self, [a, b, c]: [Term; 3]) -> Option<usize> {
        let is_sum = |term: Term| term.products() > 0;
        match self {
            Self::Fma if is_sum(c) => Some(2),
            Self::Binary(Binary::Add | Binary::Sub) if is_sum(a) => Some(0),
            Self::Binary(Binary::Add) if is_sum(b) => Some(1),
            _ => None,
        }
    }

    /// Returns `true` for the addition of two equally long sums, which lanes may have exchanged.
    pub(super) fn adds_sums_of_same_length(self, [a, b, _]: [Term; 3]) -> bool {
        self == Self::Binary(Binary::Add) && a.products() > 0 && a.products() == b.products()
    }

    /// Orders the operands canonically, where their order does not matter.
    pub(super) fn ordered(self, [a, b, c]: [Term; 3]) -> [Term; 3] {
        let swapped = b < a;
        match self {
            Self::Binary(Binary::Add | Binary::Mul | Binary::Min | Binary::Max) | Self::Fma
                if swapped =>
            {
                [b, a, c]
            }
            _ => [a, b, c],
        }
    }
}
