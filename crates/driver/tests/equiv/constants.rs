//! Constants that stand for other numbers: a proof with those numbers hides small differences only.

use crate::{X_AND_Y, answer, corpus::Flags, small};
use driver::{Exit, Input};

/// Kernels of one thread: `body` computes the double `%d9` from the double `%d1`.
fn of_doubles(body: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<9>; .reg .f64 %d<10>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.global.f32 %f1, [%rd1];
        cvt.f64.f32 %d1, %f1;
        {body}
        st.global.f64 [%rd2], %d9; ret; }}"
    );
    Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
}

fn doubles(bodies: [&str; 2]) -> (Exit, String) {
    let flags = ["--grid 1 --block 1 --arg x=f32[1] --arg y=f64[1]:out"; 2].map(Flags::parse);
    answer(bodies.map(of_doubles).each_ref(), [None; 2], &flags)
}

const ZERO: &str = "mov.f64 %d9, 0d0000000000000000;";

/// The rounding difference of `ln 2` in both precisions, enlarged.
#[test]
fn enlarged_differences_of_constants_are_not_hidden() {
    let difference = "mul.f32 %f2, %f1, 0f3F317218; cvt.f64.f32 %d2, %f2;
        mul.f64 %d3, %d1, 0d3FE62E42FEFA39EF; sub.f64 %d4, %d2, %d3;";
    for factor in ["0d4197D78400000000", "0d3FF0000000000000", "0d3EE0000000000000"] {
        let body = format!("{difference} mul.f64 %d9, %d4, {factor};");
        for pair in [[ZERO, &body], [&body, ZERO]] {
            let (exit, text) = doubles(pair);
            assert_eq!(exit, Exit::Unknown, "{text}");
            assert!(text.contains("equivalence: unknown: constants: "), "{text}");
        }
    }
    // A difference that shows for some inputs only.
    let body = format!(
        "{difference} .reg .pred %p; setp.gt.f64 %p, %d1, 0d3FF0000000000000;
        selp.f64 %d9, %d4, 0d0000000000000000, %p;"
    );
    assert_eq!(doubles([ZERO, &body]).0, Exit::Unknown);
}

#[test]
fn roundings_of_constants_are_small() {
    // e^x by a power of two, in one step and in two; of large numbers too.
    let power = "mul.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.f32 %f2, %f3;";
    let half = "mul.f32 %f3, %f1, 0f3F000000; mul.f32 %f3, %f3, 0f3FB8AA3B;
        ex2.approx.f32 %f4, %f3; mul.f32 %f2, %f4, %f4;";
    assert_eq!(small([power, half], X_AND_Y).0, Exit::Success);
    // A logarithm and its power: the constants of both are rounded, in different ways.
    let inverse = "mul.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.f32 %f4, %f3; lg2.approx.f32 %f5, %f4;
        mul.f32 %f2, %f5, 0f3F317218;";
    let (exit, text) = small([inverse, "mov.f32 %f2, %f1;"], X_AND_Y);
    assert_eq!(exit, Exit::Success, "{text}");
    // sinh: the terms cancel near zero.
    let sinh = "mul.f32 %f3, %f1, 0f3FB8AA3B; ex2.approx.f32 %f4, %f3; rcp.approx.f32 %f5, %f4;
        sub.f32 %f2, %f4, %f5;";
    let other = "mul.f32 %f3, %f1, 0fBFB8AA3B; ex2.approx.f32 %f4, %f3; rcp.approx.f32 %f5, %f4;
        sub.f32 %f2, %f5, %f4;";
    let (exit, text) = small([sinh, other], X_AND_Y);
    assert_eq!(exit, Exit::Success, "{text}");
}

/// `x / √32`
const BY_ROOT: &str = "mov.f32 %f3, 0f42000000; sqrt.rn.f32 %f4, %f3; div.rn.f32 %f2, %f1, %f4;";

fn times(number: f32) -> String {
    format!("mul.f32 %f2, %f1, 0f{:08X};", number.to_bits())
}

