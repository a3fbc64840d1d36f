//! Values present before the first instruction: buffers and arguments without given contents.

use ir::Scalar;

/// Values present before the first instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Their location.
    pub source: InputSource,
    /// The type of each.
    pub scalar: Scalar,
    /// The number of adjacent values.
    pub count: u64,
}

/// The location of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputSource {
    /// In the buffer of this number.
    Buffer(usize),
    /// In the argument of this number, at a byte offset (of a structure).
    Argument(usize, u64),
}
