//! Arrays in NumPy's `.npy` files (format versions 1.0 to 3.0, `numpy.lib.format`).
//!
//! Reads arrays of little-endian numbers and truth values in C or Fortran order, and the opaque elements (`V2`) of
//! saved bf16 and fp8 arrays; writes version 1.0 in C order. Anything else in a file is refused with a reason:
//! objects, structures, big-endian numbers, files that are too short or too long.

use crate::bounded;
use crate::output::{self, FileAccess};
use crate::render::escape;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An array in C order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of its elements.
    pub dtype: Dtype,
    /// Sizes; none for a single number.
    pub shape: Vec<u64>,
    /// Elements, little-endian, the last index varying fastest.
    pub data: Vec<u8>,
}

/// The type of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named as in NumPy; the number counts bytes")]
pub enum Dtype {
    F8,
    F4,
    F2,
    I8,
    I4,
    I2,
    I1,
    U8,
    U4,
    U2,
    U1,
    Bool,
    /// 1 or 2 opaque bytes, for types that NumPy lacks.
    Raw(u8),
}

/// Every type with its name in a header, without the byte order.
const DTYPES: &[(Dtype, &str)] = &[
    (Dtype::F8, "f8"),
    (Dtype::F4, "f4"),
    (Dtype::F2, "f2"),
    (Dtype::I8, "i8"),
    (Dtype::I4, "i4"),
    (Dtype::I2, "i2"),
    (Dtype::I1, "i1"),
    (Dtype::U8, "u8"),
    (Dtype::U4, "u4"),
    (Dtype::U2, "u2"),
    (Dtype::U1, "u1"),
    (Dtype::Bool, "b1"),
    (Dtype::Raw(1), "V1"),
    (Dtype::Raw(2), "V2"),
];

impl Dtype {
    /// Bytes of an element.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::F8 | Self::I8 | Self::U8 => 8,
            Self::F4 | Self::I4 | Self::U4 => 4,
            Self::F2 | Self::I2 | Self::U2 => 2,
            Self::I1 | Self::U1 | Self::Bool => 1,
            Self::Raw(bytes) => bytes as usize,
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        DTYPES.iter().find(|(_, known)| *known == name).map(|&(dtype, _)| dtype)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = DTYPES.iter().find(|(dtype, _)| dtype == self).map_or("?", |(_, name)| name);
        let order = if self.bytes() == 1 { '|' } else { '<' };
        write!(f, "{order}{name}")
    }
}

/// The reason why a file cannot be read or written; displays as one line.
#[derive(Debug, Error)]
#[error("`{}` {}", .path.display(), clause(.reason))]
pub struct NpyError {
    path: PathBuf,
    /// The error.
    pub reason: NpyReason,
}

