//! Tests domain values on their way through registers and memory, in small kernels.

mod recording;

use ir::{Format, Scalar, Width};
use recording::{outputs, run};

const F64: Scalar = Scalar::Float(Format::F64);
const F32: Scalar = Scalar::Float(Format::F32);
const F16: Scalar = Scalar::Float(Format::F16);
const BF16: Scalar = Scalar::Float(Format::Bf16);
const S32: Scalar = Scalar::Integer { width: Width::B32, signed: true };

/// Asserts the contents of `y` after a kernel.
fn check(body: &str, input: (Scalar, usize), output: Scalar, want: &[&str]) {
    assert_eq!(outputs(body, input, (output, want.len())), want, "{body}");
}

const LOST_BITS: &str = "lost: whose bits are used in arithmetic here";
const FOREIGN: &str = "lost: that is read here in a different format";

#[test]
fn arithmetic_asks_the_domain() {
    let load = "ld.global.f32 %f2, [%rd1]; ld.global.f32 %f3, [%rd1+4];";
    for (body, want) in [
        ("fma.rn.f32 %f4, %f2, %f3, %f1;", "(x0*x1+p2.0)"),
        ("add.f32 %f4, %f2, 0f3F800000;", "Add(x0,1.0)"),
        ("sub.sat.f32 %f4, %f2, %f3;", "Saturate(Sub(x0,x1))"),
        ("div.approx.f32 %f4, %f2, %f3;", "Div(x0,x1)"),
        ("max.f32 %f4, %f2, %f3;", "Max(x0,x1)"),
        ("rsqrt.approx.f32 %f4, %f2;", "ReciprocalSqrt(x0)"),
        ("ex2.approx.ftz.f32 %f4, %f2;", "Exp2(x0)"),
        ("neg.f32 %f4, %f2;", "Negate(x0)"),
        ("cvt.rmi.f32.f32 %f4, %f2;", "Round(Down)(x0)"),
        ("mov.b32 %r1, 3; cvt.rn.f32.s32 %f5, %r1; rcp.rn.f32 %f4, %f5;", "Reciprocal(3.0)"),
        ("mov.b32 %r1, 16777217; cvt.rn.f32.s32 %f4, %r1;", "16777217"),
        ("mov.f32 %f5, 0f40400000; max.f32 %f4, %f5, 0f40000000;", "0x40400000"),
    ] {
        check(&format!("{load} {body} st.global.f32 [%rd2], %f4;"), (F32, 2), F32, &[want]);
    }
}

#[test]
fn conversions_between_floats_are_the_identity() {
    let body = "ld.global.f32 %f2, [%rd1]; cvt.rn.f16.f32 %h1, %f2; st.global.b16 [%rd2], %h1;
        cvt.f32.f16 %f3, %h1; cvt.rn.bf16.f32 %h2, %f3; st.global.b16 [%rd2+2], %h2;";
    let (_, mut results, mut domain) = run(body, (F32, 1), 4);
    for (at, format) in [(0, Format::F16), (2, Format::Bf16)] {
        let value = results.real(&mut domain, 1, at, format).unwrap();
        assert_eq!(domain.text(value), "x0");
    }
    let body = "ld.global.f32 %f2, [%rd1]; cvt.f64.f32 %d1, %f2; add.f64 %d2, %d1, %d1;
        cvt.rn.f32.f64 %f3, %d2; st.global.f32 [%rd2], %f3;";
    check(body, (F32, 1), F32, &["Add(x0,x0)"]);
    let body = "ld.global.v2.f32 {%f2, %f3}, [%rd1]; cvt.rn.f16x2.f32 %r1, %f3, %f2;
        fma.rn.f16x2 %r2, %r1, %r1, %r1; st.global.b32 [%rd2], %r2;";
    check(body, (F32, 2), F16, &["(x0*x0+x0)", "(x1*x1+x1)"]);
}

