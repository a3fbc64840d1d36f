//! Executes `wgmma.mma_async` (manual §9.7.15.5): products of four warps with factors in shared memory.
//!
//! Each warp computes its sixteen rows when it reaches the instruction. They depend on no register of the
//! other warps, and a change of the shared memory before the wait is a race. The arithmetic is that of `mma`
//! ([`super::matrix`]): D = ±A·±B, plus D if `scale-d` is set. In a run without known numbers nothing is
//! computed.
//!
//! A wait for a product stops the warp until the other warps of its group have reached the product, as on an
//! H200 ([`sync`] defines the consequences). If they never do, the wait ends all the same, and the block's
//! end or the overtaken product is reported.
//!
//! Descriptors and `scale-d` must be the same in all lanes, and in all warps of the group, which is checked
//! at the end of the block ([`crate::warp_groups`]). Registers are read and written at once: an assembler
//! delays accesses to registers of products in flight, and that program is executed.

mod descriptor;
mod operand;

use super::encoded;
use super::matrix::factors::{Factor, Product, Sources};
use super::matrix::{fragment, product};
use crate::context::{Context, Flow};
use crate::finding::{Fault, Gap, GroupFault, Origin, Sink};
use crate::lanes::{Mask, WARP};
use crate::tags::{Source, Tags};
use crate::tile::{Contents, Tile, TileRows};
use ir::{MatrixDescriptor, Operand, Shape, Wgmma, WgmmaFactor, WgmmaSync};
use operand::SharedFactor;
use std::ops::Range;
use sync::SyncEvent;

/// Rows of a warp.
const ROWS: u64 = 16;

/// A placeholder for registers that do not exist.
const PLACEHOLDERS: [Operand; 128] = [Operand::Constant(0); 128];

/// Checks that the whole warp has come, and reports lanes that never will.
fn wait_for_whole_warp(context: &mut Context<'_, '_>) -> Result<bool, Flow> {
    let alive = context.warp.alive();
    if context.lanes != alive {
        return Err(Flow::Collective(Mask::ALL, context.lanes));
    }
    context.tracker.apply(context.warp.number, alive, SyncEvent::Collective);
    if alive != Mask::ALL {
        context.record_fault(Fault::LanesMissing { missing: !alive.0 }, alive);
    }
    Ok(alive == Mask::ALL)
}

/// Executes `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group`.
pub(super) fn synchronize(context: &mut Context<'_, '_>, sync: WgmmaSync) -> Flow {
    if let Err(flow) = wait_for_whole_warp(context) {
        return flow;
    }
    let (warp, lanes) = (context.warp.number, context.lanes);
    let passes = std::mem::take(&mut context.warp.passes_wait);
    if let WgmmaSync::Wait(pending) = sync
        && !passes
        && context.tracker.lacks_warps(warp, pending)
    {
        return Flow::WarpGroup(pending);
    }
    let event = match sync {
        WgmmaSync::Fence => None,
        WgmmaSync::Commit => Some(SyncEvent::CommitProducts),
        WgmmaSync::Wait(pending) => Some(SyncEvent::WaitForProducts(pending)),
    };
    if let Some(event) = event {
        context.tracker.apply(warp, lanes, event);
    }
    if context.tracker.is_checking() {
        match sync {
            WgmmaSync::Fence => context.registers.fence_products(),
            WgmmaSync::Commit => {}
            WgmmaSync::Wait(_) => {
                let Context { registers, tracker, .. } = context;
                registers.end_products(&|product| tracker.is_over(product));
            }
        }
    }
    context.tracker.group_steps().note_product(warp, context.site, 0);
    Flow::Next
}

