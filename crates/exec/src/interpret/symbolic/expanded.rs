//! Accesses at data-dependent places, expanded over all possible places.
//!
//! Examples are `bins[x[i]]` in shared memory, `acc[label]` in a local array, and a table with given
//! contents. If the place has known bounds, it is one of finitely many elements. A write happens at each of
//! them under the condition that the place is that one; a read is a choice between them. This is exact: the
//! place is one of them for all inputs, because it is in bounds and a multiple of the access size.
//!
//! An access at a possible place may not happen, so a race with it is left open, as with any other conditional
//! access ([`super::conditional_access`]). A read is undefined if all possible places are. Large tables are not
//! expanded ([`MAX_PLACES`]).

use super::conditional_access::{check_faults, is_plain_update, record_open_access, store_in_lane};
use super::merge::{self, chooses_undefined, schedule_dependent_reason, untracked_words};
use super::select::choice;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::domain::{Connective, DataPlace, Truths, Value};
use crate::finding::{AccessKind, Gap};
use crate::interpret::access::{allocation, locate, read_element, set_tags_of};
use crate::interpret::atomic::{Operands, update_lane};
use crate::interpret::indexed::{self, Indexed};
use crate::interpret::tracked::{load_attributes, track};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::path::{Path, Truth};
use crate::tags::Tags;
use crate::value::address::Elements;
use crate::value::bytes::{Bytes, ZERO};
use crate::value::unit::Byte;
use ir::{Atomic, Load, Ordering, Relation, Store, Width};
use std::rc::Rc;
use sync::SameValue;

/// The largest number of places of one access.
const MAX_PLACES: i128 = 1 << 12;

/// The largest number of places of all accesses of a run.
const MAX_PLACES_OF_RUN: u64 = 1 << 20;

/// A possible place of an access, with its condition.
type Possible = (Pointer, Truth);

/// The parts of a load: lower and upper words, and tags.
pub(in crate::interpret) type Parts = [(Lanes, Lanes, Tags)];

/// Stores in a lane at all possible places. `merged` is set if the local memory of the lanes is merged later.
pub(in crate::interpret) fn store(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    store: &Store,
    merged: bool,
) -> Result<(), Gap> {
    let bytes = store.width.bytes() * store.srcs.len() as u32;
    if store.width > Width::B64 || store.ordering != Ordering::Weak {
        return Err(indexed::not_followed(context, one, AccessKind::Write));
    }
    // Private memory of a lane is merged again where its paths meet.
    let private = merged && matches!(one.area, Area::Local(_));
    for (pointer, holds) in possible_places(context, one, AccessKind::Write, bytes)? {
        under_condition(context, one.lane, holds, private, |context| {
            store_in_lane(context, store, (pointer, one.lane), false);
        })?;
    }
    Ok(())
}

/// Updates in a lane at all possible places. The caller makes the result schedule-dependent.
pub(in crate::interpret) fn update(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    atomic: &Atomic,
    operands: &Operands,
) -> Result<(), Gap> {
    let used = atomic.dsts.iter().flatten().any(|&dst| context.layout.is_read(dst));
    if !is_plain_update(atomic) || used && !context.tracker.is_checking() {
        return Err(indexed::not_followed(context, one, AccessKind::Atomic));
    }
    let element = atomic.scalar.width().bytes() * u32::from(atomic.packed);
    let bytes = element * atomic.a.len() as u32;
    let places = possible_places(context, one, AccessKind::Atomic, bytes)?;
    let mut old = vec![([0; WARP], Tags::NUMBER); atomic.a.len()];
    for (pointer, holds) in places {
        under_condition(context, one.lane, holds, false, |context| {
            update_lane(context, atomic, (pointer, one.lane), operands, &mut old);
        })?;
    }
    Ok(())
}

