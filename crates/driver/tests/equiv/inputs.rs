//! Statements about inputs and outputs of a comparison: relations, assumptions, strides, aliases, given contents; and
//! the reports of differences.

use crate::answer_with;
use crate::corpus::Flags;
use driver::arguments::AssumeSpec;
use driver::equiv::Options;
use driver::{Exit, Input};

/// A kernel of one thread with these parameters; addresses of `x` and `y` are in `%rd1` and `%rd2`.
fn kernel(parameters: &str, body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k({parameters}) {{
        .reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
        {body}
        ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

const XY: &str = ".param .u64 x, .param .u64 y";

/// Loads `%f1` from a byte offset of `x`; `body` computes `%f2`, which is stored to `y`.
fn of_x(offset: u32, body: &str) -> Input {
    let load = format!("ld.global.f32 %f1, [%rd1+{offset}];");
    kernel(XY, &format!("{load} {body} st.global.f32 [%rd2], %f2;"))
}

struct Question<'q> {
    inputs: [Input; 2],
    flags: [&'q str; 2],
    assume: &'q [&'q str],
    strict: bool,
}

impl Question<'_> {
    fn answer(&self) -> (Exit, String) {
        let flags = self.flags.map(|flags| Flags::parse(&format!("--grid 1 --block 1 {flags}")));
        let assumptions: Vec<AssumeSpec> =
            self.assume.iter().map(|text| text.parse().unwrap()).collect();
        let options =
            Options { assumptions: &assumptions, strict: self.strict, ..Options::default() };
        answer_with(self.inputs.each_ref(), [None; 2], &flags, &options)
    }

    fn expect(&self, exit: Exit, texts: &[&str]) {
        let (found, text) = self.answer();
        assert_eq!(found, exit, "{text}");
        for wanted in texts {
            assert!(text.contains(wanted), "`{wanted}` is missing:\n{text}");
        }
    }
}

const ONE: &str = "--arg x=f32[1] --arg y=f32[1]:out";
const COPY: &str = "mov.f32 %f2, %f1;";

fn ask<'q>(bodies: [&str; 2], assume: &'q [&'q str]) -> Question<'q> {
    Question { inputs: bodies.map(|body| of_x(0, body)), flags: [ONE; 2], assume, strict: false }
}

fn scaled(last: &str, body: &str) -> Input {
    let load = "ld.global.f32 %f1, [%rd1]; ld.param.f32 %f3, [s];";
    let parameters = format!("{XY}, .param .{last} s");
    let body = format!("{load} {body} ex2.approx.f32 %f2, %f4; st.global.f32 [%rd2], %f2;");
    kernel(&parameters, &body)
}

#[test]
fn scalars_are_related_across_the_sides() {
    let base_e = "mul.f32 %f4, %f1, %f3; mul.f32 %f4, %f4, 0f3FB8AA3B;";
    let inputs = || [scaled("f32", base_e), scaled("f32", "mul.f32 %f4, %f1, %f3;")];
    let reference = format!("{ONE} --arg scale=f32");
    let ask = |relation: &str| {
        let optimised = format!("{ONE} --arg {relation}");
        let flags = [reference.as_str(), optimised.as_str()];
        Question { inputs: inputs(), flags, assume: &[], strict: false }.answer()
    };
    let (exit, text) = ask("s2=scale*log2e");
    assert_eq!(exit, Exit::Success, "{text}");
    let (exit, text) = ask("s2=scale*ln2");
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("scale = "), "{text}");
    let (exit, text) = ask("s2=factor*ln2");
    assert!(exit == Exit::BadInput && text.contains("no argument is called `factor`"), "{text}");
    let (exit, text) = ask("s2=s2*2");
    assert!(exit == Exit::BadInput && text.contains("depends on itself"), "{text}");
}

#[test]
fn integers_are_related_too() {
    let body = "ld.global.f32 %f1, [%rd1]; ld.param.u32 %r1, [s]; cvt.rn.f32.s32 %f3, %r1;
        mul.f32 %f2, %f1, %f3;";
    let parameters = format!("{XY}, .param .u32 s");
    let whole = || kernel(&parameters, &format!("{body} st.global.f32 [%rd2], %f2;"));
    let half = || {
        let halved = format!("{body} mul.f32 %f2, %f2, 0f3F000000; st.global.f32 [%rd2], %f2;");
        kernel(&parameters, &halved)
    };
    let ask = |relation: &str| {
        let flags = [format!("{ONE} --arg n=6"), format!("{ONE} --arg {relation}")];
        let flags = flags.each_ref().map(String::as_str);
        Question { inputs: [whole(), half()], flags, assume: &[], strict: false }.answer()
    };
    assert_eq!(ask("m=n*2").0, Exit::Success);
    assert_eq!(ask("m=n*4").0, Exit::Refuted);
    let (exit, text) = ask("m=n/4");
    assert!(exit == Exit::BadInput && text.contains("its value is 3/2, not an integer"), "{text}");
}

#[test]
fn assumptions_restrict_proofs_and_witnesses() {
    let root = "mul.f32 %f2, %f1, %f1; sqrt.rn.f32 %f2, %f2;";
    ask([root, COPY], &["x >= 0"]).expect(Exit::Success, &["assumed: x >= 0"]);
    ask([root, COPY], &[]).expect(Exit::Refuted, &["x[0] = -"]);
    let positive = "max.f32 %f2, %f1, 0f00000000;";
    ask([positive, COPY], &["-3 <= x <= -2"]).expect(Exit::Refuted, &["x[0] = -"]);
    ask([positive, COPY], &["2 <= x", "x < 2"]).expect(Exit::BadInput, &["no value of `x`"]);
    ask([COPY, COPY], &["2 <= x", "x < 2"]).expect(Exit::BadInput, &["no value of `x`"]);
    ask([COPY, COPY], &["y > 0"]).expect(Exit::BadInput, &["`y` is an output"]);
    ask([COPY, COPY], &["z > 0"]).expect(Exit::BadInput, &["no input is called `z`; there is x"]);
    for wrong in ["x", "x = 0", "x > ", "x[0] > 0", ""] {
        assert!(wrong.parse::<AssumeSpec>().is_err(), "{wrong}");
    }
}

#[test]
fn strides_say_which_element_is_where() {
    let plain = "--arg x=f32[2,2] --arg y=f32[1]:out";
    let transposed = "--arg x=f32[2,2]@[1,2] --arg y=f32[1]:out";
    let ask = |offset, optimised| Question {
        inputs: [of_x(4, COPY), of_x(offset, COPY)],
        flags: [plain, optimised],
        assume: &[],
        strict: false,
    };
    ask(4, plain).expect(Exit::Success, &[]);
    ask(8, transposed).expect(Exit::Success, &[]);
    let reads = "reference reads x[0,1], optimised reads x[1,0]";
    ask(4, transposed).expect(Exit::Refuted, &[reads, "x[0,1] = ", "x[1,0] = "]);
    // Memory between the elements belongs to no tensor.
    let apart = "--arg x=f32[2,2]@[3,1] --arg y=f32[1]:out";
    ask(8, apart).expect(Exit::Refuted, &["memory between elements of x"]);
    ask(4, apart).expect(Exit::Success, &[]);
    // All rows are one row here, but not on the other side.
    let repeated = "--arg x=f32[2,2]@[0,1] --arg y=f32[1]:out";
    ask(4, repeated).expect(Exit::Unknown, &["share memory in a different way"]);
}

#[test]
fn tensors_at_one_address_are_one_input() {
    let double = "add.f32 %f2, %f1, %f1;";
    let twice = "mul.f32 %f2, %f1, 0f40000000;";
    let flags = "--arg x=f32[1] --arg y=f32[1]:out --alias x,y";
    let both = |bodies: [&str; 2]| Question {
        inputs: bodies.map(|body| of_x(0, body)),
        flags: [flags; 2],
        assume: &[],
        strict: false,
    };
    both([double, twice]).expect(Exit::Success, &[]);
    both([double, COPY]).expect(Exit::Refuted, &["x[0] = "]);
}

#[test]
fn contents_are_given_to_both_sides_or_to_none() {
    let ask = |optimised| Question {
        inputs: [of_x(0, COPY), of_x(0, COPY)],
        flags: ["--arg x=f32[1]=[3] --arg y=f32[1]:out", optimised],
        assume: &[],
        strict: false,
    };
    ask("--arg x=f32[1]=[3] --arg y=f32[1]:out").expect(Exit::Success, &[]);
    ask(ONE).expect(Exit::BadInput, &["given only on one side"]);
    let other = "--arg x=f32[1]=[4] --arg y=f32[1]:out";
    ask(other).expect(Exit::BadInput, &["has different contents"]);
}

#[test]
fn fields_of_structures_are_inputs_by_name() {
    let scaled = "ld.global.f32 %f1, [%rd1]; mul.f32 %f2, %f1, %f3; st.global.f32 [%rd2], %f2;";
    let own = format!("ld.param.f32 %f3, [s]; {scaled}");
    let plain = || kernel(&format!("{XY}, .param .f32 s"), &own);
    let packed = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .align 8 .b8 p[24]) {{
        .reg .f32 %f<9>; .reg .b64 %rd<9>;
        ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [p+8]; ld.param.f32 %f3, [p+16]; {scaled} ret; }}"
    );
    let packed = || Input::from_bytes("k.ptx", packed.clone().into_bytes()).unwrap();
    let fields = format!("{ONE} --arg scale=f32 --arg p={{0:x,8:y,16:scale}}");
    let other = format!("{ONE} --arg scale=f32 --arg t=scale*2 --arg p={{0:x,8:y,16:t}}");
    let reference = format!("{ONE} --arg scale=f32");
    let question = |optimised| Question {
        inputs: [plain(), packed()],
        flags: [reference.as_str(), optimised],
        assume: &[],
        strict: false,
    };
    question(fields.as_str()).expect(Exit::Success, &[]);
    // `scale` fills no parameter of its own then.
    question(other.as_str()).expect(Exit::BadInput, &[]);
}

