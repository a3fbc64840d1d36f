//! The common accesses: all lanes in one allocation, inside it, aligned, and of one kind.
//!
//! Everything else goes the long way in [`super::memory`], which finds out what is wrong. Both give
//! the same result where both apply.

use super::Context;
use crate::address::{Area, Pointer};
use crate::finding::AccessKind;
use crate::lanes::{Lanes, Mask, Narrow, WARP};
use crate::layout::Layout;
use crate::machine::Machine;
use crate::memory::{Alignment, Allocation, Word, state};
use crate::tags::{Source, Tags};
use crate::tracker::Manner;
use crate::warp::Warp;
use ir::{Address, AddressBase, Load, Operand, Space, Store, VarId, Width};
use sync::{Kind, SameValue};

/// The most bytes a lane accesses at once here.
const MOST_BYTES: u32 = 32;

/// Where the lanes of an access start in their allocation.
struct Starts {
    area: Area,
    pattern: Pattern,
    each: Narrow,
}

/// How the starts of all 32 lanes lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pattern {
    /// All at the same byte.
    Same,
    /// Each right behind the one before.
    Row,
    /// Some other way, or not all lanes take part.
    Any,
}

impl Starts {
    fn new() -> Self {
        Self { area: Area::Global(0), pattern: Pattern::Any, each: [0; WARP] }
    }

    /// Finds the starts of an access of `bytes` bytes in every lane; whether the access is of the
    /// common kind.
    fn find(
        &mut self,
        context: &mut Context<'_, '_>,
        (address, space): (Address, Space),
        bytes: u32,
        kind: AccessKind,
    ) -> bool {
        self.locate(context, address, space, bytes)
            .is_some_and(|farthest| self.is_allowed(context, bytes, kind, farthest))
    }

    /// Fills in the starts; gives all their bits together, which are no less than the highest.
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
        if !all_pointers || !bytes.is_power_of_two() || bytes > MOST_BYTES {
            return None;
        }
        let width = layout.width(register);
        let mask = width.mask();
        let values = registers.word(layout, register.into(), width, &mut scratch.wide[0]);
        let first = values[lanes.lowest()?].wrapping_add_signed(address.offset) & mask;
        let pointer = Pointer::decode(first, space)?;
        self.area = pointer.area;
        // What is taken from a value to get its offset from the allocation's first byte.
        let shift = first
            .wrapping_sub(pointer.offset.cast_unsigned())
            .wrapping_sub(address.offset.cast_unsigned());
        if *lanes == Mask::ALL {
            Some(self.locate_all(values, shift, mask, bytes))
        } else {
            let mut all = 0;
            for lane in lanes.iter() {
                let start = values[lane].wrapping_sub(shift) & mask;
                self.each[lane] = start as u32;
                all |= start;
            }
            self.pattern = Pattern::Any;
            Some(all)
        }
    }

    /// Without a look at every lane's bit this uses vector instructions.
    #[inline(always)]
    fn locate_all(&mut self, values: &Lanes, shift: u64, mask: u64, bytes: u32) -> u64 {
        let (mut all, mut differs, mut leaves_row) = (0, 0, 0);
        let origin = values[0];
        for (lane, (&value, each)) in values.iter().zip(&mut self.each).enumerate() {
            let start = value.wrapping_sub(shift) & mask;
            *each = start as u32;
            all |= start;
            differs |= value ^ origin;
            leaves_row |= value ^ origin.wrapping_add(lane as u64 * u64::from(bytes));
        }
        self.pattern = match (differs, leaves_row) {
            (0, _) => Pattern::Same,
            (_, 0) => Pattern::Row,
            _ => Pattern::Any,
        };
        all
    }

    /// Whether every lane may access what it wants to.
    #[inline(always)]
    fn is_allowed(
        &mut self,
        context: &mut Context<'_, '_>,
        bytes: u32,
        kind: AccessKind,
        farthest: u64,
    ) -> bool {
        let Context { machine, global, shared, warp, .. } = context;
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
        // Accesses are made of whole aligned words of the allocation; lanes' parts must be too.
        if stride % bytes as usize != 0 || memory.bytes.len() > u32::MAX as usize {
            return false;
        }
        if memory.align < u64::from(bytes) {
            context.report.depends_on_alignment(context.place);
        }
        if stride > 0 {
            let lanes = self.each.iter_mut().enumerate();
            lanes.for_each(|(lane, start)| *start += (lane * stride) as u32);
            self.pattern = Pattern::Any;
        }
        true
    }

    /// Lanes that start where this one does, among others that do not take part.
    #[inline(always)]
    fn at_start_of(&self, lane: usize) -> Mask {
        let start = self.each[lane];
        let mut same = 0;
        for (lane, &other) in self.each.iter().enumerate() {
            same |= u32::from(other == start) << lane;
        }
        Mask(same)
    }

    /// Collects the `B` bytes of every lane.
    #[inline(always)]
    fn gather<const B: usize>(&self, memory: &[u8], lanes: Mask, out: &mut [[u8; B]; WARP]) {
        let (chunks, _) = memory.as_chunks::<B>();
        let at = |lane: usize| self.each[lane] as usize / B;
        match self.pattern {
            Pattern::Same => *out = [chunks[at(0)]; WARP],
            Pattern::Row => out.copy_from_slice(&chunks[at(0)..at(0) + WARP]),
            Pattern::Any if lanes == Mask::ALL => {
                for lane in 0..WARP {
                    out[lane] = chunks[at(lane)];
                }
            }
            Pattern::Any => lanes.iter().for_each(|lane| out[lane] = chunks[at(lane)]),
        }
    }

    /// What is common to the states of the `B` bytes of every lane, if they are all the same.
    #[inline(always)]
    fn state<const B: usize>(&self, states: &[u8], lanes: Mask) -> Option<u8> {
        let (chunks, _) = states.as_chunks::<B>();
        let at = |lane: usize| self.each[lane] as usize / B;
        let first = at(lanes.lowest().unwrap_or(0));
        let state = chunks[first][0];
        let wanted = [state; B];
        let same = match self.pattern {
            Pattern::Same => chunks[first] == wanted,
            Pattern::Row => chunks[first..first + WARP].iter().all(|chunk| *chunk == wanted),
            Pattern::Any => lanes.iter().all(|lane| chunks[at(lane)] == wanted),
        };
        same.then_some(state)
    }
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

