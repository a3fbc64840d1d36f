//! How addresses are laid out, so that an address tells the allocation it belongs to.
//!
//! Every allocation gets a region of its own, far larger than itself, and starts in the middle of
//! it. Arithmetic that leaves the allocation stays in the region, so that an access out of bounds is
//! seen as one, and named, even where it would hit another allocation on a real machine. The price
//! is that base addresses are ours and not the machine's: values that depend on them in other ways
//! than by adding offsets are *unknown* (see [`crate::tags`]).
//!
//! Global and constant memory: a region of 2^36 bytes for each allocation. Shared, local and
//! parameter memory are windows of 2^32 bytes in the generic space; addresses inside a window are
//! 32 bits wide, with a region of 2^22 bytes for each variable. No two windows have regions with the same number, so an
//! address of 32 bits tells its window. A sum that leaves the region of its pointer is no pointer any more
//! ([`keeps_region`]): it would be one into another allocation.

use ir::Space;

const REGION_BITS: u32 = 36;
const AREA_BITS: u32 = 22;

/// The most allocations global memory can have.
pub(crate) const MAX_GLOBAL: usize = 1 << 20;
/// The most variables that shared memory can have, of all blocks of a cluster together.
pub(crate) const MAX_SHARED: usize = 639;
/// The most variables that local memory can have.
pub(crate) const MAX_LOCAL: usize = 127;
/// The numbers of regions of local memory and of parameters begin behind these.
const FIRST_LOCAL: u64 = MAX_SHARED as u64 + 1;
const FIRST_PARAM: u64 = FIRST_LOCAL + MAX_LOCAL as u64 + 1;
/// The numbers of regions end here.
const LAST: u64 = (1 << (32 - AREA_BITS)) - 1;

const SHARED_WINDOW: u64 = (MAX_GLOBAL as u64 + 2) << REGION_BITS;
const LOCAL_WINDOW: u64 = (MAX_GLOBAL as u64 + 4) << REGION_BITS;
const PARAM_WINDOW: u64 = (MAX_GLOBAL as u64 + 6) << REGION_BITS;

/// An allocation and a byte in, before or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pointer {
    pub(crate) area: Area,
    pub(crate) offset: i64,
}

/// Which allocation, by its number in its kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Area {
    Global(usize),
    Shared(usize),
    Local(usize),
    Param(usize),
}

impl Pointer {
    /// The address in the allocation's own state space; global addresses are generic ones.
    pub(crate) fn address(self) -> u64 {
        let (before, number, bits) = match self.area {
            Area::Global(number) => (0, number, REGION_BITS),
            Area::Shared(number) => (0, number, AREA_BITS),
            Area::Local(number) => (FIRST_LOCAL, number, AREA_BITS),
            Area::Param(number) => (FIRST_PARAM, number, AREA_BITS),
        };
        ((before + number as u64 + 1) << bits).wrapping_add_signed(self.offset)
    }

    /// What an address of 32 bits points to, in whichever window; `None` if to nothing.
    pub(crate) fn in_window(address: u64) -> Option<Self> {
        let (number, offset) = split(address, AREA_BITS);
        let (area, before): (fn(usize) -> Area, u64) = match number {
            _ if (1..FIRST_LOCAL).contains(&number) => (Area::Shared, 0),
            _ if (FIRST_LOCAL + 1..FIRST_PARAM).contains(&number) => (Area::Local, FIRST_LOCAL),
            _ if (FIRST_PARAM + 1..LAST).contains(&number) => (Area::Param, FIRST_PARAM),
            _ => return None,
        };
        Some(Self { area: area((number - before) as usize - 1), offset })
    }

    /// What an address of `space` points to; `None` if to nothing.
    #[inline]
    pub(crate) fn decode(address: u64, space: Space) -> Option<Self> {
        match space {
            Space::Generic => Self::decode_generic(address),
            Space::Global | Space::Const => {
                let pointer = Self::decode_generic(address)?;
                matches!(pointer.area, Area::Global(_)).then_some(pointer)
            }
            Space::Shared | Space::SharedCluster => {
                Self::in_window(address).filter(|one| matches!(one.area, Area::Shared(_)))
            }
            Space::Local => {
                Self::in_window(address).filter(|one| matches!(one.area, Area::Local(_)))
            }
            Space::ParamEntry | Space::ParamFunc => {
                Self::in_window(address).filter(|one| matches!(one.area, Area::Param(_)))
            }
        }
    }

