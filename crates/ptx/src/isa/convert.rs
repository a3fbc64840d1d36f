//! Conversion of one number (manual §9.7.9.21). Pairs are in `convert_pair`.

use super::float::ROUNDING;
use super::{Form, Insn, Lower, Type, by};
use ir::{FloatMode, FloatUnary, Format, IntBinary, Op, Operand, Reg, Rounding, Scalar, Width};

const SCALARS: &[Type] = &[
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S8,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F16,
    Type::BF16,
    Type::F32,
    Type::F64,
];

/// The last form matches everything, so this family comes after the other conversions.
pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "cvt",
        when: &["tf32"],
        syntax: "cvt.rna{.satfinite}.tf32.f32 d, a; cvt{.rn,.rz}{.satfinite}{.relu}.tf32.f32 d, a",
        section: "9.7.9.21",
        examples: &[
            "cvt.rna.satfinite.tf32.f32 %r1, %f1;",
            "cvt.rn.relu.tf32.f32 %r1, %f1;",
            "cvt.rz.satfinite.tf32.f32 %r1, %f1;",
        ],
        lowering: by(to_tf32),
    },
    Form {
        opcode: "cvt",
        when: &["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"],
        syntax: "cvt{.rounding}{.ftz}{.sat}.dtype.atype d, a, at least one an integer",
        section: "9.7.9.21",
        examples: &[
            "cvt.u32.s16 %rd1, %r2;",
            "cvt.sat.s8.u32 %r1, %r2;",
            "cvt.rzi.ftz.s16.f32 %r1, %f2;",
            "cvt.rn.sat.f32.u8 %f1, %h2;",
        ],
        lowering: by(cvt),
    },
    Form {
        opcode: "cvt",
        when: &[],
        syntax: "cvt{.rounding}{.ftz}{.sat}{.relu}{.satfinite}.dtype.atype d, a, both floats",
        section: "9.7.9.21",
        examples: &[
            "cvt.rmi.ftz.f32.f32 %f1, %f2;",
            "cvt.sat.f32.f32 %f1, %f2;",
            "cvt.rn.relu.satfinite.bf16.f32 %h1, %f2;",
            "cvt.ftz.f64.f32 %fd1, %f2;",
        ],
        lowering: by(cvt),
    },
];

/// Modifiers of a conversion.
#[derive(Clone, Copy)]
pub(super) struct Modifiers {
    pub(super) rounding: Rounding,
    pub(super) flush: bool,
    pub(super) saturate: bool,
    pub(super) finite: bool,
    pub(super) relu: bool,
}

impl Modifiers {
    /// The modifiers of exact conversions.
    pub(super) const NONE: Self = Self {
        rounding: Rounding::NearestEven,
        flush: false,
        saturate: false,
        finite: false,
        relu: false,
    };
}

/// Builds a conversion.
pub(super) fn conversion(
    dst: Reg,
    src: Operand,
    from: Scalar,
    to: Scalar,
    modifiers: Modifiers,
) -> Op {
    let Modifiers { rounding, flush, saturate, finite, relu } = modifiers;
    Op::Convert { dst, src, from, to, rounding, flush, saturate, finite, relu }
}

const TO_INTEGRAL: &[(&str, Rounding)] = &[
    ("rni", Rounding::NearestEven),
    ("rzi", Rounding::Zero),
    ("rmi", Rounding::Down),
    ("rpi", Rounding::Up),
];

fn cvt(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let (to, from) = (insn.ty(SCALARS)?, insn.ty(SCALARS)?);
    match (to, from) {
        (Type::Float(to), Type::Float(from)) => between_floats(insn, to, from),
        (Type::Float(to), from) => from_integer(insn, to, from),
        (to, Type::Float(from)) => to_integer(insn, to, from),
        (to, from) => between_integers(insn, to, from),
    }
}

