//! Positions in the program.

use ir::{BlockId, FuncId};

/// A position in the program, before an instruction or a terminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) function: FuncId,
    pub(crate) block: BlockId,
    pub(crate) index: usize,
}

impl Position {
    /// The start of a basic block.
    pub(crate) fn start(function: FuncId, block: BlockId) -> Self {
        Self { function, block, index: 0 }
    }

    /// The next instruction.
    pub(crate) fn next(self) -> Self {
        Self { index: self.index + 1, ..self }
    }
}
