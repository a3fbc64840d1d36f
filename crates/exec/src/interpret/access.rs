//! Resolves the addresses of an access, checks them (bounds, alignment, permission), and reads or writes the bytes.
//!
//! A failed check is recorded as a finding, and its lane is left out of the access. A data-dependent address ends the
//! run, unless the caller handles it ([`resolve_indexed`]).

use super::indexed::{self, Indexed};
use super::remote;
use crate::address::{Area, Pointer, keeps_region};
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Origin, Place, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::launch::Access;
use crate::memory::{Alignment, Allocation, Word, state};
use crate::placement::{AlignmentAssumption, Placement};
use crate::tags::{Source, Tags};
use crate::value::unit::Byte;
use ir::{Address, AddressBase, Space};

/// The addresses of an access, lane by lane.
pub(super) struct Addresses {
    pub(super) pointers: [Option<Pointer>; WARP],
    /// Lanes with a valid address; the others have a finding.
    pub(super) lanes: Mask,
}

/// Resolves the address of each lane. Faults are recorded, and their lanes are left out. A data-dependent
/// address ends the run.
pub(super) fn resolve(
    context: &mut Context<'_, '_>,
    address: Address,
    space: Space,
    kind: AccessKind,
    bytes: u32,
) -> Result<Addresses, Gap> {
    let (addresses, indexed) = resolve_indexed(context, address, space, kind, bytes)?;
    match indexed.first() {
        Some(one) => Err(indexed::not_followed(context, one, kind)),
        None => Ok(addresses),
    }
}

/// Like [`resolve`], but returns lanes with a data-dependent address separately.
pub(super) fn resolve_indexed(
    context: &mut Context<'_, '_>,
    address: Address,
    space: Space,
    kind: AccessKind,
    bytes: u32,
) -> Result<(Addresses, Vec<Indexed>), Gap> {
    let mut pointers = [None; WARP];
    let mut lanes = context.lanes;
    let mut indexed = Vec::new();
    match address.base {
        AddressBase::Variable(variable) => {
            let Some(&area) = context.machine.areas.get(&variable) else {
                return Err(context.gap("this variable is not in memory"));
            };
            pointers =
                [Some(Pointer { area: context.own_instance(area), offset: address.offset }); WARP];
        }
        AddressBase::Absolute => {
            report_wild_address(context, address.offset.cast_unsigned(), kind, bytes, lanes);
            lanes = Mask::NONE;
        }
        AddressBase::Register(register) => {
            let width = context.layout.width(register);
            let (mut values, mut tags) = context.read(register.into(), width);
            if !tags.unknown.and(context.lanes).is_empty() {
                let more = (address.offset, width);
                indexed = indexed::split(context, (&mut values, &mut tags), space, more);
            }
            let apart = indexed.iter().fold(0, |mask, one| mask | 1 << one.lane);
            let numbers =
                Tags { pointer: Mask::NONE, unknown: tags.unknown.without(Mask(apart)), ..tags };
            lanes = context.require_numbers(numbers, Sink::Address)?.without(Mask(apart));
            // Lanes often have the same address.
            let mut last = None;
            for lane in lanes.iter() {
                let full = values[lane].wrapping_add_signed(address.offset) & width.mask();
                let pointer = match last {
                    Some((value, pointer)) if value == values[lane] => pointer,
                    _ => {
                        let near = keeps_region(values[lane] & width.mask(), full);
                        Pointer::decode(full, space).filter(|_| near)
                    }
                };
                last = Some((values[lane], pointer));
                if pointer.is_none() || !tags.pointer.has(lane) {
                    report_wild_address(context, full, kind, bytes, Mask(1 << lane));
                    lanes = lanes.without(Mask(1 << lane));
                }
                pointers[lane] = pointer;
            }
        }
    }
    if space == Space::Shared && context.machine.blocks > 1 {
        check_own(context, &pointers, lanes)?;
    }
    Ok((Addresses { pointers, lanes }, indexed))
}

