//! Products of matrices in fragments of unspecified layout: `wmma` (manual §9.7.14.4).

use super::matrix::{
    LaneFragment, element, layout, mma_kind, mnk, optional_element, shape, whole_warp,
};
use super::{Form, Insn, Lower, Type, by};
use ir::Element::{B1, Bf16, F16, F32, F64, S4, S8, S32, Tf32, U4, U8};
use ir::{Element, Fragment, Layout, Op, Operand, Shape, Space, WmmaLoad, WmmaMma, WmmaStore};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "wmma",
        when: &["load"],
        syntax: "wmma.load{.a,.b,.c}.sync.aligned.layout.shape{.global,.shared,.shared::cta}.type \
                 r, [p]{, stride}",
        section: "9.7.14.4.3",
        examples: &[
            "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 \
             {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9;",
            "wmma.load.b.sync.aligned.m32n8k16.col.shared::cta.bf16 {%r1, %r2}, [smem];",
            "wmma.load.a.sync.aligned.m16n16k8.row.tf32 {%r1, %r2, %r3, %r4}, [%rd1], 64;",
            "wmma.load.b.sync.aligned.m8n32k16.col.shared.u8 {%r1, %r2, %r3, %r4}, [%r5];",
            "wmma.load.a.sync.aligned.m8n8k4.col.f64 {%fd1}, [%rd1];",
            "wmma.load.b.sync.aligned.col.m8n8k32.s4 {%r1}, [%rd1];",
            "wmma.load.a.sync.aligned.row.m8n8k128.b1 {%r1}, [%rd1];",
            "wmma.load.c.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4}, [%rd1];",
            "wmma.load.c.sync.aligned.col.m8n32k16.global.f32 \
             {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, [gmem], %r9;",
            "wmma.load.c.sync.aligned.row.m8n8k128.s32 {%r1, %r2}, [%rd1];",
            "wmma.load.c.sync.aligned.row.m8n8k4.f64 {%fd1, %fd2}, [%rd1];",
        ],
        lowering: by(load),
    },
    Form {
        opcode: "wmma",
        when: &["store"],
        syntax: "wmma.store.d.sync.aligned.layout.shape{.global,.shared,.shared::cta}.type \
                 [p], r{, stride}",
        section: "9.7.14.4.4",
        examples: &[
            "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 \
             [%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r9;",
            "wmma.store.d.sync.aligned.m32n8k16.col.shared.f16 [smem], {%r1, %r2, %r3, %r4};",
            "wmma.store.d.sync.aligned.row.m8n8k32.s32 [%rd1], {%r1, %r2}, 8;",
            "wmma.store.d.sync.aligned.row.m8n8k4.f64 [%rd1], {%fd1, %fd2};",
        ],
        lowering: by(store),
    },
    Form {
        opcode: "wmma",
        when: &["mma"],
        syntax: "wmma.mma{.xor.popc,.and.popc}.sync.aligned.al.bl.shape{.rn,.rz,.rm,.rp}.dt{.at.bt}.ct\
                 {.satfinite} d, a, b, c",
        section: "9.7.14.4.5",
        examples: MMA_EXAMPLES,
        lowering: by(mma),
    },
];

const MMA_EXAMPLES: &[&str] = &[
    "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6};",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, \
     {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, \
     {%r17, %r18, %r19, %r20};",
    "wmma.mma.sync.aligned.col.row.m8n32k16.f16.f16 {%r1, %r2, %r3, %r4}, \
     {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, \
     {%r1, %r2, %r3, %r4};",
    "wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32 \
     {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, \
     {%r9, %r10}, {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 \
     {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, {%r1, %r2, %r3, %r4}, {%r5, %r6, %r7, %r8}, \
     {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};",
    "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64 \
     {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2};",
    "wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32.satfinite \
     {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r9}, {%r10, %r11, %r12, %r13}, \
     {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.u4.u4.s32 {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
    "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 \
     {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
    "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 \
     {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};",
];

/// The shapes of half precision and bytes.
const HALF_AND_BYTE_SHAPES: &[Shape] = &[mnk(16, 16, 16), mnk(8, 32, 16), mnk(32, 8, 16)];

/// Returns `true` if there is a product of this shape whose factors have this type.
fn has_factors(shape: Shape, factor: Element) -> bool {
    match factor {
        F16 | Bf16 | S8 | U8 => HALF_AND_BYTE_SHAPES.contains(&shape),
        Tf32 => shape == mnk(16, 16, 8),
        F64 => shape == mnk(8, 8, 4),
        S4 | U4 => shape == mnk(8, 8, 32),
        B1 => shape == mnk(8, 8, 128),
        _ => false,
    }
}

/// Returns the types of C and D for factors of a type.
fn accumulators(factor: Element) -> &'static [Element] {
    match factor {
        F16 => &[F16, F32],
        Bf16 | Tf32 => &[F32],
        F64 => &[F64],
        S8 | U8 | S4 | U4 | B1 => &[S32],
        _ => &[],
    }
}

const FACTORS: &[Element] = &[F16, Bf16, Tf32, F64, S8, U8, S4, U4, B1];

/// Returns `true` if some product of this shape accumulates in this type.
fn has_accumulators(shape: Shape, element: Element) -> bool {
    let fits =
        |&factor: &Element| has_factors(shape, factor) && accumulators(factor).contains(&element);
    FACTORS.iter().any(fits)
}

