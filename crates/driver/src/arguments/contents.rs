//! The bytes of a tensor with contents stated by the user.

use super::misfit::ContentsError;
use super::output::element_offsets;
use super::{ElementType, IndexRange, Initial, Number, TensorSpec, fills, structured};
use crate::npy;
use ir::Scalar;
use std::collections::BTreeMap;
use std::path::Path;

/// Contents are held in memory, so they must fit.
const MAX_BYTES: u64 = 8 << 30;

/// Stated contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Data {
    /// The bytes of the whole buffer; zero at places that no index reaches.
    pub(super) bytes: Vec<u8>,
    /// Its sizes; those of the file or list if the tensor has none.
    pub(super) shape: Vec<u64>,
    /// The sizes of the file, if they differ.
    pub(super) reshaped: Option<Vec<u64>>,
}

/// The contents of a tensor, `None` if none are stated.
///
/// # Errors
/// If a file cannot be read or does not fit the tensor, or a number does not fit its type.
pub(super) fn data(tensor: &TensorSpec) -> Result<Option<Data>, ContentsError> {
    let Some(initial) = &tensor.initial else { return Ok(None) };
    let mut reshaped = None;
    let (dense, shape) = match initial {
        Initial::File(path) => {
            let (dense, shape, other) = from_file(path, tensor)?;
            reshaped = other;
            (dense, shape)
        }
        Initial::List(numbers) => {
            let shape = tensor.shape.clone().unwrap_or_else(|| vec![numbers.len() as u64]);
            (encoded(tensor.element, numbers.iter().cloned())?, shape)
        }
        Initial::Iota => {
            let shape = sized(tensor)?;
            (fills::iota(tensor.element, TensorSpec::count(&shape))?, shape)
        }
        Initial::Random(seed) => {
            let shape = sized(tensor)?;
            let stated = (tensor.range, tensor.is_distinct);
            (fills::random(tensor.element, TensorSpec::count(&shape), *seed, stated)?, shape)
        }
        Initial::Fill(number) => {
            let shape = sized(tensor)?;
            let mut element = Vec::new();
            tensor.element.encode(number, &mut element)?;
            let count = TensorSpec::count(&shape);
            // `sized` bounds the number of bytes.
            (element.repeat(usize::try_from(count).unwrap_or(0)), shape)
        }
    };
    if let Some(range) = tensor.range {
        in_range(&dense, tensor.element, range)?;
    }
    if tensor.is_distinct {
        distinct(&dense, tensor.element)?;
    }
    if let Some(structure) = &tensor.structure {
        structured::check_contents(&dense, tensor.element, (structure, &shape))?;
    }
    let bytes = match &tensor.strides {
        Some(strides) => scattered(&dense, &shape, strides, tensor.element)?,
        None => dense,
    };
    Ok(Some(Data { bytes, shape, reshaped }))
}

/// Checks that integers are in their stated range.
fn in_range(dense: &[u8], element: ElementType, range: IndexRange) -> Result<(), ContentsError> {
    for (position, bytes) in dense.chunks_exact(element.bytes() as usize).enumerate() {
        let bits = bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let width = 8 * element.bytes();
        let signed = matches!(element.scalar(), Scalar::Integer { signed: true, .. });
        let negative = signed && bits >> (width - 1) & 1 == 1;
        let number = i128::from(bits) - if negative { 1_i128 << width } else { 0 };
        if !range.contains(number) {
            return Err(ContentsError::OutOfRange { position, number, range: range.into() });
        }
    }
    Ok(())
}

/// Checks that no two elements are equal.
fn distinct(dense: &[u8], element: ElementType) -> Result<(), ContentsError> {
    let mut seen: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (position, bytes) in dense.chunks_exact(element.bytes() as usize).enumerate() {
        if let Some(first) = seen.insert(bytes, position) {
            return Err(ContentsError::Repeated { first, position });
        }
    }
    Ok(())
}

/// The shape of a tensor whose contents will fit in memory.
fn sized(tensor: &TensorSpec) -> Result<Vec<u64>, ContentsError> {
    // The parser refuses fills of unknown size.
    let shape = tensor.shape.clone().ok_or(ContentsError::UnknownSize)?;
    let extent = TensorSpec::extent(&shape, tensor.strides.as_deref());
    let bytes = extent.and_then(|extent| extent.checked_mul(tensor.element.bytes().into()));
    if bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err(ContentsError::TooLarge);
    }
    Ok(shape)
}

pub(super) fn encoded(
    element: ElementType,
    numbers: impl Iterator<Item = Number>,
) -> Result<Vec<u8>, ContentsError> {
    let mut bytes = Vec::new();
    for (position, number) in numbers.enumerate() {
        element
            .encode(&number, &mut bytes)
            .map_err(|why| ContentsError::Element { position, why })?;
    }
    Ok(bytes)
}

/// The elements of a file, the sizes they are taken to have, and those of the file if they differ: any shape with as
/// many elements in row-major order is accepted.
fn from_file(path: &str, tensor: &TensorSpec) -> Result<FromFile, ContentsError> {
    let array = npy::read(Path::new(path))?;
    let element = tensor.element;
    if !element.accepts(array.dtype) {
        let (path, found) = (path.to_owned(), array.dtype);
        return Err(ContentsError::Type { path, found, element });
    }
    let other = tensor.shape.as_ref().filter(|&shape| *shape != array.shape);
    if let Some(shape) =
        other.filter(|shape| TensorSpec::count(shape) != TensorSpec::count(&array.shape))
    {
        let (path, expected) = (path.to_owned(), shape.clone());
        return Err(ContentsError::Shape { path, found: array.shape, expected });
    }
    if element == ElementType::B1 && array.data.iter().any(|&byte| byte > 1) {
        return Err(ContentsError::Truth { path: path.to_owned() });
    }
    // With strides, the buffer may be much larger than the file.
    let chosen_shape = other.cloned().unwrap_or_else(|| array.shape.clone());
    let shape = sized(&TensorSpec { shape: Some(chosen_shape), ..tensor.clone() })?;
    Ok((array.data, shape, other.map(|_| array.shape)))
}

/// Bytes, sizes, and the sizes of the file if they differ.
type FromFile = (Vec<u8>, Vec<u64>, Option<Vec<u64>>);

/// Scatters row-major elements to the places given by the strides.
fn scattered(
    dense: &[u8],
    shape: &[u64],
    strides: &[u64],
    element: ElementType,
) -> Result<Vec<u8>, ContentsError> {
    let width = element.bytes() as usize;
    let extent = TensorSpec::extent(shape, Some(strides)).unwrap_or(0);
    let extent = usize::try_from(extent).map_err(|_| ContentsError::TooLarge)?;
    if extent.checked_mul(width).is_none_or(|bytes| bytes as u64 > MAX_BYTES) {
        return Err(ContentsError::TooLarge);
    }
    let mut bytes = vec![0; extent * width];
    let mut written = vec![false; extent];
    for (value, offset) in dense.chunks_exact(width).zip(element_offsets(shape, Some(strides))) {
        // Cannot truncate: the offset is below `extent`.
        let position = offset as usize;
        let place = &mut bytes[position * width..][..width];
        if written[position] && place != value {
            return Err(ContentsError::Overlap);
        }
        place.copy_from_slice(value);
        written[position] = true;
    }
    Ok(bytes)
}
