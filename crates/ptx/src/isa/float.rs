//! Arithmetic in single and double precision (manual §9.7.3.1–12), and in single precision with
//! half-precision sources (§9.7.5).

use super::convert::{Modifiers, conversion};
use super::{Form, Insn, Lower, Type, by};
use ir::{
    Accuracy, FloatBinary, FloatMode, FloatProperty, FloatUnary, Format, Op, Operand, Rounding,
    Scalar, Width,
};

/// Types that select this family for `add`, `mul` and similar. They come before the half-precision forms, so that
/// `add.f32.f16` is one of these.
const FLOAT: &[&str] = &["f32", "f64", "f32x2"];
/// Like [`FLOAT`], for operations without a packed form.
const SCALAR: &[&str] = &["f32", "f64"];

const FLOAT_TYPES: &[Type] = &[Type::F32, Type::F64, Type::F32X2];
pub(super) const SCALAR_TYPES: &[Type] = &[Type::F32, Type::F64];

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "testp",
        when: &[],
        syntax: "testp{.finite,.infinite,.number,.notanumber,.normal,.subnormal}.{f32,f64} p, a",
        section: "9.7.3.1",
        examples: &["testp.notanumber.f32 %p1, %f1;", "testp.subnormal.f64 %p1, %fd1;"],
        lowering: by(testp),
    },
    Form {
        opcode: "copysign",
        when: &[],
        syntax: "copysign.{f32,f64} d, a, b",
        section: "9.7.3.2",
        examples: &["copysign.f32 %f1, %f2, %f3;", "copysign.f64 %fd1, %fd2, %fd3;"],
        lowering: by(|insn| {
            let ty = insn.ty(SCALAR_TYPES)?;
            binary(insn, ty, FloatBinary::CopySign, FloatMode::NEAREST)
        }),
    },
    Form {
        opcode: "add",
        when: FLOAT,
        syntax: "add{.rn,.rz,.rm,.rp}{.ftz}{.sat}.{f32,f32x2,f64}{.f16,.bf16} d, a, b",
        section: "9.7.3.3, 9.7.5.1",
        examples: &[
            "add.rz.ftz.sat.f32 %f1, %f2, 0f3F800000;",
            "add.f64 %fd1, %fd2, %fd3;",
            "add.rp.ftz.f32x2 %rd1, %rd2, %rd3;",
            "add.rz.sat.f32.bf16 %f1, %h1, %f2;",
        ],
        lowering: by(|insn| sum(insn, FloatBinary::Add)),
    },
    Form {
        opcode: "sub",
        when: FLOAT,
        syntax: "sub{.rn,.rz,.rm,.rp}{.ftz}{.sat}.{f32,f32x2,f64}{.f16,.bf16} d, a, b",
        section: "9.7.3.4, 9.7.5.2",
        examples: &[
            "sub.f32 %f1, %f2, %f3;",
            "sub.rm.f64 %fd1, %fd2, %fd3;",
            "sub.rn.f32x2 %rd1, %rd2, %rd3;",
            "sub.rn.f32.f16 %f1, %h1, %f2;",
        ],
        lowering: by(|insn| sum(insn, FloatBinary::Sub)),
    },
    Form {
        opcode: "mul",
        when: FLOAT,
        syntax: "mul{.rn,.rz,.rm,.rp}{.ftz}{.sat}.{f32,f32x2,f64} d, a, b",
        section: "9.7.3.5",
        examples: &[
            "mul.ftz.f32 %f1, %f2, %f3;",
            "mul.rn.f64 %fd1, %fd2, 0d4000000000000000;",
            "mul.f32x2 %rd1, %rd2, %rd3;",
        ],
        lowering: by(|insn| {
            let ty = insn.ty(FLOAT_TYPES)?;
            let mode = arithmetic_mode(insn, ty);
            binary(insn, ty, FloatBinary::Mul, mode)
        }),
    },
    Form {
        opcode: "fma",
        when: FLOAT,
        syntax: "fma{.rn,.rz,.rm,.rp}{.ftz}{.sat}.{f32,f32x2,f64}{.f16,.bf16} d, a, b, c",
        section: "9.7.3.6, 9.7.5.3",
        examples: &[
            "fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f1;",
            "fma.rz.f64 %fd1, %fd2, %fd3, %fd4;",
            "fma.rm.ftz.f32x2 %rd1, %rd2, %rd3, %rd4;",
            "fma.rz.sat.f32.f16 %f1, %h1, %h2, %f2;",
        ],
        lowering: by(fma),
    },
    Form {
        opcode: "mad",
        when: SCALAR,
        syntax: "mad{.rn,.rz,.rm,.rp}{.ftz}{.sat}.{f32,f64} d, a, b, c",
        section: "9.7.3.7",
        examples: &["mad.rn.ftz.f32 %f1, %f2, %f3, %f4;", "mad.rp.f64 %fd1, %fd2, %fd3, %fd4;"],
        // Modules older than PTX ISA 3.2 may omit the rounding.
        lowering: by(|insn| {
            let ty = insn.ty(SCALAR_TYPES)?;
            let mode = arithmetic_mode(insn, ty);
            multiply_add(insn, ty, mode)
        }),
    },
    Form {
        opcode: "div",
        when: SCALAR,
        syntax: "div{.approx,.full,.rn,.rz,.rm,.rp}{.ftz}.{f32,f64} d, a, b",
        section: "9.7.3.8",
        examples: &[
            "div.approx.ftz.f32 %f1, %f2, %f3;",
            "div.full.f32 %f1, %f2, %f3;",
            "div.rz.ftz.f32 %f1, %f2, %f3;",
            "div.rn.f64 %fd1, %fd2, %fd3;",
        ],
        lowering: by(div),
    },
    Form {
        opcode: "abs",
        when: SCALAR,
        syntax: "abs{.ftz}.{f32,f64} d, a",
        section: "9.7.3.9",
        examples: &["abs.ftz.f32 %f1, %f2;", "abs.f64 %fd1, %fd2;"],
        lowering: by(|insn| sign(insn, FloatUnary::Abs, SCALAR_TYPES)),
    },
    Form {
        opcode: "neg",
        when: SCALAR,
        syntax: "neg{.ftz}.{f32,f64} d, a",
        section: "9.7.3.10",
        examples: &["neg.f32 %f1, %f2;", "neg.f64 %fd1, %fd2;"],
        lowering: by(|insn| sign(insn, FloatUnary::Negate, SCALAR_TYPES)),
    },
    Form {
        opcode: "min",
        when: SCALAR,
        syntax: "min{.ftz}{.NaN}{.xorsign.abs}.{f32,f64} d, a, b; \
                 min{.ftz}{.NaN}{.abs}.f32 d, a, b, c",
        section: "9.7.3.11",
        examples: &[
            "min.ftz.NaN.xorsign.abs.f32 %f1, %f2, %f3;",
            "min.f64 %fd1, %fd2, %fd3;",
            "min.abs.f32 %f1, %f2, %f3, %f4;",
        ],
        lowering: by(|insn| extremum(insn, SCALAR_TYPES, MIN)),
    },
    Form {
        opcode: "max",
        when: SCALAR,
        syntax: "max{.ftz}{.NaN}{.xorsign.abs}.{f32,f64} d, a, b; \
                 max{.ftz}{.NaN}{.abs}.f32 d, a, b, c",
        section: "9.7.3.12",
        examples: &[
            "max.f32 %f1, %f2, 0f00000000;",
            "max.NaN.f32 %f1, %f2, %f3;",
            "max.ftz.NaN.f32 %f1, %f2, %f3, %f1;",
        ],
        lowering: by(|insn| extremum(insn, SCALAR_TYPES, MAX)),
    },
];

