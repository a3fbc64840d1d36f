//! Builds the function of a formula's kernel: registers, blocks, and the block that receives instructions.

use super::Body;
use crate::typed::Type;
use base::{Index, IndexVec, Span};
use ir::{
    Block, BlockId, FloatBinary, FloatMode, Format, Guard, Instr, IntBinary, Op, Operand, Reg,
    Register, Rounding, Scalar, Terminator, Width,
};

/// A function under construction.
pub(super) struct Builder {
    registers: IndexVec<Reg, Register>,
    blocks: IndexVec<BlockId, Block>,
    current: BlockId,
    /// The part of the text being compiled.
    pub(super) span: Span,
    /// Set if instructions go to the entry block.
    is_in_entry: bool,
    /// The format of reals.
    pub(super) format: Format,
}

/// The position of the entry block, which every thread runs once, first.
const ENTRY: usize = 0;

impl Builder {
    pub(super) fn new(span: Span, format: Format) -> Self {
        let mut builder = Self {
            registers: IndexVec::default(),
            blocks: IndexVec::default(),
            current: BlockId::from_position(ENTRY),
            span,
            is_in_entry: false,
            format,
        };
        let entry = builder.block();
        let body = builder.block();
        builder.current = entry;
        builder.terminate(Terminator::Jump(body));
        builder.current = body;
        builder
    }

    pub(super) fn finish(self) -> Body {
        (self.registers, self.blocks)
    }

    pub(super) fn register(&mut self, width: Width) -> Reg {
        let name = format!("%r{}", self.registers.len());
        self.registers.push(Register { name, width })
    }

    /// Creates a block, to be filled later.
    pub(super) fn block(&mut self) -> BlockId {
        self.blocks.push(Block {
            instructions: Vec::new(),
            terminator: Terminator::Exit,
            span: self.span,
            location: None,
        })
    }

    /// Directs further instructions to this block.
    pub(super) fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    pub(super) fn terminate(&mut self, terminator: Terminator) {
        let block = &mut self.blocks[self.current];
        (block.terminator, block.span) = (terminator, self.span);
    }

    pub(super) fn branch(&mut self, condition: Reg, then: BlockId, otherwise: BlockId) {
        let guard = Guard { register: condition, negated: false };
        self.terminate(Terminator::Branch { guard, then, otherwise, uniform: false });
    }

    pub(super) fn push(&mut self, op: Op) {
        let block = if self.is_in_entry { BlockId::from_position(ENTRY) } else { self.current };
        let instruction = Instr { guard: None, op, span: self.span, location: None };
        self.blocks[block].instructions.push(instruction);
    }

    pub(super) fn push_to_entry(&mut self, op: Op) {
        self.in_entry_block(|builder| builder.push(op));
    }

    /// Emits instructions into the entry block.
    pub(super) fn in_entry_block<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_in_entry, true);
        let result = emit(self);
        self.is_in_entry = before;
        result
    }

    /// Sets if instructions go to the entry block; returns the previous setting.
    pub(super) fn set_in_entry(&mut self, is_in_entry: bool) -> bool {
        std::mem::replace(&mut self.is_in_entry, is_in_entry)
    }

    pub(super) fn copy(&mut self, dst: Reg, src: Operand) {
        self.push(Op::Copy { dst, src });
    }

    /// Emits an operation on integers of 64 bits.
    pub(super) fn integer(&mut self, op: IntBinary, a: Operand, b: Operand) -> Reg {
        let dst = self.register(Width::B64);
        self.push(Op::IntBinary { op, width: Width::B64, dst, a, b });
        dst
    }

    /// Emits an operation on predicates.
    pub(super) fn logic(&mut self, op: IntBinary, a: Operand, b: Operand) -> Reg {
        let dst = self.register(Width::B1);
        self.push(Op::IntBinary { op, width: Width::B1, dst, a, b });
        dst
    }

    /// Emits an operation on reals.
    pub(super) fn float(&mut self, op: FloatBinary, a: Operand, b: Operand) -> Reg {
        self.float_in(self.format, op, a, b)
    }

    /// Emits an operation on floats of a format.
    pub(super) fn float_in(
        &mut self,
        format: Format,
        op: FloatBinary,
        a: Operand,
        b: Operand,
    ) -> Reg {
        let (dst, mode) = (self.register(format.width()), FloatMode::NEAREST);
        self.push(Op::FloatBinary { op, format, lanes: 1, mode, dst, a, b });
        dst
    }

    /// Returns a small number as a real; every format has it.
    pub(super) fn number(&self, number: f32) -> Operand {
        Operand::Constant(match self.format {
            Format::F64 => f64::from(number).to_bits(),
            _ => u64::from(number.to_bits()),
        })
    }

    /// Returns the width of a value of a type.
    pub(super) fn width(&self, ty: Type) -> Width {
        match ty {
            Type::Integer => Width::B64,
            Type::Real => self.format.width(),
            Type::Truth => Width::B1,
        }
    }

    /// Converts a number to another type.
    pub(super) fn convert(
        &mut self,
        src: Operand,
        from: Scalar,
        to: Scalar,
        rounding: Rounding,
    ) -> Operand {
        let dst = self.register(to.width());
        let (flush, saturate, finite, relu) = (false, false, false, false);
        self.push(Op::Convert { dst, src, from, to, rounding, flush, saturate, finite, relu });
        dst.into()
    }

    pub(super) fn select(&mut self, condition: Operand, [a, b]: [Operand; 2], width: Width) -> Reg {
        let dst = self.register(width);
        self.push(Op::Select { dst, condition, if_true: a, if_false: b });
        dst
    }
}
