//! The common accesses: all lanes in one allocation, inside it, aligned, and of one kind.
//!
//! Everything else goes the long way in [`super::memory`], which finds out what is wrong. Both give
//! the same result where both apply.

use super::Context;
use crate::address::{Area, Pointer};
use crate::finding::AccessKind;
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::{Alignment, Allocation, state};
use crate::tags::{Source, Tags};
use ir::{Address, AddressBase, Load, Operand, Space, Store, Width};

/// Where the lanes of an access start, in one allocation.
struct Offsets {
    area: Area,
    starts: [usize; WARP],
}

/// The starts of an access of `bytes` bytes in every lane, if it is of the common kind.
fn offsets(
    context: &mut Context<'_, '_>,
    address: Address,
    space: Space,
    bytes: u32,
    kind: AccessKind,
) -> Option<Offsets> {
    let AddressBase::Register(register) = address.base else { return None };
    let tags = context.registers.tags(register);
    let lanes = context.lanes;
    let all_pointers = lanes.without(tags.pointer).is_empty();
    if !all_pointers {
        return None;
    }
    let width = context.layout.width(register);
    let values = context.registers.word(
        context.layout,
        register.into(),
        width,
        &mut context.scratch.operands[0],
    );
    let first = values[lanes.lowest()?].wrapping_add_signed(address.offset) & width.mask();
    let pointer = Pointer::decode(first, space)?;
    // The address of the allocation's first byte, in the form the lanes have it.
    let start = first.wrapping_sub(pointer.offset.cast_unsigned());
    let mut starts = [0; WARP];
    let (mut highest, mut low_bits) = (0, 0);
    for lane in 0..WARP {
        let full = values[lane].wrapping_add_signed(address.offset) & width.mask();
        let offset = if lanes.has(lane) { full.wrapping_sub(start) } else { 0 };
        highest = highest.max(offset);
        low_bits |= offset;
        starts[lane] = offset as usize;
    }
    let area = pointer.area;
    let (memory, size, stride) = allocation(context, area)?;
    let inside = highest.checked_add(u64::from(bytes)).is_some_and(|end| end <= size as u64);
    let aligned = low_bits & u64::from(bytes - 1) == 0 && bytes.is_power_of_two();
    if !inside || !aligned || !memory.bounded || !memory.allows(kind) {
        return None;
    }
    if memory.alignment(0, bytes) == Alignment::Depends {
        context.report.alignments.insert(context.place);
    }
    if stride > 0 {
        starts.iter_mut().enumerate().for_each(|(lane, start)| *start += lane * stride);
    }
    Some(Offsets { area, starts })
}

/// An allocation, the size of a lane's part of it, and the distance between two such parts.
fn allocation<'s>(
    context: &'s mut Context<'_, '_>,
    area: Area,
) -> Option<(&'s mut Allocation, usize, usize)> {
    match area {
        Area::Global(number) => {
            context.global.get_mut(number).map(|memory| (memory.bytes.len(), memory))
        }
        Area::Shared(number) => {
            context.shared.get_mut(number).map(|memory| (memory.bytes.len(), memory))
        }
        Area::Local(number) if number < context.machine.local.len() => {
            let memory = context.warp.local(context.machine, number);
            let size = memory.bytes.len() / WARP;
            return Some((memory, size, size));
        }
        Area::Local(_) | Area::Param(_) => None,
    }
    .map(|(size, memory)| (memory, size, 0))
}

/// What all bytes read so far have in common.
#[derive(Clone, Copy)]
struct States {
    all: u64,
    any: u64,
}

