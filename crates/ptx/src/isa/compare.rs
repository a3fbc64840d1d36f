//! Comparison and selection (manual §9.7.6), and comparison in half precision (§9.7.7).

use super::{Form, Insn, Lower, Type, by};
use ir::{FloatRelation, Format, IntBinary, Op, Operand, Reg, Relation, Width};

/// Types of `selp` and `slct`, and of `set` and `setp` except for halves.
const TYPES: &[Type] = &[
    Type::B16,
    Type::B32,
    Type::B64,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F32,
    Type::F64,
];
/// Types that `set` and `setp` compare.
const COMPARED_TYPES: &[Type] = &[
    Type::B16,
    Type::B32,
    Type::B64,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F32,
    Type::F64,
    Type::F16,
    Type::F16X2,
    Type::BF16,
    Type::BF16X2,
];
/// Types of the result of `set`.
const SET_RESULTS: &[Type] = &[
    Type::U16,
    Type::S16,
    Type::U32,
    Type::S32,
    Type::F32,
    Type::F16,
    Type::F16X2,
    Type::BF16,
    Type::BF16X2,
];

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "set",
        when: &[],
        syntax: "set.relation{.and,.or,.xor}{.ftz}.dtype.stype d, a, b{, c}",
        section: "9.7.6.1, 9.7.7.1",
        examples: &[
            "set.lt.and.f32.s32 %f1, %r2, %r3, %p1;",
            "set.geu.ftz.u32.f32 %r1, %f2, %f3;",
            "set.eq.f16x2.f16x2 %r1, %r2, %r3;",
            "set.num.xor.s32.bf16 %r1, %h2, %h3, !%p1;",
        ],
        lowering: by(set),
    },
    Form {
        opcode: "setp",
        when: &[],
        syntax: "setp.relation{.and,.or,.xor}{.ftz}.type p{|q}, a, b{, c}",
        section: "9.7.6.2, 9.7.7.2",
        examples: &[
            "setp.hs.or.u64 %p1|%p2, %rd1, %rd2, !%p1;",
            "@%p2 setp.neu.ftz.f32 %p1, %f1, 0f00000000;",
            "setp.lt.xor.s32 _|%p2, %r1, 7, %p1;",
            "setp.gt.and.bf16x2 %p1|%p2, %r1, %r2, %p3;",
        ],
        lowering: by(setp),
    },
    Form {
        opcode: "selp",
        when: &[],
        syntax: "selp.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64} d, a, b, c",
        section: "9.7.6.3",
        examples: &["selp.b32 %r1, %r2, -1, %p1;", "selp.f64 %fd1, %fd2, 0d0000000000000000, %p1;"],
        lowering: by(|insn| {
            let ty = insn.ty(TYPES)?;
            let dst = insn.dst(ty.width())?;
            let (if_true, if_false) = (insn.src(ty)?, insn.src(ty)?);
            let condition = insn.predicate()?;
            insn.emit(Op::Select { dst, condition, if_true, if_false });
            Ok(())
        }),
    },
    Form {
        opcode: "slct",
        when: &[],
        syntax: "slct{.ftz}.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}.{s32,f32} d, a, b, c",
        section: "9.7.6.4",
        examples: &["slct.u32.s32 %r1, %r2, %r3, %r4;", "slct.ftz.f64.f32 %fd1, %fd2, %fd3, %f1;"],
        lowering: by(slct),
    },
];

const EQUALITY: &[(&str, Relation)] = &[("eq", Relation::Eq), ("ne", Relation::Ne)];
const ORDER: &[(&str, Relation)] = &[
    ("eq", Relation::Eq),
    ("ne", Relation::Ne),
    ("lt", Relation::Lt),
    ("le", Relation::Le),
    ("gt", Relation::Gt),
    ("ge", Relation::Ge),
];
/// Further names of relations for unsigned integers.
const UNSIGNED: &[(&str, Relation)] =
    &[("lo", Relation::Lt), ("ls", Relation::Le), ("hi", Relation::Gt), ("hs", Relation::Ge)];
const UNORDERED: &[(&str, Relation)] = &[
    ("equ", Relation::Eq),
    ("neu", Relation::Ne),
    ("ltu", Relation::Lt),
    ("leu", Relation::Le),
    ("gtu", Relation::Gt),
    ("geu", Relation::Ge),
];
const NAN_TESTS: &[(&str, FloatRelation)] =
    &[("num", FloatRelation::BothNumbers), ("nan", FloatRelation::EitherNan)];