/// An error in a file; displays as a clause about it.
#[derive(Debug, Error)]
pub enum NpyReason {
    /// It is missing or unreadable.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// It cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// It contains something else.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// The reason why bytes are not a supported array; displays as a clause about the file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormatError {
    /// Several arrays.
    #[error("is an .npz archive; save one array")]
    Archive,
    /// Something else.
    #[error("is not a .npy file")]
    NotNpy,
    /// An unknown version.
    #[error("has .npy version {0}; versions 1 to 3 are supported")]
    Version(u8),
    /// It is cut off.
    #[error("ends within its header")]
    CutOff,
    /// The header is not UTF-8.
    #[error("has a header that is not text")]
    HeaderNotText,
    /// The header has a key that NumPy does not write.
    #[error("has an unknown key `{0}` in its header")]
    UnknownKey(String),
    /// The header lacks a key.
    #[error("has no `{0}` in its header")]
    MissingKey(&'static str),
    /// There is text after the header.
    #[error("has text after the dictionary of its header")]
    TextAfter,
    /// The header differs from the form that NumPy writes.
    #[error("has a malformed header: expected {expected}, found `{}`", .found.escape_debug())]
    Malformed {
        /// The expected text.
        expected: String,
        /// The beginning of the text found.
        found: String,
    },
    /// An element type that is not supported.
    #[error("has elements of type `{0}`, which are not supported")]
    UnknownType(String),
    /// Elements with several fields.
    #[error("is an array of structures, which are not supported")]
    Structures,
    /// Elements with their bytes in the other order.
    #[error("is big-endian (`{description}`); save it as `{dtype}`")]
    BigEndian {
        /// The type in the header.
        description: String,
        /// The type with its bytes in this machine's order.
        dtype: Dtype,
    },
    /// More or less data than the shape has elements.
    #[error("has {found} bytes of data; an array of {dtype} with shape {} has \
        {}", shape_text(.shape), size_text(.needed))]
    Size {
        /// Bytes of data in the file.
        found: u64,
        /// The type of an element.
        dtype: Dtype,
        /// The shape.
        shape: Vec<u64>,
        /// Bytes of such an array; `None` if they cannot be counted.
        needed: Option<u64>,
    },
}

fn clause(reason: &NpyReason) -> String {
    escape::line(&reason.to_string()).into_owned()
}

fn size_text(bytes: &Option<u64>) -> String {
    bytes.map_or("more than any file has".to_owned(), |bytes| bytes.to_string())
}

/// The largest file that is read: contents are held in memory.
const MAX_BYTES: u64 = (8 << 30) + (1 << 20);

/// Reads a file.
///
/// # Errors
/// If there is no such file or it has no supported array.
pub fn read(path: &Path) -> Result<Array, NpyError> {
    let fail = |reason| NpyError { path: path.to_owned(), reason };
    let bytes = bounded::read(path, MAX_BYTES).map_err(|error| fail(NpyReason::Read(error)))?;
    from_bytes(bytes).map_err(|error| fail(error.into()))
}

/// Writes a file: all of it, or nothing.
///
/// # Errors
/// If the file cannot be written; an existing file is then unchanged.
pub fn write(path: &Path, array: &Array) -> Result<(), NpyError> {
    let fail = |error| NpyError { path: path.to_owned(), reason: NpyReason::Write(error) };
    output::write_with(path, FileAccess::ByUmask, &mut |out| write_to(out, array)).map_err(fail)
}

/// The file of an array, as bytes.
#[must_use]
pub fn to_bytes(array: &Array) -> Vec<u8> {
    let mut bytes = header(array);
    bytes.extend_from_slice(&array.data);
    bytes
}

/// The array in a file's bytes.
///
/// # Errors
/// If there is no supported one.
pub fn from_bytes(mut bytes: Vec<u8>) -> Result<Array, FormatError> {
    let (start, head) = head(&bytes)?;
    let header = Header::parse(head)?;
    let data = &bytes[start..];
    let elements = header.shape.iter().try_fold(1_u64, |all, &size| all.checked_mul(size));
    let needed = elements.and_then(|count| count.checked_mul(header.dtype.bytes() as u64));
    let found = data.len() as u64;
    if needed != Some(found) {
        let (dtype, shape) = (header.dtype, header.shape);
        return Err(FormatError::Size { found, dtype, shape, needed });
    }
    let data = if header.fortran_order {
        transposed(data, &header.shape, header.dtype.bytes())
    } else {
        bytes.drain(..start);
        bytes
    };
    Ok(Array { dtype: header.dtype, shape: header.shape, data })
}

/// A shape as in an argument: `[4,512]`.
#[must_use]
pub fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("[{}]", sizes.join(","))
}

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Where the data starts, and the header's text.
fn head(bytes: &[u8]) -> Result<(usize, &str), FormatError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let is_zip = bytes.starts_with(b"PK");
        return Err(if is_zip { FormatError::Archive } else { FormatError::NotNpy });
    };
    let [major, _minor, rest @ ..] = rest else { return Err(FormatError::CutOff) };
    let (length, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or(FormatError::CutOff)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or(FormatError::CutOff)?;
            (usize::try_from(u32::from_le_bytes(*length)).map_err(|_| FormatError::CutOff)?, rest)
        }
        _ => return Err(FormatError::Version(*major)),
    };
    let head = rest.get(..length).ok_or(FormatError::CutOff)?;
    let head = std::str::from_utf8(head).map_err(|_| FormatError::HeaderNotText)?;
    Ok((bytes.len() - rest.len() + length, head))
}

/// The contents of a header.
struct Header {
    dtype: Dtype,
    fortran_order: bool,
    shape: Vec<u64>,
}

impl Header {
    /// Reads a Python dictionary of three keys, in any order:
    /// `{'descr': '<f4', 'fortran_order': False, 'shape': (4, 512), }`.
    fn parse(text: &str) -> Result<Self, FormatError> {
        let (mut dtype, mut fortran_order, mut shape) = (None, None, None);
        let mut cursor = Cursor { rest: text };
        cursor.expect('{')?;
        while !cursor.take('}') {
            let key = cursor.string()?;
            cursor.expect(':')?;
            match key {
                "descr" => dtype = Some(dtype_of(cursor.string_or_refuse()?)?),
                "fortran_order" => fortran_order = Some(cursor.truth()?),
                "shape" => shape = Some(cursor.tuple()?),
                _ => return Err(FormatError::UnknownKey(key.to_owned())),
            }
            if !cursor.take(',') {
                cursor.expect('}')?;
                break;
            }
        }
        if !cursor.rest.trim().is_empty() {
            return Err(FormatError::TextAfter);
        }
        Ok(Self {
            dtype: dtype.ok_or(FormatError::MissingKey("descr"))?,
            fortran_order: fortran_order.ok_or(FormatError::MissingKey("fortran_order"))?,
            shape: shape.ok_or(FormatError::MissingKey("shape"))?,
        })
    }
}

