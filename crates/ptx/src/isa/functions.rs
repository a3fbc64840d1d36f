//! Reciprocals, roots and transcendental functions in single and double precision (manual
//! §9.7.3.13–22).

use super::float::{APPROXIMATE, APPROXIMATE_ONLY, SCALAR_TYPES, precision, unary};
use super::{Form, Insn, Lower, Type, by};
use ir::{Accuracy, FloatMode, FloatUnary, Format, IntBinary, Op, Operand, Width};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "rcp",
        when: &[],
        syntax: "rcp{.approx,.rn,.rz,.rm,.rp}{.ftz}.{f32,f64} d, a",
        section: "9.7.3.13, 9.7.3.14",
        examples: &[
            "rcp.approx.ftz.f32 %f1, %f2;",
            "rcp.rn.f32 %f1, %f2;",
            "rcp.rm.f64 %fd1, %fd2;",
            "rcp.approx.ftz.f64 %fd1, %fd2;",
        ],
        lowering: by(|insn| {
            let ty = insn.ty(SCALAR_TYPES)?;
            let mode = precision(insn)?;
            match (ty, mode.accuracy) {
                (Type::F64, Accuracy::Approximate) => {
                    insn.require(&[("ftz", ())], "`.ftz`")?;
                    upper_half_only(insn, FloatUnary::Reciprocal)
                }
                _ => unary_with_ftz(insn, ty, FloatUnary::Reciprocal, mode),
            }
        }),
    },
    Form {
        opcode: "sqrt",
        when: &[],
        syntax: "sqrt{.approx,.rn,.rz,.rm,.rp}{.ftz}.{f32,f64} d, a",
        section: "9.7.3.15",
        examples: &[
            "sqrt.approx.f32 %f1, %f2;",
            "sqrt.rn.ftz.f32 %f1, %f2;",
            "sqrt.rz.f64 %fd1, %fd2;",
        ],
        lowering: by(|insn| {
            let ty = insn.ty(SCALAR_TYPES)?;
            let mode = precision(insn)?;
            if ty == Type::F64 && mode.accuracy == Accuracy::Approximate {
                return Err(insn.unsupported("`.approx` takes `.f32` alone"));
            }
            unary_with_ftz(insn, ty, FloatUnary::Sqrt, mode)
        }),
    },
    Form {
        opcode: "rsqrt",
        when: &[],
        syntax: "rsqrt.approx{.ftz}.{f32,f64} d, a",
        section: "9.7.3.16, 9.7.3.17",
        examples: &[
            "rsqrt.approx.ftz.f32 %f1, %f2;",
            "rsqrt.approx.f64 %fd1, %fd2;",
            "rsqrt.approx.ftz.f64 %fd1, %fd2;",
        ],
        lowering: by(|insn| {
            let ty = insn.ty(SCALAR_TYPES)?;
            let mode = insn.require(APPROXIMATE_ONLY, "`.approx`")?;
            if ty == Type::F64 && insn.flag("ftz") {
                return upper_half_only(insn, FloatUnary::ReciprocalSqrt);
            }
            unary_with_ftz(insn, ty, FloatUnary::ReciprocalSqrt, mode)
        }),
    },
    Form {
        opcode: "sin",
        when: &[],
        syntax: "sin.approx{.ftz}.f32 d, a",
        section: "9.7.3.18",
        examples: &["sin.approx.ftz.f32 %f1, %f2;"],
        lowering: by(|insn| approximate(insn, FloatUnary::Sin)),
    },
    Form {
        opcode: "cos",
        when: &[],
        syntax: "cos.approx{.ftz}.f32 d, a",
        section: "9.7.3.19",
        examples: &["cos.approx.f32 %f1, %f2;"],
        lowering: by(|insn| approximate(insn, FloatUnary::Cos)),
    },
    Form {
        opcode: "lg2",
        when: &[],
        syntax: "lg2.approx{.ftz}.f32 d, a",
        section: "9.7.3.20",
        examples: &["lg2.approx.ftz.f32 %f1, %f2;"],
        lowering: by(|insn| approximate(insn, FloatUnary::Log2)),
    },
    Form {
        opcode: "ex2",
        when: &["f32"],
        syntax: "ex2.approx{.ftz}.f32 d, a",
        section: "9.7.3.21",
        examples: &["ex2.approx.ftz.f32 %f1, %f2;", "ex2.approx.f32 %f1, %f2;"],
        lowering: by(|insn| approximate(insn, FloatUnary::Exp2)),
    },
    Form {
        opcode: "tanh",
        when: &["f32"],
        syntax: "tanh.approx.f32 d, a",
        section: "9.7.3.22",
        examples: &["tanh.approx.f32 %f1, %f2;"],
        lowering: by(|insn| {
            let mode = insn.require(APPROXIMATE_ONLY, "`.approx`")?;
            let ty = insn.ty(&[Type::F32])?;
            unary(insn, ty, FloatUnary::Tanh, mode)
        }),
    },
];

/// Lowers an operation on one number; `.f32` may have `.ftz`.
fn unary_with_ftz(insn: &mut Insn<'_, '_, '_>, ty: Type, op: FloatUnary, mode: FloatMode) -> Lower {
    let flush = ty == Type::F32 && insn.flag("ftz");
    unary(insn, ty, op, FloatMode { flush, ..mode })
}

/// Lowers an approximate function of singles.
fn approximate(insn: &mut Insn<'_, '_, '_>, op: FloatUnary) -> Lower {
    let mode = insn.require(APPROXIMATE_ONLY, "`.approx`")?;
    let ty = insn.ty(&[Type::F32])?;
    unary_with_ftz(insn, ty, op, mode)
}

/// Lowers `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: only the upper halves of operand and result are
/// significant, the lower ones are zero.
fn upper_half_only(insn: &mut Insn<'_, '_, '_>, op: FloatUnary) -> Lower {
    let width = Width::B64;
    let dst = insn.dst(width)?;
    let a = insn.src(Type::F64)?;
    let upper = |dst, a| {
        let b = Operand::Constant(0xffff_ffff_0000_0000);
        Op::IntBinary { op: IntBinary::And, width, dst, a, b }
    };
    let a = insn.compute(width, |dst| upper(dst, a));
    let mode = FloatMode { flush: true, ..APPROXIMATE };
    let format = Format::F64;
    let result = insn.compute(width, |dst| Op::FloatUnary { op, format, lanes: 1, mode, dst, a });
    insn.emit(upper(dst, result));
    Ok(())
}