#[test]
fn a_constant_may_stand_for_what_the_other_side_computes() {
    let scale = (1.0 / 32_f64.sqrt()) as f32;
    for pair in [[BY_ROOT, &times(scale)], [&times(scale), BY_ROOT]] {
        let (exit, text) = small(pair, X_AND_Y);
        assert_eq!(exit, Exit::Success, "{text}");
        assert!(text.contains("assumed: 0.17677669 stands for 1/sqrt(32)\n"), "{text}");
    }
    // Negated, and in the exponent.
    let negated = format!("{BY_ROOT} neg.f32 %f2, %f2;");
    assert_eq!(small([&negated, &times(-scale)], X_AND_Y).0, Exit::Success);
    let eighth = std::f32::consts::LOG2_E / 8.0;
    let power = format!("mul.f32 %f3, %f1, 0f{:08X}; ex2.approx.f32 %f2, %f3;", eighth.to_bits());
    let exp =
        "mul.f32 %f3, %f1, 0f3E000000; mul.f32 %f3, %f3, 0f3FB8AA3B; ex2.approx.f32 %f2, %f3;";
    let (exit, text) = small([exp, &power], X_AND_Y);
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(text.contains("stands for log2e/8"), "{text}");
    // A tenth, and both a scale and its product with log2 e.
    let tenth = "div.rn.f32 %f2, %f1, 0f41200000;";
    assert_eq!(small([tenth, &times(0.1)], X_AND_Y).0, Exit::Success);
    let root = "mov.f32 %f3, 0f41000000; rsqrt.approx.f32 %f3, %f3; mul.f32 %f3, %f1, %f3;
        mul.f32 %f4, %f3, 0f3FB8AA3B; ex2.approx.f32 %f4, %f4; mul.f32 %f2, %f3, %f4;";
    let scale = 1.0 / 8_f64.sqrt();
    let [plain, scaled] =
        [scale, scale * std::f64::consts::LOG2_E].map(|one| (one as f32).to_bits());
    let both = format!(
        "mul.f32 %f3, %f1, 0f{plain:08X}; mul.f32 %f4, %f1, 0f{scaled:08X}; ex2.approx.f32 %f4, %f4;
        mul.f32 %f2, %f3, %f4;"
    );
    let (exit, text) = small([root, &both], X_AND_Y);
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(text.contains("stands for 1/sqrt(8)") && text.contains("log2e/sqrt(8)"), "{text}");
}

/// `sqrtf(2.0f / 3.14159265f)`, folded by the compiler, is the single next to the nearest one.
#[test]
fn folded_constants_are_the_numbers_they_are_written_for() {
    let folded = (2.0 / std::f32::consts::PI).sqrt();
    let nearest = 0.797_884_560_802_865_4_f64 as f32;
    assert_eq!(folded.next_up(), nearest);
    for pair in [[nearest, folded], [folded, nearest]] {
        let (exit, text) = small(pair.map(times).each_ref().map(String::as_str), X_AND_Y);
        assert_eq!(exit, Exit::Success, "{text}");
        assert!(text.contains("constants stand for sqrt(2/pi)"), "{text}");
    }
    let (exit, text) = small([&times(nearest), &times(folded.next_down())], X_AND_Y);
    assert_eq!(exit, Exit::Refuted, "{text}");
}

/// Halves: within one unit in their last place.
#[test]
fn constants_of_16_bits_may_stand_for_something() {
    let of_halves = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 x, .param .u64 y) {{
            .reg .f32 %f<9>; .reg .b16 %h<5>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.global.b16 %h1, [%rd1];
            {body} st.global.b16 [%rd2], %h2; ret; }}"
        );
        Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
    };
    let ask = |ty: &str, bits: u16, width: f32| {
        let root = format!(
            "cvt.f32.{ty} %f1, %h1; mov.f32 %f2, 0f{:08X}; sqrt.rn.f32 %f2, %f2;
            div.rn.f32 %f3, %f1, %f2; cvt.rn.{ty}.f32 %h2, %f3;",
            width.to_bits()
        );
        let times = format!("mov.b16 %h3, 0x{bits:04X}; mul.rn.{ty} %h2, %h1, %h3;");
        let flags = format!("--grid 1 --block 1 --arg x={ty}[1] --arg y={ty}[1]:out");
        let inputs = [of_halves(&root), of_halves(&times)];
        answer(inputs.each_ref(), [None; 2], &[&flags, &flags].map(|one| Flags::parse(one)))
    };
    // 1/√32 in both formats.
    for (ty, bits) in [("f16", 0x31A8), ("bf16", 0x3E35)] {
        let (exit, text) = ask(ty, bits, 32.0);
        assert_eq!(exit, Exit::Success, "{text}");
        assert!(text.contains("stands for 1/sqrt(32)"), "{text}");
        for other in [bits + 2, bits - 2] {
            let (exit, text) = ask(ty, other, 32.0);
            assert_eq!(exit, Exit::Refuted, "{text}");
        }
        assert_eq!(ask(ty, bits, 33.0).0, Exit::Refuted);
    }
}

