//! The walk of a tensor copy (manual §5.5.3 to §5.5.5): each piece of the box, with its places in shared memory and
//! in the tensor.
//!
//! Without interleaving, row r of the box begins at r times the pitch; the swizzle then exchanges 16-byte units by
//! the *absolute* shared address. Loads fill elements outside the tensor, one by one. Stores leave them out, but an
//! H200 cuts rows at 16 bytes: it writes bytes of the last unit that lie beyond the tensor, and such pieces are
//! marked. Recorded on an H200 for loads and stores of all ranks with all swizzles, steps and fills, and for im2col
//! with steps; anything else is an error.

use super::{BoxShape, TensorMap};

/// Bytes that are contiguous on both sides, at most 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Address in shared memory.
    pub shared: u64,
    /// Bytes from the start of the tensor; `None` if it lies outside and a load fills it.
    pub tensor: Option<i128>,
    /// The number of bytes.
    pub bytes: u32,
    /// Set if the bytes lie beyond the tensor's row. A store writes them nevertheless.
    pub beyond: bool,
}

/// The reason why the walk of a copy is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// An interleaved map.
    Interleaved,
    /// An im2col copy that starts outside its bounding box.
    OutsideBounds,
    /// An im2col store whose bounding box is not the whole tensor, or that crosses the end of the tensor: an illegal
    /// instruction on an H200.
    Im2colStore,
}

impl WalkError {
    /// Describes the unknown as a clause.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Interleaved => "interleaved tensor maps are not modelled",
            Self::OutsideBounds => {
                "an im2col copy that starts outside its bounding box is not modelled"
            }
            Self::Im2colStore => {
                "an im2col store beyond the tensor, or with corners that are not zero, is not modelled"
            }
        }
    }
}

/// The start of a copy, and its direction.
#[derive(Clone, Copy, Debug)]
pub struct Start<'c> {
    /// Coordinates of the first element, innermost first.
    pub coordinates: &'c [i32],
    /// Offsets of an im2col load; spatial dimensions, innermost first.
    pub offsets: &'c [u16],
    /// Address in shared memory.
    pub shared: u64,
    /// A store, whose rows are cut at 16 bytes.
    pub stores: bool,
}

impl TensorMap {
    /// Visits the pieces of a copy in the order of the box.
    ///
    /// # Errors
    /// If the behaviour of the hardware is unknown.
    pub fn walk(&self, start: &Start<'_>, visit: &mut dyn FnMut(Piece)) -> Result<(), WalkError> {
        if self.interleave.is_some() {
            return Err(WalkError::Interleaved);
        }
        match &self.shape {
            BoxShape::Tile(sizes) => {
                self.tile(start, sizes, visit);
                Ok(())
            }
            BoxShape::Im2col { lower, upper, pixels, .. } => {
                self.columns(start, (lower, upper), *pixels, visit)
            }
        }
    }

    /// Bytes of the tensor between the box at the origin and this one, if all of this one lies inside the tensor. Its
    /// pieces are then those of the box at the origin, moved by that distance.
    #[must_use]
    pub fn inside(&self, start: &Start<'_>) -> Option<i128> {
        let BoxShape::Tile(sizes) = &self.shape else { return None };
        if self.interleave.is_some() || start.coordinates.len() != self.rank() {
            return None;
        }
        let size = i128::from(self.element.bytes());
        let first = i128::from(start.coordinates[0]) * size;
        // The last unit of a row is written whole.
        let end = first + i128::from(self.row_bytes().next_multiple_of(16));
        if first < 0 || end > i128::from(self.dims[0]) * size {
            return None;
        }
        (1..self.rank()).try_fold(first, |sum, dim| {
            let (at, step) = (i64::from(start.coordinates[dim]), i64::from(self.steps[dim]));
            let last = at + (i64::from(sizes[dim].div_ceil(self.steps[dim])) - 1) * step;
            self.outer(dim, last)?;
            Some(sum + self.outer(dim, at)?)
        })
    }

