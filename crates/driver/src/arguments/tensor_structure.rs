//! The structure of a tensor that is read: `:lower`, `:upper`, `:symmetric`, `:mask=[1,0,1]`.
//!
//! In all but masks the last two dimensions are a matrix, those before them a batch. Zeros are positive zeros: claims
//! are about inputs that hold these bits there. A structure is taken as said and listed as assumed; contents that are
//! given must have it.

use super::misfit::ContentsError;
use super::parse::{bracketed, comma_separated, number};
use super::{Direction, ElementType, Number, ParseReason, TensorSpec, index_range};
use crate::npy::{self, Dtype};
use equiv::Cell;
use ir::Scalar;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::path::Path;

/// Elements of a tensor with a structure: what each is, is held in memory.
const MOST_ELEMENTS: u64 = 1 << 26;

/// Which elements of a tensor are zero, or the same as others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorStructure {
    /// Zero above the diagonal.
    Lower,
    /// Zero below the diagonal.
    Upper,
    /// The same as its transpose.
    Symmetric,
    /// Zero where the mask is.
    Mask(Mask),
}

/// Numbers for the elements of a tensor, in row-major order: those that are not zero are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// `[1,0,1]`
    List(Vec<bool>),
    /// `@mask.npy`: truth values or integers.
    File(String),
}

impl TensorStructure {
    /// The words of all structures.
    pub(super) const WORDS: [&str; 4] = ["lower", "upper", "symmetric", "mask"];

    /// Its word.
    pub(super) fn word(&self) -> &'static str {
        let [lower, upper, symmetric, mask] = Self::WORDS;
        match self {
            Self::Lower => lower,
            Self::Upper => upper,
            Self::Symmetric => symmetric,
            Self::Mask(_) => mask,
        }
    }

    /// Reads the structure of a word, if it is one, and for a mask what follows; returns what is left.
    pub(super) fn parse<'t>(
        word: &str,
        rest: &'t str,
    ) -> Option<Result<(Self, &'t str), ParseReason>> {
        let plain = [Self::Lower, Self::Upper, Self::Symmetric];
        match plain.into_iter().find(|one| one.word() == word) {
            Some(found) => Some(Ok((found, rest))),
            None if word == "mask" => Some(parse_mask(rest)),
            None => None,
        }
    }

    /// Checks that a tensor can have it.
    pub(super) fn check(&self, tensor: &TensorSpec) -> Result<(), ParseReason> {
        let word = self.word();
        if matches!(tensor.direction, Direction::Out | Direction::Scratch) {
            return Err(ParseReason::StructureOfOutput(word));
        }
        if tensor.is_distinct {
            return Err(ParseReason::StructureDistinct(word));
        }
        let Some(shape) = &tensor.shape else {
            return Err(ParseReason::StructureOfUnknown(word));
        };
        match (self, shape.as_slice()) {
            (Self::Mask(Mask::List(mask)), shape) => {
                let (elements, given) = (TensorSpec::count(shape), mask.len());
                if elements != given as u64 {
                    return Err(ParseReason::MaskLength { elements, given });
                }
            }
            (Self::Mask(Mask::File(_)), _) => {}
            (Self::Symmetric, [.., rows, columns]) if rows != columns => {
                return Err(ParseReason::NotSquare { rows: *rows, columns: *columns });
            }
            (_, [.., _, _]) => {}
            (_, shape) => return Err(ParseReason::NoMatrix { word, dimensions: shape.len() }),
        }
        let strides = tensor.strides.as_deref();
        if strides.is_some_and(|strides| index_range::strides_overlap(shape, strides)) {
            return Err(ParseReason::StructureShared(word));
        }
        if TensorSpec::count(shape) > MOST_ELEMENTS {
            return Err(ParseReason::StructureTooLarge { word, most: MOST_ELEMENTS });
        }
        let range = tensor.range.filter(|range| range.low > 0 || range.high <= 0);
        match range.filter(|_| *self != Self::Symmetric) {
            Some(range) => Err(ParseReason::StructureRange { word, range }),
            None => Ok(()),
        }
    }

    /// What each element is, in row-major order.
    ///
    /// # Errors
    /// If the file of a mask cannot be read, or has another number of elements.
    pub(super) fn cells(&self, shape: &[u64]) -> Result<Vec<Cell>, ContentsError> {
        // At most `MOST_ELEMENTS`.
        let count = TensorSpec::count(shape) as usize;
        if let Self::Mask(mask) = self {
            let kept = mask.kept(count)?;
            let cell = |(at, kept)| if kept { Cell::Element(at as u32) } else { Cell::Zero };
            return Ok(kept.into_iter().enumerate().map(cell).collect());
        }
        let &[.., rows, columns] = shape else { return Ok(identity(count)) };
        let (rows, columns) = (rows as usize, columns as usize);
        let cell = |at: usize| {
            let matrix = at / (rows * columns) * rows * columns;
            let (row, column) = (at % (rows * columns) / columns, at % columns);
            match self {
                Self::Lower if column > row => Cell::Zero,
                Self::Upper if column < row => Cell::Zero,
                Self::Symmetric if column < row => {
                    Cell::Element((matrix + column * columns + row) as u32)
                }
                _ => Cell::Element(at as u32),
            }
        };
        Ok((0..count).map(cell).collect())
    }

    /// Says it of a tensor, in a sentence.
    pub(crate) fn sentence(&self, name: &str) -> String {
        match self {
            Self::Lower => format!("`{name}` is zero above the diagonal (:lower)"),
            Self::Upper => format!("`{name}` is zero below the diagonal (:upper)"),
            Self::Symmetric => format!("`{name}` is the same as its transpose (:symmetric)"),
            Self::Mask(_) => format!("`{name}` is zero where its mask is 0 (:mask)"),
        }
    }
}

