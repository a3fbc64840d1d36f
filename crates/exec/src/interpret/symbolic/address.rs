//! Sums of addresses and integers of a domain: addresses that are data ([`crate::value::address`]).

use super::integer::congruent;
use crate::address::{Area, Pointer};
use crate::context::Context;
use crate::domain::{Binary, Value};
use crate::lanes::Lanes;
use crate::memory::Word;
use crate::tags::Tags;
use crate::value::Valued;
use crate::value::address::DataAddress;
use ir::{IntBinary, Op, Space, Width};

/// An operand in a lane.
enum Operand {
    /// An address: its allocation, and the distance from the start.
    Address(Area, Value),
    /// An integer, or one that is congruent to it.
    Integer(Value),
}

/// The words of a sum in a lane, if it is an address that is data.
pub(super) fn sum(
    context: &mut Context<'_, '_>,
    op: &Op,
    sources: &[(Lanes, Tags)],
    lane: usize,
) -> Option<u64> {
    let Op::IntBinary { op: op @ (IntBinary::Add | IntBinary::Sub), width: Width::B64, .. } = op
    else {
        return None;
    };
    let [a, b] = sources else { return None };
    let is_address = |(values, tags): &(Lanes, Tags)| {
        let store = context.valued.as_ref().map(|valued| &valued.store);
        tags.pointer.has(lane)
            || tags.unknown.has(lane)
                && store.is_some_and(|store| store.data_address(values[lane]).is_some())
    };
    // Nothing else costs more than this.
    if !is_address(a) && !is_address(b) {
        return None;
    }
    let valued = context.valued.as_mut()?;
    let (a, b) = (operand(valued, a, lane)?, operand(valued, b, lane)?);
    let (area, offset) = match (op, a, b) {
        (IntBinary::Add, Operand::Address(area, offset), Operand::Integer(more))
        | (IntBinary::Add, Operand::Integer(more), Operand::Address(area, offset)) => {
            (area, valued.binary(Binary::Add, offset, more))
        }
        (IntBinary::Sub, Operand::Address(area, offset), Operand::Integer(less)) => {
            (area, valued.binary(Binary::Sub, offset, less))
        }
        _ => return None,
    };
    Some(valued.store.address_words(DataAddress { area, offset }))
}

fn operand(
    valued: &mut Valued<'_>,
    (values, tags): &(Lanes, Tags),
    lane: usize,
) -> Option<Operand> {
    let value = values[lane];
    if tags.poison.has(lane) {
        return None;
    }
    if tags.pointer.has(lane) {
        let Pointer { area, offset } = Pointer::decode(value, Space::Generic)?;
        return Some(Operand::Address(area, valued.domain.integer(offset.into())));
    }
    if tags.unknown.has(lane) {
        if let Some(DataAddress { area, offset }) = valued.store.data_address(value) {
            return Some(Operand::Address(area, offset));
        }
        if tags.fickle.has(lane) {
            return None;
        }
        let bytes = valued.store.bytes(value, Word::Unknown);
        return Some(Operand::Integer(congruent(valued, &bytes)?));
    }
    Some(Operand::Integer(valued.domain.integer(value.cast_signed().into())))
}