    // The regions of global memory end below the windows.
    #[inline]
    fn decode_generic(address: u64) -> Option<Self> {
        let (number, offset) = split(address, REGION_BITS);
        if (1..=MAX_GLOBAL as u64).contains(&number) {
            return Some(Self { area: Area::Global(number as usize - 1), offset });
        }
        WINDOWS.into_iter().find_map(|(window, space)| {
            let inside = address.wrapping_sub(window);
            if inside >> 32 == 0 { Self::decode(inside, space) } else { None }
        })
    }
}

/// The start of each window, and its space.
const WINDOWS: [(u64, Space); 3] = [
    (SHARED_WINDOW, Space::Shared),
    (LOCAL_WINDOW, Space::Local),
    (PARAM_WINDOW, Space::ParamEntry),
];

/// Tells whether an address that is computed from another is in the same region.
#[inline]
pub(crate) fn keeps_region(before: u64, after: u64) -> bool {
    let windowed = before >> 32 == 0 || before >= SHARED_WINDOW - (1 << (REGION_BITS - 1));
    let bits = if windowed { AREA_BITS } else { REGION_BITS };
    let half = 1 << (bits - 1);
    (before.wrapping_add(half) ^ after.wrapping_add(half)) >> bits == 0
}

/// The region whose middle half contains the address, and the distance from its start.
fn split(address: u64, bits: u32) -> (u64, i64) {
    let half = 1u64 << (bits - 1);
    let number = address.wrapping_add(half) >> bits;
    (number, address.wrapping_sub(number << bits).cast_signed())
}

/// What is added to an address of `space` to make it generic.
pub(crate) fn window(space: Space) -> u64 {
    match space {
        Space::Generic | Space::Global | Space::Const => 0,
        Space::Shared | Space::SharedCluster => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::ParamEntry | Space::ParamFunc => PARAM_WINDOW,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_tells_its_allocation_before_and_behind_it() {
        for offset in [-1000, -1, 0, 1, 4096, 1 << 20] {
            for area in [Area::Global(0), Area::Global(77), Area::Shared(3), Area::Local(0)] {
                let pointer = Pointer { area, offset };
                let space = match area {
                    Area::Global(_) => Space::Global,
                    Area::Shared(_) => Space::Shared,
                    Area::Local(_) => Space::Local,
                    Area::Param(_) => Space::ParamEntry,
                };
                let address = pointer.address();
                assert_eq!(Pointer::decode(address, space), Some(pointer));
                let generic = address.wrapping_add(window(space));
                assert_eq!(Pointer::decode(generic, Space::Generic), Some(pointer));
            }
        }
    }

    #[test]
    fn numbers_that_nobody_made_from_an_address_point_nowhere() {
        for address in [0, 1, 4096, u64::MAX, u64::MAX << 36] {
            assert_eq!(Pointer::decode(address, Space::Generic), None, "{address:#x}");
        }
        assert_eq!(Pointer::decode(16, Space::Shared), None);
    }

    /// An address of one window means nothing in another, and a sum that reaches another region is none of the first.
    #[test]
    fn windows_and_regions_are_told_apart() {
        let address = |area| Pointer { area, offset: 8 }.address();
        let [shared, local, param] = [Area::Shared(0), Area::Local(0), Area::Param(0)].map(address);
        assert_eq!(Pointer::decode(shared, Space::Local), None);
        assert_eq!(Pointer::decode(local, Space::Shared), None);
        assert_eq!(Pointer::decode(param, Space::Shared), None);
        assert_eq!(Pointer::decode(local, Space::ParamEntry), None);
        for (pointer, region) in [
            (shared, 1 << AREA_BITS),
            (local, 1 << AREA_BITS),
            (shared + SHARED_WINDOW, 1 << AREA_BITS),
            (address(Area::Global(3)), 1 << REGION_BITS),
        ] {
            assert!(keeps_region(pointer, pointer + region / 4));
            assert!(keeps_region(pointer, pointer - region / 4));
            assert!(!keeps_region(pointer, pointer + region));
            assert!(!keeps_region(pointer, pointer.wrapping_sub(region)));
            assert!(!keeps_region(pointer, pointer + region / 2));
        }
    }
}
