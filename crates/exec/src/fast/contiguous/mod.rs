//! Fast path for common accesses: all lanes in one allocation, inside it, aligned, and with uniform state.
//!
//! All others are left to [`crate::interpret`], which diagnoses faults and gives the same result where both
//! apply.

pub(super) mod starts;

use crate::address::Area;
use crate::context::Context;
use crate::finding::AccessKind;
use crate::interpret::tracked::load_attributes;
use crate::lanes::{Lanes, Mask, Narrow, WARP};
use crate::layout::Layout;
use crate::memory::{Alignment, Allocation, Word, state};
use crate::tags::{Source, Tags};
use crate::tracker::AccessAttributes;
use ir::{AddressBase, Load, Operand, Store, VarId, Width};
use starts::{MAX_BYTES, Pattern, Starts, allocation};
use sync::{AccessPart, MemoryEffect, SameValue, each_place};

/// Loads kernel parameters, which are the same for all lanes. Returns `false` if it declines.
fn load_parameters(context: &mut Context<'_, '_>, load: &Load, variable: VarId) -> bool {
    let Some(&Area::Param(number)) = context.machine.areas.get(&variable) else { return false };
    let Some(memory) = context.machine.params.get(number) else { return false };
    let element = load.width.bytes();
    let bytes = element * load.dsts.len() as u32;
    let offset = load.address.offset;
    let Some(start) = memory.inside(offset, bytes) else { return false };
    if load.width > Width::B64 || memory.alignment(offset, bytes) != Alignment::Yes {
        return false;
    }
    let word = |position: usize| memory.load(start + position * element as usize, element as usize);
    let known = |&position: &usize| matches!(word(position).1, Word::Number | Word::Pointer);
    if !(0..load.dsts.len()).all(|position| known(&position)) {
        return false;
    }
    for (position, dst) in load.dsts.iter().enumerate() {
        let Some(dst) = *dst else { continue };
        let (value, word) = word(position);
        let width = context.layout.width(dst);
        let value = crate::concrete::resize(load.width, load.signed, width, value);
        let tags = if word == Word::Pointer { Tags::pointer(Mask::ALL) } else { Tags::NUMBER };
        context.write(dst, &[value; WARP], tags);
    }
    true
}

/// Executes a common load. Returns `false` if it declines.
pub(super) fn load(context: &mut Context<'_, '_>, load: &Load) -> bool {
    if let AddressBase::Variable(variable) = load.address.base {
        return load_parameters(context, load, variable);
    }
    let bytes = load.width.bytes() * load.dsts.len() as u32;
    let mut starts = Starts::new();
    if load.width > Width::B64
        || !starts.find(context, (load.address, load.space), bytes, AccessKind::Read)
    {
        return false;
    }
    match bytes {
        1 => load_bytes::<1>(context, load, &starts),
        2 => load_bytes::<2>(context, load, &starts),
        4 => load_bytes::<4>(context, load, &starts),
        8 => load_bytes::<8>(context, load, &starts),
        16 => load_bytes::<16>(context, load, &starts),
        _ => load_bytes::<32>(context, load, &starts),
    }
}

/// Loads `B` bytes in each lane if their states are uniform. Returns `false` if it declines.
fn load_bytes<const B: usize>(context: &mut Context<'_, '_>, load: &Load, starts: &Starts) -> bool {
    let is_valued = context.valued.is_some();
    let Context { machine, global, shared, warp, lanes, layout, .. } = context;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else {
        return false;
    };
    let state = memory.states.of_all().or_else(|| starts.state::<B>(&memory.states, *lanes));
    let tags = match state {
        Some(state::DEFINED) => Tags::NUMBER,
        // Words of units are moved unchanged, or left to the general code.
        Some(state::OPAQUE) if is_valued && !whole_units(layout, load) => {
            return B == 2 && load_halves(context, load, starts);
        }
        Some(state::OPAQUE) => Tags::unknown(Mask::ALL, Source::Data),
        Some(state::SCHEDULE_DEPENDENT) if is_valued => return false,
        Some(state::SCHEDULE_DEPENDENT) => Tags::unknown(Mask::ALL, Source::Stored),
        _ => return false,
    };
    memory.read = true;
    if is_valued || state == Some(state::DEFINED) {
        load_values::<B>(context, load, starts, tags);
    } else {
        // The bits of unknown values are meaningless here.
        load.dsts.iter().flatten().for_each(|&dst| context.registers.tag(dst, tags, *lanes));
    }
    if context.tracker.watches(starts.area) {
        track_load(context, load, starts, B as u32);
    }
    true
}

