//! Logic and shift instructions (manual §9.7.8).

use super::{Form, Insn, Lower, Type, by};
use ir::{BitRange, IntBinary, IntTernary, IntUnary, Op, Operand, Relation, Width};

const LOGIC_TYPES: &[Type] = &[Type::Pred, Type::B16, Type::B32, Type::B64];
const SHIFT_TYPES: &[Type] = &[Type::B16, Type::B32, Type::B64];
const RIGHT_SHIFT_TYPES: &[Type] = &[
    Type::B16,
    Type::B32,
    Type::B64,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S16,
    Type::S32,
    Type::S64,
];

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "and",
        when: &[],
        syntax: "and.{pred,b16,b32,b64} d, a, b",
        section: "9.7.8.1",
        examples: &["and.b32 %r1, %r2, 0xff;", "and.pred %p1, %p2, !%p3;"],
        lowering: by(|insn| bitwise(insn, IntBinary::And)),
    },
    Form {
        opcode: "or",
        when: &[],
        syntax: "or.{pred,b16,b32,b64} d, a, b",
        section: "9.7.8.2",
        examples: &["or.b64 %rd1, %rd2, %rd3;"],
        lowering: by(|insn| bitwise(insn, IntBinary::Or)),
    },
    Form {
        opcode: "xor",
        when: &[],
        syntax: "xor.{pred,b16,b32,b64} d, a, b",
        section: "9.7.8.3",
        examples: &["xor.b32 %r1, %r2, -1;"],
        lowering: by(|insn| bitwise(insn, IntBinary::Xor)),
    },
    Form {
        opcode: "not",
        when: &[],
        syntax: "not.{pred,b16,b32,b64} d, a",
        section: "9.7.8.4",
        examples: &["not.b32 %r1, %r2;", "not.pred %p1, %p2;"],
        lowering: by(|insn| {
            let ty = insn.ty(LOGIC_TYPES)?;
            let dst = insn.dst(ty.width())?;
            let a = insn.src(ty)?;
            insn.emit(Op::IntUnary { op: IntUnary::Not, width: ty.width(), dst, a });
            Ok(())
        }),
    },
    Form {
        opcode: "cnot",
        when: &[],
        syntax: "cnot.{b16,b32,b64} d, a",
        section: "9.7.8.5",
        examples: &["cnot.b32 %r1, %r2;"],
        lowering: by(cnot),
    },
    Form {
        opcode: "lop3",
        when: &[],
        syntax: "lop3{.or,.and}.b32 d{|p}, a, b, c, immLut{, q}",
        section: "9.7.8.6",
        examples: &[
            "lop3.b32 %r1, %r2, %r3, %r4, 0xea;",
            "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x40, %p2;",
            "lop3.and.b32 _|%p1, %r2, %r3, %r4, 3, !%p1;",
        ],
        lowering: by(lop3),
    },
    Form {
        opcode: "shf",
        when: &[],
        syntax: "shf.{l,r}.{clamp,wrap}.b32 d, a, b, c",
        section: "9.7.8.7",
        examples: &["shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "shf.r.clamp.b32 %r1, %r2, %r3, 16;"],
        lowering: by(shf),
    },
    Form {
        opcode: "shl",
        when: &[],
        syntax: "shl.{b16,b32,b64} d, a, b",
        section: "9.7.8.8",
        examples: &["shl.b32 %r1, %r2, 3;", "shl.b64 %rd1, %rd2, %r3;"],
        lowering: by(|insn| shift(insn, SHIFT_TYPES, |_| IntBinary::Shl)),
    },
    Form {
        opcode: "shr",
        when: &[],
        syntax: "shr.{b16,b32,b64,u16,u32,u64,s16,s32,s64} d, a, b",
        section: "9.7.8.9",
        examples: &["shr.s32 %r1, %r2, 31;", "shr.u64 %rd1, %rd2, %r3;", "shr.b16 %h1, %h2, 8;"],
        lowering: by(|insn| shift(insn, RIGHT_SHIFT_TYPES, |signed| IntBinary::Shr { signed })),
    },
];

