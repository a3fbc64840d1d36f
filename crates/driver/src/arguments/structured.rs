//! The structure of a tensor, element by element: which are zero, which are equal, and where the zeros lie in memory.
//! Also checks given contents against it.
//!
//! Zeros are positive zeros: claims are about inputs with these bits there. Contents may have either zero.

use super::misfit::ContentsError;
use super::{ElementType, Mask, TensorSpec, TensorStructure};
use crate::npy::{self, Dtype};
use equiv::StructuredElement;
use ir::Scalar;
use std::ops::Range;
use std::path::Path;

impl TensorStructure {
    /// Returns the structure element by element, in row-major order.
    ///
    /// # Errors
    /// If the file of a mask cannot be read, or has another number of elements.
    pub(super) fn cells(&self, shape: &[u64]) -> Result<Vec<StructuredElement>, ContentsError> {
        // The parser bounds the number of elements.
        let count = TensorSpec::count(shape) as usize;
        if let Self::Mask(mask) = self {
            let kept = mask.kept(count)?;
            let cell = |(at, kept)| {
                if kept { StructuredElement::Element(at as u32) } else { StructuredElement::Zero }
            };
            return Ok(kept.into_iter().enumerate().map(cell).collect());
        }
        let &[.., rows, columns] = shape else { return Ok(identity(count)) };
        let (rows, columns) = (rows as usize, columns as usize);
        let cell = |at: usize| {
            let matrix = at / (rows * columns) * rows * columns;
            let (row, column) = (at % (rows * columns) / columns, at % columns);
            match self {
                Self::Lower if column > row => StructuredElement::Zero,
                Self::Upper if column < row => StructuredElement::Zero,
                Self::Symmetric if column < row => {
                    StructuredElement::Element((matrix + column * columns + row) as u32)
                }
                _ => StructuredElement::Element(at as u32),
            }
        };
        Ok((0..count).map(cell).collect())
    }
}

impl Mask {
    /// Reads the mask of `count` elements: `true` for those that are kept, `false` for zeros.
    fn kept(&self, count: usize) -> Result<Vec<bool>, ContentsError> {
        let path = match self {
            Self::List(kept) => return Ok(kept.clone()),
            Self::File(path) => path,
        };
        let array = npy::read(Path::new(path))?;
        let is_float = matches!(array.dtype, Dtype::F8 | Dtype::F4 | Dtype::F2 | Dtype::Raw(_));
        if is_float {
            let (path, found) = (path.clone(), array.dtype);
            return Err(ContentsError::MaskType { path, found });
        }
        let elements = array.data.chunks_exact(array.dtype.bytes());
        let kept: Vec<bool> =
            elements.map(|element| element.iter().any(|byte| *byte != 0)).collect();
        match kept.len() == count {
            true => Ok(kept),
            false => Err(ContentsError::MaskSize { path: path.clone(), found: kept.len(), count }),
        }
    }
}

/// The structure without constraints: every element is itself.
fn identity(count: usize) -> Vec<StructuredElement> {
    (0..count as u32).map(StructuredElement::Element).collect()
}

/// The bytes of elements that are zero, as ranges in ascending order; adjacent ones are joined.
pub(super) fn zeros(
    cells: &[StructuredElement],
    offsets: impl Iterator<Item = u64>,
    element: ElementType,
) -> Vec<Range<usize>> {
    let bytes = element.bytes() as usize;
    let zeros = cells.iter().zip(offsets).filter(|(cell, _)| **cell == StructuredElement::Zero);
    let mut starts: Vec<usize> = zeros.map(|(_, offset)| offset as usize * bytes).collect();
    starts.sort_unstable();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for start in starts {
        match ranges.last_mut().filter(|last| last.end == start) {
            Some(last) => last.end += bytes,
            None => ranges.push(start..start + bytes),
        }
    }
    ranges
}

/// Checks that contents, in row-major order, have a structure.
pub(super) fn check_contents(
    dense: &[u8],
    element: ElementType,
    (structure, shape): (&TensorStructure, &[u64]),
) -> Result<(), ContentsError> {
    let elements: Vec<&[u8]> = dense.chunks_exact(element.bytes() as usize).collect();
    for (position, cell) in structure.cells(shape)?.into_iter().enumerate() {
        // A list or a file has as many elements as the shape.
        let Some(own) = elements.get(position) else { break };
        match cell {
            StructuredElement::Zero if !is_zero(own, element) => {
                let word = structure.word();
                return Err(ContentsError::NotZero { position, word });
            }
            StructuredElement::Element(first) => {
                let first = first as usize;
                let same = elements[first] == *own
                    || is_zero(elements[first], element) && is_zero(own, element);
                if !same {
                    return Err(ContentsError::NotSame { first, position });
                }
            }
            StructuredElement::Zero => {}
        }
    }
    Ok(())
}

/// Returns `true` if an element is zero, of either sign.
fn is_zero(bytes: &[u8], element: ElementType) -> bool {
    let Some((last, low)) = bytes.split_last() else { return true };
    let sign = if matches!(element.scalar(), Scalar::Float(_)) { 0x80 } else { 0 };
    last & !sign == 0 && low.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of cells: `.` is zero, a small letter an element of its own, a capital one equal to another.
    fn picture(structure: &TensorStructure, shape: &[u64]) -> String {
        let cells = structure.cells(shape).unwrap();
        let letter = |(at, cell): (usize, &StructuredElement)| match cell {
            StructuredElement::Zero => '.',
            StructuredElement::Element(own) if *own as usize == at => char::from(b'a' + *own as u8),
            StructuredElement::Element(other) => char::from(b'A' + *other as u8),
        };
        cells.iter().enumerate().map(letter).collect()
    }

    #[test]
    fn cells_are_those_of_the_words() {
        assert_eq!(picture(&TensorStructure::Lower, &[3, 3]), "a..de.ghi");
        assert_eq!(picture(&TensorStructure::Upper, &[3, 3]), "abc.ef..i");
        assert_eq!(picture(&TensorStructure::Symmetric, &[3, 3]), "abcBefCFi");
        assert_eq!(picture(&TensorStructure::Lower, &[2, 4]), "a...ef..");
        assert_eq!(picture(&TensorStructure::Upper, &[4, 2]), "ab.d....");
        assert_eq!(picture(&TensorStructure::Symmetric, &[2, 2, 2]), "abBdefFh");
        assert_eq!(picture(&TensorStructure::Lower, &[2, 2, 2]), "a.cde.gh");
        let mask = Mask::List(vec![true, false, true]);
        assert_eq!(picture(&TensorStructure::Mask(mask), &[3]), "a.c");
        assert_eq!(picture(&TensorStructure::Lower, &[3, 0]), "");
    }

    #[test]
    fn zeros_are_ranges_of_bytes_wherever_elements_lie() {
        let cells = TensorStructure::Lower.cells(&[3, 3]).unwrap();
        assert_eq!(zeros(&cells, 0..9, ElementType::F32), [4..12, 20..24]);
        let columns = [0, 3, 6, 1, 4, 7, 2, 5, 8].into_iter();
        assert_eq!(zeros(&cells, columns, ElementType::F16), [6..8, 12..16]);
    }
}
