//! Whether a store leaves in place what is there, where values of the domain are concerned.

use super::operand::{bytes, raw};
use crate::address::Pointer;
use crate::context::Context;
use crate::domain::Value;
use crate::interpret::access::read_element;
use crate::lanes::WARP;
use crate::value::Valued;
use crate::value::unit::{Byte, Sort, integer};
use ir::Operand;
use sync::SameValue;

/// Compares an operand with the bytes at `start`, value by value; a difference that is only `likely` counts, if that is enough.
pub(in crate::interpret) fn keeps(
    context: &mut Context<'_, '_>,
    (pointer, lane): (Pointer, usize),
    (start, size): (usize, usize),
    src: Operand,
    likely: bool,
) -> SameValue {
    let mut old = ([0; WARP], [0; WARP]);
    let parts = [&mut old.0, &mut old.1];
    let word = read_element(context, pointer.area, lane, Some(Some(start)), size, parts);
    let new = raw(context, src);
    let new = bytes(context, &new, lane);
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
        match same(valued, sort, [&new[at..end], &old[at..end]], likely) {
            Some(true) => at = end,
            Some(false) => return SameValue::Different,
            None => return SameValue::Undecided,
        }
    }
    SameValue::Equal
}

fn same(
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
    let mut value = |bytes: &[Byte]| -> Option<Value> {
        match sort.format() {
            Some(format) => valued.real(bytes, format, None).ok(),
            None => integer(bytes),
        }
    };
    let (a, b) = (value(parts[0])?, value(parts[1])?);
    // Integers that differ may still have the same lowest bits.
    if likely && !sort.is_integer() && valued.domain.seem_different(a, b) {
        return Some(false);
    }
    valued.domain.same(a, b).filter(|same| *same || !sort.is_integer())
}
