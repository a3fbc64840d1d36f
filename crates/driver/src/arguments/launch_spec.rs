//! Parses the launch flags: grid, block, cluster, dynamic shared memory, and the blocks to check.

use super::{BlockSelection, Number, ParseError, ParseReason, parse};
use std::fmt;
use std::str::FromStr;

/// The launch flags; all are optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchSpec {
    /// `--grid`: blocks in x, y and z.
    pub grid: Option<Dimensions>,
    /// `--block`: threads of a block in x, y and z.
    pub block: Option<Dimensions>,
    /// `--cluster`: blocks of a cluster in x, y and z.
    pub cluster: Option<Dimensions>,
    /// `--smem`: bytes of dynamic shared memory.
    pub shared: Option<ByteCount>,
    /// `--blocks`: the blocks to check; all if empty.
    pub blocks: Vec<BlockSelection>,
}

/// Sizes in x, y and z: `4`, `4,2` or `4,2,1`. Written without trailing ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions(pub [u32; 3]);

/// A block of the grid: `0`, `3,1` or `3,1,0`. Written without trailing zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockPosition(pub [u32; 3]);

/// A number of bytes: `49152`, `48KiB`, `1MiB`. As in NVIDIA's manuals, where "48 KB" is 49152, the
/// B-less and i-less spellings count in 1024 too: `48KB`, `48K`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCount(pub u64);

impl FromStr for Dimensions {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        triple(text, 1, "sizes such as 4 or 4,2 or 4,2,1").map(Self)
    }
}

impl FromStr for BlockPosition {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        triple(text, 0, "a position such as 0 or 3,1 or 3,1,0").map(Self)
    }
}

impl FromStr for ByteCount {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let fail = |reason: ParseReason| ParseError::new(text, reason);
        // The letters of a unit could be hexadecimal digits, but no unit begins with `0x`.
        let end = if text.starts_with("0x") {
            text.len()
        } else {
            text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len())
        };
        let (digits, unit) = text.split_at(end);
        let Some(Number::Integer(count)) = parse::number(digits) else {
            return Err(fail(ParseReason::NotAByteCount));
        };
        let factor = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kb" | "kib" => 1 << 10,
            "m" | "mb" | "mib" => 1 << 20,
            _ => return Err(fail(ParseReason::UnknownUnit(unit.to_owned()))),
        };
        let bytes = u64::try_from(count).ok().and_then(|count| count.checked_mul(factor));
        bytes.map(Self).ok_or_else(|| fail(ParseReason::TooLarge))
    }
}

impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_triple(self.0, 1, f)
    }
}

impl fmt::Display for BlockPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_triple(self.0, 0, f)
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes > 0 && bytes.is_multiple_of(1 << 20) => write!(f, "{}MiB", bytes >> 20),
            bytes if bytes > 0 && bytes.is_multiple_of(1 << 10) => write!(f, "{}KiB", bytes >> 10),
            bytes => bytes.fmt(f),
        }
    }
}

fn triple(text: &str, default: u32, expected: &'static str) -> Result<[u32; 3], ParseError> {
    let mut sizes = [default; 3];
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    if items.len() > sizes.len() {
        let count = items.len();
        return Err(ParseError::new(text, ParseReason::TooManyItems { count, expected }));
    }
    for (size, item) in sizes.iter_mut().zip(items) {
        let number = match parse::number(item) {
            Some(Number::Integer(number)) => u32::try_from(number).ok(),
            Some(Number::Float(_)) | None => None,
        };
        *size = number.ok_or_else(|| {
            let item = item.to_owned();
            ParseError::new(text, ParseReason::Not32Bits { item, expected })
        })?;
    }
    Ok(sizes)
}

fn write_triple(sizes: [u32; 3], default: u32, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let used = sizes.iter().rposition(|&size| size != default).map_or(1, |last| last + 1);
    for (position, size) in sizes[..used].iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        write!(f, "{comma}{size}")?;
    }
    Ok(())
}
