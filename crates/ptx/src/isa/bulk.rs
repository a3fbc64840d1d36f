//! Bulk copies (manual §9.7.9.25.4.1) and reducing bulk copies (§9.7.9.25.4.2) with their groups (§9.7.9.27.2), and
//! fences for the async and the tensormap proxy (§9.7.13.4).
//!
//! Fences between aliasing addresses have no effect, because allocations do not overlap.

use super::memory::{cache_policy, check_space, hints, scope};
use super::tensor_copy::REDUCTIONS;
use super::unsupported::not_modelled;
use super::{Form, Insn, Lower, Type, by};
use ir::{Atomic, AtomicOp, BulkCompletion, BulkCopy, Op, Ordering, Scalar, Scope, Space, SyncOp};

pub(super) const FORMS: &[Form] = &[
    not_modelled(
        "cp",
        &["cp_mask"],
        "cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask [dst], [src], size{, policy}, mask",
        "9.7.9.25.4.1",
        &["cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [%r1], 16, %h1;"],
    ),
    Form {
        opcode: "cp",
        when: &["reduce"],
        syntax: "cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op{.noftz}.type [dst], [src], size\
                 {, policy}; cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [dst], \
                 [src], size, [mbar]",
        section: "9.7.9.25.4.2",
        examples: &[
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 64;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%rd1], [%r2], %r3;",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%rd1], [%r2], %r3;",
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [%r1], [%r2], \
             64, [%r3];",
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.s32 [%r1], [%r2], \
             %r4, [%r3];",
        ],
        lowering: by(|insn| {
            insn.flag("reduce");
            insn.require(&[("async", ())], "`.async`")?;
            insn.require(&[("bulk", ())], "`.bulk`")?;
            reduce(insn)
        }),
    },
    Form {
        opcode: "cp",
        when: &["prefetch"],
        syntax: "cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [src], size{, policy}",
        section: "9.7.9.25.4.3",
        examples: &["cp.async.bulk.prefetch.L2.global [%rd1], 64;"],
        lowering: by(|insn| {
            for name in ["async", "bulk", "prefetch", "L2", "global"] {
                if !insn.flag(name) {
                    return Err(insn.unsupported("a bulk prefetch must name L2 and `.global`"));
                }
            }
            let policy = hints(insn);
            insn.address()?;
            insn.src(Type::U32)?;
            cache_policy(insn, policy)?;
            insn.emit(Op::Hint { what: "prefetch" });
            Ok(())
        }),
    },
    Form {
        opcode: "cp",
        when: &["bulk"],
        syntax: "cp.async.bulk{.shared::cluster,.shared::cta}.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.L2::cache_hint} \
                 [dst], [src], size, [mbar]{, mask}{, policy}; \
                 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], size, [mbar]; cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint} \
                 [dst], [src], size{, policy}; cp.async.bulk{.commit_group; .wait_group{.read} N}",
        section: "9.7.9.25.4.1",
        examples: &[
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64, \
             [%r2];",
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r3, [%r2];",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], \
             [%rd1], 64, [%r2], %h1;",
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r1], [%r3], 64, \
             [%r2];",
            "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], %r2;",
            "cp.async.bulk.commit_group;",
            "cp.async.bulk.wait_group.read 0;",
        ],
        lowering: by(|insn| {
            insn.require(&[("async", ())], "`.async`")?;
            insn.flag("bulk");
            if insn.flag("commit_group") {
                insn.emit(Op::Sync(SyncOp::BulkCommit));
                return Ok(());
            }
            if insn.flag("wait_group") {
                let read = insn.flag("read");
                let pending = insn.pending_groups()?;
                insn.emit(Op::Sync(SyncOp::BulkWait { pending, read }));
                return Ok(());
            }
            copy(insn)
        }),
    },
    Form {
        opcode: "fence",
        when: &["async"],
        syntax: "fence.proxy.async{.global,.shared::cta,.shared::cluster}",
        section: "9.7.13.4",
        examples: &[
            "fence.proxy.async;",
            "fence.proxy.async.shared::cta;",
            "fence.proxy.async.global;",
        ],
        lowering: by(proxy_fence),
    },
    Form {
        opcode: "membar",
        when: &["async"],
        syntax: "membar.proxy.async{.global,.shared::cta,.shared::cluster}",
        section: "9.7.13.4",
        examples: &["membar.proxy.async;", "membar.proxy.async.shared::cta;"],
        lowering: by(proxy_fence),
    },
    Form {
        opcode: "fence",
        when: &["alias"],
        syntax: "fence.proxy.alias",
        section: "9.7.13.4",
        examples: &["fence.proxy.alias;"],
        lowering: by(alias_fence),
    },
    Form {
        opcode: "membar",
        when: &["alias"],
        syntax: "membar.proxy.alias",
        section: "9.7.13.4",
        examples: &["membar.proxy.alias;"],
        lowering: by(alias_fence),
    },
    Form {
        opcode: "fence",
        when: &["tensormap::generic"],
        syntax: "fence.proxy.tensormap::generic{.release.scope; .acquire.scope [a], 128}",
        section: "9.7.13.4",
        examples: &[
            "fence.proxy.tensormap::generic.release.gpu;",
            "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
        ],
        lowering: by(|insn| {
            insn.require(&[("proxy", ())], "`.proxy`")?;
            insn.flag("tensormap::generic");
            let acquires = insn.require(&[("release", false), ("acquire", true)], "a direction")?;
            if scope(insn).is_none() {
                return Err(insn.unsupported("the scope is missing"));
            }
            let map = if acquires { Some(whole_map(insn)?) } else { None };
            insn.emit(Op::Sync(SyncOp::MapFence(map)));
            Ok(())
        }),
    },
];

