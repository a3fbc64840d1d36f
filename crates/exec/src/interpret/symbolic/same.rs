//! Decides if a store writes what the memory already contains, when domain values are involved.

use super::operand::{bytes, raw};
use crate::address::Pointer;
use crate::context::Context;
use crate::domain::Value;
use crate::interpret::access::read_element;
use crate::lanes::WARP;
use crate::memory::Word;
use crate::value::Valued;
use crate::value::unit::{Byte, Sort, integer};
use ir::Operand;
use std::ops::Range;
use sync::{LaneId, SameValue};

/// Compares an operand with the bytes at `start`, value by value. If `likely` is set, a probable difference counts
/// as one.
pub(in crate::interpret) fn keeps(
    context: &mut Context<'_, '_>,
    (pointer, lane): (Pointer, usize),
    (start, size): (usize, usize),
    src: Operand,
    likely: bool,
) -> SameValue {
    let new = raw(context, src);
    let new = bytes(context, &new, lane);
    keeps_bytes(context, (pointer, lane), start, &new[..size], likely)
}

/// Like [`keeps`], for part of a word.
pub(in crate::interpret) fn keeps_part(
    context: &mut Context<'_, '_>,
    (pointer, lane): (Pointer, usize),
    start: usize,
    ((value, word), part): ((u64, Word), Range<usize>),
    likely: bool,
) -> SameValue {
    let Some(valued) = &mut context.valued else { return SameValue::Undecided };
    let new = valued.store.bytes(value, word);
    keeps_bytes(context, (pointer, lane), start, &new[part], likely)
}

fn keeps_bytes(
    context: &mut Context<'_, '_>,
    (pointer, lane): (Pointer, usize),
    start: usize,
    new: &[Byte],
    likely: bool,
) -> SameValue {
    let size = new.len();
    let mut old = ([0; WARP], [0; WARP]);
    let parts = [&mut old.0, &mut old.1];
    let word = read_element(context, pointer.area, lane, Some(Some(start)), size, parts);
    let Some(valued) = &mut context.valued else { return SameValue::Undecided };
    let old = valued.store.bytes(old.0[lane], word);
    let mut at = 0;
    while at < size {
        let sort = [new[at], old[at]].into_iter().find_map(|byte| match byte {
            Byte::Of { sort, index: 0, .. } => Some(sort),
            _ => None,
        });
        // Numbers are compared byte by byte.
        let end = at + sort.map_or(1, Sort::bytes);
        if end > size {
            return SameValue::Undecided;
        }
        let parts = [&new[at..end], &old[at..end]];
        match are_same(valued, sort, parts, likely) {
            Some(true) => at = end,
            Some(false) => return SameValue::Different,
            None => {
                let values = sort.and_then(|sort| describe(valued, sort, parts));
                record_open_values(context, lane, values);
                return SameValue::Undecided;
            }
        }
    }
    SameValue::Equal
}

/// The largest number of threads whose values are kept for a report.
const MAX_EXPLAINED: usize = 256;

/// Keeps the values of an undecided comparison for a report.
fn record_open_values(context: &mut Context<'_, '_>, lane: usize, values: Option<[String; 2]>) {
    let who = LaneId { warp: context.warp.number as u8, lane: lane as u8 };
    let known = &mut context.report.open_values;
    if let Some(values) = values.filter(|_| known.len() < MAX_EXPLAINED) {
        known.entry((context.site, who)).or_insert(values);
    }
}

/// Describes two values, the old one first.
fn describe(valued: &mut Valued<'_>, sort: Sort, [new, old]: [&[Byte]; 2]) -> Option<[String; 2]> {
    let (old, new) = (value(valued, sort, old)?, value(valued, sort, new)?);
    Some([old, new].map(|value| valued.domain.explain(value)))
}

/// The value in some bytes.
fn value(valued: &mut Valued<'_>, sort: Sort, bytes: &[Byte]) -> Option<Value> {
    match sort.format() {
        Some(format) => valued.real(bytes, format, None).ok(),
        None => integer(bytes),
    }
}

fn are_same(
    valued: &mut Valued<'_>,
    sort: Option<Sort>,
    parts: [&[Byte]; 2],
    likely: bool,
) -> Option<bool> {
    let Some(sort) = sort else {
        return match (parts[0][0], parts[1][0]) {
            (Byte::Known(a), Byte::Known(b)) => Some(a == b),
            _ => None,
        };
    };
    let (a, b) = (value(valued, sort, parts[0])?, value(valued, sort, parts[1])?);
    // Integers that differ may still have the same lowest bits.
    if likely && !sort.is_integer() && valued.domain.seem_different(a, b) {
        return Some(false);
    }
    valued.domain.same(a, b).filter(|same| *same || !sort.is_integer())
}
