//! Fills the parameters of a kernel with the arguments of a launch.
//!
//! A tensor map becomes the same 128 bytes that the driver would pass, with the address of its buffer in this
//! run. So it may be anywhere in a structure, and the kernel may copy it.

use crate::address::{Area, Pointer};
use crate::domain::InputSource;
use crate::launch::Argument;
use crate::memory::{Allocation, Word, state};
use crate::value::Valued;

/// Writes an argument into a parameter.
pub(crate) fn fill(
    memory: &mut Allocation,
    (position, at): (usize, usize),
    argument: &Argument,
    valued: &mut Option<Valued<'_>>,
) {
    let room = memory.bytes.len().saturating_sub(at);
    match argument {
        Argument::Pointer(buffer) => {
            fill(
                memory,
                (position, at),
                &Argument::PointerInto { buffer: *buffer, offset: 0 },
                valued,
            );
        }
        Argument::PointerInto { buffer, offset } => {
            if room >= 8 {
                let offset = i64::try_from(*offset).unwrap_or(i64::MAX);
                let address = Pointer { area: Area::Global(*buffer), offset }.address();
                memory.store(at, 8, address, Word::Pointer);
            }
        }
        Argument::Bytes(bytes) => {
            let count = bytes.len().min(room);
            memory.bytes[at..at + count].copy_from_slice(&bytes[..count]);
            memory.states.fill(at..at + count, state::DEFINED);
        }
        Argument::Opaque(element) => match valued {
            None => memory.states.fill(at..memory.states.len(), state::OPAQUE),
            Some(valued) => {
                let size = element.map_or(room, |element| element.width().bytes() as usize);
                let source = InputSource::Argument(position, at as u64);
                valued.fill(memory, (at, size.min(room)), *element, source);
            }
        },
        Argument::TensorMap { buffer, offset, map } => {
            if room >= ir::TENSOR_MAP_BYTES {
                let offset = i64::try_from(*offset).unwrap_or(i64::MAX);
                let address = Pointer { area: Area::Global(*buffer), offset }.address();
                let bytes = map.encode(address);
                memory.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
                memory.states.fill(at..at + bytes.len(), state::DEFINED);
                memory.store(at, 8, address, Word::Pointer);
            }
        }
        Argument::Struct(pieces) => {
            for (offset, piece) in pieces {
                let at = usize::try_from(*offset).unwrap_or(usize::MAX);
                if at < memory.bytes.len() {
                    fill(memory, (position, at), piece, valued);
                }
            }
        }
    }
}