/// Takes the address of a tensor map and its size.
fn whole_map(insn: &mut Insn<'_, '_, '_>) -> Lower<ir::Address> {
    let map = insn.address()?;
    match insn.immediate()? {
        128 => Ok(map),
        _ => Err(insn.unsupported("a tensor map has 128 bytes")),
    }
}

fn proxy_fence(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("proxy", ())], "`.proxy`")?;
    insn.flag("async");
    let spaces = &[
        ("global", Space::Global),
        ("shared::cta", Space::Shared),
        ("shared::cluster", Space::Shared),
    ];
    let space = insn.choose(spaces);
    insn.emit(Op::Sync(SyncOp::ProxyFence(space)));
    Ok(())
}

fn alias_fence(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.require(&[("proxy", ())], "`.proxy`")?;
    insn.flag("alias");
    insn.emit(Op::Hint { what: "fence.proxy.alias" });
    Ok(())
}

/// Lowers a copy between global and shared memory, or between blocks of a cluster.
fn copy(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let spaces = &[
        ("shared::cluster", Space::SharedCluster),
        ("shared::cta", Space::Shared),
        ("global", Space::Global),
    ];
    let dst_space = insn.require(spaces, "a destination")?;
    let src_space = insn.require(spaces, "a source")?;
    let loads = match (dst_space, src_space) {
        (Space::SharedCluster | Space::Shared, Space::Global) => true,
        (Space::SharedCluster, Space::Shared) => true,
        (Space::Global, Space::Shared) => false,
        _ => return Err(insn.unsupported("there is no bulk copy between these state spaces")),
    };
    let multicasts = insn.flag("multicast::cluster");
    if multicasts && (dst_space, src_space) != (Space::SharedCluster, Space::Global) {
        return Err(
            insn.unsupported("a multicast copy must go from global memory to `.shared::cluster`")
        );
    }
    let mechanism = if loads { "mbarrier::complete_tx::bytes" } else { "bulk_group" };
    insn.require(&[(mechanism, ())], "a completion mechanism")?;
    let policy = hints(insn);
    let (dst, src) = (insn.address()?, insn.address()?);
    check_space(insn, dst_space, dst)?;
    check_space(insn, src_space, src)?;
    let bytes = insn.src(Type::U32)?;
    let completion = match loads {
        true => {
            let mbarrier = insn.address()?;
            check_space(insn, Space::SharedCluster, mbarrier)?;
            BulkCompletion::Mbarrier(mbarrier)
        }
        false => BulkCompletion::Group,
    };
    let multicast = if multicasts { Some(insn.src(Type::U16)?) } else { None };
    cache_policy(insn, policy)?;
    insn.emit(Op::BulkCopy(Box::new(BulkCopy {
        dst,
        dst_space,
        src,
        src_space,
        bytes,
        completion,
        reduce: None,
        multicast,
    })));
    Ok(())
}

