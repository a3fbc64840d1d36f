//! Encoded addresses in all lanes of a warp.

use super::{EncodedResult, LaneOperand, lane_operand, write};
use crate::context::Context;
use crate::encoded::Encoded;
use crate::lanes::{Mask, WARP};
use ir::{Operand, Reg};

/// Returns `true` if all lanes of an operand are encoded addresses or numbers, but not all the same.
pub(in crate::interpret) fn differs(context: &Context<'_, '_>, operand: Operand) -> bool {
    let each: Vec<LaneOperand> =
        (0..WARP).map(|lane| lane_operand(context, operand, lane)).collect();
    let known = |part: &LaneOperand| !matches!(part, LaneOperand::Other);
    let same = |one: &LaneOperand| match (one, &each[0]) {
        (LaneOperand::Number(a), LaneOperand::Number(b)) => a == b,
        (LaneOperand::Address(a), LaneOperand::Address(b)) => a == b,
        _ => false,
    };
    each.iter().all(known) && !each.iter().all(same)
}

/// Returns an operand that is the same encoded address in every lane of the warp.
pub(in crate::interpret) fn uniform(
    context: &Context<'_, '_>,
    operand: Operand,
) -> Option<Encoded> {
    let Operand::Register(register) = operand else { return None };
    context.registers.encoded_in_all(register, Mask::ALL).or_else(|| {
        let first = context.registers.encoded_in(register, 0)?;
        let same = |lane| context.registers.encoded_in(register, lane) == Some(first);
        (1..WARP).all(same).then_some(first)
    })
}

/// Passes on an encoded address provided by all lanes of the warp: it is the same from every source lane.
pub(in crate::interpret) fn shuffled(
    context: &mut Context<'_, '_>,
    dst: Reg,
    offered: Option<Encoded>,
) {
    if let Some(encoded) = offered {
        let lanes = context.lanes;
        write(context, &[EncodedResult { dst, lanes, encoded, align: 0, window: false }]);
    }
}
