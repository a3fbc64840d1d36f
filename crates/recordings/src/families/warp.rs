//! Cases of instructions for communication between lanes of a warp (manual §9.7.9.6, §9.7.13.9–14), and of
//! special registers of a lane (§10). [`super::list`] explains patterns and signatures.

use super::CaseList;

pub(super) fn fill(list: &mut CaseList) {
    // Operand `c` of a shuffle has the segment mask in bits 8 to 12 and the clamp in bits 0 to 4. `0x181f` and `0x1800`
    // make segments of eight lanes; 31 and 0 make one of the whole warp.
    let shuffle = "b32 shuffle_lane shuffle_control mask";
    list.add(
        "shfl.sync.<up|down|bfly|idx>.b32 %out|%q, %a, %b, %c, %d;",
        &format!("{shuffle} > 32 pred"),
    );
    list.add("shfl.sync.<up|down|bfly|idx>.b32", &format!("{shuffle} > 32"));
    list.add("shfl.sync.<down|bfly|idx>.b32 %out|%q, %a, <1|4|16>, 31, -1;", "b32 > 32 pred");
    list.add("shfl.sync.<down|bfly|idx>.b32 %out|%q, %a, <1|7>, 0x181f, -1;", "b32 > 32 pred");
    list.add("shfl.sync.up.b32 %out|%q, %a, <1|4|16>, <0|0x1800>, -1;", "b32 > 32 pred");
    list.add("vote.sync.<all|any|uni>.pred %q, <|!>%p, %a;", "warp_pred mask > pred");
    list.add("vote.sync.ballot.b32 %out, <|!>%p, %a;", "warp_pred mask > 32");
    for bits in ["b32", "b64"] {
        let signature = format!("warp_{bits} mask");
        list.add(&format!("match.any.sync.{bits}"), &format!("{signature} > 32"));
        list.add(&format!("match.all.sync.{bits} %out, %a, %b;"), &format!("{signature} > 32"));
        list.add(
            &format!("match.all.sync.{bits} %out|%q, %a, %b;"),
            &format!("{signature} > 32 pred"),
        );
    }
    list.add("redux.sync.<add|min|max>.<u32|s32>", "b32 mask > 32");
    list.add("redux.sync.<and|or|xor>.b32", "b32 mask > 32");
    list.add("elect.sync %out|%q, %a;", "mask > 32 pred");
    list.add("elect.sync _|%q, %a;", "mask > pred");
    list.add("activemask.b32", "> 32");
    let special = "laneid|lanemask_eq|lanemask_le|lanemask_lt|lanemask_ge|lanemask_gt";
    list.add(&format!("mov.u32 %out, %<{special}>;"), "> 32");
    list.add("mov.u32 %out, %<tid|ntid|ctaid|nctaid>.<x|y|z>;", "> 32");
}
