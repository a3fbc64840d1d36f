//! Products of warp groups: `wgmma.mma_async` (manual §9.7.15.5.2), with a sparse A `wgmma.mma_async.sp`
//! (§9.7.15.6.4), and `wgmma.fence`, `wgmma.commit_group`, `wgmma.wait_group` (§9.7.15.7).
//!
//! A shape fits its types if K elements of A are 32 bytes as stored (§9.7.15.2): 16 of 16 bits, 8 of `tf32`, 32 of 8
//! bits, 256 single bits, and twice as many columns of a sparse A. N is a multiple of 8, and of 16 for integers
//! beyond 24. The manual's syntax ends at 224 for dense integers, its table of shapes at 256; the latter is used.
//! Other combinations are refused.

use super::matrix::{element, mma_kind, same_family, shape, whole_warp};
use super::{Fit, Form, Insn, Lower, Type, by};
use ir::{
    Element, MatrixDescriptor, MmaKind, Op, Operand, Shape, Sparsity, SyncOp, Wgmma, WgmmaFactor,
    WgmmaSync, Width,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "wgmma",
        when: &["mma_async"],
        syntax: "wgmma.mma_async{.sp}.sync.aligned.shape{.satfinite}.dt.at.bt{.and.popc} \
                 d, a, b{, sp_meta, sp_sel}, scale_d{, scale_a, scale_b{{, trans_a}, trans_b}}",
        section: "9.7.15.5.2",
        examples: &[
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, \
             %p1, 1, 1, 0, 0;",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, \
             {%r1, %r2, %r3, %r4}, %rd2, 1, -1, -1, 1;",
            "wgmma.mma_async.sync.aligned.m64n24k16.f16.f16.f16 {%r1, %r2, %r3, %r4, %r5, %r6}, \
             %rd1, %rd2, !%p1, -1, 1, 1, 0;",
            "wgmma.mma_async.sync.aligned.m64n16k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4, %f5, %f6, \
             %f7, %f8}, %rd1, %rd2, 0, -1, -1;",
            "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e5m2 {%r1, %r2}, %rd1, %rd2, %p1, -1, 1;",
            "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite {%r1, %r2, %r3, %r4}, \
             {%r5, %r6, %r7, %r8}, %rd2, %p1;",
            "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%r1, %r2, %r3, %r4}, \
             %rd1, %rd2, %p1;",
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, \
             %rd2, %r5, 1, %p1, 1, 1, 0, 0;",
            "wgmma.mma_async.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, \
             {%r1, %r2, %r3, %r4}, %rd2, %r5, 0, %p1, 1, 1;",
            "wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8 {%r1, %r2, %r3, %r4}, %rd1, %rd2, \
             %r5, 0, %p1;",
        ],
        lowering: by(mma_async),
    },
    Form {
        opcode: "wgmma",
        when: &["fence"],
        syntax: "wgmma.fence.sync.aligned",
        section: "9.7.15.7.1",
        examples: &["wgmma.fence.sync.aligned;"],
        lowering: by(fence),
    },
    Form {
        opcode: "wgmma",
        when: &["commit_group"],
        syntax: "wgmma.commit_group.sync.aligned",
        section: "9.7.15.7.2",
        examples: &["wgmma.commit_group.sync.aligned;"],
        lowering: by(commit),
    },
    Form {
        opcode: "wgmma",
        when: &["wait_group"],
        syntax: "wgmma.wait_group.sync.aligned n",
        section: "9.7.15.7.3",
        examples: &["wgmma.wait_group.sync.aligned 0;"],
        lowering: by(wait),
    },
];

fn fence(insn: &mut Insn<'_, '_, '_>) -> Lower {
    emit_wgmma_sync(insn, "fence", WgmmaSync::Fence)
}

fn commit(insn: &mut Insn<'_, '_, '_>) -> Lower {
    emit_wgmma_sync(insn, "commit_group", WgmmaSync::Commit)
}

fn wait(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let pending = insn.pending_groups()?;
    emit_wgmma_sync(insn, "wait_group", WgmmaSync::Wait(pending))
}

fn emit_wgmma_sync(insn: &mut Insn<'_, '_, '_>, name: &str, sync: WgmmaSync) -> Lower {
    insn.require(&[(name, ())], "the name of the operation")?;
    whole_warp(insn)?;
    insn.emit(Op::Sync(SyncOp::Wgmma(sync)));
    Ok(())
}

/// Types and sizes of a product.
#[derive(Clone, Copy)]
struct Product {
    shape: Shape,
    d: Element,
    a: Element,
    b: Element,
    sparse: bool,
}

impl Product {
    fn is_float(self) -> bool {
        matches!(self.d, Element::F16 | Element::F32)
    }

