//! Extended-precision integer arithmetic (manual §9.7.2): chains of additions through the carry flag, an ordinary
//! predicate register in the core program.

use super::integer::{ProductPart, WORD_TYPES, part_of_product};
use super::{Form, Insn, Lower, Type, by};
use ir::{Op, Operand};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "add",
        when: &["cc"],
        syntax: "add.cc.{u32,s32,u64,s64} d, a, b",
        section: "9.7.2.1",
        examples: &["add.cc.u32 %r1, %r2, %r3;", "add.cc.s64 %rd1, %rd2, 5;"],
        lowering: by(|insn| carry(insn, Carry { subtract: false, reads: false })),
    },
    Form {
        opcode: "addc",
        when: &[],
        syntax: "addc{.cc}.{u32,s32,u64,s64} d, a, b",
        section: "9.7.2.2",
        examples: &["addc.u32 %r1, %r2, %r3;", "addc.cc.u64 %rd1, %rd2, %rd3;"],
        lowering: by(|insn| carry(insn, Carry { subtract: false, reads: true })),
    },
    Form {
        opcode: "sub",
        when: &["cc"],
        syntax: "sub.cc.{u32,s32,u64,s64} d, a, b",
        section: "9.7.2.3",
        examples: &["sub.cc.u32 %r1, %r2, %r3;"],
        lowering: by(|insn| carry(insn, Carry { subtract: true, reads: false })),
    },
    Form {
        opcode: "subc",
        when: &[],
        syntax: "subc{.cc}.{u32,s32,u64,s64} d, a, b",
        section: "9.7.2.4",
        examples: &["subc.u32 %r1, %r2, %r3;", "subc.cc.s32 %r1, %r2, %r3;"],
        lowering: by(|insn| carry(insn, Carry { subtract: true, reads: true })),
    },
    Form {
        opcode: "mad",
        when: &["cc"],
        syntax: "mad{.hi,.lo}.cc.{u32,s32,u64,s64} d, a, b, c",
        section: "9.7.2.5",
        examples: &["mad.lo.cc.u32 %r1, %r2, %r3, %r4;", "mad.hi.cc.s64 %rd1, %rd2, %rd3, %rd4;"],
        lowering: by(|insn| multiply_carry(insn, false)),
    },
    Form {
        opcode: "madc",
        when: &[],
        syntax: "madc{.hi,.lo}{.cc}.{u32,s32,u64,s64} d, a, b, c",
        section: "9.7.2.6",
        examples: &["madc.hi.u32 %r1, %r2, %r3, %r4;", "madc.lo.cc.u32 %r1, %r2, %r3, %r4;"],
        lowering: by(|insn| multiply_carry(insn, true)),
    },
];

/// The operation of an instruction in a carry chain, besides adding.
struct Carry {
    subtract: bool,
    /// Set if it reads the carry flag.
    reads: bool,
}

fn carry(insn: &mut Insn<'_, '_, '_>, kind: Carry) -> Lower {
    let writes = insn.flag("cc");
    let ty = insn.ty(WORD_TYPES)?;
    let dst = insn.dst(ty.width())?;
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    add_carry(insn, ty, dst, (a, b), kind, writes);
    Ok(())
}

fn multiply_carry(insn: &mut Insn<'_, '_, '_>, reads: bool) -> Lower {
    let part =
        insn.require(&[("lo", ProductPart::Low), ("hi", ProductPart::High)], "`.lo` or `.hi`")?;
    let writes = insn.flag("cc");
    let ty = insn.ty(WORD_TYPES)?;
    let width = ty.width();
    let dst = insn.dst(width)?;
    let (a, b, c) = (insn.src(ty)?, insn.src(ty)?, insn.src(ty)?);
    let op = part_of_product(part, ty.is_signed());
    let product = insn.compute(width, |dst| Op::IntBinary { op, width, dst, a, b });
    add_carry(insn, ty, dst, (product, c), Carry { subtract: false, reads }, writes);
    Ok(())
}

/// Emits an addition or subtraction; `writes`: it sets the carry flag.
fn add_carry(
    insn: &mut Insn<'_, '_, '_>,
    ty: Type,
    dst: ir::Reg,
    (a, b): (Operand, Operand),
    kind: Carry,
    writes: bool,
) {
    let flag = insn.builder.condition_code();
    insn.emit(Op::AddCarry {
        width: ty.width(),
        subtract: kind.subtract,
        dst,
        carry_out: writes.then_some(flag),
        a,
        b,
        carry_in: kind.reads.then_some(flag.into()),
    });
}
