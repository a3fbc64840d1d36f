//! Integer arithmetic (manual §9.7.1).

use super::{Form, Insn, Lower, Type, by};
use ir::{BitRange, IntBinary, IntTernary, IntUnary, Op, Operand, Width};

/// Types that select this family for `add`, `mul` and similar.
const INTEGER: &[&str] = &["u16", "u32", "u64", "s16", "s32", "s64", "u16x2", "s16x2"];
/// Like [`INTEGER`], for operations without a packed form.
const SCALAR: &[&str] = &["u16", "u32", "u64", "s16", "s32", "s64"];

const SCALAR_TYPES: &[Type] = &[Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64];
const ADD_TYPES: &[Type] =
    &[Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64, Type::U16X2, Type::S16X2];
/// Types of 32 and 64 bits.
pub(super) const WORD_TYPES: &[Type] = &[Type::U32, Type::S32, Type::U64, Type::S64];

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "add",
        when: INTEGER,
        syntax: "add{.sat}.{u16,u32,u64,s16,s32,s64,u16x2,s16x2} d, a, b",
        section: "9.7.1.1",
        examples: &[
            "add.s32 %r1, %r2, -7;",
            "add.sat.s32 %r1, %r2, %r3;",
            "add.u16x2 %r1, %r2, %r3;",
        ],
        lowering: by(|insn| sum(insn, IntBinary::Add, IntBinary::AddSaturating)),
    },
    Form {
        opcode: "sub",
        when: SCALAR,
        syntax: "sub{.sat}.{u16,u32,u64,s16,s32,s64} d, a, b",
        section: "9.7.1.2",
        examples: &["sub.u64 %rd1, %rd2, %rd3;", "sub.sat.s32 %r1, %r2, %r3;"],
        lowering: by(|insn| sum(insn, IntBinary::Sub, IntBinary::SubSaturating)),
    },
    Form {
        opcode: "mul",
        when: SCALAR,
        syntax: "mul{.hi,.lo,.wide}.{u16,u32,u64,s16,s32,s64} d, a, b",
        section: "9.7.1.3",
        examples: &[
            "mul.lo.s32 %r1, %r2, %r3;",
            "mul.wide.s32 %rd1, %r2, 4;",
            "mul.hi.u64 %rd1, %rd2, %rd3;",
        ],
        lowering: by(mul),
    },
    Form {
        opcode: "mad",
        when: SCALAR,
        syntax: "mad{.hi,.lo,.wide}{.sat}.{u16,u32,u64,s16,s32,s64} d, a, b, c",
        section: "9.7.1.4",
        examples: &[
            "mad.lo.s32 %r1, %r2, %r3, %r1;",
            "mad.wide.u32 %rd1, %r2, 4, %rd2;",
            "mad.hi.sat.s32 %r1, %r2, %r3, %r4;",
        ],
        lowering: by(mad),
    },
    Form {
        opcode: "mul24",
        when: &[],
        syntax: "mul24{.hi,.lo}.{u32,s32} d, a, b",
        section: "9.7.1.5",
        examples: &["mul24.lo.u32 %r1, %r2, %r3;", "mul24.hi.s32 %r1, %r2, %r3;"],
        lowering: by(|insn| {
            let parts = product24(insn)?;
            let dst = parts.dst;
            insn.emit(Op::Copy { dst, src: parts.product });
            Ok(())
        }),
    },
    Form {
        opcode: "mad24",
        when: &[],
        syntax: "mad24{.hi,.lo}{.sat}.{u32,s32} d, a, b, c",
        section: "9.7.1.6",
        examples: &["mad24.lo.s32 %r1, %r2, %r3, %r4;", "mad24.hi.sat.s32 %r1, %r2, %r3, %r4;"],
        lowering: by(mad24),
    },
    Form {
        opcode: "sad",
        when: &[],
        syntax: "sad.{u16,u32,u64,s16,s32,s64} d, a, b, c",
        section: "9.7.1.7",
        examples: &["sad.s32 %r1, %r2, %r3, %r4;", "sad.u16 %h1, %h2, %h3, %h4;"],
        lowering: by(sad),
    },
    Form {
        opcode: "div",
        when: SCALAR,
        syntax: "div.{u16,u32,u64,s16,s32,s64} d, a, b",
        section: "9.7.1.8",
        examples: &["div.s32 %r1, %r2, 10;", "div.u64 %rd1, %rd2, %rd3;"],
        lowering: by(|insn| signed_binary(insn, |signed| IntBinary::Div { signed })),
    },
    Form {
        opcode: "rem",
        when: &[],
        syntax: "rem.{u16,u32,u64,s16,s32,s64} d, a, b",
        section: "9.7.1.9",
        examples: &["rem.s32 %r1, %r2, 10;"],
        lowering: by(|insn| signed_binary(insn, |signed| IntBinary::Rem { signed })),
    },
    Form {
        opcode: "abs",
        when: &["s16", "s32", "s64"],
        syntax: "abs.{s16,s32,s64} d, a",
        section: "9.7.1.10",
        examples: &["abs.s32 %r1, %r2;"],
        lowering: by(|insn| unary(insn, IntUnary::Abs, &[Type::S16, Type::S32, Type::S64])),
    },
    Form {
        opcode: "neg",
        when: &["s16", "s32", "s64"],
        syntax: "neg.{s16,s32,s64} d, a",
        section: "9.7.1.11",
        examples: &["neg.s64 %rd1, %rd2;"],
        lowering: by(|insn| unary(insn, IntUnary::Negate, &[Type::S16, Type::S32, Type::S64])),
    },
    Form {
        opcode: "min",
        when: INTEGER,
        syntax: "min{.relu}.{u16,u32,u64,s16,s32,s64,u16x2,s16x2} d, a, b",
        section: "9.7.1.12",
        examples: &[
            "min.s32 %r1, %r2, %r3;",
            "min.relu.s32 %r1, %r2, %r3;",
            "min.s16x2 %r1, %r2, %r3;",
        ],
        lowering: by(|insn| extremum(insn, |signed| IntBinary::Min { signed })),
    },
    Form {
        opcode: "max",
        when: INTEGER,
        syntax: "max{.relu}.{u16,u32,u64,s16,s32,s64,u16x2,s16x2} d, a, b",
        section: "9.7.1.13",
        examples: &["max.u64 %rd1, %rd2, 5;", "max.relu.s16x2 %r1, %r2, %r3;"],
        lowering: by(|insn| extremum(insn, |signed| IntBinary::Max { signed })),
    },
    Form {
        opcode: "popc",
        when: &[],
        syntax: "popc.{b32,b64} d, a",
        section: "9.7.1.14",
        examples: &["popc.b32 %r1, %r2;", "popc.b64 %r1, %rd2;"],
        lowering: by(|insn| count(insn, IntUnary::PopulationCount)),
    },
    Form {
        opcode: "clz",
        when: &[],
        syntax: "clz.{b32,b64} d, a",
        section: "9.7.1.15",
        examples: &["clz.b32 %r1, %r2;", "clz.b64 %r1, %rd2;"],
        lowering: by(|insn| count(insn, IntUnary::CountLeadingZeros)),
    },
    Form {
        opcode: "bfind",
        when: &[],
        syntax: "bfind{.shiftamt}.{u32,u64,s32,s64} d, a",
        section: "9.7.1.16",
        examples: &["bfind.u32 %r1, %r2;", "bfind.shiftamt.s64 %r1, %rd2;"],
        lowering: by(bfind),
    },
    Form {
        opcode: "fns",
        when: &[],
        syntax: "fns.b32 d, mask, base, offset",
        section: "9.7.1.17",
        examples: &["fns.b32 %r1, 0xaaaaaaaa, 3, 1;"],
        lowering: by(|insn| {
            insn.ty(&[Type::B32])?;
            let dst = insn.dst(Width::B32)?;
            let (a, b, c) = (insn.src(Type::B32)?, insn.src(Type::B32)?, insn.src(Type::S32)?);
            insn.emit(Op::IntTernary { op: IntTernary::FindNth, width: Width::B32, dst, a, b, c });
            Ok(())
        }),
    },
    Form {
        opcode: "brev",
        when: &[],
        syntax: "brev.{b32,b64} d, a",
        section: "9.7.1.18",
        examples: &["brev.b32 %r1, %r2;", "brev.b64 %rd1, %rd2;"],
        lowering: by(|insn| unary(insn, IntUnary::Reverse, &[Type::B32, Type::B64])),
    },
    Form {
        opcode: "bfe",
        when: &[],
        syntax: "bfe.{u32,u64,s32,s64} d, a, b, c",
        section: "9.7.1.19",
        examples: &["bfe.u32 %r1, %r2, 4, 8;", "bfe.s64 %rd1, %rd2, %r3, %r4;"],
        lowering: by(|insn| {
            let ty = insn.ty(WORD_TYPES)?;
            let dst = insn.dst(ty.width())?;
            let (a, b, c) = (insn.src(ty)?, insn.src(Type::U32)?, insn.src(Type::U32)?);
            let op = IntTernary::ExtractBits { signed: ty.is_signed() };
            insn.emit(Op::IntTernary { op, width: ty.width(), dst, a, b, c });
            Ok(())
        }),
    },
    Form {
        opcode: "bfi",
        when: &[],
        syntax: "bfi.{b32,b64} f, a, b, c, d",
        section: "9.7.1.20",
        examples: &["bfi.b32 %r1, %r2, %r3, 8, 4;", "bfi.b64 %rd1, %rd2, %rd3, %r4, %r5;"],
        lowering: by(|insn| {
            let ty = insn.ty(&[Type::B32, Type::B64])?;
            let dst = insn.dst(ty.width())?;
            let (insert, base) = (insn.src(ty)?, insn.src(ty)?);
            let (position, length) = (insn.src(Type::U32)?, insn.src(Type::U32)?);
            insn.emit(Op::InsertBits { width: ty.width(), dst, insert, base, position, length });
            Ok(())
        }),
    },
    Form {
        opcode: "szext",
        when: &[],
        syntax: "szext{.clamp,.wrap}.{u32,s32} d, a, b",
        section: "9.7.1.21",
        examples: &["szext.clamp.s32 %r1, %r2, %r3;", "szext.wrap.u32 %r1, %r2, 5;"],
        lowering: by(|insn| {
            let range = insn.require(BIT_RANGE, "`.clamp` or `.wrap`")?;
            let ty = insn.ty(&[Type::U32, Type::S32])?;
            binary(insn, ty, IntBinary::ExtendFrom { signed: ty.is_signed(), range })
        }),
    },
    Form {
        opcode: "bmsk",
        when: &[],
        syntax: "bmsk{.clamp,.wrap}.b32 d, a, b",
        section: "9.7.1.22",
        examples: &["bmsk.clamp.b32 %r1, %r2, %r3;", "bmsk.wrap.b32 %r1, 4, 6;"],
        lowering: by(|insn| {
            let range = insn.require(BIT_RANGE, "`.clamp` or `.wrap`")?;
            let ty = insn.ty(&[Type::B32])?;
            binary(insn, ty, IntBinary::BitMask(range))
        }),
    },
    Form {
        opcode: "dp4a",
        when: &[],
        syntax: "dp4a.{u32,s32}.{u32,s32} d, a, b, c",
        section: "9.7.1.23",
        examples: &["dp4a.s32.s32 %r1, %r2, %r3, %r4;", "dp4a.u32.s32 %r1, %r2, %r3, %r4;"],
        lowering: by(|insn| {
            dot(insn, |a_signed, b_signed| IntTernary::Dot4 { a_signed, b_signed })
        }),
    },
    Form {
        opcode: "dp2a",
        when: &[],
        syntax: "dp2a{.lo,.hi}.{u32,s32}.{u32,s32} d, a, b, c",
        section: "9.7.1.24",
        examples: &["dp2a.lo.s32.u32 %r1, %r2, %r3, %r4;", "dp2a.hi.u32.u32 %r1, %r2, %r3, %r4;"],
        lowering: by(|insn| {
            let high = insn.require(&[("lo", false), ("hi", true)], "`.lo` or `.hi`")?;
            dot(insn, move |a_signed, b_signed| IntTernary::Dot2 { a_signed, b_signed, high })
        }),
    },
];

