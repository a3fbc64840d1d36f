//! Clusters of blocks: addresses in other blocks (manual §9.7.9.23–24), the barrier of the cluster (§9.7.13.3), the
//! fence of initialisations (§9.7.13.4), and asynchronous stores and updates (§9.7.9.12, §9.7.13.7).
//!
//! Refused by name: the forms of `st.async` and `red.async` that release to global memory (sm_100).

use super::insn::Fit;
use super::memory::check_space;
use super::tensor_copy::REDUCTIONS;
use super::{Form, Insn, Lower, Type, by};
use ir::{Atomic, AtomicOp, Op, Ordering, RemoteStore, Scalar, Scope, Space, SyncOp, Width};

pub(super) const FORMS: &[Form] = &[
    Form {
        opcode: "mapa",
        when: &[],
        syntax: "mapa{.shared::cluster}.{u32,u64} d, a, b",
        section: "9.7.9.23",
        examples: &["mapa.shared::cluster.u32 %r1, %r2, %r3;", "mapa.u64 %rd1, %rd2, 1;"],
        lowering: by(|insn| {
            let space = address_space(insn);
            let ty = insn.ty(&[Type::U32, Type::U64])?;
            let dst = insn.dst(ty.width())?;
            let (address, rank) = (insn.src(ty)?, insn.src(Type::U32)?);
            insn.emit(Op::MapShared { dst, address, rank, space });
            Ok(())
        }),
    },
    Form {
        opcode: "getctarank",
        when: &[],
        syntax: "getctarank{.shared::cluster}.{u32,u64} d, a",
        section: "9.7.9.24",
        examples: &["getctarank.shared::cluster.u32 %r1, %r2;", "getctarank.u64 %r1, %rd2;"],
        lowering: by(|insn| {
            let space = address_space(insn);
            let ty = insn.ty(&[Type::U32, Type::U64])?;
            let dst = insn.dst(Width::B32)?;
            let address = insn.src(ty)?;
            insn.emit(Op::SharedRank { dst, address, space });
            Ok(())
        }),
    },
    Form {
        opcode: "barrier",
        when: &["cluster"],
        syntax: "barrier.cluster{.arrive{.release,.relaxed},.wait{.acquire}}{.aligned}",
        section: "9.7.13.3",
        examples: &["barrier.cluster.arrive.relaxed.aligned;", "barrier.cluster.wait.acquire;"],
        lowering: by(|insn| {
            insn.flag("cluster");
            let waits =
                insn.require(&[("arrive", false), ("wait", true)], "`.arrive` or `.wait`")?;
            let releases = match waits {
                true => {
                    insn.flag("acquire");
                    false
                }
                false => insn.choose(&[("release", true), ("relaxed", false)]).unwrap_or(true),
            };
            let aligned = insn.flag("aligned");
            insn.emit(Op::Sync(SyncOp::ClusterBarrier { waits, releases, aligned }));
            Ok(())
        }),
    },
    Form {
        opcode: "fence",
        when: &["mbarrier_init"],
        syntax: "fence.mbarrier_init.release.cluster",
        section: "9.7.13.4",
        examples: &["fence.mbarrier_init.release.cluster;"],
        lowering: by(|insn| {
            insn.flag("mbarrier_init");
            insn.require(&[("release", ())], "`.release`")?;
            insn.require(&[("cluster", ())], "`.cluster`")?;
            insn.emit(Op::Sync(SyncOp::FenceMbarrierInit));
            Ok(())
        }),
    },
    Form {
        opcode: "st",
        when: &["async"],
        syntax: "st.async{.weak,.cluster}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2,.v4}.type [a], b, [mbar]",
        section: "9.7.9.12",
        examples: &[
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];",
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r1], \
             {%r2, %r3, %r4, %r5}, [%r6];",
        ],
        lowering: by(store),
    },
    Form {
        opcode: "red",
        when: &["async"],
        syntax: "red.async.relaxed.cluster{.shared::cluster}{.mbarrier::complete_tx::bytes}.op.type [a], b, [mbar]",
        section: "9.7.13.7",
        examples: &[
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u32 \
             [%r1], %r2, [%r3];",
        ],
        lowering: by(update),
    },
];

/// Takes the space of an address that may be in any block of the cluster.
fn address_space(insn: &mut Insn<'_, '_, '_>) -> Space {
    match insn.flag("shared::cluster") {
        true => Space::SharedCluster,
        false => Space::Generic,
    }
}

/// Lowers `st.async`.
fn store(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("async");
    if insn.flag("mmio") || insn.flag("release") || insn.flag("global") {
        return Err(insn.unsupported("asynchronous stores to global memory are not modelled"));
    }
    let _ = insn.flag("weak") || insn.flag("cluster");
    let space = address_space(insn);
    insn.require(&[("mbarrier::complete_tx::bytes", ())], "a completion mechanism")?;
    let count = insn.choose(&[("v2", 2), ("v4", 4)]).unwrap_or(1);
    let types =
        &[Type::B32, Type::B64, Type::U32, Type::U64, Type::S32, Type::S64, Type::F32, Type::F64];
    let ty = insn.ty(types)?;
    let address = insn.address()?;
    check_space(insn, space, address)?;
    let srcs = insn.src_vector(count, ty, Fit::Exact)?;
    let mbarrier = insn.address()?;
    check_space(insn, space, mbarrier)?;
    let width = ty.width();
    let store = RemoteStore { address, space, mbarrier, width, srcs, reduce: None };
    insn.emit(Op::RemoteStore(Box::new(store)));
    Ok(())
}

/// Lowers `red.async`.
fn update(insn: &mut Insn<'_, '_, '_>) -> Lower {
    insn.flag("async");
    if insn.flag("mmio") || insn.flag("release") || insn.flag("global") {
        return Err(insn.unsupported("asynchronous updates of global memory are not modelled"));
    }
    insn.require(&[("relaxed", ())], "`.relaxed`")?;
    insn.require(&[("cluster", ())], "`.cluster`")?;
    let space = address_space(insn);
    // This completion mechanism is the only one.
    insn.flag("mbarrier::complete_tx::bytes");
    let op = insn.require(REDUCTIONS, "an operation")?;
    let types: &[Type] = match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => &[Type::B32],
        AtomicOp::Inc | AtomicOp::Dec => &[Type::U32],
        AtomicOp::Min | AtomicOp::Max => &[Type::U32, Type::S32],
        _ => &[Type::U32, Type::S32, Type::U64],
    };
    let ty = insn.ty(types)?;
    let address = insn.address()?;
    check_space(insn, space, address)?;
    let src = insn.src(ty)?;
    let mbarrier = insn.address()?;
    check_space(insn, space, mbarrier)?;
    let width = ty.width();
    let reduce = Atomic {
        dsts: Vec::new(),
        op,
        scalar: ty.scalar().unwrap_or(Scalar::Integer { width, signed: false }),
        packed: 1,
        a: vec![src],
        b: None,
        space,
        address,
        ordering: Ordering::Relaxed(Scope::Cluster),
        keeps_subnormals: false,
        skips: ir::Skips::Never,
    };
    let srcs = vec![src];
    let store = RemoteStore { address, space, mbarrier, width, srcs, reduce: Some(reduce) };
    insn.emit(Op::RemoteStore(Box::new(store)));
    Ok(())
}
