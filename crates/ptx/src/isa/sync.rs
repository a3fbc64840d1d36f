//! Barriers and fences (manual §9.7.13.1–4), waits for earlier launches (§9.7.13.13) and asynchronous copies of sm_80
//! (§9.7.9.25).

use super::memory::{cache_policy, hints, scope};
use super::{Form, Insn, Lower, Type, by};
use crate::syntax::ast::{Expr, Operand as Syntax, UnaryOp};
use ir::{AsyncCopy, BarrierKind, Op, Ordering, Scope, SyncOp, Width};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "griddepcontrol",
        when: &[],
        syntax: "griddepcontrol{.launch_dependents,.wait}",
        section: "9.7.13.13",
        examples: &["griddepcontrol.launch_dependents;", "griddepcontrol.wait;"],
        lowering: by(|insn| {
            let waits =
                insn.require(&[("launch_dependents", false), ("wait", true)], "an action")?;
            insn.emit(if waits {
                Op::Sync(SyncOp::GridWait)
            } else {
                Op::Hint { what: "griddepcontrol.launch_dependents" }
            });
            Ok(())
        }),
    },
    Form {
        opcode: "bar",
        when: &["warp"],
        syntax: "bar.warp.sync membermask",
        section: "9.7.13.2",
        examples: &["bar.warp.sync 0xffffffff;", "bar.warp.sync %r1;"],
        lowering: by(|insn| {
            insn.flag("warp");
            insn.require(&[("sync", ())], "`.sync`")?;
            let mask = insn.src(Type::B32)?;
            insn.emit(Op::Sync(SyncOp::WarpBarrier { mask }));
            Ok(())
        }),
    },
    Form {
        opcode: "bar",
        when: &["sync", "arrive", "red"],
        syntax: "bar{.cta}.{sync a{, b}; arrive a, b; red.popc.u32 d, a{, b}, c; red.{and,or}.pred p, a{, b}, c}",
        section: "9.7.13.1",
        examples: &[
            "bar.sync 0;",
            "bar.sync %r1, 64;",
            "bar.arrive 1, %r2;",
            "bar.red.popc.u32 %r1, 0, %p1;",
            "bar.red.or.pred %p1, 0, 64, !%p2;",
        ],
        lowering: by(|insn| barrier(insn, true)),
    },
    Form {
        opcode: "barrier",
        when: &["sync", "arrive", "red"],
        syntax: "barrier{.cta}.{sync,arrive,red.op}{.aligned}{.u32,.pred} …, as bar",
        section: "9.7.13.1",
        examples: &[
            "barrier.sync 1;",
            "barrier.cta.sync.aligned 0;",
            "barrier.arrive 3, 96;",
            "barrier.red.and.aligned.pred %p1, %r1, %p2;",
        ],
        lowering: by(|insn| {
            let aligned = insn.flag("aligned");
            barrier(insn, aligned)
        }),
    },
    Form {
        opcode: "membar",
        when: &[],
        syntax: "membar.{cta,gl,sys}",
        section: "9.7.13.4",
        examples: &["membar.cta;", "membar.gl;"],
        lowering: by(|insn| {
            let levels = &[("cta", Scope::Cta), ("gl", Scope::Gpu), ("sys", Scope::Sys)];
            let scope = insn.require(levels, "a level")?;
            insn.emit(Op::Sync(SyncOp::Fence { ordering: None, scope }));
            Ok(())
        }),
    },
    Form {
        opcode: "fence",
        when: &[],
        syntax: "fence{.sc,.acq_rel,.acquire,.release}.{cta,cluster,gpu,sys}",
        section: "9.7.13.4",
        examples: &["fence.acq_rel.gpu;", "fence.sc.cta;", "fence.sys;"],
        lowering: by(fence),
    },
    Form {
        opcode: "cp",
        when: &["commit_group"],
        syntax: "cp.async.commit_group",
        section: "9.7.9.25.3.2",
        examples: &["cp.async.commit_group;"],
        lowering: by(|insn| {
            insn.require(&[("async", ())], "`.async`")?;
            insn.flag("commit_group");
            insn.emit(Op::Sync(SyncOp::CommitGroup));
            Ok(())
        }),
    },
    Form {
        opcode: "cp",
        when: &["wait_group", "wait_all"],
        syntax: "cp.async.wait_group N; cp.async.wait_all",
        section: "9.7.9.25.3.3",
        examples: &["cp.async.wait_group 2;", "cp.async.wait_all;"],
        lowering: by(|insn| {
            insn.require(&[("async", ())], "`.async`")?;
            let pending = if insn.flag("wait_all") {
                None
            } else {
                insn.flag("wait_group");
                Some(insn.pending_groups()?)
            };
            insn.emit(Op::Sync(SyncOp::WaitGroup(pending)));
            Ok(())
        }),
    },
    Form {
        opcode: "cp",
        when: &["ca", "cg"],
        syntax: "cp.async.{ca,cg}.shared{::cta}.global{hints} [dst], [src], size{, src-size or ignore-src}{, policy}",
        section: "9.7.9.25.3.1",
        examples: &[
            "cp.async.ca.shared.global [%r1], [%rd1], 4;",
            "cp.async.cg.shared.global [%r1+16], [%rd1], 16, %r2;",
            "cp.async.cg.shared::cta.global.L2::128B [%r1], [%rd1], 16, %p1;",
        ],
        lowering: by(async_copy),
    },
];