/// Halves are converted to singles at once in the simple case: not with a clamp, or in another format.
#[test]
fn halves_become_singles() {
    let load = "ld.global.b16 %h1, [%rd1]; ld.global.b32 %r1, [%rd1];";
    for (body, want) in [
        ("cvt.f32.f16 %f2, %h1;", "x0"),
        ("cvt.sat.f32.f16 %f2, %h1;", "Saturate(x0)"),
        ("cvt.f32.bf16 %f2, %h1;", FOREIGN),
        ("mov.b32 {%h2, %h3}, %r1; cvt.f32.f16 %f2, %h3;", "x1"),
        ("mov.b32 {%h2, %h3}, %r1; cvt.sat.f32.f16 %f2, %h3;", "Saturate(x1)"),
        ("mov.b32 {%h2, %h3}, %r1; cvt.f32.bf16 %f2, %h3;", FOREIGN),
        ("add.f16 %h2, %h1, %h1; cvt.f32.f16 %f2, %h2;", "Add(x0,x0)"),
        (
            "fma.rn.f16x2 %r2, %r1, %r1, %r1; mov.b32 {%h2, %h3}, %r2; cvt.f32.f16 %f2, %h3;",
            "(x1*x1+x1)",
        ),
        (
            "fma.rn.bf16x2 %r2, %r1, %r1, %r1; mov.b32 {%h2, %h3}, %r2; cvt.f32.bf16 %f2, %h3;",
            FOREIGN,
        ),
    ] {
        check(&format!("{load} {body} st.global.f32 [%rd2], %f2;"), (F16, 2), F32, &[want]);
    }
}

#[test]
fn packs_of_halves() {
    let load = "ld.global.b32 %r1, [%rd1]; ld.global.b32 %r2, [%rd1+4];";
    let store = "st.global.b32 [%rd2], %r3;";
    for (body, want) in [
        ("mov.b32 {%h1, %h2}, %r1; mov.b32 %r3, {%h2, %h1};", ["x1", "x0"]),
        ("prmt.b32 %r3, %r1, %r2, 0x5410;", ["x0", "x2"]),
        ("prmt.b32 %r3, %r1, %r2, 0x7632;", ["x1", "x3"]),
        ("prmt.b32 %r3, %r1, %r2, 0x1032;", ["x1", "x0"]),
        ("shl.b32 %r4, %r2, 16; and.b32 %r5, %r1, 0xffff; or.b32 %r3, %r4, %r5;", ["x0", "x2"]),
        ("shr.u32 %r4, %r1, 16; bfi.b32 %r3, %r2, %r4, 16, 16;", ["x1", "x2"]),
        ("bfe.u32 %r4, %r1, 16, 16; mad.lo.s32 %r3, %r4, 65536, 0;", ["0x0", "x1"]),
        ("shf.l.wrap.b32 %r3, %r1, %r2, 16;", ["x1", "x2"]),
        ("lop3.b32 %r3, %r1, %r2, 0xffff, 0xd8;", ["x2", "x1"]),
        ("and.b32 %r3, %r1, 0x7fff7fff;", ["Abs(x0)", "Abs(x1)"]),
        ("xor.b32 %r3, %r1, 0x80008000;", ["Negate(x0)", "Negate(x1)"]),
        ("neg.f16x2 %r3, %r1;", ["Negate(x0)", "Negate(x1)"]),
        ("cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r3, %h1;", ["x0", "0x0"]),
        ("add.s32 %r3, %r1, 1;", [LOST_BITS, LOST_BITS]),
        ("shl.b32 %r3, %r1, 4;", [LOST_BITS, LOST_BITS]),
        ("xor.b32 %r3, %r1, 0x80008001;", [LOST_BITS, LOST_BITS]),
        ("xor.b32 %r3, %r1, 0x7fff7fff;", [LOST_BITS, LOST_BITS]),
        ("and.b32 %r3, %r1, 0x80008000;", [LOST_BITS, LOST_BITS]),
        ("or.b32 %r3, %r1, 0x80008000;", [LOST_BITS, LOST_BITS]),
        ("xor.b32 %r3, %r1, %r1;", ["0x0", "0x0"]),
    ] {
        check(&format!("{load} {body} {store}"), (F16, 4), F16, &want);
    }
}

#[test]
fn bfloats_are_upper_halves_of_singles() {
    let load = "ld.global.b32 %r1, [%rd1];";
    for (body, want) in [
        ("shl.b32 %r2, %r1, 16;", "x0"),
        ("and.b32 %r2, %r1, 0xffff0000;", "x1"),
        ("mov.b32 {%h1, %h2}, %r1; mov.b16 %h3, 0; mov.b32 %r2, {%h3, %h2};", "x1"),
        ("prmt.b32 %r2, %r1, 0, 0x3244;", "x1"),
        ("mov.b32 %r2, %r1;", FOREIGN),
    ] {
        check(&format!("{load} {body} st.global.b32 [%rd2], %r2;"), (BF16, 2), F32, &[want]);
        let halves = "lost: that is read here in a different format";
        let body = format!("{load} shl.b32 %r2, %r1, 16; st.global.b32 [%rd2], %r2;");
        check(&body, (F16, 2), F32, &[halves]);
    }
}

