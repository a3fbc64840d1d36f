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
//! 32 bits wide, with a region of 2^24 bytes for each variable.

use ir::Space;

const REGION_BITS: u32 = 36;
const AREA_BITS: u32 = 24;

/// The most allocations global memory can have.
pub(crate) const MAX_GLOBAL: usize = 1 << 20;
/// The most variables a window can have.
pub(crate) const MAX_WINDOW: usize = 255;

const SHARED_WINDOW: u64 = (MAX_GLOBAL as u64 + 2) << REGION_BITS;
const LOCAL_WINDOW: u64 = (MAX_GLOBAL as u64 + 4) << REGION_BITS;
const PARAM_WINDOW: u64 = (MAX_GLOBAL as u64 + 6) << REGION_BITS;

/// An allocation and a byte in, before or behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        let (number, bits) = match self.area {
            Area::Global(number) => (number, REGION_BITS),
            Area::Shared(number) | Area::Local(number) | Area::Param(number) => (number, AREA_BITS),
        };
        ((number as u64 + 1) << bits).wrapping_add_signed(self.offset)
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
            Space::Shared | Space::SharedCluster => Self::decode_window(address, Area::Shared),
            Space::Local => Self::decode_window(address, Area::Local),
            Space::ParamEntry | Space::ParamFunc => Self::decode_window(address, Area::Param),
        }
    }

    // The regions of global memory end below the windows.
    #[inline]
    fn decode_generic(address: u64) -> Option<Self> {
        let (number, offset) = split(address, REGION_BITS);
        if (1..=MAX_GLOBAL as u64).contains(&number) {
            return Some(Self { area: Area::Global(number as usize - 1), offset });
        }
        windows().into_iter().find_map(|(window, area)| {
            let inside = address.wrapping_sub(window);
            if inside >> 32 == 0 { Self::decode_window(inside, area) } else { None }
        })
    }

    fn decode_window(address: u64, area: fn(usize) -> Area) -> Option<Self> {
        let (number, offset) = split(address, AREA_BITS);
        let known = (1..=MAX_WINDOW as u64).contains(&number);
        known.then(|| Self { area: area(number as usize - 1), offset })
    }
}

/// The start of a window and what a number in it means.
type Window = (u64, fn(usize) -> Area);

fn windows() -> [Window; 3] {
    [(SHARED_WINDOW, Area::Shared), (LOCAL_WINDOW, Area::Local), (PARAM_WINDOW, Area::Param)]
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
        for offset in [-1000, -1, 0, 1, 4096, 1 << 22] {
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
}
