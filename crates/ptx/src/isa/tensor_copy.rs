//! Tensor copies (manual §9.7.9.27.1): loads, stores, reductions and prefetches of a box described by a tensor map.
//!
//! Refused by name: copies of pairs of blocks (`.cta_group`), gathers and scatters of rows, `.im2col::w` (all for
//! sm_100 and later), and loads that complete with a bulk group. A prefetch is a hint.

use super::insn::Fit;
use super::memory::{cache_policy, check_space, hints};
use super::unsupported::not_modelled;
use super::{Form, Insn, Lower, Type, by};
use crate::syntax::ast::Operand;
use ir::{AtomicOp, Op, Space, TensorCopy, TensorCopyKind};

pub(super) const FORMS: &[Form] = &[
    not_modelled(
        "cp",
        &["tile::gather4", "tile::scatter4"],
        "cp.async.bulk{.prefetch}.tensor.2d{.dst.src}{.tile::gather4,.tile::scatter4} …",
        "9.7.9.27.1.2",
        &[
            "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes \
             [%r1], [%rd1, {%r2, %r3, %r4, %r5, %r6}], [%r7];",
            "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group \
             [%rd1, {%r2, %r3, %r4, %r5, %r6}], [%r1];",
        ],
    ),
    not_modelled(
        "cp",
        &["im2col::w", "im2col::w::128"],
        "cp.async.bulk{.prefetch}.tensor.dim{.dst.src}{.im2col::w,.im2col::w::128} …",
        "9.7.9.27.1.2",
        &["cp.async.bulk.tensor.4d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes \
           [%r1], [%rd1, {%r2, %r3, %r4, 0}], [%r5], {%h1, %h2};"],
    ),
    not_modelled(
        "cp",
        &["cta_group::1", "cta_group::2"],
        "cp.async.bulk.tensor.dim{.dst.src}…{.cta_group::1,.cta_group::2} …",
        "9.7.9.27.1.2",
        &[
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 \
           [%r1], [%rd1, {%r2, %r3}], [%r4];",
        ],
    ),
    Form {
        opcode: "cp",
        when: &["tensor"],
        syntax: "cp.async.bulk.tensor.dim.{shared::cta,shared::cluster}.global{.tile,.im2col}.mbarrier::complete_tx::bytes\
             {.multicast::cluster}{.L2::cache_hint} [dst], [map, coords], [mbar]{, offsets}{, mask}{, policy}; \
             cp{.reduce}.async.bulk.tensor.dim.global.shared::cta{.op}{.tile,.im2col_no_offs}.bulk_group{.L2::cache_hint} \
             [map, coords], [src]{, policy}; \
             cp.async.bulk.prefetch.tensor.dim.L2.global{.tile,.im2col} [map, coords]{, offsets}{, policy}",
        section: "9.7.9.27.1.2",
        examples: &[
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \
         [%r1], [%rd1, {%r2, %r3}], [%r4];",
            "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes \
         [%r1], [%rd1, {%r2, %r3, %r4, 0}], [%r5], {%h1, %h2};",
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \
         [%r1], [%rd1, {%r2, %r3}], [%r4], %h1;",
            "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r1];",
            "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, {%r1}], \
         [%r2];",
        ],
        lowering: by(|insn| {
            insn.require(&[("async", ())], "`.async`")?;
            insn.require(&[("bulk", ())], "`.bulk`")?;
            insn.flag("tensor");
            let ranks = &[("1d", 1), ("2d", 2), ("3d", 3), ("4d", 4), ("5d", 5)];
            let rank = insn.require(ranks, "a number of dimensions")?;
            match (insn.flag("prefetch"), insn.flag("reduce")) {
                (true, _) => prefetch(insn, rank),
                (false, reduces) => copy(insn, rank, reduces),
            }
        }),
    },
];

/// Takes the mode; returns `true` for im2col.
fn mode(insn: &mut Insn<'_, '_, '_>, im2col: &str) -> bool {
    let _ = insn.flag("tile");
    insn.flag(im2col)
}

fn prefetch(insn: &mut Insn<'_, '_, '_>, rank: usize) -> Lower {
    if !insn.flag("L2") || !insn.flag("global") {
        return Err(insn.unsupported("a tensor prefetch must name L2 and `.global`"));
    }
    let im2col = mode(insn, "im2col");
    let policy = hints(insn);
    insn.tensor_address(rank)?;
    offsets(insn, im2col, rank)?;
    cache_policy(insn, policy)?;
    insn.emit(Op::Hint { what: "prefetch" });
    Ok(())
}

