//! Cases of integer arithmetic (manual §9.7.1) and carry chains (§9.7.2).

use super::{CaseList, bits};

const SCALARS: &[&str] = &["u16", "s16", "u32", "s32", "u64", "s64"];
const WORDS: &[&str] = &["u32", "s32", "u64", "s64"];

pub(super) fn fill(list: &mut CaseList) {
    for ty in SCALARS {
        let width = bits(ty);
        let (two, three) = (format!("{ty} {ty} > {width}"), format!("{ty} {ty} {ty} > {width}"));
        list.add(&format!("<add|sub|min|max|mul.lo|mul.hi>.{ty}"), &two);
        list.add(&format!("<sad|mad.lo|mad.hi>.{ty}"), &three);
        list.add(&format!("<div|rem>.{ty}"), &format!("{ty} nonzero{width} > {width}"));
    }
    for ty in ["u16", "s16", "u32", "s32"] {
        let wide = 2 * bits(ty);
        list.add(&format!("mul.wide.{ty}"), &format!("{ty} {ty} > {wide}"));
        list.add(&format!("mad.wide.{ty}"), &format!("{ty} {ty} b{wide} > {wide}"));
    }
    for ty in ["s16", "s32", "s64"] {
        list.add(&format!("<abs|neg>.{ty}"), &format!("{ty} > {}", bits(ty)));
    }
    list.add("<add|sub>.sat.s32", "s32 s32 > 32");
    list.add("mad.hi.sat.s32", "s32 s32 s32 > 32");
    list.add("<add|min|max>.<u16x2|s16x2>", "s16x2 s16x2 > 32");
    list.add("<min|max>.relu.s16x2", "s16x2 s16x2 > 32");
    list.add("<min|max>.relu.s32", "s32 s32 > 32");
    list.add("mul24.<lo|hi>.<u32|s32>", "b32 b32 > 32");
    list.add("mad24.<lo|hi>.<u32|s32>", "b32 b32 b32 > 32");
    list.add("mad24.hi.sat.s32", "b32 b32 b32 > 32");
    for ty in ["b32", "b64"] {
        let width = bits(ty);
        list.add(&format!("<popc|clz>.{ty}"), &format!("{ty} > 32"));
        list.add(&format!("brev.{ty}"), &format!("{ty} > {width}"));
        list.add(&format!("bfi.{ty}"), &format!("{ty} {ty} amount amount > {width}"));
    }
    for ty in WORDS {
        list.add(&format!("bfind<|.shiftamt>.{ty}"), &format!("{ty} > 32"));
        list.add(&format!("bfe.{ty}"), &format!("{ty} amount amount > {}", bits(ty)));
    }
    list.add("fns.b32", "b32 lane amount > 32");
    list.add("fns.b32 %out, %a, %b, <-32|-3|-1|0|1|2|31>;", "b32 lane > 32");
    list.add("szext.<clamp|wrap>.<u32|s32>", "b32 amount > 32");
    list.add("bmsk.<clamp|wrap>.b32", "amount amount > 32");
    list.add("dp4a.<u32|s32>.<u32|s32>", "b32 b32 b32 > 32");
    list.add("dp2a.<lo|hi>.<u32|s32>.<u32|s32>", "b32 b32 b32 > 32");
}

/// Chains, because the carry flag cannot be recorded alone: the last instruction makes it visible.
pub(super) fn fill_extended(list: &mut CaseList) {
    for ty in WORDS {
        let width = bits(ty);
        let two = format!("{ty} {ty} {ty} {ty} > {width} {width}");
        let three = format!("{ty} {ty} {ty} {ty} > {width} {width} {width}");
        for op in ["add", "sub"] {
            let first = format!("{op}.cc.{ty} %out, %a, %b;");
            list.add(&format!("{first} {op}c.{ty} %out1, %c, %d;"), &two);
            list.add(
                &format!("{first} {op}c.cc.{ty} %out1, %c, %d; {op}c.{ty} %out2, 0, 0;"),
                &three,
            );
        }
        let first = format!("mad.<lo|hi>.cc.{ty} %out, %a, %b, %c;");
        list.add(&format!("{first} madc.<lo|hi>.{ty} %out1, %a, %b, %d;"), &two);
        list.add(
            &format!("{first} madc.<lo|hi>.cc.{ty} %out1, %a, %b, %d; addc.{ty} %out2, 0, 0;"),
            &three,
        );
    }
}
