//! Cases of arithmetic in single and double precision (manual §9.7.3.1–12), and of functions (§9.7.3.13–22).
//!
//! Packed `.f32x2`, mixed precision and three-operand `min` and `max` need sm_100.

use super::CaseList;

pub(super) fn fill(list: &mut CaseList) {
    let rounding = "<.rn|.rz|.rm|.rp>";
    let maybe = "<|.rn|.rz|.rm|.rp>";
    list.add(&format!("<add|sub|mul>{maybe}<|.ftz><|.sat>.f32"), "f32 f32 > 32");
    list.add(&format!("<add|sub|mul>{maybe}.f64"), "f64 f64 > 64");
    list.add(&format!("<fma|mad>{rounding}<|.ftz><|.sat>.f32"), "f32 f32 f32 > 32");
    list.add(&format!("<fma|mad>{rounding}.f64"), "f64 f64 f64 > 64");
    list.add("div<.approx|.full|.rn|.rz|.rm|.rp><|.ftz>.f32", "f32 f32 > 32");
    list.add(&format!("div{rounding}.f64"), "f64 f64 > 64");
    list.add("<abs|neg><|.ftz>.f32", "f32 > 32");
    list.add("<abs|neg>.f64", "f64 > 64");
    list.add("<min|max><|.ftz><|.NaN><|.xorsign.abs>.f32", "f32 f32 > 32");
    list.add("<min|max>.f64", "f64 f64 > 64");
    list.add("copysign.f32", "f32 f32 > 32");
    list.add("copysign.f64", "f64 f64 > 64");
    let properties = "<finite|infinite|number|notanumber|normal|subnormal>";
    list.add(&format!("testp.{properties}.f32"), "f32 > pred");
    list.add(&format!("testp.{properties}.f64"), "f64 > pred");
}

pub(super) fn fill_functions(list: &mut CaseList) {
    list.add("<rcp|sqrt><.approx|.rn|.rz|.rm|.rp><|.ftz>.f32", "f32 > 32");
    list.add("<rcp|sqrt><.rn|.rz|.rm|.rp>.f64", "f64 > 64");
    list.add("<rsqrt|sin|cos|lg2|ex2>.approx<|.ftz>.f32", "f32 > 32");
    list.add("tanh.approx.f32", "f32 > 32");
    list.add("rsqrt.approx<|.ftz>.f64", "f64 > 64");
    list.add("rcp.approx.ftz.f64", "f64 > 64");
}
