//! Executes `atom` and `red` (manual §9.7.13.5–6), lane by lane in ascending order, and decides which updates commute.
//!
//! The manual leaves the order of lanes open. In a checked run it is reported if the order affects a result that is
//! used, or if two updates do not commute; so the order chosen here decides no verdict.

use super::access::{
    allocation, combine_states, locate, must_report_store, read_element, resolve_indexed,
    set_tags_of, word_of, write_element,
};
use super::symbolic::expanded;
use super::tracked::{fence, track};
use super::{improving, scattered, symbolic, ticket};
use crate::address::{Area, Pointer};
use crate::concrete;
use crate::context::Context;
use crate::domain::Numbers;
use crate::doubt::Doubtful;
use crate::finding::{AccessKind, Fault, Gap, Origin, Sink};
use crate::lanes::{Lanes, Mask, WARP};
use crate::launch::Access;
use crate::memory::{Word, state};
use crate::tags::{Source, Tags};
use crate::tracker::AccessAttributes;
use ir::{
    Atomic, AtomicOp, FloatBinary, FloatMode, FloatRelation, IntBinary, Operand, Relation, Scalar,
    Scope, Skips, Space, Width,
};
use std::num::NonZeroU16;
use sync::{MemoryEffect, SameValue, SyncEvent, UpdateGroup};

/// The operands of an update: one for each element, and one more for a comparison.
pub(super) type Operands = [(Lanes, Tags)];

/// Executes an atomic operation, in ascending order of lanes.
pub(super) fn execute(context: &mut Context<'_, '_>, atomic: &Atomic) -> Result<(), Gap> {
    let width = Width::from_bits(atomic.scalar.width().bits() * u32::from(atomic.packed));
    let Some(width) = width.filter(|&width| width <= Width::B64) else {
        return Err(context.gap("this atomic operation is not executed"));
    };
    let (element, count) = (width.bytes(), atomic.a.len());
    let bytes = element * count as u32;
    let (addresses, indexed) =
        resolve_indexed(context, atomic.address, atomic.space, AccessKind::Atomic, bytes)?;
    let operands: Vec<(Lanes, Tags)> = atomic
        .a
        .iter()
        .chain(&atomic.b)
        .map(|&operand| read_words(context, operand, width))
        .collect();
    for (_, tags) in &operands {
        let poisoned = tags.poison.and(context.lanes);
        if !poisoned.is_empty() {
            let origin = tags.undefined;
            context.record_fault(Fault::Undefined { reaches: Sink::Atomic, origin }, poisoned);
        }
        context.doubt_undetermined(*tags, Sink::Atomic, context.lanes);
    }
    let is_used = atomic.dsts.iter().flatten().any(|&dst| context.layout.is_read(dst));
    if is_used {
        context.doubt(Doubtful::AtomicResult, context.lanes);
    }
    for one in &indexed {
        let is_open = context.conditional_lanes.has(one.lane) || context.path.is_some();
        match one.area {
            Area::Global(_) if !is_open => scattered::update(context, one, atomic)?,
            _ => expanded::update(context, one, atomic, &operands)?,
        }
    }
    let mut old = vec![([0; WARP], Tags::NUMBER); count];
    let apart = indexed.iter().fold(Mask::NONE, |lanes, one| lanes.or(Mask::one(one.lane)));
    let failed = context.lanes.without(addresses.lanes).without(apart);
    let bad = Origin::BadAccess(context.place);
    old.iter_mut().for_each(|(_, tags)| *tags = Tags::poison(failed, bad));
    let taken_from = addresses.lanes.lowest().and_then(|lane| addresses.pointers[lane]);
    let ticket = match is_used {
        true => ticket::begin(context, atomic, taken_from, operands.first()),
        false => None,
    };
    if let (None, AtomicOp::Inc, Some(valued)) = (&ticket, atomic.op, &mut context.valued) {
        valued.store.tickets.other_increments = true;
    }
    for lane in addresses.lanes.iter() {
        let Some(pointer) = addresses.pointers[lane] else { continue };
        match atomic.skips {
            Skips::Never => update_lane(context, atomic, (pointer, lane), &operands, &mut old),
            Skips::UnlessBetter | Skips::IfWorse | Skips::Perhaps => {
                improving::update_lane(context, atomic, (pointer, lane), &operands, &mut old)?;
            }
        }
    }
    if let (Some(ticket), Some(old)) = (&ticket, old.first()) {
        return ticket::end(context, atomic, ticket, old);
    }
    for (dst, (values, mut tags)) in atomic.dsts.iter().zip(old) {
        if let Some(dst) = *dst {
            if context.tracker.is_checking() {
                // The schedule chooses the order.
                let lanes = context.lanes.without(tags.poison);
                let source = Source::Schedule("the result of an atomic operation");
                tags = Tags::unknown(lanes, source).within(lanes, tags);
                context.write(dst, &values, tags);
                continue;
            }
            context.write_words(dst, &values, tags);
        }
    }
    Ok(())
}