/// Starts a product and computes it.
pub(super) fn execute(context: &mut Context<'_, '_>, wgmma: &Wgmma) -> Result<Flow, Gap> {
    match wait_for_whole_warp(context) {
        Err(flow) => return Ok(flow),
        Ok(true) => {}
        Ok(false) => {
            let poison = Tags::poison(Mask::ALL, Origin::Operation(context.place));
            wgmma.d.iter().for_each(|&dst| context.write(dst, &[0; WARP], poison));
            return Ok(Flow::Next);
        }
    }
    let accumulates = accumulates(context, wgmma.accumulates)?;
    let quarter = context.warp.in_block as u64 % 4;
    let k_bytes = u64::from(wgmma.shape.k) * u64::from(wgmma.a_element.bits()) / 8;
    let stored = if wgmma.sparsity.is_some() { k_bytes / 2 } else { k_bytes };
    let a = match &wgmma.a {
        WgmmaFactor::Fragment(_) => None,
        WgmmaFactor::Shared(descriptor) => Some(tile(context, descriptor)?),
    };
    let b = tile(context, &wgmma.b)?;
    let digest = digest(a, b, accumulates);
    let (warp, site) = (context.warp.number, context.site);
    context.tracker.group_steps().note_product(warp, site, digest);
    let group = group(context);
    report_overtaken_warp(context, group.clone());
    let part = |tile, first, rows, k_bytes| TileRows { tile, first, rows, k_bytes };
    let a = a.map(|tile| SharedFactor::new(context, part(tile, ROWS * quarter, ROWS, stored)));
    let b = SharedFactor::new(context, part(b, 0, wgmma.shape.n.into(), k_bytes));
    let opaque = access(context, wgmma, group, (a.as_ref(), &b))?;
    if opaque && make_d_unknown(context, wgmma, accumulates) {
        return Ok(Flow::Next);
    }
    multiply(context, wgmma, (a.as_ref(), &b), (accumulates, opaque))?;
    Ok(Flow::Next)
}

/// The warps of the group of the executing warp.
fn group(context: &Context<'_, '_>) -> Range<usize> {
    let (warp, in_block) = (context.warp.number, context.warp.in_block);
    let first = in_block - in_block % 4;
    let warps = (context.machine.launch.warps() - first).min(4);
    warp - in_block % 4..warp - in_block % 4 + warps
}

/// Reports a warp that reaches a product only after another of its group has gone past it.
fn report_overtaken_warp(context: &mut Context<'_, '_>, group: Range<usize>) {
    let (warp, in_block) = (context.warp.number, context.warp.in_block);
    let first = group.start;
    if let Some(other) = context.tracker.arrive_at_product(warp, group) {
        let why = GroupFault::Waits((in_block - in_block % 4 + other - first) as u32);
        let fault = Fault::PartOfWarpGroup { instruction: "wgmma", why };
        context.record_fault(fault, context.lanes);
    }
}

/// Reads `scale-d`.
fn accumulates(context: &mut Context<'_, '_>, operand: Operand) -> Result<bool, Gap> {
    let tags = context.registers.operand_tags(operand);
    let decided = context.require_numbers(tags, Sink::Control)?;
    let truth = context.registers.predicate(operand);
    if decided != Mask::ALL || ![Mask::ALL, Mask::NONE].contains(&truth) {
        return Err(report_unequal_lanes(context));
    }
    Ok(truth == Mask::ALL)
}

/// Reports operands that differ between lanes.
fn report_unequal_lanes(context: &mut Context<'_, '_>) -> Gap {
    let fault = Fault::PartOfWarpGroup { instruction: "wgmma", why: GroupFault::Lanes };
    context.record_fault(fault, context.lanes);
    context.gap("a product whose operands differ between lanes is undefined")
}

/// Decodes a descriptor that is the same in every lane.
fn tile(context: &mut Context<'_, '_>, matrix: &MatrixDescriptor) -> Result<Tile, Gap> {
    let Some(encoded) = encoded::uniform(context, matrix.bits) else {
        if encoded::differs(context, matrix.bits) {
            return Err(report_unequal_lanes(context));
        }
        let tags = context.registers.operand_tags(matrix.bits);
        context.require_numbers(Tags { pointer: Mask::NONE, ..tags }, Sink::Address)?;
        return Err(context
            .gap("a matrix descriptor was not computed from the address of a shared variable"));
    };
    descriptor::decode(context, encoded, matrix.transposed)
}

/// A hash of the operands that the warps of a group must share.
fn digest(a: Option<Tile>, b: Tile, accumulates: bool) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut hasher = rustc_hash::FxHasher::default();
    (a, b, accumulates).hash(&mut hasher);
    hasher.finish() | 1
}

