//! Sums of addresses and domain integers, and choices between addresses: data-dependent addresses
//! ([`crate::value::address`]).

use super::integer::congruent;
use crate::address::Pointer;
use crate::concrete;
use crate::context::Context;
use crate::domain::{Binary, Value};
use crate::lanes::{Lanes, Mask, WARP};
use crate::memory::Word;
use crate::path::Path;
use crate::tags::{Source, Tags};
use crate::value::Valued;
use crate::value::address::DataAddress;
use ir::{IntBinary, Op, Reg, Space, Width};

/// An operand in a lane.
enum Operand {
    /// An address plus a constant.
    Address(DataAddress),
    /// An integer, possibly up to congruence.
    Integer(Value),
}

/// Returns the words of a sum in a lane, if it is a data-dependent address.
pub(super) fn sum(
    context: &mut Context<'_, '_>,
    op: &Op,
    sources: &[(Lanes, Tags)],
    lane: usize,
) -> Option<u64> {
    let Op::IntBinary { op: op @ (IntBinary::Add | IntBinary::Sub), width, .. } = *op else {
        return None;
    };
    if !matches!(width, Width::B32 | Width::B64) {
        return None;
    }
    let [a, b] = sources else { return None };
    let is_address = |(values, tags): &(Lanes, Tags)| {
        let store = context.valued.as_ref().map(|valued| &valued.store);
        tags.pointer.has(lane)
            || tags.unknown.has(lane)
                && store.is_some_and(|store| store.data_address(values[lane], width).is_some())
    };
    // This test keeps other sums cheap.
    if !is_address(a) && !is_address(b) {
        return None;
    }
    let valued = context.valued.as_mut()?;
    let (a, b) = (operand(valued, a, lane, width)?, operand(valued, b, lane, width)?);
    let (address, offset) = match (op, a, b) {
        (IntBinary::Add, Operand::Address(address), Operand::Integer(more))
        | (IntBinary::Add, Operand::Integer(more), Operand::Address(address)) => {
            (address, valued.binary(Binary::Add, address.offset, more))
        }
        (IntBinary::Sub, Operand::Address(address), Operand::Integer(less)) => {
            (address, valued.binary(Binary::Sub, address.offset, less))
        }
        _ => return None,
    };
    Some(valued.store.address_words(DataAddress { offset, ..address }) & width.mask())
}

/// Makes a lane of a register a choice between two addresses of one allocation. Returns `false` if it declines.
pub(super) fn merge(
    context: &mut Context<'_, '_>,
    path: &Path,
    register: Reg,
    [new, old]: [&(Lanes, Tags); 2],
    lane: usize,
) -> bool {
    let (sources, width) = (path.ordered(new, old), context.layout.width(register));
    let Some(words) = choose_address(context, path.words[lane], sources, lane, width) else {
        return false;
    };
    let only = Mask::one(lane);
    let tags = Tags { schedule_dependent: only, ..Tags::unknown(only, Source::Address) };
    let layout = context.layout;
    context.registers.write(layout, register, &[words; WARP], tags, only);
    true
}

/// Returns the words of a choice in a lane between two addresses of one allocation.
fn choose_address(
    context: &mut Context<'_, '_>,
    condition: Value,
    sources: [&(Lanes, Tags); 2],
    lane: usize,
    width: Width,
) -> Option<u64> {
    if !matches!(width, Width::B32 | Width::B64) {
        return None;
    }
    let valued = context.valued.as_mut()?;
    let [a, b] = sources.map(|source| match operand(valued, source, lane, width) {
        Some(Operand::Address(address)) => Some(address),
        _ => None,
    });
    let (a, b) = (a?, b?);
    if (a.area, a.in_window) != (b.area, b.in_window) {
        return None;
    }
    let distance = valued.binary(Binary::Sub, a.offset, b.offset);
    let distance = valued.domain.bounds(distance).filter(|bounds| bounds.low == bounds.high);
    let offset = match distance {
        // Chooses a factor 1 or 0 of the distance, so that the sum is still known to be a multiple of the access
        // size.
        Some(distance) => {
            let [one, zero, by] = [1, 0, distance.low].map(|number| valued.domain.integer(number));
            let more = valued.select(condition, one, zero);
            let more = valued.binary(Binary::Mul, more, by);
            valued.binary(Binary::Add, b.offset, more)
        }
        None => valued.select(condition, a.offset, b.offset),
    };
    Some(valued.store.address_words(DataAddress { offset, ..a }) & width.mask())
}

fn operand(
    valued: &mut Valued<'_>,
    (values, tags): &(Lanes, Tags),
    lane: usize,
    width: Width,
) -> Option<Operand> {
    let value = values[lane];
    if tags.poison.has(lane) {
        return None;
    }
    if tags.pointer.has(lane) {
        let generic = Pointer::decode(value, Space::Generic).filter(|_| width == Width::B64);
        let in_window = generic.is_none();
        let Pointer { area, offset } = generic.or_else(|| Pointer::decode_in_window(value))?;
        let offset = valued.domain.integer(offset.into());
        return Some(Operand::Address(DataAddress { area, offset, in_window }));
    }
    if tags.unknown.has(lane) {
        if let Some(address) = valued.store.data_address(value, width) {
            return Some(Operand::Address(address));
        }
        if tags.schedule_dependent.has(lane) {
            return None;
        }
        let bytes = valued.store.bytes(value, Word::Unknown);
        let bytes = &bytes[..width.bytes() as usize];
        return Some(Operand::Integer(congruent(valued, bytes)?));
    }
    let number = concrete::resize(width, true, Width::B64, value).cast_signed();
    Some(Operand::Integer(valued.domain.integer(number.into())))
}
