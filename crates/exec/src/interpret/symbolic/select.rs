//! Choices between operands.
//!
//! A known condition moves words. For an unknown one, the domain is queried at once if one of the operands
//! shows the format of the result. Otherwise the choice is kept until a use determines the format
//! ([`Unit::Choice`]).

use super::integer;
use super::operand::{Patch, bytes, raw};
use super::truth::Predicate;
use crate::context::Context;
use crate::handle::Handle;
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::tags::Tags;
use crate::value::bytes::Bytes;
use crate::value::unit::{Byte, Sort, Unit, integer};
use crate::value::{Valued, reason};
use ir::{Format, Operand, Reg, Width};

/// Executes `selp`. Returns `false` if all its lanes are plain numbers, or its width is unsupported.
pub(super) fn execute(
    context: &mut Context<'_, '_>,
    dst: Reg,
    condition: Operand,
    [if_true, if_false]: [Operand; 2],
) -> bool {
    let condition = Predicate::read(context, condition);
    let (a, b) = (raw(context, if_true), raw(context, if_false));
    let width = context.layout.width(dst);
    let none = Mask::NONE;
    let touched = a.1.unknown.or(b.1.unknown).or(condition.unknown()).and(context.lanes);
    if touched == none || width > Width::B64 || width == Width::B1 {
        return false;
    }
    let out = std::array::from_fn(|lane| {
        let (values, tags) = if condition.truth.has(lane) { &a } else { &b };
        // Constants and wider registers are truncated; words of units stay whole.
        let mask = if tags.unknown.has(lane) { u64::MAX } else { width.mask() };
        values[lane] & mask
    });
    let mut tags = a.1.within(condition.truth, b.1);
    let open = condition.unknown();
    let undefined = condition.tags.poison;
    let poison = Tags { poison: undefined, origin: condition.tags.origin, ..Tags::NUMBER };
    tags = poison.within(undefined, tags);
    let mut maybe_undefined = none;
    if !open.is_empty() {
        let mut chosen = condition.tags.chosen(a.1, b.1);
        maybe_undefined = a.1.poison.or(b.1.poison).and(chosen.unknown).and(context.lanes);
        let follows = |valued: &Valued<'_>| valued.domain.chooses_undefined();
        if context.valued.as_ref().is_some_and(follows) {
            // The domain reports a choice of the undefined side.
            let decided = [condition.tags, a.1, b.1].map(Tags::undetermined);
            let schedule_dependent = decided[0].or(decided[1]).or(decided[2]);
            chosen.schedule_dependent =
                chosen.schedule_dependent.without(maybe_undefined.without(schedule_dependent));
            let open = |valued: &Valued<'_>| valued.domain.follows_conditions();
            context.report.has_choices |=
                !maybe_undefined.is_empty() && context.valued.as_ref().is_some_and(open);
            maybe_undefined = none;
        }
        tags = chosen.within(open, tags);
    }
    context.report.maybe_undefined |= !maybe_undefined.is_empty();
    context.write_words(dst, &out, tags);
    let lanes = tags.unknown.and(open).and(context.lanes);
    choose(context, dst, &condition, [&a, &b], lanes.without(maybe_undefined));
    if !maybe_undefined.is_empty() {
        let place = Some(context.place);
        let Some(valued) = &mut context.valued else { return true };
        let word = u64::from(valued.store.units.opaque(place, reason::MAYBE_UNDEFINED));
        let mut patch = Patch::new();
        maybe_undefined
            .iter()
            .for_each(|lane| patch.set(lane, (word | word << 32, Word::ScheduleDependent)));
        patch.apply(context, dst);
    }
    true
}

/// Makes choices in lanes with an unknown condition.
pub(super) fn choose(
    context: &mut Context<'_, '_>,
    dst: Reg,
    condition: &Predicate,
    [a, b]: [&(Lanes, Tags); 2],
    lanes: Mask,
) {
    let width = context.layout.width(dst);
    let general = context.machine.general;
    if lanes.is_empty() || !general && select_singles(context, dst, condition, [a, b], lanes) {
        return;
    }
    let followed = condition.followed();
    let mut patch = Patch::new();
    for lane in lanes.iter() {
        let (mut x, mut y) = (bytes(context, a, lane), bytes(context, b, lane));
        let size = width.bytes() as usize;
        [&mut x, &mut y].into_iter().for_each(|bytes| bytes[size..].fill(Byte::Known(0)));
        let place = context.place;
        let Some(valued) = &mut context.valued else { return };
        let found = match followed.has(lane) {
            true => choice(valued, condition.words[lane], (&x, &y), size),
            false => {
                let known = valued.store.units.lost(condition.words[lane]).is_some();
                let opaque = match known {
                    true => condition.words[lane],
                    false => valued.store.units.opaque(Some(place), reason::CONDITION),
                };
                u64::from(opaque) | u64::from(opaque) << 32
            }
        };
        // A choice is schedule-dependent if its condition or one of its operands is.
        let schedule_dependent =
            [condition.tags, a.1, b.1].iter().any(|tags| tags.undetermined().has(lane));
        patch.set(
            lane,
            (found, if schedule_dependent { Word::ScheduleDependent } else { Word::Unknown }),
        );
    }
    patch.apply(context, dst);
}