#[test]
fn other_constants_do_not() {
    let scale = (1.0 / 32_f64.sqrt()) as f32;
    let wrong = [
        0.1767,
        scale.next_up().next_up(),
        scale.next_down().next_down(),
        (1.0 / 31_f64.sqrt()) as f32,
        0.176_776_7 * 1.000_001,
    ];
    for number in wrong {
        let (exit, text) = small([BY_ROOT, &times(number)], X_AND_Y);
        assert_eq!(exit, Exit::Refuted, "{number}: {text}");
    }
    let (_, text) = small([BY_ROOT, &times(scale.next_up().next_up())], X_AND_Y);
    for wanted in ["relative: likely a rounded constant", "is close to 1/sqrt(32)"] {
        assert!(text.contains(wanted), "{text}");
    }
    // A float stands for itself and no other float.
    let quarter = "mul.f32 %f2, %f1, 0f3E800000;";
    assert_eq!(small([quarter, &times(0.25_f32.next_up())], X_AND_Y).0, Exit::Refuted);
    // No single number explains both.
    let near = (1.0 / 8_f64.sqrt()) as f32;
    let (exit, text) = small([&times(near), &times(near.next_up())], X_AND_Y);
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("only in how constants are rounded"), "{text}");
    // The constant is right, but something else is wrong.
    let (exit, text) =
        small([BY_ROOT, &format!("{} add.f32 %f2, %f2, 0f33000000;", times(scale))], X_AND_Y);
    assert_eq!(exit, Exit::Refuted, "{text}");
    // Without `snap`, constants are taken as they are.
    let inputs = [BY_ROOT, &times(scale)].map(crate::kernel);
    let flags = X_AND_Y.map(|flags| Flags::parse(&format!("--grid 1 --block 1 {flags}")));
    let options = driver::equiv::Options { snap: false, ..Default::default() };
    let answer = crate::answer_with(inputs.each_ref(), [None; 2], &flags, &options);
    assert_eq!(answer.0, Exit::Refuted, "{}", answer.1);
}

/// Kernels with a scalar, `x·s` against `x/√8`.
fn with_scalar(value: &str) -> (Exit, String) {
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let body = ".reg .f32 %f<9>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
        ld.global.f32 %f1, [%rd1];";
    let end = "st.global.f32 [%rd2], %f2; ret; }";
    let reference = format!(
        "{head}.entry k(.param .u64 x, .param .u64 y) {{ {body} mov.f32 %f3, 0f41000000;
        rsqrt.approx.f32 %f3, %f3; mul.f32 %f2, %f1, %f3; {end}"
    );
    let optimised = format!(
        "{head}.entry k(.param .u64 x, .param .u64 y, .param .f32 scale) {{ {body}
        ld.param.f32 %f3, [scale]; mul.f32 %f2, %f1, %f3; {end}"
    );
    let inputs =
        [reference, optimised].map(|text| Input::from_bytes("k.ptx", text.into_bytes()).unwrap());
    let flags = "--grid 1 --block 1 --arg x=f32[1] --arg y=f32[1]:out";
    let flags = [flags.to_owned(), format!("{flags} --arg scale={value}")];
    answer(inputs.each_ref(), [None; 2], &flags.each_ref().map(|flags| Flags::parse(flags)))
}

#[test]
fn scalars_may_be_given_exactly() {
    let (exit, text) = with_scalar("1/sqrt(8)");
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(!text.contains("stands for"), "{text}");
    let (exit, text) = with_scalar("0.35355338");
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(text.contains("assumed: 0.35355338 stands for 1/sqrt(8)"), "{text}");
    let (exit, text) = with_scalar("0.3535535");
    assert_eq!(exit, Exit::Refuted, "{text}");
    assert!(text.contains("pass the scalar exactly (`--arg scale=1/sqrt(8)`)"), "{text}");
    assert_eq!(with_scalar("1/sqrt(9)").0, Exit::Refuted);
}

/// Two kernels with a scalar `%f3`; the bodies compute `%f2` from `%f1`.
fn by_scalar(value: &str, bodies: [&str; 2]) -> (Exit, String) {
    let kernel = |body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n
            .entry k(.param .u64 x, .param .u64 y, .param .f32 scale) {{
            .reg .pred %p; .reg .f32 %f<9>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
            ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.f32 %f3, [scale];
            ld.global.f32 %f1, [%rd1]; {body} st.global.f32 [%rd2], %f2; ret; }}"
        );
        Input::from_bytes("k.ptx", text.into_bytes()).unwrap()
    };
    let flags = format!("--grid 1 --block 1 --arg x=f32[1] --arg y=f32[1]:out --arg scale={value}");
    answer(bodies.map(kernel).each_ref(), [None; 2], &[&flags, &flags].map(|one| Flags::parse(one)))
}

#[test]
fn scalars_are_in_the_range_of_their_type() {
    let same = ["mul.f32 %f2, %f1, %f3;"; 2];
    for (value, message) in [
        ("exp(1000)", "exp(1000) is too large for f32"),
        ("-exp(100)", "-exp(100) is too large for f32"),
        ("exp(-1000)", "exp(-1000) rounds to zero in f32"),
        ("2^-200", "2^-200 rounds to zero in f32"),
        ("1/sqrt(exp(500))", "rounds to zero in f32"),
    ] {
        let (exit, text) = by_scalar(value, same);
        assert_eq!(exit, Exit::BadInput, "{value}: {text}");
        assert!(text.contains(message), "{text}");
    }
    assert_eq!(by_scalar("exp(80)", same).0, Exit::Success);
}