/// Loads in a lane from all possible places.
pub(in crate::interpret) fn load(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    load: &Load,
    parts: &mut Parts,
) -> Result<(), Gap> {
    let element = load.width.bytes();
    let bytes = element * load.dsts.len() as u32;
    if load.width > Width::B64 || load.ordering != Ordering::Weak {
        return Err(indexed::not_followed(context, one, AccessKind::Read));
    }
    let places = possible_places(context, one, AccessKind::Read, bytes)?;
    let attributes = load_attributes(context, load);
    let mut found = Vec::new();
    for (pointer, _) in &places {
        found.push(locate(context, *pointer, one.lane, (bytes, bytes), AccessKind::Read));
        track(context, *pointer, one.lane, bytes, attributes, SameValue::Different);
    }
    for (position, (low, _, tags)) in parts.iter_mut().enumerate() {
        let mut all = Vec::new();
        for ((pointer, _), found) in places.iter().zip(&found) {
            let at = found.map(|start| start.map(|start| start + position * element as usize));
            let (mut value, mut unused) = ([0; WARP], [0; WARP]);
            let (size, both) = (element as usize, [&mut value, &mut unused]);
            let word = read_element(context, pointer.area, one.lane, at, size, both);
            all.push((value[one.lane], word));
        }
        let read = read_copied_table(context, one, &places, &all, (bytes, element))
            .or_else(|| choose_by_place(context, &places, &all, element as usize));
        let (value, word) = read.unwrap_or((0, Word::Poison));
        low[one.lane] = value;
        set_tags_of(tags, one.lane, word, context.place, read.is_none());
    }
    check_faults(context)
}

/// Returns a choice between the contents of all possible places.
fn choose_by_place(
    context: &mut Context<'_, '_>,
    places: &[Possible],
    all: &[(u64, Word)],
    size: usize,
) -> Option<(u64, Word)> {
    let mut all = places.iter().zip(all.iter().copied());
    let (_, mut read) = all.next()?;
    for ((_, holds), new) in all {
        read = select_word(context, *holds, [new, read], size);
    }
    Some(read)
}

/// Returns the element of a tensor, if the possible places hold its elements in order: a copied table.
fn read_copied_table(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    places: &[Possible],
    all: &[(u64, Word)],
    (bytes, size): (u32, u32),
) -> Option<(u64, Word)> {
    let valued = context.valued.as_mut()?;
    let mut input = |(value, word): (u64, Word)| {
        let bytes = valued.store.bytes(value, word);
        let Byte::Of { value, sort, index: 0 } = bytes[0] else { return None };
        let is_in_order =
            |(at, byte): (usize, &Byte)| *byte == Byte::Of { value, sort, index: at as u8 };
        let mut all = bytes[..size as usize].iter().enumerate();
        (word == Word::Unknown && sort.bytes() == size as usize && all.all(is_in_order))
            .then_some((value, sort))
    };
    let (first, sort) = input(*all.first()?)?;
    let start = places.first()?.0.offset;
    let step = bytes / size;
    for (number, ((pointer, _), read)) in (0u32..).zip(places.iter().zip(all)) {
        let in_order = pointer.offset == start + i64::from(number * bytes);
        if !in_order || input(*read)? != (first.checked_add(number * step)?, sort) {
            return None;
        }
    }
    let last =
        first.checked_add(u32::try_from(all.len()).ok()?.checked_sub(1)?.checked_mul(step)?)?;
    let holds = |elements: &&Elements| {
        let number = |value: Value| u64::from(value).checked_sub(elements.first.into());
        let inside = |value: Value| number(value).is_some_and(|number| number < elements.count);
        inside(first) && inside(last)
    };
    let table = *valued.store.elements.values().find(holds)?;
    // Bytes from the start of the tensor to the element `first`.
    let before = i128::from(first - table.first) * i128::from(size);
    let offset = (one.offset.0, one.offset.1 - i128::from(start) + before);
    let value = valued.domain.element((table.first, table.count), offset, size)?;
    let mut out = ZERO;
    (0..size as usize).for_each(|at| out[at] = Byte::Of { value, sort, index: at as u8 });
    Some(valued.store.word(&out))
}

/// Returns the possible places of an access; none if it is a fault, which is recorded.
fn possible_places(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    kind: AccessKind,
    bytes: u32,
) -> Result<Vec<Possible>, Gap> {
    let is_remote = context.machine.blocks > 1 && matches!(one.area, Area::Shared(_));
    if is_remote || bytes == 0 {
        return Err(indexed::not_followed(context, one, kind));
    }
    indexed::check_alignment(context, one, (kind, bytes))?;
    // A possible access out of bounds is reported; the run continues with the places in bounds.
    indexed::in_bounds(context, one, (kind, bytes))?;
    let size = allocation(context, one.area, one.lane).map_or(0, |(.., size)| size as i128);
    let Some(bounds) = indexed::bounds(context, one) else {
        return Err(indexed::not_followed(context, one, kind));
    };
    let (step, more) = (i128::from(bytes), one.offset.1);
    let first = (bounds.low + more + step - 1).div_euclid(step).max(0);
    let last = (bounds.high + more).min(size - step).div_euclid(step);
    let count = last - first + 1;
    let Some(valued) = context.valued.as_mut().filter(|_| count <= MAX_PLACES) else {
        return Err(indexed::not_followed(context, one, kind));
    };
    valued.store.places += count.max(0).unsigned_abs() as u64;
    let is_over = valued.store.places > MAX_PLACES_OF_RUN;
    let data_place = valued.domain.data_place((one.offset.0, 0));
    if is_over {
        return Err(indexed::not_followed(context, one, kind));
    }
    let mut places = Vec::new();
    for number in first..=last {
        let place = number * step;
        let holds = place_equals(context, one, data_place.as_ref(), place - more);
        let offset = i64::try_from(place).unwrap_or(i64::MAX);
        match holds {
            Truth::Known(false) => {}
            Truth::Lost => return Err(indexed::not_followed(context, one, kind)),
            holds => places.push((Pointer { area: one.area, offset }, holds)),
        }
    }
    if places.iter().any(|(_, holds)| *holds != Truth::Known(true)) {
        record_open_access(context);
    }
    Ok(places)
}

