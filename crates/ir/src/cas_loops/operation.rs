//! Atomic operations equal to operations on registers.

use crate::liveness::{RegisterSet, registers};
use crate::{
    Atomic, AtomicOp, FloatBinary, FloatMode, FloatUnary, Format, Function, Instr, IntBinary,
    IntUnary, Op, Operand, Reg, Register, Scalar, Skips, Space,
};
use base::IndexVec;

/// The update performed by a swap loop.
pub(super) struct Update {
    pub op: AtomicOp,
    pub scalar: Scalar,
    pub packed: u8,
    pub operand: Operand,
    /// Set for a difference: memory gets a sum with the negative of the operand.
    pub negated: bool,
    /// Set if a sum, product or comparison of f32 keeps subnormals.
    pub keeps_subnormals: bool,
    /// When the loop leaves without a swap.
    pub skips: Skips,
}

/// The update that an operation on the guess performs, if an atomic operation exists for it.
pub(super) fn function_of(
    function: &Function,
    swap: &Atomic,
    op: &Op,
    is_guess: &dyn Fn(Operand) -> bool,
    constant: &dyn Fn(Operand) -> Option<u64>,
) -> Option<Update> {
    let width = swap.scalar.width();
    let other_than_guess = |a: Operand, b: Operand| match (is_guess(a), is_guess(b)) {
        (true, false) => Some(b),
        (false, true) => Some(a),
        _ => None,
    };
    let integer = |op, signed, operand, negated| {
        let scalar = Scalar::Integer { width, signed };
        let (keeps_subnormals, skips) = (false, Skips::Never);
        Update { op, scalar, packed: 1, operand, negated, keeps_subnormals, skips }
    };
    let update = match op {
        Op::IntBinary { op: IntBinary::Sub, width: of, a, b, .. } if *of == width => {
            let operand = (is_guess(*a) && !is_guess(*b)).then_some(*b)?;
            integer(AtomicOp::Add, false, operand, true)
        }
        Op::IntBinary { op, width: of, a, b, .. } if *of == width => {
            let (op, signed) = atomic_of_integer(*op)?;
            integer(op, signed, other_than_guess(*a, *b)?, false)
        }
        Op::FloatBinary { op, format, lanes, mode, a, b, .. } => {
            let negated = *op == FloatBinary::Sub;
            let operand = match negated {
                true => (is_guess(*a) && !is_guess(*b)).then_some(*b)?,
                false => other_than_guess(*a, *b)?,
            };
            let op = if negated { FloatBinary::Add } else { *op };
            let mut op = atomic_of_float(op, *format, *mode, swap.space)?;
            if op == AtomicOp::Add && mode.contract && may_be_product(function, operand) {
                op = AtomicOp::AddProduct;
            }
            let (scalar, packed) = (Scalar::Float(*format), *lanes);
            let (keeps_subnormals, skips) = (!mode.flush, Skips::Never);
            Update { op, scalar, packed, operand, negated, keeps_subnormals, skips }
        }
        // Sums of bf16 are written as a·1 + c if there is no addition.
        Op::Fma { format, lanes, mode, a, b, c, .. } => {
            let one = |operand: &Operand| is_one(constant(*operand), *format, *lanes);
            let factor = match (one(b), one(a)) {
                (true, _) => a,
                (false, true) => b,
                (false, false) => return None,
            };
            let op = atomic_of_float(FloatBinary::Add, *format, *mode, swap.space)?;
            let operand = other_than_guess(*factor, *c)?;
            let (scalar, packed) = (Scalar::Float(*format), *lanes);
            let (negated, keeps_subnormals, skips) = (false, !mode.flush, Skips::Never);
            Update { op, scalar, packed, operand, negated, keeps_subnormals, skips }
        }
        _ => return None,
    };
    let bits = update.scalar.width().bits() * u32::from(update.packed);
    (bits == width.bits()).then_some(update)
}

impl Update {
    /// The instructions of the update, in place of `swap`.
    pub(super) fn instructions(
        self,
        function: &mut Function,
        swap: &Atomic,
        place: &Instr,
        dsts: Vec<Option<Reg>>,
    ) -> Vec<Instr> {
        let Self { op, scalar, packed, mut operand, negated, keeps_subnormals, skips } = self;
        let mut instructions = Vec::new();
        if negated {
            let width = swap.scalar.width();
            let dst = function.registers.push(Register { name: "%negated".to_owned(), width });
            let negative = negative(scalar, packed, dst, operand);
            instructions.push(Instr { op: negative, ..place.clone() });
            operand = Operand::Register(dst);
        }
        let (a, b) = (vec![operand], None);
        let swap = swap.clone();
        let atomic = Atomic { dsts, op, scalar, packed, a, b, keeps_subnormals, skips, ..swap };
        instructions.push(Instr { op: Op::Atomic(atomic), ..place.clone() });
        instructions
    }
}

fn negative(scalar: Scalar, lanes: u8, dst: Reg, a: Operand) -> Op {
    match scalar {
        Scalar::Integer { width, .. } => Op::IntUnary { op: IntUnary::Negate, width, dst, a },
        Scalar::Float(format) => {
            let (op, mode) = (FloatUnary::Negate, FloatMode::NEAREST);
            Op::FloatUnary { op, format, lanes, mode, dst, a }
        }
    }
}

/// Returns the atomic operation equal to an integer operation; the flag is set if its numbers are signed.
fn atomic_of_integer(op: IntBinary) -> Option<(AtomicOp, bool)> {
    Some(match op {
        IntBinary::Add => (AtomicOp::Add, false),
        IntBinary::Mul => (AtomicOp::Mul, false),
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
fn atomic_of_float(
    op: FloatBinary,
    format: Format,
    mode: FloatMode,
    space: Space,
) -> Option<AtomicOp> {
    let flushes = format == Format::F32 && space == Space::Global;
    let plain = FloatMode { contract: false, flush: false, ..mode } == FloatMode::NEAREST;
    match op {
        FloatBinary::Add if plain && (flushes || !mode.flush) => Some(AtomicOp::Add),
        // An update of halves flushes nothing.
        FloatBinary::Mul if plain && (format == Format::F32 || !mode.flush) => Some(AtomicOp::Mul),
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
fn is_one(value: Option<u64>, format: Format, lanes: u8) -> bool {
    let one: u64 = match format {
        Format::F16 => 0x3c00,
        Format::Bf16 => 0x3f80,
        Format::F32 => 0x3f80_0000,
        Format::F64 => 0x3ff0_0000_0000_0000,
        _ => return false,
    };
    let bits = format.width().bits();
    let all = (0..u32::from(lanes)).fold(0, |all, lane| all | one << (lane * bits));
    value == Some(all)
}

/// Returns `true` if a value, or a lane of it, may be a product that the assembler fuses with a sum. Follows copies,
/// selections, packs and moves of bits, and operations on one operand.
fn may_be_product(function: &Function, operand: Operand) -> bool {
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
