//! Conversions to and from several numbers packed in one register (manual §9.7.9.21), and `cvt.pack` (§9.7.9.22).

use super::convert::{Modifiers, conversion};
use super::{Form, Insn, Lower, Lowering, Type, by};
use ir::{Format, IntBinary, Op, Operand, Rounding, Scalar, Width};

const E4M3X2: Type = Type::FloatPair(Format::E4m3);
const E5M2X2: Type = Type::FloatPair(Format::E5m2);

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "cvt",
        when: &["pack"],
        syntax: "cvt.pack.sat.{u16,s16}.s32 d, a, b; \
                 cvt.pack.sat.{u2,s2,u4,s4,u8,s8}.s32.b32 d, a, b, c",
        section: "9.7.9.22",
        examples: &[
            "cvt.pack.sat.s16.s32 %r1, %r2, %r3;",
            "cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, 0;",
            "cvt.pack.sat.s2.s32.b32 %r1, %r2, %r3, %r1;",
        ],
        lowering: by(pack),
    },
    Form {
        opcode: "cvt",
        when: &["rs"],
        syntax: "cvt.rs{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b, bits; \
                 cvt.rs{.relu}.satfinite.\
                 {e4m3x4,e5m2x4,e2m3x4,e3m2x4,e2m1x4}.f32 d, {a, b, e, f}, bits",
        section: "9.7.9.21",
        examples: &[
            "cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;",
            "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;",
        ],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "cvt",
        when: &["e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2", "s2f6x2"],
        syntax: "cvt of or to {e2m1x2,e2m3x2,e3m2x2,ue8m0x2,s2f6x2}",
        section: "9.7.9.21",
        examples: &[
            "cvt.rn.satfinite.e2m3x2.f32 %h1, %f1, %f2;",
            "cvt.rn.bf16x2.ue8m0x2 %r1, %h1;",
        ],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "cvt",
        when: &["e4m3x2", "e5m2x2"],
        syntax: "cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2}.f32 d, a, b; \
                 cvt.rn.satfinite{.relu}.{e4m3x2,e5m2x2}.{f16x2,bf16x2} d, a; \
                 cvt.rn{.relu}.f16x2.{e4m3x2,e5m2x2} d, a",
        section: "9.7.9.21",
        examples: &[
            "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;",
            "cvt.rn.satfinite.relu.e5m2x2.f16x2 %h1, %r1;",
            "cvt.rn.relu.f16x2.e4m3x2 %r1, %h1;",
        ],
        lowering: by(fp8_pair),
    },
    Form {
        opcode: "cvt",
        when: &["f16x2", "bf16x2"],
        syntax: "cvt{.rn,.rz}{.relu}{.satfinite}.{f16x2,bf16x2}.f32 d, a, b",
        section: "9.7.9.21",
        examples: &[
            "cvt.rn.f16x2.f32 %r1, %f1, %f2;",
            "cvt.rz.relu.satfinite.bf16x2.f32 %r1, %f1, %f2;",
        ],
        lowering: by(|insn| {
            let roundings = [("rn", Rounding::NearestEven), ("rz", Rounding::Zero)];
            let rounding = insn.require(&roundings, "a rounding")?;
            let (relu, finite) = (insn.flag("relu"), insn.flag("satfinite"));
            let to = insn.ty(&[Type::F16X2, Type::BF16X2])?;
            insn.ty(&[Type::F32])?;
            from_two(insn, to, Modifiers { rounding, relu, finite, ..Modifiers::NONE })
        }),
    },
];

/// Format of one number of a pair, and its width.
fn part_of(insn: &Insn<'_, '_, '_>, ty: Type) -> Lower<(Scalar, Width)> {
    match ty {
        Type::FloatPair(format) => Ok((Scalar::Float(format), format.width())),
        _ => Err(insn.unsupported("a pair of floats is needed")),
    }
}

/// Lowers `cvt d, a, b` from two singles: `a` goes to the upper half.
fn from_two(insn: &mut Insn<'_, '_, '_>, to: Type, modifiers: Modifiers) -> Lower {
    let (part, width) = part_of(insn, to)?;
    let from = Scalar::Float(Format::F32);
    let dst = insn.dst(to.width())?;
    let (upper, lower) = (insn.src(Type::F32)?, insn.src(Type::F32)?);
    let parts = [lower, upper]
        .map(|src| insn.compute(width, |dst| conversion(dst, src, from, part, modifiers)));
    insn.emit(Op::Concat { dst, parts: parts.to_vec() });
    Ok(())
}

