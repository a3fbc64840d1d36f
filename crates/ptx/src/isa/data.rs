//! Moves between registers, and queries about addresses (manual §9.7.9.3–4, §9.7.9.7, §9.7.9.19–20).

use super::memory::{PARAM, SHARED, space_of_param};
use super::{Fit, Form, Insn, Lower, Type, by};
use crate::syntax::ast::Operand as Syntax;
use ir::{IntTernary, Op, Space, Width};

const SCALARS: &[Type] = &[
    Type::Pred,
    Type::B16,
    Type::B32,
    Type::B64,
    Type::B128,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F32,
    Type::F64,
];

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "mov",
        when: &[],
        syntax: "mov.{pred,b16,b32,b64,b128,u16,u32,u64,s16,s32,s64,f32,f64} d, a",
        section: "9.7.9.3, 9.7.9.4",
        examples: &[
            "mov.u32 %r1, %tid.x;",
            "mov.b32 %r1, {%h1, %h2};",
            "mov.b64 {%r1, _}, %rd1;",
            "mov.f32 %f1, 0f3F800000;",
            "mov.u64 %rd1, smem+16;",
            "mov.pred %p1, %p2;",
        ],
        lowering: by(mov),
    },
    Form {
        opcode: "prmt",
        when: &[],
        syntax: "prmt.b32{.f4e,.b4e,.rc8,.ecl,.ecr,.rc16} d, a, b, c",
        section: "9.7.9.7",
        examples: &["prmt.b32 %r1, %r2, %r3, 0x5410;", "prmt.b32.rc8 %r1, %r2, %r3, %r4;"],
        lowering: by(prmt),
    },
    Form {
        opcode: "cvta",
        when: &[],
        syntax: "cvta{.to}.{const,global,local,shared,shared::cta,shared::cluster,param,param::entry}.u64 d, a",
        section: "9.7.9.20",
        examples: &[
            "cvta.to.global.u64 %rd1, %rd2;",
            "cvta.shared.u64 %rd1, smem;",
            "cvta.param.u64 %rd1, p0;",
        ],
        lowering: by(cvta),
    },
    Form {
        opcode: "isspacep",
        when: &[],
        syntax: "isspacep.{const,global,local,shared,shared::cta,shared::cluster,param,param::entry} p, a",
        section: "9.7.9.19",
        examples: &["isspacep.shared %p1, %rd1;", "isspacep.shared::cluster %p1, %rd1;"],
        lowering: by(isspacep),
    },
];

fn mov(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let ty = insn.ty(SCALARS)?;
    match insn.instruction.operands.as_slice() {
        [_, Syntax::Vector(parts)] if parts.len() > 1 => pack(insn, ty, parts.len()),
        [Syntax::Vector(parts), _] if parts.len() > 1 => unpack(insn, ty, parts.len()),
        _ => {
            let dst = insn.dst(ty.width())?;
            let src = insn.src(ty)?;
            insn.emit(Op::Copy { dst, src });
            Ok(())
        }
    }
}

/// Returns the width of one of `count` equal parts of a bit-size type.
fn part_width(insn: &Insn<'_, '_, '_>, ty: Type, count: usize) -> Lower<Width> {
    let part = match (ty, count) {
        (Type::Bits(whole), 2 | 4) => Width::from_bits(whole.bits() / count as u32),
        _ => None,
    };
    part.filter(|&part| part > Width::B1)
        .ok_or_else(|| insn.unsupported("a register of this type has no such parts"))
}

fn pack(insn: &mut Insn<'_, '_, '_>, ty: Type, count: usize) -> Lower {
    let part = part_width(insn, ty, count)?;
    let dst = insn.dst(ty.width())?;
    let parts = insn.src_vector(count, Type::Bits(part), Fit::Exact)?;
    insn.emit(Op::Concat { dst, parts });
    Ok(())
}

fn unpack(insn: &mut Insn<'_, '_, '_>, ty: Type, count: usize) -> Lower {
    let part = part_width(insn, ty, count)?;
    let dsts = insn.dst_vector(count, part, Fit::Exact)?;
    let src = insn.src(ty)?;
    insn.emit(Op::Split { dsts, src });
    Ok(())
}

fn prmt(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.ty(&[Type::B32])?;
    let modes = &[
        ("f4e", IntTernary::PermuteForward4Extract),
        ("b4e", IntTernary::PermuteBackward4Extract),
        ("rc8", IntTernary::PermuteReplicate8),
        ("ecl", IntTernary::PermuteEdgeClampLeft),
        ("ecr", IntTernary::PermuteEdgeClampRight),
        ("rc16", IntTernary::PermuteReplicate16),
    ];
    let op = insn.choose(modes).unwrap_or(IntTernary::Permute);
    let dst = insn.dst(Width::B32)?;
    let (a, b, c) = (insn.src(Type::B32)?, insn.src(Type::B32)?, insn.src(Type::B32)?);
    insn.emit(Op::IntTernary { op, width: Width::B32, dst, a, b, c });
    Ok(())
}

/// Takes the space named by an address instruction.
fn address_space(insn: &mut Insn<'_, '_, '_>) -> Lower<Space> {
    let plain = &[
        ("const", Space::Const),
        ("global", Space::Global),
        ("local", Space::Local),
        ("shared::cluster", Space::SharedCluster),
    ];
    if let Some(space) = insn.choose(plain).or_else(|| insn.choose(SHARED)) {
        return Ok(space);
    }
    let space = insn.require(PARAM, "a state space")?;
    Ok(space_of_param(insn, space, None))
}

fn cvta(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let to_generic = !insn.flag("to");
    let space = address_space(insn)?;
    let ty = insn.ty(&[Type::U64])?;
    let dst = insn.dst(ty.width())?;
    let src = insn.src(ty)?;
    insn.emit(Op::ConvertAddress { dst, src, space, to_generic });
    Ok(())
}

fn isspacep(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let space = address_space(insn)?;
    let dst = insn.dst(Width::B1)?;
    let address = insn.src(Type::U64)?;
    insn.emit(Op::IsSpace { dst, address, space });
    Ok(())
}
