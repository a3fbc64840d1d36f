//! The common accesses: all lanes in one allocation, inside it, aligned, and of one kind.
//!
//! Everything else goes the long way in [`super::memory`], which finds out what is wrong. Both give
//! the same result where both apply.

use super::Context;
use crate::address::{Area, Pointer};
use crate::finding::AccessKind;
use crate::lanes::{Lanes, Mask, WARP};
use crate::machine::Machine;
use crate::memory::{Allocation, state};
use crate::tags::{Source, Tags};
use crate::warp::Warp;
use ir::{Address, AddressBase, Load, Operand, Space, Store, Width};

/// Finds the starts of an access of `bytes` bytes in every lane, and the allocation they are in, if
/// the access is of the common kind.
fn offsets(
    context: &mut Context<'_, '_>,
    address: Address,
    space: Space,
    bytes: u32,
    kind: AccessKind,
    starts: &mut Lanes,
) -> Option<Area> {
    let AddressBase::Register(register) = address.base else { return None };
    let tags = context.registers.tags(register);
    let lanes = context.lanes;
    let all_pointers = lanes.without(tags.pointer).is_empty();
    if !all_pointers {
        return None;
    }
    let width = context.layout.width(register);
    let values =
        context.registers.word(context.layout, register.into(), width, &mut context.scratch[0]);
    let first = values[lanes.lowest()?].wrapping_add_signed(address.offset) & width.mask();
    let pointer = Pointer::decode(first, space)?;
    // The address of the allocation's first byte, in the form the lanes have it.
    let start = first.wrapping_sub(pointer.offset.cast_unsigned());
    let mut low_bits = 0;
    if lanes == Mask::ALL {
        // Without a look at every lane's bit this loop uses vector instructions.
        for lane in 0..WARP {
            let full = values[lane].wrapping_add_signed(address.offset) & width.mask();
            starts[lane] = full.wrapping_sub(start);
            low_bits |= starts[lane];
        }
    } else {
        for lane in lanes.iter() {
            let full = values[lane].wrapping_add_signed(address.offset) & width.mask();
            starts[lane] = full.wrapping_sub(start);
            low_bits |= starts[lane];
        }
    }
    let area = pointer.area;
    let Context { machine, global, shared, warp, .. } = context;
    let (memory, size, stride) = allocation(machine, global, shared, warp, area)?;
    let ends_inside =
        |start: u64| start.checked_add(u64::from(bytes)).is_some_and(|end| end <= size as u64);
    // All bits together are no less than the highest start, and usually say enough.
    let inside = ends_inside(low_bits) || ends_inside(starts.iter().copied().max().unwrap_or(0));
    let aligned = low_bits & u64::from(bytes - 1) == 0 && bytes.is_power_of_two();
    if !inside || !aligned || !memory.bounded || !memory.allows(kind) {
        return None;
    }
    // Accesses are made of whole aligned words of the allocation; lanes' parts of it must be too.
    if stride % bytes as usize != 0 {
        return None;
    }
    if memory.align < u64::from(bytes) {
        context.report.alignments.insert(context.place);
    }
    if stride > 0 {
        starts.iter_mut().enumerate().for_each(|(lane, start)| *start += (lane * stride) as u64);
    }
    Some(area)
}

/// An allocation, the size of a lane's part of it, and the distance between two such parts.
fn allocation<'s>(
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

/// Executes a load of the common kind; whether it was one.
pub(super) fn load(context: &mut Context<'_, '_>, load: &Load) -> bool {
    let bytes = load.width.bytes() * load.dsts.len() as u32;
    if load.width > Width::B64 {
        return false;
    }
    let kind = AccessKind::Read;
    let mut starts = [0; WARP];
    let found = offsets(context, load.address, load.space, bytes, kind, &mut starts);
    let Some(area) = found else { return false };
    match load.width.bytes() {
        1 => load_words::<1>(context, load, area, &starts),
        2 => load_words::<2>(context, load, area, &starts),
        4 => load_words::<4>(context, load, area, &starts),
        _ => load_words::<8>(context, load, area, &starts),
    }
}