fn dtype_of(description: &str) -> Result<Dtype, FormatError> {
    let unsupported = || FormatError::UnknownType(description.to_owned());
    let name = description.strip_prefix(['<', '|', '=', '>']).unwrap_or(description);
    let dtype = Dtype::from_name(name).ok_or_else(unsupported)?;
    if description.starts_with('>') && dtype.bytes() > 1 {
        return Err(FormatError::BigEndian { description: description.to_owned(), dtype });
    }
    Ok(dtype)
}

/// The unread rest of a header.
struct Cursor<'h> {
    rest: &'h str,
}

impl<'h> Cursor<'h> {
    fn take(&mut self, letter: char) -> bool {
        let rest = self.rest.trim_start().strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, letter: char) -> Result<(), FormatError> {
        if self.take(letter) { Ok(()) } else { Err(self.malformed(&format!("`{letter}`"))) }
    }

    fn malformed(&self, expected: &str) -> FormatError {
        let found = self.rest.trim_start().chars().take(12).collect();
        FormatError::Malformed { expected: expected.to_owned(), found }
    }

    fn string(&mut self) -> Result<&'h str, FormatError> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|letter| "'\"".contains(*letter));
        let inside = quote.and_then(|quote| rest[1..].split_once(quote));
        let (text, rest) = inside.ok_or_else(|| self.malformed("a string"))?;
        self.rest = rest;
        Ok(text)
    }

    /// A list in place of a string describes the fields of a structure.
    fn string_or_refuse(&mut self) -> Result<&'h str, FormatError> {
        if self.rest.trim_start().starts_with('[') {
            return Err(FormatError::Structures);
        }
        self.string()
    }

    fn truth(&mut self) -> Result<bool, FormatError> {
        let rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.malformed("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<u64>, FormatError> {
        let mut sizes = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            let rest = self.rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let size = rest[..end].parse().map_err(|_| self.malformed("a size"))?;
            sizes.push(size);
            // Python 2 wrote long integers with an L.
            self.rest = rest[end..].strip_prefix('L').unwrap_or(&rest[end..]);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }
}

/// Reorders elements from "first index fastest" to C order. The data has as many elements as the shape.
fn transposed(data: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let mut result = Vec::with_capacity(data.len());
    // Sizes are at most the number of elements in memory, unless some size is 0. Without the sizes of 1, of which a
    // file may have a million, their number is at most 63.
    let sizes: Vec<usize> =
        shape.iter().filter(|&&size| size != 1).map(|&size| size as usize).collect();
    let mut index = vec![0_usize; sizes.len()];
    for _ in 0..data.len() / width {
        let position = index.iter().zip(&sizes).rev().fold(0, |all, (&i, &size)| all * size + i);
        result.extend_from_slice(&data[position * width..][..width]);
        for axis in (0..sizes.len()).rev() {
            index[axis] += 1;
            if index[axis] < sizes[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
    result
}

fn header(array: &Array) -> Vec<u8> {
    let sizes: Vec<String> = array.shape.iter().map(ToString::to_string).collect();
    let shape = match sizes.as_slice() {
        [only] => format!("({only},)"),
        sizes => format!("({})", sizes.join(", ")),
    };
    let dtype = array.dtype;
    let mut text = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    // Data starts at a multiple of 64, so that it can be mapped.
    let unpadded = MAGIC.len() + 4 + text.len() + 1;
    text.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    match u16::try_from(text.len()) {
        Ok(length) => {
            bytes.extend_from_slice(&[1, 0]);
            bytes.extend_from_slice(&length.to_le_bytes());
        }
        // Thousands of dimensions; NumPy has at most 64.
        Err(_) => {
            bytes.extend_from_slice(&[2, 0]);
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes()[..4]);
        }
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// Writes an array in the format of a file.
pub(crate) fn write_to(out: &mut dyn Write, array: &Array) -> io::Result<()> {
    out.write_all(&header(array))?;
    out.write_all(&array.data)
}
