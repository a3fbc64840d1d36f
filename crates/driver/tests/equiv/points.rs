//! Differences that show only at certain numbers, and floats that overflow.

use crate::corpus::Flags;
use crate::{X_AND_Y, answer, answer_with, kernel, small};
use driver::equiv::Options;
use driver::{Exit, Input};

/// A kernel of one thread: `body` computes `%f4` and `%f5` from `%f1` to `%f3`, elements of `x`, and they are stored
/// to `y`.
fn three(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<20>; .reg .pred %p<3>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
        ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4]; ld.global.f32 %f3, [%rd1+8];
        {body}
        st.global.f32 [%rd2], %f4; st.global.f32 [%rd2+4], %f5; ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn compare_three(bodies: [&str; 2], flags: &str, strict: bool) -> (Exit, String) {
    let inputs = bodies.map(three);
    let flags = format!("--grid 1 --block 1 --arg x=f32[3] --arg y=f32[2]:out {flags}");
    let flags = [(), ()].map(|()| Flags::parse(&flags));
    let options = Options { strict, ..Options::default() };
    answer_with(inputs.each_ref(), [None; 2], &flags, &options)
}

/// Numbers that random tests miss: beyond a mask, at a threshold, beside it, past a clamp.
#[test]
fn the_kernels_own_constants_are_tried() {
    let copy = "mov.f32 %f2, %f1;";
    let limited = |op: &str, bits: &str| format!("{op}.f32 %f2, %f1, 0f{bits};");
    let chosen = |test: &str, bits: &str| {
        format!(
            "{{ .reg .pred %p; setp.{test}.f32 %p, %f1, 0f{bits}; selp.f32 %f2, %f1, 0f00000000, %p; }}"
        )
    };
    // -1e10 in place of -inf, 1000, 12.75, 2^-40.
    let pairs = [
        (copy.to_owned(), limited("max", "D01502F9")),
        (copy.to_owned(), limited("min", "447A0000")),
        (chosen("gt", "414C0000"), chosen("ge", "414C0000")),
        (copy.to_owned(), chosen("ne", "414C0000")),
        (chosen("lt", "2B800000"), chosen("le", "2B800000")),
    ];
    for (reference, optimised) in pairs {
        let (exit, text) = small([&reference, &optimised], X_AND_Y);
        assert_eq!(exit, Exit::Refuted, "{reference} {optimised}: {text}");
        assert!(text.contains("run on these inputs in interval arithmetic"), "{text}");
    }
}

#[test]
fn points_are_within_what_is_assumed() {
    let copy = kernel("mov.f32 %f2, %f1;");
    let limited = kernel("min.f32 %f2, %f1, 0f447A0000;");
    let flags = "--grid 1 --block 1 --arg x=f32[1] --arg y=f32[1]:out";
    let flags = [(), ()].map(|()| Flags::parse(flags));
    let ask = |assumption: &str| {
        let assumptions = [assumption.parse().unwrap()];
        let options = Options { assumptions: &assumptions, ..Options::default() };
        answer_with([&copy, &limited], [None; 2], &flags, &options)
    };
    let (exit, text) = ask("x < 100");
    assert_ne!(exit, Exit::Refuted, "{text}");
    let (exit, text) = ask("x < 5000");
    assert_eq!(exit, Exit::Refuted, "{text}");
}

/// Halves have no number above 65504, so a clamp above it changes nothing.
#[test]
fn points_are_numbers_of_the_types() {
    let half = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
            .reg .f32 %f<9>; .reg .b16 %h<3>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
            ld.global.b16 %h1, [%rd1]; cvt.f32.f16 %f1, %h1;
            {body}
            st.global.f32 [%rd2], %f2; ret; }}"
        );
        Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
    };
    let copy = half("mov.f32 %f2, %f1;");
    let flags = "--grid 1 --block 1 --arg x=f16[1] --arg y=f32[1]:out";
    let flags = [(), ()].map(|()| Flags::parse(flags));
    let ask = |bits: &str| {
        let limited = half(&format!("min.f32 %f2, %f1, 0f{bits};"));
        answer([&copy, &limited], [None; 2], &flags).0
    };
    // 100000 and 60000.
    assert_ne!(ask("47C35000"), Exit::Refuted);
    assert_eq!(ask("476A6000"), Exit::Refuted);
}

