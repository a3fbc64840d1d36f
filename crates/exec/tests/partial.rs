//! Tests values of which some bytes are undefined: a pack with one unwritten half, or a word of memory of which
//! one half was written. Using a defined byte is right, and using an undefined one is a finding.

mod comparing;
mod launching;

use comparing::compare;
use exec::{Doubtful, Fault, Limits, Outcome, Paths};
use launching::{Arg, kernel, launch};

const PARAMS: &str = ".param .u64 x, .param .u64 y";

/// Addresses of this thread's elements of `x` and `y`, a half of `x` in `%h0` and its word of shared memory in
/// `%r8`; `%h9` and `%r7` are never written.
const START: &str = ".reg .b16 %h<10>; .shared .align 8 .b8 smem[512];
    ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 8; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
    ld.global.b16 %h0, [%rd1]; ld.global.u32 %r2, [%rd1+4];
    mov.u32 %r8, smem; shl.b32 %r6, %r1, 3; add.u32 %r8, %r8, %r6; mov.u32 %r6, 0;";

/// Runs one block of 32 threads on fast and on general paths.
fn run(body: &str, known: bool) -> Outcome {
    let program = kernel("", PARAMS, &format!("{START}\n{body}"));
    let x = if known { Arg::In((0..=255).collect()) } else { Arg::Opaque(256) };
    let args = [x, Arg::InOut(vec![0; 256])];
    let launch = launch(&program, "k", [1, 1, 1], [32, 1, 1], 0, &args);
    let limits = Limits::default();
    assert_eq!(compare(&program, &launch, limits.lane_instructions), None, "{body}");
    exec::check(&program, &launch, Limits { paths: Paths::General, ..limits })
}

/// Counts the uses of undefined values.
fn undefined(body: &str) -> usize {
    let counts = [false, true].map(|known| {
        let outcome = run(body, known);
        assert_eq!(outcome.gap, None, "{body}");
        let is = |finding: &&exec::Finding| matches!(finding.fault, Fault::Undefined { .. });
        outcome.findings.iter().filter(is).count()
    });
    assert_eq!(counts[0], counts[1], "{body}");
    counts[0]
}

/// Checks a way to the defined half in `%h1`, and to the undefined one in `%h2`.
fn halves(body: &str) {
    assert_eq!(undefined(&format!("{body} st.global.b16 [%rd2], %h1;")), 0, "{body}");
    assert_eq!(undefined(&format!("{body} st.global.b16 [%rd2], %h2;")), 1, "{body}");
}

const LOW: &str = "mov.b32 %r3, {%h0, %h9};";
const HIGH: &str = "mov.b32 %r3, {%h9, %h0};";

#[test]
fn packs_in_registers() {
    let (split, other) = ("mov.b32 {%h1, %h2}, %r3;", "mov.b32 {%h2, %h1}, %r3;");
    halves(&format!("{LOW} {split}"));
    halves(&format!("{HIGH} {other}"));
    halves(&format!(
        "{LOW} mov.b32 %r4, %r3; cvt.u16.u32 %h1, %r4; shr.u32 %r4, %r4, 16; cvt.u16.u32 %h2, %r4;"
    ));
    halves(&format!("{HIGH} cvt.u16.u32 %h2, %r3; shr.u32 %r4, %r3, 16; cvt.u16.u32 %h1, %r4;"));
    // A mask, a permutation, and a choice.
    halves(&format!("{HIGH} and.b32 %r4, %r3, -65536; mov.b32 {{%h3, %h1}}, %r4; {other}"));
    halves(&format!("{LOW} prmt.b32 %r4, %r3, %r6, 0x1032; mov.b32 {{%h2, %h1}}, %r4;"));
    halves(&format!(
        "setp.lt.u32 %p1, %r1, 9; {LOW} mov.b32 %r4, {{%h0, %h0}};
        selp.b32 %r3, %r3, %r4, %p1; {split}"
    ));
    // Wider packs.
    halves(&format!(
        "{LOW} mov.b64 %rd4, {{%r7, %r3}}; mov.b64 {{%r4, %r5}}, %rd4; mov.b32 {{%h1, %h2}}, %r5;"
    ));
    halves("mov.b64 %rd4, {%h0, %h9, %h9, %h9}; mov.b64 {%h1, %h2, %h3, %h4}, %rd4;");
}