impl Mask {
    /// Which of so many elements are kept.
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
        let kept: Vec<bool> = elements.map(|one| one.iter().any(|byte| *byte != 0)).collect();
        match kept.len() == count {
            true => Ok(kept),
            false => Err(ContentsError::MaskSize { path: path.clone(), found: kept.len(), count }),
        }
    }
}

impl Display for TensorStructure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Lower | Self::Upper | Self::Symmetric => Ok(()),
            Self::Mask(Mask::File(path)) => write!(f, "=@{path}"),
            Self::Mask(Mask::List(kept)) => {
                let digits: Vec<&str> =
                    kept.iter().map(|kept| if *kept { "1" } else { "0" }).collect();
                write!(f, "=[{}]", digits.join(","))
            }
        }
    }
}

/// Every element is itself.
fn identity(count: usize) -> Vec<Cell> {
    (0..count as u32).map(Cell::Element).collect()
}

/// Reads `=[1,0,1]` or `=@mask.npy`; returns what follows.
fn parse_mask(text: &str) -> Result<(TensorStructure, &str), ParseReason> {
    let wrong = || ParseReason::NoMask;
    let text = text.strip_prefix('=').ok_or_else(wrong)?;
    if let Some(path) = text.strip_prefix('@') {
        // A name may have any characters, so it ends where the ending does.
        let ends = path.match_indices(".npy").map(|(at, ending)| at + ending.len());
        let mut ends =
            ends.filter(|end| path[*end..].is_empty() || path[*end..].starts_with([':', '=']));
        let end = ends.next().filter(|end| *end > ".npy".len()).ok_or(ParseReason::NoMaskFile)?;
        let mask = Mask::File(path[..end].to_owned());
        return Ok((TensorStructure::Mask(mask), &path[end..]));
    }
    if !text.starts_with('[') {
        return Err(wrong());
    }
    let (items, rest) = bracketed(text)?;
    let kept = comma_separated(items).map(|item| match number(item) {
        Some(Number::Integer(number)) => Ok(number != 0),
        _ => Err(ParseReason::NoMaskElement(item.to_owned())),
    });
    Ok((TensorStructure::Mask(Mask::List(kept.collect::<Result<_, _>>()?)), rest))
}

/// The bytes of elements that are zero, from the first byte of each element on: ranges in ascending order.
pub(super) fn zeros(
    cells: &[Cell],
    offsets: impl Iterator<Item = u64>,
    element: ElementType,
) -> Vec<Range<usize>> {
    let bytes = element.bytes() as usize;
    let zeros = cells.iter().zip(offsets).filter(|(cell, _)| **cell == Cell::Zero);
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
            Cell::Zero if !is_zero(own, element) => {
                let word = structure.word();
                return Err(ContentsError::NotZero { position, word });
            }
            Cell::Element(first) => {
                let first = first as usize;
                let same = elements[first] == *own
                    || is_zero(elements[first], element) && is_zero(own, element);
                if !same {
                    return Err(ContentsError::NotSame { first, position });
                }
            }
            Cell::Zero => {}
        }
    }
    Ok(())
}

/// Tells whether an element is zero, of either sign.
fn is_zero(bytes: &[u8], element: ElementType) -> bool {
    let Some((last, low)) = bytes.split_last() else { return true };
    let sign = if matches!(element.scalar(), Scalar::Float(_)) { 0x80 } else { 0 };
    last & !sign == 0 && low.iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of cells: `.` is zero, a letter an element that is itself, a capital one of another.
    fn picture(structure: &TensorStructure, shape: &[u64]) -> String {
        let cells = structure.cells(shape).unwrap();
        let letter = |(at, cell): (usize, &Cell)| match cell {
            Cell::Zero => '.',
            Cell::Element(own) if *own as usize == at => char::from(b'a' + *own as u8),
            Cell::Element(other) => char::from(b'A' + *other as u8),
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
