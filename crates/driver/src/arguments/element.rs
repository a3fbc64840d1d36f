//! Types of tensor elements: names, sizes, and numbers as bytes.
//!
//! Names are those of PTX, and the spellings of torch, NumPy, CUDA and Triton. In a conflict (`int` and `float` are
//! 64-bit in NumPy), torch and C win: kernels are written in C.

use super::{Number, NumberError, closest, float};
use crate::npy::Dtype;
use ir::{Format, Scalar, Width};
use std::fmt;

/// The type of a tensor's elements or of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in the PTX manual")]
pub enum ElementType {
    F64,
    F32,
    /// A float of 32 bits, 19 of them significant.
    Tf32,
    F16,
    Bf16,
    E4m3,
    E5m2,
    S64,
    S32,
    S16,
    S8,
    U64,
    U32,
    U16,
    U8,
    /// A truth value in a byte of its own, 0 or 1, as in torch and NumPy.
    B1,
}

/// Every spelling; the first of a type is the printed one.
const SPELLINGS: &[(ElementType, &[&str])] = &[
    (ElementType::F64, &["f64", "float64", "double", "fp64"]),
    (ElementType::F32, &["f32", "float32", "float", "fp32", "single"]),
    (ElementType::Tf32, &["tf32"]),
    (ElementType::F16, &["f16", "float16", "half", "fp16"]),
    (ElementType::Bf16, &["bf16", "bfloat16"]),
    (ElementType::E4m3, &["f8e4m3", "float8_e4m3fn", "e4m3", "f8e4m3fn", "fp8e4nv"]),
    (ElementType::E5m2, &["f8e5m2", "float8_e5m2", "e5m2", "fp8e5"]),
    (ElementType::S64, &["s64", "i64", "int64", "long"]),
    (ElementType::S32, &["s32", "i32", "int32", "int"]),
    (ElementType::S16, &["s16", "i16", "int16", "short"]),
    (ElementType::S8, &["s8", "i8", "int8"]),
    (ElementType::U64, &["u64", "uint64"]),
    (ElementType::U32, &["u32", "uint32"]),
    (ElementType::U16, &["u16", "uint16"]),
    (ElementType::U8, &["u8", "uint8"]),
    (ElementType::B1, &["b1", "bool", "i1"]),
];

