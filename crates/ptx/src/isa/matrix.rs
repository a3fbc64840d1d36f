//! Moves of matrices between memory and the registers of a warp (manual §9.7.14.5.15 to §9.7.14.5.17), and the common
//! parts of matrix instructions: names of shapes, layouts and elements (§9.7.14.1, §9.7.14.2), and fragments. The
//! products are in `mma` and `wmma`.

use super::float::ROUNDING;
use super::{Fit, Form, Insn, Lower, Lowering, Type, by};
use ir::{
    Element, Layout, LoadMatrix, MmaKind, MoveMatrix, Op, Operand, Reg, Rounding, Shape, Space,
    StoreMatrix, Width,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "ldmatrix",
        when: &["m16n16", "m8n16"],
        syntax: "ldmatrix.sync.aligned{.m8n16,.m16n16.trans}{.x1,.x2,.x4}{.ss}.{b8,b8x16.src} r, [p]",
        section: "9.7.14.5.15",
        examples: &[
            "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [%rd1];",
            "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r1}, [%rd1];",
        ],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "ldmatrix",
        when: &[],
        syntax: "ldmatrix.sync.aligned.m8n8{.x1,.x2,.x4}{.trans}{.shared,.shared::cta}.b16 r, [p]",
        section: "9.7.14.5.15",
        examples: &[
            "ldmatrix.sync.aligned.m8n8.x1.shared::cta.b16 {%r1}, [%r2];",
            "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [smem+64];",
            "ldmatrix.sync.aligned.m8n8.x4.b16 {%r1, %r2, %r3, %r4}, [%rd1];",
            "ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%r1, %r2, %r3, %r4}, [%r1+16];",
        ],
        lowering: by(ldmatrix),
    },
    Form {
        opcode: "stmatrix",
        when: &["m16n8"],
        syntax: "stmatrix.sync.aligned.m16n8{.x1,.x2,.x4}.trans{.shared,.shared::cta}.b8 [p], r",
        section: "9.7.14.5.16",
        examples: &["stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%rd1], {%r1};"],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "stmatrix",
        when: &[],
        syntax: "stmatrix.sync.aligned.m8n8{.x1,.x2,.x4}{.trans}{.shared,.shared::cta}.b16 [p], r",
        section: "9.7.14.5.16",
        examples: &[
            "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r1};",
            "stmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 [smem], {%r1, %r2};",
            "stmatrix.sync.aligned.x4.m8n8.b16 [%rd1+32], {%r1, %r2, %r3, %r4};",
        ],
        lowering: by(stmatrix),
    },
    Form {
        opcode: "movmatrix",
        when: &[],
        syntax: "movmatrix.sync.aligned.m8n8.trans.b16 d, a",
        section: "9.7.14.5.17",
        examples: &["movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"],
        lowering: by(movmatrix),
    },
];

fn ldmatrix(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let (count, transpose, space) = eight_by_eight(insn)?;
    let dsts = insn.dst_list(count, Width::B32)?;
    let address = insn.address()?;
    insn.emit(Op::LoadMatrix(Box::new(LoadMatrix { dsts, transpose, space, address })));
    Ok(())
}

fn stmatrix(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let (count, transpose, space) = eight_by_eight(insn)?;
    let address = insn.address()?;
    let srcs = insn.src_vector(count, Type::B32, Fit::Exact)?;
    insn.emit(Op::StoreMatrix(Box::new(StoreMatrix { srcs, transpose, space, address })));
    Ok(())
}

fn movmatrix(insn: &mut Insn<'_, '_, '_>) -> Lower {
    whole_warp(insn)?;
    insn.require(&[("m8n8", ())], "`.m8n8`")?;
    insn.require(&[("trans", ())], "`.trans`")?;
    insn.ty(&[Type::B16])?;
    let dst = insn.dst(Width::B32)?;
    let src = insn.src(Type::B32)?;
    insn.emit(Op::MoveMatrix(MoveMatrix { dst, src }));
    Ok(())
}

/// Takes the modifiers of `ldmatrix` and `stmatrix`: number of matrices, transposition, and state space.
fn eight_by_eight(insn: &mut Insn<'_, '_, '_>) -> Lower<(usize, bool, Space)> {
    whole_warp(insn)?;
    insn.require(&[("m8n8", ())], "`.m8n8`")?;
    let count = insn.require(&[("x1", 1), ("x2", 2), ("x4", 4)], "`.x1`, `.x2` or `.x4`")?;
    let transpose = insn.flag("trans");
    let space = insn.choose(SHARED).unwrap_or(Space::Generic);
    insn.ty(&[Type::B16])?;
    Ok((count, transpose, space))
}