/// Performs the update of one lane; the previous values go into `old`.
pub(super) fn update_lane(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    (pointer, lane): (Pointer, usize),
    operands: &Operands,
    old: &mut [(Lanes, Tags)],
) {
    let bits = atomic.scalar.width().bits() * u32::from(atomic.packed);
    let Some(width) = Width::from_bits(bits) else { return };
    let (element, count) = (width.bytes(), atomic.a.len());
    let bytes = element * count as u32;
    let found = locate(context, pointer, lane, (bytes, bytes), AccessKind::Atomic);
    if found.is_some() {
        track_update(context, atomic, pointer, lane, width);
    }
    for (position, (values, tags)) in old.iter_mut().enumerate() {
        let at = found.map(|start| start.map(|start| start + position * element as usize));
        let mut unused = [0; WARP];
        let bytes = element as usize;
        let before = read_element(context, pointer.area, lane, at, bytes, [values, &mut unused]);
        set_tags_of(tags, lane, before, context.place, found.is_none());
        let Some(Some(at)) = at else { continue };
        let old = (values[lane], before);
        let operand =
            |at: usize| operands.get(at).map(|(values, tags)| (values[lane], word_of(*tags, lane)));
        let a = operand(position).unwrap_or((0, Word::Poison));
        change_element(context, atomic, (pointer, lane, at), [old, a], operand(count));
    }
}

/// Writes the new value of one element at byte `at` of its allocation.
pub(super) fn change_element(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    (pointer, lane, at): (Pointer, usize, usize),
    [old, mut a]: [(u64, Word); 2],
    b: Option<(u64, Word)>,
) {
    let mut path = context.path.clone().filter(|path| path.lanes.has(lane));
    if atomic.op == AtomicOp::Add
        && atomic.packed == 1
        && let Some(path) = path.take_if(|_| symbolic::can_add_choice(context, [old, a]))
    {
        // A sum with a conditional summand is simpler than a choice between sums.
        a = symbolic::if_on_path(context, &path, lane, a, atomic.scalar.width().bytes() as usize);
    }
    let numbers = (old.1, a.1) == (Word::Number, Word::Number);
    let rounds = rounds(atomic) && !(numbers && improving::is_decided(atomic, old.0, a.0));
    let before = old.1;
    let stale = before == Word::Poison && depends_on_initial(context, pointer, lane);
    if before == Word::ScheduleDependent
        && atomic.op != AtomicOp::Exchange
        && must_report_store(context, pointer.area)
    {
        // The old value may be uninitialised, or decided by the schedule.
        let tags = Tags::unknown(Mask::one(lane), Source::Stored);
        context.doubt_undetermined(tags, Sink::Output, Mask::one(lane));
    }
    let b_word = b.map_or(Word::Number, |(_, word)| word);
    let after = match (before, a.1) {
        (_, word) if atomic.op == AtomicOp::Exchange => word,
        // Reported; its consequences are not reported again.
        _ if stale => Word::Unknown,
        (Word::Number, Word::Number) if rounds && context.tracker.is_checking() => {
            context.report.unfixed = true;
            Word::Unknown
        }
        (Word::Number, Word::Number) if b_word == Word::Number => Word::Number,
        (Word::Number, Word::Number) => combine_states(Word::Number, b_word),
        (before, word) => combine_states(before, word),
    };
    let mut new = (update(atomic, old.0, a.0, b.map(|(b, _)| b)), after);
    if context.valued.is_some() {
        new = valued_update(context, atomic, [old, a], new);
    }
    let is_exact = atomic.op != AtomicOp::AddProduct && is_exact_sum(context, new);
    if rounds && !is_exact {
        context.report.rounding_sums.insert(context.place);
    }
    let bytes = atomic.scalar.width().bytes() as usize * usize::from(atomic.packed);
    if let Some(path) = path {
        return symbolic::write_under(context, &path, (pointer.area, lane, at), bytes, new);
    }
    write_element(context, (pointer.area, lane), at, bytes, new);
}