impl ElementType {
    /// The type of a spelling. A module in front (`torch.`, `np.`) and capitals do not matter.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let modules = ["torch.", "numpy.", "np.", "tl."];
        let without_module =
            modules.iter().find_map(|module| name.strip_prefix(module)).unwrap_or(&name);
        let found = SPELLINGS.iter().find(|(_, spellings)| spellings.contains(&without_module));
        found.map(|&(element, _)| element)
    }

    /// The known spelling closest to an unknown type, if one is close.
    pub(super) fn suggestion(word: &str) -> Option<&'static str> {
        let spellings = SPELLINGS.iter().flat_map(|(_, spellings)| spellings.iter().copied());
        closest(&word.to_ascii_lowercase(), spellings)
    }

    /// The printed name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = SPELLINGS.iter().find(|&&(element, _)| element == self);
        found.map_or("", |(_, spellings)| spellings[0])
    }

    /// Bytes of an element in memory.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F64 | Self::S64 | Self::U64 => 8,
            Self::F32 | Self::Tf32 | Self::S32 | Self::U32 => 4,
            Self::F16 | Self::Bf16 | Self::S16 | Self::U16 => 2,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 | Self::B1 => 1,
        }
    }

    /// The engine's type for such a number.
    #[must_use]
    pub fn scalar(self) -> Scalar {
        let integer = |width, signed| Scalar::Integer { width, signed };
        match (self, self.float_format()) {
            (_, Some(format)) => Scalar::Float(format),
            (Self::S64, _) => integer(Width::B64, true),
            (Self::U64, _) => integer(Width::B64, false),
            (Self::S32, _) => integer(Width::B32, true),
            (Self::U32, _) => integer(Width::B32, false),
            (Self::S16, _) => integer(Width::B16, true),
            (Self::U16, _) => integer(Width::B16, false),
            (Self::S8, _) => integer(Width::B8, true),
            _ => integer(Width::B8, false),
        }
    }

    /// The type for numbers of an engine type.
    #[must_use]
    pub fn of_scalar(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Float(Format::F64) => Self::F64,
            Scalar::Float(Format::F32) => Self::F32,
            Scalar::Float(Format::Tf32) => Self::Tf32,
            Scalar::Float(Format::F16) => Self::F16,
            Scalar::Float(Format::Bf16) => Self::Bf16,
            Scalar::Float(Format::E4m3) => Self::E4m3,
            Scalar::Float(Format::E5m2) => Self::E5m2,
            Scalar::Integer { width, signed } => match (width, signed) {
                (Width::B1 | Width::B8, true) => Self::S8,
                (Width::B1 | Width::B8, false) => Self::U8,
                (Width::B16, true) => Self::S16,
                (Width::B16, false) => Self::U16,
                (Width::B32, true) => Self::S32,
                (Width::B32, false) => Self::U32,
                (Width::B64 | Width::B128, true) => Self::S64,
                (Width::B64 | Width::B128, false) => Self::U64,
            },
        }
    }

    /// Returns `true` for a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        self.float_format().is_some()
    }

    /// The `.npy` element type for such numbers: itself, or an integer of the same size if NumPy has no such type.
    #[must_use]
    pub const fn dtype(self) -> Dtype {
        match self {
            Self::F64 => Dtype::F8,
            Self::F32 | Self::Tf32 => Dtype::F4,
            Self::F16 => Dtype::F2,
            Self::Bf16 | Self::U16 => Dtype::U2,
            Self::E4m3 | Self::E5m2 | Self::U8 => Dtype::U1,
            Self::S64 => Dtype::I8,
            Self::S32 => Dtype::I4,
            Self::S16 => Dtype::I2,
            Self::S8 => Dtype::I1,
            Self::U64 => Dtype::U8,
            Self::U32 => Dtype::U4,
            Self::B1 => Dtype::Bool,
        }
    }

    /// Returns `true` if a file with elements of type `dtype` can fill a tensor of this type, bit for bit.
    pub(super) fn accepts(self, dtype: Dtype) -> bool {
        let raw = match self {
            // `ml_dtypes` and torch write these for types that NumPy has no name for.
            Self::Bf16 => dtype == Dtype::Raw(2),
            Self::E4m3 | Self::E5m2 => dtype == Dtype::Raw(1),
            Self::B1 => dtype == Dtype::U1,
            _ => false,
        };
        raw || dtype == self.dtype()
    }

    /// Appends the bytes of a number, rounded to the type.
    ///
    /// # Errors
    /// If the type has no such number.
    pub(super) fn encode(self, number: &Number, bytes: &mut Vec<u8>) -> Result<(), NumberError> {
        if let Some(format) = self.float_format() {
            return float::encode(format, number, bytes);
        }
        let Number::Integer(value) = number else {
            return Err(NumberError::NotAnInteger { number: number.to_string(), element: self });
        };
        let range = self.integer_range();
        if *value < range.0 || *value > range.1 {
            return Err(NumberError::Range { value: *value, element: self, range });
        }
        bytes.extend_from_slice(&value.to_le_bytes()[..self.bytes() as usize]);
        Ok(())
    }

    const fn float_format(self) -> Option<Format> {
        match self {
            Self::F64 => Some(Format::F64),
            Self::F32 => Some(Format::F32),
            Self::Tf32 => Some(Format::Tf32),
            Self::F16 => Some(Format::F16),
            Self::Bf16 => Some(Format::Bf16),
            Self::E4m3 => Some(Format::E4m3),
            Self::E5m2 => Some(Format::E5m2),
            Self::S64 | Self::S32 | Self::S16 | Self::S8 => None,
            Self::U64 | Self::U32 | Self::U16 | Self::U8 | Self::B1 => None,
        }
    }

    /// The range in which [`super::fills::iota`] counts. For a float type it ends where the type begins to skip
    /// integers.
    pub(super) const fn counting_range(self) -> (i128, i128) {
        match self {
            Self::F64 => (0, 1 << 53),
            Self::F32 => (0, 1 << 24),
            Self::Tf32 | Self::F16 => (0, 1 << 11),
            Self::Bf16 => (0, 1 << 8),
            Self::E4m3 => (0, 1 << 4),
            Self::E5m2 => (0, 1 << 3),
            _ => self.integer_range(),
        }
    }

    /// Least and greatest integer; (0, 0) for floats, whose range is checked when they are encoded.
    pub(super) const fn integer_range(self) -> (i128, i128) {
        match self {
            Self::S64 => (i64::MIN as i128, i64::MAX as i128),
            Self::S32 => (i32::MIN as i128, i32::MAX as i128),
            Self::S16 => (i16::MIN as i128, i16::MAX as i128),
            Self::S8 => (i8::MIN as i128, i8::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::U16 => (0, u16::MAX as i128),
            Self::U8 => (0, u8::MAX as i128),
            Self::B1 => (0, 1),
            Self::U64 => (0, u64::MAX as i128),
            Self::F64 | Self::F32 | Self::Tf32 | Self::F16 => (0, 0),
            Self::Bf16 | Self::E4m3 | Self::E5m2 => (0, 0),
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
