//! Read-modify-writes (manual §9.7.13.5–6).

use super::memory::{SHARED, cache_policy, check_space, hints, scope};
use super::{Fit, Form, Insn, Lower, Type, by};
use ir::{Atomic, AtomicOp, Op, Operand, Ordering, Scalar, Scope, Space, Width};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "atom",
        when: &[],
        syntax: "atom{.sem}{.scope}{.space}.op{.noftz}{.v2,.v4,.v8}.type d, [a], b{, c}{, policy}",
        section: "9.7.13.5",
        examples: &[
            "atom.global.add.f32 %f1, [%rd1], %f2;",
            "atom.shared.cas.b32 %r1, [%r2], %r3, %r4;",
            "atom.global.gpu.acq_rel.add.u32 %r1, [%rd1], 1;",
            "atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;",
            "atom.global.inc.u32 %r1, [%rd1], 7;",
            "atom.global.v2.f32.add {%f1, %f2}, [%rd1], {%f3, %f4};",
        ],
        lowering: by(|insn| {
            let modifiers = take_modifiers(insn, true)?;
            let dsts = insn.dst_vector(modifiers.count, modifiers.ty.width(), Fit::Exact)?;
            emit_access(insn, modifiers, dsts)
        }),
    },
    Form {
        opcode: "red",
        when: &[],
        syntax: "red{.sem}{.scope}{.space}.op{.noftz}{.v2,.v4,.v8}.type [a], b{, policy}",
        section: "9.7.13.6",
        examples: &[
            "red.global.add.f32 [%rd1], %f1;",
            "red.release.gpu.global.max.s32 [%rd1], %r1;",
        ],
        lowering: by(|insn| {
            let modifiers = take_modifiers(insn, false)?;
            emit_access(insn, modifiers, Vec::new())
        }),
    },
];

const OPERATIONS: &[(&str, AtomicOp)] = &[
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
    ("cas", AtomicOp::CompareSwap),
    ("exch", AtomicOp::Exchange),
    ("add", AtomicOp::Add),
    ("inc", AtomicOp::Inc),
    ("dec", AtomicOp::Dec),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
];

/// The modifiers of an atomic operation.
struct Modifiers {
    ordering: Ordering,
    space: Space,
    op: AtomicOp,
    ty: Type,
    count: usize,
    policy: bool,
}

/// Takes all modifiers. `returns`: the operation returns the old value (`atom`, not `red`).
fn take_modifiers(insn: &mut Insn<'_, '_, '_>, returns: bool) -> Lower<Modifiers> {
    type Make = fn(Scope) -> Ordering;
    let semantics: &[(&str, Make)] = &[
        ("relaxed", Ordering::Relaxed),
        ("acquire", Ordering::Acquire),
        ("release", Ordering::Release),
        ("acq_rel", Ordering::AcquireRelease),
    ];
    let make = insn.choose(semantics).unwrap_or(Ordering::Relaxed);
    let ordering = make(scope(insn).unwrap_or(Scope::Gpu));
    if !returns && !matches!(ordering, Ordering::Relaxed(_) | Ordering::Release(_)) {
        return Err(insn.unsupported("a reduction cannot have acquire semantics"));
    }
    let spaces = &[("global", Space::Global), ("shared::cluster", Space::SharedCluster)];
    let space = insn.choose(spaces).or_else(|| insn.choose(SHARED)).unwrap_or(Space::Generic);
    let op = insn.require(OPERATIONS, "an operation")?;
    let policy = hints(insn);
    let count = insn.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1);
    let ty = insn.ty(types_of(op))?;
    let is_half = matches!(ty, Type::F16 | Type::BF16 | Type::F16X2 | Type::BF16X2);
    if is_half && !insn.flag("noftz") {
        return Err(insn.unsupported("halves need `.noftz`"));
    }
    let fits = match op {
        _ if count > 1 => vector_exists(op, ty, count),
        AtomicOp::CompareSwap | AtomicOp::Exchange => returns,
        AtomicOp::Min | AtomicOp::Max => !is_half,
        _ => true,
    };
    if !fits {
        return Err(insn.unsupported("no such combination of operation, vector and type"));
    }
    Ok(Modifiers { ordering, space, op, ty, count, policy })
}

/// Returns `true` if a vector form exists, on sm_90 and later.
fn vector_exists(op: AtomicOp, ty: Type, count: usize) -> bool {
    match ty {
        Type::F32 => op == AtomicOp::Add && count <= 4,
        Type::F16 | Type::BF16 => matches!(op, AtomicOp::Add | AtomicOp::Min | AtomicOp::Max),
        Type::F16X2 | Type::BF16X2 => {
            matches!(op, AtomicOp::Add | AtomicOp::Min | AtomicOp::Max) && count <= 4
        }
        _ => false,
    }
}

/// Returns the types of an operation.
fn types_of(op: AtomicOp) -> &'static [Type] {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[Type::B32, Type::B64],
        AtomicOp::CompareSwap => &[Type::B16, Type::B32, Type::B64, Type::B128],
        AtomicOp::Exchange => &[Type::B32, Type::B64, Type::B128],
        AtomicOp::Inc | AtomicOp::Dec => &[Type::U32],
        AtomicOp::Add => &[
            Type::U32,
            Type::U64,
            Type::S32,
            Type::S64,
            Type::F32,
            Type::F64,
            Type::F16,
            Type::F16X2,
            Type::BF16,
            Type::BF16X2,
        ],
        AtomicOp::Min | AtomicOp::Max => &[
            Type::U32,
            Type::U64,
            Type::S32,
            Type::S64,
            Type::F16,
            Type::F16X2,
            Type::BF16,
            Type::BF16X2,
        ],
        // Only loops do these.
        AtomicOp::Mul
        | AtomicOp::AddProduct
        | AtomicOp::Raise
        | AtomicOp::RaiseOrNan
        | AtomicOp::Lower
        | AtomicOp::LowerOrNan => &[],
    }
}

/// Takes the operands and emits the operation.
fn emit_access(
    insn: &mut Insn<'_, '_, '_>,
    modifiers: Modifiers,
    dsts: Vec<Option<ir::Reg>>,
) -> Lower {
    let Modifiers { ordering, space, op, ty, count, policy } = modifiers;
    let address = insn.address()?;
    check_space(insn, space, address)?;
    let a = insn.src_vector(count, ty, Fit::Exact)?;
    let b: Option<Operand> = match op {
        AtomicOp::CompareSwap => Some(insn.src(ty)?),
        _ => None,
    };
    cache_policy(insn, policy)?;
    let (scalar, packed) = match ty {
        Type::FloatPair(format) => (Scalar::Float(format), 2),
        Type::Bits(Width::B128) => {
            return Err(insn.unsupported("128-bit atomics are not supported"));
        }
        Type::Bits(width) => (Scalar::Integer { width, signed: false }, 1),
        other => match other.scalar() {
            Some(scalar) => (scalar, 1),
            None => return Err(insn.unsupported("no atomic has this type")),
        },
    };
    let (keeps_subnormals, skips) = (false, ir::Skips::Never);
    let atomic = Atomic {
        dsts,
        op,
        scalar,
        packed,
        a,
        b,
        space,
        address,
        ordering,
        keeps_subnormals,
        skips,
    };
    insn.emit(Op::Atomic(atomic));
    Ok(())
}