#[test]
fn outputs_may_start_at_zero_or_with_anything() {
    let add = "ld.global.f32 %f3, [%rd2]; add.f32 %f2, %f1, %f3;";
    let ask = |bodies: [&str; 2], output: &str| {
        let flags = format!("--arg x=f32[1] --arg y=f32[1]:{output}");
        let flags = [flags.as_str(); 2];
        let inputs = bodies.map(|body| of_x(0, body));
        Question { inputs, flags, assume: &[], strict: false }.answer()
    };
    let (exit, text) = ask([COPY, add], "out=0");
    assert_eq!(exit, Exit::Success, "{text}");
    let (exit, text) = ask([COPY, add], "inout");
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("reference reads nothing of y, optimised reads y[0]"), "{text}");
}

#[test]
fn where_only_the_reference_is_defined_they_differ() {
    let quotient = "mul.f32 %f2, %f1, %f1; div.rn.f32 %f2, %f2, %f1;";
    ask([COPY, quotient], &[])
        .expect(Exit::Refuted, &["x[0] = 0", "undefined (a division by zero)"]);
    ask([quotient, COPY], &[]).expect(Exit::Success, &[]);
    ask([COPY, quotient], &["x != 0"]).expect(Exit::Success, &[]);
    // Constants of the kernels are tried as inputs.
    let pole = "sub.f32 %f3, %f1, 0f3DFCD6EA; mul.f32 %f2, %f1, %f3; div.rn.f32 %f2, %f2, %f3;";
    ask([COPY, pole], &[]).expect(Exit::Refuted, &["x[0] = 0.123456", "undefined"]);
    // No point tried is a seventh of 0.12345679: open, and reported as such.
    let rare = "mul.f32 %f3, %f1, 0f40E00000; sub.f32 %f3, %f3, 0f3DFCD6EA; mul.f32 %f2, %f1, %f3;
        div.rn.f32 %f2, %f2, %f3;";
    ask([COPY, rare], &[]).expect(Exit::Success, &["assumed: defined("]);
    let strict = Question { strict: true, ..ask([COPY, rare], &[]) };
    strict.expect(Exit::Unknown, &["not proved", "(--strict)"]);
}

