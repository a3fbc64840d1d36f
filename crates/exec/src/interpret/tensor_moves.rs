//! Fast path of tensor copies: copies the bytes and states of whole pieces at once.
//!
//! A piece is a contiguous part of the box. This path applies to runs without a domain that may use fast paths, if
//! each piece consists only of known numbers or only of opaque data on the source side. All other copies move word by
//! word ([`super::tensor`]), with the same result.

use super::access::allocation;
use super::tensor::TensorCopyLane;
use super::tensor_walk::{Walked, in_tensor};
use crate::address::Area;
use crate::context::Context;
use crate::memory::{Allocation, state};
use ir::Piece;

/// Moves all pieces, if each has a single state; otherwise moves nothing and returns `false`.
pub(super) fn copy_pieces(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    stores: bool,
    walked: &Walked,
) -> bool {
    let fills = walked.fills();
    if context.machine.general
        || context.valued.is_some()
        || fills && (stores || lane_copy.map.nan_fill)
    {
        return false;
    }
    if !stores && !fills && load_of_one_state(context, lane_copy, walked) {
        return true;
    }
    let areas = [lane_copy.tensor.area, lane_copy.shared.area];
    let [from, to] = if stores { [areas[1], areas[0]] } else { areas };
    let ends = |piece: &Piece| {
        let tensor = in_tensor(lane_copy, piece).offset.cast_unsigned() as usize;
        let shared = piece.shared as usize;
        if stores { (shared, tensor) } else { (tensor, shared) }
    };
    let Some((source, ..)) = allocation(context, from, lane_copy.lane) else { return false };
    let Some(read) =
        read(source, walked, |piece| (stores || piece.tensor.is_some()).then(|| ends(piece).0))
    else {
        return false;
    };
    source.read = true;
    let Some((target, ..)) = allocation(context, to, lane_copy.lane) else { return false };
    let mut rest = read.bytes.as_slice();
    for (piece, state) in walked.pieces().zip(&read.states) {
        let (bytes, behind) = rest.split_at(piece.bytes as usize);
        rest = behind;
        let start = ends(&piece).1;
        let range = start..start + bytes.len();
        target.bytes[range.clone()].copy_from_slice(bytes);
        // A stage that is refilled has this state already.
        if target.states.common(start, bytes.len()) != Some(*state) {
            target.states.fill(range, *state);
        }
    }
    context.report.charge(read.bytes.len());
    true
}

/// Loads a box from a buffer of only numbers or only data; otherwise moves nothing and returns `false`.
fn load_of_one_state(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    walked: &Walked,
) -> bool {
    let (Area::Global(from), Area::Shared(to)) = (lane_copy.tensor.area, lane_copy.shared.area)
    else {
        return false;
    };
    let (Some(source), Some(target)) = (context.global.get_mut(from), context.shared.get_mut(to))
    else {
        return false;
    };
    let Some(state) = source.states.of_all() else { return false };
    source.read = true;
    // The bytes of opaque data are never read, so only the state is copied.
    let moved = (state != state::OPAQUE).then_some(walked);
    for piece in moved.into_iter().flat_map(Walked::pieces) {
        let (at, to) = (in_tensor(lane_copy, &piece).offset as usize, piece.shared as usize);
        let bytes = piece.bytes as usize;
        target.bytes[to..to + bytes].copy_from_slice(&source.bytes[at..at + bytes]);
    }
    for (start, bytes) in walked.shared() {
        let (start, bytes) = (start as usize, bytes as usize);
        // A stage that is refilled has this state already.
        if target.states.common(start, bytes) != Some(state) {
            target.states.fill(start..start + bytes, state);
        }
    }
    context.report.charge(walked.bytes());
    true
}

/// The contents of pieces: their bytes in sequence, and the state of each piece.
struct Contents {
    bytes: Vec<u8>,
    states: Vec<u8>,
}

/// Reads pieces, each from its start, or as zeros if it is outside the tensor. `None` if a piece has more
/// than one state, or is neither numbers nor data.
fn read(
    memory: &Allocation,
    walked: &Walked,
    start: impl Fn(&Piece) -> Option<usize>,
) -> Option<Contents> {
    let (mut bytes, mut states) = (Vec::with_capacity(walked.bytes()), Vec::new());
    for piece in walked.pieces() {
        let length = piece.bytes as usize;
        let Some(start) = start(&piece) else {
            bytes.resize(bytes.len() + length, 0);
            states.push(state::DEFINED);
            continue;
        };
        let state = memory.states.common(start, length)?;
        if ![state::DEFINED, state::OPAQUE].contains(&state) {
            return None;
        }
        bytes.extend_from_slice(&memory.bytes[start..start + length]);
        states.push(state);
    }
    Some(Contents { bytes, states })
}
