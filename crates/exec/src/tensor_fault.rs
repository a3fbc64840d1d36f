//! Faults of tensor copies (manual §5.5, §9.7.9.27.1), for reports.

use crate::finding::Target;

/// A tensor copy that the manual leaves undefined, or that leaves its tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorFault {
    /// The map and the instruction have different numbers of dimensions.
    Rank {
        /// Dimensions of the map.
        map: usize,
        /// Dimensions of the instruction.
        copy: usize,
    },
    /// A tile copy through a map for im2col, or the other way round.
    Mode {
        /// Set if the map is for im2col.
        im2col: bool,
    },
    /// The innermost coordinate is not at a multiple of 16 bytes: an H200 raises an illegal instruction.
    InnerCoordinate {
        /// The coordinate.
        coordinate: i32,
        /// Bytes of an element.
        element_bytes: u32,
    },
    /// A store with a negative coordinate: an H200 raises an illegal instruction.
    NegativeStore {
        /// The dimension, 0 the innermost.
        dimension: usize,
        /// The coordinate.
        coordinate: i32,
    },
    /// A store with a tensor whose rows do not end at a multiple of 16 bytes: rows are cut at 16 bytes, so it
    /// writes past the end of a row.
    Clip {
        /// The first byte after the row.
        target: Target,
        /// Bytes of a row of the tensor.
        extent: u64,
        /// The number of excess bytes.
        bytes: u32,
    },
}