#[test]
fn integers_that_differ_are_different() {
    let store = |body: &str| kernel(XY, &format!("{body} st.global.u32 [%rd2], %r1;"));
    let flags = ["--arg x=s32[2] --arg y=s32[1]:out"; 2];
    let ask = |bodies: [&str; 2]| Question {
        inputs: bodies.map(store),
        flags,
        assume: &[],
        strict: false,
    };
    let whatever = ["whatever the inputs are", "reference = -7", "optimised = 5"];
    ask(["mov.u32 %r1, -7;", "mov.u32 %r1, 5;"]).expect(Exit::Refuted, &whatever);
    ask(["mov.u32 %r1, 5;", "mov.u32 %r1, 5;"]).expect(Exit::Success, &[]);
    let (first, second) = ("ld.global.u32 %r1, [%rd1];", "ld.global.u32 %r1, [%rd1+4];");
    ask([first, first]).expect(Exit::Success, &[]);
    let reads = "reference reads x[0], optimised reads x[1]";
    ask([first, second]).expect(Exit::Refuted, &[reads]);
    ask([first, "mov.u32 %r1, 5;"]).expect(Exit::Refuted, &["optimised = 5"]);
}

/// Overlapping wide enclosures do not show that a refutation is wrong, nor do integers that are equal only once
/// rounded to doubles.
#[test]
fn inexact_values_contradict_nothing() {
    let ask = |types: &'static str, bodies: [&str; 2]| Question {
        inputs: bodies.map(|body| {
            kernel(XY, &format!("ld.global.b64 %rd3, [%rd1]; {body} st.global.b64 [%rd2], %rd4;"))
        }),
        flags: [types; 2],
        assume: &[],
        strict: false,
    };
    let large = "0d4415AF1D78B58C40";
    let there_and_back = format!("add.f64 %rd5, %rd3, {large}; sub.f64 %rd4, %rd5, {large};");
    let double = "add.f64 %rd4, %rd3, %rd3;";
    ask("--arg x=f64[1] --arg y=f64[1]:out", [&there_and_back, double]).expect(Exit::Refuted, &[]);
    let more = |number: u64| format!("add.s64 %rd4, %rd3, {number};");
    let bodies = [more(1 << 60), more((1 << 60) + 1)];
    let integers = ask("--arg x=s64[1] --arg y=s64[1]:out", bodies.each_ref().map(String::as_str));
    let (exit, text) = integers.answer();
    assert!(exit != Exit::Success && !text.contains("the kernels do not"), "{text}");
}