/// e to the three numbers in `%f6` to `%f8`, times their sum in `%f9`.
const EXPONENTIALS: &str = "
    mul.f32 %f6, %f6, 0f3FB8AA3B; mul.f32 %f7, %f7, 0f3FB8AA3B; mul.f32 %f8, %f8, 0f3FB8AA3B;
    ex2.approx.f32 %f6, %f6; ex2.approx.f32 %f7, %f7; ex2.approx.f32 %f8, %f8;
    add.f32 %f9, %f6, %f7; add.f32 %f9, %f9, %f8;";

const PLAIN: &str = "mov.f32 %f6, %f1; mov.f32 %f7, %f2; mov.f32 %f8, %f3;";

const SHIFTED: &str = "max.f32 %f10, %f1, %f2; max.f32 %f10, %f10, %f3;
    sub.f32 %f6, %f1, %f10; sub.f32 %f7, %f2, %f10; sub.f32 %f8, %f3, %f10;";

#[test]
fn a_softmax_without_its_maximum_overflows() {
    let divided = "div.rn.f32 %f4, %f6, %f9; div.rn.f32 %f5, %f7, %f9;";
    let [plain, shifted] =
        [PLAIN, SHIFTED].map(|start| format!("{start} {EXPONENTIALS} {divided}"));
    let (exit, text) = compare_three([&shifted, &plain], "", false);
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(text.contains("overflow: note: `y[0]` is NaN in floats"), "{text}");
    assert!(text.contains("(WP0141)") && text.contains("--arg x=f32[3]=100.0999"), "{text}");
    let (exit, text) = compare_three([&shifted, &plain], "", true);
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("equivalence: proved") && text.contains("overflow: refuted"), "{text}");
    // In the other direction it is an improvement.
    for strict in [false, true] {
        let (exit, text) = compare_three([&plain, &shifted], "", strict);
        assert_eq!(exit, Exit::Success, "{text}");
        assert!(!text.contains("overflow:"), "{text}");
    }
}

#[test]
fn a_cross_entropy_without_its_maximum_overflows() {
    let plain = format!(
        "{PLAIN} {EXPONENTIALS} lg2.approx.f32 %f9, %f9; mul.f32 %f9, %f9, 0f3F317218;
        sub.f32 %f4, %f9, %f1; sub.f32 %f5, %f9, %f2;"
    );
    let shifted = format!(
        "{SHIFTED} {EXPONENTIALS} lg2.approx.f32 %f9, %f9; mul.f32 %f9, %f9, 0f3F317218;
        add.f32 %f9, %f9, %f10; sub.f32 %f4, %f9, %f1; sub.f32 %f5, %f9, %f2;"
    );
    let (exit, text) = compare_three([&shifted, &plain], "", false);
    assert_ne!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("overflow: note: `y[0]` is inf in floats"), "{text}");
    let (_, text) = compare_three([&plain, &shifted], "", false);
    assert!(!text.contains("overflow:"), "{text}");
}

/// The mean of squares less the square of the mean is below zero by rounding, for equal numbers.
#[test]
fn a_variance_in_one_pass_has_no_root() {
    let mean =
        "add.rn.f32 %f6, %f1, %f2; add.rn.f32 %f6, %f6, %f3; div.rn.f32 %f6, %f6, 0f40400000;";
    let two_passes = format!(
        "{mean} sub.rn.f32 %f7, %f1, %f6; sub.rn.f32 %f8, %f2, %f6; sub.rn.f32 %f9, %f3, %f6;
        mul.rn.f32 %f10, %f7, %f7; fma.rn.f32 %f10, %f8, %f8, %f10; fma.rn.f32 %f10, %f9, %f9, %f10;
        div.rn.f32 %f10, %f10, 0f40400000; sqrt.rn.f32 %f4, %f10; mov.f32 %f5, %f6;"
    );
    let one_pass = format!(
        "{mean} mul.rn.f32 %f7, %f1, %f1; fma.rn.f32 %f7, %f2, %f2, %f7; fma.rn.f32 %f7, %f3, %f3, %f7;
        div.rn.f32 %f7, %f7, 0f40400000; mul.rn.f32 %f8, %f6, %f6; sub.rn.f32 %f10, %f7, %f8;
        sqrt.rn.f32 %f4, %f10; mov.f32 %f5, %f6;"
    );
    let (_, text) = compare_three([&two_passes, &one_pass], "", false);
    assert!(text.contains("overflow: note: `y[0]` is NaN in floats, 0"), "{text}");
}

