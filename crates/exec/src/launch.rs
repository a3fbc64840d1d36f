//! Launches: a kernel, its grid, and its arguments.

use crate::finding::Thread;
use crate::lanes::WARP;
use ir::{FuncId, Scalar, TensorMap, VarId};
use std::collections::BTreeSet;
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
    /// Blocks of a cluster in x, y and z, if the launch or the kernel gives a cluster size; they divide the
    /// grid.
    pub cluster: Option<[u32; 3]>,
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u64,
    /// Global buffers; arguments refer to them by position.
    pub buffers: Vec<Buffer>,
    /// The arguments, in parameter order.
    pub arguments: Vec<Argument>,
    /// Contents that the host gave to module variables; the others have their initialisers.
    pub symbols: Vec<(VarId, VariableContents)>,
    /// The blocks to run, by number: ascending, disjoint ranges; all if empty. Each block's whole cluster
    /// runs with it.
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

    /// Returns the buffer that serves as the memory of a module variable, if any.
    pub(crate) fn buffer_of(&self, variable: VarId) -> Option<usize> {
        self.symbols.iter().find_map(|(id, held)| match held {
            VariableContents::Buffer(buffer) if *id == variable => Some(*buffer),
            _ => None,
        })
    }

    /// Blocks of a cluster in x, y and z; `[1, 1, 1]` for a launch without clusters.
    #[must_use]
    pub fn cluster_size(&self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3])
    }

    /// Number of blocks of a cluster.
    #[must_use]
    pub fn cluster_blocks(&self) -> usize {
        usize::try_from(product(self.cluster_size())).unwrap_or(usize::MAX)
    }

    /// Clusters of the grid in x, y and z.
    #[must_use]
    pub fn clusters(&self) -> [u32; 3] {
        let size = self.cluster_size();
        std::array::from_fn(|axis| self.grid[axis] / size[axis].max(1))
    }

    /// The number of executed blocks.
    pub(crate) fn selected_blocks(&self) -> u64 {
        match self.selected.is_empty() {
            true => self.blocks(),
            false if self.cluster_blocks() > 1 => {
                self.unit_count().saturating_mul(self.cluster_blocks() as u64)
            }
            false => self.selected.iter().map(|range| range.end - range.start).sum(),
        }
    }

    /// Returns `true` if some blocks are left out.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.selected_blocks() < self.blocks()
    }

    /// Numbers of the units that run together, ascending: clusters, or single blocks.
    pub(crate) fn units(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        if self.cluster_blocks() == 1 {
            return Box::new(self.numbers());
        }
        if self.selected.is_empty() {
            return Box::new(0..product(self.clusters()));
        }
        let units: BTreeSet<u64> = self.numbers().map(|number| self.unit_of(number)).collect();
        Box::new(units.into_iter())
    }

    /// The number of units that run. A grid has up to 2^63 blocks, so they are not counted one by one.
    pub(crate) fn unit_count(&self) -> u64 {
        match (self.cluster_blocks() == 1, self.selected.is_empty()) {
            (true, _) => self.selected_blocks(),
            (false, true) => product(self.clusters()),
            (false, false) => self.units().count() as u64,
        }
    }

    /// The cluster of the block with this number.
    fn unit_of(&self, number: u64) -> u64 {
        let (block, size) = (self.block_position(number), self.cluster_size());
        let [x, y, z]: [u64; 3] =
            std::array::from_fn(|axis| u64::from(block[axis] / size[axis].max(1)));
        let [columns, rows, _] = self.clusters().map(u64::from);
        x + columns * (y + rows * z)
    }

    /// Position of the block with this rank in a cluster, or of a lone block.
    pub(crate) fn position_in_unit(&self, unit: u64, rank: usize) -> [u32; 3] {
        let size = self.cluster_size();
        let (cluster, in_cluster) = (position(unit, self.clusters()), position(rank as u64, size));
        std::array::from_fn(|axis| cluster[axis] * size[axis] + in_cluster[axis])
    }

    /// Warps of a block.
    pub(crate) fn warps(&self) -> usize {
        usize::try_from(self.threads().div_ceil(WARP as u64)).unwrap_or(usize::MAX).max(1)
    }

    /// The thread of a lane, given the number of its warp, counted across all blocks of the unit.
    pub(crate) fn thread(&self, unit: u64, warp: usize, lane: usize) -> Thread {
        let warps = self.warps();
        let number = (warp % warps * WARP + lane) as u64;
        let block = self.position_in_unit(unit, warp / warps);
        let rank = (self.cluster_blocks() > 1).then_some((warp / warps) as u32);
        Thread { block, thread: self.thread_position(number), rank }
    }

    /// Rank of a block in its cluster.
    #[must_use]
    pub fn rank(&self, block: [u32; 3]) -> u32 {
        let size = self.cluster_size();
        let [x, y, z]: [u32; 3] = std::array::from_fn(|axis| block[axis] % size[axis].max(1));
        x + size[0] * (y + size[1] * z)
    }

    /// The first block to run.
    pub(crate) fn first_block(&self) -> Option<u64> {
        self.numbers().next()
    }

    /// Numbers of the blocks to run, ascending.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        let all = 0..self.blocks();
        let whole_grid = self.selected.is_empty().then(|| all.clone());
        let inside = move |range: Range<u64>| range.start..range.end.min(all.end);
        whole_grid.into_iter().chain(self.selected.iter().cloned().map(inside)).flatten()
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
    /// Its name in reports.
    pub name: String,
    /// Bytes from one element to the next, to report an index.
    pub element_bytes: u32,
    /// The type of its elements. Only runs with a domain use it; without it, the domain gets no values for
    /// opaque contents.
    pub element: Option<Scalar>,
    /// Its initial contents.
    pub contents: Contents,
    /// The kernel's access rights.
    pub access: Access,
}

