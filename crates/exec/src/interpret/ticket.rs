//! Executes the atomic operation that takes a ticket from a counter ([`crate::tickets`]).

use super::access::{word_of, write_element};
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::Gap;
use crate::lanes::Lanes;
use crate::memory::Word;
use crate::tags::{Source, Tags};
use crate::tickets::Counter;
use crate::value::integer;
use ir::{Atomic, AtomicOp, Ordering, Scalar, Scope};
use sync::LaneId;

/// The largest counter value: signed or not, tickets do not wrap around.
const MAX_COUNTER: u64 = (1 << 31) - 1;

/// A ticket being taken.
pub(super) struct Ticket {
    lane: usize,
    counter: Counter,
}

/// Returns the ticket that an atomic operation takes, in a run in which blocks take them: one thread adds one
/// to a number in global memory and uses the previous number.
pub(super) fn begin(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    pointer: Option<Pointer>,
    operand: Option<&(Lanes, Tags)>,
) -> Option<Ticket> {
    let mode = &context.machine.tickets;
    let is_list = mode.sequence().is_some();
    if !is_list && mode.last().is_none() {
        return None;
    }
    if context.path.is_some() || !context.conditional_lanes.is_empty() {
        return None;
    }
    let lane = context.lanes.lowest().filter(|_| context.lanes.count() == 1)?;
    let Scalar::Integer { width, .. } = atomic.scalar else { return None };
    let wide = matches!(atomic.ordering.scope(), Some(Scope::Gpu | Scope::Sys));
    let plain = atomic.packed == 1 && atomic.a.len() == 1 && width.bytes() >= 4;
    let (values, tags) = operand?;
    let number = word_of(*tags, lane) == Word::Number;
    let adds = match atomic.op {
        AtomicOp::Add => values[lane] == 1,
        AtomicOp::Inc => !is_list,
        _ => false,
    };
    let Pointer { area: Area::Global(area), offset } = pointer? else { return None };
    if !(wide && plain && number && adds && context.valued.is_some()) {
        return None;
    }
    let taker = who(context, lane);
    let releases = matches!(atomic.ordering, Ordering::Release(_) | Ordering::AcquireRelease(_));
    context.tracker.begin_ticket(taker, releases);
    let (bytes, op, operand) = (width.bytes(), atomic.op, values[lane]);
    Some(Ticket { lane, counter: Counter { number: area, offset, bytes, op, operand } })
}

/// Writes the number of a ticket into the result of its operation; `old` is the previous counter value.
pub(super) fn end(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    ticket: &Ticket,
    old: &(Lanes, Tags),
) -> Result<(), Gap> {
    let acquires = matches!(atomic.ordering, Ordering::Acquire(_) | Ordering::AcquireRelease(_));
    let taker = who(context, ticket.lane);
    context.tracker.end_ticket(taker, acquires);
    if context.machine.tickets.sequence().is_some() {
        return end_in_sequence(context, atomic, ticket, old);
    }
    let (first, is_last) = count(context, ticket, old)?;
    write_counter(context, ticket, old.0[ticket.lane]);
    let blocks = context.machine.launch.blocks();
    let Some(Some(dst)) = atomic.dsts.first() else { return Ok(()) };
    if is_last {
        let values = [first.wrapping_add(blocks - 1); crate::lanes::WARP];
        context.write(*dst, &values, Tags::NUMBER);
        return Ok(());
    }
    let (unit, size) = (context.unit, ticket.counter.bytes as usize);
    let others = i128::from(blocks) - 2;
    let valued = context.valued.as_mut();
    let word = valued.and_then(|valued| {
        let number = valued.domain.ticket(unit, others)?;
        let start = valued.domain.integer(i128::from(first));
        let number = valued.binary(crate::domain::Binary::Add, start, number);
        Some(valued.store.word(&integer::all_bytes(number, size)?).0)
    });
    let Some(word) = word else {
        return Err(context.gap("the number of this ticket is not tracked"));
    };
    let values = [word; crate::lanes::WARP];
    context.write_words(*dst, &values, Tags::unknown(context.lanes, Source::Data));
    Ok(())
}

