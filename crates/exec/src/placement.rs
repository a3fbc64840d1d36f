//! Accesses with an alignment that depends on the placement of an array.
//!
//! An array guarantees its declared alignment. An access that needs more may or may not be aligned, unless every
//! packing of shared arrays ([`crate::packing`]) aligns it, or that of an H200.

use crate::finding::Place;
use crate::memory::{Alignment, Allocation};

/// An access that needs more alignment than its array declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The access.
    pub place: Place,
    /// The name of the array in the PTX.
    pub name: String,
    /// The state space of the array.
    pub space: ir::Space,
    /// The declared alignment.
    pub declared: u64,
    /// The required alignment.
    pub needed: u32,
    /// The assumption that settles it.
    pub assumption: AlignmentAssumption,
}

/// The assumption that settles the alignment of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AlignmentAssumption {
    /// None: the alignment is unknown.
    Open,
    /// It is the same in every packing of shared arrays.
    InEveryPacking,
    /// Dynamic shared memory begins at a multiple of 16 bytes, though it declares less.
    AtDynamicStart,
    /// It is aligned where an H200 places the array: static variables as declared, those of the kernel first.
    AsPlaced,
}

impl Placement {
    /// Describes an access.
    pub(crate) fn new(
        memory: &Allocation,
        needed: u32,
        place: Place,
        assumption: AlignmentAssumption,
    ) -> Self {
        let (name, space, declared) = (memory.name.clone(), memory.space, memory.align);
        Self { place, name, space, declared, needed, assumption }
    }
}

impl AlignmentAssumption {
    /// Returns the assumption that settles the alignment of an access at this offset, if that depends on the placement
    /// of the memory.
    pub(crate) fn at(memory: &Allocation, offset: i64, needed: u32) -> Option<Self> {
        match memory.alignment(offset, needed) {
            Alignment::Yes => None,
            Alignment::Depends => Some(Self::Open),
            Alignment::Packed => Some(Self::of_packing(memory)),
            Alignment::Placed => Some(Self::AsPlaced),
            // The answer depends on the packing if the declared alignment allows both.
            Alignment::No => {
                let declared = u64::from(needed).min(memory.align).cast_signed();
                (offset.rem_euclid(declared) == 0).then_some(Self::of_packing(memory))
            }
        }
    }

    /// The assumption behind the alignment that a memory has beyond its declared one.
    fn of_packing(memory: &Allocation) -> Self {
        if memory.dynamic { Self::AtDynamicStart } else { Self::InEveryPacking }
    }
}