/// Returns `true` if the layout fits the element. Elements of less than a byte must be contiguous along the summed
/// dimension, that is, have the layout `packed`.
fn layout_fits(element: Element, layout: Layout, packed: Layout) -> bool {
    element.bits() >= 8 || layout == packed
}

fn lane_fragment(fragment: Fragment, shape: Shape, element: Element) -> LaneFragment {
    let Shape { m, n, k } = shape;
    match fragment {
        // Two lanes may hold the same element of half precision: eight registers for every shape.
        Fragment::A | Fragment::B if element == F16 => LaneFragment { count: 8, element },
        Fragment::A => LaneFragment::share(m, k, element),
        Fragment::B => LaneFragment::share(k, n, element),
        Fragment::C => LaneFragment::share(m, n, element),
    }
}

const SPACES: &[(&str, Space)] =
    &[("global", Space::Global), ("shared", Space::Shared), ("shared::cta", Space::Shared)];

fn load(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("load");
    let fragments = [("a", Fragment::A), ("b", Fragment::B), ("c", Fragment::C)];
    let fragment = insn.require(&fragments, "`.a`, `.b` or `.c`")?;
    let stored_matrix = stored_matrix(insn)?;
    let StoredMatrix { shape, layout, space, element } = stored_matrix;
    let legal = match fragment {
        Fragment::A => has_factors(shape, element) && layout_fits(element, layout, Layout::Row),
        Fragment::B => has_factors(shape, element) && layout_fits(element, layout, Layout::Col),
        Fragment::C => has_accumulators(shape, element),
    };
    if !legal {
        return Err(no_such_matrix(insn));
    }
    let dsts = lane_fragment(fragment, shape, element).dst(insn)?;
    let address = insn.address()?;
    let stride = stride(insn)?;
    let load = WmmaLoad { fragment, shape, layout, element, space, address, stride, dsts };
    insn.emit(Op::WmmaLoad(Box::new(load)));
    Ok(())
}

fn store(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("store");
    insn.require(&[("d", ())], "`.d`")?;
    let StoredMatrix { shape, layout, space, element } = stored_matrix(insn)?;
    if !has_accumulators(shape, element) {
        return Err(no_such_matrix(insn));
    }
    let address = insn.address()?;
    let srcs = lane_fragment(Fragment::C, shape, element).src(insn)?;
    let stride = stride(insn)?;
    let store = WmmaStore { shape, layout, element, space, address, stride, srcs };
    insn.emit(Op::WmmaStore(Box::new(store)));
    Ok(())
}

fn no_such_matrix(insn: &Insn<'_, '_, '_>) -> super::Refusal {
    insn.unsupported("there is no matrix of this shape, layout and type")
}

/// A matrix in memory.
struct StoredMatrix {
    shape: Shape,
    layout: Layout,
    space: Space,
    element: Element,
}

/// Takes the modifiers that describe a matrix in memory.
fn stored_matrix(insn: &mut Insn<'_, '_, '_>) -> Lower<StoredMatrix> {
    whole_warp(insn)?;
    let layout = layout(insn)?;
    let shape = shape(insn)?;
    let space = insn.choose(SPACES).unwrap_or(Space::Generic);
    Ok(StoredMatrix { shape, layout, space, element: element(insn)? })
}

fn stride(insn: &mut Insn<'_, '_, '_>) -> Lower<Option<Operand>> {
    if insn.remaining() == 0 { Ok(None) } else { insn.src(Type::U32).map(Some) }
}

fn mma(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("mma");
    whole_warp(insn)?;
    let (a_layout, b_layout) = (layout(insn)?, layout(insn)?);
    let shape = shape(insn)?;
    let [d, a, b, c] = elements(insn)?;
    let kind = mma_kind(insn, a)?;
    let legal = a == b
        && has_factors(shape, a)
        && [d, c].iter().all(|accumulator| accumulators(a).contains(accumulator))
        && layout_fits(a, a_layout, Layout::Row)
        && layout_fits(b, b_layout, Layout::Col);
    if !legal {
        return Err(insn.unsupported("there is no product of this shape, layout and types"));
    }
    let mma = WmmaMma {
        shape,
        kind,
        a_layout,
        b_layout,
        d_element: d,
        a_element: a,
        b_element: b,
        c_element: c,
        d: lane_fragment(Fragment::C, shape, d).dst(insn)?,
        a: lane_fragment(Fragment::A, shape, a).src(insn)?,
        b: lane_fragment(Fragment::B, shape, b).src(insn)?,
        c: lane_fragment(Fragment::C, shape, c).src(insn)?,
    };
    insn.emit(Op::WmmaMma(Box::new(mma)));
    Ok(())
}

/// Takes the types of D, A, B and C. If there are only two, they are those of D and C. The factors are then f16, and
/// only then.
fn elements(insn: &mut Insn<'_, '_, '_>) -> Lower<[Element; 4]> {
    let (first, second) = (element(insn)?, element(insn)?);
    let Some(third) = optional_element(insn) else { return Ok([first, F16, F16, second]) };
    let fourth = element(insn)?;
    if second == F16 {
        return Err(insn.unsupported("the types of half precision factors are not written"));
    }
    Ok([first, second, third, fourth])
}
