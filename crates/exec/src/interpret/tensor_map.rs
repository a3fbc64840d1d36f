//! Reads the tensor maps of tensor copies (manual §5.5, §9.7.9.27.1): 128 bytes in memory, decoded as a
//! driver encodes them.
//!
//! An unknown map, or one that no driver makes, ends the run, except for strides of dimensions that the map
//! lacks. A tensor that does not begin at a multiple of 16 bytes is a finding.

use super::access::{allocation, locate, read_element};
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap};
use crate::lanes::{Mask, WARP};
use crate::memory::{Alignment, Word};
use ir::{MapBits, TENSOR_MAP_BYTES, TensorMap};
use std::rc::Rc;

/// The alignment of a tensor.
const TENSOR_ALIGN: u32 = 16;
/// The alignment of a map.
const MAP_ALIGN: u32 = 64;

/// Reads a tensor map.
pub(super) fn read_map(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
) -> Result<Rc<MapBits>, Gap> {
    match pointer.area {
        Area::Param(_) | Area::Global(_) => {}
        Area::Shared(_) | Area::Local(_) => {
            return Err(context.gap("a tensor map must be in parameter, constant or global memory"));
        }
    }
    let size = TENSOR_MAP_BYTES as u32;
    let Some(at) = locate(context, pointer, lane, (size, MAP_ALIGN), AccessKind::Read) else {
        return Err(context.gap("the behaviour with a wrong tensor-map address is undefined"));
    };
    let Some(at) = at else {
        return Err(context.gap("the contents of a tensor map are not known"));
    };
    // Parameters do not change.
    let is_constant = matches!(pointer.area, Area::Param(_)) && !context.machine.general;
    if is_constant && let Some(known) = context.scratch.maps.get(&(pointer.area, at)) {
        return Ok(Rc::clone(known));
    }
    let map = Rc::new(decode_map(context, (pointer.area, at), lane)?);
    if is_constant {
        context.scratch.maps.insert((pointer.area, at), Rc::clone(&map));
    }
    Ok(map)
}

/// Reads the bytes of a tensor map, and decodes them.
fn decode_map(
    context: &mut Context<'_, '_>,
    (area, at): (Area, usize),
    lane: usize,
) -> Result<MapBits, Gap> {
    let mut bytes = [0; TENSOR_MAP_BYTES];
    let mut unknown = Vec::new();
    let words = std::iter::once((0, 8)).chain((8..TENSOR_MAP_BYTES).step_by(4).map(|at| (at, 4)));
    for (offset, size) in words {
        let (mut value, mut unused) = ([0; WARP], [0; WARP]);
        let start = Some(Some(at + offset));
        let word = read_element(context, area, lane, start, size, [&mut value, &mut unused]);
        let expected = if offset == 0 { Word::Pointer } else { Word::Number };
        match word == expected {
            true => {
                bytes[offset..offset + size].copy_from_slice(&value[lane].to_le_bytes()[..size])
            }
            false => unknown.push(offset),
        }
    }
    if unknown.iter().any(|&offset| !TensorMap::ignores(&bytes, offset / 4)) {
        return Err(context.gap("the contents of a tensor map are not known"));
    }
    let decoded = TensorMap::decode(&bytes);
    let map =
        decoded.map_err(|why| context.gap(format!("a tensor map is not understood: {why}")))?;
    match map.map.check() {
        Ok(()) => Ok(map),
        Err(why) => Err(context.gap(format!("no driver creates a tensor map like this: {why}"))),
    }
}

/// Checks that a tensor begins at a multiple of 16 bytes: a kernel may put another address into a map than a
/// driver would.
pub(super) fn check_tensor(
    context: &mut Context<'_, '_>,
    tensor: Pointer,
    lane: usize,
) -> Result<(), Gap> {
    let Some((memory, ..)) = allocation(context, tensor.area, lane) else { return Ok(()) };
    if memory.alignment(tensor.offset, TENSOR_ALIGN) == Alignment::Yes {
        return Ok(());
    }
    let (target, kind, bytes) = (memory.target(tensor.offset), AccessKind::Read, TENSOR_ALIGN);
    context.record_fault(Fault::Misaligned { target, kind, bytes }, Mask::one(lane));
    Err(context.gap("a tensor copy with a tensor at this address is undefined"))
}