const COMBINING_OPERATORS: &[(&str, IntBinary)] =
    &[("and", IntBinary::And), ("or", IntBinary::Or), ("xor", IntBinary::Xor)];

/// A comparison of two numbers.
#[derive(Clone, Copy)]
enum Comparison {
    Integer { relation: Relation, signed: bool, width: Width },
    Float { relation: FloatRelation, format: Format, flush: bool },
}

impl Comparison {
    /// Reads relation and `.ftz` of a comparison of `ty`.
    fn take(insn: &mut Insn<'_, '_, '_>, ty: Type, may_flush: bool) -> Lower<Self> {
        let Some((format, _)) = ty.float() else {
            let relation = integer_relation(insn, ty)?;
            return Ok(Self::Integer { relation, signed: ty.is_signed(), width: ty.width() });
        };
        let relation = float_relation(insn)?;
        let flush = may_flush && matches!(format, Format::F32 | Format::F16) && insn.flag("ftz");
        Ok(Self::Float { relation, format, flush })
    }

    fn op(self, dst: Reg, a: Operand, b: Operand) -> Op {
        match self {
            Self::Integer { relation, signed, width } => {
                Op::IntCompare { relation, signed, width, dst, a, b }
            }
            Self::Float { relation, format, flush } => {
                Op::FloatCompare { relation, format, flush, dst, a, b }
            }
        }
    }

    fn compute(self, insn: &mut Insn<'_, '_, '_>, a: Operand, b: Operand) -> Operand {
        insn.compute(Width::B1, |dst| self.op(dst, a, b))
    }
}

fn integer_relation(insn: &mut Insn<'_, '_, '_>, ty: Type) -> Lower<Relation> {
    match ty {
        Type::Bits(_) => insn.require(EQUALITY, "`.eq` or `.ne`"),
        Type::Unsigned(_) => match insn.choose(UNSIGNED) {
            Some(relation) => Ok(relation),
            None => insn.require(ORDER, "a relation"),
        },
        _ => insn.require(ORDER, "a relation"),
    }
}

fn float_relation(insn: &mut Insn<'_, '_, '_>) -> Lower<FloatRelation> {
    if let Some(test) = insn.choose(NAN_TESTS) {
        return Ok(test);
    }
    if let Some(relation) = insn.choose(UNORDERED) {
        return Ok(FloatRelation::Order { relation, or_unordered: true });
    }
    let relation = insn.require(ORDER, "a relation")?;
    Ok(FloatRelation::Order { relation, or_unordered: false })
}

/// The predicate that a comparison is combined with, and the operator.
type Combination = Option<(IntBinary, Operand)>;

/// Takes the predicate operand, if there is a Boolean operator. It comes last.
fn combination(insn: &mut Insn<'_, '_, '_>, combine: Option<IntBinary>) -> Lower<Combination> {
    match combine {
        Some(op) => Ok(Some((op, insn.predicate()?))),
        None => Ok(None),
    }
}

/// Combines a comparison with a predicate, if there is one.
fn combine_with(insn: &mut Insn<'_, '_, '_>, a: Operand, combination: Combination) -> Operand {
    match combination {
        Some((op, b)) => {
            let width = Width::B1;
            insn.compute(width, |dst| Op::IntBinary { op, width, dst, a, b })
        }
        None => a,
    }
}

/// Compares the lower halves and the upper halves.
fn compare_halves(
    insn: &mut Insn<'_, '_, '_>,
    comparison: Comparison,
    a: Operand,
    b: Operand,
) -> [Operand; 2] {
    let [a0, a1] = insn.halves(a, Width::B16);
    let [b0, b1] = insn.halves(b, Width::B16);
    [comparison.compute(insn, a0, b0), comparison.compute(insn, a1, b1)]
}

fn is_pair(ty: Type) -> bool {
    matches!(ty, Type::FloatPair(_))
}

