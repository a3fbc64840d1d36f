//! Video instructions (manual §9.7.18): not modelled yet; listed so that a refusal can name them.

use super::Form;
use super::unsupported::not_modelled;

const SCALAR: &str = "vop.dt.at.bt{.sat}{.op2} d{.sel}, a{.sel}, b{.sel}{, c}";
const SHIFT: &str = "vop.dt.at.u32{.sat}{.clamp,.wrap}{.op2} d{.sel}, a{.sel}, b{.sel}{, c}";
const SIMD: &str = "vop.dt.at.bt{.sat}{.add} d{.mask}, a{.sel}, b{.sel}, c";

pub(super) const FORMS: &[Form] = &[
    not_modelled(
        "vadd",
        &[],
        SCALAR,
        "9.7.18.1.1",
        &[
            "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h0;",
            "vadd.s32.s32.u32.sat %r1.b1, %r2, %r3, %r4;",
        ],
    ),
    not_modelled("vsub", &[], SCALAR, "9.7.18.1.1", &["vsub.s32.s32.s32 %r1, %r2, %r3;"]),
    not_modelled(
        "vabsdiff",
        &[],
        SCALAR,
        "9.7.18.1.1",
        &["vabsdiff.u32.u32.u32.add %r1, %r2.h0, %r3.h1, %r4;"],
    ),
    not_modelled("vmin", &[], SCALAR, "9.7.18.1.1", &["vmin.s32.s32.s32 %r1, %r2, %r3;"]),
    not_modelled("vmax", &[], SCALAR, "9.7.18.1.1", &["vmax.s32.s32.s32 %r1, %r2, %r3;"]),
    not_modelled("vshl", &[], SHIFT, "9.7.18.1.2", &["vshl.u32.u32.u32.clamp %r1, %r2, %r3;"]),
    not_modelled("vshr", &[], SHIFT, "9.7.18.1.2", &["vshr.u32.u32.u32.clamp %r1, %r2, %r3;"]),
    not_modelled(
        "vmad",
        &[],
        "vmad.dt.at.bt{.po}{.sat}{.shr7,.shr15} d, a{.sel}, b{.sel}, c",
        "9.7.18.1.3",
        &["vmad.s32.s32.u32.sat %r1, %r2, %r3, %r4;"],
    ),
    not_modelled(
        "vset",
        &[],
        "vset.at.bt.cmp{.op2} d{.sel}, a{.sel}, b{.sel}{, c}",
        "9.7.18.1.4",
        &["vset.s32.u32.lt %r1, %r2, %r3;"],
    ),
    not_modelled("vadd2", &[], SIMD, "9.7.18.2.1", &["vadd2.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled("vsub2", &[], SIMD, "9.7.18.2.1", &["vsub2.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled("vavrg2", &[], SIMD, "9.7.18.2.1", &["vavrg2.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled(
        "vabsdiff2",
        &[],
        SIMD,
        "9.7.18.2.1",
        &["vabsdiff2.s32.s32.s32 %r1, %r2, %r3, %r4;"],
    ),
    not_modelled("vmin2", &[], SIMD, "9.7.18.2.1", &["vmin2.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled("vmax2", &[], SIMD, "9.7.18.2.1", &["vmax2.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled(
        "vset2",
        &[],
        "vset2.at.bt.cmp{.add} d{.mask}, a{.sel}, b{.sel}, c",
        "9.7.18.2.2",
        &["vset2.s32.u32.ge %r1, %r2, %r3, %r4;"],
    ),
    not_modelled("vadd4", &[], SIMD, "9.7.18.2.3", &["vadd4.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled("vsub4", &[], SIMD, "9.7.18.2.3", &["vsub4.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled("vavrg4", &[], SIMD, "9.7.18.2.3", &["vavrg4.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled(
        "vabsdiff4",
        &[],
        SIMD,
        "9.7.18.2.3",
        &["vabsdiff4.s32.s32.s32 %r1, %r2, %r3, %r4;"],
    ),
    not_modelled("vmin4", &[], SIMD, "9.7.18.2.3", &["vmin4.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled("vmax4", &[], SIMD, "9.7.18.2.3", &["vmax4.s32.s32.s32 %r1, %r2, %r3, %r4;"]),
    not_modelled(
        "vset4",
        &[],
        "vset4.at.bt.cmp{.add} d{.mask}, a{.sel}, b{.sel}, c",
        "9.7.18.2.4",
        &["vset4.s32.u32.ge %r1, %r2, %r3, %r4;"],
    ),
];