pub(super) const ROUNDING: &[(&str, Rounding)] = &[
    ("rn", Rounding::NearestEven),
    ("rz", Rounding::Zero),
    ("rm", Rounding::Down),
    ("rp", Rounding::Up),
];

pub(super) const APPROXIMATE: FloatMode =
    FloatMode { accuracy: Accuracy::Approximate, ..FloatMode::NEAREST };
pub(super) const APPROXIMATE_ONLY: &[(&str, FloatMode)] = &[("approx", APPROXIMATE)];

/// `.approx` or a rounding; one of them is required.
pub(super) fn precision(insn: &mut Insn<'_, '_, '_>) -> Lower<FloatMode> {
    if let Some(mode) = insn.choose(APPROXIMATE_ONLY) {
        return Ok(mode);
    }
    let rounding = insn.require(ROUNDING, "`.approx` or a rounding")?;
    Ok(FloatMode { rounding, ..FloatMode::NEAREST })
}

/// `mode` with the subnormal and saturation flags of an arithmetic instruction on `ty`.
fn with_flags(insn: &mut Insn<'_, '_, '_>, ty: Type, mode: FloatMode) -> FloatMode {
    FloatMode {
        flush: ty != Type::F64 && insn.flag("ftz"),
        saturate: ty == Type::F32 && insn.flag("sat"),
        ..mode
    }
}