fn scalar(insn: &Insn<'_, '_, '_>, ty: Type) -> Lower<Scalar> {
    ty.scalar().ok_or_else(|| insn.unsupported("a number is needed"))
}

// Integers.

/// Writes the low bits of `src`, a value of type `ty`, to a register that may be wider.
fn extend(insn: &mut Insn<'_, '_, '_>, dst: Reg, src: Operand, ty: Type) {
    insn.emit(Op::Resize { dst, src, from: ty.width(), signed: ty.is_signed() });
}

fn between_integers(insn: &mut Insn<'_, '_, '_>, to: Type, from: Type) -> Lower {
    let bounds = Bounds::between(to, from);
    let saturate = bounds.are_needed() && insn.flag("sat");
    let dst = insn.wide_dst(to.width())?;
    let mut src = insn.wide_src(from)?;
    if saturate {
        src = bounds.clamp(insn, src, from);
    }
    if to.width() <= from.width() {
        extend(insn, dst, src, to);
        return Ok(());
    }
    if insn.builder.width(dst) == to.width() {
        extend(insn, dst, src, from);
        return Ok(());
    }
    // The source's sign fills the destination's type, and the latter's sign fills the register.
    let value = insn.temporary(to.width());
    extend(insn, value, src, from);
    extend(insn, dst, value.into(), to);
    Ok(())
}

/// Limits of one integer type as numbers of another, where the other exceeds them.
struct Bounds {
    low: Option<u64>,
    high: Option<u64>,
}

impl Bounds {
    fn between(to: Type, from: Type) -> Self {
        let value_bits = |ty: Type| ty.width().bits() - u32::from(ty.is_signed());
        let narrower = value_bits(to) < value_bits(from);
        let high = narrower.then(|| (1 << value_bits(to)) - 1);
        let low = match (from.is_signed(), to.is_signed()) {
            (true, false) => Some(0),
            (true, true) if narrower => Some((u64::MAX << value_bits(to)) & from.width().mask()),
            _ => None,
        };
        Self { low, high }
    }

    /// Returns `true` if values may exceed the limits. Otherwise `.sat` is an error.
    fn are_needed(&self) -> bool {
        self.low.is_some() || self.high.is_some()
    }

    fn clamp(&self, insn: &mut Insn<'_, '_, '_>, src: Operand, from: Type) -> Operand {
        let (width, signed) = (from.width(), from.is_signed());
        let limits =
            [(self.low, IntBinary::Max { signed }), (self.high, IntBinary::Min { signed })];
        limits.into_iter().fold(src, |a, (limit, op)| match limit {
            Some(limit) => {
                let b = Operand::Constant(limit);
                insn.compute(width, |dst| Op::IntBinary { op, width, dst, a, b })
            }
            None => a,
        })
    }
}

// Integers and floats.

fn from_integer(insn: &mut Insn<'_, '_, '_>, to: Format, from: Type) -> Lower {
    let modifiers = Modifiers {
        rounding: insn.require(ROUNDING, "a rounding")?,
        flush: to == Format::F32 && insn.flag("ftz"),
        saturate: to != Format::Bf16 && insn.flag("sat"),
        ..Modifiers::NONE
    };
    let dst = insn.dst(to.width())?;
    let src = insn.wide_src(from)?;
    let from = scalar(insn, from)?;
    insn.emit(conversion(dst, src, from, Scalar::Float(to), modifiers));
    Ok(())
}

/// Lowers a conversion to an integer. Results outside the type are clamped, with or without `.sat`.
fn to_integer(insn: &mut Insn<'_, '_, '_>, to: Type, from: Format) -> Lower {
    if from != Format::Bf16 {
        insn.flag("sat");
    }
    let modifiers = Modifiers {
        rounding: insn.require(TO_INTEGRAL, "a rounding to an integer")?,
        flush: from == Format::F32 && insn.flag("ftz"),
        saturate: true,
        ..Modifiers::NONE
    };
    let dst = insn.wide_dst(to.width())?;
    let src = insn.src(Type::Float(from))?;
    let (from, kind) = (Scalar::Float(from), scalar(insn, to)?);
    if insn.builder.width(dst) == to.width() {
        insn.emit(conversion(dst, src, from, kind, modifiers));
        return Ok(());
    }
    let value = insn.compute(to.width(), |dst| conversion(dst, src, from, kind, modifiers));
    extend(insn, dst, value, to);
    Ok(())
}

