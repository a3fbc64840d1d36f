//! Kernels that call the math library, built by two compilers for two architectures, with and without fast math: all
//! builds of a kernel compute the same.
//!
//! `docs/math.md` lists the status of each function in each build; `SNAPSHOTS=overwrite cargo test -p driver --test
//! math` rewrites it.
//!
//! Long: one list of functions, builds and right answers, read together.

mod corpus;

use corpus::Flags;
use driver::arguments::AssumeSpec;
use driver::equiv::Options;
use driver::{Colour, Exit, Input};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Compiler, architecture and flag; the others are compared with the first.
const BUILDS: [&str; 8] = [
    "nvcc134.sm_80",
    "nvcc134.sm_100",
    "nvrtc129.sm_80",
    "nvrtc129.sm_100",
    "nvcc134.sm_80.fast",
    "nvcc134.sm_100.fast",
    "nvrtc129.sm_80.fast",
    "nvrtc129.sm_100.fast",
];

/// Launch arguments of the kernels of `corpus/math/kernels.cu`; N is 6.
const KERNELS: [(&str, &str); 27] = [
    ("softmax", "x=f32[12] y=f32[12]:out"),
    ("log_softmax", "x=f32[12] y=f32[12]:out"),
    ("cross_entropy", "x=f32[12] p=f32[12] y=f32[2]:out"),
    ("gelu_tanh", "x=f32[2] y=f32[2]:out"),
    ("gelu_erf", "x=f32[2] y=f32[2]:out"),
    ("gelu_erfc", "x=f32[2] y=f32[2]:out"),
    ("silu", "x=f32[2] y=f32[2]:out"),
    ("swiglu", "x=f32[2] gate=f32[2] y=f32[2]:out"),
    ("softplus", "x=f32[2] y=f32[2]:out"),
    ("softplus_log", "x=f32[2] y=f32[2]:out"),
    ("mish", "x=f32[2] y=f32[2]:out"),
    ("elu", "x=f32[2] y=f32[2]:out"),
    ("sigmoid_tanh", "x=f32[2] y=f32[2]:out"),
    ("sigmoid", "x=f32[2] y=f32[2]:out"),
    ("layer_norm", "x=f32[12] eps=f32 y=f32[12]:out"),
    ("rms_norm", "x=f32[12] eps=f32 y=f32[12]:out"),
    ("group_norm", "x=f32[12] gain=f32[2] bias=f32[2] eps=f32 y=f32[12]:out"),
    ("attention", "q=f32[4] k=f32[12] v=f32[12] y=f32[4]:out"),
    ("attention_two_passes", "q=f32[4] k=f32[12] v=f32[12] y=f32[4]:out"),
    ("rope", "x=f32[4] angle=f32[2] y=f32[4]:out"),
    ("rope_apart", "x=f32[4] angle=f32[2] y=f32[4]:out"),
    ("adamw", "w=f32[2] g=f32[2] m=f32[2] v=f32[2] rate=f32 t=f32 y=f32[2]:out"),
    ("adamw_step", "w=f32[2] m=f32[2] v=f32[2] rate=f32 t=3 y=f32[2]:out"),
    ("frequencies", "i=f32[2] y=f32[2]:out"),
    ("squares", "x=f32[2] y=f32[2]:out"),
    ("decibel", "x=f32[2] y=f32[2]:out"),
    ("entropy", "p=f32[12] y=f32[2]:out"),
];

/// Pairs that are equal under different names, and pairs that are not equal.
const TWINS: [(&str, &str, Exit); 18] = [
    ("gelu_erf", "gelu_erfc", Exit::Success),
    ("softplus", "softplus_log", Exit::Success),
    ("sigmoid", "sigmoid_tanh", Exit::Success),
    ("rope", "rope_apart", Exit::Success),
    ("attention", "attention_two_passes", Exit::Success),
    ("attention", "attention_no_rescale", Exit::Refuted),
    ("softplus", "softplus_base_two", Exit::Refuted),
    ("frequencies", "frequencies_short", Exit::Refuted),
    ("group_norm", "group_norm_no_eps", Exit::Refuted),
    ("entropy", "entropy_natural", Exit::Refuted),
    ("silu", "silu_base_two", Exit::Refuted),
    ("sigmoid", "sigmoid_is_tanh", Exit::Refuted),
    ("gelu_erf", "gelu_wrong_root", Exit::Refuted),
    ("gelu_erf", "gelu_tanh", Exit::Refuted),
    ("rms_norm", "rms_norm_no_eps", Exit::Refuted),
    ("rope", "rope_other_way", Exit::Refuted),
    ("adamw", "adamw_no_correction", Exit::Refuted),
    ("mish", "mish_no_log", Exit::Refuted),
];

