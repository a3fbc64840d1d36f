//! The metadata of a sparse A (manual §9.7.14.6.1, §9.7.14.6.2).
//!
//! Half of each chunk of columns is stored; four bits select the columns. The manual's figures assign these bits to
//! threads, by row and chunk. This file implements the assignment observed on an H200 with random metadata, for
//! every shape and selector. Bits that the manual calls invalid are an error of the kernel: the row is undefined.

use ir::Element;

/// The sparsity pattern of A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    /// Columns of a chunk.
    width: usize,
    /// Columns that are selected together.
    unit: usize,
    /// Chunks of a row.
    count: usize,
    /// Set if a thread has four chunks of two rows, rather than eight of one.
    two_rows: bool,
}

impl Chunks {
    pub(super) fn new(element: Element, k: usize) -> Self {
        let (width, unit) = match element.bits() {
            32 => (2, 1),
            4 => (8, 2),
            _ => (4, 1),
        };
        Self { width, unit, count: k / width, two_rows: element.bits() >= 16 }
    }

    /// The number of threads out of four with metadata.
    fn threads(self) -> usize {
        // Sixteen rows with four bits for each chunk, in eight groups of threads.
        self.count * 16 * 4 / (32 * 8)
    }

    /// Returns `true` if a selector names existing threads.
    pub(super) fn allows(self, selector: u8) -> bool {
        (usize::from(selector) + 1) * self.threads() <= 4
    }

    /// Returns the lane with the bits of a chunk of a row, and the position of the first bit.
    fn location(self, selector: u8, row: usize, chunk: usize) -> (usize, u32) {
        let (half, group) = (row / 8, row % 8);
        let (thread, position) = match self.two_rows {
            true => (chunk / 4, chunk % 4 + 4 * half),
            false => (half + 2 * (chunk / 8), chunk % 8),
        };
        let lane = 4 * group + usize::from(selector) * self.threads() + thread;
        (lane, 4 * position as u32)
    }

    /// Returns the columns of a row's stored elements; `None` if the metadata is invalid.
    pub(super) fn columns(
        self,
        (selector, ordered): (u8, bool),
        row: usize,
        metadata: &[u64; 32],
    ) -> Option<Vec<usize>> {
        let mut columns = Vec::with_capacity(self.count * self.width / 2);
        for chunk in 0..self.count {
            let (lane, first) = self.location(selector, row, chunk);
            let bits = metadata[lane] >> first & 15;
            let start = chunk * self.width;
            if self.width == 2 {
                columns.push(match bits {
                    0b0100 => start,
                    0b1110 => start + 1,
                    _ => return None,
                });
                continue;
            }
            let [low, high] = [bits & 3, bits >> 2].map(|index| index as usize);
            if low == high || ordered && low > high {
                return None;
            }
            for index in [low, high] {
                columns.extend((0..self.unit).map(|at| start + index * self.unit + at));
            }
        }
        Some(columns)
    }
}
