//! Remembers the results of address arithmetic with the same operands in all lanes of a warp.
//!
//! Kernels that work on tiles compute addresses of stages, descriptors and barriers again and again, in every warp,
//! from a few different operands. The general code follows such addresses lane by lane
//! ([`crate::interpret::encoded`]). The result depends only on the instruction, its operands and the block's rank in its
//! cluster. So the first result is kept, if it is the same in all lanes, and written again for equal operands.

use crate::context::Context;
use crate::lanes::Mask;
use crate::registers::UniformValue;
use crate::report::Report;
use ir::{Access, IntBinary, Op, Operand, Reg};
use smallvec::SmallVec;
use sync::Site;

/// The most results that are kept for an instruction, and in all.
const MAX_OF_SITE: usize = 64;
const MAX_RESULTS: usize = 1 << 13;

/// The most operands of an operation here.
const MAX_OPERANDS: usize = 4;

/// Results of instructions.
#[derive(Debug, Default)]
pub(crate) struct UniformResults {
    sites: Vec<Instruction>,
    count: usize,
}

/// An instruction, by its site.
#[derive(Debug, Default)]
enum Instruction {
    /// It was not executed yet.
    #[default]
    New,
    /// Its results are not kept.
    Other,
    AddressArithmetic {
        operands: SmallVec<[Operand; MAX_OPERANDS]>,
        kept: Vec<Kept>,
    },
}

/// Values of the operands of an instruction.
type Operands = SmallVec<[UniformValue; MAX_OPERANDS]>;

/// An instruction with its operands.
pub(crate) struct UniformKey {
    site: Site,
    hash: u64,
    operands: Operands,
    reports: Reports,
}

/// The results of an instruction.
#[derive(Debug)]
struct Kept {
    /// A hash of the operands and of the block's rank.
    hash: u64,
    rank: usize,
    operands: Operands,
    results: SmallVec<[(Reg, UniformValue); 2]>,
    reports: Reports,
}

/// What the general code reports about the instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Reports {
    shared_window: bool,
    shared_alignment: u32,
}

impl Reports {
    fn take(report: &mut Report) -> Self {
        Self {
            shared_window: std::mem::take(&mut report.shared_window),
            shared_alignment: std::mem::take(&mut report.shared_alignment),
        }
    }

    fn add_to(self, report: &mut Report) {
        report.shared_window |= self.shared_window;
        report.shared_alignment = report.shared_alignment.max(self.shared_alignment);
    }
}

/// The outcome of a search for kept results.
pub(crate) enum Search {
    /// The results are written.
    Found,
    /// There are none yet; [`keep`] can add them.
    Missing(UniformKey),
    /// The operation is of another kind, or its operands differ between lanes.
    NotUniform,
}

/// Writes the kept results of an operation, if there are any.
#[inline]
pub(crate) fn search(context: &mut Context<'_, '_>, op: &Op) -> Search {
    let excluded = context.machine.general
        || context.lanes != Mask::ALL
        || !context.conditional_lanes.is_empty()
        || context.valued.is_some()
        || context.registers.has_partial();
    if excluded {
        return Search::NotUniform;
    }
    let Context { scratch, registers, layout, report, warp, site, .. } = context;
    let (all, position) = (&mut scratch.uniform.sites, *site as usize);
    if all.len() <= position {
        all.resize_with(position + 1, Instruction::default);
    }
    if let Instruction::New = all[position] {
        all[position] = instruction(op);
    }
    let Instruction::AddressArithmetic { operands, kept } = &all[position] else {
        return Search::NotUniform;
    };
    let (mut values, mut hash, mut addresses) = (Operands::new(), warp.rank as u64, false);
    for &operand in operands {
        let Some(value) = registers.uniform(layout, operand) else { return Search::NotUniform };
        addresses |= !matches!(value, UniformValue::Number(_));
        hash = (hash.rotate_left(5) ^ value.digest()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        values.push(value);
    }
    if !addresses {
        return Search::NotUniform;
    }
    let same = |one: &&Kept| one.hash == hash && one.rank == warp.rank && one.operands == values;
    if let Some(kept) = kept.iter().find(same) {
        for &(register, value) in &kept.results {
            registers.set_uniform(layout, register, value);
        }
        kept.reports.add_to(report);
        return Search::Found;
    }
    let reports = Reports::take(report);
    Search::Missing(UniformKey { site: *site, hash, operands: values, reports })
}

/// Finds the operands of an instruction, if its results are kept.
fn instruction(op: &Op) -> Instruction {
    if !is_address_arithmetic(op) {
        return Instruction::Other;
    }
    let mut operands = SmallVec::new();
    op.visit(&mut |access| {
        if let Access::Read(operand) = access {
            operands.push(operand);
        }
    });
    match operands.len() <= MAX_OPERANDS {
        true => Instruction::AddressArithmetic { operands, kept: Vec::new() },
        false => Instruction::Other,
    }
}

/// Returns `true` for operations whose results depend on their operands alone, and which report nothing besides
/// [`Reports`] if these are the same in all lanes.
fn is_address_arithmetic(op: &Op) -> bool {
    match op {
        Op::Copy { .. }
        | Op::Concat { .. }
        | Op::Split { .. }
        | Op::Resize { .. }
        | Op::ConvertAddress { .. }
        | Op::IntUnary { .. }
        | Op::IntTernary { .. }
        | Op::InsertBits { .. } => true,
        Op::IntBinary { op, .. } => !matches!(op, IntBinary::Div { .. } | IntBinary::Rem { .. }),
        _ => false,
    }
}

/// Keeps the results of an operation that the general code has executed.
#[cold]
pub(crate) fn keep(context: &mut Context<'_, '_>, op: &Op, key: UniformKey) {
    let UniformKey { site, hash, operands, reports: before } = key;
    let reports = Reports::take(context.report);
    before.add_to(context.report);
    reports.add_to(context.report);
    let (mut results, mut uniform) = (SmallVec::new(), true);
    op.visit(&mut |access| {
        if let Access::Write(register) = access {
            match context.registers.uniform(context.layout, register.into()) {
                Some(value) => results.push((register, value)),
                None => uniform = false,
            }
        }
    });
    let UniformResults { sites, count } = &mut context.scratch.uniform;
    if *count >= MAX_RESULTS {
        sites.clear();
        *count = 0;
    }
    if let Some(Instruction::AddressArithmetic { kept, .. }) = sites.get_mut(site as usize)
        && uniform
    {
        if kept.len() >= MAX_OF_SITE {
            *count -= kept.len();
            kept.clear();
        }
        *count += 1;
        kept.push(Kept { hash, rank: context.warp.rank, operands, results, reports });
    }
}
