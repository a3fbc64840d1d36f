//! Loads, stores and cache control (manual §9.7.9.1–2, §9.7.9.8–17).
//!
//! Cache operators, eviction priorities, prefetch sizes and cache policies are hints by the
//! manual's own words: they are taken and change nothing.

use super::{Fit, Form, Insn, Lower, Lowering, Type, by};
use crate::syntax::ast::Operand as Syntax;
use ir::{Address, AddressBase, Load, Op, Ordering, Scope, Space, Store, Width};

pub(super) const SHARED: &[(&str, Space)] =
    &[("shared", Space::Shared), ("shared::cta", Space::Shared)];

/// The meaning of `.param` without a qualifier depends on the address.
pub(super) const PARAM: &[(&str, Option<Space>)] = &[
    ("param", None),
    ("param::entry", Some(Space::ParamEntry)),
    ("param::func", Some(Space::ParamFunc)),
];

const SCOPES: &[(&str, Scope)] =
    &[("cta", Scope::Cta), ("cluster", Scope::Cluster), ("gpu", Scope::Gpu), ("sys", Scope::Sys)];

const TYPES: &[Type] = &[
    Type::B8,
    Type::B16,
    Type::B32,
    Type::B64,
    Type::B128,
    Type::U8,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S8,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F32,
    Type::F64,
];

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "ld",
        when: &["nc"],
        syntax: "ld.global{.cop}.nc{hints}{.v2,.v4,.v8}.type d, [a]{, policy}",
        section: "9.7.9.9",
        examples: &[
            "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
            "ld.global.nc.u16 %h1, [%rd1+2];",
        ],
        lowering: by(|insn| {
            insn.flag("nc");
            load(insn, true)
        }),
    },
    Form {
        opcode: "ld",
        when: &[],
        syntax: "ld{.weak,.volatile,.relaxed.scope,.acquire.scope,.mmio.relaxed.sys}{.space}{hints}{.v2,.v4,.v8}.type d, [a]{, policy}",
        section: "9.7.9.8",
        examples: &[
            "ld.global.f32 %f1, [%rd1+4];",
            "ld.param.u64 %rd1, [p0];",
            "ld.shared.v2.b32 {%r1, %r2}, [smem+8];",
            "ld.global.s8 %r1, [%rd1];",
            "ld.acquire.gpu.global.u32 %r1, [%rd1];",
            "ld.volatile.shared.f32 %f1, [%r1];",
            "ld.global.ca.L2::128B.b32 %r1, [gmem];",
        ],
        lowering: by(|insn| load(insn, false)),
    },
    Form {
        opcode: "ldu",
        when: &[],
        syntax: "ldu{.global}{.v2,.v4}.type d, [a]",
        section: "9.7.9.10",
        examples: &["ldu.global.b32 %r1, [%rd1];"],
        lowering: Lowering::Unsupported,
    },
    Form {
        opcode: "st",
        when: &[],
        syntax: "st{.weak,.volatile,.relaxed.scope,.release.scope,.mmio.relaxed.sys}{.space}{hints}{.v2,.v4,.v8}.type [a], b{, policy}",
        section: "9.7.9.11",
        examples: &[
            "st.global.f32 [%rd1], %f1;",
            "st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5};",
            "st.global.u8 [%rd1], %r1;",
            "st.release.sys.global.u32 [%rd1], 1;",
        ],
        lowering: by(store),
    },
    Form {
        opcode: "prefetch",
        when: &[],
        syntax: "prefetch{.space}.{L1,L2,tensormap} [a]",
        section: "9.7.9.15",
        examples: &[
            "prefetch.global.L2 [%rd1];",
            "prefetch.global.L2::evict_last [%rd1];",
            "prefetch.tensormap [%rd1];",
        ],
        lowering: by(prefetch),
    },
    Form {
        opcode: "prefetchu",
        when: &[],
        syntax: "prefetchu.L1 [a]",
        section: "9.7.9.15",
        examples: &["prefetchu.L1 [%rd1];"],
        lowering: by(|insn| {
            insn.require(&[("L1", ())], "`.L1`")?;
            insn.address()?;
            insn.emit(Op::Hint { what: "prefetch" });
            Ok(())
        }),
    },
    Form {
        opcode: "discard",
        when: &[],
        syntax: "discard{.global}.L2 [a], 128",
        section: "9.7.9.17",
        examples: &["discard.global.L2 [%rd1], 128;"],
        lowering: by(|insn| {
            let space = insn.choose(&[("global", Space::Global)]).unwrap_or(Space::Generic);
            insn.require(&[("L2", ())], "`.L2`")?;
            let address = insn.address()?;
            let bytes = insn.immediate()?;
            insn.emit(Op::Discard { space, address, bytes });
            Ok(())
        }),
    },
];

