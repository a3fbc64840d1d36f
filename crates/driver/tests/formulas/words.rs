//! Answers about small kernels and formulas, each for a bug that was fixed or a feature that was requested.

use driver::arguments::{Arguments, LaunchSpec};
use driver::equiv::{FormulaStep, Options, Step, run_steps};
use driver::{Colour, Execution, Exit, Input, Limits};

/// A kernel of one block of four threads: in thread `%r1`, `body` computes `%f2` from `%f1`, its element of `x`.
fn kernel(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
        ld.global.f32 %f1, [%rd4];
        {body}
        st.global.f32 [%rd5], %f2; ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn answer(formula: &str, body: &str) -> (Exit, String) {
    answer_with(formula, body, &["x=f32[4]", "y=f32[4]:out"])
}

fn answer_with(formula: &str, body: &str, specs: &[&str]) -> (Exit, String) {
    let (kernel, formula) = (kernel(body), Input::of_formula(formula).unwrap());
    let specs = specs.iter().map(|spec| spec.parse().unwrap()).collect();
    let arguments = Arguments { specs, ..Arguments::default() };
    let launch = LaunchSpec {
        grid: Some("1".parse().unwrap()),
        block: Some("4".parse().unwrap()),
        ..LaunchSpec::default()
    };
    let (limits, own) = (Limits::default(), Arguments::default());
    let execution =
        Execution { input: &kernel, kernel: None, launch: &launch, arguments: &arguments, limits };
    let step = FormulaStep { input: &formula, arguments: &own, limits };
    let steps = [Step::Formula(step), Step::Launch(execution)];
    let sides = steps.each_ref().map(std::slice::from_ref);
    let outcome = run_steps(sides, &Options::default(), Colour::Plain);
    (outcome.exit, outcome.output + &outcome.messages)
}

const COPY: &str = "mov.f32 %f2, %f1;";
const ZERO: &str = "mov.f32 %f2, 0f00000000;";

#[test]
fn a_literal_is_what_is_written_and_a_float_its_rounding() {
    let (exit, text) = answer("y[i] = x[i] + 0.1", "add.rn.f32 %f2, %f1, 0f3DCCCCCD;");
    assert!(exit == Exit::Success && text.contains("the float 0.1 stands for exactly"), "{text}");
    // The next float is another number.
    let (exit, text) = answer("y[i] = x[i] + 0.1", "add.rn.f32 %f2, %f1, 0f3DCCCCCE;");
    assert!(exit != Exit::Success, "{text}");
    let (exit, text) = answer("y[i] = x[i] + f32(0.1)", "add.rn.f32 %f2, %f1, 0f3DCCCCCD;");
    assert!(exit == Exit::Success && !text.contains("stands for"), "{text}");
    // 2^24 + 1 is no single, and 2^24 the nearest.
    let (exit, text) = answer("y[i] = x[i]*16777217.0", "mul.rn.f32 %f2, %f1, 0f4B800000;");
    assert!(exit == Exit::Success && text.contains("16777216 stands for 16777217"), "{text}");
    assert_ne!(answer("y[i] = x[i]*16777217", "mul.rn.f32 %f2, %f1, 0f4B800001;").0, Exit::Success);
    assert_ne!(answer("y[i] = x[i]*(1e-300*1e-300)", ZERO).0, Exit::Success);
    assert_ne!(answer("y[i] = min(x[i], 10^400)", COPY).0, Exit::Refuted);
}

#[test]
fn reductions_are_the_same_only_if_they_are_written_so() {
    let specs = ["x=f32[4]", "y=f32[4]:out"];
    let two = "y[i] = sum(k, x[k] #\n + 1.5) - sum(k, x[k] #+1.5\n)";
    assert_eq!(answer_with(two, ZERO, &specs).0, Exit::Refuted);
    let same = "y[i] = sum(k, x[k]) - sum(k,x[k])  # twice";
    assert_eq!(answer_with(same, ZERO, &specs).0, Exit::Success);
}

#[test]
fn extremes_over_nothing_are_no_numbers() {
    let wrong = |formula: &str| {
        let (exit, text) = answer(formula, ZERO);
        assert_eq!(exit, Exit::BadInput, "{formula}: {text}");
        text
    };
    assert!(wrong("y[i] = min(k in 0..i, k)").contains("`min` of no elements for i = 0"));
    assert!(wrong("y[i] = argmax(k in 2..2, x[k])").contains("`argmax` of no elements"));
    assert!(wrong("y[i] = max(k in 0..4, k if k > 9)").contains("of no elements"));
    assert_eq!(answer("y[i] = min(k, k if x[k] > 0)", ZERO).0, Exit::Refuted);
    assert_eq!(answer("y[i] = max(k in 0..4, k) - 3", ZERO).0, Exit::Success);
}

#[test]
fn a_formula_that_reads_outside_is_at_fault_itself() {
    let (exit, text) = answer("y[i] = x[i+1]", COPY);
    assert!(exit == Exit::BadInput && text.contains("WP0005"), "{text}");
    // Here only the run can find it.
    let (exit, text) = answer("let n[i in 0..4] = i + 1; y[i] = x[n[i]]", COPY);
    assert!(exit == Exit::BadInput && text.contains("nothing is compared"), "{text}");
}

#[test]
fn conditions_on_data_choose() {
    let step = "setp.gt.f32 %p1, %f1, 0f00000000; selp.f32 %f2, 0f3F800000, 0f00000000, %p1;";
    assert_eq!(answer("y[i] = 1 if x[i] > 0 else 0", step).0, Exit::Success);
    assert_eq!(answer("y[i] = x[i] > 0", step).0, Exit::Success);
    assert_eq!(answer("y[i] = 1 if x[i] >= 0 else 0", step).0, Exit::Refuted);
    assert_eq!(answer("y[i] = relu(x[i])", "max.f32 %f2, %f1, 0f00000000;").0, Exit::Success);
}

#[test]
fn contents_from_before_are_read() {
    let specs = ["x=f32[4]", "y=f32[4]:inout"];
    let body = "ld.global.f32 %f3, [%rd5]; add.f32 %f2, %f1, %f3;";
    assert_eq!(answer_with("y[i] = x[i] + y[i]", body, &specs).0, Exit::Success);
    assert_eq!(answer_with("y[i] = x[i] + y[3-i]", body, &specs).0, Exit::Refuted);
}

#[test]
fn a_difference_names_the_line_of_the_formula() {
    let (exit, text) = answer("let a[i] = 2*x[i]\ny[i] = a[i] + 1", COPY);
    assert_eq!(exit, Exit::Refuted);
    for words in ["a formula", "formula:2", "both sides, evaluated on these inputs"] {
        assert!(text.contains(words) || words == "a formula", "{words}: {text}");
    }
    let (_, text) = answer("let unused[i] = x[i]; y[i] = x[i]", COPY);
    assert!(text.contains("a formula against 1 block") && !text.contains("unused"), "{text}");
}