#[test]
fn expressions_are_cut_down_to_what_differs() {
    let sum = |body: &str| {
        let load = "ld.global.f32 %f1, [%rd1]; ld.global.f32 %f3, [%rd1+4]; \
                    ld.global.f32 %f4, [%rd1+8]; mul.f32 %f2, %f1, %f3;";
        kernel(XY, &format!("{load} {body} st.global.f32 [%rd2], %f2;"))
    };
    let question = Question {
        inputs: [sum("fma.rn.f32 %f2, %f1, %f4, %f2;"), sum("fma.rn.f32 %f2, %f3, %f4, %f2;")],
        flags: ["--arg x=f32[3] --arg y=f32[1]:out"; 2],
        assume: &[],
        strict: false,
    };
    let (exit, text) = question.answer();
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("reference: … + x[0]*x[2]\n"), "{text}");
    assert!(text.contains("optimised: … + x[1]*x[2]\n"), "{text}");
}

#[test]
fn constants_that_differ_by_rounding_are_named() {
    // 1/√8, rounded and two units in the last place below.
    let root = "mul.f32 %f2, %f1, 0f3EB504F3;";
    let below = "mul.f32 %f2, %f1, 0f3EB504F1;";
    let text = "differ only in how constants are rounded: 0.3535533845424652 in the reference";
    ask([root, below], &[]).expect(Exit::Refuted, &[text]);
    // If they are further apart, or there is another difference too, no such note appears.
    for other in
        ["mul.f32 %f2, %f1, 0f3EB504F0;", "mul.f32 %f2, %f1, 0f3EB504F1; neg.f32 %f2, %f2;"]
    {
        let (exit, text) = ask([root, other], &[]).answer();
        assert!(exit == Exit::Refuted && !text.contains("are rounded"), "{text}");
    }
}

#[test]
fn the_store_of_an_element_that_differs_is_named() {
    let question = ask([COPY, "neg.f32 %f2, %f1;"], &[]);
    let texts =
        ["reference stored it at line 7, thread (0,0,0) of block (0,0,0)", "optimised stored it"];
    question.expect(Exit::Refuted, &texts);
}