/// An assumption about inputs that some builds need: `ex2(2·lg2(x))` is not a square for negative numbers.
fn assumption(kernel: &str, [one, other]: [&str; 2]) -> Option<&'static str> {
    let fast = |build: &str| build.ends_with(".fast");
    (kernel == "squares" && !fast(one) && fast(other)).then_some("x > 0")
}

/// The kernels of a build by their names, each as a module of its own: every comparison reads a whole module.
fn kernels(module: &str, build: &str) -> BTreeMap<String, Input> {
    let file = format!("{module}.{build}.ptx");
    let path = testing::corpus::root().join("corpus/math").join(&file);
    let text = std::fs::read_to_string(path).unwrap();
    let (head, bodies) = text.split_once(".visible .entry").unwrap();
    let kernel = |body: &str| {
        let name = body.trim_start().split('(').next().unwrap().to_owned();
        let text = format!("{head}.visible .entry{body}");
        (name, Input::from_bytes(&file, text.into_bytes()).unwrap())
    };
    bodies.split(".visible .entry").map(kernel).collect()
}

fn answer(inputs: [&Input; 2], flags: &str, assumption: Option<&str>) -> (Exit, String) {
    let flags = Flags::parse(flags);
    let assumptions: Vec<AssumeSpec> =
        assumption.iter().map(|assumption| assumption.parse().unwrap()).collect();
    let options = Options { assumptions: &assumptions, ..Options::default() };
    let outcome = flags.hand(inputs[0], None, |reference| {
        flags.hand(inputs[1], None, |optimised| {
            driver::equiv::run([reference, optimised], &options, Colour::Plain)
        })
    });
    (outcome.exit, outcome.output + &outcome.messages)
}

fn flags(kernel: &str) -> String {
    let (_, arguments) = KERNELS.iter().find(|(name, _)| *name == kernel).unwrap();
    let arguments = arguments.split(' ').map(|argument| format!(" --arg {argument}"));
    format!("--grid 1 --block 2{}", arguments.collect::<String>())
}

#[test]
fn all_builds_of_a_kernel_are_equal() {
    let inputs = BUILDS.map(|build| kernels("kernels", build));
    for (kernel, _) in KERNELS {
        // Both directions against the first build; equality is transitive.
        let others = (0..BUILDS.len()).flat_map(|other| [(0, other), (other, 0)]);
        for (one, other) in others.skip(1) {
            let ask = |assumption| {
                let pair = [&inputs[one][kernel], &inputs[other][kernel]];
                answer(pair, &flags(kernel), assumption)
            };
            let builds = [BUILDS[one], BUILDS[other]];
            let assumption = assumption(kernel, builds);
            let (exit, text) = ask(assumption);
            assert_eq!(exit, Exit::Success, "{kernel} {builds:?}: {text}");
            if assumption.is_some() {
                assert_eq!(ask(None).0, Exit::Refuted, "{kernel} {builds:?}");
            }
        }
    }
}

/// A refutation must show that both sides were run on its inputs.
const SHOWN: &str = "both kernels, run on these inputs in interval arithmetic, give these values";

#[test]
fn twins_are_told_apart() {
    let inputs = BUILDS.map(|build| kernels("kernels", build));
    for (one, other, expected) in TWINS {
        for (at, input) in inputs.iter().enumerate() {
            let pair = [&inputs[0][one], &input[other]];
            let (exit, text) = answer(pair, &flags(one), None);
            assert_eq!(exit, expected, "{one} {other} {}: {text}", BUILDS[at]);
            let shown = text.contains(SHOWN);
            assert_eq!(shown, exit == Exit::Refuted, "{one} {other} {}: {text}", BUILDS[at]);
        }
    }
}

/// Kernels of `known.cu` with a function that is not recognised in every build.
const NOT_FOUND: [&str; 6] = [
    "behind_log1pf",
    "behind_sinhf",
    "behind_erff",
    "behind_roundf",
    "positive_log1pf",
    "one_erff",
];

