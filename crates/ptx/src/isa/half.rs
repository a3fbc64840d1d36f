//! Arithmetic in half precision: `.f16`, `.bf16` and pairs of them (manual §9.7.4).

use super::float::{APPROXIMATE_ONLY, MAX, MIN, binary, extremum, multiply_add, sign, unary};
use super::{Form, Insn, Lower, Lowering, Type, by};
use ir::{FloatBinary, FloatMode, FloatUnary};

const HALF: &[&str] = &["f16", "f16x2", "bf16", "bf16x2"];
const HALF_TYPES: &[Type] = &[Type::F16, Type::F16X2, Type::BF16, Type::BF16X2];

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "add",
        when: HALF,
        syntax: "add{.rn}{.ftz}{.sat}.{f16,f16x2} d, a, b; add{.rn}.{bf16,bf16x2} d, a, b",
        section: "9.7.4.1",
        examples: &[
            "add.ftz.sat.f16 %h1, %h2, %h3;",
            "add.rn.f16x2 %r1, %r2, %r3;",
            "add.bf16x2 %r1, %r2, %r3;",
        ],
        lowering: by(|insn| arithmetic(insn, FloatBinary::Add)),
    },
    Form {
        opcode: "sub",
        when: HALF,
        syntax: "sub{.rn}{.ftz}{.sat}.{f16,f16x2} d, a, b; sub{.rn}.{bf16,bf16x2} d, a, b",
        section: "9.7.4.2",
        examples: &["sub.f16x2 %r1, %r2, %r3;", "sub.rn.bf16 %h1, %h2, %h3;"],
        lowering: by(|insn| arithmetic(insn, FloatBinary::Sub)),
    },
    Form {
        opcode: "mul",
        when: HALF,
        syntax: "mul{.rn}{.ftz}{.sat}.{f16,f16x2} d, a, b; mul{.rn}.{bf16,bf16x2} d, a, b",
        section: "9.7.4.3",
        examples: &["mul.ftz.f16x2 %r1, %r2, %r3;", "mul.bf16 %h1, %h2, %h3;"],
        lowering: by(|insn| arithmetic(insn, FloatBinary::Mul)),
    },
    Form {
        opcode: "fma",
        when: &["oob"],
        syntax: "fma.rn.oob{.relu}.{f16,f16x2,bf16,bf16x2} d, a, b, c",
        section: "9.7.4.4",
        examples: &["fma.rn.oob.f16 %h1, %h2, %h3, %h4;"],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "fma",
        when: HALF,
        syntax: "fma.rn{.ftz}{.sat,.relu}.{f16,f16x2} d, a, b, c; \
                 fma.rn{.relu}.{bf16,bf16x2} d, a, b, c",
        section: "9.7.4.4",
        examples: &[
            "fma.rn.ftz.sat.f16 %h1, %h2, %h3, %h4;",
            "fma.rn.ftz.relu.f16x2 %r1, %r2, %r3, %r4;",
            "fma.rn.bf16 %h1, %h2, %h3, %h4;",
            "fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4;",
        ],
        lowering: by(fma),
    },
    Form {
        opcode: "neg",
        when: HALF,
        syntax: "neg{.ftz}.{f16,f16x2} d, a; neg.{bf16,bf16x2} d, a",
        section: "9.7.4.5",
        examples: &["neg.ftz.f16x2 %r1, %r2;", "neg.bf16 %h1, %h2;"],
        lowering: by(|insn| sign(insn, FloatUnary::Negate, HALF_TYPES)),
    },
    Form {
        opcode: "abs",
        when: HALF,
        syntax: "abs{.ftz}.{f16,f16x2} d, a; abs.{bf16,bf16x2} d, a",
        section: "9.7.4.6",
        examples: &["abs.ftz.f16 %h1, %h2;", "abs.bf16x2 %r1, %r2;"],
        lowering: by(|insn| sign(insn, FloatUnary::Abs, HALF_TYPES)),
    },
    Form {
        opcode: "min",
        when: HALF,
        syntax: "min{.ftz}{.NaN}{.xorsign.abs}.{f16,f16x2} d, a, b; \
                 min{.NaN}{.xorsign.abs}.{bf16,bf16x2} d, a, b",
        section: "9.7.4.7",
        examples: &["min.ftz.f16 %h1, %h2, %h3;", "min.NaN.xorsign.abs.bf16x2 %r1, %r2, %r3;"],
        lowering: by(|insn| extremum(insn, HALF_TYPES, MIN)),
    },
    Form {
        opcode: "max",
        when: HALF,
        syntax: "max{.ftz}{.NaN}{.xorsign.abs}.{f16,f16x2} d, a, b; \
                 max{.NaN}{.xorsign.abs}.{bf16,bf16x2} d, a, b",
        section: "9.7.4.8",
        examples: &["max.NaN.f16x2 %r1, %r2, %r3;", "max.bf16 %h1, %h2, %h3;"],
        lowering: by(|insn| extremum(insn, HALF_TYPES, MAX)),
    },
    Form {
        opcode: "tanh",
        when: HALF,
        syntax: "tanh.approx.{f16,f16x2,bf16,bf16x2} d, a",
        section: "9.7.4.9",
        examples: &["tanh.approx.f16 %h1, %h2;", "tanh.approx.bf16x2 %r1, %r2;"],
        lowering: by(|insn| {
            let mode = insn.require(APPROXIMATE_ONLY, "`.approx`")?;
            let ty = insn.ty(HALF_TYPES)?;
            unary(insn, ty, FloatUnary::Tanh, mode)
        }),
    },
    Form {
        opcode: "ex2",
        when: HALF,
        syntax: "ex2.approx.{f16,f16x2} d, a; ex2.approx.ftz.{bf16,bf16x2} d, a",
        section: "9.7.4.10",
        examples: &["ex2.approx.f16x2 %r1, %r2;", "ex2.approx.ftz.bf16 %h1, %h2;"],
        lowering: by(ex2),
    },
];

fn is_f16(ty: Type) -> bool {
    matches!(ty, Type::F16 | Type::F16X2)
}

/// `add`, `sub` and `mul`; `.rn` is the only rounding and the default.
fn arithmetic(insn: &mut Insn<'_, '_, '_>, op: FloatBinary) -> Lower {
    let ty = insn.ty(HALF_TYPES)?;
    let mode = FloatMode {
        contract: !insn.flag("rn"),
        flush: is_f16(ty) && insn.flag("ftz"),
        saturate: is_f16(ty) && insn.flag("sat"),
        ..FloatMode::NEAREST
    };
    binary(insn, ty, op, mode)
}

fn fma(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("rn", ())], "`.rn`")?;
    let ty = insn.ty(HALF_TYPES)?;
    let flush = is_f16(ty) && insn.flag("ftz");
    let saturate = is_f16(ty) && insn.flag("sat");
    let relu = !saturate && insn.flag("relu");
    multiply_add(insn, ty, FloatMode { flush, saturate, relu, ..FloatMode::NEAREST })
}

/// `.ftz` is fixed by the type: never for `.f16`, always for `.bf16`.
fn ex2(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let mode = insn.require(APPROXIMATE_ONLY, "`.approx`")?;
    let ty = insn.ty(HALF_TYPES)?;
    let flush = !is_f16(ty);
    if flush {
        insn.require(&[("ftz", ())], "`.ftz`")?;
    }
    unary(insn, ty, FloatUnary::Exp2, FloatMode { flush, ..mode })
}
