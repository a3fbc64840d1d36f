//! Tensor maps (manual §5.5): the bytes of a tensor that a tensor copy moves, and their places in shared memory.
//!
//! A map describes a tensor (element type, sizes, strides), a box of it, and the layout of the box in shared memory.
//! The manual leaves its 128 bytes opaque. [`TensorMap::decode`] and [`TensorMap::encode`] use the layout that the
//! CUDA driver 13.0 writes, found by varying one field at a time. An unknown bit is refused, so the reader can fail
//! but not misread such a map. [`TensorMap::check`] applies the limits that the driver applies.

mod bits;
mod change;
mod walk;

pub use bits::{MapBits, MapDecodeError};
pub use change::{MapEdit, MapField};
pub use walk::{Piece, Start, WalkError};

use crate::{Format, Scalar, Width};
use std::fmt;

/// Bytes of a tensor map.
pub const TENSOR_MAP_BYTES: usize = 128;

/// The most dimensions of a tensor.
pub const MAX_DIMENSIONS: usize = 5;

/// The unit of addresses, strides and rows, in bytes.
const UNIT: u64 = 16;

/// A tensor map without the address of its tensor. Lists begin with the innermost dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// Type of an element.
    pub element: TensorElement,
    /// Elements in each dimension.
    pub dims: Vec<u64>,
    /// Bytes from one index to the next, from dimension 1 on.
    pub strides: Vec<u64>,
    /// For each dimension, the distance in the tensor of two consecutive elements of the box (element stride); the
    /// innermost is ignored.
    pub steps: Vec<u32>,
    /// The elements that a copy moves.
    pub shape: BoxShape,
    /// The layout of rows in shared memory.
    pub swizzle: Swizzle,
    /// Bytes of an interleaved slice, 16 or 32; `None` is the usual layout.
    pub interleave: Option<u32>,
    /// Elements outside the tensor read as NaN, else as zero.
    pub nan_fill: bool,
}

/// The elements that a copy moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoxShape {
    /// A box of these sizes, counted in elements of the tensor.
    Tile(Vec<u32>),
    /// Columns of pixels.
    Im2col {
        /// The start of the bounding box, relative to the first pixel; spatial dimensions, innermost first.
        lower: Vec<i32>,
        /// The end of the bounding box, relative to the last pixel.
        upper: Vec<i32>,
        /// Channels of a pixel.
        channels: u32,
        /// Pixels of a column.
        pixels: u32,
    },
}

/// Type of an element of a tensor map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum TensorElement {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F32Ftz,
    F64,
    Bf16,
    Tf32,
    Tf32Ftz,
}

/// The layout of rows in shared memory: the address bits that are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in the manual")]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
}

impl TensorElement {
    /// All types with their names.
    pub const NAMES: [(&'static str, Self); 13] = [
        ("u8", Self::U8),
        ("u16", Self::U16),
        ("u32", Self::U32),
        ("s32", Self::S32),
        ("u64", Self::U64),
        ("s64", Self::S64),
        ("f16", Self::F16),
        ("f32", Self::F32),
        ("f32.ftz", Self::F32Ftz),
        ("f64", Self::F64),
        ("bf16", Self::Bf16),
        ("tf32", Self::Tf32),
        ("tf32.ftz", Self::Tf32Ftz),
    ];

    /// Bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 => 1,
            Self::U16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Returns `true` if elements are floats.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.scalar(), Scalar::Float(_))
    }

    /// The type of numbers in a reduction.
    #[must_use]
    pub const fn scalar(self) -> Scalar {
        match self {
            Self::U8 => Scalar::Integer { width: Width::B8, signed: false },
            Self::U16 => Scalar::Integer { width: Width::B16, signed: false },
            Self::U32 => Scalar::Integer { width: Width::B32, signed: false },
            Self::S32 => Scalar::Integer { width: Width::B32, signed: true },
            Self::U64 => Scalar::Integer { width: Width::B64, signed: false },
            Self::S64 => Scalar::Integer { width: Width::B64, signed: true },
            Self::F16 => Scalar::Float(Format::F16),
            Self::F32 | Self::F32Ftz | Self::Tf32 | Self::Tf32Ftz => Scalar::Float(Format::F32),
            Self::F64 => Scalar::Float(Format::F64),
            Self::Bf16 => Scalar::Float(Format::Bf16),
        }
    }
}

impl fmt::Display for TensorElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, element)| element == self);
        f.write_str(name.map_or("?", |(name, _)| name))
    }
}

impl Swizzle {
    /// All modes with their names.
    pub const NAMES: [(&'static str, Self); 4] =
        [("none", Self::None), ("32B", Self::B32), ("64B", Self::B64), ("128B", Self::B128)];

    /// Bytes of a swizzled row; `None` without swizzle.
    #[must_use]
    pub const fn span(self) -> Option<u32> {
        match self {
            Self::None => None,
            Self::B32 => Some(32),
            Self::B64 => Some(64),
            Self::B128 => Some(128),
        }
    }

    /// The alignment after which the pattern repeats.
    #[must_use]
    pub const fn period(self) -> u32 {
        match self {
            Self::None => 16,
            Self::B32 => 256,
            Self::B64 => 512,
            Self::B128 => 1024,
        }
    }

    /// The place of the byte at a shared address: 16-byte units are exchanged within a row.
    #[must_use]
    pub const fn apply(self, address: u64) -> u64 {
        match self.span() {
            None => address,
            Some(span) => address ^ (((address >> 7) & (span as u64 / 16 - 1)) << 4),
        }
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, swizzle)| swizzle == self);
        f.write_str(name.map_or("?", |(name, _)| name))
    }
}