/// Lowers `setp`. The second destination gets the negated comparison; for packed halves it gets that of the upper
/// halves.
fn setp(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let ty = insn.ty(COMPARED_TYPES)?;
    let comparison = Comparison::take(insn, ty, true)?;
    let combine = insn.choose(COMBINING_OPERATORS);
    let (first, second) = insn.dst_pair(Width::B1, Width::B1)?;
    if second.is_some() && matches!(ty, Type::F16 | Type::BF16) {
        return Err(insn.unsupported("a comparison of halves has one result"));
    }
    let (a, b) = (insn.src(ty)?, insn.src(ty)?);
    let combination = combination(insn, combine)?;
    if let (Some(dst), None, None, false) = (first, second, combination, is_pair(ty)) {
        insn.emit(comparison.op(dst, a, b));
        return Ok(());
    }
    let truths = match is_pair(ty) {
        true => compare_halves(insn, comparison, a, b),
        false => {
            let truth = comparison.compute(insn, a, b);
            [truth, if second.is_some() { insn.not(truth) } else { truth }]
        }
    };
    let wanted = [first, second].into_iter().zip(truths);
    let wanted: Vec<_> = wanted.filter_map(|(dst, truth)| Some((dst?, truth))).collect();
    if let (&[(dst, a)], Some((op, b))) = (wanted.as_slice(), combination) {
        insn.emit(Op::IntBinary { op, width: Width::B1, dst, a, b });
        return Ok(());
    }
    // Every result is computed before the first is written: `c` may be one of the destinations.
    let results =
        wanted.into_iter().map(|(dst, truth)| (dst, combine_with(insn, truth, combination)));
    let results: Vec<_> = results.collect();
    results.into_iter().for_each(|(dst, src)| insn.emit(Op::Copy { dst, src }));
    Ok(())
}

/// Returns `true` if `set.to.from` exists.
fn set_exists(to: Type, from: Type) -> bool {
    match (to, from) {
        (Type::F16X2 | Type::BF16X2, _) => to == from,
        (_, Type::F16X2 | Type::BF16X2) => matches!(to, Type::U32 | Type::S32),
        (Type::U16 | Type::S16, _) => matches!(from, Type::F16 | Type::BF16),
        (Type::F32, Type::F16 | Type::BF16) | (Type::F16, Type::BF16) => false,
        _ => true,
    }
}

/// Returns the value that `set` writes for true into a register, or a half, of the type.
fn true_value(to: Type, width: Width) -> u64 {
    match to.float() {
        Some((Format::F32, _)) => 0x3f80_0000,
        Some((Format::F16, _)) => 0x3c00,
        Some((Format::Bf16, _)) => 0x3f80,
        _ => width.mask(),
    }
}

fn set(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let (to, from) = (insn.ty(SET_RESULTS)?, insn.ty(COMPARED_TYPES)?);
    if !set_exists(to, from) {
        return Err(insn.unsupported("these types cannot be combined"));
    }
    let may_flush = to != Type::BF16;
    let comparison = Comparison::take(insn, from, may_flush)?;
    let combine = insn.choose(COMBINING_OPERATORS);
    let dst = insn.dst(to.width())?;
    let (a, b) = (insn.src(from)?, insn.src(from)?);
    let combination = combination(insn, combine)?;
    let part = if is_pair(from) { Width::B16 } else { to.width() };
    let select = |dst, condition| Op::Select {
        dst,
        condition,
        if_true: Operand::Constant(true_value(to, part)),
        if_false: Operand::Constant(0),
    };
    if !is_pair(from) {
        let truth = comparison.compute(insn, a, b);
        let truth = combine_with(insn, truth, combination);
        insn.emit(select(dst, truth));
        return Ok(());
    }
    let truths = compare_halves(insn, comparison, a, b);
    let parts = truths.map(|truth| {
        let truth = combine_with(insn, truth, combination);
        insn.compute(part, |dst| select(dst, truth))
    });
    insn.emit(Op::Concat { dst, parts: parts.to_vec() });
    Ok(())
}

/// Lowers `slct`: selects by the sign of the third operand. NaN counts as negative.
fn slct(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let (ty, deciding) = (insn.ty(TYPES)?, insn.ty(&[Type::S32, Type::F32])?);
    let relation = Relation::Ge;
    let comparison = match deciding {
        Type::F32 => Comparison::Float {
            relation: FloatRelation::Order { relation, or_unordered: false },
            format: Format::F32,
            flush: insn.flag("ftz"),
        },
        _ => Comparison::Integer { relation, signed: true, width: Width::B32 },
    };
    let dst = insn.dst(ty.width())?;
    let (if_true, if_false) = (insn.src(ty)?, insn.src(ty)?);
    let sign = insn.src(deciding)?;
    let condition = comparison.compute(insn, sign, Operand::Constant(0));
    insn.emit(Op::Select { dst, condition, if_true, if_false });
    Ok(())
}
