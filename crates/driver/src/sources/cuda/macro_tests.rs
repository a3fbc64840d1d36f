//! Random macros and conditions, preprocessed here and by NVRTC: the texts must be the same.
//!
//! Each program stores the expansions of macros, as strings, into variables of the device; NVRTC's PTX has their
//! bytes. A program that either of the two refuses is not compared: refusing too much proves nothing wrong.

use super::locate::Environment;
use super::nvrtc::Nvrtc;
use ::cuda::preprocess::{Options, preprocess};
use ::cuda::token::TokenKind;
use testing::Random;

const PROGRAMS: u64 = 150;
const VARIABLES: usize = 5;

const NAMES: &[&str] = &["A0", "A1", "A2", "A3", "F1", "G", "x", "y"];

/// Tokens of a macro's body.
fn body(random: &mut Random, parameters: &[&str], most: usize) -> String {
    let mut text = Vec::new();
    for _ in 0..random.below(most + 1) {
        let name = random.pick(NAMES);
        let other = random.pick(&["x", "1", "A0", "(a, b)", "", "F1(y)"]);
        text.push(match random.below(10) {
            0..=3 if !parameters.is_empty() => random.pick(parameters).to_owned(),
            4 => format!("F1({other})"),
            5 => format!("F2({name}, {other})"),
            6 => random.pick(&["1", "+", ",", "(x)", "foo", "3.5f"]).to_owned(),
            7 => format!("{name}({other})"),
            8 if !parameters.is_empty() => format!("#{}", random.pick(parameters)),
            9 => {
                format!("{} ## {}", random.pick(&["x", "foo", "y"]), random.pick(&["1", "x", "A0"]))
            }
            _ => name.to_owned(),
        });
    }
    text.join(" ")
}

fn condition(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(5) == 0 {
        let all = [
            "0",
            "1",
            "2",
            "7",
            "0u",
            "3u",
            "0x7fffffff",
            "5L",
            "'a'",
            "true",
            "A0",
            "017",
            "defined(A0)",
            "defined ZZ",
        ];
        return random.pick(&all).to_owned();
    }
    let inner = condition(random, depth - 1);
    match random.below(8) {
        0 => format!("{} {inner}", random.pick(&["-", "!", "~"])),
        1 => format!("({inner})"),
        2 => {
            format!("{inner} ? {} : {}", condition(random, depth - 1), condition(random, depth - 1))
        }
        _ => {
            let operator = random.pick(&[
                "+", "-", "*", "/", "%", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "|",
                "^", "&&", "||",
            ]);
            format!("{inner} {operator} {}", condition(random, depth - 1))
        }
    }
}

fn program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let random = &mut random;
    let mut text = format!("#define A0 {}\n", random.pick(&["1", "0", "5", "2u", "(-3)"]));
    text += &format!("#define A1 {}\n", random.pick(&["7", "A0", "A0 + 1", "F1(2)"]));
    for name in ["A2", "A3"] {
        text += &format!("#define {name} {}\n", body(random, &[], 4));
    }
    text += &format!("#define F1(a) {}\n", body(random, &["a"], 4));
    text += &format!("#define F2(a, b) {}\n", body(random, &["a", "b"], 5));
    text += "#define G F1\n#define S2(...) #__VA_ARGS__\n#define S(...) S2(__VA_ARGS__)\n";
    for number in 0..VARIABLES - 1 {
        text += &format!("__device__ char t{number}[] = S(q {});\n", body(random, &[], 5));
    }
    let condition = condition(random, 3);
    let last = VARIABLES - 1;
    text += &format!("#if {condition}\n__device__ char t{last}[] = \"yes\";\n");
    text + &format!("#else\n__device__ char t{last}[] = \"no\";\n#endif\n")
}

/// The strings of a program after our preprocessing; blanks do not count.
fn ours(text: &str) -> Option<Vec<String>> {
    let read = preprocess(&Options::default(), text).ok()?;
    let texts = read.tokens.iter().filter_map(|token| match &token.kind {
        TokenKind::Text(bytes) => Some(String::from_utf8_lossy(bytes).replace(' ', "")),
        _ => None,
    });
    Some(texts.collect())
}

/// The strings that NVRTC wrote into the PTX.
fn theirs(ptx: &str) -> Vec<String> {
    let variable = |number: usize| {
        let start = ptx.find(&format!(".b8 t{number}["))?;
        let values = ptx[start..].split_once("= {")?.1.split_once('}')?.0;
        let bytes: Vec<u8> = values.split(',').filter_map(|one| one.trim().parse().ok()).collect();
        let text = String::from_utf8_lossy(&bytes);
        Some(text.trim_end_matches('\0').replace(' ', ""))
    };
    (0..VARIABLES).map(|number| variable(number).unwrap_or_default()).collect()
}

#[test]
fn macros_expand_as_nvrtc_expands_them() {
    let Some(library) = Environment::of_process().nvrtc() else {
        assert!(std::env::var_os("WARPPROOF_REQUIRE_NVRTC").is_none(), "NVRTC is not found");
        return;
    };
    let nvrtc = Nvrtc::load(&library.path).unwrap();
    let options = ["--gpu-architecture=compute_80".to_owned(), "-rdc=true".to_owned()];
    let mut compared = 0;
    for seed in 0..PROGRAMS {
        let text = program(seed);
        let compiled = nvrtc.compile(&text, "macros.cu", &[], &options).unwrap();
        let (Some(ptx), Some(ours)) = (compiled.ptx, ours(&text)) else { continue };
        assert_eq!(ours, theirs(&ptx), "{text}");
        compared += 1;
    }
    assert!(compared > PROGRAMS / 3, "only {compared} programs were compared");
}
