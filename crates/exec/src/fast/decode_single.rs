//! Pre-decoded instructions for a group of one lane: operands as positions in the register file. `run_single.rs`
//! executes them.

use crate::layout::{Layout, SingleSource, SingleTarget, Word};
use ir::{
    AddressBase, FloatMode, Format, Instr, IntBinary, Load, Op, Operand, Ordering, Relation, Space,
    Symbol, VarId, Width,
};

/// An instruction in the form used for a group of one lane.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Single {
    /// Not a common instruction, or one with a guard.
    Other,
    /// An operation on integers, or a sum of a pointer and a number.
    Integer { op: IntBinary, width: Width, dst: SingleTarget, sources: [SingleSource; 2] },
    /// A comparison of integers; the destination is the position of a predicate.
    Compare { relation: Relation, signed: bool, width: Width, dst: u32, sources: [SingleSource; 2] },
    /// A copy between registers of one width, or of a constant.
    Copy { dst: SingleTarget, source: SingleSource },
    /// The address of a variable.
    Address { variable: VarId, offset: i64, dst: SingleTarget, width: Width },
    /// A load of one word.
    Load(SingleLoad),
    /// A fused multiply-add of singles.
    Fma { mode: FloatMode, dst: SingleTarget, sources: [Word; 3] },
}

/// Decodes an instruction.
pub(crate) fn decode(instruction: &Instr, layout: &Layout) -> Single {
    match instruction.guard {
        None => decode_op(&instruction.op, layout).unwrap_or(Single::Other),
        Some(_) => Single::Other,
    }
}

fn decode_op(op: &Op, layout: &Layout) -> Option<Single> {
    match op {
        Op::IntBinary { op: IntBinary::Div { .. } | IntBinary::Rem { .. }, .. }
        | Op::IntBinary { width: Width::B1, .. }
        | Op::IntCompare { width: Width::B1, .. } => None,
        Op::IntBinary { op, width, dst, a, b } => {
            let shifts = matches!(op, IntBinary::Shl | IntBinary::Shr { .. });
            let b_width = if shifts { Width::B32 } else { *width };
            let sources = [layout.single_source(*a, *width)?, layout.single_source(*b, b_width)?];
            Some(Single::Integer {
                op: *op,
                width: *width,
                dst: layout.single_target(*dst)?,
                sources,
            })
        }
        Op::IntCompare { relation, signed, width, dst, a, b } => {
            let sources = [layout.single_source(*a, *width)?, layout.single_source(*b, *width)?];
            let (relation, signed, width) = (*relation, *signed, *width);
            let dst = layout.predicate(*dst)?;
            Some(Single::Compare { relation, signed, width, dst, sources })
        }
        Op::Copy { dst, src } => {
            let same = match src {
                Operand::Register(src) => layout.width(*src) == layout.width(*dst),
                Operand::Constant(_) => true,
            };
            let dst_width = layout.width(*dst);
            let source = layout.single_source(*src, dst_width).filter(|_| same)?;
            Some(Single::Copy { dst: layout.single_target(*dst)?, source })
        }
        Op::AddressOf { dst, symbol: Symbol::Variable(variable), offset } => {
            Some(Single::Address {
                variable: *variable,
                offset: *offset,
                dst: layout.single_target(*dst)?,
                width: layout.width(*dst),
            })
        }
        Op::Load(load) => Some(Single::Load(SingleLoad::new(load, layout)?)),
        Op::Fma { format: Format::F32, lanes: 1, mode, dst, a, b, c }
            if !mode.saturate && !mode.relu =>
        {
            Some(Single::Fma {
                mode: *mode,
                dst: layout.target(*dst).and_then(|_| layout.single_target(*dst))?,
                sources: [
                    layout.single_word(*a)?,
                    layout.single_word(*b)?,
                    layout.single_word(*c)?,
                ],
            })
        }
        _ => None,
    }
}

/// A load of one word from untracked memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleLoad {
    pub(super) base: SingleSource,
    /// The mask of the base register's bits.
    pub(super) mask: u64,
    pub(super) offset: i64,
    pub(super) space: Space,
    pub(super) width: Width,
    pub(super) signed: bool,
    pub(super) dst: SingleTarget,
    pub(super) dst_width: Width,
}

impl SingleLoad {
    fn new(load: &Load, layout: &Layout) -> Option<Self> {
        let AddressBase::Register(base) = load.address.base else { return None };
        let ([Some(dst)], Ordering::Weak) = (&load.dsts[..], load.ordering) else { return None };
        if load.width > Width::B64 {
            return None;
        }
        Some(Self {
            base: layout.single_source(base.into(), layout.width(base))?,
            mask: layout.width(base).mask(),
            offset: load.address.offset,
            space: load.space,
            width: load.width,
            signed: load.signed,
            dst: layout.single_target(*dst)?,
            dst_width: layout.width(*dst),
        })
    }
}
