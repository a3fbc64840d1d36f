//! Loads, stores and atomics, with their checks.

use super::Context;
use crate::address::{Area, Pointer};
use crate::concrete;
use crate::doubt::Doubtful;
use crate::finding::{AccessKind, Fault, Gap, Origin, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::launch::Access;
use crate::memory::{Alignment, Allocation, Word, state};
use crate::tags::{Source, Tags};
use ir::{
    Address, AddressBase, Atomic, AtomicOp, FloatBinary, FloatMode, IntBinary, Load, Scalar, Space,
    Store, Width,
};

/// The addresses of an access, lane by lane.
pub(super) struct Addresses {
    pub(super) pointers: [Option<Pointer>; WARP],
    /// Lanes whose address is usable; the others have a finding.
    pub(super) lanes: Mask,
}

/// Where each lane's access goes. Faults are recorded; lanes with one are left out.
pub(super) fn resolve(
    context: &mut Context<'_, '_>,
    address: Address,
    space: Space,
    kind: AccessKind,
    bytes: u32,
) -> Result<Addresses, Gap> {
    let mut pointers = [None; WARP];
    let mut lanes = context.lanes;
    match address.base {
        AddressBase::Variable(variable) => {
            let Some(&area) = context.machine.areas.get(&variable) else {
                return Err(context.gap("this variable is not in memory"));
            };
            pointers = [Some(Pointer { area, offset: address.offset }); WARP];
        }
        AddressBase::Absolute => {
            wild(context, address.offset.cast_unsigned(), kind, bytes, lanes);
            lanes = Mask::NONE;
        }
        AddressBase::Register(register) => {
            let width = context.layout.width(register);
            let (values, tags) = context.read(register.into(), width);
            let numbers = Tags { pointer: Mask::NONE, ..tags };
            lanes = context.decide(numbers, Sink::Address)?;
            for lane in lanes.iter() {
                let full = values[lane].wrapping_add_signed(address.offset) & width.mask();
                let pointer = Pointer::decode(full, space);
                if pointer.is_none() || !tags.pointer.has(lane) {
                    wild(context, full, kind, bytes, Mask(1 << lane));
                    lanes = lanes.without(Mask(1 << lane));
                }
                pointers[lane] = pointer;
            }
        }
    }
    Ok(Addresses { pointers, lanes })
}

fn wild(context: &mut Context<'_, '_>, address: u64, kind: AccessKind, bytes: u32, lanes: Mask) {
    context.find(Fault::WildAddress { address, kind, bytes }, lanes);
}

/// The allocation a pointer is into, and where this lane's copy of it starts.
pub(super) fn allocation<'s>(
    context: &'s mut Context<'_, '_>,
    area: Area,
    lane: usize,
) -> Option<(&'s mut Allocation, usize, usize)> {
    let whole = |memory: &'s mut Allocation| {
        let size = memory.bytes.len();
        (memory, 0, size)
    };
    match area {
        Area::Global(number) => context.global.get_mut(number).map(whole),
        Area::Shared(number) => context.shared.get_mut(number).map(whole),
        Area::Local(number) if number < context.machine.local.len() => {
            let memory = context.warp.local(context.machine, number);
            let size = memory.bytes.len() / WARP;
            Some((memory, lane * size, size))
        }
        Area::Local(_) | Area::Param(_) => None,
    }
}

/// What one lane may access: where it starts, nowhere in a buffer without bounds; and whether
/// that is aligned only if the allocation happens to be.
type Checked = Result<(Option<usize>, bool), Fault>;

/// Bounds, alignment and permission of one lane's access; the byte where it starts.
fn check(
    memory: &Allocation,
    (first, size): (usize, usize),
    offset: i64,
    bytes: u32,
    align: u32,
    kind: AccessKind,
) -> Checked {
    let target = || {
        let mut target = memory.target(offset);
        target.size = size as u64;
        target
    };
    if !memory.allows(kind) {
        return Err(Fault::ReadOnly { target: target() });
    }
    if !memory.bounded {
        return Ok((None, false));
    }
    let start = usize::try_from(offset)
        .ok()
        .filter(|start| start.checked_add(bytes as usize).is_some_and(|end| end <= size));
    let Some(start) = start else {
        return Err(Fault::OutOfBounds { target: target(), kind, bytes });
    };
    match memory.alignment(offset, align) {
        Alignment::No => Err(Fault::Misaligned { target: target(), kind, bytes: align }),
        alignment => Ok((Some(first + start), alignment == Alignment::Depends)),
    }
}