const BIT_RANGE: &[(&str, BitRange)] = &[("clamp", BitRange::Clamp), ("wrap", BitRange::Wrap)];

/// The requested part of a product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ProductPart {
    Low,
    High,
    Whole,
}

fn binary(insn: &mut Insn<'_, '_, '_>, ty: Type, op: IntBinary) -> Lower {
    let dst = insn.dst(ty.width())?;
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    insn.emit(Op::IntBinary { op, width: ty.width(), dst, a, b });
    Ok(())
}

fn unary(insn: &mut Insn<'_, '_, '_>, op: IntUnary, types: &[Type]) -> Lower {
    let ty = insn.ty(types)?;
    let dst = insn.dst(ty.width())?;
    let a = insn.src(ty)?;
    insn.emit(Op::IntUnary { op, width: ty.width(), dst, a });
    Ok(())
}

/// Counts bits: the result has 32 bits for all operand types.
fn count(insn: &mut Insn<'_, '_, '_>, op: IntUnary) -> Lower {
    let ty = insn.ty(&[Type::B32, Type::B64])?;
    let dst = insn.dst(Width::B32)?;
    let a = insn.src(ty)?;
    insn.emit(Op::IntUnary { op, width: ty.width(), dst, a });
    Ok(())
}

fn bfind(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let shift_amount = insn.flag("shiftamt");
    let ty = insn.ty(WORD_TYPES)?;
    let dst = insn.dst(Width::B32)?;
    let a = insn.src(ty)?;
    let op = IntUnary::FindHighest { signed: ty.is_signed(), shift_amount };
    insn.emit(Op::IntUnary { op, width: ty.width(), dst, a });
    Ok(())
}

