//! Inputs on which real numbers and floats differ: zeros with a sign, NaN, infinities, clamps, undefined operations,
//! and assumptions that nothing satisfies. A proof lists its assumptions, and a refutation shows on floats.

#[path = "../corpus/mod.rs"]
mod corpus;
mod random;

use corpus::Flags;
use driver::arguments::AssumeSpec;
use driver::equiv::Options;
use driver::{Colour, Exit, Input};

const X_AND_Y: &str = "--arg x=f32[2] --arg y=f32[1]:out";

/// A kernel of one thread: `body` computes `%f2` from `%f1` and `%f0`, the elements of `x`, and it is stored to `y`.
fn kernel(body: &str) -> Input {
    wrapped(
        "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f0, [%rd1+4];",
        body,
        "st.global.f32 [%rd2], %f2;",
    )
}

fn wrapped(load: &str, body: &str, store: &str) -> Input {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<20>; .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .b64 %rd<3>; .reg .pred %p<9>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; {load}
        {body}
        {store} ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn asked(
    inputs: [&Input; 2],
    arguments: &str,
    assumptions: &[&str],
    strict: bool,
) -> (Exit, String) {
    let assumptions: Vec<AssumeSpec> =
        assumptions.iter().map(|one| one.parse().unwrap_or_else(|_| panic!("{one}"))).collect();
    let options = Options { assumptions: &assumptions, strict, ..Options::default() };
    let flags = Flags::parse(&format!("--grid 1 --block 1 {arguments}"));
    let outcome = flags.hand(inputs[0], None, |reference| {
        flags.hand(inputs[1], None, |optimised| {
            driver::equiv::run([reference, optimised], &options, Colour::Plain)
        })
    });
    (outcome.exit, outcome.output + &outcome.messages)
}

fn pair(reference: &str, optimised: &str) -> (Exit, String) {
    asked([&kernel(reference), &kernel(optimised)], X_AND_Y, &[], false)
}

fn assuming(reference: &str, optimised: &str, assumptions: &[&str]) -> (Exit, String) {
    asked([&kernel(reference), &kernel(optimised)], X_AND_Y, assumptions, false)
}

const SIGN: &str = "zero is positive";
const IDENTITY: &str = "mov.f32 %f2, %f1;";

#[test]
fn signs_of_zeros_that_reach_outputs_are_assumed() {
    let by_sign = "mov.f32 %f3, 0f40400000; copysign.f32 %f2, %f1, %f3;";
    let by_order = "setp.lt.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0fC0400000, 0f40400000, %p1;";
    let (exit, text) = pair(by_sign, by_order);
    assert!(exit == Exit::Success && text.contains(SIGN), "{text}");
    assert_eq!(text.matches(SIGN).count(), 1, "{text}");
    let (exit, text) = asked([&kernel(by_sign), &kernel(by_order)], X_AND_Y, &[], true);
    assert!(exit == Exit::Unknown && text.contains(SIGN), "{text}");
    // A number that cannot be zero has its sign.
    let (exit, text) = assuming(by_sign, by_order, &["x > 0.5"]);
    assert!(exit == Exit::Success && !text.contains(SIGN), "{text}");
    let of_exponential =
        "ex2.approx.f32 %f4, %f1; mov.f32 %f3, 0f40400000; copysign.f32 %f2, %f4, %f3;";
    let (exit, text) = pair(of_exponential, "mov.f32 %f2, 0f40400000;");
    assert!(exit == Exit::Success && !text.contains(SIGN), "{text}");
    // Assumptions about values that reach no output are not listed.
    let unused = format!("copysign.f32 %f5, %f1, %f0; {IDENTITY}");
    let (exit, text) = pair(IDENTITY, &unused);
    assert!(exit == Exit::Success && !text.contains(SIGN), "{text}");
    // Products with zero are zeros with a sign of their own.
    let of_zero =
        "mul.f32 %f4, %f1, 0f00000000; mov.f32 %f3, 0f40A00000; copysign.f32 %f2, %f4, %f3;";
    let (exit, text) = pair(of_zero, "mov.f32 %f2, 0f40A00000;");
    assert!(exit != Exit::Refuted && (exit == Exit::Unknown || text.contains(SIGN)), "{text}");
}

#[test]
fn known_signs_are_taken_bit_by_bit() {
    let minus_zero = "mov.f32 %f3, 0f80000000; copysign.f32 %f2, %f3, %f1;";
    let magnitude = "abs.f32 %f2, %f1;";
    let negated = "abs.f32 %f3, %f1; neg.f32 %f2, %f3;";
    assert_eq!(pair(minus_zero, negated).0, Exit::Success);
    let (exit, text) = pair(minus_zero, magnitude);
    assert_eq!(exit, Exit::Refuted, "{text}");
    let plus = "mov.f32 %f3, 0f00000000; copysign.f32 %f2, %f3, %f1;";
    let (exit, text) = pair(plus, magnitude);
    assert!(exit == Exit::Success && !text.contains(SIGN), "{text}");
    let negative_nan = "mov.f32 %f3, 0fFFC00000; copysign.f32 %f2, %f3, %f1;";
    assert_eq!(pair(negative_nan, negated).0, Exit::Success);
    // Bits that are not followed are not guessed.
    let bits = "mov.b32 %r1, %f1; and.b32 %r2, %r1, -2147483648; or.b32 %r3, %r2, 1077936128; mov.b32 %f2, %r3;";
    let by_order = "setp.lt.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0fC0400000, 0f40400000, %p1;";
    let (exit, text) = pair(by_order, bits);
    assert!(exit != Exit::Refuted && (exit == Exit::Unknown || text.contains(SIGN)), "{text}");
    let shifted = "mov.b32 %r1, %f1; shr.s32 %r2, %r1, 31; cvt.rn.f32.s32 %f2, %r2;";
    let ordered = "setp.lt.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0fBF800000, 0f00000000, %p1;";
    let (exit, text) = pair(ordered, shifted);
    assert!(exit != Exit::Refuted && (exit == Exit::Unknown || text.contains(SIGN)), "{text}");
    // At +0 the sign of −x is −: both compute −1 there.
    let of_negated = "neg.f32 %f4, %f1; mov.f32 %f3, 0f3F800000; copysign.f32 %f2, %f4, %f3;";
    let not_below = "setp.ge.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0fBF800000, 0f3F800000, %p1;";
    assert_ne!(pair(of_negated, not_below).0, Exit::Refuted);
}

#[test]
fn operands_that_are_nan_leave_the_other() {
    for op in ["max", "min", "max.ftz", "min.ftz"] {
        for operands in ["%f1, 0f7FC00000", "0fFFFFFFFF, %f1"] {
            let (exit, text) = pair(IDENTITY, &format!("{op}.f32 %f2, {operands};"));
            assert_eq!(exit, Exit::Success, "{op} {operands}: {text}");
        }
    }
    assert_ne!(pair(IDENTITY, "max.NaN.f32 %f2, %f1, 0f7FC00000;").0, Exit::Success);
    // Only one of a pair of halves.
    let halves =
        |body: &str| wrapped("ld.global.b32 %r1, [%rd1];", body, "st.global.b32 [%rd2], %r2;");
    let arguments = "--arg x=f16[2] --arg y=f16[2]:out";
    let max = halves("mov.b32 %r3, 0x7E003C00; max.f16x2 %r2, %r1, %r3;");
    let by_hand = halves(
        "mov.b32 {%h1, %h2}, %r1; mov.b16 %h3, 0x3C00; max.f16 %h4, %h1, %h3; mov.b32 %r2, {%h4, %h2};",
    );
    let (exit, text) = asked([&max, &by_hand], arguments, &[], false);
    assert_eq!(exit, Exit::Success, "{text}");
    let wrong = halves(
        "mov.b32 {%h1, %h2}, %r1; mov.b16 %h3, 0x3C00; max.f16 %h4, %h2, %h3; mov.b32 %r2, {%h1, %h4};",
    );
    assert_ne!(asked([&max, &wrong], arguments, &[], false).0, Exit::Success);
}

#[test]
fn comparisons_with_nan_are_settled() {
    let choice = |relation: &str, a: &str, b: &str| {
        format!("setp.{relation}.f32 %p1, {a}, {b}; selp.f32 %f2, %f1, %f0, %p1;")
    };
    for (relation, holds) in [
        ("lt", false),
        ("ge", false),
        ("eq", false),
        ("ne", false),
        ("num", false),
        ("ltu", true),
        ("geu", true),
        ("equ", true),
        ("neu", true),
        ("nan", true),
    ] {
        let chosen = if holds { IDENTITY } else { "mov.f32 %f2, %f0;" };
        for (a, b) in [("%f1", "0f7FC00000"), ("0f7FC00000", "%f1")] {
            let (exit, text) = pair(chosen, &choice(relation, a, b));
            assert_eq!(exit, Exit::Success, "{relation}: {text}");
        }
    }
}

#[test]
fn inputs_that_only_real_numbers_leave_out_are_assumed() {
    let relu = "max.f32 %f2, %f1, 0f00000000;";
    let square = "mul.f32 %f2, %f1, %f1;";
    let twice = "add.f32 %f3, %f0, %f1; mov.f32 %f2, %f3;";
    for (reference, optimised) in [
        (IDENTITY, "rcp.rn.f32 %f3, %f1; rcp.rn.f32 %f2, %f3;"),
        (IDENTITY, "mov.f32 %f4, 0f40000000; div.rn.f32 %f3, %f4, %f1; div.rn.f32 %f2, %f4, %f3;"),
        (relu, "max.f32 %f3, %f1, 0f00000000; lg2.approx.f32 %f4, %f3; ex2.approx.f32 %f2, %f4;"),
        (
            square,
            "abs.f32 %f3, %f1; lg2.approx.f32 %f4, %f3; mul.f32 %f5, %f4, 0f40000000; ex2.approx.f32 %f2, %f5;",
        ),
        (twice, "rcp.rn.f32 %f3, %f0; rcp.rn.f32 %f4, %f3; add.f32 %f2, %f1, %f4;"),
    ] {
        let (exit, text) = pair(reference, optimised);
        assert!(exit == Exit::Success && text.contains("assumed: defined("), "{optimised}: {text}");
        let (exit, text) = asked([&kernel(reference), &kernel(optimised)], X_AND_Y, &[], true);
        assert_eq!(exit, Exit::Unknown, "{optimised}: {text}");
    }
    // Floats that differ at such an input show it.
    for (reference, optimised) in [
        (IDENTITY, "mul.f32 %f3, %f1, %f1; div.rn.f32 %f2, %f3, %f1;"),
        (square, "lg2.approx.f32 %f4, %f1; mul.f32 %f5, %f4, 0f40000000; ex2.approx.f32 %f2, %f5;"),
        ("sqrt.rn.f32 %f2, %f1;", "rsqrt.approx.f32 %f3, %f1; mul.f32 %f2, %f1, %f3;"),
    ] {
        let (exit, text) = pair(reference, optimised);
        assert_eq!(exit, Exit::Refuted, "{optimised}: {text}");
        assert!(text.contains("in floats they compute"), "{text}");
    }
    // √x and 1/rsqrt(x) are both 0 at 0.
    let (exit, text) =
        pair("sqrt.rn.f32 %f2, %f1;", "rsqrt.approx.f32 %f3, %f1; rcp.rn.f32 %f2, %f3;");
    assert!(exit == Exit::Success && text.contains("assumed: defined("), "{text}");
}

#[test]
fn differences_that_floats_do_not_show_are_not_told() {
    // 1 + 2^-60 is 1.
    let (exit, text) = pair(IDENTITY, "fma.rn.f32 %f2, %f1, 0f21800000, %f1;");
    assert_eq!(exit, Exit::Unknown, "{text}");
    // Here the floats differ, at zero.
    assert_eq!(pair(IDENTITY, "add.f32 %f2, %f1, 0f0DA24260;").0, Exit::Refuted);
    assert_eq!(pair(IDENTITY, "add.f32 %f2, %f1, 0f3F800000;").0, Exit::Refuted);
    // One bit of a sum of halves.
    let halves =
        |body: &str| wrapped("ld.global.b16 %h1, [%rd1];", body, "st.global.b16 [%rd2], %h2;");
    let arguments = "--arg x=f16[1] --arg y=f16[1]:out";
    let same = halves("mov.b16 %h2, %h1;");
    let tiny = halves(
        "cvt.f32.f16 %f1, %h1; fma.rn.f32 %f2, %f1, 0f38000000, %f1; cvt.rn.f16.f32 %h2, %f2;",
    );
    let (exit, text) = asked([&same, &tiny], arguments, &[], false);
    assert_eq!(exit, Exit::Unknown, "{text}");
}

#[test]
fn the_same_infinity_is_equal() {
    let constant = "mov.f32 %f2, 0fFF800000;";
    let computed = "mov.f32 %f3, 0f7F800000; neg.f32 %f2, %f3;";
    assert_eq!(pair(constant, computed).0, Exit::Success);
    let masked = "min.f32 %f2, %f1, 0fFF800000;";
    let (exit, text) = pair(constant, masked);
    assert_eq!(exit, Exit::Success, "{text}");
    let chosen = "setp.lt.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0fFF800000, %f1, %p1;";
    let turned = "setp.ge.f32 %p1, %f1, 0f00000000; selp.f32 %f2, %f1, 0fFF800000, %p1;";
    assert_ne!(pair(chosen, turned).0, Exit::Refuted);
    for other in ["mov.f32 %f2, 0f7F800000;", IDENTITY, "mov.f32 %f2, 0fF149F2CA;"] {
        let (exit, text) = pair(constant, other);
        assert!(exit != Exit::Success, "{other}: {text}");
    }
    assert_ne!(
        pair(chosen, "setp.le.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0fFF800000, %f1, %p1;").0,
        Exit::Success
    );
}

fn quantised(format: &str, body: &str) -> Input {
    let store = format!("cvt.rn.satfinite.{format}x2.f32 %h1, %f0, %f2; st.global.u8 [%rd2], %h1;");
    wrapped("ld.global.f32 %f1, [%rd1]; mov.f32 %f0, 0f00000000;", body, &store)
}

#[test]
fn conversions_that_saturate_are_clamps() {
    for (format, bound, inner) in
        [("e4m3", "43E00000", "40000000"), ("e5m2", "47600000", "40000000")]
    {
        let arguments = format!("--arg x=f32[1] --arg y=f8{format}[1]:out");
        let clamped = |bound: &str| {
            format!(
                "mov.f32 %f3, 0f{bound}; neg.f32 %f4, %f3; max.f32 %f5, %f1, %f4; min.f32 %f2, %f5, %f3;"
            )
        };
        let plain = quantised(format, IDENTITY);
        for assumptions in [&[][..], &["x > 60000"], &["x < -500"]] {
            let inputs = [&quantised(format, &clamped(bound)), &plain];
            let (exit, text) = asked(inputs, &arguments, assumptions, true);
            assert_eq!(exit, Exit::Success, "{format}: {text}");
        }
        // A clamp to less is detected.
        let (exit, text) =
            asked([&quantised(format, &clamped(inner)), &plain], &arguments, &[], false);
        assert_eq!(exit, Exit::Refuted, "{format}: {text}");
    }
}

#[test]
fn ranges_of_conversions_that_a_proof_needs_are_assumed() {
    // A float converted to eight bits and back, against one that is not.
    let back = "mov.f32 %f6, 0f00000000; cvt.rn.satfinite.e4m3x2.f32 %h1, %f6, %f1;
        cvt.rn.f16x2.e4m3x2 %r1, %h1; mov.b32 {%h2, %h3}, %r1; cvt.f32.f16 %f2, %h2;";
    let (exit, text) = pair(IDENTITY, back);
    assert!(exit == Exit::Success && text.contains("are between -448 and 448"), "{text}");
    let (exit, text) = asked([&kernel(IDENTITY), &kernel(back)], X_AND_Y, &[], true);
    assert_eq!(exit, Exit::Unknown, "{text}");
    let (exit, text) = assuming(IDENTITY, back, &["-400 <= x <= 400"]);
    assert!(exit == Exit::Success && !text.contains("are between -448"), "{text}");
    // No input is in the range.
    let (exit, text) = assuming(IDENTITY, back, &["x > 500"]);
    assert_ne!(exit, Exit::Success, "{text}");
}

#[test]
fn assumptions_that_no_number_satisfies_are_refused() {
    let square = "mul.f32 %f2, %f1, %f1;";
    let bytes = wrapped(
        "ld.global.u8 %r1, [%rd1];",
        "cvt.rn.f32.u32 %f2, %r1;",
        "st.global.f32 [%rd2], %f2;",
    );
    let negated = wrapped(
        "ld.global.u8 %r1, [%rd1];",
        "cvt.rn.f32.u32 %f1, %r1; neg.f32 %f2, %f1;",
        "st.global.f32 [%rd2], %f2;",
    );
    let byte = "--arg x=u8[1] --arg y=f32[1]:out";
    for assumption in ["x < 0", "x > 255", "x > 3 and x < 4", "x == 2.5", "x >= 300"] {
        let (exit, text) = asked([&bytes, &negated], byte, &[assumption], false);
        assert_eq!(exit, Exit::BadInput, "{assumption}: {text}");
        assert!(text.contains("no value of `x` (u8)"), "{text}");
    }
    for assumption in [
        "x > 1e60",
        "0 < x < 1e-50",
        "x*x < 0",
        "x == 0.1",
        "x < x",
        "1 < x < 1.00000001",
        "x < -3.5e38",
    ] {
        let (exit, text) = assuming(square, IDENTITY, &[assumption]);
        assert_eq!(exit, Exit::BadInput, "{assumption}: {text}");
    }
    let (exit, text) = assuming(square, IDENTITY, &["x > 1", "x < 0.5"]);
    assert!(exit == Exit::BadInput && text.contains("no value of `x` (f32)"), "{text}");
    let halves =
        |body: &str| wrapped("ld.global.b16 %h1, [%rd1];", body, "st.global.b16 [%rd2], %h2;");
    let arguments = "--arg x=f16[1] --arg y=f16[1]:out";
    let (same, other) = (halves("mov.b16 %h2, %h1;"), halves("abs.f16 %h2, %h1;"));
    let narrow = "0.1 < x < 0.1000000001";
    let (exit, text) = asked([&same, &other], arguments, &[narrow], false);
    assert_eq!(exit, Exit::BadInput, "{text}");
    // If some numbers satisfy them, there is something to prove.
    for assumption in ["0.0999 < x < 0.1", "x > 65000", "0 < x < 1e-7", "x == 0.125", "x*x > 2"] {
        let (exit, text) = asked([&same, &same], arguments, &[assumption], false);
        assert_eq!(exit, Exit::Success, "{assumption}: {text}");
    }
    for assumption in ["x > 1e38", "0 < x < 1e-44", "1 < x < 1.000001", "x*x <= 0.25"] {
        let (exit, text) = assuming(IDENTITY, IDENTITY, &[assumption]);
        assert_eq!(exit, Exit::Success, "{assumption}: {text}");
    }
    assert_eq!(asked([&bytes, &bytes], byte, &["x > 254.5"], false).0, Exit::Success);
}

#[test]
fn nothing_is_claimed_where_the_reference_is_defined_nowhere() {
    let nowhere = "mul.f32 %f3, %f1, %f1; mov.f32 %f4, 0fBF800000; sub.f32 %f5, %f4, %f3; sqrt.rn.f32 %f2, %f5;";
    let other = "fma.rn.f32 %f3, %f1, %f1, 0f3F800000; neg.f32 %f4, %f3; sqrt.rn.f32 %f2, %f4;";
    assert_ne!(pair(nowhere, other).0, Exit::Success);
    // Defined only at inputs that the assumption excludes.
    let root = "sqrt.rn.f32 %f2, %f1;";
    assert_ne!(assuming(root, root, &["x < 0"]).0, Exit::Success);
    assert_eq!(assuming(root, root, &["x <= 0"]).0, Exit::Success);
    // An assumption without a solution known to the search claims nothing.
    let (exit, _) = assuming(IDENTITY, "abs.f32 %f2, %f1;", &["x*x*x - 2*x == 5"]);
    assert!(exit == Exit::Unknown || exit == Exit::BadInput);
}
