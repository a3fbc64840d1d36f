//! Start offsets of a common access: their computation, permissions, and the state of the bytes.

use crate::address::{Area, Pointer, keeps_region};
use crate::context::Context;
use crate::finding::AccessKind;
use crate::lanes::{Lanes, Mask, Narrow, WARP};
use crate::machine::Machine;
use crate::memory::Allocation;
use crate::placement::{AlignmentAssumption, Placement};
use crate::warp::Warp;
use ir::{Address, AddressBase, Space, Width};
use multiversion::multiversion;

/// The largest number of bytes that a lane accesses at once here.
pub(super) const MAX_BYTES: u32 = 32;

/// The start offsets of an access's lanes in their allocation.
pub(in crate::fast) struct Starts {
    pub(in crate::fast) area: Area,
    pub(super) pattern: Pattern,
    pub(in crate::fast) each: Narrow,
}

/// The pattern of the 32 start offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// All at the same byte.
    Same,
    /// Each right after the previous one.
    Row,
    /// The same byte within each half of the warp, as in blocks of 16 columns.
    SameInHalves,
    /// A row in each half.
    RowInHalves,
    /// Any other pattern, or not all lanes take part.
    Any,
}

impl Pattern {
    /// The pattern of two halves at this distance that are each the same byte or a row.
    #[inline(always)]
    fn of(is_same: bool, is_row: bool, distance: u64, bytes: u32) -> Self {
        match (is_same, is_row) {
            (true, _) if distance == 0 => Self::Same,
            (true, _) => Self::SameInHalves,
            (_, true) if distance == u64::from(bytes) * HALF as u64 => Self::Row,
            (_, true) => Self::RowInHalves,
            _ => Self::Any,
        }
    }
}

/// Lanes of half a warp.
const HALF: usize = WARP / 2;

/// Subtracts the origin from addresses. Returns the bitwise or of the starts, and their pattern.
#[multiversion(targets("x86_64+avx2"))]
fn subtract(
    values: &Lanes,
    shift: u64,
    mask: u64,
    bytes: u32,
    starts: &mut Narrow,
) -> (u64, Pattern) {
    let (mut all, mut differs, mut leaves_row) = (0, 0, 0);
    // One loop over all lanes: two loops over halves are not vectorised.
    let mut origins = [values[0]; WARP];
    origins[HALF..].fill(values[HALF]);
    for (lane, ((&value, &origin), start)) in values.iter().zip(&origins).zip(starts).enumerate() {
        let offset = value.wrapping_sub(shift) & mask;
        *start = offset as u32;
        all |= offset;
        differs |= value ^ origin;
        leaves_row |= value ^ origin.wrapping_add((lane % HALF) as u64 * u64::from(bytes));
    }
    let distance = values[HALF].wrapping_sub(values[0]);
    (all, Pattern::of(differs == 0, leaves_row == 0, distance, bytes))
}

/// Like [`subtract`], for 32-bit addresses.
#[multiversion(targets("x86_64+avx2"))]
fn subtract_narrow(values: &Narrow, shift: u32, bytes: u32, starts: &mut Narrow) -> (u32, Pattern) {
    let (mut all, mut differs, mut leaves_row) = (0, 0, 0);
    let mut origins = [values[0]; WARP];
    origins[HALF..].fill(values[HALF]);
    for (lane, ((&value, &origin), start)) in values.iter().zip(&origins).zip(starts).enumerate() {
        let offset = value.wrapping_sub(shift);
        *start = offset;
        all |= offset;
        differs |= value ^ origin;
        leaves_row |= value ^ origin.wrapping_add((lane % HALF) as u32 * bytes);
    }
    let distance = values[HALF].wrapping_sub(values[0]);
    (all, Pattern::of(differs == 0, leaves_row == 0, distance.into(), bytes))
}

impl Starts {
    pub(in crate::fast) fn new() -> Self {
        Self { area: Area::Global(0), pattern: Pattern::Any, each: [0; WARP] }
    }

    /// Finds the starts of an access of `bytes` bytes in every lane. Returns `true` for a common access.
    pub(in crate::fast) fn find(
        &mut self,
        context: &mut Context<'_, '_>,
        (address, space): (Address, Space),
        bytes: u32,
        kind: AccessKind,
    ) -> bool {
        self.locate(context, address, space, bytes)
            .is_some_and(|farthest| self.is_allowed(context, bytes, kind, farthest))
    }