/// Loads two bytes of a unit in each lane to two-byte registers. Returns `false` if it declines, as it does if a lane
/// loads a number or a schedule-dependent value. Neighbouring lanes often load the same.
fn load_halves(context: &mut Context<'_, '_>, load: &Load, starts: &Starts) -> bool {
    let Context { machine, global, shared, warp, lanes, layout, valued, .. } = context;
    let memory = allocation(machine, global, shared, warp, starts.area);
    let (Some((memory, ..)), Some(valued), [Some(dst)]) = (memory, valued, &load.dsts[..]) else {
        return false;
    };
    if !whole_words(layout, load) {
        return false;
    }
    memory.read = true;
    let zero = u64::from(valued.store.units.bits(0)) << 32;
    let mut values = [0; WARP];
    let mut last = None;
    for lane in lanes.iter() {
        let start = starts.each[lane] as usize;
        values[lane] = match last {
            Some((other, value)) if other == start => value,
            _ => match valued.store.units.half_alone(memory.unit(start & !3), start / 2 % 2) {
                Some(word) => u64::from(word) | zero,
                None => match valued.store.load(memory, start, 2) {
                    (value, Word::Unknown) => value,
                    _ => return false,
                },
            },
        };
        last = Some((start, values[lane]));
    }
    context.write_words(*dst, &values, Tags::unknown(Mask::ALL, Source::Data));
    if context.tracker.watches(starts.area) {
        track_load(context, load, starts, 2);
    }
    true
}

/// Up to this many lanes are loaded one by one.
const MAX_SINGLE_LANES: u32 = 4;

/// Loads the bytes.
#[inline(always)]
fn load_values<const B: usize>(
    context: &mut Context<'_, '_>,
    load: &Load,
    starts: &Starts,
    tags: Tags,
) {
    if context.lanes.count() <= MAX_SINGLE_LANES {
        return match load.width {
            Width::B8 => load_few::<1>(context, load, starts, tags),
            Width::B16 => load_few::<2>(context, load, starts, tags),
            Width::B32 => load_few::<4>(context, load, starts, tags),
            _ => load_few::<8>(context, load, starts, tags),
        };
    }
    let Context { machine, global, shared, warp, lanes, layout, .. } = context;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else { return };
    let mut chunks = [[0; B]; WARP];
    starts.gather(&memory.bytes, *lanes, &mut chunks);
    match load.width {
        Width::B8 => write_words::<1, B>(context, load, &chunks, &tags),
        Width::B16 => write_words::<2, B>(context, load, &chunks, &tags),
        Width::B32 => match chunks.as_flattened().as_chunks().0.first_chunk() {
            Some(quads) if B == 16 && whole_words(layout, load) => {
                write_quads(context, load, quads, tags);
            }
            _ => write_words::<4, B>(context, load, &chunks, &tags),
        },
        _ => write_words::<8, B>(context, load, &chunks, &tags),
    }
}

