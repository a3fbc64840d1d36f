//! Cases of `mov` and `prmt` (manual §9.7.9.3–4 and §9.7.9.7) for recording on hardware.

use super::{CaseList, bits};

pub(super) fn fill(list: &mut CaseList) {
    list.add("mov.pred", "pred > pred");
    let types = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"];
    for ty in types {
        list.add(&format!("mov.{ty}"), &format!("{ty} > {}", bits(ty)));
    }
    list.add("mov.b32 %out, {%a, %b};", "b16 b16 > 32");
    list.add("mov.b64 %out, {%a, %b};", "b32 b32 > 64");
    list.add("mov.b64 %out, {%a, %b, %c, %d};", "b16 b16 b16 b16 > 64");
    list.add("mov.b32 {%out, %out1}, %a;", "b32 > 16 16");
    list.add("mov.b64 {%out, %out1}, %a;", "b64 > 32 32");
    list.add("mov.b64 {%out, _}, %a;", "b64 > 32");
    list.add("mov.b64 {%out, %out1, %out2, %out3}, %a;", "b64 > 16 16 16 16");
    list.add("prmt.b32<|.f4e|.b4e|.rc8|.ecl|.ecr|.rc16>", "b32 b32 b32 > 32");
    list.add("prmt.b32 %out, %a, %b, <0x5410|0x7632|0x0123|0x9bd8>;", "b32 b32 > 32");
}