fn signed_binary(insn: &mut Insn<'_, '_, '_>, op: fn(bool) -> IntBinary) -> Lower {
    let ty = insn.ty(SCALAR_TYPES)?;
    binary(insn, ty, op(ty.is_signed()))
}

/// Lowers `add` and `sub`; `.sat` exists for `.s32` alone.
fn sum(insn: &mut Insn<'_, '_, '_>, plain: IntBinary, saturating: IntBinary) -> Lower {
    let ty = insn.ty(ADD_TYPES)?;
    if let Type::IntPair { .. } = ty {
        return pairwise(insn, plain, false);
    }
    let saturate = ty == Type::S32 && insn.flag("sat");
    binary(insn, ty, if saturate { saturating } else { plain })
}

/// Lowers `min` and `max`.
fn extremum(insn: &mut Insn<'_, '_, '_>, op: fn(bool) -> IntBinary) -> Lower {
    let ty = insn.ty(ADD_TYPES)?;
    let relu = matches!(ty, Type::S32 | Type::S16X2) && insn.flag("relu");
    if let Type::IntPair { signed } = ty {
        return pairwise(insn, op(signed), relu);
    }
    if !relu {
        return binary(insn, ty, op(ty.is_signed()));
    }
    let width = ty.width();
    let dst = insn.dst(width)?;
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    let chosen = insn.compute(width, |dst| Op::IntBinary { op: op(true), width, dst, a, b });
    clamp_at_zero(insn, width, dst, chosen);
    Ok(())
}

