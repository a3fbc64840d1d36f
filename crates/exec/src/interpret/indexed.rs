//! Reads through data-dependent addresses: `table[idx[i], j]` ([`crate::value::address`]).
//!
//! The element depends on inputs, so the domain makes the value from the tensor and the place
//! ([`Domain::element`](crate::domain::Domain::element)): equal values for equal places. That is the value
//! the kernel reads if
//! - the place is in bounds for all inputs, by the domain's bounds for it;
//! - it is a multiple of the access size, for all inputs;
//! - the buffer is not written while the launch runs: it is a read-only input, and a write to it is a
//!   finding. No access to it can race, so none is reported to the tracker;
//! - all of its elements are adjacent inputs of the domain.
//!
//! If some input attains the bounds and these lie outside the buffer, that is a finding, and it names the input. In
//! all other cases the run ends with a gap that says what is missing. If the domain knows the place as one number,
//! it is an ordinary address.

use super::access::{allocation, report_before_grid_wait};
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::domain::{Bounds, Value};
use crate::finding::{AccessKind, Fault, Gap};
use crate::lanes::{Lanes, Mask};
use crate::launch::Access;
use crate::memory::{Word, state};
use crate::tags::Tags;
use crate::value::address::{DataAddress, Elements};
use crate::value::bytes::ZERO;
use crate::value::unit::{Byte, Sort};
use ir::{Space, Width};

/// A lane with a data-dependent address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed {
    pub(super) lane: usize,
    pub(super) area: Area,
    /// Bytes from the start of the allocation, plus a constant.
    pub(super) offset: (Value, i128),
    /// Set if the register has 32 bits: the number counts modulo 2^32.
    wraps: bool,
}

/// Half of the addresses of a window.
const HALF: i128 = 1 << 31;

/// Takes lanes with a data-dependent address out of an operand. In global memory, a lane whose offset the domain
/// knows as a number becomes a pointer.
pub(super) fn split(
    context: &mut Context<'_, '_>,
    (values, tags): (&mut Lanes, &mut Tags),
    space: Space,
    (more, width): (i64, Width),
) -> Vec<Indexed> {
    let lanes = tags.unknown.and(context.lanes);
    let Some(valued) = &mut context.valued else { return Vec::new() };
    let mut indexed = Vec::new();
    for lane in lanes.iter() {
        let found = valued.store.data_address(values[lane], width);
        let Some(address) = found.filter(|address| is_in(address, space)) else { continue };
        let DataAddress { area, offset, .. } = address;
        let bounds = valued.domain.bounds(offset);
        let number = bounds.filter(|one| one.low == one.high && matches!(area, Area::Global(_)));
        match number.and_then(|number| i64::try_from(number.low).ok()) {
            Some(offset) => {
                values[lane] = Pointer { area, offset }.address();
                tags.pointer = tags.pointer.or(Mask::one(lane));
                tags.unknown = tags.unknown.without(Mask::one(lane));
            }
            None => {
                let wraps = width == Width::B32;
                // 32-bit sums wrap: take the congruent number that lies closest to the start.
                let turns = bounds.filter(|_| wraps).map_or(0, |bounds| {
                    (bounds.low + i128::from(more) + HALF).div_euclid(2 * HALF)
                });
                let more = i128::from(more) - turns * 2 * HALF;
                indexed.push(Indexed { lane, area, offset: (offset, more), wraps });
            }
        }
    }
    indexed
}

/// Returns `true` if an instruction in this state space accesses the target of an address.
fn is_in(address: &DataAddress, space: Space) -> bool {
    match (address.area, space) {
        (Area::Global(_), Space::Global | Space::Generic | Space::Const) => true,
        (Area::Shared(_) | Area::Local(_), Space::Generic) => !address.in_window,
        (Area::Shared(_), Space::Shared) | (Area::Local(_), Space::Local) => address.in_window,
        _ => false,
    }
}

/// The gap at an unsupported access through a data-dependent address.
pub(super) fn not_followed(context: &Context<'_, '_>, one: &Indexed, kind: AccessKind) -> Gap {
    let (what, why) = match kind {
        AccessKind::Read => ("a read", "this instruction does not support such addresses"),
        AccessKind::Write => {
            ("a write", "the written element, and which other threads write it, are not tracked")
        }
        AccessKind::Atomic => ("an atomic update", "the updated element is not tracked"),
    };
    let (name, place) = named(context, one);
    context.data_gap(format!("{what} of `{name}` at byte {place}, which depends on data: {why}"))
}