/// A compiler leaves out cases that cannot occur for the argument. The remaining code is recognised as the function
/// or left unknown; the error of an approximation is no refutation.
#[test]
fn functions_of_which_cases_are_left_out_are_found_or_not_judged() {
    let flags = "--grid 1 --block 2 --arg x=f32[2] --arg y=f32[2]:out";
    let inputs = BUILDS.map(|build| kernels("known", build));
    for (at, input) in inputs.iter().enumerate() {
        for (name, reference) in &inputs[0] {
            let (exit, text) = answer([reference, &input[name]], flags, None);
            let found = !NOT_FOUND.contains(&name.as_str());
            let fine = exit == Exit::Success || !found && exit == Exit::Unknown;
            assert!(fine, "{name} {}: {text}", BUILDS[at]);
        }
        for (one, other) in [("behind_tanhf", "behind_other"), ("positive_logf", "positive_other")]
        {
            let (exit, text) = answer([&inputs[0][one], &input[other]], flags, None);
            assert_eq!(exit, Exit::Refuted, "{one} {other} {}: {text}", BUILDS[at]);
        }
    }
    // An unrecognised approximation must not hide an error beside it.
    let flags = "--grid 1 --block 16 --arg x=f32[16] --arg y=f32[16]:out";
    let (exit, text) = answer([&inputs[0]["behind_erff"], &inputs[3]["one_erff"]], flags, None);
    assert!(exit == Exit::Refuted && text.contains("`y[15]` differs"), "{text}");
}

/// Builds in which the functions are called but not defined.
const OPAQUE: [&str; 2] = ["opaque.nvcc134.sm_80", "opaque.nvrtc129.sm_100"];

#[test]
fn functions_that_are_only_called_are_those_of_their_names() {
    let inlined = kernels("kernels", BUILDS[0]);
    for build in OPAQUE {
        let called = kernels("kernels", build);
        for (kernel, _) in KERNELS {
            for pair in [[&inlined[kernel], &called[kernel]], [&called[kernel], &inlined[kernel]]] {
                let (exit, text) = answer(pair, &flags(kernel), None);
                assert_eq!(exit, Exit::Success, "{kernel} {build}: {text}");
            }
        }
        for (one, other, expected) in TWINS {
            let (exit, text) = answer([&inlined[one], &called[other]], &flags(one), None);
            assert_eq!(exit, expected, "{one} {other} {build}: {text}");
        }
    }
}

#[test]
fn kernels_with_functions_are_checked() {
    for build in BUILDS.into_iter().chain(OPAQUE) {
        let inputs = kernels("kernels", build);
        for (kernel, _) in KERNELS {
            let flags = Flags::parse(&flags(kernel));
            let outcome = flags.hand(&inputs[kernel], None, |execution| {
                driver::check::run(execution, driver::check::Options::default(), Colour::Plain)
            });
            let text = outcome.output + &outcome.messages;
            assert_eq!(outcome.exit, Exit::Success, "{kernel} {build}: {text}");
        }
    }
}

/// A kernel of one thread that calls a function by name with `%f1` and stores `%f2`.
fn calling(name: &str, params: &str, arguments: &str) -> Input {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64
        .extern .func (.param .b32 r) {name} ({params});
        .entry k(.param .u64 x, .param .u64 y) {{
        .reg .f32 %f<9>; .reg .b64 %rd<3>;
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.global.f32 %f1, [%rd1];
        {{ .param .b32 p; .param .b32 q; .param .b32 s; st.param.f32 [p], %f1; st.param.f32 [q], %f1;
        call.uni (s), {name}, ({arguments}); ld.param.f32 %f2, [s]; }}
        st.global.f32 [%rd2], %f2; ret; }}"
    );
    Input::from_bytes("calling.ptx", text.into_bytes()).unwrap()
}

