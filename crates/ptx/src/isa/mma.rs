//! Products of matrices in registers: `mma` (manual §9.7.14.5.14) and, with a sparse A, `mma.sp`
//! (§9.7.14.6.3).

use super::matrix::{LaneFragment, element, layout, mma_kind, mnk, same_family, shape, whole_warp};
use super::{Form, Insn, Lower, Lowering, Type, by};
use ir::Element::{B1, Bf16, E4m3, E5m2, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
use ir::{Element, Layout, Mma, Op, Shape, Sparsity};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "mma",
        when: &["block_scale"],
        syntax: "mma{.sp::ordered_metadata}.sync.aligned.shape.row.col.kind.block_scale{.scale_vec}\
                 .f32.at.bt.f32.stype d, a, b, c{, e, f}, sa, {i, j}, sb, {k, l}",
        section: "9.7.14.3",
        examples: &[
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 \
             {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8}, \
             %r7, {2, 1}, %r8, {2, 3};",
        ],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "mma",
        when: &["kind::f8f6f4", "e3m2", "e2m3", "e2m1"],
        syntax: "mma{.sp::ordered_metadata}.sync.aligned.shape.row.col.kind::f8f6f4.dt.at.bt.ct \
                 d, a, b, c{, e, f}",
        section: "9.7.14.5.14",
        examples: &["mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32 \
             {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};"],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "mma",
        when: &["sp", "sp::ordered_metadata"],
        syntax: "mma{.sp,.sp::ordered_metadata}.sync.aligned.shape.row.col{.satfinite}.dt.at.bt.ct \
                 d, a, b, c, e, f",
        section: "9.7.14.6.3",
        examples: &[
            "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, \
             {%r5, %r6}, {%r7, %r8}, %r9, 0x1;",
            "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32 \
             {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, \
             {%f5, %f6, %f7, %f8}, %r9, 0;",
            "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, \
             {%r1, %r2}, {%r3, %r4}, {%f5, %f6, %f7, %f8}, %r9, 1;",
            "mma.sp.sync.aligned.m16n8k64.row.col.f32.e5m2.e4m3.f32 {%f1, %f2, %f3, %f4}, \
             {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, {%f5, %f6, %f7, %f8}, %r9, 0;",
            "mma.sp.sync.aligned.m16n8k128.row.col.satfinite.s32.s4.u4.s32 {%r1, %r2, %r3, %r4}, \
             {%r5, %r6, %r7, %r8}, {%r9, %r10, %r11, %r12}, {%r1, %r2, %r3, %r4}, %r13, 0;",
        ],
        lowering: by(mma),
    },
    Form {
        opcode: "mma",
        when: &[],
        syntax: "mma.sync.aligned.shape.al.bl{.satfinite}.dt.at.bt.ct{.rn,.rz,.rm,.rp,.xor.popc,\
                 .and.popc} \
                 d, a, b, c",
        section: "9.7.14.5.14",
        examples: DENSE_EXAMPLES,
        lowering: by(mma),
    },
];

const DENSE_EXAMPLES: &[&str] = &[
    "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, \
     {%r1, %r2}, {%r3, %r4}, {%r5, %r6, %r7, %r8};",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, {%r1, %r2};",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, \
     {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r1, %r2, %r3, %r4}, \
     {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r1, %r2, %r3, %r4};",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, \
     {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1, %f2, %f3, %f4}, \
     {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f5, %f6, %f7, %f8};",
    "mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16 {%r1, %r2}, {%r3, %r4}, {%r5}, \
     {%r6, %r7};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rz {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6};",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64.rn {%fd1, %fd2, %fd3, %fd4}, \
     {%fd1, %fd2, %fd3, %fd4, %fd5, %fd6, %fd7, %fd8}, {%rd1, %rd2, %rd3, %rd4}, \
     {%fd1, %fd2, %fd3, %fd4};",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r1, %r2, %r3, %r4}, \
     {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r1, %r2, %r3, %r4};",
    "mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r1, %r2, %r3, %r4}, \
     {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r1, %r2, %r3, %r4};",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};",
];

/// Legal products: the elements of A and B, the accumulators D and C, and the shapes.
struct Rule {
    factors: &'static [Element],
    accumulators: &'static [(Element, Element)],
    shapes: &'static [Shape],
}

const HALF_OR_SINGLE: &[(Element, Element)] = &[(F16, F16), (F32, F32)];
const SINGLE: &[(Element, Element)] = &[(F32, F32)];
const INTEGER: &[(Element, Element)] = &[(S32, S32)];

const DENSE: &[Rule] = &[
    Rule {
        factors: &[F16],
        accumulators: &[(F16, F16), (F32, F16), (F32, F32)],
        shapes: &[mnk(8, 8, 4)],
    },
    Rule {
        factors: &[F16],
        accumulators: HALF_OR_SINGLE,
        shapes: &[mnk(16, 8, 8), mnk(16, 8, 16)],
    },
    Rule { factors: &[Bf16], accumulators: SINGLE, shapes: &[mnk(16, 8, 8), mnk(16, 8, 16)] },
    Rule { factors: &[Tf32], accumulators: SINGLE, shapes: &[mnk(16, 8, 4), mnk(16, 8, 8)] },
    Rule {
        factors: &[E4m3, E5m2],
        accumulators: HALF_OR_SINGLE,
        shapes: &[mnk(16, 8, 16), mnk(16, 8, 32)],
    },
    Rule {
        factors: &[F64],
        accumulators: &[(F64, F64)],
        shapes: &[mnk(8, 8, 4), mnk(16, 8, 4), mnk(16, 8, 8), mnk(16, 8, 16)],
    },
    Rule {
        factors: &[S8, U8],
        accumulators: INTEGER,
        shapes: &[mnk(8, 8, 16), mnk(16, 8, 16), mnk(16, 8, 32)],
    },
    Rule {
        factors: &[S4, U4],
        accumulators: INTEGER,
        shapes: &[mnk(8, 8, 32), mnk(16, 8, 32), mnk(16, 8, 64)],
    },
    Rule {
        factors: &[B1],
        accumulators: INTEGER,
        shapes: &[mnk(8, 8, 128), mnk(16, 8, 128), mnk(16, 8, 256)],
    },
];