const SHARED: &[(&str, Space)] = &[("shared", Space::Shared), ("shared::cta", Space::Shared)];

/// `.sync` and `.aligned`, required in every matrix instruction.
pub(super) fn whole_warp(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("sync", ())], "`.sync`")?;
    insn.require(&[("aligned", ())], "`.aligned`")
}

const ELEMENTS: &[(&str, Element)] = &[
    ("f64", Element::F64),
    ("f32", Element::F32),
    ("tf32", Element::Tf32),
    ("f16", Element::F16),
    ("bf16", Element::Bf16),
    ("e4m3", Element::E4m3),
    ("e5m2", Element::E5m2),
    ("s32", Element::S32),
    ("s8", Element::S8),
    ("u8", Element::U8),
    ("s4", Element::S4),
    ("u4", Element::U4),
    ("b1", Element::B1),
];

/// Takes the next modifier that is the type of a matrix.
pub(super) fn element(insn: &mut Insn<'_, '_, '_>) -> Lower<Element> {
    insn.require(ELEMENTS, "the types of the matrices")
}

/// Like [`element`], for an optional type.
pub(super) fn optional_element(insn: &mut Insn<'_, '_, '_>) -> Option<Element> {
    insn.choose(ELEMENTS)
}

/// Takes the next modifier that is a layout.
pub(super) fn layout(insn: &mut Insn<'_, '_, '_>) -> Lower<Layout> {
    insn.require(&[("row", Layout::Row), ("col", Layout::Col)], "`.row` or `.col`")
}

/// Takes the modifier `.m16n8k16` or similar.
pub(super) fn shape(insn: &mut Insn<'_, '_, '_>) -> Lower<Shape> {
    insn.take(parse_shape).ok_or_else(|| insn.unsupported("this form needs a shape"))
}

fn parse_shape(text: &str) -> Option<Shape> {
    let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
}

/// Shortens the tables: a shape.
pub(super) const fn mnk(m: u16, n: u16, k: u16) -> Shape {
    Shape { m, n, k }
}

/// Takes the modifiers that say how products of `element` are combined. Only integers can be clamped; single
/// bits are not multiplied. Only doubles have a rounding.
pub(super) fn mma_kind(insn: &mut Insn<'_, '_, '_>, element: Element) -> Lower<MmaKind> {
    let saturate = match element {
        Element::B1 => {
            let bits = [("xor", MmaKind::XorPopc), ("and", MmaKind::AndPopc)];
            let kind = insn.require(&bits, "`.xor` or `.and`")?;
            insn.require(&[("popc", ())], "`.popc`")?;
            return Ok(kind);
        }
        Element::S8 | Element::U8 | Element::S4 | Element::U4 => insn.flag("satfinite"),
        _ => false,
    };
    let named = if element == Element::F64 { insn.choose(ROUNDING) } else { None };
    Ok(MmaKind::MultiplyAdd { saturate, rounding: named.unwrap_or(Rounding::NearestEven) })
}

/// Returns `true` if elements of two types may be multiplied with each other.
pub(super) fn same_family(a: Element, b: Element) -> bool {
    use Element::{E4m3, E5m2, S4, S8, U4, U8};
    let families = [[E4m3, E5m2], [S8, U8], [S4, U4]];
    a == b || families.iter().any(|family| family.contains(&a) && family.contains(&b))
}

/// The part of a matrix that one lane holds: a fragment.
#[derive(Clone, Copy)]
pub(super) struct LaneFragment {
    /// Number of registers.
    pub(super) count: usize,
    /// The type of its elements.
    pub(super) element: Element,
}

impl LaneFragment {
    /// Returns an even share for each of 32 lanes, packed. The manual's tables amount to this, except for the
    /// fragments that the callers handle themselves.
    pub(super) fn share(rows: u16, columns: u16, element: Element) -> Self {
        let bits = usize::from(rows) * usize::from(columns) * element.bits() as usize;
        let register = Self { count: 0, element }.width().bits() as usize;
        Self { count: bits / (32 * register), element }
    }

    fn width(self) -> Width {
        if self.element == Element::F64 { Width::B64 } else { Width::B32 }
    }

    pub(super) fn dst(self, insn: &mut Insn<'_, '_, '_>) -> Lower<Vec<Reg>> {
        insn.dst_list(self.count, self.width())
    }

    pub(super) fn src(self, insn: &mut Insn<'_, '_, '_>) -> Lower<Vec<Operand>> {
        let ty = match self.element {
            Element::F64 => Type::F64,
            Element::F32 => Type::F32,
            _ => Type::B32,
        };
        insn.src_vector(self.count, ty, Fit::Exact)
    }
}
