//! Executes `cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor` (manual §9.7.9.27.1) at once, like bulk
//! copies.
//!
//! The map's 128 bytes are read from memory and decoded ([`ir::TensorMap`]), so they may come from an
//! argument, a structure or a buffer. Reads of maps go through a proxy of their own: if the kernel may change
//! a map, the tracker checks that the writes to it are visible. Operations that the manual forbids and an
//! H200 answers with an exception are findings that end the run: another rank or mode, an inner coordinate
//! that is not a multiple of 16 bytes, a negative coordinate of a store.

use super::access::{
    Addresses, allocation, locate, note_placement, read_element, resolve, write_element,
};
use super::bulk::{async_access, check_word_for_global, is_constant, same_as};
use super::cluster;
use super::mbarrier;
use super::reduce::{Reduction, is_reducible};
use super::remote;
use super::tensor_map::{check_tensor, read_map};
use super::tensor_moves;
use super::tensor_rounding::{converted, is_legal, keeps_reals, rounds};
use super::tensor_walk::{Walked, in_tensor, walk_copy};
use super::tracked::track;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Fault, Gap, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::{Alignment, Word};
use crate::tensor_fault::TensorFault;
use crate::tracker::CopyContents;
use ir::{
    Atomic, AtomicOp, Operand, Ordering, Scope, Space, Start, TENSOR_MAP_BYTES, TensorCopy,
    TensorCopyKind, TensorMap, Width,
};
use sync::{AgentId, MemoryEffect, SameValue};

/// The alignment of a box in shared memory.
const BOX_ALIGN: u32 = 128;
/// The reason to end a run at a copy that leaves its memory.
const OUTSIDE: &str = "a tensor copy outside its memory is undefined";
/// The reason to end a run at a copy that rounds.
const ROUNDS: &str = "the rounding of these elements by a tensor copy is not modelled";

/// The operands of a copy in all lanes.
struct Operands {
    coordinates: Vec<Lanes>,
    offsets: Vec<Lanes>,
    maps: Addresses,
    shared: Addresses,
    signals: Option<Addresses>,
    /// Blocks that receive a copy.
    masks: Option<Lanes>,
}

/// One lane's copy: its map with the map's location, the start of its tensor, and the location of the box.
pub(super) struct TensorCopyLane<'m> {
    pub(super) lane: usize,
    /// Comparison of its contents with the copy of the previous lane.
    same: SameValue,
    pub(super) map: &'m TensorMap,
    map_pointer: Pointer,
    pub(super) tensor: Pointer,
    pub(super) shared: Pointer,
}

/// Copies in every lane, one after the other.
pub(super) fn execute(context: &mut Context<'_, '_>, copy: &TensorCopy) -> Result<(), Gap> {
    let operands = operands(context, copy)?;
    let (all, mut last) = (context.lanes, None);
    for lane in all.iter() {
        let usable = |set: &Addresses| set.pointers[lane].filter(|_| set.lanes.has(lane));
        let (Some(map), Some(shared)) = (usable(&operands.maps), usable(&operands.shared)) else {
            return Err(context.gap("a tensor copy with a wrong address is undefined"));
        };
        let signal = operands.signals.as_ref().map(usable);
        if signal == Some(None) {
            return Err(context.gap("a tensor copy has a wrong mbarrier address"));
        }
        let from = map;
        let map = read_map(context, from, lane)?;
        let Some(tensor) = Pointer::decode(map.address, Space::Global) else {
            return Err(
                context.gap("a tensor map has an address that does not come from an argument")
            );
        };
        check_tensor(context, tensor, lane)?;
        let to = (shared, signal.flatten());
        let targets = cluster::targets(context, &operands.masks, lane, to)?;
        let coordinates: Vec<i32> =
            operands.coordinates.iter().map(|values| (values[lane] as u32).cast_signed()).collect();
        let offsets: Vec<u16> = operands.offsets.iter().map(|values| values[lane] as u16).collect();
        let this = (from, coordinates.clone(), offsets.clone(), targets.clone());
        let same = same_as(&mut last, this);
        for (shared, signal) in targets {
            let lane_copy =
                TensorCopyLane { lane, same, map: &map.map, map_pointer: from, tensor, shared };
            copy_box(context, copy, &lane_copy, signal, (&coordinates, &offsets))?;
        }
    }
    context.lanes = all;
    Ok(())
}