/// Takes all modifiers that only advise the caches; returns `true` if a cache policy follows the operands.
pub(super) fn hints(insn: &mut Insn<'_, '_, '_>) -> bool {
    let is_hint = |text: &str| {
        let hint = matches!(text, "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt")
            || matches!(text, "L2::64B" | "L2::128B" | "L2::256B")
            || matches!(text, "L1::evict_normal" | "L1::evict_unchanged" | "L1::evict_first")
            || matches!(text, "L1::evict_last" | "L1::no_allocate")
            || matches!(text, "L2::evict_normal" | "L2::evict_first" | "L2::evict_last");
        hint.then_some(())
    };
    while insn.take(is_hint).is_some() {}
    insn.flag("L2::cache_hint")
}

/// Takes the policy operand announced by `.L2::cache_hint`.
pub(super) fn cache_policy(insn: &mut Insn<'_, '_, '_>, announced: bool) -> Lower {
    if announced {
        insn.src(Type::B64)?;
    }
    Ok(())
}

/// Takes a scope.
pub(super) fn scope(insn: &mut Insn<'_, '_, '_>) -> Option<Scope> {
    insn.choose(SCOPES)
}

/// Takes the memory order of the access; a strong one names its scope.
fn ordering(insn: &mut Insn<'_, '_, '_>, strong: (&str, fn(Scope) -> Ordering)) -> Lower<Ordering> {
    if insn.flag("weak") {
        return Ok(Ordering::Weak);
    }
    if insn.flag("volatile") {
        return Ok(Ordering::Volatile);
    }
    let mmio = insn.flag("mmio");
    let relaxed: fn(Scope) -> Ordering = Ordering::Relaxed;
    let Some(make) = insn.choose(&[("relaxed", relaxed), strong]) else {
        return if mmio {
            Err(insn.unsupported("`.mmio` needs `.relaxed`"))
        } else {
            Ok(Ordering::Weak)
        };
    };
    let scope = scope(insn).ok_or_else(|| insn.unsupported("a strong access needs a scope"))?;
    match (mmio, make(scope)) {
        (true, Ordering::Relaxed(Scope::Sys)) => Ok(Ordering::Mmio),
        (true, _) => Err(insn.unsupported("`.mmio` goes with `.relaxed.sys` alone")),
        (false, ordering) => Ok(ordering),
    }
}

/// The state space as written; `.param` is resolved once the address is known.
enum WrittenSpace {
    Space(Space),
    Param(Option<Space>),
}

/// Takes the state space; generic if none is written.
fn named_space(insn: &mut Insn<'_, '_, '_>, may_be_const: bool) -> WrittenSpace {
    if let Some(param) = insn.choose(PARAM) {
        return WrittenSpace::Param(param);
    }
    let plain = &[
        ("global", Space::Global),
        ("local", Space::Local),
        ("shared::cluster", Space::SharedCluster),
    ];
    let found = insn.choose(plain).or_else(|| insn.choose(SHARED));
    let constant = || may_be_const.then(|| insn.choose(&[("const", Space::Const)])).flatten();
    WrittenSpace::Space(found.or_else(constant).unwrap_or(Space::Generic))
}