#[test]
fn copies_byte_by_byte() {
    let bytes = (0..8)
        .map(|at| format!("ld.global.u8 %h1, [%rd1+{at}]; st.shared.u8 [sh+{}], %h1;", at + 3));
    let bytes: String = bytes.collect();
    let back = (0..8)
        .map(|at| format!("ld.shared.u8 %r1, [sh+{}]; st.global.u8 [%rd2+{at}], %r1;", at + 3));
    let back: String = back.collect();
    let body = format!("{bytes} {back}");
    check(&body, (F32, 2), F32, &["x0", "x1"]);
    check(&body, (F64, 1), F64, &["x0"]);
    check(&body, (F16, 4), F16, &["x0", "x1", "x2", "x3"]);
    check(&body, (S32, 2), S32, &["x0", "x1"]);
    let odd = "ld.global.b16 %h1, [%rd1+4]; st.global.b16 [%rd2], %h1;";
    check(odd, (F16, 3), F16, &["x2"]);
}

#[test]
fn wide_registers() {
    let body = "ld.global.b64 %rd3, [%rd1]; mov.b64 {%r1, %r2}, %rd3; mov.b64 %rd4, {%r2, %r1};
        st.global.b64 [%rd2], %rd4;";
    check(body, (F32, 2), F32, &["x1", "x0"]);
    let body = "ld.global.f64 %d1, [%rd1]; mov.b64 {%r1, %r2}, %d1; st.local.b32 [lo], %r1;
        st.local.b32 [lo+4], %r2; ld.local.f64 %d2, [lo]; fma.rn.f64 %d3, %d2, %d1, %d1;
        st.global.f64 [%rd2], %d3;";
    check(body, (F64, 1), F64, &["(x0*x0+x0)"]);
    let body = "ld.global.v2.b64 {%rd3, %rd4}, [%rd1]; shr.u64 %rd5, %rd3, 32;
        cvt.u32.u64 %r1, %rd5; st.global.b32 [%rd2], %r1; or.b64 %rd6, %rd5, 0;
        st.global.b32 [%rd2+4], %rd4;";
    check(body, (F32, 4), F32, &["x1", "x2"]);
    let body = "ld.global.b32 %r1, [%rd1]; cvt.u64.u32 %rd3, %r1; st.global.b64 [%rd2], %rd3;";
    check(body, (F32, 1), F32, &["x0", "0x0"]);
    let body = "ld.global.b64 %rd3, [%rd1]; ld.global.b64 %rd4, [%rd1+8];
        mov.b128 %q1, {%rd4, %rd3}; mov.b128 {%rd5, %rd6}, %q1; st.global.b64 [%rd2], %rd5;";
    check(body, (F32, 4), F32, &["x2", "x3"]);
}

#[test]
fn mixtures_of_numbers_and_values() {
    let body = "ld.global.b16 %h1, [%rd1]; mov.b16 %h2, 0x3c00; mov.b32 %r1, {%h2, %h1};
        st.global.b32 [%rd2], %r1;";
    check(body, (F16, 1), F16, &["0x3c00", "x0"]);
    let body = "mov.b32 %r1, 0x3c003c00; st.global.b32 [%rd2], %r1; ld.global.b16 %h1, [%rd1];
        st.global.b16 [%rd2+2], %h1; mov.b16 %h2, 1; st.global.b16 [%rd2+4], %h2;
        st.global.b16 [%rd2+6], %h1; st.global.b16 [%rd2+6], %h2;";
    check(body, (F16, 1), F16, &["0x3c00", "x0", "0x1", "0x1"]);
    let body = "ld.global.b16 %h1, [%rd1]; st.global.b16 [%rd2+2], %h1;";
    check(body, (F16, 1), F16, &["unwritten", "x0"]);
}