/// Copies a box between its tensor and one block.
fn copy_box(
    context: &mut Context<'_, '_>,
    copy: &TensorCopy,
    lane_copy: &TensorCopyLane<'_>,
    signal: Option<Pointer>,
    (coordinates, offsets): (&[i32], &[u16]),
) -> Result<(), Gap> {
    let lane = lane_copy.lane;
    check(context, copy, lane_copy, coordinates)?;
    check_shared(context, lane_copy)?;
    let id = context.tracker.start_bulk(context.warp.number, lane, signal.is_none());
    let attributes = async_access(context, MemoryEffect::Read, id);
    let (who, map) =
        ((context.warp.number, lane), (lane_copy.map_pointer.area, lane_copy.map_pointer.offset));
    if context.tracker.read_map(who, map, attributes) {
        // The scopes of fences are not recorded.
        return Err(context.gap("this tensor map was changed by another block of the cluster"));
    }
    let stores = signal.is_none();
    let constant = [lane_copy.map_pointer.area, lane_copy.tensor.area]
        .iter()
        .all(|&area| is_constant(context, area));
    if constant && !stores {
        let (coordinates, offsets) = (coordinates.to_vec(), offsets.to_vec());
        let contents = CopyContents::Box {
            map: lane_copy.map_pointer,
            coordinates,
            offsets,
            target: lane_copy.shared,
        };
        context.tracker.note_contents(id, contents);
    }
    if stores {
        context.tracker.note_grouped(id, lane_copy.map.box_bytes() as u32);
    }
    // The walk uses absolute addresses.
    let lead =
        allocation(context, lane_copy.shared.area, lane).map_or(0, |(memory, ..)| memory.lead);
    let shared = lane_copy.shared.offset.cast_unsigned() + lead;
    let start = Start { coordinates, offsets, shared, stores };
    let walked = walk_copy(context, lane_copy, &start, lead)?;
    match &copy.kind {
        TensorCopyKind::Reduce(op) => reduce(context, lane_copy, *op, (id, &walked))?,
        TensorCopyKind::Load { .. } | TensorCopyKind::Store => {
            transfer(context, lane_copy, stores, (id, &walked))?;
        }
    }
    if let Some(pointer) = signal {
        let (warp, site) = (context.warp.number, context.site);
        context.tracker.note_load(id, sync::Lanes { warp, lanes: Mask::one(lane), site });
        remote::record_copy_accesses(
            context,
            &[(lane_copy.shared, AccessKind::Write)],
            lane,
            pointer,
        );
        mbarrier::deliver(context, pointer, lane, (id, lane_copy.map.box_bytes() as u32))?;
    }
    Ok(())
}

fn operands(context: &mut Context<'_, '_>, copy: &TensorCopy) -> Result<Operands, Gap> {
    let numbers = |context: &mut Context<'_, '_>, all: &[Operand], width: Width| {
        let mut found = Vec::new();
        for &operand in all {
            let (values, tags) = context.read(operand, width);
            context.lanes = context.require_numbers(tags, Sink::Address)?;
            found.push(values);
        }
        Ok(found)
    };
    let coordinates = numbers(context, &copy.coordinates, Width::B32)?;
    let (kind, mbarrier, offsets, multicast) = match &copy.kind {
        TensorCopyKind::Load { mbarrier, offsets, multicast } => {
            let offsets = numbers(context, offsets, Width::B16)?;
            (AccessKind::Write, Some(*mbarrier), offsets, *multicast)
        }
        TensorCopyKind::Store | TensorCopyKind::Reduce(_) => {
            (AccessKind::Read, None, Vec::new(), None)
        }
    };
    let masks = cluster::masks(context, multicast)?;
    let bytes = TENSOR_MAP_BYTES as u32;
    let maps = resolve(context, copy.map, Space::Generic, AccessKind::Read, bytes)?;
    let shared = resolve(context, copy.shared, copy.shared_space, kind, BOX_ALIGN)?;
    let signals = match mbarrier {
        Some(at) => Some(resolve(context, at, Space::SharedCluster, AccessKind::Atomic, 8)?),
        None => None,
    };
    Ok(Operands { coordinates, offsets, maps, shared, signals, masks })
}