/// Reads parameters of the kernel: always defined by the launch, never written.
fn param<'c>(context: &Context<'c, '_>, area: Area) -> Option<&'c Allocation> {
    match area {
        Area::Param(number) => context.machine.params.get(number),
        _ => None,
    }
}

/// One lane's access: where it is, or a recorded fault.
pub(super) fn locate(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    (bytes, align): (u32, u32),
    kind: AccessKind,
) -> Option<Option<usize>> {
    let checked = match param(context, pointer.area) {
        Some(memory) => check(memory, (0, memory.bytes.len()), pointer.offset, bytes, align, kind),
        None => match allocation(context, pointer.area, lane) {
            Some((memory, first, size)) => {
                check(memory, (first, size), pointer.offset, bytes, align, kind)
            }
            None => Err(Fault::WildAddress { address: pointer.address(), kind, bytes }),
        },
    };
    match checked {
        Ok((start, lucky)) => {
            if lucky {
                context.report.depends_on_alignment(context.place);
            }
            Some(start)
        }
        Err(fault) => {
            context.find(fault, Mask(1 << lane));
            None
        }
    }
}

pub(super) fn load(context: &mut Context<'_, '_>, load: &Load) -> Result<(), Gap> {
    let element = load.width.bytes();
    let bytes = element * load.dsts.len() as u32;
    let addresses = resolve(context, load.address, load.space, AccessKind::Read, bytes)?;
    let mut parts = vec![([0u64; WARP], [0u64; WARP], Tags::NUMBER); load.dsts.len()];
    let failed = context.lanes.without(addresses.lanes);
    let bad = Origin::BadAccess(context.place);
    parts.iter_mut().for_each(|part| part.2 = Tags::poison(failed, bad));
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let found = locate(context, pointer, lane, (bytes, bytes), AccessKind::Read);
        for (position, (low, high, tags)) in parts.iter_mut().enumerate() {
            let at = found.map(|start| start.map(|start| start + position * element as usize));
            let word = read_element(context, pointer.area, lane, at, element as usize, [low, high]);
            mark(tags, lane, word, context.place, found.is_none());
        }
    }
    for (dst, (low, high, tags)) in load.dsts.iter().zip(parts) {
        if let Some(dst) = *dst {
            finish_load(context, load, dst, (&low, &high), tags);
        }
    }
    Ok(())
}

/// Reads one element of one lane into `low` (and `high` above eight bytes).
pub(super) fn read_element(
    context: &mut Context<'_, '_>,
    area: Area,
    lane: usize,
    at: Option<Option<usize>>,
    bytes: usize,
    [low, high]: [&mut Lanes; 2],
) -> Word {
    let start = match at {
        None => return Word::Poison,
        Some(None) => return Word::Unknown,
        Some(Some(start)) => start,
    };
    let read = |memory: &Allocation, low: &mut Lanes, high: &mut Lanes| {
        let (value, word) = memory.load(start, bytes.min(8));
        low[lane] = value;
        if bytes <= 8 {
            return word;
        }
        let (value, upper) = memory.load(start + 8, bytes - 8);
        high[lane] = value;
        if word == upper { word } else { worse(word, upper) }
    };
    match param(context, area) {
        Some(memory) => read(memory, low, high),
        None => match allocation(context, area, lane) {
            Some((memory, ..)) => {
                memory.read = true;
                read(memory, low, high)
            }
            None => Word::Poison,
        },
    }
}

fn worse(a: Word, b: Word) -> Word {
    let either = |word: Word| a == word || b == word;
    match () {
        () if either(Word::Poison) => Word::Poison,
        () if either(Word::Fickle) || either(Word::Pointer) => Word::Fickle,
        () => Word::Unknown,
    }
}

fn mark(tags: &mut Tags, lane: usize, word: Word, place: crate::finding::Place, bad: bool) {
    let bit = Mask(1 << lane);
    match word {
        Word::Number => {}
        Word::Pointer => tags.pointer = tags.pointer.or(bit),
        Word::Unknown => {
            tags.unknown = tags.unknown.or(bit);
            tags.origin = tags.origin.or(Some(Source::Data));
        }
        Word::Fickle => {
            tags.unknown = tags.unknown.or(bit);
            tags.fickle = tags.fickle.or(bit);
            tags.origin = Some(Source::Stored);
        }
        Word::Poison => {
            tags.poison = tags.poison.or(bit);
            let origin = if bad { Origin::BadAccess(place) } else { Origin::Memory(place) };
            tags.undefined = Some(origin);
        }
    }
}