/// Fast path: selects singles by conditions of the domain, for all lanes at once. Returns `false` if it declines.
fn select_singles(
    context: &mut Context<'_, '_>,
    dst: Reg,
    condition: &Predicate,
    [a, b]: [&(Lanes, Tags); 2],
    lanes: Mask,
) -> bool {
    if context.layout.width(dst) != Width::B32 || !lanes.without(condition.followed()).is_empty() {
        return false;
    }
    let Some(valued) = &mut context.valued else { return false };
    let is_single = |(values, tags): &(Lanes, Tags), lane: usize| {
        let word = values[lane] as u32;
        tags.unknown.has(lane) && Handle(word).is_value()
    };
    let mut operands = [[0; WARP]; 2];
    for lane in lanes.iter() {
        let clear = [a, b].map(|operand| is_single(operand, lane));
        if clear == [false, false] {
            return false;
        }
        for (position, operand) in [a, b].into_iter().enumerate() {
            let word = operand.0[lane] as u32;
            operands[position][lane] =
                match (clear[position], operand.1.is_number_in(Mask(1 << lane))) {
                    (true, _) => word,
                    (_, true) => valued.constant(Format::F32, u64::from(word)),
                    _ => return false,
                };
        }
    }
    let mut out = [0; WARP];
    valued.domain.select(&condition.words, [&operands[0], &operands[1]], lanes, &mut out);
    let mut patch = Patch::new();
    lanes.iter().for_each(|lane| patch.set(lane, (u64::from(out[lane]), Word::Unknown)));
    patch.apply(context, dst);
    true
}

/// Makes the choice of one lane, as words of units.
pub(super) fn choice(
    valued: &mut Valued<'_>,
    condition: u32,
    (x, y): (&Bytes, &Bytes),
    size: usize,
) -> u64 {
    if let Some(format) = common_format(x, y, size)
        && let Ok(a) = valued.real_or_undefined(&x[..size], format, None)
        && let Ok(b) = valued.real_or_undefined(&y[..size], format, None)
    {
        let value = valued.select(condition, a, b);
        let sort = Sort::float(format);
        let mut out = crate::value::bytes::ZERO;
        (0..size).for_each(|at| out[at] = Byte::Of { value, sort, index: at as u8 });
        return valued.store.word(&out).0;
    }
    if [x, y].into_iter().any(|bytes| integer(&bytes[..size]).is_some())
        && let Some(a) = integer::congruent(valued, &x[..size])
        && let Some(b) = integer::congruent(valued, &y[..size])
        && let Some(out) = integer::all_bytes(valued.select(condition, a, b), size)
    {
        return valued.store.word(&out).0;
    }
    let units = &mut valued.store.units;
    let mut half = |at: usize| {
        let unit = |bytes: &Bytes| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let (mut if_true, mut if_false) = (units.unit(unit(x)), units.unit(unit(y)));
        if unit(x) == unit(y) && units.lost(if_true).is_none() {
            return if_true;
        }
        // Simplify a nested choice by the same condition.
        if let Some(&Unit::Choice { condition: same, if_true: inner, .. }) = units.get(if_true)
            && same == condition
        {
            if_true = inner;
        }
        if let Some(&Unit::Choice { condition: same, if_false: inner, .. }) = units.get(if_false)
            && same == condition
        {
            if_false = inner;
        }
        units.push(Unit::Choice { condition, if_true, if_false })
    };
    u64::from(half(0)) | u64::from(half(4)) << 32
}

/// Returns the format of two operands, if one of them is a whole float of `size` bytes.
fn common_format(x: &Bytes, y: &Bytes, size: usize) -> Option<Format> {
    [x, y].into_iter().find_map(|bytes| match bytes[0] {
        Byte::Of { sort, index: 0, .. } if sort.bytes() == size => sort.format(),
        _ => None,
    })
}