    /// Computes the starts. Returns their bitwise or, which is at least the highest.
    #[inline(always)]
    fn locate(
        &mut self,
        context: &mut Context<'_, '_>,
        address: Address,
        space: Space,
        bytes: u32,
    ) -> Option<u64> {
        let AddressBase::Register(register) = address.base else { return None };
        let Context { registers, layout, scratch, lanes, .. } = context;
        let all_pointers = lanes.without(registers.tags(register).pointer).is_empty();
        if !all_pointers || !bytes.is_power_of_two() || bytes > MAX_BYTES {
            return None;
        }
        let width = layout.width(register);
        if width == Width::B32 && *lanes == Mask::ALL {
            let values = registers.narrow(layout, register.into(), &mut scratch.narrow[0]);
            return self.locate_narrow(values, address.offset, space, bytes);
        }
        if width == Width::B32 {
            let values = registers.narrow(layout, register.into(), &mut scratch.narrow[0]);
            let shift = self.shift(
                values[lanes.lowest()?].into(),
                address.offset,
                Width::B32.mask(),
                space,
            )?;
            return Some(
                self.locate_some(*lanes, |lane| values[lane].wrapping_sub(shift as u32).into()),
            );
        }
        let mask = width.mask();
        let values = registers.word(layout, register.into(), width, &mut scratch.wide[0]);
        let first = values[lanes.lowest()?];
        let shift = self.shift(first, address.offset, mask, space)?;
        if *lanes == Mask::ALL {
            return Some(self.locate_all(values, shift, mask, bytes));
        }
        Some(self.locate_some(*lanes, |lane| values[lane].wrapping_sub(shift) & mask))
    }

    /// Computes the starts lane by lane.
    #[inline(always)]
    fn locate_some(&mut self, lanes: Mask, start: impl Fn(usize) -> u64) -> u64 {
        let mut all = 0;
        for lane in lanes.iter() {
            let start = start(lane);
            self.each[lane] = start as u32;
            all |= start;
        }
        self.pattern = Pattern::Any;
        all
    }

    /// Finds the area of an address. Returns the number to subtract from values of the address register to get
    /// offsets from the area's first byte.
    #[inline(always)]
    fn shift(&mut self, value: u64, offset: i64, mask: u64, space: Space) -> Option<u64> {
        let address = value.wrapping_add_signed(offset) & mask;
        let pointer = Pointer::decode(address, space).filter(|_| keeps_region(value, address))?;
        self.area = pointer.area;
        let start = address.wrapping_sub(pointer.offset.cast_unsigned());
        Some(start.wrapping_sub(offset.cast_unsigned()))
    }

    /// Computes the starts of all lanes without testing lane bits, which vectorises.
    #[inline(always)]
    fn locate_all(&mut self, values: &Lanes, shift: u64, mask: u64, bytes: u32) -> u64 {
        let (all, pattern) = subtract(values, shift, mask, bytes, &mut self.each);
        self.pattern = pattern;
        all
    }

    /// Like [`locate_all`](Self::locate_all), for 32-bit addresses.
    #[inline(always)]
    fn locate_narrow(
        &mut self,
        values: &Narrow,
        offset: i64,
        space: Space,
        bytes: u32,
    ) -> Option<u64> {
        let shift = self.shift(values[0].into(), offset, Width::B32.mask(), space)? as u32;
        let (all, pattern) = subtract_narrow(values, shift, bytes, &mut self.each);
        self.pattern = pattern;
        Some(all.into())
    }

    /// Returns `true` if the access of every lane is allowed, aligned and in bounds.
    #[inline(always)]
    fn is_allowed(
        &mut self,
        context: &mut Context<'_, '_>,
        bytes: u32,
        kind: AccessKind,
        farthest: u64,
    ) -> bool {
        let Context { machine, global, shared, warp, report, site, place, .. } = context;
        let Some((memory, size, stride)) = allocation(machine, global, shared, warp, self.area)
        else {
            return false;
        };
        let ends_inside =
            |start: u64| start <= u64::from(u32::MAX) && start + u64::from(bytes) <= size as u64;
        let inside = ends_inside(farthest)
            || farthest <= u64::from(u32::MAX)
                && ends_inside(self.each.iter().copied().max().unwrap_or(0).into());
        let aligned = farthest & u64::from(bytes - 1) == 0;
        if !inside || !aligned || !memory.bounded || !memory.allows(kind) {
            return false;
        }
        // Accesses consist of whole aligned words of the allocation, so a lane's part must, too.
        if stride % bytes as usize != 0 || memory.bytes.len() > u32::MAX as usize {
            return false;
        }
        // Every lane is a whole number of accesses behind the start.
        if memory.align < u64::from(bytes)
            && let Some(settled) = AlignmentAssumption::at(memory, 0, bytes)
            && report.is_new_placement(*site, (self.area, settled))
        {
            report.alignments.insert(Placement::new(memory, bytes, *place, settled));
        }
        if stride > 0 {
            let lanes = self.each.iter_mut().enumerate();
            lanes.for_each(|(lane, start)| *start += (lane * stride) as u32);
            self.pattern = Pattern::Any;
        }
        true
    }