/// Loads words of `N` bytes lane by lane.
#[inline(always)]
fn load_few<const N: usize>(
    context: &mut Context<'_, '_>,
    load: &Load,
    starts: &Starts,
    tags: Tags,
) {
    let Context { machine, global, shared, warp, lanes, layout, registers, .. } = context;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else { return };
    let (words, _) = memory.bytes.as_chunks::<N>();
    for (position, dst) in load.dsts.iter().enumerate() {
        let Some(dst) = *dst else { continue };
        let width = layout.width(dst);
        registers.write_lanes(layout, dst, tags, *lanes, |lane| {
            let word = number(words[starts.each[lane] as usize / N + position]);
            if width == load.width {
                return word;
            }
            crate::concrete::resize(load.width, load.signed, width, word)
        });
    }
}

/// Reports the reads to the tracker.
fn track_load(context: &mut Context<'_, '_>, load: &Load, starts: &Starts, bytes: u32) {
    let lanes = context.lanes;
    let attributes = load_attributes(context, load);
    let warp = context.warp.number;
    let target = (starts.area, bytes);
    if context.tracker.defer_read((warp, lanes), target, attributes, &starts.each) {
        return;
    }
    let part = |lanes: Mask, start: u32| AccessPart {
        lanes,
        offset: start.into(),
        same_value: SameValue::Different,
    };
    let mut parts = [part(lanes, starts.each[0]); WARP];
    let mut count = 0;
    let mut add = |lanes: Mask, start: u32| {
        parts[count] = part(lanes, start);
        count += 1;
    };
    // Lanes that read the same address are reported together, if the first one shares its address.
    let (half, other_half) = starts.each.split_at(WARP / 2);
    match starts.pattern {
        Pattern::Same => add(lanes, starts.each[0]),
        // Blocks of 16 columns: the lanes of two rows read the same row of a tile, or one of two places.
        Pattern::RowInHalves if half[0] == other_half[0] => {
            half.iter().enumerate().for_each(|(lane, &start)| add(Mask(0x1_0001 << lane), start));
        }
        Pattern::SameInHalves => {
            add(Mask(0xffff), half[0]);
            add(Mask(0xffff_0000), other_half[0]);
        }
        _ => each_place(lanes, &starts.each, add),
    }
    context.tracker.access_each(warp, target, attributes, &parts[..count]);
}

/// Returns `true` if a load moves units of four bytes to registers of equal size.
fn whole_units(layout: &Layout, load: &Load) -> bool {
    load.width >= Width::B32 && whole_words(layout, load)
}

/// Returns `true` if a load fills its registers.
fn whole_words(layout: &Layout, load: &Load) -> bool {
    load.dsts.iter().flatten().all(|dst| layout.width(*dst) == load.width)
}

/// Writes four 32-bit words to registers of that size.
fn write_quads(context: &mut Context<'_, '_>, load: &Load, quads: &[[u8; 16]; WARP], tags: Tags) {
    let mut columns = [[0; WARP]; 4];
    transpose(quads, &mut columns);
    let Context { registers, layout, lanes, .. } = context;
    for (dst, words) in load.dsts.iter().zip(&columns) {
        if let Some(dst) = *dst {
            registers.write_narrow(layout, dst, words, tags, *lanes);
        }
    }
}

/// Transposes rows of four words into columns. Inlined, it would not be vectorised.
#[inline(never)]
fn transpose(quads: &[[u8; 16]; WARP], [a, b, c, d]: &mut [Narrow; 4]) {
    for lane in 0..WARP {
        let (words, _) = quads[lane].as_chunks::<4>();
        a[lane] = u32::from_le_bytes(words[0]);
        b[lane] = u32::from_le_bytes(words[1]);
        c[lane] = u32::from_le_bytes(words[2]);
        d[lane] = u32::from_le_bytes(words[3]);
    }
}