/// Takes the modifiers of `add`, `sub`, `mul` and `mad`. Without a rounding they round to nearest even,
/// and the assembler may contract them.
fn arithmetic_mode(insn: &mut Insn<'_, '_, '_>, ty: Type) -> FloatMode {
    let mode = optional_rounding(insn);
    with_flags(insn, ty, mode)
}

/// Takes an optional rounding.
fn optional_rounding(insn: &mut Insn<'_, '_, '_>) -> FloatMode {
    match insn.choose(ROUNDING) {
        Some(rounding) => FloatMode { rounding, ..FloatMode::NEAREST },
        None => FloatMode { contract: true, ..FloatMode::NEAREST },
    }
}

/// Format and lanes of a floating-point type.
fn layout(insn: &Insn<'_, '_, '_>, ty: Type) -> Lower<(Format, u8)> {
    ty.float().ok_or_else(|| insn.unsupported("a floating-point type is needed"))
}

/// Takes `d, a` and emits the operation.
pub(super) fn unary(
    insn: &mut Insn<'_, '_, '_>,
    ty: Type,
    op: FloatUnary,
    mode: FloatMode,
) -> Lower {
    let (format, lanes) = layout(insn, ty)?;
    let dst = insn.dst(ty.width())?;
    let a = insn.src(ty)?;
    insn.emit(Op::FloatUnary { op, format, lanes, mode, dst, a });
    Ok(())
}

/// Takes `d, a, b` and emits the operation.
pub(super) fn binary(
    insn: &mut Insn<'_, '_, '_>,
    ty: Type,
    op: FloatBinary,
    mode: FloatMode,
) -> Lower {
    let (format, lanes) = layout(insn, ty)?;
    let dst = insn.dst(ty.width())?;
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    insn.emit(Op::FloatBinary { op, format, lanes, mode, dst, a, b });
    Ok(())
}

/// Takes `d, a, b, c` and emits the operation.
pub(super) fn multiply_add(insn: &mut Insn<'_, '_, '_>, ty: Type, mode: FloatMode) -> Lower {
    let (format, lanes) = layout(insn, ty)?;
    let dst = insn.dst(ty.width())?;
    let (a, b, c) = (insn.src(ty)?, insn.src(ty)?, insn.src(ty)?);
    insn.emit(Op::Fma { format, lanes, mode, dst, a, b, c });
    Ok(())
}

/// Takes the half-precision source type of a mixed instruction.
fn narrow_source(insn: &mut Insn<'_, '_, '_>, ty: Type) -> Option<Format> {
    if ty != Type::F32 {
        return None;
    }
    insn.choose(&[("f16", Format::F16), ("bf16", Format::Bf16)])
}

/// Takes the next operand, a half, and converts it to single precision, exactly.
fn widened_source(insn: &mut Insn<'_, '_, '_>, narrow: Format) -> Lower<Operand> {
    let src = insn.src(Type::Float(narrow))?;
    let (from, to) = (Scalar::Float(narrow), Scalar::Float(Format::F32));
    Ok(insn.compute(Width::B32, |dst| conversion(dst, src, from, to, Modifiers::NONE)))
}

/// Lowers `add` and `sub`.
fn sum(insn: &mut Insn<'_, '_, '_>, op: FloatBinary) -> Lower {
    let ty = insn.ty(FLOAT_TYPES)?;
    let Some(narrow) = narrow_source(insn, ty) else {
        let mode = arithmetic_mode(insn, ty);
        return binary(insn, ty, op, mode);
    };
    let mode = FloatMode { saturate: insn.flag("sat"), ..optional_rounding(insn) };
    let dst = insn.dst(Width::B32)?;
    let a = widened_source(insn, narrow)?;
    let b = insn.src(ty)?;
    insn.emit(Op::FloatBinary { op, format: Format::F32, lanes: 1, mode, dst, a, b });
    Ok(())
}

fn fma(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let ty = insn.ty(FLOAT_TYPES)?;
    let rounding = insn.require(ROUNDING, "a rounding")?;
    let mode = FloatMode { rounding, ..FloatMode::NEAREST };
    let Some(narrow) = narrow_source(insn, ty) else {
        let mode = with_flags(insn, ty, mode);
        return multiply_add(insn, ty, mode);
    };
    let mode = FloatMode { saturate: insn.flag("sat"), ..mode };
    let dst = insn.dst(Width::B32)?;
    let (a, b) = (widened_source(insn, narrow)?, widened_source(insn, narrow)?);
    let c = insn.src(ty)?;
    insn.emit(Op::Fma { format: Format::F32, lanes: 1, mode, dst, a, b, c });
    Ok(())
}

