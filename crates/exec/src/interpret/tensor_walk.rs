//! The pieces that a tensor copy moves ([`ir::TensorMap::walk`]), and the byte ranges that they cover on both
//! sides.
//!
//! Boxes of one map that lie inside their tensor are walked once ([`crate::tensor_box`]), and others
//! individually.

use super::access::allocation;
use super::tensor::TensorCopyLane;
use crate::address::Pointer;
use crate::context::Context;
use crate::finding::{Fault, Gap};
use crate::lanes::Mask;
use crate::tensor_box::{PERIOD, Walk};
use crate::tensor_fault::TensorFault;
use ir::{Piece, Start};
use std::sync::Arc;

/// The walk of a copy: the walk of a box, moved by some bytes on both sides.
pub(super) struct Walked {
    walk: Arc<Walk>,
    shared: i64,
    tensor: i128,
}

impl Walked {
    /// The pieces in box order.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        self.walk.pieces.iter().map(|piece| Piece {
            shared: piece.shared.wrapping_add_signed(self.shared),
            tensor: piece.tensor.map(|at| at + self.tensor),
            ..*piece
        })
    }

    /// Byte ranges in shared memory.
    pub(super) fn shared(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.walk.shared.iter().map(|&(start, bytes)| (start + self.shared, bytes))
    }

    /// Byte ranges in the tensor's buffer; the tensor begins at this offset.
    pub(super) fn tensor(&self, first: i64) -> impl Iterator<Item = (i64, u32)> + '_ {
        let shift = i64::try_from(self.tensor).unwrap_or(i64::MAX).saturating_add(first);
        self.walk.tensor.iter().map(move |&(start, bytes)| (start.saturating_add(shift), bytes))
    }

    /// The smallest byte range of the buffer around everything moved: its start and end.
    pub(super) fn tensor_span(&self, lane_copy: &TensorCopyLane<'_>) -> (i64, i64) {
        let (mut first, mut end) = (i64::MAX, i64::MIN);
        if let (Some(low), Some(high)) = (self.walk.tensor.first(), self.walk.tensor.last()) {
            let shift = i64::try_from(self.tensor).unwrap_or(i64::MAX);
            let at =
                |start: i64| start.saturating_add(shift).saturating_add(lane_copy.tensor.offset);
            (first, end) = (at(low.0), at(high.0).saturating_add(high.1.into()));
        }
        (first, end)
    }

    /// Returns `true` if some pieces lie outside the tensor.
    pub(super) fn fills(&self) -> bool {
        self.walk.pieces.iter().any(|piece| piece.tensor.is_none())
    }

    /// The number of moved bytes.
    pub(super) fn bytes(&self) -> usize {
        self.walk.shared.iter().map(|range| range.1 as usize).sum()
    }
}

/// Walks a copy to or from shared memory `lead` bytes after a multiple of the period. Pieces that leave their
/// row are reported and left out.
pub(super) fn walk_copy(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    start: &Start<'_>,
    lead: u64,
) -> Result<Walked, Gap> {
    if let Some(tensor) = lane_copy.map.inside(start) {
        let at = start.shared % PERIOD;
        if let Some(walk) = context.scratch.walks.walk(lane_copy.map, at, start.stores) {
            let shared = (start.shared - at).wrapping_sub(lead).cast_signed();
            return Ok(Walked { walk, shared, tensor });
        }
    }
    let mut pieces = Vec::new();
    let visited = lane_copy.map.walk(start, &mut |piece| pieces.push(piece));
    visited.map_err(|why| context.gap(why.text()))?;
    if let Some(piece) = pieces.iter().find(|piece| piece.beyond) {
        let offset = in_tensor(lane_copy, piece).offset;
        let memory = allocation(context, lane_copy.tensor.area, lane_copy.lane);
        if let Some(target) = memory.map(|(memory, ..)| memory.target(offset)) {
            let extent = lane_copy.map.dims[0] * u64::from(lane_copy.map.element.bytes());
            let fault = TensorFault::Clip { target, extent, bytes: piece.bytes };
            context.record_fault(Fault::Tensor(Box::new(fault)), Mask::one(lane_copy.lane));
        }
        pieces.retain(|piece| !piece.beyond);
    }
    pieces.iter_mut().for_each(|piece| piece.shared -= lead);
    Ok(Walked { walk: Arc::new(Walk::new(pieces)), shared: 0, tensor: 0 })
}

/// The location of a piece in its buffer.
pub(super) fn in_tensor(lane_copy: &TensorCopyLane<'_>, piece: &Piece) -> Pointer {
    let offset = i64::try_from(piece.tensor.unwrap_or(0)).unwrap_or(i64::MAX);
    Pointer { offset: lane_copy.tensor.offset.saturating_add(offset), ..lane_copy.tensor }
}