/// Checks that addresses in `.shared::cta` belong to the executing block.
fn check_own(
    context: &Context<'_, '_>,
    pointers: &[Option<Pointer>; WARP],
    lanes: Mask,
) -> Result<(), Gap> {
    let is_other_block = |pointer: Pointer| context.other_block(pointer.area).is_some();
    match lanes.iter().any(|lane| pointers[lane].is_some_and(is_other_block)) {
        true => Err(context.gap("an address in another block is used in `.shared::cta`")),
        false => Ok(()),
    }
}

/// Records accesses at an address that belongs to no allocation.
fn report_wild_address(
    context: &mut Context<'_, '_>,
    address: u64,
    kind: AccessKind,
    bytes: u32,
    lanes: Mask,
) {
    context.record_fault(Fault::WildAddress { address, kind, bytes }, lanes);
}

/// Returns the allocation of a pointer, and the start and size of this lane's copy.
pub(super) fn allocation<'s>(
    context: &'s mut Context<'_, '_>,
    area: Area,
    lane: usize,
) -> Option<(&'s mut Allocation, usize, usize)> {
    let all_bytes = |memory: &'s mut Allocation| {
        let size = memory.bytes.len();
        (memory, 0, size)
    };
    match area {
        Area::Global(number) => context.global.get_mut(number).map(all_bytes),
        Area::Shared(number) => context.shared.get_mut(number).map(all_bytes),
        Area::Local(number) if number < context.machine.local.len() => {
            let memory = context.warp.local(context.machine, number);
            let size = memory.bytes.len() / WARP;
            Some((memory, lane * size, size))
        }
        Area::Local(_) | Area::Param(_) => None,
    }
}

/// The start of a lane's access (`None` in a buffer without bounds), and `true` if it is aligned only if the
/// allocation happens to be.
type Located = Result<(Option<usize>, bool), Fault>;

/// Checks bounds, alignment and permission of a lane's access.
fn check(
    memory: &Allocation,
    (first, size): (usize, usize),
    offset: i64,
    bytes: u32,
    align: u32,
    kind: AccessKind,
) -> Located {
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
        return Err(Fault::OutOfBounds { target: target(), kind, bytes, when: None });
    };
    match memory.alignment(offset, align) {
        Alignment::No => Err(Fault::Misaligned { target: target(), kind, bytes: align }),
        alignment => Ok((Some(first + start), alignment != Alignment::Yes)),
    }
}

/// Returns the memory of a kernel parameter. The launch defines it, and nothing writes it.
pub(super) fn param<'c>(context: &Context<'c, '_>, area: Area) -> Option<&'c Allocation> {
    match area {
        Area::Param(number) => context.machine.params.get(number),
        _ => None,
    }
}

/// Returns the position of a lane's access in its allocation (`Some(None)` in a buffer without bounds), or records a
/// fault and returns `None`.
pub(super) fn locate(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    (bytes, align): (u32, u32),
    kind: AccessKind,
) -> Option<Option<usize>> {
    if context.machine.blocks > 1 && !remote::check_block(context, pointer, lane, kind) {
        return None;
    }
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
        Ok((start, depends_on_placement)) => {
            if context.tracker.follows_grids() {
                report_before_grid_wait(context, pointer, lane, kind);
            }
            if depends_on_placement {
                note_placement(context, pointer, lane, align);
            }
            Some(start)
        }
        Err(fault) => {
            if matches!(fault, Fault::Misaligned { .. }) {
                note_placement(context, pointer, lane, align);
            }
            context.record_fault(fault, Mask(1 << lane));
            None
        }
    }
}

