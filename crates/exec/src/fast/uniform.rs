//! Remembers the results of address arithmetic with the same operands in all lanes of a warp.
//!
//! Kernels that work on tiles compute addresses of stages, descriptors and barriers again and again, in every warp,
//! from a few different operands. The general code follows such addresses lane by lane
//! ([`crate::interpret::encoded`]). The result depends only on the instruction, its operands and the block's rank in its
//! cluster. So the first result is kept, if it is the same in all lanes, and written again for equal operands.

use crate::context::Context;
use crate::lanes::Mask;
use crate::registers::UniformValue;
use ir::{Access, IntBinary, Op, Reg};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use sync::Site;

/// The most results that are kept.
const MAX_RESULTS: usize = 1 << 13;

/// Results of instructions, by site and a hash of the operands.
#[derive(Debug, Default)]
pub(crate) struct UniformResults {
    kept: FxHashMap<(Site, u64), Kept>,
}

/// The most operands of an operation here.
const MAX_OPERANDS: usize = 4;

/// Operands of an instruction; the rest are zeros.
type Operands = [UniformValue; MAX_OPERANDS];

/// An instruction with its operands.
pub(crate) struct UniformKey {
    site: Site,
    hash: u64,
    rank: usize,
    operands: Operands,
    reports: Reports,
}

/// The results of an instruction.
#[derive(Debug)]
struct Kept {
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
    fn take(context: &mut Context<'_, '_>) -> Self {
        Self {
            shared_window: std::mem::take(&mut context.report.shared_window),
            shared_alignment: std::mem::take(&mut context.report.shared_alignment),
        }
    }

    fn add_to(self, context: &mut Context<'_, '_>) {
        let report = &mut *context.report;
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
    if excluded || !is_address_arithmetic(op) {
        return Search::NotUniform;
    }
    let Some(operands) = operands(context, op) else { return Search::NotUniform };
    let (site, rank) = (context.site, context.warp.rank);
    let hash = operands.iter().fold(rank as u64, |hash, operand| {
        (hash.rotate_left(5) ^ operand.digest()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    let kept = context.scratch.uniform.kept.get(&(site, hash));
    let Some(kept) = kept.filter(|kept| kept.rank == rank && kept.operands == operands) else {
        let reports = Reports::take(context);
        return Search::Missing(UniformKey { site, hash, rank, operands, reports });
    };
    for &(register, value) in &kept.results {
        context.registers.set_uniform(context.layout, register, value);
    }
    let reports = kept.reports;
    reports.add_to(context);
    Search::Found
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

/// Reads the operands, if each is the same in all lanes, and one is no number.
fn operands(context: &Context<'_, '_>, op: &Op) -> Option<Operands> {
    let mut found = [UniformValue::Number(0); MAX_OPERANDS];
    let (mut count, mut uniform, mut addresses) = (0, true, false);
    op.visit(&mut |access| {
        let Access::Read(operand) = access else { return };
        if !uniform {
            return;
        }
        match (context.registers.uniform(context.layout, operand), found.get_mut(count)) {
            (Some(value), Some(place)) => {
                addresses |= !matches!(value, UniformValue::Number(_));
                *place = value;
                count += 1;
            }
            _ => uniform = false,
        }
    });
    (uniform && addresses).then_some(found)
}

/// Keeps the results of an operation that the general code has executed.
#[cold]
pub(crate) fn keep(context: &mut Context<'_, '_>, op: &Op, key: UniformKey) {
    let UniformKey { site, hash, rank, operands, reports: before } = key;
    let reports = Reports::take(context);
    before.add_to(context);
    reports.add_to(context);
    let (mut results, mut uniform) = (SmallVec::new(), true);
    op.visit(&mut |access| {
        if let Access::Write(register) = access {
            match context.registers.uniform(context.layout, register.into()) {
                Some(value) => results.push((register, value)),
                None => uniform = false,
            }
        }
    });
    let kept = &mut context.scratch.uniform.kept;
    if kept.len() >= MAX_RESULTS {
        kept.clear();
    }
    if uniform {
        kept.insert((site, hash), Kept { rank, operands, results, reports });
    }
}
