//! Cases of logic and shift instructions (manual §9.7.8).

use super::{CaseList, bits};

/// Truth tables: the three operands, constants, usual combinations and some without symmetry.
const TABLES: &str = "0x00|0xff|0xf0|0xcc|0xaa|0x80|0xfe|0x96|0xe8|0xca|0xb8|0x1e|0x2d|0x47|0x6a";

pub(super) fn fill(list: &mut CaseList) {
    list.add("<and|or|xor>.pred %q, %p, <|!>%p1;", "p=pred p1=pred > pred");
    list.add("not.pred", "pred > pred");
    for ty in ["b16", "b32", "b64"] {
        let width = bits(ty);
        list.add(&format!("<and|or|xor>.{ty}"), &format!("{ty} {ty} > {width}"));
        list.add(&format!("<not|cnot>.{ty}"), &format!("{ty} > {width}"));
        list.add(&format!("<shl|shr>.{ty}"), &format!("{ty} amount > {width}"));
    }
    for ty in ["u16", "s16", "u32", "s32", "u64", "s64"] {
        list.add(&format!("shr.{ty}"), &format!("{ty} amount > {}", bits(ty)));
    }
    list.add("shf.<l|r>.<clamp|wrap>.b32", "b32 b32 amount > 32");
    let operands = format!("%a, %b, %c, <{TABLES}>");
    list.add(&format!("lop3.b32 %out, {operands};"), "b32 b32 b32 > 32");
    list.add(
        &format!("lop3.<or|and>.b32 %out|%q, {operands}, <|!>%p;"),
        "b32 b32 b32 pred > 32 pred",
    );
    list.add(&format!("lop3.<or|and>.b32 _|%q, {operands}, %p;"), "b32 b32 b32 pred > pred");
}