#[test]
fn halves_of_unwritten_memory() {
    halves("st.shared.b16 [%r8+2], %h0; ld.shared.b32 %r3, [%r8]; mov.b32 {%h2, %h1}, %r3;");
    halves(
        "st.shared.b16 [%r8], %h0; ld.shared.b64 %rd4, [%r8]; mov.b64 {%h1, %h2, %h3, %h4}, %rd4;",
    );
    halves(
        "st.shared.b16 [%r8], %h0; ld.shared.v2.b32 {%r3, %r4}, [%r8]; mov.b32 {%h1, %h2}, %r3;",
    );
    // Through memory.
    halves(&format!(
        "{LOW} st.shared.b32 [%r8], %r3; ld.shared.b16 %h1, [%r8]; ld.shared.b16 %h2, [%r8+2];"
    ));
    halves(&format!(
        "{HIGH} st.shared.b32 [%r8], %r3; ld.shared.b32 %r4, [%r8]; mov.b32 {{%h2, %h1}}, %r4;"
    ));
    let local =
        ".local .align 4 .b8 stack[8]; st.local.b16 [stack+2], %h0; ld.local.b32 %r3, [stack];";
    halves(&format!("{local} mov.b32 {{%h2, %h1}}, %r3;"));
    // Single bytes.
    halves("st.shared.u8 [%r8+1], %h0; ld.shared.b32 %r3, [%r8]; shr.u32 %r3, %r3, 8; cvt.u16.u32 %h2, %r3;
        and.b16 %h1, %h2, 255;");
}

#[test]
fn arithmetic_on_packs() {
    for op in [
        "add.f16x2 %r4, %r3, %r3;",
        "fma.rn.bf16x2 %r4, %r3, %r2, %r3;",
        "neg.f16x2 %r4, %r3;",
        "max.f16x2 %r4, %r2, %r3;",
        "add.f16x2 %r3, %r3, %r3; mov.b32 %r4, %r3;",
        "mul.f16x2 %r4, %r3, %r3; add.f16x2 %r4, %r4, %r3;",
    ] {
        halves(&format!("{LOW} {op} mov.b32 {{%h1, %h2}}, %r4;"));
        halves(&format!("{HIGH} {op} mov.b32 {{%h2, %h1}}, %r4;"));
        // The operand is what it was.
        halves(&format!("{LOW} mov.b32 %r5, %r3; {op} mov.b32 {{%h1, %h2}}, %r5;"));
    }
    // The defined halves of two packs do not meet.
    let apart = format!(
        "{LOW} mov.b32 %r4, {{%h9, %h0}}; add.f16x2 %r4, %r3, %r4; mov.b32 {{%h1, %h2}}, %r4;"
    );
    for half in ["%h1", "%h2"] {
        assert_eq!(undefined(&format!("{apart} st.global.b16 [%rd2], {half};")), 1);
    }
}

#[test]
fn numbers_of_defined_halves_are_known() {
    let body = format!(
        "{LOW} prmt.b32 %r4, %r3, %r6, 0x4410; mov.b32 %r5, {{%h9, %h0}};
        and.b32 %r5, %r5, -65536; or.b32 %r4, %r4, %r5; st.global.u32 [%rd2], %r4;"
    );
    let outcome = run(&body, true);
    assert_eq!((outcome.findings.len(), outcome.gap.clone()), (0, None));
    for thread in 0..32 {
        let [low, high] = [8 * thread as u8, 8 * thread as u8 + 1];
        assert_eq!(outcome.buffers[1][8 * thread..][..4], [low, high, low, high]);
    }
}

/// Like [`halves`]; also compares the results for several numbers in place of the undefined ones: the defined half is
/// the same for all, and the other one is not.
fn halves_as_filled(body: &str) {
    halves(body);
    let results = |half: &str| {
        let fill = |bits: u32| {
            let low = bits & 0xffff;
            let numbers = format!("mov.u32 %r7, {bits}; mov.u16 %h9, {low};");
            let body = format!("{numbers} {body} st.global.b16 [%rd2], {half};");
            let outcome = run(&body, true);
            assert_eq!(outcome.findings.len(), 0, "{body}");
            outcome.buffers[1].clone()
        };
        [0, u32::MAX, 0x1234_5678].map(fill)
    };
    let [one, other, third] = results("%h1");
    assert!(one == other && other == third, "{body}");
    let [one, other, third] = results("%h2");
    assert!(one != other && other != third, "{body}");
}

/// Moves of bytes with an operand that is undefined as a whole: `%r7` and `%h9` are never written. The bytes that do not
/// come from it are defined.
#[test]
fn operands_undefined_as_a_whole() {
    let split = "mov.b32 {%h1, %h2}, %r4;";
    for body in [
        "prmt.b32 %r4, %r2, %r7, 0x5410;",
        "prmt.b32 %r4, %r7, %r2, 0x1054;",
        "bfi.b32 %r4, %r2, %r7, 0, 16;",
        "shf.l.wrap.b32 %r4, %r2, %r7, 16;",
        "and.b32 %r4, %r7, 0xffff0000; and.b32 %r5, %r2, 0xffff; or.b32 %r4, %r4, %r5;",
        "shl.b32 %r4, %r7, 16; cvt.u32.u16 %r5, %h0; or.b32 %r4, %r4, %r5;",
        "shl.b32 %r4, %r7, 16;",
        "lop3.b32 %r4, %r2, %r7, 0xffff, 0xe4;",
    ] {
        halves_as_filled(&format!("{body} {split}"));
    }
    let other = "mov.b32 {%h2, %h1}, %r4;";
    for body in [
        "cvt.u32.u16 %r4, %h9;",
        "shr.u32 %r4, %r7, 16;",
        "bfi.b32 %r4, %r7, %r2, 0, 16;",
        "and.b32 %r4, %r7, 0xffff;",
        "and.b32 %r4, %r7, 0xff;",
        "or.b32 %r4, %r7, 0xffff0000;",
    ] {
        halves_as_filled(&format!("{body} {other}"));
    }
    // Carries, shifts by parts of bytes, and unknown amounts mix the bytes.
    for body in [
        "add.u32 %r4, %r2, %r7;",
        "shl.b32 %r4, %r2, %r7;",
        "prmt.b32 %r4, %r2, %r6, %r7;",
        "bfi.b32 %r4, %r2, %r6, %r7, 16;",
        "xor.b32 %r4, %r2, %r7;",
    ] {
        for half in ["%h1", "%h2"] {
            assert_ne!(
                undefined(&format!("{body} {split} st.global.b16 [%rd2], {half};")),
                0,
                "{body}"
            );
        }
    }
}

/// Traps: in each, an undefined byte decides something, or may have been written before.
#[test]
fn undefined_bytes_count() {
    for body in [
        // As a whole.
        "setp.eq.u32 %p1, %r3, 0; @%p1 st.global.u32 [%rd2], %r1;",
        "st.global.b32 [%rd2], %r3;",
        "add.u32 %r4, %r3, 1; cvt.u16.u32 %h1, %r4; st.global.b16 [%rd2], %h1;",
        "shl.b32 %r4, %r3, 4; shr.u32 %r4, %r4, 4; cvt.u16.u32 %h1, %r4; st.global.b16 [%rd2], %h1;",
        "cvt.rn.f32.u32 %f1, %r3; st.global.f32 [%rd2], %f1;",
        "shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1; mov.b32 {%h2, %h1}, %r4; st.global.b16 [%rd2], %h2;",
        // Its mask keeps a bit.
        "and.b32 %r4, %r3, 0x100ff; setp.eq.u32 %p1, %r4, 0; @%p1 st.global.u32 [%rd2], %r1;",
    ] {
        for pack in [HIGH, "st.shared.b16 [%r8+2], %h0; ld.shared.b32 %r3, [%r8];"] {
            assert_ne!(undefined(&format!("{pack} {body}")), 0, "{pack} {body}");
        }
    }
    // A register that held a pack before, and one that holds it in other threads.
    let again =
        format!("{HIGH} mov.b32 %r3, %r7; mov.b32 {{%h2, %h1}}, %r3; st.global.b16 [%rd2], %h1;");
    assert_eq!(undefined(&again), 1);
    let some = "setp.lt.u32 %p1, %r1, 9; @%p1 mov.b32 %r3, {%h9, %h0}; mov.b32 {%h2, %h1}, %r3;
        st.global.b16 [%rd2], %h1;";
    assert_eq!(undefined(some), 1);
    let number = format!(
        "{HIGH} mov.u32 %r3, 5; mov.b32 %r3, %r7; mov.b32 {{%h2, %h1}}, %r3; st.global.b16 [%rd2], %h1;"
    );
    assert_eq!(undefined(&number), 1);
}

#[test]
fn schedule_dependence_is_noted_beside_an_undefined_half() {
    let body = "mov.u32 %r3, %clock; cvt.u16.u32 %h1, %r3; mov.b32 %r4, {%h9, %h1};
        mov.b32 {%h3, %h2}, %r4; st.global.b16 [%rd2], %h2;";
    for known in [false, true] {
        let outcome = run(body, known);
        assert_eq!((outcome.findings.len(), outcome.gap.clone()), (0, None));
        let doubts: Vec<Doubtful> = outcome.doubts.iter().map(|doubt| doubt.about).collect();
        assert!(matches!(doubts[..], [Doubtful::Undetermined { .. }]), "{doubts:?}");
    }
}