fn bitwise(insn: &mut Insn<'_, '_, '_>, op: IntBinary) -> Lower {
    let ty = insn.ty(LOGIC_TYPES)?;
    let dst = insn.dst(ty.width())?;
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    insn.emit(Op::IntBinary { op, width: ty.width(), dst, a, b });
    Ok(())
}

/// Lowers a shift. The amount has 32 bits, for all shifted types.
fn shift(insn: &mut Insn<'_, '_, '_>, types: &[Type], op: fn(bool) -> IntBinary) -> Lower {
    let ty = insn.ty(types)?;
    let dst = insn.dst(ty.width())?;
    let (a, b) = (insn.src(ty)?, insn.src(Type::U32)?);
    insn.emit(Op::IntBinary { op: op(ty.is_signed()), width: ty.width(), dst, a, b });
    Ok(())
}

/// Lowers `cnot`, which is C's `!`: 1 if the operand is 0, else 0.
fn cnot(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let ty = insn.ty(SHIFT_TYPES)?;
    let dst = insn.dst(ty.width())?;
    let a = insn.src(ty)?;
    let condition = nonzero(insn, ty.width(), a);
    let (if_true, if_false) = (Operand::Constant(0), Operand::Constant(1));
    insn.emit(Op::Select { dst, condition, if_true, if_false });
    Ok(())
}

fn nonzero(insn: &mut Insn<'_, '_, '_>, width: Width, a: Operand) -> Operand {
    let (relation, signed, b) = (Relation::Ne, false, Operand::Constant(0));
    insn.compute(Width::B1, |dst| Op::IntCompare { relation, signed, width, dst, a, b })
}

fn lop3(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let combine = insn.choose(&[("or", IntBinary::Or), ("and", IntBinary::And)]);
    insn.ty(&[Type::B32])?;
    let width = Width::B32;
    let (dst, predicate) = match combine {
        Some(_) => insn.dst_pair(width, Width::B1)?,
        None => (Some(insn.dst(width)?), None),
    };
    let (a, b, c) = (insn.src(Type::B32)?, insn.src(Type::B32)?, insn.src(Type::B32)?);
    let table = u8::try_from(insn.immediate()?);
    let table = table.map_err(|_| insn.unsupported("a truth table has 8 bits"))?;
    let op = IntTernary::Logic { table };
    let Some(combine) = combine else {
        let Some(dst) = dst else { return Err(insn.unsupported("a destination is missing")) };
        insn.emit(Op::IntTernary { op, width, dst, a, b, c });
        return Ok(());
    };
    let q = insn.predicate()?;
    let value = insn.compute(width, |dst| Op::IntTernary { op, width, dst, a, b, c });
    let truth = nonzero(insn, width, value);
    let both = insn.compute(Width::B1, |dst| Op::IntBinary {
        op: combine,
        width: Width::B1,
        dst,
        a: truth,
        b: q,
    });
    if let Some(dst) = dst {
        insn.emit(Op::Copy { dst, src: value });
    }
    if let Some(predicate) = predicate {
        insn.emit(Op::Copy { dst: predicate, src: both });
    }
    Ok(())
}

fn shf(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let left = insn.require(&[("l", true), ("r", false)], "`.l` or `.r`")?;
    let modes = &[("clamp", BitRange::Clamp), ("wrap", BitRange::Wrap)];
    let range = insn.require(modes, "`.clamp` or `.wrap`")?;
    insn.ty(&[Type::B32])?;
    let dst = insn.dst(Width::B32)?;
    let (a, b, c) = (insn.src(Type::B32)?, insn.src(Type::B32)?, insn.src(Type::U32)?);
    let op = IntTernary::FunnelShift { left, range };
    insn.emit(Op::IntTernary { op, width: Width::B32, dst, a, b, c });
    Ok(())
}
