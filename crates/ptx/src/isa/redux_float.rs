//! `redux.sync` on floats (manual §9.7.13.12, sm_100a), lowered to shuffles.
//!
//! Minima and maxima may be taken in any order, and twice of one value, so any order of exchanges gives the
//! instruction's result. At the end one lane broadcasts the result, so that all lanes have the same bits. If several
//! lanes then store it to one address, they store equal values, which is no race.

use super::{Insn, Lower, Type};
use ir::{
    FloatBinary, FloatMode, FloatUnary, Format, IntBinary, IntUnary, Op, Operand, Relation,
    ShuffleMode, SyncOp, Width,
};

/// Lowers the instruction.
pub(super) fn redux_float(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("sync", ())], "`.sync`")?;
    let is_max = insn.require(&[("min", false), ("max", true)], "an operation")?;
    let is_abs = insn.flag("abs");
    let propagate_nan = insn.flag("NaN");
    let ty = insn.ty(&[Type::F32])?;
    let op = match is_max {
        true => FloatBinary::Max { propagate_nan, xor_sign_abs: false },
        false => FloatBinary::Min { propagate_nan, xor_sign_abs: false },
    };
    let dst = insn.dst(Width::B32)?;
    let (mut value, mask) = (insn.src(ty)?, insn.src(Type::B32)?);
    if is_abs {
        let (op, format, mode, a) = (FloatUnary::Abs, Format::F32, FloatMode::NEAREST, value);
        let abs = |dst| Op::FloatUnary { op, format, lanes: 1, mode, dst, a };
        value = insn.compute(Width::B32, abs);
    }
    let is_whole_warp = matches!(mask, Operand::Constant(bits) if bits as u32 == u32::MAX);
    let (folded, source_lane) = match is_whole_warp {
        true => (butterfly(insn, op, value, mask), Operand::Constant(0)),
        false => (one_by_one(insn, op, value, mask), lowest_member(insn, mask)),
    };
    let result = exchange(insn, ShuffleMode::Idx, (folded, source_lane), mask);
    insn.emit(Op::Copy { dst, src: result });
    Ok(())
}

/// Folds a whole warp in five exchanges.
fn butterfly(
    insn: &mut Insn<'_, '_, '_>,
    op: FloatBinary,
    value: Operand,
    mask: Operand,
) -> Operand {
    [16, 8, 4, 2, 1].into_iter().fold(value, |folded, distance| {
        let other = exchange(insn, ShuffleMode::Bfly, (folded, Operand::Constant(distance)), mask);
        extremum(insn, op, folded, other)
    })
}

/// Folds the lanes of a mask that is known only at run time: every lane reads the value of each lane in turn.
fn one_by_one(
    insn: &mut Insn<'_, '_, '_>,
    op: FloatBinary,
    value: Operand,
    mask: Operand,
) -> Operand {
    // A lone lane is combined with its own value, which makes a NaN the canonical one.
    (0..32).fold(value, |folded, lane| {
        let other = exchange(insn, ShuffleMode::Idx, (value, Operand::Constant(lane)), mask);
        let combined = extremum(insn, op, folded, other);
        let is_member = is_member(insn, mask, lane);
        insn.compute(Width::B32, |dst| Op::Select {
            dst,
            condition: is_member,
            if_true: combined,
            if_false: folded,
        })
    })
}

fn extremum(insn: &mut Insn<'_, '_, '_>, op: FloatBinary, a: Operand, b: Operand) -> Operand {
    let (format, mode) = (Format::F32, FloatMode::NEAREST);
    insn.compute(Width::B32, |dst| Op::FloatBinary { op, format, lanes: 1, mode, dst, a, b })
}

/// Emits a shuffle over a whole warp.
fn exchange(
    insn: &mut Insn<'_, '_, '_>,
    mode: ShuffleMode,
    (value, lane): (Operand, Operand),
    mask: Operand,
) -> Operand {
    let clamp = Operand::Constant(31);
    insn.compute(Width::B32, |dst| {
        Op::Sync(SyncOp::Shuffle { mode, dst, in_range: None, value, lane, clamp, mask })
    })
}

/// Emits a test that is true if a mask has a lane.
fn is_member(insn: &mut Insn<'_, '_, '_>, mask: Operand, lane: u64) -> Operand {
    let bit = binary(insn, IntBinary::And, mask, Operand::Constant(1 << lane));
    let (relation, width, zero) = (Relation::Ne, Width::B32, Operand::Constant(0));
    insn.compute(Width::B1, |dst| Op::IntCompare {
        relation,
        signed: false,
        width,
        dst,
        a: bit,
        b: zero,
    })
}

/// Emits the number of the lowest lane in a mask.
fn lowest_member(insn: &mut Insn<'_, '_, '_>, mask: Operand) -> Operand {
    // The bits below it: those of `mask - 1` that are not in the mask.
    let minus_one = binary(insn, IntBinary::Sub, mask, Operand::Constant(1));
    let common = binary(insn, IntBinary::And, minus_one, mask);
    let below = binary(insn, IntBinary::Xor, minus_one, common);
    let (op, width) = (IntUnary::PopulationCount, Width::B32);
    insn.compute(width, |dst| Op::IntUnary { op, width, dst, a: below })
}

fn binary(insn: &mut Insn<'_, '_, '_>, op: IntBinary, a: Operand, b: Operand) -> Operand {
    let width = Width::B32;
    insn.compute(width, |dst| Op::IntBinary { op, width, dst, a, b })
}