/// A scalar that is no float is listed; one that is a float is not.
#[test]
fn exact_scalars_are_listed_as_assumed() {
    let same = ["mul.f32 %f2, %f1, %f3;"; 2];
    for value in ["1/sqrt(8)", "log2e/8", "1/10", "pi"] {
        let (exit, text) = by_scalar(value, same);
        assert_eq!(exit, Exit::Success, "{text}");
        assert!(text.contains(&format!("assumed: scale is exactly {value}\n")), "{text}");
    }
    for value in ["1/sqrt(16)", "sqrt(4)/8", "0.1", "3/4"] {
        let (exit, text) = by_scalar(value, same);
        assert_eq!(exit, Exit::Success, "{text}");
        assert!(!text.contains("is exactly"), "{text}");
    }
    // A field of a structure.
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n
        .entry k(.param .u64 x, .param .u64 y, .param .align 4 .b8 p[8]) {
        .reg .f32 %f<9>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
        ld.param.f32 %f3, [p+4]; ld.global.f32 %f1, [%rd1]; mul.f32 %f2, %f1, %f3;
        st.global.f32 [%rd2], %f2; ret; }";
    let inputs =
        [text; 2].map(|text| Input::from_bytes("k.ptx", text.as_bytes().to_vec()).unwrap());
    let ask = |value: &str| {
        let flags = format!(
            "--grid 1 --block 1 --arg x=f32[1] --arg y=f32[1]:out --arg p={{0:7,4:{value}}}"
        );
        answer(inputs.each_ref(), [None; 2], &[&flags, &flags].map(|one| Flags::parse(one)))
    };
    let (exit, text) = ask("log2e/8");
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(text.contains("assumed: p.4 is exactly log2e/8\n"), "{text}");
    let (exit, text) = ask("exp(1000)");
    assert_eq!(exit, Exit::BadInput, "{text}");
    assert!(text.contains("exp(1000) is too large for f32"), "{text}");
}

/// `0f3DCCCCCD` is the float nearest to 1/10, and above it; `0f3EB504F3` the one nearest to 1/√8, and below it.
#[test]
fn decisions_that_the_nearest_float_takes_otherwise_are_not_proved() {
    let zero = "mov.f32 %f2, 0f00000000;";
    let otherwise = [
        ("1/10", "setp.ge.f32 %p, %f3, 0f3DCCCCCD; selp.f32 %f2, %f1, 0f00000000, %p;", zero),
        ("1/sqrt(8)", "setp.le.f32 %p, %f3, 0f3EB504F3; selp.f32 %f2, %f1, 0f00000000, %p;", zero),
        ("1/sqrt(8)", "setp.eq.f32 %p, %f3, 0f3EB504F3; selp.f32 %f2, %f1, 0f00000000, %p;", zero),
        // A product with another number: ⌊8·s²⌋ is 1, but 0 for the float.
        (
            "1/sqrt(8)",
            "mul.rn.f32 %f4, %f3, %f3; mul.rn.f32 %f4, %f4, 0f41000000; cvt.rmi.f32.f32 %f4, %f4;
             mul.f32 %f2, %f1, %f4;",
            "mov.f32 %f2, %f1;",
        ),
        // The sign of a difference.
        (
            "1/10",
            "sub.rn.f32 %f4, %f3, 0f3DCCCCCD; copysign.f32 %f5, %f4, 0f3F800000; mul.f32 %f2, %f1, %f5;",
            "neg.f32 %f2, %f1;",
        ),
    ];
    for (value, body, other) in otherwise {
        for pair in [[body, other], [other, body]] {
            let (exit, text) = by_scalar(value, pair);
            assert_eq!(exit, Exit::Unknown, "{body}: {text}");
            assert!(text.contains(&format!("`scale` is {value}, but the nearest float")), "{text}");
        }
    }
    // Both decide alike.
    let alike = "setp.gt.f32 %p, %f3, 0f00000000; selp.f32 %f4, %f1, 0f00000000, %p;
        mul.f32 %f2, %f4, %f3;";
    let (exit, text) = by_scalar("1/sqrt(8)", [alike, "mul.f32 %f2, %f1, %f3;"]);
    assert_eq!(exit, Exit::Success, "{text}");
    // Compared with data: one condition on both sides.
    let data = "setp.gt.f32 %p, %f1, %f3; selp.f32 %f2, %f1, %f3, %p;";
    let (exit, text) = by_scalar("1/sqrt(8)", [data, "max.f32 %f2, %f1, %f3;"]);
    assert_eq!(exit, Exit::Success, "{text}");
}
