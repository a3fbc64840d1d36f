//! The 128 bytes of a tensor map, as the CUDA driver 13.0 writes them for an H200 (found by varying one field at a
//! time).
//!
//! The layout is undocumented. Every bit without a known meaning must be zero, else the map is refused. Two things
//! are ignored: fields of dimensions that the map does not have, and the size of the box added by the driver, because
//! it rounds differently than the copy does.

use super::{BoxShape, MAX_DIMENSIONS, Swizzle, TENSOR_MAP_BYTES, TensorElement, TensorMap};
use std::fmt;

/// Types by their number; the other two are those of f32 with an additional bit.
const ELEMENTS: [TensorElement; 11] = [
    TensorElement::U8,
    TensorElement::U16,
    TensorElement::U32,
    TensorElement::S32,
    TensorElement::U64,
    TensorElement::S64,
    TensorElement::F16,
    TensorElement::F32,
    TensorElement::F32Ftz,
    TensorElement::F64,
    TensorElement::Bf16,
];

const SWIZZLES: [Swizzle; 4] = [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128];

/// Bits with a known meaning, word by word; later words have none.
const KNOWN: [u32; 19] = [
    u32::MAX, // address
    u32::MAX,
    0x0007_fff1, // mode, rank, type, interleave, swizzle, fill, tf32, promotion
    u32::MAX,    // strides
    u32::MAX,
    u32::MAX,
    u32::MAX,
    0x0000_ffff, // upper bits of strides
    u32::MAX,    // sizes
    u32::MAX,
    u32::MAX,
    u32::MAX,
    u32::MAX,
    0xff00_7fff, // steps, box 0 or channels
    u32::MAX,    // box 1 to 4, or corners
    u32::MAX,    // pixels
    u32::MAX,    // bytes of the box
    0,
    u32::MAX, // alignment
];

/// A map as the driver stores it: its description and the address of its tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapBits {
    /// Address of the tensor.
    pub address: u64,
    /// The description.
    pub map: TensorMap,
}

/// The reason why 128 bytes are not a known tensor map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapDecodeError {
    /// Bits that occurred in no map.
    UnknownBits {
        /// The number of the 32-bit word.
        word: usize,
        /// The bits.
        bits: u32,
    },
    /// A type, rank or layout that does not exist.
    Field(&'static str),
}

impl fmt::Display for MapDecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownBits { word, bits } => {
                write!(f, "word {word} has bits {bits:#x}, whose meaning is not known")
            }
            Self::Field(what) => write!(f, "{what}"),
        }
    }
}

impl TensorMap {
    /// Decodes the bytes of a map.
    ///
    /// # Errors
    /// If they have unknown bits or values.
    pub fn decode(bytes: &[u8; TENSOR_MAP_BYTES]) -> Result<MapBits, MapDecodeError> {
        let word = |at: usize| {
            let part = &bytes[4 * at..4 * at + 4];
            u32::from_le_bytes([part[0], part[1], part[2], part[3]])
        };
        for at in 0..TENSOR_MAP_BYTES / 4 {
            let bits = word(at) & !KNOWN.get(at).copied().unwrap_or(0);
            if bits != 0 {
                return Err(MapDecodeError::UnknownBits { word: at, bits });
            }
        }
        let header = word(2);
        let field = |low: u32, count: u32| (header >> low & ((1 << count) - 1)) as usize;
        let rank = field(4, 3) + 1;
        if rank > MAX_DIMENSIONS {
            return Err(MapDecodeError::Field("it has more than 5 dimensions"));
        }
        let element = match (ELEMENTS.get(field(7, 4)), field(16, 1)) {
            (Some(&element), 0) => element,
            (Some(TensorElement::F32), _) => TensorElement::Tf32,
            (Some(TensorElement::F32Ftz), _) => TensorElement::Tf32Ftz,
            _ => return Err(MapDecodeError::Field("its element type is not known")),
        };
        let interleave = match field(11, 2) {
            0 => None,
            1 => Some(16),
            2 => Some(32),
            _ => return Err(MapDecodeError::Field("its interleaving is not known")),
        };
        let strides = (0..rank - 1).map(|at| {
            let upper = u64::from(word(7) >> (4 * at) & 15);
            (u64::from(word(3 + at)) | upper << 32) << 4
        });
        let shape = match field(0, 1) {
            0 => BoxShape::Tile(tile(rank, [word(13), word(14)])),
            _ if rank < 3 => return Err(MapDecodeError::Field("im2col has 3 to 5 dimensions")),
            _ => im2col(rank, [word(13), word(14), word(15)])?,
        };
        let map = Self {
            element,
            dims: (0..rank).map(|at| u64::from(word(8 + at)) + 1).collect(),
            strides: strides.collect(),
            steps: (0..rank).map(|at| (word(13) >> (3 * at) & 7) + 1).collect(),
            shape,
            swizzle: SWIZZLES[field(13, 2)],
            interleave,
            nan_fill: field(15, 1) != 0,
        };
        Ok(MapBits { address: u64::from(word(0)) | u64::from(word(1)) << 32, map })
    }