/// Contents of a module variable at the launch.
#[derive(Clone, Debug)]
pub enum VariableContents {
    /// These contents.
    Contents(Contents),
    /// A buffer that serves as its memory. Only for constants, which a kernel cannot write.
    Buffer(usize),
}

/// Initial contents of a buffer.
#[derive(Clone, Debug)]
pub enum Contents {
    /// These bytes.
    Known(Vec<u8>),
    /// This many bytes with values that are not inspected.
    Opaque(u64),
    /// Like `Opaque`, with some bytes known to be zero.
    Sparse {
        /// The number of bytes.
        bytes: u64,
        /// The zero bytes: ascending, disjoint ranges.
        zeros: Vec<Range<usize>>,
    },
    /// This many uninitialised bytes.
    Undefined(u64),
    /// Addresses of buffers, eight bytes each; `None` is a null pointer.
    Pointers(Vec<Option<usize>>),
    /// Values at byte offsets, as in a structure; the rest is undefined. None of them is opaque.
    Structures {
        /// The number of bytes.
        bytes: u64,
        /// The values.
        pieces: Vec<(u64, Argument)>,
    },
    /// A buffer of unknown size, with values that are not inspected; accesses are not checked against its
    /// bounds.
    Unbounded,
}

impl Contents {
    /// The size in bytes, as far as known.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Known(bytes) => bytes.len() as u64,
            Self::Pointers(targets) => 8 * targets.len() as u64,
            Self::Opaque(size)
            | Self::Undefined(size)
            | Self::Sparse { bytes: size, .. }
            | Self::Structures { bytes: size, .. } => *size,
            Self::Unbounded => 0,
        }
    }
}

/// A kernel's access rights to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only: a write is a finding.
    In,
    /// Output: every byte must be written, and the old contents must not be read.
    Out,
    /// Read and written.
    InOut,
    /// Written, and read only where it was written before. Not a result.
    Scratch,
}

/// The value of a parameter.
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
    /// Bytes, in the size of the parameter.
    Bytes(Vec<u8>),
    /// A value that is not inspected, with its type for runs with a domain.
    Opaque(Option<Scalar>),
    /// A tensor map of a buffer, with a tensor that begins at an offset.
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