    fn is_legal(self) -> bool {
        use Element::{B1, Bf16, E4m3, E5m2, F16, F32, S8, S32, Tf32, U8};
        let accumulators: &[Element] = match self.a {
            F16 | E4m3 | E5m2 => &[F16, F32],
            Bf16 | Tf32 => &[F32],
            S8 | U8 | B1 => &[S32],
            _ => &[],
        };
        let Shape { m, n, k } = self.shape;
        let columns_fit = match self.is_float() {
            true => n % 8 == 0,
            false => [8, 24].contains(&n) || n % 16 == 0,
        };
        let k_of_32_bytes = 256 / self.a.bits() * if self.sparse { 2 } else { 1 };
        accumulators.contains(&self.d)
            && same_family(self.a, self.b)
            && (m, u32::from(k)) == (64, k_of_32_bytes)
            && columns_fit
            && (8..=256).contains(&n)
            && !(self.sparse && self.a == B1)
    }

    /// Returns the number of sparsity selectors: two if a pair of lanes among four provides metadata, one if all do.
    fn selector_count(self) -> u64 {
        if self.a.bits() >= 16 { 2 } else { 1 }
    }
}

fn mma_async(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("mma_async", ())], "`.mma_async`")?;
    whole_warp(insn)?;
    let sparse = insn.flag("sp");
    let shape = shape(insn)?;
    let (d, a, b) = (element(insn)?, element(insn)?, element(insn)?);
    let kind = mma_kind(insn, a)?;
    let product = Product { shape, d, a, b, sparse };
    if !product.is_legal() || kind == MmaKind::XorPopc {
        return Err(insn.unsupported("there is no product of this shape and types"));
    }
    let count = usize::from(shape.n) * d.bits() as usize / 64;
    let registers = insn.dst_list(count, Width::B32)?;
    let a_factor = factor(insn)?;
    let b_factor = insn.src(Type::B64)?;
    let sparsity = if sparse { Some(sparsity(insn, product)?) } else { None };
    let accumulates = accumulates(insn)?;
    let negates = match product.is_float() {
        true => [negates(insn)?, negates(insn)?],
        false => [false; 2],
    };
    let transposes = product.is_float() && a.bits() == 16;
    let a_factor = match a_factor {
        WgmmaFactor::Shared(descriptor) if transposes => {
            WgmmaFactor::Shared(MatrixDescriptor { transposed: transposed(insn)?, ..descriptor })
        }
        other => other,
    };
    let b_factor = MatrixDescriptor {
        bits: b_factor,
        transposed: if transposes { transposed(insn)? } else { false },
    };
    insn.emit(Op::Wgmma(Box::new(Wgmma {
        shape,
        kind,
        d_element: d,
        a_element: a,
        b_element: b,
        d: registers,
        a: a_factor,
        b: b_factor,
        sparsity,
        accumulates,
        negates,
    })));
    Ok(())
}

/// Takes A: four registers in braces, or a descriptor.
fn factor(insn: &mut Insn<'_, '_, '_>) -> Lower<WgmmaFactor> {
    if insn.is_list_next() {
        return Ok(WgmmaFactor::Fragment(insn.src_vector(4, Type::B32, Fit::Exact)?));
    }
    let bits = insn.src(Type::B64)?;
    Ok(WgmmaFactor::Shared(MatrixDescriptor { bits, transposed: false }))
}

/// Takes `scale-d`, a predicate or 0 or 1: if it is true, the product is added to D.
fn accumulates(insn: &mut Insn<'_, '_, '_>) -> Lower<Operand> {
    match insn.predicate()? {
        Operand::Constant(bits) => Ok(Operand::Constant(bits & 1)),
        register => Ok(register),
    }
}

/// Takes `imm-scale`, 1 or -1; returns `true` for -1.
fn negates(insn: &mut Insn<'_, '_, '_>) -> Lower<bool> {
    match insn.immediate()?.cast_signed() {
        1 => Ok(false),
        -1 => Ok(true),
        _ => Err(insn.unsupported("a factor is scaled by 1 or by -1")),
    }
}

/// Takes `imm-trans`, 0 or 1; returns `true` for 1.
fn transposed(insn: &mut Insn<'_, '_, '_>) -> Lower<bool> {
    match insn.immediate()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(insn.unsupported("the transposition of a factor is 0 or 1")),
    }
}

fn sparsity(insn: &mut Insn<'_, '_, '_>, product: Product) -> Lower<Sparsity> {
    let metadata = insn.src(Type::B32)?;
    let selector = insn.immediate()?;
    match u8::try_from(selector) {
        Ok(named) if selector < product.selector_count() => {
            Ok(Sparsity { metadata, selector: named, ordered: false })
        }
        _ => Err(insn.unsupported("the sparsity selector names no threads")),
    }
}