/// Returns the state space that `.param` names: that of the variable in the address, else that of the
/// parameters of the enclosing function (manual §9.7.9.8).
pub(super) fn space_of_param(
    insn: &Insn<'_, '_, '_>,
    written: Option<Space>,
    address: Option<Address>,
) -> Space {
    let variable = match address.map(|address| address.base) {
        Some(AddressBase::Variable(variable)) => {
            Some(insn.builder.context.program.variables[variable].space)
        }
        _ => None,
    };
    let here = if insn.builder.is_kernel { Space::ParamEntry } else { Space::ParamFunc };
    written.or(variable).unwrap_or(here)
}

/// Takes `.v2`, `.v4` or `.v8`; returns the number of elements of the access.
fn vector(insn: &mut Insn<'_, '_, '_>) -> usize {
    insn.choose(&[("v2", 2), ("v4", 4), ("v8", 8)]).unwrap_or(1)
}

/// Checks the size of an access: the largest on current machines is 256 bits.
fn check_size(insn: &Insn<'_, '_, '_>, count: usize, width: Width) -> Lower {
    if count * width.bytes() as usize > 32 {
        return Err(insn.unsupported("no access has this many bytes"));
    }
    Ok(())
}

/// Checks the space of an access to a variable: the declared one, or generic.
pub(super) fn check_space(insn: &Insn<'_, '_, '_>, space: Space, address: Address) -> Lower {
    let AddressBase::Variable(variable) = address.base else { return Ok(()) };
    let declared = insn.builder.context.program.variables[variable].space;
    let fits = space == declared
        || space == Space::Generic
        || (space, declared) == (Space::SharedCluster, Space::Shared);
    if fits { Ok(()) } else { Err(insn.unsupported("the variable is in another state space")) }
}

fn load(insn: &mut Insn<'_, '_, '_>, non_coherent: bool) -> Lower {
    let ordering = ordering(insn, ("acquire", Ordering::Acquire))?;
    let named = named_space(insn, true);
    let policy = hints(insn);
    let count = vector(insn);
    let ty = insn.ty(TYPES)?;
    check_size(insn, count, ty.width())?;
    let dsts = insn.dst_vector(count, ty.width(), Fit::AtLeast)?;
    let address = insn.address()?;
    let space = match named {
        WrittenSpace::Space(space) => space,
        WrittenSpace::Param(written) => space_of_param(insn, written, Some(address)),
    };
    check_space(insn, space, address)?;
    if non_coherent && space != Space::Global {
        return Err(insn.unsupported("`.nc` loads from global memory only"));
    }
    cache_policy(insn, policy)?;
    let (width, signed) = (ty.width(), ty.is_signed());
    insn.emit(Op::Load(Load { dsts, width, signed, space, address, ordering, non_coherent }));
    Ok(())
}

fn store(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let ordering = ordering(insn, ("release", Ordering::Release))?;
    let named = named_space(insn, false);
    let policy = hints(insn);
    let count = vector(insn);
    let ty = insn.ty(TYPES)?;
    check_size(insn, count, ty.width())?;
    let address = insn.address()?;
    if let Some(Syntax::Vector(parts)) = insn.instruction.operands.get(1)
        && parts.iter().any(|part| matches!(part, Syntax::Sink(_)))
    {
        return Err(insn.unsupported("`_` among stored values is not supported"));
    }
    let srcs = insn.src_vector(count, ty, Fit::AtLeast)?;
    let space = match named {
        WrittenSpace::Space(space) => space,
        WrittenSpace::Param(written) => {
            space_of_param(insn, written.or(Some(Space::ParamFunc)), None)
        }
    };
    check_space(insn, space, address)?;
    cache_policy(insn, policy)?;
    insn.emit(Op::Store(Store { srcs, width: ty.width(), space, address, ordering }));
    Ok(())
}

fn prefetch(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let spaces = ["global", "local", "const", "param"];
    insn.take(|text| spaces.contains(&text).then_some(()));
    let levels = ["L1", "L2", "L2::evict_last", "L2::evict_normal", "tensormap"];
    if insn.take(|text| levels.contains(&text).then_some(())).is_none() {
        return Err(insn.unsupported("this form needs a cache level"));
    }
    insn.address()?;
    insn.emit(Op::Hint { what: "prefetch" });
    Ok(())
}