#[test]
fn only_functions_of_known_names_and_types_are_understood() {
    let flags = "--grid 1 --block 1 --arg x=f32[1] --arg y=f32[1]:out";
    let one = ".param .b32 a";
    let exp = calling("__nv_expf", one, "p");
    let ask = |other: &Input| answer([&exp, other], flags, None);
    assert_eq!(ask(&calling("vt_expf", one, "p")).0, Exit::Success);
    assert_eq!(ask(&calling("__nv_fast_expf", one, "p")).0, Exit::Success);
    assert_eq!(ask(&calling("__nv_exp2f", one, "p")).0, Exit::Refuted);
    assert_eq!(
        ask(&calling("__nv_fmodf", ".param .b32 a, .param .b32 b", "p, q")).0,
        Exit::Refuted
    );
    // With another name, another number of arguments, another type.
    for (name, params, arguments) in [
        ("expf", one, "p"),
        ("__nv_expf", ".param .b32 a, .param .b32 b", "p, q"),
        ("__nv_sincosf", one, "p"),
        ("__nv_exp", one, "p"),
    ] {
        let (exit, text) = ask(&calling(name, params, arguments));
        assert_eq!(exit, Exit::Unknown, "{name}: {text}");
        assert!(text.contains("is defined elsewhere"), "{name}: {text}");
    }
}

/// If only the name of a libdevice function is known, equal arguments give equal results, and nothing else is known;
/// `check` continues after it. Other functions stop both commands.
#[test]
fn functions_of_which_only_the_name_is_known_are_data() {
    let flags = "--grid 1 --block 1 --arg x=f32[1] --arg y=f32[1]:out";
    let one = ".param .b32 a";
    let check = |input: &Input| {
        let outcome = Flags::parse(flags).hand(input, None, |execution| {
            driver::check::run(execution, driver::check::Options::default(), Colour::Plain)
        });
        (outcome.exit, outcome.output + &outcome.messages)
    };
    let bessel = calling("__nv_j0f", one, "p");
    assert_eq!(answer([&bessel, &calling("vt_j0f", one, "p")], flags, None).0, Exit::Success);
    for (name, params, arguments) in
        [("__nv_j1f", one, "p"), ("__nv_ldexpf", ".param .b32 a, .param .b32 b", "p, q")]
    {
        let other = calling(name, params, arguments);
        let (exit, text) = answer([&bessel, &other], flags, None);
        assert_eq!(exit, Exit::Unknown, "{name}: {text}");
        assert!(!text.contains("is defined elsewhere"), "{name}: {text}");
        let (exit, text) = check(&other);
        assert_eq!(exit, Exit::Success, "{name}: {text}");
    }
    // Functions with other names or other arguments are unknown.
    for (name, params, arguments) in
        [("other", one, "p"), ("__nv_frexpf", ".param .b32 a, .param .b32 b", "p, q")]
    {
        let (exit, text) = check(&calling(name, params, arguments));
        assert_eq!(exit, Exit::Unknown, "{name}: {text}");
        assert!(text.contains("is defined elsewhere"), "{name}: {text}");
    }
}

/// Reports omit the prefix that `tools/warpproof_math.h` gives to names.
#[test]
fn names_are_shown_as_they_were_written() {
    let flags = "--grid 1 --block 1 --arg x=f32[1] --arg y=f32[1]:out";
    let log = calling("vt_logf", ".param .b32 a", "p");
    let (exit, text) = answer([&log, &log], flags, None);
    assert_eq!(exit, Exit::Success, "{text}");
    assert!(text.contains("`logf`, defined elsewhere") && !text.contains("vt_"), "{text}");
    let (exit, text) = answer([&log, &calling("vt_other", ".param .b32 a", "p")], flags, None);
    assert_eq!(exit, Exit::Unknown, "{text}");
    assert!(text.contains("function `other` is defined elsewhere"), "{text}");
}

/// Launches of the kernels of `corpus/math/triton.cu`; Triton's take two pointers more.
const TRITON: [(&str, &str); 3] = [
    ("softmax", "x=f32[2,20]@[24,1] o=f32[2,20]@[24,1]:out stride=24 n=20"),
    (
        "layernorm",
        "x=f16[2,20]@[24,1] w=f32[20] b=f32[20] o=f16[2,20]@[24,1]:out stride=24 n=20 eps=f32",
    ),
    ("mathops", "x=f32[128] o=f32[17,128]:out"),
];

