//! Pairs of `corpus/equiv`: no answer is wrong, and most pairs are settled. Also small pairs that look equal and are
//! not.
//!
//! A pair states its right answer. `unknown` is never wrong; the number of settled pairs is recorded, so that it can
//! only grow. Large pairs are left out.

mod bits;
mod constants;
#[path = "../corpus/mod.rs"]
mod corpus;
mod indexed;
mod inputs;
#[path = "../../examples/support/pairs.rs"]
mod pairs;
mod points;
mod possible;
mod ranges;
mod rounded;
mod scattered;
mod structured;
mod symbols;
mod traps;
mod undecided;

use corpus::Flags;
use driver::equiv::Options;
use driver::{Colour, Exit, Input};
use pairs::Pair;
use std::sync::Mutex;

/// The numbers of pairs proved and refuted today.
const PROVED: usize = 346;
const REFUTED: usize = 297;

/// A text that a report with the kind of finding contains.
fn sign(pair: &Pair) -> &'static str {
    match pair.kind.as_str() {
        "race" => "race on ",
        "different" => "differs",
        _ => "",
    }
}

/// The answer about two kernels.
fn answer(inputs: [&Input; 2], kernels: [Option<&str>; 2], flags: &[Flags; 2]) -> (Exit, String) {
    answer_with(inputs, kernels, flags, &Options::default())
}

fn answer_with(
    inputs: [&Input; 2],
    kernels: [Option<&str>; 2],
    flags: &[Flags; 2],
    options: &Options<'_>,
) -> (Exit, String) {
    let outcome = flags[0].hand(inputs[0], kernels[0], |reference| {
        flags[1].hand(inputs[1], kernels[1], |optimised| {
            driver::equiv::run([reference, optimised], options, Colour::Plain)
        })
    });
    (outcome.exit, outcome.output + &outcome.messages)
}

/// A kernel of one thread: `body` computes `%f2` from `%f1`, an element of `x`, and it is stored to `y`.
fn kernel(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.global.f32 %f1, [%rd1];
        {body}
        st.global.f32 [%rd2], %f2; ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn small(bodies: [&str; 2], flags: [&str; 2]) -> (Exit, String) {
    let inputs = bodies.map(kernel);
    let flags = flags.map(|flags| Flags::parse(&format!("--grid 1 --block 1 {flags}")));
    answer(inputs.each_ref(), [None; 2], &flags)
}

const X_AND_Y: [&str; 2] = ["--arg x=f32[1] --arg y=f32[1]:out"; 2];

#[test]
fn small_pairs_are_told_apart() {
    let square = "mul.f32 %f2, %f1, %f1;";
    let same = "fma.rn.f32 %f2, %f1, %f1, 0f00000000;";
    let double = "add.f32 %f2, %f1, %f1;";
    assert_eq!(small([square, same], X_AND_Y).0, Exit::Success);
    let (exit, text) = small([square, double], X_AND_Y);
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("both kernels, run on these inputs in interval arithmetic"), "{text}");
}

/// The steps of `expf` are recognised only together: each alone keeps its own meaning.
#[test]
fn steps_of_expf_alone_are_not_taken_for_it() {
    let rest = "fma.rn.f32 %f2, %f1, 0f32A57060, 0f3F800000;";
    let one = "mov.f32 %f2, 0f3F800000;";
    assert_ne!(small([rest, one], X_AND_Y).0, Exit::Success);
    // 252·x + 12582913, rounded to nearest; or of an x that is not between 0 and 1.
    let nearest = "fma.rn.f32 %f3, %f1, 0f437C0000, 0f4B400001; add.f32 %f2, %f3, 0fCB400001;";
    let down = "cvt.sat.f32.f32 %f4, %f1; fma.rm.f32 %f3, %f4, 0f437C0000, 0f4B400001;
        add.f32 %f2, %f3, 0fCB400001;";
    let floor = "cvt.sat.f32.f32 %f4, %f1; mul.f32 %f3, %f4, 0f437C0000; cvt.rmi.f32.f32 %f2, %f3;";
    let exact = "mul.f32 %f2, %f1, 0f437C0000;";
    assert_eq!(small([down, floor], X_AND_Y).0, Exit::Success);
    assert_ne!(small([nearest, floor], X_AND_Y).0, Exit::Success);
    assert_ne!(small([down, exact], X_AND_Y).0, Exit::Success);
}