// Floats.

fn between_floats(insn: &mut Insn<'_, '_, '_>, to: Format, from: Format) -> Lower {
    if to == from
        && let Some(rounding) = insn.choose(TO_INTEGRAL)
    {
        return round_to_integral(insn, to, rounding);
    }
    let rounding = float_rounding(insn, to, from)?;
    let clamps = from == Format::F32
        && matches!(to, Format::F16 | Format::Bf16)
        && matches!(rounding, Rounding::NearestEven | Rounding::Zero);
    let relu = clamps && insn.flag("relu");
    let finite = clamps && insn.flag("satfinite");
    let plain = !relu && !finite;
    let modifiers = Modifiers {
        rounding,
        flush: plain && (to == Format::F32 || from == Format::F32) && insn.flag("ftz"),
        saturate: plain && may_saturate(to) && may_saturate(from) && insn.flag("sat"),
        finite,
        relu,
    };
    let dst = insn.dst(to.width())?;
    let src = insn.src(Type::Float(from))?;
    insn.emit(conversion(dst, src, Scalar::Float(from), Scalar::Float(to), modifiers));
    Ok(())
}

/// Conversions to and from `.bf16` have no `.sat`.
fn may_saturate(format: Format) -> bool {
    format != Format::Bf16
}

/// A rounding is required if precision or range is lost, and an error otherwise, except that widening from `.bf16`
/// may have one.
fn float_rounding(insn: &mut Insn<'_, '_, '_>, to: Format, from: Format) -> Lower<Rounding> {
    match (from, to) {
        (Format::Bf16, Format::F32 | Format::F64) => {
            Ok(insn.choose(ROUNDING).unwrap_or(Rounding::NearestEven))
        }
        (Format::F16, Format::F32 | Format::F64) | (Format::F32, Format::F64) => {
            Ok(Rounding::NearestEven)
        }
        _ if from == to => Ok(Rounding::NearestEven),
        _ => insn.require(ROUNDING, "a rounding"),
    }
}

fn round_to_integral(insn: &mut Insn<'_, '_, '_>, format: Format, rounding: Rounding) -> Lower {
    let mode = FloatMode {
        rounding,
        flush: format == Format::F32 && insn.flag("ftz"),
        saturate: may_saturate(format) && insn.flag("sat"),
        ..FloatMode::NEAREST
    };
    let dst = insn.dst(format.width())?;
    let a = insn.src(Type::Float(format))?;
    let op = FloatUnary::RoundToIntegral;
    insn.emit(Op::FloatUnary { op, format, lanes: 1, mode, dst, a });
    Ok(())
}

fn to_tf32(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let roundings =
        [("rna", Rounding::NearestAway), ("rn", Rounding::NearestEven), ("rz", Rounding::Zero)];
    let rounding = insn.require(&roundings, "a rounding")?;
    let finite = insn.flag("satfinite");
    let relu = rounding != Rounding::NearestAway && insn.flag("relu");
    insn.ty(&[Type::TF32])?;
    insn.ty(&[Type::F32])?;
    let dst = insn.dst(Width::B32)?;
    let src = insn.src(Type::F32)?;
    let (from, to) = (Scalar::Float(Format::F32), Scalar::Float(Format::Tf32));
    let modifiers = Modifiers { rounding, finite, relu, ..Modifiers::NONE };
    insn.emit(conversion(dst, src, from, to, modifiers));
    Ok(())
}
