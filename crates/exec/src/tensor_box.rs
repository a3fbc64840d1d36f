//! The pieces of tensor-map boxes, and the byte ranges that they cover in shared memory and in the tensor.
//!
//! Boxes of one map that lie inside their tensor have the same pieces, shifted, so they are walked once. The
//! pattern of a swizzle repeats after at most 1024 bytes of shared memory, so the position in such a period
//! is part of the key.

use ir::{Piece, Start, TensorMap};
use std::sync::Arc;

/// Bytes after which every swizzle repeats.
pub(crate) const PERIOD: u64 = 1024;

/// Byte ranges by start and length.
pub(crate) type Ranges = Vec<(i64, u32)>;

/// The pieces of a box, and the byte ranges that they cover in shared memory and in the tensor: merged and ascending.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) shared: Ranges,
    pub(crate) tensor: Ranges,
}

impl Walk {
    pub(crate) fn new(pieces: Vec<Piece>) -> Self {
        let bytes = |offset: i128| i64::try_from(offset).unwrap_or(i64::MAX);
        let shared = pieces.iter().map(|piece| (piece.shared.cast_signed(), piece.bytes));
        let tensor = pieces.iter().filter_map(|piece| Some((bytes(piece.tensor?), piece.bytes)));
        let (shared, tensor) = (ranges(shared), ranges(tensor));
        Self { pieces, shared, tensor }
    }
}

/// Merges pieces to ranges.
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

/// The key of walks for boxes inside their tensors.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    map: TensorMap,
    shared: u64,
    stores: bool,
}

/// Cached walks of boxes inside their tensors.
#[derive(Debug, Default)]
pub(crate) struct WalkCache {
    known: Vec<(Key, Arc<Walk>)>,
}

impl WalkCache {
    /// The largest number of cached walks.
    const MAX_WALKS: usize = 16;

    /// Returns the pieces of a box inside its tensor, at the origin.
    pub(crate) fn walk(&mut self, map: &TensorMap, shared: u64, stores: bool) -> Option<Arc<Walk>> {
        let same =
            |(key, _): &&(Key, _)| (key.shared, key.stores) == (shared, stores) && key.map == *map;
        if let Some((_, walk)) = self.known.iter().find(same) {
            return Some(Arc::clone(walk));
        }
        if self.known.len() == Self::MAX_WALKS {
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