/// Extends what was loaded to its register.
fn finish_load(
    context: &mut Context<'_, '_>,
    load: &Load,
    dst: ir::Reg,
    (low, high): (&Lanes, &Lanes),
    tags: Tags,
) {
    let width = context.layout.width(dst);
    if load.width == Width::B128 {
        context.write(dst, low, tags);
        let (layout, lanes) = (context.layout, context.lanes);
        return context.registers.write_upper(layout, dst, high, lanes);
    }
    if width == load.width {
        return context.write(dst, low, tags);
    }
    let extended = low.map(|bits| concrete::resize(load.width, load.signed, width, bits));
    context.write(dst, &extended, tags);
}

pub(super) fn store(context: &mut Context<'_, '_>, store: &Store) -> Result<(), Gap> {
    let element = store.width.bytes();
    let bytes = element * store.srcs.len() as u32;
    let addresses = resolve(context, store.address, store.space, AccessKind::Write, bytes)?;
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let Some(found) = locate(context, pointer, lane, (bytes, bytes), AccessKind::Write) else {
            continue;
        };
        let Some(start) = found else { continue };
        for (position, &src) in store.srcs.iter().enumerate() {
            let at = start + position * element as usize;
            store_element(context, pointer, lane, at, src, store.width);
        }
    }
    Ok(())
}

/// Writes one element of one lane.
fn store_element(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    at: usize,
    src: ir::Operand,
    width: Width,
) {
    let (values, tags) = context.read(src, width.min(Width::B64));
    let mut word = word_of(tags, lane);
    if word == Word::Poison && matches!(pointer.area, Area::Global(_)) {
        let origin = tags.undefined;
        context.find(Fault::Undefined { reaches: Sink::Output, origin }, Mask(1 << lane));
        // It is reported and it was written: neither is to be said otherwise later.
        word = Word::Unknown;
    }
    if matches!(word, Word::Fickle | Word::Pointer) && matches!(pointer.area, Area::Global(_)) {
        context.doubt_undetermined(tags, Sink::Output, Mask(1 << lane));
    }
    let high = match (width, src) {
        (Width::B128, ir::Operand::Register(register)) => {
            let layout = context.layout;
            Some(context.registers.upper(layout, register)[lane])
        }
        _ => None,
    };
    let Some((memory, ..)) = allocation(context, pointer.area, lane) else { return };
    memory.store(at, width.bytes().min(8) as usize, values[lane], word);
    if let Some(high) = high {
        memory.store(at + 8, 8, high, word);
    }
}

pub(super) fn word_of(tags: Tags, lane: usize) -> Word {
    match () {
        () if tags.poison.has(lane) => Word::Poison,
        () if tags.unknown.has(lane) && tags.fickle.has(lane) => Word::Fickle,
        () if tags.unknown.has(lane) => Word::Unknown,
        () if tags.pointer.has(lane) => Word::Pointer,
        () => Word::Number,
    }
}

pub(super) fn atomic(context: &mut Context<'_, '_>, atomic: &Atomic) -> Result<(), Gap> {
    let width = Width::from_bits(atomic.scalar.width().bits() * u32::from(atomic.packed));
    let Some(width) = width.filter(|&width| width <= Width::B64) else {
        return Err(context.gap("this atomic operation is not executed"));
    };
    let (element, count) = (width.bytes(), atomic.a.len());
    let bytes = element * count as u32;
    let addresses = resolve(context, atomic.address, atomic.space, AccessKind::Atomic, bytes)?;
    let operands: Vec<(Lanes, Tags)> =
        atomic.a.iter().chain(&atomic.b).map(|&operand| context.read(operand, width)).collect();
    for (_, tags) in &operands {
        let poisoned = tags.poison.and(context.lanes);
        if !poisoned.is_empty() {
            let origin = tags.undefined;
            context.find(Fault::Undefined { reaches: Sink::Atomic, origin }, poisoned);
        }
        context.doubt_undetermined(*tags, Sink::Atomic, context.lanes);
    }
    if atomic.dsts.iter().flatten().any(|&dst| context.layout.is_read(dst)) {
        context.doubt(Doubtful::AtomicResult, context.lanes);
    }
    let mut old = vec![([0; WARP], Tags::NUMBER); count];
    let failed = context.lanes.without(addresses.lanes);
    let bad = Origin::BadAccess(context.place);
    old.iter_mut().for_each(|(_, tags)| *tags = Tags::poison(failed, bad));
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let found = locate(context, pointer, lane, (bytes, bytes), AccessKind::Atomic);
        for position in 0..count {
            let at = found.map(|start| start.map(|start| start + position * element as usize));
            let mut unused = [0; WARP];
            let (values, tags) = &mut old[position];
            let bytes = element as usize;
            let before =
                read_element(context, pointer.area, lane, at, bytes, [values, &mut unused]);
            mark(tags, lane, before, context.place, found.is_none());
            let Some(Some(at)) = at else { continue };
            let stale = before == Word::Poison && depends_on_initial(context, pointer, lane);
            let (a, a_tags) = &operands[position];
            let b = operands.get(count).map(|(b, _)| b[lane]);
            let after = match (before, word_of(*a_tags, lane)) {
                (_, word) if atomic.op == AtomicOp::Exchange => word,
                // Reported; what follows from it is not reported again.
                _ if stale => Word::Unknown,
                (Word::Number, Word::Number) => Word::Number,
                (before, word) => worse(before, word),
            };
            let value = update(atomic, values[lane], a[lane], b);
            if let Some((memory, ..)) = allocation(context, pointer.area, lane) {
                memory.store(at, bytes, value, after);
            }
        }
    }
    for (dst, (values, tags)) in atomic.dsts.iter().zip(old) {
        if let Some(dst) = *dst {
            context.write(dst, &values, tags);
        }
    }
    Ok(())
}

