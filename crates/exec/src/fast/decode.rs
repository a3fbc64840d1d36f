//! Pre-decoded instructions: the common ones on 32 bits, with operands as positions in the register file.
//!
//! A decoded instruction runs here if all operands are numbers (or, for floats, unknown), or if it adds numbers to
//! pointers. All others are left to [`crate::interpret`]. Both give the same result where both apply.

use super::decode_single::{self, Single};
use crate::address::keep_regions_narrow;
use crate::concrete::lanes::narrow;
use crate::lanes::{Mask, Narrow};
use crate::layout::{Layout, Word};
use crate::registers::Registers;
use base::IndexVec;
use ir::{
    Access, BlockId, FloatBinary, FloatMode, Format, Function, Instr, IntBinary, Op, Operand, Reg,
    WgmmaFactor, Width,
};
use multiversion::multiversion;
use rustc_hash::FxHashSet;
use sync::Site;

/// The instructions of a function, by basic block.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) blocks: IndexVec<BlockId, Vec<Step>>,
    /// The same, for groups of one lane.
    pub(crate) single: IndexVec<BlockId, Vec<Single>>,
    /// The number of each block's first instruction among those of the program.
    pub(crate) first: IndexVec<BlockId, Site>,
}

/// An instruction in the form used by the run loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Set if the instruction has a guard.
    pub(crate) guarded: bool,
    /// Set if the instruction touches registers of a `wgmma` product, and is not a product itself.
    pub(crate) of_products: bool,
    pub(crate) decoded: Decoded,
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Decoded {
    /// Not a common instruction.
    Other,
    /// A fused multiply-add of singles, rounded to nearest.
    Fma { flush: bool, dst: Word, sources: [Word; 3] },
    /// An operation on singles, rounded to nearest.
    Single { op: FloatBinary, flush: bool, dst: Word, sources: [Word; 2] },
    /// A product of singles that may be fused with a sum. For numbers, other code decides if it is exact.
    Product { dst: Word, sources: [Word; 2] },
    /// A copy.
    Copy { dst: Word, sources: [Word; 1] },
    /// An integer operation.
    Integer { op: IntBinary, dst: Word, sources: [Word; 2] },
}

/// The representation of floats in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Floats {
    /// Bits that some GPU may produce.
    SomeGpu,
    /// Bits that every GPU produces, or unknown.
    EveryGpu,
    /// Values of the domain, even if known.
    Domain,
}

/// Decoding options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoding {
    pub(crate) floats: Floats,
    /// Set to decode nothing: the general code executes everything.
    pub(crate) general: bool,
}

impl Code {
    /// Decodes a function. `next` is the number of its first instruction, and is advanced to that of the next
    /// function.
    pub(crate) fn new(
        function: &Function,
        layout: &mut Layout,
        next: &mut Site,
        decoding: Decoding,
    ) -> Self {
        let mut number = |block: &ir::Block| {
            let first = *next;
            // One more than there are instructions, for the end of the block.
            *next += block.instructions.len() as Site + 1;
            first
        };
        let first = function.blocks.iter().map(&mut number).collect();
        let registers = registers_of_products(function);
        let mut block = |block: &ir::Block| {
            let step = |instruction: &Instr| {
                let of_products = touches(&registers, &instruction.op);
                let decoded = match &instruction.op {
                    _ if decoding.general || of_products => None,
                    Op::Fma { .. } | Op::FloatBinary { .. }
                        if decoding.floats == Floats::Domain =>
                    {
                        None
                    }
                    op => decode(op, layout, decoding.floats),
                };
                let decoded = decoded.unwrap_or(Decoded::Other);
                Step { guarded: instruction.guard.is_some(), of_products, decoded }
            };
            block.instructions.iter().map(step).collect()
        };
        let blocks = function.blocks.iter().map(&mut block).collect();
        let single = |block: &ir::Block| {
            let decode = |instruction: &Instr| match touches(&registers, &instruction.op) {
                false => decode_single::decode(instruction, layout),
                true => Single::Other,
            };
            block.instructions.iter().map(decode).collect()
        };
        let single = function.blocks.iter().map(single).collect();
        Self { blocks, single, first }
    }
}

/// Registers with accumulators or fragments of warp-group products.
fn registers_of_products(function: &Function) -> FxHashSet<Reg> {
    let mut found = FxHashSet::default();
    for instruction in function.instructions() {
        if let Op::Wgmma(wgmma) = &instruction.op {
            found.extend(wgmma.d.iter().copied());
            if let WgmmaFactor::Fragment(parts) = &wgmma.a {
                found.extend(parts.iter().filter_map(|part| match part {
                    Operand::Register(register) => Some(*register),
                    Operand::Constant(_) => None,
                }));
            }
        }
    }
    found
}

/// Returns `true` if an operation other than a product touches one of some registers.
fn touches(registers: &FxHashSet<Reg>, op: &Op) -> bool {
    if registers.is_empty() || matches!(op, Op::Wgmma(_)) {
        return false;
    }
    let mut found = false;
    op.visit(&mut |access| match access {
        Access::Write(register) | Access::Read(Operand::Register(register)) => {
            found |= registers.contains(&register);
        }
        _ => {}
    });
    found
}