    fn tile(&self, start: &Start<'_>, sizes: &[u32], visit: &mut dyn FnMut(Piece)) {
        let mut counter = vec![0_u32; self.rank()];
        for row in 0..self.rows() {
            let mut at: Option<i128> = Some(0);
            for (dim, count) in counter.iter().enumerate().skip(1) {
                let index = i64::from(start.coordinates[dim])
                    + i64::from(*count) * i64::from(self.steps[dim]);
                at = at.and_then(|at| Some(at + self.outer(dim, index)?));
            }
            self.row(start, (row, at), visit);
            for (dim, count) in counter.iter_mut().enumerate().skip(1) {
                *count += 1;
                if *count < sizes[dim].div_ceil(self.steps[dim]) {
                    break;
                }
                *count = 0;
            }
        }
    }

    /// Walks pixels in the order w, h, d, n through the bounding box.
    fn columns(
        &self,
        start: &Start<'_>,
        (lower, upper): (&[i32], &[i32]),
        pixels: u32,
        visit: &mut dyn FnMut(Piece),
    ) -> Result<(), WalkError> {
        let spatial = self.rank() - 2;
        let first = |at: usize| i64::from(lower[at]);
        let last = |at: usize| self.dims[1 + at] as i64 - 1 + i64::from(upper[at]);
        if start.stores && lower.iter().chain(upper).any(|corner| *corner != 0) {
            return Err(WalkError::Im2colStore);
        }
        let mut pixel: Vec<i64> =
            start.coordinates[1..].iter().map(|one| i64::from(*one)).collect();
        if (0..spatial).any(|at| !(first(at)..=last(at)).contains(&pixel[at])) {
            return Err(WalkError::OutsideBounds);
        }
        for row in 0..pixels {
            let mut at: Option<i128> = Some(0);
            for (dim, index) in pixel.iter().enumerate() {
                let offset = start.offsets.get(dim).map_or(0, |offset| i64::from(*offset));
                at = at.and_then(|at| Some(at + self.outer(dim + 1, index + offset)?));
            }
            if start.stores && at.is_none() {
                return Err(WalkError::Im2colStore);
            }
            self.row(start, (u64::from(row), at), visit);
            for (dim, index) in pixel.iter_mut().enumerate() {
                *index += i64::from(self.steps[dim + 1]);
                if dim == spatial || *index <= last(dim) {
                    break;
                }
                *index = first(dim);
            }
        }
        Ok(())
    }

    /// Bytes to an index of an outer dimension, if it is inside.
    fn outer(&self, dim: usize, index: i64) -> Option<i128> {
        let inside = u64::try_from(index).is_ok_and(|index| index < self.dims[dim]);
        inside.then(|| i128::from(index) * i128::from(self.strides[dim - 1]))
    }

    fn row(&self, start: &Start<'_>, (row, at): (u64, Option<i128>), visit: &mut dyn FnMut(Piece)) {
        let size = i128::from(self.element.bytes());
        let extent = i128::from(self.dims[0]) * size;
        let reach = if start.stores { (extent + 15) / 16 * 16 } else { extent };
        let first = i128::from(start.coordinates[0]) * size;
        let begin = start.shared + row * self.pitch();
        for unit in (0..self.row_bytes()).step_by(16) {
            let shared = self.swizzle.apply(begin + unit);
            let (left, right) = (first + i128::from(unit), first + i128::from(unit) + 16);
            // Coordinates are multiples of 16 bytes, so at most two of these are not empty.
            for (from, to, kind) in [
                (left, right.min(0), RowPart::Outside),
                (left.max(0), right.min(extent), RowPart::Inside),
                (left.max(extent), right.min(reach), RowPart::Beyond),
                (left.max(reach), right, RowPart::Outside),
            ] {
                let tensor = at.filter(|_| kind != RowPart::Outside).map(|at| at + from);
                if from < to && (tensor.is_some() || !start.stores) {
                    let beyond = kind == RowPart::Beyond;
                    let shared = shared + (from - left) as u64;
                    visit(Piece { shared, tensor, bytes: (to - from) as u32, beyond });
                }
            }
        }
    }
}

/// A part of a row: inside the tensor, beyond it but still written by a store, or outside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowPart {
    Inside,
    Beyond,
    Outside,
}
