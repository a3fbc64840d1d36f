//! Structures recorded from a program's launch, as bytes in a file: `p=@params.bin{A=0x7f3c00000000}`.
//!
//! The bytes hold addresses of the device they were recorded on. Every aligned word of eight bytes that lies in a
//! tensor with a given address becomes a pointer into that tensor; so does the address at the start of a tensor map.
//! A number that happens to equal such an address becomes a pointer too. This can make a proof fail but never hold: the
//! bits of a pointer are unknown. Words that look like addresses but lie in no tensor are reported.

use super::misfit::RecordedError;
use super::{ArgumentSpec, ArgumentValue, RecordedSpec, TensorSpec};
use crate::bounded;
use std::ops::Range;
use std::path::Path;

/// Addresses of device memory on Linux with unified addressing; a word in this range is most likely an address.
const DEVICE: Range<u64> = 0x7e00_0000_0000..0x8000_0000_0000;

/// The assumed alignment of tensors.
const ALIGN: u64 = 256;

/// A word of a structure that is an address in a tensor.
pub(super) struct Resolved<'r> {
    /// Bytes from the start of the structure.
    pub(super) at: u64,
    /// The tensor.
    pub(super) tensor: &'r ArgumentSpec,
    /// Bytes from the start of the tensor.
    pub(super) offset: u64,
}

/// A recorded structure.
pub(super) struct Recorded<'r> {
    pub(super) bytes: Vec<u8>,
    pub(super) addresses: Vec<Resolved<'r>>,
    /// Words that look like addresses but lie in no tensor.
    pub(super) suspicious: Vec<(u64, u64)>,
}

/// Reads the bytes of a structure and finds the addresses in them.
///
/// # Errors
/// If the file is missing or has another size, or a name is not a tensor.
pub(super) fn read<'r>(
    spec: &RecordedSpec,
    parameter_bytes: u64,
    arguments: &'r [ArgumentSpec],
) -> Result<Recorded<'r>, RecordedError> {
    let path = || spec.file.clone();
    let size = std::fs::metadata(&spec.file);
    let size = size.map_err(|why| RecordedError::File { path: path(), why })?.len();
    if size != parameter_bytes {
        return Err(RecordedError::Size { path: path(), size, bytes: parameter_bytes });
    }
    let bytes = bounded::read(Path::new(&spec.file), bounded::MAX_TEXT);
    let bytes = bytes.map_err(|why| RecordedError::File { path: path(), why })?;
    let ranges = ranges(spec, arguments)?;
    let (mut addresses, mut suspicious) = (Vec::new(), Vec::new());
    for (number, part) in bytes.chunks_exact(8).enumerate() {
        let word = part.iter().rev().fold(0_u64, |word, &byte| word << 8 | u64::from(byte));
        let at = 8 * number as u64;
        match ranges.iter().find(|(range, _)| range.contains(&word)) {
            Some((range, tensor)) => {
                addresses.push(Resolved { at, tensor, offset: word - range.start });
            }
            None if DEVICE.contains(&word) => suspicious.push((at, word)),
            None => {}
        }
    }
    Ok(Recorded { bytes, addresses, suspicious })
}

/// Address ranges of tensors; of a tensor of unknown size, the first byte.
fn ranges<'r>(
    spec: &RecordedSpec,
    arguments: &'r [ArgumentSpec],
) -> Result<Vec<(Range<u64>, &'r ArgumentSpec)>, RecordedError> {
    let mut ranges: Vec<(Range<u64>, &ArgumentSpec)> = Vec::new();
    for one in &spec.tensors {
        let argument = arguments.iter().find(|argument| argument.name == one.name);
        let size = match argument.map(|argument| &argument.value) {
            Some(ArgumentValue::Tensor(tensor)) => extent(tensor),
            Some(ArgumentValue::Pointers(targets)) => 8 * targets.len() as u64,
            Some(ArgumentValue::TensorMaps(maps)) => (ir::TENSOR_MAP_BYTES * maps.len()) as u64,
            Some(ArgumentValue::Missing) => 1,
            _ => return Err(RecordedError::NotATensor { name: one.name.clone() }),
        };
        let Some(argument) = argument else { continue };
        let end = one.address.checked_add(size.max(1));
        let Some(end) = end.filter(|_| one.address.is_multiple_of(ALIGN)) else {
            let (name, address) = (one.name.clone(), one.address);
            return Err(RecordedError::Address { name, address });
        };
        let range = one.address..end;
        let shared = |(other, _): &&(Range<u64>, &ArgumentSpec)| {
            other.start < range.end && range.start < other.end
        };
        if let Some((_, other)) = ranges.iter().find(shared) {
            let names = [other.name.clone(), one.name.clone()];
            return Err(RecordedError::Overlap { names });
        }
        ranges.push((range, argument));
    }
    Ok(ranges)
}

fn extent(tensor: &TensorSpec) -> u64 {
    let elements = tensor
        .shape
        .as_ref()
        .and_then(|shape| TensorSpec::extent(shape, tensor.strides.as_deref()));
    elements.map_or(1, |elements| elements.saturating_mul(tensor.element.bytes().into()))
}