/// Lowers `cvt d, a` between two packed types, half by half.
fn from_pair(insn: &mut Insn<'_, '_, '_>, to: Type, from: Type, modifiers: Modifiers) -> Lower {
    let (to_part, width) = part_of(insn, to)?;
    let (from_part, from_width) = part_of(insn, from)?;
    let dst = insn.dst(to.width())?;
    let src = insn.src(from)?;
    let parts = insn
        .halves(src, from_width)
        .map(|src| insn.compute(width, |dst| conversion(dst, src, from_part, to_part, modifiers)));
    insn.emit(Op::Concat { dst, parts: parts.to_vec() });
    Ok(())
}

/// Lowers `cvt` to and from pairs of 8-bit floats.
fn fp8_pair(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("rn", ())], "`.rn`")?;
    let relu = insn.flag("relu");
    let to = insn.ty(&[E4M3X2, E5M2X2, Type::F16X2])?;
    if to == Type::F16X2 {
        let from = insn.ty(&[E4M3X2, E5M2X2])?;
        return from_pair(insn, to, from, Modifiers { relu, ..Modifiers::NONE });
    }
    insn.require(&[("satfinite", ())], "`.satfinite`")?;
    let modifiers = Modifiers { relu, finite: true, ..Modifiers::NONE };
    match insn.ty(&[Type::F32, Type::F16X2, Type::BF16X2])? {
        Type::F32 => from_two(insn, to, modifiers),
        pair => from_pair(insn, to, pair, modifiers),
    }
}

/// The types of `cvt.pack`: number of bits, and signedness.
const PACKED: &[(&str, (u32, bool))] = &[
    ("u2", (2, false)),
    ("s2", (2, true)),
    ("u4", (4, false)),
    ("s4", (4, true)),
    ("u8", (8, false)),
    ("s8", (8, true)),
    ("u16", (16, false)),
    ("s16", (16, true)),
];

/// Lowers `cvt.pack`: `b` goes to the lowest bits, `a` above it, and the low bits of `c` fill the rest.
fn pack(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("pack");
    insn.require(&[("sat", ())], "`.sat`")?;
    let (bits, signed) = insn.require(PACKED, "a type to pack")?;
    insn.ty(&[Type::S32])?;
    let fills = bits < 16;
    if fills {
        insn.ty(&[Type::B32])?;
    }
    let dst = insn.dst(Width::B32)?;
    let (a, b) = (insn.src(Type::S32)?, insn.src(Type::S32)?);
    let rest = if fills { Some(insn.src(Type::B32)?) } else { None };
    let (a, b) = (clamp(insn, a, bits, signed), clamp(insn, b, bits, signed));
    let insert = |dst, insert, base, position: u32, length: u32| Op::InsertBits {
        width: Width::B32,
        dst,
        insert,
        base,
        position: Operand::Constant(position.into()),
        length: Operand::Constant(length.into()),
    };
    match rest {
        None => insn.emit(insert(dst, a, b, bits, bits)),
        Some(rest) => {
            let two = insn.compute(Width::B32, |dst| insert(dst, a, b, bits, bits));
            insn.emit(insert(dst, rest, two, 2 * bits, 32 - 2 * bits));
        }
    }
    Ok(())
}

/// Takes a 32-bit integer clamped to the range of one with `bits` bits.
fn clamp(insn: &mut Insn<'_, '_, '_>, a: Operand, bits: u32, signed: bool) -> Operand {
    let width = Width::B32;
    let value_bits = bits - u32::from(signed);
    let high = (1 << value_bits) - 1;
    let low = if signed { (u64::MAX << value_bits) & width.mask() } else { 0 };
    let mut limit = |op, a, limit| {
        let b = Operand::Constant(limit);
        insn.compute(width, |dst| Op::IntBinary { op, width, dst, a, b })
    };
    let a = limit(IntBinary::Max { signed: true }, a, low);
    limit(IntBinary::Min { signed: true }, a, high)
}