/// Loads words of `N` bytes if they are all of one kind; whether they are.
fn load_words<const N: usize>(
    context: &mut Context<'_, '_>,
    load: &Load,
    area: Area,
    starts: &Lanes,
) -> bool {
    let Context { machine, registers, layout, global, shared, warp, scratch, lanes, .. } = context;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, area) else {
        return false;
    };
    let Some(tags) = tags::<N>(memory, starts, load.dsts.len(), *lanes) else {
        return false;
    };
    let (words, _) = memory.bytes.as_chunks::<N>();
    for (position, dst) in load.dsts.iter().enumerate() {
        let Some(dst) = *dst else { continue };
        let width = layout.width(dst);
        registers.compute(layout, ([], []), scratch, (dst, &tags, *lanes), |out, []| {
            if *lanes == Mask::ALL {
                for lane in 0..WARP {
                    out[lane] = number(words[starts[lane] as usize / N + position]);
                }
            } else {
                for lane in lanes.iter() {
                    out[lane] = number(words[starts[lane] as usize / N + position]);
                }
            }
            if width != load.width && load.signed {
                *out = out.map(|bits| crate::concrete::resize(load.width, true, width, bits));
            }
        });
    }
    true
}

/// What `count` words of `N` bytes are in every lane, if they are the same kind of value.
fn tags<const N: usize>(
    memory: &Allocation,
    starts: &Lanes,
    count: usize,
    lanes: Mask,
) -> Option<Tags> {
    if memory.states.all_defined() {
        return Some(Tags::NUMBER);
    }
    let (words, _) = memory.states.as_chunks::<N>();
    let (mut all, mut any) = (u64::MAX, 0);
    for position in 0..count {
        let mut look = |lane: usize| {
            let word = number(words[starts[lane] as usize / N + position]);
            all &= word;
            any |= word;
        };
        if lanes == Mask::ALL {
            (0..WARP).for_each(&mut look);
        } else {
            lanes.iter().for_each(&mut look);
        }
    }
    let same = |state: u8| all == number([state; N]) && any == all;
    if same(state::DEFINED) {
        Some(Tags::NUMBER)
    } else if same(state::OPAQUE) {
        Some(Tags::unknown(Mask::ALL, Source::Data))
    } else {
        None
    }
}

/// A word of memory as a number.
#[inline(always)]
fn number<const N: usize>(word: [u8; N]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&word);
    u64::from_le_bytes(bytes)
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
    let mut starts = [0; WARP];
    let found = offsets(context, store.address, store.space, bytes, kind, &mut starts);
    let Some(area) = found else { return false };
    let starts = &starts;
    for (position, &src) in store.srcs.iter().enumerate() {
        let Context { machine, registers, layout, global, shared, warp, scratch, .. } = context;
        let values = registers.word(layout, src, store.width, &mut scratch[0]);
        let Some((memory, ..)) = allocation(machine, global, shared, warp, area) else {
            return false;
        };
        let shift = position * element;
        match element {
            1 => scatter::<1>(memory, starts, shift, lanes, values, state),
            2 => scatter::<2>(memory, starts, shift, lanes, values, state),
            4 => scatter::<4>(memory, starts, shift, lanes, values, state),
            _ => scatter::<8>(memory, starts, shift, lanes, values, state),
        }
    }
    true
}

/// Writes `N` bytes in each lane, in ascending order of lanes.
fn scatter<const N: usize>(
    memory: &mut Allocation,
    starts: &Lanes,
    shift: usize,
    lanes: Mask,
    values: &Lanes,
    state: u8,
) {
    for lane in lanes.iter() {
        let start = starts[lane] as usize + shift;
        memory.bytes[start..start + N].copy_from_slice(&values[lane].to_le_bytes()[..N]);
        memory.states.set::<N>(start, state);
    }
}