/// Whether an update reads an output that nobody has written, which is then reported.
fn depends_on_initial(context: &mut Context<'_, '_>, pointer: Pointer, lane: usize) -> bool {
    let Area::Global(number) = pointer.area else { return false };
    let Some(memory) = context.global.get(number) else { return false };
    if memory.access != Access::Out {
        return false;
    }
    let target = memory.target(pointer.offset);
    context.find(Fault::DependsOnInitial { target }, Mask(1 << lane));
    true
}

/// The new value of a read-modify-write.
fn update(atomic: &Atomic, old: u64, a: u64, b: Option<u64>) -> u64 {
    match atomic.scalar {
        Scalar::Integer { width, signed } => {
            let binary = |op| concrete::int_binary(op, width, old, a);
            match atomic.op {
                AtomicOp::Add => binary(IntBinary::Add),
                AtomicOp::Min => binary(IntBinary::Min { signed }),
                AtomicOp::Max => binary(IntBinary::Max { signed }),
                AtomicOp::And => old & a,
                AtomicOp::Or => old | a,
                AtomicOp::Xor => old ^ a,
                AtomicOp::Exchange => a,
                AtomicOp::Inc => {
                    if old >= a {
                        0
                    } else {
                        old + 1
                    }
                }
                AtomicOp::Dec => {
                    if old == 0 || old > a {
                        a
                    } else {
                        old - 1
                    }
                }
                AtomicOp::CompareSwap => {
                    if old == a {
                        b.unwrap_or(old)
                    } else {
                        old
                    }
                }
            }
        }
        Scalar::Float(format) => {
            let op = match atomic.op {
                AtomicOp::Min => FloatBinary::Min { propagate_nan: false, xor_sign_abs: false },
                AtomicOp::Max => FloatBinary::Max { propagate_nan: false, xor_sign_abs: false },
                _ => FloatBinary::Add,
            };
            // Additions in global memory flush single-precision subnormals (manual §9.7.13.5).
            let flush = format == ir::Format::F32 && atomic.space == Space::Global;
            let mode = FloatMode { flush, ..FloatMode::NEAREST };
            let bits = format.width().bits();
            (0..u32::from(atomic.packed)).fold(0, |out, part| {
                let piece = |value: u64| value >> (part * bits) & format.width().mask();
                let sum = concrete::float_binary(op, format, mode, piece(old), piece(a));
                out | sum << (part * bits)
            })
        }
    }
}

/// `discard`: what was there is gone.
pub(super) fn discard(
    context: &mut Context<'_, '_>,
    space: Space,
    address: Address,
    bytes: u64,
) -> Result<(), Gap> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let addresses = resolve(context, address, space, AccessKind::Write, bytes)?;
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        let found = locate(context, pointer, lane, (bytes, bytes), AccessKind::Write);
        if let (Some(Some(start)), Some((memory, ..))) =
            (found, allocation(context, pointer.area, lane))
        {
            memory.states.fill(start..start + bytes as usize, state::UNDEFINED);
        }
    }
    Ok(())
}