fn clamp_at_zero(insn: &mut Insn<'_, '_, '_>, width: Width, dst: ir::Reg, a: Operand) {
    let op = IntBinary::Max { signed: true };
    insn.emit(Op::IntBinary { op, width, dst, a, b: Operand::Constant(0) });
}

/// Takes the operands and applies an operation to both halves of 32-bit registers.
fn pairwise(insn: &mut Insn<'_, '_, '_>, op: IntBinary, relu: bool) -> Lower {
    let width = Width::B16;
    let dst = insn.dst(Width::B32)?;
    let (a, b) = (insn.src(Type::B32)?, insn.src(Type::B32)?);
    let (a, b) = (insn.halves(a, width), insn.halves(b, width));
    let mut parts = Vec::new();
    for (a, b) in a.into_iter().zip(b) {
        let mut part = insn.compute(width, |dst| Op::IntBinary { op, width, dst, a, b });
        if relu {
            let clamped = insn.temporary(width);
            clamp_at_zero(insn, width, clamped, part);
            part = clamped.into();
        }
        parts.push(part);
    }
    insn.emit(Op::Concat { dst, parts });
    Ok(())
}

const PRODUCT_PARTS: &[(&str, ProductPart)] =
    &[("lo", ProductPart::Low), ("hi", ProductPart::High), ("wide", ProductPart::Whole)];

pub(super) fn part_of_product(part: ProductPart, signed: bool) -> IntBinary {
    match part {
        ProductPart::Low => IntBinary::Mul,
        ProductPart::High => IntBinary::MulHigh { signed },
        ProductPart::Whole => IntBinary::MulWide { signed },
    }
}

/// Returns the type of the product: twice as wide for the whole product.
fn product_type(insn: &Insn<'_, '_, '_>, part: ProductPart, ty: Type) -> Lower<Type> {
    match (part, ty) {
        (ProductPart::Low | ProductPart::High, ty) => Ok(ty),
        (ProductPart::Whole, Type::U16) => Ok(Type::U32),
        (ProductPart::Whole, Type::S16) => Ok(Type::S32),
        (ProductPart::Whole, Type::U32) => Ok(Type::U64),
        (ProductPart::Whole, Type::S32) => Ok(Type::S64),
        _ => Err(insn.unsupported("`.wide` takes 16- and 32-bit integers")),
    }
}

fn mul(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let part = insn.require(PRODUCT_PARTS, "`.lo`, `.hi` or `.wide`")?;
    let ty = insn.ty(SCALAR_TYPES)?;
    let product = product_type(insn, part, ty)?;
    let dst = insn.dst(product.width())?;
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    let op = part_of_product(part, ty.is_signed());
    insn.emit(Op::IntBinary { op, width: ty.width(), dst, a, b });
    Ok(())
}