/// Loads parameters of the kernel, which are the same for all lanes; whether it was such a load.
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

/// Executes a load of the common kind; whether it was one.
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

/// Loads `B` bytes in each lane if they are all of one kind; whether they are.
fn load_bytes<const B: usize>(context: &mut Context<'_, '_>, load: &Load, starts: &Starts) -> bool {
    let is_valued = context.valued.is_some();
    let Context { machine, global, shared, warp, lanes, layout, .. } = context;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else {
        return false;
    };
    let defined = memory.states.all_defined();
    let state =
        if defined { Some(state::DEFINED) } else { starts.state::<B>(&memory.states, *lanes) };
    let tags = match state {
        Some(state::DEFINED) => Tags::NUMBER,
        // Words of units are moved as they are, or not here.
        Some(state::OPAQUE) if is_valued && !whole_units(layout, load) => return false,
        Some(state::OPAQUE) => Tags::unknown(Mask::ALL, Source::Data),
        Some(state::FICKLE) if is_valued => return false,
        Some(state::FICKLE) => Tags::unknown(Mask::ALL, Source::Stored),
        _ => return false,
    };
    memory.read = true;
    let mut chunks = [[0; B]; WARP];
    starts.gather(&memory.bytes, *lanes, &mut chunks);
    match load.width {
        Width::B8 => write_words::<1, B>(context, load, &chunks, &tags),
        Width::B16 => write_words::<2, B>(context, load, &chunks, &tags),
        Width::B32 => write_words::<4, B>(context, load, &chunks, &tags),
        _ => write_words::<8, B>(context, load, &chunks, &tags),
    }
    if context.tracker.watches(starts.area) {
        track_load(context, load, starts, B as u32);
    }
    true
}

/// Tells who read what.
fn track_load(context: &mut Context<'_, '_>, load: &Load, starts: &Starts, bytes: u32) {
    let lanes = context.lanes;
    let manner = super::memory::load_manner(context, load);
    let warp = context.warp.number;
    let mut tell = |lanes: Mask, start: u32| {
        let target = (starts.area, i64::from(start), bytes);
        context.tracker.access((warp, lanes), target, manner, SameValue::Different);
    };
    if starts.pattern == Pattern::Same {
        return tell(lanes, starts.each[0]);
    }
    // Lanes that read the same are told together, if the first shares its place with another.
    let mut rest = lanes;
    while let Some(lane) = rest.lowest() {
        let same = starts.at_start_of(lane).and(rest);
        tell(same, starts.each[lane]);
        rest = rest.without(same);
        if same.count() == 1 && rest.count() == lanes.count() - 1 {
            return rest.iter().for_each(|lane| tell(Mask::one(lane), starts.each[lane]));
        }
    }
}

/// Whether a load moves units of four bytes to registers of as many bytes.
fn whole_units(layout: &Layout, load: &Load) -> bool {
    let same = |dst: &ir::Reg| layout.width(*dst) == load.width;
    load.width >= Width::B32 && load.dsts.iter().flatten().all(same)
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
        // The compiler makes better code of a position it knows.
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
    let units = store.width >= Width::B32 || context.valued.is_none();
    if store.width > Width::B64 || !units || context.machine.asked.contains(&context.place) {
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

/// Stores lane by lane, in ascending order, and tells who wrote what.
fn store_tracked(context: &mut Context<'_, '_>, store: &Store, starts: &Starts, state: u8) -> bool {
    let element = store.width.bytes() as usize;
    let bytes = element * store.srcs.len();
    let manner = Manner::plain(Kind::Write, context.site, element as u32);
    let values: Vec<Lanes> =
        store.srcs.iter().map(|&src| context.read(src, store.width).0).collect();
    let Context { machine, global, shared, warp, lanes, tracker, .. } = context;
    let number = warp.number;
    let Some((memory, ..)) = allocation(machine, global, shared, warp, starts.area) else {
        return false;
    };
    for lane in lanes.iter() {
        let start = starts.each[lane] as usize;
        let mut chunk = [0; MOST_BYTES as usize];
        for (position, values) in values.iter().enumerate() {
            let bits = values[lane].to_le_bytes();
            chunk[position * element..(position + 1) * element].copy_from_slice(&bits[..element]);
        }
        let same = memory.would_keep(start, &chunk[..bytes], state);
        let target = (starts.area, start as i64, bytes as u32);
        tracker.access((number, Mask::one(lane)), target, manner, same);
        memory.bytes[start..start + bytes].copy_from_slice(&chunk[..bytes]);
        memory.states.fill(start..start + bytes, state);
    }
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