/// Records an access with an alignment that depends on the placement of its array.
pub(super) fn note_placement(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    align: u32,
) {
    let (site, place) = (context.site, context.place);
    let memory = param(context, pointer.area);
    let settled = |memory: &Allocation| AlignmentAssumption::at(memory, pointer.offset, align);
    let found = match memory {
        Some(memory) => settled(memory),
        None => allocation(context, pointer.area, lane).and_then(|(memory, ..)| settled(memory)),
    };
    let Some(found) = found else { return };
    if !context.report.is_new_placement(site, (pointer.area, found)) {
        return;
    }
    let placement = match memory {
        Some(memory) => Some(Placement::new(memory, align, place, found)),
        None => allocation(context, pointer.area, lane)
            .map(|(memory, ..)| Placement::new(memory, align, place, found)),
    };
    context.report.alignments.extend(placement);
}

/// Reports an access to global memory before `griddepcontrol.wait`: earlier launches may still be running.
pub(super) fn report_before_grid_wait(
    context: &mut Context<'_, '_>,
    pointer: Pointer,
    lane: usize,
    kind: AccessKind,
) {
    let Area::Global(number) = pointer.area else { return };
    if !context.tracker.is_early(context.warp.number, lane) {
        return;
    }
    if let Some(memory) = context.global.get(number).filter(|memory| memory.space != Space::Const) {
        let target = memory.target(pointer.offset);
        context.record_fault(
            Fault::BeforeGridWait { target, kind, conflicts: false },
            Mask::one(lane),
        );
    }
}

/// Reads one element of a lane into `low` (and `high` above eight bytes). `at` is the result of [`locate`].
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
    let mut valued = context.valued.take();
    let mut read = |memory: &Allocation, low: &mut Lanes, high: &mut Lanes| {
        let mut load = |at: usize, bytes: usize| match &mut valued {
            None => memory.load(at, bytes),
            Some(valued) => valued.store.load(memory, at, bytes),
        };
        let (value, word) = load(start, bytes.min(8));
        low[lane] = value;
        if bytes <= 8 {
            return word;
        }
        let (value, upper) = load(start + 8, bytes - 8);
        high[lane] = value;
        if word == upper {
            return word;
        }
        // Both halves share one tag.
        if let Some(valued) = &mut valued {
            low[lane] = valued.store.units(low[lane], word);
            high[lane] = valued.store.units(high[lane], upper);
        }
        combine_states(word, upper)
    };
    let word = match param(context, area) {
        Some(memory) => read(memory, low, high),
        None => match allocation(context, area, lane) {
            Some((memory, ..)) => {
                memory.read = true;
                read(memory, low, high)
            }
            None => Word::Poison,
        },
    };
    if word == Word::Pointer && context.other_block(area).is_some() {
        // An address need not mean the same in another block.
        if let Some(valued) = &mut valued {
            low[lane] = valued.store.units(low[lane], word);
            high[lane] = valued.store.units(high[lane], word);
        }
        context.valued = valued;
        return Word::ScheduleDependent;
    }
    context.valued = valued;
    word
}

/// Writes up to eight bytes of a lane.
pub(super) fn write_element(
    context: &mut Context<'_, '_>,
    (area, lane): (Area, usize),
    at: usize,
    bytes: usize,
    (value, word): (u64, Word),
) {
    let mut valued = context.valued.take();
    let handed_over = word == Word::Pointer && context.other_block(area).is_some();
    if let Some((memory, ..)) = allocation(context, area, lane) {
        match &mut valued {
            // An address need not mean the same in another block.
            None if handed_over => memory.store(at, bytes, value, Word::ScheduleDependent),
            Some(valued) if handed_over => valued.store.lose(memory, at, bytes),
            None => memory.store(at, bytes, value, word),
            Some(valued) => valued.store.store(memory, at, bytes, value, word),
        }
    }
    context.valued = valued;
}

/// Returns `true` if none of `size` bytes was ever written.
pub(super) fn is_unwritten(
    context: &mut Context<'_, '_>,
    (area, lane, at): (Area, usize, usize),
    size: usize,
) -> bool {
    allocation(context, area, lane).is_some_and(|(memory, ..)| {
        memory.states[at..at + size].iter().all(|one| *one == state::UNDEFINED)
    })
}

