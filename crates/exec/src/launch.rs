//! What is executed: a kernel, its grid, and what its parameters hold.

use ir::{FuncId, Scalar, TensorMap, VarId};
use std::ops::Range;

/// A launch: everything that is fixed before the first thread starts.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: FuncId,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// Global buffers; arguments refer to them by position.
    pub buffers: Vec<Buffer>,
    /// What each parameter holds, in order.
    pub arguments: Vec<Argument>,
    /// Contents that the host gave to module variables; the others hold their initialisers.
    pub symbols: Vec<(VarId, Contents)>,
    /// The blocks to run, by number: ranges in ascending order that do not overlap; all if empty.
    pub selected: Vec<Range<u64>>,
}

impl Launch {
    /// Number of threads of a block.
    #[must_use]
    pub fn threads(&self) -> u64 {
        product(self.block)
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        product(self.grid)
    }

    /// How many blocks are executed.
    pub(crate) fn selected_blocks(&self) -> u64 {
        match self.selected.is_empty() {
            true => self.blocks(),
            false => self.selected.iter().map(|range| range.end - range.start).sum(),
        }
    }

    /// Whether some blocks are left out.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.selected_blocks() < self.blocks()
    }

    /// Numbers of the blocks to run, ascending.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let all = 0..self.blocks();
        let whole = self.selected.is_empty().then(|| all.clone());
        let inside = move |range: Range<u64>| range.start..range.end.min(all.end);
        whole.into_iter().chain(self.selected.iter().cloned().map(inside)).flatten()
    }

    /// Position of the block with this number; x varies fastest.
    #[must_use]
    pub fn block_position(&self, number: u64) -> [u32; 3] {
        position(number, self.grid)
    }

    /// Position of the thread with this number in its block; x varies fastest.
    #[must_use]
    pub fn thread_position(&self, number: u64) -> [u32; 3] {
        position(number, self.block)
    }
}

fn product(sizes: [u32; 3]) -> u64 {
    sizes.iter().fold(1, |product, &size| product.saturating_mul(u64::from(size)))
}

fn position(number: u64, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let (x, y) = (u64::from(x).max(1), u64::from(y).max(1));
    // Each is below the size of its axis, which has 32 bits.
    #[expect(clippy::cast_possible_truncation, reason = "below a 32-bit size")]
    [(number % x) as u32, (number / x % y) as u32, (number / x / y) as u32]
}

/// A buffer in global memory.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// What reports call it.
    pub name: String,
    /// Bytes from one element to the next, for reports that name an index.
    pub element_bytes: u32,
    /// What an element is. Only runs with a domain look at it; without it, opaque contents are
    /// nothing to a domain.
    pub element: Option<Scalar>,
    /// What is in it at first.
    pub contents: Contents,
    /// What the kernel may do with it.
    pub access: Access,
}

/// First contents of a buffer.
#[derive(Clone, Debug)]
pub enum Contents {
    /// These bytes.
    Known(Vec<u8>),
    /// This many bytes that the caller gave values we do not look at.
    Opaque(u64),
    /// This many bytes that nobody has written.
    Undefined(u64),
    /// A buffer of unknown size, with values we do not look at; accesses are not checked against
    /// its bounds.
    Unbounded,
}

impl Contents {
    /// Bytes, as far as known.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Known(bytes) => bytes.len() as u64,
            Self::Opaque(size) | Self::Undefined(size) => *size,
            Self::Unbounded => 0,
        }
    }
}

/// What a kernel may do with a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only: a write is a finding.
    In,
    /// Written: every byte must be, and what was there before must not be read.
    Out,
    /// Read and written.
    InOut,
    /// Written, and read where it was written before; no result.
    Scratch,
}

/// What a parameter holds.
#[derive(Clone, Debug)]
pub enum Argument {
    /// The address of a buffer.
    Pointer(usize),
    /// An address in a buffer.
    PointerInto {
        /// The buffer.
        buffer: usize,
        /// Bytes from its start.
        offset: u64,
    },
    /// These bytes, as many as the parameter has.
    Bytes(Vec<u8>),
    /// A value we do not look at; what it is, for runs with a domain.
    Opaque(Option<Scalar>),
    /// A tensor map of a buffer, whose tensor begins at a byte of it.
    TensorMap {
        /// The buffer.
        buffer: usize,
        /// Bytes from its start.
        offset: u64,
        /// The description.
        map: Box<TensorMap>,
    },
    /// A structure: pieces at byte offsets, the rest undefined.
    Struct(Vec<(u64, Argument)>),
}