/// A mask of -inf leaves nothing of a row that is masked completely; here `x` itself is the mask.
#[test]
fn a_row_that_is_masked_altogether_is_no_number() {
    let masked = |mask: &str| {
        let one = |number: usize, to: usize| {
            format!(
                "setp.gt.f32 %p1, %f{number}, 0f00000000; selp.f32 %f{to}, %f{number}, 0f{mask}, %p1;"
            )
        };
        format!(
            "{} {} {} max.f32 %f10, %f11, %f12; max.f32 %f10, %f10, %f13;
            sub.f32 %f6, %f11, %f10; sub.f32 %f7, %f12, %f10; sub.f32 %f8, %f13, %f10;
            {EXPONENTIALS} div.rn.f32 %f4, %f6, %f9; div.rn.f32 %f5, %f7, %f9;",
            one(1, 11),
            one(2, 12),
            one(3, 13)
        )
    };
    let (exit, text) = compare_three([&masked("D01502F9"), &masked("FF800000")], "", false);
    // The report has it either as a difference over the reals or as an overflow.
    assert!(exit == Exit::Refuted || text.contains("overflow: note"), "{text}");
}

/// A sigmoid that is right for all arguments gets no note on overflow.
#[test]
fn infinities_on_the_way_are_no_overflow() {
    let power = "neg.f32 %f3, %f1; mul.f32 %f3, %f3, 0f3FB8AA3B; ex2.approx.f32 %f3, %f3;
        add.f32 %f3, %f3, 0f3F800000;";
    let divided = format!("{power} div.rn.f32 %f2, %f1, %f3;");
    let inverted = format!("{power} rcp.rn.f32 %f4, %f3; mul.f32 %f2, %f1, %f4;");
    let (exit, text) = small([&divided, &inverted], X_AND_Y);
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(!text.contains("overflow:"), "{text}");
}

/// A loop whose end depends on data cannot be followed on terms; numbers refute all the same.
#[test]
fn differences_beyond_terms_are_refuted_on_numbers() {
    let halved = |end: &str| {
        format!(
            "{{ .reg .pred %p; abs.f32 %f3, %f1;
            $again: setp.gt.f32 %p, %f3, 0f3F000000; @!%p bra $done;
            mul.rn.f32 %f3, %f3, 0f3F000000; bra $again;
            $done: {end} }}"
        )
    };
    let (once, twice) = (halved("mov.f32 %f2, %f3;"), halved("add.rn.f32 %f2, %f3, %f3;"));
    let (exit, text) = small([&once, &twice], X_AND_Y);
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("found on these inputs only"), "{text}");
    let (exit, text) = small([&once, &once], X_AND_Y);
    assert_eq!(exit, Exit::Unknown, "{text}");
}

/// ∞ − ∞ of known numbers is a NaN on hardware and 0 over the reals; the 0 must decide no branch.
#[test]
fn numbers_that_are_nan_decide_nothing_as_reals() {
    let nan = ".reg .pred %p; mov.f32 %f3, 0f7F7FFFFF; mul.rn.f32 %f4, %f3, %f3; sub.rn.f32 %f5, %f4, %f4;";
    let root = ".reg .pred %p; mov.f32 %f3, 0fBF800000; sqrt.rn.f32 %f5, %f3;";
    let tests = [
        "setp.lt.f32 %p, %f5, 0f7F800000;",
        "setp.gt.f32 %p, %f5, 0fFF800000;",
        "setp.num.f32 %p, %f5, %f5;",
        "setp.num.f32 %p, %f1, %f5;",
        "testp.number.f32 %p, %f5;",
        "testp.finite.f32 %p, %f5;",
        "setp.le.f32 %p, %f5, 0f00000000;",
    ];
    for test in tests {
        for made in [nan, root] {
            // Out of bounds, if the hardware executes it.
            let body =
                format!("{made} {test} mov.f32 %f2, %f1; @!%p st.global.f32 [%rd2+4096], %f1;");
            let (exit, text) = small([&body, &body], X_AND_Y);
            assert_ne!(exit, Exit::Success, "{body}\n{text}");
        }
    }
}