/// Lowers `bar` and `barrier`.
fn barrier(insn: &mut Insn<'_, '_, '_>, aligned: bool) -> Lower {
    insn.flag("cta");
    if insn.flag("red") {
        return barrier_reduction(insn, aligned);
    }
    let waits = insn.require(&[("sync", true), ("arrive", false)], "`.sync` or `.arrive`")?;
    let id = insn.src(Type::U32)?;
    let count = if insn.remaining() > 0 { Some(insn.src(Type::U32)?) } else { None };
    if !waits && count.is_none() {
        return Err(insn.unsupported("an arrival needs a thread count"));
    }
    let kind = if waits { BarrierKind::Sync } else { BarrierKind::Arrive };
    insn.emit(Op::Sync(SyncOp::Barrier { kind, id, count, aligned }));
    Ok(())
}

#[derive(Clone, Copy)]
enum Reduction {
    Popc,
    And,
    Or,
}

/// Lowers `bar.red` and `barrier.red`: a barrier that combines the predicates of its threads.
fn barrier_reduction(insn: &mut Insn<'_, '_, '_>, aligned: bool) -> Lower {
    let table = &[("popc", Reduction::Popc), ("and", Reduction::And), ("or", Reduction::Or)];
    let reduction = insn.require(table, "`.popc`, `.and` or `.or`")?;
    let (ty, width) = match reduction {
        Reduction::Popc => (Type::U32, Width::B32),
        Reduction::And | Reduction::Or => (Type::Pred, Width::B1),
    };
    insn.ty(&[ty])?;
    let dst = insn.dst(width)?;
    let id = insn.src(Type::U32)?;
    let count = if insn.remaining() > 1 { Some(insn.src(Type::U32)?) } else { None };
    let predicate = insn.predicate()?;
    let kind = match reduction {
        Reduction::Popc => BarrierKind::Popc { dst, predicate },
        Reduction::And => BarrierKind::And { dst, predicate },
        Reduction::Or => BarrierKind::Or { dst, predicate },
    };
    insn.emit(Op::Sync(SyncOp::Barrier { kind, id, count, aligned }));
    Ok(())
}

/// Lowers `fence`.
fn fence(insn: &mut Insn<'_, '_, '_>) -> Lower {
    type OrderingOf = fn(Scope) -> Ordering;
    let weaker: &[(&str, OrderingOf)] = &[
        ("acq_rel", Ordering::AcquireRelease),
        ("acquire", Ordering::Acquire),
        ("release", Ordering::Release),
    ];
    let ordering_of = if insn.flag("sc") {
        None
    } else {
        // Without a qualifier a fence is `.acq_rel`.
        Some(insn.choose(weaker).unwrap_or(Ordering::AcquireRelease))
    };
    let scope = scope(insn).ok_or_else(|| insn.unsupported("a fence needs a scope"))?;
    let ordering = ordering_of.map(|ordering_of| ordering_of(scope));
    insn.emit(Op::Sync(SyncOp::Fence { ordering, scope }));
    Ok(())
}

/// Lowers `cp.async`.
fn async_copy(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("async", ())], "`.async`")?;
    // `.ca` caches at all levels. `.cg`, which `hints` takes, bypasses L1 and allows 16 bytes only.
    let all_levels = insn.flag("ca");
    insn.require(&[("shared", ()), ("shared::cta", ())], "`.shared`")?;
    insn.require(&[("global", ())], "`.global`")?;
    let policy = hints(insn);
    let (dst, src) = (insn.address()?, insn.address()?);
    let bytes = match insn.immediate()? {
        16 => 16,
        4 if all_levels => 4,
        8 if all_levels => 8,
        _ => return Err(insn.unsupported("a copy has 4, 8 or 16 bytes; with `.cg`, only 16")),
    };
    let (mut src_bytes, mut ignore_src) = (None, None);
    // A cache policy, if there is one, is the last operand.
    if insn.remaining() > usize::from(policy) {
        match next_is_predicate(insn) {
            true => ignore_src = Some(insn.predicate()?),
            false => src_bytes = Some(insn.src(Type::U32)?),
        }
    }
    cache_policy(insn, policy)?;
    insn.emit(Op::AsyncCopy(AsyncCopy { dst, src, bytes, src_bytes, ignore_src }));
    Ok(())
}

/// Returns `true` if the next operand is a predicate (`ignore-src`), not a number (`src-size`).
fn next_is_predicate(insn: &mut Insn<'_, '_, '_>) -> bool {
    let position = insn.instruction.operands.len() - insn.remaining();
    match &insn.instruction.operands[position] {
        Syntax::Expr(Expr::Unary(UnaryOp::Not, _)) => true,
        Syntax::Expr(Expr::Name(name)) => insn
            .builder
            .register(name.text)
            .is_some_and(|registers| registers.decl.ty == Type::Pred),
        _ => false,
    }
}