/// The name of the allocation and the place in it, for a report.
fn named(context: &Context<'_, '_>, one: &Indexed) -> (String, String) {
    let machine = context.machine;
    let name = match one.area {
        Area::Global(number) => context.global.get(number).map(|memory| memory.name.clone()),
        Area::Shared(number) => context.shared.get(number).map(|memory| memory.name.clone()),
        Area::Local(number) => {
            let variable = machine.local.get(number);
            variable.map(|variable| machine.program.variables[*variable].name.clone())
        }
        Area::Param(_) => None,
    };
    let name = name.unwrap_or_default();
    let explain = |value: Value| context.valued.as_ref().map(|valued| valued.domain.explain(value));
    let place = explain(one.offset.0).unwrap_or_default();
    match one.offset.1 {
        0 => (name, place),
        more => (name, format!("{place} + {more}")),
    }
}

/// Returns the bytes that a lane reads, or `None` for a recorded fault. An access of `bytes` bytes is aligned
/// to `align`.
pub(super) fn read(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    (bytes, align): (u32, u32),
) -> Result<Option<Vec<Byte>>, Gap> {
    let elements = table(context, one)?;
    check_alignment(context, one, (AccessKind::Read, align))?;
    if !in_bounds(context, one, (AccessKind::Read, bytes))? {
        return Ok(None);
    }
    if context.tracker.follows_grids() {
        report_before_grid_wait(
            context,
            Pointer { area: one.area, offset: 0 },
            one.lane,
            AccessKind::Read,
        );
    }
    let (name, place) = named(context, one);
    let Some(valued) = &mut context.valued else { return Ok(None) };
    let sort = Sort::of(elements.scalar);
    let size = sort.map_or(0, Sort::bytes);
    let whole_elements = sort.filter(|_| size > 0 && (bytes as usize).is_multiple_of(size));
    let Some(sort) = whole_elements else {
        return Err(context.gap(format!("part of an element of `{name}` is read at byte {place}")));
    };
    let mut all = Vec::new();
    for at in (0..bytes).step_by(size) {
        let offset = (one.offset.0, one.offset.1 + i128::from(at));
        let table = (elements.first, elements.count);
        let Some(value) = valued.domain.element(table, offset, size as u32) else {
            return Err(context.data_gap(format!(
                "the element of `{name}` at byte {place}, which depends on data, could not be determined"
            )));
        };
        all.extend((0..size).map(|index| Byte::Of { value, sort, index: index as u8 }));
    }
    if let Area::Global(number) = one.area
        && let Some(memory) = context.global.get_mut(number)
    {
        memory.read = true;
    }
    Ok(Some(all))
}

/// Checks that a place is a multiple of the access size.
pub(super) fn check_alignment(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    (kind, align): (AccessKind, u32),
) -> Result<(), Gap> {
    let Some(valued) = &mut context.valued else { return Ok(()) };
    if valued.domain.is_multiple(one.offset, align) {
        return Ok(());
    }
    let (name, place) = named(context, one);
    Err(context.data_gap(format!(
        "`{name}` is {} at byte {place}, which depends on data and is not proved to be a multiple of {align}",
        participle(kind)
    )))
}

/// Returns the elements of a buffer, if it can be read at data-dependent places.
pub(super) fn table(context: &Context<'_, '_>, one: &Indexed) -> Result<Elements, Gap> {
    let (name, place) = named(context, one);
    let gap = |why: &str| {
        context
            .data_gap(format!("`{name}` is read at byte {place}, which depends on data, and {why}"))
    };
    let Area::Global(number) = one.area else { return Err(gap("it is not in global memory")) };
    let memory = context.global.get(number);
    let Some(memory) = memory.filter(|memory| memory.bounded) else {
        return Err(gap("it has no known size"));
    };
    if memory.access != Access::In {
        return Err(gap("the launch may write it: only read-only tensors are read this way"));
    }
    let elements = context.valued.as_ref().and_then(|valued| valued.store.elements.get(&number));
    let known = elements.copied().filter(|elements| {
        elements.count * u64::from(elements.scalar.width().bytes()) == memory.bytes.len() as u64
    });
    let is_sparse = memory.states.contains(&state::OPAQUE);
    let why = match is_sparse {
        true => "some of its elements have a structure: give the contents of the index tensor",
        false => "its contents are given: give those of the index tensor too, or neither",
    };
    known.ok_or_else(|| gap(why))
}