/// Writes words of `N` bytes to their registers.
#[inline(always)]
fn write_words<const N: usize, const B: usize>(
    context: &mut Context<'_, '_>,
    load: &Load,
    chunks: &[[u8; B]; WARP],
    tags: &Tags,
) {
    for (position, dst) in load.dsts.iter().enumerate() {
        let Some(dst) = *dst else { continue };
        // The compiler generates better code for a constant position.
        match position {
            0 => write_word::<N, B>(context, load, chunks, 0, (dst, tags)),
            1 => write_word::<N, B>(context, load, chunks, 1, (dst, tags)),
            2 => write_word::<N, B>(context, load, chunks, 2, (dst, tags)),
            3 => write_word::<N, B>(context, load, chunks, 3, (dst, tags)),
            _ => write_word::<N, B>(context, load, chunks, position, (dst, tags)),
        }
    }
}

#[inline(always)]
fn write_word<const N: usize, const B: usize>(
    context: &mut Context<'_, '_>,
    load: &Load,
    chunks: &[[u8; B]; WARP],
    position: usize,
    (dst, tags): (ir::Reg, &Tags),
) {
    if (position + 1) * N > B {
        return;
    }
    let Context { registers, layout, scratch, lanes, .. } = context;
    let width = layout.width(dst);
    let into = (dst, tags, *lanes);
    let word = |chunk: &[u8; B]| {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&chunk[position * N..(position + 1) * N]);
        number(bytes)
    };
    if N == 4
        && registers.compute_narrow(layout, [], &mut scratch.narrow, into, |out, []| {
            for lane in 0..WARP {
                out[lane] = word(&chunks[lane]) as u32;
            }
        })
    {
        return;
    }
    registers.compute(layout, ([], []), &mut scratch.wide, into, |out, []| {
        for lane in 0..WARP {
            out[lane] = word(&chunks[lane]);
        }
        if width != load.width && load.signed {
            for value in out.iter_mut() {
                *value = crate::concrete::resize(load.width, true, width, *value);
            }
        }
    });
}

/// Decodes a word of memory.
#[inline(always)]
fn number<const N: usize>(word: [u8; N]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..N].copy_from_slice(&word);
    u64::from_le_bytes(bytes)
}

/// Executes a common store. Returns `false` if it declines.
pub(super) fn store(context: &mut Context<'_, '_>, store: &Store) -> bool {
    let element = store.width.bytes() as usize;
    let bytes = store.width.bytes() * store.srcs.len() as u32;
    let units = store.width >= Width::B32 || context.valued.is_none();
    if store.width > Width::B64
        || !units
        || context.machine.compared_stores.contains(&context.place)
    {
        return false;
    }
    let lanes = context.lanes;
    let registers = &context.registers;
    let opaque = |&src: &Operand| {
        let tags = registers.operand_tags(src);
        let others = tags.pointer.or(tags.poison).or(tags.undetermined()).and(lanes);
        lanes.without(tags.unknown).is_empty() && others.is_empty()
    };
    let state = if store.srcs.iter().all(|&src| registers.is_number(src)) {
        state::DEFINED
    } else if store.srcs.iter().all(opaque) {
        state::OPAQUE
    } else {
        return false;
    };
    let mut starts = Starts::new();
    if !starts.find(context, (store.address, store.space), bytes, AccessKind::Write) {
        return false;
    }
    if context.tracker.watches(starts.area) {
        return store_tracked(context, store, &starts, state);
    }
    for (position, &src) in store.srcs.iter().enumerate() {
        let Context { machine, registers, layout, global, shared, warp, scratch, .. } = context;
        let values = registers.word(layout, src, store.width, &mut scratch.wide[0]);
        let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else {
            return false;
        };
        let shift = position * element;
        match element {
            1 => scatter::<1>(memory, &starts, shift, lanes, values, state),
            2 => scatter::<2>(memory, &starts, shift, lanes, values, state),
            4 => scatter::<4>(memory, &starts, shift, lanes, values, state),
            _ => scatter::<8>(memory, &starts, shift, lanes, values, state),
        }
    }
    true
}