/// Makes some bytes of a lane unknown, and possibly different between schedules or GPUs.
pub(super) fn lose_element(
    context: &mut Context<'_, '_>,
    (area, lane): (Area, usize),
    at: usize,
    bytes: usize,
) {
    let mut valued = context.valued.take();
    if let Some((memory, ..)) = allocation(context, area, lane) {
        match &mut valued {
            None => memory.store(at, bytes, 0, Word::ScheduleDependent),
            Some(valued) => valued.store.lose(memory, at, bytes),
        }
    }
    context.valued = valued;
}

/// Makes some bytes of a lane unknown data.
pub(super) fn forget_element(
    context: &mut Context<'_, '_>,
    (area, lane): (Area, usize),
    at: usize,
    bytes: usize,
) {
    let place = context.place;
    let mut valued = context.valued.take();
    if let Some((memory, ..)) = allocation(context, area, lane) {
        match &mut valued {
            None => memory.store(at, bytes, 0, Word::Unknown),
            Some(valued) => {
                let opaque = Byte::Opaque(valued.lost(None, place));
                valued.store.store_bytes(memory, at, &vec![opaque; bytes]);
            }
        }
    }
    context.valued = valued;
}

/// Returns `true` if the final contents of an area are visible to others: global memory other than scratch.
pub(super) fn is_visible_outside(context: &Context<'_, '_>, area: Area) -> bool {
    let Area::Global(number) = area else { return false };
    context.global.get(number).is_none_or(|memory| memory.access != Access::Scratch)
}

/// Returns `true` if a store of an undetermined value to an area must be reported: if the host sees its final
/// contents, or, in any global memory, if a value of the run may be undefined (which would be a fault).
pub(super) fn must_report_store(context: &Context<'_, '_>, area: Area) -> bool {
    is_visible_outside(context, area)
        || context.report.maybe_undefined && matches!(area, Area::Global(_))
}

/// The state of a word with parts in states `a` and `b`.
pub(super) fn combine_states(a: Word, b: Word) -> Word {
    let either = |word: Word| a == word || b == word;
    match () {
        () if either(Word::Poison) => Word::Poison,
        () if either(Word::ScheduleDependent) || either(Word::Pointer) => Word::ScheduleDependent,
        () => Word::Unknown,
    }
}

/// Records the state of a lane's loaded word in the tags of a register. `bad` is set if the access had a fault.
pub(super) fn set_tags_of(tags: &mut Tags, lane: usize, word: Word, place: Place, bad: bool) {
    let bit = Mask(1 << lane);
    match word {
        Word::Number => {}
        Word::Pointer => tags.pointer = tags.pointer.or(bit),
        Word::Unknown => {
            tags.unknown = tags.unknown.or(bit);
            tags.origin = tags.origin.or(Some(Source::Data));
        }
        Word::ScheduleDependent => {
            tags.unknown = tags.unknown.or(bit);
            tags.schedule_dependent = tags.schedule_dependent.or(bit);
            tags.origin = Some(Source::Stored);
        }
        Word::Poison => {
            tags.poison = tags.poison.or(bit);
            let origin = if bad { Origin::BadAccess(place) } else { Origin::Memory(place) };
            tags.undefined = Some(origin);
        }
    }
}

/// The state of an operand's word in one lane, from its tags.
pub(super) fn word_of(tags: Tags, lane: usize) -> Word {
    match () {
        () if tags.poison.has(lane) => Word::Poison,
        () if tags.unknown.has(lane) && tags.schedule_dependent.has(lane) => {
            Word::ScheduleDependent
        }
        () if tags.unknown.has(lane) => Word::Unknown,
        () if tags.pointer.has(lane) => Word::Pointer,
        () => Word::Number,
    }
}