#[test]
fn triton_and_cuda_compute_the_same() {
    let references = kernels("triton", "nvcc134.sm_80");
    let twins = [("softmax", "softmax_base_two"), ("layernorm", "layernorm_no_eps")];
    for (kernel, arguments) in TRITON {
        let grid = if kernel == "mathops" { 1 } else { 2 };
        let arguments: String = arguments.split(' ').map(|one| format!(" --arg {one}")).collect();
        let cuda = Flags::parse(&format!("--grid {grid} --block 128{arguments}"));
        let triton = format!("--grid {grid} --smem 16{arguments} --arg scratch=0 --arg profile=0");
        let triton = Flags::parse(&triton);
        for architecture in ["sm_80", "sm_90", "sm_100"] {
            // It computes the maximum by an instruction that is not supported yet.
            if (kernel, architecture) == ("softmax", "sm_100") {
                continue;
            }
            let other = corpus::input(&format!("triton/{kernel}.{architecture}.ptx"));
            let ask = |reference: &str| {
                let outcome = cuda.hand(&references[reference], None, |reference| {
                    triton.hand(&other, None, |optimised| {
                        let options = Options::default();
                        driver::equiv::run([reference, optimised], &options, Colour::Plain)
                    })
                });
                (outcome.exit, outcome.output + &outcome.messages)
            };
            let (exit, text) = ask(kernel);
            assert_eq!(exit, Exit::Success, "{kernel} {architecture}: {text}");
            for (_, twin) in twins.iter().filter(|(right, _)| *right == kernel) {
                let (exit, text) = ask(twin);
                assert_eq!(exit, Exit::Refuted, "{twin} {architecture}: {text}");
            }
        }
    }
}

/// The functions of `corpus/math/functions.cu` with their arguments.
const FUNCTIONS: [(&str, &str); 81] = [
    ("expf", "f32"),
    ("exp2f", "f32"),
    ("exp10f", "f32"),
    ("expm1f", "f32"),
    ("logf", "f32"),
    ("log2f", "f32"),
    ("log10f", "f32"),
    ("log1pf", "f32"),
    ("tanhf", "f32"),
    ("sinhf", "f32"),
    ("coshf", "f32"),
    ("erff", "f32"),
    ("erfcf", "f32"),
    ("sinf", "f32"),
    ("cosf", "f32"),
    ("tanf", "f32"),
    ("sincosf", "f32 twice"),
    ("asinf", "f32"),
    ("acosf", "f32"),
    ("atanf", "f32"),
    ("asinhf", "f32"),
    ("acoshf", "f32"),
    ("atanhf", "f32"),
    ("lgammaf", "f32"),
    ("normcdff", "f32"),
    ("atan2f", "f32 f32"),
    ("sqrtf", "f32"),
    ("rsqrtf", "f32"),
    ("cbrtf", "f32"),
    ("recip", "f32"),
    ("div", "f32 f32"),
    ("fdividef", "f32 f32"),
    ("powf", "f32 f32"),
    ("pow_2", "f32"),
    ("pow_3", "f32"),
    ("pow_half", "f32"),
    ("pow_minus_half", "f32"),
    ("pow_1_5", "f32"),
    ("fmodf", "f32 f32"),
    ("hypotf", "f32 f32"),
    ("roundf", "f32"),
    ("rintf", "f32"),
    ("floorf", "f32"),
    ("ceilf", "f32"),
    ("truncf", "f32"),
    ("fabsf", "f32"),
    ("exp", "f64"),
    ("log", "f64"),
    ("tanh", "f64"),
    ("sqrt", "f64"),
    ("round", "f64"),
    ("exp2", "f64"),
    ("exp10", "f64"),
    ("expm1", "f64"),
    ("log2", "f64"),
    ("log10", "f64"),
    ("log1p", "f64"),
    ("sinh", "f64"),
    ("cosh", "f64"),
    ("cbrt", "f64"),
    ("erf", "f64"),
    ("erfc", "f64"),
    ("erfinv", "f64"),
    ("normcdf", "f64"),
    ("asin", "f64"),
    ("acos", "f64"),
    ("atan", "f64"),
    ("asinh", "f64"),
    ("acosh", "f64"),
    ("atanh", "f64"),
    ("atan2", "f64 f64"),
    ("hypot", "f64 f64"),
    ("hexp", "f16"),
    ("hexp2", "f16"),
    ("hlog", "f16"),
    ("hlog2", "f16"),
    ("hsqrt", "f16"),
    ("hrsqrt", "f16"),
    ("hsin", "f16"),
    ("hcos", "f16"),
    ("htanh", "f16"),
];