    /// Returns `true` if a 32-bit word of a map has no influence on its meaning: the lower bits of the stride of a
    /// dimension that the map does not have. The rank is in another word, which must be known.
    #[must_use]
    pub fn ignores(bytes: &[u8; TENSOR_MAP_BYTES], word: usize) -> bool {
        let strides = usize::from(bytes[8] >> 4 & 7);
        (3 + strides..3 + MAX_DIMENSIONS - 1).contains(&word)
    }

    /// Encodes the bytes of a map that passed [`check`](Self::check).
    #[must_use]
    pub fn encode(&self, address: u64) -> [u8; TENSOR_MAP_BYTES] {
        let mut words = [0_u32; TENSOR_MAP_BYTES / 4];
        words[0] = address as u32;
        words[1] = (address >> 32) as u32;
        words[2] = self.header();
        for (at, stride) in self.strides.iter().enumerate() {
            words[3 + at] = (stride >> 4) as u32;
            words[7] |= ((stride >> 36) as u32 & 15) << (4 * at);
        }
        for (at, dim) in self.dims.iter().enumerate() {
            words[8 + at] = (dim - 1) as u32;
        }
        for (at, step) in self.steps.iter().enumerate() {
            words[13] |= (step - 1) << (3 * at);
        }
        match &self.shape {
            BoxShape::Tile(sizes) => {
                for (at, size) in sizes.iter().enumerate() {
                    match at {
                        0 => words[13] |= (size - 1) << 24,
                        at => words[14] |= (size - 1) << (8 * (at - 1)),
                    }
                }
            }
            BoxShape::Im2col { lower, upper, channels, pixels } => {
                words[13] |= (channels - 1) << 24;
                words[14] = corners(lower, upper);
                words[15] = pixels - 1;
            }
        }
        words[16] = self.box_bytes() as u32;
        words[18] = self.swizzle.period();
        let mut bytes = [0; TENSOR_MAP_BYTES];
        for (part, word) in bytes.chunks_exact_mut(4).zip(words) {
            part.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn header(&self) -> u32 {
        let (plain, tf32) = match self.element {
            TensorElement::Tf32 => (TensorElement::F32, 1),
            TensorElement::Tf32Ftz => (TensorElement::F32Ftz, 1),
            element => (element, 0),
        };
        let number = |found: Option<usize>| found.unwrap_or(0) as u32;
        let element = number(ELEMENTS.iter().position(|one| *one == plain));
        let swizzle = number(SWIZZLES.iter().position(|one| *one == self.swizzle));
        u32::from(self.is_im2col())
            | (self.rank() as u32 - 1) << 4
            | element << 7
            | self.interleave.map_or(0, |bytes| bytes / 16) << 11
            | swizzle << 13
            | u32::from(self.nan_fill) << 15
            | tf32 << 16
    }
}

fn tile(rank: usize, [first, rest]: [u32; 2]) -> Vec<u32> {
    let size = |at: usize| match at {
        0 => (first >> 24) + 1,
        at => (rest >> (8 * (at - 1)) & 0xff) + 1,
    };
    (0..rank).map(size).collect()
}

/// Returns the number of bits of a corner's coordinate, and the position of the first bit of the upper corner, by the
/// number of spatial dimensions.
const fn corner_layout(spatial: usize) -> (u32, u32) {
    match spatial {
        1 => (16, 16),
        2 => (8, 16),
        _ => (5, 16),
    }
}

fn im2col(rank: usize, [first, corners, pixels]: [u32; 3]) -> Result<BoxShape, MapDecodeError> {
    let spatial = rank - 2;
    let (bits, upper) = corner_layout(spatial);
    if spatial == 3 && corners & 0x8000_8000 != 0 {
        return Err(MapDecodeError::Field("its corners have bits that are not known"));
    }
    let corner = |low: u32| ((corners >> low) << (32 - bits)).cast_signed() >> (32 - bits);
    let all = |start: u32| (0..spatial as u32).map(|at| corner(start + at * bits)).collect();
    let Some(pixels) = pixels.checked_add(1) else {
        return Err(MapDecodeError::Field("its number of pixels is not known"));
    };
    Ok(BoxShape::Im2col { lower: all(0), upper: all(upper), channels: (first >> 24) + 1, pixels })
}

fn corners(lower: &[i32], upper: &[i32]) -> u32 {
    let (bits, start) = corner_layout(lower.len());
    let mask = (1_u64 << bits) as u32 - 1;
    let pack = |corners: &[i32], start: u32| {
        let one = |(at, corner): (usize, &i32)| {
            (corner.cast_unsigned() & mask) << (start + at as u32 * bits)
        };
        corners.iter().enumerate().map(one).fold(0, |all, part| all | part)
    };
    pack(lower, 0) | pack(upper, start)
}
