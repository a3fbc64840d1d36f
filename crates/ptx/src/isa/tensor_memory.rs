//! Products of tensor memory, `tcgen05` (manual §9.7.16): not modelled yet, since no supported architecture has
//! tensor memory. Listed so that a refusal can name them.

use super::Form;
use super::unsupported::not_modelled;

pub(super) const FORMS: &[Form] = &[
    not_modelled(
        "tcgen05",
        &["alloc"],
        "tcgen05.alloc.cta_group.sync.aligned{.shared::cta}.b32 [dst], columns",
        "9.7.16.7.1",
        &["tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;"],
    ),
    not_modelled(
        "tcgen05",
        &["dealloc"],
        "tcgen05.dealloc.cta_group.sync.aligned.b32 taddr, columns",
        "9.7.16.7.1",
        &["tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;"],
    ),
    not_modelled(
        "tcgen05",
        &["relinquish_alloc_permit"],
        "tcgen05.relinquish_alloc_permit.cta_group.sync.aligned",
        "9.7.16.7.1",
        &["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"],
    ),
    not_modelled(
        "tcgen05",
        &["ld"],
        "tcgen05.ld{.red}.sync.aligned.shape.num{.pack::16b}{.op}{.abs}{.NaN}.type \
         r{, value}, [taddr]{, offset}",
        "9.7.16.8.3",
        &[
            "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];",
            "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r2], 16;",
        ],
    ),
    not_modelled(
        "tcgen05",
        &["st"],
        "tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [taddr]{, offset}, r",
        "9.7.16.8.4",
        &["tcgen05.st.sync.aligned.16x64b.x2.b32 [%r3], {%r1, %r2};"],
    ),
    not_modelled(
        "tcgen05",
        &["wait::ld", "wait::st"],
        "tcgen05{.wait::ld,.wait::st}.sync.aligned",
        "9.7.16.8.5",
        &["tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;"],
    ),
    not_modelled(
        "tcgen05",
        &["cp"],
        "tcgen05.cp.cta_group.shape{.multicast}{.b8x16.src} [taddr], descriptor",
        "9.7.16.9.2",
        &["tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;"],
    ),
    not_modelled(
        "tcgen05",
        &["shift"],
        "tcgen05.shift.cta_group.down [taddr]",
        "9.7.16.9.3",
        &["tcgen05.shift.cta_group::1.down [%r1];"],
    ),
    not_modelled(
        "tcgen05",
        &["ws"],
        "tcgen05.mma.ws{.sp}.cta_group::1.kind{.collector} [d], a, b{, [meta]}, idesc, p{, mask}",
        "9.7.16.10.9.3",
        &["tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;"],
    ),
    not_modelled(
        "tcgen05",
        &["sp"],
        "tcgen05.mma.sp.cta_group.kind{.block_scale}{.collector} [d], a, b, [meta], idesc, …, p",
        "9.7.16.10.9.2",
        &["tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r2], %r3, %p1;"],
    ),
    not_modelled(
        "tcgen05",
        &["mma"],
        "tcgen05.mma.cta_group.kind{.block_scale}{.collector} [d], a, b, idesc, …, p",
        "9.7.16.10.9.1",
        &[
            "tcgen05.mma.cta_group::1.kind::tf32 [%r1], %rd1, %rd2, %r2, %p1;",
            "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r1], [%r2], %rd2, %r3, [%r4], \
             [%r5], %p1;",
        ],
    ),
    not_modelled(
        "tcgen05",
        &["fence::before_thread_sync", "fence::after_thread_sync"],
        "tcgen05{.fence::before_thread_sync,.fence::after_thread_sync}",
        "9.7.16.11.1",
        &["tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;"],
    ),
    not_modelled(
        "tcgen05",
        &["commit"],
        "tcgen05.commit.cta_group.mbarrier::arrive::one{.shared::cluster}{.multicast::cluster}.b64 \
         [mbar]{, mask}",
        "9.7.16.12.1",
        &["tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];"],
    ),
];