/// Checks rank, mode and coordinates.
fn check(
    context: &mut Context<'_, '_>,
    copy: &TensorCopy,
    lane_copy: &TensorCopyLane<'_>,
    coordinates: &[i32],
) -> Result<(), Gap> {
    let map = lane_copy.map;
    let element_bytes = map.element.bytes();
    let inner = coordinates[0];
    let negative = coordinates.iter().position(|coordinate| *coordinate < 0);
    let stores = !matches!(copy.kind, TensorCopyKind::Load { .. });
    let fault = if map.rank() != coordinates.len() {
        TensorFault::Rank { map: map.rank(), copy: coordinates.len() }
    } else if map.is_im2col() != copy.im2col {
        TensorFault::Mode { im2col: map.is_im2col() }
    } else if (i64::from(inner) * i64::from(element_bytes)) % 16 != 0 {
        TensorFault::InnerCoordinate { coordinate: inner, element_bytes }
    } else if let Some(dimension) = negative.filter(|_| stores) {
        TensorFault::NegativeStore { dimension, coordinate: coordinates[dimension] }
    } else {
        return Ok(());
    };
    context.record_fault(Fault::Tensor(Box::new(fault)), Mask::one(lane_copy.lane));
    Err(context.gap("this tensor copy is undefined"))
}

/// Checks the alignment of the box: 128 bytes, and for a swizzle a multiple of its pattern at the variable's
/// offset.
fn check_shared(context: &mut Context<'_, '_>, lane_copy: &TensorCopyLane<'_>) -> Result<(), Gap> {
    let Area::Shared(number) = lane_copy.shared.area else {
        return Err(context.gap("the box of a tensor copy is not in shared memory"));
    };
    // Checked before the walk: the swizzle has no meaning before the start of a variable.
    if lane_copy.shared.offset < 0 {
        locate(context, lane_copy.shared, lane_copy.lane, (BOX_ALIGN, 1), AccessKind::Read);
        return Err(context.gap(OUTSIDE));
    }
    let Some((memory, ..)) = allocation(context, lane_copy.shared.area, lane_copy.lane) else {
        return Err(context.gap("the box of a tensor copy does not lie in a variable"));
    };
    let alignment = memory.alignment(lane_copy.shared.offset, BOX_ALIGN);
    let (align, lead, target) = (memory.align, memory.lead, memory.target(lane_copy.shared.offset));
    let span = lane_copy.map.swizzle.span();
    let needed =
        if span.is_some() { lane_copy.map.swizzle.period().max(BOX_ALIGN) } else { BOX_ALIGN };
    let name = target.name.clone();
    let misaligned = |context: &mut Context<'_, '_>| {
        let kind = AccessKind::Read;
        note_placement(context, lane_copy.shared, lane_copy.lane, BOX_ALIGN);
        context.record_fault(
            Fault::Misaligned { target, kind, bytes: BOX_ALIGN },
            Mask::one(lane_copy.lane),
        );
        Err(context.gap("a tensor copy at this shared address is undefined"))
    };
    if alignment == Alignment::No {
        return misaligned(context);
    }
    if align >= u64::from(needed) {
        return Ok(());
    }
    let inside = (lane_copy.shared.offset + lead.cast_signed()) % i64::from(BOX_ALIGN) == 0;
    if context.machine.is_placed(number) && (inside || lead == 0) {
        if !inside {
            return misaligned(context);
        }
        context.report.shared_alignment = context.report.shared_alignment.max(needed);
        return Ok(());
    }
    if span.is_some() {
        return Err(context.gap(format!(
            "the layout of a swizzled box depends on the address of `{}`, which is aligned to {align} bytes, \
            not to {needed}",
            name
        )));
    }
    note_placement(context, lane_copy.shared, lane_copy.lane, BOX_ALIGN);
    Ok(())
}

/// Ranges of bytes, by start and length.
type Ranges<'r> = &'r mut dyn Iterator<Item = (i64, u32)>;

