//! Accesses whose alignment depends on where an array lies.
//!
//! An array promises the alignment that it declares. An access that needs more is aligned by luck, unless every packing of shared
//! arrays ([`crate::packing`]) gives it what it needs.

use crate::finding::Place;
use crate::memory::{Alignment, Allocation};

/// An access that needs more alignment than the array it goes to declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// The access.
    pub place: Place,
    /// The array, as the PTX calls it.
    pub name: String,
    /// The state space of the array.
    pub space: ir::Space,
    /// The alignment that it declares.
    pub declared: u64,
    /// The alignment that the access needs.
    pub needed: u32,
    /// Whether every packing of shared arrays settles whether it is aligned; otherwise it is open.
    pub packed: bool,
}

impl Placement {
    /// Describes an access at this offset, if its alignment depends on where the memory lies.
    pub(crate) fn at(memory: &Allocation, offset: i64, needed: u32, place: Place) -> Option<Self> {
        let packed = match memory.alignment(offset, needed) {
            Alignment::Yes => return None,
            Alignment::Depends => false,
            Alignment::Packed => true,
            // It relies on a packing where the declared alignment would leave it open.
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