const SPARSE: &[Rule] = &[
    Rule {
        factors: &[F16],
        accumulators: HALF_OR_SINGLE,
        shapes: &[mnk(16, 8, 16), mnk(16, 8, 32)],
    },
    Rule { factors: &[Bf16], accumulators: SINGLE, shapes: &[mnk(16, 8, 16), mnk(16, 8, 32)] },
    Rule { factors: &[Tf32], accumulators: SINGLE, shapes: &[mnk(16, 8, 8), mnk(16, 8, 16)] },
    Rule { factors: &[E4m3, E5m2], accumulators: SINGLE, shapes: &[mnk(16, 8, 64)] },
    Rule { factors: &[S8, U8], accumulators: INTEGER, shapes: &[mnk(16, 8, 32), mnk(16, 8, 64)] },
    Rule { factors: &[S4, U4], accumulators: INTEGER, shapes: &[mnk(16, 8, 64), mnk(16, 8, 128)] },
];

/// A product as the modifiers give it.
struct Product {
    shape: Shape,
    layouts: (Layout, Layout),
    d: Element,
    a: Element,
    b: Element,
    c: Element,
}

impl Product {
    /// `m8n8k4` in half precision is four products, each of a quarter of the warp, and the only one with any layout.
    fn is_in_quarters(&self) -> bool {
        self.shape == mnk(8, 8, 4) && self.a == F16
    }

    fn is_legal(&self, rules: &[Rule]) -> bool {
        let layouts_fit = self.is_in_quarters() || self.layouts == (Layout::Row, Layout::Col);
        layouts_fit && same_family(self.a, self.b) && rules.iter().any(|rule| self.obeys(rule))
    }

    fn obeys(&self, rule: &Rule) -> bool {
        rule.factors.contains(&self.a)
            && rule.accumulators.contains(&(self.d, self.c))
            && rule.shapes.contains(&self.shape)
    }

    /// Returns the part of a matrix of `rows` and `columns` in one lane.
    fn lane_fragment(&self, rows: u16, columns: u16, element: Element) -> LaneFragment {
        let copies = if self.is_in_quarters() { 4 } else { 1 };
        LaneFragment::share(copies * rows, columns, element)
    }
}

fn mma(insn: &mut Insn<'_, '_, '_>) -> Lower {
    whole_warp(insn)?;
    let ordered = insn.choose(&[("sp", false), ("sp::ordered_metadata", true)]);
    let shape = shape(insn)?;
    let layouts = (layout(insn)?, layout(insn)?);
    let (d, a, b, c) = (element(insn)?, element(insn)?, element(insn)?, element(insn)?);
    let kind = mma_kind(insn, a)?;
    let product = Product { shape, layouts, d, a, b, c };
    if !product.is_legal(if ordered.is_some() { SPARSE } else { DENSE }) {
        return Err(insn.unsupported("there is no product of this shape, layout and types"));
    }
    let Shape { m, n, k } = shape;
    // Half of a sparse A is not stored.
    let stored_k = if ordered.is_some() { k / 2 } else { k };
    let mma = Mma {
        shape,
        kind,
        a_layout: layouts.0,
        b_layout: layouts.1,
        d_element: d,
        a_element: a,
        b_element: b,
        c_element: c,
        d: product.lane_fragment(m, n, d).dst(insn)?,
        a: product.lane_fragment(m, stored_k, a).src(insn)?,
        b: product.lane_fragment(k, n, b).src(insn)?,
        c: product.lane_fragment(m, n, c).src(insn)?,
        sparsity: match ordered {
            Some(ordered) => Some(sparsity(insn, &product, ordered)?),
            None => None,
        },
    };
    insn.emit(Op::Mma(Box::new(mma)));
    Ok(())
}

/// Takes the metadata of a sparse A and the selector of the lanes that provide it.
fn sparsity(insn: &mut Insn<'_, '_, '_>, product: &Product, ordered: bool) -> Lower<Sparsity> {
    let metadata = insn.src(Type::B32)?;
    let selector = insn.immediate()?;
    match u8::try_from(selector) {
        Ok(selector) if u16::from(selector) < selectors(product) => {
            Ok(Sparsity { metadata, selector, ordered })
        }
        _ => Err(insn.unsupported("the sparsity selector names no threads")),
    }
}

/// Returns the number of sparsity selectors (§9.7.14.6.1). Each names the lanes, among four, that provide the metadata
/// of two rows. A chunk of a row needs four bits of metadata and a lane provides 32 bits, so `k / (4 · chunk)` of the
/// four lanes provide it.
fn selectors(product: &Product) -> u16 {
    let chunk = match product.a {
        Tf32 => 2,
        S4 | U4 => 8,
        _ => 4,
    };
    16 * chunk / product.shape.k
}
