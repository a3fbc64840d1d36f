//! The buffers that hold results after a run, and how to extract the results.

use super::{ElementType, TensorSpec};
use crate::npy::Array;

/// A tensor the kernel writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSpec {
    /// The argument's name.
    pub name: String,
    /// Its buffer: a position in [`exec::Launch::buffers`].
    pub buffer: usize,
    /// Type of its elements.
    pub element: ElementType,
    /// Sizes.
    pub shape: Vec<u64>,
    /// Elements from one index to the next in each dimension; `None` for row-major. Bytes in gaps that no index
    /// reaches are not part of the tensor: they need not be written.
    pub strides: Option<Vec<u64>>,
}

impl OutputSpec {
    /// The offset of each element from the start of the buffer, counted in elements, in row-major order of the
    /// indices.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        element_offsets(&self.shape, self.strides.as_deref())
    }

    /// The tensor as an array for a `.npy` file, out of its buffer's bytes; `None` if the buffer is
    /// too short.
    #[must_use]
    pub fn array(&self, buffer: &[u8]) -> Option<Array> {
        let width = self.element.bytes() as usize;
        let extent = TensorSpec::extent(&self.shape, self.strides.as_deref())?;
        let needed = usize::try_from(extent).ok()?.checked_mul(width)?;
        let buffer = buffer.get(..needed)?;
        let data = match self.strides {
            None => buffer.to_vec(),
            Some(_) => self
                .offsets()
                // Cannot truncate: offsets are below the extent, and so inside the slice.
                .flat_map(|offset| &buffer[offset as usize * width..][..width])
                .copied()
                .collect(),
        };
        Some(Array { dtype: self.element.dtype(), shape: self.shape.clone(), data })
    }
}

/// Offsets of all elements, in row-major order of the indices.
pub(super) fn element_offsets(shape: &[u64], strides: Option<&[u64]>) -> impl Iterator<Item = u64> {
    let strides = strides.map_or_else(|| row_major(shape), <[u64]>::to_vec);
    let shape = shape.to_vec();
    let mut index = vec![0_u64; shape.len()];
    let mut offset = 0_u64;
    let mut left = TensorSpec::count(&shape);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let current = offset;
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
        Some(current)
    })
}

fn row_major(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        // Saturates only if another size is 0: then there are no elements, and no stride is used.
        strides[axis - 1] = u64::saturating_mul(strides[axis], shape[axis]);
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::element_offsets;

    #[test]
    fn offsets_follow_the_strides() {
        let offsets = |shape: &[u64], strides| element_offsets(shape, strides).collect::<Vec<_>>();
        assert_eq!(offsets(&[2, 3], None), [0, 1, 2, 3, 4, 5]);
        assert_eq!(offsets(&[2, 3], Some(&[1, 2])), [0, 2, 4, 1, 3, 5]);
        assert_eq!(offsets(&[2, 2], Some(&[8, 1])), [0, 1, 8, 9]);
        assert_eq!(offsets(&[2, 2], Some(&[0, 1])), [0, 1, 0, 1]);
        assert_eq!(offsets(&[], None), [0]);
        assert!(offsets(&[3, 0], None).is_empty());
    }
}
