//! Cases of `cvt` (manual §9.7.9.21) and `cvt.pack` (§9.7.9.22) for recording on hardware.
//!
//! A case is a pattern and a signature. The pattern `cvt<|.sat>.u8.f32` stands for one instruction per alternative; the
//! operands follow from the signature, unless the pattern writes them. The signature `f32 > 16` gives the types of the
//! inputs and the widths of the result registers; in `u8:32` the input is in a register of 32 bits.

use super::{CaseList, bits};

const INTEGERS: &[&str] = &["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"];
const FLOATS: &[&str] = &["f16", "bf16", "f32", "f64"];

/// Registers that may hold an integer type: the narrowest and all wider ones.
fn registers(ty: &str) -> impl Iterator<Item = u32> {
    let narrowest = bits(ty);
    [16, 32, 64].into_iter().filter(move |&width| width >= narrowest)
}

/// Returns the alternatives of `.ftz`, which exists only for conversions from or to `.f32`.
fn flush(to: &str, from: &str) -> &'static str {
    if to == "f32" || from == "f32" { "<|.ftz>" } else { "" }
}

pub(super) fn fill(list: &mut CaseList) {
    for to in INTEGERS {
        for from in INTEGERS {
            for (width, register) in registers(to).zip(registers(from)) {
                list.add(
                    &format!("cvt<|.sat>.{to}.{from}"),
                    &format!("{from}:{register} > {width}"),
                );
            }
            let signature = format!("{from} > 64");
            if bits(to) < 64 && bits(from) < 64 {
                list.add(&format!("cvt.{to}.{from} %out, %a;"), &signature);
            }
        }
    }
    for integer in INTEGERS {
        for float in FLOATS {
            let pattern =
                format!("cvt<.rn|.rz|.rm|.rp>{}<|.sat>.{float}.{integer}", flush(float, integer));
            list.add(&pattern, &format!("{integer} > {}", bits(float)));
            if bits(integer) < 64 {
                let signature = format!("{integer}:64 > {}", bits(float));
                list.add(&format!("cvt.rn.{float}.{integer}"), &signature);
            }
            let pattern = format!(
                "cvt<.rni|.rzi|.rmi|.rpi>{}<|.sat>.{integer}.{float}",
                flush(integer, float)
            );
            list.add(&pattern, &format!("{float} > {}", bits(integer)));
            if bits(integer) < 64 {
                list.add(&format!("cvt.rzi.{integer}.{float}"), &format!("{float} > 64"));
            }
        }
    }
    for to in FLOATS {
        for from in FLOATS {
            let signature = format!("{from} > {}", bits(to));
            let flush = flush(to, from);
            let roundings = match (*to, *from) {
                _ if to == from => "<|.rni|.rzi|.rmi|.rpi>",
                // The assembler accepts these without a rounding, too; the manual does not.
                ("f16", "bf16") | ("bf16", "f16") => "<.rn|.rz|.rm|.rp>",
                _ => "<|.rn|.rz|.rm|.rp>",
            };
            list.add(&format!("cvt{roundings}{flush}<|.sat>.{to}.{from}"), &signature);
        }
    }
    list.add("cvt.rna.f32.f32", "f32 > 32");
    list.add("cvt<.rn|.rz><.relu|.satfinite|.relu.satfinite>.f16.f32", "f32 > 16");
    list.add("cvt<.rn|.rz><.relu|.satfinite|.relu.satfinite>.bf16.f32", "f32 > 16");
    list.add("cvt.rna<|.satfinite>.tf32.f32", "f32 > 32");
    list.add("cvt<.rn|.rz><|.satfinite><|.relu>.tf32.f32", "f32 > 32");
}

pub(super) fn fill_pairs(list: &mut CaseList) {
    list.add("cvt<.rn|.rz><|.relu><|.satfinite>.<f16x2|bf16x2>.f32", "f32 f32 > 32");
    list.add("cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f32", "f32 f32 > 16");
    list.add("cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.f16x2", "f16x2 > 16");
    list.add("cvt.rn.satfinite<|.relu>.<e4m3x2|e5m2x2>.bf16x2", "bf16x2 > 16");
    list.add("cvt.rn<|.relu>.f16x2.e4m3x2", "e4m3x2 > 32");
    list.add("cvt.rn<|.relu>.f16x2.e5m2x2", "e5m2x2 > 32");
    list.add("cvt.pack.sat.<u16|s16>.s32", "s32 s32 > 32");
    list.add("cvt.pack.sat.<u2|s2|u4|s4|u8|s8>.s32.b32", "s32 s32 b32 > 32");
}