#[test]
fn choices() {
    let load = "ld.global.f32 %f2, [%rd1]; ld.global.f32 %f3, [%rd1+4];
        setp.lt.f32 %p1, %f2, %f3; setp.gt.f32 %p2, %f1, 0f00000000;";
    for (body, want) in [
        ("selp.f32 %f4, %f2, %f3, %p1;", "(Lt(x0,x1)?x0:x1)"),
        ("selp.f32 %f4, %f2, 0f3F800000, %p1;", "(Lt(x0,x1)?x0:1.0)"),
        ("selp.f32 %f4, 0f40000000, 0f3F800000, %p1;", "(Lt(x0,x1)?2.0:1.0)"),
        ("not.pred %p3, %p1; selp.f32 %f4, %f2, %f3, %p3;", "(Not(Lt(x0,x1))?x0:x1)"),
        (
            "and.pred %p3, %p1, %p2; selp.f32 %f4, %f2, %f3, %p3;",
            "(And(Lt(x0,x1),Gt(p2.0,0.0))?x0:x1)",
        ),
        (
            "setp.eq.u32 %p3, 1, 1; and.pred %p4, %p1, %p3; selp.f32 %f4, %f2, %f3, %p4;",
            "(Lt(x0,x1)?x0:x1)",
        ),
        (
            "setp.eq.u32 %p3, 1, 1; xor.pred %p4, %p1, %p3; selp.f32 %f4, %f2, %f3, %p4;",
            "(Not(Lt(x0,x1))?x0:x1)",
        ),
        ("setp.eq.u32 %p3, 1, 1; or.pred %p4, %p1, %p3; selp.f32 %f4, %f2, %f3, %p4;", "x0"),
        (
            "selp.u32 %r1, 1, 0, %p1; setp.ne.u32 %p3, %r1, 0; selp.f32 %f4, %f2, %f3, %p3;",
            "(Lt(x0,x1)?x0:x1)",
        ),
        (
            "selp.u32 %r1, 1, 0, %p1; and.b32 %r2, %r1, 1; setp.eq.u32 %p3, %r2, 0;
          selp.f32 %f4, %f2, %f3, %p3;",
            "(Not(Lt(x0,x1))?x0:x1)",
        ),
        (
            "testp.finite.f32 %p3, %f2; selp.f32 %f4, %f2, %f3, %p3;",
            "(Not(Or(Eq(x0,inf),Eq(x0,-inf)))?x0:x1)",
        ),
        ("setp.nan.f32 %p3, %f2, %f3; selp.f32 %f4, %f2, %f3, %p3;", "x1"),
    ] {
        check(&format!("{load} {body} st.global.f32 [%rd2], %f4;"), (F32, 2), F32, &[want]);
    }
    let halves = "ld.global.b16 %h1, [%rd1]; ld.global.b16 %h2, [%rd1+2];
        setp.lt.f16 %p1, %h1, %h2; selp.b16 %h3, %h1, %h2, %p1; st.global.b16 [%rd2], %h3;";
    check(halves, (F16, 2), F16, &["(Lt(x0,x1)?x0:x1)"]);
}

#[test]
fn calls_shuffles_and_atomics() {
    let call = "ld.global.f32 %f2, [%rd1]; { .param .b32 a; .param .b32 r; st.param.b32 [a], %f2;
        call (r), twice, (a); ld.param.b32 %f3, [r]; } st.global.f32 [%rd2], %f3;";
    check(call, (F32, 1), F32, &["Add(x0,x0)"]);
    let call = "ld.global.b16 %h2, [%rd1+2]; { .param .b16 a; .param .b16 r; st.param.b16 [a], %h2;
        call (r), same, (a); ld.param.b16 %h3, [r]; } st.global.b16 [%rd2], %h3;";
    check(call, (F16, 2), F16, &["x1"]);
    let shuffle = "ld.global.b32 %r1, [%rd1]; shfl.sync.idx.b32 %r2, %r1, 0, 31, 1;
        st.global.b32 [%rd2], %r2;";
    check(shuffle, (F32, 1), F32, &["x0"]);
    let atomic = "ld.global.f32 %f2, [%rd1]; st.global.f32 [%rd2], 0f00000000;
        red.global.add.f32 [%rd2], %f2; atom.global.add.f32 %f3, [%rd2], %f1;
        st.global.f32 [%rd2+4], %f3;";
    check(atomic, (F32, 1), F32, &["Add(Add(0.0,x0),p2.0)", "Add(0.0,x0)"]);
    let copy = "cvta.to.global.u64 %rd3, %rd1; cp.async.ca.shared.global [sh], [%rd3], 8, 4;
        cp.async.wait_all; ld.shared.v2.b32 {%r1, %r2}, [sh]; st.global.v2.b32 [%rd2], {%r1, %r2};";
    check(copy, (F32, 2), F32, &["x0", "0x0"]);
}

#[test]
fn open_decisions_are_named() {
    let body = "ld.global.f32 %f2, [%rd1]; setp.lt.f32 %p1, %f2, 0f00000000; @%p1 bra over;
        st.global.f32 [%rd2], %f2; over:";
    let (outcome, ..) = run(body, (F32, 1), 4);
    assert_eq!(outcome.gap.unwrap().reason, "control flow depends on Lt(x0,0.0)");
    let body = "ld.global.b32 %r2, [%rd1]; add.s32 %r3, %r2, 1; setp.lt.s32 %p1, %r3, 0;
        @%p1 bra over; st.global.b32 [%rd2], %r2; over:";
    let (outcome, ..) = run(body, (F32, 1), 4);
    let reason = outcome.gap.unwrap().reason;
    assert_eq!(reason, "control flow depends on a value whose bits are used in arithmetic here");
}
