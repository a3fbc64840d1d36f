//! Computes a tensor map from its description: sizes, strides and types come from its tensor unless stated.
//!
//! Checks every limit of the driver ([`ir::TensorMap::check`]), and that the map stays inside its tensor. So a launch
//! has only maps that a driver would encode.

use super::tensor_map::MapShape;
use super::{ElementType, TensorMapSpec, TensorSpec};
use crate::bounded;
use ir::{BoxShape, MapLimit, Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap};
use thiserror::Error;

/// The largest offset: GPUs have addresses of 49 bits.
const MAX_REACH: u128 = 1 << 48;

/// The reason why there is no map.
#[derive(Debug, Error)]
pub(super) enum MapError {
    #[error(
        "no argument is called `{0}`; expected --arg {0}=f16[..] beside it, or {0}=f16[..] in its place"
    )]
    UnknownTensor(String),
    #[error("`{0}` is not a tensor")]
    NotATensor(String),
    #[error("`{0}` needs a shape, such as {0}=f16[512,256]; or give dim=[..] and stride=[..]")]
    NoShape(String),
    #[error("no tensor map has elements of type {0}; give another type, such as elem=u8")]
    UnsupportedElement(ElementType),
    #[error("rows of {bytes} bytes are not a whole number of {element}")]
    PartialElements { bytes: u64, element: TensorElement },
    #[error("elements of the innermost dimension must lie next to each other; its stride is {0}")]
    InnerStride(u64),
    #[error("{dims} dimensions need {needed} {what}, {given} are given")]
    Count { what: &'static str, dims: usize, needed: usize, given: usize },
    #[error("{what} {value} is too large")]
    TooLarge { what: &'static str, value: i128 },
    #[error("offset={0} is not a multiple of 16 bytes")]
    Offset(u64),
    #[error("it reaches {reach} bytes from the start of `{tensor}`, which has {size}")]
    Beyond { tensor: String, reach: u128, size: u128 },
    #[error("its tensor is larger than any memory (2^48 bytes)")]
    TooFar,
    #[error("cannot read {path}: {why}")]
    File { path: String, why: std::io::Error },
    #[error("{path} has {size} bytes; a tensor map has 128")]
    FileSize { path: String, size: usize },
    #[error("{path} is not a tensor map of a known layout: {why}")]
    Bits { path: String, why: ir::MapDecodeError },
    #[error("interleaved maps are not supported")]
    Interleaved,
    #[error("{}", .0.0)]
    Limit(MapLimit),
}

/// The map of a description.
pub(super) fn layout(spec: &TensorMapSpec, tensor: &TensorSpec) -> Result<TensorMap, MapError> {
    let map = match &spec.file {
        Some(path) => from_file(path)?,
        None => from_keys(spec, tensor)?,
    };
    if map.interleave.is_some() {
        return Err(MapError::Interleaved);
    }
    map.check().map_err(MapError::Limit)?;
    if !spec.keys.offset.is_multiple_of(16) {
        return Err(MapError::Offset(spec.keys.offset));
    }
    let reach = map.tensor_bytes() + u128::from(spec.keys.offset);
    if reach > MAX_REACH {
        return Err(MapError::TooFar);
    }
    if let Some(shape) = &tensor.shape {
        let extent = TensorSpec::extent(shape, tensor.strides.as_deref()).unwrap_or(0);
        let size = u128::from(extent) * u128::from(tensor.element.bytes());
        if reach > size {
            return Err(MapError::Beyond { tensor: spec.tensor.clone(), reach, size });
        }
    }
    Ok(map)
}

fn from_file(path: &str) -> Result<TensorMap, MapError> {
    let owned = || path.to_owned();
    let bytes = bounded::read(path.as_ref(), bounded::MAX_TEXT)
        .map_err(|why| MapError::File { path: owned(), why })?;
    let Ok(bytes) = <&[u8; TENSOR_MAP_BYTES]>::try_from(bytes.as_slice()) else {
        return Err(MapError::FileSize { path: owned(), size: bytes.len() });
    };
    let decoded = TensorMap::decode(bytes).map_err(|why| MapError::Bits { path: owned(), why })?;
    Ok(decoded.map)
}

/// Computes the map of a specification. Missing keys come from its tensor.
fn from_keys(spec: &TensorMapSpec, tensor: &TensorSpec) -> Result<TensorMap, MapError> {
    let element = match spec.keys.element {
        Some(element) => element,
        None => element_of(tensor.element)?,
    };
    let dims = match (&spec.keys.dims, &tensor.shape) {
        (Some(dims), _) => dims.clone(),
        (None, Some(shape)) => viewed(shape, tensor.element, element)?,
        (None, None) => return Err(MapError::NoShape(spec.tensor.clone())),
    };
    let rank = dims.len();
    let strides = strides(spec, tensor, (&dims, element))?;
    let needed = rank.saturating_sub(1);
    let count = |what, needed, given| match needed == given {
        true => Ok(()),
        false => Err(MapError::Count { what, dims: rank, needed, given }),
    };
    count("strides in bytes (all but the innermost)", needed, strides.len())?;
    let steps = spec.keys.steps.clone().unwrap_or_else(|| vec![1; rank]);
    count("steps", rank, steps.len())?;
    let shape = match spec.keys.shape.as_ref() {
        Some(MapShape::Box(sizes)) => {
            count("sizes of the box", rank, sizes.len())?;
            BoxShape::Tile(reversed(sizes, "a size of the box")?)
        }
        Some(MapShape::Im2col { lower, upper, channels, pixels }) => BoxShape::Im2col {
            lower: reversed(lower, "a corner")?,
            upper: reversed(upper, "a corner")?,
            channels: small(*channels, "the number of channels")?,
            pixels: small(*pixels, "the number of pixels")?,
        },
        // Without a file the parser requires a box.
        None => BoxShape::Tile(Vec::new()),
    };
    Ok(TensorMap {
        element,
        dims: dims.into_iter().rev().collect(),
        strides: strides.into_iter().rev().collect(),
        steps: reversed(&steps, "a step")?,
        shape,
        swizzle: spec.keys.swizzle.unwrap_or(Swizzle::None),
        interleave: None,
        nan_fill: spec.keys.nan_fill,
    })
}

/// Sizes of a tensor, viewed as elements of another size.
fn viewed(shape: &[u64], from: ElementType, to: TensorElement) -> Result<Vec<u64>, MapError> {
    let mut dims = shape.to_vec();
    if let Some(inner) = dims.last_mut() {
        let bytes = inner.saturating_mul(from.bytes().into());
        if !bytes.is_multiple_of(to.bytes().into()) {
            return Err(MapError::PartialElements { bytes, element: to });
        }
        *inner = bytes / u64::from(to.bytes());
    }
    Ok(dims)
}

/// Bytes from one index to the next, outermost first, without the innermost.
fn strides(
    spec: &TensorMapSpec,
    tensor: &TensorSpec,
    (dims, element): (&[u64], TensorElement),
) -> Result<Vec<u64>, MapError> {
    if let Some(strides) = &spec.keys.strides {
        return Ok(strides.clone());
    }
    let bytes = u64::from(tensor.element.bytes());
    match (&tensor.shape, &tensor.strides) {
        (Some(_), Some(own)) if own.len() == dims.len() => {
            if let Some(&inner) = own.last().filter(|inner| **inner != 1) {
                return Err(MapError::InnerStride(inner));
            }
            let outer = &own[..own.len().saturating_sub(1)];
            Ok(outer.iter().map(|stride| stride.saturating_mul(bytes)).collect())
        }
        (Some(shape), None) if shape.len() == dims.len() => Ok(row_major(shape, bytes)),
        _ => Ok(row_major(dims, element.bytes().into())),
    }
}

fn row_major(shape: &[u64], element: u64) -> Vec<u64> {
    let mut stride = element;
    let mut strides = Vec::new();
    for size in shape.iter().skip(1).rev() {
        stride = stride.saturating_mul(*size);
        strides.push(stride);
    }
    strides.reverse();
    strides
}

fn element_of(element: ElementType) -> Result<TensorElement, MapError> {
    let name = match element.to_string().as_str() {
        // Maps have no signed bytes; the bits are the same.
        "s8" => "u8".to_owned(),
        "s16" => "u16".to_owned(),
        "f8e4m3" | "f8e5m2" | "b1" => "u8".to_owned(),
        name => name.to_owned(),
    };
    let known = TensorElement::NAMES.iter().find(|(known, _)| *known == name);
    known.map(|(_, element)| *element).ok_or(MapError::UnsupportedElement(element))
}

fn small<T: TryFrom<i128>>(value: impl Into<i128>, what: &'static str) -> Result<T, MapError> {
    let value = value.into();
    T::try_from(value).map_err(|_| MapError::TooLarge { what, value })
}

fn reversed<T: TryFrom<i128>, V: Copy + Into<i128>>(
    values: &[V],
    what: &'static str,
) -> Result<Vec<T>, MapError> {
    values.iter().rev().map(|value| small(*value, what)).collect()
}