/// Bounds the place of a lane under its path condition.
pub(super) fn bounds(context: &mut Context<'_, '_>, one: &Indexed) -> Option<Bounds> {
    let condition = path_condition(context, one.lane);
    let valued = context.valued.as_mut()?;
    match condition {
        Some(condition) => valued.domain.bounds_under(one.offset.0, condition),
        None => valued.domain.bounds(one.offset.0),
    }
}

/// The path condition of a lane, if it has one.
fn path_condition(context: &mut Context<'_, '_>, lane: usize) -> Option<Value> {
    let path = context.path.clone().filter(|_| context.conditional_lanes.has(lane))?;
    let mut words = path.words;
    if path.negated {
        context.valued.as_mut()?.domain.not(&path.words, Mask::one(lane), &mut words);
    }
    Some(words[lane])
}

/// Returns `true` if an access is in bounds for all inputs; a fault for some input is recorded.
pub(super) fn in_bounds(
    context: &mut Context<'_, '_>,
    one: &Indexed,
    (kind, bytes): (AccessKind, u32),
) -> Result<bool, Gap> {
    let done = participle(kind);
    let (name, place) = named(context, one);
    let memory = allocation(context, one.area, one.lane);
    let Some(size) = memory.filter(|(memory, ..)| memory.bounded).map(|(.., size)| size as i128)
    else {
        return Err(context.data_gap(format!(
            "`{name}` is {done} at byte {place}, which depends on data, and `{name}` has no known size"
        )));
    };
    let bounds = bounds(context, one);
    let condition = path_condition(context, one.lane);
    let Some(valued) = &mut context.valued else { return Ok(false) };
    let is_inside = |bounds: Bounds| {
        let (low, high) = (bounds.low + one.offset.1, bounds.high + one.offset.1);
        low >= 0 && high + i128::from(bytes) <= size
    };
    if !bounds.is_some_and(is_inside)
        && let Some(condition) = condition
        && let Some(tried) = valued.domain.enumerated_bounds_under(one.offset.0, condition)
        && is_inside(tried)
    {
        return Ok(true);
    }
    let Some(bounds) = bounds else {
        return Err(context.data_gap(format!(
            "`{name}` is {done} at byte {place}, which depends on data without known bounds"
        )));
    };
    let (low, high) = (bounds.low + one.offset.1, bounds.high + one.offset.1);
    if is_inside(bounds) {
        return Ok(true);
    }
    if one.wraps && (low < -HALF || high >= HALF) {
        return Err(context.data_gap(format!(
            "`{name}` is {done} at byte {place}, which depends on data and may wrap around in 32 bits"
        )));
    }
    if !bounds.are_declared {
        return Err(context.data_gap(format!(
            "`{name}` ({size} bytes) is {done} at byte {place}, which depends on data and may be anything \
             from {low} to {high}: give the range of the index, as in --arg 'idx=s32[8]:0..100'"
        )));
    }
    let largest = low >= 0;
    let when = valued.domain.extreme(one.offset.0, largest).filter(|_| bounds.are_attained);
    let (Some(when), Ok(offset)) = (when, i64::try_from(if largest { high } else { low })) else {
        return Err(context.data_gap(format!(
            "`{name}` ({size} bytes) is {done} at byte {place}, which depends on data and may be anything \
             from {low} to {high}"
        )));
    };
    let Some((memory, _, size)) = allocation(context, one.area, one.lane) else { return Ok(false) };
    let mut target = memory.target(offset);
    target.size = size as u64;
    context.record_fault(
        Fault::OutOfBounds { target, kind, bytes, when: Some(when) },
        Mask::one(one.lane),
    );
    Ok(false)
}

fn participle(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "written",
        AccessKind::Atomic => "updated",
    }
}

/// Converts at most eight bytes to a word of a register.
pub(super) fn word(context: &mut Context<'_, '_>, bytes: &[Byte]) -> (u64, Word) {
    let mut padded = ZERO;
    let length = bytes.len().min(8);
    padded[..length].copy_from_slice(&bytes[..length]);
    match &mut context.valued {
        Some(valued) => valued.store.word(&padded),
        None => (0, Word::Unknown),
    }
}
