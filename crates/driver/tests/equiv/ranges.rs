//! Functions with some cases missing from the code: facts about them in a range of arguments count if the range
//! follows from the inputs, and only then.

use crate::answer_with;
use crate::corpus::Flags;
use driver::arguments::AssumeSpec;
use driver::equiv::Options;
use driver::{Colour, Exit, Input};

/// The module of a kernel of `corpus/math/functions.cu`, with texts replaced; each must occur.
fn function(name: &str, build: &str, replaced: &[(&str, &str)]) -> Input {
    let file = format!("functions.{build}.ptx");
    let path = testing::corpus::root().join("corpus/math").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let (head, bodies) = text.split_once(".visible .entry").unwrap();
    let own = |body: &&str| body.trim_start().starts_with(&format!("k_{name}("));
    let body = bodies.split(".visible .entry").find(own).unwrap();
    let mut body = body.to_owned();
    for (old, new) in replaced {
        assert!(body.contains(old), "{old} in {body}");
        body = body.replace(old, new);
    }
    let text = format!("{head}.visible .entry{body}");
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

const BUILD: &str = "nvcc134.sm_80";
const FLAGS: &str = "--grid 1 --block 2 --arg x=f32[2] --arg y=f32[2]:out";

fn ask(inputs: [&Input; 2], assume: &[&str]) -> (Exit, String) {
    let flags = [FLAGS; 2].map(Flags::parse);
    let assumptions: Vec<AssumeSpec> = assume.iter().map(|text| text.parse().unwrap()).collect();
    let options = Options { assumptions: &assumptions, recheck: true, ..Options::default() };
    answer_with(inputs, [None; 2], &flags, &options)
}

/// `cbrtf` without its negative results.
fn without_sign(more: &[(&str, &str)]) -> Input {
    let sign = ("selp.f32 \t%f14, %f13, %f12, %p1;", "mov.f32 %f14, %f12;");
    let all: Vec<(&str, &str)> = std::iter::once(sign).chain(more.iter().copied()).collect();
    function("cbrtf", BUILD, &all)
}

#[test]
fn a_range_must_follow_from_the_inputs() {
    let (whole, part) = (function("cbrtf", BUILD, &[]), without_sign(&[]));
    for pair in [[&whole, &part], [&part, &whole], [&part, &part]] {
        let (exit, text) = ask(pair, &[]);
        assert_eq!(exit, Exit::Unknown, "{text}");
        for wanted in ["the inlined cbrt at line", "x[0] >= 0", "--assume 'x >= 0'"] {
            assert!(text.contains(wanted), "{text}");
        }
        assert!(!text.contains("assumed: arguments"), "{text}");
        for assume in ["x >= 0", "x > 0.5", "1 <= x <= 2"] {
            let (exit, text) = ask(pair, &[assume]);
            assert_eq!(exit, Exit::Success, "{assume}: {text}");
        }
        for assume in ["x > -1", "x < 0", "x != 0"] {
            let (exit, text) = ask(pair, &[assume]);
            assert_eq!(exit, Exit::Unknown, "{assume}: {text}");
        }
    }
}

/// Arguments that are computed: squares, magnitudes, exponentials, and sums that may be negative.
#[test]
fn ranges_of_what_the_kernel_computes() {
    let load = "abs.f32 \t%f2, %f1;";
    let with = |before: &str| {
        let all = format!("{before} {load}");
        let replaced = [(load, all.as_str())];
        (function("cbrtf", BUILD, &replaced), without_sign(&replaced))
    };
    for shown in [
        "mul.f32 %f1, %f1, %f1;",
        "abs.f32 %f1, %f1;",
        "ex2.approx.f32 %f1, %f1;",
        "mul.f32 %f1, %f1, %f1; add.f32 %f1, %f1, 0f3F800000;",
        "max.f32 %f1, %f1, 0f00000000;",
    ] {
        let (whole, part) = with(shown);
        let (exit, text) = ask([&whole, &part], &[]);
        assert_eq!(exit, Exit::Success, "{shown}: {text}");
    }
    for not_shown in [
        "mul.f32 %f1, %f1, %f1; sub.f32 %f1, %f1, 0f3F800000;",
        "add.f32 %f1, %f1, 0f3F800000;",
        "min.f32 %f1, %f1, 0f00000000;",
        "sin.approx.f32 %f1, %f1;",
    ] {
        let (whole, part) = with(not_shown);
        let (exit, text) = ask([&whole, &part], &[]);
        assert_eq!(exit, Exit::Unknown, "{not_shown}: {text}");
    }
}

/// The result is used only behind a choice, in one direction or the other.
#[test]
fn choices_guard_ranges() {
    let (load, store) = ("st.global.f32 \t[%rd7], %f16;", "");
    let chosen = |relation: &str| {
        format!(
            "setp.{relation}.f32 %p1, %f1, 0f3F000000; selp.f32 %f16, %f16, %f1, %p1; {load}{store}"
        )
    };
    for (relation, exit) in [("gt", Exit::Success), ("ge", Exit::Success), ("lt", Exit::Unknown)] {
        let chosen = chosen(relation);
        let replaced = [(load, chosen.as_str())];
        let (whole, part) = (function("cbrtf", BUILD, &replaced), without_sign(&replaced));
        let (found, text) = ask([&whole, &part], &[]);
        assert_eq!(found, exit, "{relation}: {text}");
    }
    // A condition on the result itself says nothing about the argument: it is computed without the sign, too.
    let circular =
        format!("setp.ge.f32 %p1, %f16, 0f00000000; selp.f32 %f16, %f16, %f1, %p1; {load}");
    let replaced = [(load, circular.as_str())];
    let (whole, part) = (function("cbrtf", BUILD, &replaced), without_sign(&replaced));
    let (exit, text) = ask([&whole, &part], &[]);
    assert_eq!(exit, Exit::Unknown, "{text}");
}

/// Out of its range the code is not the function, so a difference there is not one of the kernels.
#[test]
fn no_difference_is_told_out_of_the_range() {
    let store = "st.global.f32 \t[%rd7], %f16;";
    let magnitude = format!("abs.f32 %f16, %f16; {store}");
    let whole = function("cbrtf", BUILD, &[(store, &magnitude)]);
    let (exit, text) = ask([&whole, &without_sign(&[])], &[]);
    assert_eq!(exit, Exit::Unknown, "{text}");
    // In the range it is.
    let doubled = format!("add.f32 %f16, %f16, %f16; {store}");
    let other = function("cbrtf", BUILD, &[(store, &doubled)]);
    let (exit, text) = ask([&other, &without_sign(&[])], &["x > 1"]);
    assert_eq!(exit, Exit::Refuted, "{text}");
}

/// The path for large arguments is recognised as the library's, or not at all.
#[test]
fn ways_for_large_arguments_are_recognised_whole() {
    let whole = function("sinf", BUILD, &[]);
    let (exit, text) = ask([&whole, &whole], &[]);
    assert_eq!(exit, Exit::Success, "{text}");
    let changes: [&[(&str, &str)]; 5] = [
        &[("mov.u32 \t%r23, 1011060801;", "mov.u32 %r23, 1011060800;")],
        &[("0d3BF921FB54442D19", "0d3BF921FB54442D18")],
        &[("shl.b32 \t%r40, %r54, 2;", "shl.b32 %r40, %r54, 3;")],
        &[("st.local.u32 \t[%rd9+4], %rd13;", "st.local.u32 [%rd9+4], %rd11;")],
        &[("mov.b32 \t%r2, %f1;", "mov.b32 %r2, %f3;")],
    ];
    for replaced in changes {
        let other = function("sinf", BUILD, replaced);
        let (exit, text) = ask([&whole, &other], &[]);
        assert_eq!(exit, Exit::Unknown, "{replaced:?}: {text}");
        assert!(text.contains("--assume '-105615 < x < 105615'"), "{text}");
        let (exit, text) = ask([&whole, &other], &["-1000 <= x <= 1000"]);
        assert_eq!(exit, Exit::Success, "{replaced:?}: {text}");
        // The memory effects of unrecognised code are unknown, too.
        let outcome = Flags::parse(FLAGS).hand(&other, None, |execution| {
            driver::check::run(execution, driver::check::Options::default(), Colour::Plain)
        });
        assert_eq!(outcome.exit, Exit::Unknown, "{replaced:?}: {}", outcome.output);
    }
    // The result of that path is also read elsewhere: it must not be dropped.
    let store = "st.global.f32 \t[%rd30], %f37;";
    let read = format!("add.f32 %f37, %f37, %f35; {store}");
    let other = function("sinf", BUILD, &[(store, &read)]);
    let (exit, text) = ask([&other, &other], &[]);
    assert_eq!(exit, Exit::Unknown, "{text}");
}

/// A choice of infinity by the same condition as that of a logarithm need not be the logarithm's.
#[test]
fn choices_of_infinity_belong_to_what_is_computed_of_the_function() {
    let chosen = "selp.f32 \t%f34, 0fFF800000, %f35, %p3;";
    for (other, exit) in [
        // 10·log x, and an unrelated value.
        ("mul.f32 %f36, %f35, 0f41200000;", Exit::Success),
        ("mov.f32 %f36, 0f40A00000;", Exit::Refuted),
    ] {
        let kernel = |last: &str| {
            let registers = (".reg .f32 \t%f<", ".reg .f32 %f36; .reg .f32 %f37; .reg .f32 %f<");
            let body = format!("{other} {last} mov.f32 %f34, %f37; add.f32 %f35, %f35, %f35;");
            function("logf", BUILD, &[registers, (chosen, &body)])
        };
        let plain = kernel("mov.f32 %f37, %f36;");
        let with = kernel("selp.f32 %f37, 0fFF800000, %f36, %p3;");
        let (found, text) = ask([&plain, &with], &[]);
        let fine = found == exit || exit == Exit::Refuted && found == Exit::Unknown;
        assert!(fine, "{other}: {text}");
    }
}
