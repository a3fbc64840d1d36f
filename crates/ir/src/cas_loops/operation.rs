//! Atomic operations equal to operations on registers.

use super::RegisterValue;
use crate::liveness::{RegisterSet, registers};
use crate::{
    AtomicOp, FloatBinary, FloatMode, Format, Function, IntBinary, Op, Operand, Reg, Space,
};
use base::IndexVec;

/// Returns the atomic operation equal to an integer operation; the flag is set if its numbers are signed.
pub(super) fn atomic_of_integer(op: IntBinary) -> Option<(AtomicOp, bool)> {
    Some(match op {
        IntBinary::Add => (AtomicOp::Add, false),
        IntBinary::Min { signed } => (AtomicOp::Min, signed),
        IntBinary::Max { signed } => (AtomicOp::Max, signed),
        IntBinary::And => (AtomicOp::And, false),
        IntBinary::Or => (AtomicOp::Or, false),
        IntBinary::Xor => (AtomicOp::Xor, false),
        _ => return None,
    })
}

/// The atomic operation equal to this float operation to the bit. Atomic additions of f32 in global memory flush
/// subnormals, unless they are marked to keep them.
pub(super) fn atomic_of_float(
    op: FloatBinary,
    format: Format,
    mode: FloatMode,
    space: Space,
) -> Option<AtomicOp> {
    let flushes = format == Format::F32 && space == Space::Global;
    let plain = FloatMode { contract: false, flush: false, ..mode } == FloatMode::NEAREST;
    match op {
        FloatBinary::Add if plain && (flushes || !mode.flush) => Some(AtomicOp::Add),
        FloatBinary::Min { propagate_nan: false, xor_sign_abs: false } if plain && !mode.flush => {
            Some(AtomicOp::Min)
        }
        FloatBinary::Max { propagate_nan: false, xor_sign_abs: false } if plain && !mode.flush => {
            Some(AtomicOp::Max)
        }
        _ => None,
    }
}

/// Returns `true` if a value is 1 in every lane of a format.
pub(super) fn is_one(value: RegisterValue, format: Format, lanes: u8) -> bool {
    let one: u64 = match format {
        Format::F16 => 0x3c00,
        Format::Bf16 => 0x3f80,
        Format::F32 => 0x3f80_0000,
        Format::F64 => 0x3ff0_0000_0000_0000,
        _ => return false,
    };
    let bits = format.width().bits();
    let all = (0..u32::from(lanes)).fold(0, |all, lane| all | one << (lane * bits));
    value == RegisterValue::Constant(all)
}

/// Returns `true` if a value, or a lane of it, may be a product that the assembler fuses with a sum. Follows copies,
/// selections, packs and moves of bits, and operations on one operand.
pub(super) fn may_be_product(function: &Function, operand: Operand) -> bool {
    let mut seen = RegisterSet::default();
    let mut work: Vec<Operand> = vec![operand];
    let mut written: IndexVec<Reg, Vec<&Op>> =
        function.registers.iter().map(|_| Vec::new()).collect();
    for instruction in function.instructions() {
        for register in registers(instruction).0 {
            written[register].push(&instruction.op);
        }
    }
    while let Some(operand) = work.pop() {
        let Operand::Register(register) = operand else { continue };
        if seen.has(register) {
            continue;
        }
        seen.insert(register);
        for op in &written[register] {
            match op {
                Op::Copy { src, .. } => work.push(*src),
                Op::Select { if_true, if_false, .. } => work.extend([*if_true, *if_false]),
                Op::Concat { parts, .. } => work.extend(parts),
                Op::Split { src, .. } | Op::Resize { src, .. } => work.push(*src),
                Op::FloatUnary { a, .. } | Op::IntUnary { a, .. } => work.push(*a),
                Op::IntBinary { a, b, .. } => work.extend([*a, *b]),
                Op::IntTernary { a, b, c, .. } => work.extend([*a, *b, *c]),
                Op::InsertBits { insert, base, .. } => work.extend([*insert, *base]),
                Op::FloatBinary { op: FloatBinary::Mul, .. } => return true,
                _ => {}
            }
        }
    }
    false
}