/// Decodes an operation, if it is one of the common ones on 32-bit registers.
fn decode(op: &Op, layout: &mut Layout, floats: Floats) -> Option<Decoded> {
    let flush = |mode: &FloatMode| {
        let FloatMode { flush, contract, .. } = *mode;
        let nearest = FloatMode { flush, contract, ..FloatMode::NEAREST };
        (*mode == nearest).then_some(mode.flush)
    };
    match op {
        Op::Fma { format: Format::F32, lanes: 1, mode, dst, a, b, c } => Some(Decoded::Fma {
            flush: flush(mode)?,
            dst: layout.target(*dst)?,
            sources: [layout.source(*a)?, layout.source(*b)?, layout.source(*c)?],
        }),
        Op::FloatBinary {
            op: FloatBinary::Mul,
            format: Format::F32,
            lanes: 1,
            mode,
            dst,
            a,
            b,
        } if mode.contract && floats == Floats::EveryGpu => {
            flush(mode)?;
            let sources = [layout.source(*a)?, layout.source(*b)?];
            Some(Decoded::Product { dst: layout.target(*dst)?, sources })
        }
        Op::FloatBinary { op, format: Format::F32, lanes: 1, mode, dst, a, b } => {
            Some(Decoded::Single {
                op: *op,
                flush: flush(mode)?,
                dst: layout.target(*dst)?,
                sources: [layout.source(*a)?, layout.source(*b)?],
            })
        }
        Op::IntBinary { op, width: Width::B32, dst, a, b } => {
            let other = matches!(
                op,
                IntBinary::MulWide { .. } | IntBinary::Div { .. } | IntBinary::Rem { .. }
            );
            (!other).then_some(Decoded::Integer {
                op: *op,
                dst: layout.target(*dst)?,
                sources: [layout.source(*a)?, layout.source(*b)?],
            })
        }
        Op::Copy { dst, src } => {
            Some(Decoded::Copy { dst: layout.target(*dst)?, sources: [layout.source(*src)?] })
        }
        _ => None,
    }
}

impl Decoded {
    /// Executes the instruction. Returns `false` if this is not possible here.
    #[inline(always)]
    pub(crate) fn execute(&self, registers: &mut Registers, lanes: Mask) -> bool {
        match self {
            Self::Other => false,
            Self::Fma { flush, dst, sources } => {
                float(registers, sources, *dst, lanes, |out, [a, b, c]| {
                    narrow::fma(*flush, out, a, b, c);
                })
            }
            Self::Single { op, flush, dst, sources } => {
                float(registers, sources, *dst, lanes, |out, operands| {
                    single(*op, *flush, out, operands);
                })
            }
            Self::Product { dst, sources } => {
                let unknown = registers.unknown(sources) == Some(Mask::ALL);
                if unknown {
                    registers.tag_unknown(sources, *dst, lanes);
                }
                unknown
            }
            Self::Copy { dst, sources } => {
                on_numbers(registers, sources, *dst, lanes, |out, [a]| *out = *a)
            }
            Self::Integer { op, dst, sources } => {
                on_numbers(registers, sources, *dst, lanes, |out, operands| {
                    integer(*op, out, operands);
                }) || move_pointers(registers, *op, sources, *dst, lanes)
            }
        }
    }
}

/// Adds numbers to 32-bit pointers, or subtracts them, if all lanes have pointers that stay near their allocation.
/// Returns `true` if it did.
#[inline(never)]
fn move_pointers(
    registers: &mut Registers,
    op: IntBinary,
    sources: &[Word; 2],
    dst: Word,
    lanes: Mask,
) -> bool {
    let [a, b] = *sources;
    let [pointer, number] = match op {
        IntBinary::Add | IntBinary::Sub if registers.are_pointers(a) => [a, b],
        IntBinary::Add if registers.are_pointers(b) => [b, a],
        _ => return false,
    };
    let subtracts = op == IntBinary::Sub;
    let operands = (registers.narrow_word(pointer), registers.narrow_word(number));
    if !registers.are_numbers(&[number]) || !keep_regions_narrow(operands, subtracts) {
        return false;
    }
    registers.compute_words(sources, dst, lanes, |out, operands| integer(op, out, operands));
    registers.tag_pointers(dst, lanes);
    true
}

/// Computes if all operands are numbers. Returns `true` if they are.
#[inline(always)]
fn on_numbers<const N: usize>(
    registers: &mut Registers,
    sources: &[Word; N],
    dst: Word,
    lanes: Mask,
    action: impl FnOnce(&mut Narrow, [&Narrow; N]),
) -> bool {
    let numbers = registers.are_numbers(sources);
    if numbers {
        registers.compute_words(sources, dst, lanes, action);
        registers.tag_numbers(dst, lanes);
    }
    numbers
}

/// Computes if all operands are numbers or unknown. Returns `true` if they are.
#[inline(always)]
fn float<const N: usize>(
    registers: &mut Registers,
    sources: &[Word; N],
    dst: Word,
    lanes: Mask,
    action: impl FnOnce(&mut Narrow, [&Narrow; N]),
) -> bool {
    let Some(unknown) = registers.unknown(sources) else { return false };
    // The bits of unknown values are meaningless, so compute only if some are known.
    if unknown != Mask::ALL {
        registers.compute_words(sources, dst, lanes, action);
    }
    match unknown {
        Mask::NONE => registers.tag_numbers(dst, lanes),
        _ => registers.tag_unknown(sources, dst, lanes),
    }
    true
}

#[multiversion(targets("x86_64+avx2"))]
fn single(op: FloatBinary, flush: bool, out: &mut Narrow, operands: [&Narrow; 2]) {
    let [a, b] = operands;
    match flush {
        false => narrow::float_binary(op, false, out, a, b),
        true => narrow::float_binary(op, true, out, a, b),
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn integer(op: IntBinary, out: &mut Narrow, operands: [&Narrow; 2]) {
    let [a, b] = operands;
    narrow::int_binary(op, out, a, b);
}
