//! Constants that stand for other numbers: what a proof with those numbers hides is small.

use crate::{X_AND_Y, answer, corpus::Flags, small};
use driver::{Exit, Input};

/// Kernels of one thread that make the double `%d9` of the double `%d1`.
fn of_doubles(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<9>; .reg .f64 %d<10>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.global.f32 %f1, [%rd1];
        cvt.f64.f32 %d1, %f1;
        {body}
        st.global.f64 [%rd2], %d9; ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn doubles(bodies: [&str; 2]) -> (Exit, String) {
    let flags = ["--grid 1 --block 1 --arg x=f32[1] --arg y=f64[1]:out"; 2].map(Flags::parse);
    answer(bodies.map(of_doubles).each_ref(), [None; 2], &flags)
}

const ZERO: &str = "mov.f64 %d9, 0d0000000000000000;";

/// `ln 2` in both precisions, the difference made large.
#[test]
fn enlarged_differences_of_constants_are_not_hidden() {
    let difference = "mul.f32 %f2, %f1, 0f3F317218; cvt.f64.f32 %d2, %f2;
        mul.f64 %d3, %d1, 0d3FE62E42FEFA39EF; sub.f64 %d4, %d2, %d3;";
    for factor in ["0d4197D78400000000", "0d3FF0000000000000", "0d3EE0000000000000"] {
        let body = format!("{difference} mul.f64 %d9, %d4, {factor};");
        for pair in [[ZERO, &body], [&body, ZERO]] {
            let (exit, text) = doubles(pair);
            assert_eq!(exit, Exit::Unknown, "{text}");
            assert!(text.contains("equivalence: unknown: constants: "), "{text}");
        }
    }
    // A difference that shows for some inputs only.
    let body = format!(
        "{difference} .reg .pred %p; setp.gt.f64 %p, %d1, 0d3FF0000000000000;
        selp.f64 %d9, %d4, 0d0000000000000000, %p;"
    );
    assert_eq!(doubles([ZERO, &body]).0, Exit::Unknown);
}

#[test]
fn roundings_of_constants_are_small() {
    // e^x by a power of two, in one step and in two; of large numbers too.
    let power = "mul.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.f32 %f2, %f3;";
    let half = "mul.f32 %f3, %f1, 0f3F000000; mul.f32 %f3, %f3, 0f3FB8AA3B;
        ex2.approx.f32 %f4, %f3; mul.f32 %f2, %f4, %f4;";
    assert_eq!(small([power, half], X_AND_Y).0, Exit::Success);
    // A logarithm and its power: the constants of both are rounded, in different ways.
    let inverse = "mul.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.f32 %f4, %f3; lg2.approx.f32 %f5, %f4;
        mul.f32 %f2, %f5, 0f3F317218;";
    let (exit, text) = small([inverse, "mov.f32 %f2, %f1;"], X_AND_Y);
    assert_eq!(exit, Exit::Success, "{text}");
    // sinh: the terms cancel near zero.
    let sinh = "mul.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.f32 %f4, %f3; rcp.approx.f32 %f5, %f4;
        sub.f32 %f2, %f4, %f5;";
    let other = "mul.f32 %f3, %f1, 0fBFB8AA3B; ex2.approx.f32 %f4, %f3; rcp.approx.f32 %f5, %f4;
        sub.f32 %f2, %f5, %f4;";
    let (exit, text) = small([sinh, other], X_AND_Y);
    assert_eq!(exit, Exit::Success, "{text}");
}
