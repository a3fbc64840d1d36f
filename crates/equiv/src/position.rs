//! Elements of outputs, and why one is not settled.

use exec::Place;

/// An element of an output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The output.
    pub name: String,
    /// The element, in the order of the indices.
    pub index: usize,
}

/// Why an element is not settled.
#[derive(Clone, Debug)]
pub struct Unsettled {
    /// Which.
    pub position: Position,
    /// Why, as a clause.
    pub reason: String,
    /// The side that lost it, the reference or the other, and the instruction, if a value was lost.
    pub lost: Option<(usize, Place)>,
}
