//! Read-modify-writes of domain values.

use super::legal::numbers;
use super::{integer, legal};
use crate::context::Context;
use crate::domain::{Binary, Numbers};
use crate::memory::Word;
use crate::value::bytes::ZERO;
use crate::value::unit::{Byte, Sort, known};
use ir::{Atomic, AtomicOp, Scalar};

/// Computes a read-modify-write of floats in one lane: the new contents, if the domain is involved.
pub(in crate::interpret) fn update(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    [old, a]: [(u64, Word); 2],
) -> Option<(u64, Word)> {
    let Scalar::Float(format) = atomic.scalar else {
        return update_integer(context, atomic, [old, a]);
    };
    let op = match atomic.op {
        AtomicOp::Add => Binary::Add,
        AtomicOp::Mul => Binary::Mul,
        AtomicOp::Min => Binary::Min,
        AtomicOp::Max => Binary::Max,
        // The operations below differ from the domain's in some bits, so a run on legal results does not use them.
        _ if numbers(context) == Numbers::Legal => return None,
        AtomicOp::AddProduct => Binary::Add,
        AtomicOp::Raise | AtomicOp::RaiseOrNan => Binary::Max,
        AtomicOp::Lower | AtomicOp::LowerOrNan => Binary::Min,
        _ => return None,
    };
    let place = Some(context.place);
    let valued = context.valued.as_mut()?;
    let operands = [old, a].map(|(value, word)| valued.store.bytes(value, word));
    let sort = Sort::float(format);
    let size = sort.bytes();
    let mut out = ZERO;
    for part in 0..usize::from(atomic.packed) {
        let at = part * size;
        let [x, y] = operands.map(|bytes| valued.real(&bytes[at..at + size], format, place));
        let result = match (x, y) {
            (Ok(x), Ok(y)) => {
                let known = operands.map(|bytes| known(&bytes[at..at + size]));
                match atomic.op {
                    AtomicOp::Add | AtomicOp::Mul | AtomicOp::Min | AtomicOp::Max => {
                        Ok(legal::update(valued, (op, format), [x, y], known))
                    }
                    AtomicOp::AddProduct => Ok(valued.domain.unordered_sum(x, y)),
                    // No enclosure: one would describe the plain instruction, not the atomic update.
                    _ => Ok(valued.binary(op, x, y)),
                }
            }
            (Err(word), _) | (_, Err(word)) => Err(word),
        };
        for (index, byte) in out[at..at + size].iter_mut().enumerate() {
            *byte = match result {
                Ok(value) => Byte::Of { value, sort, index: index as u8 },
                Err(word) => Byte::Opaque(word),
            };
        }
    }
    Some(valued.store.word(&out))
}

/// Like [`update`], for integers, which may wrap around.
fn update_integer(
    context: &mut Context<'_, '_>,
    atomic: &Atomic,
    [old, a]: [(u64, Word); 2],
) -> Option<(u64, Word)> {
    let size = atomic.scalar.width().bytes() as usize;
    let valued = context.valued.as_mut()?;
    let op = match atomic.op {
        AtomicOp::Add => Binary::Add,
        AtomicOp::Mul => Binary::Mul,
        _ => return None,
    };
    if size > 8 {
        return None;
    }
    let operands = [old, a].map(|(value, word)| valued.store.bytes(value, word));
    let [a, b] = operands.map(|bytes| integer::congruent(valued, &bytes[..size]));
    let new = valued.binary(op, a?, b?);
    Some(valued.store.word(&integer::all_bytes(new, size)?))
}