/// A byte added to the last places of a power of two adds that number; not if it reaches into the exponent.
#[test]
fn bytes_in_the_last_places_of_floats_are_added() {
    let kernel = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
            .reg .f32 %f<9>; .reg .b32 %r<9>; .reg .b16 %h<9>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.global.u8 %r1, [%rd1];
            {body}
            st.global.f32 [%rd2], %f2; ret; }}"
        );
        Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
    };
    let answer_to = |bodies: [&str; 2]| {
        let inputs = bodies.map(kernel);
        let flags = "--grid 1 --block 1 --arg x=u8[1] --arg y=f32[1]:out";
        answer(inputs.each_ref(), [None; 2], &[(), ()].map(|()| Flags::parse(flags))).0
    };
    let added = |number: &str| format!("cvt.rn.f32.u32 %f1, %r1; add.f32 %f2, %f1, {number};");
    let half = |bits: &str| {
        format!("or.b32 %r2, %r1, {bits}; cvt.u16.u32 %h1, %r2; cvt.f32.f16 %f2, %h1;")
    };
    for (bits, number) in
        [("0x6400", "0f44800000"), ("0x6500", "0f44A00000"), ("0x6700", "0f44E00000")]
    {
        assert_eq!(answer_to([&added(number), &half(bits)]), Exit::Success, "{bits}");
    }
    assert_eq!(answer_to([&added("0f44800000"), &half("0x6500")]), Exit::Refuted);
    // The last place of 0x6800 is 2.
    assert_ne!(answer_to([&added("0f45000000"), &half("0x6800")]), Exit::Success);
    let single = "or.b32 %r2, %r1, 0x4b000000; mov.b32 %f2, %r2;";
    assert_eq!(answer_to([&added("0f4B000000"), single]), Exit::Success);
    let nibble = "and.b32 %r1, %r1, 15;";
    let bfloat = "or.b32 %r2, %r1, 0x4300; shl.b32 %r3, %r2, 16; mov.b32 %f2, %r3;";
    let small = [format!("{nibble} {}", added("0f43000000")), format!("{nibble} {bfloat}")];
    assert_eq!(answer_to([&small[0], &small[1]]), Exit::Success);
    // A byte of 128 or more changes the exponent.
    assert_ne!(answer_to([&added("0f43000000"), bfloat]), Exit::Success);
}

#[test]
fn elements_that_are_not_compared_need_not_be_written() {
    let inputs = ["mov.f32 %f2, %f1;", "add.f32 %f2, %f1, 0f00000000;"].map(kernel);
    let flags = "--grid 1 --block 1 --arg x=f32[1] --arg y=f32[3]:out";
    let compared = |part: &str| {
        let parts = [part.parse().unwrap()];
        let options = Options { parts: &parts, ..Options::default() };
        let flags = [(), ()].map(|()| Flags::parse(flags));
        answer_with(inputs.each_ref(), [None; 2], &flags, &options)
    };
    let (exit, text) = compared("y[0]");
    assert_eq!(exit, Exit::Success, "{text}");
    for part in ["y[0:2]", "y[2]", "y"] {
        let (exit, text) = compared(part);
        assert!(exit == Exit::Refuted && text.contains("never written"), "{part}\n{text}");
    }
}

#[test]
fn nothing_compared_is_nothing_proved() {
    let copy = "mov.f32 %f2, %f1;";
    let both = "--arg x=f32[1] --arg y=f32[1]:out";
    let (exit, text) = small([copy, copy], [both, "--arg x=s32[1] --arg y=f32[1]:out"]);
    assert!(exit == Exit::Unknown && text.contains("a different type"), "{text}");
    let (exit, text) = small([copy, copy], [both, "--arg x=f32[2] --arg y=f32[1]:out"]);
    assert!(exit == Exit::Unknown && text.contains("a different size"), "{text}");
    let (exit, text) = small([copy, copy], [both, "--arg x=f32[1] --arg z=f32[1]:out"]);
    assert!(exit == Exit::Unknown && text.contains("an output of only one side"), "{text}");
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }";
    let empty = Input::from_bytes("k.ptx", text.into()).unwrap();
    let flags = [(), ()].map(|()| Flags::parse("--grid 1 --block 1"));
    let (exit, text) = answer([&empty, &empty], [None; 2], &flags);
    assert!(exit == Exit::Unknown && text.contains("no output to compare"), "{text}");
}

#[test]
fn no_answer_is_wrong_and_most_are_given() {
    let mut pairs = pairs::pairs();
    pairs.retain(|pair| !pair.is_large);
    let counts = Mutex::new([0, 0]);
    let wrong = pairs::for_all(&pairs, |pair| {
        match right(pair)? {
            Exit::Success => counts.lock().unwrap()[0] += 1,
            Exit::Refuted => counts.lock().unwrap()[1] += 1,
            _ => {}
        }
        Ok(())
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let [proved, refuted] = counts.into_inner().unwrap();
    assert!(proved >= PROVED && refuted >= REFUTED, "{proved} proved, {refuted} refuted");
}

/// The answer about a pair, or an error message. Proofs must have been rechecked on at least one element; open
/// elements are counted, and for tensor cores there may be none.
fn right(pair: &Pair) -> Result<Exit, String> {
    let outcome = pair.ask_twice();
    let text = outcome.output + &outcome.messages;
    let Pair { name, expected, kind, .. } = pair;
    match (expected.as_str(), outcome.exit) {
        ("proved", Exit::Success)
            if !text.contains("\nrechecked: runs") || text.contains(" agree in 0 of ") =>
        {
            Err(format!("{name}: not rechecked\n{text}"))
        }
        ("refuted", Exit::Refuted) if !text.contains(sign(pair)) => {
            Err(format!("{name}: no {kind}\n{text}"))
        }
        ("proved", exit @ Exit::Success)
        | ("refuted", exit @ Exit::Refuted)
        | (_, exit @ Exit::Unknown)
            if exit != Exit::Unknown || !name.starts_with("tensor/") =>
        {
            Ok(exit)
        }
        (expected, exit) => Err(format!("{name}: {expected}, not {exit:?}\n{text}")),
    }
}