/// Reports a lane's update to the tracker: each element is atomic by itself.
fn track_update(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    pointer: Pointer,
    lane: usize,
    width: Width,
) {
    fence(context, atomic.ordering);
    if !atomic.dsts.is_empty() {
        context.tracker.apply(context.warp.number, Mask::one(lane), SyncEvent::Observe);
    }
    let attributes = AccessAttributes::plain(MemoryEffect::Update, context.site, width.bytes());
    let attributes = AccessAttributes { group: group(context, atomic), ..attributes };
    for position in 0..atomic.a.len() {
        let offset = pointer.offset + i64::from(width.bytes()) * position as i64;
        let pointer = Pointer { offset, ..pointer };
        let same = exchanges_equal(context, atomic, pointer, lane, (position, width));
        track(context, pointer, lane, width.bytes(), attributes, same);
    }
}

/// Computes an update of domain values; `plain` is the result for numbers.
fn valued_update(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    [old, a]: [(u64, Word); 2],
    plain: (u64, Word),
) -> (u64, Word) {
    if atomic.op == AtomicOp::Exchange {
        return a;
    }
    let clean = |word: Word| matches!(word, Word::Number | Word::Unknown);
    let numbers = old.1 == Word::Number && a.1 == Word::Number;
    let legal = context.valued.as_ref().is_some_and(|one| one.domain.numbers() == Numbers::Legal);
    if numbers && legal && !rounds(atomic) {
        return plain;
    }
    if clean(old.1)
        && clean(a.1)
        && let Some(new) = symbolic::update(context, atomic, [old, a])
    {
        return new;
    }
    match (plain.1, &mut context.valued) {
        (Word::Unknown, Some(valued)) => {
            let word = u64::from(valued.lost(None, context.place));
            (word | word << 32, Word::Unknown)
        }
        // Words of units are no numbers, so neither is a result computed from them.
        (Word::ScheduleDependent, Some(valued)) => {
            let word = u64::from(valued.lost(Some(Source::Stored), context.place));
            (word | word << 32, Word::ScheduleDependent)
        }
        _ => plain,
    }
}

/// Returns `true` if a sum of floats in memory is the same in every order of additions.
fn is_exact_sum(context: &Context<'_, '_>, (words, word): (u64, Word)) -> bool {
    let Some(valued) = &context.valued else { return false };
    word == Word::Unknown && valued.is_exact(words)
}

/// Compares the value that an exchange stores with the present one. Other updates are judged by their operation.
fn exchanges_equal(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    pointer: Pointer,
    lane: usize,
    (position, width): (usize, Width),
) -> SameValue {
    if atomic.op != AtomicOp::Exchange {
        return SameValue::Different;
    }
    let (values, tags) = context.read(atomic.a[position], width);
    let known = word_of(tags, lane) == Word::Number;
    let state = if known { state::DEFINED } else { state::OPAQUE };
    let Some((memory, first, _)) = allocation(context, pointer.area, lane) else {
        return SameValue::Undecided;
    };
    let Some(start) = memory.inside(pointer.offset, width.bytes()) else {
        return SameValue::Undecided;
    };
    let bits = values[lane].to_le_bytes();
    memory.would_keep(first + start, &bits[..width.bytes() as usize], state)
}

/// Returns `true` if two updates of a location give the same in either order, for all threads of a block and all
/// operands. The values that they return are judged separately.
pub(crate) fn commutes(a: &Atomic, b: &Atomic) -> bool {
    let same_operation = a.op == b.op && (a.scalar, a.packed) == (b.scalar, b.packed);
    let is_commutative = matches!(
        a.op,
        AtomicOp::Add
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Mul
            | AtomicOp::AddProduct
            | AtomicOp::Raise
            | AtomicOp::RaiseOrNan
            | AtomicOp::Lower
            | AtomicOp::LowerOrNan
    );
    same_operation && is_commutative
}

/// Returns `true` if an update rounds, so that the order of several affects the last bits. Zeros of both signs are
/// equal, so the first one stays where numbers are compared.
pub(crate) fn rounds(atomic: &Atomic) -> bool {
    let sum = matches!(atomic.op, AtomicOp::Add | AtomicOp::AddProduct | AtomicOp::Mul);
    (sum || better(atomic.op).is_some()) && matches!(atomic.scalar, Scalar::Float(_))
}

