//! The address layout: an address identifies its allocation.
//!
//! Every allocation gets a region of its own, far larger than itself, and starts in the middle of it.
//! Arithmetic that leaves the allocation stays in the region. So an access out of bounds is recognised and
//! named, even where it would hit another allocation on a real machine. The price is that base addresses are
//! ours and not the machine's: values that depend on them other than by adding offsets are *unknown* (see
//! [`crate::tags`]).
//!
//! Global and constant memory: a region of 2^36 bytes for each allocation. Shared, local and parameter memory
//! are windows of 2^32 bytes in the generic space; addresses inside a window are 32 bits wide, with a region
//! of 2^22 bytes for each variable. Region numbers are unique across windows, so a 32-bit address determines
//! its window. A sum that leaves the region of its pointer is no longer a pointer ([`keeps_region`]): it
//! would point into another allocation.

use crate::lanes::{Lanes, Narrow};
use ir::Space;
use multiversion::multiversion;

const REGION_BITS: u32 = 36;
const AREA_BITS: u32 = 22;

/// The largest number of allocations of global memory.
pub(crate) const MAX_GLOBAL: usize = 1 << 20;
/// The largest number of variables of shared memory, over all blocks of a cluster.
pub(crate) const MAX_SHARED: usize = 639;
/// The largest number of variables of local memory.
pub(crate) const MAX_LOCAL: usize = 127;
/// The regions of local memory and of parameters are numbered from here.
const FIRST_LOCAL: u64 = MAX_SHARED as u64 + 1;
const FIRST_PARAM: u64 = FIRST_LOCAL + MAX_LOCAL as u64 + 1;
/// End of the region numbers.
const LAST: u64 = (1 << (32 - AREA_BITS)) - 1;

const SHARED_WINDOW: u64 = (MAX_GLOBAL as u64 + 2) << REGION_BITS;
const LOCAL_WINDOW: u64 = (MAX_GLOBAL as u64 + 4) << REGION_BITS;
const PARAM_WINDOW: u64 = (MAX_GLOBAL as u64 + 6) << REGION_BITS;

/// An allocation and a byte in it, before it or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pointer {
    pub(crate) area: Area,
    pub(crate) offset: i64,
}

/// An allocation, by its number in its state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Area {
    Global(usize),
    Shared(usize),
    Local(usize),
    Param(usize),
}

impl Pointer {
    /// The address in the allocation's own state space; for global memory a generic address.
    pub(crate) fn address(self) -> u64 {
        let (regions_before, number, bits) = match self.area {
            Area::Global(number) => (0, number, REGION_BITS),
            Area::Shared(number) => (0, number, AREA_BITS),
            Area::Local(number) => (FIRST_LOCAL, number, AREA_BITS),
            Area::Param(number) => (FIRST_PARAM, number, AREA_BITS),
        };
        ((regions_before + number as u64 + 1) << bits).wrapping_add_signed(self.offset)
    }

    /// Decodes a 32-bit address in any window; `None` if it points nowhere.
    pub(crate) fn decode_in_window(address: u64) -> Option<Self> {
        let (number, offset) = split(address, AREA_BITS);
        let (area, regions_before): (fn(usize) -> Area, u64) = match number {
            _ if (1..FIRST_LOCAL).contains(&number) => (Area::Shared, 0),
            _ if (FIRST_LOCAL + 1..FIRST_PARAM).contains(&number) => (Area::Local, FIRST_LOCAL),
            _ if (FIRST_PARAM + 1..LAST).contains(&number) => (Area::Param, FIRST_PARAM),
            _ => return None,
        };
        Some(Self { area: area((number - regions_before) as usize - 1), offset })
    }