/// A limit of the driver that a map exceeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapLimit(pub String);

impl fmt::Display for MapLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TensorMap {
    /// Number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Returns `true` if the map is for `.im2col` copies.
    #[must_use]
    pub const fn is_im2col(&self) -> bool {
        matches!(self.shape, BoxShape::Im2col { .. })
    }

    /// Bytes of a row of the box.
    #[must_use]
    pub fn row_bytes(&self) -> u64 {
        let elements = match &self.shape {
            BoxShape::Tile(sizes) => sizes.first().copied().unwrap_or(0),
            BoxShape::Im2col { channels, .. } => *channels,
        };
        u64::from(elements) * u64::from(self.element.bytes())
    }

    /// Rows of the box.
    #[must_use]
    pub fn rows(&self) -> u64 {
        match &self.shape {
            BoxShape::Tile(sizes) => {
                let outer = sizes.iter().zip(&self.steps).skip(1);
                outer.map(|(size, step)| u64::from(size.div_ceil((*step).max(1)))).product()
            }
            BoxShape::Im2col { pixels, .. } => u64::from(*pixels),
        }
    }

    /// Bytes of a copy, those outside the tensor included. A load signals this number to its mbarrier.
    #[must_use]
    pub fn box_bytes(&self) -> u64 {
        self.row_bytes().saturating_mul(self.rows())
    }

    /// Bytes from one row of the box to the next in shared memory. A swizzled row fills its span.
    #[must_use]
    pub fn pitch(&self) -> u64 {
        self.swizzle.span().map_or(self.row_bytes(), u64::from)
    }

    /// Bytes from the start of the first element of the tensor to the end of its last.
    #[must_use]
    pub fn tensor_bytes(&self) -> u128 {
        let element = u128::from(self.element.bytes());
        let inner = u128::from(self.dims.first().copied().unwrap_or(0)) * element;
        let outer = self.dims.iter().skip(1).zip(&self.strides);
        outer.fold(inner, |sum, (dim, stride)| {
            sum + u128::from(dim.saturating_sub(1)) * u128::from(*stride)
        })
    }

    /// Checks the limits of the driver (`cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col`).
    ///
    /// # Errors
    /// The first limit that is exceeded.
    pub fn check(&self) -> Result<(), MapLimit> {
        let fail = |text: String| Err(MapLimit(text));
        let rank = self.rank();
        let least = if self.is_im2col() { 3 } else { 1 };
        if rank < least || rank > MAX_DIMENSIONS {
            return fail(format!("a map has {least} to 5 dimensions; this has {rank}"));
        }
        if self.strides.len() + 1 != rank || self.steps.len() != rank {
            return fail(format!("{rank} dimensions need as many strides and steps"));
        }
        if let Some(dim) = self.dims.iter().find(|dim| !(1..=1 << 32).contains(*dim)) {
            return fail(format!("a size is 1 to 2^32; this is {dim}"));
        }
        let bad = |stride: &&u64| !stride.is_multiple_of(UNIT) || **stride >= 1 << 40;
        if let Some(stride) = self.strides.iter().find(bad) {
            return fail(format!(
                "a stride is a multiple of 16 bytes below 2^40; this is {stride}"
            ));
        }
        if let Some(step) = self.steps.iter().find(|step| !(1..=8).contains(*step)) {
            return fail(format!("a step is 1 to 8; this is {step}"));
        }
        if self.nan_fill && !self.element.is_float() {
            return fail(format!("only floats are filled with NaN, not {}", self.element));
        }
        self.check_box()
    }

    fn check_box(&self) -> Result<(), MapLimit> {
        let fail = |text: String| Err(MapLimit(text));
        match &self.shape {
            BoxShape::Tile(sizes) => {
                if sizes.len() != self.rank() {
                    let (rank, given) = (self.rank(), sizes.len());
                    return fail(format!("the tensor has {rank} dimensions, the box {given}"));
                }
                if let Some(size) = sizes.iter().find(|size| !(1..=256).contains(*size)) {
                    return fail(format!("a size of the box is 1 to 256; this is {size}"));
                }
            }
            BoxShape::Im2col { lower, upper, channels, pixels } => {
                let spatial = self.rank() - 2;
                if lower.len() != spatial || upper.len() != spatial {
                    return fail(format!("the corners of im2col have {spatial} numbers each"));
                }
                let bits = [16, 8, 5][spatial - 1];
                let range = -(1 << (bits - 1))..1 << (bits - 1);
                if let Some(corner) = lower.iter().chain(upper).find(|one| !range.contains(*one)) {
                    let (least, most) = (range.start, range.end - 1);
                    return fail(format!("a corner is {least} to {most}; this is {corner}"));
                }
                if !(1..=256).contains(channels) || !(1..=1024).contains(pixels) {
                    return fail("im2col has 1 to 256 channels and 1 to 1024 pixels".to_owned());
                }
            }
        }
        let row = self.row_bytes();
        if !row.is_multiple_of(UNIT) {
            return fail(format!("a row of the box is a multiple of 16 bytes; this is {row}"));
        }
        if let Some(span) = self.swizzle.span()
            && row > u64::from(span)
        {
            return fail(format!(
                "a row of the box has at most {span} bytes with swizzle={}; this has {row}",
                self.swizzle
            ));
        }
        if self.box_bytes() >= 256 << 10 {
            return fail(format!(
                "the box has {} bytes; no shared memory holds it",
                self.box_bytes()
            ));
        }
        Ok(())
    }
}