/// Stores lane by lane, in ascending order, and reports the writes to the tracker.
fn store_tracked(context: &mut Context<'_, '_>, store: &Store, starts: &Starts, state: u8) -> bool {
    let element = store.width.bytes() as usize;
    let bytes = element * store.srcs.len();
    let attributes = AccessAttributes::plain(MemoryEffect::Write, context.site, element as u32);
    if let [src] = store.srcs[..] {
        return store_single(context, (src, element), starts, state);
    }
    let values: Vec<Lanes> =
        store.srcs.iter().map(|&src| context.read(src, store.width).0).collect();
    let Context { machine, global, shared, warp, lanes, tracker, .. } = context;
    let number = warp.number;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else {
        return false;
    };
    for lane in lanes.iter() {
        let start = starts.each[lane] as usize;
        let mut chunk = [0; MAX_BYTES as usize];
        for (position, values) in values.iter().enumerate() {
            let bits = values[lane].to_le_bytes();
            chunk[position * element..(position + 1) * element].copy_from_slice(&bits[..element]);
        }
        let mut same = [SameValue::Undecided; MAX_BYTES as usize];
        for (position, same) in same[..values.len()].iter_mut().enumerate() {
            let part = position * element..(position + 1) * element;
            *same = memory.would_keep(start + part.start, &chunk[part], state);
        }
        let target = (starts.area, start as i64);
        tracker.store((number, lane), target, attributes, &same[..values.len()]);
        memory.bytes[start..start + bytes].copy_from_slice(&chunk[..bytes]);
        memory.states.fill(start..start + bytes, state);
    }
    true
}

/// Stores a value of `element` bytes in each lane, in ascending order, and reports the writes to the tracker.
fn store_single(
    context: &mut Context<'_, '_>,
    (src, element): (Operand, usize),
    starts: &Starts,
    state: u8,
) -> bool {
    match element {
        1 => store_words::<1>(context, (src, Width::B8), starts, state),
        2 => store_words::<2>(context, (src, Width::B16), starts, state),
        4 => store_words::<4>(context, (src, Width::B32), starts, state),
        _ => store_words::<8>(context, (src, Width::B64), starts, state),
    }
}

fn store_words<const N: usize>(
    context: &mut Context<'_, '_>,
    (src, width): (Operand, Width),
    starts: &Starts,
    state: u8,
) -> bool {
    let is_determined = context.machine.is_determined(context.site, starts.area);
    let attributes = AccessAttributes::store(context.site, N as u32, is_determined);
    let Context {
        machine, registers, layout, scratch, global, shared, warp, lanes, tracker, ..
    } = context;
    let values = registers.word(layout, src, width, &mut scratch.wide[0]);
    let number = warp.number;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else {
        return false;
    };
    let nothing = AccessPart { lanes: Mask::NONE, offset: 0, same_value: SameValue::Undecided };
    let mut parts = [nothing; WARP];
    let mut count = 0;
    for lane in lanes.iter() {
        let start = starts.each[lane] as usize;
        let mut word = [0; N];
        word.copy_from_slice(&values[lane].to_le_bytes()[..N]);
        let same_value = memory.would_keep(start, &word, state);
        parts[count] = AccessPart { lanes: Mask::one(lane), offset: start as i64, same_value };
        count += 1;
        memory.bytes[start..start + N].copy_from_slice(&word);
        memory.states.set::<N>(start, state);
    }
    tracker.access_each(number, (starts.area, N as u32), attributes, &parts[..count]);
    true
}

/// Writes `N` bytes in each lane, in ascending order of lanes.
fn scatter<const N: usize>(
    memory: &mut Allocation,
    starts: &Starts,
    shift: usize,
    lanes: Mask,
    values: &Lanes,
    state: u8,
) {
    for lane in lanes.iter() {
        let start = starts.each[lane] as usize + shift;
        memory.bytes[start..start + N].copy_from_slice(&values[lane].to_le_bytes()[..N]);
        memory.states.set::<N>(start, state);
    }
}