    /// Decodes an address of `space`; `None` if it points nowhere.
    #[inline]
    pub(crate) fn decode(address: u64, space: Space) -> Option<Self> {
        match space {
            Space::Generic => Self::decode_generic(address),
            Space::Global | Space::Const => {
                let pointer = Self::decode_generic(address)?;
                matches!(pointer.area, Area::Global(_)).then_some(pointer)
            }
            Space::Shared | Space::SharedCluster => {
                Self::decode_in_window(address).filter(|one| matches!(one.area, Area::Shared(_)))
            }
            Space::Local => {
                Self::decode_in_window(address).filter(|one| matches!(one.area, Area::Local(_)))
            }
            Space::ParamEntry | Space::ParamFunc => {
                Self::decode_in_window(address).filter(|one| matches!(one.area, Area::Param(_)))
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

/// The start of each window, with its space.
const WINDOWS: [(u64, Space); 3] = [
    (SHARED_WINDOW, Space::Shared),
    (LOCAL_WINDOW, Space::Local),
    (PARAM_WINDOW, Space::ParamEntry),
];

/// Returns `true` if the pointer of every lane stays in its region when the number of the same lane is added or
/// subtracted; see [`keeps_region`].
///
/// Exact for wide pointers to global memory and for narrow ones to shared memory. For other pointers it may return
/// `false` although they stay. The numbers have no bits above the width.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn keep_regions(
    (pointers, numbers): (&Lanes, &Lanes),
    subtracts: bool,
    is_wide: bool,
) -> bool {
    let (bits, last, mask) = match is_wide {
        true => (REGION_BITS, MAX_GLOBAL as u64, u64::MAX),
        false => (AREA_BITS, MAX_SHARED as u64, u64::from(u32::MAX)),
    };
    let half = 1 << (bits - 1);
    let sign = if subtracts { u64::MAX } else { 0 };
    let (mut outside, mut differ) = (0, 0);
    for (&pointer, &number) in pointers.iter().zip(numbers) {
        let sum = pointer.wrapping_add((number ^ sign).wrapping_sub(sign)) & mask;
        let region = pointer.wrapping_add(half) >> bits;
        // Regions are numbered from 1. Where one is less or beyond the last, a difference is negative.
        outside |= region.wrapping_sub(1) | last.wrapping_sub(region);
        differ |= region ^ (sum.wrapping_add(half) >> bits);
    }
    outside >> 63 == 0 && differ == 0
}

/// Like [`keep_regions`], for 32-bit addresses. Exact for pointers to shared memory.
#[multiversion(targets("x86_64+avx2"))]
pub(crate) fn keep_regions_narrow(
    (pointers, numbers): (&Narrow, &Narrow),
    subtracts: bool,
) -> bool {
    let half = 1 << (AREA_BITS - 1);
    let last = MAX_SHARED as u32;
    let sign = if subtracts { u32::MAX } else { 0 };
    let (mut outside, mut differ) = (0, 0);
    for (&pointer, &number) in pointers.iter().zip(numbers) {
        let sum = pointer.wrapping_add((number ^ sign).wrapping_sub(sign));
        // An address near the end of the window wraps around to region 0, which has no pointers.
        let region = pointer.wrapping_add(half) >> AREA_BITS;
        outside |= region.wrapping_sub(1) | last.wrapping_sub(region);
        differ |= region ^ (sum.wrapping_add(half) >> AREA_BITS);
    }
    outside >> 31 == 0 && differ == 0
}

/// Returns `true` if an address computed from another is in the same region.
#[inline]
pub(crate) fn keeps_region(before: u64, after: u64) -> bool {
    let windowed = before >> 32 == 0 || before >= SHARED_WINDOW - (1 << (REGION_BITS - 1));
    let bits = if windowed { AREA_BITS } else { REGION_BITS };
    let half = 1 << (bits - 1);
    (before.wrapping_add(half) ^ after.wrapping_add(half)) >> bits == 0
}

/// Returns the number of the region that contains the address, and the distance from the middle of the region,
/// where its allocation starts.
fn split(address: u64, bits: u32) -> (u64, i64) {
    let half = 1u64 << (bits - 1);
    let number = address.wrapping_add(half) >> bits;
    (number, address.wrapping_sub(number << bits).cast_signed())
}

/// The offset that makes an address of `space` generic.
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
    use crate::lanes::WARP;
    use testing::Random;

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
    fn numbers_not_made_from_an_address_point_nowhere() {
        for address in [0, 1, 4096, u64::MAX, u64::MAX << 36] {
            assert_eq!(Pointer::decode(address, Space::Generic), None, "{address:#x}");
        }
        assert_eq!(Pointer::decode(16, Space::Shared), None);
    }

    /// An address of one window is invalid in another, and a sum that reaches another region leaves the
    /// first.
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

    /// The answer for a warp holds for each of its lanes, and is `true` for pointers that stay near.
    #[test]
    fn regions_of_a_warp_are_those_of_its_lanes() {
        let mut random = Random::new(7);
        let mut kept = 0;
        for round in 0..20_000 {
            let (is_wide, subtracts) = (round % 2 == 0, round % 3 == 0);
            let mask = if is_wide { u64::MAX } else { u64::from(u32::MAX) };
            let area = |random: &mut Random| match random.below(if round % 5 == 0 { 4 } else { 1 })
            {
                0 if is_wide => Area::Global(random.below(3)),
                0 => Area::Shared(random.below(3)),
                1 => Area::Local(0),
                2 => Area::Global(MAX_GLOBAL - 1),
                _ => Area::Shared(MAX_SHARED - 1),
            };
            let pointers: Lanes = std::array::from_fn(|_| {
                let offset = random.below(1_u64 << 21) as i64 - (1 << 12);
                Pointer { area: area(&mut random), offset }.address() & mask
            });
            let far: u64 = if round % 7 == 0 { 1 << 40 } else { 1 << 12 };
            let numbers: Lanes = std::array::from_fn(|_| random.below(far) & mask);
            let keeps = keep_regions((&pointers, &numbers), subtracts, is_wide);
            if !is_wide {
                let narrow = [pointers, numbers].map(|values| values.map(|value| value as u32));
                assert_eq!(keep_regions_narrow((&narrow[0], &narrow[1]), subtracts), keeps);
            }
            if !keeps {
                continue;
            }
            kept += 1;
            for lane in 0..WARP {
                let (pointer, number) = (pointers[lane], numbers[lane]);
                let sum = match subtracts {
                    true => pointer.wrapping_sub(number),
                    false => pointer.wrapping_add(number),
                };
                assert!(keeps_region(pointer, sum & mask), "{pointer:x} and {number:x}");
                let space = if is_wide { Space::Generic } else { Space::Shared };
                assert!(Pointer::decode(pointer, space).is_some(), "{pointer:x}");
            }
        }
        assert!(kept > 5_000, "{kept}");
    }
}
