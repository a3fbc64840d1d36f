//! Cases of arithmetic in half precision (manual §9.7.4).

use super::{CaseList, bits};

pub(super) fn fill(list: &mut CaseList) {
    for ty in ["f16", "f16x2", "bf16", "bf16x2"] {
        let width = bits(ty);
        let one = format!("{ty} > {width}");
        let two = format!("{ty} {ty} > {width}");
        let three = format!("{ty} {ty} {ty} > {width}");
        let f16 = ty.starts_with('f');
        let (flush, saturate) = if f16 { ("<|.ftz>", "<|.sat>") } else { ("", "") };
        let clamp = if f16 { "<|.sat|.relu>" } else { "<|.relu>" };
        list.add(&format!("<add|sub|mul><|.rn>{flush}{saturate}.{ty}"), &two);
        list.add(&format!("fma.rn{flush}{clamp}.{ty}"), &three);
        list.add(&format!("<neg|abs>{flush}.{ty}"), &one);
        list.add(&format!("<min|max>{flush}<|.NaN><|.xorsign.abs>.{ty}"), &two);
        list.add(&format!("tanh.approx.{ty}"), &one);
        let always = if f16 { "" } else { ".ftz" };
        list.add(&format!("ex2.approx{always}.{ty}"), &one);
    }
}