/// The condition that a place is this far from the start, without its constant.
fn place_equals(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    place: Option<&DataPlace>,
    number: i128,
) -> Truth {
    let Some(valued) = &mut context.valued else { return Truth::Lost };
    let out = match place {
        // In lowest terms: `4·x == 8` is `x == 2`, as a kernel may compare it, and `4·x == 6` is never.
        Some(place) => valued.domain.is_place(place, number),
        None => {
            let (mut out, number) = (Truths::NONE, valued.domain.integer(number));
            let operands = [&[one.offset.0; WARP], &[number; WARP]];
            valued.domain.compare(Relation::Eq, operands, Mask(1), &mut out);
            out
        }
    };
    match out.known.has(0) {
        true => Truth::Known(out.truth.has(0)),
        false => Truth::Handle(out.values[0]),
    }
}

/// Runs an action in one lane under one more condition.
fn under_condition(
    context: &mut Context<'_, '_>,
    lane: usize,
    holds: Truth,
    private: bool,
    act: impl FnOnce(&mut Context<'_, '_>),
) -> Result<(), Gap> {
    let outer = (context.lanes, context.conditional_lanes, context.path.clone());
    let around = outer.2.as_deref().filter(|path| path.lanes.has(lane) && !private);
    let around = match around {
        Some(path) if path.negated => merge::negated(context, Truth::Handle(path.words[lane])),
        Some(path) => Truth::Handle(path.words[lane]),
        None => Truth::Known(true),
    };
    let lanes = Mask::one(lane);
    context.lanes = lanes;
    match merge::connected(context, Connective::And, around, holds) {
        Truth::Known(false) => {
            context.lanes = outer.0;
            return Ok(());
        }
        Truth::Known(true) => context.path = None,
        Truth::Handle(word) => {
            context.conditional_lanes = context.conditional_lanes.or(lanes);
            context.path = Some(Rc::new(Path { words: [word; WARP], negated: false, lanes }));
        }
        Truth::Lost => {
            context.lanes = outer.0;
            return Err(context.gap("the condition of this data-dependent access is not tracked"));
        }
    }
    act(context);
    (context.lanes, context.conditional_lanes, context.path) = outer;
    check_faults(context)
}

/// Selects one value where a condition holds, another elsewhere.
fn select_word(
    context: &mut Context<'_, '_>,
    holds: Truth,
    [new, old]: [(u64, Word); 2],
    size: usize,
) -> (u64, Word) {
    let condition = match holds {
        Truth::Known(true) => return new,
        Truth::Known(false) => return old,
        Truth::Handle(condition) => condition,
        Truth::Lost => {
            return (
                untracked_words(context, schedule_dependent_reason(false)),
                Word::ScheduleDependent,
            );
        }
    };
    let words = [new.1, old.1];
    if new == old && matches!(new.1, Word::Number | Word::Pointer)
        || words == [Word::Poison, Word::Poison]
    {
        return new;
    }
    let lacks_choice = words.contains(&Word::Poison) && !chooses_undefined(context);
    if lacks_choice
        || words.iter().any(|word| matches!(word, Word::ScheduleDependent | Word::Pointer))
    {
        context.report.maybe_undefined |= lacks_choice;
        return (
            untracked_words(context, schedule_dependent_reason(lacks_choice)),
            Word::ScheduleDependent,
        );
    }
    let Some(valued) = &mut context.valued else { return (0, Word::ScheduleDependent) };
    let [new, old]: [Bytes; 2] = [new, old].map(|(value, word)| {
        let mut bytes = valued.store.bytes(value, word);
        bytes[size..].fill(Byte::Known(0));
        bytes
    });
    (choice(valued, condition, (&new, &old), size), Word::Unknown)
}