/// The comparison of the operand with the old number for which an update replaces the old number.
pub(super) fn better(op: AtomicOp) -> Option<FloatRelation> {
    let (relation, or_unordered) = match op {
        AtomicOp::Raise => (Relation::Gt, false),
        AtomicOp::RaiseOrNan => (Relation::Gt, true),
        AtomicOp::Lower => (Relation::Lt, false),
        AtomicOp::LowerOrNan => (Relation::Lt, true),
        _ => return None,
    };
    Some(FloatRelation::Order { relation, or_unordered })
}

/// Returns `true` if two updates commute even between different blocks.
pub(crate) fn commute_between_blocks(a: &Atomic, b: &Atomic) -> bool {
    let is_wide = |one: &&Atomic| matches!(one.ordering.scope(), Some(Scope::Gpu | Scope::Sys));
    commutes(a, b) && [a, b].iter().all(is_wide)
}

/// Returns a number for the group of an update. Two updates of a group commute within a block; between blocks, all
/// of them commute or none. Returns `None` if pairs must be judged one by one.
pub(super) fn group(context: &Context<'_, '_>, atomic: &Atomic) -> UpdateGroup {
    // In a cluster, updates of block scope do not commute between blocks, so each pair must be judged.
    if context.machine.blocks > 1 && atomic.ordering.scope() == Some(Scope::Cta) {
        return None;
    }
    // Rounded sums commute as real numbers only, so each pair must be judged.
    if !commutes(atomic, atomic) || rounds(atomic) {
        return None;
    }
    let scalar = match atomic.scalar {
        Scalar::Integer { width, signed } => width.bytes() << 1 | u32::from(signed),
        Scalar::Float(format) => 64 + format as u32,
    };
    let wide = u32::from(commute_between_blocks(atomic, atomic));
    let number = (atomic.op as u32) << 12 | scalar << 5 | u32::from(atomic.packed & 15) << 1 | wide;
    NonZeroU16::new(number as u16 + 1)
}

/// Returns `true` if an update reads an output that was never written, and reports it.
fn depends_on_initial(context: &mut Context<'_, '_>, pointer: Pointer, lane: usize) -> bool {
    let Area::Global(number) = pointer.area else { return false };
    let Some(memory) = context.global.get(number) else { return false };
    if !matches!(memory.access, Access::Out | Access::Scratch) {
        return false;
    }
    let target = memory.target(pointer.offset);
    context.record_fault(Fault::DependsOnInitial { target }, Mask(1 << lane));
    true
}

/// Computes the new value of a read-modify-write.
pub(super) fn update(atomic: &Atomic, old: u64, a: u64, b: Option<u64>) -> u64 {
    match atomic.scalar {
        Scalar::Integer { width, signed } => {
            let binary = |op| concrete::int_binary(op, width, old, a);
            match atomic.op {
                AtomicOp::Add => binary(IntBinary::Add),
                AtomicOp::Mul => binary(IntBinary::Mul),
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
                // These operations exist for floats only.
                AtomicOp::AddProduct
                | AtomicOp::Raise
                | AtomicOp::RaiseOrNan
                | AtomicOp::Lower
                | AtomicOp::LowerOrNan => old,
            }
        }
        Scalar::Float(format) => {
            if let Some(better) = better(atomic.op) {
                let flush = !atomic.keeps_subnormals;
                let replaces = concrete::float_compare(better, format, flush, a, old);
                return if replaces { a } else { old };
            }
            let op = match atomic.op {
                AtomicOp::Mul => FloatBinary::Mul,
                AtomicOp::Min => FloatBinary::Min { propagate_nan: false, xor_sign_abs: false },
                AtomicOp::Max => FloatBinary::Max { propagate_nan: false, xor_sign_abs: false },
                _ => FloatBinary::Add,
            };
            // Additions in global memory flush single-precision subnormals (manual §9.7.13.5).
            let flushes = match op {
                FloatBinary::Add => atomic.space == Space::Global,
                FloatBinary::Mul => true,
                _ => false,
            };
            let flush = flushes && format == ir::Format::F32 && !atomic.keeps_subnormals;
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

/// The low `width` bits of an operand; all bits where it is unknown.
fn read_words(context: &mut Context<'_, '_>, operand: Operand, width: Width) -> (Lanes, Tags) {
    let (values, tags) = context.read(operand, Width::B64);
    let cut = |lane| if tags.unknown.has(lane) { u64::MAX } else { width.mask() };
    (std::array::from_fn(|lane| values[lane] & cut(lane)), tags)
}