/// Checks bounds on both sides and reports the accesses. Returns `true` if the tensor has bounds.
fn access(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    (of_shared, of_tensor): (MemoryEffect, Option<MemoryEffect>),
    (id, walked): (AgentId, &Walked),
) -> Result<bool, Gap> {
    let mut bounded = true;
    let (shared, tensor) = (&mut walked.shared(), &mut walked.tensor(lane_copy.tensor.offset));
    let sides: [(Area, Ranges<'_>, Option<MemoryEffect>); 2] = [
        (lane_copy.shared.area, shared, Some(of_shared)),
        (lane_copy.tensor.area, tensor, of_tensor),
    ];
    for (area, ranges, kind) in sides {
        let of_access = match kind {
            Some(MemoryEffect::Read) => AccessKind::Read,
            Some(MemoryEffect::Write) => AccessKind::Write,
            Some(MemoryEffect::Update) | None => AccessKind::Atomic,
        };
        if kind == Some(MemoryEffect::Read)
            && is_plain_input(context, area, walked.tensor_span(lane_copy))
        {
            continue;
        }
        for (offset, bytes) in ranges {
            let pointer = Pointer { area, offset };
            let Some(at) = locate(context, pointer, lane_copy.lane, (bytes, 1), of_access) else {
                return Err(context.gap(OUTSIDE));
            };
            bounded &= at.is_some();
            // Updates are reported element by element.
            if let Some(kind) = kind {
                let attributes = async_access(context, kind, id);
                let same =
                    if kind == MemoryEffect::Write { lane_copy.same } else { SameValue::Different };
                track(context, pointer, lane_copy.lane, bytes, attributes, same);
            }
        }
    }
    Ok(bounded)
}

/// Returns `true` if reads of these bytes of global memory need not be tracked: they are inside an input.
fn is_plain_input(context: &Context<'_, '_>, area: Area, (first, end): (i64, i64)) -> bool {
    let Area::Global(number) = area else { return false };
    let inside = context.global.get(number).is_some_and(|memory| {
        memory.bounded
            && first >= 0
            && usize::try_from(end).is_ok_and(|end| end <= memory.bytes.len())
    });
    inside && context.tracker.ignores_reads(area) && !context.tracker.follows_grids()
}

/// Moves the bytes of a load or store.
fn transfer(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    stores: bool,
    (id, walked): (AgentId, &Walked),
) -> Result<(), Gap> {
    let kinds = match stores {
        true => (MemoryEffect::Read, Some(MemoryEffect::Write)),
        false => (MemoryEffect::Write, Some(MemoryEffect::Read)),
    };
    let bounded = access(context, lane_copy, kinds, (id, walked))?;
    let element = lane_copy.map.element;
    if rounds(element)
        && (is_legal(context)
            || context.valued.is_some()
                && !keeps_reals(context, (element, lane_copy.tensor.area), stores))
    {
        return Err(context.gap(ROUNDS));
    }
    if bounded && !rounds(element) && tensor_moves::copy_pieces(context, lane_copy, stores, walked)
    {
        return Ok(());
    }
    for piece in walked.pieces() {
        let by_words = piece.bytes.is_multiple_of(8) && !rounds(element);
        let step = if by_words { 8 } else { element.bytes() };
        let tensor = in_tensor(lane_copy, &piece);
        for offset in (0..piece.bytes).step_by(step as usize) {
            let at = |start: i64| usize::try_from(start + i64::from(offset)).unwrap_or(0);
            let shared = at(piece.shared.cast_signed());
            let tensor = (tensor.area, bounded.then(|| at(tensor.offset)));
            let step = step as usize;
            match (stores, piece.tensor.is_some()) {
                (true, _) => store_word(context, lane_copy, (shared, step), tensor),
                (false, true) => load_word(context, lane_copy, (shared, step), tensor)?,
                (false, false) => fill_word(context, lane_copy, (shared, step)),
            }
        }
        context.report.charge(piece.bytes as usize);
    }
    Ok(())
}

/// Copies one word from the tensor to the box.
fn load_word(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    (shared, step): (usize, usize),
    (area, at): (Area, Option<usize>),
) -> Result<(), Gap> {
    let (mut value, mut unused) = ([0; WARP], [0; WARP]);
    let word =
        read_element(context, area, lane_copy.lane, Some(at), step, [&mut value, &mut unused]);
    let arrived = match word {
        Word::Number => {
            let arrives = converted(lane_copy.map.element, value[lane_copy.lane], true);
            // To a domain a float is a real number, but its bits, which may be used as well, have changed.
            if context.valued.is_some() && arrives != (value[lane_copy.lane], word) {
                return Err(context.gap(ROUNDS));
            }
            arrives
        }
        _ => (value[lane_copy.lane], word),
    };
    write_element(context, (lane_copy.shared.area, lane_copy.lane), shared, step, arrived);
    Ok(())
}

/// Copies one word from the box to the tensor.
fn store_word(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    (shared, step): (usize, usize),
    (area, at): (Area, Option<usize>),
) {
    let (mut value, mut unused) = ([0; WARP], [0; WARP]);
    let from = Some(Some(shared));
    let word = read_element(
        context,
        lane_copy.shared.area,
        lane_copy.lane,
        from,
        step,
        [&mut value, &mut unused],
    );
    let word = check_word_for_global(context, area, (word, lane_copy.lane));
    let arrived = match word {
        Word::Number => converted(lane_copy.map.element, value[lane_copy.lane], false),
        _ => (value[lane_copy.lane], word),
    };
    if let Some(at) = at {
        write_element(context, (area, lane_copy.lane), at, step, arrived);
    }
}

/// Writes the fill value for elements outside the tensor.
fn fill_word(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    (shared, step): (usize, usize),
) {
    let filling = match (lane_copy.map.nan_fill, &mut context.valued) {
        (false, _) => (0, Word::Number),
        // An H200 writes this NaN for every type of float.
        (true, None) => (0x7ff7_7ff7_7ff7_7ff7, Word::Number),
        (true, Some(valued)) => {
            let word = u64::from(valued.lost(None, context.place));
            (word | word << 32, Word::Unknown)
        }
    };
    write_element(context, (lane_copy.shared.area, lane_copy.lane), shared, step, filling);
}

/// Updates the elements of the tensor with those of the box.
fn reduce(
    context: &mut Context<'_, '_>,
    lane_copy: &TensorCopyLane<'_>,
    op: AtomicOp,
    (id, walked): (AgentId, &Walked),
) -> Result<(), Gap> {
    let scalar = lane_copy.map.element.scalar();
    // Updates of one place commute only if they have one type: the tensor's type applies to all.
    if let Area::Global(number) = lane_copy.tensor.area {
        let buffers = &context.machine.launch.buffers;
        let same = buffers.get(number).is_some_and(|buffer| buffer.element == Some(scalar));
        if !same {
            return Err(context
                .gap("a tensor copy reduces elements of another type than those of its tensor"));
        }
    }
    if rounds(lane_copy.map.element) || !is_reducible(op, scalar) {
        return Err(context.gap("this reduction of a tensor copy is not modelled"));
    }
    let bounded = access(context, lane_copy, (MemoryEffect::Read, None), (id, walked))?;
    let update = Atomic {
        dsts: Vec::new(),
        op,
        scalar,
        packed: 1,
        a: Vec::new(),
        b: None,
        space: Space::Global,
        address: ir::Address { base: ir::AddressBase::Absolute, offset: 0 },
        ordering: Ordering::Relaxed(Scope::Gpu),
        keeps_subnormals: false,
        skips: ir::Skips::Never,
    };
    let reduction = Reduction { update: &update, lane: lane_copy.lane, id };
    for piece in walked.pieces() {
        let tensor = in_tensor(lane_copy, &piece);
        for offset in (0..piece.bytes).step_by(scalar.width().bytes() as usize) {
            let at = |start: i64| usize::try_from(start + i64::from(offset)).unwrap_or(0);
            let pointer = Pointer { offset: tensor.offset + i64::from(offset), ..tensor };
            let to = bounded.then(|| at(tensor.offset));
            let from = (lane_copy.shared.area, at(piece.shared.cast_signed()));
            reduction.element(context, from, (pointer, to));
        }
        context.report.charge(piece.bytes as usize);
    }
    Ok(())
}