/// Lowers a reducing copy, to global memory or to shared memory of another block.
fn reduce(insn: &mut Insn<'_, '_, '_>) -> Lower {
    let spaces = &[("global", Space::Global), ("shared::cluster", Space::SharedCluster)];
    let dst_space = insn.require(spaces, "a destination")?;
    insn.require(&[("shared::cta", ())], "a source")?;
    let to_global = dst_space == Space::Global;
    let mechanism = if to_global { "bulk_group" } else { "mbarrier::complete_tx::bytes" };
    insn.require(&[(mechanism, ())], "a completion mechanism")?;
    let op = insn.require(REDUCTIONS, "an operation")?;
    let policy = if to_global { hints(insn) } else { false };
    let noftz = insn.flag("noftz");
    let ty = insn.ty(if to_global { reduced_types(op) } else { reduced_in_shared(op) })?;
    let is_half = matches!(ty, Type::F16 | Type::BF16);
    if noftz != (is_half && op == AtomicOp::Add) {
        return Err(
            insn.unsupported("sums of f16 and bf16 need `.noftz`, which nothing else takes")
        );
    }
    let (dst, src) = (insn.address()?, insn.address()?);
    check_space(insn, dst_space, dst)?;
    check_space(insn, Space::Shared, src)?;
    let bytes = insn.src(Type::U32)?;
    let completion = if to_global {
        BulkCompletion::Group
    } else {
        let mbarrier = insn.address()?;
        check_space(insn, Space::SharedCluster, mbarrier)?;
        BulkCompletion::Mbarrier(mbarrier)
    };
    cache_policy(insn, policy)?;
    let width = ty.width();
    let update = Atomic {
        dsts: Vec::new(),
        op,
        scalar: ty.scalar().unwrap_or(Scalar::Integer { width, signed: false }),
        packed: 1,
        a: Vec::new(),
        b: None,
        space: dst_space,
        address: dst,
        ordering: Ordering::Relaxed(Scope::Gpu),
        keeps_subnormals: false,
        skips: ir::Skips::Never,
    };
    insn.emit(Op::BulkCopy(Box::new(BulkCopy {
        dst,
        dst_space,
        src,
        src_space: Space::Shared,
        bytes,
        completion,
        reduce: Some(update),
        multicast: None,
    })));
    Ok(())
}

/// Returns the types that an operation supports in shared memory of another block.
const fn reduced_in_shared(op: AtomicOp) -> &'static [Type] {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[Type::B32],
        AtomicOp::Inc | AtomicOp::Dec => &[Type::U32],
        AtomicOp::Min | AtomicOp::Max => &[Type::U32, Type::S32],
        _ => &[Type::U32, Type::S32, Type::U64],
    }
}

/// Returns the types that an operation supports in global memory.
const fn reduced_types(op: AtomicOp) -> &'static [Type] {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[Type::B32, Type::B64],
        AtomicOp::Inc | AtomicOp::Dec => &[Type::U32],
        AtomicOp::Min | AtomicOp::Max => {
            &[Type::U32, Type::S32, Type::U64, Type::S64, Type::F16, Type::BF16]
        }
        _ => &[Type::U32, Type::S32, Type::U64, Type::F32, Type::F64, Type::F16, Type::BF16],
    }
}
