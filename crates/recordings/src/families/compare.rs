//! Cases of comparison and selection (manual §9.7.6 and §9.7.7).

use super::{CaseList, bits};

const TYPES: &[&str] =
    &["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"];
const PAIRS: &[&str] = &["f16x2", "bf16x2"];

/// The relations between numbers of a type, as a pattern.
fn relations(ty: &str) -> &'static str {
    const FLOAT: &str = "<.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan>";
    match ty.as_bytes() {
        [b'b', b'f', ..] => FLOAT,
        [b'f', ..] => FLOAT,
        [b'u', ..] => "<.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs>",
        [b's', ..] => "<.eq|.ne|.lt|.le|.gt|.ge>",
        _ => "<.eq|.ne>",
    }
}

fn flush(ty: &str) -> &'static str {
    if matches!(ty, "f16" | "f16x2" | "f32") { "<|.ftz>" } else { "" }
}

pub(super) fn fill_setp(list: &mut CaseList) {
    for ty in TYPES.iter().chain(PAIRS) {
        let (relation, flush) = (relations(ty), flush(ty));
        let plain = format!("setp{relation}{flush}.{ty}");
        let combined = format!("setp{relation}<.and|.or|.xor>{flush}.{ty}");
        if !PAIRS.contains(ty) {
            list.add(&format!("{plain} %q, %a, %b;"), &format!("{ty} {ty} > pred"));
            let signature = format!("{ty} {ty} pred > pred");
            list.add(&format!("{combined} %q, %a, %b, <|!>%p;"), &signature);
        }
        if !matches!(*ty, "f16" | "bf16") {
            list.add(&format!("{plain} %q|%q1, %a, %b;"), &format!("{ty} {ty} > pred pred"));
            let signature = format!("{ty} {ty} pred > pred pred");
            list.add(&format!("{combined} %q|%q1, %a, %b, %p;"), &signature);
        }
    }
}

pub(super) fn fill_set(list: &mut CaseList) {
    for ty in TYPES {
        for result in ["u32", "s32", "f32", "u16", "s16", "f16", "bf16"] {
            let half = matches!(*ty, "f16" | "bf16");
            let exists = match result {
                "u32" | "s32" => true,
                "f32" => !half,
                "u16" | "s16" => half,
                "f16" => *ty != "bf16",
                _ => *ty != "f16",
            };
            if exists {
                set(list, ty, result);
            }
        }
    }
    for ty in PAIRS {
        for result in ["u32", "s32", ty] {
            set(list, ty, result);
        }
    }
}

fn set(list: &mut CaseList, ty: &str, result: &str) {
    let flush = if result == "bf16" { "" } else { flush(ty) };
    let (relation, width) = (relations(ty), bits(result));
    list.add(
        &format!("set{relation}{flush}.{result}.{ty} %out, %a, %b;"),
        &format!("{ty} {ty} > {width}"),
    );
    list.add(
        &format!("set{relation}<.and|.or|.xor>{flush}.{result}.{ty} %out, %a, %b, %p;"),
        &format!("{ty} {ty} pred > {width}"),
    );
}

pub(super) fn fill_select(list: &mut CaseList) {
    let types = ["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"];
    for ty in types {
        let width = bits(ty);
        list.add(&format!("selp.{ty} %out, %a, %b, <|!>%p;"), &format!("{ty} {ty} pred > {width}"));
        list.add(&format!("slct.{ty}.s32"), &format!("{ty} {ty} s32 > {width}"));
        list.add(&format!("slct<|.ftz>.{ty}.f32"), &format!("{ty} {ty} f32 > {width}"));
    }
}