/// Like [`end`], for runs in which blocks take several tickets. The number of the ticket is the block's next place
/// in the prescribed sequence.
fn end_in_sequence(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    ticket: &Ticket,
    (values, tags): &(Lanes, Tags),
) -> Result<(), Gap> {
    let (old, word) = (values[ticket.lane], word_of(*tags, ticket.lane));
    let (unit, place, taker) = (context.unit, context.place, who(context, ticket.lane));
    let now = context.tracker.time_of(taker);
    let previous = match &context.valued {
        Some(valued) if valued.store.tickets.unit == Some(unit) => valued.store.tickets.of_unit.1,
        _ => None,
    };
    let is_ordered = previous.is_none_or(|one| context.tracker.is_after(one, taker));
    let prescribed = context.machine.tickets.sequence().unwrap_or_default();
    let Some(valued) = &mut context.valued else { return Ok(()) };
    let tickets = &mut valued.store.tickets;
    let (counter, first, _) = *tickets.counter.get_or_insert((ticket.counter, old, place));
    let wrong = match () {
        () if word != Word::Number => Some(NOT_KNOWN),
        () if counter != ticket.counter => Some(SEVERAL),
        () if Some(old) != first.checked_add(tickets.taken) => Some(CHANGED),
        () if old >= MAX_COUNTER => Some(TOO_LARGE),
        () if !is_ordered => Some("a block takes several tickets, and nothing orders them"),
        () => None,
    };
    if let Some(wrong) = wrong {
        return Err(context.gap(wrong));
    }
    if tickets.taken == 0 {
        tickets.takers = prescribed.to_vec();
    }
    let earlier = if tickets.unit == Some(unit) { tickets.of_unit.0 } else { 0 };
    let places = prescribed.iter().enumerate().filter(|(_, block)| **block == unit);
    let position = places.map(|(position, _)| position).nth(earlier);
    tickets.taken_in_sequence += usize::from(position.is_some());
    let position = position.unwrap_or_else(|| {
        tickets.takers.push(unit);
        tickets.takers.len() - 1
    });
    (tickets.unit, tickets.of_unit) = (Some(unit), (earlier + 1, Some((taker, now))));
    tickets.taken += 1;
    write_counter(context, ticket, old);
    let number = first + position as u64;
    if let Some(Some(dst)) = atomic.dsts.first() {
        context.write(*dst, &[number; crate::lanes::WARP], Tags::NUMBER);
    }
    Ok(())
}

const NOT_KNOWN: &str =
    "the ticket counter has unknown contents: give them (`count=u32[1]:inout=[0]`)";
const SEVERAL: &str = "blocks take tickets from several counters, or in several ways";
const CHANGED: &str = "the ticket counter is also changed in another way";
const TOO_LARGE: &str = "the ticket counter starts with a number that is too large";

/// Counts a ticket. Returns the initial counter value, and `true` for the last ticket.
fn count(
    context: &mut Context<'_, '_>,
    ticket: &Ticket,
    (values, tags): &(Lanes, Tags),
) -> Result<(u64, bool), Gap> {
    let (old, word) = (values[ticket.lane], word_of(*tags, ticket.lane));
    let (unit, place, blocks) = (context.unit, context.place, context.machine.launch.blocks());
    let Some(valued) = &mut context.valued else { return Ok((0, false)) };
    let tickets = &mut valued.store.tickets;
    let (counter, first, _) = *tickets.counter.get_or_insert((ticket.counter, old, place));
    let wrong = if word != Word::Number {
        Some(NOT_KNOWN)
    } else if counter != ticket.counter {
        Some(SEVERAL)
    } else if tickets.unit == Some(unit) {
        Some("a block takes several tickets")
    } else if Some(old) != first.checked_add(tickets.taken) {
        Some(CHANGED)
    } else if first.checked_add(blocks).is_none_or(|over| over > MAX_COUNTER) {
        Some(TOO_LARGE)
    } else if counter.op == AtomicOp::Inc && counter.operand < first + blocks - 1 {
        Some("the ticket counter wraps around before every block has taken a ticket")
    } else {
        None
    };
    if let Some(wrong) = wrong {
        return Err(context.gap(wrong));
    }
    tickets.taken += 1;
    tickets.unit = Some(unit);
    Ok((first, tickets.taken == blocks))
}

/// Writes the counter as a number: a domain would keep the sum as a value.
fn write_counter(context: &mut Context<'_, '_>, ticket: &Ticket, old: u64) {
    let Counter { number, offset, bytes, op, operand } = ticket.counter;
    let new = match op {
        AtomicOp::Inc if old >= operand => 0,
        _ => old + 1,
    };
    if let Ok(at) = usize::try_from(offset) {
        let target = (Area::Global(number), ticket.lane);
        write_element(context, target, at, bytes as usize, (new, Word::Number));
    }
}

fn who(context: &Context<'_, '_>, lane: usize) -> LaneId {
    // A warp has 32 lanes, and a block at most 32 warps.
    #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
    LaneId { warp: context.warp.number as u8, lane: lane as u8 }
}