/// Checks the reads of the product and reports them to the tracker. Returns `true` if this run computes nothing
/// with them, because they are unknown data.
fn access(
    context: &mut Context<'_, '_>,
    wgmma: &Wgmma,
    group: Range<usize>,
    (a, b): (Option<&SharedFactor>, &SharedFactor),
) -> Result<bool, Gap> {
    let (warp, site) = (context.warp.number, context.site);
    let product = context.tracker.start_product(warp, group);
    if context.tracker.is_checking()
        && let Some(window) = context.registers.start_product(wgmma, (product, context.place))
    {
        context.record_fault(Fault::ProductRegisters(window), context.lanes);
    }
    let skips = context.valued.is_none() && !context.machine.simulates;
    let (mut data, mut plain) = (false, true);
    for factor in a.into_iter().chain([b]) {
        factor.check(context)?;
        let places = factor.places();
        context.tracker.read_by_product(product, (warp, site), factor.area(), places);
        let contents = if skips { factor.contents(context) } else { Contents::Mixed };
        data |= contents == Contents::Data;
        plain &= contents != Contents::Mixed;
    }
    Ok(data && plain)
}

/// Makes D unknown data, or returns `false` if more is known.
fn make_d_unknown(context: &mut Context<'_, '_>, wgmma: &Wgmma, accumulates: bool) -> bool {
    let registers = &mut context.registers;
    let plain = |tags: Tags| {
        tags.poison.is_empty() && tags.pointer.is_empty() && tags.undetermined().is_empty()
    };
    let fragment: &[Operand] = match &wgmma.a {
        WgmmaFactor::Fragment(parts) => parts,
        WgmmaFactor::Shared(_) => &[],
    };
    // Most products add to an accumulator that is data already.
    let data = registers.accumulator_is_data(&wgmma.d);
    let simple = wgmma.sparsity.is_none()
        && fragment.iter().all(|&part| plain(registers.operand_tags(part)))
        && (data || !accumulates || wgmma.d.iter().all(|&one| plain(registers.tags(one))));
    if simple && !data {
        let unknown = Tags::unknown(Mask::ALL, Source::Data);
        for &register in &wgmma.d {
            let tags = registers.tags(register);
            if !(plain(tags) && tags.unknown == Mask::ALL) {
                registers.tag(register, unknown, Mask::ALL);
            }
        }
    }
    if data && simple {
        registers.set_accumulator_data(&wgmma.d);
    }
    simple
}

/// Computes D.
fn multiply(
    context: &mut Context<'_, '_>,
    wgmma: &Wgmma,
    (a, b): (Option<&SharedFactor>, &SharedFactor),
    (accumulates, opaque): (bool, bool),
) -> Result<(), Gap> {
    let Shape { n, k, .. } = wgmma.shape;
    let shape = Shape { m: ROWS as u16, n, k };
    let stored = usize::from(k) / if wgmma.sparsity.is_some() { 2 } else { 1 };
    let a_factor = match (&wgmma.a, a) {
        (WgmmaFactor::Fragment(registers), _) => Factor {
            element: wgmma.a_element,
            registers,
            fragment_layout: fragment::mma_a(shape, stored, wgmma.a_element, ir::Layout::Row),
        },
        (WgmmaFactor::Shared(_), Some(a)) => Factor {
            element: wgmma.a_element,
            registers: &PLACEHOLDERS[..a.registers()],
            fragment_layout: a.layout(wgmma.a_element),
        },
        (WgmmaFactor::Shared(_), None) => return Ok(()),
    };
    let b_factor = Factor {
        element: wgmma.b_element,
        registers: &PLACEHOLDERS[..b.registers()],
        fragment_layout: b.layout(wgmma.b_element).transposed(),
    };
    let d_layout = || fragment::wgmma_d(n.into(), wgmma.d_element);
    let registers: Vec<Operand> = wgmma.d.iter().map(|&register| register.into()).collect();
    let c_factor =
        Factor { element: wgmma.d_element, registers: &registers, fragment_layout: d_layout() };
    let sources: [Sources; 3] = [
        match (a, opaque) {
            (Some(_), true) => operand::unknown(),
            (Some(a), false) => a.read(context),
            (None, _) => product::read(context, &a_factor),
        },
        if opaque { operand::unknown() } else { b.read(context) },
        match accumulates {
            true => product::read(context, &c_factor),
            false => vec![([0; WARP], Tags::NUMBER); wgmma.d.len()],
        },
    ];
    let [negates_a, negates_b] = wgmma.negates;
    let product = Product {
        shape,
        kind: wgmma.kind,
        a: a_factor,
        b: b_factor,
        c: c_factor,
        d_element: wgmma.d_element,
        d: &wgmma.d,
        d_layout: d_layout(),
        sparsity: wgmma.sparsity.as_ref(),
        negates: negates_a != negates_b,
    };
    product::multiply(context, &product, sources)
}