fn mad(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let part = insn.require(PRODUCT_PARTS, "`.lo`, `.hi` or `.wide`")?;
    let ty = insn.ty(SCALAR_TYPES)?;
    let saturate = part == ProductPart::High && ty == Type::S32 && insn.flag("sat");
    let sum = product_type(insn, part, ty)?;
    let dst = insn.dst(sum.width())?;
    let (a, b, c) = (insn.src(ty)?, insn.src(ty)?, insn.src(sum)?);
    let op = part_of_product(part, ty.is_signed());
    let product =
        insn.compute(sum.width(), |dst| Op::IntBinary { op, width: ty.width(), dst, a, b });
    let op = if saturate { IntBinary::AddSaturating } else { IntBinary::Add };
    insn.emit(Op::IntBinary { op, width: sum.width(), dst, a: product, b: c });
    Ok(())
}

/// A product of 24-bit integers, and its destination.
struct Product24 {
    dst: ir::Reg,
    product: Operand,
    ty: Type,
    high: bool,
}

/// Multiplies the low 24 bits of two operands: takes the low 32 bits of the product, or bits 16 to 47.
fn product24(insn: &mut Insn<'_, '_, '_>) -> Lower<Product24> {
    let high = insn.require(&[("lo", false), ("hi", true)], "`.lo` or `.hi`")?;
    let ty = insn.ty(&[Type::U32, Type::S32])?;
    let signed = ty.is_signed();
    let dst = insn.dst(Width::B32)?;
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    let (a, b) = (low24(insn, a, signed), low24(insn, b, signed));
    let width = Width::B32;
    let full_product = insn.compute(Width::B64, |dst| Op::IntBinary {
        op: IntBinary::MulWide { signed },
        width,
        dst,
        a,
        b,
    });
    let shifted = match high {
        false => full_product,
        true => insn.compute(Width::B64, |dst| Op::IntBinary {
            op: IntBinary::Shr { signed: false },
            width: Width::B64,
            dst,
            a: full_product,
            b: Operand::Constant(16),
        }),
    };
    let product = insn.compute(width, |dst| Op::Copy { dst, src: shifted });
    Ok(Product24 { dst, product, ty, high })
}

/// Extends the low 24 bits of a value to 32.
fn low24(insn: &mut Insn<'_, '_, '_>, a: Operand, signed: bool) -> Operand {
    let op = IntTernary::ExtractBits { signed };
    let (b, c) = (Operand::Constant(0), Operand::Constant(24));
    insn.compute(Width::B32, |dst| Op::IntTernary { op, width: Width::B32, dst, a, b, c })
}

fn mad24(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let saturate = insn.flag("sat");
    let Product24 { dst, product, ty, high } = product24(insn)?;
    if saturate && !(high && ty == Type::S32) {
        return Err(insn.unsupported("`.sat` goes with `.hi.s32` alone"));
    }
    let c = insn.src(ty)?;
    let op = if saturate { IntBinary::AddSaturating } else { IntBinary::Add };
    insn.emit(Op::IntBinary { op, width: Width::B32, dst, a: product, b: c });
    Ok(())
}

/// Lowers `sad`: `c + |a − b|`, where the difference is the larger minus the smaller.
fn sad(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let ty = insn.ty(SCALAR_TYPES)?;
    let (width, signed) = (ty.width(), ty.is_signed());
    let dst = insn.dst(width)?;
    let (a, b, c) = (insn.src(ty)?, insn.src(ty)?, insn.src(ty)?);
    let mut compute = |op, a, b| insn.compute(width, |dst| Op::IntBinary { op, width, dst, a, b });
    let larger = compute(IntBinary::Max { signed }, a, b);
    let smaller = compute(IntBinary::Min { signed }, a, b);
    let distance = compute(IntBinary::Sub, larger, smaller);
    insn.emit(Op::IntBinary { op: IntBinary::Add, width, dst, a: distance, b: c });
    Ok(())
}

/// Lowers `dp4a` and `dp2a`.
fn dot(insn: &mut Insn<'_, '_, '_>, op: impl Fn(bool, bool) -> IntTernary) -> Lower {
    let a_type = insn.ty(&[Type::U32, Type::S32])?;
    let b_type = insn.ty(&[Type::U32, Type::S32])?;
    let dst = insn.dst(Width::B32)?;
    let (a, b, c) = (insn.src(Type::B32)?, insn.src(Type::B32)?, insn.src(Type::B32)?);
    let op = op(a_type.is_signed(), b_type.is_signed());
    insn.emit(Op::IntTernary { op, width: Width::B32, dst, a, b, c });
    Ok(())
}
