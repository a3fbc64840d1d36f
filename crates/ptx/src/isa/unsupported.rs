//! Instructions that are not modelled yet, so that a refusal can name them: memory of other devices and `st.bulk`
//! (manual §9.7.9), textures and surfaces (§9.7.10, §9.7.11), restricted fences and the control of later launches
//! (§9.7.13), and the stack (§9.7.17). `tcgen05` is in `tensor_memory`.
//!
//! Opcodes shared with other families are selected here by a modifier of their own.

use super::{Form, Lowering};

/// Returns a form of an instruction that is known by name and refused.
pub(super) const fn not_modelled(
    opcode: &'static str,
    when: &'static [&'static str],
    syntax: &'static str,
    section: &'static str,
    examples: &'static [&'static str],
) -> Form {
    Form { opcode, when, syntax, section, examples, lowering: Lowering::Unsupported }
}

/// Memory of other devices, and a store of many bytes.
pub(super) const ADDRESSES: &[Form] = &[
    not_modelled(
        "st",
        &["bulk"],
        "st.bulk{.weak}{.shared::cta} [a], size, 0",
        "9.7.9.13",
        &["st.bulk.weak.shared::cta [%rd1], %rd2, 0;"],
    ),
    not_modelled(
        "multimem",
        &["ld_reduce"],
        "multimem.ld_reduce{.sem.scope,.weak}{.global}.op{.acc}{.vec}.type d, [a]",
        "9.7.9.14",
        &[
            "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r1, [%rd1];",
            "multimem.ld_reduce.weak.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
        ],
    ),
    not_modelled(
        "multimem",
        &["st"],
        "multimem.st{.sem.scope,.weak}{.global}{.vec}.type [a], b",
        "9.7.9.14",
        &["multimem.st.release.sys.global.b64 [%rd1], %rd2;"],
    ),
    not_modelled(
        "multimem",
        &["red"],
        "multimem.red{.sem.scope}{.global}.op{.vec}.type [a], b",
        "9.7.9.14",
        &["multimem.red.relaxed.gpu.global.add.f32 [%rd1], %f1;"],
    ),
    not_modelled(
        "multimem",
        &["reduce"],
        "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.op.type [dst], [src], size",
        "9.7.9.27",
        &["multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 16;"],
    ),
    not_modelled(
        "multimem",
        &["cp"],
        "multimem.cp.async.bulk.global.shared::cta.bulk_group{.cp_mask} [dst], [src], size{, mask}",
        "9.7.9.26",
        &["multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;"],
    ),
];

/// Textures and surfaces.
pub(super) const TEXTURES: &[Form] = &[
    not_modelled(
        "tex",
        &[],
        "tex{.base,.level,.grad}.geom{.v4,.v2}.dtype.ctype d{|p}, [a{, b}, c]{, lod}{, e}{, f}",
        "9.7.10.3",
        &[
            "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
            "tex.level.1d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f1}], %f2;",
        ],
    ),
    not_modelled(
        "tld4",
        &[],
        "tld4.comp.geom.v4.dtype.f32 d{|p}, [a{, b}, c]{, e}{, f}",
        "9.7.10.4",
        &["tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];"],
    ),
    not_modelled(
        "txq",
        &[],
        "txq{.level}.query.b32 d, [a]{, lod}",
        "9.7.10.5",
        &["txq.width.b32 %r1, [%rd1];"],
    ),
    not_modelled(
        "istypep",
        &[],
        "istypep.{texref,samplerref,surfref} p, a",
        "9.7.10.6",
        &["istypep.texref %p1, %rd1;", "istypep.surfref %p1, %rd1;"],
    ),
    not_modelled(
        "suld",
        &[],
        "suld.b.geom{.cop}{.v2,.v4}.dtype.clamp d, [a, b]",
        "9.7.11.1",
        &["suld.b.2d.v2.b32.trap {%r1, %r2}, [%rd1, {%r3, %r4}];"],
    ),
    not_modelled(
        "sust",
        &[],
        "sust{.b,.p}.geom{.cop}{.v2,.v4}.ctype.clamp [a, b], c",
        "9.7.11.2",
        &[
            "sust.b.1d.b32.clamp [%rd1, {%r1}], {%r2};",
            "sust.p.2d.v4.b32.trap [%rd1, {%r1, %r2}], {%r3, %r4, %r5, %r6};",
        ],
    ),
    not_modelled(
        "sured",
        &[],
        "sured{.b,.p}.op.geom.ctype.clamp [a, b], c",
        "9.7.11.3",
        &["sured.b.add.2d.u32.trap [%rd1, {%r1, %r2}], %r3;"],
    ),
    not_modelled("suq", &[], "suq.query.b32 d, [a]", "9.7.11.4", &["suq.width.b32 %r1, [%rd1];"]),
];

/// Fences restricted to one kind of memory, and control of later launches.
pub(super) const SYNCHRONISATION: &[Form] = &[
    not_modelled(
        "fence",
        &["proxy"],
        "fence.proxy.async::generic{.acquire.sync_restrict::shared::cluster,.release.sync_restrict::shared::cta}.cluster",
        "9.7.13.4",
        &["fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;"],
    ),
    not_modelled(
        "fence",
        &["sync_restrict::shared::cluster", "sync_restrict::shared::cta"],
        "fence{.acquire,.release}{.sync_restrict::shared::cluster,.sync_restrict::shared::cta}\
         .cluster",
        "9.7.13.4",
        &[
            "fence.acquire.sync_restrict::shared::cluster.cluster;",
            "fence.release.sync_restrict::shared::cta.cluster;",
        ],
    ),
    not_modelled(
        "clusterlaunchcontrol",
        &["try_cancel"],
        "clusterlaunchcontrol.try_cancel.async{.shared::cta}.mbarrier::complete_tx::bytes\
         {.multicast::cluster::all}.b128 [a], [mbar]",
        "9.7.13.17",
        &["clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 \
             [%r1], [%r2];"],
    ),
    not_modelled(
        "clusterlaunchcontrol",
        &["query_cancel"],
        "clusterlaunchcontrol.query_cancel{.is_canceled.pred,.get_first_ctaid{.v4}.b32}.b128 d, a",
        "9.7.13.18",
        &[
            "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q1;",
            "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, _}, %q1;",
        ],
    ),
];

/// The stack.
pub(super) const STACK: &[Form] = &[
    not_modelled("stacksave", &[], "stacksave.{u32,u64} d", "9.7.17.1", &["stacksave.u64 %rd1;"]),
    not_modelled(
        "stackrestore",
        &[],
        "stackrestore.{u32,u64} a",
        "9.7.17.2",
        &["stackrestore.u64 %rd1;"],
    ),
    not_modelled(
        "alloca",
        &[],
        "alloca.{u32,u64} d, size{, align}",
        "9.7.17.3",
        &["alloca.u64 %rd1, %rd2, 16;"],
    ),
];