    /// Collects the `B` bytes of every lane.
    #[inline(always)]
    pub(super) fn gather<const B: usize>(
        &self,
        memory: &[u8],
        lanes: Mask,
        out: &mut [[u8; B]; WARP],
    ) {
        let (chunks, _) = memory.as_chunks::<B>();
        let at = |lane: usize| self.each[lane] as usize / B;
        match self.pattern {
            Pattern::Same => *out = [chunks[at(0)]; WARP],
            Pattern::Row => out.copy_from_slice(&chunks[at(0)..at(0) + WARP]),
            Pattern::SameInHalves | Pattern::RowInHalves => {
                let (out, _) = out.as_chunks_mut::<HALF>();
                for (half, out) in out.iter_mut().enumerate() {
                    let start = at(half * HALF);
                    match self.pattern {
                        Pattern::SameInHalves => *out = [chunks[start]; HALF],
                        _ => out.copy_from_slice(&chunks[start..start + HALF]),
                    }
                }
            }
            Pattern::Any if lanes == Mask::ALL => {
                for lane in 0..WARP {
                    out[lane] = chunks[at(lane)];
                }
            }
            Pattern::Any => lanes.iter().for_each(|lane| out[lane] = chunks[at(lane)]),
        }
    }

    /// Returns the common state of all bytes of all lanes, if there is one.
    #[inline(always)]
    pub(super) fn state<const B: usize>(&self, states: &[u8], lanes: Mask) -> Option<u8> {
        let first = self.each[lanes.lowest().unwrap_or(0)] as usize;
        let state = states[first];
        if lanes == Mask::ALL && self.is_common::<B>(states, state) {
            return Some(state);
        }
        let (chunks, _) = states.as_chunks::<B>();
        let wanted = [state; B];
        let mut all = lanes.iter();
        all.all(|lane| chunks[self.each[lane] as usize / B] == wanted).then_some(state)
    }

    /// Returns `true` if everything between the first and the last byte of any lane has this state, provided
    /// that the range is not much larger than the access.
    #[inline(always)]
    fn is_common<const B: usize>(&self, states: &[u8], state: u8) -> bool {
        let (mut low, mut high) = (u32::MAX, 0);
        for &start in &self.each {
            low = low.min(start);
            high = high.max(start);
        }
        let (low, end) = (low as usize, high as usize + B);
        // A single pass without early exit can use vector instructions.
        end - low <= 2 * WARP * B
            && states[low..end].iter().fold(0, |differs, other| differs | (other ^ state)) == 0
    }
}

/// Returns an allocation, the size of a lane's part of it, and the distance between two such parts.
#[inline(always)]
pub(in crate::fast) fn allocation<'s>(
    machine: &Machine<'_>,
    global: &'s mut [Allocation],
    shared: &'s mut [Allocation],
    warp: &'s mut Warp,
    area: Area,
) -> Option<(&'s mut Allocation, usize, usize)> {
    let (memory, parts) = match area {
        Area::Global(number) => (global.get_mut(number)?, 1),
        Area::Shared(number) => (shared.get_mut(number)?, 1),
        Area::Local(number) if number < machine.local.len() => (warp.local(machine, number), WARP),
        Area::Local(_) | Area::Param(_) => return None,
    };
    let size = memory.bytes.len() / parts;
    Some((memory, size, if parts > 1 { size } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In every pattern, each lane gets the bytes at its own start.
    #[test]
    fn patterns_gather_the_bytes_of_single_lanes() {
        let memory: Vec<u8> = (0..1024u32).map(|byte| (byte * 7 % 251) as u8).collect();
        let offsets: [(&dyn Fn(usize) -> usize, Pattern); 8] = [
            (&|_| 3, Pattern::Same),
            (&|lane| lane, Pattern::Row),
            (&|lane| lane / 16 * 40 + 1, Pattern::SameInHalves),
            (&|lane| 90 - lane / 16 * 40, Pattern::SameInHalves),
            (&|lane| lane % 16 + 5, Pattern::RowInHalves),
            (&|lane| lane % 16 + lane / 16 * 17, Pattern::RowInHalves),
            (&|lane| if lane < 16 { lane } else { 40 }, Pattern::Any),
            (&|lane| lane ^ 1, Pattern::Any),
        ];
        for (offset, pattern) in offsets {
            let base = 1 << 20;
            let wide: Lanes = std::array::from_fn(|lane| base + 4 * offset(lane) as u64);
            let narrow: Narrow = wide.map(|value| value as u32);
            let mut starts = [[0; WARP]; 2];
            let found = [
                subtract(&wide, base, u64::MAX, 4, &mut starts[0]).1,
                subtract_narrow(&narrow, base as u32, 4, &mut starts[1]).1,
            ];
            assert_eq!(found, [pattern; 2]);
            for each in starts {
                let starts = Starts { area: Area::Global(0), pattern, each };
                let mut gathered = [[0; 4]; WARP];
                starts.gather(&memory, Mask::ALL, &mut gathered);
                for (lane, bytes) in gathered.iter().enumerate() {
                    let start = 4 * offset(lane);
                    assert_eq!(bytes, &memory[start..start + 4], "{pattern:?}, lane {lane}");
                }
            }
        }
    }
}