fn testp(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let properties = [
        ("finite", FloatProperty::Finite),
        ("infinite", FloatProperty::Infinite),
        ("number", FloatProperty::Number),
        ("notanumber", FloatProperty::NotANumber),
        ("normal", FloatProperty::Normal),
        ("subnormal", FloatProperty::Subnormal),
    ];
    let property = insn.require(&properties, "a property")?;
    let ty = insn.ty(SCALAR_TYPES)?;
    let (format, _) = layout(insn, ty)?;
    let dst = insn.dst(Width::B1)?;
    let a = insn.src(ty)?;
    insn.emit(Op::FloatTest { property, format, dst, a });
    Ok(())
}

fn div(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let ty = insn.ty(SCALAR_TYPES)?;
    let full = ty == Type::F32 && insn.flag("full");
    let mode = match full {
        true => FloatMode { accuracy: Accuracy::Full, ..FloatMode::NEAREST },
        false => precision(insn)?,
    };
    if ty == Type::F64 && mode.accuracy == Accuracy::Approximate {
        return Err(insn.unsupported("`.approx` takes `.f32` alone"));
    }
    let flush = ty == Type::F32 && insn.flag("ftz");
    binary(insn, ty, FloatBinary::Div, FloatMode { flush, ..mode })
}

/// `abs` and `neg`.
pub(super) fn sign(insn: &mut Insn<'_, '_, '_>, op: FloatUnary, types: &[Type]) -> Lower {
    let ty = insn.ty(types)?;
    let flush = may_flush(ty) && insn.flag("ftz");
    unary(insn, ty, op, FloatMode { flush, ..FloatMode::NEAREST })
}

/// Returns `true` if instructions on `ty` that do not round may have `.ftz`.
fn may_flush(ty: Type) -> bool {
    matches!(ty, Type::F32 | Type::F16 | Type::F16X2)
}

/// Makes `min` or `max` from "propagates NaN" and "takes magnitudes and the product's sign".
pub(super) type Extremum = fn(bool, bool) -> FloatBinary;

pub(super) const MIN: Extremum =
    |propagate_nan, xor_sign_abs| FloatBinary::Min { propagate_nan, xor_sign_abs };
pub(super) const MAX: Extremum =
    |propagate_nan, xor_sign_abs| FloatBinary::Max { propagate_nan, xor_sign_abs };

/// Lowers `min` and `max`.
pub(super) fn extremum(insn: &mut Insn<'_, '_, '_>, types: &[Type], op: Extremum) -> Lower {
    let ty = insn.ty(types)?;
    let flush = may_flush(ty) && insn.flag("ftz");
    let mode = FloatMode { flush, ..FloatMode::NEAREST };
    let propagate_nan = ty != Type::F64 && insn.flag("NaN");
    if ty == Type::F32 && insn.remaining() == 4 {
        return extremum_of_three(insn, op(propagate_nan, false), mode);
    }
    let xor_sign = ty != Type::F64 && insn.flag("xorsign");
    if xor_sign {
        insn.require(&[("abs", ())], "`.abs` with `.xorsign`")?;
    }
    binary(insn, ty, op(propagate_nan, xor_sign), mode)
}

/// Lowers `min` and `max` of three operands: two steps of two, after taking magnitudes, as the manual defines them.
fn extremum_of_three(insn: &mut Insn<'_, '_, '_>, op: FloatBinary, mode: FloatMode) -> Lower {
    let magnitudes = insn.flag("abs");
    let (width, format, lanes) = (Width::B32, Format::F32, 1);
    let dst = insn.dst(width)?;
    let mut operands = [insn.src(Type::F32)?, insn.src(Type::F32)?, insn.src(Type::F32)?];
    if magnitudes {
        let op = FloatUnary::Abs;
        operands = operands
            .map(|a| insn.compute(width, |dst| Op::FloatUnary { op, format, lanes, mode, dst, a }));
    }
    let [a, b, c] = operands;
    let a = insn.compute(width, |dst| Op::FloatBinary { op, format, lanes, mode, dst, a, b });
    insn.emit(Op::FloatBinary { op, format, lanes, mode, dst, a, b: c });
    Ok(())
}