fn launch_of(arguments: &str) -> String {
    let (first, second) = arguments.split_once(' ').unwrap_or((arguments, ""));
    let second = match second {
        "" => String::new(),
        "twice" => format!(" --arg out={first}[4]:out --arg other={first}[4]:out"),
        second => format!(" --arg y={second}[4]"),
    };
    let out = if second.contains("other") { "" } else { &format!(" --arg out={first}[4]:out") };
    format!("--grid 1 --block 4 --arg x={first}[4]{second}{out}")
}

/// The status of a build of a function: a cell of the table.
fn cell(inputs: [&Input; 2], function: &str, arguments: &str) -> String {
    let launch = launch_of(arguments);
    let (exit, text) = answer(inputs, &launch, None);
    match exit {
        Exit::Success => "proved".to_owned(),
        Exit::Refuted => {
            let (exit, text) = answer(inputs, &launch, Some("x > 0"));
            assert_eq!(exit, Exit::Success, "{function}: {text}");
            "x > 0".to_owned()
        }
        _ => panic!("{function}: {text}"),
    }
}

#[test]
fn the_documented_matrix_is_current() {
    let inputs = BUILDS.map(|build| kernels("functions", build));
    let mut text = String::from(HEAD);
    let plain = BUILDS.map(|build| build.replace("nvcc134", "nvcc").replace("nvrtc129", "NVRTC"));
    writeln!(text, "| function | {} |", plain.join(" | ")).unwrap();
    writeln!(text, "|---|{}", "---|".repeat(BUILDS.len())).unwrap();
    for (function, arguments) in FUNCTIONS {
        let kernel = format!("k_{function}");
        let cells: Vec<String> = inputs
            .iter()
            .map(|other| cell([&inputs[0][&kernel], &other[&kernel]], function, arguments))
            .collect();
        writeln!(text, "| `{function}` | {} |", cells.join(" | ")).unwrap();
    }
    let path = testing::corpus::root().join("docs/math.md");
    let documented = snapbox::Data::read_from(path.as_ref(), None);
    snapbox::assert_data_eq!(text, documented.raw());
}

const HEAD: &str = "\
# Math functions

Compilers inline most math functions, and Warpproof recognises their code ([lifted functions](glossary.md)). \
This page shows which functions it recognises in the code of which compiler. It has the answers of `warpproof equiv` \
for kernels that each call one function of the math library. The reference is built by nvcc 13.4 without fast \
math for sm_80. It is compared with the same kernel in other builds: by nvcc 13.4 and NVRTC 12.9, for sm_80 and sm_100, with and \
without `--use_fast_math` (`fast`). A test writes this page (`crates/driver/tests/math.rs`).

- *proved*: equal for all arguments that are real numbers and at which the function is defined.
- *x > 0*: proved with `--assume 'x > 0'`, and refuted without. With fast math a power is `ex2(y lg2(x))`, which is not \
defined for other numbers.
- The table does not have the functions `sin`, `cos`, `tan`, `pow`, `fmod`, `lgamma` and `tgamma` of doubles. They call functions of the \
library, and are not recognised if they are inlined. With `tools/warpproof_math.h` all but the last are known.

`corpus/math/kernels.cu` has kernels of neural networks that use these functions: softmax, cross entropy, GELU, SiLU, mish, norms, \
attention, rotary embedding, AdamW, \u{2026} They are proved equal in all of these builds, and `check` proves them, too.

## Calls that stay calls

A module may declare a function and not define it. Warpproof takes it for the math function of its name if two \
conditions hold. The name is one of libdevice (`__nv_expf`, `__nv_tanh`, `__nv_fast_expf`), or has the prefix `vt_` in \
place of `__nv_` (`vt_expf`). And its types are those of libdevice. \
Some functions (`__nv_j0f`, `__nv_tgamma`) are uninterpreted: equal arguments give equal results, and nothing else is known. \
`check` also knows that such a call accesses no memory. `simulate` does not compute such calls.

`tools/warpproof_math.h` makes such calls: with it, no function needs to be recognised.

```text
nvcc -ptx -rdc=true -include warpproof_math.h kernel.cu
```

For NVRTC, include it at the top of the file and compile with `--relocatable-device-code=true`. The result is for Warpproof \
alone: it cannot be linked. When Warpproof compiles a `.cu` file itself, it uses this header if the file compiles with it. \
`--inline-math` uses the library's code instead, and `simulate` always does.

## Builds

";