/// Takes the offsets of `.im2col`: two fewer than the tensor's dimensions.
fn offsets(insn: &mut Insn<'_, '_, '_>, im2col: bool, rank: usize) -> Lower<Vec<ir::Operand>> {
    match (im2col, rank) {
        (false, _) => Ok(Vec::new()),
        (true, 3..) => insn.src_vector(rank - 2, Type::U16, Fit::Exact),
        (true, _) => Err(insn.unsupported("im2col has 3 to 5 dimensions")),
    }
}

fn copy(insn: &mut Insn<'_, '_, '_>, rank: usize, reduces: bool) -> Lower {
    let spaces = &[
        ("shared::cluster", Space::SharedCluster),
        ("shared::cta", Space::Shared),
        ("global", Space::Global),
    ];
    let dst_space = insn.require(spaces, "a destination")?;
    let src_space = insn.require(spaces, "a source")?;
    match (dst_space, src_space) {
        (Space::SharedCluster | Space::Shared, Space::Global) if !reduces => {
            load(insn, rank, dst_space)
        }
        (Space::Global, Space::Shared) => store(insn, rank, reduces),
        _ => Err(insn.unsupported("a tensor copy must go between global and shared memory")),
    }
}

fn load(insn: &mut Insn<'_, '_, '_>, rank: usize, shared_space: Space) -> Lower {
    let im2col = mode(insn, "im2col");
    insn.require(&[("mbarrier::complete_tx::bytes", ())], "a completion mechanism")?;
    let is_multicast = insn.flag("multicast::cluster");
    if is_multicast && shared_space != Space::SharedCluster {
        return Err(insn.unsupported("a multicast copy must go to `.shared::cluster`"));
    }
    let policy = hints(insn);
    let shared = insn.address()?;
    check_space(insn, shared_space, shared)?;
    let (map, coordinates) = insn.tensor_address(rank)?;
    let mbarrier = insn.address()?;
    check_space(insn, Space::SharedCluster, mbarrier)?;
    let offsets = offsets(insn, im2col, rank)?;
    let multicast = if is_multicast { Some(insn.src(Type::U16)?) } else { None };
    cache_policy(insn, policy)?;
    let kind = TensorCopyKind::Load { mbarrier, offsets, multicast };
    insn.emit(Op::TensorCopy(Box::new(TensorCopy {
        map,
        coordinates,
        shared,
        shared_space,
        im2col,
        kind,
    })));
    Ok(())
}

fn store(insn: &mut Insn<'_, '_, '_>, rank: usize, reduces: bool) -> Lower {
    let im2col = mode(insn, "im2col_no_offs");
    let kind = match reduces {
        true => TensorCopyKind::Reduce(insn.require(REDUCTIONS, "an operation")?),
        false => TensorCopyKind::Store,
    };
    insn.require(&[("bulk_group", ())], "a completion mechanism")?;
    let policy = hints(insn);
    let (map, coordinates) = insn.tensor_address(rank)?;
    let shared = insn.address()?;
    check_space(insn, Space::Shared, shared)?;
    cache_policy(insn, policy)?;
    let shared_space = Space::Shared;
    insn.emit(Op::TensorCopy(Box::new(TensorCopy {
        map,
        coordinates,
        shared,
        shared_space,
        im2col,
        kind,
    })));
    Ok(())
}

/// The operations of reducing copies.
pub(super) const REDUCTIONS: &[(&str, AtomicOp)] = &[
    ("add", AtomicOp::Add),
    ("min", AtomicOp::Min),
    ("max", AtomicOp::Max),
    ("inc", AtomicOp::Inc),
    ("dec", AtomicOp::Dec),
    ("and", AtomicOp::And),
    ("or", AtomicOp::Or),
    ("xor", AtomicOp::Xor),
];

impl Insn<'_, '_, '_> {
    /// Takes the next operand as `[map, {x, y}]`: the address of a tensor map and this many coordinates.
    fn tensor_address(&mut self, rank: usize) -> Lower<(ir::Address, Vec<ir::Operand>)> {
        let operand = self.next_operand()?;
        let Operand::Address(parts) = operand else {
            return Err(self.bad_operand(operand, "a tensor map in brackets is needed here"));
        };
        let [map, coordinates] = parts.as_slice() else {
            return Err(self.bad_operand(operand, "a tensor map and coordinates are needed here"));
        };
        let map = self.address_inside(map)?;
        let coordinates: Vec<&Operand<'_>> = match coordinates {
            Operand::Vector(all) => all.iter().collect(),
            single => vec![single],
        };
        if coordinates.len() != rank {
            let why = format!("{rank} coordinates are needed here");
            return Err(self.bad_operand(operand, &why));
        }
        let each = coordinates
            .into_iter()
            .map(|coordinate| self.source(coordinate, Type::S32, Fit::Exact));
        Ok((map, each.collect::<Lower<_>>()?))
    }
}
