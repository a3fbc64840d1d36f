//! Tests the separate code for a warp with one thread: the same work by 32 warps of one thread and by one
//! warp of 32 must give the same result.

mod launching;

use launching::{Arg, clean, kernel, launch};

/// Threads of a launch, and the number of words that each writes.
const THREADS: usize = 32;

/// Runs a body both ways, with the registers `%r1` (the thread's number), `%rd1` (64 private bytes) and `%r0`
/// (its result).
fn both_ways(body: &str) {
    let start = "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out];\n\
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n\
        mul.wide.u32 %rd3, %r1, 64; add.u64 %rd1, %rd1, %rd3; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;\n\
        mov.u32 %r0, 0;\n";
    let body = format!("{start}{body}\nst.global.u32 [%rd2], %r0;");
    let program = kernel("", ".param .u64 x, .param .u64 out", &body);
    let bytes: Vec<u8> = (0..64 * THREADS as u32).map(|i| (i * i * 37 + i * 11) as u8).collect();
    let run = |grid: u32| {
        let args = [Arg::In(bytes.clone()), Arg::Out(4 * THREADS)];
        let threads = THREADS as u32;
        let launch = launch(&program, "k", [grid, 1, 1], [threads / grid, 1, 1], 0, &args);
        clean(&program, &launch).buffers[1].clone()
    };
    let together = run(1);
    assert_eq!(together, run(THREADS as u32), "{body}");
    assert!(together.iter().any(|byte| *byte != 0), "nothing computed: {body}");
}

#[test]
fn loads_of_every_size_and_sign() {
    for kind in ["u8", "s8", "u16", "s16", "u32", "s32", "b32"] {
        for offset in [0, 8, 56] {
            both_ways(&format!("ld.global.{kind} %r0, [%rd1+{offset}];"));
        }
    }
    for kind in ["u8", "s8", "u16", "s16", "u32", "s32", "u64"] {
        both_ways(&format!(
            "ld.global.{kind} %rd4, [%rd1+16]; shr.u64 %rd5, %rd4, 29; xor.b64 %rd4, %rd4, %rd5; cvt.u32.u64 %r0, %rd4;"
        ));
    }
}

#[test]
fn integers_of_32_and_64_bits() {
    let ops = ["add", "sub", "mul.lo", "mul.hi", "min", "max"];
    for op in ops {
        for sign in ["s", "u"] {
            both_ways(&format!(
                "ld.global.u32 %r4, [%rd1+4]; ld.global.u32 %r5, [%rd1+12]; {op}.{sign}32 %r0, %r4, %r5;"
            ));
            both_ways(&format!(
                "ld.global.u64 %rd4, [%rd1+8]; ld.global.u64 %rd5, [%rd1+24]; {op}.{sign}64 %rd6, %rd4, %rd5;\n\
                 shr.u64 %rd7, %rd6, 32; xor.b64 %rd6, %rd6, %rd7; cvt.u32.u64 %r0, %rd6;"
            ));
        }
    }
    for op in ["shl.b64", "shr.u64", "shr.s64", "and.b64", "or.b64", "xor.b64"] {
        let second = if op.starts_with('s') { "%r4" } else { "%rd5" };
        both_ways(&format!(
            "ld.global.u64 %rd4, [%rd1+8]; ld.global.u64 %rd5, [%rd1+24]; ld.global.u8 %r4, [%rd1+5];\n\
             {op} %rd6, %rd4, {second}; shr.u64 %rd7, %rd6, 32; xor.b64 %rd6, %rd6, %rd7; cvt.u32.u64 %r0, %rd6; add.u32 %r0, %r0, 1;"
        ));
    }
    // Shift amounts have 32 bits, for every operand width.
    both_ways(
        ".reg .b16 %h<2>; ld.global.u16 %h1, [%rd1+4]; mov.u32 %r4, 65536; shl.b16 %h1, %h1, %r4;\n\
         cvt.u32.u16 %r0, %h1; add.u32 %r0, %r0, 1;",
    );
    for sign in ["s", "u"] {
        both_ways(&format!(
            "ld.global.u32 %r4, [%rd1+4]; ld.global.u32 %r5, [%rd1+12]; mul.wide.{sign}32 %rd4, %r4, %r5;\n\
             shr.u64 %rd5, %rd4, 32; cvt.u32.u64 %r0, %rd5;"
        ));
    }
}

#[test]
fn comparisons_and_branches() {
    for relation in ["eq", "ne", "lt", "le", "gt", "ge"] {
        for kind in ["s16", "u16", "s32", "u32", "s64", "u64"] {
            let (load, wide) =
                (if kind.ends_with("16") { "u16" } else { kind }, kind.ends_with("64"));
            let [a, b] = if wide { ["%rd4", "%rd5"] } else { ["%r4", "%r5"] };
            let small = kind.ends_with("16");
            let [x, y] = if small { ["%h1", "%h2"] } else { [a, b] };
            let cut = if small {
                ".reg .b16 %h<3>; cvt.u16.u32 %h1, %r4; cvt.u16.u32 %h2, %r5;"
            } else {
                ""
            };
            both_ways(&format!(
                "ld.global.{load} {a}, [%rd1+8]; ld.global.{load} {b}, [%rd1+24]; {cut}\n\
                 mov.u32 %r0, 7; setp.{relation}.{kind} %p1, {x}, {y}; @%p1 bra THEN; add.u32 %r0, %r0, %r1; THEN:"
            ));
        }
    }
}

#[test]
fn loops_over_memory() {
    both_ways(
        "mov.u64 %rd4, %rd1; mov.u32 %r4, 0; LOOP: ld.global.s8 %r5, [%rd4]; mad.lo.s32 %r0, %r0, 31, %r5;\n\
         add.u64 %rd4, %rd4, 1; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 64; @%p1 bra LOOP;",
    );
}
