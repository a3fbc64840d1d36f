//! Memory accesses under a path condition, lane by lane.
//!
//! A conditional access may not happen. A race with its instruction is left open, a fault ends the run, and
//! bytes become a choice between the new and the old contents ([`super::merge`]).
//!
//! Two conditional stores of the same number do no harm, whether both happen or not. So a store of a number is
//! compared with the number that the last write of the same bytes wrote.

use super::merge;
use super::operand::raw;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::finding::{AccessKind, Gap, Sink};
use crate::interpret::access::{allocation, locate, must_report_store, word_of};
use crate::interpret::memory;
use crate::interpret::tracked::track;
use crate::lanes::Mask;
use crate::memory::{Word, state};
use crate::tracker::AccessAttributes;
use crate::value::Valued;
use ir::{Atomic, AtomicOp, Ordering, Scalar, Store, Width};
use sync::{MemoryEffect, SameValue};

/// Records that an access may not happen.
pub(super) fn record_open_access(context: &mut Context<'_, '_>) {
    context.report.conditional.insert(context.site);
    let follows = |valued: &Valued<'_>| valued.domain.chooses_undefined();
    context.report.has_choices |= context.valued.as_ref().is_some_and(follows);
}

/// Ends the run at a fault that may not happen.
pub(super) fn check_faults(context: &mut Context<'_, '_>) -> Result<(), Gap> {
    match context.conditional_fault.take() {
        Some(what) => {
            let reason = format!("{what}, under an undecided condition");
            Err(context.conditional_gap(reason))
        }
        None => Ok(()),
    }
}

/// Returns `true` if a read-modify-write orders nothing, and updates a number of at most 64 bits.
pub(super) fn is_plain_update(atomic: &Atomic) -> bool {
    let known = match atomic.scalar {
        Scalar::Integer { width, .. } => width <= Width::B64,
        Scalar::Float(_) => true,
    };
    let relaxed = matches!(atomic.ordering, Ordering::Weak | Ordering::Relaxed(_));
    known && relaxed && !matches!(atomic.op, AtomicOp::Exchange | AtomicOp::CompareSwap)
}

/// Performs one lane's store, under the path condition of the context if the lane has one.
pub(super) fn store_in_lane(
    context: &mut Context<'_, '_>,
    store: &Store,
    (pointer, lane): (Pointer, usize),
    merged: bool,
) {
    let element = store.width.bytes();
    let size = element * store.srcs.len() as u32;
    let found = locate(context, pointer, lane, (size, size), AccessKind::Write);
    let Some(found) = found else { return };
    let attributes = AccessAttributes::plain(MemoryEffect::Write, context.site, element);
    let same =
        found.map_or(SameValue::Undecided, |start| repeats(context, store, (pointer, lane, start)));
    track(context, pointer, lane, size, attributes, same);
    let Some(start) = found else { return };
    let private = merged && matches!(pointer.area, Area::Local(_));
    let path = context.path.clone().filter(|path| !private && path.lanes.has(lane));
    for (position, &src) in store.srcs.iter().enumerate() {
        let at = start + position * element as usize;
        let Some(path) = &path else {
            memory::store_element(context, pointer, lane, at, src, store.width);
            continue;
        };
        let (values, tags) = raw(context, src);
        let word = word_of(tags, lane);
        if matches!(word, Word::ScheduleDependent | Word::Pointer)
            && must_report_store(context, pointer.area)
        {
            context.doubt_undetermined(tags, Sink::Output, Mask::one(lane));
        }
        let has_unit = matches!(word, Word::Unknown | Word::ScheduleDependent);
        let bits = if has_unit { u64::MAX } else { store.width.mask() };
        let new = (values[lane] & bits, word);
        merge::write_under(context, path, (pointer.area, lane, at), element as usize, new);
        if word == Word::Number
            && element <= 8
            && let Some((memory, ..)) = allocation(context, pointer.area, lane)
        {
            memory.remember_chosen(at, element as usize, new.0);
        }
    }
}

/// Compares the numbers that a lane stores with those that the last write of each element wrote, under whatever
/// condition. If both writes happen, they write the same.
fn repeats(
    context: &mut Context<'_, '_>,
    store: &Store,
    (pointer, lane, start): (Pointer, usize, usize),
) -> SameValue {
    let size = store.width.bytes() as usize;
    let all = store.srcs.iter().enumerate().all(|(position, &src)| {
        let (values, tags) = raw(context, src);
        let number = values[lane] & store.width.mask();
        let bytes = number.to_le_bytes();
        let at = start + position * size;
        let is_number = size <= 8 && word_of(tags, lane) == Word::Number;
        let Some((memory, ..)) = allocation(context, pointer.area, lane) else { return false };
        is_number && memory.would_keep(at, &bytes[..size], state::DEFINED) == SameValue::Equal
    });
    if all { SameValue::Equal } else { SameValue::Undecided }
}
