//! The pieces that a tensor copy moves ([`ir::TensorMap::walk`]), and the ranges of bytes that they cover on both sides.
//!
//! Boxes of one map that lie inside their tensor have the same pieces, moved along: they are walked once. The pattern of a swizzle repeats after
//! 1024 bytes of shared memory at most, so the place in such a period belongs to what must be the same. Other boxes are walked each.

use super::access::allocation;
use super::tensor::One;
use crate::address::Pointer;
use crate::context::Context;
use crate::finding::{Fault, Gap};
use crate::lanes::Mask;
use crate::tensor_fault::TensorFault;
use ir::{Piece, Start, TensorMap};
use std::sync::Arc;

/// Bytes after which every swizzle repeats.
const PERIOD: u64 = 1024;

/// Ranges of bytes, by start and length.
type Ranges = Vec<(i64, u32)>;

/// The pieces of a box, and ranges of bytes on both sides: ascending, neighbours made one.
#[derive(Debug)]
struct Walk {
    pieces: Vec<Piece>,
    shared: Ranges,
    tensor: Ranges,
}

impl Walk {
    fn new(pieces: Vec<Piece>) -> Self {
        let bytes = |offset: i128| i64::try_from(offset).unwrap_or(i64::MAX);
        let shared = pieces.iter().map(|piece| (piece.shared.cast_signed(), piece.bytes));
        let tensor = pieces.iter().filter_map(|piece| Some((bytes(piece.tensor?), piece.bytes)));
        let (shared, tensor) = (ranges(shared), ranges(tensor));
        Self { pieces, shared, tensor }
    }
}

/// Makes ranges of pieces.
fn ranges(pieces: impl Iterator<Item = (i64, u32)>) -> Ranges {
    let mut sorted: Ranges = pieces.collect();
    sorted.sort_unstable();
    let mut merged = Ranges::new();
    for (start, bytes) in sorted {
        match merged.last_mut() {
            Some(last) if last.0.saturating_add(last.1.into()) == start => last.1 += bytes,
            _ => merged.push((start, bytes)),
        }
    }
    merged
}

/// The walk of a copy: that of a box, moved by some bytes on both sides.
pub(super) struct Walked {
    walk: Arc<Walk>,
    shared: i64,
    tensor: i128,
}

impl Walked {
    /// The pieces in the order of the box.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        self.walk.pieces.iter().map(|piece| Piece {
            shared: piece.shared.wrapping_add_signed(self.shared),
            tensor: piece.tensor.map(|at| at + self.tensor),
            ..*piece
        })
    }

    /// Ranges of bytes of shared memory.
    pub(super) fn shared(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.walk.shared.iter().map(|&(start, bytes)| (start + self.shared, bytes))
    }

    /// Ranges of bytes of the buffer of the tensor, which begins at this offset.
    pub(super) fn tensor(&self, first: i64) -> impl Iterator<Item = (i64, u32)> + '_ {
        let moved = i64::try_from(self.tensor).unwrap_or(i64::MAX).saturating_add(first);
        self.walk.tensor.iter().map(move |&(start, bytes)| (start.saturating_add(moved), bytes))
    }

    /// The bytes of the buffer around all that is moved: the first, and behind the last.
    pub(super) fn around(&self, one: &One<'_>) -> (i64, i64) {
        let (mut first, mut end) = (i64::MAX, i64::MIN);
        if let (Some(low), Some(high)) = (self.walk.tensor.first(), self.walk.tensor.last()) {
            let moved = i64::try_from(self.tensor).unwrap_or(i64::MAX);
            let at = |start: i64| start.saturating_add(moved).saturating_add(one.tensor.offset);
            (first, end) = (at(low.0), at(high.0).saturating_add(high.1.into()));
        }
        (first, end)
    }

    /// Tells whether some of it lies outside the tensor.
    pub(super) fn fills(&self) -> bool {
        self.walk.pieces.iter().any(|piece| piece.tensor.is_none())
    }

    /// How many bytes are moved.
    pub(super) fn bytes(&self) -> usize {
        self.walk.shared.iter().map(|range| range.1 as usize).sum()
    }
}

/// What boxes inside their tensors must have in common to be walked once.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    map: TensorMap,
    shared: u64,
    stores: bool,
}

/// Walks of boxes inside their tensors that were met before.
#[derive(Debug, Default)]
pub(crate) struct WalkCache {
    known: Vec<(Key, Arc<Walk>)>,
}

impl WalkCache {
    /// Walks beyond this many are forgotten.
    const MOST: usize = 16;

    /// The pieces of a box inside its tensor, at the origin.
    fn walk(&mut self, map: &TensorMap, shared: u64, stores: bool) -> Option<Arc<Walk>> {
        let same =
            |(key, _): &&(Key, _)| (key.shared, key.stores) == (shared, stores) && key.map == *map;
        if let Some((_, walk)) = self.known.iter().find(same) {
            return Some(Arc::clone(walk));
        }
        if self.known.len() == Self::MOST {
            self.known.clear();
        }
        let origin = vec![0; map.rank()];
        let start = Start { coordinates: &origin, offsets: &[], shared, stores };
        let mut pieces = Vec::new();
        map.walk(&start, &mut |piece| pieces.push(piece)).ok()?;
        let walk = Arc::new(Walk::new(pieces));
        self.known.push((Key { map: map.clone(), shared, stores }, Arc::clone(&walk)));
        Some(walk)
    }
}

/// Walks a copy to or from shared memory `lead` bytes behind a multiple of the period; pieces behind a row are reported and left out.
pub(super) fn walked(
    context: &mut Context<'_, '_>,
    one: &One<'_>,
    start: &Start<'_>,
    lead: u64,
) -> Result<Walked, Gap> {
    if let Some(tensor) = one.map.inside(start) {
        let at = start.shared % PERIOD;
        if let Some(walk) = context.scratch.walks.walk(one.map, at, start.stores) {
            let shared = (start.shared - at).wrapping_sub(lead).cast_signed();
            return Ok(Walked { walk, shared, tensor });
        }
    }
    let mut pieces = Vec::new();
    let visited = one.map.walk(start, &mut |piece| pieces.push(piece));
    visited.map_err(|why| context.gap(why.text()))?;
    if let Some(piece) = pieces.iter().find(|piece| piece.beyond) {
        let offset = in_tensor(one, piece).offset;
        let memory = allocation(context, one.tensor.area, one.lane);
        if let Some(target) = memory.map(|(memory, ..)| memory.target(offset)) {
            let extent = one.map.dims[0] * u64::from(one.map.element.bytes());
            let fault = TensorFault::Clip { target, extent, bytes: piece.bytes };
            context.find(Fault::Tensor(Box::new(fault)), Mask::one(one.lane));
        }
        pieces.retain(|piece| !piece.beyond);
    }
    pieces.iter_mut().for_each(|piece| piece.shared -= lead);
    Ok(Walked { walk: Arc::new(Walk::new(pieces)), shared: 0, tensor: 0 })
}

/// Where a piece lies in its buffer.
pub(super) fn in_tensor(one: &One<'_>, piece: &Piece) -> Pointer {
    let offset = i64::try_from(piece.tensor.unwrap_or(0)).unwrap_or(i64::MAX);
    Pointer { offset: one.tensor.offset.saturating_add(offset), ..one.tensor }
}
