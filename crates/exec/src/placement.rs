//! Accesses with an alignment that depends on the placement of an array.
//!
//! An array guarantees its declared alignment. An access that needs more is aligned by luck, unless every
//! packing of shared arrays ([`crate::packing`]) aligns it.

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
    /// Set if its alignment is the same in every packing of shared arrays; otherwise it is open.
    pub packed: bool,
}

impl Placement {
    /// Describes an access at this offset, if its alignment depends on the placement of the memory.
    pub(crate) fn at(memory: &Allocation, offset: i64, needed: u32, place: Place) -> Option<Self> {
        let packed = match memory.alignment(offset, needed) {
            Alignment::Yes => return None,
            Alignment::Depends => false,
            Alignment::Packed => true,
            // It depends on a packing if the declared alignment leaves it open.
            Alignment::No => {
                let declared = u64::from(needed).min(memory.align).cast_signed();
                if offset.rem_euclid(declared) != 0 {
                    return None;
                }
                true
            }
        };
        let (name, space, declared) = (memory.name.clone(), memory.space, memory.align);
        Some(Self { place, name, space, declared, needed, packed })
    }
}