/// Executes a load of the common kind; whether it was one.
pub(super) fn load(context: &mut Context<'_, '_>, load: &Load) -> bool {
    let element = load.width.bytes() as usize;
    let bytes = load.width.bytes() * load.dsts.len() as u32;
    if load.width > Width::B64 {
        return false;
    }
    let kind = AccessKind::Read;
    let Some(found) = offsets(context, load.address, load.space, bytes, kind) else { return false };
    let lanes = context.lanes;
    let Some((memory, ..)) = allocation(context, found.area) else { return false };
    let mut values = [[0; WARP]; 8];
    let mut states = States { all: u64::MAX, any: 0 };
    for (position, values) in values.iter_mut().enumerate().take(load.dsts.len()) {
        let shift = position * element;
        let starts = &found.starts;
        let more = match element {
            1 => gather::<1>(memory, starts, shift, lanes, values),
            2 => gather::<2>(memory, starts, shift, lanes, values),
            4 => gather::<4>(memory, starts, shift, lanes, values),
            _ => gather::<8>(memory, starts, shift, lanes, values),
        };
        states = States { all: states.all & more.all, any: states.any | more.any };
    }
    let same = |state: u8| {
        let pattern = u64::from_le_bytes([state; 8]) & (u64::MAX >> (64 - 8 * element));
        states.all == pattern && states.any == pattern
    };
    let tags = if same(state::DEFINED) {
        Tags::NUMBER
    } else if same(state::OPAQUE) {
        Tags::unknown(Mask::ALL, Source::Data)
    } else {
        return false;
    };
    for (dst, values) in load.dsts.iter().zip(&mut values) {
        let Some(dst) = *dst else { continue };
        let width = context.layout.width(dst);
        if width != load.width && load.signed {
            let extend = |bits| crate::concrete::resize(load.width, true, width, bits);
            *values = values.map(extend);
        }
        match tags.is_number() {
            true => context.registers.write_numbers(context.layout, dst, values, lanes),
            false => context.write(dst, values, tags),
        }
    }
    true
}

/// Reads `N` bytes in each lane.
fn gather<const N: usize>(
    memory: &Allocation,
    starts: &[usize; WARP],
    shift: usize,
    lanes: Mask,
    values: &mut Lanes,
) -> States {
    let mut states = States { all: u64::MAX, any: 0 };
    let mut read = |lane: usize| {
        let start = starts[lane] + shift;
        let mut word = [0; 8];
        word[..N].copy_from_slice(&memory.bytes[start..start + N]);
        values[lane] = u64::from_le_bytes(word);
        let mut word = [0; 8];
        word[..N].copy_from_slice(&memory.states[start..start + N]);
        let word = u64::from_le_bytes(word);
        states.all &= word;
        states.any |= word;
    };
    if lanes == Mask::ALL {
        (0..WARP).for_each(&mut read);
    } else {
        lanes.iter().for_each(&mut read);
    }
    states
}

/// Executes a store of the common kind; whether it was one.
pub(super) fn store(context: &mut Context<'_, '_>, store: &Store) -> bool {
    let element = store.width.bytes() as usize;
    let bytes = store.width.bytes() * store.srcs.len() as u32;
    if store.width > Width::B64 {
        return false;
    }
    let lanes = context.lanes;
    let registers = &context.registers;
    let opaque = |&src: &Operand| {
        let tags = registers.operand_tags(src);
        let others = tags.pointer.or(tags.poison).and(lanes);
        lanes.without(tags.unknown).is_empty() && others.is_empty()
    };
    let state = if store.srcs.iter().all(|&src| registers.is_number(src)) {
        state::DEFINED
    } else if store.srcs.iter().all(opaque) {
        state::OPAQUE
    } else {
        return false;
    };
    let kind = AccessKind::Write;
    let Some(found) = offsets(context, store.address, store.space, bytes, kind) else {
        return false;
    };
    for (position, &src) in store.srcs.iter().enumerate() {
        let mut buffer = [0; WARP];
        let values = *context.registers.word(context.layout, src, store.width, &mut buffer);
        let Some((memory, ..)) = allocation(context, found.area) else { return false };
        let shift = position * element;
        let starts = &found.starts;
        match element {
            1 => scatter::<1>(memory, starts, shift, lanes, &values, state),
            2 => scatter::<2>(memory, starts, shift, lanes, &values, state),
            4 => scatter::<4>(memory, starts, shift, lanes, &values, state),
            _ => scatter::<8>(memory, starts, shift, lanes, &values, state),
        }
    }
    true
}

/// Writes `N` bytes in each lane, in ascending order of lanes.
fn scatter<const N: usize>(
    memory: &mut Allocation,
    starts: &[usize; WARP],
    shift: usize,
    lanes: Mask,
    values: &Lanes,
    state: u8,
) {
    for lane in lanes.iter() {
        let start = starts[lane] + shift;
        memory.bytes[start..start + N].copy_from_slice(&values[lane].to_le_bytes()[..N]);
        memory.states[start..start + N].copy_from_slice(&[state; N]);
    }
}
