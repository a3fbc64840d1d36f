//! Floats made of integers: a machine rounds them, so their comparisons say nothing exact of the integers. A place
//! that only such a comparison keeps in bounds is not proved to be in bounds; over the reals they are still the
//! comparisons of the integers.

use crate::answer;
use crate::corpus::Flags;
use driver::{Exit, Input};

/// A kernel in which each thread has its index in `%r2` and sets `%f1`, which it stores. `%rd2` is the table.
fn kernel(load: &str, body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64
        .entry k(.param .u64 idx, .param .u64 x, .param .u64 y) {{
        .reg .f32 %f<8>; .reg .b64 %rd<12>; .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b16 %h<4>;
        ld.param.u64 %rd1, [idx]; ld.param.u64 %rd2, [x]; ld.param.u64 %rd7, [y];
        mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd8, %rd7, %rd3;
        {load} mov.f32 %f1, 0f00000000;
        {body}
        st.global.f32 [%rd8], %f1; ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

const WORD: &str = "add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];";
const HALF: &str =
    "mul.wide.u32 %rd9, %r1, 2; add.s64 %rd4, %rd1, %rd9; ld.global.u16 %r2, [%rd4];";
/// 2048 as a half is also the rounded 2049.
const ROUND: &str = "mov.b16 %h2, 0x6800;";

fn ask(kernels: [&Input; 2], types: [&str; 2]) -> (Exit, String) {
    let [index, table] = types;
    let flags = format!("--grid 1 --block 4 --arg idx={index} --arg x={table} --arg y=f32[4]:out");
    let flags = [(), ()].map(|()| Flags::parse(&flags));
    answer(kernels, [None; 2], &flags)
}

/// The element of the table at `%r3`.
fn read(guard: &str) -> String {
    format!(
        "mul.wide.s32 %rd5, %r3, 4; add.s64 %rd6, %rd2, %rd5; {guard} ld.global.f32 %f1, [%rd6];"
    )
}

#[test]
fn comparisons_of_rounded_integers_bound_none() {
    let is_2048 =
        format!("cvt.rn.f16.s32 %h1, %r2; {ROUND} setp.ne.f16 %p1, %h1, %h2; mov.u32 %r3, %r2;");
    let up_to = format!("cvt.rn.f16.u32 %h1, %r2; {ROUND} setp.le.f16 %p1, %h1, %h2;");
    let (plain, some, none) = (read(""), read("@%p1"), read("@!%p1"));
    let second = read("@%p2");
    let table = [
        (WORD, ["s32[4]", "f32[2049]"], format!("{is_2048} {none}")),
        (WORD, ["s32[4]", "f32[2049]"], format!("{up_to} mov.u32 %r3, %r2; {some}")),
        (
            WORD,
            ["s32[4]", "f32[1]"],
            format!("cvt.rn.f32.s32 %f2, %r2; setp.neu.f32 %p1, %f2, 0f4B800000; add.s32 %r3, %r2, -16777216; {none}"),
        ),
        (HALF, ["u16[4]", "f32[2049]"], format!("{up_to} selp.b32 %r3, %r2, 2048, %p1; {plain}")),
        (
            HALF,
            ["u16[4]", "f32[4]"],
            format!("{up_to} setp.ge.u32 %p2, %r2, 2049; add.u32 %r5, %r2, 100000; selp.b32 %r3, %r5, 0, %p1; {second}"),
        ),
        (
            HALF,
            ["u16[4]", "f32[4]"],
            format!("setp.ge.u32 %p2, %r2, 100; and.b32 %r5, %r2, 7; add.u32 %r5, %r5, 2049; selp.b32 %r3, %r5, 0, %p2;
                cvt.rn.f16.u32 %h1, %r3; {ROUND} setp.le.f16 %p1, %h1, %h2; {some}"),
        ),
        (
            HALF,
            ["u16[4]", "f32[16]"],
            format!("{up_to} setp.le.u32 %p2, %r2, 2048; not.pred %p2, %p2; and.pred %p3, %p1, %p2;
                @%p3 ld.global.f32 %f1, [%rd2+400000];"),
        ),
    ];
    for (load, types, body) in table {
        let one = kernel(load, &body);
        let (exit, text) = ask([&one, &one], types);
        assert_ne!(exit, Exit::Success, "{body}\n{text}");
    }
}

#[test]
fn comparisons_of_the_integers_do() {
    let some = read("@%p1");
    let bodies = [
        format!("setp.lt.u32 %p1, %r2, 2049; mov.u32 %r3, %r2; {some}"),
        format!("setp.le.u32 %p1, %r2, 2048; selp.b32 %r3, %r2, 2048, %p1; {}", read("")),
    ];
    for body in bodies {
        let one = kernel(HALF, &body);
        let (exit, text) = ask([&one, &one], ["u16[4]", "f32[2049]"]);
        assert_eq!(exit, Exit::Success, "{body}\n{text}");
    }
}

#[test]
fn over_the_reals_both_are_one() {
    let value = "cvt.rn.f32.u32 %f1, %r2;";
    let float = format!("{value} cvt.rn.f16.u32 %h1, %r2; {ROUND} setp.le.f16 %p1, %h1, %h2;");
    let integer = format!("{value} setp.le.u32 %p1, %r2, 2048;");
    let one_less = format!("{value} setp.le.u32 %p1, %r2, 2047;");
    let choose = "selp.f32 %f1, %f1, 0f45000000, %p1;";
    let twice = "@!%p1 add.f32 %f1, %f1, %f1;";
    for rest in [choose, twice] {
        let kernels =
            [&float, &integer, &one_less].map(|one| kernel(HALF, &format!("{one}{rest}")));
        let types = ["u16[4]", "f32[1]"];
        let (exit, text) = ask([&kernels[0], &kernels[1]], types);
        assert_eq!(exit, Exit::Success, "{rest}\n{text}");
        let (exit, text) = ask([&kernels[0], &kernels[2]], types);
        // The smaller of the number and 2048 is the same with 2047, and need not be found to be.
        match rest == choose {
            true => assert_ne!(exit, Exit::Refuted, "{rest}\n{text}"),
            false => assert_eq!(exit, Exit::Refuted, "{rest}\n{text}"),
        }
    }
}
